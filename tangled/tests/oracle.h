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
	const real *in_bias;    /* (3 H d), or NULL */
	const real *out_proj;   /* (C,C), where C = H d */
	const real *out_bias;   /* (C), or NULL */
	const real *nudged;     /* one of all these numbers, or NULL, */
	long double nudge;      /* and what is added to it */
};

/* weights (B,H,T,T) and concat (B,T,H d), both contiguous, of at most
 * 512 numbers. */
void oracle_heads(const struct problem *p, long double *weights,
		long double *concat);
/* more prototypes of the oracle */

/* By how many epsilons weights and concat of a correct program may be
 * off, at most. */
double oracle_units(const struct problem *p);


/* output (B,T,C) from concat, where C = H d. */
void oracle_output(const struct problem *p, const long double *concat,
		long double *output);

#endif
