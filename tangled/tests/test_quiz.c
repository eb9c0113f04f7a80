/* tests/test_quiz.c: made from chapters/72-check-yourself.nw; edit it there. */
#define _DEFAULT_SOURCE
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "quiz.h"
#include "suites.h"
#include "support.h"

/* tests of quiz */
START_TEST(every_number_of_every_text_is_recorded)
{
	const struct question *q;
	const struct card *c;
	struct facts facts;
	char filled[QUIZ_TEXT];
	size_t i, items;

	ck_ok(facts_take(&facts, NULL));
	for (i = 0; (q = quiz_question(i)); i++) {
		ck_ok(facts_fill(&facts, q->prompt, filled, NULL));
		ck_ok(facts_fill(&facts, q->answer, filled, NULL));
		ck_assert_ptr_null(strpbrk(filled, "{}"));
		for (items = 0; q->rubric[items].text; items++)
			ck_assert(q->apply ? q->rubric[items].ask &&
					q->rubric[items].reply : !q->rubric[items].ask);
		ck_assert_uint_ge(items, 3);
	}
	ck_assert_uint_eq(i, 9);
	for (i = 0; (c = quiz_card(i)); i++) {
		ck_ok(facts_fill(&facts, c->front, filled, NULL));
		ck_ok(facts_fill(&facts, c->back, filled, NULL));
	}
	ck_assert_uint_ge(i, 15);
	facts_free(&facts);
}
END_TEST

START_TEST(a_number_is_written_as_on_the_page)
{
	struct facts facts = { (char[]){ "a.b\t1234567\t1\texact\tx:1\n"
			"a.b.c\t-0.12345678\t1\tvalue\tx:2\n"
			"d\t-262144\tB\texact\tx:3\n" } };
	char filled[QUIZ_TEXT], wide[QUIZ_TEXT + 1];

	ck_ok(facts_fill(&facts, "{a.b:-} and {a.b.c:-}, {a.b.c:2}; {d:1}",
			filled, NULL));
	ck_assert_str_eq(filled, "1,234,567 and -0.123457, -0.12;"
			" -262,144.0");
	ck_refused(facts_fill(&facts, "x {a.c:-}", filled, &error),
			MH_EFORMAT, "no value is recorded under a.c");
	memset(wide, 'x', QUIZ_TEXT);
	wide[QUIZ_TEXT] = '\0';
	ck_refused(facts_fill(&facts, wide, filled, &error), MH_EFORMAT,
			"a text is too long");
	wide[QUIZ_TEXT - 1] = '\0';
	ck_ok(facts_fill(&facts, wide, filled, NULL));
}
END_TEST

static char *quiz_said;

/* Let a reader type something into a session. */
static struct quiz quiz_session(const char *typed, const char *name)
{
	struct quiz quiz = { 0 };
	size_t size;

	quiz.in = fmemopen((void *)(uintptr_t)typed, strlen(typed), "r");
	quiz.out = open_memstream(&quiz_said, &size);
	ck_ok(quiz_run(&quiz, name, NULL));
	fclose(quiz.in);
	fclose(quiz.out);
	return quiz;
}

START_TEST(the_reader_marks_and_the_program_counts)
{
	struct quiz quiz = quiz_session("all of them\n\ny\nmaybe\n\n"
			"y and n\n No\nYES \n", "full-width");

	ck_assert_ptr_nonnull(strstr(quiz_said, "Write y or n"));
	ck_assert_ptr_nonnull(strstr(quiz_said, "To read again"));
	ck_assert_uint_eq(quiz.found, 2);
	ck_assert_uint_eq(quiz.items, 3);
	ck_assert(!quiz.ended);
	ck_assert_ptr_nonnull(strstr(quiz_said, "Nobody has read yours"));
	ck_assert_ptr_nonnull(strstr(quiz_said,
			"By your own marks, 2 of 3"));
	free(quiz_said);
	quiz = quiz_session("all\n\ny\nn\ns\nq\n", NULL);
	ck_assert_uint_eq(quiz.items, 2);
	ck_assert_uint_eq(quiz.asked, 2);
	ck_assert_uint_eq(quiz.misses, 1);
	ck_assert(quiz.stopped);
	ck_assert_ptr_nonnull(strstr(quiz_said,
			"marks, 1 of 2 found.\n  missed in full-width:"));
	free(quiz_said);
	quiz = quiz_session("s\nsome\nq\n", NULL);
	ck_assert_uint_eq(quiz.asked, 2);
	ck_assert_ptr_null(strstr(quiz_said, "Our answer"));
	free(quiz_said);
	quiz = quiz_session("all\n\ny\nY\nyes\n", "full-width");
	ck_assert_uint_eq(quiz.found, 3);
	ck_assert_ptr_null(strstr(quiz_said, "To read again"));
	free(quiz_said);
}
END_TEST

START_TEST(a_gap_is_followed_up_at_once_and_alone)
{
	struct quiz quiz = quiz_session("because\n\ny\nn\nthe last\n\ny\n",
			"several-mixtures");
	const char *first = strstr(quiz_said, "Over which axis");

	ck_assert(quiz.ended);
	ck_assert_uint_eq(quiz.found, 2);
	ck_assert_uint_eq(quiz.items, 3);
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_null(strstr(quiz_said, "If both heads had"));
	ck_assert_ptr_null(strstr(quiz_said, "I double one"));
	ck_assert_ptr_nonnull(strstr(first, "> the last"));
	ck_assert_ptr_nonnull(strstr(strstr(first, "> the last"),
			"Over the sources, the last axis."));
	free(quiz_said);
	quiz = quiz_session("because\n\ny\ny\ny\ny\nso\n\ny\ny\ny\ny\n",
			"several-mixtures");
	ck_assert_uint_eq(quiz.found, 8);
	first = strstr(quiz_said, "Now a case");
	ck_assert_ptr_nonnull(first);
	ck_assert(strstr(quiz_said, "Our answer") > first);
	ck_assert(strstr(quiz_said, "Explanation: 4 of 4") < first);
	ck_assert_ptr_nonnull(strstr(first, "Application: 4 of 4"));
	free(quiz_said);
}
END_TEST

START_TEST(a_query_of_the_other_sign_exchanges_the_mixtures)
{
	struct fixture f, other;

	fixture_set(&f);
	fixture_set(&other);
	other.x[2][0] = -other.x[2][0];
	ck_ok(fixture_run_layer(&f, NULL));
	ck_ok(fixture_run_layer(&other, NULL));
	for (int c = 0; c < FIXTURE_C; c++) {
		int sign = c == 0 || c == 3 ? 1 : -1;

		ck_near(other.concat[2][c], f.concat[2][(c + 2) % 4], 16);
		ck_near(other.projected[2][c], sign * f.projected[2][c], 16);
	}
}
END_TEST

START_TEST(the_end_of_the_input_ends_a_session)
{
	struct quiz quiz = quiz_session("I began to", NULL);

	ck_assert(quiz.ended);
	ck_assert_uint_eq(quiz.asked, 1);
	ck_assert_uint_eq(quiz.items, 0);
	ck_assert_ptr_nonnull(strstr(quiz_said, "Our answer"));
	ck_assert_ptr_nonnull(strstr(quiz_said, "The input has ended."));
	ck_assert_ptr_null(strstr(quiz_said, "found in yours"));
	free(quiz_said);
	quiz_session("", "full-width");
	ck_assert_ptr_null(strstr(quiz_said, "Our answer"));
	free(quiz_said);
	quiz = (struct quiz){ .in = stdin, .out = stdout };
	ck_refused(quiz_run(&quiz, "nothing", &error), MH_EFORMAT,
			"no question is called 'nothing'; --list names them");
}
END_TEST

START_TEST(what_is_written_for_others_can_be_read)
{
	char *text, *line;
	size_t size, lines = 0;
	FILE *out = open_memstream(&text, &size);

	ck_ok(quiz_json(out, NULL));
	fclose(out);
	json_t *list = json_loads(text, 0, NULL);

	ck_assert_uint_eq(json_array_size(list), 8);
	ck_assert_str_eq(json_string_value(json_object_get(
			json_array_get(list, 3), "id")), "more-heads");
	json_decref(list);
	free(text);
	out = open_memstream(&text, &size);
	ck_ok(quiz_cards(out, NULL));
	fclose(out);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		size_t tabs = 0;

		for (const char *c = line; *c; c++)
			tabs += *c == '\t';
		ck_assert_uint_eq(tabs, *line == '#' ? 0 : 4);
		lines += *line != '#';
	}
	ck_assert_uint_ge(lines, 8 + 15);
	free(text);
}
END_TEST

void quiz_suite(Suite *suite)
{
	TCase *quiz = tcase_create("quiz");

	suite_add_tcase(suite, quiz);
	tcase_add_test(quiz, every_number_of_every_text_is_recorded);
	tcase_add_test(quiz, a_number_is_written_as_on_the_page);
	tcase_add_test(quiz, the_reader_marks_and_the_program_counts);
	tcase_add_test(quiz, a_gap_is_followed_up_at_once_and_alone);
	tcase_add_test(quiz,
			a_query_of_the_other_sign_exchanges_the_mixtures);
	tcase_add_test(quiz, the_end_of_the_input_ends_a_session);
	tcase_add_test(quiz, what_is_written_for_others_can_be_read);
}
