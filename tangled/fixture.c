/* fixture.c: made from chapters/20-fixture.nw; edit it there. */
#include "fixture.h"
/* includes of fixture.c */
#include <string.h>

#include "layer.h"

/* functions of fixture */
#define LN2 0.693147180559945309417
#define LN4 (2 * LN2)
#define SQRT2 1.41421356237309504880

void fixture_set(struct fixture *f)
{
	static const struct fixture input = {
		.x = {
			/* rows of the fixture */
			{1, 0, 2, 0},
			{1, LN2, 0, 4},
			{1, LN4, 6, 2},
		}
	};

	*f = input;
	/* set the weights of the fixture */
	for (size_t h = 0; h < FIXTURE_H; h++) {
		f->query[h][0][0] = 1;          /* the constant */
		f->key[h][0][1] = h == 0 ? SQRT2 : -SQRT2;
		f->value[h][0][2] = 1;          /* the first value feature */
		f->value[h][1][3] = 1;          /* the second */
	}
	/* set more of the fixture */
	static const real rows[FIXTURE_C][FIXTURE_C] = {
		/* rows of the fixture's output projection */
		{1, 0, 1, 0},
		{0, 1, 0, -1},
		{1, 0, -1, 0},
		{0, 1, 0, 1},
	};

	memcpy(f->out_proj, rows, sizeof rows);
}

void fixture_silence(struct fixture *f)
{
	for (size_t t = 0; t < FIXTURE_T; t++)
		f->x[t][0] = 0;
}

struct tensor fixture_rows(void *array, size_t columns)
{
	const size_t shape[] = { FIXTURE_T, columns };

	return tensor_view(array, 2, shape);
}

struct tensor fixture_weight(void *array)
{
	const size_t shape[] = { FIXTURE_D, FIXTURE_C };

	return tensor_view(array, 2, shape);
}

static enum status run_head(struct fixture *f, size_t h,
		struct workspace *workspace, struct error *error)
{
	real queries[FIXTURE_T][FIXTURE_D], keys[FIXTURE_T][FIXTURE_D];
	struct tensor x = fixture_rows(f->x, FIXTURE_C);
	struct tensor q = fixture_rows(queries, FIXTURE_D);
	struct tensor k = fixture_rows(keys, FIXTURE_D);
	struct tensor scores = fixture_rows(f->scores[h], FIXTURE_T);
	struct tensor weights = fixture_rows(f->weights[h], FIXTURE_T);
	struct tensor output = fixture_rows(f->output[h], FIXTURE_D);
	struct projections head = {
		.query = fixture_weight(f->query[h]),
		.key = fixture_weight(f->key[h]),
		.value = fixture_weight(f->value[h])
	};
	enum status status;

	status = attention_project(x, head.query, q, error);
	if (!status)
		status = attention_project(x, head.key, k, error);
	if (!status)
		status = attention_scores(q, k, scores, error);
	if (!status)
		status = attention_head(head, x, true, weights, output,
				workspace, error);
	return status;
}

enum status fixture_run_heads(struct fixture *f, struct error *error)
{
	struct workspace workspace = { 0 };
	enum status status = MH_OK;

	for (size_t h = 0; h < FIXTURE_H && !status; h++)
		status = run_head(f, h, &workspace, error);
	workspace_free(&workspace);
	return status;
}

enum status fixture_layer(const struct fixture *f, struct layer **layer,
		struct error *error)
{
	enum status status = layer_create(FIXTURE_C, FIXTURE_H, layer,
			error);

	if (status)
		return status;
	/* copy the fixture's weights into the layer */
	for (size_t h = 0; h < FIXTURE_H; h++) {
		struct head *own = &(*layer)->own[h];

		memcpy(own->query.value.data, f->query[h], sizeof f->query[h]);
		memcpy(own->key.value.data, f->key[h], sizeof f->key[h]);
		memcpy(own->value.value.data, f->value[h], sizeof f->value[h]);
	}
	memcpy((*layer)->out_proj.value.data, f->out_proj, sizeof f->out_proj);
	return MH_OK;
}

enum status fixture_run_layer(struct fixture *f, struct error *error)
{
	const size_t wide[] = { 1, FIXTURE_T, FIXTURE_C };
	const size_t square[] = { 1, FIXTURE_H, FIXTURE_T, FIXTURE_T };
	struct forward result = {
		.output = tensor_view(f->projected[0], 3, wide),
		.weights = tensor_view(f->layer_weights[0][0], 4, square),
		.concat = tensor_view(f->concat[0], 3, wide)
	};
	struct workspace workspace = { 0 };
	struct layer *layer;
	enum status status;

	status = fixture_layer(f, &layer, error);
	if (status)
		return status;
	status = layer_forward_loop(layer, tensor_view(f->x[0], 3, wide),
			true, &result, &workspace, error);
	for (size_t h = 0; h < FIXTURE_H && !status; h++)
		status = layer_contribution(layer, h, result.concat,
				tensor_view(f->contribution[h][0], 3, wide), error);
	/* add the heads of the fixture up */
	for (size_t t = 0; t < FIXTURE_T; t++)
		for (size_t c = 0; c < FIXTURE_D; c++)
			f->sum[t][c] = f->concat[t][c] +
					f->concat[t][FIXTURE_D + c];
	workspace_free(&workspace);
	layer_free(layer);
	return status;
}
