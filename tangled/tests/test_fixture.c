/* tests/test_fixture.c: made from chapters/20-fixture.nw; edit it there. */
#include "fixture.h"
#include "suites.h"
#include "support.h"

/* tests of the fixture */
static void ck_row(const real *row, int n, const double wanted[])
{
	for (int i = 0; i < n; i++)
		ck_near(row[i], wanted[i], 8);
}

START_TEST(the_last_position_is_what_the_pencil_says)
{
	struct fixture f;

	fixture_set(&f);
	ck_ok(fixture_run_heads(&f, NULL));
	ck_row(f.weights[0][2], 3, (double[]){ 1/7., 2/7., 4/7. });
	ck_row(f.weights[1][2], 3, (double[]){ 4/7., 2/7., 1/7. });
	ck_row(f.output[0][2], 2, (double[]){ 26/7., 16/7. });
	ck_row(f.output[1][2], 2, (double[]){ 14/7., 10/7. });
}
END_TEST

START_TEST(earlier_positions_see_only_what_came_before)
{
	struct fixture f;

	fixture_set(&f);
	ck_ok(fixture_run_heads(&f, NULL));
	for (int h = 0; h < 2; h++)
		ck_row(f.weights[h][0], 3, (double[]){ 1, 0, 0 });
	ck_row(f.weights[0][1], 3, (double[]){ 1/3., 2/3., 0 });
	ck_row(f.weights[1][1], 3, (double[]){ 2/3., 1/3., 0 });
	ck_row(f.output[0][1], 2, (double[]){ 2/3., 8/3. });
	ck_row(f.output[1][1], 2, (double[]){ 4/3., 4/3. });
}
END_TEST

START_TEST(a_head_follows_the_feature_and_not_the_place)
{
	struct fixture f;

	fixture_set(&f);
	for (int c = 0; c < FIXTURE_C; c++) {   /* exchange rows 0 and 1 */
		real first = f.x[0][c];

		f.x[0][c] = f.x[1][c];
		f.x[1][c] = first;
	}
	ck_ok(fixture_run_heads(&f, NULL));
	ck_row(f.weights[0][2], 3, (double[]){ 2/7., 1/7., 4/7. });
	ck_row(f.output[0][2], 2, (double[]){ 26/7., 16/7. });
}
END_TEST

START_TEST(a_silent_query_makes_both_heads_uniform)
{
	struct fixture f;

	fixture_set(&f);
	fixture_silence(&f);
	ck_assert(f.x[1][0] == 0 && f.x[1][1] != 0);
	ck_ok(fixture_run_heads(&f, NULL));
	for (int h = 0; h < FIXTURE_H; h++) {
		ck_row(f.weights[h][2], 3, (double[]){ 1/3., 1/3., 1/3. });
		ck_row(f.output[h][2], 2, (double[]){ 8/3., 2 });
	}
}
END_TEST

void fixture_suite(Suite *suite)
{
	TCase *fixture = tcase_create("fixture");

	suite_add_tcase(suite, fixture);
	tcase_add_test(fixture, the_last_position_is_what_the_pencil_says);
	tcase_add_test(fixture,
			earlier_positions_see_only_what_came_before);
	tcase_add_test(fixture,
			a_head_follows_the_feature_and_not_the_place);
	tcase_add_test(fixture, a_silent_query_makes_both_heads_uniform);
}
