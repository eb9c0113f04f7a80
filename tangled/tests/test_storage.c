/* tests/test_storage.c: made from chapters/40-storage.nw; edit it there. */
#include "storage.h"
#include "suites.h"
#include "support.h"

/* tests of storage */
START_TEST(heads_change_entries_and_not_parameters)
{
	static const size_t heads[] = { 1, 2, 4 };
	static const size_t entries[] = { 32, 64, 128 };
	struct cost cost;

	ck_ok(storage_cost(2, 4, 8, heads[_i], &cost, NULL));
	ck_assert_uint_eq(cost.parameters, 256);
	ck_assert_uint_eq(cost.entries, entries[_i]);
	ck_assert_uint_eq(cost.products, 2 * 2 * 4 * 4 * 8);
}
END_TEST

START_TEST(counts_that_overflow_are_refused)
{
	struct cost cost;

	ck_refused(storage_cost(1, (size_t)1 << 31, 8, 2, &cost, &error),
			MH_ESIZE, "B = 1, T = 2147483648 and H = 2 make more"
			" scores than memory has addresses");
	ck_refused(storage_cost(1, (size_t)1 << 29, 64, 1, &cost, &error),
			MH_ESIZE, "B = 1, T = 536870912 and C = 64 make more"
			" multiplications than can be counted");
}
END_TEST

START_TEST(the_workspace_gives_what_the_arithmetic_says)
{
	struct usage usage = { 0 };
	size_t T = 200, C = 24, H = 3, d = 8;
	size_t square = H * T * T, wide = T * C, head = T * d;

	ck_ok(storage_measure(storage_loop, 1, T, C, H, &usage,
			NULL));
	/* Weights, output, concatenation; one head's three projections. */
	ck_assert_uint_ge(usage.asked, sizeof(real) *
			(square + 2 * wide + 3 * head));
	ck_assert_uint_le(usage.asked, sizeof(real) *
			(square + 2 * wide + 3 * head) + 6 * 64);
	ck_ok(storage_measure(storage_packed, 1, T, C, H, &usage,
			NULL));
	/* Weights, output, concatenation, qkv, and the heads before
	 * merging. */
	ck_assert_uint_ge(usage.asked, sizeof(real) * (square + 6 * wide));
	ck_assert_uint_le(usage.asked, sizeof(real) * (square + 6 * wide) +
			6 * 64);
	ck_assert_uint_ge(usage.resident, usage.asked / 2);
	ck_assert(usage.seconds > 0);
}
END_TEST

START_TEST(a_measurement_that_cannot_run_says_so)
{
	struct usage usage;

	ck_refused(storage_measure(storage_loop, 1, 3, 7, 2, &usage,
			&error), MH_ESHAPE,
			"width 7 does not divide into 2 heads");
}
END_TEST

void storage_suite(Suite *suite)
{
	TCase *storage = tcase_create("storage");

	suite_add_tcase(suite, storage);
	tcase_add_loop_test(storage,
			heads_change_entries_and_not_parameters, 0, 3);
	tcase_add_test(storage, counts_that_overflow_are_refused);
	tcase_add_test(storage,
			the_workspace_gives_what_the_arithmetic_says);
	tcase_add_test(storage, a_measurement_that_cannot_run_says_so);
}
