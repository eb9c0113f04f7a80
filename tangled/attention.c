/* attention.c: made from chapters/15-one-head.nw; edit it there. */
#include "attention.h"

/* private functions of attention */
static enum status check_head(struct projections p, struct tensor x,
		struct tensor weights, struct tensor out, struct error *error)
{
	const size_t length = x.shape[0], width = p.query.shape[0];
	const size_t weight[] = { width, x.shape[1] };
	const size_t square[] = { length, length };
	const size_t narrow[] = { length, width };
	enum status status;

	if (x.rank != 2 || p.query.rank != 2)
		return REFUSE(error, MH_ESHAPE, "a head takes matrices; x has"
				" shape %s, its query weight %s",
				tensor_shape(x).text, tensor_shape(p.query).text);
	if (width == 0)
		return REFUSE(error, MH_ESHAPE,
				"a head of width 0 has no scores");
	/* expect the shapes of a head */
	status = tensor_expect(p.query, "the query weight", 2, weight, error);
	if (!status)
		status = tensor_expect(p.key, "the key weight", 2, weight, error);
	if (!status)
		status = tensor_expect(p.value, "the value weight", 2, weight,
				error);
	/* expect the biases that a head reads */
	if (!status)
		status = attention_expect_biases(p, error);
	if (!status)
		status = tensor_expect(weights, "weights", 2, square, error);
	if (!status)
		status = tensor_expect(out, "out", 2, narrow, error);
	if (!status)
		status = tensor_expect(x, "x", 2, x.shape, error);
	/* expect weights and out to keep clear of all else */
	const struct tensor_use uses[] = { { "weights", &weights, true },
			{ "out", &out, true }, { "x", &x, false } };
	const struct tensor_use others[] = {
		/* weights that a head reads */
		{ "the query weight", &p.query, false },
		{ "the key weight", &p.key, false },
		{ "the value weight", &p.value, false },
		/* biases that a head reads */
		{ "the query bias", &p.query_bias, false },
		{ "the key bias", &p.key_bias, false },
		{ "the value bias", &p.value_bias, false },
	};

	if (!status)
		status = tensor_expect_apart(uses, 3, others,
				sizeof others / sizeof others[0], error);
	return status;
}
/* functions of attention */
enum status attention_project(struct tensor x, struct tensor weight,
		struct tensor out, struct error *error)
{
	if (weight.rank != 2)
		return REFUSE(error, MH_ESHAPE, "a projection takes"
				" matrices, got the shape %s",
				tensor_shape(weight).text);
	return tensor_product(x, tensor_swap(weight, 0, 1), out, error);
}

enum status attention_scores(struct tensor queries, struct tensor keys,
		struct tensor scores, struct error *error)
{
	enum status status = attention_project(queries, keys, scores,
			error);

	if (!status && queries.shape[1] == 0)
		status = REFUSE(error, MH_ESHAPE,
				"a head of width 0 has no scores");
	if (!status)
		attention_scale(scores, queries.shape[1]);
	return status;
}

void attention_scale(struct tensor scores, size_t width)
{
	const real root = sqrt((real)width);

	for (size_t i = 0; i < scores.shape[0]; i++)
		for (size_t j = 0; j < scores.shape[1]; j++)
			AT(scores, i, j) /= root;
}

void attention_mask(struct tensor scores)
{
	size_t length = scores.shape[1];

	for (size_t i = 0; i < scores.shape[0]; i++)
		for (size_t j = attention_visible(i, length, true);
				j < length; j++)
			AT(scores, i, j) = -(real)INFINITY;
}

void attention_mix(struct tensor weights, struct tensor values,
		bool causal, struct tensor out)
{
	size_t length = values.shape[0];

	for (size_t i = 0; i < out.shape[0]; i++)
		for (size_t c = 0; c < out.shape[1]; c++) {
			size_t visible = attention_visible(i, length, causal);
			real sum = 0;

			for (size_t j = 0; j < visible; j++)
				sum += AT(weights, i, j) * AT(values, j, c);
			AT(out, i, c) = sum;
		}
}

enum status attention_head(struct projections projections,
		struct tensor x, bool causal,
		struct tensor weights, struct tensor out,
		struct workspace *workspace,
		struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace);
	const size_t rows[] = { x.shape[0], projections.query.shape[0] };
	struct tensor queries, keys, values;
	enum status status = check_head(projections, x, weights, out,
			error);

	/* borrow room for queries, keys and values */
	if (!status)
		status = workspace_take(workspace, 2, rows, &queries, error);
	if (!status)
		status = workspace_take(workspace, 2, rows, &keys, error);
	if (!status)
		status = workspace_take(workspace, 2, rows, &values, error);
	/* project the input three times */
	if (!status)
		status = attention_project(x, projections.query, queries, error);
	if (!status)
		status = attention_project(x, projections.key, keys, error);
	if (!status)
		status = attention_project(x, projections.value, values, error);
	/* add the biases of the head */
	if (!status) {
		attention_bias(queries, projections.query_bias);
		attention_bias(keys, projections.key_bias);
		attention_bias(values, projections.value_bias);
	}
	/* score every query against every key */
	if (!status)
		status = attention_scores(queries, keys, weights, error);
	if (!status) {
		/* mask the scores, then take their softmax */
		if (causal)
			attention_mask(weights);
		softmax_rows(weights);
		attention_mix(weights, values, causal, out);
	}
	workspace_release(workspace, mark);
	return status;
}

void attention_bias(struct tensor rows, struct tensor bias)
{
	if (!bias.data)
		return;
	for (size_t i = 0; i < rows.shape[0]; i++)
		for (size_t c = 0; c < rows.shape[1]; c++)
			AT(rows, i, c) += AT(bias, c);
}

enum status attention_expect_biases(struct projections p,
		struct error *error)
{
	const struct tensor_use parts[] = {
		/* biases that a head reads */
		{ "the query bias", &p.query_bias, false },
		{ "the key bias", &p.key_bias, false },
		{ "the value bias", &p.value_bias, false },
	};
	enum status status = MH_OK;

	for (int i = 0; i < 3 && !status; i++)
		if (parts[i].tensor->data)
			status = tensor_expect(*parts[i].tensor, parts[i].name, 1,
					p.query.shape, error);
	return status;
}
