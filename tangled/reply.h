/* reply.h: made from chapters/72-check-yourself.nw; edit it there. */
#ifndef MH_REPLY_H
#define MH_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "error.h"

enum { REPLY_LINE = 400 };

/* prototypes of reply */
/* Print a prompt and read one line, without its end, into line, which
 * has REPLY_LINE characters. Where nobody types, the line is printed as
 * well, so that what is kept can be read. False at the end of the
 * input. */
bool reply_line(FILE *in, FILE *out, const char *prompt, char line[]);

/* Print a text with a question mark for whatever is not printable. */
void reply_print(FILE *out, const char *text);

/* Does the line hold nothing but blanks? Nothing but this word, in
 * small letters or large? Does it end the session, with q or quit? */
bool reply_empty(const char *line);
bool reply_is(const char *line, const char *word);
bool reply_stops(const char *line);

/* Print a text in lines of 72 columns at most, each behind so many
 * blanks, in the last of which, on the first line, stands lead. */
void reply_wrap(FILE *out, int indent, const char *lead,
		const char *text);

struct reply_number {
	char text[32];          /* as it was typed */
	double value;
	double half;            /* a unit of its last digit, or 0 */
};

/* Read the numbers of a line; there is room for so many. Returns how
 * many there are, which may be more than there is room for, or -1 if
 * something is no number; then text[0] holds its beginning. */
int reply_numbers(const char *line, struct reply_number numbers[],
		int room);

/* Put what a keyboard has in place of signs that only a page has, and
 * take the blanks around *, / and ^ away. */
void reply_plain(char line[]);

/* Read commas between digits in another way than as separators: those
 * of whole numbers set thousands apart and go, others become points. */
void reply_join(char line[], bool whole);

/* Is this number, rounded as it may be, the true one? Would it be, if
 * it might be rounded as much as one likes? */
bool reply_means(const struct reply_number *number, double truth);
bool reply_rounds(const struct reply_number *number, double truth);

#endif
