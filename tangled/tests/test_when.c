/* tests/test_when.c: made from chapters/86-when.nw; edit it there. */
#define _DEFAULT_SOURCE 1       /* before any header: mmap */

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gradient.h"
#include "layer_bench.h"
#include "oracle.h"
#include "streaming.h"
#include "suites.h"
#include "support.h"
#include "weights.h"

/* Tiles by the fastest kernel, by the second, and by the plain one. */
enum path { LOOP, PACKED, ONLINE, SMALL, TILES, SLOWER, PLAIN, PATHS };

/* helpers of the tests of what happens */
struct trial {
	enum path path;
	struct layer *layer;
	struct workspace room, *workspace, own;
	struct tensor x, dy, dx;
	struct forward square;          /* of which weights are read */
	struct streamed streamed;       /* shares output and concat */
};

static bool keeps_square(const struct trial *t)
{
	return t->path == LOOP || t->path == PACKED;
}

static void trial_set(struct trial *t, enum path path, size_t B,
		size_t T, size_t H, size_t d)
{
	const size_t wide[] = { B, T, H * d };
	struct tensor *mine[] = { &t->x, &t->dy, &t->dx };

	*t = (struct trial){ .path = path };
	t->workspace = &t->own;
	ck_ok(layer_create(H * d, H, &t->layer, NULL));
	ck_ok(layer_add_biases(t->layer, NULL));
	layer_randomize(t->layer, 86);
	for (uint64_t i = 0; i < 3; i++) {
		ck_ok(workspace_take(&t->room, 3, wide, mine[i], NULL));
		noise(mine[i]->data, 3, wide, 86 + i);
	}
	ck_ok(forward_take(t->layer, t->x, &t->square, &t->room, NULL));
	ck_ok(streamed_take(t->layer, t->x, &t->streamed, &t->room,
			NULL));
	tensor_fill(t->square.weights, 0);
}

static void trial_free(struct trial *t)
{
	workspace_free(&t->room);
	workspace_free(&t->own);
	layer_free(t->layer);
}

static const struct kernel *kernel_of(const struct trial *t)
{
	if (t->path == SMALL)
		return kernel_small();
	if (t->path == SLOWER && kernel_nth(1))
		return kernel_nth(1);
	return t->path == PLAIN ? kernel_plain() : kernel_nth(0);
}

static enum status forth(struct trial *t, bool causal,
		struct error *error)
{
	switch (t->path) {
	case LOOP:
		return layer_forward_loop(t->layer, t->x, causal, &t->square,
				t->workspace, error);
	case PACKED:
		return layer_forward_packed(t->layer, t->x, causal, &t->square,
				t->workspace, error);
	case ONLINE:
		return layer_forward_online(t->layer, t->x, causal,
				&t->streamed, t->workspace, error);
	default:
		return streaming_forward(kernel_of(t), t->layer, t->x,
				causal, &t->streamed,
				t->workspace, error);
	}
}

static enum status back(struct trial *t, bool causal,
		struct error *error)
{
	switch (t->path) {
	case LOOP:
		return layer_backward_loop(t->layer, t->x, causal, &t->square,
				t->dy, t->dx, t->workspace, error);
	case PACKED:
		return layer_backward_packed(t->layer, t->x, causal,
				&t->square, t->dy, t->dx, t->workspace, error);
	case ONLINE:
		return layer_backward_online(t->layer, t->x, causal,
				&t->streamed, t->dy, t->dx, t->workspace, error);
	default:
		return streaming_backward(kernel_of(t), t->layer, t->x,
				causal, &t->streamed,
				t->dy, t->dx, t->workspace, error);
	}
}

static struct tensor *output_of(struct trial *t)
{
	return keeps_square(t) ? &t->square.output : &t->streamed.output;
}

static struct tensor *concat_of(struct trial *t)
{
	return keeps_square(t) ? &t->square.concat : &t->streamed.concat;
}

/* No element of t is finite. */
static bool all_broken(struct tensor t)
{
	size_t index[TENSOR_AXES] = { 0 };

	do
		if (isfinite(*tensor_at(&t, index)))
			return false;
	while (tensor_next(&t, index));
	return true;
}

/* A copy in the room of the trial. */
static struct tensor kept(struct trial *t, struct tensor of)
{
	struct tensor copy;

	ck_ok(workspace_take(&t->room, of.rank, of.shape, &copy, NULL));
	return tensor_contiguous(of, copy.data);
}

/* What it was before: to the last bit, but for BLAS. */
static void ck_kept(const struct trial *t, struct tensor got,
		struct tensor was)
{
	real most = t->path == PACKED ? 64 * REAL_EPSILON : 0;

	ck_assert(tensor_distance(got, was) <= most);
}

#ifdef MH_SINGLE
#define HUGE_POWER ((real)0x1p100)
#define HALF_POWER ((real)0x1p64)
#else
#define HUGE_POWER ((real)0x1p600)
#define HALF_POWER ((real)0x1p512)
#endif

/* A weight of the only head: of its query (0), key (1) or value (2). */
static real *weight_at(struct trial *t, size_t role, size_t row,
		size_t column)
{
	return &AT(t->layer->in_proj.value, role * t->layer->width + row,
			column);
}

/* One head, all of whose weights are zero, but for an output
 * projection that changes nothing; no biases. */
static void trial_blank(struct trial *t, enum path path, size_t T,
		size_t d)
{
	trial_set(t, path, 1, T, 1, d);
	memset(t->layer->memory, 0, 4 * d * d * sizeof(real));
	memset(t->layer->bias_memory, 0, 4 * d * sizeof(real));
	tensor_fill(t->x, 0);
	for (size_t c = 0; c < d; c++)
		AT(t->layer->out_proj.value, c, c) = 1;
}

struct extreme {
	real query[2], key[2], value[2];
	long double wanted[2];          /* with a mask */
	long double whole;              /* row 1; and row 0 without one */
};

/* A head of width 4 for two positions, whose scores are the products
 * of these queries and keys. */
static void trial_ask(struct trial *t, enum path path,
		const struct extreme *e)
{
	trial_blank(t, path, 2, 4);
	for (size_t i = 0; i < 2; i++) {
		AT(t->x, 0, i, i) = 1;
		*weight_at(t, 0, 0, i) = 2 * e->query[i];
		*weight_at(t, 1, 0, i) = e->key[i];
		*weight_at(t, 2, 0, i) = e->value[i];
	}
}

static void ck_extreme_slopes(const struct trial *t,
		const struct extreme *e)
{
	const real *q = e->query, *k = e->key, *v = e->value;
	const long double dz[] = { AT(t->dy, 0, 0, 0),
			AT(t->dy, 0, 1, 0) };
	const long double share = (e->wanted[1] - v[0]) /
			((long double)v[1] - v[0]);     /* of source 1 */
	const long double slope = share * (1 - share) * dz[1] *
			((long double)v[1] - v[0]);     /* of its score */
	const long double size = fabsl(dz[1]) * (fabsl(v[0]) +
			fabsl(v[1]));
	const long double dv[] = { dz[0] + (1 - share) * dz[1],
			share * dz[1] };

	for (size_t i = 0; i < 2; i++)
		for (size_t c = 0; c < 2; c++) {
			const long double sign = i ? slope : -slope;
			/* the slope of input c at position i, and its size */
			long double want = sign * q[1] * k[c] + dv[i] * v[c];
			long double most = size * fabsl(q[1]) * fabsl(k[c]) +
					(fabsl(dz[0]) + fabsl(dz[1])) * fabsl(v[c]);

			if (i == 1) {
				want += slope * ((long double)k[1] - k[0]) * q[c];
				most += size * (fabsl(k[0]) + fabsl(k[1])) * fabsl(q[c]);
			}

			ck_assert(fabsl(AT(t->dx, 0, i, c) - want) <= 64 *
					REAL_EPSILON * most);
		}
}

/* In tiles this number, on the other paths NaN; on the loop either. */
static void ck_this_or_nan(const struct trial *t, real got, real wanted)
{
	if (t->path >= TILES || (t->path == LOOP && !isnan(got)))
		ck_near(got, wanted, 8);
	else
		ck_assert(isnan(got));
}

/* A view of that shape over one number; the strides are those of a
 * contiguous tensor. */
static struct tensor pretended(size_t a, size_t b, size_t c)
{
	static real number;

	return tensor_view(&number, 3, (size_t[]){ a, b, c });
}

/* So many bytes of addresses, behind which the same 64 megabytes are,
 * again and again; or NULL. */
static void *folded(size_t bytes)
{
	const size_t fold = (size_t)1 << 26;
	const size_t folds = (bytes + fold - 1) / fold;
	FILE *file = tmpfile();
	char *all = mmap(NULL, folds * fold, PROT_NONE, MAP_PRIVATE |
			MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(ftruncate(fileno(file), (off_t)fold), 0);
	for (size_t i = 0; i < folds && all != MAP_FAILED; i++)
		ck_assert(mmap(all + i * fold, fold, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_FIXED, fileno(file), 0) !=
				MAP_FAILED);
	fclose(file);
	return all == MAP_FAILED ? NULL : all;
}

/* One long example for the tiles: nothing of it is a square. */
static void trial_set_long(struct trial *t, size_t T, size_t H,
		size_t d)
{
	const size_t wide[] = { 1, T, H * d };

	*t = (struct trial){ .path = TILES };
	t->workspace = &t->own;
	ck_ok(layer_create(H * d, H, &t->layer, NULL));
	layer_randomize(t->layer, 86);
	ck_ok(workspace_take(&t->room, 3, wide, &t->x, NULL));
	ck_ok(workspace_take(&t->room, 3, wide, &t->dy, NULL));
	ck_ok(workspace_take(&t->room, 3, wide, &t->dx, NULL));
	noise(t->x.data, 3, wide, 87);
	ck_ok(streamed_take(t->layer, t->x, &t->streamed, &t->room,
			NULL));
}

enum { MOST_PARTS = 8 };

/* A tensor of a trial, by its name; whether it is written on the way
 * forward and on the way back. */
struct part {
	const char *name;
	struct tensor *tensor;
	bool forth, back;               /* has a part in it */
	bool written, written_back;
};

/* The tensors that a path works on. Returns their number. */
static size_t parts_of(struct trial *t, struct part parts[MOST_PARTS])
{
	struct streamed *s = &t->streamed;
	const struct part all[] = {
		{ "x", &t->x, true, true, false, false },
		{ "output", output_of(t), true, false, true, false },
		{ "concat", concat_of(t), true, true, true, false },
		{ "dy", &t->dy, false, true, false, false },
		{ "dx", &t->dx, false, true, false, true },
		{ "weights", &t->square.weights, true, true, true, false },
		{ "qkv", &s->qkv, true, true, true, true },
		{ "maximum", &s->maximum, true, true, true, false },
		{ "sum", &s->sum, true, true, true, false }
	};
	const size_t first = 5, last = keeps_square(t) ? 6 : 9;
	size_t count = 0;

	for (size_t i = 0; i < last; i++)
		if (i < first || keeps_square(t) || i > first)
			parts[count++] = all[i];
	return count;
}

/* Refused in either direction, and nothing has been written. */
static void ck_untouched(struct trial *t, struct layer *lender)
{
	const struct registry *all[] = { &t->layer->registry,
			&lender->registry };

	ck_assert_int_eq(forth(t, true, NULL), MH_ESHAPE);
	ck_assert_int_eq(back(t, true, NULL), MH_ESHAPE);
	ck_assert(AT(*output_of(t), 0, 0, 0) == 77);
	ck_assert(AT(t->dx, 0, 0, 0) == 77);
	for (int r = 0; r < 2; r++)
		for (size_t i = 0; i < all[r]->count; i++) {
			const real *d = all[r]->entries[i].parameter->gradient.data;

			ck_assert(!d || *d == 0);
		}
}

/* Let the tensor be odd in three ways, one after the other. */
static void ck_must_fit(struct trial *t, struct tensor *tensor,
		struct layer *lender)
{
	const struct tensor was = *tensor;

	tensor->shape[0] = 1;
	ck_untouched(t, lender);
	tensor->shape[0] = 20000;
	ck_untouched(t, lender);
	*tensor = was;
	tensor->data = NULL;
	ck_untouched(t, lender);
	*tensor = was;
}

/* Refused, with a sentence in which both names stand and the first may
 * be either, if both are written. */
static void ck_overlap(enum status status, const struct error *error,
		const struct part *p, const struct part *other, bool both)
{
	char one[80], two[80];

	snprintf(one, sizeof one, "%s overlaps %s", p->name, other->name);
	snprintf(two, sizeof two, "%s overlaps %s", other->name, p->name);
	ck_assert_int_eq(status, MH_ESHAPE);
	if (!both || strcmp(error->message, two) != 0)
		ck_assert_str_eq(error->message, one);
}

/* What one thread has, beside the layer. */
struct caller {
	struct trial trial;
	struct tensor wanted;
	int times;
	bool same;
};

static void *call_again_and_again(void *argument)
{
	struct caller *caller = argument;
	struct trial *t = &caller->trial;

	caller->same = true;
	for (int n = 0; n < caller->times; n++) {
		tensor_fill(*output_of(t), 0);
		if (forth(t, true, NULL) ||
				tensor_distance(*output_of(t), caller->wanted) != 0)
			caller->same = false;
	}
	return NULL;
}
/* tests of what happens */
START_TEST(the_first_output_is_exactly_one)
{
	const size_t role = (size_t)_i / PATHS;         /* is broken */
	struct trial t;

	trial_blank(&t, (enum path)(_i % PATHS), 2, 2);
	AT(t.x, 0, 0, 0) = 1;
	AT(t.x, 0, 1, 1) = HUGE_POWER;
	*weight_at(&t, 2, 0, 0) = 1;
	*weight_at(&t, role, 1, 1) = HUGE_POWER;
	ck_ok(forth(&t, true, NULL));
	ck_assert(AT(*concat_of(&t), 0, 0, 0) == 1);
	ck_assert(AT(*output_of(&t), 0, 0, 0) == 1);
	ck_assert(AT(*concat_of(&t), 0, 0, 1) == 0);
	ck_assert(!isfinite(AT(*concat_of(&t), 0, 1, 1)));
	ck_assert(!isfinite(AT(*output_of(&t), 0, 1, 1)));
	if (keeps_square(&t))
		ck_assert(AT(t.square.weights, 0, 0, 0, 0) == 1 &&
				AT(t.square.weights, 0, 0, 0, 1) == 0);
	trial_free(&t);
}
END_TEST

START_TEST(what_cannot_be_seen_changes_nothing)
{
	static const size_t lengths[] = { 5, 70, 200 };
	const size_t T = lengths[_i / PATHS % 3], p = T - 2;
	struct trial t;
	struct tensor output, concat, weights, slopes;

	trial_set(&t, (enum path)(_i % PATHS), 1, T, 3, 4);
	ck_ok(forth(&t, true, NULL));
	output = kept(&t, *output_of(&t));
	concat = kept(&t, *concat_of(&t));
	weights = kept(&t, t.square.weights);
	ck_ok(back(&t, true, NULL));
	slopes = kept(&t, t.streamed.qkv);
	AT(t.x, 0, p, 7) = _i < 3 * PATHS ? (real)NAN : (real)INFINITY;
	ck_ok(forth(&t, true, NULL));
	/* all rows before are what they were, and no other */
	ck_kept(&t, tensor_narrow(*output_of(&t), 1, 0, p),
			tensor_narrow(output, 1, 0, p));
	ck_kept(&t, tensor_narrow(*concat_of(&t), 1, 0, p),
			tensor_narrow(concat, 1, 0, p));
	ck_kept(&t, tensor_narrow(t.square.weights, 2, 0, p),
			tensor_narrow(weights, 2, 0, p));
	ck_assert(all_broken(tensor_narrow(*output_of(&t), 1, p, 2)));
	ck_ok(back(&t, true, NULL));
	ck_assert(all_broken(t.layer->in_proj.gradient));
	if (!keeps_square(&t))
		ck_kept(&t, tensor_narrow(tensor_narrow(t.streamed.qkv, 1, 0, p),
				2, 0, 12), tensor_narrow(tensor_narrow(slopes, 1, 0, p),
				2, 0, 12));
	trial_free(&t);
}
END_TEST

START_TEST(what_is_seen_is_never_hidden)
{
	struct trial t;

	trial_set(&t, (enum path)(_i % PATHS), 2, 9, 3, 4);
	ck_ok(forth(&t, false, NULL));
	struct tensor output = kept(&t, *output_of(&t)), dx;

	ck_ok(back(&t, false, NULL));
	dx = kept(&t, t.dx);
	AT(t.x, 1, 8, 5) = (real)NAN;
	ck_ok(forth(&t, false, NULL));
	ck_ok(back(&t, false, NULL));
	ck_kept(&t, tensor_slice(*output_of(&t), 0, 0),
			tensor_slice(output, 0, 0));
	ck_kept(&t, tensor_slice(t.dx, 0, 0), tensor_slice(dx, 0, 0));
	ck_assert(all_broken(tensor_slice(*output_of(&t), 0, 1)));
	ck_assert(all_broken(tensor_slice(t.dx, 0, 1)));
	ck_assert(all_broken(t.layer->in_proj.gradient));
	trial_free(&t);
}
END_TEST

START_TEST(a_broken_slope_reaches_what_its_row_has_read)
{
	struct trial t;
	struct tensor dx;

	trial_set(&t, (enum path)(_i % PATHS), 1, 70, 3, 4);
	ck_ok(forth(&t, true, NULL));
	ck_ok(back(&t, true, NULL));
	dx = kept(&t, t.dx);
	AT(t.dy, 0, 30, 5) = (real)NAN;
	ck_ok(forth(&t, true, NULL));
	ck_ok(back(&t, true, NULL));
	ck_assert(all_broken(tensor_narrow(t.dx, 1, 0, 31)));
	ck_kept(&t, tensor_narrow(t.dx, 1, 31, 39),
			tensor_narrow(dx, 1, 31, 39));
	trial_free(&t);
}
END_TEST

static const struct extreme extremes[] = {
	{ { -20000, 0 }, { 1, 0 }, { 1, 100 }, { 1, 50.5L }, 100 },
	{ { 1000, 1000 }, { 1, 1 }, { 1, 100 }, { 1, 50.5L }, 50.5L },
	{ { 1000, 1000 }, { 1, 0 }, { 3, 100 }, { 3, 3 }, 3 },
	{ { -200, -200 }, { 1, 1 }, { 2, 6 }, { 2, 4 }, 4 },
	{ { (real)-1e15, (real)-1e15 }, { (real)1e15, (real)1e15 },
			{ 2, 6 }, { 2, 4 }, 4 },
	{ { (real)-1e15, (real)-1e15 }, { (real)1e15, 0 }, { 2, 6 },
			{ 2, 6 }, 6 },
};

enum { EXTREMES = sizeof extremes / sizeof extremes[0] };

START_TEST(extreme_scores_have_their_exact_softmax)
{
	const struct extreme *e = &extremes[_i / PATHS];
	struct trial t;

	trial_ask(&t, (enum path)(_i % PATHS), e);
	ck_ok(forth(&t, true, NULL));
	ck_near(AT(*output_of(&t), 0, 0, 0), e->wanted[0], 16);
	ck_near(AT(*output_of(&t), 0, 1, 0), e->wanted[1], 16);
	ck_ok(back(&t, true, NULL));
	ck_extreme_slopes(&t, e);
	ck_ok(forth(&t, false, NULL));
	ck_near(AT(*output_of(&t), 0, 0, 0), e->whole, 16);
	trial_free(&t);
}
END_TEST

START_TEST(a_product_that_overflows_is_never_a_wrong_number)
{
	const struct extreme up = { { HALF_POWER / 2, 0 },
			{ HALF_POWER, 0 }, { 3, 7 }, { 0 }, 0 };
	const struct extreme down = { { HALF_POWER, -HALF_POWER / 2 },
			{ HALF_POWER, 0 }, { 3, 7 }, { 0 }, 0 };
	struct trial t;

	trial_ask(&t, (enum path)_i, &up);
	ck_ok(forth(&t, true, NULL));
	ck_this_or_nan(&t, AT(*output_of(&t), 0, 0, 0), 3);
	ck_near(AT(*output_of(&t), 0, 1, 0), 5, 8);
	trial_free(&t);
	trial_ask(&t, (enum path)_i, &down);
	ck_ok(forth(&t, true, NULL));
	ck_near(AT(*output_of(&t), 0, 1, 0), 7, 8);
	AT(t.x, 0, 0, 1) = 1;                   /* the same key twice */
	AT(t.x, 0, 1, 0) = 1;
	/* a row whose products all overflow downward */
	*weight_at(&t, 0, 0, 0) = 0;
	*weight_at(&t, 1, 0, 1) = 0;
	ck_ok(forth(&t, true, NULL));
	ck_this_or_nan(&t, AT(*output_of(&t), 0, 1, 0), 10);
	trial_free(&t);
}
END_TEST

START_TEST(nothing_comes_of_nothing)
{
	const size_t B = _i < PATHS ? 0 : 2, T = _i < PATHS ? 5 : 0;
	struct trial t;

	trial_set(&t, (enum path)(_i % PATHS), B, T, 3, 4);
	t.x.data = t.dy.data = t.dx.data = NULL;        /* not needed */
	ck_ok(forth(&t, true, NULL));
	ck_ok(back(&t, true, NULL));
	for (size_t i = 0; i < 4 * 12 * 12; i++)
		ck_assert(t.layer->memory[4 * 12 * 12 + i] == 0);
	trial_free(&t);
}
END_TEST

START_TEST(no_layer_is_made_of_odd_sizes)
{
	static const struct {
		size_t C, H;
		enum status status;
		const char *sentence;
	} odd[] = {
		{ 0, 2, MH_ESHAPE, "a layer needs width and heads, got width 0"
				" and 2 heads" },
		{ 8, 0, MH_ESHAPE, "a layer needs width and heads, got width 8"
				" and 0 heads" },
		{ 8, 3, MH_ESHAPE, "width 8 does not divide into 3 heads" },
		{ (size_t)1 << 32, 1, MH_ESIZE, "a layer of width 4294967296"
				" has more parameters than memory has addresses" },
	};
	struct layer *layer;

	ck_refused(layer_create(odd[_i].C, odd[_i].H, &layer, &error),
			odd[_i].status, odd[_i].sentence);
	ck_assert_ptr_null(layer);
}
END_TEST

START_TEST(a_shape_that_does_not_fit_is_refused_on_every_path)
{
	struct trial t;

	trial_set(&t, (enum path)_i, 2, 5, 3, 4);
	ck_ok(forth(&t, true, NULL));
	t.x.rank = 2;
	ck_refused(forth(&t, true, &error), MH_ESHAPE,
			"x has shape (2, 5), wanted (B, T, 12)");
	ck_refused(back(&t, true, &error), MH_ESHAPE,
			"x has shape (2, 5), wanted (B, T, 12)");
	t.x.rank = 1000;
	ck_refused(forth(&t, true, &error), MH_ESHAPE,
			"x has shape of rank 1000, wanted (B, T, 12)");
	t.x.rank = 3;
	t.x.shape[1] = 4;
	ck_refused(forth(&t, true, &error), MH_ESHAPE,
			"output has shape (2, 5, 12), wanted (2, 4, 12)");
	ck_refused(back(&t, true, &error), MH_ESHAPE,
			"dx has shape (2, 5, 12), wanted (2, 4, 12)");
	trial_free(&t);
}
END_TEST

START_TEST(sizes_beyond_memory_are_refused_by_arithmetic)
{
	const size_t T = (size_t)1 << 60;
	struct trial t;

	trial_set(&t, (enum path)_i, 1, 5, 1, 2);
	t.x.shape[1] = t.dy.shape[1] = T;
	t.x.stride[1] = t.dy.stride[1] = 0;
	ck_assert_int_eq(forward_take(t.layer, t.x, &t.square, &t.own,
			NULL), MH_ESIZE);
	ck_assert_int_eq(streamed_take(t.layer, t.x, &t.streamed, &t.own,
			NULL), MH_ESIZE);
	t.square.output = t.streamed.output = t.dx = pretended(1, T, 2);
	t.square.concat = t.streamed.concat = pretended(1, T, 2);
	t.square.weights = tensor_view(t.x.data, 4,
			(size_t[]){ 1, 1, T, T });
	t.streamed.qkv = pretended(1, T, 6);
	t.streamed.maximum = t.streamed.sum = pretended(1, 1, T);
	ck_assert_int_eq(forth(&t, true, NULL), MH_ESIZE);
	ck_assert_int_eq(back(&t, true, NULL), MH_ESIZE);
	ck_assert_uint_eq(t.own.held, 0);
	trial_free(&t);
}
END_TEST

START_TEST(a_square_beyond_memory_is_refused_by_arithmetic)
{
	const struct tensor x = pretended(1, (size_t)1 << 33, 8);
	struct workspace workspace = { 0 };
	struct forward result;
	struct layer *layer;

	ck_ok(layer_create(8, 8, &layer, NULL));
	ck_refused(forward_take(layer, x, &result, &workspace, &error),
			MH_ESIZE, "weights of shape (1, 8, 8589934592, 8589934592)"
			" are too large to address");
	ck_assert_uint_eq(workspace.held, 0);
	layer_free(layer);
}
END_TEST

START_TEST(weights_beyond_the_first_two_billion_are_where_they_belong)
{
	const size_t T = 16385, square[] = { 1, 8, T, T };
	const size_t bytes = 8 * T * T * sizeof(real);
	struct trial t;
	struct tensor all;
	real *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return;                 /* fewer addresses than that */
	trial_set(&t, LOOP, 1, 5, 8, 2);
	ck_ok(forth(&t, true, NULL));
	struct tensor small = kept(&t, t.square.weights), dx;

	ck_ok(back(&t, true, NULL));
	dx = kept(&t, t.dx);
	all = tensor_view(memory, 4, square);
	t.square.weights = tensor_narrow(tensor_narrow(all, 2, T - 5, 5),
			3, T - 5, 5);
	ck_ok(forth(&t, true, NULL));
	ck_ok(back(&t, true, NULL));
	ck_assert(tensor_distance(t.square.weights, small) == 0);
	ck_assert(tensor_distance(t.dx, dx) == 0);
	ck_assert(memory[8 * T * T - 1] == AT(small, 0, 7, 4, 4));
	munmap(memory, bytes);
	trial_free(&t);
}
END_TEST

START_TEST(the_packed_path_reads_and_writes_beyond_two_billion)
{
	const size_t T = 16385, H = 9, count = H * T * T;
	struct trial t;
	struct tensor concat, slopes;
	real *memory = folded(count * sizeof(real));

	if (!memory)
		return;                 /* fewer addresses than that */
	trial_set_long(&t, T, H, 1);
	tensor_fill(t.dy, 0);
	noise(&AT(t.dy, 0, T - 1, 0), 1, &H, 88);
	ck_ok(forth(&t, true, NULL));
	ck_ok(back(&t, true, NULL));
	concat = kept(&t, t.streamed.concat);
	slopes = kept(&t, t.layer->in_proj.gradient);
	/* the same, packed, with weights in folded memory */
	bench_allow_threads(1, 1);
	t.path = PACKED;
	t.square = (struct forward){ .output = t.streamed.output,
			.weights = tensor_view(memory, 4, (size_t[]){ 1, H, T, T }),
			.concat = t.streamed.concat };
	registry_zero_gradients(&t.layer->registry);
	ck_ok(forth(&t, true, NULL));
	ck_assert(tensor_distance(t.square.concat, concat) <= 100 *
			REAL_EPSILON);
	ck_assert(memory[count - 1] > 0 && memory[count - T - 1] == 0);
	ck_ok(back(&t, true, NULL));
	for (size_t i = H - 1; i < 3 * H; i += H)
		for (size_t c = 0; c < H; c++)
			ck_near(AT(t.layer->in_proj.gradient, i, c),
					AT(slopes, i, c), 1000);

	munmap(memory, count * sizeof(real));
	trial_free(&t);
}
END_TEST

START_TEST(a_row_of_sixteen_thousand_sources_is_added_up_right)
{
	const size_t T = 16385, d = 2;
	struct trial t;

	trial_set_long(&t, T, 8, d);
	ck_ok(forth(&t, true, NULL));
	for (size_t h = 0; h < 8; h++) {
		const real *q = &AT(t.streamed.qkv, 0, T - 1, h * d);
		long double sum = 0, mix[2] = { 0, 0 };

		for (size_t j = 0; j < T; j++) {
			const real *k = &AT(t.streamed.qkv, 0, j, 16 + h * d);
			long double w = expl(((long double)q[0] * k[0] +
					(long double)q[1] * k[1]) / sqrtl(2));

			sum += w;
			for (size_t c = 0; c < d; c++)
				mix[c] += w * AT(t.streamed.qkv, 0, j,
						32 + h * d + c);
		}
		for (size_t c = 0; c < d; c++)
			ck_near(AT(t.streamed.concat, 0, T - 1, h * d + c),
					mix[c] / sum, 1000);
	}
	trial_free(&t);
}
END_TEST

START_TEST(a_tensor_without_data_is_refused_by_name)
{
	struct part parts[MOST_PARTS];
	struct trial t;
	char sentence[80];

	trial_set(&t, (enum path)_i, 2, 5, 3, 4);
	ck_ok(forth(&t, true, NULL));
	for (size_t i = 0, n = parts_of(&t, parts); i < n; i++) {
		struct part *p = &parts[i];
		real *data = p->tensor->data;

		p->tensor->data = NULL;
		snprintf(sentence, sizeof sentence,
				"%s has elements but no data", p->name);
		if (p->forth)
			ck_refused(forth(&t, true, &error), MH_ESHAPE, sentence);
		if (p->back)
			ck_refused(back(&t, true, &error), MH_ESHAPE, sentence);
		p->tensor->data = data;
	}
	ck_ok(back(&t, true, NULL));
	trial_free(&t);
}
END_TEST

START_TEST(a_head_that_fits_no_longer_is_refused)
{
	struct trial t, lender;

	trial_set(&lender, LOOP, 1, 1, 3, 4);
	trial_set(&t, (enum path)_i, 2, 5, 3, 4);

	struct layer *l = t.layer;
	struct head *own = &l->own[0], *lent = &lender.layer->own[2];
	struct parameter *parts[] = { &lent->query, &lent->key,
			&lent->value, &lent->query_bias, &lent->key_bias,
			&lent->value_bias, &own->key, &own->value_bias,
			&l->in_proj, &l->out_proj, &l->in_bias, &l->out_bias };

	ck_ok(layer_enter(l, 1, lent, NULL));
	ck_ok(forth(&t, true, NULL));
	tensor_fill(*output_of(&t), 77);
	tensor_fill(t.dx, 77);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		ck_must_fit(&t, &parts[i]->value, lender.layer);
		ck_must_fit(&t, &parts[i]->gradient, lender.layer);
	}
	ck_ok(back(&t, true, NULL));
	trial_free(&t);
	trial_free(&lender);
}
END_TEST

START_TEST(no_layer_and_no_workspace_are_refused)
{
	struct trial t;
	struct layer *layer;
	struct head *none = NULL;

	trial_set(&t, (enum path)_i, 2, 5, 3, 4);
	ck_ok(forth(&t, true, NULL));
	t.workspace = NULL;
	if (t.path == ONLINE)
		ck_ok(forth(&t, true, NULL));
	else
		ck_refused(forth(&t, true, &error), MH_ESHAPE,
				"there is no workspace");
	ck_refused(back(&t, true, &error), MH_ESHAPE,
			"there is no workspace");
	t.workspace = &t.own;
	layer = t.layer;
	ck_refused(layer_enter(layer, 0, none, &error), MH_ESHAPE,
			"there is no head");
	t.layer = NULL;
	ck_refused(forth(&t, true, &error), MH_ESHAPE,
			"there is no layer");
	ck_refused(back(&t, true, &error), MH_ESHAPE, "there is no layer");
	/* nothing else does anything without a layer */
	ck_refused(forward_take(NULL, t.x, &t.square, &t.room, &error),
			MH_ESHAPE, "there is no layer");
	ck_refused(streamed_take(NULL, t.x, &t.streamed, &t.room, &error),
			MH_ESHAPE, "there is no layer");
	ck_refused(layer_enter(NULL, 0, layer->head[0], &error), MH_ESHAPE,
			"there is no layer");
	ck_refused(layer_add_biases(NULL, &error), MH_ESHAPE,
			"there is no layer");
	ck_refused(layer_contribution(NULL, 0, t.x, t.dx, &error), MH_ESHAPE,
			"there is no layer");
	ck_refused(layer_create(8, 2, NULL, &error), MH_ESHAPE,
			"there is no place for it");
	ck_refused(forward_take(layer, t.x, NULL, &t.room, &error), MH_ESHAPE,
			"there is no result");
	ck_refused(streamed_take(layer, t.x, NULL, &t.room, &error), MH_ESHAPE,
			"there is no result");
	t.layer = layer;
	trial_free(&t);
}
END_TEST

/* Each by its name: what is missing, and from which call. */
START_TEST(every_function_that_can_refuse_refuses_null)
{
	const struct tensor none = { 0 };
	const struct projections nothing = { .query = none };
	struct trial t;
	struct tensor view;

	trial_set(&t, LOOP, 2, 5, 3, 4);

	struct layer *l = t.layer;
	struct registry *r = &l->registry;
	struct tensor empty = t.x;

	empty.data = NULL;
	/* refuse null pointers for tensors */
	ck_refused(tensor_merge(t.x, 0, NULL, &error), MH_ESHAPE,
			"there is no place for it");
	ck_refused(tensor_merge(t.x, 2, &view, &error), MH_ESHAPE,
			"(2, 5, 12) has no axes 2 and 3");
	ck_refused(tensor_merge(t.x, -1, &view, &error), MH_ESHAPE,
			"(2, 5, 12) has no axes -1 and 0");
	ck_refused(layer_mix(l, t.x, t.x, &error), MH_ESHAPE,
			"a product takes matrices, got ranks 3, 2 and 3");
	empty.rank = 1000;
	ck_refused(tensor_merge(empty, 0, &view, &error), MH_ESHAPE,
			"of rank 1000 has no axes 0 and 1");
	empty.rank = 3;
	ck_refused(tensor_split(t.x, 0, 2, NULL, &error), MH_ESHAPE,
			"there is no place for it");
	ck_refused(tensor_split(t.x, 3, 2, &view, &error), MH_ESHAPE,
			"(2, 5, 12) has no axis 3");
	ck_refused(tensor_split(t.x, -1, 2, &view, &error), MH_ESHAPE,
			"(2, 5, 12) has no axis -1");
	ck_refused(tensor_expect(t.x, "x", 3, NULL, &error), MH_ESHAPE,
			"there is no shape for x");
	ck_refused(tensor_expect_apart(NULL, 2, NULL, 0, &error), MH_ESHAPE,
			"there are no tensors to compare");
	ck_refused(tensor_expect_apart(NULL, 0, NULL, 2, &error), MH_ESHAPE,
			"there are no tensors to compare");
	ck_refused(workspace_take(&t.own, 3, NULL, &view, &error), MH_ESHAPE,
			"there is no shape");
	ck_refused(gradient_head(nothing, nothing, none, true, none, none, none,
			NULL, &error), MH_ESHAPE,
			"weights has shape (), wanted (0, 0)");
	/* refuse null pointers for layers and their parameters */
	ck_refused(registry_enter(NULL, "a", &l->in_proj, &error), MH_ESHAPE,
			"there is no registry");
	ck_refused(registry_enter(r, NULL, &l->in_proj, &error), MH_ESHAPE,
			"there is no name");
	ck_refused(registry_enter(r, "a", NULL, &error), MH_ESHAPE,
			"there is no parameter");
	ck_refused(layer_expect_head(NULL, l->own, &error), MH_ESHAPE,
			"there is no layer");
	ck_refused(layer_expect_head(l, NULL, &error), MH_ESHAPE,
			"there is no head");
	ck_refused(layer_expect_heads(NULL, &error), MH_ESHAPE,
			"there is no layer");
	ck_refused(layer_expect_apart(NULL, true, NULL, 0, &error), MH_ESHAPE,
			"there is no layer");
	ck_refused(layer_rows(t.x, NULL, &t.own, &error), MH_ESHAPE,
			"there is no place for it");
	ck_refused(layer_rows(empty, &view, &t.own, &error), MH_ESHAPE,
			"a tensor of rows has elements but no data");
	ck_refused(layer_project(NULL, t.x, &view, &t.own, &error), MH_ESHAPE,
			"there is no layer");
	ck_refused(layer_project(l, t.x, NULL, &t.own, &error), MH_ESHAPE,
			"there is no place for a tensor");
	ck_refused(layer_project(l, empty, &view, &t.own, &error), MH_ESHAPE,
			"a tensor of rows has elements but no data");
	/* refuse null pointers for files */
	const struct weights_tensor nameless = { NULL, t.x };

	ck_refused(weights_write("/", &nameless, 1, &error), MH_EFORMAT,
			"tensor 0 has no name");
	ck_refused(weights_expect(NULL, "x", 3, t.x.shape, &error), MH_ESHAPE,
			"there is no file");
	ck_refused(weights_read(NULL, "x", t.x, &error), MH_ESHAPE,
			"there is no file");
	ck_ok(forth(&t, true, NULL));
	trial_free(&t);
}
END_TEST

START_TEST(no_result_is_refused)
{
	struct trial t;

	trial_set(&t, LOOP, 2, 5, 3, 4);
	const struct layer *l = t.layer;

	ck_refused(layer_forward_loop(l, t.x, true, NULL, &t.own, &error),
			MH_ESHAPE, "there is no result");
	ck_refused(layer_backward_loop(l, t.x, true, NULL, t.dy, t.dx,
			&t.own, &error), MH_ESHAPE, "there is no result");
	ck_refused(layer_forward_packed(l, t.x, true, NULL, &t.own, &error),
			MH_ESHAPE, "there is no result");
	ck_refused(layer_backward_packed(l, t.x, true, NULL, t.dy, t.dx,
			&t.own, &error), MH_ESHAPE, "there is no result");
	ck_refused(layer_forward_online(l, t.x, true, NULL, &t.own, &error),
			MH_ESHAPE, "there is no result");
	ck_refused(layer_backward_online(l, t.x, true, NULL, t.dy, t.dx,
			&t.own, &error), MH_ESHAPE, "there is no result");
	ck_refused(layer_forward_streaming(l, t.x, true, NULL, &t.own,
			&error), MH_ESHAPE, "there is no result");
	ck_refused(layer_backward_streaming(l, t.x, true, NULL, t.dy, t.dx,
			&t.own, &error), MH_ESHAPE, "there is no result");
	ck_refused(layer_forward_streaming(NULL, t.x, true, NULL, &t.own,
			&error), MH_ESHAPE, "there is no layer");
	ck_refused(streaming_forward(NULL, l, t.x, true, &t.streamed,
			&t.own, &error), MH_ESHAPE, "there is no kernel");
	trial_free(&t);
}
END_TEST

START_TEST(weights_that_are_not_wanted_change_nothing_else)
{
	const size_t bytes = 2 * 40 * 12 * sizeof(real);
	const bool causal = _i & 2;
	struct trial t;
	struct tensor output, concat;
	size_t peak;

	trial_set(&t, (enum path)(_i % 2), 2, 40, 3, 4);
	if (_i >= 4)
		AT(t.x, 0, 30, 7) = (real)NAN;
	ck_ok(forth(&t, causal, NULL));
	peak = t.own.peak;
	output = kept(&t, t.square.output);
	concat = kept(&t, t.square.concat);
	tensor_fill(t.square.output, 0);
	t.square.weights = (struct tensor){ .data = NULL };
	ck_ok(forth(&t, causal, NULL));
	ck_assert_mem_eq(t.square.output.data, output.data, bytes);
	ck_assert_mem_eq(t.square.concat.data, concat.data, bytes);
	ck_assert_uint_eq(t.own.peak, peak + 40 * 40 * sizeof(real));
	ck_assert_uint_eq(t.own.asked, 0);
	ck_refused(back(&t, causal, &error), MH_ESHAPE,
			"the way back reads weights, and there are none");
	trial_free(&t);
}
END_TEST

START_TEST(any_input_gives_what_its_copy_gives)
{
	const size_t turned[] = { 12, 2, 9 };
	struct trial t;
	struct tensor output, dx, memory;

	trial_set(&t, (enum path)(_i % PATHS), 2, 9, 3, 4);
	ck_ok(workspace_take(&t.room, 3, turned, &memory, NULL));
	noise(memory.data, 3, turned, 9);
	t.x = tensor_swap(tensor_swap(memory, 0, 1), 1, 2);
	t.dy = t.x;
	if (_i / PATHS == 1) {                  /* backward in time */
		t.x.data += 8 * t.x.stride[1];
		t.x.stride[1] *= -1;
	} else if (_i / PATHS == 2)             /* one row for all */
		t.x.stride[1] = t.dy.stride[0] = 0;
	ck_ok(forth(&t, true, NULL));
	ck_ok(back(&t, true, NULL));
	output = kept(&t, *output_of(&t));
	dx = kept(&t, t.dx);
	registry_zero_gradients(&t.layer->registry);
	t.x = kept(&t, t.x);
	t.dy = kept(&t, t.dy);
	ck_ok(forth(&t, true, NULL));
	ck_ok(back(&t, true, NULL));
	ck_assert(tensor_distance(*output_of(&t), output) == 0);
	ck_assert(tensor_distance(t.dx, dx) == 0);
	trial_free(&t);
}
END_TEST

static void overlap_pair(struct trial *t, const struct part *p,
		const struct part *other)
{
	struct error error = { 0 };
	struct tensor was = *p->tensor, stood = *other->tensor;
	real scratch[1024] = { 0 };
	size_t count;

	tensor_count(other->tensor->rank, other->tensor->shape, &count);
	other->tensor->data = scratch;
	p->tensor->data = scratch + count - 1;
	if (p->written && other->forth)
		ck_overlap(forth(t, true, &error), &error, p, other,
				other->written);
	if (p->written_back && other->back)
		ck_overlap(back(t, true, &error), &error, p, other,
				other->written_back);
	*p->tensor = was;
	*other->tensor = stood;
}

START_TEST(what_is_written_overlaps_nothing)
{
	struct part parts[MOST_PARTS];
	struct trial t;

	trial_set(&t, (enum path)_i, 2, 5, 3, 4);
	ck_ok(forth(&t, true, NULL));
	struct tensor output = kept(&t, *output_of(&t));
	const size_t count = parts_of(&t, parts);

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			if (i != j)
				overlap_pair(&t, &parts[i], &parts[j]);
	ck_assert(tensor_distance(*output_of(&t), output) == 0);
	for (size_t i = 0; i < 4 * 12 * 12; i++)
		ck_assert(t.layer->memory[4 * 12 * 12 + i] == 0);
	trial_free(&t);
}
END_TEST

START_TEST(no_parameter_is_written_over)
{
	struct trial t, lender;

	trial_set(&t, (enum path)_i, 1, 1, 3, 4);
	trial_set(&lender, (enum path)_i, 1, 1, 3, 4);
	ck_ok(layer_enter(t.layer, 1, &lender.layer->own[2], NULL));
	real *const taken[] = { t.layer->memory + 3 * 144 - 1,
			t.layer->memory + 4 * 144 - 1, t.layer->bias_memory + 35,
			lender.layer->own[2].key.value.data + 47,
			lender.layer->own[2].value_bias.gradient.data + 3 };
	static const char *const names[] = { "output overlaps in_proj",
			"output overlaps out_proj", "output overlaps in_bias",
			"output overlaps a head's key weight",
			"output overlaps a value bias's gradient" };
	real *data = output_of(&t)->data;

	for (int i = 0; i < 5; i++) {
		output_of(&t)->data = taken[i];
		ck_refused(forth(&t, true, &error), MH_ESHAPE, names[i]);
	}
	output_of(&t)->data = data;
	/* an input may lie in a parameter, but not in a gradient */
	t.x.data = t.layer->memory;
	ck_ok(forth(&t, true, NULL));
	ck_ok(back(&t, true, NULL));
	t.dx.data = t.layer->memory + 7 * 144 - 1;
	ck_refused(back(&t, true, &error), MH_ESHAPE,
			"dx overlaps the gradient of in_proj");
	t.dx.data = data;
	t.x.data = t.layer->memory + 7 * 144;
	ck_ok(forth(&t, true, NULL));
	ck_refused(back(&t, true, &error), MH_ESHAPE,
			"the gradient of out_proj overlaps x");
	t.x.data = lender.layer->own[2].query.gradient.data;
	ck_refused(back(&t, true, &error), MH_ESHAPE,
			"a query weight's gradient overlaps x");
	trial_free(&t);
	trial_free(&lender);
}
END_TEST

START_TEST(no_gradient_is_added_to_a_number)
{
	struct trial t, lender;

	trial_set(&lender, LOOP, 1, 1, 3, 4);
	trial_set(&t, (enum path)_i, 2, 5, 3, 4);

	struct head *lent = &lender.layer->own[2];
	struct head *other = &lender.layer->own[1];

	ck_ok(layer_enter(t.layer, 1, lent, NULL));
	ck_ok(layer_enter(t.layer, 2, other, NULL));
	ck_ok(forth(&t, true, NULL));
	tensor_fill(t.dx, 77);
	/* let gradients lie where numbers are */
	const struct {
		struct tensor *moved, *onto;
		const char *sentence;
	} cases[] = {
		{ &lent->query.gradient, &lent->query.value,
				"a query weight's gradient overlaps a head's"
				" query weight" },
		{ &lent->query.gradient, &other->value.value,
				"a query weight's gradient overlaps a head's"
				" value weight" },
		{ &lent->key_bias.gradient, &other->value_bias.value,
				"a key bias's gradient overlaps a head's value bias" },
		{ &other->value.gradient, &t.layer->out_proj.value,
				"a value weight's gradient overlaps out_proj" },
		{ &lent->key_bias.gradient, &t.layer->in_bias.value,
				"a key bias's gradient overlaps in_bias" },
		{ &lent->value.value, &t.layer->in_proj.gradient,
				"the gradient of in_proj overlaps a head's value"
				" weight" },
	};
	const struct tensor was = lent->value.gradient;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		real *data = cases[i].moved->data;

		cases[i].moved->data = cases[i].onto->data;
		ck_refused(back(&t, true, &error), MH_ESHAPE, cases[i].sentence);
		cases[i].moved->data = data;
	}
	lent->value.gradient.stride[0] = 0;
	ck_refused(back(&t, true, &error), MH_ESHAPE,
			"a value weight's gradient overlaps itself");
	lent->value.gradient = was;
	for (size_t i = 0; i < 4 * 12 * 12; i++)
		ck_assert(t.layer->memory[4 * 12 * 12 + i] == 0);
	ck_assert(AT(t.dx, 0, 0, 0) == 77);
	ck_ok(back(&t, true, NULL));
	t.layer->head[0] = NULL;                /* as in a frame */
	ck_ok(layer_expect_apart(t.layer, true, NULL, 0, NULL));
	trial_free(&t);
	trial_free(&lender);
}
END_TEST

START_TEST(columns_of_one_buffer_do_not_overlap)
{
	const size_t both[] = { 2, 5, 24 };
	struct trial t;
	struct tensor output, buffer;

	trial_set(&t, _i ? ONLINE : LOOP, 2, 5, 3, 4);
	ck_ok(forth(&t, true, NULL));
	output = kept(&t, *output_of(&t));
	ck_ok(workspace_take(&t.room, 3, both, &buffer, NULL));
	*output_of(&t) = tensor_narrow(buffer, 2, 0, 12);
	*concat_of(&t) = tensor_narrow(buffer, 2, 12, 12);
	ck_ok(forth(&t, true, NULL));
	ck_assert(tensor_distance(*output_of(&t), output) == 0);
	*concat_of(&t) = tensor_narrow(buffer, 2, 11, 12);
	ck_refused(forth(&t, true, &error), MH_ESHAPE,
			"output overlaps concat");
	trial_free(&t);
}
END_TEST

START_TEST(threads_may_share_a_layer)
{
	enum { THREADS = 4 };
	struct caller callers[THREADS];
	pthread_t threads[THREADS];
	struct layer *lent[THREADS];

	for (int i = 0; i < THREADS; i++) {
		struct trial *t = &callers[i].trial;

		trial_set(t, (enum path)(_i % PATHS), 1, _i < PATHS ? 70 : 600,
				3, 4);
		lent[i] = t->layer;
		t->layer = lent[0];
		callers[i].times = _i < PATHS ? 50 : 3;
		ck_ok(forth(t, true, NULL));
		callers[i].wanted = kept(t, *output_of(t));
		ck_assert(tensor_distance(callers[i].wanted,
				callers[0].wanted) == 0);
	}
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
				call_again_and_again, &callers[i]), 0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		ck_assert(callers[i].same);
		callers[i].trial.layer = lent[i];
		trial_free(&callers[i].trial);
	}
}
END_TEST

void when_suite(Suite *suite)
{
	TCase *numbers = tcase_create("numbers");
	TCase *arguments = tcase_create("arguments");
	TCase *size = tcase_create("size");

	suite_add_tcase(suite, numbers);
	/* add the tests of what happens to numbers */
	tcase_add_loop_test(numbers, the_first_output_is_exactly_one, 0,
			3 * PATHS);
	tcase_add_loop_test(numbers, what_cannot_be_seen_changes_nothing, 0,
			6 * PATHS);
	tcase_add_loop_test(numbers, what_is_seen_is_never_hidden, 0, PATHS);
	tcase_add_loop_test(numbers,
			a_broken_slope_reaches_what_its_row_has_read, 0, PATHS);
	tcase_add_loop_test(numbers, extreme_scores_have_their_exact_softmax,
			0, EXTREMES * PATHS);
	tcase_add_loop_test(numbers,
			a_product_that_overflows_is_never_a_wrong_number, 0, PATHS);
	suite_add_tcase(suite, arguments);
	/* add the tests of what happens to arguments */
	tcase_add_loop_test(arguments, nothing_comes_of_nothing, 0, 2 * PATHS);
	tcase_add_loop_test(arguments, no_layer_is_made_of_odd_sizes, 0, 4);
	tcase_add_loop_test(arguments,
			a_shape_that_does_not_fit_is_refused_on_every_path, 0, PATHS);
	tcase_add_loop_test(arguments,
			sizes_beyond_memory_are_refused_by_arithmetic, 0, PATHS);
	tcase_add_test(arguments,
			a_square_beyond_memory_is_refused_by_arithmetic);
	tcase_add_test(arguments,
			weights_beyond_the_first_two_billion_are_where_they_belong);
	tcase_add_loop_test(arguments,
			a_tensor_without_data_is_refused_by_name, 0, PATHS);
	tcase_add_loop_test(arguments,
			a_head_that_fits_no_longer_is_refused, 0, PATHS);
	tcase_add_loop_test(arguments, no_layer_and_no_workspace_are_refused,
			0, PATHS);
	tcase_add_test(arguments, no_result_is_refused);
	tcase_add_test(arguments, every_function_that_can_refuse_refuses_null);

	tcase_add_loop_test(arguments,
			weights_that_are_not_wanted_change_nothing_else, 0, 8);
	tcase_add_loop_test(arguments, any_input_gives_what_its_copy_gives, 0,
			3 * PATHS);
	tcase_add_loop_test(arguments, what_is_written_overlaps_nothing, 0,
			PATHS);
	tcase_add_loop_test(arguments, no_parameter_is_written_over, 0, PATHS);
	tcase_add_loop_test(arguments, no_gradient_is_added_to_a_number, 0,
			PATHS);
	tcase_add_loop_test(arguments, columns_of_one_buffer_do_not_overlap, 0,
			2);
	tcase_add_loop_test(arguments, threads_may_share_a_layer, 0,
			2 * PATHS);
	suite_add_tcase(suite, size);
	tcase_add_test(size,
			a_row_of_sixteen_thousand_sources_is_added_up_right);
	tcase_add_test(size,
			the_packed_path_reads_and_writes_beyond_two_billion);
	tcase_set_tags(size, "long");
}
