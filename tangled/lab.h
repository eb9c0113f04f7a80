/* lab.h: made from chapters/80-program.nw; edit it there. */
#ifndef MH_LAB_H
#define MH_LAB_H

#include <stdbool.h>
#include <stdio.h>

#include "error.h"

struct lab {
	FILE *out;
	struct error *error;
	bool verbose;                   /* say more than the tests check */
	size_t broken;                  /* statements that did not hold */
	const char *which[32];          /* the first of them */
};

/* Run every part, printing to lab->out. Returns a status other than
 * MH_OK if a part could not be run; lab->broken counts what was not
 * true. */
enum status lab_run(struct lab *lab);

/* Begin part number, with an empty line between parts. */
void lab_part(struct lab *lab, int number, const char *title);

/* State something that must hold; the end of the lab names what did
 * not. The text must live as long as the lab. */
void lab_expect(struct lab *lab, bool holds, const char *what);

#endif
