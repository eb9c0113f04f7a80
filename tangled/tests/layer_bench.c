/* tests/layer_bench.c: made from chapters/25-loop.nw; edit it there. */
/* includes of the bench */
#include <cblas.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "layer_bench.h"
#include "suites.h"
#include "support.h"

const size_t shapes[SHAPES][4] = {
	{ 2, 5, 3, 4 }, { 3, 4, 2, 5 }, { 1, 7, 5, 2 }, { 2, 1, 3, 2 },
	{ 3, 5, 1, 7 }, { 2, 3, 6, 1 },
};

/* functions of the bench */
void bench_set(struct bench *s, size_t B, size_t T, size_t H,
		size_t d)
{
	const size_t wide[] = { B, T, H * d }, square[] = { B, H, T, T };

	*s = (struct bench){ .B = B, .T = T, .C = H * d, .H = H, .d = d };
	ck_assert_uint_le(B * T * H * d, 512);
	ck_assert_uint_le(B * H * T * T, 1024);
	ck_ok(layer_create(H * d, H, &s->layer, NULL));
	layer_randomize(s->layer, 100 + H);
	s->input = noise(s->x, 3, wide, 200 + T);
	s->result = (struct forward){
			.output = tensor_view(s->output, 3, wide),
			.weights = tensor_view(s->weights, 4, square),
			.concat = tensor_view(s->concat, 3, wide) };
}

void bench_run(struct bench *s, bool causal)
{
	ck_ok(layer_forward_loop(s->layer, s->input, causal, &s->result,
			&s->workspace, NULL));
}

struct problem bench_problem(const struct bench *s, bool causal)
{
	return (struct problem){
		.B = s->B, .T = s->T, .C = s->C, .H = s->H, .d = s->d,
		.causal = causal, .x = s->x,
		.in_proj = s->layer->in_proj.value.data,
		.out_proj = s->layer->out_proj.value.data,
		/* biases of the problem */
		.in_bias = s->layer->in_bias.value.data,
		.out_bias = s->layer->out_bias.value.data,
	};
}

void bench_free(struct bench *s)
{
	workspace_free(&s->workspace);
	layer_free(s->layer);
}


void bench_judge(const struct bench *s, bool causal)
{
	static long double weights[1024], concat[512], output[512];
	struct problem p = bench_problem(s, causal);
	double units = oracle_units(&p), C = (double)s->C;
	double mixed = 2 * sqrt(C) * units + (p.out_bias ? C : 0);

	oracle_heads(&p, weights, concat);
	oracle_output(&p, concat, output);
	for (size_t i = 0; i < s->B * s->H * s->T * s->T; i++)
		ck_near(s->weights[i], weights[i], units);
	for (size_t i = 0; i < s->B * s->T * s->C; i++) {
		ck_near(s->concat[i], concat[i], units);
		ck_near(s->output[i], output[i], mixed);
	}
}

void bench_allow_threads(int ours, int of_blas)
{
#ifdef _OPENMP
	omp_set_num_threads(ours);
#endif
#ifdef OPENBLAS_SEQUENTIAL
	openblas_set_num_threads(of_blas);
#endif
	(void)ours, (void)of_blas;
}


real bench_big(void)
{
	return ldexp((real)1, sizeof(real) == sizeof(double) ? 600 : 90);
}

void bench_overflow(struct bench *s, size_t row, size_t t, real weight)
{
	tensor_fill(tensor_narrow(s->layer->in_proj.value, 1, 0, 1), 0);
	tensor_fill(tensor_narrow(s->input, 2, 0, 1), 0);
	AT(s->layer->in_proj.value, row, 0) = weight;
	AT(s->input, s->B - 1, t, 0) = bench_big();
}

size_t finite_numbers(struct tensor row)
{
	size_t count = 0;

	for (size_t i = 0; i < row.shape[0]; i++)
		if (isfinite(AT(row, i)))
			count++;
	return count;
}


void bench_add_biases(struct bench *s)
{
	ck_ok(layer_add_biases(s->layer, NULL));
	noise(s->layer->in_bias.value.data, 1, (size_t[]){ 3 * s->C }, 31);
	noise(s->layer->out_bias.value.data, 1, &s->C, 32);
}


/* The loss, by the oracle. */
static long double loss(const struct problem *p, const real *dy)
{
	static long double weights[1024], concat[512], output[512];
	long double sum = 0;

	oracle_heads(p, weights, concat);
	oracle_output(p, concat, output);
	for (size_t i = 0; i < p->B * p->T * p->C; i++)
		sum += dy[i] * output[i];
	return sum;
}

/* Its slope in one of the problem's numbers. */
static long double slope(struct problem p, const real *nudged,
		const real *dy)
{
	static const long double share[] = { 45, -9, 1 };
	const long double s = 1 / 256.0L;
	long double sum = 0;

	p.nudged = nudged;
	for (int i = 1; i <= 3; i++) {
		p.nudge = i * s;
		sum += share[i - 1] * loss(&p, dy);
		p.nudge = -i * s;
		sum -= share[i - 1] * loss(&p, dy);
	}
	return sum / (60 * s);
}

bool bench_has_digits(void)
{
	return LDBL_MANT_DIG > DBL_MANT_DIG ||
			sizeof(real) == sizeof(float);
}


void bench_slopes(const struct problem *p, const real *dy,
		const real *numbers, const real *gradients, size_t count)
{
	static long double want[4 * 512];
	const double terms = (double)(2 * p->C + 2 * p->d + 3 * p->T +
			p->B * p->T);
	long double largest = 0;

	for (size_t i = 0; i < count; i++) {
		want[i] = slope(*p, numbers + i, dy);
		largest = fmaxl(largest, fabsl(want[i]));
	}
	ck_assert(largest > 0);
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(fabsl(gradients[i] - want[i]) <= terms *
				(long double)REAL_EPSILON * largest,
				"gradient %zu is %.17Lg, wanted %.17Lg", i,
				(long double)gradients[i], want[i]);
}
