/* streaming.c: made from chapters/57-tiles.nw; edit it there. */
#define _DEFAULT_SOURCE 1       /* before any header: sched_yield */

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "blas.h"
#include "gradient.h"
#include "streaming.h"

/* private functions of streaming */
/* What the threads of a team share. */
struct team_state {
	atomic_size_t next;             /* part of the step */
	atomic_size_t done;             /* threads without another part */
	atomic_size_t step;
};

/* Who does the work, and the room that each of them has. */
struct team {
	const struct kernel *kernel;
	int threads;
	struct tensor room;             /* (threads, rows, numbers) */
	struct team_state *state;
};

/* The room of the thread that asks. */
static real *team_room(struct team team)
{
#ifdef _OPENMP
	if (team.threads > 1)
		return &AT(team.room, (size_t)omp_get_thread_num(), 0);
#endif
	return team.room.data;
}

/* Wait until the whole team has come here. */
static void team_wait(struct team team)
{
	struct team_state *state = team.state;
	const size_t step = atomic_load(&state->step);

	if (atomic_fetch_add(&state->done, 1) ==
			(size_t)team.threads - 1) {
		atomic_store(&state->done, 0);
		atomic_store(&state->next, 0);
		atomic_store(&state->step, step + 1);
		return;
	}
	for (size_t tries = 0; atomic_load(&state->step) == step; tries++)
		if (tries % 4096 == 4095)
			sched_yield();
}

/* One step of the whole team: run the parts of a job, numbered from 0,
 * in any order. Every thread calls this. */
static void team_run(struct team team, size_t parts, const void *job,
		void (*run)(struct team team, const void *job, size_t part))
{
	if (team.threads == 1) {
		for (size_t i = 0; i < parts; i++)
			run(team, job, i);
		return;
	}
	for (size_t i;
			(i = atomic_fetch_add(&team.state->next, 1)) < parts;)
		run(team, job, i);
	team_wait(team);
}

/* Let every thread of the team take all steps of a pass. */
static void team_pass(struct team team, const void *pass,
		void (*steps)(struct team team, const void *pass))
{
	struct team_state state = { 0 };

	team.state = &state;
	if (team.threads == 1) {
		steps(team, pass);
		return;
	}
#ifdef _OPENMP
	#pragma omp parallel num_threads(team.threads)
	{
		struct team ours = team;

		ours.threads = omp_get_num_threads();
		steps(ours, pass);
	}
#endif
}

static struct grid grid_from(struct tensor t)
{
	return (struct grid){ t.data, t.stride[0], t.stride[1] };
}

/* A product, cut into blocks of so many rows and columns. */
struct blocks {
	struct product whole;
	size_t rows, columns;
};

static void run_block(struct team team, const void *job, size_t part)
{
	const struct blocks *cut = job;
	struct product p = cut->whole;
	const size_t across = (p.n + cut->columns - 1) / cut->columns;
	const size_t row = part / across * cut->rows;
	const size_t column = part % across * cut->columns;

	p.a.data += (ptrdiff_t)row * p.a.row;
	p.b.data += (ptrdiff_t)column * p.b.column;
	p.out += p.turned ? column * p.step + row :
			row * p.step + column;
	p.m = p.m - row < cut->rows ? p.m - row : cut->rows;
	p.n = p.n - column < cut->columns ? p.n - column : cut->columns;
	team.kernel->multiply(&p, team_room(team));
}

/* Few rows by a turned factor: the transpose of the product instead. */
static void turn_product(struct product *p)
{
	const struct product q = *p;

	p->m = q.n;
	p->n = q.m;
	p->a = (struct grid){ q.b.data, q.b.column, q.b.row };
	p->b = (struct grid){ q.a.data, q.a.column, q.a.row };
	p->turned = true;
}

/* How large should its blocks be? */
static void cut_product(struct team team, struct blocks *cut)
{
	const struct product *p = &cut->whole;
	const size_t threads = (size_t)team.threads;
	size_t down = 1;

	/* cut the product into blocks */
	cut->columns = team.kernel->panel;
	if (p->a.column != 1) {
		down = (p->m + KERNEL_ROWS - 1) / KERNEL_ROWS;
		down = (down + threads - 1) / threads * threads;
		cut->columns = p->n;
	} else if (p->m > team.kernel->few) {
		cut->columns *= KERNEL_PANELS;
		if (cut->columns > p->n)
			cut->columns = p->n;
		if (threads > 1)
			down = threads * (1 + 3 * cut->columns / p->n);
	} else if (p->n / cut->columns < 4 * threads)
		down = threads;
	cut->rows = (p->m + down - 1) / down;
	cut->rows = (cut->rows + 5) / 6 * 6;
}

/* out = a b, or out + a b, over all threads: any strides of b, but out
 * and either a or its transpose lie in rows. Each number is summed in
 * the order of k, whoever sums it. */
static void team_multiply(struct team team, struct tensor a,
		struct tensor b, bool add, struct tensor out)
{
	struct blocks cut = { .whole = { out.shape[0], out.shape[1],
			a.shape[1], grid_from(a), grid_from(b), add, out.data,
			(size_t)out.stride[0], false } };
	size_t across, down;

	if (out.shape[0] <= team.kernel->few && a.stride[1] == 1 &&
			b.stride[0] == 1)
		turn_product(&cut.whole);
	cut_product(team, &cut);
	across = (cut.whole.n + cut.columns - 1) / cut.columns;
	down = (cut.whole.m + cut.rows - 1) / cut.rows;
	team_run(team, across * down, &cut, run_block);
}

/* Borrow the room that a pass over x needs. */
static enum status team_gather(struct team *team,
		const struct kernel *kernel, const struct layer *layer,
		struct tensor x, struct workspace *workspace,
		struct error *error)
{
	if (!kernel)
		return REFUSE(error, MH_ESHAPE, "there is no kernel");

	const size_t d = layer->head_width, C = layer->width;
	const size_t width = (d + KERNEL_ALIGN - 1) / KERNEL_ALIGN *
			KERNEL_ALIGN;
	const size_t product = KERNEL_DEPTH * (KERNEL_PANELS *
			kernel->panel + KERNEL_ROWS);
	size_t rows = x.shape[1] + KERNEL_TILES;
	size_t row = 4 * width + KERNEL_ALIGN;
	double tokens = (double)x.shape[0] * (double)x.shape[1];

	team->kernel = kernel;
	team->threads = (int)job_threads(tokens * (double)C *
			(4 * (double)C + (double)x.shape[1]));
	if (rows < product / row + 1)
		rows = product / row + 1;
	return workspace_take(workspace, 3, (size_t[]){
			(size_t)team->threads, rows, row }, &team->room, error);
}

static enum status check_streamed(const struct layer *layer,
		struct tensor x, const struct streamed *result,
		const struct slope *slope, struct error *error)
{
	enum status status = streamed_expect(layer, x, result, slope,
			error);

	if (!status && !(tensor_is_contiguous(slope ? slope->dx :
				result->output) &&
			tensor_is_contiguous(result->concat) &&
			tensor_is_contiguous(result->qkv) &&
			tensor_is_contiguous(result->maximum) &&
			tensor_is_contiguous(result->sum)))
		return REFUSE(error, MH_ESHAPE, "the streaming path works on"
				" contiguous results only");
	return status;
}

/* Set every row of out to the bias. */
static void start_with_bias(struct tensor bias, struct tensor out)
{
	for (size_t i = 0; i < out.shape[0]; i++)
		tensor_contiguous(bias, &AT(out, i, 0));
}

enum { SMALL = 8 };             /* width of a layer, and length */

/* The kernel that is fastest on this machine for a layer and x
 * (B,T,C). */
static const struct kernel *kernel_for(const struct layer *layer,
		struct tensor x)
{
	bool small = layer && layer->width <= SMALL &&
			x.shape[1] <= SMALL;

	return small ? kernel_small() : kernel_nth(0);
}

/* What a pass works on: x and dy, or their gradients, as rows. */
struct pass {
	const struct layer *layer;
	const struct streamed *r;
	bool causal;
	struct tensor stacked, dweight;         /* (3C,C) */
	struct tensor biases, dbias;            /* (3C), or no data */
	struct tensor rows, drows, dinput;      /* x, dy, dx: (B T, C) */
	struct tensor qkv;                      /* (B T, 3C) */
	struct tensor concat, output, dzs;      /* (B T, C) */
	struct tensor dz;                       /* (B,T,C), or no data */
};


static void run_strip(struct team team, const void *job, size_t part)
{
	const struct pass *p = job;
	const struct streamed *r = p->r;
	const size_t H = p->layer->heads, C = p->layer->width;
	const size_t d = p->layer->head_width, T = r->concat.shape[1];
	const size_t b = part / H, h = part % H;
	real *q = &AT(r->qkv, b, 0, h * d);
	struct strip s = { T, d, p->causal, { q, 3 * C },
			{ q + C, 3 * C }, { q + 2 * C, 3 * C },
			{ &AT(r->concat, b, 0, h * d), C }, { NULL, C },
			&AT(r->maximum, b, h, 0), &AT(r->sum, b, h, 0) };

	if (p->dz.data) {
		s.dout.data = &AT(p->dz, b, 0, h * d);
		team.kernel->unattend(&s, team_room(team));
	} else
		team.kernel->attend(&s, team_room(team));
}

static void team_attend(struct team team, const struct pass *p)
{
	team_run(team, p->r->concat.shape[0] * p->layer->heads, p,
			run_strip);
}

static void forward_steps(struct team team, const void *pass)
{
	const struct pass *p = pass;
	const struct tensor mix = p->layer->out_proj.value;
	const bool biased = p->layer->bias_memory != NULL;

	team_multiply(team, p->rows, tensor_swap(p->stacked, 0, 1), biased,
			p->qkv);
	team_attend(team, p);
	team_multiply(team, p->concat, tensor_swap(mix, 0, 1), biased,
			p->output);
}

static void backward_steps(struct team team, const void *pass)
{
	const struct pass *p = pass;
	const struct parameter *mix = &p->layer->out_proj;

	team_multiply(team, p->drows, mix->value, false, p->dzs);
	team_multiply(team, tensor_swap(p->drows, 0, 1), p->concat, true,
			mix->gradient);
	team_attend(team, p);
	team_multiply(team, p->qkv, p->stacked, false, p->dinput);
	team_multiply(team, tensor_swap(p->qkv, 0, 1), p->rows, true,
			p->dweight);
}

/* functions of streaming */
const struct kernel *kernel_nth(size_t n)
{
	const struct kernel *list[4] = { NULL };
	size_t count = 0;

#ifdef __x86_64__
	if (__builtin_cpu_supports("fma") &&
			__builtin_cpu_supports("avx512f") &&
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
	return streaming_forward(kernel_for(layer, x), layer, x, causal,
			result, workspace, error);
}

enum status layer_backward_streaming(const struct layer *layer,
		struct tensor x, bool causal, const struct streamed *seen,
		struct tensor dy, struct tensor dx,
		struct workspace *workspace, struct error *error)
{
	return streaming_backward(kernel_for(layer, x), layer, x, causal,
			seen, dy, dx, workspace, error);
}

enum status streaming_forward(const struct kernel *kernel,
		const struct layer *layer, struct tensor x, bool causal,
		const struct streamed *result, struct workspace *workspace,
		struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace);
	struct pass p = { .layer = layer, .r = result, .causal = causal };
	struct team team;
	enum status status = check_streamed(layer, x, result, NULL, error);

	if (status || tensor_is_empty(x))
		return status;
	/* borrow what the forward pass needs */
	status = layer_stack(layer, &p.stacked, workspace, error);
	if (!status)
		status = layer_stack_biases(layer, &p.biases, workspace, error);
	if (!status)
		status = layer_rows(x, &p.rows, workspace, error);
	if (!status)
		status = team_gather(&team, kernel, layer, x, workspace, error);
	if (!status)
		status = tensor_merge(result->qkv, 0, &p.qkv, error);
	if (!status)
		status = tensor_merge(result->concat, 0, &p.concat, error);
	if (!status)
		status = tensor_merge(result->output, 0, &p.output, error);
	if (!status && p.biases.data) {
		start_with_bias(p.biases, p.qkv);
		start_with_bias(layer->out_bias.value, p.output);
	}
	if (!status)
		team_pass(team, &p, forward_steps);
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
	struct team team;
	enum status status = check_streamed(layer, x, seen,
			&(struct slope){ dy, dx }, error);

	if (status || tensor_is_empty(x))
		return status;

	const bool own = layer_runs_its_own(layer);
	struct pass p = { .layer = layer, .r = seen, .causal = causal,
			.dweight = layer->in_proj.gradient,
			.dbias = layer->in_bias.gradient };

	/* borrow what the way back needs */
	status = layer_stack(layer, &p.stacked, workspace, error);
	if (!status && !own)
		status = workspace_take(workspace, 2, p.dweight.shape, &p.dweight,
				error);
	if (!status && !own && p.dbias.data)
		status = workspace_take(workspace, 1, p.dbias.shape, &p.dbias,
				error);
	if (!status)
		status = layer_rows(x, &p.rows, workspace, error);
	if (!status)
		status = layer_rows(dy, &p.drows, workspace, error);
	if (!status)
		status = workspace_take(workspace, 3, x.shape, &p.dz, error);
	if (!status)
		status = team_gather(&team, kernel, layer, x, workspace, error);

	if (!status)
		status = tensor_merge(p.dz, 0, &p.dzs, error);
	if (!status)
		status = tensor_merge(seen->qkv, 0, &p.qkv, error);
	if (!status)
		status = tensor_merge(seen->concat, 0, &p.concat, error);
	if (!status)
		status = tensor_merge(dx, 0, &p.dinput, error);
	if (!status) {
		/* go back, and add up what is not a product */
		if (!own)
			tensor_fill(p.dweight, 0);
		if (!own && p.dbias.data)
			tensor_fill(p.dbias, 0);
		team_pass(team, &p, backward_steps);
		gradient_bias(p.drows, layer->out_bias.gradient);
		gradient_bias(p.qkv, p.dbias);
		if (!own)
			gradient_hand_out(layer, p.dweight, p.dbias);
	}
	workspace_release(workspace, mark);
	return status;
}
