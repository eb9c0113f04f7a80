/* tests/test_online.c: made from chapters/55-streaming.nw; edit it there. */
#include "streamed_bench.h"
#include "suites.h"
#include "support.h"

/* tests of the online path */
/* The row of these scores, whose values are 1, 10, 100, ... */
static struct online_row row_of(const real scores[], size_t count,
		real *output)
{
	struct online_row row = { .output = tensor_view(output, 1,
			(size_t[]){ 1 }) };
	real value = 1;

	online_start(&row);
	for (size_t j = 0; j < count; j++, value *= 10)
		online_add(&row, scores[j], tensor_view(&value, 1,
				(size_t[]){ 1 }));
	return row;
}

START_TEST(a_maximum_is_the_largest_score_so_far)
{
	static const real scores[][3] = { { -5, -7, -4 }, { 3, 1, 2 },
			{ -9000, -9001, -9002 }, { -3, 0, -1 } };
	static const real largest[] = { -4, 3, -9000, 0 };
	real output;
	struct online_row row = row_of(scores[_i], 3, &output);

	ck_assert(row.maximum == largest[_i]);
	ck_assert(row.sum >= 1 && row.sum < 3);
}
END_TEST

START_TEST(what_was_summed_moves_with_the_maximum)
{
	const real scores[] = { 0, 2, 1, 3 };
	real output;
	struct online_row row = row_of(scores, 4, &output);

	ck_near(row.sum, expl(-3) + expl(-1) + expl(-2) + 1, 16);
	ck_near(output, expl(-3) + 10 * expl(-1) + 100 * expl(-2) + 1000,
			16);
}
END_TEST

START_TEST(a_row_that_nothing_can_be_said_of_is_not_a_number)
{
	static const real low = -(real)INFINITY, high = (real)INFINITY;
	static const real none = (real)NAN;
	const real scores[][3] = { { low, low, low }, { 1, high, 2 },
			{ high, 1, high }, { none, 1, 2 }, { low, none, 2 },
			{ 1, 2, none }, { low, high, low } };
	real output;
	struct online_row row = row_of(scores[_i], 3, &output);

	online_finish(&row);
	ck_assert(isnan(output));
}
END_TEST

START_TEST(minus_infinity_counts_for_nothing)
{
	const real low = -(real)INFINITY;
	const real scores[][3] = { { low, 1, 1 }, { 1, low, 1 },
			{ low, low, 1 }, { 1, 1, low } };
	const real want[] = { 55, (real)50.5, 100, (real)5.5 };
	real output;
	struct online_row row = row_of(scores[_i], 3, &output);

	online_finish(&row);
	ck_assert(output == want[_i]);
	ck_assert(row.maximum == 1);
}
END_TEST

static const struct streaming online = { layer_forward_online,
		layer_backward_online };

static void use_online(void)
{
	streamed_use(&online, 0);
}

START_TEST(results_may_lie_anywhere)
{
	struct stream t, plain;
	struct tensor *part[] = { &t.result.output, &t.result.concat,
			&t.result.qkv, &t.result.maximum, &t.result.sum, &t.in };

	streamed_set(&t, 2, 5, 3, 4);
	streamed_set(&plain, 2, 5, 3, 4);
	for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
		struct tensor turned;
		const size_t *n = part[i]->shape;

		ck_ok(workspace_take(&t.room, 3, (size_t[]){ n[2], n[1],
				n[0] }, &turned, NULL));
		*part[i] = tensor_swap(turned, 0, 2);
	}
	streamed_run(&t, true);
	streamed_run(&plain, true);
	ck_assert(tensor_distance(t.result.output, plain.result.output) ==
			0);
	ck_assert(tensor_distance(t.in, plain.in) == 0);
	ck_assert(tensor_distance(t.result.qkv, plain.result.qkv) == 0);
	streamed_free(&t);
	streamed_free(&plain);
}
END_TEST

START_TEST(a_forward_pass_asks_for_no_memory)
{
	struct stream t;

	streamed_set(&t, 2, 5, 3, 4);
	streamed_forth(&t, _i);
	ck_assert_uint_eq(t.s.workspace.peak, 0);
	streamed_free(&t);
}
END_TEST

void online_suite(Suite *suite)
{
	TCase *rows = tcase_create("rows");
	TCase *streamed = tcase_create("streamed");

	suite_add_tcase(suite, rows);
	tcase_add_checked_fixture(rows, use_online, NULL);
	tcase_add_loop_test(rows,
			a_maximum_is_the_largest_score_so_far, 0, 4);
	tcase_add_test(rows, what_was_summed_moves_with_the_maximum);
	tcase_add_loop_test(rows,
			a_row_that_nothing_can_be_said_of_is_not_a_number, 0, 7);
	tcase_add_loop_test(rows, minus_infinity_counts_for_nothing, 0, 4);
	tcase_add_test(rows, results_may_lie_anywhere);
	tcase_add_loop_test(rows, a_forward_pass_asks_for_no_memory, 0, 2);
	suite_add_tcase(suite, streamed);
	tcase_add_checked_fixture(streamed, use_online, NULL);
	streamed_tests(streamed);
}
