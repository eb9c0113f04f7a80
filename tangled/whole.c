/* whole.c: made from chapters/90-record.nw; edit it there. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "whole.h"

/* functions of whole */
enum status whole_open(struct whole *whole, const char *path,
		struct error *error)
{
	const size_t room = strlen(path) + 32;
	struct stat old = { 0 };
	int file;

	*whole = (struct whole){ .path = path };
	if (stat(path, &old) != 0 ? errno != ENOENT :
			!S_ISREG(old.st_mode)) {
		/* refuse a place that is taken or cannot be seen */
		if (old.st_mode)
			return REFUSE(error, MH_EFILE, "%.100s exists and is no file",
					path);
		return REFUSE(error, MH_EFILE, "cannot write %.100s: %s", path,
				strerror(errno));
	}
	whole->beside = malloc(room);
	if (!whole->beside)
		return REFUSE(error, MH_EMEMORY, "no memory for a name");
	snprintf(whole->beside, room, "%s.%ld.new", path, (long)getpid());
	file = open(whole->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			0666);
	if (file >= 0)
		whole->stream = fdopen(file, "wb");
	if (!whole->stream) {
		/* refuse a file that cannot be made */
		int cause = errno;

		if (file >= 0) {
			close(file);
			remove(whole->beside);
		}
		free(whole->beside);
		*whole = (struct whole){ 0 };
		return REFUSE(error, MH_EFILE, "cannot write %.100s: %s", path,
				strerror(cause));
	}
	return MH_OK;
}

/* Bring all bytes to the disk, and close: NULL, or why not. */
static const char *settle(const struct whole *whole)
{
	FILE *stream = whole->stream;
	const char *cause = NULL;

	if (fflush(stream) != 0)
		cause = strerror(errno);
	else if (ferror(stream))
		cause = whole->cause ? strerror(whole->cause) :
				"an earlier write failed";
	else if (fsync(fileno(stream)) != 0)
		cause = strerror(errno);
	if (fclose(stream) != 0 && !cause)
		cause = strerror(errno);
	return cause;
}

enum status whole_close(struct whole *whole, struct error *error)
{
	const char *path = whole->path, *cause = settle(whole);
	enum status status = MH_OK;

	if (!cause && rename(whole->beside, path) != 0)
		cause = strerror(errno);
	if (cause) {
		status = REFUSE(error, MH_EFILE, "cannot write %.100s: %s",
				path, cause);
		remove(whole->beside);
	}
	free(whole->beside);
	*whole = (struct whole){ 0 };
	return status;
}

void whole_abandon(struct whole *whole)
{
	if (whole->stream)
		fclose(whole->stream);
	if (whole->beside)
		remove(whole->beside);
	free(whole->beside);
	*whole = (struct whole){ 0 };
}
