/* whole.h: made from chapters/90-record.nw; edit it there. */
#ifndef MH_WHOLE_H
#define MH_WHOLE_H

#include <stdio.h>

#include "error.h"

/* A file that appears whole or not at all. One that is all zeros is
 * none. */
struct whole {
	FILE *stream;           /* to write to */
	const char *path;       /* where it shall appear */
	char *beside;           /* where it is until then */
	int cause;              /* errno of a write that failed, if the
	                         * writer has noted it */
};

/* Begin a file that will appear at path, which must live as long.
 * MH_EFILE if it cannot be made, or if something else than a regular
 * file is there; MH_EMEMORY. */
enum status whole_open(struct whole *whole, const char *path,
		struct error *error);

/* Put the file in its place, after the bytes have reached the disk; or
 * say why not (MH_EFILE), and then a file that was there before is
 * unchanged. The file is done with in any case. */
enum status whole_close(struct whole *whole, struct error *error);

/* Remove what was written so far, if anything. */
void whole_abandon(struct whole *whole);

#endif
