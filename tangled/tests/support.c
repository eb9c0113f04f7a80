/* tests/support.c: made from chapters/10-tensors.nw; edit it there. */
#include "support.h"

struct tensor counted(real *memory, int rank, const size_t shape[])
{
	size_t count = 0;

	ck_assert(tensor_count(rank, shape, &count));
	for (size_t i = 0; i < count; i++)
		memory[i] = (real)i;
	return tensor_view(memory, rank, shape);
}

struct tensor noise(real *memory, int rank, const size_t shape[],
		uint64_t seed)
{
	struct random random = { seed };
	size_t count = 0;

	ck_assert(tensor_count(rank, shape, &count));
	for (size_t i = 0; i < count; i++)
		memory[i] = random_uniform(&random, -1, 1);
	return tensor_view(memory, rank, shape);
}
