/* workspace.c: made from chapters/15-one-head.nw; edit it there. */
#include <stdlib.h>

#include "workspace.h"

enum { LINE = 64, SMALLEST_BLOCK = 1 << 16 };

struct block {
	struct block *next;
	size_t size, used;
	unsigned char *bytes;
};

/* private functions of workspace */
/* Append a block of at least so many bytes; NULL if there is no
 * memory. */
static struct block *add_block(struct workspace *workspace,
		size_t bytes)
{
	size_t size = workspace->held > SMALLEST_BLOCK ? workspace->held :
			SMALLEST_BLOCK;
	struct block *block = NULL, **end = &workspace->first;

	if (size < bytes)
		size = bytes;
	/* respect the limit of the workspace */
	if (workspace->limit) {
		size_t left = workspace->limit > workspace->held ?
				workspace->limit - workspace->held : 0;

		if (bytes > left)
			return NULL;
		if (size > left)
			size = left / LINE * LINE;
	}
	block = malloc(sizeof *block);
	if (!block)
		return NULL;
	*block = (struct block){ .size = size,
			.bytes = aligned_alloc(LINE, size) };
	if (!block->bytes) {
		free(block);
		return NULL;
	}
	while (*end)
		end = &(*end)->next;
	*end = block;
	workspace->held += size;
	return block;
}
/* functions of workspace */
enum status workspace_take(struct workspace *workspace, int rank,
		const size_t shape[], struct tensor *t,
		struct error *error)
{
	size_t count, bytes;
	struct block *block;

	if (!workspace)
		return REFUSE(error, MH_ESHAPE, "there is no workspace");
	if (!t || (!shape && rank > 0))
		return REFUSE(error, MH_ESHAPE, "there is no %s",
				t ? "shape" : "place for a tensor");
	if (rank < 0 || rank > TENSOR_AXES)
		return REFUSE(error, MH_ESHAPE, "a tensor has up to %d axes,"
				" got %d", TENSOR_AXES, rank);
	if (!tensor_count(rank, shape, &count) ||
			count > (PTRDIFF_MAX - LINE) / sizeof(real))
		return REFUSE(error, MH_ESIZE, "a tensor of shape %s is too"
				" large to address", shape_write(rank, shape).text);
	bytes = (count * sizeof(real) + LINE - 1) / LINE * LINE;
	/* find or add a block with room for the bytes */
	for (block = workspace->current; block; block = block->next)
		if (block->size - block->used >= bytes)
			break;
	if (!block)
		block = add_block(workspace, bytes);
	if (!block)
		return REFUSE(error, MH_EMEMORY, "no memory: the workspace holds"
				" %zu bytes and needs %zu more", workspace->held,
				bytes);
	*t = tensor_view((real *)(void *)(block->bytes + block->used), rank,
			shape);
	/* note that the bytes are lent */
	block->used += bytes;
	workspace->current = block;
	workspace->asked += bytes;
	if (workspace->asked > workspace->peak)
		workspace->peak = workspace->asked;
	return MH_OK;
}

struct workspace_mark workspace_mark(const struct workspace *workspace)
{
	struct block *current = workspace ? workspace->current : NULL;

	return (struct workspace_mark){
		current, current ? current->used : 0,
		workspace ? workspace->asked : 0
	};
}

void workspace_release(struct workspace *workspace,
		struct workspace_mark mark)
{
	struct block *block = mark.current;

	if (!workspace)
		return;
	if (block)
		block->used = mark.used;
	else
		block = workspace->first;
	workspace->current = block;
	workspace->asked = mark.asked;
	/* empty the blocks that came after */
	if (block && !mark.current)
		block->used = 0;
	while (block && block->next) {
		block = block->next;
		block->used = 0;
	}
}

void workspace_free(struct workspace *workspace)
{
	struct block *block = workspace ? workspace->first : NULL, *next;

	if (!workspace)
		return;
	for (; block; block = next) {
		next = block->next;
		free(block->bytes);
		free(block);
	}
	*workspace = (struct workspace){ .limit = workspace->limit };
}
