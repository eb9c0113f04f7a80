/* tests/test_record.c: made from chapters/90-record.nw; edit it there. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab.h"
#include "record.h"
#include "suites.h"

/* tests of record */
START_TEST(a_statement_that_does_not_hold_is_counted_and_kept)
{
	struct lab lab = { 0 };

	lab_expect(&lab, true, "this holds");
	lab_expect(&lab, false, "this does not");
	lab_expect(&lab, false, "nor does this");
	ck_assert_uint_eq(lab.broken, 2);
	ck_assert_str_eq(lab.which[0], "this does not");
	ck_assert_str_eq(lab.which[1], "nor does this");
	for (int i = 0; i < 100; i++)
		lab_expect(&lab, false, "too many to keep");
	ck_assert_uint_eq(lab.broken, 102);
}
END_TEST

START_TEST(a_recorded_value_reads_back_as_the_same_double)
{
	/* Sixteen digits would not tell this sum from 0.3. */
	double sum = 0.1 + 0.2, back = 0;
	char key[32], unit[8], kind[8];
	struct record record = { .file = tmpfile() };

	ck_assert_ptr_nonnull(record.file);
	RECORD(&record, VALUE, "nats", sum, "a.%d.last", 7);
	rewind(record.file);
	ck_assert_int_eq(fscanf(record.file, "%31s %lf %7s %7s", key, &back,
			unit, kind), 4);
	fclose(record.file);
	ck_assert_str_eq(key, "a.7.last");
	ck_assert_str_eq(unit, "nats");
	ck_assert_str_eq(kind, "value");
	ck_assert(back == sum);
}
END_TEST

/* The file holds this one line. */
static void ck_text(const char *path, const char *text)
{
	char line[64] = "";
	FILE *file = fopen(path, "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
	fclose(file);
	ck_assert_str_eq(line, text);
}

static void write_record(const char *path, double value, bool finish)
{
	struct record record;

	ck_ok(record_open(&record, path, false, NULL));
	RECORD(&record, EXACT, "1", value, "answer");
	if (finish)
		ck_ok(record_close(&record, NULL));
	else
		record_abandon(&record);
}

START_TEST(an_abandoned_record_leaves_the_old_one_alone)
{
	char path[] = "/tmp/record-XXXXXX", line[64], temporary[64];
	int descriptor = mkstemp(path);

	ck_assert_int_ge(descriptor, 0);
	close(descriptor);
	write_record(path, 41, true);
	write_record(path, 42, false);
	FILE *file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
	fclose(file);
	remove(path);
	ck_assert_msg(strncmp(line, "answer\t41\t", 10) == 0, "%s", line);
	snprintf(temporary, sizeof temporary, "%s.%ld.0.new", path,
			(long)getpid());
	ck_assert_int_ne(access(temporary, F_OK), 0);
}
END_TEST

START_TEST(nothing_beside_the_goal_is_overwritten)
{
	char path[] = "/tmp/whole-XXXXXX", beside[64], link[64];
	int descriptor = mkstemp(path);
	struct whole one, other;

	ck_assert_int_ge(descriptor, 0);
	close(descriptor);
	snprintf(beside, sizeof beside, "%s.%ld.0.new", path,
			(long)getpid());
	ck_assert_int_eq(symlink(path, beside), 0);
	ck_ok(whole_open(&one, path, NULL));
	ck_ok(whole_open(&other, path, NULL));
	ck_assert_str_ne(one.beside, other.beside);
	fputs("one", one.stream);
	ck_ok(whole_close(&one, NULL));
	ck_assert_str_eq(one.beside, "");
	strcpy(one.goal, other.beside);
	whole_abandon(&other);
	whole_abandon(&other);
	ck_assert_int_ne(access(one.goal, F_OK), 0);
	ck_assert_int_gt(readlink(beside, link, sizeof link), 0);
	ck_text(path, "one");
	/* take all names, and remove them */
	snprintf(link, sizeof link, "cannot write %s: File exists", path);
	for (int n = 1; n < 200; n++) {
		snprintf(beside, sizeof beside, "%s.%ld.%d.new", path,
				(long)getpid(), n % 100);
		if (n == 100)
			ck_refused(whole_open(&one, path, &error), MH_EFILE, link);
		ck_assert_int_eq(n < 100 ? symlink(path, beside) :
				remove(beside), 0);
	}
	remove(path);
}
END_TEST

START_TEST(links_are_followed_and_permissions_kept)
{
	char folder[] = "/tmp/whole-XXXXXX", to[300], from[300], link[300];
	struct whole whole;
	struct stat facts;
	int here = open(".", O_RDONLY);

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	snprintf(to, sizeof to, "%s/%0250d", folder, 7);
	snprintf(from, sizeof from, "%s/from", folder);
	snprintf(link, sizeof link, "%s/link", folder);
	ck_assert_int_eq(symlink("from", link), 0);
	ck_assert_int_eq(symlink(strrchr(to, '/') + 1, from), 0);
	for (int n = 0; n < 2; n++) {   /* dangling, then not */
		ck_ok(whole_open(&whole, n ? link : "link", NULL));
		fprintf(whole.stream, "%d", n);
		ck_ok(whole_close(&whole, NULL));
		ck_text(to, n ? "1" : "0");
		ck_assert_int_eq(lstat(link, &facts), 0);
		ck_assert(S_ISLNK(facts.st_mode));
		ck_assert_int_eq(stat(to, &facts), 0);
		if (n)
			ck_assert_int_eq(facts.st_mode & 0777, 0606);
		ck_assert_int_eq(chmod(to, 0606), 0);
	}
	/* refuse links that lead nowhere */
	ck_refused(whole_open(&whole, "", &error), MH_EFILE,
			"cannot write : No such file or directory");
	remove(from);
	remove(to);
	ck_assert_int_eq(symlink(link, from), 0);
	ck_assert_int_eq(whole_open(&whole, link, NULL), MH_EFILE);
	remove(from);
	memset(to, 'x', sizeof to);
	memcpy(to, "nowhere/", 8);
	to[20] = '\0';
	ck_assert_int_eq(symlink(to, from), 0);
	ck_assert_int_eq(whole_open(&whole, link, NULL), MH_EFILE);
	remove(from);
	remove(link);
	ck_assert_int_eq(fchdir(here), 0);
	close(here);
	ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

static char watched[5000];

static void watch(const char *beside)
{
	snprintf(watched, sizeof watched, "%s", beside ? beside : "");
}

START_TEST(what_is_under_way_is_told)
{
	char path[] = "/tmp/whole-XXXXXX";
	struct whole whole;

	close(mkstemp(path));
	whole_watch(watch);
	for (int n = 0; n < 2; n++) {
		ck_ok(whole_open(&whole, path, NULL));
		ck_assert_int_eq(access(watched, F_OK), 0);
		ck_assert_str_eq(watched, whole.beside);
		if (n)
			whole_abandon(&whole);
		else
			ck_ok(whole_close(&whole, NULL));
		ck_assert_str_eq(watched, "");
	}
	whole_watch(NULL);
	remove(path);
}
END_TEST

START_TEST(a_file_that_grows_too_large_leaves_the_old_one)
{
	char path[] = "/tmp/whole-XXXXXX", sentence[96];
	int descriptor = mkstemp(path);
	struct rlimit before, limit;
	struct whole whole;
	struct stat facts;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){ 4096, before.rlim_max };
	ck_assert_int_ge(descriptor, 0);
	ck_assert_int_eq(write(descriptor, "old", 3), 3);
	close(descriptor);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_ok(whole_open(&whole, path, NULL));
	for (int i = 0; i < 5000; i++)
		putc('x', whole.stream);
	snprintf(sentence, sizeof sentence, "cannot write %s: File too"
			" large", path);
	ck_refused(whole_close(&whole, &error), MH_EFILE, sentence);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_int_eq(stat(path, &facts), 0);
	ck_assert_int_eq((int)facts.st_size, 3);
	remove(path);
}
END_TEST

START_TEST(a_folder_that_does_not_exist_is_refused_by_name)
{
	struct record record;

	char name[5000];

	ck_refused(record_open(&record, "/dev/null", false, &error),
			MH_EFILE, "/dev/null exists and is no file");
	record_abandon(&record);
	ck_ok(record_open(&record, NULL, true, NULL));
	ck_assert(record.keys_only && record.file == stdout);

	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	ck_assert_int_eq(record_open(&record, name, false, NULL), MH_EFILE);
	record_abandon(&record);
	ck_refused(record_open(&record, "/nowhere/at/all", false, &error),
			MH_EFILE, "cannot write /nowhere/at/all: "
			"No such file or directory");
	record_abandon(&record);
}
END_TEST

START_TEST(an_error_object_is_optional_and_never_overrun)
{
	struct error error = { 0 };
	char text[400];

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	ck_assert_int_eq(REFUSE(NULL, MH_ESHAPE, "%s", text), MH_ESHAPE);
	ck_assert_int_eq(REFUSE(&error, MH_ESIZE, "%s", text), MH_ESIZE);
	ck_assert_uint_eq(strlen(error.message), sizeof error.message - 1);
	ck_assert_str_eq(error.where, __func__);
}
END_TEST

void record_suite(Suite *suite)
{
	TCase *record = tcase_create("record");

	suite_add_tcase(suite, record);
	tcase_add_test(record,
			a_recorded_value_reads_back_as_the_same_double);
	tcase_add_test(record,
			an_abandoned_record_leaves_the_old_one_alone);
	tcase_add_test(record, nothing_beside_the_goal_is_overwritten);
	tcase_add_test(record, links_are_followed_and_permissions_kept);
	tcase_add_test(record, what_is_under_way_is_told);
	tcase_add_test(record,
			a_file_that_grows_too_large_leaves_the_old_one);
	tcase_add_test(record,
			a_folder_that_does_not_exist_is_refused_by_name);
	tcase_add_test(record,
			an_error_object_is_optional_and_never_overrun);
	tcase_add_test(record,
			a_statement_that_does_not_hold_is_counted_and_kept);
}
