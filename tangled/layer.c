/* layer.c: made from chapters/25-loop.nw; edit it there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"
/* includes of layer.c */
#include "blas.h"

#include "kernel.h"

/* private functions of layer */
/* The results that the caller has room for; and if that is no room for
 * weights, one square (T,T) from the workspace in their place. */
static enum status borrow_weights(const struct layer *layer,
		struct tensor x, const struct forward *result,
		struct forward *whole, struct workspace *workspace,
		struct error *error)
{
	const size_t T = x.shape[1], square[] = { T, T };
	struct tensor one;
	enum status status;

	*whole = *result;
	if (whole->weights.data)
		return MH_OK;
	status = workspace_take(workspace, 2, square, &one, error);
	if (!status)
		whole->weights = (struct tensor){ one.data, 4,
				{ x.shape[0], layer->heads, T, T },
				{ 0, 0, (ptrdiff_t)T, 1 } };
	return status;
}

static enum status expect_parameter(const struct parameter *p,
		const char *name, const char *gradient, int rank,
		const size_t shape[], struct error *error)
{
	enum status status = tensor_expect(p->value, name, rank, shape,
			error);

	return status ? status : tensor_expect(p->gradient, gradient, rank,
			shape, error);
}

static enum status apart_from_layer(const struct layer *layer,
		bool back, const struct tensor_use uses[], size_t count,
		struct error *error)
{
	const struct tensor_use own[] = {
		/* numbers of a layer */
		{ "in_proj", &layer->in_proj.value, false },
		{ "out_proj", &layer->out_proj.value, false },

		{ "in_bias", &layer->in_bias.value, false },
		{ "out_bias", &layer->out_bias.value, false },
		/* gradients of a layer */
		{ "the gradient of in_proj", &layer->in_proj.gradient, back },
		{ "the gradient of out_proj", &layer->out_proj.gradient, back },

		{ "the gradient of in_bias", &layer->in_bias.gradient, back },
		{ "the gradient of out_bias", &layer->out_bias.gradient, back },
	};

	return tensor_expect_apart(uses, count, own,
			sizeof own / sizeof own[0], error);
}

static enum status apart_from_head(const struct head *head, bool back,
		const struct tensor_use uses[], size_t count,
		struct error *error)
{
	const struct tensor_use own[] = {
		/* numbers of a head */
		{ "a head's query weight", &head->query.value, false },
		{ "a head's key weight", &head->key.value, false },
		{ "a head's value weight", &head->value.value, false },

		{ "a head's query bias", &head->query_bias.value, false },
		{ "a head's key bias", &head->key_bias.value, false },
		{ "a head's value bias", &head->value_bias.value, false },
		/* gradients of a head */
		{ "a query weight's gradient", &head->query.gradient, back },
		{ "a key weight's gradient", &head->key.gradient, back },
		{ "a value weight's gradient", &head->value.gradient, back },

		{ "a query bias's gradient", &head->query_bias.gradient, back },
		{ "a key bias's gradient", &head->key_bias.gradient, back },
		{ "a value bias's gradient", &head->value_bias.gradient, back },
	};

	return tensor_expect_apart(uses, count, own,
			sizeof own / sizeof own[0], error);
}

/* The gradient shares nothing with a number of the layer or of a
 * borrowed head, or with itself. */
static enum status apart_from_numbers(const struct layer *layer,
		const struct tensor_use *gradient, struct error *error)
{
	const struct tensor_use own[] = {
		/* numbers of a layer */
		{ "in_proj", &layer->in_proj.value, false },
		{ "out_proj", &layer->out_proj.value, false },

		{ "in_bias", &layer->in_bias.value, false },
		{ "out_bias", &layer->out_bias.value, false },
	};
	enum status status = tensor_expect_apart(gradient, 1, own,
			sizeof own / sizeof own[0], error);

	for (size_t h = 0; h < layer->heads && !status; h++) {
		const struct head *head = layer->head[h];

		if (!head || head == &layer->own[h])
			continue;

		const struct tensor_use lent[] = {
			/* numbers of a head */
			{ "a head's query weight", &head->query.value, false },
			{ "a head's key weight", &head->key.value, false },
			{ "a head's value weight", &head->value.value, false },

			{ "a head's query bias", &head->query_bias.value, false },
			{ "a head's key bias", &head->key_bias.value, false },
			{ "a head's value bias", &head->value_bias.value, false },
		};

		status = tensor_expect_apart(gradient, 1, lent,
				sizeof lent / sizeof lent[0], error);
	}
	return status;
}

/* The same of all gradients of a borrowed head, and of the layer. */
static enum status gradients_apart(const struct layer *layer,
		const struct head *head, struct error *error)
{
	const bool back = true;
	const struct tensor_use added[] = {
		/* gradients of a head */
		{ "a query weight's gradient", &head->query.gradient, back },
		{ "a key weight's gradient", &head->key.gradient, back },
		{ "a value weight's gradient", &head->value.gradient, back },

		{ "a query bias's gradient", &head->query_bias.gradient, back },
		{ "a key bias's gradient", &head->key_bias.gradient, back },
		{ "a value bias's gradient", &head->value_bias.gradient, back },
		/* gradients of a layer */
		{ "the gradient of in_proj", &layer->in_proj.gradient, back },
		{ "the gradient of out_proj", &layer->out_proj.gradient, back },

		{ "the gradient of in_bias", &layer->in_bias.gradient, back },
		{ "the gradient of out_bias", &layer->out_bias.gradient, back },
	};
	enum status status = MH_OK;

	for (size_t i = 0; i < sizeof added / sizeof added[0] && !status;
			i++)
		status = apart_from_numbers(layer, &added[i], error);
	return status;
}

static enum status check_forward(const struct layer *layer,
		struct tensor x, const struct forward *result,
		struct error *error)
{
	enum status status = layer_expect(layer, x, result, "output",
			error);

	if (status)
		return status;

	const struct tensor_use uses[] = {
		{ "output", &result->output, true },
		{ "concat", &result->concat, true },
		{ "weights", &result->weights, true }, { "x", &x, false },
		/* what only the packed path writes */
		{ "qkv", &result->qkv, true },
	};

	return layer_expect_apart(layer, false, uses,
			sizeof uses / sizeof uses[0], error);
}

static enum status check_contiguous(const struct forward *result,
		struct error *error)
{
	if (!tensor_is_contiguous(result->output) ||
			!tensor_is_contiguous(result->weights) ||
			!tensor_is_contiguous(result->concat) ||
			!tensor_is_contiguous(result->qkv))
		return REFUSE(error, MH_ESHAPE, "the packed path writes"
				" contiguous results only");
	return MH_OK;
}

/* All projections of x, into qkv (B,T,3C), which is contiguous. */
static enum status project_into(const struct layer *layer,
		struct tensor x, struct tensor qkv,
		struct workspace *workspace, struct error *error)
{
	struct tensor stacked, biases, tokens, projected;
	enum status status = layer_stack(layer, &stacked, workspace, error);

	if (!status)
		status = layer_rows(x, &tokens, workspace, error);
	if (!status)
		status = tensor_merge(qkv, 0, &projected, error);
	/* project all tokens into all roles of all heads */
	if (!status)
		status = blas_product(tokens, tensor_swap(stacked, 0, 1), projected,
				error);
	/* add the biases of all heads to the product */
	if (!status)
		status = layer_stack_biases(layer, &biases, workspace, error);
	if (!status)
		attention_bias(projected, biases);
	return status;
}

/* Make weights of scores that were divided by nothing yet: rows (n,T)
 * of a square, of which the first is number first. */
static void weigh_scores(struct tensor scores, size_t first,
		size_t width, bool causal)
{
	const size_t length = scores.shape[1];

	for (size_t i = 0; i < scores.shape[0]; i++) {
		size_t visible = attention_visible(first + i, length, causal);
		struct tensor row = tensor_narrow(scores, 0, i, 1);
		struct tensor seen = tensor_narrow(row, 1, 0, visible);

		/* weigh a long row faster */
		if (visible >= KERNEL_ALIGN) {
			kernel_nth(0)->weigh(row.data, visible, length,
					1 / sqrt((real)width));
			continue;
		}
		attention_scale(seen, width);
		softmax_rows(seen);
		tensor_fill(tensor_narrow(row, 1, visible, length - visible),
				0 * AT(seen, 0, 0));
	}
}

/* One head of one example by BLAS: q, k, v (T,d), weights (T,T), out
 * (T,d). */
static enum status attend(struct tensor q, struct tensor k,
		struct tensor v, bool causal, struct tensor weights,
		struct tensor out, struct error *error)
{
	const size_t T = q.shape[0], d = q.shape[1];
	enum status status = MH_OK;

	for (size_t row = 0, n; row < T && !status; row += n) {
		n = layer_block(v, row, causal);

		const size_t seen = attention_visible(row + n - 1, T, causal);
		struct tensor rows = tensor_narrow(weights, 0, row, n);
		struct tensor part = tensor_narrow(rows, 1, 0, seen);

		/* score a block of rows, weigh it, and mix */
		status = blas_product(tensor_narrow(q, 0, row, n),
				tensor_swap(tensor_narrow(k, 0, 0, seen), 0, 1), part, error);
		if (!status) {
			weigh_scores(rows, row, d, causal);
			status = blas_product(part, tensor_narrow(v, 0, 0, seen),
					tensor_narrow(out, 0, row, n), error);
		}
	}
	return status;
}

struct attention {
	struct tensor q, k, v, weights, heads;  /* (B,H,T,d), (B,H,T,T) */
	bool causal;
	struct error *error;
};

/* What is refused of one head is refused of all, and one says so. */
static enum status attend_part(void *job, size_t part, size_t thread)
{
	const struct attention *a = job;
	const size_t b = part / a->q.shape[1], h = part % a->q.shape[1];

	(void)thread;
	return attend(of_head(a->q, b, h), of_head(a->k, b, h),
			of_head(a->v, b, h), a->causal,
			of_head(a->weights, b, h), of_head(a->heads, b, h),
			part == 0 ? a->error : NULL);
}

/* weights (B,H,T,T), and heads (B,H,T,d) from the workspace. */
static enum status attend_packed(const struct layer *layer,
		struct tensor qkv, bool causal, struct tensor weights,
		struct tensor *heads, struct workspace *workspace,
		struct error *error)
{
	struct tensor q, k, v;
	enum status status = MH_OK;

	/* see queries, keys and values by head */
	q = layer_head_axis(layer, qkv, 0);
	k = layer_head_axis(layer, qkv, 1);
	v = layer_head_axis(layer, qkv, 2);
	if (!status)
		status = workspace_take(workspace, 4, q.shape, heads, error);
	/* attend with every head of every example */
	if (!status) {
		struct attention all = { q, k, v, weights, *heads, causal, error };
		const double pairs = (double)weights.shape[0] *
				(double)weights.shape[2] * (double)weights.shape[3];
		const size_t threads = weights.stride[1] == 0 ? 1 :
				blas_threads(pairs * (double)layer->width);

		status = blas_share(threads, q.shape[0] * q.shape[1], &all,
				attend_part);
	}
	return status;
}

/* Set the heads (B,H,T,d) side by side, and project. */
static enum status merge_packed(const struct layer *layer,
		struct tensor heads, const struct forward *result,
		struct error *error)
{
	struct tensor mix = tensor_swap(layer->out_proj.value, 0, 1);
	struct tensor concat, tokens, output;
	enum status status;

	/* set the heads of each token side by side */
	heads = tensor_contiguous(tensor_swap(heads, 1, 2),
			result->concat.data);
	status = tensor_merge(heads, 2, &concat, error);
	if (!status)
		status = tensor_merge(concat, 0, &tokens, error);
	if (!status)
		status = tensor_merge(result->output, 0, &output, error);
	if (!status)
		status = blas_product(tokens, mix, output, error);
	/* add the bias of the output */
	if (!status)
		attention_bias(output, layer->out_bias.value);
	return status;
}

/* Is the head stored in the layer, in whatever slot it stands? */
static bool is_own(const struct layer *layer, const struct head *head)
{
	for (size_t h = 0; h < layer->heads; h++)
		if (head == &layer->own[h])
			return true;
	return false;
}

/* The three biases of a head, and their gradients, are there and have
 * the layer's head width. */
static enum status expect_biases(const struct layer *layer,
		const struct head *head, struct error *error)
{
	const size_t *d = &layer->head_width;
	const struct parameter *parts[] = { &head->query_bias,
			&head->key_bias, &head->value_bias };
	enum status status = MH_OK;

	for (int i = 0; i < 3 && !status; i++) {
		if (!parts[i]->value.data || !parts[i]->gradient.data)
			return REFUSE(error, MH_ESHAPE, "a head without biases in a"
					" layer that has them");
		status = expect_parameter(parts[i], "a bias",
				"the gradient of a bias", 1, d, error);
	}
	return status;
}

/* Put the biases of a head into the registry, under the names of the
 * slot. */
static enum status enter_biases(struct layer *layer, size_t slot,
		struct head *head, struct error *error)
{
	static const char *const names[] = { "query", "key", "value" };
	struct parameter *parts[] = { &head->query_bias, &head->key_bias,
			&head->value_bias };
	enum status status = MH_OK;
	char name[48];

	for (int i = 0; i < 3 && !status; i++) {
		snprintf(name, sizeof name, "heads.%zu.%s.bias", slot,
				names[i]);
		status = registry_enter(&layer->registry, name, parts[i],
				error);
	}
	return status;
}

/* Has the head any bias? */
static bool has_biases(const struct head *head)
{
	return head->query_bias.value.data || head->key_bias.value.data ||
			head->value_bias.value.data;
}
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
	if (!registry || !name || !parameter)
		return REFUSE(error, MH_ESHAPE, "there is no %s", !registry ?
				"registry" : name ? "parameter" : "name");

	struct entry *entry = registry_find(registry, name);

	if (strlen(name) >= sizeof entry->name)
		return REFUSE(error, MH_EFORMAT, "the name %.60s is longer than"
				" %zu characters", name, sizeof entry->name - 1);
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
	size_t numbers = 0, count = 0;

	for (size_t i = 0; i < registry->count; i++) {
		struct tensor t = registry->entries[i].parameter->value;

		tensor_count(t.rank, t.shape, &count);
		if (registry_first(registry, i) == i)
			numbers += count;
	}
	return numbers;
}

void registry_zero_gradients(const struct registry *registry)
{
	for (size_t i = 0; i < registry->count; i++)
		tensor_fill(registry->entries[i].parameter->gradient, 0);
}

enum status layer_enter(struct layer *layer, size_t slot,
		struct head *head, struct error *error)
{
	static const char *const names[] = { "query", "key", "value" };

	if (!layer || !head)
		return REFUSE(error, MH_ESHAPE, "there is no %s",
				layer ? "head" : "layer");

	struct parameter *parts[] = { &head->query, &head->key,
			&head->value };
	enum status status;
	char name[48];

	if (slot >= layer->heads)
		return REFUSE(error, MH_ESHAPE, "slot %zu of a layer with"
				" %zu heads", slot, layer->heads);
	status = layer_expect_head(layer, head, error);
	for (int i = 0; i < 3 && !status; i++) {
		snprintf(name, sizeof name, "heads.%zu.%s.weight", slot,
				names[i]);
		status = registry_enter(&layer->registry, name, parts[i],
				error);
	}
	/* enter the biases of the head */
	if (!status && layer->bias_memory)
		status = enter_biases(layer, slot, head, error);
	if (!status)
		layer->head[slot] = head;
	return status;
}

enum status layer_frame(size_t width, size_t heads,
		struct layer **layer, struct error *error)
{
	struct layer *l;
	size_t numbers;

	if (!layer)
		return REFUSE(error, MH_ESHAPE, "there is no place for it");
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
	/* free the biases of the layer */
	free(layer->bias_memory);
	free(layer);
}

void layer_randomize(struct layer *layer, uint64_t seed)
{
	struct random random = { seed };

	if (!layer)
		return;

	const struct registry *registry = &layer->registry;
	real bound = 1 / sqrt((real)layer->width);

	for (size_t i = 0; i < registry->count; i++) {
		struct tensor t = registry->entries[i].parameter->value;

		if (registry_first(registry, i) == i)
			tensor_randomize(t, &random, bound);
	}
}

struct projections head_values(const struct head *head)
{
	return (struct projections){
		.query = head->query.value, .key = head->key.value,
		.value = head->value.value,
		/* values of the biases of a head */
		.query_bias = head->query_bias.value,
		.key_bias = head->key_bias.value,
		.value_bias = head->value_bias.value,
	};
}

enum status layer_mix(const struct layer *layer, struct tensor concat,
		struct tensor output, struct error *error)
{
	if (!layer)
		return REFUSE(error, MH_ESHAPE, "there is no layer");

	struct tensor mix = tensor_swap(layer->out_proj.value, 0, 1);
	enum status status = MH_OK;

	/* expect the bias of the output */
	const struct tensor *bias = &layer->out_bias.value;
	const struct tensor_use uses[] = { { "output", &output, true } };
	const struct tensor_use others[] = { { "out_bias", bias, false } };

	if (bias->data)
		status = tensor_expect(*bias, "out_bias", 1, &layer->width, error);
	if (!status && output.rank == 2)
		status = tensor_expect_apart(uses, 1, others, 1, error);
	if (!status)
		status = tensor_product(concat, mix, output, error);
	/* add the bias of the output */
	if (!status)
		attention_bias(output, layer->out_bias.value);
	return status;
}

enum status layer_forward_loop(const struct layer *layer,
		struct tensor x, bool causal,
		const struct forward *result,
		struct workspace *workspace,
		struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace);
	enum status status = check_forward(layer, x, result, error);
	struct forward whole;

	/* refuse what only the packed path hands back */
	if (!status && result->qkv.data)
		status = REFUSE(error, MH_ESHAPE, "the loop keeps no qkv");
	if (status || tensor_is_empty(x))
		return status;
	status = borrow_weights(layer, x, result, &whole, workspace,
			error);
	result = &whole;
	for (size_t b = 0; b < x.shape[0] && !status; b++) {
		/* run every head on one example */
		for (size_t h = 0; h < layer->heads && !status; h++) {
			struct projections head = head_values(layer->head[h]);
			struct tensor columns = tensor_narrow(
				tensor_slice(result->concat, 0, b), 1,
				h * layer->head_width, layer->head_width);
			struct tensor weights = tensor_slice(
				tensor_slice(result->weights, 0, b), 0, h);

			status = attention_head(head, tensor_slice(x, 0, b), causal,
					weights, columns, workspace, error);
		}
		if (!status)
			status = layer_mix(layer,
					tensor_slice(result->concat, 0, b),
					tensor_slice(result->output, 0, b), error);
	}
	workspace_release(workspace, mark);
	return status;
}

enum status forward_take(const struct layer *layer, struct tensor x,
		struct forward *result, struct workspace *workspace,
		struct error *error)
{
	enum status status = layer_expect_shape(layer, x, error);

	if (status)
		return status;
	if (!result)
		return REFUSE(error, MH_ESHAPE, "there is no result");

	const size_t square[] = { x.shape[0], layer->heads, x.shape[1],
			x.shape[1] };
	size_t count;

	if (!tensor_count(4, square, &count))
		return REFUSE(error, MH_ESIZE, "weights of shape %s are too"
				" large to address", shape_write(4, square).text);
	*result = (struct forward){ .output.rank = 0 };
	status = workspace_take(workspace, 3, x.shape, &result->output,
			error);
	if (!status)
		status = workspace_take(workspace, 4, square,
				&result->weights, error);
	if (!status)
		status = workspace_take(workspace, 3, x.shape,
				&result->concat, error);
	return status;
}

enum status layer_expect_shape(const struct layer *layer,
		struct tensor x, struct error *error)
{
	if (!layer)
		return REFUSE(error, MH_ESHAPE, "there is no layer");
	if (x.rank != 3 || x.shape[2] != layer->width)
		return REFUSE(error, MH_ESHAPE, "x has shape %s, wanted"
				" (B, T, %zu)", tensor_shape(x).text, layer->width);
	return MH_OK;
}

enum status layer_expect_input(const struct layer *layer,
		struct tensor x, struct error *error)
{
	enum status status = layer_expect_shape(layer, x, error);

	if (!status)
		status = tensor_expect(x, "x", 3, x.shape, error);
	return status ? status : layer_expect_heads(layer, error);
}

enum status layer_expect_head(const struct layer *layer,
		const struct head *head, struct error *error)
{
	if (!layer || !head)
		return REFUSE(error, MH_ESHAPE, "there is no %s",
				layer ? "head" : "layer");

	static const char *const names[][2] = {
		{ "the query weight", "the gradient of the query weight" },
		{ "the key weight", "the gradient of the key weight" },
		{ "the value weight", "the gradient of the value weight" }
	};
	const struct parameter *parts[] = { &head->query, &head->key,
			&head->value };
	const size_t shape[] = { layer->head_width, layer->width };
	enum status status = MH_OK;

	for (int i = 0; i < 3 && !status; i++)
		status = expect_parameter(parts[i], names[i][0], names[i][1],
				2, shape, error);
	/* expect the biases of the head, if the layer has any */
	if (!status && layer->bias_memory)
		status = expect_biases(layer, head, error);
	if (!status && !layer->bias_memory && has_biases(head))
		status = REFUSE(error, MH_ESHAPE, "a head with biases in a layer"
				" that has none");
	return status;
}

enum status layer_expect_heads(const struct layer *layer,
		struct error *error)
{
	if (!layer)
		return REFUSE(error, MH_ESHAPE, "there is no layer");

	const size_t C = layer->width, in[] = { 3 * C, C };
	const size_t out[] = { C, C };
	enum status status = expect_parameter(&layer->in_proj, "in_proj",
			"the gradient of in_proj", 2, in, error);

	if (!status)
		status = expect_parameter(&layer->out_proj, "out_proj",
				"the gradient of out_proj", 2, out, error);
	/* expect the biases of the layer, if it has any */
	if (!status && layer->bias_memory) {
		status = expect_parameter(&layer->in_bias, "in_bias",
				"the gradient of in_bias", 1, in, error);
		if (!status)
			status = expect_parameter(&layer->out_bias, "out_bias",
					"the gradient of out_bias", 1, out, error);
	}
	for (size_t h = 0; h < layer->heads && !status; h++) {
		if (!layer->head[h])
			return REFUSE(error, MH_ESHAPE, "slot %zu holds no head",
					h);
		/* refuse a head whose biases are not as the layer's */
		if (has_biases(layer->head[h]) != (layer->bias_memory != NULL))
			return REFUSE(error, MH_ESHAPE, "slot %zu holds a head %s biases,"
					" unlike its layer", h, layer->bias_memory ? "without" :
					"with");
		status = layer_expect_head(layer, layer->head[h], error);
	}
	return status;
}

enum status layer_expect(const struct layer *layer, struct tensor x,
		const struct forward *result, const char *name,
		struct error *error)
{
	enum status status = layer_expect_input(layer, x, error);

	if (status)
		return status;
	if (!result)
		return REFUSE(error, MH_ESHAPE, "there is no result");

	const size_t square[] = { x.shape[0], layer->heads, x.shape[1],
			x.shape[1] };

	status = tensor_expect(result->output, name, 3, x.shape, error);
	if (!status)
		status = tensor_expect(result->concat, "concat", 3, x.shape,
				error);
	if (!status && (result->weights.data || result->weights.rank))
		status = tensor_expect(result->weights, "weights", 4, square,
				error);
	/* expect what only the packed path hands back */
	if (!status && (result->qkv.data || result->qkv.rank))
		status = tensor_expect(result->qkv, "qkv", 3, (size_t[]){
				x.shape[0], x.shape[1], 3 * layer->width }, error);
	return status;
}

enum status layer_expect_apart(const struct layer *layer, bool back,
		const struct tensor_use uses[], size_t count,
		struct error *error)
{
	if (!layer)
		return REFUSE(error, MH_ESHAPE, "there is no layer");

	/* blocks of the layer */
	const size_t C = layer->width;
	const struct tensor values = { layer->memory, 1, { 8 * C * C }, { 1 } };
	/* see the biases as a block */
	const struct tensor biases = { layer->bias_memory, 1, { 8 * C },
			{ 1 } };
	const struct tensor_use blocks[] = { { "values", &values, true },
			/* block of the biases */
			{ "biases", &biases, true }
	};
	enum status status = MH_OK;

	if (tensor_expect_apart(uses, count, blocks,
			sizeof blocks / sizeof blocks[0], NULL))
		status = apart_from_layer(layer, back, uses, count, error);
	for (size_t h = 0; h < layer->heads && !status; h++) {
		const struct head *head = layer->head[h];

		if (!head || head == &layer->own[h])
			continue;
		status = apart_from_head(head, back, uses, count, error);
		if (!status && back)
			status = gradients_apart(layer, head, error);
	}
	return status;
}

enum status layer_contribution(const struct layer *layer, size_t h,
		struct tensor concat,
		struct tensor contribution,
		struct error *error)
{
	const size_t d = layer ? layer->head_width : 0;
	enum status status;

	if (!layer)
		return REFUSE(error, MH_ESHAPE, "there is no layer");
	if (h >= layer->heads)
		return REFUSE(error, MH_ESHAPE, "head %zu of a layer with"
				" %zu heads", h, layer->heads);
	if (concat.rank != 3 || concat.shape[2] != layer->width)
		return REFUSE(error, MH_ESHAPE, "concat has shape %s, wanted"
				" (B, T, %zu)", tensor_shape(concat).text,
				layer->width);
	status = tensor_expect(contribution, "contribution", 3,
			concat.shape, error);
	/* expect the contribution to keep clear of all else */
	const struct tensor_use uses[] = { { "concat", &concat, false },
			{ "contribution", &contribution, true } };

	if (!status)
		status = tensor_expect(concat, "concat", 3, concat.shape, error);
	if (!status)
		status = layer_expect_apart(layer, false, uses, 2, error);
	for (size_t b = 0; b < concat.shape[0] && !status; b++)
		status = tensor_product(
			tensor_narrow(tensor_slice(concat, 0, b), 1, h * d, d),
			tensor_swap(tensor_narrow(layer->out_proj.value, 1,
					h * d, d), 0, 1),
			tensor_slice(contribution, 0, b), error);
	return status;
}

bool layer_runs_its_own(const struct layer *layer)
{
	for (size_t h = 0; h < layer->heads; h++)
		if (layer->head[h] != &layer->own[h])
			return false;
	return true;
}

enum status layer_stack(const struct layer *layer,
		struct tensor *stacked, struct workspace *workspace,
		struct error *error)
{
	if (!layer || !stacked)
		return REFUSE(error, MH_ESHAPE, "there is no %s",
				layer ? "place for it" : "layer");

	const size_t d = layer->head_width, C = layer->width;

	*stacked = layer->in_proj.value;
	if (layer_runs_its_own(layer))
		return MH_OK;
	/* copy the rows of every head to where they belong */
	enum status status = layer_expect_heads(layer, error);

	if (!status)
		status = workspace_take(workspace, 2, stacked->shape, stacked,
				error);
	if (status)
		return status;
	for (size_t h = 0; h < layer->heads; h++) {
		const struct projections head = head_values(layer->head[h]);
		const struct tensor part[] = { head.query, head.key, head.value };

		for (size_t i = 0; i < 3; i++)
			tensor_contiguous(part[i],
					&AT(*stacked, i * C + h * d, 0));
	}
	return MH_OK;
}

enum status layer_forward_packed(const struct layer *layer,
		struct tensor x, bool causal, const struct forward *result,
		struct workspace *workspace, struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace);
	struct tensor qkv, heads;
	struct forward whole;
	enum status status = check_forward(layer, x, result, error);

	if (!status)
		status = check_contiguous(result, error);
	if (status || tensor_is_empty(x))
		return status;
	status = borrow_weights(layer, x, result, &whole, workspace,
			error);
	/* project x to where the caller has room, or else for a while */
	qkv = result->qkv;
	if (!status && qkv.data)
		status = project_into(layer, x, qkv, workspace, error);
	else if (!status)
		status = layer_project(layer, x, &qkv, workspace, error);
	if (!status)
		status = attend_packed(layer, qkv, causal, whole.weights,
				&heads, workspace, error);
	if (!status)
		status = merge_packed(layer, heads, result, error);
	workspace_release(workspace, mark);
	return status;
}

enum status layer_rows(struct tensor t, struct tensor *rows,
		struct workspace *workspace, struct error *error)
{
	struct tensor copy;
	enum status status = tensor_expect(t, "a tensor of rows", 3,
			t.shape, error);

	if (!status && !tensor_is_contiguous(t)) {
		status = workspace_take(workspace, t.rank, t.shape, &copy,
				error);
		if (!status)
			t = tensor_contiguous(t, copy.data);
	}
	return status ? status : tensor_merge(t, 0, rows, error);
}

enum status layer_project(const struct layer *layer, struct tensor x,
		struct tensor *qkv, struct workspace *workspace,
		struct error *error)
{
	const size_t wide[] = { x.shape[0], x.shape[1],
			layer ? 3 * layer->width : 0 };
	enum status status = workspace_take(workspace, 3, wide, qkv, error);

	return status ? status :
			project_into(layer, x, *qkv, workspace, error);
}

struct tensor layer_head_axis(const struct layer *layer,
		struct tensor qkv, size_t third)
{
	const size_t C = layer->width;
	struct tensor t = tensor_narrow(qkv, 2, third * C, C), split;

	tensor_split(t, 2, layer->heads, &split, NULL);
	return tensor_swap(split, 1, 2);
}

size_t layer_block(struct tensor t, size_t row, bool causal)
{
	const size_t left = t.shape[0] - row;
	const size_t rows = left < LAYER_BLOCK ? left : LAYER_BLOCK;

	if (causal && !tensor_finite(tensor_narrow(t, 0, row, rows)))
		return 1;
	return rows;
}

enum status layer_add_biases(struct layer *layer, struct error *error)
{
	if (!layer)
		return REFUSE(error, MH_ESHAPE, "there is no layer");

	const size_t H = layer->heads, C = layer->width;
	enum status status = MH_OK;
	struct entry *entries;

	if (layer->bias_memory)
		return REFUSE(error, MH_ESHAPE, "the layer has biases already");
	for (size_t h = 0; h < H && !status; h++)
		if (layer->head[h] && !is_own(layer, layer->head[h]))
			status = expect_biases(layer, layer->head[h], error);
	if (status)
		return status;
	/* make room for the biases and their names, or refuse */
	entries = realloc(layer->registry.entries,
			(6 * H + 2) * sizeof *entries);
	if (entries) {
		layer->registry.entries = entries;
		layer->registry.room = 6 * H + 2;
		layer->bias_memory = calloc(8 * C, sizeof *layer->bias_memory);
	}
	if (!layer->bias_memory)
		return REFUSE(error, MH_EMEMORY, "no memory for the biases of a"
				" layer of width %zu", C);
	layer->in_bias.value = tensor_view(layer->bias_memory, 1,
			(size_t[]){ 3 * C });
	layer->out_bias.value = tensor_view(layer->bias_memory + 3 * C, 1, &C);
	layer->in_bias.gradient = tensor_view(layer->bias_memory + 4 * C, 1,
			(size_t[]){ 3 * C });
	layer->out_bias.gradient = tensor_view(layer->bias_memory + 7 * C, 1,
			&C);
	/* view the biases of each own head */
	for (size_t h = 0; h < H; h++) {
		struct parameter *part[] = { &layer->own[h].query_bias,
				&layer->own[h].key_bias, &layer->own[h].value_bias };

		for (size_t i = 0; i < 3; i++) {
			size_t first = i * C + h * layer->head_width;

			part[i]->value = tensor_narrow(layer->in_bias.value, 0, first,
					layer->head_width);
			part[i]->gradient = tensor_narrow(layer->in_bias.gradient, 0,
					first, layer->head_width);
		}
	}
	/* enter the biases of all heads */
	status = registry_enter(&layer->registry, "out_proj.bias",
			&layer->out_bias, error);
	for (size_t h = 0; h < H && !status; h++)
		if (layer->head[h])
			status = enter_biases(layer, h, layer->head[h], error);
	return status;
}

enum status layer_stack_biases(const struct layer *layer,
		struct tensor *stacked, struct workspace *workspace,
		struct error *error)
{
	if (!layer || !stacked)
		return REFUSE(error, MH_ESHAPE, "there is no %s",
				layer ? "place for it" : "layer");

	const size_t d = layer->head_width, C = layer->width;
	enum status status;

	*stacked = layer->in_bias.value;
	if (!layer->bias_memory || layer_runs_its_own(layer))
		return MH_OK;
	status = layer_expect_heads(layer, error);
	if (!status)
		status = workspace_take(workspace, 1, stacked->shape, stacked,
				error);
	for (size_t h = 0; h < layer->heads && !status; h++) {
		const struct head *head = layer->head[h];
		const struct parameter *part[] = { &head->query_bias,
				&head->key_bias, &head->value_bias };

		for (size_t i = 0; i < 3; i++)
			tensor_contiguous(part[i]->value,
					&AT(*stacked, i * C + h * d));
	}
	return status;
}

struct projections head_gradients(const struct head *head)
{
	return (struct projections){
		.query = head->query.gradient, .key = head->key.gradient,
		.value = head->value.gradient,
		.query_bias = head->query_bias.gradient,
		.key_bias = head->key_bias.gradient,
		.value_bias = head->value_bias.gradient,
	};
}
