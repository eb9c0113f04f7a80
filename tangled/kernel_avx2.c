/* kernel_avx2.c: made from chapters/57-tiles.nw; edit it there. */
#define TARGET "avx2,fma"
#define VECTOR_BYTES 32
#define KERNEL kernel_avx2
/* compile the kernel for the target */
#define PRAGMA(x) _Pragma(#x)
#define FOR_TARGET(x) PRAGMA(x)

struct kernel;                  /* C demands that no file be empty */

#ifdef __x86_64__
#ifdef __clang__
FOR_TARGET(clang attribute push(__attribute__((target(TARGET))),
		apply_to = function))
#include "kernel.c"
#pragma clang attribute pop
#else
FOR_TARGET(GCC target(TARGET))
#include "kernel.c"
#endif
#endif
