/* What the three targets share. libFuzzer calls LLVMFuzzerTestOneInput, over
 * and over, and takes a call that aborts for a find. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Something that must hold, whatever the bytes were. */
#define MUST(holds) do { \
	if (!(holds)) { \
		fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds); \
		abort(); \
	} \
} while (0)

/* A target that is compiled twice: the double half is called by libFuzzer, and
 * calls the other. */
int fuzz_double(const uint8_t *bytes, size_t size);
int fuzz_float(const uint8_t *bytes, size_t size);
#ifdef MH_SINGLE
#define FUZZ fuzz_float
#else
#define FUZZ fuzz_double
#endif

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
