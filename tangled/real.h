/* real.h: made from chapters/10-tensors.nw; edit it there. */
#ifndef MH_REAL_H
#define MH_REAL_H

#include <float.h>
#include <tgmath.h>

#include "names.h"

#ifdef MH_SINGLE
typedef float real;
#define REAL_EPSILON FLT_EPSILON
#define REAL_MAX FLT_MAX
#define REAL_LEAST FLT_MIN
#else
typedef double real;
#define REAL_EPSILON DBL_EPSILON
#define REAL_MAX DBL_MAX
#define REAL_LEAST DBL_MIN
#endif

#endif
