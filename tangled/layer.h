/* layer.h: made from chapters/25-loop.nw; edit it there. */
#ifndef MH_LAYER_H
#define MH_LAYER_H

#include "attention.h"

/* types of layer */
struct parameter {
	struct tensor value;
	struct tensor gradient;         /* of the same shape */
};

struct head {
	struct parameter query, key, value;             /* (d,C) each */
	/* biases of a head */
	struct parameter query_bias, key_bias, value_bias;      /* (d) each */
};

struct entry {
	char name[48];                  /* "heads.1.query.weight" */
	struct parameter *parameter;
};

struct registry {
	struct entry *entries;
	size_t count, room;
};

struct layer {
	size_t width, heads, head_width;        /* C, H, d */
	struct head **head;             /* H slots: what the loop runs */
	struct head *own;               /* H heads: rows of in_proj */
	struct parameter in_proj;       /* (3C,C): rows of the own heads */
	struct parameter out_proj;      /* (C,C) */
	/* biases of the layer */
	struct parameter in_bias;       /* (3C), in the order of in_proj */
	struct parameter out_bias;      /* (C) */
	real *bias_memory;              /* NULL: no biases */
	struct registry registry;
	real *memory;                   /* all values, then all gradients */
};

/* prototypes of layer */
/* Enter a parameter under a name, or give an old name a new parameter.
 * MH_EMEMORY if the registry is full, MH_EFORMAT if the name is longer
 * than 47 characters, MH_ESHAPE if a pointer is NULL. */
enum status registry_enter(struct registry *registry, const char *name,
		struct parameter *parameter,
		struct error *error);

/* The entry of this name, or NULL. */
struct entry *registry_find(const struct registry *registry,
		const char *name);

/* The index of the first entry with the same parameter as entry i; it
 * is i itself unless the parameter was entered before under another
 * name. */
size_t registry_first(const struct registry *registry, size_t i);

/* How many numbers there are to learn, each parameter counted once. */
size_t registry_numbers(const struct registry *registry);

void registry_zero_gradients(const struct registry *registry);

/* A layer of the given width C whose slots and registry are empty but
 * for out_proj; all numbers are zero, and there are no biases.
 * MH_ESHAPE unless heads divides width and neither is zero, MH_ESIZE if
 * the numbers could not be addressed, MH_EMEMORY if there is no room.
 * On error *layer is NULL. */
enum status layer_frame(size_t width, size_t heads,
		struct layer **layer, struct error *error);

/* A frame with its own heads entered: what one usually wants. */
enum status layer_create(size_t width, size_t heads,
		struct layer **layer, struct error *error);

void layer_free(struct layer *layer);

/* Put a head into a slot, and its parameters into the registry under
 * the names of that slot. The head may be the layer's own or the
 * caller's, and may stand in several slots. MH_ESHAPE if it does not
 * fit. */
enum status layer_enter(struct layer *layer, size_t slot,
		struct head *head, struct error *error);

/* Fill every parameter with numbers uniform in +-1/sqrt(C), in the
 * order of the registry, each parameter once. No layer, NULL, has
 * nothing to fill. */
void layer_randomize(struct layer *layer, uint64_t seed);

/* What a forward pass hands back, in memory of the caller. Weights and
 * concatenation are for looking at: only the output is owed. */
struct forward {
	struct tensor output;           /* (B,T,C) */
	struct tensor weights;          /* (B,H,T,T), or zero: unwanted */
	struct tensor concat;           /* (B,T,C) */
	/* what only the packed path hands back */
	struct tensor qkv;              /* (B,T,3C), or zero: unwanted; the
	                                 * loop refuses it */
};

/* Borrow room for the output, weights and concatenation of a forward
 * pass over x (B,T,C); only the shape of x is looked at. MH_ESIZE,
 * before anything is borrowed, if memory could not hold it; else what
 * workspace_take returns. */
enum status forward_take(const struct layer *layer, struct tensor x,
		struct forward *result, struct workspace *workspace,
		struct error *error);

/* Run the heads one after the other, each on the whole width of x
 * (B,T,C); set them side by side; project. Vaswani et al. 2017, section
 * 3.2.2. x may be any view.
 *
 * What every pass of this library, forth or back, does with the odd:
 * B or T may be 0, and nothing is done then. A refusal comes before
 * anything is written: MH_ESHAPE if a pointer is NULL, a tensor has
 * elements and no data, shapes do not fit, a slot is empty or its head
 * no longer fits (weights, biases and the gradients of both are looked
 * at, forth and back), or what is written overlaps itself, anything
 * that is read, or a parameter; MH_ESIZE if memory could not hold a
 * tensor; MH_EMEMORY if the workspace cannot grow. After a first call
 * of the same size nothing is allocated.
 *
 * A number that is NaN or infinite shows in every result that may see
 * it and in no other; behind the mask it is never read. A row whose
 * largest score is not finite is NaN; a score of minus infinity, among
 * others, weighs 0. Scores of any finite size have their exact softmax,
 * within rounding.
 *
 * weights without data and of rank 0 are not wanted: heads then take
 * turns with one square (T,T) of the workspace, and the other results
 * keep every bit. Calls on one layer with separate workspaces and
 * results may run at the same time; those of the way back may not,
 * since they add to the same gradients. */
enum status layer_forward_loop(const struct layer *layer,
		struct tensor x, bool causal,
		const struct forward *result,
		struct workspace *workspace,
		struct error *error);

/* The numbers of a head, as its projections want them. */
struct projections head_values(const struct head *head);

/* output (T,C) = concat out_proj^T: what the heads of one example give
 * side by side, concat (T,C), projected. Vaswani et al. 2017, section
 * 3.2.2. MH_ESHAPE if these do not fit or overlap, or layer is NULL. */
enum status layer_mix(const struct layer *layer, struct tensor concat,
		struct tensor output, struct error *error);

/* MH_OK if there is a layer and x has a shape (B,T,C); otherwise
 * MH_ESHAPE and a sentence. */
enum status layer_expect_shape(const struct layer *layer,
		struct tensor x, struct error *error);

/* MH_OK if the weights of the head, its biases and the gradients of
 * both have the shapes that the layer wants; it has biases if and only
 * if the layer has. Otherwise MH_ESHAPE. */
enum status layer_expect_head(const struct layer *layer,
		const struct head *head, struct error *error);

/* The same of the head in every slot, and of the layer's own
 * parameters. */
enum status layer_expect_heads(const struct layer *layer,
		struct error *error);

/* MH_OK if layer_expect_shape and layer_expect_heads say so, and x has
 * data. */
enum status layer_expect_input(const struct layer *layer,
		struct tensor x, struct error *error);

/* The same, and that result has the shapes of a forward pass over x, or
 * leaves the weights out; in the sentence its output is called by
 * name. */
enum status layer_expect(const struct layer *layer, struct tensor x,
		const struct forward *result, const char *name,
		struct error *error);

/* MH_OK if what is written among the uses, of which there are at most
 * TENSOR_USES, overlaps nothing else, and no parameter of the layer or
 * of a head in its slots; on the way back, their gradients are written,
 * too, and those of a borrowed head must overlap no number and not
 * themselves. Otherwise what tensor_expect_apart returns. */
enum status layer_expect_apart(const struct layer *layer, bool back,
		const struct tensor_use uses[], size_t count,
		struct error *error);

/* contribution (B,T,C) = what head h adds to the output, given concat
 * (B,T,C): the output is the sum of these over all heads (and of the
 * output's bias), and lacks this one if the head's columns are zero.
 * MH_ESHAPE if these do not fit or overlap. */
enum status layer_contribution(const struct layer *layer, size_t h,
		struct tensor concat,
		struct tensor contribution,
		struct error *error);

/* Does every slot hold the layer's own head of that number? */
bool layer_runs_its_own(const struct layer *layer);

/* Store in *stacked the rows of all heads, queries before keys before
 * values, as one matrix (3C,C): in_proj itself if the layer runs its
 * own heads, a copy in the workspace if not. MH_ESHAPE if there is no
 * layer, or a head does not fit it; MH_EMEMORY if the workspace cannot
 * grow. */
enum status layer_stack(const struct layer *layer,
		struct tensor *stacked, struct workspace *workspace,
		struct error *error);

/* What layer_forward_loop computes, by one product for all projections
 * and BLAS for every product; it agrees with the loop within rounding,
 * and so do rows before and after something behind their mask has
 * become NaN or infinite. Results must be contiguous; if one of them is
 * qkv, all projections are left in it. If BLAS has one thread, products
 * and heads are shared out among those of OpenMP. Vaswani et al. 2017,
 * section 3.2.2. Returns what the loop returns, and MH_ESIZE if a size
 * exceeds the integers of BLAS. */
enum status layer_forward_packed(const struct layer *layer,
		struct tensor x, bool causal, const struct forward *result,
		struct workspace *workspace, struct error *error);

/* t (B,T,n) as a matrix (B T, n), copied into the workspace if it is
 * not contiguous. MH_EMEMORY if that cannot grow. */
enum status layer_rows(struct tensor t, struct tensor *rows,
		struct workspace *workspace, struct error *error);

/* qkv (B,T,3C), from the workspace: all projections of x (B,T,C).
 * Returns what layer_forward_packed returns. */
enum status layer_project(const struct layer *layer, struct tensor x,
		struct tensor *qkv, struct workspace *workspace,
		struct error *error);

/* The third of qkv (B,T,3C) with this number, seen as (B,H,T,d). */
struct tensor layer_head_axis(const struct layer *layer,
		struct tensor qkv, size_t third);

/* The matrix of one head of one example. */
static inline struct tensor of_head(struct tensor t, size_t b, size_t h)
{
	return tensor_slice(tensor_slice(t, 0, b), 0, h);
}

enum { LAYER_BLOCK = 192 };     /* rows of a square, at most */

/* How many rows of the square of a head, from this one on, BLAS may
 * take at once: 1 if in one of them t (T,d) is not finite, and there is
 * a mask that hides it from some. */
size_t layer_block(struct tensor t, size_t row, bool causal);

/* Give a layer biases, all zero, and enter them in its registry:
 * "out_proj.bias", and "heads.0.query.bias" and so on for the heads in
 * its slots. Entries that registry_find has given before are no longer
 * there. MH_ESHAPE if it has biases already or a slot holds somebody
 * else's head without any, MH_EMEMORY if there is no room; the layer is
 * then what it was. */
enum status layer_add_biases(struct layer *layer, struct error *error);

/* Store in *stacked the biases of all heads as one vector (3C), in the
 * order of layer_stack; no data if the layer has none. Returns what
 * layer_stack returns. */
enum status layer_stack_biases(const struct layer *layer,
		struct tensor *stacked, struct workspace *workspace,
		struct error *error);

/* The gradients of a head, one for each of its projections. */
struct projections head_gradients(const struct head *head);

#endif
