/* blas.c: made from chapters/30-packed.nw; edit it there. */
#include <cblas.h>
#include <limits.h>
/* includes of blas.c */
#ifdef _OPENMP
#include <omp.h>
#endif

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

/* A product, and in how many parts it is done. */
struct gemm {
	CBLAS_TRANSPOSE turn_a, turn_b;
	size_t m, n;
	int k;
	const real *a, *b;
	real *out;
	size_t step_a, step_b, step_out;
	real keep;
	size_t parts;
};

static enum status gemm_part(void *job, size_t part, size_t thread)
{
	struct gemm g = *(const struct gemm *)job;
	size_t *side = g.m < g.n ? &g.n : &g.m;
	const size_t first = part * *side / g.parts;
	const bool turned = (side == &g.m ? g.turn_a : g.turn_b) ==
			CblasTrans;

	(void)thread;
	*side = (part + 1) * *side / g.parts - first;
	/* begin with the first row or column of the part */
	if (side == &g.m) {
		g.a += first * (turned ? 1 : g.step_a);
		g.out += first * g.step_out;
	} else {
		g.b += first * (turned ? g.step_b : 1);
		g.out += first;
	}
	gemm(CblasRowMajor, g.turn_a, g.turn_b, (int)g.m, (int)g.n, g.k,
			1, g.a, (int)g.step_a, g.b, (int)g.step_b, g.keep, g.out,
			(int)g.step_out);
	return MH_OK;
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
	const size_t threads = blas_threads((double)out.shape[0] *
			(double)out.shape[1] * (double)a.shape[1]);
	struct gemm g = { turn_a, turn_b, out.shape[0], out.shape[1],
			(int)a.shape[1], a.data, b.data, out.data, step_a, step_b,
			step_out, keep, threads };

	return blas_share(threads, threads, &g, gemm_part);
}

enum status blas_product(struct tensor a, struct tensor b,
		struct tensor out, struct error *error)
{
	return run_gemm(a, b, 0, out, error);
}
/* more functions of blas */

size_t job_threads(double products)
{
#ifdef _OPENMP
	if (products > 4e6 && !omp_in_parallel())
		return (size_t)omp_get_max_threads();
#else
	(void)products;
#endif
	return 1;
}

size_t blas_threads(double products)
{
#ifdef OPENBLAS_SEQUENTIAL
	if (openblas_get_num_threads() == 1)
		return job_threads(products);
#else
	(void)products;
#endif
	return 1;
}

enum status blas_share(size_t threads, size_t parts, void *job,
		enum status (*run)(void *job, size_t part, size_t thread))
{
	int worst = MH_OK;

	if (threads == 1) {
		for (size_t i = 0; i < parts && worst == MH_OK; i++)
			worst = run(job, i, 0);
		return worst;
	}
#ifdef _OPENMP
	#pragma omp parallel for num_threads((int)threads) \
			schedule(dynamic) reduction(max: worst)
	for (size_t i = 0; i < parts; i++) {
		int status = run(job, i, (size_t)omp_get_thread_num());

		worst = status > worst ? status : worst;
	}
#endif
	return worst;
}


enum status blas_add_product(struct tensor a, struct tensor b,
		struct tensor out, struct error *error)
{
	return run_gemm(a, b, 1, out, error);
}
