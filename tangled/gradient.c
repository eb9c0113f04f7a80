/* gradient.c: made from chapters/45-gradients.nw; edit it there. */
#include "blas.h"
#include "gradient.h"
/* includes of gradient.c */
#include "kernel.h"

/* private functions of gradient */
/* The weights and biases of a head, and their gradients, fit its
 * input. */
static enum status expect_head_parameters(struct projections p,
		struct projections g, struct tensor x, struct error *error)
{
	const size_t shape[] = { p.query.shape[0], x.shape[1] };
	const struct tensor_use parts[] = {
		/* weights that a head reads */
		{ "the query weight", &p.query, false },
		{ "the key weight", &p.key, false },
		{ "the value weight", &p.value, false },
		/* gradients that a head adds to */
		{ "the query gradient", &g.query, true },
		{ "the key gradient", &g.key, true },
		{ "the value gradient", &g.value, true },
	};
	const struct tensor *const biases[] = { &g.query_bias,
			&g.key_bias, &g.value_bias };
	enum status status = MH_OK;

	for (int i = 0; i < 6 && !status; i++)
		status = tensor_expect(*parts[i].tensor, parts[i].name, 2,
				shape, error);
	if (!status)
		status = attention_expect_biases(p, error);
	for (int i = 0; i < 3 && !status; i++)
		if (biases[i]->data)
			status = tensor_expect(*biases[i],
					"the gradient of a bias", 1, shape, error);
	return status;
}

/* What gradient_head is given has the shapes of a head. */
static enum status expect_head(struct projections p,
		struct projections g, struct tensor x, struct tensor weights,
		struct tensor dout, struct tensor dx, struct error *error)
{
	const size_t square[] = { x.shape[0], x.shape[0] };
	const size_t narrow[] = { x.shape[0], p.query.shape[0] };
	enum status status = tensor_expect(weights, "weights", 2, square,
			error);

	if (!status)
		status = expect_head_parameters(p, g, x, error);
	if (!status)
		status = tensor_expect(dout, "dout", 2, narrow, error);
	if (!status)
		status = tensor_expect(dx, "dx", 2, x.shape, error);
	if (!status)
		status = tensor_expect(x, "x", 2, x.shape, error);
	return status;
}

/* Nothing that gradient_head writes is read; dx is apart from all, but
 * gradients may share what is added to them. */
static enum status expect_head_apart(struct projections p,
		struct projections g, struct tensor x, struct tensor weights,
		struct tensor dout, struct tensor dx, struct error *error)
{
	const struct tensor_use uses[] = { { "dx", &dx, true },
			{ "x", &x, false }, { "weights", &weights, false },
			{ "dout", &dout, false } };
	const struct tensor_use read[] = {
		/* weights that a head reads */
		{ "the query weight", &p.query, false },
		{ "the key weight", &p.key, false },
		{ "the value weight", &p.value, false },
		/* biases that a head reads */
		{ "the query bias", &p.query_bias, false },
		{ "the key bias", &p.key_bias, false },
		{ "the value bias", &p.value_bias, false },
	};
	const struct tensor_use added[] = {
		/* gradients that a head adds to */
		{ "the query gradient", &g.query, true },
		{ "the key gradient", &g.key, true },
		{ "the value gradient", &g.value, true },
		/* gradients of the biases of a head */
		{ "the gradient of the query bias", &g.query_bias, true },
		{ "the gradient of the key bias", &g.key_bias, true },
		{ "the gradient of the value bias", &g.value_bias, true },
	};
	enum status status = tensor_expect_apart(uses, 4, read, 6, error);

	if (!status)
		status = tensor_expect_apart(uses, 4, added, 6, error);
	for (int i = 0; i < 6 && !status; i++)
		status = tensor_expect_apart(&added[i], 1, read, 6, error);
	return status;
}

/* Borrow the parts of a head: six (T,d) and a square (T,T). */
static enum status borrow_head(size_t length, size_t width,
		struct tensor *const parts[7], struct workspace *workspace,
		struct error *error)
{
	const size_t narrow[] = { length, width };
	const size_t square[] = { length, length };
	enum status status = MH_OK;

	for (int i = 0; i < 7 && !status; i++)
		status = workspace_take(workspace, 2, i < 6 ? narrow : square,
				parts[i], error);
	return status;
}

/* Let the workspace grow to what gradient_head will borrow. */
static enum status reserve_head(size_t length, size_t width,
		struct workspace *workspace, struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace);
	struct tensor t, *const parts[] = { &t, &t, &t, &t, &t, &t, &t };
	enum status status = borrow_head(length, width, parts, workspace,
			error);

	workspace_release(workspace, mark);
	return status;
}

/* All shapes are those of the forward pass, and dx can be written. */
static enum status check_backward(const struct layer *layer,
		struct tensor x, const struct forward *seen, struct tensor dy,
		struct tensor dx, struct error *error)
{
	struct forward result;
	enum status status;

	if (!seen)
		return REFUSE(error, MH_ESHAPE, "there is no result");
	result = *seen;
	result.output = dx;
	status = layer_expect(layer, x, &result, "dx", error);
	if (!status)
		status = tensor_expect(dy, "dy", 3, x.shape, error);
	if (!status && !seen->weights.data && !tensor_is_empty(x))
		status = REFUSE(error, MH_ESHAPE,
				"the way back reads weights, and there are none");
	if (status)
		return status;

	const struct tensor_use uses[] = { { "dx", &dx, true },
			{ "x", &x, false }, { "dy", &dy, false },
			{ "weights", &seen->weights, false },
			{ "concat", &seen->concat, false },
			{ "qkv", &seen->qkv, false } };

	return layer_expect_apart(layer, true, uses,
			sizeof uses / sizeof uses[0], error);
}

/* Back through the output projection: dz (B,T,C) from the workspace. */
static enum status unmix_packed(const struct layer *layer,
		struct tensor concat, struct tensor dy, struct tensor *dz,
		struct workspace *workspace, struct error *error)
{
	struct tensor z, dout, rows;
	enum status status = workspace_take(workspace, 3, dy.shape, dz,
			error);

	if (!status)
		status = layer_rows(concat, &z, workspace, error);
	if (!status)
		status = layer_rows(dy, &dout, workspace, error);
	if (!status)
		status = tensor_merge(*dz, 0, &rows, error);
	if (!status)
		status = blas_product(dout, layer->out_proj.value, rows,
				error);
	if (!status)
		status = blas_add_product(tensor_swap(dout, 0, 1), z,
				layer->out_proj.gradient, error);
	if (!status)
		gradient_bias(dout, layer->out_bias.gradient);
	return status;
}

/* Make gradients of the scores of ds (n,T), the gradients of these
 * weights (n,T): rows of a square, of which the first is number first,
 * and zero where the mask is. */
static void unweigh(struct tensor weights, size_t first, size_t width,
		bool causal, struct tensor ds)
{
	const size_t length = ds.shape[1];

	for (size_t i = 0; i < ds.shape[0]; i++) {
		size_t visible = attention_visible(first + i, length, causal);
		struct tensor row = tensor_narrow(ds, 0, i, 1);
		struct tensor seen = tensor_narrow(row, 1, 0, visible);
		struct tensor w = tensor_narrow(tensor_narrow(weights, 0, i, 1),
				1, 0, visible);

		/* go back through a long row faster */
		if (visible >= KERNEL_ALIGN) {
			kernel_nth(0)->unweigh(w.data, row.data, visible, length,
					1 / sqrt((real)width));
			continue;
		}
		gradient_softmax(w, false, seen);
		attention_scale(seen, width);
		tensor_fill(tensor_narrow(row, 1, visible, length - visible),
				0);
	}
}

struct head_view { struct tensor q, k, v, dq, dk, dv; };  /* (T,d) */

/* How many rows, from this one on, BLAS may take at once. */
static size_t block_back(struct head_view head, bool causal,
		struct tensor weights, struct tensor dout, size_t row)
{
	const size_t n = layer_block(dout, row, causal);

	if (causal && (layer_block(head.q, row, causal) < n ||
			layer_block(head.k, row, causal) < n ||
			!tensor_finite(tensor_narrow(tensor_narrow(weights, 0,
				row, n), 1, row, n))))
		return 1;
	return n;
}

/* The room for slopes, ds, has as many rows as a block. */
static enum status unattend(struct head_view head, bool causal,
		struct tensor weights, struct tensor dout, struct tensor ds,
		struct error *error)
{
	const size_t T = dout.shape[0];
	enum status status = MH_OK;

	tensor_fill(head.dk, 0);
	tensor_fill(head.dv, 0);
	for (size_t row = 0, n; row < T && !status; row += n) {
		n = block_back(head, causal, weights, dout, row);

		const size_t seen = attention_visible(row + n - 1, T, causal);
		/* see the rows of a block, and what they see */
		struct tensor rows = tensor_narrow(dout, 0, row, n);
		struct tensor part = tensor_narrow(tensor_narrow(weights, 0, row, n),
				1, 0, seen);
		struct tensor slopes = tensor_narrow(tensor_narrow(ds, 0, 0, n), 1, 0,
				seen);
		/* go back through mix and softmax of a block */
		status = blas_add_product(tensor_swap(part, 0, 1), rows,
				tensor_narrow(head.dv, 0, 0, seen), error);
		if (!status)
			status = blas_product(rows, tensor_swap(tensor_narrow(head.v, 0, 0,
					seen), 0, 1), slopes, error);
		if (!status)
			unweigh(part, row, head.q.shape[1], causal, slopes);
		/* hand its slopes out to queries and keys */
		if (!status)
			status = blas_product(slopes, tensor_narrow(head.k, 0, 0, seen),
					tensor_narrow(head.dq, 0, row, n), error);
		if (!status)
			status = blas_add_product(tensor_swap(slopes, 0, 1),
					tensor_narrow(head.q, 0, row, n),
					tensor_narrow(head.dk, 0, 0, seen), error);
	}
	return status;
}

struct slopes {
	struct tensor part[6];          /* q, k, v, dq, dk, dv */
	struct tensor dz, weights, ds;
	bool causal;
	struct error *error;
};

static enum status unattend_part(void *job, size_t n, size_t thread)
{
	const struct slopes *s = job;
	const size_t b = n / s->dz.shape[1], h = n % s->dz.shape[1];
	const struct head_view head = {
		of_head(s->part[0], b, h), of_head(s->part[1], b, h),
		of_head(s->part[2], b, h), of_head(s->part[3], b, h),
		of_head(s->part[4], b, h), of_head(s->part[5], b, h)
	};

	return unattend(head, s->causal, of_head(s->weights, b, h),
			of_head(s->dz, b, h), tensor_slice(s->ds, 0, thread),
			n == 0 ? s->error : NULL);
}

/* Back through the attention of all heads: dqkv (B,T,3C) from the
 * workspace. */
static enum status unattend_packed(const struct layer *layer,
		struct tensor qkv, bool causal, struct tensor weights,
		struct tensor dz, struct tensor *dqkv,
		struct workspace *workspace, struct error *error)
{
	const size_t T = qkv.shape[1];
	const size_t threads = blas_threads(5 * (double)qkv.shape[0] *
			(double)layer->width * (double)T * (double)T);
	const size_t block[] = { threads, T < LAYER_BLOCK ? T : LAYER_BLOCK,
			T };
	struct tensor ds, split;
	enum status status = workspace_take(workspace, 3, qkv.shape, dqkv,
			error);

	if (!status)
		status = workspace_take(workspace, 3, block, &ds, error);
	if (!status)
		status = tensor_split(dz, 2, layer->heads, &split, error);
	if (status)
		return status;
	dz = tensor_swap(split, 1, 2);
	/* go back through every head of every example */
	struct slopes all = { .dz = dz, .weights = weights, .ds = ds,
			.causal = causal, .error = error };

	for (size_t i = 0; i < 3; i++) {
		all.part[i] = layer_head_axis(layer, qkv, i);
		all.part[3 + i] = layer_head_axis(layer, *dqkv, i);
	}
	status = blas_share(threads, dz.shape[0] * dz.shape[1], &all,
			unattend_part);
	return status;
}

/* Back through all projections, into dx (B,T,C). */
static enum status unproject_packed(const struct layer *layer,
		struct tensor x, struct tensor dqkv, struct tensor dx,
		struct workspace *workspace, struct error *error)
{
	const bool own = layer_runs_its_own(layer);
	struct tensor stacked, tokens, dproduct, rows;
	struct tensor dweight = layer->in_proj.gradient;
	struct tensor dbias = layer->in_bias.gradient;
	enum status status = layer_stack(layer, &stacked, workspace, error);

	/* see the tokens as rows */
	if (!status)
		status = layer_rows(x, &tokens, workspace, error);
	if (!status)
		status = tensor_merge(dqkv, 0, &dproduct, error);
	if (!status)
		status = tensor_merge(dx, 0, &rows, error);
	/* unless the heads are the layer's own, make room for the sum */
	if (!status && !own) {
		status = workspace_take(workspace, 2, stacked.shape, &dweight,
				error);
		if (!status)
			tensor_fill(dweight, 0);
	}
	if (!status && !own && layer->bias_memory) {
		status = workspace_take(workspace, 1, stacked.shape, &dbias,
				error);
		if (!status)
			tensor_fill(dbias, 0);
	}
	if (!status)
		status = blas_product(dproduct, stacked, rows, error);
	if (!status)
		status = blas_add_product(tensor_swap(dproduct, 0, 1), tokens,
				dweight, error);
	if (!status)
		gradient_bias(dproduct, dbias);
	if (!status && !own)
		gradient_hand_out(layer, dweight, dbias);
	return status;
}
/* functions of gradient */
enum status gradient_project(struct tensor x, struct tensor weight,
		struct tensor dy, struct tensor dweight, struct tensor dbias,
		struct tensor dx, struct error *error)
{
	const struct tensor_use uses[] = { { "dx", &dx, true },
			{ "x", &x, false }, { "weight", &weight, false },
			{ "dy", &dy, false } };
	const struct tensor_use added[] = { { "dweight", &dweight, true },
			{ "dbias", &dbias, true } };
	enum status status = MH_OK;

	/* expect the shapes of a projection and its gradients */
	const size_t narrow[] = { x.shape[0], weight.shape[0] };
	const size_t *const shapes[] = { x.shape, x.shape, weight.shape,
			narrow };

	if (x.shape[1] != weight.shape[1])
		status = REFUSE(error, MH_ESHAPE, "a weight of shape %s does not"
				" project %s", tensor_shape(weight).text,
				tensor_shape(x).text);
	for (int i = 0; i < 4 && !status; i++)
		status = tensor_expect(*uses[i].tensor, uses[i].name, 2, shapes[i],
				error);
	if (!status)
		status = tensor_expect(dweight, "dweight", 2, weight.shape, error);
	if (!status && dbias.data)
		status = tensor_expect(dbias, "the gradient of a bias", 1,
				weight.shape, error);
	if (!status)
		status = tensor_expect_apart(uses, 4, added, 2, error);
	if (!status)
		status = tensor_add_product(tensor_swap(dy, 0, 1), x, dweight,
				error);
	if (!status)
		status = tensor_add_product(dy, weight, dx, error);
	if (!status)
		gradient_bias(dy, dbias);
	return status;
}

void gradient_bias(struct tensor drows, struct tensor dbias)
{
	if (!dbias.data)
		return;
	for (size_t t = 0; t < drows.shape[0]; t++)
		tensor_add(tensor_slice(drows, 0, t), dbias);
}

void gradient_scatter(struct tensor weights, struct tensor rows,
		bool causal, struct tensor out)
{
	size_t length = out.shape[0];

	tensor_fill(out, 0);
	for (size_t i = 0; i < length; i++) {
		size_t visible = attention_visible(i, length, causal);

		for (size_t j = 0; j < visible; j++)
			for (size_t c = 0; c < out.shape[1]; c++)
				AT(out, j, c) += AT(weights, i, j) * AT(rows, i, c);
	}
}

void gradient_weights(struct tensor drows, struct tensor values,
		bool causal, struct tensor dweights)
{
	size_t length = values.shape[0];

	tensor_fill(dweights, 0);
	for (size_t i = 0; i < length; i++) {
		size_t visible = attention_visible(i, length, causal);

		for (size_t j = 0; j < visible; j++)
			for (size_t c = 0; c < values.shape[1]; c++)
				AT(dweights, i, j) += AT(drows, i, c) *
						AT(values, j, c);
	}
}

void gradient_softmax(struct tensor weights, bool causal,
		struct tensor dweights)
{
	size_t length = weights.shape[1];

	for (size_t i = 0; i < weights.shape[0]; i++) {
		size_t visible = attention_visible(i, length, causal);
		real mean = 0;

		for (size_t j = 0; j < visible; j++)
			mean += AT(weights, i, j) * AT(dweights, i, j);
		for (size_t j = 0; j < visible; j++)
			AT(dweights, i, j) = AT(weights, i, j) *
					(AT(dweights, i, j) - mean);
		for (size_t j = visible; j < length; j++)
			AT(dweights, i, j) = 0;
	}
}

enum status gradient_head(struct projections projections,
		struct projections gradients,
		struct tensor x, bool causal,
		struct tensor weights, struct tensor dout,
		struct tensor dx, struct workspace *workspace,
		struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace);
	struct tensor q, k, v, dq, dk, dv, ds;
	enum status status = expect_head(projections, gradients, x,
			weights, dout, dx, error);

	if (!status)
		status = expect_head_apart(projections, gradients, x, weights,
				dout, dx, error);
	/* borrow room for a head and its gradients */
	struct tensor *const parts[] = { &q, &k, &v, &dq, &dk, &dv, &ds };

	if (!status)
		status = borrow_head(x.shape[0], projections.query.shape[0], parts,
				workspace, error);
	/* project the head's input again */
	if (!status)
		status = attention_project(x, projections.query, q, error);
	if (!status)
		status = attention_project(x, projections.key, k, error);
	if (!status)
		status = attention_project(x, projections.value, v, error);
	if (!status) {
		attention_bias(q, projections.query_bias);
		attention_bias(k, projections.key_bias);
		attention_bias(v, projections.value_bias);
	}
	if (!status) {
		/* go back through mix, softmax and scores */
		gradient_scatter(weights, dout, causal, dv);
		gradient_weights(dout, v, causal, ds);
		gradient_softmax(weights, causal, ds);
		attention_scale(ds, q.shape[1]);
		attention_mix(ds, k, causal, dq);
		gradient_scatter(ds, q, causal, dk);
	}
	/* go back through the three projections */
	if (!status)
		status = gradient_project(x, projections.query, dq,
				gradients.query, gradients.query_bias, dx, error);
	if (!status)
		status = gradient_project(x, projections.key, dk, gradients.key,
				gradients.key_bias, dx, error);
	if (!status)
		status = gradient_project(x, projections.value, dv,
				gradients.value, gradients.value_bias, dx, error);
	workspace_release(workspace, mark);
	return status;
}

enum status layer_backward_loop(const struct layer *layer,
		struct tensor x, bool causal, const struct forward *seen,
		struct tensor dy, struct tensor dx,
		struct workspace *workspace, struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace);
	struct tensor dz;
	enum status status = check_backward(layer, x, seen, dy, dx, error);

	if (status || tensor_is_empty(x))
		return status;
	status = workspace_take(workspace, 2, x.shape + 1, &dz, error);
	if (!status)
		status = reserve_head(x.shape[1], layer->head_width, workspace,
				error);
	for (size_t b = 0; b < x.shape[0] && !status; b++) {
		tensor_fill(dz, 0);
		status = gradient_project(tensor_slice(seen->concat, 0, b),
				layer->out_proj.value, tensor_slice(dy, 0, b),
				layer->out_proj.gradient, layer->out_bias.gradient,
				dz, error);
		tensor_fill(tensor_slice(dx, 0, b), 0);
		/* go back through every head of one example */
		for (size_t h = 0; h < layer->heads && !status; h++)
			status = gradient_head(head_values(layer->head[h]),
					head_gradients(layer->head[h]), tensor_slice(x, 0, b),
					causal, of_head(seen->weights, b, h),
					tensor_narrow(dz, 1, h * layer->head_width,
							layer->head_width),
					tensor_slice(dx, 0, b), workspace, error);
	}
	workspace_release(workspace, mark);
	return status;
}

enum status layer_backward_packed(const struct layer *layer,
		struct tensor x, bool causal, const struct forward *seen,
		struct tensor dy, struct tensor dx,
		struct workspace *workspace, struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace);
	struct tensor qkv, dqkv, dz;
	enum status status = check_backward(layer, x, seen, dy, dx, error);

	if (status || tensor_is_empty(x))
		return status;
	if (!tensor_is_contiguous(seen->weights) ||
			!tensor_is_contiguous(seen->qkv) ||
			!tensor_is_contiguous(dx))
		return REFUSE(error, MH_ESHAPE, "the packed path reads"
				" contiguous weights and qkv, and writes a contiguous"
				" dx");
	status = unmix_packed(layer, seen->concat, dy, &dz, workspace,
			error);
	qkv = seen->qkv;
	if (!status && !qkv.data)
		status = layer_project(layer, x, &qkv, workspace, error);
	if (!status)
		status = unattend_packed(layer, qkv, causal, seen->weights, dz,
				&dqkv, workspace, error);
	if (!status)
		status = unproject_packed(layer, x, dqkv, dx, workspace,
				error);
	workspace_release(workspace, mark);
	return status;
}

void gradient_hand_out(const struct layer *layer,
		struct tensor dweight, struct tensor dbias)
{
	const size_t d = layer->head_width, C = layer->width;

	for (size_t h = 0; h < layer->heads; h++) {
		struct projections g = head_gradients(layer->head[h]);
		struct tensor weight[] = { g.query, g.key, g.value };
		struct tensor bias[] = { g.query_bias, g.key_bias,
				g.value_bias };

		for (size_t i = 0; i < 3; i++) {
			size_t row = i * C + h * d;

			tensor_add(tensor_narrow(dweight, 0, row, d),
					weight[i]);
			if (layer->bias_memory)
				tensor_add(tensor_narrow(dbias, 0, row, d), bias[i]);
		}
	}
}
