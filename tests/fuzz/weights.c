/* Bytes as a safetensors file: whatever they are, the reader refuses them in
 * one sentence or believes them, and what it believes has the shape of a file
 * that obeys the rules, is read, written, and read again with equal bits. A
 * layer that takes such a file takes all of it or nothing.
 *
 * Compiled twice, for double and for float; every input goes to both. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "weights.h"

enum { NUMBERS = 4096, TENSORS = 64 };

static char again[480];                  /* the path of the second file */

/* The numbers that an entry claims to hold, if they are ours to read. */
static bool readable(const struct weights_entry *e, size_t *count)
{
	return strcmp(e->type, sizeof(real) == 4 ? "F32" : "F64") == 0 &&
			e->rank <= TENSOR_AXES &&
			tensor_count((int)e->rank, e->shape, count);
}

/* What weights_open has promised of the file; how many data bytes it has. */
static uint64_t inspect(const struct weights *w)
{
	uint64_t total = 0;

	for (size_t i = 0; i < weights_count(w); i++) {
		const struct weights_entry *e = weights_nth(w, i);

		MUST(e->begin <= e->end);
		MUST(weights_find(w, e->name) == e);
		MUST(i == 0 || strcmp(weights_nth(w, i - 1)->name, e->name) < 0);
		MUST(strlen(weights_shape(e).text) < sizeof weights_shape(e).text);
		total += e->end - e->begin;
	}
	weights_metadata(w, "format");
	return total;
}

/* Read all that can be read, write it, and read that. */
static void there_and_back(const struct weights *w)
{
	static real first[NUMBERS], second[NUMBERS];
	struct weights_tensor all[TENSORS];
	struct weights *copy;
	size_t used = 0, count = 0, n;

	for (size_t i = 0; i < weights_count(w) && count < TENSORS; i++) {
		const struct weights_entry *e = weights_nth(w, i);

		if (!readable(e, &n) || n > NUMBERS - used)
			continue;
		all[count] = (struct weights_tensor){ e->name,
				tensor_view(first + used, (int)e->rank, e->shape) };
		MUST(weights_read(w, e->name, all[count++].tensor, NULL) == MH_OK);
		used += n;
	}
	MUST(weights_write(again, all, count, NULL) == MH_OK);
	MUST(weights_open(again, &copy, NULL) == MH_OK);
	MUST(weights_count(copy) == count);
	for (size_t i = 0; i < count; i++) {
		struct tensor t = all[i].tensor;

		t.data = second + (t.data - first);
		MUST(weights_read(copy, all[i].name, t, NULL) == MH_OK);
	}
	MUST(memcmp(first, second, used * sizeof(real)) == 0);
	weights_close(copy);
}

/* A layer of width 4 loads the file, or stays what it was. */
static void load(const struct weights *w, const char *prefix)
{
	static struct layer *layer;
	static real before[4 * 4 * 4];
	struct error error = { 0 };
	enum status status;

	if (!layer)
		MUST(layer_create(4, 2, &layer, NULL) == MH_OK);
	layer_randomize(layer, 1);
	memcpy(before, layer->memory, sizeof before);
	status = registry_load(&layer->registry, w, prefix, &error);
	MUST(status == MH_OK || status == MH_EFORMAT);
	if (status) {
		MUST(memcmp(layer->memory, before, sizeof before) == 0);
		MUST(*error.message && !strchr(error.message, '\n'));
	}
}

int FUZZ(const uint8_t *bytes, size_t size)
{
	static int file = -1;
	static char path[64];
	struct error error = { 0 };
	struct weights *w;
	enum status status;

	if (file < 0) {
		file = memfd_create("fuzz", 0);
		MUST(file >= 0);
		snprintf(path, sizeof path, "/proc/self/fd/%d", file);
		snprintf(again, sizeof again, "%.400s/fuzz-%ld-%zu",
				getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
				(long)getpid(), sizeof(real));
	}
	MUST(ftruncate(file, 0) == 0);
	MUST(pwrite(file, bytes, size, 0) == (ssize_t)size);
	status = weights_open(path, &w, &error);
	MUST(status == MH_OK || status == MH_EFORMAT);
	MUST((status == MH_OK) == (w != NULL));
	if (status) {
		MUST(*error.message && !strchr(error.message, '\n'));
		return 0;
	}
	MUST(inspect(w) <= size);
	there_and_back(w);
	remove(again);
	load(w, "");
	load(w, "block.");
	weights_close(w);
	return 0;
}
