/* thoughts.h: made from chapters/70-real-world.nw; edit it there. */
#ifndef MH_THOUGHTS_H
#define MH_THOUGHTS_H

#include "interventions.h"

enum { THOUGHT_T = 5, THOUGHT_C = 8, THOUGHT_H = 2 };

/* What the experiments on mistaken thoughts find. */
struct thoughts {
	/* a head's query, when the other half moves */
	real slice;
	real concat_other;      /* head 0's columns, when head 1 changes */
	real concat_output;     /* the output, when head 1 changes */
	/* between the weights of two random heads */
	real distance;
	real projected_past;    /* the past, under 10 random projections */
	/* the weights, when the projection changes */
	real weights_moved;
	/* the output, when the projection changes */
	real output_moved;
};

/* Make all experiments. Returns what the loop path returns. */
enum status thoughts_observe(struct thoughts *t, struct error *error);

#endif
