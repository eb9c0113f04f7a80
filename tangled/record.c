/* record.c: made from chapters/90-record.nw; edit it there. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "record.h"

/* functions of record */
void record_rows(struct record *record, const char *file, int line,
		struct tensor rows, const char *prefix)
{
	char row[24];

	for (size_t i = 0; i < rows.shape[0]; i++) {
		if (i + 1 == rows.shape[0])
			snprintf(row, sizeof row, "last");
		else
			snprintf(row, sizeof row, "%zu", i);
		for (size_t j = 0; j < rows.shape[1]; j++)
			record_line(record, file, line, VALUE, "1",
					(double)AT(rows, i, j), "%s.%s.%zu",
					prefix, row, j);
	}
}

void record_line(struct record *record, const char *file, int line,
		enum kind kind, const char *unit, double value,
		const char *key, ...)
{
	static const char *const kinds[] = { "exact", "value", "noise" };
	va_list arguments;

	va_start(arguments, key);
	vfprintf(record->file, key, arguments);
	va_end(arguments);
	if (!record->keys_only)
		fprintf(record->file, "\t%.17g\t%s\t%s\t%s:%d", value, unit,
				kinds[kind], file, line);
	putc('\n', record->file);
}

void record_text(struct record *record, const char *file, int line,
		const char *text, const char *key)
{
	fputs(key, record->file);
	if (!record->keys_only)
		fprintf(record->file, "\t%s\t1\ttext\t%s:%d", text, file,
				line);
	putc('\n', record->file);
}

enum status record_open(struct record *record, const char *path,
		bool keys_only, struct error *error)
{
	enum status status = MH_OK;

	*record = (struct record){ stdout, keys_only, path, "" };
	if (!path)
		return MH_OK;
	record->file = NULL;
	/* refuse to put a record in the place of something else */
	struct stat old;

	if (stat(path, &old) == 0 && !S_ISREG(old.st_mode))
		return REFUSE(error, MH_EFILE, "%.100s exists and is no file",
				path);
	int length = snprintf(record->temporary, sizeof record->temporary,
			"%s.new", path);
	if (length >= (int)sizeof record->temporary) {
		record->temporary[0] = '\0';    /* which is cut, and not ours */
		return REFUSE(error, MH_EFILE, "%.40s...: name too long",
				path);
	}
	record->file = fopen(record->temporary, "w");
	if (!record->file) {
		int cause = errno;

		status = REFUSE(error, MH_EFILE, "cannot write %s: %s",
				record->temporary, strerror(cause));
		record->temporary[0] = '\0';    /* it is not ours to remove */
	}
	return status;
}

enum status record_close(struct record *record, struct error *error)
{
	if (!record->path)
		return MH_OK;
	bool broken = ferror(record->file);

	broken |= fclose(record->file) != 0;
	record->file = NULL;
	if (broken || rename(record->temporary, record->path) != 0) {
		int cause = errno;

		record_abandon(record);
		return REFUSE(error, MH_EFILE, "cannot write %s: %s",
				record->path, strerror(cause));
	}
	return MH_OK;
}

void record_abandon(struct record *record)
{
	if (record->path && record->file)
		fclose(record->file);
	if (record->temporary[0])
		remove(record->temporary);
	record->file = NULL;
	record->temporary[0] = '\0';
}
