/* single.c: made from chapters/45-gradients.nw; edit it there. */
struct layer;                   /* not quite empty, as C demands */

#ifndef MH_SINGLE
#define MH_SINGLE

/* the file that must come first */
#include "weights.c"    /* it says what it wants of the system */
/* files of the float library */
#include "error.c"
#include "whole.c"
#include "tensor.c"
#include "blas.c"
#include "workspace.c"
#include "attention.c"
#include "layer.c"
#include "gradient.c"
#include "differences.c"

#include "run.c"
#endif
