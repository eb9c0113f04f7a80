/* differences.h: made from chapters/45-gradients.nw; edit it there. */
#ifndef MH_DIFFERENCES_H
#define MH_DIFFERENCES_H

#include "error.h"

/* Store in *error_share the largest error of central differences with
 * the step 2^-exponent, over all numbers of a random layer's input, as
 * a share of the largest gradient. MH_EMEMORY if there is no room. */
enum status differences(int exponent, double *error_share,
		struct error *error);

/* The same in float, whatever the precision of the caller. */
enum status mhf_differences(int exponent, double *error_share,
		struct error *error);

#endif
