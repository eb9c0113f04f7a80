/* tests/support.h: made from chapters/10-tensors.nw; edit it there. */
#ifndef MH_SUPPORT_H
#define MH_SUPPORT_H

#include <check.h>

#include "tensor.h"

/* Fill memory with 0, 1, 2, ... or with noise between -1 and 1, and
 * return the contiguous view of it. */
struct tensor counted(real *memory, int rank, const size_t shape[]);
struct tensor noise(real *memory, int rank, const size_t shape[],
		uint64_t seed);

/* got differs from want by at most units times epsilon, relative to the
 * larger of 1 and |want|. A NaN is near nothing. */
#define ck_near(got, want, units) do { \
	long double ck_got = (got), ck_want = (want); \
	long double ck_size = fabsl(ck_want) > 1 ? fabsl(ck_want) : 1; \
	ck_assert_msg(fabsl(ck_got - ck_want) <= \
			(units) * (long double)REAL_EPSILON * ck_size, \
			"%s = %.17Lg, wanted %.17Lg", #got, ck_got, ck_want); \
} while (0)

#endif
