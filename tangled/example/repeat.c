/* example/repeat.c: made from chapters/82-library.nw; edit it there. */
#include <stdio.h>
#include <multiheadf.h>

enum { B = 2, T = 7, C = 24, H = 3, STEPS = 150 };

/* measure how far the example is from what is wanted */
/* Half the squared distance of y from what is wanted: x, a position
 * late. Its slope goes into dy. */
static float distance(struct mhf_tensor x, struct mhf_tensor y,
		struct mhf_tensor dy)
{
	float sum = 0;

	for (size_t b = 0; b < B; b++)
		for (size_t t = 0; t < T; t++)
			for (size_t c = 0; c < C; c++) {
				float wanted = t > 0 ? MHF_AT(x, b, t - 1, c) : 0;
				float off = MHF_AT(y, b, t, c) - wanted;

				MHF_AT(dy, b, t, c) = off;
				sum += off * off / 2;
			}
	return sum;
}

/* move every parameter of the example against its gradient */
static void move(const struct mhf_registry *registry, float rate)
{
	for (size_t n = 0; n < registry->count; n++) {
		struct mhf_parameter *p = registry->entries[n].parameter;

		if (mhf_registry_first(registry, n) != n)
			continue;
		for (size_t i = 0; i < p->value.shape[0]; i++)
			for (size_t j = 0; j < p->value.shape[1]; j++)
				MHF_AT(p->value, i, j) -= rate *
						MHF_AT(p->gradient, i, j);
	}
}

int main(void)
{
	const size_t shape[] = { B, T, C };
	struct mh_error error;
	struct mhf_workspace memory = { 0 };
	struct mhf_random random = { 7 };
	struct mhf_layer *layer;
	struct mhf_streamed seen;
	struct mhf_tensor x, dx, dy;

	if (mhf_layer_create(C, H, &layer, &error))
		return fprintf(stderr, "%s\n", error.message), 1;
	/* borrow what all steps of the example use */
	if (mhf_workspace_take(&memory, 3, shape, &x, &error) ||
			mhf_workspace_take(&memory, 3, shape, &dx, &error) ||
			mhf_workspace_take(&memory, 3, shape, &dy, &error) ||
			mhf_streamed_take(layer, x, &seen, &memory, &error))
		return fprintf(stderr, "%s\n", error.message), 1;
	mhf_tensor_randomize(x, &random, 1);
	mhf_layer_randomize(layer, 1);
	for (int step = 0; step <= STEPS; step++) {
		/* take a step of the example */
		if (mhf_layer_forward_streaming(layer, x, true, &seen, &memory,
				&error))
			return fprintf(stderr, "%s\n", error.message), 1;
		float loss = distance(x, seen.output, dy);

		if (step % 50 == 0)
			printf("step %3d: %.3f\n", step, (double)loss);
		mhf_registry_zero_gradients(&layer->registry);
		if (mhf_layer_backward_streaming(layer, x, true, &seen, dy, dx,
				&memory, &error))
			return fprintf(stderr, "%s\n", error.message), 1;
		move(&layer->registry, 0.05f);
	}
	mhf_workspace_free(&memory);
	mhf_layer_free(layer);
	return 0;
}
