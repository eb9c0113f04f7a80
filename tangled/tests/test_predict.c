/* tests/test_predict.c: made from chapters/74-predict.nw; edit it there. */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "predict.h"
#include "suites.h"

/* tests of predictions */
START_TEST(numbers_are_read_as_people_write_them)
{
	static const struct { const char *line; int count; double last; }
	good[] = {
		{ "26/7", 1, 26 / 7. }, { "[3.71, 2.29]", 2, 2.29 },
		{ " -1/3;+.5\t7. ", 3, 7 }, { "1 2 3 4 5", 5, 0 },
		{ "", 0, 0 }, { "(262144)", 1, 262144 }, { "-3/-4", 1, 0.75 },
		{ "1 38.5%", 2, 0.385 }, { "262,144", 2, 144 },
		{ "2^18", 1, 262144 }, { "4*65536", 1, 262144 },
		{ "2*3/7", 1, 6 / 7. }, { "1/2^3", 1, 0.125 },
		{ "-2^2", 1, -4 }, { "4*2^8*.5", 1, 512 }
	};
	static const char *const bad[] = {
		"seven", "1/0", "1/", "/7", "0x10", "1e5", "nan", "inf", "-",
		".", "1.2.3", "1/2/3", "2 and 3", "--1", "0/0", "%", "1%2",
		"1/2%", "2^", "2^-1", "2^.5", "2^1000", "*3", "3*", "2**3",
		"9^999", "256KiB",
		"1234567890123456789012345678901234567890"
	};
	struct reply_number numbers[4];

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		int n = reply_numbers(good[i].line, numbers, 4);

		ck_assert_int_eq(n, good[i].count);
		if (n > 0 && n <= 4)
			ck_assert_double_eq_tol(numbers[n - 1].value,
					good[i].last, 1e-15);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ck_assert_msg(reply_numbers(bad[i], numbers, 4) == -1, "%s",
				bad[i]);
}
END_TEST

START_TEST(a_rounded_number_is_right_and_a_vague_one_is_not)
{
	static const struct { const char *typed; double truth; bool means; }
	cases[] = {
		{ "26/7", 26 / 7., true }, { "3.714", 26 / 7., true },
		{ "3.71", 26 / 7., true }, { "3.7", 26 / 7., true },
		{ "4", 26 / 7., false }, { "3.72", 26 / 7., false },
		{ "3.7142", 26 / 7., false }, { "0.14", 1 / 7., true },
		{ "0.1", 1 / 7., false }, { "2", 2, true }, { "2.0", 2, true },
		{ "262144", 262144, true }, { "262145", 262144, false },
		{ "2359295", 2359296, false }, { "2359296", 2359296, true },
		{ "38%", 5 / 13., true }, { "39%", 5 / 13., false },
		{ "-0.33", -1 / 3., true }, { "0.33", -1 / 3., false }
	};
	struct reply_number number;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		ck_assert_int_eq(reply_numbers(cases[i].typed, &number, 1), 1);
		ck_assert_msg(reply_means(&number, cases[i].truth) ==
				cases[i].means, "%s", cases[i].typed);
	}
}
END_TEST

START_TEST(a_vague_number_may_be_right_and_another_not)
{
	static const struct { const char *typed; double truth; bool may; }
	cases[] = {
		{ "4", 26 / 7., true }, { "3", 26 / 7., false },
		{ "0.4", 5 / 13., true }, { "0.3", 5 / 13., false },
		{ "4.0", 26 / 7., false }, { "15/4", 26 / 7., false },
		{ "0.14", 1 / 7., true }, { "5", 4, false }
	};
	struct reply_number number;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		ck_assert_int_eq(reply_numbers(cases[i].typed, &number, 1), 1);
		ck_assert_msg(reply_rounds(&number, cases[i].truth) ==
				cases[i].may, "%s", cases[i].typed);
	}
}
END_TEST

START_TEST(signs_and_commas_are_read_as_they_were_meant)
{
	static const struct { const char *line, *plain, *whole, *other; }
	cases[] = {
		{ "1,234,567", "1,234,567", "1234567", "1.234.567" },
		{ "1,2345 ,678 12,34", "1,2345 ,678 12,34",
			"1,2345 ,678 12,34", "1.2345 ,678 12.34" },
		{ "0,222", "0,222", "0,222", "0.222" },
		{ "3,5, 2", "3,5, 2", "3,5, 2", "3.5, 2" },
		{ " 1 / 3 2 ^ 18", " 1/3 2^18", NULL, NULL },
		{ "4 \xc3\x97 5\xc2\xa0" "\xe2\x88\x92" "6", "4*5 -6", NULL,
			NULL },
		{ "1\xe2\x81\x84" "3\xe2\x80\xaf" "2", "1/3 2", NULL, NULL },
		{ "1 /", "1/", NULL, NULL }, { "", "", NULL, NULL }
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char plain[40], line[40];

		snprintf(plain, sizeof plain, "%s", cases[i].line);
		reply_plain(plain);
		ck_assert_str_eq(plain, cases[i].plain);
		for (int whole = 0; whole < 2 && cases[i].whole; whole++) {
			snprintf(line, sizeof line, "%s", plain);
			reply_join(line, whole);
			ck_assert_str_eq(line, whole ? cases[i].whole :
					cases[i].other);
		}
	}
}
END_TEST

START_TEST(questions_have_their_numbers_and_their_slips)
{
	const struct topic *topic = predict_topic((size_t)_i);
	struct prediction p, same;

	for (uint64_t seed = 1; seed < 200; seed++) {
		struct random random = { seed }, again = { seed };

		ck_ok(predict_draw(topic, &random, &p, NULL));
		ck_ok(predict_draw(topic, &again, &same, NULL));
		ck_assert_str_eq(p.text, same.text);
		ck_assert(p.count > 0 && p.count <= PREDICT_NUMBERS);
		ck_assert_uint_ge(p.slip_count, 2);
		ck_assert_uint_lt(strlen(p.text), PREDICT_TEXT - 1);
		ck_assert_uint_gt(strlen(p.how), 20);
		ck_assert_uint_lt(strlen(p.how), PREDICT_HOW - 1);
		for (char *line = strtok(p.text, "\n"); line;
				line = strtok(NULL, "\n"))
			ck_assert_msg(strlen(line) <= 76, "%s", line);
	}
}
END_TEST

/* Type numbers with all their digits. */
static void type(const struct prediction *p, const double numbers[],
		struct reply_number typed[])
{
	char line[PREDICT_NUMBERS * 30] = "";

	for (size_t i = 0; i < p->count; i++)
		snprintf(line + strlen(line), sizeof line - strlen(line),
				"%.9f ", isnan(numbers[i]) ? p->truth[i] : numbers[i]);
	ck_assert_int_eq(reply_numbers(line, typed, PREDICT_NUMBERS),
			(int)p->count);
}

START_TEST(every_mistake_is_recognised_and_no_truth_is_one)
{
	const struct topic *topic = predict_topic((size_t)_i);
	struct reply_number typed[PREDICT_NUMBERS];
	const struct slip *found[PREDICT_SLIPS];
	struct prediction p;

	for (uint64_t seed = 1; seed < 200; seed++) {
		struct random random = { seed };

		ck_ok(predict_draw(topic, &random, &p, NULL));
		type(&p, p.truth, typed);
		ck_assert(predict_right(&p, typed));
		ck_assert_uint_eq(predict_explain(&p, typed, found), 0);
		for (size_t s = 0; s < p.slip_count; s++) {
			bool named = false;

			type(&p, p.slips[s].numbers, typed);
			ck_assert(!predict_right(&p, typed));
			for (size_t n = predict_explain(&p, typed, found); n--;)
				named |= found[n]->kind == p.slips[s].kind;
			ck_assert_msg(named, "%s: slip %d", topic->name,
					(int)p.slips[s].kind);
		}
	}
}
END_TEST

START_TEST(a_number_that_contradicts_a_mistake_acquits_it)
{
	const struct topic *topic = predict_topic((size_t)_i);
	struct reply_number typed[PREDICT_NUMBERS];
	const struct slip *found[PREDICT_SLIPS];
	struct prediction p;

	for (uint64_t seed = 1; seed < 100; seed++) {
		struct random random = { seed };

		ck_ok(predict_draw(topic, &random, &p, NULL));
		for (size_t s = 0; s < p.slip_count * p.count; s++) {
			size_t i = s % p.count;

			type(&p, p.slips[s / p.count].numbers, typed);
			typed[i].value += 1.25;
			for (size_t n = predict_explain(&p, typed, found); n--;)
				ck_assert(isnan(found[n]->numbers[i]) ||
						reply_means(&typed[i],
						found[n]->numbers[i]));
		}
	}
}
END_TEST

START_TEST(each_kind_of_slip_is_drawn_and_none_is_lost)
{
	bool drawn[SLIP_KINDS] = { false };
	const struct topic *topic;
	struct prediction p;

	for (size_t i = 0; (topic = predict_topic(i)); i++)
		for (uint64_t seed = 1; seed < 100; seed++) {
			struct random random = { seed };

			ck_ok(predict_draw(topic, &random, &p, NULL));
			ck_assert_uint_lt(p.slip_count, PREDICT_SLIPS - 1);
			for (size_t s = 0; s < p.slip_count; s++)
				drawn[p.slips[s].kind] = true;
		}
	for (int kind = 0; kind < SLIP_KINDS; kind++)
		ck_assert_msg(drawn[kind], "kind %d", kind);
}
END_TEST

START_TEST(two_mistakes_are_both_named_and_nonsense_is_not)
{
	struct prediction p = { .count = 2, .truth = { 64, 100 },
			.slip_count = 2, .slips = {
			{ SLIP_NO_OUT, { 48, NAN } },
			{ SLIP_ONE_HEAD, { NAN, 50 } } } };
	struct reply_number typed[PREDICT_NUMBERS];
	const struct slip *found[PREDICT_SLIPS];

	type(&p, (double[]){ 48, 50 }, typed);
	ck_assert_uint_eq(predict_explain(&p, typed, found), 2);
	type(&p, (double[]){ 7, 50 }, typed);
	ck_assert_uint_eq(predict_explain(&p, typed, found), 1);
	ck_assert_int_eq(found[0]->kind, SLIP_ONE_HEAD);
	type(&p, (double[]){ 7, 8 }, typed);
	ck_assert_uint_eq(predict_explain(&p, typed, found), 0);
}
END_TEST

static struct memory three_items(void)
{
	return (struct memory){ .count = 3, .item = {
			{ .name = "a" }, { .name = "b" }, { .name = "c" } } };
}

START_TEST(what_was_missed_comes_back_before_what_was_right)
{
	struct memory m = three_items();

	ck_assert_uint_eq(memory_next(&m, 0.5), 1);
	memory_note(&m, 1, false);
	ck_assert_uint_eq(memory_next(&m, 0.99), 2);
	memory_note(&m, 2, true);
	ck_assert_uint_eq(memory_next(&m, 0), 0);
	memory_note(&m, 0, true);
	ck_assert_uint_eq(memory_next(&m, 0), 1);
	memory_note(&m, 1, true);
	for (int n = 0; n < 20; n++)
		memory_note(&m, memory_next(&m, 0), n % 3 != 0);
	ck_assert_uint_eq(m.round, 24);
	m = three_items();              /* all missed, and yet all asked */
	for (int n = 0; n < 5; n++)
		memory_note(&m, memory_next(&m, 0), false);
	ck_assert(m.item[0].due && m.item[1].due && m.item[2].due);
	m.item[0] = (struct memory_item){ "a", 5, 30, 1, 1 };
	memory_note(&m, 0, true);
	ck_assert_uint_eq(m.item[0].box, 5);
	memory_note(&m, 0, false);
	ck_assert_uint_eq(m.item[0].box, 0);
	ck_assert_uint_eq(m.item[0].due, m.round + 2);
}
END_TEST

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

#define HEAD "multihead predict, version 1\n"
#define A "a\t1\t2\t3\t4\n"
#define B "b\t1\t2\t3\t4\n"
#define C "c\t1\t2\t3\t4\n"

START_TEST(a_memory_reads_back_and_a_damaged_one_is_known)
{
	static const char *const damaged[] = {
		"", HEAD, HEAD "round\t3\n", HEAD "round\t3\n" A B C,
		HEAD "round\t-3\n" A B C "end\n",
		HEAD "round\t03\n" A B C "end\n",
		HEAD "round\t3\n" A B "c\t6\t2\t3\t4\nend\n",
		HEAD "round\t3\n" A B "z\t1\t2\t3\t4\nend\n",
		HEAD "round\t3\n" A B "c\t1\t2\t3\nend\n",
		HEAD "round\t3\n" A B "c\t1\t2\t3\t4 \nend\n",
		HEAD "round\t3\n" A B C "end\nmore\n",
		HEAD "round\t3\n" A B C "end",
		HEAD "round\t3\n" A B "end\n",
		HEAD "round\t3\n" A B B C "end\n",
		"multihead predict, version 1\r\nround\t3\r\n",
		"multihead predict, version 2x\n", "multihead", "something\n"
	};
	char folder[] = "/tmp/memory-XXXXXX", path[64], aside[MEMORY_PATH];
	char sentence[MEMORY_PATH + 64];
	struct memory m = three_items(), back = three_items();

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/a/b/predict.tsv", folder);
	ck_ok(memory_load(&back, path, NULL));
	ck_assert_uint_eq(back.round, 0);
	m.round = 17;
	m.item[1] = (struct memory_item){ "b", 2, 21, 5, 3 };
	ck_ok(memory_save(&m, path, NULL));
	ck_ok(memory_load(&back, path, NULL));
	ck_assert_uint_eq(back.round, 17);
	ck_assert_uint_eq(back.item[1].due, 21);
	ck_assert_uint_eq(back.item[1].missed, 3);
	/* two sessions note what each was answered */
	struct memory one = three_items(), two = three_items();

	ck_ok(memory_load(&one, path, NULL));
	ck_ok(memory_load(&two, path, NULL));
	ck_ok(memory_round(&one, path, 1, false, NULL));
	ck_ok(memory_round(&two, path, 2, true, NULL));
	ck_assert_uint_eq(two.round, 19);
	ck_ok(memory_round(&one, path, 2, true, NULL));
	ck_ok(memory_load(&back, path, NULL));
	ck_assert_uint_eq(back.round, 20);
	ck_assert_uint_eq(back.item[1].missed, 4);
	ck_assert_uint_eq(back.item[2].right, 2);
	ck_ok(memory_save(&m, path, NULL));
	/* remember the last round of all, through a link */
	char target[64];

	snprintf(aside, sizeof aside, "%s/link", folder);
	ck_assert_int_eq(symlink(path, aside), 0);
	m.round = 999999999;
	memory_note(&m, 1, true);
	ck_ok(memory_save(&m, aside, NULL));
	ck_ok(memory_load(&back, path, NULL));
	ck_assert_uint_eq(back.round, 999999999);
	ck_assert_uint_eq(back.item[1].right, 6);
	ck_assert_int_gt(readlink(aside, target, sizeof target), 0);
	remove(path);
	ck_ok(memory_save(&m, aside, NULL));    /* now it leads nowhere */
	ck_ok(memory_load(&back, path, NULL));
	ck_assert_int_gt(readlink(aside, target, sizeof target), 0);
	write_text(path, HEAD "round\t17\n" A B C "end\n");
	ck_ok(memory_load(&back, path, NULL));
	for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
		write_text(path, damaged[i]);
		ck_assert_msg(memory_load(&back, path, NULL) == MH_EFORMAT,
				"%zu", i);
		ck_assert_uint_eq(back.round, 17);
	}
	/* set two damaged memories aside, and leave a later version */
	ck_ok(memory_set_aside(&back, path, aside, NULL));
	ck_assert_ptr_nonnull(strstr(aside, "predict.tsv.damaged"));
	write_text(path, "second");
	ck_ok(memory_set_aside(&back, path, aside, NULL));
	ck_assert_ptr_nonnull(strstr(aside, "predict.tsv.damaged.1"));
	ck_ok(memory_save(&m, path, NULL));     /* another was quicker */
	back.round = 0;
	ck_ok(memory_set_aside(&back, path, aside, NULL));
	ck_assert_str_eq(aside, "");
	ck_assert_uint_gt(back.round, 0);
	write_text(path, "multihead predict, version 2\n");
	ck_assert_int_eq(memory_load(&back, path, NULL), MH_EFILE);
	remove(path);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(memory_load(&back, path, NULL), MH_EFILE);
	ck_assert_int_eq(memory_save(&m, path, NULL), MH_EFILE);
	ck_assert_int_eq(memory_round(&m, path, 1, true, NULL), MH_EFILE);
	snprintf(path, sizeof path, "%s/file/in/predict.tsv", folder);
	snprintf(aside, sizeof aside, "%s/file", folder);
	write_text(aside, "");
	snprintf(sentence, sizeof sentence, "cannot make the folder %s/in: Not"
			" a directory", aside);
	ck_refused(memory_save(&m, path, &error), MH_EFILE, sentence);
}
END_TEST

static char *predict_said;
static uint64_t predict_seed = 5;

static struct predict predict_session(const char *typed,
		const char *only, size_t rounds)
{
	struct predict predict = { .rounds = rounds };
	size_t size;

	ck_assert(predict_begin(&predict, only));
	predict.in = fmemopen((void *)(uintptr_t)typed, strlen(typed), "r");
	free(predict_said);             /* of the session before */
	predict_said = NULL;
	predict.out = open_memstream(&predict_said, &size);
	ck_ok(predict_run(&predict, predict_seed, NULL));
	fclose(predict.in);
	fclose(predict.out);
	return predict;
}

START_TEST(a_session_asks_until_it_has_numbers_and_counts)
{
	struct predict predict = predict_session(
			"what?\n1 2\n\n7\n0\n", "bytes", 3);

	ck_assert_uint_eq(predict.asked, 3);
	ck_assert_uint_eq(predict.right, 0);
	ck_assert_uint_eq(predict.missed[7], 3);
	ck_assert_uint_eq(predict.memory.round, 3);
	ck_assert(!predict.ended);
	ck_assert_ptr_nonnull(strstr(predict_said, "'what?' is no number"));
	ck_assert_ptr_nonnull(strstr(predict_said,
			"1 number is wanted, and there are 2."));
	ck_assert_ptr_nonnull(strstr(predict_said,
			"We know no mistake that gives 7. Read"));
	predict = predict_session("", NULL, 3);
	ck_assert(predict.ended);
	ck_assert_uint_eq(predict.asked, 0);
	ck_assert_ptr_nonnull(strstr(predict_said, "0 of 0 right."));
	ck_assert(!predict_begin(&predict, "nothing"));
}
END_TEST

START_TEST(what_does_not_answer_is_asked_again)
{
	static const struct { const char *topic, *typed, *said; }
	cases[] = {
		{ "prefix", "2 2 2 2\n2 2 2 2 2\n2 2 2 2 2 2\n", "1 or 0" },
		{ "prefix", "0000\n00000\n000000\n", "0 of 1 right" },
		{ "bytes", "100.3\n", "Counts are whole" },
		{ "bytes", "2^2\n", "you         2^2" },
		{ "bytes", "1,024\n", "you        1024" },
		{ "score", "91,25\n", "you       91.25" },
		{ "score", "91 / 3\n", "you        91/3" },
		{ "score", "q\n", "\n0 of 0 right" },
		{ "counts", "7 8\n", "no mistake that gives these numbers" },
		{ "counts", "7 8\n", "        ^         ^\n" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		predict_session(cases[i].typed, cases[i].topic, 1);
		ck_assert_msg(strstr(predict_said, cases[i].said) != NULL,
				"%s", predict_said);
	}
}
END_TEST

START_TEST(what_is_rounded_is_sent_back_once)
{
	struct predict predict;
	const char *said = NULL;

	for (; !said && predict_seed < 100; predict_seed++) {
		predict = predict_session("0 1 0\n0 1 0\n", "weights", 1);
		said = strstr(predict_said, "rounded too much");
	}
	predict_seed = 5;
	ck_assert_ptr_nonnull(said);
	ck_assert_ptr_nonnull(strstr(said, "write 0.00 1.00 0.00."));
	ck_assert_ptr_null(strstr(said + 1, "rounded too much"));
	ck_assert_ptr_nonnull(strstr(said, "all weight went to the"));
	ck_assert_uint_eq(predict.missed[0], 1);
	ck_assert_ptr_nonnull(strstr(said, "By hand: position 1"));
}
END_TEST

/* What is asked in a session whose reader always gives up. */
static char *predict_asked(uint64_t seed, bool fixed)
{
	char gives_up[24] = "\n\n\n\n\n\n\n\n\n\n\n\n"
			"\n\n\n\n\n\n\n\n\n\n\n";
	struct predict predict = { .rounds = 23, .fixed = fixed };
	char *said = NULL;
	size_t size;

	ck_assert(predict_begin(&predict, NULL));
	predict.in = fmemopen(gives_up, 23, "r");
	predict.out = open_memstream(&said, &size);
	ck_ok(predict_run(&predict, seed, NULL));
	ck_assert_uint_eq(predict.asked, 23);
	fclose(predict.in);
	fclose(predict.out);
	return said;
}

START_TEST(a_fixed_order_has_each_topic_once_in_ten_rounds)
{
	char *asked = predict_asked(5, true), *other;
	const struct topic *topic;

	for (size_t i = 0; (topic = predict_topic(i)); i++) {
		size_t times[3] = { 0 };
		char head[40];

		for (size_t round = 0; round < 23; round++) {
			snprintf(head, sizeof head, "\n%zu. %s\n", round + 1,
					topic->name);
			times[round / 10] += strstr(asked, head) != NULL ||
					strncmp(asked, head + 1, strlen(head + 1)) == 0;
		}
		ck_assert_uint_eq(times[0], 1);
		ck_assert_uint_eq(times[1], 1);
		ck_assert_uint_le(times[2], 1);
	}
	for (int i = 0; i < 3; i++) {
		other = predict_asked(i == 0 ? 5 : 6, i != 2);
		ck_assert_int_eq(strcmp(asked, other) == 0, i == 0);
		free(other);
	}
	free(asked);
}
END_TEST

START_TEST(one_number_may_be_explained_and_another_not)
{
	struct prediction p = { .count = 2, .truth = { 64, 100 },
			.slip_count = 1, .slips = {
			{ SLIP_NO_OUT, { 48, NAN } } } };
	struct reply_number typed[PREDICT_NUMBERS];
	struct places read = { 0 };
	char *said;
	size_t size;
	FILE *out = open_memstream(&said, &size);

	ck_assert_int_eq(reply_numbers("48 5", typed, 2), 2);
	predict_diagnose(out, predict_topic(6), &p, typed, &read);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(said,
			"48 points to a mistake of storage: the output"));
	ck_assert_ptr_nonnull(strstr(said, "no mistake that gives 5."));
	ck_assert_uint_eq(read.count, 2);
	ck_assert_str_ne(read.place[0], read.place[1]);
	free(said);
}
END_TEST

void predict_suite(Suite *suite)
{
	TCase *predict = tcase_create("predict");
	int topics = 0;

	while (predict_topic((size_t)topics))
		topics++;
	suite_add_tcase(suite, predict);
	tcase_add_test(predict, numbers_are_read_as_people_write_them);
	tcase_add_test(predict,
			a_rounded_number_is_right_and_a_vague_one_is_not);
	tcase_add_test(predict,
			a_vague_number_may_be_right_and_another_not);
	tcase_add_test(predict,
			signs_and_commas_are_read_as_they_were_meant);
	tcase_add_loop_test(predict,
			questions_have_their_numbers_and_their_slips, 0, topics);
	tcase_add_loop_test(predict,
			every_mistake_is_recognised_and_no_truth_is_one, 0,
			topics);
	tcase_add_loop_test(predict,
			a_number_that_contradicts_a_mistake_acquits_it, 0, topics);
	tcase_add_test(predict,
			each_kind_of_slip_is_drawn_and_none_is_lost);
	tcase_add_test(predict,
			two_mistakes_are_both_named_and_nonsense_is_not);
	tcase_add_test(predict,
			what_was_missed_comes_back_before_what_was_right);
	tcase_add_test(predict,
			a_memory_reads_back_and_a_damaged_one_is_known);
	tcase_add_test(predict,
			a_session_asks_until_it_has_numbers_and_counts);
	tcase_add_test(predict,
			what_does_not_answer_is_asked_again);
	tcase_add_test(predict, what_is_rounded_is_sent_back_once);
	tcase_add_test(predict,
			a_fixed_order_has_each_topic_once_in_ten_rounds);
	tcase_add_test(predict,
			one_number_may_be_explained_and_another_not);
}
