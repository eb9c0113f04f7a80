/* single_plain.c: made from chapters/57-tiles.nw; edit it there. */
#define MH_SINGLE_KERNEL "kernel.c"
/* compile the kernel in float, unless all is */
struct layer;                   /* C demands that no file be empty */

#ifndef MH_SINGLE
#define MH_SINGLE
#include MH_SINGLE_KERNEL
#endif
