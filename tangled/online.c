/* online.c: made from chapters/55-streaming.nw; edit it there. */
#include "gradient.h"
#include "online.h"

/* private functions of online */
/* e^(score - maximum), where a score of minus infinity gives 0 even if
 * there is no larger one. */
static real exponential(real score, real maximum)
{
	return score == -(real)INFINITY ? 0 : exp(score - maximum);
}

/* One head of one example, as views of what is streamed. */
struct online_head {
	struct tensor q, k, v, out;     /* (T,d) */
	struct tensor maximum, sum;     /* (T) */
};

static struct online_head online_head(const struct layer *layer,
		const struct streamed *r, size_t b, size_t h)
{
	const size_t d = layer->head_width;

	return (struct online_head){
		of_head(layer_head_axis(layer, r->qkv, 0), b, h),
		of_head(layer_head_axis(layer, r->qkv, 1), b, h),
		of_head(layer_head_axis(layer, r->qkv, 2), b, h),
		tensor_narrow(tensor_slice(r->concat, 0, b), 1, h * d, d),
		of_head(r->maximum, b, h), of_head(r->sum, b, h)
	};
}

/* q, k and v of one head from x (T,C). */
static enum status project_head(struct projections p, struct tensor x,
		struct online_head head, struct error *error)
{
	enum status status = attention_project(x, p.query, head.q, error);

	if (!status)
		status = attention_project(x, p.key, head.k, error);
	if (!status)
		status = attention_project(x, p.value, head.v, error);
	if (!status) {
		attention_bias(head.q, p.query_bias);
		attention_bias(head.k, p.key_bias);
		attention_bias(head.v, p.value_bias);
	}
	return status;
}

/* The dot product of row i of a and row j of b. */
static real dot_rows(struct tensor a, size_t i, struct tensor b,
		size_t j)
{
	real sum = 0;

	for (size_t c = 0; c < a.shape[1]; c++)
		sum += AT(a, i, c) * AT(b, j, c);
	return sum;
}

static void attend_online(struct online_head head, bool causal)
{
	const size_t length = head.q.shape[0];
	const real root = sqrt((real)head.q.shape[1]);

	for (size_t i = 0; i < length; i++) {
		struct online_row row = { .output = tensor_slice(head.out, 0,
				i) };
		size_t visible = attention_visible(i, length, causal);

		online_start(&row);
		for (size_t j = 0; j < visible; j++)
			online_add(&row, dot_rows(head.q, i, head.k, j) / root,
					tensor_slice(head.v, 0, j));
		online_finish(&row);
		AT(head.maximum, i) = row.maximum;
		AT(head.sum, i) = row.sum;
	}
}

struct online_slopes { struct tensor q, k, v; };        /* (T,d) */

/* Back through attend_online: dout (T,d) is the gradient of its
 * output. */
static void unattend_online(struct online_head head, bool causal,
		struct tensor dout, struct online_slopes slopes)
{
	const size_t length = dout.shape[0];
	const real root = sqrt((real)dout.shape[1]);

	tensor_fill(slopes.q, 0);
	tensor_fill(slopes.k, 0);
	tensor_fill(slopes.v, 0);
	for (size_t i = 0; i < length; i++) {
		size_t visible = attention_visible(i, length, causal);
		real mean = dot_rows(dout, i, head.out, i);

		for (size_t j = 0; j < visible; j++) {
			/* weigh the source again, and find its slopes */
			real weight = exponential(dot_rows(head.q, i, head.k, j) / root,
					AT(head.maximum, i)) / AT(head.sum, i);
			real slope = weight * (dot_rows(dout, i, head.v, j) - mean) / root;

			for (size_t c = 0; c < dout.shape[1]; c++) {
				AT(slopes.v, j, c) += weight * AT(dout, i, c);
				AT(slopes.q, i, c) += slope * AT(head.k, j, c);
				AT(slopes.k, j, c) += slope * AT(head.q, i, c);
			}
		}
	}
}

/* Let old (T,d) be what new is. */
static void give_way(struct tensor old, struct tensor new)
{
	for (size_t t = 0; t < old.shape[0]; t++)
		for (size_t c = 0; c < old.shape[1]; c++)
			AT(old, t, c) = AT(new, t, c);
}

/* Back through the projections of one head, whose queries, keys and
 * values give way to their gradients. */
static enum status unproject_head(const struct head *head,
		struct tensor x, struct online_slopes slopes,
		struct online_head views, struct tensor dx,
		struct error *error)
{
	struct projections p = head_values(head), g = head_gradients(head);
	enum status status = gradient_project(x, p.query, slopes.q,
			g.query, g.query_bias, dx, error);

	if (!status)
		status = gradient_project(x, p.key, slopes.k, g.key,
				g.key_bias, dx, error);
	if (!status)
		status = gradient_project(x, p.value, slopes.v, g.value,
				g.value_bias, dx, error);
	give_way(views.q, slopes.q);
	give_way(views.k, slopes.k);
	give_way(views.v, slopes.v);
	return status;
}
/* functions of online */
void online_start(struct online_row *row)
{
	/* begin below every score */
	row->maximum = -(real)INFINITY;
	row->sum = 0;
	tensor_fill(row->output, 0);
}

real online_add(struct online_row *row, real score,
		struct tensor value)
{
	real factor = 1, share;

	if (score > row->maximum) {
		/* rescale what was summed before */
		factor = exp(row->maximum - score);
		row->sum *= factor;
		for (size_t c = 0; c < row->output.shape[0]; c++)
			AT(row->output, c) *= factor;
		row->maximum = score;
	}
	share = exponential(score, row->maximum);
	row->sum += share;
	for (size_t c = 0; c < value.shape[0]; c++)
		AT(row->output, c) += share * AT(value, c);
	return factor;
}

void online_finish(struct online_row *row)
{
	for (size_t c = 0; c < row->output.shape[0]; c++)
		AT(row->output, c) /= row->sum;
}

enum status streamed_take(const struct layer *layer, struct tensor x,
		struct streamed *result, struct workspace *workspace,
		struct error *error)
{
	enum status status = layer_expect_shape(layer, x, error);
	size_t count;

	if (status)
		return status;
	if (!result)
		return REFUSE(error, MH_ESHAPE, "there is no result");
	/* shapes of what is streamed */
	const size_t B = x.shape[0], T = x.shape[1];
	const size_t C = layer->width, H = layer->heads;
	const size_t shapes[5][3] = { { B, T, C }, { B, T, C },
			{ B, T, 3 * C }, { B, H, T }, { B, H, T } };
	struct tensor *parts[] = { &result->output, &result->concat,
			&result->qkv, &result->maximum, &result->sum };

	if (!tensor_count(3, shapes[2], &count))        /* the largest */
		return REFUSE(error, MH_ESIZE, "qkv of shape %s is too large"
				" to address", shape_write(3, shapes[2]).text);
	for (int i = 0; i < 5 && !status; i++)
		status = workspace_take(workspace, 3, shapes[i], parts[i],
				error);
	return status;
}

enum status streamed_expect(const struct layer *layer, struct tensor x,
		const struct streamed *result, const struct slope *slope,
		struct error *error)
{
	enum status status = layer_expect_input(layer, x, error);

	if (status)
		return status;
	if (!result)
		return REFUSE(error, MH_ESHAPE, "there is no result");
	/* shapes of what is streamed */
	const size_t B = x.shape[0], T = x.shape[1];
	const size_t C = layer->width, H = layer->heads;
	const size_t shapes[5][3] = { { B, T, C }, { B, T, C },
			{ B, T, 3 * C }, { B, H, T }, { B, H, T } };
	/* uses of what is streamed */
	const bool back = slope != NULL;
	const struct tensor_use uses[] = {
		{ back ? "dx" : "output", back ? &slope->dx : &result->output,
				true },
		{ "concat", &result->concat, !back },
		{ "qkv", &result->qkv, true },
		{ "maximum", &result->maximum, !back },
		{ "sum", &result->sum, !back },
		{ "x", &x, false }, { "dy", back ? &slope->dy : NULL, false }
	};
	for (int i = 0; i < 5 && !status; i++)
		status = tensor_expect(*uses[i].tensor, uses[i].name, 3,
				shapes[i], error);
	if (!status && back)
		status = tensor_expect(slope->dy, "dy", 3, x.shape, error);
	return status ? status : layer_expect_apart(layer, back, uses,
			6 + back, error);
}

enum status layer_forward_online(const struct layer *layer,
		struct tensor x, bool causal, const struct streamed *result,
		struct workspace *workspace, struct error *error)
{
	enum status status = streamed_expect(layer, x, result, NULL,
			error);

	(void)workspace;
	if (status || tensor_is_empty(x))
		return status;
	for (size_t b = 0; b < x.shape[0] && !status; b++) {
		/* run every head online on one example */
		for (size_t h = 0; h < layer->heads && !status; h++) {
			struct online_head head = online_head(layer, result, b, h);

			status = project_head(head_values(layer->head[h]),
					tensor_slice(x, 0, b), head, error);
			if (!status)
				attend_online(head, causal);
		}
		if (!status)
			status = layer_mix(layer,
					tensor_slice(result->concat, 0, b),
					tensor_slice(result->output, 0, b), error);
	}
	return status;
}

enum status layer_backward_online(const struct layer *layer,
		struct tensor x, bool causal, const struct streamed *seen,
		struct tensor dy, struct tensor dx,
		struct workspace *workspace, struct error *error)
{
	struct workspace_mark mark = workspace_mark(workspace);
	struct tensor dz;
	struct online_slopes slopes;
	enum status status = streamed_expect(layer, x, seen,
			&(struct slope){ dy, dx }, error);

	if (status || tensor_is_empty(x))
		return status;
	/* take all memory before anything is added */
	const size_t narrow[] = { x.shape[1], layer->head_width };

	status = workspace_take(workspace, 2, x.shape + 1, &dz, error);
	if (!status)
		status = workspace_take(workspace, 2, narrow, &slopes.q, error);
	if (!status)
		status = workspace_take(workspace, 2, narrow, &slopes.k, error);
	if (!status)
		status = workspace_take(workspace, 2, narrow, &slopes.v, error);
	for (size_t b = 0; b < x.shape[0] && !status; b++) {
		/* go back through one example online */
		tensor_fill(dz, 0);
		status = gradient_project(tensor_slice(seen->concat, 0, b),
				layer->out_proj.value, tensor_slice(dy, 0, b),
				layer->out_proj.gradient, layer->out_bias.gradient, dz, error);
		tensor_fill(tensor_slice(dx, 0, b), 0);
		for (size_t h = 0; h < layer->heads && !status; h++) {
			struct online_head head = online_head(layer, seen, b, h);

			unattend_online(head, causal, tensor_narrow(dz, 1,
					h * layer->head_width, layer->head_width), slopes);
			status = unproject_head(layer->head[h], tensor_slice(x, 0, b),
					slopes, head, tensor_slice(dx, 0, b), error);
		}
	}
	workspace_release(workspace, mark);
	return status;
}
