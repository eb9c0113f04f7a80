/* blas.h: made from chapters/30-packed.nw; edit it there. */
#ifndef MH_BLAS_H
#define MH_BLAS_H

#include "tensor.h"

/* out = a b as tensor_product has it, but by BLAS, which fixes no order
 * of summation. One stride of each matrix must be 1, and the last of
 * out. How many threads BLAS has is between it and the caller: it is
 * asked, but not told. MH_ESHAPE if shapes or strides do not fit,
 * MH_ESIZE if a size exceeds the integers of BLAS. */
enum status blas_product(struct tensor a, struct tensor b,
		struct tensor out, struct error *error);
/* more prototypes of blas */

/* How many threads should share a job of so many multiplications: as
 * many as OpenMP allows, if there is enough to do and nobody has shared
 * it out before; if not, 1. */
size_t job_threads(double products);

/* The same of a job that calls BLAS, which must say that it has one
 * thread itself; if not, 1. */
size_t blas_threads(double products);

/* Run all parts of a job, numbered from 0, on so many threads, numbered
 * from 0, in any order. Returns the largest status that a part
 * returns. */
enum status blas_share(size_t threads, size_t parts, void *job,
		enum status (*run)(void *job, size_t part, size_t thread));


/* out = out + a b, otherwise as blas_product. */
enum status blas_add_product(struct tensor a, struct tensor b,
		struct tensor out, struct error *error);

#endif
