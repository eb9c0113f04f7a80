/* interventions.c: made from chapters/35-interventions.nw; edit it there. */
#include "fixture.h"
#include "interventions.h"

/* private functions of interventions */
static real largest_change(struct tensor before, struct tensor after,
		size_t t)
{
	real most = 0;

	for (size_t b = 0; b < before.shape[0]; b++)
		for (size_t c = 0; c < before.shape[2]; c++)
			most = larger(most, fabs(AT(after, b, t, c) -
					AT(before, b, t, c)));
	return most;
}

static void broken_softmax(enum mistake mistake, struct tensor scores)
{
	if (mistake != NO_MASK)
		attention_mask(scores);
	softmax_rows(mistake == WRONG_AXIS ? tensor_swap(scores, 0, 1) :
			scores);
	if (mistake != NO_SUM)
		return;
	/* Dividing by the largest weight leaves exp(score - largest). */
	for (size_t i = 0; i < scores.shape[0]; i++) {
		real largest = 0;

		for (size_t j = 0; j < scores.shape[1]; j++)
			largest = fmax(largest, AT(scores, i, j));
		for (size_t j = 0; j < scores.shape[1]; j++)
			AT(scores, i, j) /= largest;
	}
}

/* One head of one example into its columns, or, without the swap, into
 * the memory that (H,T,d) would have. */
static enum status broken_head(enum mistake mistake,
		const struct layer *layer, size_t h, struct tensor x,
		struct tensor weights, struct tensor concat,
		struct workspace *workspace, struct error *error)
{
	const size_t d = layer->head_width;
	const size_t shape[] = { x.shape[0], d };
	struct tensor out = tensor_narrow(concat, 1, h * d, d), q, k, v;
	enum status status;

	if (mistake == NO_SWAP)
		out = tensor_view(concat.data + h * x.shape[0] * d, 2, shape);
	/* project queries, keys and values of the head */
	status = workspace_take(workspace, 2, shape, &q, error);
	if (!status)
		status = workspace_take(workspace, 2, shape, &k, error);
	if (!status)
		status = workspace_take(workspace, 2, shape, &v, error);
	if (!status)
		status = attention_project(x, layer->head[h]->query.value, q,
		error);
	if (!status)
		status = attention_project(x, layer->head[h]->key.value, k, error);
	if (!status)
		status = attention_project(x, layer->head[h]->value.value, v,
		error);
	if (!status)
		status = attention_scores(q, k, weights, error);
	if (!status) {
		broken_softmax(mistake, weights);
		attention_mix(weights, v, mistake != NO_MASK, out);
	}
	return status;
}

static enum status broken(enum mistake mistake,
		const struct layer *layer, struct tensor x,
		const struct forward *result, struct workspace *workspace,
		struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace);
	struct tensor mix = tensor_swap(layer->out_proj.value, 0, 1);
	enum status status = MH_OK;

	for (size_t b = 0; b < x.shape[0] && !status; b++) {
		struct tensor weights = tensor_slice(result->weights, 0, b);
		struct tensor concat = tensor_slice(result->concat, 0, b);

		for (size_t h = 0; h < layer->heads && !status; h++)
			status = broken_head(mistake, layer, h,
					tensor_slice(x, 0, b),
					tensor_slice(weights, 0, h), concat,
					workspace, error);
		if (!status)
			status = tensor_product(concat, mix,
					tensor_slice(result->output, 0, b), error);
	}
	workspace_release(workspace, mark);
	return status;
}
/* functions of interventions */
enum status perturb(forward_path *path, const struct layer *layer,
		struct tensor x, bool causal, size_t position, real change[],
		struct workspace *workspace, struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace);
	struct forward before, after;
	struct tensor moved;
	enum status status;

	if (x.rank != 3 || position >= x.shape[1])
		return REFUSE(error, MH_ESHAPE, "x has shape %s, and no"
				" position %zu", tensor_shape(x).text, position);
	status = forward_take(layer, x, &before, workspace, error);

	if (!status)
		status = forward_take(layer, x, &after, workspace, error);
	if (!status)
		status = workspace_take(workspace, 3, x.shape, &moved, error);
	if (!status)
		status = path(layer, x, causal, &before, workspace, error);
	if (!status) {
		moved = tensor_contiguous(x, moved.data);
		for (size_t b = 0; b < x.shape[0]; b++)
			for (size_t c = 1; c < x.shape[2]; c++)
				AT(moved, b, position, c) += 3;
		status = path(layer, moved, causal, &after, workspace, error);
	}
	for (size_t t = 0; t < x.shape[1] && !status; t++)
		change[t] = largest_change(before.output, after.output, t);
	workspace_release(workspace, mark);
	return status;
}

enum status truncate_all(forward_path *path, const struct layer *layer,
		struct tensor x, real *difference,
		struct workspace *workspace, struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace), inner;
	struct forward whole, part;
	enum status status = forward_take(layer, x, &whole, workspace,
			error);

	*difference = 0;
	if (!status)
		status = path(layer, x, true, &whole, workspace, error);
	inner = workspace_mark(workspace);
	for (size_t n = 1; n <= x.shape[1] && !status; n++) {
		struct tensor prefix = tensor_narrow(x, 1, 0, n);

		status = forward_take(layer, prefix, &part, workspace, error);
		if (!status)
			status = path(layer, prefix, true, &part, workspace,
					error);
		for (size_t t = 0; t < n && !status; t++)
			*difference = larger(*difference, largest_change(
					part.output, whole.output, t));
		workspace_release(workspace, inner);
	}
	workspace_release(workspace, mark);
	return status;
}

size_t future_weights(struct tensor weights)
{
	size_t found = 0;

	for (size_t b = 0; b < weights.shape[0]; b++)
		for (size_t h = 0; h < weights.shape[1]; h++)
			for (size_t i = 0; i < weights.shape[2]; i++)
				for (size_t j = i + 1; j < weights.shape[3]; j++)
					found += AT(weights, b, h, i, j) != 0;
	return found;
}

real row_error(struct tensor weights)
{
	real most = 0;

	for (size_t b = 0; b < weights.shape[0]; b++)
		for (size_t h = 0; h < weights.shape[1]; h++)
			for (size_t i = 0; i < weights.shape[2]; i++) {
				real sum = 0;

				for (size_t j = 0; j < weights.shape[3]; j++)
					sum += AT(weights, b, h, i, j);
				most = larger(most, fabs(sum - 1));
			}
	return most;
}

#define PATH_WITH(name, mistake) \
static enum status name(const struct layer *layer, struct tensor x, \
		bool causal, const struct forward *result, \
		struct workspace *workspace, struct error *error) \
{ \
	(void)causal; \
	return broken(mistake, layer, x, result, workspace, error); \
}

PATH_WITH(faultless, NO_MISTAKE)
PATH_WITH(maskless, NO_MASK)
PATH_WITH(sumless, NO_SUM)
PATH_WITH(columnwise, WRONG_AXIS)
PATH_WITH(swapless, NO_SWAP)

forward_path *forward_mistaken(enum mistake mistake)
{
	static forward_path *const paths[MISTAKES] = {
		faultless, maskless, sumless, columnwise, swapless
	};

	return paths[mistake];
}

enum status observe_flow(struct flow *flow, struct error *error)
{
	const size_t wide[] = { 1, FIXTURE_T, FIXTURE_C };
	struct workspace workspace = { 0 };
	struct fixture f;
	struct forward result;
	struct layer *layer;
	enum status status;

	fixture_set(&f);
	status = fixture_layer(&f, &layer, error);
	if (status)
		return status;
	struct tensor x = tensor_view(f.x[0], 3, wide);

	/* observe the fixture's past, with and without the mask */
	status = past_change(layer_forward_loop, layer, x, true, &flow->masked,
			&workspace, error);
	if (!status)
		status = past_change(layer_forward_loop, layer, x, false,
				&flow->unmasked, &workspace, error);
	if (!status)
		status = forward_take(layer, x, &result, &workspace, error);
	if (!status)
		status = layer_forward_loop(layer, x, true, &result, &workspace,
				error);
	if (!status) {
		flow->future = future_weights(result.weights);
		flow->rows = row_error(result.weights);
	}
	workspace_free(&workspace);
	layer_free(layer);
	return status;
}

enum status past_change(forward_path *path, const struct layer *layer,
		struct tensor x, bool causal, real *change,
		struct workspace *workspace, struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace);
	const size_t length = x.shape[1];
	struct tensor moved;
	enum status status = workspace_take(workspace, 1, &length, &moved,
			error);

	*change = 0;
	if (!status && length > 0)
		status = perturb(path, layer, x, causal, length - 1, moved.data,
				workspace, error);
	for (size_t t = 0; t + 1 < length && !status; t++)
		*change = larger(*change, AT(moved, t));
	workspace_release(workspace, mark);
	return status;
}
