/* attention.h: made from chapters/15-one-head.nw; edit it there. */
#ifndef MH_ATTENTION_H
#define MH_ATTENTION_H

#include "workspace.h"

/* prototypes of attention */
/* The weights of one head's projections, each stored (d, C): a row for
 * every output coordinate. */
struct projections {
	struct tensor query, key, value;
	/* biases of the projections */
	/* (d), or no data */
	struct tensor query_bias, key_bias, value_bias;
};

/* out = x weight^T: x (T,C), weight (d,C), out (T,d). Vaswani et al.
 * 2017, section 3.2.2. MH_ESHAPE if these do not fit. */
enum status attention_project(struct tensor x, struct tensor weight,
		struct tensor out, struct error *error);

/* scores = queries keys^T / sqrt(d): queries and keys (T,d), scores
 * (T,T). Vaswani et al. 2017, equation 1. MH_ESHAPE if these do not
 * fit. */
enum status attention_scores(struct tensor queries, struct tensor keys,
		struct tensor scores, struct error *error);

/* Divide dot products of so many terms by the root of that number. */
void attention_scale(struct tensor scores, size_t width);

/* How many positions, from the first on, position i of length may
 * see. */
static inline size_t attention_visible(size_t i, size_t length,
		bool causal)
{
	return causal ? i + 1 : length;
}

/* Overwrite the scores (T,T) of the future with minus infinity. */
void attention_mask(struct tensor scores);

/* out = weights values, reading of each row of weights (T,T) only what
 * its position may see; values and out (T,d). Vaswani et al. 2017,
 * equation 1. Shapes are the caller's business. */
void attention_mix(struct tensor weights, struct tensor values,
		bool causal, struct tensor out);

/* One head for one example: x (T,C), projections of width d, weights
 * (T,T), out (T,d). What lies behind the mask does not reach a row that
 * cannot see it, finite or not. Vaswani et al. 2017, equation 1.
 * MH_ESHAPE if the shapes do not fit, or weights or out overlap
 * anything else, MH_EMEMORY if the workspace cannot grow. */
enum status attention_head(struct projections projections,
		struct tensor x, bool causal,
		struct tensor weights, struct tensor out,
		struct workspace *workspace,
		struct error *error);

/* Add bias (d) to every row of rows (T,d). A bias without data is
 * none. */
void attention_bias(struct tensor rows, struct tensor bias);

/* MH_OK if each bias has no data, or one number for every row of its
 * weight; otherwise MH_ESHAPE. */
enum status attention_expect_biases(struct projections p,
		struct error *error);

#endif
