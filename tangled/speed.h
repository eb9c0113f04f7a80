/* speed.h: made from chapters/60-speed.nw; edit it there. */
#ifndef MH_SPEED_H
#define MH_SPEED_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct speed_shape { size_t B, T, C, H; };

/* types of speed */
/* What a forward pass carries between memory and processor, in units
 * that grow with the shape. */
struct traffic {
	double wide;            /* times B T C numbers */
	double wide_a_head;     /* times B T C H numbers */
	double square;          /* times B H T T numbers */
};

struct timed;

/* Bytes beyond inputs, output and the gradients of input and
 * parameters. */
struct speed_memory {
	size_t asked;                   /* of workspaces, at most */
	size_t grown;                   /* by the process, at most; 0 if
	                                 * the system does not say */
};

/* The quartiles of some numbers. */
struct spread { double low, median, high; };
/* prototypes of speed */
/* The useful operations, additions and multiplications, of a causal
 * layer without biases: its four projections of (B,T,C), and its two
 * products over the lower triangle, diagonal included. */
double speed_projections(struct speed_shape shape);
double speed_attention(struct speed_shape shape);

/* Those of a forward pass, or of forward and backward: three times the
 * projections, and five products over the triangle beside the two. */
double speed_operations(struct speed_shape shape, bool backward);

/* The bytes, in float, that a forward pass by this path carries if
 * caches keep what one operation needs, and nothing from one operation
 * to the next. Each weight is read once. Not a number if there is no
 * such path. */
double speed_bytes(const char *path, struct speed_shape shape);

/* Multiplications and additions a second, in float, of threads that
 * multiply and add in registers and do nothing else; the best of many
 * repeats. 0 if they cannot be made. */
double speed_fma(size_t threads);

/* How many numbers, in float, are in a vector that it multiplies. */
size_t speed_lanes(void);

/* Bytes a second that the threads read of a buffer of that size, of
 * which each has its part. 0 if there is no room. */
double speed_reading(size_t bytes, size_t threads);

/* Seconds since some moment. */
double speed_now(void);

/* Operations a second of the product of two n x n matrices by BLAS,
 * with its own threads; the best of five. 0 if there is no room. */
double speed_gemm(size_t n);
double mhf_speed_gemm(size_t n);        /* the same in float */

/* The name of path number i; NULL after the last. */
const char *speed_path(size_t i);

/* A random layer of the shape and a random input, with all that this
 * path needs to run on it, forward or forward and backward. MH_ESHAPE
 * if there is no such path or no such layer, MH_EMEMORY. On error
 * *timed is NULL. */
enum status speed_create(const char *path, struct speed_shape shape,
		bool backward, struct timed **timed, struct error *error);

/* Run it repeats times, and store the seconds of one. Returns what the
 * path returns. After a first step nothing is allocated. */
enum status speed_step(struct timed *timed, size_t repeats,
		double *seconds, struct error *error);

/* What was needed until now. What the process has grown by says
 * something only if it had never been larger before speed_create. */
struct speed_memory speed_memory(const struct timed *timed);

void speed_free(struct timed *timed);

/* The same in float. */
enum status mhf_speed_create(const char *path, struct speed_shape shape,
		bool backward, struct timed **timed, struct error *error);
enum status mhf_speed_step(struct timed *timed, size_t repeats,
		double *seconds, struct error *error);
struct speed_memory mhf_speed_memory(const struct timed *timed);
void mhf_speed_free(struct timed *timed);

/* The quartiles of count numbers, which are put in order; between two
 * numbers, on the line between them (definition 7 of Hyndman and Fan
 * 1996). All NaN if there are none. */
struct spread speed_spread(double *numbers, size_t count);

/* Operations a second of the fastest kernel on one thread, the best of
 * many; 0 if there is no room. A product is that of (T,768) with the
 * transpose of a (768,768), as in a projection, or that of the
 * transpose of a (T,768) with a (T,768), as in gradients of weights. */
double speed_product(size_t T, bool gradient);

/* The attention of one head of T positions and width 64 with a causal
 * mask: two products forward, or the five of the way back. */
double speed_head(size_t T, bool backward);

/* The same in float. */
double mhf_speed_product(size_t T, bool gradient);
double mhf_speed_head(size_t T, bool backward);

#endif
