/* tests/test_thoughts.c: made from chapters/70-real-world.nw; edit it there. */
#include "suites.h"
#include "support.h"
#include "thoughts.h"

START_TEST(each_mistaken_thought_is_refuted)
{
	struct thoughts t;

	ck_ok(thoughts_observe(&t, NULL));
	ck_assert(t.slice > (real)0.01);
	ck_assert(t.concat_other == 0);
	ck_assert(t.concat_output > (real)0.01);
	ck_assert(t.distance > (real)0.01 && t.distance < 1);
	ck_assert(t.projected_past == 0);
	ck_assert(t.weights_moved == 0);
	ck_assert(t.output_moved > 1);
}
END_TEST

void thoughts_suite(Suite *suite)
{
	TCase *thoughts = tcase_create("thoughts");

	suite_add_tcase(suite, thoughts);
	tcase_add_test(thoughts, each_mistaken_thought_is_refuted);
}
