/* tests/suites.h: made from chapters/90-record.nw; edit it there. */
/* suites.h: the suites of the chapters, each filling a Suite with
 * cases. */
#ifndef MH_SUITES_H
#define MH_SUITES_H

#include <check.h>

/* prototypes of the suites */
void tensors_suite(Suite *suite);

void one_head_suite(Suite *suite);

void fixture_suite(Suite *suite);

void loop_suite(Suite *suite);

void record_suite(Suite *suite);

#endif
