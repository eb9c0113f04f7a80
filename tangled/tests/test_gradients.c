/* tests/test_gradients.c: made from chapters/45-gradients.nw; edit it there. */
#include <string.h>

#include "gradient.h"
#include "layer_bench.h"
#include "suites.h"
#include "support.h"

/* tests of gradient */
struct back {
	struct bench s;
	real dy[512], dx[512];
	struct tensor out, in;          /* views of these */
};

static void back_set(struct back *back, size_t B, size_t T, size_t H,
		size_t d)
{
	const size_t wide[] = { B, T, H * d };

	bench_set(&back->s, B, T, H, d);
	back->out = noise(back->dy, 3, wide, 45);
	back->in = tensor_view(back->dx, 3, wide);
}

/* Forward by the loop or packed, and back the same way. */
static void back_run(struct back *back, bool packed, bool causal)
{
	struct bench *s = &back->s;

	ck_ok((packed ? layer_forward_packed : layer_forward_loop)(
			s->layer, s->input, causal, &s->result, &s->workspace,
			NULL));
	ck_ok((packed ? layer_backward_packed : layer_backward_loop)(
			s->layer, s->input, causal, &s->result, back->out,
			back->in, &s->workspace, NULL));
	ck_assert_uint_eq(s->workspace.asked, 0);
}

/* Small enough to try every number. */
static const size_t small[][4] = {      /* B, T, H, d */
	{ 2, 4, 2, 3 }, { 3, 2, 1, 5 }, { 1, 5, 3, 2 }, { 2, 1, 2, 3 },
	{ 2, 3, 4, 1 },
};

START_TEST(every_gradient_is_the_slope_found_by_trying)
{
	const size_t *shape = small[_i / 4];
	bool packed = _i & 1, causal = _i & 2;
	struct back back;

	if (!bench_has_digits())
		return;

	back_set(&back, shape[0], shape[1], shape[2], shape[3]);
	bench_add_biases(&back.s);

	struct layer *l = back.s.layer;
	struct problem p = bench_problem(&back.s, causal);
	size_t C = p.C;

	back_run(&back, packed, causal);
	bench_slopes(&p, back.dy, p.x, back.dx, p.B * p.T * C);
	bench_slopes(&p, back.dy, p.in_proj, l->in_proj.gradient.data,
			3 * C * C);
	bench_slopes(&p, back.dy, p.out_proj, l->out_proj.gradient.data,
			C * C);
	bench_slopes(&p, back.dy, p.in_bias, l->in_bias.gradient.data,
			3 * C);
	bench_slopes(&p, back.dy, p.out_bias, l->out_bias.gradient.data,
			C);
	bench_free(&back.s);
}
END_TEST

START_TEST(no_gradient_reaches_the_future)
{
	bool packed = _i & 1, causal = _i & 2;
	const size_t T = 5, C = 12;

	for (size_t i = 0; i < T; i++) {
		struct back back;

		back_set(&back, 2, T, 3, 4);
		for (size_t n = 0; n < 2 * T * C; n++)
			if (n / C % T != i)
				back.dy[n] = 0;
		back_run(&back, packed, causal);
		for (size_t n = 0; n < 2 * T * C; n++)
			if (causal && n / C % T > i)
				ck_assert(back.dx[n] == 0);
			else
				ck_assert(back.dx[n] != 0);
		bench_free(&back.s);
	}
}
END_TEST

START_TEST(gradients_stay_with_their_example_and_their_head)
{
	struct back back;

	back_set(&back, 2, 5, 3, 4);
	for (size_t n = 5 * 12; n < 2 * 5 * 12; n++)
		back.dy[n] = 0;                 /* only example 0 counts */
	for (size_t r = 0; r < 12; r++)     /* and only through head 1 */
		for (size_t c = 0; c < 12; c++)
			if (c / 4 != 1)
				AT(back.s.layer->out_proj.value, r, c) = 0;
	back_run(&back, _i, true);
	for (size_t n = 0; n < 2 * 5 * 12; n++)
		ck_assert((back.dx[n] != 0) == (n < 5 * 12));
	for (size_t r = 0; r < 3 * 12; r++)
		for (size_t c = 0; c < 12; c++)
			ck_assert((AT(back.s.layer->in_proj.gradient, r, c) !=
					0) == (r % 12 / 4 == 1));
	bench_free(&back.s);
}
END_TEST

START_TEST(a_second_pass_adds_to_the_gradients)
{
	struct back back;
	real once[4 * 144];

	back_set(&back, 1, 5, 3, 4);
	back_run(&back, _i, true);
	memcpy(once, back.s.layer->memory + 4 * 144, sizeof once);
	back_run(&back, _i, true);
	for (size_t i = 0; i < 4 * 144; i++)
		ck_near(back.s.layer->memory[4 * 144 + i], 2 * once[i], 16);
	registry_zero_gradients(&back.s.layer->registry);
	back_run(&back, _i, true);
	ck_assert_mem_eq(once, back.s.layer->memory + 4 * 144,
			sizeof once);
	bench_free(&back.s);
}
END_TEST

START_TEST(a_shared_head_collects_from_both_its_slots)
{
	struct back shared, apart;

	back_set(&shared, 2, 5, 3, 4);
	back_set(&apart, 2, 5, 3, 4);
	bench_add_biases(&shared.s);
	bench_add_biases(&apart.s);
	ck_ok(layer_enter(shared.s.layer, 2, &shared.s.layer->own[0],
			NULL));
	/* give head 2 the numbers of head 0 */
	struct projections from = head_values(&apart.s.layer->own[0]);
	struct projections to = head_values(&apart.s.layer->own[2]);

	tensor_contiguous(from.query, to.query.data);
	tensor_contiguous(from.key, to.key.data);
	tensor_contiguous(from.value, to.value.data);
	tensor_contiguous(from.query_bias, to.query_bias.data);
	tensor_contiguous(from.key_bias, to.key_bias.data);
	tensor_contiguous(from.value_bias, to.value_bias.data);
	back_run(&shared, _i, true);
	back_run(&apart, _i, true);
	for (size_t n = 0; n < 2 * 5 * 12; n++)
		ck_near(shared.dx[n], apart.dx[n], 200);
	/* compare the shared gradient with the sum of two */
	for (size_t role = 0; role < 3; role++)
		for (size_t c = 0; c < 4; c++) {
			struct layer *one = shared.s.layer, *two = apart.s.layer;
			size_t row = role * 12 + c;

			ck_near(AT(one->in_bias.gradient, row),
					AT(two->in_bias.gradient, row) +
					AT(two->in_bias.gradient, row + 8), 200);
			for (size_t e = 0; e < 12; e++)
				ck_near(AT(one->in_proj.gradient, row, e),
						AT(two->in_proj.gradient, row, e) +
						AT(two->in_proj.gradient, row + 8, e), 200);
		}
	bench_free(&shared.s);
	bench_free(&apart.s);
}
END_TEST

START_TEST(a_shared_head_collects_the_same_in_every_pass)
{
	bool packed = _i & 1, biases = _i & 2;
	real weights[3 * 144], vectors[36];
	struct back back;
	struct layer *layer;

	back_set(&back, 2, 5, 3, 4);
	layer = back.s.layer;
	if (biases)
		bench_add_biases(&back.s);
	ck_ok(layer_enter(layer, 2, &layer->own[0], NULL));
	back_run(&back, packed, true);
	memcpy(weights, layer->in_proj.gradient.data, sizeof weights);
	if (biases)
		memcpy(vectors, layer->in_bias.gradient.data,
				sizeof vectors);
	back_run(&back, packed, true);
	for (size_t i = 0; i < 3 * 144; i++)
		ck_near(layer->in_proj.gradient.data[i], 2 * weights[i],
				200);
	for (size_t i = 0; i < 36 && biases; i++)
		ck_near(AT(layer->in_bias.gradient, i), 2 * vectors[i],
				200);
	bench_free(&back.s);
}
END_TEST

START_TEST(a_broken_slope_does_not_reach_what_it_cannot_see)
{
	struct back clean, broken;
	bool packed = _i & 1;

	back_set(&clean, 1, 5, 3, 4);
	back_set(&broken, 1, 5, 3, 4);
	for (size_t c = 0; c < 12; c++)
		broken.dy[c] = _i & 2 ? (real)INFINITY : (real)NAN;
	back_run(&clean, packed, true);
	back_run(&broken, packed, true);
	ck_assert(isnan(broken.dx[0]));
	for (size_t n = 12; n < 5 * 12; n++)
		ck_near(broken.dx[n], clean.dx[n], 200);
	bench_free(&clean.s);
	bench_free(&broken.s);
}
END_TEST

/* Both ways over (2, T, 12), three heads. */
struct course {
	struct layer *layer;
	struct workspace room;
	struct tensor x, dy, dx;
	struct forward seen;
};

static void course_set(struct course *c, size_t T)
{
	const size_t wide[] = { 2, T, 12 };
	struct tensor *parts[] = { &c->x, &c->dy, &c->dx };
	struct random random = { 46 };

	*c = (struct course){ .layer = NULL };
	ck_ok(layer_create(12, 3, &c->layer, NULL));
	layer_randomize(c->layer, 45);
	for (size_t i = 0; i < 3; i++) {
		ck_ok(workspace_take(&c->room, 3, wide, parts[i], NULL));
		tensor_randomize(*parts[i], &random, 1);
	}
	ck_ok(forward_take(c->layer, c->x, &c->seen, &c->room, NULL));
}

static void course_run(struct course *c, bool packed, bool causal)
{
	ck_ok((packed ? layer_forward_packed : layer_forward_loop)(
			c->layer, c->x, causal, &c->seen, &c->room, NULL));
	ck_ok((packed ? layer_backward_packed : layer_backward_loop)(
			c->layer, c->x, causal, &c->seen, c->dy, c->dx, &c->room,
			NULL));
}

static void course_free(struct course *c)
{
	workspace_free(&c->room);
	layer_free(c->layer);
}

/* How many entries are broken in one and not in the other, or differ
 * by more than so many epsilons. They are too many to assert each. */
static size_t unlike(struct tensor got, struct tensor want,
		double units)
{
	size_t count = 0;

	for (size_t i = 0; i < got.shape[0]; i++)
		if (got.rank > 1)
			count += unlike(tensor_slice(got, 0, i),
					tensor_slice(want, 0, i), units);
		else if (isfinite(AT(want, i)))
			count += !(fabs((double)AT(got, i) - (double)AT(want, i))
					<= units * (double)REAL_EPSILON *
					fmax(1, fabs((double)AT(want, i))));
		else
			count += isfinite(AT(got, i)) != 0;
	return count;
}

static const size_t lengths[] = { LAYER_BLOCK - 1, LAYER_BLOCK,
		LAYER_BLOCK + 1, 2 * LAYER_BLOCK + 17 };

START_TEST(blocks_of_rows_are_joined_without_a_seam)
{
	const size_t T = lengths[_i / 8];
	const bool causal = _i & 1, broken = _i & 2, threads = _i & 4;
	struct course got, want;

	course_set(&got, T);
	course_set(&want, T);
	/* break something at three quarters of the text */
	if (broken)
		for (size_t i = 0; i < 2; i++) {
			struct course *c = i ? &got : &want;

			AT(c->x, 1, 3 * T / 4, 5) = (real)NAN;
			AT(c->dy, 0, 3 * T / 4, 5) = (real)INFINITY;
		}
	/* run packed, on threads if there are any, and by the loop */
	bench_allow_threads(threads ? 3 : 1, 1);
	course_run(&got, true, causal);
	course_run(&want, false, causal);
	ck_assert_uint_eq(unlike(got.seen.weights, want.seen.weights, 50),
			0);
	ck_assert_uint_eq(unlike(got.seen.output, want.seen.output, 500),
			0);
	ck_assert_uint_eq(unlike(got.dx, want.dx, 500), 0);
	ck_assert_uint_eq(unlike(got.layer->in_proj.gradient,
			want.layer->in_proj.gradient, 100 * (double)T), 0);
	course_free(&got);
	course_free(&want);
}
END_TEST

START_TEST(nothing_behind_the_mask_is_read_or_left_on_the_way_back)
{
	enum { N = 5, D = 3 };
	real a[N * N], v[N * D], dy[N * D], ds[N * N], dv[N * D];
	const size_t square[] = { N, N }, narrow[] = { N, D };
	struct tensor weights = noise(a, 2, square, 1);
	struct tensor values = noise(v, 2, narrow, 2);
	struct tensor slopes = noise(dy, 2, narrow, 3);
	struct tensor scores = tensor_view(ds, 2, square);
	struct tensor back = tensor_view(dv, 2, narrow);

	/* break all weights of row 0, and all behind the mask */
	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j < N; j++)
			if (i == 0 || j > i)
				AT(weights, i, j) = (real)NAN;
	gradient_scatter(weights, slopes, true, back);
	for (size_t i = 0; i < N; i++)
		ck_assert_uint_eq(finite_numbers(tensor_slice(back, 0, i)),
				i ? D : 0);
	AT(values, N - 1, 0) = (real)NAN;
	gradient_weights(slopes, values, true, scores);
	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j < N; j++) {
			ck_assert((AT(scores, i, j) != 0) == (j <= i));
			ck_assert(isnan(AT(scores, i, j)) == (j == N - 1 &&
					i == N - 1));
			if (j > i)
				AT(scores, i, j) = (real)NAN;
		}
	gradient_softmax(weights, true, scores);
	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j < N; j++)
			if (j > i)
				ck_assert(AT(scores, i, j) == 0);
			else
				ck_assert(!isnan(AT(scores, i, j)) == (i > 0 &&
						i < N - 1));
}
END_TEST

/* Example 0 is sound; of example 1 only positions first to end - 1
 * have slopes that are numbers. */
static void sound_between(const struct back *back, size_t first,
		size_t end)
{
	for (size_t t = 0; t < 5; t++) {
		ck_assert_uint_eq(finite_numbers(of_head(back->in, 0, t)),
				12);
		ck_assert_uint_eq(finite_numbers(of_head(back->in, 1, t)),
				first <= t && t < end ? 12 : 0);
	}
}

START_TEST(a_key_that_overflows_spoils_only_what_sees_it)
{
	bool packed = _i & 1, causal = _i & 2;
	struct back back;
	struct tensor weight;

	back_set(&back, 2, 5, 3, 4);
	bench_overflow(&back.s, 12 + 4, 4, -bench_big());   /* head 1 */
	weight = back.s.layer->in_proj.value;
	for (size_t c = 1; c < 12; c++) /* the query's number is 1 */
		AT(weight, 4, c) = c == 1;
	for (size_t n = 1; n < 2 * 5 * 12; n += 12)
		back.s.x[n] = 1;
	back_run(&back, packed, causal);
	ck_assert(AT(back.s.result.weights, 1, 1, 4, 4) == 0);
	sound_between(&back, 0, causal ? 4 : 0);
	bench_free(&back.s);
}
END_TEST

START_TEST(a_query_that_overflows_spoils_only_what_it_sees)
{
	bool packed = _i & 1, causal = _i & 2;
	struct back back;

	back_set(&back, 2, 5, 3, 4);
	bench_overflow(&back.s, 4, 0, bench_big());
	back_run(&back, packed, causal);
	sound_between(&back, causal ? 1 : 5, 5);
	bench_free(&back.s);
}
END_TEST

START_TEST(a_slope_and_a_value_overflow_only_where_they_meet)
{
	bool packed = _i & 1, causal = _i & 2;
	struct back back;

	back_set(&back, 2, 5, 3, 4);
	bench_overflow(&back.s, 24 + 4, 4, 1);
	AT(back.out, 1, 0, 0) = bench_big();
	back_run(&back, packed, causal);
	sound_between(&back, 0, causal ? 5 : 0);
	bench_free(&back.s);
}
END_TEST

START_TEST(without_a_mask_a_broken_slope_reaches_everything)
{
	struct back back;
	struct layer *layer;

	back_set(&back, 2, 5, 3, 4);
	layer = back.s.layer;
	bench_add_biases(&back.s);
	AT(back.out, 1, 0, 0) = (real)INFINITY;
	tensor_fill(of_head(back.s.input, 1, 0), 1);
	tensor_fill(of_head(back.s.input, 1, 1), -1);
	back_run(&back, _i, false);
	sound_between(&back, 0, 0);
	for (size_t r = 24; r < 36; r++)
		for (size_t c = 0; c < 12; c++)
			ck_assert(isnan(AT(layer->in_proj.gradient, r, c)));
	ck_assert_uint_eq(finite_numbers(layer->in_bias.gradient), 0);
	bench_free(&back.s);
}
END_TEST

START_TEST(a_row_of_score_gradients_adds_up_to_zero)
{
	enum { N = 5, D = 3 };
	real a[N * N], v[N * D], o[N * D], dy[N * D], ds[N * N];
	const size_t square[] = { N, N }, narrow[] = { N, D };
	struct tensor weights = noise(a, 2, square, 1);
	struct tensor values = noise(v, 2, narrow, 2);
	struct tensor slopes = noise(dy, 2, narrow, 3);
	struct tensor out = tensor_view(o, 2, narrow);
	struct tensor scores = tensor_view(ds, 2, square);

	attention_mask(weights);
	softmax_rows(weights);
	attention_mix(weights, values, true, out);
	gradient_weights(slopes, values, true, scores);
	gradient_softmax(weights, true, scores);
	for (size_t i = 0; i < N; i++) {
		long double sum = 0, mean = 0;

		for (size_t c = 0; c < D; c++)  /* r = dO . O */
			mean += (long double)AT(slopes, i, c) * AT(out, i, c);
		for (size_t j = 0; j < N; j++) {
			long double slope = 0;

			for (size_t c = 0; c < D; c++)
				slope += (long double)AT(slopes, i, c) *
					 AT(values, j, c);
			sum += AT(scores, i, j);
			ck_near(AT(scores, i, j), AT(weights, i, j) *
					(slope - mean), 4 * (N + D));
		}
		ck_near(sum, 0, 4 * (N + D));
	}
}
END_TEST

START_TEST(a_key_bias_has_no_slope)
{
	struct back back;

	back_set(&back, 2, 5, 3, 4);
	bench_add_biases(&back.s);
	back_run(&back, _i & 1, _i & 2);
	for (size_t c = 0; c < 12; c++) {
		struct tensor slope = back.s.layer->in_bias.gradient;

		ck_near(AT(slope, 12 + c), 0, 100);
		ck_assert(fabs(AT(slope, c)) > 1000 * REAL_EPSILON);
		ck_assert(fabs(AT(slope, 24 + c)) > 1000 * REAL_EPSILON);
	}
	bench_free(&back.s);
}
END_TEST

START_TEST(any_view_will_do_on_the_way_back)
{
	struct back straight, turned;
	real x[2 * 5 * 12], dy[2 * 5 * 12];
	const size_t other[] = { 5, 2, 12 };

	back_set(&straight, 2, 5, 3, 4);
	back_set(&turned, 2, 5, 3, 4);
	turned.s.input = tensor_swap(noise(x, 3, other, 9), 0, 1);
	turned.out = tensor_swap(noise(dy, 3, other, 10), 0, 1);
	straight.s.input = tensor_contiguous(turned.s.input, straight.s.x);
	straight.out = tensor_contiguous(turned.out, straight.dy);
	turned.out.data += 4 * turned.out.stride[1];    /* backward */
	turned.out.stride[1] = -turned.out.stride[1];
	straight.out.data += 4 * straight.out.stride[1];
	straight.out.stride[1] = -straight.out.stride[1];
	back_run(&straight, _i, true);
	back_run(&turned, _i, true);
	ck_assert_mem_eq(straight.dx, turned.dx,
			2 * 5 * 12 * sizeof(real));
	ck_assert_mem_eq(straight.s.layer->memory, turned.s.layer->memory,
			8 * 144 * sizeof(real));
	bench_free(&straight.s);
	bench_free(&turned.s);
}
END_TEST

START_TEST(nothing_in_gives_nothing_back)
{
	struct back back;

	back_set(&back, _i & 1 ? 2 : 0, _i & 1 ? 0 : 5, 3, 4);
	back_run(&back, _i & 2, true);
	for (size_t i = 4 * 144; i < 8 * 144; i++)
		ck_assert(back.s.layer->memory[i] == 0);
	back.s.result.weights.data = NULL;
	back_run(&back, _i & 2, true);
	bench_free(&back.s);
}
END_TEST

START_TEST(what_does_not_fit_on_the_way_back_is_refused)
{
	struct back back;
	struct bench *s = &back.s;
	struct tensor odd;

	back_set(&back, 2, 5, 3, 4);
	back_run(&back, _i, true);
	registry_zero_gradients(&s->layer->registry);
	back.dx[0] = 77;
	enum status (*backward)(const struct layer *, struct tensor, bool,
			const struct forward *, struct tensor, struct tensor,
			struct workspace *, struct error *) =
		_i ? layer_backward_packed : layer_backward_loop;

	ck_refused(backward(s->layer, s->input, true, &s->result,
			tensor_narrow(back.out, 1, 0, 4), back.in,
			&s->workspace, &error), MH_ESHAPE,
			"dy has shape (2, 4, 12), wanted (2, 5, 12)");
	ck_refused(backward(s->layer, s->input, true, &s->result, back.out,
			tensor_narrow(back.in, 1, 0, 4), &s->workspace, &error),
			MH_ESHAPE, "dx has shape (2, 4, 12), wanted (2, 5, 12)");
	odd = back.in;
	odd.stride[1] = 0;
	ck_refused(backward(s->layer, s->input, true, &s->result, back.out,
			odd, &s->workspace, &error), MH_ESHAPE,
			"dx overlaps itself");
	s->workspace.limit = 64;
	workspace_free(&s->workspace);
	ck_assert_int_eq(backward(s->layer, s->input, true, &s->result,
			back.out, back.in, &s->workspace, NULL), MH_EMEMORY);
	s->layer->head[1] = NULL;
	ck_refused(backward(s->layer, s->input, true, &s->result, back.out,
			back.in, &s->workspace, &error), MH_ESHAPE,
			"slot 1 holds no head");
	ck_assert(back.dx[0] == 77);
	for (size_t i = 4 * 144; i < 8 * 144; i++)
		ck_assert(s->layer->memory[i] == 0);
	bench_free(s);
}
END_TEST

START_TEST(a_single_number_is_added_like_a_row)
{
	real memory[3] = { 1, 20, 300 };
	struct tensor row = tensor_view(memory, 1, (size_t[]){ 3 });

	tensor_add(tensor_slice(row, 0, 2), tensor_slice(row, 0, 1));
	ck_assert(memory[0] == 1 && memory[1] == 320 && memory[2] == 300);
}
END_TEST

START_TEST(a_head_refuses_what_does_not_fit_on_its_way_back)
{
	real zeros[35] = { 0 };
	struct workspace room = { 0 };
	struct tensor w = tensor_view(zeros, 2, (size_t[]){ 3, 7 });
	struct tensor x = tensor_view(zeros, 2, (size_t[]){ 5, 7 });
	struct tensor square = tensor_view(zeros, 2, (size_t[]){ 5, 5 });
	struct tensor dout = tensor_view(zeros, 2, (size_t[]){ 5, 3 });
	struct projections p = { .query = w, .key = w, .value = w };

	ck_refused(gradient_head(p, p, x, true, dout, dout, x, &room,
			&error), MH_ESHAPE,
			"weights has shape (5, 3), wanted (5, 5)");
	ck_refused(gradient_head(p, p, x, true, square, square, x, &room,
			&error), MH_ESHAPE,
			"dout has shape (5, 5), wanted (5, 3)");
	ck_refused(gradient_head(p, p, x, true, square, dout, dout, &room,
			&error), MH_ESHAPE, "dx has shape (5, 3), wanted (5, 7)");
	/* a head refuses its parameters before it adds to one */
	real apart[21], ones[15] = { 0 };
	struct projections g = { .query = tensor_view(apart, 2, w.shape),
			.key = w, .value = tensor_narrow(w, 0, 0, 2) };

	apart[0] = 7;
	dout.data = ones;
	tensor_fill(dout, 1);
	ck_refused(gradient_head(p, g, x, true, square, dout, x, &room,
			&error), MH_ESHAPE,
			"the value gradient has shape (2, 7), wanted (3, 7)");
	p.query_bias = tensor_view(zeros, 1, (size_t[]){ 1 });
	ck_refused(gradient_head(p, p, x, true, square, dout, x, &room,
			&error), MH_ESHAPE,
			"the query bias has shape (1), wanted (3)");
	g = p;
	p.query_bias.data = NULL;
	ck_refused(gradient_head(p, g, x, true, square, dout, x, &room,
			&error), MH_ESHAPE,
			"the gradient of a bias has shape (1), wanted (3)");
	ck_assert(apart[0] == 7);
	workspace_free(&room);
}
END_TEST

START_TEST(the_loop_has_all_its_room_before_it_writes)
{
	struct back back;
	struct bench *s = &back.s;
	size_t limit = 0;
	enum status status;

	back_set(&back, 1, 13, 3, 4);
	back_run(&back, false, true);
	registry_zero_gradients(&s->layer->registry);
	do {
		workspace_free(&s->workspace);
		s->workspace.limit = limit += 64;
		back.dx[0] = 77;
		status = layer_backward_loop(s->layer, s->input, true,
				&s->result, back.out, back.in, &s->workspace, NULL);
		if (status) {
			ck_assert_int_eq(status, MH_EMEMORY);
			ck_assert(back.dx[0] == 77);
			ck_assert(AT(s->layer->out_proj.gradient, 0, 0) == 0);
		}
	} while (status);
	ck_assert(back.dx[0] != 77);
	ck_assert_uint_gt(limit, 13 * 13 * sizeof(real));
	bench_free(s);
}
END_TEST

START_TEST(the_packed_way_back_wants_room_in_one_piece)
{
	struct back back;

	back_set(&back, 2, 5, 3, 4);
	back_run(&back, true, true);
	ck_refused(layer_backward_packed(back.s.layer, tensor_narrow(
			back.s.input, 0, 0, 1), true, &(struct forward){
			.weights = tensor_narrow(back.s.result.weights, 0, 0, 1),
			.concat = tensor_narrow(back.s.result.concat, 0, 0, 1) },
			tensor_narrow(back.out, 0, 0, 1), (struct tensor){
			back.dx, 3, { 1, 5, 12 }, { 0, 24, 1 } },
			&back.s.workspace, &error), MH_ESHAPE,
			"the packed path reads contiguous weights and qkv, and"
			" writes a contiguous dx");
	back.s.result.weights.stride[3] = 2;
	registry_zero_gradients(&back.s.layer->registry);
	ck_assert_int_eq(layer_backward_packed(back.s.layer, back.s.input,
			true, &back.s.result, back.out, back.in,
			&back.s.workspace, NULL), MH_ESHAPE);
	ck_assert(AT(back.s.layer->out_proj.gradient, 0, 0) == 0);
	bench_free(&back.s);
}
END_TEST

START_TEST(kept_projections_are_read_and_give_the_same_bits)
{
	struct back plain, kept;
	real qkv[2 * 5 * 36];

	back_set(&plain, 2, 5, 3, 4);
	back_set(&kept, 2, 5, 3, 4);
	back_run(&plain, true, true);
	kept.s.result.qkv = tensor_view(qkv, 3, (size_t[]){ 2, 5, 36 });
	back_run(&kept, true, true);
	ck_assert_mem_eq(kept.dx, plain.dx, 2 * 5 * 12 * sizeof(real));
	ck_assert_mem_eq(kept.s.layer->memory, plain.s.layer->memory,
			8 * 144 * sizeof(real));
	/* go back by the loop, and over other projections */
	registry_zero_gradients(&kept.s.layer->registry);
	ck_ok(layer_backward_loop(kept.s.layer, kept.s.input, true,
			&kept.s.result, kept.out, kept.in, &kept.s.workspace, NULL));
	for (size_t i = 0; i < 2 * 5 * 12; i++)
		ck_near(kept.dx[i], plain.dx[i], 2000);
	tensor_fill(tensor_narrow(kept.s.result.qkv, 2, 24, 12), 0);
	registry_zero_gradients(&kept.s.layer->registry);
	ck_ok(layer_backward_packed(kept.s.layer, kept.s.input, true,
			&kept.s.result, kept.out, kept.in, &kept.s.workspace, NULL));
	for (size_t i = 0; i < 24; i++)
		for (size_t c = 0; c < 12; c++)
			ck_assert(AT(kept.s.layer->in_proj.gradient, i, c) == 0);
	kept.s.result.qkv.stride[0] = 0;
	ck_refused(layer_backward_packed(kept.s.layer, kept.s.input, true,
			&kept.s.result, kept.out, kept.in, &kept.s.workspace,
			&error), MH_ESHAPE, "the packed path reads contiguous"
			" weights and qkv, and writes a contiguous dx");
	kept.s.result.qkv = tensor_view(kept.dx, 3,
			(size_t[]){ 2, 5, 36 });
	ck_refused(layer_backward_packed(kept.s.layer, kept.s.input, true,
			&kept.s.result, kept.out, kept.in, &kept.s.workspace,
			&error), MH_ESHAPE, "dx overlaps qkv");
	bench_free(&plain.s);
	bench_free(&kept.s);
}
END_TEST

enum { HEAD_TENSORS = 16, HEAD_WRITES = 7 };

/* A head's tensors, those that it writes first, each with room behind
 * it. */
struct head_back {
	real memory[HEAD_TENSORS][128];
	struct tensor dx, x, weights, dout;
	struct projections g, p;
	struct tensor *all[HEAD_TENSORS];
};

static void head_back_set(struct head_back *b)
{
	struct tensor *all[HEAD_TENSORS] = { &b->dx, &b->g.query,
			&b->g.key, &b->g.value, &b->g.query_bias, &b->g.key_bias,
			&b->g.value_bias, &b->x, &b->weights, &b->dout,
			&b->p.query, &b->p.key, &b->p.value, &b->p.query_bias,
			&b->p.key_bias, &b->p.value_bias };
	static const size_t sizes[HEAD_TENSORS][2] = { { 5, 7 }, { 3, 7 },
			{ 3, 7 }, { 3, 7 }, { 3 }, { 3 }, { 3 }, { 5, 7 },
			{ 5, 5 }, { 5, 3 }, { 3, 7 }, { 3, 7 }, { 3, 7 }, { 3 },
			{ 3 }, { 3 } };

	noise(b->memory[0], 1, (size_t[]){ HEAD_TENSORS * 128 }, 9);
	for (int i = 0; i < HEAD_TENSORS; i++) {
		*all[i] = tensor_view(b->memory[i], sizes[i][1] ? 2 : 1,
				sizes[i]);
		b->all[i] = all[i];
	}
}

START_TEST(a_head_writes_over_nothing_on_its_way_back)
{
	static struct head_back b, was;
	struct workspace room = { 0 };

	head_back_set(&b);
	was = b;
	for (int i = 0; i < HEAD_WRITES; i++)
		for (int j = 0; j < HEAD_TENSORS; j++) {
			struct tensor *t = b.all[i], kept = *t;

			if (i == j || (i && j && j < HEAD_WRITES))
				continue;
			t->data = b.all[j]->data + (b.all[j]->rank == 1 ? 2 :
					b.all[j]->shape[0] * b.all[j]->shape[1] - 1);
			ck_assert_int_eq(gradient_head(b.p, b.g, b.x, true,
					b.weights, b.dout, b.dx, &room, NULL),
					MH_ESHAPE);
			*t = kept;
		}
	b.g.value_bias.stride[0] = 0;
	ck_refused(gradient_head(b.p, b.g, b.x, true, b.weights, b.dout,
			b.dx, &room, &error), MH_ESHAPE,
			"the gradient of the value bias overlaps itself");
	ck_assert(memcmp(b.memory, was.memory, sizeof b.memory) == 0);
	workspace_free(&room);
}
END_TEST

START_TEST(a_projection_writes_over_nothing_on_its_way_back)
{
	static struct head_back b, was;

	head_back_set(&b);
	was = b;
	for (int i = 0; i < 3; i++) {
		struct tensor dweight = b.g.query, dbias = b.g.query_bias;
		struct tensor dx = b.dx;
		struct tensor *written[] = { &dx, &dweight, &dbias };
		const struct tensor other[] = { b.x, b.p.query, b.dout };

		for (int j = 0; j < (i ? 4 : 3); j++) {
			written[i]->data = j < 3 ? other[j].data : dx.data;
			ck_assert_int_eq(gradient_project(b.x, b.p.query, b.dout,
					dweight, dbias, dx, NULL), MH_ESHAPE);
		}
	}
	/* let each of its tensors be of odd shape or rank */
	struct tensor *const odd[] = { &b.x, &b.p.query, &b.dout, &b.g.query,
			&b.g.query_bias, &b.dx };

	for (size_t i = 0; i < 6 * 2; i++) {
		struct tensor *t = odd[i / 2], kept = *t;

		if (i % 2)
			t->rank = 1000;
		else
			t->shape[0] = 2;
		ck_assert_int_eq(gradient_project(b.x, b.p.query, b.dout,
				b.g.query, b.g.query_bias, b.dx, NULL), MH_ESHAPE);
		*t = kept;
	}
	b.x.shape[1] = 6;
	ck_refused(gradient_project(b.x, b.p.query, b.dout, b.g.query,
			b.g.query_bias, b.dx, &error), MH_ESHAPE,
			"a weight of shape (3, 7) does not project (5, 6)");
	ck_assert(memcmp(b.memory, was.memory, sizeof b.memory) == 0);
}
END_TEST

START_TEST(the_way_back_does_not_grow)
{
	struct back back;
	size_t held;

	back_set(&back, 2, 5, 3, 4);
	back_run(&back, _i, true);
	held = back.s.workspace.held;
	for (int call = 0; call < 100; call++)
		back_run(&back, _i, true);
	ck_assert_uint_eq(back.s.workspace.held, held);
	bench_free(&back.s);
}
END_TEST

START_TEST(more_heads_and_examples_need_no_more_room)
{
	struct back few, many;

	back_set(&few, 1, 5, 2, 6);
	back_set(&many, 3, 5, 6, 2);
	back_run(&few, false, true);
	back_run(&many, false, true);
	ck_assert_uint_lt(many.s.workspace.peak, few.s.workspace.peak);
	bench_free(&few.s);
	bench_free(&many.s);
}
END_TEST

START_TEST(only_a_shared_head_costs_copies)
{
	const size_t numbers = 3 * (36 * 12) + 2 * 36;
	struct back own, shared;

	back_set(&own, 2, 5, 3, 4);
	back_set(&shared, 2, 5, 3, 4);
	bench_add_biases(&own.s);
	bench_add_biases(&shared.s);
	ck_ok(layer_enter(shared.s.layer, 2, &shared.s.layer->own[0],
			NULL));
	back_run(&own, true, true);
	back_run(&shared, true, true);
	ck_assert_uint_ge(shared.s.workspace.peak, own.s.workspace.peak +
			numbers * sizeof(real));
	bench_free(&own.s);
	bench_free(&shared.s);
}
END_TEST

void gradients_suite(Suite *suite)
{
	TCase *slopes = tcase_create("slopes");
	TCase *properties = tcase_create("properties");

	suite_add_tcase(suite, slopes);
	tcase_add_loop_test(slopes,
			every_gradient_is_the_slope_found_by_trying, 0, 20);
	suite_add_tcase(suite, properties);
	/* add the tests of what a gradient must be */
	tcase_add_loop_test(properties, no_gradient_reaches_the_future, 0, 4);
	tcase_add_loop_test(properties,
			gradients_stay_with_their_example_and_their_head, 0, 2);
	tcase_add_loop_test(properties, a_second_pass_adds_to_the_gradients, 0,
			2);
	tcase_add_loop_test(properties,
			a_shared_head_collects_from_both_its_slots, 0, 2);
	tcase_add_loop_test(properties,
			a_shared_head_collects_the_same_in_every_pass, 0, 4);
	tcase_add_loop_test(properties,
			a_broken_slope_does_not_reach_what_it_cannot_see, 0, 4);
	tcase_add_test(properties,
			nothing_behind_the_mask_is_read_or_left_on_the_way_back);
	tcase_add_loop_test(properties,
			a_key_that_overflows_spoils_only_what_sees_it, 0, 4);
	tcase_add_loop_test(properties,
			a_query_that_overflows_spoils_only_what_it_sees, 0, 4);
	tcase_add_loop_test(properties,
			a_slope_and_a_value_overflow_only_where_they_meet, 0, 4);
	tcase_add_loop_test(properties,
			without_a_mask_a_broken_slope_reaches_everything, 0, 2);
	tcase_add_test(properties, a_row_of_score_gradients_adds_up_to_zero);
	tcase_add_loop_test(properties, a_key_bias_has_no_slope, 0, 4);
	tcase_add_loop_test(properties, any_view_will_do_on_the_way_back, 0, 2);
	tcase_add_loop_test(properties, nothing_in_gives_nothing_back, 0, 4);
	tcase_add_loop_test(properties,
			what_does_not_fit_on_the_way_back_is_refused, 0, 2);
	tcase_add_test(properties, a_single_number_is_added_like_a_row);
	tcase_add_test(properties,
			a_head_refuses_what_does_not_fit_on_its_way_back);
	tcase_add_test(properties, a_head_writes_over_nothing_on_its_way_back);
	tcase_add_test(properties,
			a_projection_writes_over_nothing_on_its_way_back);
	tcase_add_test(properties, the_loop_has_all_its_room_before_it_writes);
	tcase_add_loop_test(properties,
			blocks_of_rows_are_joined_without_a_seam, 0, 32);
	tcase_add_test(properties, the_packed_way_back_wants_room_in_one_piece);
	tcase_add_test(properties,
			kept_projections_are_read_and_give_the_same_bits);
	tcase_add_loop_test(properties, the_way_back_does_not_grow, 0, 2);
	tcase_add_test(properties, more_heads_and_examples_need_no_more_room);
	tcase_add_test(properties, only_a_shared_head_costs_copies);
}
