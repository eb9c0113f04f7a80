/* main.c: made from chapters/80-program.nw; edit it there. */
#define _DEFAULT_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "lab.h"
#include "measure.h"
#include "record.h"
/* includes of main.c */
#include <unistd.h>

#include "storage.h"

#define VERSION "0.1.0"

enum { ANSWER_YES, ANSWER_NO, CANNOT };

struct command {
	const char *name, *arguments, *summary;
	int (*run)(const char *output);
	bool takes_output;
};

/* what subcommands share */
static int complain(const struct error *error)
{
	fprintf(stderr, "multihead: %s: %s\n", error->where,
			error->message);
	return CANNOT;
}

/* Put a record in its place, or remove it if something went wrong. */
static int finish_record(struct record *record, enum status status,
		struct error *error)
{
	if (status)
		record_abandon(record);
	else
		status = record_close(record, error);
	return status ? complain(error) : ANSWER_YES;
}
/* subcommands */
static void show_progress(size_t done)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, done < SWEEP_POINTS ? "\r%zu of %d points" :
				"\r\033[K", done, SWEEP_POINTS);
}

static void record_point(struct record *record, const struct point *p)
{
	const struct { const char *name,
			*unit; enum kind kind; double value; }
	column[] = {
		{ "entries", "numbers", EXACT, (double)p->cost.entries },
		{ "bytes", "bytes", EXACT,
				(double)p->cost.entries * sizeof(real) },
		{ "parameters", "numbers", EXACT, (double)p->cost.parameters },
		{ "products", "terms", EXACT, (double)p->cost.products },
		{ "asked", "bytes", EXACT, (double)p->usage.asked },
		{ "resident", "bytes", NOISE, (double)p->usage.resident },
		{ "seconds", "s", NOISE, p->usage.seconds },
	};

	for (size_t i = 0; i < sizeof column / sizeof column[0]; i++)
		RECORD(record, column[i].kind, column[i].unit,
				column[i].value, "sweep.t%zu.h%zu.%s", p->T, p->H,
				column[i].name);
}

static void print_point(const struct point *p)
{
	printf("%6zu%4zu%12zu%14zu%14zu%12.1f%12.1f%10.4f\n", p->T, p->H,
			p->cost.parameters, p->cost.entries, p->cost.products,
			(double)p->usage.asked / 1024,
			(double)p->usage.resident / 1024, p->usage.seconds);
}

static enum status sweep(struct record *record, struct error *error)
{
	enum status status = MH_OK;

	if (!record)
		printf("%6s%4s%12s%14s%14s%12s%12s%10s\n", "T", "H",
				"parameters", "entries", "products", "asked KiB",
				"got KiB", "seconds");
	for (size_t i = 0; i < SWEEP_POINTS && !status; i++) {
		struct point point = sweep_point(i);

		if (record && !record->keys_only)
			show_progress(i);       /* a table shows itself */
		if (!record || !record->keys_only)
			status = sweep_measure(&point, error);
		if (!status && record)
			record_point(record, &point);
		else if (!status)
			print_point(&point);
	}
	if (record && !record->keys_only)
		show_progress(SWEEP_POINTS);
	return status;
}

static int sweep_command(const char *output)
{
	struct record record;
	struct error error;
	enum status status;

	if (!output)
		return sweep(NULL, &error) ? complain(&error) : ANSWER_YES;
	status = record_open(&record, output, false, &error);
	if (!status)
		status = sweep(&record, &error);
	return finish_record(&record, status, &error);
}

static int lab_command(const char *output)
{
	struct error error;
	struct lab lab = { .out = stdout, .error = &error };

	(void)output;
	if (lab_run(&lab))
		return complain(&error);
	return lab.broken ? ANSWER_NO : ANSWER_YES;
}

static int record_into(const char *path, bool keys_only)
{
	struct error error;
	struct record record;
	enum status status = record_open(&record, path, keys_only, &error);

	if (!status)
		status = measure(&record, &error);
	/* list the keys of other records */
	if (!status && keys_only)
		status = sweep(&record, &error);
	return finish_record(&record, status, &error);
}

static int record_command(const char *output)
{
	return record_into(output, false);
}

static int keys_command(const char *output)
{
	return record_into(output, true);
}

static const struct command commands[] = {
	/* table of subcommands */
	{ "sweep", "[-o FILE]",
	  "measure storage and time over lengths and heads", sweep_command,
	  true },

	{ "lab", "", "print the laboratory of the book", lab_command, false },
	{ "keys", "", "list the keys of all measured values", keys_command,
			false },
	{ "record", "[-o FILE]", "measure; print or write key, value, kind",
			record_command, true },
};

/* functions of main */
#define COMMANDS (sizeof commands / sizeof commands[0])
#define misuse(...) \
	(fprintf(stderr, "multihead: " __VA_ARGS__), \
			fputs("; try 'multihead --help'\n", stderr), CANNOT)

static int print_help(void)
{
	puts("Usage: multihead COMMAND [OPTION]...\n"
			"The program of the book on multi-head attention.\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-8s%-16s%s\n", commands[i].name,
				commands[i].arguments, commands[i].summary);
	puts("\n  --help, --version\n"
			"\nExit status: 0 done; 1 it ran and the answer is no;"
			" 2 it could not.");
	return ANSWER_YES;
}

static int finish(int answer)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return answer;
	perror("multihead: cannot write to standard output");
	return CANNOT;
}

static int command_run(const struct command *command, int argc,
		char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "output", required_argument, NULL, 'o' },
		{ NULL, 0, NULL, 0 }
	};
	const char *output = NULL;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":ho:", options, NULL)) !=
			-1)
		switch (option) {
		/* act on one option of a subcommand */
		case 'h':
			printf("Usage: multihead %s %s\n%s.\n", command->name,
					command->arguments, command->summary);
			return finish(ANSWER_YES);
		case 'o':
			if (!command->takes_output)
				return misuse("%s takes no --output", argv[0]);
			output = optarg;
			break;
		case ':':
			if (!command->takes_output)
				return misuse("%s takes no --output", argv[0]);
			return misuse("%s: '%s' needs an argument", argv[0],
					argv[optind - 1]);
		default:
			if (optopt)
				return misuse("%s does not understand '-%c'", argv[0], optopt);
			return misuse("%s does not understand '%s'", argv[0],
					argv[optind - 1]);
		}
	if (optind < argc)
		return misuse("%s takes no operand, got '%s'", argv[0],
				argv[optind]);
	return finish(command->run(output));
}

int main(int argc, char **argv)
{
	/* answer a call without a subcommand */
	if (argc < 2)
		return misuse("a subcommand is missing");
	if (strcmp(argv[1], "--help") == 0)
		return finish(print_help());
	if (strcmp(argv[1], "--version") == 0) {
		puts("multihead " VERSION);
		return finish(ANSWER_YES);
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return command_run(&commands[i], argc - 1, argv + 1);
	return misuse("no subcommand is called '%s'", argv[1]);
}
