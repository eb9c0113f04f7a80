/* streaming.c: made from chapters/57-tiles.nw; edit it there. */
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "gradient.h"
#include "streaming.h"

/* private functions of streaming */
/* Who does the work, and the room that each of them has. */
struct team {
	const struct kernel *kernel;
	int threads;
	struct tensor room;             /* (threads, numbers, ...) */
};

/* The number of the thread that asks. */
static size_t team_self(void)
{
#ifdef _OPENMP
	return (size_t)omp_get_thread_num();
#else
	return 0;
#endif
}

/* As many threads as the caller allows, and one if there is little to
 * do or others work already. */
static int team_size(double products)
{
#ifdef _OPENMP
	if (products > 4e6 && !omp_in_parallel())
		return omp_get_max_threads();
#else
	(void)products;
#endif
	return 1;
}

enum { PRODUCT_DEPTH = 768, PRODUCT_ROWS = 240 };

/* A product, and the blocks of out (m,n) it is done in. */
struct product {
	struct tensor a, b, out;        /* (m,k), (k,n), (m,n) */
	bool add;
	size_t rows, columns;           /* of a block */
};

/* The part of an axis from start on, of this length if there is so
 * much. */
static struct tensor narrowed(struct tensor t, int axis, size_t start,
		size_t length)
{
	size_t left = t.shape[axis] - start;

	return tensor_narrow(t, axis, start, left < length ? left : length);
}

/* One block of a product. */
static void run_block(const struct kernel *kernel,
		const struct product *p, size_t row, size_t column, real *room)
{
	struct tensor a = narrowed(p->a, 0, row, p->rows);
	struct tensor b = narrowed(p->b, 1, column, p->columns);
	real *out = &AT(p->out, row, column);
	const size_t step = (size_t)p->out.stride[0];
	real *panel = room, *laid = room + PRODUCT_DEPTH * kernel->panel;

	for (size_t k = 0; k < a.shape[1]; k += PRODUCT_DEPTH) {
		struct tensor part = narrowed(a, 1, k, PRODUCT_DEPTH);
		struct tensor lines = narrowed(b, 0, k, PRODUCT_DEPTH);
		bool add = p->add || k > 0;

		/* lay the rows of a, unless they lie well */
		const size_t depth = part.shape[1];

		if (part.stride[1] != 1) {
			kernel->lay(part.shape[0], depth, (struct grid){ part.data,
					part.stride[0], part.stride[1] }, 1, laid, depth);
			part = tensor_view(laid, 2, part.shape);
		}
		/* multiply by one panel after the other */
		for (size_t j = 0; j < b.shape[1]; j += kernel->panel) {
			struct tensor now = narrowed(lines, 1, j, kernel->panel);

			kernel->lay(depth, now.shape[1], (struct grid){ now.data,
					now.stride[0], now.stride[1] }, 1, panel, kernel->panel);
			kernel->multiply(part.shape[0], now.shape[1], add, depth, part.data,
					(size_t)part.stride[0], panel, out + j, step);
		}
	}
}

/* out = a b, or out + a b, over all threads: any strides of b, but out
 * and either a or its transpose lie in rows. Each number is summed in
 * the order of k, whoever sums it. */
static void team_multiply(struct team team, struct tensor a,
		struct tensor b, bool add, struct tensor out)
{
	const size_t m = out.shape[0], n = out.shape[1];
	struct product p = { a, b, out, add, m, team.kernel->panel };
	size_t down, across, threads = (size_t)team.threads;

	/* cut the product into blocks */
	size_t blocks = 1;

	if (a.stride[1] != 1) {
		blocks = (m + PRODUCT_ROWS - 1) / PRODUCT_ROWS;
		blocks = (blocks + threads - 1) / threads * threads;
		p.columns = n;
	} else if (n / p.columns < 4 * threads)
		blocks = threads;
	p.rows = (m + blocks - 1) / blocks;
	p.rows = (p.rows + 5) / 6 * 6;
	down = (m + p.rows - 1) / p.rows;
	across = (n + p.columns - 1) / p.columns;
	/* run all blocks */
	if (threads == 1) {
		for (size_t i = 0; i < down * across; i++)
			run_block(team.kernel, &p, i / across * p.rows,
					i % across * p.columns, team.room.data);
		return;
	}
	#pragma omp parallel for schedule(dynamic) num_threads(team.threads)
	for (size_t i = 0; i < down * across; i++)
		run_block(team.kernel, &p, i / across * p.rows,
				i % across * p.columns,
				tensor_slice(team.room, 0, team_self()).data);
}

/* Set every row of out to the bias. */
static void start_with_bias(struct tensor bias, struct tensor out)
{
	for (size_t i = 0; i < out.shape[0]; i++)
		tensor_contiguous(bias, &AT(out, i, 0));
}

/* Add to the bias's gradient what the rows say. */
static void add_to_bias(struct tensor rows, struct tensor dbias)
{
	real *to = dbias.data;

	for (size_t i = 0; i < rows.shape[0] && to; i++) {
		const real *from = &AT(rows, i, 0);

		for (size_t j = 0; j < rows.shape[1]; j++)
			to[j] += from[j];
	}
}

/* One head of one example, as a kernel wants it. */
static struct strip strip_of(const struct layer *layer,
		const struct streamed *r, struct tensor dz, bool causal,
		size_t b, size_t h)
{
	const size_t C = layer->width, d = layer->head_width;
	const size_t T = r->output.shape[1];
	real *q = &AT(r->qkv, b, 0, h * d);
	struct strip s = { T, d, causal, { q, 3 * C }, { q + C, 3 * C },
			{ q + 2 * C, 3 * C }, { &AT(r->concat, b, 0, h * d), C },
			{ NULL, C }, &AT(r->maximum, b, h, 0),
			&AT(r->sum, b, h, 0) };

	if (dz.data)
		s.dout.data = &AT(dz, b, 0, h * d);
	return s;
}

/* Every head of every example, forth, or back if there is a dz
 * (B,T,C). */
static void team_attend(struct team team, const struct layer *layer,
		const struct streamed *r, struct tensor dz, bool causal)
{
	const size_t H = layer->heads, all = r->output.shape[0] * H;
	void (*run)(const struct strip *, real *) = dz.data ?
			team.kernel->unattend : team.kernel->attend;

	if (team.threads == 1) {
		for (size_t i = 0; i < all; i++) {
			struct strip s = strip_of(layer, r, dz, causal, i / H,
					i % H);

			run(&s, team.room.data);
		}
		return;
	}
	#pragma omp parallel for schedule(dynamic) num_threads(team.threads)
	for (size_t i = 0; i < all; i++) {
		struct strip s = strip_of(layer, r, dz, causal, i / H, i % H);

		run(&s, tensor_slice(team.room, 0, team_self()).data);
	}
}

/* Borrow the room that a pass over x needs. */
static enum status team_gather(struct team *team,
		const struct kernel *kernel, const struct layer *layer,
		struct tensor x, struct workspace *workspace,
		struct error *error)
{
	const size_t d = layer->head_width, C = layer->width;
	const size_t width = (d + kernel->lanes - 1) / kernel->lanes *
			kernel->lanes;
	const size_t product = PRODUCT_DEPTH * (kernel->panel +
			PRODUCT_ROWS);
	size_t rows = x.shape[1] + 320, row = 4 * width + 16;
	double tokens = (double)x.shape[0] * (double)x.shape[1];

	team->kernel = kernel;
	team->threads = team_size(tokens * (double)C * (4 * (double)C +
			(double)x.shape[1]));
	if (rows < product / row + 1)
		rows = product / row + 1;
	return workspace_take(workspace, 3, (size_t[]){
			(size_t)team->threads, rows, row }, &team->room, error);
}

static enum status check_streamed(const struct layer *layer,
		struct tensor x, const struct streamed *result,
		const char *name, struct error *error)
{
	enum status status = streamed_expect(layer, x, result, name, error);

	if (!status && !(tensor_is_contiguous(result->output) &&
			tensor_is_contiguous(result->concat) &&
			tensor_is_contiguous(result->qkv) &&
			tensor_is_contiguous(result->maximum) &&
			tensor_is_contiguous(result->sum)))
		return REFUSE(error, MH_ESHAPE, "the streaming path works on"
				" contiguous results only");
	return status;
}

/* functions of streaming */
const struct kernel *kernel_nth(size_t n)
{
	const struct kernel *list[4] = { NULL };
	size_t count = 0;

#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f") &&
			__builtin_cpu_supports("avx512dq") &&
			__builtin_cpu_supports("avx512bw") &&
			__builtin_cpu_supports("avx512vl"))
		list[count++] = kernel_avx512();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		list[count++] = kernel_avx2();
#endif
	list[count++] = kernel_plain();
	return n < count ? list[n] : NULL;
}

enum status layer_forward_streaming(const struct layer *layer,
		struct tensor x, bool causal, const struct streamed *result,
		struct workspace *workspace, struct error *error)
{
	return streaming_forward(kernel_nth(0), layer, x, causal, result,
			workspace, error);
}

enum status layer_backward_streaming(const struct layer *layer,
		struct tensor x, bool causal, const struct streamed *seen,
		struct tensor dy, struct tensor dx,
		struct workspace *workspace, struct error *error)
{
	return streaming_backward(kernel_nth(0), layer, x, causal, seen, dy,
			dx, workspace, error);
}


enum status streaming_forward(const struct kernel *kernel,
		const struct layer *layer, struct tensor x, bool causal,
		const struct streamed *result, struct workspace *workspace,
		struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace);
	struct tensor stacked, biases, rows, qkv, concat, output;
	struct team team;
	enum status status = check_streamed(layer, x, result, "output",
			error);

	if (status || tensor_is_empty(x))
		return status;
	/* borrow what the way forth needs */
	status = layer_stack(layer, &stacked, workspace, error);
	if (!status)
		status = layer_stack_biases(layer, &biases, workspace, error);
	if (!status)
		status = layer_rows(x, &rows, workspace, error);
	if (!status)
		status = team_gather(&team, kernel, layer, x, workspace, error);
	if (!status)
		status = tensor_merge(result->qkv, 0, &qkv, error);
	if (!status)
		status = tensor_merge(result->concat, 0, &concat, error);
	if (!status)
		status = tensor_merge(result->output, 0, &output, error);
	if (!status) {
		/* project, attend, and project again */
		const bool biased = layer->bias_memory != NULL;

		if (biased) {
			start_with_bias(biases, qkv);
			start_with_bias(layer->out_bias.value, output);
		}
		team_multiply(team, rows, tensor_swap(stacked, 0, 1), biased, qkv);
		team_attend(team, layer, result, (struct tensor){ NULL }, causal);
		team_multiply(team, concat, tensor_swap(layer->out_proj.value, 0, 1),
				biased, output);
	}
	workspace_release(workspace, mark);
	return status;
}

enum status streaming_backward(const struct kernel *kernel,
		const struct layer *layer, struct tensor x, bool causal,
		const struct streamed *seen, struct tensor dy,
		struct tensor dx, struct workspace *workspace,
		struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace);
	struct tensor stacked, dweight, dbias, rows, drows, dz, dzs, qkv,
			concat, dinput;
	struct streamed written = *seen;
	struct team team;
	enum status status;

	written.output = dx;
	status = check_streamed(layer, x, &written, "dx", error);
	if (!status)
		status = tensor_expect(dy, "dy", 3, x.shape, error);
	if (status || tensor_is_empty(x))
		return status;
	/* borrow what the way back needs */
	const bool own = layer_runs_its_own(layer);

	dweight = layer->in_proj.gradient;
	dbias = layer->in_bias.gradient;
	status = layer_stack(layer, &stacked, workspace, error);
	if (!status && !own)
		status = workspace_take(workspace, 2, dweight.shape, &dweight,
				error);
	if (!status && !own && dbias.data)
		status = workspace_take(workspace, 1, dbias.shape, &dbias, error);
	if (!status)
		status = layer_rows(x, &rows, workspace, error);
	if (!status)
		status = layer_rows(dy, &drows, workspace, error);
	if (!status)
		status = workspace_take(workspace, 3, x.shape, &dz, error);
	if (!status)
		status = team_gather(&team, kernel, layer, x, workspace, error);

	if (!status)
		status = tensor_merge(dz, 0, &dzs, error);
	if (!status)
		status = tensor_merge(seen->qkv, 0, &qkv, error);
	if (!status)
		status = tensor_merge(seen->concat, 0, &concat, error);
	if (!status)
		status = tensor_merge(dx, 0, &dinput, error);
	if (!status) {
		/* go back through all three steps */
		team_multiply(team, drows, layer->out_proj.value, false, dzs);
		team_multiply(team, tensor_swap(drows, 0, 1), concat, true,
				layer->out_proj.gradient);
		add_to_bias(drows, layer->out_bias.gradient);
		team_attend(team, layer, seen, dz, causal);
		team_multiply(team, qkv, stacked, false, dinput);
		if (!own) {
			tensor_fill(dweight, 0);
			if (dbias.data)
				tensor_fill(dbias, 0);
		}
		team_multiply(team, tensor_swap(qkv, 0, 1), rows, true, dweight);
		add_to_bias(qkv, dbias);
		if (!own)
			gradient_hand_out(layer, dweight, dbias);
	}
	workspace_release(workspace, mark);
	return status;
}
