/* tests/oracle.h: made from chapters/15-one-head.nw; edit it there. */
#ifndef MH_ORACLE_H
#define MH_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "real.h"

struct problem {
	size_t B, T, C, H, d;
	bool causal;
	const real *x;          /* (B,T,C) */
	const real *in_proj;    /* (3 H d, C): queries, keys, values */
};

/* weights (B,H,T,T) and concat (B,T,H d), both contiguous. */
void oracle_heads(const struct problem *p, long double *weights,
		long double *concat);
/* more prototypes of the oracle */

/* By how many epsilons weights and concat of a correct program may be
 * off, at most. */
double oracle_units(const struct problem *p);


/* output (B,T,C) from concat and out_proj (C,C), where C = H d. */
void oracle_output(const struct problem *p, const real *out_proj,
		const long double *concat, long double *output);

#endif
