/* tests/test_loop.c: made from chapters/25-loop.nw; edit it there. */
#include <string.h>

#include "fixture.h"
#include "layer.h"
#include "layer_bench.h"
#include "oracle.h"
#include "suites.h"
#include "support.h"

/* tests of the loop */
START_TEST(widths_that_heads_cannot_share_are_refused)
{
	struct layer *layer;

	ck_refused(layer_create(6, 4, &layer, &error), MH_ESHAPE,
			"width 6 does not divide into 4 heads");
	ck_assert_ptr_null(layer);
	ck_refused(layer_create(6, 0, &layer, &error), MH_ESHAPE,
			"a layer needs width and heads, got width 6 and 0 heads");
	ck_refused(layer_create(0, 2, &layer, &error), MH_ESHAPE,
			"a layer needs width and heads, got width 0 and 2 heads");
	ck_refused(layer_create((size_t)1 << 40, 2, &layer, &error),
			MH_ESIZE, "a layer of width 1099511627776 has more"
			" parameters than memory has addresses");
	ck_assert_ptr_null(layer);
}
END_TEST

START_TEST(a_layer_that_memory_cannot_hold_is_refused)
{
	struct layer *layer;

	ck_assert_int_eq(layer_create((size_t)1 << 27, 1, &layer, NULL),
			MH_EMEMORY);
	ck_assert_ptr_null(layer);
}
END_TEST

START_TEST(a_new_layer_is_random_within_its_bound)
{
	struct layer *layer;
	real bound = 1 / sqrt((real)12), least = 0, most = 0;

	ck_ok(layer_create(12, 3, &layer, NULL));
	layer_randomize(layer, 6);
	for (size_t i = 0; i < 4 * 144; i++) {
		least = fmin(least, layer->memory[i]);
		most = fmax(most, layer->memory[i]);
	}
	for (size_t i = 4 * 144; i < 8 * 144; i++)
		ck_assert(layer->memory[i] == 0);       /* gradients */
	/* Values and gradients lie one after the other and do not
	 * overlap. */
	ck_assert(layer->out_proj.value.data == layer->memory + 3 * 144);
	ck_assert(layer->in_proj.gradient.data == layer->memory + 4 * 144);
	ck_assert(layer->out_proj.gradient.data == layer->memory + 7 * 144);
	ck_assert(least >= -bound && least < (real)-0.95 * bound);
	ck_assert(most <= bound && most > (real)0.95 * bound);
	layer_free(layer);
}
END_TEST

START_TEST(the_registry_lists_every_parameter_in_order)
{
	static const char *const names[] = {
		"out_proj.weight", "heads.0.query.weight",
		"heads.0.key.weight", "heads.0.value.weight",
		"heads.1.query.weight", "heads.1.key.weight",
		"heads.1.value.weight"
	};
	struct layer *layer;

	ck_ok(layer_create(8, 2, &layer, NULL));
	ck_assert_uint_eq(layer->registry.count, 7);
	for (int i = 0; i < 7; i++)
		ck_assert_str_eq(layer->registry.entries[i].name, names[i]);
	ck_assert_uint_eq(registry_numbers(&layer->registry), 256);
	struct parameter extra = layer->out_proj;

	ck_refused(registry_enter(&layer->registry, "extra", &extra,
			&error), MH_EMEMORY, "no room for extra: the registry has 7"
			" entries");
	/* a name may have 47 characters */
	static const char name[] =
			"a.name.of.forty-eight.characters.is.one.too.long";

	ck_refused(registry_enter(&layer->registry, name, &extra, &error),
			MH_EFORMAT, "the name a.name.of.forty-eight.characters.is.one"
			".too.long is longer than 47 characters");
	ck_refused(registry_enter(&layer->registry, name + 1, &extra, &error),
			MH_EMEMORY, "no room for .name.of.forty-eight.characters.is."
			"one.too.long: the registry has 7 entries");
	for (size_t i = 0; i < 256; i++) {
		layer->memory[i] = (real)(i + 1);
		layer->memory[256 + i] = 5;
	}
	registry_zero_gradients(&layer->registry);
	for (size_t i = 0; i < 256; i++) {
		ck_assert(layer->memory[i] == (real)(i + 1));
		ck_assert(layer->memory[256 + i] == 0);
	}
	ck_assert_ptr_eq(registry_find(&layer->registry,
			names[5])->parameter, &layer->own[1].key);
	ck_assert_ptr_null(registry_find(&layer->registry, "heads.2.key"));
	layer_free(layer);
}
END_TEST

/* no layer mixes nothing, and nothing is filled */
START_TEST(no_layer_mixes_nothing_and_none_is_filled)
{
	struct tensor none = { 0 };

	ck_refused(layer_mix(NULL, none, none, &error), MH_ESHAPE,
			"there is no layer");
	layer_randomize(NULL, 1);
}
END_TEST

START_TEST(a_name_beyond_the_last_is_not_found)
{
	struct parameter parameter = { 0 };
	struct entry entries[] = { { "in", &parameter },
			{ "beyond", &parameter } };
	const struct registry registry = { entries, 1, 2 };

	ck_assert_ptr_eq(registry_find(&registry, "in"), entries);
	ck_assert_ptr_null(registry_find(&registry, "beyond"));
}
END_TEST

START_TEST(the_loop_agrees_with_the_oracle)
{
	const size_t *shape = shapes[_i / 2];
	bool causal = _i % 2;
	struct bench s;

	bench_set(&s, shape[0], shape[1], shape[2], shape[3]);
	bench_run(&s, causal);
	bench_judge(&s, causal);
	bench_free(&s);
}
END_TEST

START_TEST(examples_do_not_touch_each_other)
{
	struct bench s;
	real before[512];
	const size_t size = 5 * 12;     /* numbers in one example */

	bench_set(&s, 2, 5, 3, 4);
	bench_run(&s, _i);
	memcpy(before, s.output, sizeof before);
	for (size_t i = 0; i < size; i++)
		s.x[i] += 3;                    /* example 0 only */
	bench_run(&s, _i);
	ck_assert_mem_eq(before + size, s.output + size,
			size * sizeof(real));
	ck_assert_mem_ne(before, s.output, size * sizeof(real));
	bench_free(&s);
}
END_TEST

START_TEST(a_head_writes_its_own_columns_and_no_others)
{
	struct bench s;
	real before[512];

	bench_set(&s, 2, 5, 3, 4);
	bench_run(&s, true);
	memcpy(before, s.concat, sizeof before);
	AT(s.layer->own[2].value.value, 3, 0) += 1;
	bench_run(&s, true);
	for (size_t i = 0; i < 2 * 5 * 12; i++)
		if (i % 12 == 2 * 4 + 3)
			ck_assert(s.concat[i] != before[i]);
		else
			ck_assert(s.concat[i] == before[i]);
	bench_free(&s);
}
END_TEST

START_TEST(a_broken_future_does_not_reach_the_past)
{
	struct bench s;
	real before[512];

	bench_set(&s, 1, 5, 3, 4);
	bench_run(&s, true);
	memcpy(before, s.output, sizeof before);
	AT(s.input, 0, 4, 7) = (real)NAN;
	bench_run(&s, true);
	ck_assert_mem_eq(before, s.output, 4 * 12 * sizeof(real));
	ck_assert(isnan(s.output[4 * 12]));
	bench_free(&s);
}
END_TEST

START_TEST(any_view_will_do_as_input)
{
	struct bench s, copy;
	real memory[2 * 5 * 12];
	const size_t turned[] = { 5, 2, 12 };

	bench_set(&s, 2, 5, 3, 4);
	bench_set(&copy, 2, 5, 3, 4);
	s.input = tensor_swap(noise(memory, 3, turned, 9), 0, 1);
	if (_i == 1) {                          /* backward in time */
		s.input.data += 4 * s.input.stride[1];
		s.input.stride[1] = -s.input.stride[1];
	} else if (_i == 2)                     /* one row for all */
		s.input.stride[1] = 0;
	copy.input = tensor_contiguous(s.input, copy.x);
	bench_run(&s, true);
	bench_run(&copy, true);
	ck_assert_mem_eq(s.output, copy.output, 2 * 5 * 12 * sizeof(real));
	ck_assert_mem_eq(s.weights, copy.weights,
			2 * 3 * 5 * 5 * sizeof(real));
	bench_free(&s);
	bench_free(&copy);
}
END_TEST

START_TEST(a_head_owns_its_rows_of_each_third)
{
	struct bench s;
	real *rows;

	bench_set(&s, 2, 5, 3, 4);
	rows = s.layer->in_proj.value.data;
	for (size_t h = 0; h < 3; h++) {
		struct head *head = &s.layer->own[h];

		ck_assert(head->query.value.data == rows + h * 4 * 12);
		ck_assert(head->key.value.data == rows + (12 + h * 4) * 12);
		ck_assert(head->value.value.data == rows + (24 + h * 4) * 12);
	}
	bench_free(&s);
}
END_TEST

START_TEST(each_head_hands_back_its_own_weights)
{
	struct bench s;
	real before[1024];

	bench_set(&s, 2, 5, 3, 4);
	bench_run(&s, true);
	memcpy(before, s.weights, sizeof before);
	AT(s.layer->own[1].query.value, 2, 3) += 1;
	bench_run(&s, true);
	for (size_t i = 0; i < 2 * 3 * 25; i++)
		if (i / 25 % 3 != 1)
			ck_assert(s.weights[i] == before[i]);
	ck_assert(s.weights[25 + 5] != before[25 + 5]);
	bench_free(&s);
}
END_TEST

START_TEST(nothing_in_gives_nothing_out)
{
	struct bench s;

	bench_set(&s, _i ? 2 : 0, _i ? 0 : 5, 3, 4);
	bench_run(&s, true);
	bench_free(&s);
}
END_TEST

START_TEST(inputs_that_do_not_fit_the_layer_are_refused)
{
	struct bench s;

	bench_set(&s, 2, 5, 3, 4);
	ck_refused(layer_forward_loop(s.layer,
			tensor_narrow(s.input, 2, 0, 11), true, &s.result,
			&s.workspace, &error), MH_ESHAPE,
			"x has shape (2, 5, 11), wanted (B, T, 12)");
	ck_refused(layer_forward_loop(s.layer,
			tensor_narrow(s.input, 1, 0, 4), true, &s.result,
			&s.workspace, &error), MH_ESHAPE,
			"output has shape (2, 5, 12), wanted (2, 4, 12)");
	struct forward odd = s.result;

	odd.weights.stride[2] = 0;
	ck_refused(layer_forward_loop(s.layer, s.input, true, &odd,
			&s.workspace, &error), MH_ESHAPE,
			"weights overlaps itself");
	odd.weights = tensor_narrow(s.result.weights, 3, 0, 4);
	ck_refused(layer_forward_loop(s.layer, s.input, true, &odd,
			&s.workspace, &error), MH_ESHAPE,
			"weights has shape (2, 3, 5, 4), wanted (2, 3, 5, 5)");
	odd.concat = tensor_narrow(s.result.concat, 2, 0, 4);
	ck_refused(layer_forward_loop(s.layer, s.input, true, &odd,
			&s.workspace, &error), MH_ESHAPE,
			"concat has shape (2, 5, 4), wanted (2, 5, 12)");
	s.layer->own[0].key.value = tensor_narrow(
			s.layer->own[0].key.value, 1, 0, 3);
	ck_refused(layer_forward_loop(s.layer, s.input, true, &s.result,
			&s.workspace, &error), MH_ESHAPE,
			"the key weight has shape (4, 3), wanted (4, 12)");
	s.layer->own[0].key.value = tensor_narrow(
			s.layer->in_proj.value, 0, 12, 4);
	s.layer->head[1] = NULL;
	ck_refused(layer_forward_loop(s.layer, s.input, true, &s.result,
			&s.workspace, &error), MH_ESHAPE,
			"slot 1 holds no head");
	ck_refused(layer_contribution(s.layer, 3, s.result.concat,
			s.result.output, &error), MH_ESHAPE,
			"head 3 of a layer with 3 heads");
	ck_refused(layer_contribution(s.layer, 1,
			tensor_narrow(s.result.concat, 2, 0, 11),
			s.result.output, &error), MH_ESHAPE,
			"concat has shape (2, 5, 11), wanted (B, T, 12)");
	ck_refused(layer_contribution(s.layer, 1,
			tensor_slice(s.result.concat, 0, 1), s.result.output,
			&error), MH_ESHAPE,
			"concat has shape (5, 12), wanted (B, T, 12)");
	ck_refused(layer_contribution(s.layer, 1, s.result.concat,
			tensor_narrow(s.result.output, 1, 0, 4), &error),
			MH_ESHAPE,
			"contribution has shape (2, 4, 12), wanted (2, 5, 12)");
	struct tensor nowhere = s.result.concat;

	nowhere.data = NULL;
	ck_refused(layer_contribution(s.layer, 1, nowhere, s.result.output,
			&error), MH_ESHAPE,
			"concat has elements but no data");
	ck_refused(layer_enter(s.layer, 3, s.layer->head[0], &error),
			MH_ESHAPE, "slot 3 of a layer with 3 heads");
	struct head narrow = *s.layer->head[0];

	narrow.value.gradient = tensor_narrow(narrow.value.gradient, 1, 0,
			9);
	ck_refused(layer_enter(s.layer, 0, &narrow, &error), MH_ESHAPE,
			"the gradient of the value weight has shape (4, 9), wanted"
			" (4, 12)");
	narrow.key.value = tensor_narrow(narrow.key.value, 0, 0, 3);
	ck_refused(layer_enter(s.layer, 0, &narrow, &error), MH_ESHAPE,
			"the key weight has shape (3, 12), wanted (4, 12)");
	narrow.query.value = tensor_narrow(narrow.query.value, 1, 0, 9);
	ck_refused(layer_enter(s.layer, 0, &narrow, &error), MH_ESHAPE,
			"the query weight has shape (4, 9), wanted (4, 12)");
	bench_free(&s);
}
END_TEST

START_TEST(an_empty_slot_is_found_wherever_it_is)
{
	char sentence[] = "slot ? holds no head";
	struct bench s;

	bench_set(&s, 2, 5, 3, 4);
	s.layer->head[_i] = NULL;
	sentence[5] = (char)('0' + _i);
	ck_refused(layer_forward_loop(s.layer, s.input, true, &s.result,
			&s.workspace, &error), MH_ESHAPE, sentence);
	bench_free(&s);
}
END_TEST

START_TEST(no_result_may_hold_an_element_twice)
{
	static const char *const sentences[] = { "output overlaps itself",
			"weights overlaps itself", "concat overlaps itself" };
	struct bench s;

	bench_set(&s, 2, 5, 3, 4);
	struct tensor *results[] = { &s.result.output, &s.result.weights,
			&s.result.concat };

	results[_i]->stride[0] = 0;
	ck_refused(layer_forward_loop(s.layer, s.input, true, &s.result,
			&s.workspace, &error), MH_ESHAPE, sentences[_i]);
	bench_free(&s);
}
END_TEST

START_TEST(a_workspace_that_may_not_grow_stops_the_layer_cleanly)
{
	struct bench s;
	struct tensor weights;

	bench_set(&s, 2, 5, 3, 4);
	weights = s.result.weights;
	s.workspace.limit = 64;
	ck_assert_int_eq(layer_forward_loop(s.layer, s.input, true,
			&s.result, &s.workspace, NULL), MH_EMEMORY);
	ck_assert_uint_eq(s.workspace.asked, 0);
	s.result.weights = (struct tensor){ 0 };   /* borrow them */
	ck_assert_int_eq(layer_forward_loop(s.layer, s.input, true,
			&s.result, &s.workspace, NULL), MH_EMEMORY);
	s.result.weights = weights;
	s.workspace.limit = 0;
	bench_run(&s, true);
	bench_free(&s);
}
END_TEST

START_TEST(a_head_entered_twice_is_counted_once_and_named_twice)
{
	struct bench s;
	struct layer *twin;

	ck_ok(layer_create(12, 3, &twin, NULL));

	bench_set(&s, 1, 5, 3, 4);
	ck_ok(layer_enter(s.layer, 2, s.layer->head[0], NULL));
	ck_assert_uint_eq(s.layer->registry.count, 10);
	ck_assert_uint_eq(registry_numbers(&s.layer->registry),
			2 * 3 * 4 * 12 + 12 * 12);
	ck_assert_uint_eq(registry_first(&s.layer->registry, 7), 1);
	/* shared numbers, drawn once */
	layer_randomize(s.layer, 5);
	layer_randomize(twin, 5);
	ck_assert_mem_eq(s.layer->own[0].query.value.data,
			twin->own[0].query.value.data, 4 * 12 * sizeof(real));
	layer_free(twin);
	ck_assert_uint_eq(registry_first(&s.layer->registry, 6), 6);
	bench_run(&s, true);
	for (size_t i = 0; i < 5 * 5; i++)
		ck_assert(s.weights[2 * 25 + i] == s.weights[i]);
	bench_free(&s);
}
END_TEST

START_TEST(a_head_beside_the_registry_runs_but_is_missed)
{
	struct bench s;
	struct head *stray;

	bench_set(&s, 1, 5, 3, 4);
	layer_free(s.layer);
	ck_ok(layer_frame(12, 3, &s.layer, NULL));
	for (size_t h = 0; h < 2; h++)
		ck_ok(layer_enter(s.layer, h, &s.layer->own[h], NULL));
	stray = s.layer->head[2] = &s.layer->own[2];
	layer_randomize(s.layer, 4);
	ck_assert(AT(stray->query.value, 0, 0) == 0);   /* not reached */
	ck_assert_uint_eq(registry_numbers(&s.layer->registry),
			2 * 3 * 4 * 12 + 12 * 12);
	AT(stray->key.gradient, 1, 1) = 5;
	AT(s.layer->own[1].key.gradient, 1, 1) = 5;
	registry_zero_gradients(&s.layer->registry);
	ck_assert(AT(stray->key.gradient, 1, 1) == 5);
	ck_assert(AT(s.layer->own[1].key.gradient, 1, 1) == 0);
	bench_run(&s, true);            /* and yet it runs: */
	ck_near(s.weights[2 * 25 + 4 * 5], 0.2L, 1);
	bench_free(&s);
}
END_TEST

START_TEST(contributions_add_up_and_ablation_removes_one)
{
	struct bench s;
	real share[3][512];
	const size_t wide[] = { 2, 5, 12 };

	bench_set(&s, 2, 5, 3, 4);
	bench_run(&s, true);
	s.layer->head[2] = NULL;        /* of the heads, none is needed */
	for (size_t h = 0; h < 3; h++)
		ck_ok(layer_contribution(s.layer, h, s.result.concat,
				tensor_view(share[h], 3, wide), NULL));
	for (size_t t = 0; t < 2 * 5; t++)
		for (size_t c = 0; c < 12; c++) {
			size_t i = t * 12 + c;
			long double left = 0;

			/* Project again, with head 1 silenced. */
			for (size_t z = 0; z < 12; z++)
				if (z / 4 != 1)
					left += (long double)
						s.concat[t * 12 + z] *
						AT(s.layer->out_proj.value,
								c, z);
			ck_near(share[0][i] + share[1][i] + share[2][i],
					s.output[i], 12 * 12);
			ck_near(s.output[i] - share[1][i], left, 12 * 12);
		}
	bench_free(&s);
}
END_TEST

START_TEST(the_fixture_is_mixed_as_by_hand)
{
	static const double want[] = { 40/7., 6/7., 12/7., 26/7. };
	static const double share[] = { 2, -10/7., -2, 10/7. };
	struct fixture f;

	fixture_set(&f);
	ck_ok(fixture_run_layer(&f, NULL));
	for (int c = 0; c < 4; c++) {
		ck_near(f.projected[2][c], want[c], 8);
		ck_near(f.contribution[1][2][c], share[c], 8);
	}
	ck_near(f.sum[2][0], 40/7.L, 8);
	ck_near(f.sum[2][1], 26/7.L, 8);
}
END_TEST

void loop_suite(Suite *suite)
{
	TCase *loop = tcase_create("loop");
	TCase *registry = tcase_create("registry");
	TCase *refusals = tcase_create("refusals");

	suite_add_tcase(suite, loop);
	tcase_add_loop_test(loop, the_loop_agrees_with_the_oracle, 0,
			2 * SHAPES);
	tcase_add_loop_test(loop, examples_do_not_touch_each_other, 0, 2);
	tcase_add_test(loop, a_head_writes_its_own_columns_and_no_others);
	tcase_add_test(loop, a_head_owns_its_rows_of_each_third);
	tcase_add_test(loop, each_head_hands_back_its_own_weights);
	tcase_add_test(loop, a_broken_future_does_not_reach_the_past);
	tcase_add_loop_test(loop, any_view_will_do_as_input, 0, 3);
	tcase_add_loop_test(loop, nothing_in_gives_nothing_out, 0, 2);
	tcase_add_test(loop, contributions_add_up_and_ablation_removes_one);
	tcase_add_test(loop, the_fixture_is_mixed_as_by_hand);
	/* add the tests of registry and refusals */
	suite_add_tcase(suite, registry);
	tcase_add_test(registry, the_registry_lists_every_parameter_in_order);
	tcase_add_test(registry, a_name_beyond_the_last_is_not_found);
	tcase_add_test(registry,
			a_head_entered_twice_is_counted_once_and_named_twice);
	tcase_add_test(registry, a_head_beside_the_registry_runs_but_is_missed);
	tcase_add_test(registry, a_new_layer_is_random_within_its_bound);
	suite_add_tcase(suite, refusals);
	tcase_add_test(refusals, widths_that_heads_cannot_share_are_refused);
	tcase_add_test(refusals, inputs_that_do_not_fit_the_layer_are_refused);
	tcase_add_loop_test(refusals, an_empty_slot_is_found_wherever_it_is, 0,
			3);
	tcase_add_loop_test(refusals, no_result_may_hold_an_element_twice, 0,
			3);
	tcase_add_test(refusals, a_layer_that_memory_cannot_hold_is_refused);
	tcase_add_test(refusals, no_layer_mixes_nothing_and_none_is_filled);
	tcase_add_test(refusals,
			a_workspace_that_may_not_grow_stops_the_layer_cleanly);
}
