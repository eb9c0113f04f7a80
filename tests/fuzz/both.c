/* The same bytes to both precisions. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	fuzz_double(bytes, size);
	return fuzz_float(bytes, size);
}
