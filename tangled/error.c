/* error.c: made from chapters/80-program.nw; edit it there. */
#include <stdarg.h>
#include <stdio.h>

#include "error.h"

enum status error_set(struct error *error, enum status status,
		const char *where, const char *format, ...)
{
	va_list arguments;

	if (!error)
		return status;
	error->status = status;
	error->where = where;
	va_start(arguments, format);
	vsnprintf(error->message, sizeof error->message, format, arguments);
	va_end(arguments);
	return status;
}
