/* remember.h: made from chapters/74-predict.nw; edit it there. */
#ifndef MH_REMEMBER_H
#define MH_REMEMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

enum { MEMORY_ITEMS = 16, MEMORY_BOXES = 6, MEMORY_PATH = 4096 };

struct memory_item {
	const char *name;
	unsigned long box, due;         /* due at a round; 0: never asked */
	unsigned long right, missed;    /* how often */
};

struct memory {
	unsigned long round;            /* how many there have been */
	size_t count;
	struct memory_item item[MEMORY_ITEMS];
};

/* prototypes of remember */
/* Which item is to be asked next? One that never was, picked by chance,
 * a number below 1, if there are any and nothing else is due or the
 * round is even; else the one that is due first. */
size_t memory_next(const struct memory *memory, double chance);

/* Note an answer to an item: the round is over. */
void memory_note(struct memory *memory, size_t i, bool right);

/* Where the file belongs: below XDG_STATE_HOME if that is an absolute
 * path, or else below .local/state in HOME. MH_EFILE if neither is set
 * or the path is too long. */
enum status memory_path(char path[MEMORY_PATH], struct error *error);

/* Read what the file says of the items in memory, whose names are set.
 * If there is no file, nothing is known, and that is no error.
 * MH_EFORMAT if it is damaged, MH_EFILE if it cannot be read or is of
 * another version; then memory is as it was. */
enum status memory_load(struct memory *memory, const char *path,
		struct error *error);

/* Write the file, whole or not at all; the folders above it are made,
 * and if it is a link, what it leads to is written, be there a file yet
 * or not. Returns what whole_open and whole_close return; MH_EFILE if
 * there is no folder. */
enum status memory_save(const struct memory *memory, const char *path,
		struct error *error);

/* Note an answer, in memory and in the file. Another session may have
 * noted more there since, which is not lost: memory is read again
 * before, and the folder is locked meanwhile, where folders can be.
 * Returns what memory_load and memory_save return; then the answer is
 * noted in memory alone. */
enum status memory_round(struct memory *memory, const char *path,
		size_t i, bool right, struct error *error);

/* Give a damaged file another name, behind which nothing stands yet,
 * and store it in aside. If another session has been quicker, memory is
 * what that has left, and aside is empty. MH_EFILE if that cannot be
 * done. */
enum status memory_set_aside(struct memory *memory, const char *path,
		char aside[MEMORY_PATH], struct error *error);

#endif
