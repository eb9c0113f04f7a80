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

/* Numbers that a tile of so many rows or columns takes at most, and
 * the vector that its rows are padded to. */
enum { KERNEL_ALIGN = 16 };

/* The loops of one kind of processor, for matrices whose rows lie side
 * by side. */
struct kernel {
	const char *name;
	size_t lanes, panel;            /* of a vector; of a panel */
	void (*lay)(size_t rows, size_t columns, struct grid from,
			real factor, real *to, size_t step);
	void (*multiply)(size_t rows, size_t columns, bool add,
			size_t depth, const real *a, size_t a_step,
			const real *panel, real *out, size_t out_step);
	void (*attend)(const struct strip *strip, real *room);
	void (*unattend)(const struct strip *strip, real *room);
};

/* prototypes of kernel */
/* The kernels, each compiled for one kind of processor. Plain runs
 * anywhere; which of the others do is for kernel_nth to say. */
const struct kernel *kernel_plain(void);
const struct kernel *kernel_avx2(void);
const struct kernel *kernel_avx512(void);

/* The kernels that run on this machine, fastest first; NULL after the
 * last. */
const struct kernel *kernel_nth(size_t n);

#endif
