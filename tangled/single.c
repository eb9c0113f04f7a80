/* single.c: made from chapters/45-gradients.nw; edit it there. */
#define _DEFAULT_SOURCE 1       /* before any header: see weights.c */
#define _FILE_OFFSET_BITS 64

struct layer;                   /* C demands that no file be empty */

#ifndef MH_SINGLE
#define MH_SINGLE

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

#include "weights.c"
#include "run.c"

#include "online.c"

#include "kernel_small.c"
#include "streaming.c"

#include "bare.c"
#include "speed.c"
#endif
