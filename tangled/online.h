/* online.h: made from chapters/55-streaming.nw; edit it there. */
#ifndef MH_ONLINE_H
#define MH_ONLINE_H

#include "layer.h"

/* types of online */
/* A row of attention that is under way: what its sources have given so
 * far, as if the largest of their scores were zero. */
struct online_row {
	struct tensor output;           /* (d): sum of e^(s - maximum) v */
	real sum;                       /* of e^(s - maximum) */
	real maximum;                   /* of the scores s */
};


/* What a forward pass that stores no square hands back, in memory of
 * the caller. */
struct streamed {
	struct tensor output;   /* (B,T,C) */
	struct tensor concat;   /* (B,T,C) */
	struct tensor qkv;      /* (B,T,3C): projections with biases */
	struct tensor maximum;  /* (B,H,T): reference of a row's scores */
	struct tensor sum;      /* (B,H,T): of exponentials above it */
};


/* A way to run a layer without storing the square: online, or one that
 * does the same faster. */
struct streaming {
	enum status (*forward)(const struct layer *layer,
			struct tensor x, bool causal,
			const struct streamed *result,
			struct workspace *workspace, struct error *error);
	enum status (*backward)(const struct layer *layer,
			struct tensor x, bool causal,
			const struct streamed *seen, struct tensor dy,
			struct tensor dx, struct workspace *workspace,
			struct error *error);
};

/* prototypes of online */
/* Begin a row without sources; its output has memory already. */
void online_start(struct online_row *row);

/* Take one more source into the row: its score, and its value (d).
 * Returns the factor by which the sums so far were rescaled. Milakov
 * and Gimelshein 2018, algorithm 3. */
real online_add(struct online_row *row, real score,
		struct tensor value);

/* Turn the sums into the weighted mean of the values. NaN if the
 * largest score was not finite or one was NaN. */
void online_finish(struct online_row *row);


/* The slopes of a way back: dy, which is read, and dx. */
struct slope {
	struct tensor dy, dx;           /* (B,T,C) */
};

/* Borrow room for what a forward pass over x (B,T,C) hands back; only
 * the shape of x is looked at. Returns what workspace_take returns. */
enum status streamed_take(const struct layer *layer, struct tensor x,
		struct streamed *result, struct workspace *workspace,
		struct error *error);

/* MH_OK if x is a (B,T,C), every slot holds a head that fits, the parts
 * of result have the shapes of a forward pass over x, and what is
 * written keeps clear of all else: the result in a forward pass; on the
 * way back, which has a slope, dx and qkv and the gradients. Otherwise
 * MH_ESHAPE, or what layer_expect_apart returns. */
enum status streamed_expect(const struct layer *layer, struct tensor x,
		const struct streamed *result, const struct slope *slope,
		struct error *error);


/* What layer_forward_loop computes, without a tensor (T,T): a row of
 * scores is taken source by source. Scores have the loop's bits; sums
 * may differ in their last bits, and a sum of T values may overflow
 * where their mean would not. A row depends on what it sees and on
 * nothing else, to the last bit. For odd arguments and numbers see
 * layer_forward_loop; maximum, sum and qkv are for the way back.
 * Nothing is taken from the workspace, which may be NULL. Rabe and
 * Staats 2021, sections 2 and 3. */
enum status layer_forward_online(const struct layer *layer,
		struct tensor x, bool causal, const struct streamed *result,
		struct workspace *workspace, struct error *error);


/* Back through layer_forward_online: x (B,T,C) and causal as they were
 * forward; seen as the forward pass has left it; dy (B,T,C), the
 * gradient of the output. Sets dx (B,T,C), and adds to gradients as
 * layer_backward_loop does, refusing what that refuses. Replaces
 * seen->qkv by the gradients of the projections, so another backward
 * pass needs another forward pass before it. Reads concat, maximum and
 * sum, and not the output. MH_EMEMORY if the workspace cannot grow:
 * then, too, nothing has been written and nothing added. Dao et al.
 * 2022, appendix B.2. */
enum status layer_backward_online(const struct layer *layer,
		struct tensor x, bool causal, const struct streamed *seen,
		struct tensor dy, struct tensor dx,
		struct workspace *workspace, struct error *error);

#endif
