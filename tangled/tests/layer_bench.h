/* tests/layer_bench.h: made from chapters/25-loop.nw; edit it there. */
#ifndef MH_LAYER_BENCH_H
#define MH_LAYER_BENCH_H

#include "layer.h"
#include "oracle.h"

struct bench {
	size_t B, T, C, H, d;
	struct layer *layer;
	struct workspace workspace;
	real x[512], output[512], concat[512], weights[1024];
	struct tensor input;
	struct forward result;
};

/* A random layer of H heads of width d, and a random input. */
void bench_set(struct bench *s, size_t B, size_t T, size_t H, size_t d);

/* The layer forward by the loop. */
void bench_run(struct bench *s, bool causal);

/* The same layer and input, as the oracle wants them. */
struct problem bench_problem(const struct bench *s, bool causal);

void bench_free(struct bench *s);
/* prototypes of the bench */

/* The results agree with the oracle, as nearly as its bounds say. */
void bench_judge(const struct bench *s, bool causal);


/* So many threads for us, and for BLAS. */
void bench_allow_threads(int ours, int of_blas);


/* A number whose square is infinite. */
real bench_big(void);

/* At position t of the last example, let this row of in_proj give big
 * times weight, plus what the other features add. */
void bench_overflow(struct bench *s, size_t row, size_t t, real weight);

/* How many numbers of a row are finite. */
size_t finite_numbers(struct tensor row);


/* Give the layer random biases. */
void bench_add_biases(struct bench *s);


/* Compare count gradients of the loss sum(dy * y) with its slopes in as
 * many numbers of the problem, which the oracle finds by trying. */
void bench_slopes(const struct problem *p, const real *dy,
		const real *numbers, const real *gradients, size_t count);

/* Can the oracle's long double be told from the type under test? */
bool bench_has_digits(void);

/* Shapes worth trying: B, T, H, d. */
enum { SHAPES = 6 };
extern const size_t shapes[SHAPES][4];

#endif
