/* predict.c: made from chapters/74-predict.nw; edit it there. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "interventions.h"
#include "places.h"
#include "predict.h"
#include "storage.h"

/* functions of predict */
static const struct {
	const char *mechanism, *text, *see;
} slips_known[SLIP_KINDS] = {
	/* what each slip of routing is */
	[SLIP_MASK] = { "routing", "the mask was left out, so that the future"
		" is seen", PLACE_sec_mask },
	[SLIP_MASKED] = { "routing", "a mask was applied, and there is none",
		PLACE_sec_every },
	[SLIP_DIVISOR] = { "routing", "the divisor was the root of the whole"
		" width C, and not of the head width d", PLACE_sec_scores },
	[SLIP_NO_DIVISOR] = { "routing", "nothing was divided by the root of"
		" d", PLACE_sec_scores },
	[SLIP_NO_ROOT] = { "routing", "the divisor was d, and not its root",
		PLACE_sec_scores },
	[SLIP_HEADS_ROOT] = { "routing", "the divisor was the root of the"
		" number of heads", PLACE_sec_scores },
	[SLIP_SCORE_SIGN] = { "routing", "the products have the other sign",
		PLACE_sec_scores },
	[SLIP_SUMS_FIRST] = { "routing", "coordinates were added up before they"
		" were multiplied", PLACE_sec_scores },
	[SLIP_AXIS] = { "routing", "the softmax ran over the wrong axis, down"
		" the columns", PLACE_sec_softmax },
	[SLIP_UNNORMALISED] = { "routing", "these are in proportion to the"
		" weights, and not divided by their sum", PLACE_sec_softmax },

	[SLIP_UNIFORM] = { "routing", "every position that may be seen got the"
		" same weight", PLACE_sec_softmax },
	[SLIP_EVEN_FUTURE] = { "routing", "every position got the same weight,"
		" and the future, too", PLACE_sec_mask },
	[SLIP_LARGEST] = { "routing", "only the position with the largest"
		" weight was read", PLACE_sec_mix },
	[SLIP_ORDER] = { "routing", "the weights were taken in the opposite"
		" order", PLACE_sec_mix },
	[SLIP_ITSELF] = { "routing", "only the changed position was thought to"
		" move; later ones read it", PLACE_sec_every },
	[SLIP_EARLIER] = { "routing", "past and future were exchanged",
		PLACE_sec_every },
	[SLIP_LATER] = { "routing", "the changed position itself was left out;"
		" it sees itself", PLACE_sec_mask },
	[SLIP_OPPOSITE] = { "routing", "those are marked that do not move",
		PLACE_sec_every },

	[SLIP_MASK_AFTER] = { "routing", "the softmax came before the mask, so"
		" that the rest does not sum to one", PLACE_sec_mask },
	[SLIP_MASK_ZERO] = { "routing", "a masked score was set to 0, which"
		" counts as 1; it is minus infinity", PLACE_sec_mask },
	[SLIP_HIDDEN] = { "routing", "the position itself was hidden; it sees"
		" itself", PLACE_sec_mask },
	[SLIP_ARGMAX] = { "routing", "all weight went to the largest score; a"
		" softmax leaves some to each", PLACE_sec_softmax },
	[SLIP_PROPORTIONAL] = { "routing", "the weights are in proportion to"
		" the scores, without their exponentials", PLACE_sec_softmax },
	[SLIP_WIDTH] = { "routing", "the divisor was the width C, and not the"
		" root of d", PLACE_sec_scores },
	/* what each slip of mixing is */
	[SLIP_UNWEIGHED] = { "mixing", "the values were added up without their"
		" weights", PLACE_sec_mix },
	[SLIP_NUMERATORS] = { "mixing", "the weights' denominators were left"
		" out", PLACE_sec_mix },
	[SLIP_SUM] = { "mixing", "the heads were added up, and not set side by"
		" side", PLACE_sec_concat },
	[SLIP_SCALED] = { "mixing", "the rest was made larger to make up for"
		" what was zeroed", PLACE_sec_contribution },
	[SLIP_KEPT] = { "mixing", "the other head's columns were zeroed",
		PLACE_sec_contribution },
	[SLIP_INTACT] = { "mixing", "nothing was zeroed",
		PLACE_sec_contribution },

	[SLIP_TRANSPOSED] = { "mixing", "columns of the stored weight were read"
		" where its rows belong", PLACE_sec_outproj },
	[SLIP_NO_PROJECTION] = { "mixing", "this is the concatenation, before"
		" the projection", PLACE_sec_outproj },
	[SLIP_BLOCK] = { "mixing", "this is the head's block of the"
		" concatenation, before the projection", PLACE_sec_outproj },
	[SLIP_SIGN] = { "mixing", "the sign is reversed",
		PLACE_sec_contribution },
	[SLIP_REST] = { "mixing", "this is what the output is without the head",
		PLACE_sec_contribution },
	[SLIP_WHOLE] = { "mixing", "this is the output of all heads together",
		PLACE_sec_contribution },
	/* what each slip of storage is */
	[SLIP_INTERLEAVED] = { "storage", "the heads' columns were thought to"
		" alternate; each head has a block", PLACE_sec_concat },
	[SLIP_CLOSED_UP] = { "storage", "columns were taken out and the rest"
		" moved up; they stay in place and become zero", PLACE_sec_concat },
	[SLIP_FULL_WIDTH] = { "storage", "each head was given the full width;"
		" it has C/H", PLACE_sec_parameters },
	[SLIP_NO_OUT] = { "storage", "the output projection was left out",
		PLACE_sec_parameters },
	[SLIP_ONE_MATRIX] = { "storage", "one matrix of C times C was counted,"
		" and there are four", PLACE_sec_parameters },
	[SLIP_DIVIDED] = { "storage", "the parameters were divided by the"
		" heads, which together fill the width", PLACE_sec_parameters },
	[SLIP_BIAS] = { "storage", "biases were counted, and there are none",
		PLACE_sec_biases },
	[SLIP_SWAPPED] = { "storage", "the two numbers are in each other's"
		" place", PLACE_ch_storage },
	[SLIP_ONE_EXAMPLE] = { "storage", "the scores of one example only were"
		" counted", PLACE_sec_squares },
	[SLIP_ONE_HEAD] = { "storage", "the scores of one head only were"
		" counted", PLACE_sec_squares },
	[SLIP_ONE_SQUARE] = { "storage", "one square of scores was counted;"
		" each head has one for each example", PLACE_sec_squares },
	[SLIP_ROW] = { "storage", "one row of scores per head was counted;"
		" there are T", PLACE_sec_squares },

	[SLIP_TRIANGLE] = { "storage", "only what the mask lets through was"
		" counted; the whole square is stored", PLACE_sec_squares },
	[SLIP_LINEAR] = { "storage", "the length entered once; both axes of a"
		" square grow", PLACE_sec_squares },
	[SLIP_CONSTANT] = { "storage", "nothing was thought to grow",
		PLACE_sec_squares },
	[SLIP_CUBE] = { "storage", "the length entered three times; a score has"
		" two positions", PLACE_sec_squares },
	[SLIP_DOUBLE] = { "storage", "eight bytes were taken for a float, which"
		" has four", PLACE_sec_squares },
	[SLIP_RIGHT_MERGE] = { "storage", "this is what the right merge gives,"
		" with the swap", PLACE_sec_wayback },
	[SLIP_OTHER_ROW] = { "storage", "this is another row",
		PLACE_sec_wayback },
};

/* Go on with the text of a question, as printf does. */
MH_PRINTF(2, 3)
static void asks(struct prediction *p, const char *format, ...)
{
	size_t used = strlen(p->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(p->text + used, sizeof p->text - used, format,
			arguments);
	va_end(arguments);
}

/* Go on with how its numbers come by hand. */
MH_PRINTF(2, 3)
static void shows(struct prediction *p, const char *format, ...)
{
	size_t used = strlen(p->how);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(p->how + used, sizeof p->how - used, format, arguments);
	va_end(arguments);
}

/* Add a slip, unless it changes nothing. */
static void slip(struct prediction *p, enum slip_kind kind,
		const double numbers[])
{
	struct slip *slip = &p->slips[p->slip_count];
	bool moves = false;

	for (size_t i = 0; i < p->count; i++) {
		slip->numbers[i] = numbers[i];
		moves |= fabs(numbers[i] - p->truth[i]) > 0.01;
	}
	slip->kind = kind;
	if (moves && p->slip_count < PREDICT_SLIPS - 1)
		p->slip_count++;
}

/* One whose only number is this. */
static void slip_one(struct prediction *p, enum slip_kind kind,
		double number)
{
	slip(p, kind, &number);
}

/* A whole number from low to high. */
static int pick(struct random *random, int low, int high)
{
	double u = (double)random_uniform(random, 0, 1);
	int n = low + (int)(u * (high - low + 1));

	return n > high ? high : n;
}

static void number_write(double value, char text[32])
{
	for (int below = 1; below <= 60; below++) {
		double above = round(value * below);

		if (fabs(value * below - above) > 2e-6 * fmax(1, fabs(value)))
			continue;
		if (below == 1)
			snprintf(text, 32, "%.0f", above == 0 ? 0 : above);
		else
			snprintf(text, 32, "%.0f/%d", above, below);
		return;
	}
	snprintf(text, 32, "%.4f", value);
}

static void shows_number(struct prediction *p, double value)
{
	char text[32];

	number_write(value, text);
	shows(p, value < 0 && *p->how ? "(%s)" : "%s", text);
}

/* Show a sum of so many products and what it is. */
static void shows_sum(struct prediction *p, const double a[],
		const real b[], size_t count)
{
	char text[32];
	double sum = 0;

	shows(p, "%s", *p->how ? "; " : "");
	for (size_t i = 0; i < count; i++) {
		shows(p, "%s", i ? " + " : "");
		shows_number(p, a[i]);
		shows(p, "*");
		shows_number(p, (double)b[i]);
		sum += a[i] * (double)b[i];
	}
	number_write(sum, text);
	shows(p, " = %s", text);
}

enum { WIDTH = 4 };                     /* of the heads asked about */

/* By what the products of one of so many heads might be divided. */
struct divisor { enum slip_kind kind; double by; };

static void wrong_divisors(int heads, struct divisor wrong[4])
{
	const double root = sqrt((double)heads);

	wrong[0] = (struct divisor){ SLIP_NO_DIVISOR, 1 };
	wrong[1] = (struct divisor){ SLIP_DIVISOR, sqrt(WIDTH) * root };
	wrong[2] = (struct divisor){ SLIP_NO_ROOT, WIDTH };
	wrong[3] = (struct divisor){ SLIP_HEADS_ROOT, root };
}

static int draw_heads(struct random *random)
{
	return pick(random, 0, 1) ? 9 : 25;
}

/* Row i of the weights that come of scores that are larger by some
 * factor, masked or not, over rows or columns. */
static void routed(struct tensor scores, int i, double factor,
		bool masked, bool columns, double row[FIXTURE_T])
{
	real copy[FIXTURE_T][FIXTURE_T];
	struct tensor weights = fixture_rows(copy, FIXTURE_T);

	for (size_t t = 0; t < FIXTURE_T; t++)
		for (size_t j = 0; j < FIXTURE_T; j++)
			copy[t][j] = AT(scores, t, j) * (real)factor;
	if (masked)
		attention_mask(weights);
	softmax_rows(columns ? tensor_swap(weights, 0, 1) : weights);
	for (size_t j = 0; j < FIXTURE_T; j++)
		row[j] = (double)copy[i][j];
}

/* The smallest whole numbers in proportion to these fractions. */
static void numerators(const double row[], double whole[FIXTURE_T])
{
	bool all = false;

	for (int by = 1; by < 1000 && !all; by++) {
		all = true;
		for (int j = 0; j < FIXTURE_T; j++) {
			whole[j] = round(row[j] * by);
			all &= fabs(row[j] * by - whole[j]) < 1e-4;
		}
	}
}

static void weights_slips(struct prediction *p, struct tensor scores,
		int heads, int i)
{
	double row[FIXTURE_T], even[FIXTURE_T], all[FIXTURE_T];
	struct divisor wrong[4];

	for (int j = 0; j < FIXTURE_T; j++) {
		row[j] = j <= i ? exp((double)AT(scores, i, j)) : 0;
		even[j] = j <= i ? 1. / (i + 1) : 0;
		all[j] = 1. / FIXTURE_T;
	}
	slip(p, SLIP_UNNORMALISED, row);
	numerators(p->truth, row);
	slip(p, SLIP_UNNORMALISED, row);
	slip(p, SLIP_UNIFORM, even);
	if (i < FIXTURE_T - 1)
		slip(p, SLIP_EVEN_FUTURE, all);
	/* add what wrong scores, masks and axes give */
	wrong_divisors(heads, wrong);
	for (int w = 0; w < 4; w++) {
		routed(scores, i, sqrt(WIDTH) / wrong[w].by, true, false, row);
		slip(p, wrong[w].kind, row);
	}
	routed(scores, i, -1, true, false, row);
	slip(p, SLIP_SCORE_SIGN, row);
	routed(scores, i, 1, false, false, row);
	slip(p, SLIP_MASK, row);
	routed(scores, i, 1, true, true, row);
	slip(p, SLIP_AXIS, row);
	/* add what a mask at the wrong place gives */
	double zero[FIXTURE_T], sum = 0, seen = 0, before = 0;

	for (int j = 0; j < FIXTURE_T; j++) {
		zero[j] = j <= i ? exp((double)AT(scores, i, j)) : 1;
		sum += zero[j];
		before += j < i ? zero[j] : 0;
	}
	routed(scores, i, 1, false, false, row);
	for (int j = i + 1; j < FIXTURE_T; j++)
		row[j] = 0;
	slip(p, SLIP_MASK_AFTER, row);
	for (int j = 0; j < FIXTURE_T; j++) {
		row[j] = zero[j] / sum;
		even[j] = j < i ? zero[j] / before : 0;
	}
	slip(p, SLIP_MASK_ZERO, row);
	slip(p, SLIP_HIDDEN, even);
	/* add what no softmax at all gives */
	for (int t = 0; t <= i; t++) {
		bool largest = true;

		for (int j = 0; j < FIXTURE_T; j++) {
			all[j] = j == t;
			largest &= j > i || AT(scores, i, j) <= AT(scores, i, t);
		}
		if (largest)
			slip(p, SLIP_ARGMAX, all);
		seen += (double)AT(scores, i, t);
	}
	for (int j = 0; j < FIXTURE_T && seen != 0; j++)
		row[j] = j <= i ? (double)AT(scores, i, j) / seen : 0;
	if (seen != 0)
		slip(p, SLIP_PROPORTIONAL, row);
}

static enum status draw_weights(struct random *random,
		struct prediction *p, struct error *error)
{
	int H = draw_heads(random), i = pick(random, 0, 3) ? 1 : 2;
	int n[FIXTURE_T];
	const char *sign = pick(random, 0, 1) ? "-" : "";
	real query[FIXTURE_T][WIDTH] = { { 0 } };
	real key[FIXTURE_T][WIDTH] = { { 0 } }, score[FIXTURE_T][FIXTURE_T];
	struct tensor scores = fixture_rows(score, FIXTURE_T);

	for (int t = 0; t < FIXTURE_T; t++) {
		n[t] = pick(random, 1, 6);
		query[t][0] = *sign ? -2 : 2;
		key[t][0] = (real)log(n[t]);
	}
	p->count = FIXTURE_T;
	enum status status = attention_scores(fixture_rows(query, WIDTH),
			fixture_rows(key, WIDTH), scores, error);

	/* write the question about the weights */
	asks(p, "A layer of width %d has %d heads and runs on three positions."
			" The products\nof any query of one of them with the keys of"
			" positions 0, 1 and 2 are\n%s2 ln %d, %s2 ln %d and %s2 ln"
			" %d. Under the causal mask: the three weights\nof position"
			" %d, counted from 0?\n", WIDTH * H, H, sign, n[0], sign,
			n[1], sign, n[2], i);
	if (status)
		return status;
	routed(scores, i, 1, true, false, p->truth);
	weights_slips(p, scores, H, i);
	/* show how the weights come by hand */
	double sum = 0;

	shows(p, "position %d sees positions 0 to %d. Divided by %g, the root"
			" of %d, their products are", i, i, sqrt(WIDTH), WIDTH);
	for (int j = 0; j <= i; j++)
		shows(p, "%s %sln %d", j ? "," : "", sign, n[j]);
	shows(p, "; e to the power of these:");
	for (int j = 0; j <= i; j++) {
		shows(p, "%s ", j ? "," : "");
		shows_number(p, exp((double)AT(scores, i, j)));
		sum += exp((double)AT(scores, i, j));
	}
	shows(p, "; each of them divided by their sum, ");
	shows_number(p, sum);
	shows(p, ", is a weight");
	return MH_OK;
}

static enum status draw_mix(struct random *random, struct prediction *p,
		struct error *error)
{
	real weights[FIXTURE_T][FIXTURE_T] = { { 0 } };
	real values[FIXTURE_T][FIXTURE_D], out[FIXTURE_T][FIXTURE_D];
	double sum[2] = { 0 }, mean[2], other[2] = { 0 };
	double part[FIXTURE_T], parts[2];
	int n[FIXTURE_T], all = 0, most = 0, turn = pick(random, 0, 2);

	(void)error;
	for (int t = 0; t < FIXTURE_T; t++) {
		all += n[t] = pick(random, 1, 5);
		most = n[t] > most ? n[t] : most;
		for (int c = 0; c < FIXTURE_D; c++)
			values[t][c] = (real)(pick(random, 0, 2) +
					3 * ((t * (c + 1) + turn) % 3));
	}
	for (int t = 0; t < FIXTURE_T; t++)
		weights[2][t] = (real)n[t] / (real)all;
	attention_mix(fixture_rows(weights, FIXTURE_T),
			fixture_rows(values, FIXTURE_D), true,
			fixture_rows(out, FIXTURE_D));
	/* write the question about the mix */
	asks(p, "At the last of three positions a head's weights are"
			" %d/%d, %d/%d, %d/%d;\nthe values are", n[0], all, n[1], all,
			n[2], all);
	p->count = FIXTURE_D;
	for (int t = 0; t < FIXTURE_T; t++)
		asks(p, "%s [%g, %g]", t ? "," : "", (double)values[t][0],
				(double)values[t][1]);
	asks(p, ".\nThe two numbers of the head's output there?\n");
	for (int c = 0; c < FIXTURE_D; c++) {
		real column[FIXTURE_T];

		p->truth[c] = (double)out[2][c];
		parts[c] = p->truth[c] * all;
		for (int t = 0; t < FIXTURE_T; t++) {
			part[t] = (double)n[t] / all;
			column[t] = values[t][c];
			sum[c] += (double)values[t][c];
			other[c] += (double)(weights[2][2 - t] * values[t][c]);
		}
		mean[c] = sum[c] / FIXTURE_T;
		shows_sum(p, part, column, FIXTURE_T);
	}
	slip(p, SLIP_NUMERATORS, parts);
	slip(p, SLIP_UNWEIGHED, sum);
	slip(p, SLIP_UNIFORM, mean);
	slip(p, SLIP_ORDER, other);
	for (int t = 0; t < FIXTURE_T; t++)
		if (n[t] == most)
			slip(p, SLIP_LARGEST, (double[]){ (double)values[t][0],
					(double)values[t][1] });
	return MH_OK;
}

static enum status draw_score(struct random *random,
		struct prediction *p, struct error *error)
{
	const size_t shape[] = { 1, WIDTH }, one[] = { 1, 1 };
	real query[WIDTH], key[WIDTH], score = 0;
	int H = draw_heads(random);
	double dot = 0, sums[2] = { 0 }, left[WIDTH];
	enum status status;

	for (int c = 0; c < WIDTH; c++) {
		query[c] = (real)pick(random, -3, 4);
		key[c] = (real)pick(random, -2, 5);
		dot += (double)(query[c] * key[c]);
		sums[0] += left[c] = (double)query[c];
		sums[1] += (double)key[c];
	}
	status = attention_scores(tensor_view(query, 2, shape),
			tensor_view(key, 2, shape), tensor_view(&score, 2, one),
			error);
	/* write the question about the score */
	struct divisor wrong[4];
	char text[32];

	asks(p, "A layer of width %d has %d heads. A query of one of them"
			" is\n[%g, %g, %g, %g], a key [%g, %g, %g, %g].\nTheir"
			" score?\n", WIDTH * H, H, (double)query[0],
			(double)query[1], (double)query[2], (double)query[3],
			(double)key[0], (double)key[1], (double)key[2],
			(double)key[3]);
	p->count = 1;
	p->truth[0] = (double)score;
	wrong_divisors(H, wrong);
	for (int w = 0; w < 4; w++)
		slip_one(p, wrong[w].kind, dot / wrong[w].by);
	slip_one(p, SLIP_WIDTH, dot / (WIDTH * H));
	slip_one(p, SLIP_SCORE_SIGN, -(double)score);
	slip_one(p, SLIP_SUMS_FIRST, sums[0] * sums[1] / sqrt(WIDTH));
	shows_sum(p, left, key, WIDTH);
	number_write(p->truth[0], text);
	shows(p, "; divided by %g, the root of %d, this is %s", sqrt(WIDTH),
			WIDTH, text);
	return status;
}

/* Draw four numbers of a concatenation and ask about them. */
static void draw_row(struct random *random, struct prediction *p,
		real z[FIXTURE_C])
{
	for (int c = 0; c < FIXTURE_C; c++)
		z[c] = (real)(pick(random, 1, 4) + 4 * (c % 2) + c / 2);
	asks(p, "Two heads of width 2 have given [%g, %g] and [%g, %g].\n",
			(double)z[0], (double)z[1], (double)z[2], (double)z[3]);
	p->count = FIXTURE_C;
}

static enum status draw_ablation(struct random *random,
		struct prediction *p, struct error *error)
{
	const size_t shape[] = { 1, FIXTURE_C };
	real z[FIXTURE_C], left[FIXTURE_C];
	double slips[6][FIXTURE_C] = { { 0 } };
	int h = pick(random, 0, 1);

	(void)error;
	draw_row(random, p, z);
	asks(p, "Head %d is ablated: its columns are set to zero before the"
			" projection.\nThe four numbers of the concatenation"
			" then?\n", h);
	memcpy(left, z, sizeof z);
	tensor_fill(tensor_narrow(tensor_view(left, 2, shape), 1,
			(size_t)h * FIXTURE_D, FIXTURE_D), 0);
	/* add what mistakes in an ablation give */
	for (int c = 0; c < FIXTURE_C; c++) {
		int own = c / FIXTURE_D == h;

		p->truth[c] = (double)left[c];
		slips[0][c] = own ? (double)z[c] : 0;
		slips[1][c] = c % 2 == h ? 0 : (double)z[c];
		slips[2][c] = own ? 0 : 2 * (double)z[c];
		slips[3][c] = c < FIXTURE_D && h == 0 ? (double)z[c + FIXTURE_D] :
				c < FIXTURE_D ? (double)z[c] : 0;
		slips[4][c] = (double)(z[c % 2] + z[c % 2 + 2]);
		slips[5][c] = (double)z[c];
	}
	slip(p, SLIP_KEPT, slips[0]);
	slip(p, SLIP_INTERLEAVED, slips[1]);
	slip(p, SLIP_SCALED, slips[2]);
	slip(p, SLIP_CLOSED_UP, slips[3]);
	slip(p, SLIP_SUM, slips[4]);
	slip(p, SLIP_INTACT, slips[5]);
	shows(p, "columns %d and %d belong to head %d and become 0; the"
			" others stay where they are", h * FIXTURE_D,
			h * FIXTURE_D + 1, h);
	return MH_OK;
}

/* Draw the rows of a projection, put them into the fixture, and go on
 * with the text. */
static void draw_rows(struct random *random, struct prediction *p,
		struct fixture *f)
{
	asks(p, "The stored rows of the output projection are\n");
	for (int r = 0; r < FIXTURE_C; r++) {
		for (int c = 0; c < FIXTURE_C; c++)
			f->out_proj[r][c] = (real)pick(random, -1, 1);
		f->out_proj[r][r] = 1;
		asks(p, "  [%2g, %2g, %2g, %2g]\n", (double)f->out_proj[r][0],
				(double)f->out_proj[r][1], (double)f->out_proj[r][2],
				(double)f->out_proj[r][3]);
	}
}

/* y = z times rows, or columns, of the projection, of which only the
 * columns from first to before last are read. */
static void by_rows(const struct fixture *f, const real z[], int first,
		int last, bool transposed, double y[])
{
	for (int r = 0; r < FIXTURE_C; r++) {
		y[r] = 0;
		for (int c = first; c < last; c++)
			y[r] += (double)(z[c] * (transposed ?
					f->out_proj[c][r] : f->out_proj[r][c]));
	}
}

/* Show the products of these columns of each row. */
static void shows_rows(struct prediction *p, const struct fixture *f,
		const real z[], size_t first, size_t count)
{
	for (int r = 0; r < FIXTURE_C; r++) {
		double row[FIXTURE_C];

		for (size_t c = 0; c < count; c++)
			row[c] = (double)f->out_proj[r][first + c];
		shows_sum(p, row, z + first, count);
	}
}

static enum status draw_projection(struct random *random,
		struct prediction *p, struct error *error)
{
	const size_t shape[] = { 1, FIXTURE_C };
	real z[FIXTURE_C], y[FIXTURE_C], order[FIXTURE_C];
	double wrong[FIXTURE_C], plain[FIXTURE_C], sums[FIXTURE_C];
	struct layer *layer = NULL;
	struct fixture f;
	enum status status;

	fixture_set(&f);
	draw_row(random, p, z);
	draw_rows(random, p, &f);
	asks(p, "The four numbers of the output?\n");
	status = fixture_layer(&f, &layer, error);
	if (!status)
		status = layer_mix(layer, tensor_view(z, 2, shape),
				tensor_view(y, 2, shape), error);
	layer_free(layer);
	for (int c = 0; c < FIXTURE_C && !status; c++) {
		p->truth[c] = (double)y[c];
		plain[c] = (double)z[c];
		sums[c] = (double)(z[c % 2] + z[c % 2 + 2]);
		order[c] = z[c % 2 * 2 + c / 2];
	}
	if (status)
		return status;
	by_rows(&f, z, 0, FIXTURE_C, true, wrong);
	slip(p, SLIP_TRANSPOSED, wrong);
	slip(p, SLIP_NO_PROJECTION, plain);
	slip(p, SLIP_SUM, sums);
	by_rows(&f, order, 0, FIXTURE_C, false, wrong);
	slip(p, SLIP_INTERLEAVED, wrong);
	shows_rows(p, &f, z, 0, FIXTURE_C);
	return MH_OK;
}

static enum status draw_contribution(struct random *random,
		struct prediction *p, struct error *error)
{
	const size_t shape[] = { 1, 1, FIXTURE_C };
	real z[FIXTURE_C], part[FIXTURE_C];
	struct layer *layer = NULL;
	struct fixture f;
	int h = pick(random, 0, 1);
	enum status status;

	fixture_set(&f);
	draw_row(random, p, z);
	draw_rows(random, p, &f);
	asks(p, "What does head %d contribute to the four numbers of"
			" the output?\n", h);
	status = fixture_layer(&f, &layer, error);
	if (!status)
		status = layer_contribution(layer, (size_t)h,
				tensor_view(z, 3, shape), tensor_view(part, 3, shape),
				error);
	layer_free(layer);
	if (!status) {
		/* add what mistakes about a contribution give */
		double wrong[FIXTURE_C], whole[FIXTURE_C];
		int first = h * FIXTURE_D;

		by_rows(&f, z, 0, FIXTURE_C, false, whole);
		for (int c = 0; c < FIXTURE_C; c++) {
			p->truth[c] = (double)part[c];
			wrong[c] = -(double)part[c];
		}
		slip(p, SLIP_SIGN, wrong);
		slip(p, SLIP_WHOLE, whole);
		for (int c = 0; c < FIXTURE_C; c++)
			wrong[c] = whole[c] - (double)part[c];
		slip(p, SLIP_REST, wrong);
		by_rows(&f, z, first, first + FIXTURE_D, true, wrong);
		slip(p, SLIP_TRANSPOSED, wrong);
		for (int c = 0; c < FIXTURE_C; c++)
			wrong[c] = c / FIXTURE_D == h ? (double)z[c] : 0;
		slip(p, SLIP_BLOCK, wrong);
		shows_rows(p, &f, z, (size_t)first, FIXTURE_D);
	}
	return status;
}

static void count_slip(struct prediction *p, enum slip_kind kind,
		int which, double number)
{
	double numbers[2] = { NAN, NAN };

	numbers[which] = number;
	slip(p, kind, numbers);
}

static enum status draw_counts(struct random *random,
		struct prediction *p, struct error *error)
{
	int B = pick(random, 1, 3), T = pick(random, 4, 10);
	int H = 1 << pick(random, 1, 3), d = pick(random, 2, 3);
	int C = H * d;
	struct cost cost;
	enum status status = storage_cost((size_t)B, (size_t)T, (size_t)C,
			(size_t)H, &cost, error);

	asks(p, "A layer without biases has width %d and %d heads; its"
			" input is (B, T, C) =\n(%d, %d, %d). How many parameters"
			" has it, and how many scores are stored?\n", C, H, B, T,
			C);
	p->count = 2;
	p->whole = true;
	if (status)
		return status;
	p->truth[0] = (double)cost.parameters;
	p->truth[1] = (double)cost.entries;
	/* add what mistakes about the counts give */
	slip(p, SLIP_SWAPPED, (double[]){ p->truth[1], p->truth[0] });
	count_slip(p, SLIP_FULL_WIDTH, 0, 4. * H * C * C);
	count_slip(p, SLIP_FULL_WIDTH, 0, 3. * H * C * C + C * C);
	count_slip(p, SLIP_NO_OUT, 0, 3. * C * C);
	count_slip(p, SLIP_ONE_MATRIX, 0, C * C);
	count_slip(p, SLIP_DIVIDED, 0, 4. * C * C / H);
	count_slip(p, SLIP_BIAS, 0, 4. * C * C + 4 * C);
	count_slip(p, SLIP_ONE_EXAMPLE, 1, H * T * T);
	count_slip(p, SLIP_ONE_HEAD, 1, B * T * T);
	if (B > 1)
		count_slip(p, SLIP_ONE_SQUARE, 1, T * T);
	count_slip(p, SLIP_ROW, 1, B * H * T);
	count_slip(p, SLIP_TRIANGLE, 1, B * H * T * (T + 1) / 2.);
	shows(p, "four matrices, 4*%d*%d = %.0f; for each example and head a"
			" square, %d*%d*%d*%d = %.0f", C, C, p->truth[0], B, H, T, T,
			p->truth[1]);
	return MH_OK;
}

static enum status draw_bytes(struct random *random,
		struct prediction *p, struct error *error)
{
	int B = pick(random, 1, 2), H = 1 << pick(random, 1, 3);
	int T = 16 << pick(random, 0, 2), k = pick(random, 2, 3);
	struct cost at, then;
	double same;
	enum status status = storage_cost((size_t)B, (size_t)T,
			(size_t)H * 2, (size_t)H, &at, error);

	if (!status)
		status = storage_cost((size_t)B, (size_t)(T * k),
				(size_t)H * 2, (size_t)H, &then, error);
	if (status)
		return status;
	same = 4. * (double)at.entries;
	asks(p, "The scores of a layer with %d heads on %d example%s of %d"
			" positions\ntake %.0f bytes as floats. How many bytes at"
			" %d positions?\n", H, B, B > 1 ? "s" : "", T, same, T * k);
	p->count = 1;
	p->whole = true;
	p->truth[0] = 4. * (double)then.entries;
	slip_one(p, SLIP_LINEAR, k * same);
	slip_one(p, SLIP_CONSTANT, same);
	slip_one(p, SLIP_CUBE, k * p->truth[0]);
	slip_one(p, SLIP_DOUBLE, 2 * p->truth[0]);
	shows(p, "both axes of a square are %d times as long, %d*%d*%.0f ="
			" %.0f", k, k, k, same, p->truth[0]);
	return MH_OK;
}

/* Does output t move when position j is perturbed? */
static enum status prefix_truth(int T, int j, bool causal,
		uint64_t seed, double moves[], struct error *error)
{
	const size_t shape[] = { 1, (size_t)T, 4 };
	struct workspace room = { 0 };
	struct random random = { seed };
	struct layer *layer = NULL;
	struct tensor x;
	real change[PREDICT_NUMBERS];
	enum status status = layer_create(4, 2, &layer, error);

	if (!status)
		status = workspace_take(&room, 3, shape, &x, error);
	if (!status) {
		layer_randomize(layer, seed);
		tensor_randomize(x, &random, 1);
		status = perturb(layer_forward_loop, layer, x, causal,
				(size_t)j, change, &room, error);
	}
	for (int t = 0; t < T && !status; t++)
		moves[t] = change[t] != 0;
	workspace_free(&room);
	layer_free(layer);
	return status;
}

static enum status draw_prefix(struct random *random,
		struct prediction *p, struct error *error)
{
	int T = pick(random, 4, 6), j = pick(random, 1, T - 2);
	bool causal = pick(random, 0, 2) > 0;
	double own[PREDICT_NUMBERS], past[PREDICT_NUMBERS];
	double after[PREDICT_NUMBERS], all[PREDICT_NUMBERS];
	double masked[PREDICT_NUMBERS], still[PREDICT_NUMBERS];

	asks(p, "A layer runs on %d positions, %s the causal mask.\nThe"
			" input is changed at position %d. For each position from"
			" 0 to\n%d: 1 if its output moves, 0 if not?\n", T,
			causal ? "under" : "without", j, T - 1);
	p->count = (size_t)T;
	p->bits = true;
	for (int t = 0; t < T; t++) {
		own[t] = t == j;
		past[t] = t <= j;
		after[t] = t > j;
		masked[t] = t >= j;
		all[t] = 1;
	}
	enum status status = prefix_truth(T, j, causal, random->state,
			p->truth, error);

	for (int t = 0; t < T; t++)
		still[t] = 1 - p->truth[t];
	if (!status) {
		slip(p, causal ? SLIP_MASK : SLIP_MASKED,
				causal ? all : masked);
		slip(p, SLIP_OPPOSITE, still);
		slip(p, SLIP_ITSELF, own);
		slip(p, SLIP_EARLIER, past);
		slip(p, SLIP_LATER, after);
	}
	if (causal)
		shows(p, "output t reads inputs 0 to t, so input %d moves the"
				" outputs from %d on", j, j);
	else
		shows(p, "without a mask every output reads every input");
	return status;
}

static enum status draw_merge(struct random *random,
		struct prediction *p, struct error *error)
{
	enum { T = 3, H = 2, D = 2, C = H * D };
	const size_t apart[] = { H, T, D }, merged[] = { T, C };
	real o[H * T * D], copy[H * T * D];
	int t = pick(random, 0, T - 1), from = pick(random, 1, 40);
	struct tensor heads = tensor_view(o, 3, apart);
	struct tensor wrong = tensor_view(o, 2, merged);

	(void)error;
	for (int i = 0; i < H * T * D; i++)
		o[i] = (real)(from + i);
	struct tensor swapped = tensor_contiguous(tensor_swap(heads, 0, 1),
			copy);
	double right[C], mixed[C], other[2][C];

	p->count = C;
	for (size_t c = 0; c < C; c++) {
		p->truth[c] = (double)AT(wrong, t, c);
		right[c] = (double)swapped.data[(size_t)t * C + c];
		mixed[c] = (double)AT(heads, c % H, t, c / H);
		other[0][c] = (double)AT(wrong, (t + 1) % T, c);
		other[1][c] = (double)AT(wrong, (t + 2) % T, c);
	}
	/* write the question about the merge */
	for (int h = 0; h < H; h++) {
		asks(p, "Head %d gives, position by position,", h);
		for (int i = 0; i < T; i++)
			asks(p, "%s [%g, %g]", i ? "," : "",
					(double)AT(heads, h, i, 0),
					(double)AT(heads, h, i, 1));
		asks(p, ".\n");
	}
	asks(p, "They lie in memory like this, head after head, and are merged"
			"\nwithout the swap, as three rows of four. What stands in row"
			" %d,\ncounted from 0?\n", t);
	slip(p, SLIP_RIGHT_MERGE, right);
	slip(p, SLIP_INTERLEAVED, mixed);
	slip(p, SLIP_OTHER_ROW, other[0]);
	slip(p, SLIP_OTHER_ROW, other[1]);
	shows(p, "memory holds %d, %d, %d and so on; row %d are the four"
			" numbers from place %d on", from, from + 1, from + 2, t,
			t * C);
	return MH_OK;
}

static const struct topic topics[] = {
	{ "weights", "a head's weights, from its products",
			PLACE_sec_softmax, draw_weights },
	{ "mix", "a head's output, from weights and values", PLACE_sec_mix,
			draw_mix },
	{ "score", "the score of a query and a key", PLACE_sec_scores,
			draw_score },
	{ "ablation", "the concatenation after a head is ablated",
			PLACE_sec_contribution, draw_ablation },
	{ "projection", "the output, under another projection",
			PLACE_sec_outproj, draw_projection },
	{ "contribution", "what one head adds to the output",
			PLACE_sec_contribution, draw_contribution },
	{ "counts", "parameters and scores, for other sizes",
			PLACE_ch_storage, draw_counts },
	{ "bytes", "bytes at another length", PLACE_sec_squares,
			draw_bytes },
	{ "prefix", "which positions move when one is changed",
			PLACE_sec_every, draw_prefix },
	{ "merge", "what a merge without the swap gives",
			PLACE_sec_wayback, draw_merge },
};

enum { TOPICS = sizeof topics / sizeof topics[0] };

const struct topic *predict_topic(size_t i)
{
	return i < TOPICS ? &topics[i] : NULL;
}

enum status predict_draw(const struct topic *topic,
		struct random *random, struct prediction *p,
		struct error *error)
{
	enum status status = MH_OK;

	p->slip_count = 0;
	for (int i = 0; i < 100 && !status && p->slip_count < 2; i++) {
		*p = (struct prediction){ 0 };
		status = topic->draw(random, p, error);
	}
	return status;
}

bool predict_right(const struct prediction *p,
		const struct reply_number typed[])
{
	for (size_t i = 0; i < p->count; i++)
		if (!reply_means(&typed[i], p->truth[i]))
			return false;
	return true;
}

bool predict_vague(const struct prediction *p,
		const struct reply_number typed[])
{
	for (size_t i = 0; i < p->count; i++)
		if (!reply_rounds(&typed[i], p->truth[i]) &&
				!reply_means(&typed[i], p->truth[i]))
			return false;
	return !predict_right(p, typed);
}

static bool explains(const struct prediction *p,
		const struct slip *slip, const struct reply_number typed[])
{
	for (size_t i = 0; i < p->count; i++)
		if (!isnan(slip->numbers[i]) &&
				!reply_means(&typed[i], slip->numbers[i]))
			return false;
	return true;
}

size_t predict_explain(const struct prediction *p,
		const struct reply_number typed[],
		const struct slip *found[PREDICT_SLIPS])
{
	size_t count = 0;

	for (size_t s = 0; s < p->slip_count; s++)
		if (explains(p, &p->slips[s], typed) && !(count &&
				found[count - 1]->kind == p->slips[s].kind))
			found[count++] = &p->slips[s];
	return count;
}

bool predict_begin(struct predict *predict, const char *only)
{
	struct memory *memory = &predict->memory;

	*memory = (struct memory){ 0 };
	for (size_t i = 0; i < TOPICS; i++)
		memory->item[memory->count++].name = topics[i].name;
	predict->only = TOPICS;
	for (size_t i = 0; i < TOPICS && only; i++)
		if (strcmp(topics[i].name, only) == 0)
			predict->only = i;
	return !only || predict->only < TOPICS;
}

/* What was typed, below it what the layer says, and marks below the
 * numbers that were missed, if there are several to choose from. */
static void show_both(FILE *out, const struct prediction *p,
		const struct reply_number typed[])
{
	char truth[PREDICT_NUMBERS][32];
	size_t width = 9;

	for (size_t i = 0; i < p->count; i++) {
		size_t length = typed ? strlen(typed[i].text) : 1;

		number_write(p->truth[i], truth[i]);
		width = length > width ? length : width;
	}
	fputs("  you  ", out);
	for (size_t i = 0; i < p->count; i++)
		fprintf(out, " %*s", (int)width, typed ? typed[i].text : "-");
	fputs("\n  layer", out);
	for (size_t i = 0; i < p->count; i++)
		fprintf(out, " %*s", (int)width, truth[i]);
	if (typed && p->count > 1 && !predict_right(p, typed)) {
		fputs("\n       ", out);
		for (size_t i = 0; i < p->count; i++)
			fprintf(out, " %*s", (int)width, reply_means(&typed[i],
					p->truth[i]) ? "" : "^");
	}
	putc('\n', out);
}

/* Read a line as numbers that answer the question, if it can be. */
static int predict_read(const struct prediction *p, char line[],
		struct reply_number typed[])
{
	struct reply_number joined[PREDICT_NUMBERS];
	char bits[2 * PREDICT_NUMBERS + 1] = "";
	int count;

	reply_plain(line);
	count = reply_numbers(line, typed, PREDICT_NUMBERS);
	if (p->bits && count == 1 && strlen(typed->text) == p->count) {
		for (size_t i = 0; i < p->count; i++) {
			bits[2 * i] = typed->text[i];
			bits[2 * i + 1] = ' ';
		}
		return reply_numbers(bits, typed, PREDICT_NUMBERS);
	}
	if (count <= (int)p->count)
		return count;
	reply_join(line, p->whole);
	if (reply_numbers(line, joined, PREDICT_NUMBERS) == (int)p->count) {
		memcpy(typed, joined, sizeof joined);
		count = (int)p->count;
	}
	return count;
}

/* Ask for more decimals, and show how to write what was typed if it is
 * not rounded. */
static void predict_sharpen(FILE *out, const struct prediction *p,
		const struct reply_number typed[])
{
	fputs("That is rounded too much to tell: write fractions, or two"
			" decimals.\nIf it is not rounded, write", out);
	for (size_t i = 0; i < p->count; i++)
		if (typed[i].half > 0)
			fprintf(out, " %.2f", typed[i].value);
		else
			fprintf(out, " %s", typed[i].text);
	fputs(". Next time it counts.\n", out);
}

/* Do the numbers answer the question? If not, say why. */
static bool predict_takes(FILE *out, const struct prediction *p,
		const struct reply_number typed[], int count)
{
	bool bits = count == (int)p->count, whole = bits;

	for (size_t i = 0; i < p->count && whole; i++) {
		bits &= typed[i].value == 0 || typed[i].value == 1;
		whole = typed[i].value == round(typed[i].value);
	}
	if (count < 0)
		/* say that something is no number */
		{
			putc('\'', out);
			reply_print(out, typed[0].text);
			fputs("' is no number; write 3.71, 26/7 or 2^18. An empty line"
					" gives\nthe question up, q ends the session.\n", out);
		}
	else if (count != (int)p->count)
		fprintf(out, "%zu number%s wanted, and there %s %d.\n",
				p->count, p->count > 1 ? "s are" : " is",
				count == 1 ? "is" : "are", count);
	else if (p->bits && !(bits && whole))
		fputs("Each of them is 1 or 0.\n", out);
	else if (p->whole && !whole)
		fputs("Counts are whole numbers.\n", out);
	else
		return true;
	return false;
}

/* Read the numbers that are wanted, and ask again for what does not
 * answer the question. False if there are none: the reader gave up or
 * stops, or the input ended. */
static bool predict_listen(struct predict *predict,
		const struct prediction *p, struct reply_number typed[])
{
	char line[REPLY_LINE];

	for (bool sharpened = false; ; ) {
		predict->ended = !reply_line(predict->in, predict->out, "> ",
				line);
		predict->stopped = !predict->ended && reply_stops(line);
		predict->ended |= predict->stopped;
		if (predict->ended || reply_empty(line))
			return false;
		if (!predict_takes(predict->out, p, typed,
				predict_read(p, line, typed)))
			continue;
		if (sharpened || !predict_vague(p, typed))
			return true;
		predict_sharpen(predict->out, p, typed);
		sharpened = true;
	}
}

/* Of which number does the slip speak alone? p->count if of all. */
static size_t slip_place(const struct prediction *p,
		const struct slip *slip)
{
	size_t place = p->count, spoken = 0;

	for (size_t i = 0; i < p->count; i++)
		if (!isnan(slip->numbers[i])) {
			place = i;
			spoken++;
		}
	return spoken == 1 && p->count > 1 ? place : p->count;
}

static void places_add(struct places *read, const char *place)
{
	size_t i = 0;

	while (i < read->count && strcmp(read->place[i], place) != 0)
		i++;
	if (i == read->count && i < PREDICT_PLACES)
		read->place[read->count++] = place;
}

/* Say what the numbers point to; note in known which of them a slip
 * speaks of, and in read where to read again. */
static void predict_name(FILE *out, const struct prediction *p,
		const struct reply_number typed[], bool known[],
		struct places *read)
{
	const struct slip *found[PREDICT_SLIPS];
	size_t count = predict_explain(p, typed, found), last = SIZE_MAX;
	char text[400];

	for (size_t n = 0; n < count; n++) {
		size_t place = slip_place(p, found[n]);
		enum slip_kind kind = found[n]->kind;

		/* name one mistake */
		if (place == last)
			snprintf(text, sizeof text, "Or a");
		else if (place < p->count)
			snprintf(text, sizeof text, "%s points to a", typed[place].text);
		else
			snprintf(text, sizeof text, "A");
		size_t used = strlen(text);

		snprintf(text + used, sizeof text - used, " mistake of %s: %s. Read %s"
				" again.", slips_known[kind].mechanism, slips_known[kind].text,
				slips_known[kind].see);
		reply_wrap(out, 2, "", text);
		places_add(read, slips_known[kind].see);
		for (size_t i = 0; i < p->count; i++)
			known[i] |= i == place || place == p->count;
		last = place;
	}
}

void predict_diagnose(FILE *out, const struct topic *topic,
		const struct prediction *p, const struct reply_number typed[],
		struct places *read)
{
	bool known[PREDICT_NUMBERS] = { false };
	char text[PREDICT_HOW + 20] = "", place[32] = "";
	size_t unknown = 0;

	if (typed)
		predict_name(out, p, typed, known, read);
	for (size_t i = 0; i < p->count && typed; i++)
		if (!known[i] && !reply_means(&typed[i], p->truth[i])) {
			if (p->bits)
				snprintf(place, sizeof place, " at position %zu", i);
			snprintf(text, sizeof text, "We know no mistake that gives"
					" %s%s. ", typed[i].text, place);
			unknown++;
		}
	if (unknown > 1)
		snprintf(text, sizeof text, "We know no mistake that gives"
				" these numbers. ");
	if (!typed || unknown) {
		snprintf(text + strlen(text), sizeof text - strlen(text),
				"Read %s again.", topic->see);
		reply_wrap(out, 2, "", text);
		places_add(read, topic->see);
	}
	snprintf(text, sizeof text, "By hand: %s.", p->how);
	reply_wrap(out, 2, "", text);
}

/* Count an answer, and keep it if there is a place; say at once if that
 * fails. */
static void predict_note(struct predict *predict, size_t i, bool right)
{
	struct memory *memory = &predict->memory;

	predict->asked++;
	predict->right += right;
	predict->missed[i] += !right;
	if (!predict->path || predict->lost.status)
		memory_note(memory, i, right);
	else if (memory_round(memory, predict->path, i, right,
			&predict->lost))
		fprintf(predict->out, "  (Nothing is remembered: %s.)\n",
				predict->lost.message);
}

/* One round with one topic. */
static enum status predict_round(struct predict *predict, size_t i,
		struct random *random, struct error *error)
{
	struct reply_number typed[PREDICT_NUMBERS];
	struct prediction p;
	enum status status = predict_draw(&topics[i], random, &p, error);

	if (status)
		return status;
	fprintf(predict->out, "%s%zu. %s\n%s", predict->asked ? "\n" : "",
			predict->asked + 1, topics[i].name, p.text);
	bool given = predict_listen(predict, &p, typed);

	if (predict->ended)
		return MH_OK;
	bool right = given && predict_right(&p, typed);

	show_both(predict->out, &p, given ? typed : NULL);
	if (right)
		fputs("  Right.\n", predict->out);
	else
		predict_diagnose(predict->out, &topics[i], &p,
				given ? typed : NULL, &predict->read[i]);
	predict_note(predict, i, right);
	return MH_OK;
}

static struct random round_random(uint64_t seed, size_t round)
{
	return (struct random){ seed + round * 0xd1342543de82ef95u };
}

static size_t fixed_topic(uint64_t seed, size_t round)
{
	struct random random = round_random(~seed, round / TOPICS);
	size_t order[TOPICS] = { 0 };

	for (size_t i = 0; i < TOPICS; i++) {
		size_t j = (size_t)pick(&random, 0, (int)i);

		order[i] = order[j];
		order[j] = i;
	}
	return order[round % TOPICS];
}

static void predict_sum_up(const struct predict *predict)
{
	FILE *out = predict->out;

	fprintf(out, "\n%s%zu of %zu right.\n", predict->ended &&
			!predict->stopped ? "The input has ended. " : "",
			predict->right, predict->asked);
	for (size_t i = 0; i < TOPICS; i++) {
		const struct places *read = &predict->read[i];

		if (predict->missed[i])
			fprintf(out, "  %-12s missed %zu; read\n", topics[i].name,
					predict->missed[i]);
		for (size_t n = 0; n < read->count; n++)
			fprintf(out, "    %s\n", read->place[n]);
	}
}

enum status predict_run(struct predict *predict, uint64_t seed,
		struct error *error)
{
	enum status status = MH_OK;

	while (predict->asked < predict->rounds && !predict->ended &&
			!status) {
		struct random random = round_random(seed, predict->asked);
		double chance = (double)random_uniform(&random, 0, 1);
		size_t i = predict->only;

		if (i == TOPICS && predict->fixed)
			i = fixed_topic(seed, predict->asked);
		else if (i == TOPICS)
			i = memory_next(&predict->memory, fmin(chance, 0.999));
		status = predict_round(predict, i, &random, error);
	}
	predict_sum_up(predict);
	if (!status && predict->lost.status && error)
		*error = predict->lost;
	return status ? status : predict->lost.status;
}
