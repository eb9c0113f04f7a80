/* tests/suite.c: made from chapters/90-record.nw; edit it there. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"

static const struct {
	const char *name;       /* "10 tensors": chapter, subject */
	void (*fill)(Suite *suite);
} suites[] = {
	/* suites in the order of the chapters */
	{ "10 tensors", tensors_suite },

	{ "15 one head", one_head_suite },

	{ "20 fixture", fixture_suite },

	{ "25 loop", loop_suite },

	{ "30 packed", packed_suite },

	{ "35 interventions", interventions_suite },

	{ "40 storage", storage_suite },

	{ "45 gradients", gradients_suite },

	{ "47 files", files_suite },

	{ "50 pytorch", pytorch_suite },

	{ "55 online", online_suite },

	{ "57 tiles", streaming_suite },

	{ "60 speed", speed_suite },

	{ "70 thoughts", thoughts_suite },

	{ "72 quiz", quiz_suite },

	{ "74 predict", predict_suite },

	{ "86 when", when_suite },

	{ "90 record", record_suite },
};

int main(int argc, char **argv)
{
	SRunner *runner = srunner_create(NULL);
	int failed, chosen = 0;

	/* On a busy machine a test may be slow, but not endless. */
	setenv("CK_DEFAULT_TIMEOUT", "120", 0);
	for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
		if (argc > 1 && atoi(argv[1]) != atoi(suites[i].name))
			continue;
		Suite *suite = suite_create(suites[i].name);
		suites[i].fill(suite);
		srunner_add_suite(runner, suite);
		chosen++;
	}
	if (chosen == 0) {
		fprintf(stderr, "no suite belongs to chapter %s\n", argv[1]);
		return 2;
	}
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
