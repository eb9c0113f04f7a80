/* layer.c: made from chapters/25-loop.nw; edit it there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"

/* functions of layer */
struct entry *registry_find(const struct registry *registry,
		const char *name)
{
	for (size_t i = 0; i < registry->count; i++)
		if (strcmp(registry->entries[i].name, name) == 0)
			return &registry->entries[i];
	return NULL;
}

enum status registry_enter(struct registry *registry, const char *name,
		struct parameter *parameter,
		struct error *error)
{
	struct entry *entry = registry_find(registry, name);

	if (!entry) {
		if (registry->count == registry->room)
			return REFUSE(error, MH_EMEMORY, "no room for %s:"
					" the registry has %zu entries", name,
					registry->room);
		entry = &registry->entries[registry->count++];
		snprintf(entry->name, sizeof entry->name, "%s", name);
	}
	entry->parameter = parameter;
	return MH_OK;
}

size_t registry_first(const struct registry *registry, size_t i)
{
	const struct entry *entries = registry->entries;
	size_t first = 0;

	while (entries[first].parameter != entries[i].parameter)
		first++;
	return first;
}

size_t registry_numbers(const struct registry *registry)
{
	size_t numbers = 0;

	for (size_t i = 0; i < registry->count; i++) {
		struct tensor t = registry->entries[i].parameter->value;

		if (registry_first(registry, i) == i)
			numbers += t.shape[0] * t.shape[1];
	}
	return numbers;
}

void registry_zero_gradients(const struct registry *registry)
{
	for (size_t i = 0; i < registry->count; i++) {
		struct tensor t = registry->entries[i].parameter->gradient;

		for (size_t r = 0; r < t.shape[0]; r++)
			for (size_t c = 0; c < t.shape[1]; c++)
				AT(t, r, c) = 0;
	}
}

enum status layer_enter(struct layer *layer, size_t slot,
		struct head *head, struct error *error)
{
	static const char *const names[] = { "query", "key", "value" };
	struct parameter *parts[] = { &head->query, &head->key,
			&head->value };
	const size_t shape[] = { layer->head_width, layer->width };
	enum status status = MH_OK;
	char name[48];

	if (slot >= layer->heads)
		return REFUSE(error, MH_ESHAPE, "slot %zu of a layer with"
				" %zu heads", slot, layer->heads);
	for (int i = 0; i < 3 && !status; i++)
		status = tensor_expect(parts[i]->value, names[i], 2, shape,
				error);
	for (int i = 0; i < 3 && !status; i++) {
		snprintf(name, sizeof name, "heads.%zu.%s.weight", slot,
				names[i]);
		status = registry_enter(&layer->registry, name, parts[i],
				error);
	}
	if (!status)
		layer->head[slot] = head;
	return status;
}

enum status layer_frame(size_t width, size_t heads,
		struct layer **layer, struct error *error)
{
	struct layer *l;
	size_t numbers;

	*layer = NULL;
	/* refuse a width that heads cannot share */
	if (heads == 0 || width == 0)
		return REFUSE(error, MH_ESHAPE, "a layer needs width and heads,"
				" got width %zu and %zu heads", width, heads);
	if (width % heads != 0)
		return REFUSE(error, MH_ESHAPE, "width %zu does not divide into"
				" %zu heads", width, heads);
	if (!tensor_count(3, (size_t[]){ 8, width, width }, &numbers))
		return REFUSE(error, MH_ESIZE, "a layer of width %zu has more"
				" parameters than memory has addresses", width);
	l = calloc(1, sizeof *l);
	if (!l)
		return REFUSE(error, MH_EMEMORY, "no memory for a layer");
	*l = (struct layer){ width, heads, width / heads,
			.registry.room = 3 * heads + 1 };
	/* allocate the parts of the layer, or refuse */
	l->head = calloc(heads, sizeof *l->head);
	l->own = calloc(heads, sizeof *l->own);
	l->registry.entries = calloc(l->registry.room,
			sizeof *l->registry.entries);
	l->memory = calloc(numbers, sizeof *l->memory);
	if (!l->head || !l->own || !l->registry.entries || !l->memory) {
		layer_free(l);
		return REFUSE(error, MH_EMEMORY, "no memory for a layer of width"
				" %zu, %zu numbers", width, numbers);
	}
	/* view the block as parameters */
	const size_t in_shape[] = { 3 * width, width };
	const size_t out_shape[] = { width, width };
	const size_t in = in_shape[0] * width, out = width * width;

	l->in_proj.value = tensor_view(l->memory, 2, in_shape);
	l->out_proj.value = tensor_view(l->memory + in, 2, out_shape);
	l->in_proj.gradient = tensor_view(l->memory + in + out, 2, in_shape);
	l->out_proj.gradient = tensor_view(l->memory + 2 * in + out, 2,
			out_shape);
	/* view the rows of each own head */
	for (size_t h = 0; h < heads; h++) {
		struct parameter *part[] = { &l->own[h].query, &l->own[h].key,
				&l->own[h].value };

		for (size_t i = 0; i < 3; i++) {
			size_t row = i * width + h * l->head_width;

			part[i]->value = tensor_narrow(l->in_proj.value, 0, row,
					l->head_width);
			part[i]->gradient = tensor_narrow(l->in_proj.gradient, 0,
					row, l->head_width);
		}
	}
	*layer = l;
	return registry_enter(&l->registry, "out_proj.weight", &l->out_proj,
			error);
}

enum status layer_create(size_t width, size_t heads,
		struct layer **layer, struct error *error)
{
	enum status status = layer_frame(width, heads, layer, error);

	for (size_t h = 0; h < heads && !status; h++)
		status = layer_enter(*layer, h, &(*layer)->own[h], error);
	return status;
}

void layer_free(struct layer *layer)
{
	if (!layer)
		return;
	free(layer->head);
	free(layer->own);
	free(layer->registry.entries);
	free(layer->memory);
	free(layer);
}

void layer_randomize(struct layer *layer, uint64_t seed)
{
	struct random random = { seed };
	const struct registry *registry = &layer->registry;
	real bound = 1 / sqrt((real)layer->width);

	for (size_t i = 0; i < registry->count; i++) {
		struct tensor t = registry->entries[i].parameter->value;

		if (registry_first(registry, i) != i)
			continue;
		for (size_t r = 0; r < t.shape[0]; r++)
			for (size_t c = 0; c < t.shape[1]; c++)
				AT(t, r, c) = random_uniform(&random, -bound,
						bound);
	}
}

enum status layer_forward_loop(const struct layer *layer,
		struct tensor x, bool causal,
		const struct forward *result,
		struct workspace *workspace,
		struct error *error)
{
	struct tensor mix = tensor_swap(layer->out_proj.value, 0, 1);
	enum status status;

	/* refuse what does not fit the layer */
	if (x.rank != 3 || x.shape[2] != layer->width)
		return REFUSE(error, MH_ESHAPE, "x has shape %s, wanted"
				" (B, T, %zu)", tensor_shape(x).text, layer->width);
	for (size_t h = 0; h < layer->heads; h++)
		if (!layer->head[h])
			return REFUSE(error, MH_ESHAPE, "slot %zu holds no head", h);

	const size_t square[] = { x.shape[0], layer->heads, x.shape[1],
			x.shape[1] };

	status = tensor_expect(result->output, "output", 3, x.shape, error);
	if (!status)
		status = tensor_expect(result->concat, "concat", 3, x.shape, error);
	if (!status)
		status = tensor_expect(result->weights, "weights", 4, square,
		error);
	if (status)
		return status;
	for (size_t b = 0; b < x.shape[0] && !status; b++) {
		/* run every head on one example */
		for (size_t h = 0; h < layer->heads && !status; h++) {
			struct projections head = {
				layer->head[h]->query.value, layer->head[h]->key.value,
				layer->head[h]->value.value
			};
			struct tensor columns = tensor_narrow(
				tensor_slice(result->concat, 0, b), 1,
				h * layer->head_width, layer->head_width);
			struct tensor weights = tensor_slice(
				tensor_slice(result->weights, 0, b), 0, h);

			status = attention_head(head, tensor_slice(x, 0, b), causal,
					weights, columns, workspace, error);
		}
		if (!status)
			status = tensor_product(
				tensor_slice(result->concat, 0, b), mix,
				tensor_slice(result->output, 0, b), error);
	}
	return status;
}

enum status layer_contribution(const struct layer *layer, size_t h,
		struct tensor concat,
		struct tensor contribution,
		struct error *error)
{
	const size_t d = layer->head_width;
	enum status status;

	if (h >= layer->heads)
		return REFUSE(error, MH_ESHAPE, "head %zu of a layer with"
				" %zu heads", h, layer->heads);
	if (concat.rank != 3 || concat.shape[2] != layer->width)
		return REFUSE(error, MH_ESHAPE, "concat has shape %s, wanted"
				" (B, T, %zu)", tensor_shape(concat).text,
				layer->width);
	status = tensor_expect(contribution, "contribution", 3,
			concat.shape, error);
	for (size_t b = 0; b < concat.shape[0] && !status; b++)
		status = tensor_product(
			tensor_narrow(tensor_slice(concat, 0, b), 1, h * d, d),
			tensor_swap(tensor_narrow(layer->out_proj.value, 1,
					h * d, d), 0, 1),
			tensor_slice(contribution, 0, b), error);
	return status;
}
