/* fixture.h: made from chapters/20-fixture.nw; edit it there. */
#ifndef MH_FIXTURE_H
#define MH_FIXTURE_H

#include "attention.h"

enum { FIXTURE_T = 3, FIXTURE_C = 4, FIXTURE_H = 2, FIXTURE_D = 2 };

struct fixture {
	real x[FIXTURE_T][FIXTURE_C];
	real query[FIXTURE_H][FIXTURE_D][FIXTURE_C]; /* (d,C) per head */
	real key[FIXTURE_H][FIXTURE_D][FIXTURE_C];
	real value[FIXTURE_H][FIXTURE_D][FIXTURE_C];

	real scores[FIXTURE_H][FIXTURE_T][FIXTURE_T];   /* results */
	real weights[FIXTURE_H][FIXTURE_T][FIXTURE_T];
	real output[FIXTURE_H][FIXTURE_T][FIXTURE_D];
	/* more fields of fixture */
	real out_proj[FIXTURE_C][FIXTURE_C];

	real layer_weights[FIXTURE_H][FIXTURE_T][FIXTURE_T];    /* results */
	real concat[FIXTURE_T][FIXTURE_C];
	real projected[FIXTURE_T][FIXTURE_C];
	real sum[FIXTURE_T][FIXTURE_D];
	real contribution[FIXTURE_H][FIXTURE_T][FIXTURE_C];
};

/* prototypes of fixture */
/* Set the hand-chosen input and weights, and no results. */
void fixture_set(struct fixture *f);

/* Set the query feature of every position to zero. */
void fixture_silence(struct fixture *f);

/* Run both heads under the causal mask, filling scores, weights and
 * output. MH_EMEMORY if there is no room for intermediates. */
enum status fixture_run_heads(struct fixture *f, struct error *error);

/* An array of the fixture as a matrix: a row for each position, or the
 * two rows of a head's weight. */
struct tensor fixture_rows(void *array, size_t columns);
struct tensor fixture_weight(void *array);

struct layer;

/* Make a layer with the fixture's weights, for the caller to free.
 * MH_EMEMORY if there is no room. */
enum status fixture_layer(const struct fixture *f, struct layer **layer,
		struct error *error);

/* Run the fixture as a layer, filling layer_weights, concat, projected,
 * sum and contribution. MH_EMEMORY if there is no room. */
enum status fixture_run_layer(struct fixture *f, struct error *error);

#endif
