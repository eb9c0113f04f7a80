/* tests/test_speed.c: made from chapters/60-speed.nw; edit it there. */
#include <stdint.h>
#include <string.h>

#include "bare.h"
#include "bench.h"
#include "gradient.h"
#include "layer_bench.h"
#include "speed.h"
#include "suites.h"
#include "support.h"

/* tests of speed */
START_TEST(operations_are_counted_as_by_hand)
{
	/* B, T, C, H: and by hand the projections, 2 * 4 * B T C C, and
	 * the triangle, 2 products of 2 * C operations for each of the
	 * B T (T+1) / 2 pairs. */
	static const struct { struct speed_shape shape;
			double projections, attention; } hand[] = {
		{ { 1, 1, 1, 1 }, 8, 4 },
		{ { 2, 3, 4, 2 }, 8 * 2 * 3 * 16, 4 * 4 * 2 * 6 },
		{ { 3, 5, 6, 2 }, 8 * 3 * 5 * 36, 4 * 6 * 3 * 15 },
		{ { 1, 4096, 512, 8 }, 8589934592., 17184063488. },
	};

	ck_assert_uint_lt(_i, sizeof hand / sizeof hand[0]);
	struct speed_shape shape = hand[_i].shape;
	double p = hand[_i].projections, a = hand[_i].attention;

	ck_assert_double_eq(speed_projections(shape), p);
	ck_assert_double_eq(speed_attention(shape), a);
	ck_assert_double_eq(speed_operations(shape, false), p + a);
	ck_assert_double_eq(speed_operations(shape, true), 3 * p + 3.5 * a);
	shape.H = 1;
	ck_assert_double_eq(speed_operations(shape, false), p + a);
}
END_TEST

START_TEST(bytes_are_counted_as_by_hand)
{
	struct speed_shape shape = { 2, 3, 4, 2 };
	/* B T C = 24, B T C H = 48, B H T T = 36, C C = 16 */
	double loop = 9 * 24 + 3 * 48 + 6 * 36 + 4 * 16;
	double packed = 13 * 24 + 5 * 18 + 4 * 16;
	double online = 9 * 24 + 3 * 48 + 4 * 16;
	double streaming = 10 * 24 + 4 * 16;

	ck_assert_double_eq(speed_bytes("loop", shape), 4 * loop);
	ck_assert_double_eq(speed_bytes("packed", shape), 4 * packed);
	ck_assert_double_eq(speed_bytes("online", shape), 4 * online);
	ck_assert_double_eq(speed_bytes("streaming", shape), 4 * streaming);
	ck_assert(isnan(speed_bytes("nonsense", shape)));
	for (size_t i = 0; speed_path(i); i++)
		ck_assert(speed_bytes(speed_path(i), shape) > 4 * 16);
}
END_TEST

START_TEST(peaks_are_rates_of_this_machine)
{
	/* No speed is asserted, only that something was measured. */
	double one = speed_fma(1);

	ck_assert(one > 0 && isfinite(one));
	ck_assert(speed_fma(3) > 0);
	ck_assert(speed_fma(0) == 0);
	ck_assert(speed_reading((size_t)1 << 20, 2) > 0);
	ck_assert(speed_reading(SIZE_MAX, 1) == 0);
	ck_assert(speed_gemm(64) > 0);
	ck_assert(speed_gemm(SIZE_MAX / 2) == 0);
	ck_assert(speed_product(10, false) > 0);
	ck_assert(speed_product(10, true) > 0);
	ck_assert(speed_product(SIZE_MAX / 2, false) == 0);
	ck_assert(speed_head(70, false) > 0);
	ck_assert(speed_head(70, true) > 0);
	ck_assert(speed_head(SIZE_MAX / 2, true) == 0);
}
END_TEST

START_TEST(a_step_runs_each_path_and_counts_its_memory)
{
	struct speed_shape shape = { 2, 7, 12, 3 };
	size_t square = 2 * 3 * 7 * 7 * sizeof(real);
	const char *name = speed_path(_i / 2);
	struct timed *timed;
	double seconds = -1;

	if (!name)
		return;
	ck_ok(speed_create(name, shape, _i % 2, &timed, NULL));
	ck_ok(speed_step(timed, 3, &seconds, NULL));
	ck_assert(seconds > 0 && seconds < 60);
	if (strcmp(name, "loop") == 0 || strcmp(name, "packed") == 0)
		ck_assert_uint_ge(speed_memory(timed).asked, square);
	speed_free(timed);
}
END_TEST

START_TEST(what_cannot_be_timed_is_refused)
{
	struct speed_shape shape = { 1, 3, 7, 2 };
	struct timed *timed;

	ck_refused(speed_create("loop", shape, false, &timed, &error),
			MH_ESHAPE, "width 7 does not divide into 2 heads");
	ck_assert_ptr_null(timed);
	ck_refused(speed_create("", shape, false, &timed, &error),
			MH_ESHAPE, "no path is called ''");
	shape = (struct speed_shape){ SIZE_MAX / 8, 3, 6, 2 };
	ck_assert_int_eq(speed_create("loop", shape, false, &timed, NULL),
			MH_ESIZE);
	ck_assert_ptr_null(timed);
	speed_free(NULL);
}
END_TEST

START_TEST(bare_loops_compute_the_layer)
{
	enum { B = 2, T = 4, C = 6, H = 3 };
	struct bench s;
	real qkv[B * T * 3 * C], dqkv[B * T * 3 * C];
	real dconcat[B * T * C], dweights[T];
	real slopes[B * T * C], got[B * T * C], want[B * T * C];
	real din[3 * C * C] = { 0 }, dout[C * C] = { 0 };

	bench_set(&s, B, T, H, C / H);
	memset(s.weights, 0, sizeof s.weights);
	struct bare bare = { B, T, C, H, s.layer->in_proj.value.data,
			s.layer->out_proj.value.data, qkv, s.weights, s.concat,
			din, dout, dqkv, dconcat, dweights };

	bare_forward(&bare, s.x, s.output);
	bench_judge(&s, true);
	/* compare the bare gradients with those of the loop */
	struct tensor dy = noise(slopes, 3, s.input.shape, 63);
	struct tensor dx = tensor_view(want, 3, s.input.shape);

	bare_backward(&bare, s.x, slopes, got);
	ck_ok(layer_backward_loop(s.layer, s.input, true, &s.result, dy, dx,
			&s.workspace, NULL));
	for (size_t i = 0; i < B * T * C; i++)
		ck_near(got[i], want[i], 64 * C);
	for (size_t i = 0; i < 3 * C * C; i++)
		ck_near(din[i], s.layer->in_proj.gradient.data[i], 64 * B * T);
	for (size_t i = 0; i < C * C; i++)
		ck_near(dout[i], s.layer->out_proj.gradient.data[i], 64 * B * T);
	bench_free(&s);
}
END_TEST

START_TEST(quartiles_are_those_worked_out_by_hand)
{
	static const struct { size_t count; double numbers[6];
			struct spread spread; } hand[] = {
		{ 1, { 7 }, { 7, 7, 7 } },
		{ 2, { 9, 1 }, { 3, 5, 7 } },
		{ 3, { 30, 10, 20 }, { 15, 20, 25 } },
		{ 5, { 5, 1, 4, 2, 100 }, { 2, 4, 5 } },
		{ 6, { 6, 5, 4, 3, 2, 1 }, { 2.25, 3.5, 4.75 } },
	};

	ck_assert_uint_lt(_i, sizeof hand / sizeof hand[0]);
	double numbers[6];
	struct spread got;

	memcpy(numbers, hand[_i].numbers, sizeof numbers);
	got = speed_spread(numbers, hand[_i].count);
	ck_assert_double_eq(got.low, hand[_i].spread.low);
	ck_assert_double_eq(got.median, hand[_i].spread.median);
	ck_assert_double_eq(got.high, hand[_i].spread.high);
}
END_TEST

START_TEST(of_no_numbers_there_is_no_middle)
{
	ck_assert(isnan(speed_spread(NULL, 0).median));
}
END_TEST

void speed_suite(Suite *suite)
{
	TCase *counts = tcase_create("counts");
	TCase *steps = tcase_create("steps");

	suite_add_tcase(suite, counts);
	tcase_add_loop_test(counts, operations_are_counted_as_by_hand, 0,
			4);
	tcase_add_test(counts, bytes_are_counted_as_by_hand);
	tcase_add_loop_test(counts, quartiles_are_those_worked_out_by_hand,
			0, 5);
	tcase_add_test(counts, of_no_numbers_there_is_no_middle);
	suite_add_tcase(suite, steps);
	tcase_add_test(steps, peaks_are_rates_of_this_machine);
	tcase_add_test(steps, bare_loops_compute_the_layer);
	tcase_add_loop_test(steps,
			a_step_runs_each_path_and_counts_its_memory, 0, 16);
	tcase_add_test(steps, what_cannot_be_timed_is_refused);
}
