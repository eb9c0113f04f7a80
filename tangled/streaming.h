/* streaming.h: made from chapters/57-tiles.nw; edit it there. */
#ifndef MH_STREAMING_H
#define MH_STREAMING_H

#include "kernel.h"
#include "online.h"

/* prototypes of streaming */
/* Threads belong to OpenMP, which cannot say that it lacks one. If the
 * system makes no more threads, GNU's OpenMP ends the process with a
 * sentence and status 1. And a process that was forked after a pass on
 * several threads waits in its next one for threads that it does not
 * have, for ever. So it is with the packed path, too. Neither happens
 * with OMP_NUM_THREADS=1, or after omp_set_num_threads(1), in the child
 * for instance. */

/* What layer_forward_online computes, within rounding, on tiles and
 * over all threads that OpenMP allows. All parts of result are
 * contiguous. For odd arguments and numbers see layer_forward_loop; but
 * a query is divided by the root of d before it meets a key, so a score
 * may be finite here whose dot product is not. A row depends on what it
 * sees and on nothing else, and no number depends on how many threads
 * there are, to the last bit; but up to 8 positions of a layer of width
 * up to 8 run on plain loops, whose last bits may differ. After a first
 * call of the same size, with as many threads, nothing is allocated. If
 * MH_EMEMORY is returned, nothing has been written. Dao 2023, algorithm
 * 1. */
enum status layer_forward_streaming(const struct layer *layer,
		struct tensor x, bool causal, const struct streamed *result,
		struct workspace *workspace, struct error *error);

/* Back through it, as layer_backward_online; seen may be what either
 * path has left. dx is contiguous, too. If MH_EMEMORY is returned,
 * nothing has been written, and nothing added to a gradient. Dao et al.
 * 2022, appendix B.2. */
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
