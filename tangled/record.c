/* record.c: made from chapters/90-record.nw; edit it there. */
#include <stdarg.h>
#include <stdio.h>

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

	*record = (struct record){ .file = stdout, .keys_only = keys_only };
	if (path) {
		status = whole_open(&record->whole, path, error);
		record->file = record->whole.stream;
	}
	return status;
}

enum status record_close(struct record *record, struct error *error)
{
	enum status status = MH_OK;

	if (record->whole.stream)
		status = whole_close(&record->whole, error);
	record->file = NULL;
	return status;
}

void record_abandon(struct record *record)
{
	whole_abandon(&record->whole);
	record->file = NULL;
}
