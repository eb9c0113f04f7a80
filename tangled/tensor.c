/* tensor.c: made from chapters/10-tensors.nw; edit it there. */
#include <stdio.h>

#include "tensor.h"

/* private functions of tensor */
static size_t step_of(const struct tensor *t, int axis)
{
	ptrdiff_t stride = t->stride[axis];

	return stride < 0 ? 0 - (size_t)stride : (size_t)stride;
}

enum { HALF_BITS = sizeof(size_t) * 4 - 4 };

/* The addresses of the lowest element and of the highest. */
struct reach { uintptr_t low, high; };

/* The reach of a tensor along the axes that do not step by a multiple
 * of the period; along all of them if that is 0. It is empty if the
 * tensor is. False if no memory could hold it. */
static bool reach_of(const struct tensor *t, size_t period,
		struct reach *reach)
{
	size_t way[2] = { 0, 0 };       /* forward, backward */

	*reach = (struct reach){ UINTPTR_MAX, 0 };
	for (int axis = 0; axis < t->rank; axis++) {
		/* go as far as the axis does, or return */
		const size_t most = PTRDIFF_MAX / sizeof(real) / TENSOR_AXES;
		const size_t step = step_of(t, axis), steps = t->shape[axis] - 1;

		if (t->shape[axis] == 0)
			return true;
		/* The product of two small numbers needs no look. */
		if ((steps | step) >> HALF_BITS && steps > 0 && step > most / steps)
			return false;
		if (!period || step % period)
			way[t->stride[axis] < 0] += steps * step;
	}
	if (t->data)
		*reach = (struct reach){
			(uintptr_t)t->data - way[1] * sizeof(real),
			(uintptr_t)t->data + way[0] * sizeof(real)
		};
	return true;
}

static bool meet_in_bytes(struct reach a, struct reach b)
{
	return a.low <= b.high + (sizeof(real) - 1) &&
			b.low <= a.high + (sizeof(real) - 1);
}

/* Do they walk in lanes that do not touch? */
static bool in_lanes(const struct tensor *a, const struct tensor *b,
		size_t period)
{
	const size_t bytes = period * sizeof(real);
	struct reach lane, other;
	size_t gap;

	if (!period || !reach_of(a, period, &lane) ||
			!reach_of(b, period, &other))
		return false;
	gap = (other.low % bytes + bytes - lane.low % bytes) % bytes;
	return lane.high - lane.low + sizeof(real) <= gap &&
			other.high - other.low + sizeof(real) <= bytes - gap;
}

static enum status refuse_size(const char *name, struct tensor t,
		struct error *error)
{
	return REFUSE(error, MH_ESIZE, "%s of shape %s is larger than"
			" memory could be", name, tensor_shape(t).text);
}

/* Two that are near each other, in the order of the list. */
static enum status look_closely(const struct tensor_use *later,
		const struct tensor_use *earlier, struct error *error)
{
	const struct tensor_use *by = earlier->written ? earlier : later;
	const struct tensor_use *of = by == earlier ? later : earlier;

	if (!by->written || !tensor_overlaps(*by->tensor, *of->tensor))
		return MH_OK;
	return REFUSE(error, MH_ESHAPE, "%s overlaps %s", by->name,
			of->name);
}

/* Does every axis step over all that is inside it? So do those of most
 * tensors, and this is quickly seen. */
static bool nested(const struct tensor *t)
{
	ptrdiff_t inside = 1;

	if (tensor_is_empty(*t))
		return true;
	for (int axis = t->rank - 1; axis >= 0; axis--) {
		if (t->shape[axis] < 2)
			continue;
		if (t->stride[axis] < inside)
			return false;
		inside = t->stride[axis] * (ptrdiff_t)t->shape[axis];
	}
	return true;
}

/* Row i of a times column j of b. */
static real dot_product(struct tensor a, size_t i, struct tensor b,
		size_t j)
{
	const real *x = &AT(a, i, 0), *y = &AT(b, 0, j);
	real sum = 0;

	for (size_t k = 0; k < a.shape[1]; k++) {
		sum += *x * *y;
		x += a.stride[1];
		y += b.stride[0];
	}
	return sum;
}

/* out = a b, or out = out + a b. */
static enum status multiply(struct tensor a, struct tensor b, bool add,
		struct tensor out, struct error *error)
{
	/* refuse matrices whose product does not fit */
	if (a.rank != 2 || b.rank != 2 || out.rank != 2)
		return REFUSE(error, MH_ESHAPE, "a product takes matrices, got"
				" ranks %d, %d and %d", a.rank, b.rank, out.rank);
	if (a.shape[1] != b.shape[0])
		return REFUSE(error, MH_ESHAPE, "(%zu, %zu) times (%zu, %zu):"
				" the inner lengths differ", a.shape[0], a.shape[1],
				b.shape[0], b.shape[1]);
	if (out.shape[0] != a.shape[0] || out.shape[1] != b.shape[1])
		return REFUSE(error, MH_ESHAPE, "the product is (%zu, %zu),"
				" the result has (%zu, %zu)", a.shape[0], b.shape[1],
				out.shape[0], out.shape[1]);

	const struct tensor_use uses[] = { { "a factor", &a, false },
			{ "another factor", &b, false },
			{ "the product", &out, true } };

	if (tensor_lacks_data(a) || tensor_lacks_data(b) ||
			tensor_lacks_data(out))
		return REFUSE(error, MH_ESHAPE, "a matrix of a product has"
				" elements and no data");

	const enum status apart = tensor_expect_apart(uses, 3, NULL, 0, error);

	if (apart)
		return apart;
	for (size_t i = 0; i < out.shape[0]; i++)
		for (size_t j = 0; j < out.shape[1]; j++)
			AT(out, i, j) = (add ? AT(out, i, j) : 0) +
					dot_product(a, i, b, j);
	return MH_OK;
}
/* functions of tensor */
real tensor_distance(struct tensor a, struct tensor b)
{
	real most = 0;

	if (a.rank == 0)
		return fabs(*a.data - *b.data);
	for (size_t i = 0; i < a.shape[0]; i++)
		most = larger(most, tensor_distance(tensor_slice(a, 0, i),
				tensor_slice(b, 0, i)));
	return most;
}

bool tensor_count(int rank, const size_t shape[], size_t *count)
{
	const size_t most = PTRDIFF_MAX / sizeof(real);
	size_t product = 1;
	bool empty = false;

	for (int axis = 0; axis < rank; axis++) {
		if (shape[axis] == 0) {
			empty = true;
			continue;
		}
		if (product > most / shape[axis])
			return false;
		product *= shape[axis];
	}
	*count = empty ? 0 : product;
	return true;
}

struct tensor tensor_view(real *memory, int rank, const size_t shape[])
{
	struct tensor t = { .data = memory, .rank = rank };
	size_t stride = 1;

	for (int axis = rank - 1; axis >= 0; axis--) {
		t.shape[axis] = shape[axis];
		t.stride[axis] = (ptrdiff_t)stride;
		stride *= shape[axis] > 1 ? shape[axis] : 1;
	}
	return t;
}

struct tensor tensor_swap(struct tensor t, int a, int b)
{
	size_t length = t.shape[a];
	ptrdiff_t stride = t.stride[a];

	t.shape[a] = t.shape[b];
	t.stride[a] = t.stride[b];
	t.shape[b] = length;
	t.stride[b] = stride;
	return t;
}

struct tensor tensor_slice(struct tensor t, int axis, size_t index)
{
	if (t.data)
		t.data += (ptrdiff_t)index * t.stride[axis];
	t.rank--;
	for (; axis < t.rank; axis++) {
		t.shape[axis] = t.shape[axis + 1];
		t.stride[axis] = t.stride[axis + 1];
	}
	return t;
}

struct tensor tensor_narrow(struct tensor t, int axis, size_t start,
		size_t length)
{
	if (t.data)
		t.data += (ptrdiff_t)start * t.stride[axis];
	t.shape[axis] = length;
	return t;
}

enum status tensor_merge(struct tensor t, int axis,
		struct tensor *merged, struct error *error)
{
	/* refuse axes that are not there */
	if (!merged)
		return REFUSE(error, MH_ESHAPE, "there is no place for it");
	if (axis < 0 || axis >= t.rank - 1 || t.rank > TENSOR_AXES)
		return REFUSE(error, MH_ESHAPE, "%s has no axes %d and %d",
				tensor_shape(t).text, axis, axis + 1);

	size_t outer = t.shape[axis], inner = t.shape[axis + 1];
	ptrdiff_t stride = t.stride[axis + 1];

	/* settle the stride of merged axes, or refuse */
	if (inner > 1 && outer > PTRDIFF_MAX / inner)
		return REFUSE(error, MH_ESIZE, "%zu times %zu is too long an axis",
				outer, inner);
	if (inner == 1)
		stride = t.stride[axis];
	else if (outer > 1 && inner > 0 &&
			t.stride[axis] != (ptrdiff_t)inner * stride)
		return REFUSE(error, MH_ESHAPE, "axes %d and %d are not adjacent"
				" in memory: strides %td and %td, lengths %zu and %zu",
				axis, axis + 1, t.stride[axis], stride, outer, inner);
	t = tensor_slice(t, axis + 1, 0);
	t.shape[axis] = outer * inner;
	t.stride[axis] = stride;
	*merged = t;
	return MH_OK;
}

struct tensor tensor_contiguous(struct tensor t, real *memory)
{
	const struct tensor copy = tensor_view(memory, t.rank, t.shape);
	size_t index[TENSOR_AXES] = { 0 }, row = 1;
	ptrdiff_t step = 1;

	if (tensor_is_empty(t))
		return copy;
	if (t.rank > 0) {
		row = t.shape[t.rank - 1];
		step = t.stride[t.rank - 1];
		t.shape[t.rank - 1] = 1;        /* the beginnings of rows */
	}
	do {
		const real *from = tensor_at(&t, index);

		for (size_t i = 0; i < row; i++)
			*memory++ = from[(ptrdiff_t)i * step];
	} while (tensor_next(&t, index));
	return copy;
}

bool tensor_next(const struct tensor *t, size_t index[])
{
	for (int axis = t->rank - 1; axis >= 0; axis--) {
		if (++index[axis] < t->shape[axis])
			return true;
		index[axis] = 0;
	}
	return false;
}

bool tensor_is_empty(struct tensor t)
{
	for (int axis = 0; axis < t.rank; axis++)
		if (t.shape[axis] == 0)
			return true;
	return false;
}

bool tensor_is_contiguous(struct tensor t)
{
	size_t stride = 1;

	for (int axis = t.rank - 1; axis >= 0; axis--) {
		if (t.shape[axis] > 1 && t.stride[axis] != (ptrdiff_t)stride)
			return false;
		stride *= t.shape[axis] > 1 ? t.shape[axis] : 1;
	}
	return true;
}

bool tensor_overlaps_itself(struct tensor t)
{
	for (int a = 0; a < t.rank && !tensor_is_empty(t); a++) {
		const size_t step = step_of(&t, a);
		size_t left = step;     /* that smaller strides leave */

		if (t.shape[a] < 2)
			continue;
		for (int b = 0; b < t.rank && left > 0; b++) {
			const size_t way = step_of(&t, b), n = t.shape[b] - 1;

			if (b != a && way > 0 && way <= step)
				left = n > (left - 1) / way ? 0 : left - n * way;
		}
		if (left == 0)
			return true;
	}
	return false;
}

bool tensor_overlaps(struct tensor a, struct tensor b)
{
	struct reach first, second;

	if (!reach_of(&a, 0, &first) || !reach_of(&b, 0, &second))
		return true;
	if (!meet_in_bytes(first, second))
		return false;
	for (int axis = 0; axis < a.rank; axis++)
		if (in_lanes(&a, &b, step_of(&a, axis)))
			return false;
	for (int axis = 0; axis < b.rank; axis++)
		if (in_lanes(&a, &b, step_of(&b, axis)))
			return false;
	return true;
}

enum status tensor_expect_apart(
		const struct tensor_use uses[], size_t count,
		const struct tensor_use others[], size_t more,
		struct error *error)
{
	struct reach reach[TENSOR_USES], other;
	enum status status = MH_OK;

	if ((!uses && count > 0) || (!others && more > 0))
		return REFUSE(error, MH_ESHAPE,
				"there are no tensors to compare");
	if (count > TENSOR_USES)
		return REFUSE(error, MH_ESIZE, "%zu tensors at once, at most"
				" %d are compared", count, TENSOR_USES);
	for (size_t i = 0; i < count && !status; i++) {
		if (!reach_of(uses[i].tensor, 0, &reach[i]))
			return refuse_size(uses[i].name, *uses[i].tensor, error);
		if (uses[i].written && !nested(uses[i].tensor) &&
				tensor_overlaps_itself(*uses[i].tensor))
			return REFUSE(error, MH_ESHAPE, "%s overlaps itself",
					uses[i].name);
		for (size_t j = 0; j < i && !status; j++)
			if (meet_in_bytes(reach[i], reach[j]))
				status = look_closely(&uses[i], &uses[j], error);
	}
	for (size_t j = 0; j < more && !status; j++) {
		if (!reach_of(others[j].tensor, 0, &other))
			return refuse_size(others[j].name, *others[j].tensor,
					error);
		for (size_t i = 0; i < count && !status; i++)
			if (meet_in_bytes(reach[i], other))
				status = look_closely(&others[j], &uses[i], error);
	}
	return status;
}

enum status tensor_product(struct tensor a, struct tensor b,
		struct tensor out, struct error *error)
{
	return multiply(a, b, false, out, error);
}

struct shape_text shape_write(int rank, const size_t shape[])
{
	struct shape_text written = { "(" };
	size_t room = sizeof written.text, used = 1;

	if (rank < 0 || rank > TENSOR_AXES) {
		snprintf(written.text, room, "of rank %d", rank);
		return written;
	}
	for (int axis = 0; axis < rank; axis++)
		used += (size_t)snprintf(written.text + used, room - used,
				axis ? ", %zu" : "%zu", shape[axis]);
	snprintf(written.text + used, room - used, ")");
	return written;
}

struct shape_text tensor_shape(struct tensor t)
{
	return shape_write(t.rank, t.shape);
}

enum status tensor_expect(struct tensor t, const char *name, int rank,
		const size_t shape[], struct error *error)
{
	bool same = t.rank == rank;

	if (!shape && rank > 0)
		return REFUSE(error, MH_ESHAPE, "there is no shape for %s",
				name);
	for (int axis = 0; same && axis < rank; axis++)
		same = t.shape[axis] == shape[axis];
	if (!same)
		return REFUSE(error, MH_ESHAPE, "%s has shape %s, wanted %s",
				name, tensor_shape(t).text,
				shape_write(rank, shape).text);
	if (tensor_lacks_data(t))
		return REFUSE(error, MH_ESHAPE, "%s has elements but no data",
				name);
	return MH_OK;
}

real random_uniform(struct random *random, real low, real high)
{
	uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	/* The upper 53 bits are a fraction that a double holds exactly. */
	return low + (high - low) * (real)((double)(z >> 11) * 0x1p-53);
}

void tensor_fill(struct tensor t, real value)
{
	if (t.rank == 0)
		*t.data = value;
	for (size_t i = 0; t.rank > 0 && i < t.shape[0]; i++)
		if (t.rank > 1)
			tensor_fill(tensor_slice(t, 0, i), value);
		else
			AT(t, i) = value;
}

void tensor_randomize(struct tensor t, struct random *random,
		real bound)
{
	size_t index[TENSOR_AXES] = { 0 };

	if (tensor_is_empty(t))
		return;
	do
		*tensor_at(&t, index) = random_uniform(random, -bound, bound);
	while (tensor_next(&t, index));
}

void softmax_rows(struct tensor rows)
{
	for (size_t i = 0; i < rows.shape[0]; i++) {
		struct tensor row = tensor_slice(rows, 0, i);
		size_t length = row.shape[0];
		real largest = -(real)INFINITY, sum = 0;

		/* find the largest score of the row */
		for (size_t j = 0; j < length; j++)
			if (AT(row, j) > largest)
				largest = AT(row, j);
		/* exponentiate the row and add it up */
		for (size_t j = 0; j < length; j++) {
			AT(row, j) = exp(AT(row, j) - largest);
			sum += AT(row, j);
		}
		for (size_t j = 0; j < length; j++)
			AT(row, j) /= sum;
	}
}

enum status tensor_split(struct tensor t, int axis, size_t parts,
		struct tensor *split, struct error *error)
{
	if (!split)
		return REFUSE(error, MH_ESHAPE, "there is no place for it");
	if (t.rank >= TENSOR_AXES)
		return REFUSE(error, MH_ESHAPE, "%s has no axis to spare",
				tensor_shape(t).text);
	if (axis < 0 || axis >= t.rank)
		return REFUSE(error, MH_ESHAPE, "%s has no axis %d",
				tensor_shape(t).text, axis);
	if (parts == 0 || t.shape[axis] % parts != 0)
		return REFUSE(error, MH_ESHAPE, "axis %d of %s does not divide"
				" into %zu parts", axis, tensor_shape(t).text, parts);
	for (int i = t.rank++; i > axis; i--) {
		t.shape[i] = t.shape[i - 1];
		t.stride[i] = t.stride[i - 1];
	}
	t.shape[axis] = parts;
	t.shape[axis + 1] /= parts;
	t.stride[axis] *= (ptrdiff_t)t.shape[axis + 1];
	*split = t;
	return MH_OK;
}

bool tensor_finite(struct tensor t)
{
	const size_t count = t.rank == 0 ? 1 : t.shape[0];

	for (size_t i = 0; i < count; i++)
		if (t.rank > 1 ? !tensor_finite(tensor_slice(t, 0, i)) :
				!isfinite(t.data[(ptrdiff_t)i * t.stride[0]]))
			return false;
	return true;
}

enum status tensor_add_product(struct tensor a, struct tensor b,
		struct tensor out, struct error *error)
{
	return multiply(a, b, true, out, error);
}

void tensor_add(struct tensor from, struct tensor to)
{
	if (from.rank == 0)
		*to.data += *from.data;
	for (size_t i = 0; from.rank > 0 && i < from.shape[0]; i++)
		if (from.rank > 1)
			tensor_add(tensor_slice(from, 0, i),
					tensor_slice(to, 0, i));
		else
			AT(to, i) += AT(from, i);
}
