/* tests/test_one_head.c: made from chapters/15-one-head.nw; edit it there. */
#include <string.h>

#include "attention.h"
#include "oracle.h"
#include "suites.h"
#include "support.h"

/* tests of one head */
START_TEST(the_divisor_is_the_root_of_the_head_width)
{
	real ones[9], score;
	struct tensor row = tensor_view(ones, 2, (size_t[]){ 1, 9 });

	for (int i = 0; i < 9; i++)
		ones[i] = 1;
	ck_ok(attention_scores(row, row, tensor_view(&score, 2,
			(size_t[]){ 1, 1 }), NULL));
	ck_assert(score == 3);
}
END_TEST

START_TEST(rows_of_weights_are_distributions_over_the_past)
{
	enum { N = 5 };
	real memory[N * N];
	struct tensor s = noise(memory, 2, (size_t[]){ N, N }, 3);

	attention_mask(s);
	softmax_rows(s);
	for (size_t i = 0; i < N; i++) {
		real sum = 0;

		for (size_t j = 0; j < N; j++) {
			if (j > i)
				ck_assert(AT(s, i, j) == 0);
			else
				ck_assert(AT(s, i, j) > 0);
			sum += AT(s, i, j);
		}
		ck_near(sum, 1, N);
	}
}
END_TEST

START_TEST(large_scores_keep_their_exact_softmax)
{
	real memory[] = { 1000, 1000, -1000, -1000, -20000, 0, 0, -20000 };
	real wanted[] = { .5, .5, .5, .5, 0, 1, 1, 0 };

	softmax_rows(tensor_view(memory, 2, (size_t[]){ 4, 2 }));
	for (int i = 0; i < 8; i++)
		ck_assert(memory[i] == wanted[i]);
}
END_TEST

START_TEST(a_mask_is_lower_than_any_score)
{
	const real low = -(real)1e36;
	real memory[] = { low, 0, low, low };
	struct tensor s = tensor_view(memory, 2, (size_t[]){ 2, 2 });

	attention_mask(s);
	softmax_rows(s);
	ck_assert(memory[0] == 1 && memory[1] == 0);
	ck_assert(memory[2] == (real)0.5 && memory[3] == (real)0.5);
}
END_TEST

START_TEST(a_broken_score_spoils_its_row_and_no_other)
{
	real memory[] = { 0, (real)NAN, 3, 3 };

	softmax_rows(tensor_view(memory, 2, (size_t[]){ 2, 2 }));
	ck_assert(isnan(memory[0]) && isnan(memory[1]));
	ck_assert(memory[2] == (real)0.5 && memory[3] == (real)0.5);
}
END_TEST

START_TEST(a_very_negative_score_is_not_a_masked_one)
{
	real queries[] = { -20000, 0 }, keys[] = { 1, 0 };
	real values[] = { 1, 100 }, scores[4], out[2];
	const size_t column[] = { 2, 1 }, square[] = { 2, 2 };
	struct tensor s = tensor_view(scores, 2, square);

	ck_ok(attention_scores(tensor_view(queries, 2, column),
			tensor_view(keys, 2, column), s, NULL));
	attention_mask(s);
	softmax_rows(s);
	attention_mix(s, tensor_view(values, 2, column), true,
			tensor_view(out, 2, column));
	ck_assert(out[0] == 1);
	ck_assert(out[1] == (real)50.5);
}
END_TEST

START_TEST(a_workspace_lends_disjoint_memory_and_takes_it_back)
{
	struct workspace workspace = { 0 };
	struct workspace_mark mark;
	struct tensor a, b, c, d;
	const size_t small[] = { 3 }, large[] = { 1 << 17 };

	ck_ok(workspace_take(&workspace, 1, small, &a, NULL));
	mark = workspace_mark(&workspace);
	ck_ok(workspace_take(&workspace, 1, large, &b, NULL));
	ck_ok(workspace_take(&workspace, 1, small, &c, NULL));
	ck_assert(a.data + 3 <= b.data || b.data + (1 << 17) <= a.data);
	ck_assert(c.data != a.data);
	ck_assert(c.data >= b.data + (1 << 17) || c.data + 3 <= b.data);
	workspace_release(&workspace, mark);
	ck_ok(workspace_take(&workspace, 1, large, &d, NULL));
	ck_assert(d.data == b.data);
	workspace_release(&workspace, mark);
	ck_ok(workspace_take(&workspace, 1, small, &d, NULL));
	ck_assert(d.data == (real *)((char *)a.data + 64));
	workspace.limit = 64;           /* less than it holds already */
	ck_assert_int_eq(workspace_take(&workspace, 2,
			(size_t[]){ 2, 1 << 17 }, &c, NULL), MH_EMEMORY);
	workspace_free(&workspace);
}
END_TEST

START_TEST(lent_memory_is_aligned_and_not_lent_twice)
{
	struct workspace w = { 0 };
	struct workspace_mark mark;
	struct tensor a, b, c;
	const size_t line[] = { 64 / sizeof(real) }, one[] = { 1 };
	const size_t block[] = { 65536 / sizeof(real) };

	ck_ok(workspace_take(&w, 1, line, &a, NULL));
	ck_assert_uint_eq(w.asked, 64);
	mark = workspace_mark(&w);
	ck_ok(workspace_take(&w, 1, one, &b, NULL));
	ck_assert_uint_eq((uintptr_t)b.data % 64, 0);
	workspace_release(&w, mark);
	ck_ok(workspace_take(&w, 1, one, &c, NULL));
	ck_assert(c.data == b.data && c.data != a.data);
	ck_ok(workspace_take(&w, 1, block, &b, NULL));  /* a second block */
	ck_assert_uint_eq(w.held, 2 * 65536);
	mark = workspace_mark(&w);
	for (int i = 0; i < 5; i++) {           /* must not be lent again */
		ck_ok(workspace_take(&w, 1, one, &a, NULL));
		ck_assert(a.data != c.data && (a.data < b.data ||
				a.data >= b.data + block[0]));
		workspace_release(&w, mark);
	}
	workspace_free(&w);
}
END_TEST

START_TEST(a_growing_sequence_does_not_pile_up_blocks)
{
	struct workspace w = { 0 };
	struct workspace_mark mark = workspace_mark(&w);
	struct tensor t;

	for (size_t length = 1; length <= 1000; length++) {
		for (int i = 0; i < 3; i++)
			ck_ok(workspace_take(&w, 2, (size_t[]){ length, 64 }, &t,
					NULL));
		workspace_release(&w, mark);
	}
	ck_assert_uint_le(w.held, 4 * w.peak);
	workspace_free(&w);
}
END_TEST

START_TEST(a_limit_is_respected_and_leaves_the_workspace_usable)
{
	struct workspace workspace = { .limit = 256 };
	const size_t large[] = { 1 << 10 }, small[] = { 8 };
	const size_t huge[] = { SIZE_MAX, 2 };
	struct error said = { 0 };
	struct tensor t;

	ck_assert_int_eq(workspace_take(&workspace, 1, large, &t, &said),
			MH_EMEMORY);
	ck_assert_ptr_nonnull(strstr(said.message,
			"no memory: the workspace holds 0 bytes and needs"));
	ck_ok(workspace_take(&workspace, 1, small, &t, &said));
	ck_assert_uint_le(workspace.held, 256);
	ck_ok(workspace_take(&workspace, 1,
			(size_t[]){ 192 / sizeof(real) },
			&t, &said));           /* to the last byte */
	ck_assert_int_eq(workspace_take(&workspace, 1, small, &t, NULL),
			MH_EMEMORY);
	ck_refused(workspace_take(&workspace, 1, small, NULL, &error),
			MH_ESHAPE, "there is no place for a tensor");
	ck_refused(workspace_take(&workspace, 1, NULL, &t, &error),
			MH_ESHAPE, "there is no shape");
	ck_refused(workspace_take(&workspace, 5, (size_t[]){ 1, 1, 1, 1,
			1 }, &t, &error), MH_ESHAPE,
			"a tensor has up to 4 axes, got 5");
	ck_assert_int_eq(workspace_take(&workspace, 2, huge, &t, &said),
			MH_ESIZE);
	ck_assert_ptr_nonnull(strstr(said.message,
			"too large to address"));
	workspace_free(&workspace);
	workspace_free(NULL);
	ck_assert_uint_eq(workspace.limit, 256);
}
END_TEST

START_TEST(a_size_that_cannot_be_rounded_up_is_refused)
{
	struct workspace workspace = { .limit = 256 };
	size_t most[] = { (PTRDIFF_MAX - 64) / sizeof(real) };
	struct tensor t;

	ck_assert_int_eq(workspace_take(&workspace, 1, most, &t, NULL),
			MH_EMEMORY);
	most[0]++;
	ck_assert_int_eq(workspace_take(&workspace, 1, most, &t, NULL),
			MH_ESIZE);
	most[0] = PTRDIFF_MAX / sizeof(real);
	ck_assert_int_eq(workspace_take(&workspace, 1, most, &t, NULL),
			MH_ESIZE);
	workspace_free(&workspace);
}
END_TEST

enum { T = 5, C = 7, D = 3 };

static real x_memory[T * C], in_proj[3 * D * C];
static real weights_memory[T * T], out_memory[T * D];
static long double true_weights[T * T], true_out[T * D];
static double units;

/* A random head and input; what the oracle says of them. */
static struct projections random_head(bool causal, struct tensor *x)
{
	struct tensor all = noise(in_proj, 2, (size_t[]){ 3 * D, C }, 21);
	struct problem problem = { .B = 1, .T = T, .C = C, .H = 1, .d = D,
			.causal = causal, .x = x_memory, .in_proj = in_proj };

	*x = noise(x_memory, 2, (size_t[]){ T, C }, 22);
	oracle_heads(&problem, true_weights, true_out);
	units = oracle_units(&problem);
	return (struct projections){
		.query = tensor_narrow(all, 0, 0, D),
		.key = tensor_narrow(all, 0, D, D),
		.value = tensor_narrow(all, 0, 2 * D, D)
	};
}

START_TEST(a_head_agrees_with_the_oracle)
{
	bool causal = _i;
	struct workspace workspace = { 0 };
	struct tensor x;
	struct projections head = random_head(causal, &x);
	struct tensor weights = tensor_view(weights_memory, 2,
			(size_t[]){ T, T });
	struct tensor out = tensor_view(out_memory, 2, (size_t[]){ T, D });

	ck_ok(attention_head(head, x, causal, weights, out, &workspace,
			NULL));
	for (size_t i = 0; i < T * T; i++)
		ck_near(weights_memory[i], true_weights[i], units);
	for (size_t i = 0; i < T * D; i++)
		ck_near(out_memory[i], true_out[i], units);
	workspace_free(&workspace);
}
END_TEST

START_TEST(a_row_of_weights_makes_one_coordinate)
{
	real x[] = { 1, 0, 0 }, w[] = { 1, 2, 3, 4, 5, 6 }, y[2];

	ck_ok(attention_project(tensor_view(x, 2, (size_t[]){ 1, 3 }),
			tensor_view(w, 2, (size_t[]){ 2, 3 }),
			tensor_view(y, 2, (size_t[]){ 1, 2 }), NULL));
	ck_assert(y[0] == 1 && y[1] == 4);
}
END_TEST

/* Two tokens of two features: query and key read one feature each. */
static void ask(real x[4], real query[], real key[], size_t d,
		real weights[4])
{
	struct workspace workspace = { 0 };
	real out[8], zero[8] = { 0 };
	const size_t square[] = { 2, 2 }, stored[] = { d, 2 };
	struct projections head = {
		.query = tensor_view(query, 2, stored),
		.key = tensor_view(key, 2, stored),
		.value = tensor_view(zero, 2, stored)
	};

	ck_ok(attention_head(head, tensor_view(x, 2, square), false,
			tensor_view(weights, 2, square), tensor_view(out, 2,
			(size_t[]){ 2, d }), &workspace, NULL));
	workspace_free(&workspace);
}

START_TEST(a_position_asks_by_its_query_and_is_found_by_its_key)
{
	real x[] = { 1, 0, 0, 40 };     /* 0 asks, 1 offers */
	real query[] = { 1, 0 }, key[] = { 0, 1 }, weights[4];

	ask(x, query, key, 1, weights);
	ck_assert(weights[1] > (real)0.99);
	ck_assert(weights[2] == (real)0.5 && weights[3] == (real)0.5);
}
END_TEST

START_TEST(a_head_divides_by_the_root_of_its_own_width)
{
	/* d = 4, C = 2: a score is 4 / 2, and the weight e^2 : 1. */
	real x[] = { 1, 0, 0, 1 };
	real query[] = { 1, 0, 1, 0, 1, 0, 1, 0 };
	real key[] = { 0, 1, 0, 1, 0, 1, 0, 1 }, weights[4];

	ask(x, query, key, 4, weights);
	ck_near(weights[1] / weights[0], expl(2), 8);
}
END_TEST

START_TEST(without_a_mask_the_future_is_read)
{
	struct workspace workspace = { 0 };
	struct tensor x;
	struct projections head = random_head(false, &x);
	struct tensor w = tensor_view(weights_memory, 2, (size_t[]){ T,
			T });
	struct tensor out = tensor_view(out_memory, 2, (size_t[]){ T, D });

	ck_ok(attention_head(head, x, false, w, out, &workspace, NULL));
	ck_assert(AT(w, 0, T - 1) > 0);
	workspace_free(&workspace);
}
END_TEST

START_TEST(what_is_not_finite_stays_behind_the_mask)
{
	struct workspace workspace = { 0 };
	real before[T * D];
	struct tensor x;
	struct projections head = random_head(true, &x);
	struct tensor w = tensor_view(weights_memory, 2, (size_t[]){ T,
			T });
	struct tensor first = tensor_view(before, 2, (size_t[]){ T, D });
	struct tensor second = tensor_view(out_memory, 2,
			(size_t[]){ T, D });

	ck_ok(attention_head(head, x, true, w, first, &workspace, NULL));
	AT(x, T - 1, 0) = _i ? (real)INFINITY : (real)NAN;
	ck_ok(attention_head(head, x, true, w, second, &workspace, NULL));
	ck_assert_mem_eq(before, out_memory, (T - 1) * D * sizeof(real));
	for (size_t c = 0; c < D; c++)
		ck_assert(isnan(AT(second, T - 1, c)));
	workspace_free(&workspace);
}
END_TEST

START_TEST(a_second_call_asks_the_system_for_nothing)
{
	struct workspace workspace = { 0 };
	struct tensor x, room;
	struct projections head = random_head(true, &x);
	struct tensor w = tensor_view(weights_memory, 2, (size_t[]){ T,
			T });
	struct tensor out = tensor_view(out_memory, 2, (size_t[]){ T, D });
	const size_t most[] = { 3 * T * D };
	size_t held;

	/* So many calls would fill a block, if what is lent did not
	 * return. */
	for (int call = 0; call < 500; call++) {
		ck_ok(attention_head(head, x, true, w, out, &workspace, NULL));
		ck_assert_uint_eq(workspace.asked, 0);
		if (call == 0)
			held = workspace.held;
		ck_assert_uint_eq(workspace.held, held);
	}
	/* Three matrices (T, D), each rounded up to lines of 64 bytes. */
	ck_assert_uint_eq(workspace.peak,
			3 * ((T * D * sizeof(real) + 63) / 64 * 64));
	ck_ok(workspace_take(&workspace, 1, most, &room, NULL));
	ck_assert_uint_eq(workspace.held, held);
	workspace_free(&workspace);
	ck_assert_uint_eq(workspace.held, 0);
}
END_TEST

START_TEST(a_head_that_does_not_fit_is_refused_before_it_writes)
{
	struct workspace workspace = { 0 };
	struct tensor x;
	struct projections head = random_head(true, &x);
	struct tensor w = tensor_view(weights_memory, 2, (size_t[]){ T,
			T });
	struct tensor out = tensor_view(out_memory, 2, (size_t[]){ T, D });

	out_memory[0] = w.data[0] = 77;
	head.key = tensor_narrow(head.key, 1, 0, C - 1);
	ck_refused(attention_head(head, x, true, w, out, &workspace,
			&error), MH_ESHAPE,
			"the key weight has shape (3, 6), wanted (3, 7)");
	head = random_head(true, &x);
	head.value = tensor_narrow(head.value, 0, 0, D - 1);
	ck_refused(attention_head(head, x, true, w, out, &workspace,
			&error), MH_ESHAPE,
			"the value weight has shape (2, 7), wanted (3, 7)");
	head = random_head(true, &x);
	head.query = tensor_slice(head.query, 0, 0);
	ck_refused(attention_head(head, x, true, w, out, &workspace,
			&error), MH_ESHAPE, "a head takes matrices; x has shape"
			" (5, 7), its query weight (7)");
	head = random_head(true, &x);
	ck_refused(attention_head(head, x, true, w,
			tensor_narrow(out, 0, 0, T - 1), &workspace, &error),
			MH_ESHAPE, "out has shape (4, 3), wanted (5, 3)");
	ck_refused(attention_head(head, x, true,
			tensor_narrow(w, 1, 0, 2), out, &workspace, &error),
			MH_ESHAPE, "weights has shape (5, 2), wanted (5, 5)");
	ck_refused(attention_head(head, tensor_slice(x, 0, 0), true, w, out,
			&workspace, &error), MH_ESHAPE, "a head takes matrices;"
			" x has shape (7), its query weight (3, 7)");
	ck_refused(attention_project(x, tensor_slice(head.key, 0, 0), out,
			&error), MH_ESHAPE,
			"a projection takes matrices, got the shape (7)");
	ck_refused(attention_scores(x, tensor_slice(x, 0, 0), w, &error),
			MH_ESHAPE,
			"a projection takes matrices, got the shape (7)");
	head.query = tensor_narrow(head.query, 0, 0, 0);
	ck_refused(attention_scores(tensor_narrow(x, 1, 0, 0),
			tensor_narrow(x, 1, 0, 0), w, &error), MH_ESHAPE,
			"a head of width 0 has no scores");
	w.data[0] = 77;         /* which the scores have overwritten */
	ck_refused(attention_head(head, x, true, w, out, &workspace,
			&error), MH_ESHAPE, "a head of width 0 has no scores");
	ck_assert(out_memory[0] == 77 && w.data[0] == 77);
	ck_assert_uint_eq(workspace.held, 0);
}
END_TEST

void one_head_suite(Suite *suite)
{
	TCase *head = tcase_create("head");
	TCase *workspace = tcase_create("workspace");

	suite_add_tcase(suite, head);
	tcase_add_loop_test(head, a_head_agrees_with_the_oracle, 0, 2);
	tcase_add_test(head, a_row_of_weights_makes_one_coordinate);
	tcase_add_test(head,
			a_position_asks_by_its_query_and_is_found_by_its_key);
	tcase_add_test(head, a_head_divides_by_the_root_of_its_own_width);
	tcase_add_test(head,
			rows_of_weights_are_distributions_over_the_past);
	tcase_add_test(head, without_a_mask_the_future_is_read);
	tcase_add_test(head, large_scores_keep_their_exact_softmax);
	tcase_add_test(head, a_mask_is_lower_than_any_score);
	tcase_add_test(head, a_broken_score_spoils_its_row_and_no_other);
	tcase_add_test(head, a_very_negative_score_is_not_a_masked_one);
	tcase_add_test(head, the_divisor_is_the_root_of_the_head_width);
	tcase_add_loop_test(head, what_is_not_finite_stays_behind_the_mask,
			0, 2);
	tcase_add_test(head,
			a_head_that_does_not_fit_is_refused_before_it_writes);
	suite_add_tcase(suite, workspace);
	tcase_add_test(workspace,
			a_second_call_asks_the_system_for_nothing);
	tcase_add_test(workspace,
			a_workspace_lends_disjoint_memory_and_takes_it_back);
	tcase_add_test(workspace,
			lent_memory_is_aligned_and_not_lent_twice);
	tcase_add_test(workspace,
			a_growing_sequence_does_not_pile_up_blocks);
	tcase_add_test(workspace,
			a_limit_is_respected_and_leaves_the_workspace_usable);
	tcase_add_test(workspace,
			a_size_that_cannot_be_rounded_up_is_refused);
}
