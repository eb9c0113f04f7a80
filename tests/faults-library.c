/* faults-library.c: every public function of the library that can lack memory,
 * alone. Each of its allocations is failed in turn, once alone and once with
 * all after it; and its workspace is given each limit that is too low. It must
 * say MH_EMEMORY, give back what it had, leave alone what it was to change, and
 * succeed when it is asked again. What reads or writes a file has each call about
 * it failed, too.
 *
 * Linked with faults.c, which fails the allocations. Prints a line a case, for
 * tests/build/faults. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults.h"
#include "fixture.h"
#include "gradient.h"
#include "interventions.h"
#include "online.h"
#include "reference.h"
#include "record.h"
#include "speed.h"
#include "streaming.h"
#include "thoughts.h"
#include "weights.h"

enum { B = 2, T = 5, C = 6, H = 2 };
static const size_t wide[] = { B, T, C };

/* What the cases work on, whole and made before. */
static struct layer *layer;
static struct weights *file, *copies;           /* copies: that of shared */
static struct tensor x, dy, dx, views[2];       /* views: x, dy with gaps */
static struct forward seen;
static struct workspace kept;
static char path[64];

/* A case calls a function once. What it makes it frees; what it was to change
 * it compares, if the function refused. */
typedef enum status attempt(struct workspace *room, struct error *error);

#define CASE(name, call) \
static enum status try_##name(struct workspace *room, struct error *error) \
{ \
	(void)room; \
	return call; \
}

static struct forward out;
static struct streamed flown;
static struct layer *shared;            /* both slots run one head */
static struct fixture fixture;
static off_t length;                    /* of the file at path */

static enum status try_workspace_take(struct workspace *room,
		struct error *error)
{
	struct tensor t;

	return workspace_take(room, 3, wide, &t, error);
}

/* A layer that somebody makes, and that is freed. */
static enum status made(enum status (*make)(size_t width, size_t heads,
		struct layer **layer, struct error *error), struct error *error)
{
	struct layer *l;
	enum status status = make(C, H, &l, error);

	layer_free(l);
	return status;
}

CASE(layer_frame, made(layer_frame, error))
CASE(layer_create, made(layer_create, error))

/* A layer that gets no biases is still the layer that it was. */
static enum status try_layer_add_biases(struct workspace *room,
		struct error *error)
{
	struct layer *l;
	enum status status = layer_create(C, H, &l, error);
	size_t names = status ? 0 : l->registry.count;

	if (!status)
		status = layer_add_biases(l, error);
	if (status && l && (l->registry.count != names || l->in_bias.value.rank ||
			layer_forward_packed(l, x, true, &seen, room, NULL) == MH_ESHAPE))
		status = error_set(error, MH_ESHAPE, __func__, "the layer changed");
	layer_free(l);
	return status;
}

CASE(layer_forward_loop, layer_forward_loop(layer, x, true, &out, room, error))
CASE(layer_forward_packed, layer_forward_packed(shared, x, true, &out, room,
		error))
CASE(layer_forward_streaming, layer_forward_streaming(shared, x, true, &flown,
		room, error))
CASE(layer_backward_loop, layer_backward_loop(layer, x, true, &seen, dy, dx,
		room, error))
CASE(layer_backward_packed, layer_backward_packed(shared, x, true, &seen, dy,
		dx, room, error))
CASE(layer_backward_online, layer_backward_online(layer, x, true, &flown, dy,
		dx, room, error))
CASE(layer_backward_streaming, layer_backward_streaming(layer, x, true, &flown,
		dy, dx, room, error))
/* Heads that are not the layer's own want room for a sum; views want copies. */
CASE(backward_streaming_shared, layer_backward_streaming(shared, x, true,
		&flown, dy, dx, room, error))
CASE(backward_streaming_views, layer_backward_streaming(shared, views[0], true,
		&flown, views[1], dx, room, error))
CASE(backward_packed_views, layer_backward_packed(shared, views[0], true, &seen,
		views[1], dx, room, error))

static enum status try_forward_take(struct workspace *room, struct error *error)
{
	struct forward result;

	return forward_take(layer, x, &result, room, error);
}

static enum status try_streamed_take(struct workspace *room,
		struct error *error)
{
	struct streamed result;

	return streamed_take(layer, x, &result, room, error);
}

static enum status try_layer_stack(struct workspace *room, struct error *error)
{
	struct tensor t;

	return layer_stack(shared, &t, room, error);
}

static enum status try_layer_stack_biases(struct workspace *room,
		struct error *error)
{
	struct tensor t;

	return layer_stack_biases(shared, &t, room, error);
}

static enum status try_layer_rows(struct workspace *room, struct error *error)
{
	struct tensor t;

	return layer_rows(tensor_swap(x, 0, 1), &t, room, error);
}

static enum status try_layer_project(struct workspace *room,
		struct error *error)
{
	struct tensor t;

	return layer_project(layer, x, &t, room, error);
}

CASE(fixture_run_heads, fixture_run_heads(&fixture, error))
CASE(fixture_run_layer, fixture_run_layer(&fixture, error))

static enum status try_fixture_layer(struct workspace *room,
		struct error *error)
{
	struct layer *l = NULL;
	enum status status = fixture_layer(&fixture, &l, error);

	(void)room;
	if (!status)
		layer_free(l);
	return status;
}

static enum status try_perturb(struct workspace *room, struct error *error)
{
	real change[T];

	return perturb(layer_forward_packed, layer, x, true, 1, change, room,
			error);
}

static enum status try_truncate_all(struct workspace *room,
		struct error *error)
{
	real difference;

	return truncate_all(layer_forward_loop, layer, x, &difference, room,
			error);
}

static enum status try_past_change(struct workspace *room, struct error *error)
{
	real change;

	return past_change(layer_forward_loop, layer, x, true, &change, room,
			error);
}

static enum status try_observe_flow(struct workspace *room,
		struct error *error)
{
	struct flow flow;

	(void)room;
	return observe_flow(&flow, error);
}

static enum status try_thoughts_observe(struct workspace *room,
		struct error *error)
{
	struct thoughts thoughts;

	(void)room;
	return thoughts_observe(&thoughts, error);
}

static enum status try_reference_set(struct workspace *room,
		struct error *error)
{
	struct reference reference;
	enum status status = reference_set(&reference, error);

	(void)room;
	reference_free(&reference);
	return status;
}

static enum status try_speed_create(struct workspace *room,
		struct error *error)
{
	struct timed *timed;
	double seconds;
	enum status status = MH_OK;

	(void)room;
	for (size_t i = 0; speed_path(i) && !status; i++) {
		status = speed_create(speed_path(i), (struct speed_shape){ B, T, C, H },
				true, &timed, error);
		if (!status)
			status = speed_step(timed, 1, &seconds, error);
		speed_free(timed);
	}
	return status;
}

static enum status try_weights_open(struct workspace *room,
		struct error *error)
{
	struct weights *w;
	enum status status = weights_open(path, &w, error);

	(void)room;
	if (status && w)
		status = error_set(error, MH_ESHAPE, __func__, "no NULL");
	if (!status && weights_count(w) != layer->registry.count)
		status = error_set(error, MH_ESHAPE, __func__, "names are lost");
	weights_close(w);
	return status;
}

/* The file is the old one or a new one of the same length. */
static enum status try_registry_save(struct workspace *room,
		struct error *error)
{
	struct stat facts;
	enum status status = registry_save(&layer->registry, path, error);

	(void)room;
	/* (The fault may be that of this stat.) */
	if (access(path, F_OK) != 0 ||
			(stat(path, &facts) == 0 && facts.st_size != length))
		status = error_set(error, MH_ESHAPE, __func__, "half a file");
	return status;
}

/* A layer that cannot be loaded keeps its numbers, unless it was the reading of
 * them that failed. */
static enum status try_registry_load(struct workspace *room,
		struct error *error)
{
	real old = layer->memory[3];
	enum status status;

	(void)room;
	layer->memory[3] = 7;
	status = registry_load(&layer->registry, file, "", error);
	if (status != MH_EFILE && layer->memory[3] != (status ? 7 : old))
		status = error_set(error, MH_ESHAPE, __func__, "half a layer");
	layer->memory[3] = old;
	return status;
}

CASE(load_copies, registry_load(&shared->registry, copies, "", error))

#define NAMED(name) { #name, try_##name }
static const struct { const char *name; attempt *attempt; } cases[] = {
	NAMED(workspace_take), NAMED(layer_frame), NAMED(layer_create),
	NAMED(layer_add_biases), NAMED(forward_take), NAMED(streamed_take),
	NAMED(layer_forward_loop), NAMED(layer_forward_packed),
	NAMED(layer_forward_streaming),
	NAMED(layer_backward_loop), NAMED(layer_backward_packed),
	NAMED(layer_backward_online), NAMED(layer_backward_streaming),
	NAMED(backward_streaming_shared), NAMED(backward_streaming_views),
	NAMED(backward_packed_views), NAMED(load_copies),
	NAMED(layer_stack), NAMED(layer_stack_biases), NAMED(layer_rows),
	NAMED(layer_project), NAMED(fixture_run_heads),
	NAMED(fixture_run_layer), NAMED(fixture_layer), NAMED(perturb),
	NAMED(truncate_all), NAMED(past_change), NAMED(observe_flow),
	NAMED(thoughts_observe), NAMED(reference_set), NAMED(speed_create),
	NAMED(weights_open), NAMED(registry_save), NAMED(registry_load),
};

/* Make all that the cases share, in a folder of its own. */
static enum status prepare(const char *folder, struct error *error)
{
	struct random random = { 1 };
	struct stat facts;
	enum status status = layer_create(C, H, &layer, error);

	snprintf(path, sizeof path, "%.50s/layer", folder);
	fixture_set(&fixture);
	if (!status)
		status = layer_create(C, H, &shared, error);
	if (!status)
		status = layer_add_biases(shared, error);
	if (!status)
		status = layer_enter(shared, 1, shared->head[0], error);
	if (!status)
		status = workspace_take(&kept, 3, wide, &x, error);
	if (!status)
		status = workspace_take(&kept, 3, wide, &dy, error);
	if (!status)
		status = workspace_take(&kept, 3, wide, &dx, error);
	if (!status)
		status = forward_take(layer, x, &seen, &kept, error);
	if (!status)
		status = forward_take(layer, x, &out, &kept, error);
	if (!status)
		status = streamed_take(layer, x, &flown, &kept, error);
	for (size_t i = 0; i < 2 && !status; i++)
		status = workspace_take(&kept, 3, (size_t[]){ B, T, 2 * C },
				&views[i], error);
	if (status)
		return status;
	layer_randomize(layer, 2);
	layer_randomize(shared, 3);
	tensor_randomize(x, &random, 1);
	tensor_randomize(dy, &random, 1);
	for (size_t i = 0; i < 2; i++) {
		views[i] = tensor_narrow(views[i], 2, 0, C);
		tensor_randomize(views[i], &random, 1);
	}
	status = layer_forward_loop(layer, x, true, &seen, &kept, error);
	if (!status)
		status = layer_forward_online(layer, x, true, &flown, &kept, error);
	if (!status)
		status = registry_save(&shared->registry, path, error);
	if (!status)
		status = weights_open(path, &copies, error);
	if (!status)                    /* beside the old file, not into it */
		status = registry_save(&layer->registry, path, error);
	if (!status)
		status = weights_open(path, &file, error);
	length = stat(path, &facts) == 0 ? facts.st_size : -1;
	return status;
}

static int wrong;

static void complain(const char *name, long at, int how, const char *what)
{
	printf("%s: allocation %ld, %s: %s\n", name, at, how ? "on" : "once", what);
	wrong++;
}

/* Fail allocation number at; false if there are fewer. */
static bool fail_one(const char *name, attempt *attempt, long at, int how)
{
	struct error error = { 0 };
	struct workspace room = { 0 };
	size_t before = faults_live();
	enum status status;
	bool failed;

	faults_arm(FAULT_MEMORY, at, (enum fault_how)how);
	status = attempt(&room, &error);
	failed = faults_disarm();
	if (failed && status != MH_EMEMORY)
		complain(name, at, how, status ? error.message : "success");
	if (failed && status && !strstr(error.message, "memory"))
		complain(name, at, how, error.message);
	if (!failed && status)
		complain(name, at, how, error.message);
	if (failed && attempt(&room, &error) != MH_OK)  /* and now */
		complain(name, at, how, error.message);
	workspace_free(&room);
	if (faults_live() != before)
		complain(name, at, how, "it keeps memory");
	return failed;
}

/* Let the workspace end after so many lines of 64 bytes, until it is enough: each
 * tensor that a function borrows is refused once, and not only the first of a
 * block. */
static void limit_all(const char *name, attempt *attempt)
{
	enum status status = MH_EMEMORY;

	for (size_t most = 64; status && wrong < 5; most += 64) {
		struct error error = { 0 };
		struct workspace room = { .limit = most };
		size_t before = faults_live();

		status = attempt(&room, &error);
		if (status && status != MH_EMEMORY)
			complain(name, (long)most, FAULT_ON, error.message);
		workspace_free(&room);
		if (faults_live() != before)
			complain(name, (long)most, FAULT_ON, "it keeps memory");
	}
}

/* Calls about files, which fail once, are cut short, or are interrupted. */
static void fail_files(const char *name, attempt *attempt)
{
	static const struct { enum fault_kind kind; enum fault_how how; } ways[] = {
		{ FAULT_PLACE, FAULT_ONCE }, { FAULT_READ, FAULT_ONCE },
		{ FAULT_READ, FAULT_SHORT }, { FAULT_READ, FAULT_AGAIN },
		{ FAULT_WRITE, FAULT_ONCE }, { FAULT_WRITE, FAULT_ON },
	};

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		const char *call = name;

		for (long at = 1; call && wrong < 5; at++) {
			struct error error = { 0 };
			size_t before = faults_live();
			enum status status;

			faults_arm(ways[i].kind, at, ways[i].how);
			status = attempt(NULL, &error);
			call = faults_disarm();
			/* What is only closed was read already; and a case may ask for
			 * the size of a file itself. */
			if (call && status == MH_OK && ways[i].how != FAULT_SHORT &&
					ways[i].how != FAULT_AGAIN && !strstr(call, "close") &&
					strcmp(call, "stat") != 0)
				complain(name, at, (int)ways[i].how, call);
			if (status && (!call || status != MH_EFILE))
				complain(name, at, (int)ways[i].how, error.message);
			if (faults_live() != before)
				complain(name, at, (int)ways[i].how, "it keeps memory");
		}
	}
}

int main(int argc, char **argv)
{
	struct error error;

	if (argc < 2 || prepare(argv[1], &error)) {
		fprintf(stderr, "faults-library: %s\n", argc < 2 ?
				"wanted a folder" : error.message);
		return 2;
	}
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		long at = 1;

		wrong = 0;
		while (fail_one(cases[i].name, cases[i].attempt, at, FAULT_ONCE) &&
				fail_one(cases[i].name, cases[i].attempt, at, FAULT_ON) &&
				wrong < 5)
			at++;
		limit_all(cases[i].name, cases[i].attempt);
		if (strstr("weights_open registry_save registry_load load_copies",
				cases[i].name))
			fail_files(cases[i].name, cases[i].attempt);
		printf("%s %s %ld\n", wrong ? "WRONG" : "right", cases[i].name,
				at - 1);
	}
	return 0;
}
