/* streaming.h: made from chapters/57-tiles.nw; edit it there. */
#ifndef MH_STREAMING_H
#define MH_STREAMING_H

#include "kernel.h"
#include "online.h"

/* prototypes of streaming */
/* doc */
enum status layer_forward_streaming(const struct layer *layer,
		struct tensor x, bool causal, const struct streamed *result,
		struct workspace *workspace, struct error *error);
enum status layer_backward_streaming(const struct layer *layer,
		struct tensor x, bool causal, const struct streamed *seen,
		struct tensor dy, struct tensor dx,
		struct workspace *workspace, struct error *error);

/* The same by a kernel of one's choice. */
enum status streaming_forward(const struct kernel *kernel,
		const struct layer *layer, struct tensor x, bool causal,
		const struct streamed *result, struct workspace *workspace,
		struct error *error);
enum status streaming_backward(const struct kernel *kernel,
		const struct layer *layer, struct tensor x, bool causal,
		const struct streamed *seen, struct tensor dy,
		struct tensor dx, struct workspace *workspace,
		struct error *error);

#endif
