/* error.h: made from chapters/80-program.nw; edit it there. */
#ifndef MH_ERROR_H
#define MH_ERROR_H

#include "names.h"

enum status {
	MH_OK,
	MH_ESHAPE,      /* shapes that do not fit, or a view that cannot */
	MH_ESIZE,       /* a product of sizes that no memory could hold */
	MH_EMEMORY,     /* an allocation failed, or met its limit */
	MH_EFILE,       /* a file could not be read or written */
	MH_EFORMAT      /* a file that is not what it should be */
};

struct error {
	enum status status;
	const char *where;      /* the function that refused */
	char message[320];      /* one sentence: wanted, got */
};

/* prototypes of error */
#ifdef __GNUC__
#define MH_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define MH_PRINTF(f, a)
#endif

/* Fill error (which may be NULL) with a status, a place, and a sentence
 * made as printf makes it. Returns the status. */
MH_PRINTF(4, 5)
enum status error_set(struct error *error, enum status status,
		const char *where, const char *format, ...);

/* That this refuses can be seen without a look at error_set. */
#define REFUSE(error, status, ...) \
	(error_set(error, status, __func__, __VA_ARGS__), status)

#endif
