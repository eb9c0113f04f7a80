/* record.h: made from chapters/90-record.nw; edit it there. */
#ifndef MH_RECORD_H
#define MH_RECORD_H

#include <stdbool.h>
#include <stdio.h>

#include "whole.h"
/* includes of record.h */
#include "tensor.h"

enum kind { EXACT, VALUE, NOISE };

struct record {
	FILE *file;
	bool keys_only;
	struct whole whole;     /* unless it goes to standard output */
};

/* prototypes of record */
/* Record a matrix: one line an element, under prefix.ROW.COLUMN. */
void record_rows(struct record *record, const char *file, int line,
		struct tensor rows, const char *prefix);

#define RECORD_ROWS(record, rows, prefix) \
	record_rows(record, __FILE__, __LINE__, rows, prefix)

/* Begin a record in the file at path, or on standard output if path is
 * NULL. Nothing appears at path before record_close. MH_EFILE if the
 * file cannot be made. */
enum status record_open(struct record *record, const char *path,
		bool keys_only, struct error *error);

/* Write one line. The key is made as printf makes it. */
MH_PRINTF(7, 8)
void record_line(struct record *record, const char *file, int line,
		enum kind kind, const char *unit, double value,
		const char *key, ...);

/* Write one line that holds a text without tabs or line breaks. */
void record_text(struct record *record, const char *file, int line,
		const char *text, const char *key);

/* Put the whole record in its place, or say why not (MH_EFILE); then
 * a file that was at path before is unchanged. */
enum status record_close(struct record *record, struct error *error);

/* Remove what was written so far. */
void record_abandon(struct record *record);

/* Record a value together with the place of this statement. */
#define RECORD(record, kind, unit, value, ...) \
	record_line(record, __FILE__, __LINE__, kind, unit, \
			(double)(value), __VA_ARGS__)
#define RECORD_TEXT(record, text, key) \
	record_text(record, __FILE__, __LINE__, text, key)

#endif
