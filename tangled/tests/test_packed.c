/* tests/test_packed.c: made from chapters/30-packed.nw; edit it there. */
#include <string.h>
/* includes of the packed path's tests */
#include <cblas.h>

#include "blas.h"
#include "layer.h"
#include "layer_bench.h"
#include "oracle.h"
#include "suites.h"
#include "support.h"

/* tests of the packed path */
START_TEST(blas_multiplies_any_turned_matrices)
{
	enum { M = 5, K = 7, N = 3 };
	real left[M * K], right[K * N], got[M * N], want[M * N];
	struct tensor a = noise(left, 2, (size_t[]){ M, K }, 1);
	struct tensor b = noise(right, 2, (size_t[]){ K, N }, 2);
	struct tensor out = tensor_view(got, 2, (size_t[]){ M, N });

	if (_i & 1)
		a = tensor_swap(noise(left, 2, (size_t[]){ K, M }, 3), 0, 1);
	if (_i & 2)
		b = tensor_swap(noise(right, 2, (size_t[]){ N, K }, 4), 0, 1);
	ck_ok(blas_product(a, b, out, NULL));
	ck_ok(tensor_product(a, b, tensor_view(want, 2, out.shape), NULL));
	for (size_t i = 0; i < M * N; i++)
		ck_near(got[i], want[i], 2 * K * K);
}
END_TEST

START_TEST(blas_refuses_what_it_cannot_read)
{
	real memory[24];
	struct tensor a = counted(memory, 2, (size_t[]){ 4, 6 }), b = a;
	struct tensor square = tensor_view(memory, 2, (size_t[]){ 4, 4 });

	ck_refused(blas_product(a, a, a, &error), MH_ESHAPE,
			"(4, 6) times (4, 6) does not give (4, 6)");
	ck_refused(blas_product(tensor_slice(square, 0, 0), square, square,
			&error), MH_ESHAPE,
			"(4) times (4, 4) does not give (4, 4)");
	ck_refused(blas_product(square, tensor_slice(square, 1, 0), square,
			&error), MH_ESHAPE,
			"(4, 4) times (4) does not give (4, 4)");
	ck_refused(blas_product(square, square, tensor_slice(square, 0, 1),
			&error), MH_ESHAPE,
			"(4, 4) times (4, 4) does not give (4)");
	ck_refused(blas_product(square, b, tensor_narrow(b, 0, 0, 3),
			&error), MH_ESHAPE,
			"(4, 4) times (4, 6) does not give (3, 6)");
	ck_refused(blas_product(square, b, square, &error), MH_ESHAPE,
			"(4, 4) times (4, 6) does not give (4, 4)");
	b.stride[0] = 12, b.stride[1] = 2, b.shape[0] = 2, b.shape[1] = 3;
	ck_refused(blas_product(b, tensor_swap(b, 0, 1),
			tensor_view(memory, 2, (size_t[]){ 2, 2 }), &error),
			MH_ESHAPE, "BLAS wants one stride of 1 in each matrix,"
			" and the last in the result");
	a = tensor_view(memory, 2, (size_t[]){ (size_t)1 << 31, 0 });
	b = tensor_view(memory, 2, (size_t[]){ 0, 1 });
	ck_refused(blas_product(a, b,
			tensor_view(memory, 2, (size_t[]){ (size_t)1 << 31, 1 }),
			&error), MH_ESIZE,
			"2147483648 is more than an integer of BLAS can hold");
}
END_TEST

START_TEST(blas_leaves_a_product_without_numbers_alone)
{
	real memory[12] = { 0 };
	struct tensor m = counted(memory, 2, (size_t[]){ 3, 4 });
	struct tensor none = tensor_narrow(m, 0, 0, 0);

	ck_ok(blas_product(none, tensor_swap(m, 0, 1),
			tensor_view(NULL, 2, (size_t[]){ 0, 3 }), NULL));
	ck_ok(blas_product(m, tensor_swap(none, 0, 1),
			tensor_view(NULL, 2, (size_t[]){ 3, 0 }), NULL));
}
END_TEST

START_TEST(blas_refuses_rows_that_overlap)
{
	static const ptrdiff_t strides[][2] = { { 2, 1 }, { 1, 1 },
			{ 0, 1 }, { -3, 1 } };
	real memory[12], result[4];
	struct tensor b = counted(memory, 2, (size_t[]){ 3, 2 });
	struct tensor out = tensor_view(result, 2, (size_t[]){ 2, 2 });
	struct tensor a = { memory + 6, 2, { 2, 3 }, { strides[_i][0],
			strides[_i][1] } };
	const char *sentence = "BLAS wants one stride of 1 in each matrix,"
			" and the last in the result";

	ck_refused(blas_product(a, b, out, &error), MH_ESHAPE, sentence);
	ck_refused(blas_product(tensor_swap(b, 0, 1), tensor_swap(a, 0, 1),
			out, &error), MH_ESHAPE, sentence);
	ck_refused(blas_product(tensor_swap(a, 0, 1), tensor_swap(b, 0, 1),
			tensor_view(memory, 2, (size_t[]){ 3, 3 }), &error),
			MH_ESHAPE, sentence);
	out.stride[0] = strides[_i][0] < 2 ? strides[_i][0] : 1;
	ck_refused(blas_product(tensor_swap(b, 0, 1), b, out, &error),
			MH_ESHAPE, sentence);
	out = tensor_swap(tensor_view(result, 2, out.shape), 0, 1);
	ck_refused(blas_product(tensor_swap(b, 0, 1), b, out, &error),
			MH_ESHAPE, sentence);
}
END_TEST

START_TEST(blas_takes_a_single_row_or_column_of_any_stride)
{
	static const ptrdiff_t odd[] = { 0, 1, 77 };
	real memory[3 * 4], vector[3] = { 1, 2, 3 }, got[4];
	struct tensor m = noise(memory, 2, (size_t[]){ 3, 4 }, 1);
	struct tensor row = { vector, 2, { 1, 3 }, { odd[_i], 1 } };
	struct tensor out = { got, 2, { 1, 4 }, { odd[_i], 1 } };

	ck_ok(blas_product(row, m, out, NULL));
	for (size_t j = 0; j < 4; j++)
		ck_near(got[j], (long double)memory[j] + 2 * memory[4 + j] +
				3 * memory[8 + j], 16);
	out = (struct tensor){ got, 2, { 4, 1 }, { 1, odd[_i] } };
	ck_ok(blas_product(tensor_swap(m, 0, 1), tensor_swap(row, 0, 1),
			out, NULL));
	for (size_t j = 0; j < 4; j++)
		ck_near(got[j], (long double)memory[j] + 2 * memory[4 + j] +
				3 * memory[8 + j], 16);
}
END_TEST

static enum status count_part(void *job, size_t part, size_t thread)
{
	size_t (*seen)[2] = job;

	seen[part][0]++;
	seen[part][1] = thread;
	return part == 3 ? MH_ESIZE : part == 5 ? MH_ESHAPE : MH_OK;
}

START_TEST(every_part_is_run_once_and_the_largest_status_counts)
{
	size_t seen[7][2] = { { 0 } };

	bench_allow_threads(3, 1);
	ck_assert_uint_eq(blas_threads(4e6), 1);
#if defined _OPENMP && defined OPENBLAS_SEQUENTIAL
	ck_assert_uint_eq(blas_threads(5e6), 3);
	ck_assert_int_eq(blas_share(3, 7, seen, count_part),
			MH_ESIZE > MH_ESHAPE ? MH_ESIZE : MH_ESHAPE);
	for (size_t i = 0; i < 7; i++)
		ck_assert(seen[i][0] == 1 && seen[i][1] < 3);
	memset(seen, 0, sizeof seen);
#endif
	bench_allow_threads(3, 2);
	ck_assert_uint_eq(blas_threads(5e6), 1);
	bench_allow_threads(1, 1);
	ck_assert_int_eq(blas_share(1, 7, seen, count_part), MH_ESIZE);
	for (size_t i = 0; i < 7; i++)          /* none after a failure */
		ck_assert(seen[i][0] == (i <= 3) && seen[i][1] == 0);
}
END_TEST

START_TEST(a_product_in_parts_is_the_product)
{
	enum { SMALL = 47, LARGE = 2001, K = 61 };
	const size_t m = _i & 4 ? SMALL : LARGE, n = _i & 4 ? LARGE : SMALL;
	static real left[LARGE * K], right[LARGE * K], got[LARGE * SMALL],
			want[LARGE * SMALL];
	struct tensor a = noise(left, 2, _i & 1 ? (size_t[]){ K, m } :
			(size_t[]){ m, K }, 1);
	struct tensor b = noise(right, 2, _i & 2 ? (size_t[]){ n, K } :
			(size_t[]){ K, n }, 2);
	struct tensor out = noise(got, 2, (size_t[]){ m, n }, 3);

	if (_i & 1)
		a = tensor_swap(a, 0, 1);
	if (_i & 2)
		b = tensor_swap(b, 0, 1);
	bench_allow_threads(3, 1);
	ck_ok(blas_product(a, b, out, NULL));
	ck_ok(tensor_product(a, b, tensor_view(want, 2, out.shape), NULL));
	for (size_t i = 0; i < m * n; i++)
		ck_near(got[i], want[i], 2 * K * K);
}
END_TEST

START_TEST(a_split_undoes_a_merge_and_moves_nothing)
{
	real memory[2 * 3 * 4];
	struct tensor t = counted(memory, 3, (size_t[]){ 2, 3, 4 });
	struct tensor merged, split;

	ck_ok(tensor_merge(t, 1, &merged, NULL));
	ck_ok(tensor_split(merged, 1, 3, &split, NULL));
	ck_assert_int_eq(split.rank, 3);
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < 3; j++)
			for (size_t k = 0; k < 4; k++)
				ck_assert(&AT(split, i, j, k) == &AT(t, i, j, k));
	ck_refused(tensor_split(merged, 1, 5, &split, &error), MH_ESHAPE,
			"axis 1 of (2, 12) does not divide into 5 parts");
	ck_refused(tensor_split(merged, 1, 0, &split, &error), MH_ESHAPE,
			"axis 1 of (2, 12) does not divide into 0 parts");
	ck_ok(tensor_split(t, 2, 2, &split, NULL));
	ck_refused(tensor_split(split, 0, 1, &split, &error), MH_ESHAPE,
			"(2, 3, 2, 2) has no axis to spare");
}
END_TEST

START_TEST(a_tensor_is_finite_if_no_element_is_otherwise)
{
	real memory[6];
	struct tensor t = counted(memory, 2, (size_t[]){ 2, 3 });

	ck_assert(tensor_finite(t));
	memory[5] = (real)NAN;
	ck_assert(!tensor_finite(t));
	ck_assert(tensor_finite(tensor_narrow(t, 1, 0, 2)));
	ck_assert(tensor_finite(tensor_narrow(t, 0, 1, 0)));
	memory[0] = -(real)INFINITY;
	ck_assert(!tensor_finite(tensor_narrow(t, 1, 0, 2)));
	t = tensor_slice(t, 0, 0);
	ck_assert(!tensor_finite(tensor_slice(t, 0, 0)));
	ck_assert(tensor_finite(tensor_slice(t, 0, 1)));
}
END_TEST

static void bench_packed(struct bench *s, bool causal)
{
	ck_ok(layer_forward_packed(s->layer, s->input, causal, &s->result,
			&s->workspace, NULL));
}

START_TEST(the_packed_path_agrees_with_loop_and_oracle)
{
	const size_t *shape = shapes[_i / 2];
	bool causal = _i % 2;
	struct bench s, loop;

	bench_set(&s, shape[0], shape[1], shape[2], shape[3]);
	bench_set(&loop, shape[0], shape[1], shape[2], shape[3]);
	bench_packed(&s, causal);
	bench_run(&loop, causal);
	bench_judge(&s, causal);
	/* compare the packed results with the loop's */
	struct problem p = bench_problem(&s, causal);
	double units = oracle_units(&p);

	for (size_t i = 0; i < s.B * s.H * s.T * s.T; i++)
		ck_near(s.weights[i], loop.weights[i], 2 * units);
	for (size_t i = 0; i < s.B * s.T * s.C; i++) {
		ck_near(s.concat[i], loop.concat[i], 2 * units);
		ck_near(s.output[i], loop.output[i],
				4 * sqrt((double)s.C) * units);
	}
	bench_free(&s);
	bench_free(&loop);
}
END_TEST

START_TEST(project_then_split_is_projecting_for_each_head)
{
	struct bench s;
	real packed[2 * 5 * 36], single[5 * 4];
	const size_t wide[] = { 2, 5, 36 }, narrow[] = { 5, 4 };
	struct tensor qkv = tensor_view(packed, 3, wide), split;
	struct tensor out = tensor_view(single, 2, narrow);

	bench_set(&s, 2, 5, 3, 4);
	for (size_t b = 0; b < 2; b++)
		ck_ok(attention_project(tensor_slice(s.input, 0, b),
				s.layer->in_proj.value, tensor_slice(qkv, 0, b),
				NULL));
	ck_ok(tensor_split(tensor_narrow(qkv, 2, 12, 12), 2, 3, &split,
			NULL));                         /* the keys */
	for (size_t b = 0; b < 2; b++)
		for (size_t h = 0; h < 3; h++) {
			ck_ok(attention_project(tensor_slice(s.input, 0, b),
					s.layer->own[h].key.value, out, NULL));
			for (size_t t = 0; t < 5; t++)
				for (size_t c = 0; c < 4; c++)
					ck_assert(AT(split, b, t, h, c) ==
							AT(out, t, c));
		}
	bench_free(&s);
}
END_TEST

START_TEST(the_packed_path_follows_the_slots)
{
	struct bench s, loop;

	bench_set(&s, 2, 5, 3, 4);
	bench_set(&loop, 2, 5, 3, 4);
	ck_ok(layer_enter(s.layer, 2, s.layer->head[0], NULL));
	ck_ok(layer_enter(s.layer, 1, &loop.layer->own[2], NULL));
	ck_ok(layer_enter(loop.layer, 1, &loop.layer->own[2], NULL));
	ck_ok(layer_enter(loop.layer, 2, &loop.layer->own[0], NULL));
	bench_packed(&s, true);
	bench_run(&loop, true);
	for (size_t i = 0; i < 2 * 5 * 12; i++)
		ck_near(s.output[i], loop.output[i], 2000);
	bench_free(&s);
	bench_free(&loop);
}
END_TEST

START_TEST(the_packed_path_takes_any_view_and_writes_contiguous_ones)
{
	struct bench s, loop;

	real memory[2 * 5 * 12];
	const size_t turned[] = { 5, 2, 12 };

	bench_set(&s, 2, 5, 3, 4);
	bench_set(&loop, 2, 5, 3, 4);
	if (_i == 0)                            /* examples inside tokens */
		s.input = tensor_swap(noise(memory, 3, turned, 9), 0, 1);
	else if (_i == 1) {                     /* backward in time */
		s.input.data += 4 * s.input.stride[1];
		s.input.stride[1] = -s.input.stride[1];
	} else                                  /* one row for all */
		s.input.stride[1] = 0;
	loop.input = s.input;
	bench_packed(&s, true);
	bench_run(&loop, true);
	for (size_t i = 0; i < 2 * 5 * 12; i++)
		ck_near(s.output[i], loop.output[i], 2000);
	s.result.concat.stride[0] = -60;
	ck_refused(layer_forward_packed(s.layer, s.input, true, &s.result,
			&s.workspace, &error), MH_ESHAPE,
			"the packed path writes contiguous results only");
	bench_free(&s);
	bench_free(&loop);
}
END_TEST

START_TEST(each_packed_result_must_be_contiguous)
{
	struct bench s;
	real qkv[2 * 2 * 5 * 36];

	bench_set(&s, 2, 5, 3, 4);
	struct tensor *results[] = { &s.result.output, &s.result.weights,
			&s.result.concat, &s.result.qkv };

	s.result.qkv = tensor_view(qkv, 3, (size_t[]){ 2, 5, 36 });
	results[_i]->stride[0] *= 2;
	ck_refused(layer_forward_packed(s.layer, s.input, true, &s.result,
			&s.workspace, &error), MH_ESHAPE,
			"the packed path writes contiguous results only");
	bench_free(&s);
}
END_TEST

START_TEST(projections_are_kept_if_there_is_room)
{
	const size_t wide[] = { 2, 5, 36 };
	struct bench s, plain;
	real qkv[2 * 5 * 36];

	bench_set(&s, 2, 5, 3, 4);
	bench_set(&plain, 2, 5, 3, 4);
	s.result.qkv = tensor_view(qkv, 3, wide);
	bench_packed(&s, true);
	bench_packed(&plain, true);
	ck_assert_mem_eq(s.output, plain.output, sizeof s.output);
	ck_assert_mem_eq(s.weights, plain.weights, sizeof s.weights);
	ck_assert_mem_eq(s.concat, plain.concat, sizeof s.concat);
	/* compare what was kept with each projection by itself */
	for (size_t b = 0; b < 2; b++)
		for (size_t t = 0; t < 5; t++)
			for (size_t i = 0; i < 36; i++) {
				long double sum = 0;

				for (size_t c = 0; c < 12; c++)
					sum += (long double)AT(s.input, b, t, c) *
							AT(s.layer->in_proj.value, i, c);
				ck_near(AT(s.result.qkv, b, t, i), (real)sum, 100);
			}
	ck_refused(layer_forward_loop(s.layer, s.input, true, &s.result,
			&s.workspace, &error), MH_ESHAPE,
			"the loop keeps no qkv");
	s.result.qkv.shape[2] = 35;
	ck_refused(layer_forward_packed(s.layer, s.input, true, &s.result,
			&s.workspace, &error), MH_ESHAPE,
			"qkv has shape (2, 5, 35), wanted (2, 5, 36)");
	s.result.qkv = (struct tensor){ s.output, 3, { 2, 5, 36 },
			{ 0, 0, 1 } };
	ck_refused(layer_forward_packed(s.layer, s.input, true, &s.result,
			&s.workspace, &error), MH_ESHAPE, "qkv overlaps itself");
	s.result.qkv = tensor_view(s.output, 3, wide);
	ck_refused(layer_forward_packed(s.layer, s.input, true, &s.result,
			&s.workspace, &error), MH_ESHAPE,
			"output overlaps qkv");
	bench_free(&s);
	bench_free(&plain);
}
END_TEST

START_TEST(what_is_broken_behind_the_mask_stays_there_when_packed)
{
	struct bench s;
	real before[512];

	bench_set(&s, 1, 5, 3, 4);
	bench_packed(&s, true);
	memcpy(before, s.output, sizeof before);
	AT(s.input, 0, 4, 7) = _i ? (real)INFINITY : (real)NAN;
	bench_packed(&s, true);
	for (size_t i = 0; i < 4 * 12; i++)
		ck_near(s.output[i], before[i], 2000);
	for (size_t i = 4 * 12; i < 5 * 12; i++)
		ck_assert(isnan(s.output[i]));
	bench_packed(&s, false);                /* unmasked, all see it */
	for (size_t i = 0; i < 5 * 12; i++)
		ck_assert(isnan(s.output[i]));
	bench_free(&s);
}
END_TEST

START_TEST(a_value_that_overflows_is_seen_where_it_is_visible)
{
	bool packed = _i & 1, causal = _i & 2;
	struct bench s;

	bench_set(&s, 2, 5, 3, 4);
	bench_overflow(&s, 24 + 4, 4, bench_big());     /* head 1 */
	(packed ? bench_packed : bench_run)(&s, causal);
	for (size_t t = 0; t < 5; t++) {
		ck_assert_uint_eq(finite_numbers(of_head(s.result.output, 0,
				t)), 12);
		ck_assert_uint_eq(finite_numbers(of_head(s.result.output, 1,
				t)), causal && t < 4 ? 12 : 0);
	}
	bench_free(&s);
}
END_TEST

START_TEST(the_packed_path_takes_empty_input_and_does_not_grow)
{
	struct bench s;
	size_t held;

	bench_set(&s, _i ? 2 : 0, _i ? 0 : 5, 3, 4);
	bench_packed(&s, true);
	ck_assert_uint_eq(s.workspace.held, 0);     /* nor does it ask */
	bench_free(&s);
	bench_set(&s, 2, 5, 3, 4);
	bench_packed(&s, true);
	held = s.workspace.held;
	bench_packed(&s, true);
	ck_assert_uint_eq(s.workspace.held, held);
	ck_assert_uint_eq(s.workspace.asked, 0);
	bench_free(&s);
}
END_TEST

START_TEST(a_borrowed_head_whose_biases_come_or_go_is_noticed)
{
	const char *sentence = _i ?
			"slot 1 holds a head without biases, unlike its layer" :
			"slot 1 holds a head with biases, unlike its layer";
	struct bench lender, s;

	bench_set(&lender, 2, 5, 3, 4);
	bench_set(&s, 2, 5, 3, 4);
	if (_i) {
		bench_add_biases(&lender);
		bench_add_biases(&s);
	}
	ck_ok(layer_enter(s.layer, 1, &lender.layer->own[2], NULL));
	bench_run(&s, true);
	/* add biases to the head that is lent, or take them away */
	struct head *lent = &lender.layer->own[2];

	if (_i) {
		lent->query_bias.value.data = NULL;
		lent->key_bias.value.data = NULL;
		lent->value_bias.value.data = NULL;
	} else
		bench_add_biases(&lender);
	ck_refused(layer_forward_loop(s.layer, s.input, true, &s.result,
			&s.workspace, &error), MH_ESHAPE, sentence);
	ck_refused(layer_forward_packed(s.layer, s.input, true, &s.result,
			&s.workspace, &error), MH_ESHAPE, sentence);
	bench_free(&s);
	bench_free(&lender);
}
END_TEST

START_TEST(a_stack_holds_what_fits_and_nothing_else)
{
	struct bench lender, s;
	struct tensor stacked;
	struct head *lent;

	bench_set(&lender, 2, 5, 3, 4);
	bench_set(&s, 2, 5, 3, 4);
	ck_refused(layer_stack(NULL, &stacked, &s.workspace, &error),
			MH_ESHAPE, "there is no layer");
	ck_refused(layer_stack(s.layer, NULL, &s.workspace, &error),
			MH_ESHAPE, "there is no place for it");
	ck_refused(layer_stack_biases(NULL, &stacked, &s.workspace,
			&error), MH_ESHAPE, "there is no layer");
	ck_refused(layer_stack_biases(s.layer, NULL, &s.workspace,
			&error), MH_ESHAPE, "there is no place for it");
	lent = &lender.layer->own[2];
	ck_ok(layer_enter(s.layer, 1, lent, NULL));
	lent->query.value.shape[0] = 20000;
	ck_refused(layer_stack(s.layer, &stacked, &s.workspace, &error),
			MH_ESHAPE,
			"the query weight has shape (20000, 12), wanted (4, 12)");
	ck_assert_uint_eq(s.workspace.asked, 0);
	bench_free(&s);
	bench_free(&lender);
}
END_TEST

START_TEST(a_bias_of_another_length_is_not_added)
{
	struct bench s;
	struct projections head;

	bench_set(&s, 2, 5, 3, 4);
	bench_add_biases(&s);
	head = head_values(s.layer->head[1]);
	head.query_bias.shape[0] = 1;
	ck_refused(attention_head(head, tensor_slice(s.input, 0, 0), true,
			of_head(s.result.weights, 0, 0), tensor_narrow(
			tensor_slice(s.result.concat, 0, 0), 1, 0, 4),
			&s.workspace, &error), MH_ESHAPE,
			"the query bias has shape (1), wanted (4)");
	bench_free(&s);
}
END_TEST

START_TEST(an_output_is_not_written_over_its_bias)
{
	struct bench s;
	struct tensor concat, output;

	bench_set(&s, 2, 5, 3, 4);
	bench_add_biases(&s);
	bench_run(&s, false);
	concat = tensor_slice(s.result.concat, 0, 0);
	output = tensor_slice(s.result.output, 0, 0);
	output.data = s.layer->out_bias.value.data;
	ck_refused(layer_mix(s.layer, concat, output, &error), MH_ESHAPE,
			"output overlaps out_bias");
	output = tensor_slice(s.result.output, 0, 0);
	ck_ok(layer_mix(s.layer, concat, output, NULL));
	s.layer->out_bias.value.shape[0] = 11;
	ck_refused(layer_mix(s.layer, concat, output, &error), MH_ESHAPE,
			"out_bias has shape (11), wanted (12)");
	bench_free(&s);
}
END_TEST

START_TEST(a_head_in_two_slots_gets_biases_once)
{
	struct bench s;

	bench_set(&s, 2, 5, 3, 4);
	ck_ok(layer_enter(s.layer, 2, &s.layer->own[0], NULL));
	bench_add_biases(&s);
	ck_assert_ptr_eq(registry_find(&s.layer->registry,
			"heads.2.key.bias")->parameter,
			&s.layer->own[0].key_bias);
	ck_assert_uint_eq(registry_numbers(&s.layer->registry),
			2 * 3 * 4 * 12 + 12 * 12 + 2 * 12 + 12);
	bench_run(&s, true);
	for (size_t i = 0; i < 5 * 5; i++)
		ck_assert(s.weights[2 * 25 + i] == s.weights[i]);
	bench_free(&s);
}
END_TEST

START_TEST(biases_agree_with_the_oracle_on_both_paths)
{
	const size_t *shape = shapes[_i / 2];
	bool causal = _i % 2;
	struct bench s;

	bench_set(&s, shape[0], shape[1], shape[2], shape[3]);
	bench_add_biases(&s);
	bench_run(&s, causal);
	bench_judge(&s, causal);
	bench_packed(&s, causal);
	bench_judge(&s, causal);
	bench_free(&s);
}
END_TEST

START_TEST(biases_are_in_the_registry_and_follow_the_slots)
{
	struct bench s, other;
	struct registry *registry;

	bench_set(&s, 2, 5, 3, 4);
	bench_set(&other, 2, 5, 3, 4);
	registry = &s.layer->registry;
	ck_refused(layer_enter(s.layer, 9, s.layer->head[0], &error),
			MH_ESHAPE, "slot 9 of a layer with 3 heads");
	bench_add_biases(&other);
	ck_refused(layer_enter(s.layer, 1, other.layer->head[2], &error),
			MH_ESHAPE, "a head with biases in a layer that has none");
	ck_refused(layer_enter(other.layer, 1, s.layer->head[2], &error),
			MH_ESHAPE,
			"a head without biases in a layer that has them");
	ck_refused(layer_add_biases(other.layer, &error), MH_ESHAPE,
			"the layer has biases already");
	bench_add_biases(&s);
	ck_assert_uint_eq(registry->count, 2 * (3 * 3 + 1));
	ck_assert_uint_eq(registry_numbers(registry), 4 * 12 * 12 + 4 * 12);
	ck_assert_ptr_eq(registry_find(registry,
			"heads.2.value.bias")->parameter,
			&s.layer->own[2].value_bias);
	ck_assert_ptr_eq(registry_find(registry,
			"out_proj.bias")->parameter, &s.layer->out_bias);
	ck_ok(layer_enter(s.layer, 1, other.layer->head[2], NULL));
	ck_assert_ptr_eq(registry_find(registry,
			"heads.1.value.bias")->parameter,
			&other.layer->own[2].value_bias);
	AT(other.layer->own[2].value_bias.value, 3) = 50;
	bench_run(&s, true);
	memcpy(other.output, s.output, sizeof s.output);
	bench_packed(&s, true);
	ck_assert(s.concat[4 + 3] > 40);
	for (size_t i = 0; i < 2 * 5 * 12; i++)
		ck_near(s.output[i], other.output[i], 2000 * 50);
	layer_randomize(s.layer, 4);
	ck_assert(AT(s.layer->in_bias.value, 35) != 0);
	bench_free(&s);
	bench_free(&other);
}
END_TEST

START_TEST(a_head_brings_all_of_its_biases_or_none)
{
	static const char without[] =
			"a head without biases in a layer that has them";
	struct bench s, other;

	bench_set(&s, 2, 5, 3, 4);
	bench_set(&other, 2, 5, 3, 4);
	bench_add_biases(&other);
	struct head odd = other.layer->own[2], plain = s.layer->own[2];
	struct parameter *biases[] = { &odd.query_bias, &odd.key_bias,
			&odd.value_bias };
	struct parameter *only[] = { &plain.query_bias, &plain.key_bias,
			&plain.value_bias };
	struct parameter whole = *biases[_i];

	*only[_i] = whole;
	ck_refused(layer_enter(s.layer, 1, &plain, &error), MH_ESHAPE,
			"a head with biases in a layer that has none");
	bench_add_biases(&s);
	biases[_i]->value.data = NULL;
	ck_refused(layer_enter(s.layer, 1, &odd, &error), MH_ESHAPE,
			without);
	*biases[_i] = whole;
	biases[_i]->gradient.data = NULL;
	ck_refused(layer_enter(s.layer, 1, &odd, &error), MH_ESHAPE,
			without);
	/* refuse a bias that is too short */
	*biases[_i] = whole;
	biases[_i]->value = tensor_narrow(whole.value, 0, 0, 3);
	ck_refused(layer_enter(s.layer, 1, &odd, &error), MH_ESHAPE,
			"a bias has shape (3), wanted (4)");
	*biases[_i] = whole;
	biases[_i]->gradient = tensor_narrow(whole.gradient, 0, 0, 3);
	ck_refused(layer_enter(s.layer, 1, &odd, &error), MH_ESHAPE,
			"the gradient of a bias has shape (3), wanted (4)");
	ck_assert_ptr_eq(s.layer->head[1], &s.layer->own[1]);
	bench_free(&s);
	bench_free(&other);
}
END_TEST

START_TEST(a_layer_that_cannot_have_biases_stays_what_it_was)
{
	struct bench s, other;

	bench_set(&s, 2, 5, 3, 4);
	bench_set(&other, 2, 5, 3, 4);
	ck_ok(layer_enter(s.layer, 1, &other.layer->own[2], NULL));
	ck_refused(layer_add_biases(s.layer, &error), MH_ESHAPE,
			"a head without biases in a layer that has them");
	ck_assert_ptr_null(s.layer->bias_memory);
	ck_assert_ptr_null(s.layer->own[0].key_bias.value.data);
	ck_assert_uint_eq(s.layer->registry.count, 3 * 3 + 1);
	bench_packed(&s, true);
	ck_ok(layer_enter(s.layer, 1, &s.layer->own[1], NULL));
	ck_ok(layer_add_biases(s.layer, NULL));
	bench_free(&s);
	bench_free(&other);
}
END_TEST

START_TEST(a_frame_may_have_biases_before_it_has_heads)
{
	struct layer *layer;

	ck_ok(layer_frame(12, 3, &layer, NULL));
	ck_ok(layer_add_biases(layer, NULL));
	ck_assert_uint_eq(layer->registry.count, 2);    /* out_proj's */
	ck_ok(layer_enter(layer, 1, &layer->own[1], NULL));
	ck_assert_uint_eq(layer->registry.count, 2 + 2 * 3);
	ck_assert_ptr_eq(registry_find(&layer->registry,
			"heads.1.query.bias")->parameter,
			&layer->own[1].query_bias);
	layer_free(layer);
}
END_TEST

START_TEST(the_registry_has_room_for_all_biases_and_no_more)
{
	struct layer *layer;
	struct parameter extra = { 0 };

	ck_ok(layer_create(12, 3, &layer, NULL));
	ck_ok(layer_add_biases(layer, NULL));
	ck_assert_uint_eq(layer->registry.count, 6 * 3 + 2);
	ck_refused(registry_enter(&layer->registry, "extra", &extra,
			&error), MH_EMEMORY, "no room for extra: the registry has"
			" 20 entries");
	layer_free(layer);
}
END_TEST

void packed_suite(Suite *suite)
{
	TCase *blas = tcase_create("blas");
	TCase *packed = tcase_create("packed");

	suite_add_tcase(suite, blas);
	tcase_add_loop_test(blas, blas_multiplies_any_turned_matrices, 0,
			4);
	tcase_add_test(blas, blas_refuses_what_it_cannot_read);
	tcase_add_loop_test(blas, blas_refuses_rows_that_overlap, 0, 4);
	tcase_add_test(blas, blas_leaves_a_product_without_numbers_alone);
	tcase_add_loop_test(blas,
			blas_takes_a_single_row_or_column_of_any_stride, 0, 3);
	tcase_add_test(blas,
			every_part_is_run_once_and_the_largest_status_counts);
	tcase_add_loop_test(blas, a_product_in_parts_is_the_product, 0, 8);
	suite_add_tcase(suite, packed);
	tcase_add_test(packed, a_split_undoes_a_merge_and_moves_nothing);
	tcase_add_test(packed,
			a_tensor_is_finite_if_no_element_is_otherwise);
	tcase_add_loop_test(packed,
			the_packed_path_agrees_with_loop_and_oracle, 0,
			2 * SHAPES);
	tcase_add_test(packed,
			project_then_split_is_projecting_for_each_head);
	tcase_add_test(packed, the_packed_path_follows_the_slots);
	tcase_add_loop_test(packed,
			biases_agree_with_the_oracle_on_both_paths, 0, 2 * SHAPES);
	tcase_add_test(packed,
			biases_are_in_the_registry_and_follow_the_slots);
	tcase_add_loop_test(packed,
			a_borrowed_head_whose_biases_come_or_go_is_noticed, 0, 2);
	tcase_add_test(packed, a_head_in_two_slots_gets_biases_once);
	tcase_add_test(packed, a_stack_holds_what_fits_and_nothing_else);
	tcase_add_test(packed, a_bias_of_another_length_is_not_added);
	tcase_add_test(packed, an_output_is_not_written_over_its_bias);
	tcase_add_loop_test(packed,
			a_head_brings_all_of_its_biases_or_none, 0, 3);
	tcase_add_test(packed,
			a_layer_that_cannot_have_biases_stays_what_it_was);
	tcase_add_test(packed,
			a_frame_may_have_biases_before_it_has_heads);
	tcase_add_test(packed,
			the_registry_has_room_for_all_biases_and_no_more);
	tcase_add_loop_test(packed,
			the_packed_path_takes_any_view_and_writes_contiguous_ones,
			0, 3);
	tcase_add_loop_test(packed, each_packed_result_must_be_contiguous,
			0, 4);
	tcase_add_test(packed, projections_are_kept_if_there_is_room);
	tcase_add_loop_test(packed,
			a_value_that_overflows_is_seen_where_it_is_visible, 0, 4);
	tcase_add_loop_test(packed,
			what_is_broken_behind_the_mask_stays_there_when_packed,
			0, 2);
	tcase_add_loop_test(packed,
			the_packed_path_takes_empty_input_and_does_not_grow, 0, 2);
}
