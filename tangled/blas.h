/* blas.h: made from chapters/30-packed.nw; edit it there. */
#ifndef MH_BLAS_H
#define MH_BLAS_H

#include "tensor.h"

/* out = a b as tensor_product has it, but by BLAS, which fixes no order
 * of summation. One stride of each matrix must be 1, and the last of
 * out. How many threads it uses is between BLAS and the caller: it is
 * neither asked nor told. MH_ESHAPE if shapes or strides do not fit,
 * MH_ESIZE if a size exceeds the integers of BLAS. */
enum status blas_product(struct tensor a, struct tensor b,
		struct tensor out, struct error *error);
/* more prototypes of blas */

/* out = out + a b, otherwise as blas_product. */
enum status blas_add_product(struct tensor a, struct tensor b,
		struct tensor out, struct error *error);

#endif
