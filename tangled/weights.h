/* weights.h: made from chapters/47-files.nw; edit it there. */
#ifndef MH_WEIGHTS_H
#define MH_WEIGHTS_H

#include "layer.h"

/* types of weights */
struct weights;                 /* an open file */

/* What a file says of one tensor. All of it lives until the file is
 * closed. */
struct weights_entry {
	const char *name;
	const char *type;           /* "F64", "F32", "BF16", ... */
	size_t rank;
	const size_t *shape;
	uint64_t begin, end;        /* bytes of the data */
};

/* A tensor to be written, under its name. */
struct weights_tensor {
	const char *name;
	struct tensor tensor;
};

/* prototypes of weights */
/* Open the file at path and check its header. From the first call on,
 * jansson allocates through a function of this library, in the whole
 * process. MH_EFILE if there is no path, or the file cannot be read or
 * is no regular file, MH_EFORMAT if it breaks a rule of the format,
 * MH_EMEMORY. On error *weights is NULL. */
enum status weights_open(const char *path, struct weights **weights,
		struct error *error);
void weights_close(struct weights *weights);

/* The tensors of the file, in the order of their names. */
size_t weights_count(const struct weights *weights);
const struct weights_entry *weights_nth(
		const struct weights *weights, size_t i);

/* The shape of a tensor as it is written in the text. */
struct shape_text weights_shape(const struct weights_entry *entry);

/* The tensor of this name; the text under this key of __metadata__. Or
 * NULL. */
const struct weights_entry *weights_find(
		const struct weights *weights, const char *name);
const char *weights_metadata(const struct weights *weights,
		const char *key);

/* MH_OK if the file has a tensor of this name and shape, and of the
 * type of real; otherwise MH_EFORMAT, or MH_ESHAPE if a pointer is
 * NULL. */
enum status weights_expect(const struct weights *weights,
		const char *name, int rank, const size_t shape[],
		struct error *error);

/* Read the tensor of this name into t, any view whose elements are all
 * in different places. Returns what weights_expect returns, or
 * MH_ESHAPE if t has no data, before t has changed; MH_EFILE if the
 * bytes cannot be read, and then t may hold some of them. */
enum status weights_read(const struct weights *weights,
		const char *name, struct tensor t, struct error *error);

/* Write the tensors, in this order, to a file at path. The file appears
 * whole or not at all, and then what stood there before still does. A
 * file that is replaced gives its permissions to the new one; a link is
 * followed; threads may save to one path at once, and one of them wins.
 * Until then the file is beside the other as PATH.PID.N.new; a program
 * that a signal ends leaves it there, unless it ignores the signal, as
 * it had better ignore SIGXFSZ.
 * MH_EFILE if it cannot be written, or what stands there is no regular
 * file; MH_EFORMAT if a name is not UTF-8, is reserved, or stands
 * twice; MH_ESHAPE if a tensor has no data, or more than TENSOR_AXES
 * axes; MH_ESIZE if it would be too large; MH_EMEMORY. */
enum status weights_write(const char *path,
		const struct weights_tensor tensors[], size_t count,
		struct error *error);

/* Write the value of every parameter, under its name, to a file at
 * path. Returns what weights_write returns. */
enum status registry_save(const struct registry *registry,
		const char *path, struct error *error);

/* Read every parameter from the file, where its name has this prefix.
 * The file must have each of them, of the type of real and the right
 * shape, no other name with the prefix, and the same numbers under two
 * names of one parameter: otherwise MH_EFORMAT. Names without the
 * prefix are left alone. MH_ESHAPE if a pointer is NULL or a parameter
 * has no data. Unless the status is MH_EFILE, a refusal leaves the
 * parameters as they were. */
enum status registry_load(const struct registry *registry,
		const struct weights *weights, const char *prefix,
		struct error *error);

#endif
