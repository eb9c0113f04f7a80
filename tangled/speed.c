/* speed.c: made from chapters/60-speed.nw; edit it there. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bare.h"
#include "blas.h"
#include "gradient.h"
#include "kernel.h"
#include "streaming.h"
#include "speed.h"

/* private types of speed */
/* A layer with all that one path needs to run on it. */
struct timed {
	const struct path *path;
	struct layer *layer;
	struct workspace inputs, results, scratch;
	struct tensor x, dy, dx;
	/* results of a path */
	struct forward result;

	struct streamed streamed;

	struct bare bare;
	bool backward;
	size_t before;                  /* bytes of the process */
};

/* A way to calculate the layer. */
struct path {
	const char *name;
	struct traffic traffic;
	enum status (*take)(struct timed *t, struct error *error);
	enum status (*forward)(struct timed *t, struct error *error);
	enum status (*backward)(struct timed *t, struct error *error);
};
/* private functions of speed */
#ifdef __clang__
#define FUSED
#else
#define FUSED __attribute__((optimize("fp-contract=fast")))
#endif

FUSED static float fuse_narrow(size_t rounds, float term)
{
	typedef float vector __attribute__((vector_size(16)));
	{
		/* multiply and add, twelve sums at a time */
		#ifdef __clang__
		#pragma clang fp contract(fast)
		#endif
		enum { SUMS = 12 };
		vector zero = { 0 }, s[SUMS], all = zero, half = zero + 0.5f;

		for (int k = 0; k < SUMS; k++)
			s[k] = zero + (float)k;
		for (size_t i = 0; i < rounds; i++) {
		#pragma GCC unroll 12
			for (int k = 0; k < SUMS; k++)
				s[k] = s[k] * half + term;
		}
		for (int k = 0; k < SUMS; k++)
			all += s[k];
		return all[0];
	}
}
#ifdef __x86_64__
FUSED __attribute__((target("avx2,fma")))
static float fuse_middle(size_t rounds, float term)
{
	typedef float vector __attribute__((vector_size(32)));
	{
		/* multiply and add, twelve sums at a time */
		#ifdef __clang__
		#pragma clang fp contract(fast)
		#endif
		enum { SUMS = 12 };
		vector zero = { 0 }, s[SUMS], all = zero, half = zero + 0.5f;

		for (int k = 0; k < SUMS; k++)
			s[k] = zero + (float)k;
		for (size_t i = 0; i < rounds; i++) {
		#pragma GCC unroll 12
			for (int k = 0; k < SUMS; k++)
				s[k] = s[k] * half + term;
		}
		for (int k = 0; k < SUMS; k++)
			all += s[k];
		return all[0];
	}
}

FUSED __attribute__((target("avx512f")))
static float fuse_wide(size_t rounds, float term)
{
	typedef float vector __attribute__((vector_size(64)));
	{
		/* multiply and add, twelve sums at a time */
		#ifdef __clang__
		#pragma clang fp contract(fast)
		#endif
		enum { SUMS = 12 };
		vector zero = { 0 }, s[SUMS], all = zero, half = zero + 0.5f;

		for (int k = 0; k < SUMS; k++)
			s[k] = zero + (float)k;
		for (size_t i = 0; i < rounds; i++) {
		#pragma GCC unroll 12
			for (int k = 0; k < SUMS; k++)
				s[k] = s[k] * half + term;
		}
		for (int k = 0; k < SUMS; k++)
			all += s[k];
		return all[0];
	}
}
#endif

/* One thread's share of a task, of so many units. */
typedef float task(void *memory, size_t units);

static float run_fma(void *memory, size_t units)
{
	const float *term = memory;

#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f"))
		return fuse_wide(units, *term);
	if (__builtin_cpu_supports("avx2") &&
			__builtin_cpu_supports("fma"))
		return fuse_middle(units, *term);
#endif
	return fuse_narrow(units, *term);
}

/* The C library's search for a byte is tuned for this machine. */
static float run_reading(void *memory, size_t bytes)
{
	return memchr(memory, 1, bytes) ? 1 : 0;
}

enum { REPEATS = 30 };

struct crew {
	task *run;
	size_t units, repeats;
	pthread_mutex_t door;           /* locked until all are there */
	pthread_barrier_t gate;         /* passed before each repeat */
};

struct member {
	struct crew *crew;
	pthread_t thread;
	void *memory;
	double seconds[REPEATS];
	volatile float answer;          /* so that the work is done */
};

static void *work_along(void *data)
{
	struct member *m = data;
	struct crew *crew = m->crew;

	pthread_mutex_lock(&crew->door);
	pthread_mutex_unlock(&crew->door);
	for (size_t r = 0; r < crew->repeats; r++) {
		pthread_barrier_wait(&crew->gate);
		double start = speed_now();

		m->answer = crew->run(m->memory, crew->units);
		m->seconds[r] = speed_now() - start;
	}
	return NULL;
}

/* Of each repeat the slowest thread's seconds; of these the least. */
static double least_seconds(const struct crew *crew,
		const struct member *members, size_t threads)
{
	double least = (double)INFINITY;

	for (size_t r = 0; r < crew->repeats; r++) {
		double slowest = 0;

		for (size_t i = 0; i < threads; i++)
			if (members[i].seconds[r] > slowest)
				slowest = members[i].seconds[r];
		if (slowest < least)
			least = slowest;
	}
	return least;
}

/* The seconds of the best repeat of a crew whose members have their
 * memory; infinite if a thread cannot be made. */
static double work_together(struct crew *crew, struct member *members,
		size_t threads)
{
	size_t made = 1;

	pthread_mutex_init(&crew->door, NULL);
	pthread_mutex_lock(&crew->door);
	for (size_t i = 0; i < threads; i++)
		members[i].crew = crew;
	while (made < threads && pthread_create(&members[made].thread,
			NULL, work_along, &members[made]) == 0)
		made++;
	if (made < threads)
		crew->repeats = 0;
	pthread_barrier_init(&crew->gate, NULL, (unsigned)made);
	pthread_mutex_unlock(&crew->door);
	work_along(&members[0]);
	for (size_t i = 1; i < made; i++)
		pthread_join(members[i].thread, NULL);
	pthread_barrier_destroy(&crew->gate);
	pthread_mutex_destroy(&crew->door);
	return least_seconds(crew, members, threads);
}

static enum status take_forward(struct timed *t, struct error *error)
{
	return forward_take(t->layer, t->x, &t->result, &t->results, error);
}

static enum status take_packed(struct timed *t, struct error *error)
{
	const size_t wide[] = { t->x.shape[0], t->x.shape[1],
			3 * t->x.shape[2] };
	enum status status = take_forward(t, error);

	if (!status && t->backward)
		status = workspace_take(&t->results, 3, wide, &t->result.qkv,
				error);
	return status;
}

static enum status time_loop(struct timed *t, struct error *error)
{
	return layer_forward_loop(t->layer, t->x, true, &t->result,
			&t->scratch, error);
}

static enum status time_loop_back(struct timed *t, struct error *error)
{
	return layer_backward_loop(t->layer, t->x, true, &t->result, t->dy,
			t->dx, &t->scratch, error);
}

static enum status time_packed(struct timed *t, struct error *error)
{
	return layer_forward_packed(t->layer, t->x, true, &t->result,
			&t->scratch, error);
}

static enum status time_packed_back(struct timed *t,
		struct error *error)
{
	return layer_backward_packed(t->layer, t->x, true, &t->result,
			t->dy, t->dx, &t->scratch, error);
}

static enum status take_streamed(struct timed *t, struct error *error)
{
	return streamed_take(t->layer, t->x, &t->streamed, &t->results,
			error);
}

static enum status time_online(struct timed *t, struct error *error)
{
	return layer_forward_online(t->layer, t->x, true, &t->streamed,
			&t->scratch, error);
}

static enum status time_online_back(struct timed *t,
		struct error *error)
{
	return layer_backward_online(t->layer, t->x, true, &t->streamed,
			t->dy, t->dx, &t->scratch, error);
}

static enum status time_streaming(struct timed *t, struct error *error)
{
	return layer_forward_streaming(t->layer, t->x, true, &t->streamed,
			&t->scratch, error);
}

static enum status time_streaming_back(struct timed *t,
		struct error *error)
{
	return layer_backward_streaming(t->layer, t->x, true, &t->streamed,
			t->dy, t->dx, &t->scratch, error);
}

/* more ways to calculate the layer */
static enum status take_part(struct timed *t, int rank,
		const size_t shape[], real **data, struct error *error)
{
	struct tensor part;
	enum status status = workspace_take(&t->results, rank, shape, &part,
			error);

	*data = status ? NULL : part.data;
	return status;
}

static enum status take_bare(struct timed *t, struct error *error)
{
	const size_t B = t->x.shape[0], T = t->x.shape[1];
	const size_t three[] = { B, T, 3 * t->layer->width };
	struct bare *b = &t->bare;
	enum status status = take_forward(t, error);

	*b = (struct bare){ .B = B, .T = T, .C = t->layer->width,
			.H = t->layer->heads };
	if (!status)
		status = take_part(t, 3, three, &b->qkv, error);
	if (!status)
		status = take_part(t, 3, three, &b->dqkv, error);
	if (!status)
		status = take_part(t, 3, t->x.shape, &b->dconcat, error);
	if (!status)
		status = take_part(t, 1, &T, &b->dweights, error);
	/* lend the layer and its results to the bare loops */
	b->in_proj = t->layer->in_proj.value.data;
	b->out_proj = t->layer->out_proj.value.data;
	b->din_proj = t->layer->in_proj.gradient.data;
	b->dout_proj = t->layer->out_proj.gradient.data;
	if (!status) {
		b->weights = t->result.weights.data;
		b->concat = t->result.concat.data;
	}
	return status;
}

static enum status time_bare(struct timed *t, struct error *error)
{
	(void)error;
	bare_forward(&t->bare, t->x.data, t->result.output.data);
	return MH_OK;
}

static enum status time_bare_back(struct timed *t, struct error *error)
{
	(void)error;
	bare_backward(&t->bare, t->x.data, t->dy.data, t->dx.data);
	return MH_OK;
}
static const struct path paths[] = {
	{ "loop", { 9, 3, 6 }, take_forward, time_loop, time_loop_back },
	{ "packed", { 13, 0, 2.5 }, take_packed, time_packed,
	  time_packed_back },
	{ "online", { 9, 3, 0 }, take_streamed, time_online,
	  time_online_back },
	{ "streaming", { 10, 0, 0 }, take_streamed, time_streaming,
	  time_streaming_back },
	/* more paths to time */
	{ "bare", { 10, 0, 0.5 }, take_bare, time_bare, time_bare_back },
};

static const struct path *path_called(const char *name)
{
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		if (strcmp(paths[i].name, name) == 0)
			return &paths[i];
	return NULL;
}

/* The largest size that this process ever had, in bytes; 0 where the
 * system does not say. */
static size_t process_size(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[128];
	size_t kibibytes = 0;

	while (status && fgets(line, sizeof line, status))
		if (sscanf(line, "VmHWM: %zu kB", &kibibytes) == 1)
			break;
	if (status)
		fclose(status);
	return kibibytes * 1024;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The number at this share of the way through an ordered list. */
static double quantile(const double *numbers, size_t count,
		double share)
{
	double place = share * (double)(count - 1);
	size_t i = (size_t)place;
	double next = i + 1 < count ? numbers[i + 1] : numbers[i];

	return numbers[i] + (place - (double)i) * (next - numbers[i]);
}
/* functions of speed */
double speed_projections(struct speed_shape s)
{
	return 2.0 * (double)s.B * (double)s.T * 4 * (double)s.C *
			(double)s.C;
}

double speed_attention(struct speed_shape s)
{
	double pairs = (double)s.T * (double)(s.T + 1) / 2;

	return 4.0 * (double)s.B * (double)s.C * pairs;
}

double speed_operations(struct speed_shape shape, bool backward)
{
	return backward ? 3 * speed_projections(shape) +
			7 * speed_attention(shape) / 2 :
			speed_projections(shape) + speed_attention(shape);
}

double speed_bytes(const char *name, struct speed_shape s)
{
	const struct path *path = path_called(name);
	double wide = (double)s.B * (double)s.T * (double)s.C;
	double square = (double)s.B * (double)s.H * (double)s.T *
			(double)s.T;

	if (!path)
		return (double)NAN;
	return (double)sizeof(float) * (4 * (double)s.C * (double)s.C +
			path->traffic.wide * wide +
			path->traffic.wide_a_head * wide * (double)s.H +
			path->traffic.square * square);
}

double speed_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

size_t speed_lanes(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f"))
		return 16;
	if (__builtin_cpu_supports("avx2") &&
			__builtin_cpu_supports("fma"))
		return 8;
#endif
	return 4;
}

double speed_fma(size_t threads)
{
	struct crew crew = { .run = run_fma, .units = 1000000,
			.repeats = REPEATS };
	struct member *members = calloc(threads, sizeof *members);
	float term = 1;
	double seconds = (double)INFINITY;

	for (size_t i = 0; members && i < threads; i++)
		members[i].memory = &term;
	if (members && threads)
		seconds = work_together(&crew, members, threads);
	free(members);
	return 2.0 * 12 * (double)speed_lanes() * (double)crew.units *
			(double)threads / seconds;
}

double speed_reading(size_t bytes, size_t threads)
{
	struct crew crew = { .run = run_reading, .repeats = 5 };
	struct member *members = calloc(threads, sizeof *members);
	unsigned char *memory = malloc(bytes);
	double seconds = (double)INFINITY;

	if (members && memory && threads) {
		memset(memory, 2, bytes);       /* so that there are pages */
		crew.units = bytes / threads;
		for (size_t i = 0; i < threads; i++)
			members[i].memory = memory + i * crew.units;
		seconds = work_together(&crew, members, threads);
	}
	free(memory);
	free(members);
	return (double)(crew.units * threads) / seconds;
}

double speed_gemm(size_t n)
{
	const size_t shape[] = { n, n };
	struct workspace workspace = { 0 };
	struct tensor a, b, c;
	struct random random = { 60 };
	double least = (double)INFINITY;

	if (!workspace_take(&workspace, 2, shape, &a, NULL) &&
			!workspace_take(&workspace, 2, shape, &b, NULL) &&
			!workspace_take(&workspace, 2, shape, &c, NULL)) {
		tensor_randomize(a, &random, 1);
		tensor_randomize(b, &random, 1);
		for (int i = 0; i < 5; i++) {
			double start = speed_now();

			if (!blas_product(a, b, c, NULL) &&
					speed_now() - start < least)
				least = speed_now() - start;
		}
	}
	workspace_free(&workspace);
	return 2 * (double)n * (double)n * (double)n / least;
}

const char *speed_path(size_t i)
{
	return i < sizeof paths / sizeof paths[0] ? paths[i].name : NULL;
}

enum status speed_create(const char *name, struct speed_shape s,
		bool backward, struct timed **timed, struct error *error)
{
	const struct path *path = path_called(name);
	struct timed *t;
	enum status status;

	*timed = NULL;
	if (!path)
		return REFUSE(error, MH_ESHAPE, "no path is called '%.40s'",
				name);
	t = calloc(1, sizeof *t);
	if (!t)
		return REFUSE(error, MH_EMEMORY, "no memory to time a path");
	t->path = path;
	t->backward = backward;
	/* make a random layer and its inputs */
	const size_t wide[] = { s.B, s.T, s.C };
	struct random random = { 61 };

	status = layer_create(s.C, s.H, &t->layer, error);
	if (!status)
		status = workspace_take(&t->inputs, 3, wide, &t->x, error);
	if (!status)
		status = workspace_take(&t->inputs, 3, wide, &t->dy, error);
	if (!status)
		status = workspace_take(&t->inputs, 3, wide, &t->dx, error);
	if (!status) {
		layer_randomize(t->layer, 62);
		registry_zero_gradients(&t->layer->registry);
		tensor_randomize(t->x, &random, 1);
		tensor_randomize(t->dy, &random, 1);
		tensor_fill(t->dx, 0);
		t->before = process_size();
	}
	if (!status)
		status = path->take(t, error);
	if (status) {
		speed_free(t);
		return status;
	}
	*timed = t;
	return MH_OK;
}

void speed_free(struct timed *timed)
{
	if (!timed)
		return;
	workspace_free(&timed->scratch);
	workspace_free(&timed->results);
	workspace_free(&timed->inputs);
	layer_free(timed->layer);
	free(timed);
}

enum status speed_step(struct timed *t, size_t repeats,
		double *seconds, struct error *error)
{
	enum status status = MH_OK;
	double start = speed_now();

	for (size_t i = 0; i < repeats && !status; i++) {
		struct workspace_mark mark = workspace_mark(&t->scratch);

		status = t->path->forward(t, error);
		if (!status && t->backward)
			status = t->path->backward(t, error);
		workspace_release(&t->scratch, mark);
	}
	*seconds = (speed_now() - start) / (double)repeats;
	return status;
}

struct speed_memory speed_memory(const struct timed *t)
{
	size_t output = t->x.shape[0] * t->x.shape[1] * t->x.shape[2] *
			sizeof(real);
	size_t asked = t->results.peak + t->scratch.peak;
	size_t size = process_size(), least = t->before + output;

	return (struct speed_memory){ asked > output ? asked - output : 0,
			t->before && size > least ? size - least : 0 };
}

struct spread speed_spread(double *numbers, size_t count)
{
	double none = (double)NAN;

	if (count == 0)
		return (struct spread){ none, none, none };
	qsort(numbers, count, sizeof *numbers, ascending);
	return (struct spread){ quantile(numbers, count, 0.25),
			quantile(numbers, count, 0.5),
			quantile(numbers, count, 0.75) };
}

double speed_product(size_t T, bool gradient)
{
	const struct kernel *kernel = kernel_nth(0);
	const size_t m = gradient ? KERNEL_ROWS : T, n = KERNEL_DEPTH;
	const size_t k = gradient ? T : KERNEL_DEPTH;
	struct workspace workspace = { 0 };
	struct random random = { 62 };
	struct tensor a, b, out, room;
	double least = (double)INFINITY;

	if (!workspace_take(&workspace, 2, (size_t[]){ m, k }, &a, NULL) &&
			!workspace_take(&workspace, 2, (size_t[]){ k, n }, &b,
				NULL) &&
			!workspace_take(&workspace, 2, (size_t[]){ m, n }, &out,
				NULL) &&
			!workspace_take(&workspace, 2, (size_t[]){ KERNEL_DEPTH,
				KERNEL_PANELS * kernel->panel + KERNEL_ROWS }, &room,
				NULL)) {
		/* time one product, many times */
		const ptrdiff_t down = (ptrdiff_t)m, deep = (ptrdiff_t)k;
		const struct grid left = gradient ? (struct grid){ a.data, 1, down } :
				(struct grid){ a.data, deep, 1 };
		const struct grid right = gradient ?
				(struct grid){ b.data, KERNEL_DEPTH, 1 } :
				(struct grid){ b.data, 1, deep };
		const struct product product = { m, n, k, left, right, gradient,
				out.data, n, false };

		tensor_randomize(a, &random, 1);
		tensor_randomize(b, &random, 1);
		tensor_fill(out, 0);
		for (int i = 0; i < REPEATS; i++) {
			double start = speed_now();

			kernel->multiply(&product, room.data);
			least = fmin(least, speed_now() - start);
		}
	}
	workspace_free(&workspace);
	return 2 * (double)m * (double)n * (double)k / least;
}

double speed_head(size_t T, bool backward)
{
	enum { WIDTH = 64 };
	const struct kernel *kernel = kernel_nth(0);
	struct workspace workspace = { 0 };
	struct random random = { 63 };
	struct tensor rows, numbers, room;
	double least = (double)INFINITY;

	if (!workspace_take(&workspace, 3, (size_t[]){ 5, T, WIDTH },
				&rows, NULL) &&
			!workspace_take(&workspace, 2, (size_t[]){ 2, T },
				&numbers, NULL) &&
			!workspace_take(&workspace, 2, (size_t[]){
				T + KERNEL_TILES, 4 * WIDTH + KERNEL_ALIGN }, &room,
				NULL)) {
		/* time one head, many times */
		const size_t apart = T * WIDTH;
		const struct strip strip = { T, WIDTH, true,
				{ rows.data, WIDTH }, { rows.data + apart, WIDTH },
				{ rows.data + 2 * apart, WIDTH },
				{ rows.data + 3 * apart, WIDTH },
				{ rows.data + 4 * apart, WIDTH },
				numbers.data, numbers.data + T };

		for (int i = 0; i < REPEATS; i++) {
			double start;

			tensor_randomize(rows, &random, 1);
			start = speed_now();
			kernel->attend(&strip, room.data);
			if (backward) {
				start = speed_now();
				kernel->unattend(&strip, room.data);
			}
			least = fmin(least, speed_now() - start);
		}
	}
	workspace_free(&workspace);
	return (backward ? 5 : 2) * WIDTH * (double)T *
			((double)T + 1) / least;
}
