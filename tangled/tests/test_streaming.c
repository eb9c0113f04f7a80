/* tests/test_streaming.c: made from chapters/57-tiles.nw; edit it there. */
#ifdef _OPENMP
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "streamed_bench.h"
#include "streaming.h"
#include "suites.h"
#include "support.h"

/* tests of the streaming path */
/* The kernel under test, and the streaming path by way of it. */
static const struct kernel *tested;

static enum status forth_tested(const struct layer *layer,
		struct tensor x, bool causal, const struct streamed *result,
		struct workspace *workspace, struct error *error)
{
	return streaming_forward(tested, layer, x, causal, result,
			workspace, error);
}

static enum status back_tested(const struct layer *layer,
		struct tensor x, bool causal, const struct streamed *seen,
		struct tensor dy, struct tensor dx,
		struct workspace *workspace, struct error *error)
{
	return streaming_backward(tested, layer, x, causal, seen, dy, dx,
			workspace, error);
}

static void test_kernel(const struct kernel *kernel)
{
	static const struct streaming by_kernel = { forth_tested,
			back_tested };

	tested = kernel;
	streamed_use(&by_kernel, 0);
}

static void test_small(void)
{
	test_kernel(kernel_small());
}

static void test_plain(void)
{
	test_kernel(kernel_plain());
}

static void test_first(void)
{
	test_kernel(kernel_nth(0));
}

static void test_second(void)
{
	test_kernel(kernel_nth(1) ? kernel_nth(1) : kernel_plain());
}

/* Numbers for a product: a (m,k) and b (k,n), turned or not, and what
 * comes out, with a margin that must stay as it is. */
struct products {
	real a[13 * 801], b[801 * 150], out[55 * 266], want[55 * 266],
			turned[55 * 266];
};
static struct products numbers;

START_TEST(a_product_is_that_of_the_loop_and_stays_in_its_place)
{
	static const size_t sizes[][3] = {      /* m, n, k */
		{ 1, 1, 1 }, { 5, 3, 7 }, { 6, 16, 4 }, { 13, 65, 9 },
		{ 7, 150, 33 }, { 12, 47, 801 }, { 55, 263, 9 },
	};
	const size_t *n = sizes[_i / 8];
	bool turn_a = _i & 1, turn_b = _i & 2, add = _i & 4;
	struct tensor a = noise(numbers.a, 2, n[0] < 99 && turn_a ?
			(size_t[]){ n[2], n[0] } : (size_t[]){ n[0], n[2] }, 1);
	struct tensor b = noise(numbers.b, 2, turn_b ?
			(size_t[]){ n[1], n[2] } : (size_t[]){ n[2], n[1] }, 2);
	struct tensor out = noise(numbers.out, 2, (size_t[]){ n[0],
			n[1] + 3 }, 3), want, turned = out;
	struct workspace room = { 0 };
	struct tensor own;

	if (turn_a)
		a = tensor_swap(a, 0, 1);
	if (turn_b)
		b = tensor_swap(b, 0, 1);
	want = tensor_contiguous(out, numbers.want);
	turned.data = numbers.turned;
	/* multiply by the kernel and by the loop, and compare */
	struct product p = { n[0], n[1], n[2],
			{ a.data, a.stride[0], a.stride[1] },
			{ b.data, b.stride[0], b.stride[1] }, add, out.data, n[1] + 3,
			false };
	struct product q = { n[1], n[0], n[2],
			{ b.data, b.stride[1], b.stride[0] },
			{ a.data, a.stride[1], a.stride[0] }, add, turned.data,
			n[1] + 3, true };

	ck_ok(workspace_take(&room, 2, (size_t[]){ KERNEL_DEPTH,
			KERNEL_ROWS + KERNEL_PANELS * tested->panel }, &own, NULL));
	tensor_contiguous(out, turned.data);
	tested->multiply(&p, own.data);
	if (tested->few > 0) {
		tested->multiply(&q, own.data);
		ck_assert(tensor_distance(out, turned) == 0);
	}
	ck_ok((add ? tensor_add_product : tensor_product)(a, b,
			tensor_narrow(want, 1, 0, n[1]), NULL));
	for (size_t i = 0; i < n[0]; i++)
		for (size_t j = 0; j < n[1] + 3; j++)
			ck_near(AT(out, i, j), AT(want, i, j),
					j < n[1] ? 4 * (double)n[2] : 0);
	workspace_free(&room);
}
END_TEST

/* Weights of two keys whose scores are 0 and t: of the second it is
 * e^t / (1 + e^t). */
START_TEST(a_weight_is_an_exponential_to_its_last_bits)
{
	real q[2] = { 1, 1 }, k[2] = { 0 }, v[2] = { 0, 1 }, out[2];
	real maximum[2], sum[2];
	struct strip s = { 2, 1, true, { q, 1 }, { k, 1 }, { v, 1 },
			{ out, 1 }, { NULL, 0 }, maximum, sum };
	struct workspace room = { 0 };
	struct tensor own;
	const long double least = logl(REAL_LEAST);

	ck_ok(workspace_take(&room, 2, (size_t[]){ 400, 100 }, &own, NULL));
	for (int n = 0; n < 3000; n++) {
		long double t = (n - 2000) * -least / 2000, e, off;

		k[1] = (real)t;
		tested->attend(&s, own.data);
		e = expl(k[1]);
		ck_assert(out[0] == 0);
		off = fabsl(out[1] - e / (1 + e));
		ck_assert(off <= (8 + fabsl(t)) * REAL_EPSILON * out[1] +
				100 * REAL_LEAST);
	}
	workspace_free(&room);
}
END_TEST

enum { ROW = 150 };

/* What a row and its slopes ought to be. */
static void judge_row(const real *scores, const real *slopes,
		size_t seen, long double scale, long double *weights,
		long double *back)
{
	long double top = -INFINITY, sum = 0, mean = 0;

	for (size_t j = 0; j < seen; j++)
		top = fmaxl(top, scores[j]);
	for (size_t j = 0; j < seen; j++)
		sum += weights[j] = expl((scores[j] - top) * scale);
	for (size_t j = 0; j < seen; j++)
		mean += (weights[j] /= sum) * slopes[j];
	for (size_t j = 0; j < seen; j++)
		back[j] = weights[j] * (slopes[j] - mean) * scale;
}

START_TEST(a_row_is_weighed_and_nothing_beyond_it_is_touched)
{
	const size_t seen = (size_t)_i / 3, length = seen + (size_t)_i % 29;
	const real scale = (real)0.25, large = _i % 3 == 2 ? 1e30f : 1;
	real row[ROW], slopes[ROW];
	long double weights[ROW] = { 0 }, back[ROW] = { 0 };

	noise(row, 1, (size_t[]){ ROW }, (uint64_t)_i);
	noise(slopes, 1, (size_t[]){ ROW }, (uint64_t)_i + 1);
	for (size_t j = 0; j < seen; j++)
		row[j] *= _i % 3 == 1 ? 40 : large;
	row[length] = slopes[length] = 7;
	judge_row(row, slopes, seen, scale, weights, back);
	if (!tested->weigh)
		return;
	tested->weigh(row, seen, length, scale);
	tested->unweigh(row, slopes, seen, length, scale);
	for (size_t j = 0; j < length; j++) {
		ck_near(row[j], weights[j], 30);
		ck_near(slopes[j], back[j], 30);
		ck_assert(j < seen || (row[j] == 0 && slopes[j] == 0));
	}
	ck_assert(row[length] == 7 && slopes[length] == 7);
}
END_TEST

START_TEST(a_broken_row_is_broken_from_end_to_end)
{
	static const double broken[] = { NAN, INFINITY, -INFINITY };
	const size_t seen = 16 + (size_t)_i % 40, length = seen + 20;
	real row[ROW];

	if (!tested->weigh)
		return;
	noise(row, 1, (size_t[]){ ROW }, 1);
	row[(size_t)_i % seen] = (real)broken[_i % 2];
	tested->weigh(row, seen, length, 1);
	for (size_t j = 0; j < length; j++)
		ck_assert(isnan(row[j]));
	noise(row, 1, (size_t[]){ ROW }, 1);
	row[(size_t)_i % seen] = (real)broken[2];   /* merely forbidden */
	tested->weigh(row, seen, length, 1);
	for (size_t j = 0; j < length; j++)
		ck_assert((row[j] > 0) == (j < seen && j != (size_t)_i % seen));
	for (size_t j = 0; j < seen; j++)
		row[j] = -(real)INFINITY;
	tested->weigh(row, seen, length, 1);
	for (size_t j = 0; j < length; j++)
		ck_assert(isnan(row[j]));
}
END_TEST

/* Around the sizes of a tile: 96 queries, 64 keys, and groups of 6. */
static const size_t edges[] = { 1, 2, 5, 6, 7, 47, 48, 49, 63, 64, 65,
		95, 96, 97, 127, 128, 129, 191, 192, 193 };
/* Head widths around those of a vector and of a tile. */
static const size_t widths[] = { 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31,
		32, 33, 48, 63, 64, 65, 80, 96, 127, 128, 129, 255, 256 };
enum { EDGES = sizeof edges / sizeof edges[0],
	WIDTHS = sizeof widths / sizeof widths[0] };

START_TEST(every_length_is_cut_into_tiles_without_a_seam)
{
	streamed_compare(1, edges[_i / 2], 2, 5, _i & 1, _i & 2);
}
END_TEST

START_TEST(every_head_width_is_padded_without_a_trace)
{
	streamed_compare(2, 19, 1, widths[_i / 2], _i & 1, _i & 2);
}
END_TEST

START_TEST(every_head_width_up_to_256_agrees_with_the_loop)
{
	streamed_compare(1, 67, 1, (size_t)_i, _i & 1, _i & 2);
}
END_TEST

#ifdef _OPENMP
/* A pass over two examples with so many threads. */
static void run_with_threads(struct stream *t, int threads)
{
	omp_set_num_threads(threads);
	streamed_set(t, 2, 150, 3, 20);
	bench_add_biases(&t->s);
	streamed_run(t, true);
	ck_assert_int_eq(omp_get_max_threads(), threads);
}

START_TEST(the_number_of_threads_changes_no_bit)
{
	static const int threads[] = { 2, 3, 7 };
	struct stream one, many;
	const struct layer *l, *m;

	run_with_threads(&one, 1);
	run_with_threads(&many, threads[_i]);
	l = one.s.layer;
	m = many.s.layer;
	ck_assert(tensor_distance(one.result.output, many.result.output) ==
			0);
	ck_assert(tensor_distance(one.in, many.in) == 0);
	for (size_t i = 0; i < l->registry.count; i++)
		ck_assert(tensor_distance(
				l->registry.entries[i].parameter->gradient,
				m->registry.entries[i].parameter->gradient) == 0);
	ck_assert_uint_gt(many.s.workspace.peak, one.s.workspace.peak);
	streamed_free(&one);
	streamed_free(&many);
}
END_TEST

START_TEST(a_forked_process_goes_on_with_one_thread)
{
	struct stream t;
	int ended = -1;
	pid_t child;

	run_with_threads(&t, 2);
	child = fork();
	if (child == 0) {
		alarm(60);
		omp_set_num_threads(1);
		_exit(layer_forward_streaming(t.s.layer, t.s.input, true,
				&t.result, &t.s.workspace, NULL));
	}
	ck_assert_int_eq(waitpid(child, &ended, 0), child);
	ck_assert_int_eq(ended, 0);
	streamed_free(&t);
}
END_TEST
#endif

/* A text whose scores climb from tile to tile, fall, and climb again:
 * the reference of every row moves, early and late. */
static void let_scores_climb(struct stream *t)
{
	for (size_t b = 0; b < 2; b++)
		for (size_t i = 0; i < t->s.input.shape[1]; i++)
			for (size_t c = 0; c < t->s.C; c++)
				AT(t->s.input, b, i, c) *= (real)(1 + i % 150 / 10 +
						i % 7);
}

/* See the text from its end. */
static void turn_back(struct tensor *x)
{
	x->data += (ptrdiff_t)(x->shape[1] - 1) * x->stride[1];
	x->stride[1] = -x->stride[1];
}

START_TEST(what_was_summed_is_rescaled_when_scores_climb)
{
	const bool causal = _i & 1, falling = _i & 2;
	struct stream t, plain;
	struct streamed *want = &plain.result;

	streamed_set(&t, 2, 259, 3, 5);
	streamed_set(&plain, 2, 259, 3, 5);
	let_scores_climb(&t);
	let_scores_climb(&plain);
	if (falling) {
		turn_back(&t.s.input);
		turn_back(&plain.s.input);
	}
	streamed_run(&t, causal);
	ck_ok(layer_forward_online(plain.s.layer, plain.s.input, causal,
			want, &plain.s.workspace, NULL));
	ck_ok(layer_backward_online(plain.s.layer, plain.s.input, causal,
			want, plain.out, plain.in, &plain.s.workspace, NULL));
	/* compare where scores are large */
	const double units = 1000 * 259;

	streamed_close(t.result.concat, want->concat, units);
	streamed_close(t.result.output, want->output, units);
	streamed_close(t.in, plain.in, units);
	streamed_close(t.s.layer->in_proj.gradient,
			plain.s.layer->in_proj.gradient, units);
	streamed_free(&t);
	streamed_free(&plain);
}
END_TEST

/* The two numbers of a row mean the same on both paths. */
START_TEST(one_path_goes_forth_and_the_other_back)
{
	const struct streaming mixed[] = {
		{ forth_tested, layer_backward_online },
		{ layer_forward_online, back_tested },
	};

	streamed_use(&mixed[_i / 2], 0);
	streamed_compare(2, 67, 3, 4, _i & 1, true);
}
END_TEST

/* The output of the public path and that of a kernel, to the last
 * bit? */
static bool runs_on(const struct kernel *kernel, size_t T, size_t d)
{
	struct stream t, by_kernel;
	bool same;

	streamed_set(&t, 1, T, 1, d);
	streamed_set(&by_kernel, 1, T, 1, d);
	ck_ok(layer_forward_streaming(t.s.layer, t.s.input, true, &t.result,
			&t.s.workspace, NULL));
	tested = kernel;
	streamed_forth(&by_kernel, true);
	same = tensor_distance(t.result.output,
			by_kernel.result.output) == 0;
	streamed_free(&t);
	streamed_free(&by_kernel);
	return same;
}

START_TEST(tiny_layers_run_on_plain_loops_and_no_others)
{
	ck_assert(runs_on(kernel_small(), 8, 8));
	ck_assert(!runs_on(kernel_nth(0), 8, 8));
	ck_assert(runs_on(kernel_nth(0), 9, 8));
	ck_assert(runs_on(kernel_nth(0), 8, 9));
	ck_assert(!runs_on(kernel_small(), 9, 8));
	ck_assert(!runs_on(kernel_small(), 8, 9));
}
END_TEST

START_TEST(results_must_lie_in_rows)
{
	const char *sentence = "the streaming path works on contiguous"
			" results only";
	struct stream t;
	struct streamed odd;
	struct tensor *part[] = { &odd.output, &odd.concat, &odd.qkv,
			&odd.maximum, &odd.sum };

	streamed_set(&t, 2, 2, 2, 3);
	odd = t.result;
	*part[_i] = tensor_swap(*part[_i], 0, 1);
	ck_refused(streaming_forward(tested, t.s.layer, t.s.input, true,
			&odd, &t.s.workspace, &error), MH_ESHAPE, sentence);
	if (_i > 0)
		ck_refused(streaming_backward(tested, t.s.layer, t.s.input,
				true, &odd, t.out, t.in, &t.s.workspace, &error),
				MH_ESHAPE, sentence);
	ck_refused(streaming_backward(tested, t.s.layer, t.s.input, true,
			&t.result, t.out, tensor_swap(t.in, 0, 1),
			&t.s.workspace, &error), MH_ESHAPE, sentence);
	streamed_free(&t);
}
END_TEST

START_TEST(kernels_come_fastest_first_and_plain_is_the_last)
{
	size_t n = 0;

	while (kernel_nth(n + 1))
		n++;
	ck_assert_ptr_eq(kernel_nth(n), kernel_plain());
	ck_assert_ptr_null(kernel_nth(n + 1));
	for (size_t i = 1; i < n; i++)
		ck_assert_uint_gt(kernel_nth(i - 1)->panel,
				kernel_nth(i)->panel);
}
END_TEST

void streaming_suite(Suite *suite)
{
	/* test cases of the streaming path */
	static const struct {
		const char *name;
		void (*setup)(void);
	} kernels[] = {
		{ "first", test_first }, { "second", test_second },
		{ "plain", test_plain }, { "small", test_small },
	};

	for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
		TCase *c = tcase_create(kernels[i].name);

		tcase_add_checked_fixture(c, kernels[i].setup, NULL);
		if (i == 1 || i == 2)
			tcase_set_tags(c, "long");
		streamed_tests(c);
		/* tests of one kernel */
		tcase_add_loop_test(c,
				a_product_is_that_of_the_loop_and_stays_in_its_place, 0, 56);

		tcase_add_test(c, a_weight_is_an_exponential_to_its_last_bits);

		tcase_add_loop_test(c,
				a_row_is_weighed_and_nothing_beyond_it_is_touched, 3, 300);
		tcase_add_loop_test(c, a_broken_row_is_broken_from_end_to_end, 0, 80);

		tcase_add_loop_test(c, every_length_is_cut_into_tiles_without_a_seam,
				0, 2 * EDGES);
		tcase_add_loop_test(c, every_head_width_is_padded_without_a_trace, 0,
				2 * WIDTHS);

		#ifdef _OPENMP
		tcase_add_loop_test(c, the_number_of_threads_changes_no_bit, 0, 3);
		tcase_add_test(c, a_forked_process_goes_on_with_one_thread);
		#endif

		tcase_add_loop_test(c, one_path_goes_forth_and_the_other_back, 0, 4);
		tcase_add_loop_test(c, results_must_lie_in_rows, 0, 5);
		tcase_add_loop_test(c, what_was_summed_is_rescaled_when_scores_climb,
				0, 4);
		if (i == 0) {
			tcase_add_test(c, kernels_come_fastest_first_and_plain_is_the_last);
			tcase_add_test(c, tiny_layers_run_on_plain_loops_and_no_others);
		}
		suite_add_tcase(suite, c);
	}

	TCase *all_widths = tcase_create("widths");

	tcase_set_tags(all_widths, "long");
	tcase_add_checked_fixture(all_widths, test_first, NULL);
	tcase_add_loop_test(all_widths,
			every_head_width_up_to_256_agrees_with_the_loop, 1, 257);
	suite_add_tcase(suite, all_widths);
}
