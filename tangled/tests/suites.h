/* tests/suites.h: made from chapters/90-record.nw; edit it there. */
#ifndef MH_SUITES_H
#define MH_SUITES_H

#include <check.h>

#include "error.h"

/* The call succeeds. */
#define ck_ok(call) ck_assert_int_eq((call), MH_OK)

/* The call, which is given &error, refuses with this status and this
 * sentence. */
#define ck_refused(call, wanted, sentence) do { \
	struct error error = { 0 }; \
	ck_assert_int_eq((call), (wanted)); \
	ck_assert_str_eq(error.message, (sentence)); \
} while (0)

/* prototypes of the suites */
void tensors_suite(Suite *suite);

void one_head_suite(Suite *suite);

void fixture_suite(Suite *suite);

void loop_suite(Suite *suite);

void packed_suite(Suite *suite);

void interventions_suite(Suite *suite);

void storage_suite(Suite *suite);

void gradients_suite(Suite *suite);

void files_suite(Suite *suite);

void pytorch_suite(Suite *suite);

void online_suite(Suite *suite);

void streaming_suite(Suite *suite);

void speed_suite(Suite *suite);

void thoughts_suite(Suite *suite);

void quiz_suite(Suite *suite);

void predict_suite(Suite *suite);

void when_suite(Suite *suite);

void record_suite(Suite *suite);

#endif
