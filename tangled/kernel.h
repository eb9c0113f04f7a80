/* kernel.h: made from chapters/57-tiles.nw; edit it there. */
#ifndef MH_KERNEL_H
#define MH_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "real.h"

/* types of kernel */
/* A matrix of any strides. */
struct grid {
	const real *data;
	ptrdiff_t row, column;          /* strides */
};

/* out = a b, or out + a b: a (m,k) and b (k,n) of any strides, out
 * (m,n) in rows with a step from each to the next. If turned, what lies
 * in such rows is the transpose of out. */
struct product {
	size_t m, n, k;
	struct grid a, b;
	bool add;
	real *out;
	size_t step;
	bool turned;
};

/* Rows of numbers side by side, a step from each to the next. */
struct rows {
	real *data;
	size_t step;
};

/* One head of one example. */
struct strip {
	size_t length, width;           /* T, d */
	bool causal;
	struct rows q, k, v;            /* (T,d) */
	struct rows out, dout;          /* (T,d): and its gradient */
	real *maximum, *sum;            /* (T) */
};

/* The loops of one kind of processor. The room of a product holds
 * KERNEL_DEPTH rows of KERNEL_ROWS and KERNEL_PANELS panels; that of a
 * strip of length T holds T + KERNEL_TILES rows of 4 d + KERNEL_ALIGN,
 * where d is padded to KERNEL_ALIGN. It begins at a multiple of 64
 * bytes. */
struct kernel {
	size_t panel;           /* columns of a tile, at most */
	size_t few;             /* rows; so many are better turned */
	void (*multiply)(const struct product *product, real *room);
	void (*attend)(const struct strip *strip, real *room);
	void (*unattend)(const struct strip *strip, real *room);
	/* rows that a kernel works on */
	/* Of a row of the packed path, so many numbers are seen, up to
	 * length. Scores times scale become weights. Gradients of these weights
	 * become gradients of the scores. What is not seen becomes 0, or NaN
	 * among weights that are. NULL: let others do it. */
	void (*weigh)(real *row, size_t seen, size_t length, real scale);
	void (*unweigh)(const real *weights, real *row, size_t seen,
			size_t length, real scale);
};

enum {
	KERNEL_ALIGN = 16,      /* numbers in the longest vector */
	KERNEL_DEPTH = 768,     /* of a product that is done in one go */
	KERNEL_ROWS = 768,      /* of a transposed a, laid out at a time */
	KERNEL_PANELS = 4,      /* that a few rows meet together */
	KERNEL_TILES = 320      /* rows that the tiles of a strip take */
};

/* prototypes of kernel */
/* Plain loops, for layers too small for anything else. */
const struct kernel *kernel_small(void);

/* The kernels, each compiled for one kind of processor. Plain runs
 * anywhere; which of the others do is for kernel_nth to say. */
const struct kernel *kernel_plain(void);
const struct kernel *kernel_avx2(void);
const struct kernel *kernel_avx512(void);

/* The kernels that run on this machine, fastest first; NULL after the
 * last. */
const struct kernel *kernel_nth(size_t n);

#endif
