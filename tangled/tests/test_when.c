/* tests/test_when.c: made from chapters/86-when.nw; edit it there. */
#define _DEFAULT_SOURCE 1       /* before any header: mmap */

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "gradient.h"
#include "oracle.h"
#include "streaming.h"
#include "suites.h"
#include "support.h"

enum path { LOOP, PACKED, ONLINE, SMALL, TILES, PATHS };

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
		return streaming_forward(t->path == SMALL ? kernel_small() :
				kernel_nth(0), t->layer, t->x, causal, &t->streamed,
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
		return streaming_backward(t->path == SMALL ? kernel_small() :
				kernel_nth(0), t->layer, t->x, causal, &t->streamed,
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
	ck_assert(tensor_finite(t.dx));
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
	if (t.path == TILES)
		ck_near(AT(*output_of(&t), 0, 0, 0), 3, 8);
	else
		ck_assert(isnan(AT(*output_of(&t), 0, 0, 0)));
	ck_near(AT(*output_of(&t), 0, 1, 0), 5, 8);
	trial_free(&t);
	trial_ask(&t, (enum path)_i, &down);
	ck_ok(forth(&t, true, NULL));
	ck_near(AT(*output_of(&t), 0, 1, 0), 7, 8);
	trial_free(&t);
}
END_TEST

void when_suite(Suite *suite)
{
	TCase *numbers = tcase_create("numbers");
	TCase *arguments = tcase_create("arguments");

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
}
