/* bench.h: made from chapters/60-speed.nw; edit it there. */
#ifndef MH_BENCH_H
#define MH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "error.h"

/* prototypes of bench */
/* Answer requests, a line each, until in ends or a request is "end":
 *
 *   paths                           their names
 *   about                           how many numbers a vector has, and
 *                                   the compiler
 *   fma THREADS                     operations a second
 *   read BYTES THREADS              bytes a second
 *   gemm N                          operations a second
 *   part PART T                     operations a second
 *   count PATH B T C H              operations of the projections, of
 *                                   the triangle, and bytes
 *   step PATH WAY B T C H REPEATS   seconds, bytes asked, bytes grown
 *   drop                            forget all layers
 *
 * WAY is forward or backward, which is both. PART is product, gradient,
 * or forward or backward of a head alone. An answer is "ok" and what
 * was asked for, or "no" and a sentence. All is in float. */
void bench_serve(FILE *in, FILE *out);

struct record;

/* Time every path but the bare loops on five shapes (two tiny ones if
 * quick), print a table, and record what was found, unless record is
 * NULL. Returns what the paths return. */
enum status bench_table(struct record *record, bool quick,
		struct error *error);

enum { SWEEP_LIST = 16 };

/* Which points to time; each list ends with a zero. */
struct sweep_times {
	size_t tokens[SWEEP_LIST + 1], heads[SWEEP_LIST + 1], width;
	const char *paths[SWEEP_LIST + 1];
};

/* Time all of them at B = 1, print a table, and record what was found,
 * unless record is NULL. Returns what storage_apart and the paths
 * return. */
enum status bench_sweep(const struct sweep_times *times,
		struct record *record, struct error *error);

#endif
