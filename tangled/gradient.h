/* gradient.h: made from chapters/45-gradients.nw; edit it there. */
#ifndef MH_GRADIENT_H
#define MH_GRADIENT_H

#include "layer.h"

/* prototypes of gradient */
/* Back through x weight^T + bias: given dy (T,d), add to dweight (d,C),
 * dbias (d) and dx (T,C); x (T,C), weight (d,C). A dbias without data
 * stands for no bias. MH_ESHAPE if these do not fit, or what is added
 * to overlaps what is read. */
enum status gradient_project(struct tensor x, struct tensor weight,
		struct tensor dy, struct tensor dweight, struct tensor dbias,
		struct tensor dx, struct error *error);

/* Add every row of drows (T,d) to dbias (d), unless that has no
 * data. */
void gradient_bias(struct tensor drows, struct tensor dbias);

/* out = weights^T rows: what each position j gets back from the
 * positions that may see it. weights (T,T), rows and out (T,d). Shapes
 * are the caller's business. */
void gradient_scatter(struct tensor weights, struct tensor rows,
		bool causal, struct tensor out);

/* dweights_ij = drows_i . values_j where position i may see j, and zero
 * elsewhere: dweights (T,T), drows and values (T,d). Shapes are the
 * caller's business. */
void gradient_weights(struct tensor drows, struct tensor values,
		bool causal, struct tensor dweights);

/* Replace dweights (T,T) by the gradient of the scores that
 * softmax_rows made into weights (T,T); zero where the mask is. Shapes
 * are the caller's business. */
void gradient_softmax(struct tensor weights, bool causal,
		struct tensor dweights);

/* Back through attention_head: given x (T,C), the weights (T,T) that it
 * handed back and dout (T,d), add to the gradients of the projections
 * (shaped like these) and to dx (T,C). MH_ESHAPE if these do not fit,
 * MH_EMEMORY if the workspace cannot grow; nothing is written then. */
enum status gradient_head(struct projections projections,
		struct projections gradients,
		struct tensor x, bool causal,
		struct tensor weights, struct tensor dout,
		struct tensor dx, struct workspace *workspace,
		struct error *error);

/* Back through layer_forward_loop: x (B,T,C) and causal as they were
 * forward; seen, of which weights and concat are read, as the forward
 * pass has left it; dy (B,T,C), the gradient of the output. Sets dx
 * (B,T,C); adds to the gradient of every parameter of the heads in the
 * slots, of out_proj and of the biases. What it does with odd arguments
 * and numbers is said of layer_forward_loop. Two calls on one layer
 * must not run at the same time, since both would add to its
 * gradients. */
enum status layer_backward_loop(const struct layer *layer,
		struct tensor x, bool causal, const struct forward *seen,
		struct tensor dy, struct tensor dx,
		struct workspace *workspace, struct error *error);

/* What layer_backward_loop computes, by products over all heads and by
 * BLAS; it agrees with the loop within rounding. The weights and qkv
 * that were seen, and dx, must be contiguous; without qkv, x is
 * projected again. Returns what the loop returns, and
 * MH_ESIZE if a size exceeds the integers of BLAS; but if MH_EMEMORY is
 * returned, some gradients may have been added, though dx was not
 * written. */
enum status layer_backward_packed(const struct layer *layer,
		struct tensor x, bool causal, const struct forward *seen,
		struct tensor dy, struct tensor dx,
		struct workspace *workspace, struct error *error);

/* Add the rows of a stacked gradient (3C,C), and of that of the biases
 * (3C) if there are any, to the heads that they belong to. These must
 * fit, as layer_expect_heads says. */
void gradient_hand_out(const struct layer *layer,
		struct tensor dweight, struct tensor dbias);

#endif
