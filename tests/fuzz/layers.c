/* Bytes as a layer, an input and a way to run them: sizes, mask, biases, a head
 * that stands in two slots, views of any strides, a bound on memory, and numbers
 * that are NaN, infinite or of unlikely sizes. Forth and back on one of the four
 * paths; every number is compared with one that is worked out here.
 *
 * The reference follows the formulas in long double. With each number it keeps
 * how far a correct program may be from it: what rounding can do, whatever the
 * order of the sums, to first order and with a reserve. Where a program may
 * overflow, that is infinite, and then nothing is said. A number that is itself
 * not finite is wanted so. For plain layers the reference is compared in turn
 * with the oracle of the suites, which shares no line with it.
 *
 * Compiled twice, for double and for float; every input goes to both. */
#include <string.h>

#include "fuzz.h"
#include "gradient.h"
#include "streaming.h"

#ifdef MH_SINGLE        /* the oracle is linked for both precisions, too */
#define oracle_heads oracle_heads_float
#define oracle_units oracle_units_float
#define oracle_output oracle_output_float
#endif
#include "tests/oracle.c"

/* ---- what the bytes say ------------------------------------------------------ */

enum { MOST = 512, SQUARES = 4096, WIDEST = 20, SPECIALS = 9 };
enum path { LOOP, PACKED, ONLINE, STREAMING };

static const uint8_t *at, *end;

static unsigned next(unsigned most)
{
	return at < end ? *at++ % (most + 1) : 0;
}

/* A case, with plain contiguous copies of all that the reference reads. */
static struct {
	size_t B, T, C, H, d, owner[4];
	bool causal, biases, unwanted, shared, tame;
	enum path path;
	unsigned view_x, view_dy, view_out, limit;
	real x[MOST], dy[MOST], in_proj[3 * WIDEST * WIDEST],
			out_proj[WIDEST * WIDEST], in_bias[3 * WIDEST],
			out_bias[WIDEST];
} given;

static void fill(real *numbers, size_t count, struct random *random,
		real bound)
{
	for (size_t i = 0; i < count; i++)
		numbers[i] = random_uniform(random, -bound, bound);
}

/* Three bytes each: which array, where, and what stands there. */
static void put_specials(void)
{
	const real special[SPECIALS] = { 0, -200, (real)INFINITY,
			-(real)INFINITY, (real)NAN, (real)1e30, REAL_MAX,
			REAL_LEAST / 4, -1 };
	const size_t n = given.B * given.T * given.C, C = given.C;
	const struct { real *numbers; size_t count; } array[] = {
		{ given.x, n }, { given.dy, n }, { given.in_proj, 3 * C * C },
		{ given.out_proj, C * C }, { given.in_bias, 3 * C },
		{ given.out_bias, C }
	};

	for (int i = 0; i < 64 && at < end; i++) {
		unsigned which = next(255), place = next(255);
		real value = special[next(SPECIALS - 1)];
		size_t count = array[which % 6].count;

		given.tame = false;
		/* The other half of the first byte: alone, or everywhere. */
		for (size_t k = 0; k < count; k++)
			if (which / 6 == 40 || k == place % count)
				array[which % 6].numbers[k] = value;
	}
}

static bool read_case(const uint8_t *bytes, size_t size)
{
	static const real bounds[] = { 1, (real)0.25, 3, 20, 1000, (real)1e-6 };
	struct random random = { 0 };
	unsigned flags, scale;
	size_t n;

	at = bytes;
	end = bytes + size;
	memset(&given, 0, sizeof given);
	given.B = next(3);
	given.T = next(45);
	given.H = 1 + next(3);
	given.d = 1 + next(9);
	given.C = given.H * given.d;
	given.path = next(3);
	flags = next(255);
	given.causal = flags & 1;
	given.biases = flags & 2;
	given.unwanted = flags & 4;
	given.shared = flags & 8 && given.H > 1;
	for (size_t h = 0; h < given.H; h++)
		given.owner[h] = given.shared && h == 1 ? 0 : h;
	given.view_x = next(63);
	given.view_dy = next(63);
	given.view_out = next(63);
	given.limit = next(255);
	scale = next(5);
	given.tame = scale < 2;
	random.state = next(255);
	n = given.B * given.T * given.C;
	if (n > MOST || given.C > WIDEST ||
			given.B * given.H * given.T * given.T > SQUARES)
		return false;
	fill(given.x, n, &random, 1);
	fill(given.dy, n, &random, 1);
	fill(given.in_proj, 3 * given.C * given.C, &random, bounds[scale]);
	fill(given.out_proj, given.C * given.C, &random, 1);
	if (given.biases) {
		fill(given.in_bias, 3 * given.C, &random, bounds[scale]);
		fill(given.out_bias, given.C, &random, 1);
	}
	if (n)
		put_specials();
	if (!given.biases) {
		memset(given.in_bias, 0, sizeof given.in_bias);
		memset(given.out_bias, 0, sizeof given.out_bias);
	}
	return true;
}

static size_t elements(void)
{
	return given.B * given.T * given.C;
}

/* ---- numbers with a bound ---------------------------------------------------- */

struct number { long double value, off; };

/* The reserve: a correct program errs by half an epsilon where this counts
 * four. It is for the exponentials of the kernels, and for sums that are
 * rescaled on their way. */
static const long double unit = 4 * (long double)REAL_EPSILON;
static const long double most = (long double)REAL_MAX / 8;
static const long double least = (long double)REAL_LEAST;

/* What the type makes of a number as large as size on its way. */
static struct number bounded(long double value, long double off,
		long double size)
{
	if (isnan(off) || off > most)
		return (struct number){ value, INFINITY };
	if (!isfinite(value))
		return (struct number){ value, 0 };
	return (struct number){ value, size + off > most ? INFINITY : off };
}

static struct number exact(real value)
{
	return (struct number){ value, 0 };
}

static struct number times(struct number a, struct number b)
{
	long double value = a.value * b.value, off = a.off + b.off;

	if (isfinite(off) && isfinite(value))
		off = fabsl(a.value) * b.off + fabsl(b.value) * a.off +
				a.off * b.off + unit * fabsl(value) + least;
	return bounded(value, off, fabsl(value));
}

struct sum { long double value, off, size; int count; };

static void add(struct sum *sum, struct number n)
{
	sum->value += n.value;
	sum->off += n.off;
	sum->size += isfinite(n.value) ? fabsl(n.value) + n.off : 0;
	sum->count++;
}

static struct number total(struct sum sum)
{
	return bounded(sum.value, sum.off + sum.count * (unit * sum.size +
			least), sum.size);
}

static struct number minus(struct number a, struct number b)
{
	struct sum sum = { 0 };

	add(&sum, a);
	add(&sum, (struct number){ -b.value, b.off });
	return total(sum);
}

/* The softmax of a row. A weight is largest if its own score is as large as it
 * may be and all others are as small, and the other way round. */
static void softmax(const struct number score[], struct number weight[],
		size_t count)
{
	long double top = -INFINITY, low = 0, high = 0, off = 0, sum = 0;
	long double lows[64], highs[64];

	for (size_t i = 0; i < count; i++) {
		top = isnan(score[i].value) || score[i].value > top ?
				score[i].value : top;
		off += score[i].off;
		if (isnan(top))
			break;
	}
	for (size_t i = 0; i < count; i++) {
		long double s = score[i].value - top, e = score[i].off +
				unit * (fabsl(s) + fabsl(top));

		lows[i] = isfinite(s) ? expl(s - e) : expl(s);
		highs[i] = isfinite(s) ? expl(s + fminl(e, 4000)) : expl(s);
		low += lows[i];
		high += highs[i];
		sum += expl(s);
	}
	for (size_t i = 0; i < count; i++) {
		long double w = expl(score[i].value - top) / sum;
		long double up = highs[i] / (highs[i] + fmaxl(low - lows[i], 0));
		long double down = lows[i] / (lows[i] + fmaxl(high - highs[i], 0));

		if (highs[i] == 0)
			up = down = 0;
		else if (lows[i] == 0)
			down = 0;
		weight[i] = bounded(w, isfinite(off) ? fmaxl(up - w, w - down) +
				unit * ((long double)count + 8) * w + 2 * least :
				INFINITY, 1);   /* a kernel's e^t is 0 from there */
		if (isfinite(off) && isnan(w))
			weight[i] = (struct number){ NAN, 0 };
	}
}

/* ---- the reference ----------------------------------------------------------- */

static struct {
	struct number qkv[3][MOST], weights[SQUARES], concat[MOST],
			output[MOST];
	struct number dqkv[3][MOST], dconcat[MOST], dx[MOST];
	struct number in_proj[3 * WIDEST * WIDEST], out_proj[WIDEST * WIDEST],
			in_bias[3 * WIDEST], out_bias[WIDEST];
} want;

/* The row of in_proj that serves this coordinate of the width C. */
static size_t row_of(size_t role, size_t c)
{
	return role * given.C + given.owner[c / given.d] * given.d +
			c % given.d;
}

static void work_projections(void)
{
	const size_t C = given.C;

	for (size_t role = 0; role < 3; role++)
	for (size_t t = 0; t < given.B * given.T; t++)
	for (size_t c = 0; c < C; c++) {
		struct sum sum = { 0 };

		for (size_t e = 0; e < C; e++)
			add(&sum, times(exact(given.x[t * C + e]),
					exact(given.in_proj[row_of(role, c) * C + e])));
		if (given.biases)
			add(&sum, exact(given.in_bias[row_of(role, c)]));
		want.qkv[role][t * C + c] = total(sum);
	}
}

/* Where the numbers of a head begin at a token, and its row of weights. */
static size_t numbers_at(size_t b, size_t h, size_t t)
{
	return (b * given.T + t) * given.C + h * given.d;
}

static struct number *weights_at(size_t b, size_t h, size_t t)
{
	return want.weights + ((b * given.H + h) * given.T + t) * given.T;
}

static struct number dot(const struct number *a, const struct number *b)
{
	struct sum sum = { 0 };

	for (size_t c = 0; c < given.d; c++)
		add(&sum, times(a[c], b[c]));
	return total(sum);
}

static const struct number *root(void)
{
	static struct number share;

	share = (struct number){ 1 / sqrtl((long double)given.d), 0 };
	share.off = unit * share.value;
	return &share;
}

static void work_row(size_t b, size_t h, size_t t)
{
	const size_t seen = given.causal ? t + 1 : given.T;
	struct number score[64], *w = weights_at(b, h, t);
	long double unknown = 0;

	for (size_t s = 0; s < seen; s++)
		score[s] = times(*root(), dot(want.qkv[0] + numbers_at(b, h, t),
				want.qkv[1] + numbers_at(b, h, s)));
	softmax(score, w, seen);
	/* A row that is NaN may be so from end to end; others are 0 there. */
	for (size_t s = 0; s < seen; s++)
		if (!isfinite(w[s].value) || isinf(w[s].off))
			unknown = INFINITY;
	for (size_t s = seen; s < given.T; s++)
		w[s] = (struct number){ 0, unknown };
	for (size_t c = 0; c < given.d; c++) {
		struct sum sum = { 0 };

		for (size_t s = 0; s < seen; s++)
			add(&sum, times(w[s],
					want.qkv[2][numbers_at(b, h, s) + c]));
		want.concat[numbers_at(b, h, t) + c] = total(sum);
	}
}

static void work_forward(void)
{
	const size_t C = given.C;

	memset(&want, 0, sizeof want);
	work_projections();
	for (size_t b = 0; b < given.B; b++)
		for (size_t h = 0; h < given.H; h++)
			for (size_t t = 0; t < given.T; t++)
				work_row(b, h, t);
	for (size_t t = 0; t < given.B * given.T; t++)
	for (size_t c = 0; c < C; c++) {
		struct sum sum = { 0 };

		for (size_t z = 0; z < C; z++)
			add(&sum, times(want.concat[t * C + z],
					exact(given.out_proj[c * C + z])));
		if (given.biases)
			add(&sum, exact(given.out_bias[c]));
		want.output[t * C + c] = total(sum);
	}
}

/* Back from the output to the concatenation, and to out_proj. */
static void work_out_back(void)
{
	const size_t C = given.C, rows = given.B * given.T;

	for (size_t t = 0; t < rows; t++)
	for (size_t z = 0; z < C; z++) {
		struct sum sum = { 0 };

		for (size_t c = 0; c < C; c++)
			add(&sum, times(exact(given.dy[t * C + c]),
					exact(given.out_proj[c * C + z])));
		want.dconcat[t * C + z] = total(sum);
	}
	for (size_t c = 0; c < C; c++) {
		struct sum bias = { 0 };

		for (size_t t = 0; t < rows; t++)
			add(&bias, exact(given.dy[t * C + c]));
		want.out_bias[c] = total(bias);
		for (size_t z = 0; z < C; z++) {
			struct sum sum = { 0 };

			for (size_t t = 0; t < rows; t++)
				add(&sum, times(exact(given.dy[t * C + c]),
						want.concat[t * C + z]));
			want.out_proj[c * C + z] = total(sum);
		}
	}
}

/* The slopes of a row of scores. The mean slope, which is taken from each, can
 * be summed over the sources or over the coordinates: the larger bound. */
static void work_scores_back(size_t b, size_t h, size_t t, size_t seen,
		struct number slope[])
{
	const struct number *dout = want.dconcat + numbers_at(b, h, t);
	const struct number *w = weights_at(b, h, t);
	struct number mean, other;
	struct sum sum = { 0 };

	for (size_t s = 0; s < seen; s++) {
		slope[s] = dot(dout, want.qkv[2] + numbers_at(b, h, s));
		add(&sum, times(w[s], slope[s]));
	}
	mean = total(sum);
	other = dot(dout, want.concat + numbers_at(b, h, t));
	mean.off = fmaxl(mean.off, other.off);
	for (size_t s = 0; s < seen; s++)
		slope[s] = times(*root(), times(w[s], minus(slope[s], mean)));
}

static void work_head_back(size_t b, size_t h)
{
	static struct sum to[3][64][16];

	memset(to, 0, sizeof to);
	for (size_t t = 0; t < given.T; t++) {
		const size_t seen = given.causal ? t + 1 : given.T;
		struct number slope[64];

		work_scores_back(b, h, t, seen, slope);
		for (size_t s = 0; s < seen; s++)
			for (size_t c = 0; c < given.d; c++) {
				add(&to[0][t][c], times(slope[s],
						want.qkv[1][numbers_at(b, h, s) + c]));
				add(&to[1][s][c], times(slope[s],
						want.qkv[0][numbers_at(b, h, t) + c]));
				add(&to[2][s][c], times(weights_at(b, h, t)[s],
						want.dconcat[numbers_at(b, h, t) + c]));
			}
	}
	for (size_t role = 0; role < 3; role++)
		for (size_t t = 0; t < given.T; t++)
			for (size_t c = 0; c < given.d; c++)
				want.dqkv[role][numbers_at(b, h, t) + c] =
						total(to[role][t][c]);
}

/* Back from the projections to x, in_proj and its bias. */
static void work_projections_back(void)
{
	static struct sum weight[3 * WIDEST][WIDEST], bias[3 * WIDEST],
			dx[MOST];
	const size_t C = given.C;

	memset(weight, 0, sizeof weight);
	memset(bias, 0, sizeof bias);
	memset(dx, 0, sizeof dx);
	for (size_t role = 0; role < 3; role++)
	for (size_t t = 0; t < given.B * given.T; t++)
	for (size_t c = 0; c < C; c++) {
		struct number slope = want.dqkv[role][t * C + c];
		size_t row = row_of(role, c);

		add(&bias[row], slope);
		for (size_t e = 0; e < C; e++) {
			add(&weight[row][e], times(slope,
					exact(given.x[t * C + e])));
			add(&dx[t * C + e], times(slope,
					exact(given.in_proj[row * C + e])));
		}
	}
	for (size_t row = 0; row < 3 * C; row++) {
		want.in_bias[row] = total(bias[row]);
		for (size_t e = 0; e < C; e++)
			want.in_proj[row * C + e] = total(weight[row][e]);
	}
	for (size_t i = 0; i < given.B * given.T * C; i++)
		want.dx[i] = total(dx[i]);
}

static void work_backward(void)
{
	work_out_back();
	for (size_t b = 0; b < given.B; b++)
		for (size_t h = 0; h < given.H; h++)
			work_head_back(b, h);
	work_projections_back();
}

/* Two references that differ are worth nothing. */
static void compare_with_oracle(void)
{
	static long double weights[SQUARES], concat[MOST], output[MOST];
	const struct problem p = { .B = given.B, .T = given.T, .C = given.C,
			.H = given.H, .d = given.d, .causal = given.causal,
			.x = given.x, .in_proj = given.in_proj,
			.in_bias = given.in_bias, .out_proj = given.out_proj,
			.out_bias = given.out_bias };

	oracle_heads(&p, weights, concat);
	oracle_output(&p, concat, output);
	for (size_t i = 0; i < p.B * p.H * p.T * p.T; i++)
		MUST(fabsl(weights[i] - want.weights[i].value) <=
				want.weights[i].off);
	for (size_t i = 0; i < p.B * p.T * p.C; i++) {
		MUST(fabsl(concat[i] - want.concat[i].value) <=
				want.concat[i].off);
		MUST(fabsl(output[i] - want.output[i].value) <=
				want.output[i].off);
	}
}

/* ---- the layer --------------------------------------------------------------- */

/* A view (B,T,C) of memory of its own, not a number too long. Bits say: axes
 * stored in the opposite order, positions from last to first, features apart,
 * features from last to first; and, where anything may stand in many places, one
 * example for all, one position for all. */
struct view { struct tensor tensor; real *memory; size_t count; };

static struct view view_take(unsigned how, bool any)
{
	struct view view = { { .rank = 3,
			.shape = { given.B, given.T, given.C } }, NULL, 1 };
	struct tensor *t = &view.tensor;
	ptrdiff_t step = how & 4 ? 2 : 1, from = 0;

	for (int i = 0; i < 3; i++) {
		int axis = how & 1 ? i : 2 - i;

		t->stride[axis] = step;
		step *= t->shape[axis] ? (ptrdiff_t)t->shape[axis] : 1;
	}
	if (any && how & 16)
		t->stride[0] = 0;
	if (any && how & 32)
		t->stride[1] = 0;
	t->stride[1] *= how & 2 ? -1 : 1;
	t->stride[2] *= how & 8 ? -1 : 1;
	for (int axis = 0; axis < 3; axis++) {
		ptrdiff_t reach = ((ptrdiff_t)t->shape[axis] - 1) *
				t->stride[axis];

		from -= reach < 0 ? reach : 0;
		view.count += (size_t)(reach < 0 ? -reach : reach);
	}
	if (tensor_is_empty(*t))
		view.count = 1, from = 0;
	view.memory = malloc(view.count * sizeof(real));
	MUST(view.memory);
	for (size_t i = 0; i < view.count; i++)
		view.memory[i] = (real)7.5;
	t->data = view.memory + from;
	return view;
}

/* The element that is number i in the view's own order. */
static real *element(struct tensor t, size_t i)
{
	return tensor_at(&t, (size_t[TENSOR_AXES]){
			i / given.C / given.T, i / given.C % given.T, i % given.C });
}

/* Set the view to these numbers; where it shows one number in many places, the
 * case is about what it shows. */
static void view_set(struct view view, real *numbers)
{
	for (size_t i = elements(); i-- > 0;)
		*element(view.tensor, i) = numbers[i];
	for (size_t i = 0; i < elements(); i++)
		numbers[i] = *element(view.tensor, i);
}

static void near_number(const char *what, size_t i, real got,
		struct number n)
{
	if (isinf(n.off))
		return;
	if (isfinite(n.value) ? fabsl(got - n.value) <= n.off : !isfinite(got))
		return;
	fprintf(stderr, "path %d, B %zu, T %zu, C %zu, H %zu, causal %d: %s %zu "
			"is %.17Lg, wanted %.17Lg, at most %Lg off\n", given.path,
			given.B, given.T, given.C, given.H, given.causal, what, i,
			(long double)got, n.value, n.off);
	abort();
}

static void near_numbers(const char *what, const real *got,
		const struct number *n, size_t count)
{
	for (size_t i = 0; i < count; i++)
		near_number(what, i, got[i], n[i]);
}

static struct layer *make_layer(void)
{
	const size_t C = given.C;
	struct layer *layer;

	MUST(layer_create(C, given.H, &layer, NULL) == MH_OK);
	if (given.biases) {
		MUST(layer_add_biases(layer, NULL) == MH_OK);
		memcpy(layer->in_bias.value.data, given.in_bias,
				3 * C * sizeof(real));
		memcpy(layer->out_bias.value.data, given.out_bias,
				C * sizeof(real));
	}
	memcpy(layer->in_proj.value.data, given.in_proj,
			3 * C * C * sizeof(real));
	memcpy(layer->out_proj.value.data, given.out_proj,
			C * C * sizeof(real));
	for (size_t h = 0; h < given.H; h++)
		if (given.owner[h] != h)
			MUST(layer_enter(layer, h, layer->head[given.owner[h]],
					NULL) == MH_OK);
	registry_zero_gradients(&layer->registry);
	return layer;
}

/* The passes, with results where they are wanted. */
struct run {
	struct layer *layer;
	struct workspace workspace, room;
	struct view x, dy, out, dx;
	struct forward stored;
	struct streamed streamed;
	struct error error;
};

static bool stores(void)
{
	return given.path == LOOP || given.path == PACKED;
}

static enum status forward(struct run *r)
{
	switch (given.path) {
	case LOOP:
		return layer_forward_loop(r->layer, r->x.tensor, given.causal,
				&r->stored, &r->workspace, &r->error);
	case PACKED:
		return layer_forward_packed(r->layer, r->x.tensor,
				given.causal, &r->stored, &r->workspace, &r->error);
	case ONLINE:
		return layer_forward_online(r->layer, r->x.tensor,
				given.causal, &r->streamed, &r->workspace, &r->error);
	default:
		return layer_forward_streaming(r->layer, r->x.tensor,
				given.causal, &r->streamed, &r->workspace, &r->error);
	}
}

static enum status backward(struct run *r)
{
	struct tensor x = r->x.tensor, dy = r->dy.tensor, dx = r->dx.tensor;

	switch (given.path) {
	case LOOP:
		return layer_backward_loop(r->layer, x, given.causal,
				&r->stored, dy, dx, &r->workspace, &r->error);
	case PACKED:
		return layer_backward_packed(r->layer, x, given.causal,
				&r->stored, dy, dx, &r->workspace, &r->error);
	case ONLINE:
		return layer_backward_online(r->layer, x, given.causal,
				&r->streamed, dy, dx, &r->workspace, &r->error);
	default:
		return layer_backward_streaming(r->layer, x, given.causal,
				&r->streamed, dy, dx, &r->workspace, &r->error);
	}
}

/* Where the path can, the output and dx have strides of their own. */
static void run_set(struct run *r)
{
	bool any = given.path == LOOP || given.path == ONLINE;
	struct error error;

	*r = (struct run){ 0 };
	r->x = view_take(given.view_x, true);
	r->dy = view_take(given.view_dy, true);
	r->out = view_take(any ? given.view_out : 0, elements() == 0);
	r->dx = view_take(any ? given.view_out : 0, elements() == 0);
	view_set(r->x, given.x);
	view_set(r->dy, given.dy);
	r->layer = make_layer();
	MUST((stores() ? forward_take(r->layer, r->x.tensor, &r->stored,
			&r->room, &error) : streamed_take(r->layer, r->x.tensor,
			&r->streamed, &r->room, &error)) == MH_OK);
	r->stored.output = r->streamed.output = r->out.tensor;
}

static void run_free(struct run *r)
{
	workspace_free(&r->workspace);
	workspace_free(&r->room);
	layer_free(r->layer);
	free(r->x.memory);
	free(r->dy.memory);
	free(r->out.memory);
	free(r->dx.memory);
}

static bool untouched(const struct view *view)
{
	for (size_t i = 0; i < view->count; i++)
		if (view->memory[i] != (real)7.5)
			return false;
	return true;
}

/* With too little memory a pass refuses and writes nothing; then it gets what
 * it needs. Without weights every bit is the same. */
static void run_forward(struct run *r)
{
	static real plain[MOST];
	struct tensor weights = r->stored.weights;
	enum status status;

	r->workspace.limit = given.limit ? given.limit * 64u : 0;
	status = forward(r);
	if (status && !(given.limit && status == MH_EMEMORY))
		fprintf(stderr, "%s\n", r->error.message);
	MUST(status == MH_OK || (given.limit && status == MH_EMEMORY));
	if (status) {
		MUST(untouched(&r->out));
		r->workspace.limit = 0;
		MUST(forward(r) == MH_OK);
	}
	r->workspace.limit = 0;
	for (size_t i = 0; i < elements(); i++)
		plain[i] = *element(r->out.tensor, i);
	if (!stores() || !given.unwanted)
		return;
	r->stored.weights = (struct tensor){ 0 };
	MUST(forward(r) == MH_OK);
	r->stored.weights = weights;
	for (size_t i = 0; i < elements(); i++)
		MUST(memcmp(&plain[i], element(r->out.tensor, i),
				sizeof(real)) == 0);
}

static void judge_forward(const struct run *r)
{
	struct tensor concat = stores() ? r->stored.concat :
			r->streamed.concat;

	for (size_t i = 0; i < elements(); i++)
		near_number("output", i, *element(r->out.tensor, i),
				want.output[i]);
	near_numbers("concat", concat.data, want.concat, elements());
	if (stores())
		near_numbers("weight", r->stored.weights.data, want.weights,
				given.B * given.H * given.T * given.T);
}

static void judge_backward(const struct run *r)
{
	const struct layer *layer = r->layer;
	const size_t C = given.C;

	for (size_t i = 0; i < elements(); i++)
		near_number("dx", i, *element(r->dx.tensor, i), want.dx[i]);
	near_numbers("gradient of in_proj", layer->in_proj.gradient.data,
			want.in_proj, 3 * C * C);
	near_numbers("gradient of out_proj", layer->out_proj.gradient.data,
			want.out_proj, C * C);
	if (given.biases) {
		near_numbers("gradient of in_bias",
				layer->in_bias.gradient.data, want.in_bias, 3 * C);
		near_numbers("gradient of out_bias",
				layer->out_bias.gradient.data, want.out_bias, C);
	}
}

int FUZZ(const uint8_t *bytes, size_t size)
{
	struct run r;

	if (!read_case(bytes, size))
		return -1;
	run_set(&r);
	work_forward();
	if (given.tame && !given.shared)
		compare_with_oracle();
	run_forward(&r);
	judge_forward(&r);
	work_backward();
	MUST(backward(&r) == MH_OK);
	judge_backward(&r);
	run_free(&r);
	return 0;
}
