/* kernel.c: made from chapters/57-tiles.nw; edit it there. */
#include "kernel.h"
#include "vector.h"

#ifndef KERNEL
#define KERNEL kernel_plain
#endif

/* constants of kernel */
enum {
	WIDE = KERNEL_PANELS * PANEL,   /* columns laid out together */
	NEAR = 8 * TILE_ROWS,           /* rows that meet them together */
	FEW = 5 * NEAR                  /* rows that are better turned */
};

#define LOG2E ((real)1.44269504088896340735992468100189214L)
#ifdef MH_SINGLE
enum { FRACTION_BITS = 23, LOWEST = -87 };
#define ROUNDER ((real)0x1.8p23)
#else
enum { FRACTION_BITS = 52, LOWEST = -708 };
#define ROUNDER ((real)0x1.8p52)
#endif

/* 2^f = sum of c_n f^n for f between -1/2 and 1/2, highest power
 * first. */
static const real powers[] = {
#ifdef MH_SINGLE
	0.001327647129073739f, 0.009675540961325169f,
	0.05550713092088699f, 0.24022120237350464f,
	0.6931469440460205f, 1.0000001192092896f
#else
	1.3691488853904128880892e-12, 2.56784359934882051419e-11,
	4.4455382718708114975964e-10, 7.0549116208011233298754e-9,
	1.0178086009239699727490e-7, 1.3215486790144309488404e-6,
	1.5252733804059840280026e-5, 1.5403530393381609954437e-4,
	1.3333558146428443423412e-3, 9.6181291076284771619791e-3,
	5.5504108664821579953143e-2, 2.4022650695910071233355e-1,
	6.9314718055994530941723e-1, 1
#endif
};

/* A tile of attention: so many rows by so many columns. */
enum {
	/* sizes of a tile of attention */
	QUERIES = 96,                   /* rows; a multiple of TILE_ROWS */
	KEYS = 64,                      /* columns; a multiple of LANES */
	/* how far a reference is above the largest score */
	SLACK = 3
};

/* Of the keys of a tile, row i sees the first first + i * step. */
struct sight {
	ptrdiff_t first, step;
};

/* private functions of kernel */
/* So many numbers, padded to whole vectors. */
INLINE size_t padded_width(size_t d)
{
	return (d + LANES - 1) / LANES * LANES;
}

INLINE size_t at_most(size_t n, size_t most)
{
	return n < most ? n : most;
}

/* How the numbers of a tile lie: a (rows, depth) in any strides,
 * b (depth, vectors) and out (rows, vectors) in rows. */
struct tile {
	bool add;
	size_t depth;
	ptrdiff_t a_row, a_column;
	size_t b_step, out_step;
};

/* c += a b, the columns of a and the rows of b so far apart. */
INLINE void sum_tile(const int rows, const int vectors,
		const struct tile *t, const ptrdiff_t a_column,
		const size_t b_step, const real *a, const real *b,
		vector c[TILE_ROWS][TILE_VECTORS])
{
	const ptrdiff_t a_row = t->a_row;

	UNROLL_SOME
	for (size_t k = t->depth; k > 0; k--) {
		vector v[TILE_VECTORS];

		/* add the product of a column and a row */
		UNROLL
		for (int j = 0; j < vectors; j++)
			v[j] = load(b + j * LANES);
		UNROLL
		for (int i = 0; i < rows; i++) {
			vector x = every(a[i * a_row]);

			UNROLL
			for (int j = 0; j < vectors; j++)
				c[i][j] += x * v[j];
		}
		a += a_column;
		b += b_step;
	}
}

/* out = a b, or out + a b. */
INLINE void run_tile(const int rows, const int vectors,
		const struct tile *t, const ptrdiff_t a_column,
		const size_t b_step, const real *a, const real *b, real *out)
{
	vector c[TILE_ROWS][TILE_VECTORS];

	/* begin with zero, or with what is there */
	UNROLL
	for (int i = 0; i < rows; i++)
		UNROLL
		for (int j = 0; j < vectors; j++)
			c[i][j] = t->add ? load(out + (size_t)i * t->out_step +
					j * LANES) : (vector){ 0 };
	if (t->depth > KEYS)
		/* ask for the place of the next tile */
		UNROLL
		for (int i = 0; i < rows; i++)
			UNROLL
			for (int j = 0; j < vectors; j++)
				__builtin_prefetch(out + (size_t)(TILE_ROWS + i) *
						t->out_step + j * LANES, 1);
	sum_tile(rows, vectors, t, a_column, b_step, a, b, c);
	/* store the tile */
	UNROLL
	for (int i = 0; i < rows; i++)
		UNROLL
		for (int j = 0; j < vectors; j++)
			store(out + (size_t)i * t->out_step + j * LANES, c[i][j]);
}

#define TILE(rows, vectors) \
	static __attribute__((noinline)) void \
	tile_##rows##_##vectors(const struct tile *t, \
			const real *a, const real *b, real *out) \
	{ \
		if (t->a_column == 1 && t->b_step == (vectors) * LANES) \
			run_tile(rows, vectors, t, 1, (vectors) * LANES, \
					a, b, out); \
		else \
			run_tile(rows, vectors, t, t->a_column, t->b_step, \
					a, b, out); \
	}
#define TILES(v) TILE(1, v) TILE(2, v) TILE(3, v) \
	TILE(4, v) TILE(5, v) TILE(6, v)
#define NAMES(v) { tile_1_##v, tile_2_##v, tile_3_##v, \
	tile_4_##v, tile_5_##v, tile_6_##v }

TILES(1)
TILES(2)
#if TILE_VECTORS == 4
TILES(3)
TILES(4)
#endif

static void (*const tiles[TILE_VECTORS][TILE_ROWS])(
		const struct tile *, const real *, const real *, real *) = {
	NAMES(1), NAMES(2),
#if TILE_VECTORS == 4
	NAMES(3), NAMES(4)
#endif
};

/* The same for any number of rows, and columns padded to whole
 * vectors: the last two tiles side by side are of almost one width. */
static void run_tiles(size_t rows, size_t columns,
		const struct tile *t, const real *a, const real *b, real *out)
{
	size_t left = columns / LANES;

	while (left > 0) {
		size_t vectors = left <= TILE_VECTORS ? left :
				left < 2 * TILE_VECTORS ? (left + 1) / 2 : TILE_VECTORS;

		for (size_t i = 0; i < rows; i += TILE_ROWS)
			tiles[vectors - 1][at_most(rows - i, TILE_ROWS) - 1](t,
					a + (ptrdiff_t)i * t->a_row, b,
					out + i * t->out_step);
		left -= vectors;
		b += vectors * LANES;
		out += vectors * LANES;
	}
}

#if VECTOR_BYTES / 4 == 16 && defined MH_SINGLE
#define ZIP(a, b, h) __builtin_shufflevector(a, b, (h) + 0, (h) + 16, \
	(h) + 1, (h) + 17, (h) + 2, (h) + 18, (h) + 3, (h) + 19, \
	(h) + 4, (h) + 20, (h) + 5, (h) + 21, (h) + 6, (h) + 22, \
	(h) + 7, (h) + 23)
#elif VECTOR_BYTES == 64 || (VECTOR_BYTES == 32 && defined MH_SINGLE)
#define ZIP(a, b, h) __builtin_shufflevector(a, b, (h) + 0, (h) + 8, \
	(h) + 1, (h) + 9, (h) + 2, (h) + 10, (h) + 3, (h) + 11)
#elif VECTOR_BYTES == 32 || defined MH_SINGLE
#define ZIP(a, b, h) __builtin_shufflevector(a, b, (h) + 0, (h) + 4, \
	(h) + 1, (h) + 5)
#else
#define ZIP(a, b, h) __builtin_shufflevector(a, b, (h) + 0, (h) + 2)
#endif

/* to = from^T times factor, a square of LANES by LANES. */
static void turn_square(const real *from, ptrdiff_t from_step,
		real factor, real *to, size_t to_step)
{
	vector a[LANES], b[LANES];

	UNROLL
	for (int i = 0; i < LANES; i++)
		a[i] = load(from + i * from_step) * factor;
	UNROLL
	for (int n = 1; n < LANES; n *= 2) {
		/* zip the first half with the second */
		UNROLL
		for (int i = 0; i < LANES / 2; i++) {
			b[2 * i] = ZIP(a[i], a[i + LANES / 2], 0);
			b[2 * i + 1] = ZIP(a[i], a[i + LANES / 2], LANES / 2);
		}
		UNROLL
		for (int i = 0; i < LANES; i++)
			a[i] = b[i];
	}
	UNROLL
	for (int i = 0; i < LANES; i++)
		store(to + (size_t)i * to_step, a[i]);
}

/* One row: columns numbers times factor, then zeros up to step. */
static void lay_row(size_t columns, struct grid from, real factor,
		real *to, size_t step)
{
	size_t j = 0;

	if (from.column == 1)
		for (; j + LANES <= columns; j += LANES)
			store(to + j, load(from.data + j) * factor);
	for (; j < columns; j++)
		to[j] = from.data[(ptrdiff_t)j * from.column] * factor;
	for (; j < step; j++)
		to[j] = 0;
}

/* Lay a matrix out in rows of the given step, times factor; what is
 * beyond its columns is zero, up to width. */
static void lay_within(size_t rows, size_t columns, struct grid from,
		real factor, real *to, size_t step, size_t width)
{
	size_t i = 0;

	if (from.row == 1 && from.column != 1) {
		/* turn as many columns as make squares */
		const size_t square = rows / LANES * LANES;
		size_t j = 0;

		for (; j + LANES <= columns; j += LANES)
			for (i = 0; i < square; i += LANES)
				turn_square(from.data + i + (ptrdiff_t)j * from.column,
						from.column, factor, to + i * step + j, step);
		/* lay the columns that are left */
		for (i = 0; i < square; i++)
			if (j < width)
				lay_row(columns - j, (struct grid){ from.data + i +
						(ptrdiff_t)j * from.column, 1, from.column },
						factor, to + i * step + j, width - j);
	}
	for (; i < rows; i++)
		lay_row(columns, (struct grid){ from.data +
				(ptrdiff_t)i * from.row, from.row, from.column },
				factor, to + i * step, width);
}

/* The same, up to the next row. */
static void lay(size_t rows, size_t columns, struct grid from,
		real factor, real *to, size_t step)
{
	lay_within(rows, columns, from, factor, to, step, step);
}

/* Lay WIDE columns at most, one panel behind the other. */
static void lay_panels(size_t depth, size_t columns, struct grid b,
		real *panels)
{
	for (size_t j = 0; j < columns; j += PANEL) {
		const size_t n = at_most(columns - j, PANEL);

		lay(depth, n, b, 1, panels + j * depth, padded_width(n));
		b.data += PANEL * b.column;
	}
}

/* A product of NEAR rows at most and one panel (depth, n), whose rows
 * are padded to whole vectors; the rows of a lie side by side. */
static void multiply_panel(const struct product *p, size_t depth,
		const real *panel)
{
	const size_t padded = padded_width(p->n);
	struct tile t = { p->add, depth, p->a.row, 1, padded, p->step };

	if (p->n == padded && !p->turned)
		run_tiles(p->m, p->n, &t, p->a.data, panel, p->out);
	else
		/* go by way of a tile in memory */
		{
			real square[NEAR * PANEL] ALIGNED;
			const struct grid place = p->turned ?
					(struct grid){ p->out, 1, (ptrdiff_t)p->step } :
					(struct grid){ p->out, (ptrdiff_t)p->step, 1 };

			if (p->add)
				lay(p->m, p->n, place, 1, square, PANEL);
			t.out_step = PANEL;
			run_tiles(p->m, padded, &t, p->a.data, panel, square);
			if (p->turned)
				lay_within(p->n, p->m, (struct grid){ square, 1, PANEL }, 1,
						p->out, p->step, p->m);
			else
				lay_within(p->m, p->n, (struct grid){ square, PANEL, 1 }, 1,
						p->out, p->step, p->n);
		}
}

/* A product of NEAR rows at most and of all panels laid out. */
static void multiply_near(struct product p, size_t depth,
		const real *panels)
{
	const size_t across = p.turned ? p.step : 1, n = p.n;

	for (size_t j = 0; j < n; j += PANEL) {
		p.n = at_most(n - j, PANEL);
		multiply_panel(&p, depth, panels + j * depth);
		p.out += PANEL * across;
	}
}

/* A product, a stretch of k after the other, and some panels after the
 * others. Rows of a that are not side by side are laid out, and there
 * must not be more than KERNEL_ROWS of them. */
static void multiply_panels(const struct product *p, real *room)
{
	real *panels = room, *laid = room + KERNEL_DEPTH * WIDE;

	for (size_t k = 0; k < p->k; k += KERNEL_DEPTH) {
		const size_t depth = at_most(p->k - k, KERNEL_DEPTH);
		struct grid a = p->a, b = p->b;

		a.data += (ptrdiff_t)k * a.column;
		b.data += (ptrdiff_t)k * b.row;
		/* lay the rows of a, unless they lie well */
		if (a.column != 1) {
			lay(p->m, depth, a, 1, laid, depth);
			a = (struct grid){ laid, (ptrdiff_t)depth, 1 };
		}
		/* multiply by some panels after the others */
		for (size_t j = 0; j < p->n; j += WIDE) {
			struct product part = *p;

			part.n = at_most(p->n - j, WIDE);
			lay_panels(depth, part.n, b, panels);
			b.data += WIDE * b.column;
			for (size_t i = 0; i < p->m; i += NEAR) {
				part.m = at_most(p->m - i, NEAR);
				part.a = a;
				part.a.data += (ptrdiff_t)i * a.row;
				part.add = p->add || k > 0;
				part.out = p->out + (p->turned ? j * p->step + i :
						i * p->step + j);
				multiply_near(part, depth, panels);
			}
		}
	}
}

/* e^t for t <= 0 in every lane; 0 below LOWEST, NaN of NaN. */
INLINE vector exponentials(vector t)
{
	const vector one = every(1);
	vector shifted = t * LOG2E + ROUNDER;
	vector f = t * LOG2E - (shifted - ROUNDER);
	vector sum = every(powers[0]), scale;

	UNROLL
	for (size_t i = 1; i < sizeof powers / sizeof powers[0]; i++)
		sum = sum * f + powers[i];
	scale = (vector)(((vector_words)shifted << FRACTION_BITS) +
			(vector_words)one);
	return (vector)((vector_bits)(sum * scale) & ~(t < every(LOWEST)));
}

/* Up to LANES numbers, and the filler after them. */
INLINE vector load_some(const real *from, size_t n, real filler)
{
	vector v = every(filler);

	for (size_t i = 0; i < n && i < LANES; i++)
		v[i] = from[i];
	return v;
}

INLINE void store_some(real *to, size_t n, vector v)
{
	real lanes[LANES];

	memcpy(lanes, &v, sizeof lanes);
	memcpy(to, lanes, n * sizeof(real));
}

/* Set what the row does not see. */
INLINE void hide_row(real *row, size_t seen, size_t length, real value)
{
	size_t j = seen;

	for (; j + LANES <= length; j += LANES)
		store(row + j, every(value));
	store_some(row + j, length - j, every(value));
}

/* The largest number of a row; -INFINITY if all are NaN. */
INLINE real largest(const real *row, size_t seen)
{
	const size_t whole_ones = seen / LANES * LANES;
	vector most = load_some(row + whole_ones, seen - whole_ones,
			-(real)INFINITY), v;
	real lanes[LANES], top = -(real)INFINITY;

	for (size_t j = 0; j < whole_ones; j += LANES) {
		v = load(row + j);
		most = choose(v > most, v, most);
	}
	store(lanes, most);
	for (int i = 0; i < LANES; i++)
		top = lanes[i] > top ? lanes[i] : top;
	return top;
}

/* The maximum goes before the scale: a difference of equal scores is
 * zero, however large they are. */
static void weigh_row(real *row, size_t seen, size_t length, real scale)
{
	const size_t whole_ones = seen / LANES * LANES;
	const real top = largest(row, seen);
	vector w = exponentials((load_some(row + whole_ones,
			seen - whole_ones, -(real)INFINITY) - top) * scale);
	vector sum = w;
	real share;

	for (size_t j = 0; j < whole_ones; j += LANES) {
		vector e = exponentials((load(row + j) - top) * scale);

		sum += e;
		store(row + j, e);
	}
	share = total(sum);
	for (size_t j = 0; j < whole_ones; j += LANES)
		store(row + j, load(row + j) / share);
	store_some(row + whole_ones, seen - whole_ones, w / share);
	hide_row(row, seen, length, 0 * row[0]);
}

static void unweigh_row(const real *weights, real *row, size_t seen,
		size_t length, real scale)
{
	const size_t whole_ones = seen / LANES * LANES;
	const vector w = load_some(weights + whole_ones, seen - whole_ones,
			0);
	const vector g = load_some(row + whole_ones, seen - whole_ones, 0);
	vector sum = w * g;
	real mean;

	for (size_t j = 0; j < whole_ones; j += LANES)
		sum += load(weights + j) * load(row + j);
	mean = total(sum);
	for (size_t j = 0; j < whole_ones; j += LANES)
		store(row + j, load(weights + j) * (load(row + j) - mean) *
				scale);
	store_some(row + whole_ones, seen - whole_ones,
			w * (g - mean) * scale);
	hide_row(row, seen, length, 0);
}

/* How many keys of the tile that begins at key does row see, and how
 * many more each row after it? */
INLINE struct sight sight_of(const struct strip *s, size_t row,
		size_t key)
{
	size_t seen = s->causal ? row + 1 : s->length;

	return (struct sight){ (ptrdiff_t)seen - (ptrdiff_t)key,
			s->causal };
}

/* The same number, but neither less than 0 nor more than most. */
INLINE size_t within(ptrdiff_t n, size_t most)
{
	return n <= 0 ? 0 : (size_t)n < most ? (size_t)n : most;
}

/* The columns of a tile that some row sees, in whole vectors. */
INLINE size_t columns_seen(size_t rows, struct sight s)
{
	return padded_width(within(s.first +
			s.step * ((ptrdiff_t)rows - 1), KEYS));
}

/* Overwrite the scores (rows, KEYS) of keys that are not seen. */
static void hide(size_t rows, size_t columns, struct sight s,
		real *scores)
{
	vector lane;

	for (int i = 0; i < LANES; i++)
		lane[i] = (real)i;
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < columns; j += LANES) {
			real *at = scores + i * KEYS + j;
			real last = (real)(s.first + s.step * (ptrdiff_t)i - 1 -
					(ptrdiff_t)j);

			store(at, choose(lane > every(last),
					every(-(real)INFINITY), load(at)));
		}
}

/* weights (rows, KEYS) = e^(scores - maximum), and add them to the
 * sums. Unless sure, give up if a score is not below its maximum. */
static bool weigh(size_t rows, size_t columns, const real *scores,
		const real *maximum, vector *sums, real *weights, bool sure)
{
	vector_bits below = ~(vector_bits){ 0 };
	vector sum[TILE_ROWS];

	for (size_t i = 0; i < rows; i++) {
		vector row = { 0 };

		for (size_t j = 0; j < columns; j += LANES) {
			vector t = load(scores + i * KEYS + j) - maximum[i];
			vector w = exponentials(t);

			below &= (vector_bits)t;
			row += w;
			store(weights + i * KEYS + j, w);
		}
		sum[i] = row;
	}
	if (!sure && any(below >= 0))
		return false;
	for (size_t i = 0; i < rows; i++)
		sums[i] += sum[i];
	return true;
}

/* What has been found for a group of rows so far. */
struct found {
	real *maximum;
	vector *sums;
	real *out;                      /* rows of width */
	size_t width;
};

/* Raise the maximum of every row that has a score above it, and rescale
 * what was summed before. */
static void lift(size_t rows, size_t columns, const real *scores,
		struct found f)
{
	for (size_t i = 0; i < rows; i++) {
		real top = f.maximum[i], factor;

		/* look for a score above the maximum */
		vector most = every(top);
		real lanes[LANES];

		for (size_t j = 0; j < columns; j += LANES) {
			vector score = load(scores + i * KEYS + j);

			most = choose(score > most, score, most);
		}
		store(lanes, most);
		for (int j = 0; j < LANES; j++)
			top = lanes[j] > top ? lanes[j] : top;
		if (!(top > f.maximum[i]))
			continue;
		top = ceil(top) + SLACK;
		factor = exp(f.maximum[i] - top);
		f.maximum[i] = top;
		f.sums[i] *= factor;
		for (size_t j = 0; j < f.width; j += LANES)
			store(f.out + i * f.width + j,
					load(f.out + i * f.width + j) * factor);
	}
}

/* out (rows, width) += weights (rows, KEYS) from, of which every row
 * reads the keys it sees. */
static void mix_rows(size_t rows, struct sight s, const real *weights,
		const real *from, real *out, size_t width)
{
	const size_t common = within(s.first, KEYS);
	struct tile t = { true, common, KEYS, 1, width, width };

	run_tiles(rows, width, &t, weights, from, out);
	for (size_t i = 1; i < rows && s.step; i++) {
		size_t seen = within(s.first + (ptrdiff_t)i, KEYS);

		t.depth = seen - common;
		if (t.depth > 0)
			run_tiles(1, width, &t, weights + i * KEYS + common,
					from + common * width, out + i * width);
	}
}

/* c = a b, a tile of scores: a (TILE_ROWS, depth), and b the columns
 * of a tile of keys. */
INLINE void score_tile(const struct tile *t, const real *a,
		const real *b, vector c[TILE_ROWS][TILE_VECTORS])
{
	UNROLL
	for (int i = 0; i < TILE_ROWS; i++)
		UNROLL
		for (int j = 0; j < TILE_VECTORS; j++)
			c[i][j] = (vector){ 0 };
	sum_tile(TILE_ROWS, TILE_VECTORS, t, 1, KEYS, a, b, c);
}

/* Score and weigh TILE_ROWS rows that see all of a tile of keys: the
 * same as run_tiles and weigh, which is not sure. */
static bool weigh_whole(const struct tile *t, const real *queries,
		const real *keys, const real *maximum, vector *sums,
		real *weights)
{
	vector_bits below = ~(vector_bits){ 0 };
	vector sum[TILE_ROWS] = { { 0 } };

	for (size_t key = 0; key < KEYS; key += PANEL) {
		vector c[TILE_ROWS][TILE_VECTORS];

		score_tile(t, queries, keys + key, c);
		/* weigh the tile in its registers */
		UNROLL
		for (int i = 0; i < TILE_ROWS; i++)
			UNROLL
			for (int j = 0; j < TILE_VECTORS; j++) {
				vector score = c[i][j] - maximum[i];
				vector w = exponentials(score);

				below &= (vector_bits)score;
				sum[i] += w;
				store(weights + i * KEYS + key + j * LANES, w);
			}
	}
	if (any(below >= 0))
		return false;
	for (int i = 0; i < TILE_ROWS; i++)
		sums[i] += sum[i];
	return true;
}

/* One group of rows meets one tile of keys. */
static void meet(size_t rows, struct sight s, const real *queries,
		size_t d, const real *keys, const real *values,
		struct found f)
{
	real weights[TILE_ROWS * KEYS] ALIGNED;
	const bool whole_tile = rows == TILE_ROWS && s.first >= KEYS &&
			f.maximum[0] != -REAL_MAX;
	const struct tile t = { false, d, (ptrdiff_t)d, 1, KEYS, KEYS };

	if (columns_seen(rows, s) == 0)
		return;
	if (!whole_tile || !weigh_whole(&t, queries, keys, f.maximum,
			f.sums, weights)) {
		/* weigh by way of scores in memory */
		real scores[TILE_ROWS * KEYS] ALIGNED;
		const size_t columns = columns_seen(rows, s);

		run_tiles(rows, columns, &t, queries, keys, scores);
		if (s.first < KEYS)
			hide(rows, columns, s, scores);
		if (f.maximum[0] == -REAL_MAX || !weigh(rows, columns, scores,
				f.maximum, f.sums, weights, false)) {
			lift(rows, columns, scores, f);
			weigh(rows, columns, scores, f.maximum, f.sums, weights, true);
		}
	}
	mix_rows(rows, s, weights, values, f.out, f.width);
}

/* Cut count numbers off a room; the rest begins at a whole vector. */
static real *cut(real **room, size_t count)
{
	real *part = *room;

	*room += (count + KERNEL_ALIGN - 1) / KERNEL_ALIGN * KERNEL_ALIGN;
	return part;
}

INLINE struct grid grid_of(struct rows rows, size_t first)
{
	return (struct grid){ rows.data + first * rows.step,
			(ptrdiff_t)rows.step, 1 };
}

INLINE struct grid turned(struct grid g)
{
	return (struct grid){ g.data, g.column, g.row };
}


/* Lay the keys or values from key on in a tile of rows (KEYS, width);
 * what is beyond the last of them is zero. */
static void lay_rows(const struct strip *s, struct rows from,
		size_t key, real *to)
{
	const size_t width = padded_width(s->width);
	const size_t n = at_most(s->length - key, KEYS);

	lay(n, s->width, grid_of(from, key), 1, to, width);
	memset(to + n * width, 0, (KEYS - n) * width * sizeof(real));
}

/* Lay them turned, (d, KEYS). */
static void lay_columns(const struct strip *s, struct rows from,
		size_t key, real *to)
{
	lay(s->width, at_most(s->length - key, KEYS),
			turned(grid_of(from, key)), 1, to, KEYS);
}

/* Ask for a row of a strip, if there is such a row. */
INLINE void ask(const struct strip *s, struct rows rows, size_t i)
{
	if (i < s->length)
		for (size_t j = 0; j < s->width; j += 64 / sizeof(real))
			__builtin_prefetch(rows.data + i * rows.step + j);
}

static void attend_strip(const struct strip *s, real *room)
{
	const size_t T = s->length, d = s->width, width = padded_width(d);
	const size_t tiles_of_keys = (T + KEYS - 1) / KEYS;
	real *keys = cut(&room, tiles_of_keys * KEYS * d);
	real *values = cut(&room, tiles_of_keys * KEYS * width);
	real *queries = cut(&room, QUERIES * d);
	real *out = cut(&room, QUERIES * width);
	size_t laid = 0;                /* keys and values */

	for (size_t row = 0; row < T; row += QUERIES) {
		vector sums[QUERIES];
		const size_t n = at_most(T - row, QUERIES);

		/* begin a tile of queries */
		lay(n, d, grid_of(s->q, row), 1 / sqrt((real)d), queries, d);
		memset(out, 0, n * width * sizeof(real));
		for (size_t i = 0; i < n; i++) {
			s->maximum[row + i] = -REAL_MAX;
			sums[i] = (vector){ 0 };
		}
		/* let it meet all tiles of keys that it can see */
		const size_t end = s->causal ? row + n : T;

		for (size_t key = 0; key < end; key += KEYS) {
			if (key == laid) {
				lay_columns(s, s->k, key, keys + key * d);
				lay_rows(s, s->v, key, values + key * width);
				laid += KEYS;
			}
			for (size_t i = 0; i < n; i += TILE_ROWS) {
				struct found f = { s->maximum + row + i, sums + i,
						out + i * width, width };

				/* ask for rows that will be needed soon */
				const size_t round = key / KEYS, left = (end - 1 - key) / KEYS;

				if (round < TILE_ROWS) {
					ask(s, s->q, row + QUERIES + i + round);
					ask(s, s->k, row + QUERIES + i + round);
					ask(s, s->v, row + QUERIES + i + round);
				}
				if (left < TILE_ROWS)
					ask(s, s->out, row + i + left);
				meet(at_most(n - i, TILE_ROWS), sight_of(s, row + i, key),
						queries + i * d, d, keys + key * d,
						values + key * width, f);
			}
		}
		/* divide by the sums */
		for (size_t i = 0; i < n; i++) {
			real sum = total(sums[i]);

			s->sum[row + i] = sum;
			for (size_t j = 0; j < width; j += LANES)
				store(out + i * width + j, load(out + i * width + j) / sum);
			lay_row(d, (struct grid){ out + i * width, 0, 1 }, 1,
					s->out.data + (row + i) * s->out.step, d);
		}
	}
}

/* Rows of a strip that the way back needs again and again. */
struct laid {
	size_t width;
	real *queries, *dout, *dqueries;        /* (T, width) */
	real *mean, *share;                     /* (T) */
	real *keys, *values;                    /* (d, KEYS) */
	real *key_rows;                         /* (KEYS, width) */
	real *dkeys, *dvalues;                  /* (KEYS, width) */
	real *weights, *slopes;                 /* (QUERIES, KEYS) */
};

static struct laid lay_strip(const struct strip *s, real *room)
{
	const size_t T = s->length, d = s->width, width = padded_width(d);
	struct laid l = { .width = width };

	l.queries = cut(&room, T * width);
	l.dout = cut(&room, T * width);
	l.dqueries = cut(&room, T * width);
	l.mean = cut(&room, T);
	l.share = cut(&room, T);
	l.keys = cut(&room, d * KEYS);
	l.values = cut(&room, d * KEYS);
	l.key_rows = cut(&room, KEYS * width);
	l.dkeys = cut(&room, KEYS * width);
	l.dvalues = cut(&room, KEYS * width);
	l.weights = cut(&room, QUERIES * KEYS);
	l.slopes = cut(&room, QUERIES * KEYS);
	return l;
}

/* Lay n rows, and find dout . out and 1/sum of each. */
static void prepare(const struct strip *s, struct laid l, size_t row,
		size_t n)
{
	const size_t d = s->width, begin = row * l.width;
	real *out = l.dqueries + begin; /* until it is needed */

	lay(n, d, grid_of(s->q, row), 1 / sqrt((real)d), l.queries + begin,
			l.width);
	lay(n, d, grid_of(s->dout, row), 1, l.dout + begin, l.width);
	lay(n, d, grid_of(s->out, row), 1, out, l.width);
	for (size_t i = 0; i < n; i++) {
		vector sum = { 0 };

		for (size_t j = i * l.width; j < (i + 1) * l.width; j += LANES)
			sum += load(out + j) * load(l.dout + begin + j);
		l.mean[row + i] = total(sum);
		l.share[row + i] = 1 / s->sum[row + i];
	}
	memset(out, 0, n * l.width * sizeof(real));
}

/* Weigh a group of rows again, and find the slopes of its scores. */
static void weigh_again(size_t rows, size_t columns, struct laid l,
		size_t d, size_t row, const real *maximum, real *weights,
		real *slopes)
{
	const struct tile t = { false, d, (ptrdiff_t)l.width, 1, KEYS,
			KEYS };
	const real *queries = l.queries + row * l.width;
	const real *dout = l.dout + row * l.width;
	const real *mean = l.mean + row, *share = l.share + row;

	maximum += row;
	if (rows == TILE_ROWS && columns == KEYS) {
		/* weigh again in registers */
		for (size_t key = 0; key < KEYS; key += PANEL) {
			vector c[TILE_ROWS][TILE_VECTORS];

			score_tile(&t, queries, l.keys + key, c);
			UNROLL
			for (int i = 0; i < TILE_ROWS; i++)
				UNROLL
				for (int j = 0; j < TILE_VECTORS; j++)
					store(weights + i * KEYS + key + j * LANES,
							exponentials(c[i][j] - maximum[i]) * share[i]);
			score_tile(&t, dout, l.values + key, c);
			UNROLL
			for (int i = 0; i < TILE_ROWS; i++)
				UNROLL
				for (int j = 0; j < TILE_VECTORS; j++) {
					const size_t at = (size_t)i * KEYS + key +
							(size_t)j * LANES;

					store(slopes + at, load(weights + at) *
							(c[i][j] - mean[i]));
				}
		}
	} else {
		/* weigh again by way of memory */
		run_tiles(rows, columns, &t, queries, l.keys, weights);
		run_tiles(rows, columns, &t, dout, l.values, slopes);
		for (size_t i = 0; i < rows; i++)
			for (size_t j = 0; j < columns; j += LANES) {
				real *at = weights + i * KEYS + j;
				vector w = exponentials(load(at) - maximum[i]) * share[i];

				store(at, w);
				at = slopes + i * KEYS + j;
				store(at, w * (load(at) - mean[i]));
			}
	}
}

/* out (keys, width) += weights^T from, where from begins with a row
 * that sees the first s.first keys: of each key only the rows count
 * that see it. */
static void gather_rows(size_t rows, size_t keys, struct sight s,
		const real *weights, const real *from, real *out, size_t width)
{
	for (size_t j = 0; j < keys; j += TILE_ROWS) {
		const size_t n = at_most(keys - j, TILE_ROWS);

		/* find the rows that see all keys of the group */
		const size_t common = s.step ? within((ptrdiff_t)(j + n) - s.first,
				rows) : 0;
		struct tile t = { true, rows - common, 1, KEYS, width, width };

		run_tiles(n, width, &t, weights + common * KEYS + j,
				from + common * width, out + j * width);
		/* gather the rows that see some keys of the group */
		for (size_t k = j; k + 1 < j + n && common > 0; k++) {
			size_t first = within((ptrdiff_t)k + 1 - s.first, rows);

			t.depth = common - first;
			run_tiles(1, width, &t, weights + first * KEYS + k,
					from + first * width, out + k * width);
		}
	}
}

/* A tile of rows meets a tile of keys on the way back. */
static void meet_again(const struct strip *s, struct laid l,
		size_t row, size_t n, size_t key)
{
	const size_t keys = at_most(s->length - key, KEYS);

	for (size_t i = 0; i < n; i += TILE_ROWS) {
		struct sight sight = sight_of(s, row + i, key);
		real *slopes = l.slopes + i * KEYS;
		size_t rows = at_most(n - i, TILE_ROWS);

		/* ask for what will be laid out soon */
		const size_t left = (s->length - 1 - row) / QUERIES;

		for (size_t r = 0; key == 0 && r < TILE_ROWS; r++) {
			ask(s, s->q, row + QUERIES + i + r);
			ask(s, s->dout, row + QUERIES + i + r);
			ask(s, s->out, row + QUERIES + i + r);
		}
		if (left < 4) {
			ask(s, s->k, key + KEYS + i / TILE_ROWS * 4 + left);
			ask(s, s->v, key + KEYS + i / TILE_ROWS * 4 + left);
		}
		weigh_again(rows, columns_seen(rows, sight), l, s->width,
				row + i, s->maximum, l.weights + i * KEYS, slopes);
		mix_rows(rows, sight, slopes, l.key_rows,
				l.dqueries + (row + i) * l.width, l.width);
	}
	gather_rows(n, keys, sight_of(s, row, key), l.weights,
			l.dout + row * l.width, l.dvalues, l.width);
	gather_rows(n, keys, sight_of(s, row, key), l.slopes,
			l.queries + row * l.width, l.dkeys, l.width);
}

/* What was laid out goes back to where it belongs. */
static void unlay_rows(size_t rows, size_t d, const real *from,
		size_t width, real factor, struct rows to, size_t first)
{
	for (size_t i = 0; i < rows; i++)
		lay_row(d, (struct grid){ from + i * width, 0, 1 }, factor,
				to.data + (first + i) * to.step, d);
}

static void unattend_strip(const struct strip *s, real *room)
{
	const struct laid l = lay_strip(s, room);
	const size_t T = s->length, d = s->width;

	for (size_t key = 0; key < T; key += KEYS) {
		const size_t keys = at_most(T - key, KEYS);

		lay_columns(s, s->k, key, l.keys);
		lay_columns(s, s->v, key, l.values);
		lay_rows(s, s->k, key, l.key_rows);
		memset(l.dkeys, 0, KEYS * l.width * sizeof(real));
		memset(l.dvalues, 0, KEYS * l.width * sizeof(real));
		for (size_t row = s->causal ? key : 0; row < T;
				row += QUERIES) {
			const size_t n = at_most(T - row, QUERIES);

			if (key == 0)
				prepare(s, l, row, n);
			meet_again(s, l, row, n, key);
		}
		unlay_rows(keys, d, l.dkeys, l.width, 1, s->k, key);
		unlay_rows(keys, d, l.dvalues, l.width, 1, s->v, key);
	}
	unlay_rows(T, d, l.dqueries, l.width, 1 / sqrt((real)d), s->q, 0);
}

/* the kernel itself */
const struct kernel *KERNEL(void)
{
	static const struct kernel kernel = {
		PANEL, FEW, multiply_panels, attend_strip, unattend_strip,
		weigh_row, unweigh_row
	};

	return &kernel;
}
