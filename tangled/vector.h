/* vector.h: made from chapters/57-tiles.nw; edit it there. */
#ifndef MH_VECTOR_H
#define MH_VECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "real.h"

/* choose a width for the vectors, unless that was done */
#ifndef VECTOR_BYTES
#if defined __AVX512F__
#define VECTOR_BYTES 64
#elif defined __AVX2__
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#endif
/* types of vector */
#ifdef MH_SINGLE
typedef int32_t whole;
typedef uint32_t whole_bits;
#else
typedef int64_t whole;
typedef uint64_t whole_bits;
#endif

#define VECTOR __attribute__((vector_size(VECTOR_BYTES)))
#define ANYWHERE aligned(sizeof(real)), may_alias

typedef real vector VECTOR;
typedef whole vector_bits VECTOR;       /* what comparisons give */
typedef whole_bits vector_words VECTOR; /* what may overflow */
typedef real vector_anywhere VECTOR __attribute__((ANYWHERE));

enum { LANES = VECTOR_BYTES / sizeof(real) };

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#define UNROLL_SOME _Pragma("clang loop unroll_count(4)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#define UNROLL_SOME _Pragma("GCC unroll 4")
#endif

#define ALIGNED __attribute__((aligned(VECTOR_BYTES)))

/* Of 16 registers 12 hold a tile, of 32 registers 24. */
#if VECTOR_BYTES == 64 || defined __aarch64__
#define TILE_VECTORS 4
#else
#define TILE_VECTORS 2
#endif

enum { TILE_ROWS = 6, PANEL = LANES * TILE_VECTORS };
/* functions of vector */
INLINE vector load(const real *from)
{
	return (vector)*(const vector_anywhere *)from;
}

INLINE void store(real *to, vector v)
{
	*(vector_anywhere *)to = (vector_anywhere)v;
}

/* The same number in every lane. */
INLINE vector every(real x)
{
	return x - (vector){ 0 };
}

/* From a where the bits are set, from b where they are not. */
INLINE vector choose(vector_bits which, vector a, vector b)
{
	return (vector)((which & (vector_bits)a) |
			(~which & (vector_bits)b));
}

/* Is a bit set in any lane? */
INLINE bool any(vector_bits bits)
{
	uint64_t words[VECTOR_BYTES / 8], found = 0;

	memcpy(words, &bits, sizeof words);
	UNROLL
	for (int i = 0; i < VECTOR_BYTES / 8; i++)
		found |= words[i];
	return found != 0;
}

/* The sum of all lanes, from the first to the last. */
INLINE real total(vector v)
{
	real lanes[LANES], sum = 0;

	memcpy(lanes, &v, sizeof lanes);
	for (int i = 0; i < LANES; i++)
		sum += lanes[i];
	return sum;
}

#endif
