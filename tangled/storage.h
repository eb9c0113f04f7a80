/* storage.h: made from chapters/40-storage.nw; edit it there. */
#ifndef MH_STORAGE_H
#define MH_STORAGE_H

#include "interventions.h"

/* What a forward pass over (B,T,C) with H heads costs, by
 * arithmetic. */
struct cost {
	size_t parameters;      /* numbers to be learned */
	size_t entries;         /* scores: B H T T */
	size_t products;        /* of the two score products: 2 B T T C */
};

/* prototypes of storage */
/* Fill *cost, or MH_ESIZE if a count exceeds what memory could hold.
 * The parameters are counted, not calculated: by the registry of a
 * layer that is made for it, so MH_ESHAPE and MH_EMEMORY are possible
 * as well. */
enum status storage_cost(size_t B, size_t T, size_t C, size_t H,
		struct cost *cost, struct error *error);

/* What one forward pass really took. */
struct usage {
	/* bytes borrowed from the workspace, at most */
	size_t asked;
	/* bytes by which the process grew, at most */
	size_t resident;
	double seconds;         /* from the call to its return */
};

/* What can be measured: a pass over x (B,T,C) that takes its results
 * and intermediates from the workspace. */
typedef enum status storage_pass(const struct layer *layer,
		struct tensor x, struct workspace *workspace,
		struct error *error);

/* The causal forward passes of the loop and of the packed path. */
enum status storage_loop(const struct layer *layer, struct tensor x,
		struct workspace *workspace, struct error *error);
enum status storage_packed(const struct layer *layer, struct tensor x,
		struct workspace *workspace, struct error *error);

/* Measure a pass over (B,T,C) with H heads, in a process of its own.
 * The layer and the input do not count. Returns what the layer or the
 * pass returns, or MH_EFILE if a process cannot be made, dies, or takes
 * more than a minute. */
enum status storage_measure(storage_pass *pass, size_t B, size_t T,
		size_t C, size_t H, struct usage *usage, struct error *error);

/* What a process of its own can do; what it finds, it leaves in
 * data. */
typedef enum status lonely_work(void *data, struct error *error);

/* Let a new process work on a copy of data, which has so many bytes, at
 * most 256, and bring back what it leaves there. Returns what the work
 * returns, or MH_EFILE if the process cannot be made, dies, or takes
 * more than a minute. */
enum status storage_apart(lonely_work *work, void *data, size_t size,
		struct error *error);

/* One point of the sweep. */
struct point {
	size_t T, H;
	struct cost cost;
	struct usage usage;
};

enum { SWEEP_B = 1, SWEEP_C = 64, SWEEP_POINTS = 19 };

/* Which lengths and heads point number i stands for. T doubles after
 * all head counts; 2048 with 8 heads comes last and is left out. */
struct point sweep_point(size_t i);

/* Fill in what arithmetic says of the point, and what is measured.
 * Returns what storage_cost and storage_measure return. */
enum status sweep_measure(struct point *point, struct error *error);

#endif
