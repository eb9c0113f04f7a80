/* thoughts.c: made from chapters/70-real-world.nw; edit it there. */
#include "thoughts.h"

/* private functions of thoughts */
/* How much the queries of head 0 move when the last feature does. */
static enum status query_change(const struct layer *layer,
		struct tensor x, real *change, struct workspace *room,
		struct error *error)
{
	const size_t shape[] = { THOUGHT_T, layer->head_width };
	struct tensor weight = layer->head[0]->query.value, before, after;
	struct tensor tokens = tensor_slice(x, 0, 0);
	enum status status = workspace_take(room, 2, shape, &before, error);

	if (!status)
		status = workspace_take(room, 2, shape, &after, error);
	if (!status)
		status = attention_project(tokens, weight, before, error);
	if (status)
		return status;
	real old = AT(tokens, 2, THOUGHT_C - 1);

	AT(tokens, 2, THOUGHT_C - 1) += 1;      /* of token 2 */
	status = attention_project(tokens, weight, after, error);
	AT(tokens, 2, THOUGHT_C - 1) = old;
	*change = tensor_distance(before, after);
	return status;
}

/* The mean over rows of half the summed difference of two heads'
 * weights: 0 for equal distributions, 1 for disjoint ones. */
static real heads_distance(struct tensor weights)
{
	const size_t T = weights.shape[2];
	real sum = 0;

	for (size_t i = 0; i < T; i++)
		for (size_t j = 0; j < T; j++)
			sum += fabs(AT(weights, 0, 0, i, j) -
					AT(weights, 0, 1, i, j)) / 2;
	return sum / (real)T;
}

enum status thoughts_observe(struct thoughts *t, struct error *error)
{
	const size_t wide[] = { 1, THOUGHT_T, THOUGHT_C };
	struct workspace room = { 0 };
	struct layer *layer = NULL;
	struct forward before, after;
	struct random random = { 70 };
	struct tensor x;
	enum status status = layer_create(THOUGHT_C, THOUGHT_H, &layer,
			error);

	*t = (struct thoughts){ 0 };
	/* take room for the experiments */
	if (!status)
		status = workspace_take(&room, 3, wide, &x, error);
	if (!status)
		status = forward_take(layer, x, &before, &room, error);
	if (!status)
		status = forward_take(layer, x, &after, &room, error);
	if (!status) {
		/* draw the layer and the input of the experiments */
		layer_randomize(layer, 71);
		tensor_randomize(x, &random, 2);
		status = layer_forward_loop(layer, x, true, &before, &room, error);
	}
	/* make the experiments, one after the other */
	if (!status)
		status = query_change(layer, x, &t->slice, &room, error);

	if (!status) {
		struct tensor value = layer->head[1]->value.value;

		real old = AT(value, 0, 0);

		AT(value, 0, 0) += 1;
		status = layer_forward_loop(layer, x, true, &after, &room, error);
		AT(value, 0, 0) = old;  /* adding and subtracting might not be */
		t->concat_other = tensor_distance(
				tensor_narrow(before.concat, 2, 0, layer->head_width),
				tensor_narrow(after.concat, 2, 0, layer->head_width));
		t->concat_output = tensor_distance(before.output, after.output);
	}

	if (!status)
		t->distance = heads_distance(before.weights);

	for (int draw = 0; draw < 10 && !status; draw++) {
		struct tensor mix = layer->out_proj.value;
		real past = 0;

		tensor_randomize(mix, &random, 100);
		status = past_change(layer_forward_loop, layer, x, true, &past,
				&room, error);
		t->projected_past = larger(t->projected_past, past);
	}

	if (!status)
		status = layer_forward_loop(layer, x, true, &after, &room, error);
	if (!status) {
		t->weights_moved = tensor_distance(before.weights, after.weights);
		t->output_moved = tensor_distance(before.output, after.output);
	}
	workspace_free(&room);
	layer_free(layer);
	return status;
}
