/* weights.c: made from chapters/47-files.nw; edit it there. */
#define _DEFAULT_SOURCE 1
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "weights.h"
#include "whole.h"

/* private types of weights */
struct shown { char text[104]; };

#define HEADER_MOST 100000000   /* bytes, by the rules of the format */

struct weights {
	struct shown path;              /* for complaints */
	int file;
	uint64_t size, data;            /* of the file; where data begin */
	json_t *header;
	struct weights_entry *entries;
	size_t count;
	size_t *lengths;                /* all shapes, one after another */
};
/* helpers of weights */
enum { SHOWN_NAME = 60, SHOWN_TEXT = 100 };

/* At most so many bytes of a text, in printable ASCII. */
static struct shown show(const char *text, size_t most)
{
	struct shown shown;
	size_t n = 0;

	for (; n < most && text[n]; n++)
		shown.text[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] :
				'?';
	strcpy(shown.text + n, text[n] ? "..." : "");
	return shown;
}

static struct shown show_name(const char *name)
{
	return show(name, SHOWN_NAME);
}

static enum status read_at(const struct weights *w, uint64_t from,
		void *memory, size_t count, struct error *error)
{
	char *to = memory;

	while (count > 0) {
		ssize_t got = pread(w->file, to, count, (off_t)from);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return REFUSE(error, MH_EFILE, "cannot read %s: %s",
					w->path.text, got < 0 ? strerror(errno) :
					"it ends too early");
		to += got;
		from += (uint64_t)got;
		count -= (size_t)got;
	}
	return MH_OK;
}

static _Thread_local bool starved;      /* jansson lacked memory */
static json_malloc_t plain_malloc;

static void *noting_malloc(size_t size)
{
	void *memory = plain_malloc(size);

	starved |= !memory;
	return memory;
}

static void watch_jansson(void)
{
	json_free_t plain_free;

	json_get_alloc_funcs(&plain_malloc, &plain_free);
	json_set_alloc_funcs(noting_malloc, plain_free);
}

/* From here on, starved tells whether memory was lacking. */
static void watch(void)
{
	static pthread_once_t watched = PTHREAD_ONCE_INIT;

	pthread_once(&watched, watch_jansson);
	starved = false;
}

static enum status parse_header(struct weights *w, const char *text,
		size_t length, struct error *error)
{
	json_error_t fault = { 0 };

	watch();
	if (length == 0 || text[0] != '{')
		return REFUSE(error, MH_EFORMAT, "%s: its header does not"
				" begin with a brace", w->path.text);
	w->header = json_loadb(text, length, JSON_REJECT_DUPLICATES,
			&fault);
	if (w->header && !starved)
		return MH_OK;
	if (starved)
		return REFUSE(error, MH_EMEMORY, "%s: no memory for its"
				" header", w->path.text);
	return REFUSE(error, MH_EFORMAT, "%s: its header is not JSON: %s",
			w->path.text, show(fault.text, SHOWN_TEXT).text);
}

#define METADATA "__metadata__"

static enum status check_metadata(const struct weights *w,
		json_t *said, struct error *error)
{
	bool texts = json_is_object(said);
	const char *key;
	json_t *value;

	json_object_foreach(said, key, value)
		texts &= json_is_string(value);
	if (!texts)
		return REFUSE(error, MH_EFORMAT, "%s: " METADATA " is not a"
				" map from texts to texts", w->path.text);
	return MH_OK;
}

static const struct { const char *name; unsigned bits; } types[] = {
	{ "F4", 4 }, { "F6_E2M3", 6 }, { "F6_E3M2", 6 }, { "BOOL", 8 },
	{ "U8", 8 }, { "I8", 8 }, { "F8_E5M2", 8 }, { "F8_E4M3", 8 },
	{ "F8_E8M0", 8 }, { "I16", 16 }, { "U16", 16 }, { "F16", 16 },
	{ "BF16", 16 }, { "I32", 32 }, { "U32", 32 }, { "F32", 32 },
	{ "F64", 64 }, { "I64", 64 }, { "U64", 64 }, { "C64", 64 },
};

/* The bits of a number of this type, or 0. Stores our own copy of the
 * name. */
static unsigned find_type(const char *name, const char **copy)
{
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (strcmp(types[i].name, name) == 0) {
			*copy = types[i].name;
			return types[i].bits;
		}
	return 0;
}

/* Store a number that is whole and not negative; false if it is not. */
static bool whole(const json_t *value, uint64_t *number)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return false;
	*number = (uint64_t)json_integer_value(value);
	return true;
}

static enum status read_entry(const struct weights *w,
		const json_t *said, struct weights_entry *entry,
		size_t lengths[], struct error *error)
{
	const json_t *shape = json_object_get(said, "shape");
	const json_t *offsets = json_object_get(said, "data_offsets");
	const char *type =
		json_string_value(json_object_get(said, "dtype"));
	struct shown name = show_name(entry->name);
	uint64_t bits = 0;

	if (!type || !json_is_array(shape) || json_array_size(offsets) != 2)
		return REFUSE(error, MH_EFORMAT, "%s: %s lacks dtype, shape"
				" or two data_offsets", w->path.text, name.text);
	/* find the type and the shape of the entry */
	bits = find_type(type, &entry->type);
	if (bits == 0)
		return REFUSE(error, MH_EFORMAT, "%s: %s has the unknown type %s",
				w->path.text, name.text, show_name(type).text);
	uint64_t product = 1, length;
	bool empty = false;

	for (size_t i = 0; i < json_array_size(shape); i++) {
		if (!whole(json_array_get(shape, i), &length))
			return REFUSE(error, MH_EFORMAT, "%s: axis %zu of %s has no"
					" length", w->path.text, i, name.text);
		empty |= length == 0;
		if (length > 0 && product > INT64_MAX / 64 / length)
			return REFUSE(error, MH_EFORMAT, "%s: the shape of %s is"
					" larger than any file", w->path.text, name.text);
		product *= length > 0 ? length : 1;
		lengths[i] = (size_t)length;
	}
	entry->rank = json_array_size(shape);
	/* compare its bits with its offsets */
	bits *= empty ? 0 : product;
	if (!whole(json_array_get(offsets, 0), &entry->begin) ||
			!whole(json_array_get(offsets, 1), &entry->end) ||
			entry->begin > entry->end)
		return REFUSE(error, MH_EFORMAT, "%s: the data_offsets of %s are"
				" no range", w->path.text, name.text);
	if (bits % 8 != 0 || bits / 8 != entry->end - entry->begin)
		return REFUSE(error, MH_EFORMAT, "%s: %s %s of type %s takes %"
				PRIu64 " bits, its data_offsets hold %" PRIu64 " bytes",
				w->path.text, name.text, weights_shape(entry).text,
				entry->type, bits, entry->end - entry->begin);
	return MH_OK;
}

static int by_place(const void *a, const void *b)
{
	const struct weights_entry *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static int by_name(const void *a, const void *b)
{
	const struct weights_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static enum status check_cover(struct weights *w, struct error *error)
{
	uint64_t reached = 0;

	qsort(w->entries, w->count, sizeof *w->entries, by_place);
	for (size_t i = 0; i < w->count; i++) {
		const struct weights_entry *entry = &w->entries[i];

		if (entry->begin != reached)
			return REFUSE(error, MH_EFORMAT, "%s: %s begins at byte %"
					PRIu64 " of the data, wanted %" PRIu64,
					w->path.text, show_name(entry->name).text,
					entry->begin, reached);
		reached = entry->end;
	}
	if (reached != w->size - w->data)
		return REFUSE(error, MH_EFORMAT, "%s: its tensors take %"
				PRIu64 " bytes, its data have %" PRIu64,
				w->path.text, reached, w->size - w->data);
	qsort(w->entries, w->count, sizeof *w->entries, by_name);
	return MH_OK;
}

#ifdef MH_SINGLE
#define REAL_TYPE "F32"
typedef uint32_t real_bits;
#else
#define REAL_TYPE "F64"
typedef uint64_t real_bits;
#endif

static void decode(const unsigned char *bytes, real *number)
{
	real_bits bits = 0;

	for (size_t i = 0; i < sizeof bits; i++)
		bits |= (real_bits)bytes[i] << 8 * i;
	memcpy(number, &bits, sizeof bits);
}

static void encode(const real *number, unsigned char *bytes)
{
	real_bits bits;

	memcpy(&bits, number, sizeof bits);
	for (size_t i = 0; i < sizeof bits; i++)
		bytes[i] = (unsigned char)(bits >> 8 * i);
}

enum { BLOCK = 512 };           /* numbers that travel at a time */

/* The description of one tensor, or NULL if memory is short. */
static json_t *describe(const struct tensor *t, uint64_t begin,
		uint64_t end)
{
	json_t *entry = json_object(), *shape = json_array();
	json_t *offsets = json_array();
	int failed = 0;

	for (int axis = 0; axis < t->rank; axis++)
		failed |= json_array_append_new(shape,
				json_integer((json_int_t)t->shape[axis]));
	failed |= json_array_append_new(offsets,
			json_integer((json_int_t)begin));
	failed |= json_array_append_new(offsets,
			json_integer((json_int_t)end));
	failed |= json_object_set_new(entry, "dtype",
			json_string(REAL_TYPE));
	failed |= json_object_set_new(entry, "shape", shape);
	failed |= json_object_set_new(entry, "data_offsets", offsets);
	if (!failed)
		return entry;
	json_decref(entry);
	return NULL;
}

static enum status describe_all(const struct weights_tensor tensors[],
		size_t count, json_t *header, struct error *error)
{
	uint64_t at = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tensor *t = &tensors[i].tensor;
		const char *name = tensors[i].name;
		size_t numbers;

		/* refuse a name that cannot be written */
		if (!name)
			return REFUSE(error, MH_EFORMAT, "tensor %zu has no name", i);
		watch();

		json_t *text = json_string(name);

		json_decref(text);
		if (starved)
			return REFUSE(error, MH_EMEMORY, "no memory for the header of a"
					" file");
		if (!text || strcmp(name, METADATA) == 0)
			return REFUSE(error, MH_EFORMAT, "no tensor can be called %s",
					show_name(name).text);
		if (json_object_get(header, name))
			return REFUSE(error, MH_EFORMAT, "two tensors are called %s",
					show_name(name).text);
		if (t->rank < 0 || t->rank > TENSOR_AXES ||
				tensor_lacks_data(*t))
			return REFUSE(error, MH_ESHAPE, "%s of shape %s is no"
					" tensor, or has no data", show_name(name).text,
					tensor_shape(*t).text);
		if (!tensor_count(t->rank, t->shape, &numbers) ||
				numbers * sizeof(real) > INT64_MAX - at)
			return REFUSE(error, MH_ESIZE, "%s of shape %s is too"
					" large for a file", show_name(name).text,
					tensor_shape(*t).text);
		if (json_object_set_new_nocheck(header, name, describe(t, at,
				at + numbers * sizeof(real))) != 0)
			return REFUSE(error, MH_EMEMORY, "no memory for the"
					" header of a file");
		at += numbers * sizeof(real);
	}
	return MH_OK;
}

/* Store the length and the header of a file in *bytes, which the caller
 * frees, and their number in *count. */
static enum status make_header(const struct weights_tensor tensors[],
		size_t number, char **bytes, size_t *count,
		struct error *error)
{
	json_t *header = json_object();
	enum status status = describe_all(tensors, number, header, error);
	size_t text = status ? 0 : json_dumpb(header, NULL, 0,
			JSON_COMPACT);
	size_t length = (text + 7) / 8 * 8;

	*bytes = NULL;
	if (!status && length > HEADER_MOST)
		status = REFUSE(error, MH_ESIZE, "a header of %zu bytes, at"
				" most %d are allowed", length, HEADER_MOST);
	if (!status && (text == 0 || !(*bytes = malloc(8 + length))))
		status = REFUSE(error, MH_EMEMORY, "no memory for the header"
				" of a file");
	/* write length, text and spaces */
	*count = 8 + length;
	for (int i = 0; i < 8 && !status; i++)
		(*bytes)[i] = (char)((uint64_t)length >> 8 * i & 0xff);
	if (!status)
		memset(*bytes + 8, ' ', length);
	if (!status && json_dumpb(header, *bytes + 8, length, JSON_COMPACT) !=
			text)
		status = REFUSE(error, MH_EMEMORY, "no memory for the header of"
				" a file");
	json_decref(header);
	return status;
}

/* Write the numbers of t, in its own order; false if that fails. */
static bool put_numbers(struct tensor t, FILE *file)
{
	unsigned char block[BLOCK * sizeof(real)];
	size_t index[TENSOR_AXES] = { 0 }, left = 0, used = 0;

	tensor_count(t.rank, t.shape, &left);
	while (left-- > 0) {
		encode(tensor_at(&t, index), block + used);
		tensor_next(&t, index);
		used += sizeof(real);
		if (used < sizeof block && left > 0)
			continue;
		if (fwrite(block, 1, used, file) != used)
			return false;
		used = 0;
	}
	return true;
}

/* Write prefix and name into memory that has room for both. */
static const char *join(char *memory, const char *prefix,
		const char *name)
{
	return strcat(strcpy(memory, prefix), name);
}

/* The file has all that is asked for, there is room for it, and nothing
 * else has the prefix. */
static enum status check_names(const struct registry *registry,
		const struct weights *w, const char *prefix, char *memory,
		struct error *error)
{
	size_t length = strlen(prefix);
	enum status status = MH_OK;

	for (size_t i = 0; i < registry->count && !status; i++) {
		struct tensor t = registry->entries[i].parameter->value;

		status = weights_expect(w, join(memory, prefix,
				registry->entries[i].name), t.rank, t.shape, error);
		if (!status)
			status = tensor_expect(t, show_name(memory).text, t.rank,
					t.shape, error);
	}
	for (size_t i = 0; i < w->count && !status; i++) {
		const char *name = w->entries[i].name;

		if (strncmp(name, prefix, length) == 0 &&
				!registry_find(registry, name + length))
			status = REFUSE(error, MH_EFORMAT, "%s: nothing here is"
					" called %s", w->path.text, show_name(name).text);
	}
	return status;
}

static enum status check_copies(const struct weights *w,
		const char *name, const char *other, struct error *error)
{
	const struct weights_entry *a = weights_find(w, name);
	const struct weights_entry *b = weights_find(w, other);
	unsigned char x[BLOCK], y[BLOCK];
	enum status status = MH_OK;

	for (uint64_t at = 0; at < a->end - a->begin && !status;) {
		uint64_t left = a->end - a->begin - at;
		size_t take = left < BLOCK ? (size_t)left : BLOCK;

		status = read_at(w, w->data + a->begin + at, x, take, error);
		if (!status)
			status = read_at(w, w->data + b->begin + at, y, take,
					error);
		if (!status && memcmp(x, y, take) != 0)
			status = REFUSE(error, MH_EFORMAT, "%s: %s and %s are one"
					" parameter here, and differ", w->path.text,
					show_name(name).text, show_name(other).text);
		at += take;
	}
	return status;
}
/* private functions of weights */
static enum status read_header(struct weights *w, struct error *error)
{
	unsigned char first[8];
	uint64_t length = 0;
	enum status status;

	/* refuse what is no file, or too short */
	struct stat facts;

	if (w->file < 0 || fstat(w->file, &facts) != 0)
		return REFUSE(error, MH_EFILE, "cannot read %s: %s",
				w->path.text, strerror(errno));
	if (!S_ISREG(facts.st_mode))
		return REFUSE(error, MH_EFILE, "cannot read %s: it is no file",
				w->path.text);
	w->size = (uint64_t)facts.st_size;
	if (w->size < 8)
		return REFUSE(error, MH_EFORMAT, "%s: %" PRIu64 " bytes are too"
				" few for a header", w->path.text, w->size);
	status = read_at(w, 0, first, 8, error);
	for (int i = 0; i < 8 && !status; i++)
		length |= (uint64_t)first[i] << 8 * i;
	if (status)
		return status;
	/* refuse a header that cannot be so long */
	if (length > HEADER_MOST)
		return REFUSE(error, MH_EFORMAT, "%s: a header of %" PRIu64
				" bytes, at most %d are allowed; is it safetensors?",
				w->path.text, length, HEADER_MOST);
	if (length > w->size - 8)
		return REFUSE(error, MH_EFORMAT, "%s: a header of %" PRIu64
				" bytes, of which the file has %" PRIu64, w->path.text,
				length, w->size - 8);
	w->data = 8 + length;
	/* read and parse the text of the header */
	char *text = malloc((size_t)length + 1);

	if (!text)
		return REFUSE(error, MH_EMEMORY, "%s: no memory for its header",
				w->path.text);
	status = read_at(w, 8, text, (size_t)length, error);
	if (!status)
		status = parse_header(w, text, (size_t)length, error);
	free(text);
	return status;
}

static enum status read_entries(struct weights *w, struct error *error)
{
	size_t axes = 0;
	enum status status = MH_OK;
	const char *name;
	json_t *said;

	json_object_foreach(w->header, name, said)
		axes += json_array_size(json_object_get(said, "shape"));
	w->entries = calloc(json_object_size(w->header) + 1,
			sizeof *w->entries);
	w->lengths = calloc(axes + 1, sizeof *w->lengths);
	if (!w->entries || !w->lengths)
		return REFUSE(error, MH_EMEMORY, "%s: no memory for its"
				" header", w->path.text);
	axes = 0;
	json_object_foreach(w->header, name, said) {
		/* read one entry, or check the metadata */
		if (strcmp(name, METADATA) == 0) {
			status = check_metadata(w, said, error);
		} else {
			struct weights_entry *entry = &w->entries[w->count++];

			entry->name = name;
			entry->shape = w->lengths + axes;
			status = read_entry(w, said, entry, w->lengths + axes, error);
			axes += entry->rank;
		}
		if (status)
			return status;
	}
	return MH_OK;
}
/* functions of weights */
struct shape_text weights_shape(const struct weights_entry *entry)
{
	struct shape_text shape;

	if (entry->rank <= TENSOR_AXES)
		return shape_write((int)entry->rank, entry->shape);
	snprintf(shape.text, sizeof shape.text, "with %zu axes",
			entry->rank);
	return shape;
}

enum status weights_open(const char *path, struct weights **weights,
		struct error *error)
{
	struct weights *w;
	enum status status;

	if (weights)
		*weights = NULL;
	if (!weights || !path)
		return REFUSE(error, MH_EFILE, "there is no %s",
				weights ? "path" : "place for a file");
	w = calloc(1, sizeof *w);
	if (!w)
		return REFUSE(error, MH_EMEMORY, "no memory for a file");
	w->path = show(path, SHOWN_TEXT);
	w->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	status = read_header(w, error);
	if (!status)
		status = read_entries(w, error);
	if (!status)
		status = check_cover(w, error);
	if (status)
		weights_close(w);
	else
		*weights = w;
	return status;
}

void weights_close(struct weights *weights)
{
	if (!weights)
		return;
	if (weights->file >= 0)
		close(weights->file);
	json_decref(weights->header);
	free(weights->entries);
	free(weights->lengths);
	free(weights);
}

size_t weights_count(const struct weights *weights)
{
	return weights->count;
}

const struct weights_entry *weights_nth(
		const struct weights *weights, size_t i)
{
	return &weights->entries[i];
}

const struct weights_entry *weights_find(
		const struct weights *weights, const char *name)
{
	const struct weights_entry wanted = { .name = name };

	return bsearch(&wanted, weights->entries, weights->count,
			sizeof wanted, by_name);
}

const char *weights_metadata(const struct weights *weights,
		const char *key)
{
	return json_string_value(json_object_get(
		json_object_get(weights->header, METADATA), key));
}

enum status weights_expect(const struct weights *weights,
		const char *name, int rank, const size_t shape[],
		struct error *error)
{
	if (!weights || !name || (!shape && rank > 0))
		return REFUSE(error, MH_ESHAPE, "there is no %s", !weights ?
				"file" : name ? "shape" : "name");

	const struct weights_entry *entry = weights_find(weights, name);
	struct shown shown = show_name(name);

	if (!entry)
		return REFUSE(error, MH_EFORMAT, "%s: there is no %s",
				weights->path.text, shown.text);
	bool same = strcmp(entry->type, REAL_TYPE) == 0 &&
			entry->rank == (size_t)rank && rank <= TENSOR_AXES;

	for (int axis = 0; same && axis < rank; axis++)
		same = entry->shape[axis] == shape[axis];
	if (!same)
		return REFUSE(error, MH_EFORMAT, "%s: %s is %s %s, wanted"
				" %s %s", weights->path.text, shown.text,
				entry->type, weights_shape(entry).text, REAL_TYPE,
				shape_write(rank, shape).text);
	return MH_OK;
}

enum status weights_read(const struct weights *weights,
		const char *name, struct tensor t, struct error *error)
{
	unsigned char block[BLOCK * sizeof(real)];
	size_t index[TENSOR_AXES] = { 0 };
	enum status status = weights_expect(weights, name, t.rank,
			t.shape, error);

	if (!status)
		status = tensor_expect(t, name, t.rank, t.shape, error);
	if (status)
		return status;
	const struct weights_entry *entry = weights_find(weights, name);

	for (uint64_t at = entry->begin; at < entry->end && !status;) {
		uint64_t left = entry->end - at;
		size_t take = left < sizeof block ? (size_t)left :
				sizeof block;

		status = read_at(weights, weights->data + at, block, take,
				error);
		for (size_t i = 0; i < take && !status; i += sizeof(real)) {
			decode(block + i, tensor_at(&t, index));
			tensor_next(&t, index);
		}
		at += take;
	}
	return status;
}

enum status weights_write(const char *path,
		const struct weights_tensor tensors[], size_t count,
		struct error *error)
{
	size_t length = 0;
	char *header;
	struct whole whole;
	enum status status;

	if (!path || (!tensors && count > 0))
		return REFUSE(error, MH_EFILE, "there is no %s",
				path ? "tensor" : "path");
	status = make_header(tensors, count, &header, &length, error);
	if (!status)
		status = whole_open(&whole, path, error);
	if (!status) {
		bool done = fwrite(header, 1, length, whole.stream) == length;

		/* That it failed is remembered by the stream. */
		for (size_t i = 0; i < count && done; i++)
			done = put_numbers(tensors[i].tensor, whole.stream);
		whole.cause = done ? 0 : errno;
		status = whole_close(&whole, error);
	}
	free(header);
	return status;
}

enum status registry_save(const struct registry *registry,
		const char *path, struct error *error)
{
	struct weights_tensor *tensors;
	enum status status;

	if (!registry)
		return REFUSE(error, MH_ESHAPE, "there is no registry");
	tensors = calloc(registry->count + 1, sizeof *tensors);
	if (!tensors)
		return REFUSE(error, MH_EMEMORY, "no memory for %zu names",
				registry->count);
	for (size_t i = 0; i < registry->count; i++) {
		tensors[i].name = registry->entries[i].name;
		tensors[i].tensor = registry->entries[i].parameter->value;
	}
	status = weights_write(path, tensors, registry->count, error);
	free(tensors);
	return status;
}

enum status registry_load(const struct registry *registry,
		const struct weights *weights, const char *prefix,
		struct error *error)
{
	if (!registry || !weights || !prefix)
		return REFUSE(error, MH_ESHAPE, "there is no %s", !registry ?
				"registry" : weights ? "prefix" : "file");

	size_t room = strlen(prefix) + sizeof registry->entries[0].name;
	char *name = malloc(room), *other = malloc(room);
	enum status status = MH_OK;

	if (!name || !other)
		status = REFUSE(error, MH_EMEMORY, "no memory for a name");
	if (!status)
		status = check_names(registry, weights, prefix, name, error);
	/* compare the copies of parameters with two names */
	for (size_t i = 0; i < registry->count && !status; i++) {
		const struct entry *e = registry->entries;
		size_t first = registry_first(registry, i);

		if (first != i)
			status = check_copies(weights,
					join(name, prefix, e[first].name),
					join(other, prefix, e[i].name), error);
	}
	for (size_t i = 0; i < registry->count && !status; i++)
		if (registry_first(registry, i) == i)
			status = weights_read(weights,
					join(name, prefix, registry->entries[i].name),
					registry->entries[i].parameter->value, error);
	free(name);
	free(other);
	return status;
}
