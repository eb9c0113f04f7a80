/* whole.h: made from chapters/90-record.nw; edit it there. */
#ifndef MH_WHOLE_H
#define MH_WHOLE_H

#include <stdio.h>

#include "error.h"

/* A file that appears whole or not at all. One that is all zeros is
 * none. */
struct whole {
	FILE *stream;           /* to write to */
	const char *path;       /* where it shall appear, as it was given */
	char goal[4096];        /* the same, where its links lead */
	char beside[4096 + 64]; /* where it is until then */
	int cause;              /* errno of a write that failed, if the
	                         * writer has noted it */
};

/* Begin a file that will appear at path, which must live as long. If a
 * link is there, what it leads to is written, be there a file yet or
 * not. A file that is replaced gives its permissions to the new one,
 * whose owner is the writer. MH_EFILE if the file cannot be made, or if
 * something else than a regular file is there. */
enum status whole_open(struct whole *whole, const char *path,
		struct error *error);

/* Put the file in its place, after the bytes have reached the disk; or
 * say why not (MH_EFILE), and then a file that was there before is
 * unchanged. The file is done with in any case. */
enum status whole_close(struct whole *whole, struct error *error);

/* Remove what was written so far, if anything. */
void whole_abandon(struct whole *whole);

/* From now on, tell a program which file is under way: changed is
 * called with its name when it has been made, while no signal can come
 * between, and with NULL when it is done with. For a program that
 * writes one file at a time. */
void whole_watch(void (*changed)(const char *beside));

#endif
