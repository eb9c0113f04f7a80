/* blas.c: made from chapters/30-packed.nw; edit it there. */
#include <cblas.h>
#include <limits.h>

#include "blas.h"

#ifdef MH_SINGLE
#define gemm cblas_sgemm
#else
#define gemm cblas_dgemm
#endif

/* private functions of blas */
/* How BLAS would read a matrix: turned or not, and in which steps.
 * False if neither stride is 1, or rows overlap. */
static bool layout(struct tensor t, CBLAS_TRANSPOSE *turn, size_t *step)
{
	size_t rows = t.shape[0], columns = t.shape[1];

	*turn = CblasNoTrans;
	*step = columns > 1 ? columns : 1;
	if ((columns < 2 || t.stride[1] == 1) &&
			(rows < 2 || t.stride[0] >= (ptrdiff_t)*step)) {
		if (rows > 1)
			*step = (size_t)t.stride[0];
		return true;
	}
	*turn = CblasTrans;
	*step = rows > 1 ? rows : 1;
	if ((rows < 2 || t.stride[0] == 1) &&
			(columns < 2 || t.stride[1] >= (ptrdiff_t)*step)) {
		if (columns > 1)
			*step = (size_t)t.stride[1];
		return true;
	}
	return false;
}

/* out = a b + keep out; an out that is not kept is not read. */
static enum status run_gemm(struct tensor a, struct tensor b, real keep,
		struct tensor out, struct error *error)
{
	CBLAS_TRANSPOSE turn_a, turn_b, turn_out;
	size_t step_a, step_b, step_out;

	if (a.rank != 2 || b.rank != 2 || out.rank != 2 ||
			a.shape[1] != b.shape[0] || out.shape[0] != a.shape[0] ||
			out.shape[1] != b.shape[1])
		return REFUSE(error, MH_ESHAPE, "%s times %s does not give %s",
				tensor_shape(a).text, tensor_shape(b).text,
				tensor_shape(out).text);
	/* refuse matrices that BLAS cannot address */
	if (!layout(a, &turn_a, &step_a) || !layout(b, &turn_b, &step_b) ||
			!layout(out, &turn_out, &step_out) || turn_out == CblasTrans)
		return REFUSE(error, MH_ESHAPE, "BLAS wants one stride of 1 in each"
				" matrix, and the last in the result");

	const size_t sizes[] = { out.shape[0], out.shape[1], a.shape[1], step_a,
			step_b, step_out };

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		if (sizes[i] > INT_MAX)
			return REFUSE(error, MH_ESIZE, "%zu is more than an integer of"
					" BLAS can hold", sizes[i]);
	/* multiply, unless there is nothing to multiply */
	if (out.shape[0] == 0 || out.shape[1] == 0)
		return MH_OK;
	gemm(CblasRowMajor, turn_a, turn_b, (int)out.shape[0],
			(int)out.shape[1], (int)a.shape[1], 1, a.data, (int)step_a,
			b.data, (int)step_b, keep, out.data, (int)step_out);
	return MH_OK;
}

enum status blas_product(struct tensor a, struct tensor b,
		struct tensor out, struct error *error)
{
	return run_gemm(a, b, 0, out, error);
}
/* more functions of blas */

enum status blas_add_product(struct tensor a, struct tensor b,
		struct tensor out, struct error *error)
{
	return run_gemm(a, b, 1, out, error);
}
