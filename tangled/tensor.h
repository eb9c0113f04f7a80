/* tensor.h: made from chapters/10-tensors.nw; edit it there. */
#ifndef MH_TENSOR_H
#define MH_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "real.h"

#define TENSOR_AXES 4

struct tensor {
	real *data;                     /* element (0, 0, ...) */
	int rank;                       /* the number of axes */
	size_t shape[TENSOR_AXES];      /* positions along each axis */
	ptrdiff_t stride[TENSOR_AXES];  /* elements moved by one step */
};

/* prototypes of tensor */
/* The address of the element at index[0], ..., index[rank - 1]; further
 * indices are zero. Whether they lie within the shape is the caller's
 * business. */
static inline real *tensor_at(const struct tensor *t,
		const size_t index[TENSOR_AXES])
{
	const ptrdiff_t *step = t->stride;

	return t->data + (ptrdiff_t)index[0] * step[0] +
			(ptrdiff_t)index[1] * step[1] +
			(ptrdiff_t)index[2] * step[2] +
			(ptrdiff_t)index[3] * step[3];
}

/* An element as a variable: AT(t, i, j) of a tensor of rank two. In C
 * only: C++ has no such arrays, and calls tensor_at. */
#define AT(t, ...) \
	(*tensor_at(&(t), (size_t[TENSOR_AXES]){ __VA_ARGS__ }))

/* The larger of two numbers; NaN if either is NaN. */
static inline real larger(real a, real b)
{
	return isnan(a) || a >= b ? a : b;
}

/* The largest difference between elements of two tensors of one shape;
 * 0 if they are empty. */
real tensor_distance(struct tensor a, struct tensor b);

/* Store the product of the shape in *count and return true; or return
 * false if that many elements could not be addressed. A shape with a
 * zero in it has no elements, but its other sizes must fit all the
 * same, since strides are made of them. */
bool tensor_count(int rank, const size_t shape[], size_t *count);

/* The contiguous view of memory that holds the product of the shape;
 * the rank is at most TENSOR_AXES. */
struct tensor tensor_view(real *memory, int rank, const size_t shape[]);

/* The same elements with two axes exchanged. */
struct tensor tensor_swap(struct tensor t, int a, int b);

/* What lies at one index of an axis; that axis is gone from the
 * result. */
struct tensor tensor_slice(struct tensor t, int axis, size_t index);

/* The part of an axis that begins at start and has the given length. */
struct tensor tensor_narrow(struct tensor t, int axis, size_t start,
		size_t length);

/* Store in *merged the view in which axis and the one after it are one.
 * MH_ESHAPE if no single stride walks both, MH_ESIZE if they are too
 * long; *merged is then untouched. */
enum status tensor_merge(struct tensor t, int axis,
		struct tensor *merged, struct error *error);

/* Copy the elements of t, in its own order, into memory, which has room
 * for all of them and does not overlap t. Returns the contiguous
 * view. */
struct tensor tensor_contiguous(struct tensor t, real *memory);

/* Is this what tensor_view would make of the same pointer and shape? */
bool tensor_is_contiguous(struct tensor t);

/* Is there a zero in the shape? */
bool tensor_is_empty(struct tensor t);


/* Move index[0], ..., index[rank - 1] to the next element, last axis
 * fastest. After the last it begins again, and returns false. */
bool tensor_next(const struct tensor *t, size_t index[]);

/* Might two positions of t be one element? No, if there are no
 * elements, or if each stride reaches beyond all that the smaller ones
 * reach together. */
bool tensor_overlaps_itself(struct tensor t);

/* Might an element of one be an element of the other? No, if they lie
 * in separate stretches of memory, or in separate lanes: columns of one
 * buffer are apart, though each begins before the other ends. Without
 * elements, or without data, a tensor overlaps nothing. */
bool tensor_overlaps(struct tensor a, struct tensor b);

/* Are there elements, but no memory for them? */
static inline bool tensor_lacks_data(struct tensor t)
{
	return !t.data && !tensor_is_empty(t);
}

/* A tensor that a function works on, and what a sentence calls it. */
struct tensor_use {
	const char *name;
	const struct tensor *tensor;
	bool written;
};

/* MH_OK if what is written among the uses overlaps neither itself nor
 * anything else, among the uses or the others; and what is written
 * among the others none of the uses. MH_ESHAPE and a sentence that
 * names both; MH_ESIZE if memory could not hold a tensor, or if there
 * are more than TENSOR_USES uses. */
enum status tensor_expect_apart(
		const struct tensor_use uses[], size_t count,
		const struct tensor_use others[], size_t more,
		struct error *error);

#define TENSOR_USES 12

/* out = a b, of shapes (m,k), (k,n) and (m,n), any strides. Each
 * element is summed in the order of k, so it depends on one row and one
 * column only, to the last bit. MH_ESHAPE if shapes do not fit, or if
 * out overlaps itself or a factor. */
enum status tensor_product(struct tensor a, struct tensor b,
		struct tensor out, struct error *error);

struct shape_text { char text[96]; };

/* A shape as it is written in the text: "(2, 5, 12)". */
struct shape_text shape_write(int rank, const size_t shape[]);
struct shape_text tensor_shape(struct tensor t);

/* MH_OK if t has this shape, and data if it has elements; otherwise
 * MH_ESHAPE and a sentence in which t is called by its name. */
enum status tensor_expect(struct tensor t, const char *name, int rank,
		const size_t shape[], struct error *error);

/* A generator of random numbers; its seed is the state it starts
 * with. */
struct random { uint64_t state; };

/* The next number, uniform between low and high (splitmix64, after
 * Steele, Lea and Flood 2014). */
real random_uniform(struct random *random, real low, real high);

/* Set every element to one value. */
void tensor_fill(struct tensor t, real value);

/* Set every element, in the tensor's own order, to a random number
 * between -bound and bound. */
void tensor_randomize(struct tensor t, struct random *random,
		real bound);

/* Replace each row of a matrix by its softmax, over the last axis. A
 * row whose largest score is not finite, or that holds a NaN, becomes
 * NaN. */
void softmax_rows(struct tensor rows);

/* Store in *split the view in which axis has become two: parts, and
 * what each of them holds. MH_ESHAPE if parts does not divide the
 * length or there is no axis left for it. */
enum status tensor_split(struct tensor t, int axis, size_t parts,
		struct tensor *split, struct error *error);

/* Is no element infinite or NaN? */
bool tensor_finite(struct tensor t);

/* out = out + a b, otherwise as tensor_product. */
enum status tensor_add_product(struct tensor a, struct tensor b,
		struct tensor out, struct error *error);

/* to = to + from, element by element, of one shape and any strides. */
void tensor_add(struct tensor from, struct tensor to);

#endif
