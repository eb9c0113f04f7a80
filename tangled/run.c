/* run.c: made from chapters/50-pytorch.nw; edit it there. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "gradient.h"
#include "run.h"
#include "weights.h"

struct job {
	struct weights *file, *inputs;
	char prefix[256];               /* with its dot */
	struct layer *layer;
	struct entry entries[4];        /* the names in the file */
	struct registry registry;
	struct tensor x, dy, dx;
	struct forward result;          /* weights of rank 0: none */
	struct workspace room;
	/* more fields of job */
	struct streamed streamed;
};

/* private functions of run */
/* A layer that has been replaced by what it made is lost. */
static enum status refuse_inputs_as_output(
		const struct run_request *request, struct error *error)
{
	const char *inputs[] = { request->layer, request->inputs };
	struct stat in, out;

	if (stat(request->output, &out) != 0)
		return errno == ENOENT ? MH_OK : REFUSE(error, MH_EFILE,
				"cannot write %.100s: %s", request->output,
				strerror(errno));
	for (int i = 0; i < 2; i++) {
		if (stat(inputs[i], &in) != 0)
			return REFUSE(error, MH_EFILE, "cannot read %.100s: %s",
					inputs[i], strerror(errno));
		if (in.st_dev == out.st_dev && in.st_ino == out.st_ino)
			return REFUSE(error, MH_EFILE, "the output would replace"
					" the input %.100s", inputs[i]);
	}
	return MH_OK;
}

/* Open the layer's file, and note the prefix with its dot. */
static enum status open_layer(struct job *job,
		const struct run_request *request, struct error *error)
{
	size_t length = strlen(request->prefix);
	bool dot = length && request->prefix[length - 1] != '.';

	if (length + dot >= sizeof job->prefix)
		return REFUSE(error, MH_EFORMAT, "the prefix %.40s... is too"
				" long", request->prefix);
	memcpy(job->prefix, request->prefix, length);
	strcpy(job->prefix + length, dot ? "." : "");
	return weights_open(request->layer, &job->file, error);
}

/* The tensor of this name under the prefix, or NULL. */
static const struct weights_entry *under_prefix(const struct job *job,
		const char *name)
{
	char full[sizeof job->prefix + 32];

	snprintf(full, sizeof full, "%s%s", job->prefix, name);
	return weights_find(job->file, full);
}

/* Make the layer and fill it from its file. */
static enum status load_layer(struct job *job,
		const struct run_request *request, struct error *error)
{
	const struct weights_entry *in = under_prefix(job,
			"in_proj_weight");
	bool in_bias = under_prefix(job, "in_proj_bias");
	bool out_bias = under_prefix(job, "out_proj.bias");
	enum status status;

	if (!in)
		return REFUSE(error, MH_EFORMAT, "%.100s: there is no %.60s"
				"in_proj_weight%s", request->layer, job->prefix,
				*job->prefix ? "" :
				"; --prefix says where in a model it lies");
	if (in->rank != 2 || in->shape[0] / 3 != in->shape[1] ||
			in->shape[0] % 3 != 0)
		return REFUSE(error, MH_EFORMAT, "%.100s: %.60sin_proj_weight"
				" has shape %s, wanted (3C, C)", request->layer,
				job->prefix, weights_shape(in).text);
	status = layer_create(in->shape[1], request->heads, &job->layer,
			error);
	if (!status && (in_bias || out_bias))
		status = layer_add_biases(job->layer, error);
	/* name the tensors as PyTorch does */
	if (!status)
		status = registry_enter(&job->registry, "in_proj_weight",
				&job->layer->in_proj, error);
	if (!status)
		status = registry_enter(&job->registry, "out_proj.weight",
				&job->layer->out_proj, error);
	if (!status && in_bias)
		status = registry_enter(&job->registry, "in_proj_bias",
				&job->layer->in_bias, error);
	if (!status && out_bias)
		status = registry_enter(&job->registry, "out_proj.bias",
				&job->layer->out_bias, error);
	if (!status)
		status = registry_load(&job->registry, job->file, job->prefix,
				error);
	return status;
}

/* Borrow x, and dy if it is needed, and fill them. */
static enum status load_inputs(struct job *job,
		const struct run_request *request, struct error *error)
{
	const struct weights_entry *x;
	enum status status = weights_open(request->inputs, &job->inputs,
			error);

	if (status)
		return status;
	/* refuse inputs that nobody asked for */
	for (size_t i = 0; i < weights_count(job->inputs); i++) {
		const char *name = weights_nth(job->inputs, i)->name;

		if (strcmp(name, "x") != 0 && (!request->backward ||
				strcmp(name, "dy") != 0))
			return REFUSE(error, MH_EFORMAT, "%.100s: wanted x%s, got a"
					" tensor '%.60s'", request->inputs,
					request->backward ? " and dy" : "", name);
	}
	x = weights_find(job->inputs, "x");
	if (!x || x->rank != 3 || x->shape[2] != job->layer->width)
		return REFUSE(error, MH_EFORMAT, "%.100s: wanted x of shape"
				" (B, T, %zu), got %s", request->inputs,
				job->layer->width, x ? weights_shape(x).text : "none");
	status = workspace_take(&job->room, 3, x->shape, &job->x, error);
	if (!status)
		status = weights_read(job->inputs, "x", job->x, error);
	if (!status && request->backward)
		status = workspace_take(&job->room, 3, x->shape, &job->dy,
				error);
	if (!status && request->backward)
		status = weights_read(job->inputs, "dy", job->dy, error);
	return status;
}

static enum status loop_forth(struct job *job, bool causal,
		struct error *error)
{
	enum status status = forward_take(job->layer, job->x, &job->result,
			&job->room, error);

	return status ? status : layer_forward_loop(job->layer, job->x,
			causal, &job->result, &job->room, error);
}

static enum status loop_back(struct job *job, bool causal,
		struct error *error)
{
	return layer_backward_loop(job->layer, job->x, causal,
			&job->result, job->dy, job->dx, &job->room, error);
}

static enum status packed_forth(struct job *job, bool causal,
		struct error *error)
{
	enum status status = forward_take(job->layer, job->x, &job->result,
			&job->room, error);

	return status ? status : layer_forward_packed(job->layer, job->x,
			causal, &job->result, &job->room, error);
}

static enum status packed_back(struct job *job, bool causal,
		struct error *error)
{
	return layer_backward_packed(job->layer, job->x, causal,
			&job->result, job->dy, job->dx, &job->room, error);
}

/* private functions of more paths */
static enum status stream_forth(struct job *job, bool causal,
		const struct streaming *path, struct error *error)
{
	struct streamed *made = &job->streamed;
	enum status status = streamed_take(job->layer, job->x, made,
			&job->room, error);

	if (!status)
		status = path->forward(job->layer, job->x, causal, made,
				&job->room, error);
	job->result = (struct forward){ .output = made->output,
			.concat = made->concat };
	return status;
}

static enum status stream_back(struct job *job, bool causal,
		const struct streaming *path, struct error *error)
{
	return path->backward(job->layer, job->x, causal, &job->streamed,
			job->dy, job->dx, &job->room, error);
}

static const struct streaming run_online = { layer_forward_online,
		layer_backward_online };

static enum status online_forth(struct job *job, bool causal,
		struct error *error)
{
	return stream_forth(job, causal, &run_online, error);
}

static enum status online_back(struct job *job, bool causal,
		struct error *error)
{
	return stream_back(job, causal, &run_online, error);
}

static const struct streaming run_streaming = { layer_forward_streaming,
		layer_backward_streaming };

static enum status streaming_forth(struct job *job, bool causal,
		struct error *error)
{
	return stream_forth(job, causal, &run_streaming, error);
}

static enum status streaming_back(struct job *job, bool causal,
		struct error *error)
{
	return stream_back(job, causal, &run_streaming, error);
}
static const struct {
	const char *name;
	enum status (*forth)(struct job *, bool causal, struct error *);
	enum status (*back)(struct job *, bool causal, struct error *);
} run_paths[RUN_PATHS] = {
	[RUN_LOOP] = { "loop", loop_forth, loop_back },
	[RUN_PACKED] = { "packed", packed_forth, packed_back },
	/* ways of more paths */
	[RUN_ONLINE] = { "online", online_forth, online_back },

	[RUN_STREAMING] = { "streaming", streaming_forth, streaming_back },
};

/* Run forward, and backward if that was asked for. */
static enum status calculate(struct job *job,
		const struct run_request *request, struct error *error)
{
	enum status status = run_paths[request->path].forth(job,
			request->causal, error);

	if (status || !request->backward)
		return status;
	status = workspace_take(&job->room, 3, job->x.shape, &job->dx,
			error);
	return status ? status : run_paths[request->path].back(job,
			request->causal, error);
}

/* Name all results, and write them. */
static enum status write_results(struct job *job,
		const struct run_request *request, struct error *error)
{
	struct weights_tensor list[8] = {
		{ "y", job->result.output },
		{ "concat", job->result.concat },
	};
	char names[4][48];
	size_t count = 2, gradients = 0;

	if (job->result.weights.rank)
		list[count++] = (struct weights_tensor){ "attn_weights",
				job->result.weights };
	if (request->backward) {
		list[count++] = (struct weights_tensor){ "grad.x", job->dx };
		gradients = job->registry.count;
	}
	for (size_t i = 0; i < gradients; i++) {
		snprintf(names[i], sizeof names[i], "grad.%.40s",
				job->entries[i].name);
		list[count++] = (struct weights_tensor){ names[i],
				job->entries[i].parameter->gradient };
	}
	return weights_write(request->output, list, count, error);
}
/* functions of run */
enum status run_layer(const struct run_request *request,
		struct error *error)
{
	struct job job = { .registry.room = 4 };
	enum status status;

	job.registry.entries = job.entries;
	status = refuse_inputs_as_output(request, error);
	if (!status)
		status = open_layer(&job, request, error);
	if (!status)
		status = load_layer(&job, request, error);
	if (!status)
		status = load_inputs(&job, request, error);
	if (!status)
		status = calculate(&job, request, error);
	if (!status)
		status = write_results(&job, request, error);
	workspace_free(&job.room);
	layer_free(job.layer);
	weights_close(job.inputs);
	weights_close(job.file);
	return status;
}

bool run_path_find(const char *name, enum run_path *path)
{
	for (int i = 0; i < RUN_PATHS; i++)
		if (strcmp(run_paths[i].name, name) == 0) {
			*path = (enum run_path)i;
			return true;
		}
	return false;
}

enum status run_wants_float(const struct run_request *request,
		bool *single, struct error *error)
{
	struct job job = { 0 };
	const struct weights_entry *entry = NULL;
	enum status status = open_layer(&job, request, error);

	if (!status)
		entry = under_prefix(&job, "in_proj_weight");
	*single = entry && strcmp(entry->type, "F32") == 0;
	weights_close(job.file);
	return status;
}
