/* differences.c: made from chapters/45-gradients.nw; edit it there. */
#include "differences.h"
#include "gradient.h"

/* private functions of differences */
/* The mean square of the output. */
static enum status mean_square(const struct layer *layer,
		struct tensor x, const struct forward *result, real *mean,
		struct workspace *room, struct error *error)
{
	enum status status = layer_forward_loop(layer, x, true, result,
			room, error);

	*mean = 0;
	for (size_t i = 0; i < 2 * 4 * 8 && !status; i++)
		*mean += result->output.data[i] * result->output.data[i] /
				(2 * 4 * 8);
	return status;
}

static enum status largest_error(const struct layer *layer,
		struct tensor x, struct tensor dx, real step,
		const struct forward *result, double *error_share,
		struct workspace *room, struct error *error)
{
	real most = 0, size = 0;
	enum status status = MH_OK;

	for (size_t i = 0; i < 2 * 4 * 8 && !status; i++) {
		const real old = x.data[i], up = old + step, down = old - step;
		real above = 0, below = 0;

		x.data[i] = up;
		status = mean_square(layer, x, result, &above, room, error);
		x.data[i] = down;
		if (!status)
			status = mean_square(layer, x, result, &below, room,
					error);
		x.data[i] = old;
		most = larger(most, fabs((above - below) / (up - down) -
				dx.data[i]));
		size = larger(size, fabs(dx.data[i]));
	}
	*error_share = (double)(most / size);
	return status;
}

enum status differences(int exponent, double *error_share,
		struct error *error)
{
	const size_t wide[] = { 2, 4, 8 };
	struct workspace room = { 0 };
	struct layer *layer = NULL;
	struct forward result;
	struct tensor x, dx;
	enum status status = layer_create(8, 2, &layer, error);

	if (!status)
		status = workspace_take(&room, 3, wide, &x, error);
	if (!status)
		status = workspace_take(&room, 3, wide, &dx, error);
	if (!status)
		status = forward_take(layer, x, &result, &room, error);
	if (!status) {
		/* find the gradient of the input */
		struct random random = { 46 };

		layer_randomize(layer, 45);
		tensor_randomize(x, &random, 2);
		status = layer_forward_loop(layer, x, true, &result, &room, error);
		for (size_t i = 0; i < 2 * 4 * 8; i++)
			result.output.data[i] *= (real)2 / (2 * 4 * 8);
		if (!status)
			status = layer_backward_loop(layer, x, true, &result,
					result.output, dx, &room, error);
	}
	if (!status)
		status = largest_error(layer, x, dx, ldexp((real)1, -exponent),
				&result, error_share, &room, error);
	workspace_free(&room);
	layer_free(layer);
	return status;
}
