/* tests/oracle.c: made from chapters/15-one-head.nw; edit it there. */
#include <assert.h>

#include "oracle.h"

/* A number of the problem; where there is none, zero. */
static long double number(const struct problem *p, const real *from,
		size_t i)
{
	if (!from)
		return 0;
	return from + i == p->nudged ? from[i] + p->nudge : from[i];
}

static long double projections[3 * 512];

/* Coordinate c of head h at token t of example b, in role 0, 1 or 2. */
static long double *projected(const struct problem *p, size_t role,
		size_t b, size_t h, size_t t, size_t c)
{
	size_t head = (role * p->B + b) * p->H + h;

	return &projections[(head * p->T + t) * p->d + c];
}

/* The exponential of the score of source s, as seen from target t. */
static long double term(const struct problem *p, size_t b, size_t h,
		size_t t, size_t s)
{
	long double dot = 0;

	if (p->causal && s > t)
		return 0;
	for (size_t c = 0; c < p->d; c++)
		dot += *projected(p, 0, b, h, t, c) *
		       *projected(p, 1, b, h, s, c);
	return expl(dot / sqrtl((long double)p->d));
}

/* the loops of the oracle */
/* All tokens in role 0, 1 or 2. */
static void project(const struct problem *p, size_t role)
{
	for (size_t x = 0; x < p->B * p->T; x++)
		for (size_t i = 0; i < p->H * p->d; i++) {
			size_t row = role * p->H * p->d + i;
			long double sum = number(p, p->in_bias, row);

			for (size_t e = 0; e < p->C; e++)
				sum += number(p, p->x, x * p->C + e) *
				       number(p, p->in_proj, row * p->C + e);
			*projected(p, role, x / p->T, i / p->d, x % p->T,
					i % p->d) = sum;
		}
}

void oracle_heads(const struct problem *p, long double *weights,
		long double *concat)
{
	assert(p->B * p->T * p->H * p->d <= 512);
	for (size_t role = 0; role < 3; role++)
		project(p, role);
	for (size_t i = 0; i < p->B * p->T * p->H * p->d; i++)
		concat[i] = 0;
	for (size_t b = 0; b < p->B; b++)
	for (size_t h = 0; h < p->H; h++)
	for (size_t t = 0; t < p->T; t++) {
		long double sum = 0;

		for (size_t s = 0; s < p->T; s++)
			sum += term(p, b, h, t, s);
		for (size_t s = 0; s < p->T; s++) {
			long double w = term(p, b, h, t, s) / sum;

			weights[((b * p->H + h) * p->T + t) * p->T + s] = w;
			for (size_t c = 0; c < p->d; c++)
				concat[((b * p->T + t) * p->H + h) * p->d + c]
					+= w * *projected(p, 2, b, h, s, c);
		}
	}
}


double oracle_units(const struct problem *p)
{
	double C = (double)p->C + (p->in_bias != NULL);
	double d = (double)p->d, T = (double)p->T;
	double size = 1, eta;

	for (size_t x = 0; x < p->B * p->T; x++)
		for (size_t w = 0; w < 3 * p->H * p->d; w++) {
			double sum = fabs((double)number(p, p->in_bias, w));

			for (size_t k = 0; k < p->C; k++)
				sum += fabs((double)p->x[x * p->C + k] *
						(double)p->in_proj[w * p->C + k]);
			size = fmax(size, sum);
		}
	eta = sqrt(d) * size * size * (2 * C + d + 3);
	return size * (2 * eta + 2 * T + 3 + C);
}


void oracle_output(const struct problem *p, const long double *concat,
		long double *output)
{
	for (size_t row = 0; row < p->B * p->T; row++)
		for (size_t c = 0; c < p->C; c++) {
			long double sum = number(p, p->out_bias, c);

			for (size_t z = 0; z < p->C; z++)
				sum += concat[row * p->C + z] *
				       number(p, p->out_proj, c * p->C + z);
			output[row * p->C + c] = sum;
		}
}
