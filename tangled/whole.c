/* whole.c: made from chapters/90-record.nw; edit it there. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "whole.h"

/* functions of whole */
/* Where the path leads. False, with errno, if that cannot be seen. */
static bool find_goal(struct whole *whole)
{
	const int room = sizeof whole->goal;
	char to[sizeof whole->goal], *goal = whole->goal, *slash;
	int used = snprintf(goal, sizeof to, "%s", whole->path);

	for (int links = 0; links < 40 && used < room; links++) {
		ssize_t length = readlink(goal, to, sizeof to - 1);

		if (length < 0)         /* no link; or nothing is there */
			return *goal && (errno == EINVAL || errno == ENOENT);
		to[length] = '\0';
		slash = *to == '/' ? NULL : strrchr(goal, '/');
		used = slash ? (int)(slash + 1 - goal) : 0;
		used += snprintf(goal + used, (size_t)(room - used), "%s", to);
	}
	errno = used < room ? ELOOP : ENAMETOOLONG;
	return false;
}

static void (*whole_watcher)(const char *beside);

void whole_watch(void (*changed)(const char *beside))
{
	whole_watcher = changed;
}

/* Make the file, with the permissions of the old one, if any. Returns
 * its descriptor, or -1 with errno. */
static int make_beside(struct whole *whole, const struct stat *old)
{
	const mode_t mode = old->st_mode ? old->st_mode & 0777 : 0666;
	const char *slash = strrchr(whole->goal, '/');
	const char *name = slash ? slash + 1 : whole->goal;
	int folder = (int)(name - whole->goal), file = -1;

	errno = EEXIST;
	for (int n = 0; n < 100 && file < 0 && errno == EEXIST; n++) {
		snprintf(whole->beside, sizeof whole->beside,
				"%.*s%.200s.%ld.%d.new", folder, whole->goal, name,
				(long)getpid(), n);
		file = open(whole->beside, O_WRONLY | O_CREAT | O_EXCL |
				O_CLOEXEC, mode);
	}
	if (file >= 0 && old->st_mode)
		fchmod(file, mode);     /* or it stays narrower */
	if (file >= 0 && whole_watcher)
		whole_watcher(whole->beside);
	return file;
}

/* The file is where it belongs, or is no more. */
static void forget(struct whole *whole)
{
	if (*whole->beside && whole_watcher)
		whole_watcher(NULL);
	*whole = (struct whole){ 0 };
}

enum status whole_open(struct whole *whole, const char *path,
		struct error *error)
{
	struct stat old = { 0 };
	sigset_t all, before;
	int file;

	*whole = (struct whole){ .path = path };
	if (!find_goal(whole) || (stat(whole->goal, &old) != 0 ?
			errno != ENOENT : !S_ISREG(old.st_mode))) {
		/* refuse a place that is taken or cannot be seen */
		*whole = (struct whole){ 0 };
		if (old.st_mode)
			return REFUSE(error, MH_EFILE, "%.100s exists and is no file",
					path);
		return REFUSE(error, MH_EFILE, "cannot write %.100s: %s", path,
				strerror(errno));
	}
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	file = make_beside(whole, &old);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (file >= 0)
		whole->stream = fdopen(file, "wb");
	if (!whole->stream) {
		/* refuse a file that cannot be made */
		int cause = errno;

		if (file >= 0) {
			close(file);
			remove(whole->beside);
		} else
			*whole->beside = '\0';
		forget(whole);
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

	if (!cause && rename(whole->beside, whole->goal) != 0)
		cause = strerror(errno);
	if (cause) {
		status = REFUSE(error, MH_EFILE, "cannot write %.100s: %s",
				path, cause);
		remove(whole->beside);
	}
	forget(whole);
	return status;
}

void whole_abandon(struct whole *whole)
{
	if (whole->stream)
		fclose(whole->stream);
	if (*whole->beside)
		remove(whole->beside);
	forget(whole);
}
