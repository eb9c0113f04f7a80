/* tests/test_tensors.c: made from chapters/10-tensors.nw; edit it there. */
#include "suites.h"
#include "support.h"

/* tests of tensor */
START_TEST(a_count_that_overflows_is_refused)
{
	const size_t half = SIZE_MAX / 2 + 1;
	const size_t most = PTRDIFF_MAX / sizeof(real);
	size_t count = 7;

	ck_assert(!tensor_count(2, (size_t[]){ half, 2 }, &count));
	ck_assert(!tensor_count(3, (size_t[]){ 0, half, half }, &count));
	ck_assert(!tensor_count(1, (size_t[]){ most + 1 }, &count));
	ck_assert_uint_eq(count, 7);
	ck_assert(tensor_count(1, (size_t[]){ most }, &count));
	ck_assert_uint_eq(count, most);
	ck_assert(tensor_count(3, (size_t[]){ 3, 0, 5 }, &count));
	ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(a_swap_moves_no_number)
{
	real memory[2 * 3 * 5];
	struct tensor t = counted(memory, 3, (size_t[]){ 2, 3, 5 });
	struct tensor swapped = tensor_swap(t, 0, 2);

	ck_assert(swapped.data == memory);
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < 3; j++)
			for (size_t k = 0; k < 5; k++)
				ck_assert(&AT(swapped, k, j, i) ==
						&memory[(i * 3 + j) * 5 + k]);
}
END_TEST

START_TEST(a_slice_of_a_narrowed_axis_begins_where_it_should)
{
	real memory[4 * 7];
	struct tensor t = counted(memory, 2, (size_t[]){ 4, 7 });
	struct tensor column = tensor_slice(tensor_narrow(t, 1, 3, 2), 1,
			1);

	ck_assert_int_eq(column.rank, 1);
	ck_assert_uint_eq(column.shape[0], 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert(AT(column, i) == memory[7 * i + 4]);
}
END_TEST

START_TEST(swapped_axes_do_not_merge_and_the_sentence_says_why)
{
	real memory[3 * 2 * 5];
	struct tensor t = counted(memory, 3, (size_t[]){ 3, 2, 5 }), merged;

	ck_refused(tensor_merge(tensor_swap(t, 0, 1), 1, &merged, &error),
			MH_ESHAPE, "axes 1 and 2 are not adjacent in "
			"memory: strides 10 and 1, lengths 3 and 5");
}
END_TEST

START_TEST(a_contiguous_copy_has_the_order_of_the_view_and_merges)
{
	real memory[3 * 2 * 5], copy[3 * 2 * 5];
	struct tensor t = counted(memory, 3, (size_t[]){ 3, 2, 5 }), merged;
	struct tensor swapped = tensor_swap(t, 0, 1);

	ck_assert(!tensor_is_contiguous(swapped));
	ck_ok(tensor_merge(tensor_contiguous(swapped, copy), 1, &merged,
			NULL));
	ck_assert(tensor_is_contiguous(merged));
	ck_assert_uint_eq(merged.shape[1], 15);
	for (size_t i = 0; i < 2; i++)
		for (size_t n = 0; n < 15; n++)
			ck_assert(AT(merged, i, n) ==
					memory[(n / 5 * 2 + i) * 5 + n % 5]);
}
END_TEST

START_TEST(an_axis_of_one_step_merges_whatever_its_stride)
{
	real memory[6];
	struct tensor t = counted(memory, 3, (size_t[]){ 1, 3, 2 }), merged;

	t.stride[0] = 77;
	ck_ok(tensor_merge(t, 0, &merged, NULL));
	ck_assert_uint_eq(merged.shape[0], 3);
	ck_assert_int_eq(merged.stride[0], 2);
	t = tensor_swap(t, 0, 1);               /* (3, 1, 2) */
	ck_ok(tensor_merge(t, 0, &merged, NULL));
	ck_assert_int_eq(merged.stride[0], 2);
	t.shape[0] = t.shape[1] = (size_t)1 << 32;
	t.stride[0] = t.stride[1] = 0;
	ck_refused(tensor_merge(t, 0, &merged, &error), MH_ESIZE,
			"4294967296 times 4294967296 is too long an axis");
	t.shape[0] = 3;
	t.shape[1] = 0;                         /* (3, 0, 2) */
	ck_ok(tensor_merge(t, 0, &merged, NULL));
	ck_assert_uint_eq(merged.shape[0], 0);
}
END_TEST

START_TEST(two_rows_that_lie_apart_merge_only_if_they_are_empty)
{
	real memory[2 * 6];
	struct tensor t = counted(memory, 2, (size_t[]){ 2, 6 }), merged;

	ck_refused(tensor_merge(tensor_narrow(t, 1, 0, 3), 0, &merged,
			&error), MH_ESHAPE, "axes 0 and 1 are not adjacent in "
			"memory: strides 6 and 1, lengths 2 and 3");
	ck_ok(tensor_merge(tensor_narrow(t, 1, 0, 0), 0, &merged, NULL));
	ck_assert_uint_eq(merged.shape[0], 0);
}
END_TEST

START_TEST(reversed_and_broadcast_views_copy_what_they_show)
{
	real memory[3 * 5], copy[3 * 5];
	struct tensor t = counted(memory, 2, (size_t[]){ 3, 5 });

	t.data += 4;            /* the end of the first row */
	t.stride[0] = 0;        /* three times that row, */
	t.stride[1] = -1;       /* each time backward */
	tensor_contiguous(t, copy);
	for (size_t n = 0; n < 15; n++)
		ck_assert(copy[n] == memory[4 - n % 5]);
}
END_TEST

START_TEST(short_axes_are_no_obstacle)
{
	real memory[15], copy[1] = { 7 };
	struct tensor t = counted(memory, 2, (size_t[]){ 1, 3 });

	t.stride[0] = 77;               /* never stepped along */
	ck_assert(tensor_is_contiguous(t));
	t.stride[1] = 2;
	ck_assert(!tensor_is_contiguous(t));
	t = tensor_view(memory, 3, (size_t[]){ 3, 0, 5 });
	ck_assert_int_eq(t.stride[0], 5);
	tensor_contiguous(t, copy);
	ck_assert(copy[0] == 7);        /* nothing was copied */
}
END_TEST

START_TEST(what_shares_an_element_overlaps_and_nothing_else_does)
{
	real memory[24];
	struct tensor t = counted(memory, 2, (size_t[]){ 4, 6 });
	struct tensor left = tensor_narrow(t, 1, 0, 3), odd;
	struct tensor back = left;

	ck_assert(!tensor_overlaps(left, tensor_narrow(t, 1, 3, 3)));
	ck_assert(!tensor_overlaps(tensor_narrow(t, 1, 3, 3), left));
	ck_assert(tensor_overlaps(left, tensor_narrow(t, 1, 2, 3)));
	ck_assert(tensor_overlaps(tensor_narrow(t, 1, 2, 3), left));
	ck_assert(!tensor_overlaps(tensor_narrow(t, 0, 0, 2),
			tensor_narrow(t, 0, 2, 2)));
	ck_assert(tensor_overlaps(tensor_narrow(t, 0, 0, 3),
			tensor_narrow(t, 0, 2, 2)));
	back.data += 3 * 6, back.stride[0] = -6;
	ck_assert(tensor_overlaps(left, back));
	ck_assert(!tensor_overlaps(back, tensor_narrow(t, 1, 3, 3)));
	ck_assert(tensor_overlaps(back, tensor_narrow(t, 0, 0, 1)));
	back.stride[0] = back.stride[1] = 0;
	ck_assert(tensor_overlaps(back, left));
	odd = tensor_slice(tensor_slice(t, 0, 2), 0, 4);
	ck_assert(!tensor_overlaps(left, odd) && tensor_overlaps(t, odd));
	odd.data -= 2;
	ck_assert(tensor_overlaps(left, odd));
	odd = tensor_narrow(tensor_slice(t, 0, 1), 0, 3, 3);
	ck_assert(!tensor_overlaps(odd, left) &&
			tensor_overlaps(odd, tensor_narrow(t, 1, 1, 3)));
	ck_assert(!tensor_overlaps(t, tensor_narrow(t, 1, 0, 0)));
	/* a view that begins inside a number overlaps it */
	odd.data = (real *)(void *)((char *)memory + 1);
	ck_assert(tensor_overlaps(tensor_slice(t, 0, 0), odd));
	odd.data = (real *)(void *)((char *)memory + 6 * sizeof(real) - 1);
	ck_assert(tensor_overlaps(tensor_slice(t, 0, 0), odd));
	ck_assert(tensor_overlaps(tensor_slice(t, 0, 1), odd));
	odd.data = NULL;
	ck_assert(!tensor_overlaps(t, odd));
}
END_TEST

START_TEST(a_view_overlaps_itself_by_a_stride_that_is_too_small)
{
	real memory[64];
	struct tensor t = counted(memory, 3, (size_t[]){ 2, 3, 4 });

	ck_assert(!tensor_overlaps_itself(t));
	ck_assert(!tensor_overlaps_itself(tensor_swap(t, 0, 2)));
	t.stride[_i] = 0;
	ck_assert(tensor_overlaps_itself(t));
	ck_assert(!tensor_overlaps_itself(tensor_narrow(t, _i, 1, 1)));
	t = tensor_view(memory, 3, t.shape);
	t.stride[0] = 11;               /* of rows that reach 11 */
	ck_assert(tensor_overlaps_itself(t));
	t.stride[0] = -12;
	ck_assert(!tensor_overlaps_itself(t));
	t.stride[1] = 3;
	ck_assert(tensor_overlaps_itself(t));
	t.stride[1] = 12;
	ck_assert(tensor_overlaps_itself(t));   /* two axes alike */
	t.stride[1] = -24;
	ck_assert(!tensor_overlaps_itself(t));
	t.stride[_i] = 0;
	t.shape[(_i + 1) % 3] = 0;      /* nothing to meet */
	ck_assert(!tensor_overlaps_itself(t));
	t = (struct tensor){ memory, 2, { 2, SIZE_MAX / 4 + 2 }, { 8, 4 } };
	ck_assert(tensor_overlaps_itself(t));   /* 4 * 2^62 wraps to 0 */
}
END_TEST

START_TEST(what_is_written_must_keep_clear_of_all_else)
{
	real memory[24];
	struct tensor t = counted(memory, 2, (size_t[]){ 4, 6 });
	struct tensor a = tensor_narrow(t, 0, 0, 2);
	struct tensor b = tensor_narrow(t, 0, 1, 2);
	struct tensor c = tensor_narrow(t, 0, 3, 1);
	struct tensor_use uses[] = { { "a", &a, false },
			{ "b", &b, false } };
	struct tensor_use others[] = { { "c", &c, false } };

	ck_ok(tensor_expect_apart(uses, 2, others, 1, NULL));
	uses[_i].written = true;
	ck_refused(tensor_expect_apart(uses, 2, others, 1, &error),
			MH_ESHAPE, _i ? "b overlaps a" : "a overlaps b");
	b = tensor_narrow(t, 0, 2, 1);
	ck_ok(tensor_expect_apart(uses, 2, others, 1, NULL));
	c = tensor_narrow(t, 0, _i, 2);
	ck_refused(tensor_expect_apart(uses + _i, 1, others, 1, &error),
			MH_ESHAPE, _i ? "b overlaps c" : "a overlaps c");
	uses[_i].written = false;
	ck_ok(tensor_expect_apart(uses, 2, others, 1, NULL));
	others[0].written = true;
	ck_refused(tensor_expect_apart(uses, 2, others, 1, &error),
			MH_ESHAPE, "c overlaps a");
	/* refuse what overlaps itself, and what no memory could hold */
	b = (struct tensor){ NULL, 3, { 0, SIZE_MAX / 2, 8 },
			{ PTRDIFF_MAX / 2, PTRDIFF_MAX / 2, 1 } };
	ck_ok(tensor_expect_apart(uses, 2, NULL, 0, NULL));     /* empty */
	uses[1].written = true;
	b = t;
	b.stride[0] = 5;
	ck_refused(tensor_expect_apart(uses + 1, 1, NULL, 0, &error),
			MH_ESHAPE, "b overlaps itself");
	b.shape[0] = (size_t)1 << 62;
	ck_refused(tensor_expect_apart(uses + 1, 1, NULL, 0, &error),
			MH_ESIZE, "b of shape (4611686018427387904, 6) is larger than"
			" memory could be");
	c.stride[0] = PTRDIFF_MIN;
	c.shape[0] = 2;
	b = tensor_narrow(t, 0, 0, 1);
	ck_refused(tensor_expect_apart(uses + 1, 1, others, 1, &error),
			MH_ESIZE, "c of shape (2, 6) is larger than memory could be");
	ck_assert(tensor_overlaps(b, c) && tensor_overlaps(c, b));
	ck_refused(tensor_expect_apart(uses, TENSOR_USES + 1, NULL, 0, &error),
			MH_ESIZE, "13 tensors at once, at most 12 are compared");
}
END_TEST

START_TEST(a_product_of_views_agrees_with_the_definition)
{
	enum { M = 3, K = 7, N = 4 };
	real left[K * M], right[N * K], result[M * N];
	/* Both factors are read through swapped axes. */
	struct tensor a = tensor_swap(
		noise(left, 2, (size_t[]){ K, M }, 1), 0, 1);
	struct tensor b = tensor_swap(
		noise(right, 2, (size_t[]){ N, K }, 2), 0, 1);
	struct tensor out = tensor_view(result, 2, (size_t[]){ M, N });

	ck_ok(tensor_product(a, b, out, NULL));
	for (size_t i = 0; i < M; i++)
		for (size_t j = 0; j < N; j++) {
			long double sum = 0;

			for (size_t k = 0; k < K; k++)
				sum += (long double)left[k * M + i] *
				       right[j * K + k];
			ck_near(result[i * N + j], sum, K * K);
		}
}
END_TEST

START_TEST(products_that_do_not_fit_are_refused)
{
	real memory[48];
	struct tensor a = counted(memory, 2, (size_t[]){ 2, 3 });
	struct tensor b = counted(memory, 2, (size_t[]){ 4, 5 });
	struct tensor c = counted(memory, 2, (size_t[]){ 3, 5 });

	ck_refused(tensor_product(a, b, c, &error), MH_ESHAPE,
			"(2, 3) times (4, 5): the inner lengths differ");
	ck_refused(tensor_product(a, c, b, &error), MH_ESHAPE,
			"the product is (2, 5), the result has (4, 5)");
	ck_refused(tensor_product(tensor_slice(a, 0, 0), c, b, &error),
			MH_ESHAPE,
			"a product takes matrices, got ranks 1, 2 and 2");
	ck_refused(tensor_product(a, tensor_view(memory, 3, (size_t[]){
			3, 5, 1 }), c, &error), MH_ESHAPE,
			"a product takes matrices, got ranks 2, 3 and 2");
	ck_refused(tensor_product(a, c, tensor_view(memory, 3, (size_t[]){
			2, 5, 1 }), &error), MH_ESHAPE,
			"a product takes matrices, got ranks 2, 2 and 3");
	ck_refused(tensor_product(a, c, a, &error), MH_ESHAPE,
			"the product is (2, 5), the result has (2, 3)");
	ck_refused(tensor_expect(a, "x", 1, (size_t[]){ 2 }, &error),
			MH_ESHAPE, "x has shape (2, 3), wanted (2)");
	ck_refused(tensor_expect(a, "x", 3, (size_t[]){ 1, 2, 3 }, &error),
			MH_ESHAPE, "x has shape (2, 3), wanted (1, 2, 3)");
	/* refuse a product over itself, and matrices without data */
	struct tensor out = tensor_view(memory + 5, 2, (size_t[]){ 2, 5 });

	c.data = memory + 24;
	ck_refused(tensor_product(a, c, out, &error), MH_ESHAPE,
			"the product overlaps a factor");
	out.data = memory + 15;
	ck_refused(tensor_product(a, c, out, &error), MH_ESHAPE,
			"the product overlaps another factor");
	a.data = NULL;
	ck_refused(tensor_product(a, c, out, &error), MH_ESHAPE,
			"a matrix of a product has elements and no data");
	ck_refused(tensor_expect(a, "x", 2, a.shape, &error), MH_ESHAPE,
			"x has elements but no data");
	ck_ok(tensor_expect(tensor_narrow(a, 0, 0, 0), "x", 2,
			(size_t[]){ 0, 3 }, NULL));
	ck_assert_ptr_null(tensor_slice(a, 0, 1).data);
	ck_assert_ptr_null(tensor_narrow(a, 1, 2, 0).data);
	a.rank = 5;
	ck_refused(tensor_expect(a, "x", 2, a.shape, &error), MH_ESHAPE,
			"x has shape of rank 5, wanted (2, 3)");
}
END_TEST

START_TEST(a_view_is_filled_and_what_lies_around_it_is_not)
{
	real memory[4 * 5];
	struct tensor t = counted(memory, 2, (size_t[]){ 4, 5 });
	struct tensor inner = tensor_swap(tensor_narrow(
			tensor_narrow(t, 0, 1, 2), 1, 2, 3), 0, 1);
	struct random random = { 8 }, again = { 8 };

	tensor_fill(inner, -7);
	for (size_t i = 0; i < 20; i++) {
		bool within = i / 5 >= 1 && i / 5 < 3 && i % 5 >= 2;

		ck_assert(memory[i] == (within ? -7 : (real)i));
	}
	tensor_randomize(inner, &random, 3);
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 2; j++)
			ck_assert(AT(t, j + 1, i + 2) ==
					random_uniform(&again, -3, 3));
	inner.shape[1] = 0;
	tensor_fill(inner, 9);
	tensor_randomize(inner, &random, 3);
	ck_assert(memory[7] != 9);
	ck_assert(random.state == again.state);
	tensor_fill(tensor_slice(tensor_slice(t, 0, 3), 0, 0), 9);
	ck_assert(memory[15] == 9 && memory[16] == 16);
}
END_TEST

START_TEST(the_generator_is_splitmix64)
{
	static const uint64_t published[] = {
		UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
		UINT64_C(9817491932198370423)
	};
	struct random random = { 1234567 };

	for (int i = 0; i < 3; i++)
		ck_assert(random_uniform(&random, 0, 1) ==
				(real)((double)(published[i] >> 11) * 0x1p-53));
}
END_TEST

START_TEST(a_distance_is_that_of_the_farthest_elements)
{
	real one[6], two[6];
	struct tensor a = counted(one, 2, (size_t[]){ 2, 3 });
	struct tensor b = tensor_swap(counted(two, 2, (size_t[]){ 3, 2 }),
			0, 1);

	ck_assert(tensor_distance(a, a) == 0);
	ck_assert(tensor_distance(a, b) == 2);  /* 3 and 1, at (1, 0) */
	AT(b, 1, 2) = -4;
	ck_assert(tensor_distance(a, b) == 9 && tensor_distance(b, a) == 9);
	AT(b, 0, 1) = (real)NAN;
	ck_assert(isnan(tensor_distance(a, b)));
}
END_TEST

START_TEST(a_maximum_does_not_lose_what_is_broken)
{
	ck_assert(larger(2, 3) == 3 && larger(3, 2) == 3);
	ck_assert(isnan(larger(2, (real)NAN)));
	ck_assert(isnan(larger((real)NAN, 2)));
}
END_TEST

START_TEST(random_numbers_fill_their_interval)
{
	struct random random = { 3 };
	real least = 9, most = -9, sum = 0;

	for (int i = 0; i < 4000; i++) {
		real x = random_uniform(&random, -2, 5);

		least = x < least ? x : least;
		most = x > most ? x : most;
		sum += x / 4000;
	}
	ck_assert(least >= -2 && least < (real)-1.9);
	ck_assert(most <= 5 && most > (real)4.9);
	/* The mean of n uniform numbers has deviation 7 / sqrt(12 n). */
	ck_assert(fabs(sum - (real)1.5) < 5 * (real)7 / sqrt((real)48000));
}
END_TEST

void tensors_suite(Suite *suite)
{
	TCase *views = tcase_create("views");
	TCase *numbers = tcase_create("numbers");

	suite_add_tcase(suite, views);
	tcase_add_test(views, a_swap_moves_no_number);
	tcase_add_test(views,
			a_slice_of_a_narrowed_axis_begins_where_it_should);
	tcase_add_test(views,
			swapped_axes_do_not_merge_and_the_sentence_says_why);
	tcase_add_test(views,
			a_contiguous_copy_has_the_order_of_the_view_and_merges);
	tcase_add_test(views,
			an_axis_of_one_step_merges_whatever_its_stride);
	tcase_add_test(views,
			reversed_and_broadcast_views_copy_what_they_show);
	tcase_add_test(views,
			two_rows_that_lie_apart_merge_only_if_they_are_empty);
	tcase_add_test(views, short_axes_are_no_obstacle);
	tcase_add_test(views, a_count_that_overflows_is_refused);
	tcase_add_test(views,
			what_shares_an_element_overlaps_and_nothing_else_does);
	tcase_add_loop_test(views,
			a_view_overlaps_itself_by_a_stride_that_is_too_small, 0, 3);
	tcase_add_loop_test(views,
			what_is_written_must_keep_clear_of_all_else, 0, 2);
	suite_add_tcase(suite, numbers);
	tcase_add_test(numbers,
			a_product_of_views_agrees_with_the_definition);
	tcase_add_test(numbers, products_that_do_not_fit_are_refused);
	tcase_add_test(numbers, the_generator_is_splitmix64);
	tcase_add_test(numbers, a_maximum_does_not_lose_what_is_broken);
	tcase_add_test(numbers,
			a_distance_is_that_of_the_farthest_elements);
	tcase_add_test(numbers, random_numbers_fill_their_interval);
	tcase_add_test(numbers,
			a_view_is_filled_and_what_lies_around_it_is_not);
}
