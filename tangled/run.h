/* run.h: made from chapters/50-pytorch.nw; edit it there. */
#ifndef MH_RUN_H
#define MH_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
/* includes of run.h */
#include "online.h"

#include "streaming.h"

/* The paths on which a layer can be run. */
enum run_path {
	RUN_LOOP, RUN_PACKED,
	/* more paths of a run */
	RUN_ONLINE,

	RUN_STREAMING,
	RUN_PATHS
};

struct run_request {
	const char *layer, *inputs, *output;    /* files */
	const char *prefix;             /* of the layer's names, or "" */
	size_t heads;
	enum run_path path;
	bool causal, backward;
};

/* Store the path of this name, "loop" for one; false if there is
 * none. */
bool run_path_find(const char *name, enum run_path *path);

/* Run the layer in one file on the inputs in another, and write what it
 * makes of them.
 *
 * The layer: in_proj_weight (3C,C), out_proj.weight (C,C), and perhaps
 * in_proj_bias (3C) and out_proj.bias (C), under the prefix; nothing
 * else is under it. The inputs: x (B,T,C), and dy (B,T,C) if backward.
 * The output: y (B,T,C), attn_weights (B,H,T,T) if the path stores
 * them, concat (B,T,C), and if backward grad.x and the gradient of each
 * of the layer's tensors, grad.in_proj_weight and so on.
 *
 * MH_EFORMAT or MH_ESHAPE if a file does not hold what it should,
 * MH_EFILE if one cannot be read or written or the output is one of the
 * inputs, MH_ESIZE if something would be too large to address or for
 * BLAS, MH_EMEMORY. Unless it returns MH_OK, a file that was at output
 * before is unchanged. */
enum status run_layer(const struct run_request *request,
		struct error *error);

/* The same for files in float, whatever the precision of the caller. */
enum status mhf_run_layer(const struct run_request *request,
		struct error *error);

/* Store whether the numbers of the layer's file are in float; false if
 * it has no such layer, and run_layer will say so. Returns what
 * weights_open returns. */
enum status run_wants_float(const struct run_request *request,
		bool *single, struct error *error);

#endif
