/* kernel_small.c: made from chapters/57-tiles.nw; edit it there. */
#include <string.h>

#include "attention.h"
#include "kernel.h"

/* private functions of kernel_small */
/* Four numbers at a time, for the sake of a processor that can begin
 * the next sum before the last has come out. */
static void multiply_small(const struct product *p, real *room)
{
	(void)room;
	for (size_t i = 0; i < p->m; i++)
		for (size_t j = 0; j < p->n; j += 4) {
			const size_t left = p->n - 1 - j;
			const size_t two = left < 1 ? left : 1;
			const size_t three = left < 2 ? left : 2;
			const size_t four = left < 3 ? left : 3;
			real *out = p->out + i * p->step + j;
			real sum = 0, sum2 = 0, sum3 = 0, sum4 = 0;

			/* begin with what is there, if it is to be added to */
			if (p->add) {
				sum = out[0];
				sum2 = out[two];
				sum3 = out[three];
				sum4 = out[four];
			}
			/* add up all four */
			const real *a = p->a.data + (ptrdiff_t)i * p->a.row;
			const real *b = p->b.data + (ptrdiff_t)j * p->b.column;
			const ptrdiff_t b2 = (ptrdiff_t)two * p->b.column;
			const ptrdiff_t b3 = (ptrdiff_t)three * p->b.column;
			const ptrdiff_t b4 = (ptrdiff_t)four * p->b.column;

			for (size_t k = 0; k < p->k; k++) {
				sum += *a * b[0];
				sum2 += *a * b[b2];
				sum3 += *a * b[b3];
				sum4 += *a * b[b4];
				a += p->a.column;
				b += p->b.row;
			}
			out[four] = sum4;
			out[three] = sum3;
			out[two] = sum2;
			out[0] = sum;
		}
}

static const real *row_of(struct rows rows, size_t i)
{
	return rows.data + i * rows.step;
}

static real dot_small(const real *a, const real *b, size_t d)
{
	real sum = 0;

	for (size_t c = 0; c < d; c++)
		sum += a[c] * b[c];
	return sum;
}

/* out += factor * row. */
static void add_small(real factor, const real *row, real *out, size_t d)
{
	for (size_t c = 0; c < d; c++)
		out[c] += factor * row[c];
}

static void attend_small(const struct strip *s, real *room)
{
	const real root = 1 / sqrt((real)s->width);
	real *weights = room;

	for (size_t i = 0; i < s->length; i++) {
		const size_t seen = attention_visible(i, s->length, s->causal);
		const real *q = row_of(s->q, i);
		real *out = s->out.data + i * s->out.step;
		real maximum = -REAL_MAX, sum = 0;

		/* score the row, and find its maximum */
		for (size_t j = 0; j < seen; j++) {
			weights[j] = dot_small(q, row_of(s->k, j), s->width) * root;
			if (weights[j] > maximum)
				maximum = weights[j];
		}
		/* mix the values of the row */
		for (size_t j = 0; j < seen; j++)
			sum += weights[j] = exp(weights[j] - maximum);
		memset(out, 0, s->width * sizeof(real));
		for (size_t j = 0; j < seen; j++)
			add_small(weights[j] / sum, row_of(s->v, j), out, s->width);
		s->maximum[i] = maximum;
		s->sum[i] = sum;
	}
}

static void unattend_small(const struct strip *s, real *room)
{
	const size_t T = s->length, d = s->width;
	const real root = 1 / sqrt((real)d);
	real *dq = room, *dk = dq + T * d, *dv = dk + T * d;

	memset(room, 0, 3 * T * d * sizeof(real));
	for (size_t i = 0; i < T; i++) {
		const size_t seen = attention_visible(i, T, s->causal);
		const real *q = row_of(s->q, i), *dout = row_of(s->dout, i);
		real mean = dot_small(dout, row_of(s->out, i), d);

		for (size_t j = 0; j < seen; j++) {
			/* weigh key j again, and hand its slopes out */
			const real *k = row_of(s->k, j), *v = row_of(s->v, j);
			real weight = exp(dot_small(q, k, d) * root - s->maximum[i]) /
					s->sum[i];
			real slope = weight * (dot_small(dout, v, d) - mean) * root;

			add_small(slope, k, dq + i * d, d);
			add_small(slope, q, dk + j * d, d);
			add_small(weight, dout, dv + j * d, d);
		}
	}
	/* let the gradients take the place of what they belong to */
	for (size_t i = 0; i < T; i++) {
		memcpy(s->q.data + i * s->q.step, dq + i * d, d * sizeof(real));
		memcpy(s->k.data + i * s->k.step, dk + i * d, d * sizeof(real));
		memcpy(s->v.data + i * s->v.step, dv + i * d, d * sizeof(real));
	}
}

const struct kernel *kernel_small(void)
{
	static const struct kernel kernel = {
		64, 0, multiply_small, attend_small, unattend_small, NULL, NULL
	};

	return &kernel;
}
