/* tests/test_interventions.c: made from chapters/35-interventions.nw; edit it there. */
#include <string.h>

#include "interventions.h"
#include "layer_bench.h"
#include "suites.h"
#include "support.h"

/* setting of the interventions */
static forward_path *const paths[] = {
	layer_forward_loop, layer_forward_packed
};
static const real slack[] = { 0, 1000 * REAL_EPSILON };
enum { PATHS = sizeof paths / sizeof paths[0] };
/* tests of interventions */
START_TEST(a_change_moves_its_own_position_and_later_ones_only)
{
	forward_path *path = paths[_i];
	struct bench s;
	real change[5];

	bench_set(&s, 2, 5, 3, 4);
	for (size_t j = 0; j < 5; j++) {
		ck_ok(perturb(path, s.layer, s.input, true, j, change,
				&s.workspace, NULL));
		for (size_t t = 0; t < 5; t++)
			if (t < j)
				ck_assert_msg(change[t] <= slack[_i],
						"%zu moved %zu", j, t);
			else
				ck_assert(change[t] > (real)0.01);
	}
	bench_free(&s);
}
END_TEST

START_TEST(without_the_mask_every_position_moves)
{
	struct bench s;
	real change[5];

	bench_set(&s, 2, 5, 3, 4);
	for (size_t j = 0; j < 5; j++) {
		ck_ok(perturb(paths[_i], s.layer, s.input, false, j, change,
				&s.workspace, NULL));
		for (size_t t = 0; t < 5; t++)
			ck_assert(change[t] > (real)0.001);
	}
	bench_free(&s);
}
END_TEST

START_TEST(a_prefix_is_what_the_whole_run_says_of_it)
{
	struct bench s;
	real difference = 9;

	bench_set(&s, 2, 7, 3, 4);
	ck_ok(truncate_all(paths[_i], s.layer, s.input, &difference,
			&s.workspace, NULL));
	ck_assert(difference <= slack[_i]);
	ck_assert_uint_eq(s.workspace.asked, 0);
	bench_free(&s);
}
END_TEST

START_TEST(weights_are_distributions_over_the_past)
{
	struct bench s;

	bench_set(&s, 2, 5, 3, 4);
	ck_ok(paths[_i](s.layer, s.input, true, &s.result, &s.workspace,
			NULL));
	ck_assert_uint_eq(future_weights(s.result.weights), 0);
	ck_assert(row_error(s.result.weights) <= 5 * REAL_EPSILON);
	ck_ok(paths[_i](s.layer, s.input, false, &s.result, &s.workspace,
			NULL));
	/* All 2 * 3 * 10 weights above the diagonals. */
	ck_assert_uint_eq(future_weights(s.result.weights), 60);
	ck_assert(row_error(s.result.weights) <= 5 * REAL_EPSILON);
	bench_free(&s);
}
END_TEST

START_TEST(the_broken_path_without_a_mistake_is_the_loop)
{
	struct bench s;
	real output[512];

	bench_set(&s, 2, 5, 3, 4);
	bench_run(&s, true);
	memcpy(output, s.output, sizeof output);
	memset(s.output, 0, sizeof s.output);
	ck_ok(forward_mistaken(NO_MISTAKE)(s.layer, s.input, true,
			&s.result, &s.workspace, NULL));
	ck_assert_mem_eq(output, s.output, 2 * 5 * 12 * sizeof(real));
	bench_free(&s);
}
END_TEST

START_TEST(examples_do_not_touch_each_other_when_packed)
{
	struct bench s;
	real before[512];
	const size_t size = 5 * 12;

	bench_set(&s, 2, 5, 3, 4);
	ck_ok(layer_forward_packed(s.layer, s.input, true, &s.result,
			&s.workspace, NULL));
	memcpy(before, s.output, sizeof before);
	for (size_t i = 0; i < size; i++)
		s.x[i] += 3;                    /* example 0 only */
	ck_ok(layer_forward_packed(s.layer, s.input, true, &s.result,
			&s.workspace, NULL));
	for (size_t i = size; i < 2 * size; i++)
		ck_near(s.output[i], before[i], 1000);
	ck_assert_mem_ne(before, s.output, size * sizeof(real));
	bench_free(&s);
}
END_TEST

START_TEST(a_broken_layer_does_not_pass_for_an_unmoved_one)
{
	struct bench s;
	real change;

	bench_set(&s, 1, 5, 3, 4);
	AT(s.layer->own[1].value.value, 0, 0) = (real)NAN;
	ck_ok(past_change(paths[_i], s.layer, s.input, true, &change,
			&s.workspace, NULL));
	ck_assert(isnan(change));
	ck_ok(truncate_all(paths[_i], s.layer, s.input, &change,
			&s.workspace, NULL));
	ck_assert(isnan(change));
	AT(s.layer->own[1].query.value, 0, 0) = (real)NAN;
	ck_ok(paths[_i](s.layer, s.input, true, &s.result, &s.workspace,
			NULL));
	ck_assert(isnan(row_error(s.result.weights)));
	s.input = tensor_narrow(s.input, 1, 0, 0);
	ck_ok(past_change(paths[_i], s.layer, s.input, true, &change,
			&s.workspace, NULL));
	ck_assert(change == 0);
	ck_refused(perturb(paths[_i], s.layer, s.input, true, 0, &change,
			&s.workspace, &error), MH_ESHAPE,
			"x has shape (1, 0, 12), and no position 0");
	bench_free(&s);
}
END_TEST

START_TEST(each_mistake_is_seen_by_its_check)
{
	static const struct { bool rows, future, past; } seen[] = {
		[NO_MISTAKE] = { false, false, false },
		[NO_MASK]    = { false, true,  true },
		[NO_SUM]     = { true,  false, false },
		[WRONG_AXIS] = { true,  false, true },
		[NO_SWAP]    = { false, false, true },
	};
	struct bench s;
	real past;

	forward_path *path = forward_mistaken((enum mistake)_i);

	bench_set(&s, 2, 5, 3, 4);
	ck_ok(path(s.layer, s.input, true, &s.result, &s.workspace, NULL));
	ck_ok(past_change(path, s.layer, s.input, true, &past,
			&s.workspace, NULL));
	ck_assert(seen[_i].rows ==
			(row_error(s.result.weights) > (real)0.001));
	ck_assert(seen[_i].future ==
			(future_weights(s.result.weights) > 0));
	ck_assert(seen[_i].past == (past > 0));
	bench_free(&s);
}
END_TEST

void interventions_suite(Suite *suite)
{
	TCase *flow = tcase_create("flow");

	suite_add_tcase(suite, flow);
	tcase_add_loop_test(flow,
			a_change_moves_its_own_position_and_later_ones_only, 0,
			PATHS);
	tcase_add_loop_test(flow, without_the_mask_every_position_moves, 0,
			PATHS);
	tcase_add_loop_test(flow, a_prefix_is_what_the_whole_run_says_of_it,
			0, PATHS);
	tcase_add_loop_test(flow, weights_are_distributions_over_the_past,
			0, PATHS);
	tcase_add_test(flow, the_broken_path_without_a_mistake_is_the_loop);
	tcase_add_test(flow, examples_do_not_touch_each_other_when_packed);
	tcase_add_loop_test(flow,
			a_broken_layer_does_not_pass_for_an_unmoved_one, 0,
			PATHS);
	tcase_add_loop_test(flow, each_mistake_is_seen_by_its_check, 0,
			MISTAKES);
}
