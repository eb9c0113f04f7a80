/* remember.c: made from chapters/74-predict.nw; edit it there. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remember.h"
#include "whole.h"

/* functions of remember */
size_t memory_next(const struct memory *memory, double chance)
{
	const struct memory_item *item = memory->item;
	size_t first = memory->count, fresh = 0;

	for (size_t i = 0; i < memory->count; i++) {
		fresh += item[i].due == 0;
		if (item[i].due && (first == memory->count ||
				item[i].due < item[first].due))
			first = i;
	}
	if (!fresh || (memory->round % 2 && first < memory->count &&
			item[first].due <= memory->round))
		return first;
	fresh = (size_t)(chance * (double)fresh);
	for (first = 0; item[first].due || fresh--; first++)
		;
	return first;
}

void memory_note(struct memory *memory, size_t i, bool right)
{
	struct memory_item *item = &memory->item[i];

	memory->round++;
	item->right += right;
	item->missed += !right;
	item->box = !right ? 0 : item->box + (item->box < MEMORY_BOXES - 1);
	item->due = memory->round + (right ? 4ul << item->box : 2);
}

static const char memory_head[] = "multihead predict, version 1\n";

enum status memory_path(char path[MEMORY_PATH], struct error *error)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	int length = MEMORY_PATH;

	if (state && *state == '/')
		length = snprintf(path, MEMORY_PATH, "%s/multihead/"
				"predict.tsv", state);
	else if (home && *home)
		length = snprintf(path, MEMORY_PATH, "%s/.local/state/"
				"multihead/predict.tsv", home);
	else
		return REFUSE(error, MH_EFILE, "neither XDG_STATE_HOME nor HOME"
				" says where to remember");
	return length < MEMORY_PATH - 32 ? MH_OK : REFUSE(error, MH_EFILE,
			"the path to remember at is too long");
}

/* Make the folders above a path. */
static enum status memory_folders(const char *path, struct error *error)
{
	char folder[MEMORY_PATH];
	struct stat facts;

	for (const char *at = strchr(path + 1, '/'); at;
			at = strchr(at + 1, '/')) {
		snprintf(folder, sizeof folder, "%.*s", (int)(at - path), path);
		int cause = mkdir(folder, 0700) == 0 ? 0 : errno;

		if (cause && stat(folder, &facts) != 0)
			return REFUSE(error, MH_EFILE, "cannot make the folder"
					" %.100s: %s", folder, strerror(
					cause == EEXIST ? errno : cause));
	}
	return MH_OK;
}

/* Numbers have nine digits at most in the file. */
static unsigned long memory_most(unsigned long n)
{
	return n < 999999999 ? n : 999999999;
}

enum status memory_save(const struct memory *memory, const char *path,
		struct error *error)
{
	const struct memory_item *item = memory->item;
	struct whole whole;
	enum status status = memory_folders(path, error);

	if (!status)
		status = whole_open(&whole, path, error);
	if (!status) {
		/* write the memory into its file */
		fprintf(whole.stream, "%sround\t%lu\n", memory_head,
				memory_most(memory->round));
		for (size_t i = 0; i < memory->count; i++)
			fprintf(whole.stream, "%s\t%lu\t%lu\t%lu\t%lu\n", item[i].name,
					item[i].box, memory_most(item[i].due),
					memory_most(item[i].right), memory_most(item[i].missed));
		fputs("end\n", whole.stream);
		status = whole_close(&whole, error);
	}
	return status;
}

/* Read the line of one item. False if it is damaged. */
static bool memory_line(struct memory_item *item, FILE *file)
{
	char line[200], name[32], again[200];

	if (!fgets(line, sizeof line, file) || sscanf(line,
			"%31[a-z]\t%9lu\t%9lu\t%9lu\t%9lu", name, &item->box,
			&item->due, &item->right, &item->missed) != 5)
		return false;
	snprintf(again, sizeof again, "%s\t%lu\t%lu\t%lu\t%lu\n",
			item->name, item->box, item->due, item->right,
			item->missed);
	return strcmp(line, again) == 0 && item->box < MEMORY_BOXES;
}

/* Read all behind the head: the round, each item once, the end. */
static bool memory_read(struct memory *memory, FILE *file)
{
	char line[200], again[200];

	if (!fgets(line, sizeof line, file) ||
			sscanf(line, "round\t%9lu", &memory->round) != 1)
		return false;
	snprintf(again, sizeof again, "round\t%lu\n", memory->round);
	if (strcmp(line, again) != 0)
		return false;
	for (size_t i = 0; i < memory->count; i++)
		if (!memory_line(&memory->item[i], file))
			return false;
	return fgets(line, sizeof line, file) && strcmp(line, "end\n") == 0
			&& getc(file) == EOF && !ferror(file);
}

static enum status refuse_reading(const char *path, struct error *error)
{
	return REFUSE(error, MH_EFILE, "cannot read %.100s: %s", path,
			strerror(errno));
}

enum status memory_load(struct memory *memory, const char *path,
		struct error *error)
{
	struct memory read = *memory;
	struct stat facts;
	char head[64] = "", end;
	unsigned long version;
	FILE *file;
	bool good;

	if (stat(path, &facts) != 0)
		return errno == ENOENT ? MH_OK : refuse_reading(path, error);
	if (!S_ISREG(facts.st_mode))
		return REFUSE(error, MH_EFILE, "%.100s is no file", path);
	file = fopen(path, "r");
	if (!file)
		return refuse_reading(path, error);
	if (fgets(head, sizeof head, file) && sscanf(head,
			"multihead predict, version %lu%c", &version, &end) == 2 &&
			version != 1 && end == '\n') {
		fclose(file);
		return REFUSE(error, MH_EFILE, "%.100s is of another version;"
				" it is left alone", path);
	}
	good = strcmp(head, memory_head) == 0 && memory_read(&read, file);
	if (ferror(file)) {
		enum status status = refuse_reading(path, error);

		fclose(file);
		return status;
	}
	fclose(file);
	if (!good)
		return REFUSE(error, MH_EFORMAT, "%.100s is damaged", path);
	*memory = read;
	return MH_OK;
}

/* Hold the folder of a path until what is returned is closed; -1 where
 * folders cannot be held. */
static int memory_hold(const char *path)
{
	char folder[MEMORY_PATH];
	int held;

	snprintf(folder, sizeof folder, "%.*s",
			(int)(strrchr(path, '/') - path), path);
	held = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (held >= 0 && flock(held, LOCK_EX) != 0 && errno == EINTR)
		;
	return held;
}

enum status memory_round(struct memory *memory, const char *path,
		size_t i, bool right, struct error *error)
{
	enum status status = memory_folders(path, error);
	int held = status ? -1 : memory_hold(path);

	if (!status)
		status = memory_load(memory, path, error);
	memory_note(memory, i, right);
	if (!status)
		status = memory_save(memory, path, error);
	if (held >= 0)
		close(held);
	return status;
}

/* The same, while the folder is held. */
static enum status set_aside(const char *path, char aside[],
		struct error *error)
{
	int cause = EEXIST;

	for (int n = 0; n < 1000 && cause == EEXIST; n++) {
		if (n == 0)
			snprintf(aside, MEMORY_PATH, "%s.damaged", path);
		else
			snprintf(aside, MEMORY_PATH, "%s.damaged.%d", path, n);
		cause = link(path, aside) == 0 ? 0 : errno;
	}
	if (!cause && unlink(path) != 0)
		cause = errno;
	return cause ? REFUSE(error, MH_EFILE, "cannot set %.100s aside:"
			" %s", path, strerror(cause)) : MH_OK;
}

enum status memory_set_aside(struct memory *memory, const char *path,
		char aside[MEMORY_PATH], struct error *error)
{
	int held = memory_hold(path);
	enum status status = memory_load(memory, path, error);

	*aside = '\0';
	if (status == MH_EFORMAT)
		status = set_aside(path, aside, error);
	if (held >= 0)
		close(held);
	return status;
}
