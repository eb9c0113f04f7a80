/* interventions.h: made from chapters/35-interventions.nw; edit it there. */
#ifndef MH_INTERVENTIONS_H
#define MH_INTERVENTIONS_H

#include "layer.h"

/* A way to run a layer forward: layer_forward_loop and its like. */
typedef enum status forward_path(const struct layer *layer,
		struct tensor x, bool causal, const struct forward *result,
		struct workspace *workspace, struct error *error);

/* prototypes of interventions */
/* Run x (B,T,C), then run it with 3 added to all features but the first
 * at one position. change[t] is the largest change of the output at
 * position t, over examples and features; there are T of them. Returns
 * what the path returns, and MH_ESHAPE if there is no such position. */
enum status perturb(forward_path *path, const struct layer *layer,
		struct tensor x, bool causal, size_t position, real change[],
		struct workspace *workspace, struct error *error);

/* The largest difference, over all n, between the first n positions of
 * a causal run over x (B,T,C) and a run over its first n positions.
 * Returns what the path returns. */
enum status truncate_all(forward_path *path, const struct layer *layer,
		struct tensor x, real *difference,
		struct workspace *workspace, struct error *error);

/* How many weights (B,H,T,T) on the future are not zero. */
size_t future_weights(struct tensor weights);

/* How far, at most, a row of weights (B,H,T,T) is from adding up to
 * 1. */
real row_error(struct tensor weights);

enum mistake {
	NO_MISTAKE,
	NO_MASK,                /* the future is not masked */
	NO_SUM,                 /* weights are not divided by their sum */
	WRONG_AXIS,             /* the softmax runs down the columns */
	NO_SWAP                 /* heads are merged without a swap */
};

enum { MISTAKES = NO_SWAP + 1 };

/* The path that makes a mistake, for demonstration: causal whatever it
 * is asked for, and into contiguous results only. Shapes and slots are
 * the caller's business. */
forward_path *forward_mistaken(enum mistake mistake);

/* What interventions on the fixture find. */
struct flow {
	real masked, unmasked;  /* change of the past */
	/* weights on the future that are not zero */
	size_t future;
	real rows;              /* how far rows are from adding up to 1 */
};

/* Change the last position of the fixture, with and without the mask,
 * and look at its weights. MH_EMEMORY if there is no room. */
enum status observe_flow(struct flow *flow, struct error *error);

/* The largest change of the output before the last position of x
 * (B,T,C) when that position is perturbed. Returns what the path
 * returns. */
enum status past_change(forward_path *path, const struct layer *layer,
		struct tensor x, bool causal, real *change,
		struct workspace *workspace, struct error *error);

#endif
