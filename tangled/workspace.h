/* workspace.h: made from chapters/15-one-head.nw; edit it there. */
#ifndef MH_WORKSPACE_H
#define MH_WORKSPACE_H

#include "tensor.h"

struct block;

/* Memory for intermediates. One that is all zeros is empty and
 * ready. */
struct workspace {
	struct block *first, *current;
	size_t asked;           /* bytes lent at the moment */
	size_t peak;            /* the most that were lent at once */
	size_t held;            /* bytes got from the system */
	size_t limit;           /* hold at most so many; 0: no limit */
};

/* A state of a workspace, to which it can go back. */
struct workspace_mark {
	struct block *current;
	size_t used, asked;
};

/* prototypes of workspace */
/* Borrow a contiguous tensor; its elements are not set. MH_ESHAPE if
 * workspace, shape or t is NULL, MH_ESIZE if the shape overflows;
 * MH_EMEMORY if the limit or the system says no. */
enum status workspace_take(struct workspace *workspace, int rank,
		const size_t shape[], struct tensor *t,
		struct error *error);

/* Where to go back to. No workspace, NULL, has nothing to mark, to take
 * back or to free. */
struct workspace_mark workspace_mark(const struct workspace *workspace);

/* Take back all that was lent since the mark; the memory is kept. */
void workspace_release(struct workspace *workspace,
		struct workspace_mark mark);

/* Give the memory back to the system. The workspace is empty again, and
 * marks taken before mean nothing. */
void workspace_free(struct workspace *workspace);

#endif
