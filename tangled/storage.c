/* storage.c: made from chapters/40-storage.nw; edit it there. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "storage.h"

/* private functions of storage */
/* The largest size this process ever had, in bytes. */
static size_t resident(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (size_t)usage.ru_maxrss * 1024;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

struct run {
	storage_pass *pass;
	size_t B, T, C, H;
	struct usage usage;
};

/* run a layer and measure it */
static enum status run_measured(struct layer *layer, struct tensor x,
		struct run *run, struct workspace *workspace,
		struct error *error)
{
	struct random random = { 40 };
	enum status status;

	layer_randomize(layer, 41);
	tensor_randomize(x, &random, 1);

	size_t before = resident();
	double start = now();

	status = run->pass(layer, x, workspace, error);
	run->usage.seconds = now() - start;
	run->usage.resident = resident() - before;
	run->usage.asked = workspace->peak;
	return status;
}

static enum status run_once(void *data, struct error *error)
{
	struct run *run = data;
	const size_t wide[] = { run->B, run->T, run->C };
	struct workspace input = { 0 }, workspace = { 0 };
	struct layer *layer;
	struct tensor x;
	enum status status = layer_create(run->C, run->H, &layer, error);

	if (!status)
		status = workspace_take(&input, 3, wide, &x, error);
	if (!status)
		status = run_measured(layer, x, run, &workspace, error);
	workspace_free(&workspace);
	workspace_free(&input);
	layer_free(layer);
	return status;
}
/* functions of storage */
enum status storage_cost(size_t B, size_t T, size_t C, size_t H,
		struct cost *cost, struct error *error)
{
	struct layer *layer;
	enum status status = layer_create(C, H, &layer, error);

	if (status)
		return status;
	cost->parameters = registry_numbers(&layer->registry);
	layer_free(layer);
	if (!tensor_count(4, (size_t[]){ B, H, T, T }, &cost->entries))
		return REFUSE(error, MH_ESIZE, "B = %zu, T = %zu and H = %zu"
				" make more scores than memory has addresses", B, T,
				H);
	if (!tensor_count(4, (size_t[]){ 2 * B, T, T, C },
			&cost->products))
		return REFUSE(error, MH_ESIZE, "B = %zu, T = %zu and C = %zu"
				" make more multiplications than can be counted", B,
				T, C);
	return MH_OK;
}

enum status storage_loop(const struct layer *layer, struct tensor x,
		struct workspace *workspace, struct error *error)
{
	struct forward result;
	enum status status = forward_take(layer, x, &result, workspace,
			error);

	return status ? status : layer_forward_loop(layer, x, true,
			&result, workspace, error);
}

enum status storage_packed(const struct layer *layer, struct tensor x,
		struct workspace *workspace, struct error *error)
{
	struct forward result;
	enum status status = forward_take(layer, x, &result, workspace,
			error);

	return status ? status : layer_forward_packed(layer, x, true,
			&result, workspace, error);
}

enum status storage_apart(lonely_work *work, void *data, size_t size,
		struct error *error)
{
	struct { struct error error; unsigned char data[256]; } answer;
	int ends[2], outcome, cause;
	pid_t child;
	ssize_t got;

	fflush(NULL);
	if (size > sizeof answer.data || pipe(ends) != 0)
		return REFUSE(error, MH_EFILE, "no pipe for %zu bytes: %s",
				size, strerror(errno));
	child = fork();
	cause = errno;
	if (child == 0) {
		/* work in the child and exit */
		close(ends[0]);
		alarm(60);                              /* no measurement is for ever */
		memset(&answer, 0, sizeof answer);
		answer.error.status = work(data, &answer.error);
		memcpy(answer.data, data, size);
		got = write(ends[1], &answer, sizeof answer);
		_exit(got == (ssize_t)sizeof answer ? 0 : 1);
	}
	close(ends[1]);
	do
		got = child < 0 ? -1 : read(ends[0], &answer, sizeof answer);
	while (got < 0 && child > 0 && errno == EINTR);
	close(ends[0]);
	if (child > 0)
		waitpid(child, &outcome, 0);
	if (child < 0)
		return REFUSE(error, MH_EFILE, "no process to measure in: %s",
				strerror(cause));
	if (got != (ssize_t)sizeof answer)
		return REFUSE(error, MH_EFILE, "the measuring process died");
	/* hand over what the child found */
	if (answer.error.status)
		return REFUSE(error, answer.error.status, "%s",
				answer.error.message);
	memcpy(data, answer.data, size);
	return MH_OK;
}

enum status storage_measure(storage_pass *pass, size_t B, size_t T,
		size_t C, size_t H, struct usage *usage, struct error *error)
{
	struct run run = { .pass = pass, .B = B, .T = T, .C = C, .H = H };
	enum status status = storage_apart(run_once, &run, sizeof run,
			error);

	if (!status)
		*usage = run.usage;
	return status;
}

struct point sweep_point(size_t i)
{
	return (struct point){ .T = (size_t)128 << i / 4,
			.H = (size_t)1 << i % 4 };
}

enum status sweep_measure(struct point *point, struct error *error)
{
	enum status status = storage_cost(SWEEP_B, point->T, SWEEP_C,
			point->H, &point->cost, error);

	if (!status)
		status = storage_measure(storage_packed, SWEEP_B,
				point->T, SWEEP_C, point->H, &point->usage, error);
	return status;
}
