/* bare.h: made from chapters/60-speed.nw; edit it there. */
#ifndef MH_BARE_H
#define MH_BARE_H

#include <stddef.h>

#include "real.h"

/* A causal layer on plain arrays, every one contiguous. */
struct bare {
	size_t B, T, C, H;
	const real *in_proj, *out_proj;         /* (3C,C), (C,C) */
	real *qkv, *weights, *concat;   /* (B,T,3C), (B,H,T,T), (B,T,C) */
	real *din_proj, *dout_proj;             /* as the weights */
	real *dqkv, *dconcat, *dweights;        /* as above; (T) */
};

/* y (B,T,C) from x (B,T,C), by way of qkv, weights and concat. Of the
 * weights only the lower triangles are written. Nothing is checked. */
void bare_forward(const struct bare *b, const real *x, real *y);

/* dx (B,T,C) from dy (B,T,C), after bare_forward on the same x; adds to
 * din_proj and dout_proj. */
void bare_backward(const struct bare *b, const real *x, const real *dy,
		real *dx);

#endif
