/* measure.c: made from chapters/90-record.nw; edit it there. */
#define _DEFAULT_SOURCE
#include "measure.h"
/* includes of measure.c */
#include "attention.h"

#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "layer.h"

#include "interventions.h"

#include "storage.h"

#include "differences.h"
#include "gradient.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weights.h"

#include "reference.h"

#include "online.h"
#include "run.h"

#include "streaming.h"

#include "thoughts.h"

/* measurements */
static void measure_views(struct record *record)
{
	real number[12], copy[12];
	struct tensor view = tensor_view(number, 3, (size_t[]){ 3, 2, 2 });
	struct tensor swapped = tensor_swap(view, 0, 1);

	for (int i = 0; i < 12; i++)
		number[i] = (real)i;
	for (int axis = 0; axis < 3; axis++)
		RECORD(record, EXACT, "elements", view.stride[axis],
				"views.stride.%d", axis);
	for (int axis = 0; axis < 3; axis++)
		RECORD(record, EXACT, "elements", swapped.stride[axis],
				"views.swapped.stride.%d", axis);
	RECORD(record, EXACT, "1", AT(view, 1, 0, 1),
			"views.element.1.0.1");
	tensor_contiguous(swapped, copy);
	for (int i = 0; i < 12; i++)
		RECORD(record, EXACT, "1", copy[i], "views.swapped.%d", i);
}

static real unit_variance(struct random *random)
{
	real sum = 0;

	for (int i = 0; i < 12; i++)
		sum += random_uniform(random, -(real)0.5, (real)0.5);
	return sum;
}

/* The standard deviation of samples dot products of the given width. */
static real dot_deviation(size_t width, size_t samples,
		struct random *random)
{
	real squares = 0;

	for (size_t n = 0; n < samples; n++) {
		real dot = 0;

		for (size_t c = 0; c < width; c++)
			dot += unit_variance(random) * unit_variance(random);
		squares += dot * dot;
	}
	return sqrt(squares / (real)samples);
}

static void measure_scale(struct record *record)
{
	static const size_t width[] = { 4, 64 };
	enum { SAMPLES = 2000 };
	struct random random = { 15 };

	for (int i = 0; i < 2; i++) {
		real raw = dot_deviation(width[i], SAMPLES, &random);

		RECORD(record, EXACT, "1", width[i], "scale.%d.width", i);
		RECORD(record, EXACT, "1", SAMPLES, "scale.%d.samples", i);
		RECORD(record, VALUE, "1", raw, "scale.%d.raw", i);
		RECORD(record, VALUE, "1", raw / sqrt((real)width[i]),
				"scale.%d.scaled", i);
	}
}

static void record_head(struct record *record, struct fixture *f,
		const char *name, size_t h)
{
	char prefix[48];

	snprintf(prefix, sizeof prefix, "%s.head%zu.scores", name, h);
	RECORD_ROWS(record, fixture_rows(f->scores[h], FIXTURE_T), prefix);
	snprintf(prefix, sizeof prefix, "%s.head%zu.weights", name, h);
	RECORD_ROWS(record, fixture_rows(f->weights[h], FIXTURE_T), prefix);
	snprintf(prefix, sizeof prefix, "%s.head%zu.output", name, h);
	RECORD_ROWS(record, fixture_rows(f->output[h], FIXTURE_D), prefix);
}

static enum status measure_fixture(struct record *record,
		struct error *error)
{
	struct fixture fixture, silent;
	enum status status;

	fixture_set(&fixture);
	fixture_set(&silent);
	fixture_silence(&silent);
	status = fixture_run_heads(&fixture, error);
	if (!status)
		status = fixture_run_heads(&silent, error);
	for (size_t h = 0; h < FIXTURE_H && !status; h++) {
		record_head(record, &fixture, "fixture", h);
		record_head(record, &silent, "zeroquery", h);
	}
	return status;
}

static void record_mix(struct record *record, struct fixture *f,
		const char *name)
{
	const size_t C = FIXTURE_C;
	char prefix[48];

	snprintf(prefix, sizeof prefix, "%s.concat", name);
	RECORD_ROWS(record, fixture_rows(f->concat, C), prefix);
	snprintf(prefix, sizeof prefix, "%s.output", name);
	RECORD_ROWS(record, fixture_rows(f->projected, C), prefix);
	snprintf(prefix, sizeof prefix, "%s.sum", name);
	RECORD_ROWS(record, fixture_rows(f->sum, FIXTURE_D), prefix);
	for (size_t h = 0; h < FIXTURE_H; h++) {
		snprintf(prefix, sizeof prefix, "%s.contribution%zu",
				name, h);
		RECORD_ROWS(record, fixture_rows(f->contribution[h], C),
				prefix);
	}
}

static enum status measure_mix(struct record *record,
		struct error *error)
{
	struct fixture fixture, silent;
	enum status status;

	fixture_set(&fixture);
	fixture_set(&silent);
	fixture_silence(&silent);
	status = fixture_run_layer(&fixture, error);
	if (!status)
		status = fixture_run_layer(&silent, error);
	if (!status) {
		record_mix(record, &fixture, "fixture");
		record_mix(record, &silent, "zeroquery");
	}
	return status;
}

enum { REG_T = 3, REG_C = 8, REG_H = 2, REG_NUMBERS =
		4 * REG_C * REG_C };

/* The output of a layer, filled with the model's numbers first. */
static enum status run_registered(struct layer *layer,
		const struct layer *model,
		struct tensor output,
		struct error *error)
{
	real weights[REG_H * REG_T * REG_T], concat[REG_T * REG_C];
	real input[REG_T * REG_C];
	const size_t wide[] = { 1, REG_T, REG_C };
	const size_t square[] = { 1, REG_H, REG_T, REG_T };
	struct forward result = { .output = output,
			.weights = tensor_view(weights, 4, square),
			.concat = tensor_view(concat, 3, wide) };
	struct workspace workspace = { 0 };
	struct random random = { 25 };
	enum status status;

	tensor_randomize(tensor_view(input, 3, wide), &random, 1);
	memcpy(layer->memory, model->memory, REG_NUMBERS * sizeof(real));
	status = layer_forward_loop(layer, tensor_view(input, 3, wide),
			true, &result, &workspace, error);
	workspace_free(&workspace);
	return status;
}

static void record_registry(struct record *record, const char *way,
		const struct layer *layer)
{
	RECORD(record, EXACT, "names", layer->registry.count,
			"registry.%s.names", way);
	RECORD(record, EXACT, "numbers", registry_numbers(&layer->registry),
			"registry.%s.numbers", way);
}

static enum status measure_registry(struct record *record,
		struct error *error)
{
	real first[REG_T * REG_C], second[REG_T * REG_C];
	const size_t wide[] = { 1, REG_T, REG_C };
	struct layer *own = NULL, *twice = NULL, *beside = NULL;
	real difference = 0;
	enum status status;

	status = layer_create(REG_C, REG_H, &own, error);
	if (!status)
		status = layer_create(REG_C, REG_H, &twice, error);
	if (!status)
		status = layer_frame(REG_C, REG_H, &beside, error);
	if (!status)
		status = layer_enter(twice, 1, twice->head[0], error);
	if (!status)
		status = layer_enter(beside, 0, &beside->own[0], error);
	if (!status) {
		beside->head[1] = &beside->own[1];      /* the mistake */
		layer_randomize(own, 8);
		/* compare the layer with a head beside the list */
		status = run_registered(own, own, tensor_view(first, 3, wide), error);
		if (!status)
			status = run_registered(beside, own, tensor_view(second, 3, wide),
					error);
		for (size_t i = 0; i < REG_T * REG_C && !status; i++)
			difference = larger(difference, fabs(first[i] - second[i]));
		/* record the three registries */
		record_registry(record, "own", own);
		record_registry(record, "twice", twice);
		record_registry(record, "beside", beside);
		RECORD(record, EXACT, "1", difference, "registry.beside.difference");
	}
	layer_free(own);
	layer_free(twice);
	layer_free(beside);
	return status;
}

static enum status record_wrong_merge(struct record *record,
		struct error *error)
{
	struct fixture fixture;
	enum status status;

	fixture_set(&fixture);
	status = fixture_run_heads(&fixture, error);
	if (!status)            /* (H,T,d) read as (T,C), without a swap */
		RECORD_ROWS(record, fixture_rows(fixture.output, FIXTURE_C),
				"wrongmerge.concat");
	return status;
}

static enum status record_biases(struct record *record,
		struct error *error)
{
	struct layer *layer = NULL;
	enum status status = layer_create(8, 2, &layer, error);

	if (!status)
		status = layer_add_biases(layer, error);
	if (!status)
		RECORD(record, EXACT, "numbers",
				registry_numbers(&layer->registry), "biases.numbers");
	layer_free(layer);
	return status;
}

/* A causal pass over a random layer by both paths; the largest
 * difference of each result, in epsilons. */
static enum status record_bits(struct record *record, int row, size_t B,
		size_t T, size_t C, size_t H, struct error *error)
{
	const size_t wide[] = { B, T, C };
	struct workspace room = { 0 };
	struct layer *layer = NULL;
	struct forward loop, packed;
	struct tensor x;
	enum status status = layer_create(C, H, &layer, error);

	if (!status)
		status = workspace_take(&room, 3, wide, &x, error);
	if (!status)
		status = forward_take(layer, x, &loop, &room, error);
	if (!status)
		status = forward_take(layer, x, &packed, &room, error);
	if (!status) {
		/* run both paths on the same numbers */
		struct random random = { 30 };

		layer_randomize(layer, 30);
		tensor_randomize(x, &random, 1);
		status = layer_forward_loop(layer, x, true, &loop, &room, error);
		if (!status)
			status = layer_forward_packed(layer, x, true, &packed, &room,
					error);
	}
	if (!status) {
		/* record how far the paths differ */
		RECORD(record, EXACT, "1", B, "bits.%d.b", row);
		RECORD(record, EXACT, "1", T, "bits.%d.t", row);
		RECORD(record, EXACT, "1", C, "bits.%d.c", row);
		RECORD(record, EXACT, "1", H, "bits.%d.h", row);
		RECORD(record, NOISE, "epsilon", tensor_distance(loop.weights,
				packed.weights) / REAL_EPSILON, "bits.%d.weights", row);
		RECORD(record, NOISE, "epsilon", tensor_distance(loop.concat,
				packed.concat) / REAL_EPSILON, "bits.%d.concat", row);
		RECORD(record, NOISE, "epsilon", tensor_distance(loop.output,
				packed.output) / REAL_EPSILON, "bits.%d.output", row);
	}
	workspace_free(&room);
	layer_free(layer);
	return status;
}

static enum status measure_packed(struct record *record,
		struct error *error)
{
	enum status status = record_wrong_merge(record, error);

	if (!status)
		status = record_biases(record, error);
	if (!status)
		status = record_bits(record, 0, 2, 4, 8, 2, error);
	if (!status)
		status = record_bits(record, 1, 2, 16, 32, 4, error);
	if (!status)
		status = record_bits(record, 2, 1, 64, 128, 8, error);
	if (!status)
		status = record_bits(record, 3, 1, 128, 256, 4, error);
	return status;
}

enum { FLOW_T = 6, FLOW_C = 6, FLOW_H = 2 };

/* A random layer and input for the experiments of the chapter. */
static enum status flow_set(struct layer **layer, struct tensor *x,
		struct workspace *room, struct error *error)
{
	const size_t wide[] = { 1, FLOW_T, FLOW_C };
	struct random random = { 35 };
	enum status status = layer_create(FLOW_C, FLOW_H, layer, error);

	if (!status)
		status = workspace_take(room, 3, wide, x, error);
	if (status)
		return status;
	layer_randomize(*layer, 36);
	tensor_randomize(*x, &random, 2);
	return MH_OK;
}

/* Perturb each position in turn. */
static enum status record_perturbed(struct record *record,
		const struct layer *layer, struct tensor x, bool causal,
		struct workspace *room, struct error *error)
{
	enum status status = MH_OK;
	real change[FLOW_T];

	for (size_t j = 0; j < FLOW_T && !status; j++) {
		status = perturb(layer_forward_loop, layer, x, causal, j,
				change, room, error);
		for (size_t t = 0; t < FLOW_T && !status; t++)
			RECORD(record, VALUE, "1", change[t],
					"interventions.%s.%zu.%zu",
					causal ? "masked" : "unmasked", j, t);
	}
	return status;
}

static enum status record_mistake(struct record *record,
		enum mistake m, const struct layer *layer, struct tensor x,
		struct workspace *room, struct error *error)
{
	forward_path *path = forward_mistaken(m);
	struct forward result;
	real past = 0;
	enum status status = forward_take(layer, x, &result, room, error);

	if (!status)
		status = path(layer, x, true, &result, room, error);
	if (!status)
		status = past_change(path, layer, x, true, &past, room, error);
	if (status)
		return status;
	/* Where rows do add up, what is left is rounding. */
	RECORD(record, NOISE, "1", row_error(result.weights),
			"mistake.%d.rows", (int)m);
	RECORD(record, EXACT, "weights", future_weights(result.weights),
			"mistake.%d.future", (int)m);
	RECORD(record, VALUE, "1", past, "mistake.%d.past", (int)m);
	return MH_OK;
}

static enum status record_truncated(struct record *record,
		const struct layer *layer, struct tensor x,
		struct workspace *room, struct error *error)
{
	real loop, packed;
	enum status status = truncate_all(layer_forward_loop, layer, x,
			&loop, room, error);

	if (!status)
		status = truncate_all(layer_forward_packed, layer, x, &packed,
				room, error);
	if (status)
		return status;
	RECORD(record, EXACT, "1", x.shape[1], "truncated.t");
	RECORD(record, EXACT, "1", loop, "truncated.loop");
	RECORD(record, NOISE, "epsilon", packed / REAL_EPSILON,
			"truncated.packed");
	return MH_OK;
}

static enum status measure_interventions(struct record *record,
		struct error *error)
{
	struct workspace room = { 0 };
	struct layer *layer = NULL;
	struct tensor x;
	struct flow flow = { 0 };
	enum status status = flow_set(&layer, &x, &room, error);

	if (!status)
		status = observe_flow(&flow, error);
	RECORD(record, EXACT, "1", flow.masked,
			"interventions.fixture.masked");
	RECORD(record, VALUE, "1", flow.unmasked,
			"interventions.fixture.unmasked");
	if (!status)
		status = record_perturbed(record, layer, x, true, &room, error);
	if (!status)
		status = record_perturbed(record, layer, x, false, &room,
				error);
	if (!status)
		status = record_truncated(record, layer, x, &room, error);
	for (int m = 0; m < MISTAKES && !status; m++)
		status = record_mistake(record, (enum mistake)m, layer, x,
				&room, error);
	workspace_free(&room);
	layer_free(layer);
	return status;
}

static enum status measure_storage(struct record *record,
		struct error *error)
{
	enum status status = MH_OK;
	struct cost cost = { 0 };

	for (size_t H = 1; H <= 8 && !status; H *= 2) {
		status = storage_cost(2, 4, 8, H, &cost, error);
		RECORD(record, EXACT, "numbers", cost.parameters,
				"parameters.h%zu", H);
		RECORD(record, EXACT, "numbers", cost.entries,
				"storage.entries.h%zu", H);
	}
	for (size_t T = 128; T <= 256 && !status; T *= 2) {
		status = storage_cost(2, T, 8, 2, &cost, error);
		RECORD(record, EXACT, "numbers", cost.entries,
				"storage.entries.t%zu", T);
		RECORD(record, EXACT, "bytes", cost.entries * sizeof(float),
				"storage.bytes.t%zu", T);
	}
	return status;
}

/* Head 0 of the fixture, and the first coordinate of its output. */
static enum status measure_slopes(struct record *record,
		struct error *error)
{
	struct fixture f;
	real v[FIXTURE_T][FIXTURE_D], dout[FIXTURE_T][FIXTURE_D] = { 0 };
	real slopes[FIXTURE_T][FIXTURE_T];
	struct tensor values = fixture_rows(v, FIXTURE_D);
	struct tensor s = fixture_rows(slopes, FIXTURE_T);
	struct tensor weights;
	real mean = 0;
	enum status status;

	fixture_set(&f);
	status = fixture_run_heads(&f, error);
	if (!status)
		status = attention_project(fixture_rows(f.x, FIXTURE_C),
				fixture_weight(f.value[0]), values, error);
	if (status)
		return status;
	weights = fixture_rows(f.weights[0], FIXTURE_T);
	dout[FIXTURE_T - 1][0] = 1;
	/* record the slopes of the fixture's last row */
	gradient_weights(fixture_rows(dout, FIXTURE_D), values, true, s);
	RECORD_ROWS(record, s, "gradient.weights");
	for (size_t j = 0; j < FIXTURE_T; j++)
		mean += AT(weights, FIXTURE_T - 1, j) * AT(s, FIXTURE_T - 1, j);
	RECORD(record, VALUE, "1", mean, "gradient.mean.last");
	gradient_softmax(weights, true, s);
	RECORD_ROWS(record, s, "gradient.scores");
	return MH_OK;
}

/* The largest difference of rowsum(dO * O) and rowsum(dA * A) in a
 * random head, in epsilons. */
static double row_sums(void)
{
	enum { N = 16, D = 4 };
	real a[N * N], v[N * D], o[N * D], dy[N * D], da[N * N], most = 0;
	const size_t square[] = { N, N }, narrow[] = { N, D };
	struct tensor weights = tensor_view(a, 2, square);
	struct tensor values = tensor_view(v, 2, narrow);
	struct tensor out = tensor_view(o, 2, narrow);
	struct tensor dout = tensor_view(dy, 2, narrow);
	struct tensor dweights = tensor_view(da, 2, square);
	struct random random = { 47 };

	tensor_randomize(weights, &random, 3);
	tensor_randomize(values, &random, 1);
	tensor_randomize(dout, &random, 1);
	attention_mask(weights);
	softmax_rows(weights);
	attention_mix(weights, values, true, out);
	gradient_weights(dout, values, true, dweights);
	/* find the largest difference of the row sums */
	for (size_t i = 0; i < N; i++) {
		real difference = 0;

		for (size_t c = 0; c < D; c++)
			difference += AT(dout, i, c) * AT(out, i, c);
		for (size_t j = 0; j <= i; j++)
			difference -= AT(dweights, i, j) * AT(weights, i, j);
		most = larger(most, fabs(difference));
	}
	return (double)(most / REAL_EPSILON);
}

/* The largest entries of the bias gradients of a random layer. */
static enum status measure_biases(struct record *record,
		struct error *error)
{
	const size_t wide[] = { 2, 4, 8 };
	struct workspace room = { 0 };
	struct layer *layer = NULL;
	struct forward result;
	struct random random = { 48 };
	struct tensor x, dy, dx;
	enum status status = layer_create(8, 2, &layer, error);

	if (!status)
		status = layer_add_biases(layer, error);
	if (!status)
		status = workspace_take(&room, 3, wide, &x, error);
	if (!status)
		status = workspace_take(&room, 3, wide, &dy, error);
	if (!status)
		status = workspace_take(&room, 3, wide, &dx, error);
	if (!status)
		status = forward_take(layer, x, &result, &room, error);
	if (!status) {
		/* go forward and back with random numbers */
		layer_randomize(layer, 49);
		tensor_randomize(x, &random, 1);
		tensor_randomize(dy, &random, 1);
		status = layer_forward_loop(layer, x, true, &result, &room, error);
		if (!status)
			status = layer_backward_loop(layer, x, true, &result, dy, dx,
					&room, error);
	}
	if (!status) {
		/* record the largest slopes of the biases */
		real largest[2] = { 0, 0 };             /* query, key */

		for (size_t i = 0; i < 2 * 8; i++)
			largest[i / 8] = larger(largest[i / 8],
					fabs(AT(layer->in_bias.gradient, i)));
		RECORD(record, VALUE, "1", largest[0], "gradient.bias.query");
		RECORD(record, NOISE, "epsilon", largest[1] / REAL_EPSILON,
				"gradient.bias.key");
	}
	workspace_free(&room);
	layer_free(layer);
	return status;
}

static enum status measure_differences(struct record *record,
		struct error *error)
{
	enum { FLOAT_STEPS = 20, STEPS = 44 };
	enum status status = MH_OK;
	double share = 0;

	for (int k = 1; k <= STEPS && !status; k++) {
		status = differences(k, &share, error);
		RECORD(record, NOISE, "1", share, "differences.double.%d", k);
	}
	for (int k = 1; k <= FLOAT_STEPS && !status; k++) {
		status = mhf_differences(k, &share, error);
		RECORD(record, NOISE, "1", share, "differences.float.%d", k);
	}
	RECORD(record, VALUE, "1", cbrt(DBL_EPSILON),
			"differences.double.best");
	RECORD(record, VALUE, "1", cbrt((double)FLT_EPSILON),
			"differences.float.best");
	return status;
}

/* read a small file back */
/* Read up to so many bytes of a file; *bytes says how many. */
static enum status read_back(const char *path, char *text, size_t most,
		size_t *bytes, struct error *error)
{
	FILE *file = fopen(path, "rb");
	int cause = errno;
	bool done = false;

	if (file) {
		*bytes = fread(text, 1, most, file);
		cause = errno;
		done = !ferror(file);
		fclose(file);
	}
	return done ? MH_OK : REFUSE(error, MH_EFILE, "cannot read %.100s:"
			" %s", path, strerror(cause));
}

static enum status measure_file(struct record *record,
		struct error *error)
{
	const char *folder = getenv("TMPDIR");
	char path[256], text[128] = "";
	real numbers[4] = { 1, 2, 3, 4 };
	struct weights_tensor w = { "w", tensor_view(numbers, 2,
			(size_t[]){ 2, 2 }) };
	size_t bytes = 0, used;
	int descriptor;
	enum status status;

	snprintf(path, sizeof path, "%.200s/measure-XXXXXX", folder ?
			folder : "/tmp");
	descriptor = mkstemp(path);
	if (descriptor < 0)
		return REFUSE(error, MH_EFILE, "cannot write %.100s: %s", path,
				strerror(errno));
	close(descriptor);
	status = weights_write(path, &w, 1, error);
	if (!status)
		status = read_back(path, text, sizeof text - 1, &bytes, error);
	remove(path);
	/* record what the file has */
	const char *brace = strchr(text + 8, '}');

	used = brace ? (size_t)(brace + 2 - (text + 8)) : 0;
	RECORD(record, EXACT, "1", text[0], "file.first");
	RECORD(record, EXACT, "characters", used, "file.header.text");
	RECORD(record, EXACT, "characters", strcspn(text + 9, "{") + 2,
			"file.header.frame");
	RECORD(record, EXACT, "bytes", bytes > 40 ? bytes - 8 - 32 : 0,
			"file.header.bytes");
	RECORD(record, EXACT, "bytes", bytes, "file.bytes");
	return status;
}

/* The largest difference between the output of the layer, run forward
 * on x, and PyTorch's. */
static enum status mistaken(struct reference *r, struct tensor x,
		real *most, struct error *error)
{
	struct forward result;
	enum status status = forward_take(r->layer, x, &result, &r->room,
			error);

	if (!status)
		status = layer_forward_loop(r->layer, x, true, &result,
				&r->room, error);
	if (!status && x.shape[0] != r->x.shape[0])
		result.output = tensor_swap(result.output, 0, 1);
	if (!status)
		*most = tensor_distance(result.output, r->answer.output);
	return status;
}

/* Read the rows head by head: its queries, its keys, its values. */
static void interleave(struct layer *layer, struct tensor rows)
{
	const size_t C = layer->width, d = layer->head_width;

	for (size_t row = 0; row < 3 * C; row++) {
		size_t role = row / C, h = row % C / d, c = row % d;

		tensor_contiguous(tensor_slice(rows, 0, (h * 3 + role) * d +
				c), &AT(layer->in_proj.value, row, 0));
	}
}

/* Read every square block the other way round. */
static void transpose(struct layer *layer, struct tensor rows)
{
	const size_t C = layer->width;

	for (size_t role = 0; role < 3; role++)
		tensor_contiguous(tensor_swap(tensor_narrow(rows, 0, role * C,
				C), 0, 1), &AT(layer->in_proj.value, role * C, 0));
}

/* Head 0 of example 0, seeing what is blocked and nothing else: the
 * largest difference from PyTorch's weights, and how many rows are not
 * numbers. */
static enum status turn_mask_over(struct reference *r, real *most,
		size_t *broken, struct error *error)
{
	struct projections head = head_values(r->layer->head[0]);
	const size_t T = r->x.shape[1];
	const size_t narrow[] = { T, head.query.shape[0] };
	struct tensor x = tensor_slice(r->x, 0, 0), q, k, s;
	struct tensor want = of_head(r->answer.weights, 0, 0);
	enum status status = workspace_take(&r->room, 2, narrow, &q,
			error);

	if (!status)
		status = workspace_take(&r->room, 2, narrow, &k, error);
	if (!status)
		status = workspace_take(&r->room, 2, want.shape, &s, error);
	if (!status)
		status = attention_project(x, head.query, q, error);
	if (!status)
		status = attention_project(x, head.key, k, error);
	if (!status)
		status = attention_scores(q, k, s, error);
	if (status)
		return status;
	/* hide the past, and compare */
	for (size_t i = 0; i < T; i++)
		for (size_t j = 0; j <= i; j++)
			AT(s, i, j) = -(real)INFINITY;
	softmax_rows(s);
	for (size_t i = 0; i < T; i++)
		if (isnan(AT(s, i, 0)))
			(*broken)++;
		else
			*most = larger(*most, tensor_distance(tensor_slice(s, 0, i),
					tensor_slice(want, 0, i)));
	return MH_OK;
}

static enum status record_distance(struct record *record,
		struct reference *r, bool packed, struct error *error)
{
	const char *path = packed ? "packed" : "loop";
	struct forward result;
	struct tensor dx;
	real slopes;
	enum status status = forward_take(r->layer, r->x, &result, &r->room,
			error);

	if (!status)
		status = workspace_take(&r->room, 3, r->x.shape, &dx, error);
	if (!status)
		status = (packed ? layer_forward_packed : layer_forward_loop)(
				r->layer, r->x, true, &result, &r->room, error);
	registry_zero_gradients(&r->layer->registry);
	if (!status)
		status = (packed ? layer_backward_packed :
				layer_backward_loop)(r->layer, r->x, true, &result,
				r->dy, dx, &r->room, error);
	if (status)
		return status;
	/* record the distance of outputs and slopes */
	RECORD(record, NOISE, "1", tensor_distance(result.output,
			r->answer.output), "referee.%s.output", path);
	slopes = larger(tensor_distance(dx, r->dx), larger(
			tensor_distance(r->layer->in_proj.gradient, r->din_proj),
			tensor_distance(r->layer->out_proj.gradient, r->dout_proj)));
	RECORD(record, NOISE, "1", slopes, "referee.%s.slopes", path);
	return MH_OK;
}

static enum status record_distances(struct record *record,
		struct reference *r, struct error *error)
{
	enum status status = record_distance(record, r, false, error);

	if (!status)
		status = record_distance(record, r, true, error);
	return status;
}

static enum status measure_conventions(struct record *record,
		struct error *error)
{
	struct reference r;
	real most = 0;
	enum status status = reference_set(&r, error);

	RECORD_TEXT(record, r.version, "reference.torch");
	if (!status)
		status = mistaken(&r, r.x, &most, error);
	if (!status) {
		RECORD(record, NOISE, "epsilon", most / REAL_EPSILON,
				"conventions.none");
		status = record_distances(record, &r, error);
	}
	if (!status) {
		/* record the size of outputs and the average of weights */
		struct tensor none = r.answer.output, w = r.answer.weights;

		none.data = (real[]){ 0 };
		none.stride[0] = none.stride[1] = none.stride[2] = 0;
		RECORD(record, VALUE, "1", tensor_distance(r.answer.output, none),
				"conventions.size");
		most = 0;
		for (size_t i = 0; i < 2 * 4 * 4; i++) {
			size_t b = i / 16, t = i / 4 % 4, s = i % 4;

			most = larger(most, fabs(AT(w, b, 0, t, s) -
					(AT(w, b, 0, t, s) + AT(w, b, 1, t, s)) / 2));
		}
		RECORD(record, VALUE, "1", most, "conventions.average");
		/* make the mistakes, one after the other */
		real in_proj[24 * 8];
		struct tensor rows = tensor_contiguous(r.layer->in_proj.value, in_proj);
		size_t broken = 0;

		most = 0;
		status = turn_mask_over(&r, &most, &broken, error);
		RECORD(record, VALUE, "1", most, "conventions.mask");
		RECORD(record, EXACT, "rows", broken, "conventions.mask.nan");
		if (!status)
			status = mistaken(&r, tensor_swap(r.x, 0, 1), &most, error);
		RECORD(record, VALUE, "1", most, "conventions.batch");
		transpose(r.layer, rows);
		if (!status)
			status = mistaken(&r, r.x, &most, error);
		RECORD(record, VALUE, "1", most, "conventions.transposed");
		interleave(r.layer, rows);
		if (!status)
			status = mistaken(&r, r.x, &most, error);
		RECORD(record, VALUE, "1", most, "conventions.interleaved");
	}
	reference_free(&r);
	return status;
}

/* The last row of a head of the fixture, source by source. */
static enum status measure_online(struct record *record, size_t h,
		struct error *error)
{
	struct fixture f;
	real v[FIXTURE_T][FIXTURE_D], output[FIXTURE_D];
	struct tensor values = fixture_rows(v, FIXTURE_D);
	const size_t d = FIXTURE_D;
	struct online_row row = { .output = tensor_view(output, 1, &d) };
	enum status status;

	fixture_set(&f);
	status = fixture_run_heads(&f, error);
	if (!status)
		status = attention_project(fixture_rows(f.x, FIXTURE_C),
				fixture_weight(f.value[h]), values, error);
	if (status)
		return status;
	online_start(&row);
	for (size_t j = 0; j < FIXTURE_T; j++) {
		/* take one source of the fixture, and record the row */
		real factor = online_add(&row, f.scores[h][FIXTURE_T - 1][j],
				tensor_slice(values, 0, j));

		RECORD(record, VALUE, "1", factor, "online.head%zu.%zu.factor", h, j);
		RECORD(record, VALUE, "1", row.maximum, "online.head%zu.%zu.maximum", h,
				j);
		RECORD(record, VALUE, "1", row.sum, "online.head%zu.%zu.sum", h, j);
		for (size_t c = 0; c < d; c++)
			RECORD(record, VALUE, "1", output[c], "online.head%zu.%zu.sum%zu",
					h, j, c);
	}
	online_finish(&row);
	for (size_t c = 0; c < d; c++)
		RECORD(record, VALUE, "1", output[c],
				"online.head%zu.output.%zu", h, c);
	return MH_OK;
}

/* How far a path that stores no square is from PyTorch. */
static enum status measure_streaming(struct record *record,
		const char *name, const struct streaming *path,
		struct error *error)
{
	struct reference r;
	struct streamed made;
	struct tensor dx;
	enum status status = reference_set(&r, error);

	if (!status)
		status = streamed_take(r.layer, r.x, &made, &r.room, error);
	if (!status)
		status = workspace_take(&r.room, 3, r.x.shape, &dx, error);
	if (!status)
		status = path->forward(r.layer, r.x, true, &made, &r.room,
				error);
	if (!status)
		status = path->backward(r.layer, r.x, true, &made, r.dy, dx,
				&r.room, error);
	if (!status) {
		/* record how far the path is from PyTorch */
		real slopes = larger(tensor_distance(dx, r.dx), larger(
				tensor_distance(r.layer->in_proj.gradient, r.din_proj),
				tensor_distance(r.layer->out_proj.gradient, r.dout_proj)));

		RECORD(record, NOISE, "1", tensor_distance(made.output,
				r.answer.output), "referee.%s.output", name);
		RECORD(record, NOISE, "1", slopes, "referee.%s.slopes", name);
	}
	reference_free(&r);
	return status;
}

static enum status measure_thoughts(struct record *record,
		struct error *error)
{
	struct thoughts t;
	struct fixture f;
	real apart = 0;
	enum status status = thoughts_observe(&t, error);

	fixture_set(&f);
	if (!status)
		status = fixture_run_heads(&f, error);
	if (status)
		return status;
	for (size_t j = 0; j < FIXTURE_T; j++)
		apart += fabs(f.weights[0][2][j] - f.weights[1][2][j]) / 2;
	/* record the experiments */
	RECORD(record, EXACT, "1", THOUGHT_T, "thought.t");
	RECORD(record, EXACT, "1", THOUGHT_C, "thought.c");
	RECORD(record, EXACT, "1", THOUGHT_H, "thought.h");
	RECORD(record, VALUE, "1", t.slice, "thought.slice");
	RECORD(record, EXACT, "1", t.concat_other, "thought.concat.other");
	RECORD(record, VALUE, "1", t.concat_output, "thought.concat.output");
	RECORD(record, VALUE, "1", t.distance, "thought.distance");
	RECORD(record, VALUE, "1", apart, "thought.fixture.distance");
	RECORD(record, EXACT, "1", t.projected_past, "thought.projected.past");
	RECORD(record, EXACT, "1", t.weights_moved, "thought.weights");
	RECORD(record, VALUE, "1", t.output_moved, "thought.output");
	return MH_OK;
}

enum status measure(struct record *record, struct error *error)
{
	enum status status = MH_OK;

	/* take each chapter's measurements */
	measure_views(record);

	measure_scale(record);

	if (!status)
		status = measure_fixture(record, error);

	if (!status)
		status = measure_mix(record, error);
	if (!status)
		status = measure_registry(record, error);

	if (!status)
		status = measure_packed(record, error);

	if (!status)
		status = measure_interventions(record, error);

	if (!status)
		status = measure_storage(record, error);

	if (!status)
		status = measure_slopes(record, error);
	RECORD(record, NOISE, "epsilon", row_sums(), "gradient.rows");
	if (!status)
		status = measure_biases(record, error);
	if (!status)
		status = measure_differences(record, error);

	if (!status)
		status = measure_file(record, error);

	if (!status)
		status = measure_conventions(record, error);

	for (size_t h = 0; h < FIXTURE_H && !status; h++)
		status = measure_online(record, h, error);
	if (!status)
		status = measure_streaming(record, "online", &(struct streaming){
				layer_forward_online, layer_backward_online }, error);

	if (!status)
		status = measure_streaming(record, "streaming",
				&(struct streaming){ layer_forward_streaming,
				layer_backward_streaming }, error);

	if (!status)
		status = measure_thoughts(record, error);
	return status;
}
