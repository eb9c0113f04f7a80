/* tests/streamed_bench.c: made from chapters/55-streaming.nw; edit it there. */
#include <stdio.h>
#include <string.h>

#include "gradient.h"
#include "streamed_bench.h"
#include "suites.h"
#include "support.h"

static struct streaming path;
static real path_slack;

/* functions of the streamed bench */
void streamed_use(const struct streaming *tested, real slack)
{
	path = *tested;
	path_slack = slack;
}

void streamed_set(struct stream *t, size_t B, size_t T, size_t H,
		size_t d)
{
	const size_t wide[] = { B, T, H * d };
	struct bench *s = &t->s;

	*t = (struct stream){ 0 };
	*s = (struct bench){ .B = B, .T = T, .C = H * d, .H = H, .d = d };
	ck_ok(layer_create(H * d, H, &s->layer, NULL));
	layer_randomize(s->layer, 100 + H);
	ck_ok(workspace_take(&t->room, 3, wide, &s->input, NULL));
	ck_ok(workspace_take(&t->room, 3, wide, &t->out, NULL));
	ck_ok(workspace_take(&t->room, 3, wide, &t->in, NULL));
	ck_ok(streamed_take(s->layer, s->input, &t->result, &t->room,
			NULL));
	noise(s->input.data, 3, wide, 200 + T);
	noise(t->out.data, 3, wide, 45);
}

void streamed_free(struct stream *t)
{
	workspace_free(&t->room);
	bench_free(&t->s);
}

void streamed_forth(struct stream *t, bool causal)
{
	ck_ok(path.forward(t->s.layer, t->s.input, causal, &t->result,
			&t->s.workspace, NULL));
	ck_assert_uint_eq(t->s.workspace.asked, 0);
}

static void streamed_back(struct stream *t, bool causal)
{
	ck_ok(path.backward(t->s.layer, t->s.input, causal, &t->result,
			t->out, t->in, &t->s.workspace, NULL));
	ck_assert_uint_eq(t->s.workspace.asked, 0);
}

void streamed_run(struct stream *t, bool causal)
{
	streamed_forth(t, causal);
	streamed_back(t, causal);
}

/* What the oracle is asked. */
static struct problem streamed_problem(const struct stream *t,
		bool causal)
{
	struct problem p = bench_problem(&t->s, causal);

	p.x = t->s.input.data;
	return p;
}

/* The largest number of a tensor. */
static real size_of(struct tensor t)
{
	struct tensor zero = t;

	zero.data = (real[]){ 0 };
	memset(zero.stride, 0, sizeof zero.stride);
	return tensor_distance(t, zero);
}

void streamed_close(struct tensor got, struct tensor want,
		double units)
{
	real off = tensor_distance(got, want), size = size_of(want);

	ck_assert_msg(off <= (real)units * REAL_EPSILON * size,
			"off by %g of %g, %g epsilons", (double)off, (double)size,
			(double)(off / size / REAL_EPSILON));
}

/* What the loop would give twice is here the same within the slack. */
static void ck_alike(struct tensor got, struct tensor want)
{
	if (path_slack > 0)
		streamed_close(got, want, (double)path_slack);
	else
		ck_assert(tensor_distance(got, want) == 0);
}

/* Terms of the longest chain of sums, forward and back. */
static double terms_of(const struct bench *s)
{
	return (double)(2 * s->C + 2 * s->d + 3 * s->T + s->B * s->T);
}

/* The loop, on the same layer and input: forward and back. */
static void loop_run(struct stream *t, bool causal,
		struct forward *seen, struct tensor *dx)
{
	struct bench *s = &t->s;

	ck_ok(forward_take(s->layer, s->input, seen, &t->room, NULL));
	ck_ok(workspace_take(&t->room, 3, s->input.shape, dx, NULL));
	ck_ok(layer_forward_loop(s->layer, s->input, causal, seen,
			&s->workspace, NULL));
	ck_ok(layer_backward_loop(s->layer, s->input, causal, seen,
			t->out, *dx, &s->workspace, NULL));
}

void streamed_compare(size_t B, size_t T, size_t H, size_t d,
		bool causal, bool biases)
{
	struct stream t, loop;
	struct forward seen;
	struct tensor dx;

	streamed_set(&t, B, T, H, d);
	streamed_set(&loop, B, T, H, d);
	if (biases) {
		bench_add_biases(&t.s);
		bench_add_biases(&loop.s);
	}
	loop_run(&loop, causal, &seen, &dx);
	streamed_run(&t, causal);
	/* compare with the loop's results and gradients */
	const struct layer *l = loop.s.layer, *ours = t.s.layer;
	double terms = terms_of(&t.s);

	streamed_close(t.result.output, seen.output, terms);
	streamed_close(t.result.concat, seen.concat, terms);
	streamed_close(t.in, dx, terms);
	streamed_close(ours->in_proj.gradient, l->in_proj.gradient, terms);
	streamed_close(ours->out_proj.gradient, l->out_proj.gradient, terms);
	if (biases) {
		streamed_close(ours->in_bias.gradient, l->in_bias.gradient, terms);
		streamed_close(ours->out_bias.gradient, l->out_bias.gradient,
				terms);
	}
	streamed_free(&t);
	streamed_free(&loop);
}

/* Example 0 is sound; of the last example only rows first to end - 1
 * hold numbers, and nothing else does. */
static void sound_rows(struct tensor rows, size_t first, size_t end)
{
	const size_t last = rows.shape[0] - 1, C = rows.shape[2];

	for (size_t i = 0; i < rows.shape[1]; i++) {
		ck_assert_uint_eq(finite_numbers(of_head(rows, 0, i)), C);
		ck_assert_uint_eq(finite_numbers(of_head(rows, last, i)),
				first <= i && i < end ? C : 0);
	}
}

/* Let a key overflow at position p of the last example, and every
 * query meet it with this sign. */
static void key_overflow(struct stream *t, size_t p, real sign)
{
	struct tensor weight = t->s.layer->in_proj.value;

	bench_overflow(&t->s, 12 + 4, p, sign * bench_big());   /* head 1 */
	for (size_t c = 1; c < 12; c++) /* the query's number is 1 */
		AT(weight, 4, c) = c == 1;
	tensor_fill(tensor_narrow(t->s.input, 2, 1, 1), 1);
}
/* tests of what is streamed */
START_TEST(what_is_streamed_agrees_with_the_oracle)
{
	static long double weights[1024], concat[512], output[512];
	const size_t *shape = shapes[_i / 4];
	bool causal = _i & 1, biases = _i & 2;
	struct stream t;

	streamed_set(&t, shape[0], shape[1], shape[2], shape[3]);
	if (biases)
		bench_add_biases(&t.s);
	streamed_forth(&t, causal);

	struct problem p = streamed_problem(&t, causal);
	double units = 3 * oracle_units(&p), C = (double)p.C;

	oracle_heads(&p, weights, concat);
	oracle_output(&p, concat, output);
	for (size_t i = 0; i < p.B * p.T * p.C; i++) {
		ck_near(t.result.concat.data[i], concat[i], units);
		ck_near(t.result.output.data[i], output[i],
				2 * sqrt(C) * units + (biases ? C : 0));
	}
	streamed_free(&t);
}
END_TEST

static const size_t larger_shapes[][4] = {      /* B, T, H, d */
	{ 2, 67, 2, 17 }, { 1, 130, 3, 1 }, { 3, 33, 1, 40 },
};

START_TEST(what_is_streamed_is_what_the_loop_computes)
{
	const size_t *shape = larger_shapes[_i / 4];

	streamed_compare(shape[0], shape[1], shape[2], shape[3], _i & 1,
			_i & 2);
}
END_TEST

START_TEST(maximum_and_sum_give_back_the_weights)
{
	bool causal = _i & 1;
	struct stream t;
	struct forward seen;
	struct tensor dx, s;

	streamed_set(&t, 2, 19, 3, 4);
	loop_run(&t, causal, &seen, &dx);
	streamed_forth(&t, causal);
	ck_ok(workspace_take(&t.room, 2, (size_t[]){ 19, 19 }, &s, NULL));
	for (size_t b = 0; b < 2; b++)
		for (size_t h = 0; h < 3; h++) {
			ck_ok(attention_scores(
				of_head(layer_head_axis(t.s.layer, t.result.qkv, 0),
						b, h),
				of_head(layer_head_axis(t.s.layer, t.result.qkv, 1),
						b, h), s, NULL));
			for (size_t i = 0; i < 19; i++)
				for (size_t j = 0; j < (causal ? i + 1 : 19); j++)
					ck_near(exp(AT(s, i, j) -
						AT(t.result.maximum, b, h, i)) /
						AT(t.result.sum, b, h, i),
						AT(seen.weights, b, h, i, j), 200);
		}
	streamed_free(&t);
}
END_TEST

START_TEST(examples_do_not_touch_each_other_when_streamed)
{
	bool causal = _i & 1;
	struct stream t, other;

	streamed_set(&t, 2, 21, 3, 4);
	streamed_set(&other, 2, 21, 3, 4);
	for (size_t i = 0; i < 21 * 12; i++)
		other.s.input.data[i] += 3;             /* example 0 only */
	streamed_run(&t, causal);
	streamed_run(&other, causal);
	ck_alike(tensor_slice(other.result.output, 0, 1),
			tensor_slice(t.result.output, 0, 1));
	ck_alike(tensor_slice(other.in, 0, 1), tensor_slice(t.in, 0, 1));
	ck_assert(tensor_distance(tensor_slice(other.in, 0, 0),
			tensor_slice(t.in, 0, 0)) > (real)0.001);
	streamed_free(&t);
	streamed_free(&other);
}
END_TEST

START_TEST(a_prefix_gives_the_first_rows_of_the_whole)
{
	struct stream t, part;

	streamed_set(&t, 2, 37, 3, 4);
	streamed_forth(&t, true);
	for (size_t n = 1; n < 37; n++) {
		streamed_set(&part, 2, n, 3, 4);
		tensor_contiguous(tensor_narrow(t.s.input, 1, 0, n),
				part.s.input.data);
		streamed_forth(&part, true);
		ck_alike(part.result.output, tensor_narrow(t.result.output,
				1, 0, n));
		streamed_free(&part);
	}
	streamed_free(&t);
}
END_TEST

static const size_t lengths[] = { 5, 67 };

START_TEST(a_broken_future_does_not_reach_the_past_when_streamed)
{
	const size_t T = lengths[_i / 4];
	const real broken = _i & 1 ? (real)INFINITY : (real)NAN;
	bool causal = _i & 2;
	struct stream t, sound;

	streamed_set(&t, 2, T, 3, 4);
	streamed_set(&sound, 2, T, 3, 4);
	AT(t.s.input, 1, T - 2, 7) = broken;
	streamed_forth(&t, causal);
	streamed_forth(&sound, causal);
	sound_rows(t.result.output, 0, causal ? T - 2 : 0);
	if (causal)
		ck_alike(tensor_narrow(t.result.output, 1, 0, T - 2),
				tensor_narrow(sound.result.output, 1, 0, T - 2));
	streamed_free(&t);
	streamed_free(&sound);
}
END_TEST

START_TEST(a_streamed_value_that_overflows_is_seen_where_visible)
{
	const size_t T = lengths[_i / 2];
	bool causal = _i & 1;
	struct stream t;

	streamed_set(&t, 2, T, 3, 4);
	bench_overflow(&t.s, 24 + 4, T - 1, bench_big());   /* head 1 */
	streamed_forth(&t, causal);
	sound_rows(t.result.output, 0, causal ? T - 1 : 0);
	streamed_free(&t);
}
END_TEST

START_TEST(a_row_may_begin_with_minus_infinity)
{
	const size_t T = lengths[_i / 2];
	bool causal = _i & 1;
	struct stream t;
	struct forward seen;
	struct tensor dx;

	streamed_set(&t, 2, T, 3, 4);
	key_overflow(&t, 0, -1);
	loop_run(&t, causal, &seen, &dx);
	streamed_forth(&t, causal);
	sound_rows(t.result.output, causal, T);
	streamed_close(tensor_narrow(t.result.concat, 1, causal,
			T - causal),
			tensor_narrow(seen.concat, 1, causal, T - causal),
			terms_of(&t.s));
	streamed_free(&t);
}
END_TEST

START_TEST(a_row_with_plus_infinity_is_no_distribution)
{
	const size_t T = lengths[_i / 2];
	bool causal = _i & 1;
	struct stream t;

	streamed_set(&t, 2, T, 3, 4);
	key_overflow(&t, T / 2, 1);
	streamed_forth(&t, causal);
	sound_rows(t.result.output, 0, causal ? T / 2 : 0);
	streamed_free(&t);
}
END_TEST

/* Head 0 of this layer has queries, keys and values of width 1, which
 * are the three features of its input. */
static void three_features(struct stream *t, size_t T,
		const real x[][3])
{
	streamed_set(t, 1, T, 3, 1);
	tensor_fill(t->s.layer->in_proj.value, 0);
	tensor_fill(t->s.layer->out_proj.value, 0);
	for (size_t c = 0; c < 3; c++) {
		AT(t->s.layer->in_proj.value, 3 * c, c) = 1;
		AT(t->s.layer->out_proj.value, c, c) = 1;
	}
	memcpy(t->s.input.data, x, T * 3 * sizeof(real));
}

/* Queries, keys and values, one line a token. */
static const real extremes[][3][3] = {
	{ { 1, 1000, 7 }, { 1, 1000, 100 }, { 1, 1000, -3 } },
	{ { 1, -200, 7 }, { 1, -200, 100 }, { 1, -200, -3 } },
	{ { -1000, 1, 7 }, { -1000, 1, 100 }, { -1000, 1, -3 } },
	{ { 1, (real)-1e30, 7 }, { 1, (real)-1e30, 100 },
			{ 1, (real)-1e30, -3 } },
	{ { 1, (real)-1e30, 7 }, { 1, 0, 100 }, { 1, (real)-1e30, -3 } },
	{ { -20000, 1, 7 }, { 0, 0, 100 }, { -20000, 0, -3 } },
	{ { 1, -1000, 7 }, { 1, 0, 100 }, { 1, 1000, -3 } },
	{ { 1, 1000, 7 }, { 1, 0, 100 }, { 1, -1000, -3 } },
};
enum { EXTREMES = sizeof extremes / sizeof extremes[0] };

START_TEST(large_scores_keep_their_exact_softmax_when_streamed)
{
	const real (*x)[3] = extremes[_i / 2];
	bool causal = _i % 2;
	struct stream t;
	struct forward seen;
	struct tensor dx;

	three_features(&t, 3, x);
	streamed_forth(&t, causal);
	for (size_t i = 0; i < 3; i++) {
		long double largest = -INFINITY, sum = 0, mean = 0;
		size_t visible = causal ? i + 1 : 3;

		for (size_t j = 0; j < visible; j++)
			largest = fmaxl(largest, (long double)x[i][0] * x[j][1]);
		for (size_t j = 0; j < visible; j++) {
			long double e = expl((long double)x[i][0] * x[j][1] -
					largest);

			sum += e;
			mean += e * x[j][2];
		}
		ck_near(AT(t.result.output, 0, i, 0), mean / sum, 4);
	}
	streamed_back(&t, causal);
	loop_run(&t, causal, &seen, &dx);
	ck_assert(tensor_finite(t.in));
	/* Slopes up to 200 meet numbers as large as the input's. */
	ck_assert(tensor_distance(t.in, dx) <= 200 * REAL_EPSILON *
			(real)terms_of(&t.s) * size_of(t.s.input));
	streamed_free(&t);
}
END_TEST

static const size_t few[][4] = {        /* B, T, H, d */
	{ 2, 4, 2, 3 }, { 3, 2, 1, 5 }, { 1, 5, 3, 2 }, { 2, 1, 2, 3 },
	{ 2, 3, 4, 1 },
};

START_TEST(every_streamed_gradient_is_the_slope_found_by_trying)
{
	const size_t *shape = few[_i / 2];
	bool causal = _i & 1;
	struct stream t;

	if (!bench_has_digits())
		return;
	streamed_set(&t, shape[0], shape[1], shape[2], shape[3]);
	bench_add_biases(&t.s);
	streamed_run(&t, causal);

	const struct layer *l = t.s.layer;
	struct problem p = streamed_problem(&t, causal);
	const real *dy = t.out.data;
	size_t C = p.C;

	bench_slopes(&p, dy, p.x, t.in.data, p.B * p.T * C);
	bench_slopes(&p, dy, p.in_proj, l->in_proj.gradient.data,
			3 * C * C);
	bench_slopes(&p, dy, p.out_proj, l->out_proj.gradient.data, C * C);
	bench_slopes(&p, dy, p.in_bias, l->in_bias.gradient.data, 3 * C);
	bench_slopes(&p, dy, p.out_bias, l->out_bias.gradient.data, C);
	streamed_free(&t);
}
END_TEST

START_TEST(no_streamed_gradient_reaches_the_future)
{
	const size_t T = lengths[_i / 2];
	bool causal = _i & 1;

	for (size_t i = 0; i < T; i += T / 5) {
		struct stream t;

		streamed_set(&t, 2, T, 3, 4);
		for (size_t n = 0; n < 2 * T * 12; n++)
			if (n / 12 % T != i)
				t.out.data[n] = 0;
		streamed_run(&t, causal);
		for (size_t n = 0; n < 2 * T * 12; n++)
			ck_assert((t.in.data[n] != 0) ==
					(!causal || n / 12 % T <= i));
		streamed_free(&t);
	}
}
END_TEST

START_TEST(a_broken_slope_stays_where_it_was_seen)
{
	const size_t T = lengths[_i / 4];
	bool causal = _i & 2;
	struct stream t;

	streamed_set(&t, 2, T, 3, 4);
	tensor_fill(of_head(t.out, 1, T / 2), _i & 1 ? (real)INFINITY :
			(real)NAN);
	streamed_run(&t, causal);
	sound_rows(t.in, causal ? T / 2 + 1 : T, T);
	streamed_free(&t);
}
END_TEST

START_TEST(a_streamed_key_that_overflows_spoils_only_what_sees_it)
{
	const size_t T = lengths[_i / 2];
	bool causal = _i & 1;
	struct stream t;

	streamed_set(&t, 2, T, 3, 4);
	key_overflow(&t, T - 1, -1);
	streamed_run(&t, causal);
	sound_rows(t.result.output, 0, T);
	sound_rows(t.in, 0, causal ? T - 1 : 0);
	streamed_free(&t);
}
END_TEST

START_TEST(a_streamed_query_that_overflows_spoils_only_what_it_sees)
{
	const size_t T = lengths[_i / 2];
	bool causal = _i & 1;
	struct stream t;

	streamed_set(&t, 2, T, 3, 4);
	bench_overflow(&t.s, 4, 1, bench_big());
	streamed_run(&t, causal);
	sound_rows(t.in, causal ? 2 : T, T);
	streamed_free(&t);
}
END_TEST

START_TEST(a_streamed_slope_and_a_value_overflow_only_if_they_meet)
{
	const size_t T = lengths[_i / 2];
	bool causal = _i & 1;
	struct stream t;

	streamed_set(&t, 2, T, 3, 4);
	bench_overflow(&t.s, 24 + 4, T - 1, 1);
	AT(t.out, 1, 0, 0) = bench_big();
	streamed_run(&t, causal);
	sound_rows(t.in, 0, causal ? T : 0);
	streamed_free(&t);
}
END_TEST

START_TEST(without_a_mask_a_broken_slope_reaches_all_that_is_streamed)
{
	struct stream t;

	streamed_set(&t, 2, lengths[_i], 3, 4);
	bench_add_biases(&t.s);
	AT(t.out, 1, 0, 0) = (real)INFINITY;
	tensor_fill(of_head(t.s.input, 1, 0), 1);
	tensor_fill(of_head(t.s.input, 1, 1), -1);
	streamed_run(&t, false);
	sound_rows(t.in, 0, 0);
	for (size_t r = 24; r < 36; r++)
		for (size_t c = 0; c < 12; c++)
			ck_assert(isnan(AT(t.s.layer->in_proj.gradient, r, c)));
	ck_assert_uint_eq(finite_numbers(t.s.layer->in_bias.gradient), 0);
	streamed_free(&t);
}
END_TEST

START_TEST(any_view_will_do_when_streamed)
{
	struct stream t, copy;
	real x[2 * 37 * 12], dy[2 * 37 * 12];
	const size_t turned[] = { 37, 2, 12 };

	streamed_set(&t, 2, 37, 3, 4);
	streamed_set(&copy, 2, 37, 3, 4);
	t.s.input = tensor_swap(noise(x, 3, turned, 9), 0, 1);
	t.out = tensor_swap(noise(dy, 3, turned, 10), 0, 1);
	t.out.data += 36 * t.out.stride[1];     /* backward in time */
	t.out.stride[1] = -t.out.stride[1];
	if (_i)
		t.s.input.stride[1] = 0;            /* one row for all */
	tensor_contiguous(t.s.input, copy.s.input.data);
	tensor_contiguous(t.out, copy.out.data);
	streamed_run(&t, true);
	streamed_run(&copy, true);
	ck_alike(t.result.output, copy.result.output);
	ck_alike(t.in, copy.in);
	ck_alike(t.s.layer->in_proj.gradient,
			copy.s.layer->in_proj.gradient);
	streamed_free(&t);
	streamed_free(&copy);
}
END_TEST

/* Head 0 stands in slot 2 as well, and slot 1 holds a stranger's. */
static void borrow_heads(struct stream *t, struct stream *lender,
		bool biases)
{
	if (biases) {
		bench_add_biases(&t->s);
		bench_add_biases(&lender->s);
	}
	ck_ok(layer_enter(t->s.layer, 2, t->s.layer->head[0], NULL));
	ck_ok(layer_enter(t->s.layer, 1, lender->s.layer->head[2], NULL));
}

START_TEST(what_is_streamed_follows_the_slots)
{
	struct stream t[2], lender[2];
	struct forward seen;
	struct tensor dx;
	double terms;

	for (int i = 0; i < 2; i++) {
		streamed_set(&t[i], 2, 9, 3, 4);
		streamed_set(&lender[i], 2, 9, 3, 4);
		borrow_heads(&t[i], &lender[i], _i);
	}
	terms = terms_of(&t[0].s);
	loop_run(&t[1], true, &seen, &dx);
	streamed_run(&t[0], true);
	streamed_close(t[0].result.output, seen.output, terms);
	streamed_close(t[0].in, dx, terms);
	/* compare the gradients of all heads, after one pass and two */
	for (int pass = 1; pass <= 2; pass++) {
		const struct layer *l[] = { t[0].s.layer, lender[0].s.layer };
		const struct layer *want[] = { t[1].s.layer, lender[1].s.layer };

		for (int i = 0; i < 2; i++) {
			struct tensor got[] = { l[i]->in_proj.gradient,
					l[i]->in_bias.gradient };
			struct tensor twice[] = { want[i]->in_proj.gradient,
					want[i]->in_bias.gradient };

			for (int k = 0; k < (_i ? 2 : 1); k++) {
				if (pass == 2)
					tensor_add(twice[k], twice[k]);
				streamed_close(got[k], twice[k], terms);
			}
		}
		if (pass == 1)
			streamed_run(&t[0], true);
	}
	for (int i = 0; i < 2; i++) {
		streamed_free(&t[i]);
		streamed_free(&lender[i]);
	}
}
END_TEST

START_TEST(nothing_is_streamed_of_nothing)
{
	struct stream t;

	streamed_set(&t, _i ? 2 : 0, _i ? 0 : 5, 3, 4);
	streamed_run(&t, true);
	ck_assert_uint_eq(t.s.workspace.held, 0);
	ck_assert(size_of(t.s.layer->out_proj.gradient) == 0);
	ck_assert(size_of(t.s.layer->in_proj.gradient) == 0);
	streamed_free(&t);
}
END_TEST

START_TEST(a_second_step_of_one_size_allocates_nothing)
{
	struct stream t;
	size_t held;

	streamed_set(&t, 2, 37, 3, 4);
	streamed_run(&t, true);
	held = t.s.workspace.held;
	for (int call = 0; call < 20; call++)
		streamed_run(&t, call % 2);
	ck_assert_uint_eq(t.s.workspace.held, held);
	streamed_free(&t);
}
END_TEST

START_TEST(memory_grows_with_the_length_and_not_its_square)
{
	size_t peak[2];

	for (size_t i = 0; i < 2; i++) {
		struct stream t;

		streamed_set(&t, 1, (i + 1) * 256, 2, 3);
		streamed_run(&t, _i);
		peak[i] = t.s.workspace.peak;
		streamed_free(&t);
	}
	ck_assert_uint_le(peak[1], 2 * peak[0]);
}
END_TEST

START_TEST(queries_keys_and_values_give_way_to_their_slopes)
{
	struct stream t;
	struct tensor once;
	real memory[3 * 144];

	streamed_set(&t, 2, 9, 3, 4);
	streamed_run(&t, _i);
	for (size_t r = 0; r < 36; r++)
		for (size_t c = 0; c < 12; c++) {
			long double sum = 0;

			for (size_t n = 0; n < 18; n++)
				sum += (long double)AT(t.result.qkv, n / 9, n % 9,
						r) * AT(t.s.input, n / 9, n % 9, c);
			ck_near(AT(t.s.layer->in_proj.gradient, r, c), sum, 40);
		}
	once = tensor_contiguous(t.s.layer->in_proj.gradient, memory);
	streamed_forth(&t, _i);                 /* they come back */
	registry_zero_gradients(&t.s.layer->registry);
	streamed_back(&t, _i);
	ck_alike(t.s.layer->in_proj.gradient, once);
	streamed_free(&t);
}
END_TEST

START_TEST(the_output_is_not_read_on_the_way_back)
{
	struct stream whole, without;

	streamed_set(&whole, 2, 9, 3, 4);
	streamed_set(&without, 2, 9, 3, 4);
	streamed_run(&whole, _i);
	streamed_forth(&without, _i);
	without.result.output = (struct tensor){ .data = NULL };
	streamed_back(&without, _i);
	ck_alike(without.in, whole.in);
	ck_alike(without.s.layer->in_proj.gradient,
			whole.s.layer->in_proj.gradient);
	ck_assert(size_of(whole.in) > 0);
	streamed_free(&whole);
	streamed_free(&without);
}
END_TEST

START_TEST(too_little_memory_stops_a_streamed_pass_cleanly)
{
	struct stream t;
	enum status status = MH_EMEMORY;
	size_t limit;

	streamed_set(&t, 2, 9, 3, 4);
	bench_add_biases(&t.s);
	for (limit = 64; status; limit += 64 + limit / 1024 * 64) {
		workspace_free(&t.s.workspace);
		t.s.workspace.limit = limit;
		status = path.forward(t.s.layer, t.s.input, true, &t.result,
				&t.s.workspace, NULL);
		ck_assert(status == MH_OK || status == MH_EMEMORY);
		ck_assert_uint_eq(t.s.workspace.asked, 0);
	}
	tensor_fill(t.in, 77);
	status = MH_EMEMORY;
	for (limit = 64; status; limit += 64 + limit / 1024 * 64) {
		workspace_free(&t.s.workspace);
		t.s.workspace.limit = limit;
		status = path.backward(t.s.layer, t.s.input, true, &t.result,
				t.out, t.in, &t.s.workspace, NULL);
		ck_assert_uint_eq(t.s.workspace.asked, 0);
		if (status) {
			/* nothing has been written or added */
			const struct registry *all = &t.s.layer->registry;

			ck_assert_int_eq(status, MH_EMEMORY);
			for (size_t i = 0; i < all->count; i++)
				ck_assert(size_of(all->entries[i].parameter->gradient) == 0);
			ck_assert(AT(t.in, 1, 8, 11) == 77 && AT(t.in, 0, 0, 0) == 77);
		}
	}
	ck_assert_uint_gt(limit, 2 * 64);
	ck_assert(size_of(t.s.layer->in_proj.gradient) > 0);
	streamed_free(&t);
}
END_TEST

START_TEST(results_that_do_not_fit_are_refused_by_name)
{
	static const char *const names[] = { "output", "concat", "qkv",
			"maximum", "sum" };
	char sentence[200];
	struct stream t;
	struct streamed odd;
	struct tensor *part[] = { &odd.output, &odd.concat, &odd.qkv,
			&odd.maximum, &odd.sum };

	streamed_set(&t, 2, 5, 3, 4);
	odd = t.result;
	part[_i]->stride[1] = 0;
	snprintf(sentence, sizeof sentence,
			"%s overlaps itself", names[_i]);
	/* refuse it where it is written */
	ck_refused(path.forward(t.s.layer, t.s.input, true, &odd,
			&t.s.workspace, &error), MH_ESHAPE, sentence);
	if (_i == 2)                            /* qkv */
		ck_refused(path.backward(t.s.layer, t.s.input, true, &odd, t.out,
				t.in, &t.s.workspace, &error), MH_ESHAPE, sentence);
	odd = t.result;
	*part[_i] = tensor_narrow(*part[_i], 1, 0, 2);
	snprintf(sentence, sizeof sentence, "%s has shape %s, wanted %s",
			names[_i], tensor_shape(*part[_i]).text, _i < 2 ?
			"(2, 5, 12)" : _i == 2 ? "(2, 5, 36)" : "(2, 3, 5)");
	/* refuse it forward, and back unless it is the output */
	ck_refused(path.forward(t.s.layer, t.s.input, true, &odd,
			&t.s.workspace, &error), MH_ESHAPE, sentence);
	if (_i > 0)
		ck_refused(path.backward(t.s.layer, t.s.input, true, &odd, t.out,
				t.in, &t.s.workspace, &error), MH_ESHAPE, sentence);
	streamed_free(&t);
}
END_TEST

/* Both directions refuse this, and nothing is added to a gradient. */
static void refused_both(struct stream *t, struct tensor x,
		struct tensor dy, struct tensor dx, const char *sentence,
		bool forth)
{
	if (forth)
		ck_refused(path.forward(t->s.layer, x, true, &t->result,
				&t->s.workspace, &error), MH_ESHAPE, sentence);
	ck_refused(path.backward(t->s.layer, x, true, &t->result, dy, dx,
			&t->s.workspace, &error), MH_ESHAPE, sentence);
	ck_assert(size_of(t->s.layer->out_proj.gradient) == 0);
}

START_TEST(what_cannot_be_streamed_is_refused)
{
	struct stream t, lender;
	struct tensor odd;

	streamed_set(&t, 2, 5, 3, 4);
	streamed_set(&lender, 2, 5, 3, 4);
	streamed_forth(&t, true);
	refused_both(&t, tensor_narrow(t.s.input, 2, 0, 11), t.out, t.in,
			"x has shape (2, 5, 11), wanted (B, T, 12)", true);
	refused_both(&t, t.s.input, tensor_narrow(t.out, 1, 0, 4), t.in,
			"dy has shape (2, 4, 12), wanted (2, 5, 12)", false);
	refused_both(&t, t.s.input, t.out, tensor_narrow(t.in, 1, 0, 4),
			"dx has shape (2, 4, 12), wanted (2, 5, 12)", false);
	odd = t.in;
	odd.stride[1] = 0;
	refused_both(&t, t.s.input, t.out, odd,
			"dx overlaps itself", false);
	ck_ok(layer_enter(t.s.layer, 1, lender.s.layer->head[2], NULL));
	bench_add_biases(&lender.s);
	refused_both(&t, t.s.input, t.out, t.in,
			"slot 1 holds a head with biases, unlike its layer", true);
	t.s.layer->head[1] = &t.s.layer->own[1];
	odd = t.s.layer->own[1].value.gradient;
	t.s.layer->own[1].value.gradient = tensor_narrow(odd, 0, 0, 3);
	refused_both(&t, t.s.input, t.out, t.in,
			"the gradient of the value weight has shape (3, 12),"
			" wanted (4, 12)", true);
	t.s.layer->own[1].value.gradient = odd;
	odd = t.s.layer->own[1].key.value;
	t.s.layer->own[1].key.value = tensor_narrow(odd, 1, 0, 3);
	refused_both(&t, t.s.input, t.out, t.in,
			"the key weight has shape (4, 3), wanted (4, 12)", true);
	t.s.layer->head[1] = NULL;
	refused_both(&t, t.s.input, t.out, t.in, "slot 1 holds no head",
			true);
	streamed_free(&t);
	streamed_free(&lender);
}
END_TEST
/* list the tests of what is streamed */
void streamed_tests(TCase *c)
{
	tcase_add_loop_test(c, what_is_streamed_agrees_with_the_oracle, 0,
			4 * SHAPES);
	tcase_add_loop_test(c, what_is_streamed_is_what_the_loop_computes,
			0, 12);
	tcase_add_loop_test(c, maximum_and_sum_give_back_the_weights, 0, 2);
	tcase_add_loop_test(c,
			examples_do_not_touch_each_other_when_streamed, 0, 2);
	tcase_add_test(c, a_prefix_gives_the_first_rows_of_the_whole);
	tcase_add_loop_test(c,
			a_broken_future_does_not_reach_the_past_when_streamed,
			0, 8);
	tcase_add_loop_test(c,
			a_streamed_value_that_overflows_is_seen_where_visible,
			0, 4);
	tcase_add_loop_test(c, a_row_may_begin_with_minus_infinity, 0, 4);
	tcase_add_loop_test(c, a_row_with_plus_infinity_is_no_distribution,
			0, 4);
	tcase_add_loop_test(c,
			large_scores_keep_their_exact_softmax_when_streamed, 0,
			2 * EXTREMES);
	/* list the tests of the streamed way back */
	tcase_add_loop_test(c,
			every_streamed_gradient_is_the_slope_found_by_trying, 0, 10);
	tcase_add_loop_test(c, no_streamed_gradient_reaches_the_future, 0, 4);
	tcase_add_loop_test(c, a_broken_slope_stays_where_it_was_seen, 0, 8);
	tcase_add_loop_test(c,
			a_streamed_key_that_overflows_spoils_only_what_sees_it, 0, 4);
	tcase_add_loop_test(c,
			a_streamed_query_that_overflows_spoils_only_what_it_sees, 0, 4);
	tcase_add_loop_test(c,
			a_streamed_slope_and_a_value_overflow_only_if_they_meet, 0, 4);
	tcase_add_loop_test(c,
			without_a_mask_a_broken_slope_reaches_all_that_is_streamed, 0,
			2);
	tcase_add_loop_test(c, any_view_will_do_when_streamed, 0, 2);
	tcase_add_loop_test(c, what_is_streamed_follows_the_slots, 0, 2);
	tcase_add_loop_test(c, nothing_is_streamed_of_nothing, 0, 2);
	tcase_add_test(c, a_second_step_of_one_size_allocates_nothing);
	tcase_add_loop_test(c,
			memory_grows_with_the_length_and_not_its_square, 0, 2);
	tcase_add_loop_test(c,
			queries_keys_and_values_give_way_to_their_slopes, 0, 2);
	tcase_add_loop_test(c, the_output_is_not_read_on_the_way_back, 0, 2);
	tcase_add_test(c, too_little_memory_stops_a_streamed_pass_cleanly);
	tcase_add_loop_test(c, results_that_do_not_fit_are_refused_by_name, 0,
			5);
	tcase_add_test(c, what_cannot_be_streamed_is_refused);
}
