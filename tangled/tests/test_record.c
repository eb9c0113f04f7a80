/* tests/test_record.c: made from chapters/90-record.nw; edit it there. */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"
#include "suites.h"

/* tests of record */
START_TEST(a_recorded_value_reads_back_as_the_same_double)
{
	double third = 1.0 / 3, back = 0;
	char key[32], unit[8], kind[8];
	struct record record = { tmpfile(), false, NULL, "" };

	ck_assert_ptr_nonnull(record.file);
	RECORD(&record, VALUE, "nats", third, "a.%d.last", 7);
	rewind(record.file);
	ck_assert_int_eq(fscanf(record.file, "%31s %lf %7s %7s", key, &back,
			unit, kind), 4);
	fclose(record.file);
	ck_assert_str_eq(key, "a.7.last");
	ck_assert_str_eq(unit, "nats");
	ck_assert_str_eq(kind, "value");
	ck_assert(back == third);
}
END_TEST

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
	snprintf(temporary, sizeof temporary, "%s.new", path);
	ck_assert_int_ne(access(temporary, F_OK), 0);
}
END_TEST

START_TEST(a_folder_that_does_not_exist_is_refused_by_name)
{
	struct record record;

	ck_refused(record_open(&record, "/nowhere/at/all", false, &error),
			MH_EFILE, "cannot write /nowhere/at/all.new: "
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
	tcase_add_test(record,
			a_folder_that_does_not_exist_is_refused_by_name);
	tcase_add_test(record,
			an_error_object_is_optional_and_never_overrun);
}
