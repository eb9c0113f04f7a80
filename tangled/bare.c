/* bare.c: made from chapters/60-speed.nw; edit it there. */
#include <string.h>

#include "bare.h"

/* private functions of bare */
/* y (n,out) = x (n,in) weight^T, for weight (out,in). */
static void bare_project(const real *x, const real *weight, size_t n,
		size_t in, size_t out, real *y)
{
	for (size_t i = 0; i < n; i++)
		for (size_t o = 0; o < out; o++) {
			real sum = 0;

			for (size_t k = 0; k < in; k++)
				sum += x[i * in + k] * weight[o * in + k];
			y[i * out + o] = sum;
		}
}

/* Back through it: dx is set, dweight is added to. */
static void bare_project_back(const real *x, const real *weight,
		const real *dy, size_t n, size_t in, size_t out, real *dx,
		real *dweight)
{
	memset(dx, 0, n * in * sizeof *dx);
	for (size_t i = 0; i < n; i++)
		for (size_t o = 0; o < out; o++) {
			real slope = dy[i * out + o];

			for (size_t k = 0; k < in; k++) {
				dx[i * in + k] += slope * weight[o * in + k];
				dweight[o * in + k] += slope * x[i * in + k];
			}
		}
}

/* Position i of one head. Where first points, and 3C further on for
 * each position, is a query, with key and value C and 2C behind it.
 * Sets w (i + 1) and out (d). */
static void bare_attend(const real *first, size_t i, size_t d, size_t C,
		real *w, real *out)
{
	const real *q = first + i * 3 * C, *k = first + C, *v = k + C;
	real scale = 1 / sqrt((real)d), most = -(real)INFINITY, sum = 0;

	for (size_t j = 0; j <= i; j++) {
		w[j] = 0;
		for (size_t c = 0; c < d; c++)
			w[j] += q[c] * k[j * 3 * C + c];
		w[j] *= scale;
		if (w[j] > most)
			most = w[j];
	}
	for (size_t j = 0; j <= i; j++)
		sum += w[j] = exp(w[j] - most);
	memset(out, 0, d * sizeof *out);
	for (size_t j = 0; j <= i; j++) {
		w[j] /= sum;
		for (size_t c = 0; c < d; c++)
			out[c] += w[j] * v[j * 3 * C + c];
	}
}

/* Back through it: dfirst, shaped as first, is added to; dw (i + 1) is
 * room. */
static void bare_attend_back(const real *first, size_t i, size_t d,
		size_t C, const real *w, const real *dout, real *dw,
		real *dfirst)
{
	const real *q = first + i * 3 * C, *k = first + C, *v = k + C;
	real *dq = dfirst + i * 3 * C, *dk = dfirst + C, *dv = dk + C;
	real scale = 1 / sqrt((real)d), mean = 0;

	for (size_t j = 0; j <= i; j++) {
		dw[j] = 0;
		for (size_t c = 0; c < d; c++) {
			dw[j] += dout[c] * v[j * 3 * C + c];
			dv[j * 3 * C + c] += w[j] * dout[c];
		}
		mean += w[j] * dw[j];
	}
	for (size_t j = 0; j <= i; j++) {
		real slope = w[j] * (dw[j] - mean) * scale;

		for (size_t c = 0; c < d; c++) {
			dq[c] += slope * k[j * 3 * C + c];
			dk[j * 3 * C + c] += slope * q[c];
		}
	}
}
/* functions of bare */
void bare_forward(const struct bare *b, const real *x, real *y)
{
	const size_t T = b->T, C = b->C, d = C / b->H;

	bare_project(x, b->in_proj, b->B * T, C, 3 * C, b->qkv);
	for (size_t n = 0; n < b->B * b->H; n++) {
		size_t row = n / b->H * T, column = n % b->H * d;

		for (size_t i = 0; i < T; i++)
			bare_attend(b->qkv + row * 3 * C + column, i, d, C,
					b->weights + (n * T + i) * T,
					b->concat + (row + i) * C + column);
	}
	bare_project(b->concat, b->out_proj, b->B * T, C, C, y);
}

void bare_backward(const struct bare *b, const real *x, const real *dy,
		real *dx)
{
	const size_t T = b->T, C = b->C, d = C / b->H, rows = b->B * T;

	bare_project_back(b->concat, b->out_proj, dy, rows, C, C,
			b->dconcat, b->dout_proj);
	memset(b->dqkv, 0, rows * 3 * C * sizeof *b->dqkv);
	for (size_t n = 0; n < b->B * b->H; n++) {
		size_t row = n / b->H * T, column = n % b->H * d;
		size_t first = row * 3 * C + column;

		for (size_t i = 0; i < T; i++)
			bare_attend_back(b->qkv + first, i, d, C,
					b->weights + (n * T + i) * T,
					b->dconcat + (row + i) * C + column,
					b->dweights, b->dqkv + first);
	}
	bare_project_back(x, b->in_proj, b->dqkv, rows, C, 3 * C, dx,
			b->din_proj);
}
