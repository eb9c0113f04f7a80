/* tests/streamed_bench.h: made from chapters/55-streaming.nw; edit it there. */
#ifndef MH_STREAMED_BENCH_H
#define MH_STREAMED_BENCH_H

#include <check.h>

#include "layer_bench.h"
#include "online.h"

/* Of the bench only the layer, its sizes, the input and the workspace
 * are used; the tensors lie in the room, and may have any size. */
struct stream {
	struct bench s;
	struct workspace room;
	struct tensor out, in;          /* dy and dx: (B,T,C) */
	struct streamed result;
};

/* Test this path from now on. Where the loop gives the same bits twice,
 * the path may differ by so many epsilons. */
void streamed_use(const struct streaming *path, real slack);

/* A random layer, input and slope; forward; forward and back. */
void streamed_set(struct stream *t, size_t B, size_t T, size_t H,
		size_t d);
void streamed_forth(struct stream *t, bool causal);
void streamed_run(struct stream *t, bool causal);
void streamed_free(struct stream *t);

/* No entry is off by more than units, in epsilons of the largest wanted
 * one. A NaN is. */
void streamed_close(struct tensor got, struct tensor want,
		double units);

/* Results and gradients of a random layer are the loop's. */
void streamed_compare(size_t B, size_t T, size_t H, size_t d,
		bool causal, bool biases);

/* Add every test that a path must pass which stores no square. */
void streamed_tests(TCase *tcase);

#endif
