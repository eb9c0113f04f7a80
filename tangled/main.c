/* main.c: made from chapters/80-program.nw; edit it there. */
#define _DEFAULT_SOURCE
#include <ctype.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lab.h"
#include "measure.h"
#include "record.h"
/* includes of main.c */
#include "storage.h"

#include <stdlib.h>

#include "run.h"

#include "gradient.h"
#include "online.h"

#include "bench.h"

#include "speed.h"

#include "quiz.h"

#include <time.h>

#include "predict.h"

#include <fcntl.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define VERSION "0.1.0"

enum { ANSWER_YES, ANSWER_NO, CANNOT, OPERANDS = 2 };

struct options {
	const char *output;             /* -o FILE, or NULL */
	bool verbose;
	/* more options of subcommands */
	size_t heads;                   /* 0: not said */
	const char *prefix, *path;      /* NULL: not said */
	bool unmasked, backward;

	bool quick, serve;

	bool time;
	struct sweep_times times;

	bool list, json, cards;
	const char *question;           /* NULL: all */

	size_t rounds, seed;            /* 0: not said */
	const char *topic;              /* NULL: all */
	bool remember;
	const char *operand[OPERANDS];
};

struct command {
	const char *name, *arguments, *summary;
	int (*run)(const struct options *options);
	const char *accepts;            /* letters of its options */
	int operands;                   /* how many it takes */
};

/* what subcommands share */
/* Store a whole number from 1 on; false if it is none. */
static bool positive(const char *text, size_t *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	return isdigit((unsigned char)*text) && *end == '\0' &&
			errno == 0 && *number > 0;
}

/* A forward pass by the online path, as the sweep measures it. */
static enum status online_pass(const struct layer *layer,
		struct tensor x, struct workspace *workspace,
		struct error *error)
{
	struct streamed result;
	enum status status = streamed_take(layer, x, &result, workspace,
			error);

	return status ? status : layer_forward_online(layer, x, true,
			&result, workspace, error);
}

/* A step there and back, with the input for a slope. */
static enum status online_step(const struct layer *layer,
		struct tensor x, struct workspace *workspace,
		struct error *error)
{
	struct streamed result;
	struct tensor dx;
	enum status status = streamed_take(layer, x, &result, workspace,
			error);

	if (!status)
		status = workspace_take(workspace, 3, x.shape, &dx, error);
	if (!status)
		status = layer_forward_online(layer, x, true, &result,
				workspace, error);
	return status ? status : layer_backward_online(layer, x, true,
			&result, x, dx, workspace, error);
}

static enum status stored_step(const struct layer *layer,
		struct tensor x, bool packed, struct workspace *workspace,
		struct error *error)
{
	struct forward result;
	struct tensor dx;
	enum status status = forward_take(layer, x, &result, workspace,
			error);

	if (!status)
		status = workspace_take(workspace, 3, x.shape, &dx, error);
	if (!status)
		status = (packed ? layer_forward_packed : layer_forward_loop)(
				layer, x, true, &result, workspace, error);
	return status ? status : (packed ? layer_backward_packed :
			layer_backward_loop)(layer, x, true, &result, x, dx,
			workspace, error);
}

static enum status loop_step(const struct layer *layer,
		struct tensor x, struct workspace *workspace,
		struct error *error)
{
	return stored_step(layer, x, false, workspace, error);
}

static enum status packed_step(const struct layer *layer,
		struct tensor x, struct workspace *workspace,
		struct error *error)
{
	return stored_step(layer, x, true, workspace, error);
}

static const struct {
	const char *name;
	storage_pass *pass;
	size_t longest;         /* T: what would take too long is left */
} measured_passes[] = {
	{ "loop", storage_loop, 2048 }, { "packed", storage_packed, 2048 },
	{ "online", online_pass, 4096 },
	{ "step.loop", loop_step, 1024 },
	{ "step.packed", packed_step, 1024 },
	{ "step.online", online_step, 1024 },
};

/* The memory of each path, at B = 1, C = 16 and H = 2. */
static enum status sweep_paths(struct record *record,
		struct error *error)
{
	enum { PASSES = sizeof measured_passes / sizeof *measured_passes };
	struct usage use = { 0 };
	struct cost cost;
	enum status status = storage_cost(1, 2048, 16, 2, &cost, error);

	RECORD(record, EXACT, "bytes", cost.entries * sizeof(real),
			"paths.square");
	for (int i = 0; i < PASSES; i++)
		for (size_t T = 128; T <= measured_passes[i].longest &&
				!status; T *= 2) {
			const char *name = measured_passes[i].name;

			if (!record->keys_only)
				status = storage_measure(measured_passes[i].pass, 1, T,
						16, 2, &use, error);
			RECORD(record, EXACT, "bytes", use.asked,
					"paths.%s.t%zu.asked", name, T);
			RECORD(record, NOISE, "bytes", use.resident,
					"paths.%s.t%zu.resident", name, T);
		}
	return status;
}

/* Store a list of whole numbers from 1 on; false if it is none. */
static bool number_list(const char *text, size_t list[])
{
	size_t count = 0, length;
	char item[24];

	do {
		length = strcspn(text, ",");
		if (count == SWEEP_LIST || length >= sizeof item)
			return false;
		memcpy(item, text, length);
		item[length] = '\0';
		if (!positive(item, &list[count++]))
			return false;
		text += length;
	} while (*text++);
	list[count] = 0;
	return true;
}

/* Store the names of paths; false if one of them is unknown. */
static bool path_list(const char *text, const char *list[])
{
	size_t count = 0, length;

	do {
		size_t i = 0;

		length = strcspn(text, ",");
		while (speed_path(i) && (strlen(speed_path(i)) != length ||
				strncmp(speed_path(i), text, length) != 0))
			i++;
		if (count == SWEEP_LIST || !speed_path(i))
			return false;
		list[count++] = speed_path(i);
		text += length;
	} while (*text++);
	list[count] = NULL;
	return true;
}

static int time_command(const struct options *options);


/* Say one line, whatever a caller or a file has put into the text. */
static void say(const char *text)
{
	fputs("multihead: ", stderr);
	for (; *text; text++)
		putc(*text >= ' ' && *text <= '~' ? *text : '?', stderr);
	putc('\n', stderr);
}

/* Complain of a call, with a sentence made as printf makes it. */
MH_PRINTF(1, 2)
static int misuse(const char *format, ...)
{
	static const char help[] = "; try 'multihead --help'";
	char text[500];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text - sizeof help, format, arguments);
	va_end(arguments);
	strcat(text, help);
	say(text);
	return CANNOT;
}

/* Has all that was printed arrived? If not, say so. */
static bool printed(void)
{
	const char *cause = fflush(stdout) == 0 ?
			"an earlier write failed" : strerror(errno);
	char text[200];

	if (!ferror(stdout))
		return true;
	snprintf(text, sizeof text, "cannot write to standard output: %s",
			cause);
	say(text);
	return false;
}

/* Could all be read that was asked for? If not, say so. */
static bool heard(void)
{
	if (ferror(stdin))
		say("cannot read standard input");
	return !ferror(stdin);
}

static const char *option_name(int letter);

/* Say what a function of the library has said. */
static int complain(const struct error *error)
{
	say(error->message);
	return CANNOT;
}

/* Put a record in its place, or remove it if something went wrong with
 * it, or with what was printed beside it. */
static int finish_record(struct record *record, enum status status,
		struct error *error)
{
	bool done = !status && printed();

	if (done)
		status = record_close(record, error);
	else
		record_abandon(record);
	if (status)
		return complain(error);
	return done ? ANSWER_YES : CANNOT;
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
	/* sweep over paths as well */
	if (record && !status)
		status = sweep_paths(record, error);
	return status;
}

static int sweep_command(const struct options *options)
{
	const char *output = options->output;
	struct record record;
	struct error error;
	enum status status;

	/* sweep over time if that was asked for */
	if (options->time)
		return time_command(options);
	if (options->times.tokens[0] || options->times.heads[0] ||
			options->times.paths[0] || options->times.width)
		return misuse("sweep: lengths, heads, paths and a width can be"
				" chosen with --time only");
	if (!output)
		return sweep(NULL, &error) ? complain(&error) : ANSWER_YES;
	status = record_open(&record, output, false, &error);
	if (!status)
		status = sweep(&record, &error);
	return finish_record(&record, status, &error);
}

/* Store the number of an option, or complain and return false. */
static bool take_number(const char *command, const char *option,
		size_t *number)
{
	if (positive(optarg, number))
		return true;
	misuse("%s: --%s wants a number from 1 on, got '%s'", command,
			option, optarg);
	return false;
}

static int run_command(const struct options *options)
{
	struct error error;
	struct run_request request = {
		options->operand[0], options->operand[1], options->output,
		options->prefix ? options->prefix : "", options->heads,
		RUN_PACKED, !options->unmasked, options->backward
	};
	bool single;
	enum status status;

	if (options->path && !run_path_find(options->path, &request.path))
		return misuse("run: --path wants one of loop|packed"
				/* names of more paths */
				"|online"

				"|streaming"
				", got '%s'", options->path);
	if (!request.output || !*request.output)
		return misuse("run: --output FILE is missing");
	if (!request.heads)
		return misuse("run: --heads H is missing");
	status = run_wants_float(&request, &single, &error);
	if (!status)
		status = (single ? mhf_run_layer : run_layer)(&request, &error);
	return status ? complain(&error) : ANSWER_YES;
}

static int bench_command(const struct options *options)
{
	struct record record;
	struct error error;
	enum status status;

	if (options->serve) {
		bench_serve(stdin, stdout);
		return heard() ? ANSWER_YES : CANNOT;
	}
	if (!options->output) {
		status = bench_table(NULL, options->quick, &error);
		return status ? complain(&error) : ANSWER_YES;
	}
	status = record_open(&record, options->output, false, &error);
	if (!status)
		status = bench_table(&record, options->quick, &error);
	return finish_record(&record, status, &error);
}

/* What was not asked for is as small as will show something. */
static enum status sweep_times(const struct options *options,
		struct record *record, struct error *error)
{
	static const struct sweep_times usual = {
		{ 128, 256, 512 }, { 2, 4, 8 }, 512, { NULL } };
	struct sweep_times times = options->times;

	if (!times.tokens[0])
		memcpy(times.tokens, usual.tokens, sizeof times.tokens);
	if (!times.heads[0])
		memcpy(times.heads, usual.heads, sizeof times.heads);
	if (!times.width)
		times.width = usual.width;
	for (size_t i = 0, n = 0; !options->times.paths[0] &&
			speed_path(i); i++)
		if (strcmp(speed_path(i), "bare") != 0)
			times.paths[n++] = speed_path(i);
	return bench_sweep(&times, record, error);
}

static int time_command(const struct options *options)
{
	struct record record;
	struct error error;
	enum status status;

	if (!options->output) {
		status = sweep_times(options, NULL, &error);
		return status ? complain(&error) : ANSWER_YES;
	}
	status = record_open(&record, options->output, false, &error);
	if (!status)
		status = sweep_times(options, &record, &error);
	return finish_record(&record, status, &error);
}

static int quiz_command(const struct options *options)
{
	struct error error;
	struct quiz quiz = { .in = stdin, .out = stdout };
	const struct question *question;
	enum status status = MH_OK;

	if (options->list + options->json + options->cards +
			(options->question != NULL) > 1)
		return misuse("quiz: --list, --json, --cards or --question,"
				" one at a time");
	for (size_t i = 0; options->list &&
			(question = quiz_question(i)); i++)
		puts(question->name);
	if (options->json)
		status = quiz_json(stdout, &error);
	else if (options->cards)
		status = quiz_cards(stdout, &error);
	else if (!options->list)
		status = quiz_run(&quiz, options->question, &error);
	if (status)
		return complain(&error);
	return heard() ? ANSWER_YES : CANNOT;
}

/* Read the boxes; a damaged file is set aside, and said to be. */
static enum status recall(struct predict *predict,
		char path[MEMORY_PATH], struct error *error)
{
	char aside[MEMORY_PATH], text[500];
	enum status status = memory_path(path, error);

	if (!status)
		status = memory_load(&predict->memory, path, error);
	if (status == MH_EFORMAT) {
		status = memory_set_aside(&predict->memory, path, aside, error);
		snprintf(text, sizeof text, "what was remembered is damaged;"
				" it is now in %.400s", aside);
		if (!status && *aside)
			say(text);
	}
	predict->path = path;
	return status;
}

static int predict_command(const struct options *options)
{
	struct predict predict = { .in = stdin, .out = stdout };
	char path[MEMORY_PATH];
	struct error error;
	enum status status = MH_OK;

	/* list the topics, if that is wanted */
	const struct topic *topic;

	for (size_t i = 0; options->list && (topic = predict_topic(i)); i++)
		printf("%-14s%s\n", topic->name, topic->summary);
	if (options->list)
		return ANSWER_YES;
	if (!predict_begin(&predict, options->topic))
		return misuse("predict: no topic is called '%s'; --list names"
				" them", options->topic);
	predict.rounds = options->rounds ? options->rounds : 10;
	predict.fixed = options->seed && !options->remember;
	if (options->remember)
		status = recall(&predict, path, &error);
	if (!status)
		printf("Write fractions, such as 26/7, or two decimals, such"
				" as 3.71.\nAn empty line gives the question up, q"
				" ends the session.\n%s\n", predict.fixed ?
				"The same seed asks the same questions again.\n" :
				"What is missed comes back.\n");
	if (!status)
		status = predict_run(&predict, options->seed ? options->seed :
				(uint64_t)time(NULL), &error);
	if (status)
		return complain(&error);
	return heard() ? ANSWER_YES : CANNOT;
}

static int lab_command(const struct options *options)
{
	struct error error;
	struct lab lab = { .out = stdout, .error = &error,
			.verbose = options->verbose };

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

static int record_command(const struct options *options)
{
	return record_into(options->output, false);
}

static int keys_command(const struct options *options)
{
	return record_into(options->output, true);
}

static const struct command commands[] = {
	/* table of subcommands */
	{ "sweep", "[-o FILE]"
	  /* arguments of a sweep over time */
	  " [--time [--tokens LIST] [--heads LIST] [--paths LIST] [--width C]]"
	  , "measure storage and time over lengths and heads", sweep_command,
	  "o"
	  /* letters of a sweep over time */
	  "tkHaw"
	  , 0 },

	{ "run", "LAYER INPUTS -o FILE --heads H [--prefix P]"
	  " [--path loop|packed"
	  /* names of more paths */
	  "|online"

	  "|streaming"
	  "] [--no-causal] [--backward]",
	  "run a PyTorch layer, saved as safetensors, on inputs from a file",
	  run_command,
	  "oHpPub", 2 },

	{ "bench", "[-o FILE] [--quick] [--serve]",
	  "time all paths, in float, and the peaks of this machine",
	  bench_command, "oqs", 0 },

	{ "quiz", "[--list|--json|--cards|--question NAME]",
	  "ask the questions of the book; you judge the answers; q ends it",
	  quiz_command, "LJCQ", 0 },

	{ "predict", "[--rounds N] [--seed S] [--topic T] [--remember]"
	  " [--list]", "ask for numbers first, then run the layer; q ends it",
	  predict_command, "rSTRL", 0 },

	{ "lab", "[--verbose]", "print the laboratory of the book",
			lab_command, "v", 0 },
	{ "keys", "", "list the keys of all measured values", keys_command, "",
			0 },
	{ "record", "[-o FILE]", "measure; print or write key, value, kind",
			record_command, "o", 0 },
};

/* functions of main */
#define COMMANDS (sizeof commands / sizeof commands[0])

static int print_help(void)
{
	puts("Usage: multihead COMMAND [OPTION]...\n"
			"The program of the book on multi-head attention.\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-8s%s\n", commands[i].name, commands[i].summary);
	puts("\n  --help (of each command, too), --version\n"
			"\nExit status: 0 done; 1 it ran and the answer is no;"
			" 2 it could not.");
	return ANSWER_YES;
}

static int finish(int answer)
{
	return answer == CANNOT || printed() ? answer : CANNOT;
}

static const struct option options_known[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "output", required_argument, NULL, 'o' },
	{ "verbose", no_argument, NULL, 'v' },
	/* more options for getopt */
	{ "heads", required_argument, NULL, 'H' },
	{ "prefix", required_argument, NULL, 'p' },
	{ "path", required_argument, NULL, 'P' },
	{ "no-causal", no_argument, NULL, 'u' },
	{ "backward", no_argument, NULL, 'b' },

	{ "quick", no_argument, NULL, 'q' },
	{ "serve", no_argument, NULL, 's' },

	{ "time", no_argument, NULL, 't' },
	{ "tokens", required_argument, NULL, 'k' },
	{ "paths", required_argument, NULL, 'a' },
	{ "width", required_argument, NULL, 'w' },

	{ "list", no_argument, NULL, 'L' },
	{ "json", no_argument, NULL, 'J' },
	{ "cards", no_argument, NULL, 'C' },
	{ "question", required_argument, NULL, 'Q' },

	{ "rounds", required_argument, NULL, 'r' },
	{ "seed", required_argument, NULL, 'S' },
	{ "topic", required_argument, NULL, 'T' },
	{ "remember", no_argument, NULL, 'R' },
	{ NULL, 0, NULL, 0 }
};

static int command_run(const struct command *command, int argc,
		char **argv)
{
	struct options options = { 0 };
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":ho:v", options_known,
			NULL)) != -1) {
		/* refuse what is no option, or not of this subcommand */
		if (option == '?') {
			const char *said = argv[optind - 1];
			const char *name = optopt ? option_name(optopt) : NULL;

			if (name && strchr(said, '=') && strncmp(said, "--", 2) == 0 &&
					strncmp(said + 2, name, strcspn(said + 2, "=")) == 0)
				return misuse("%s: --%s takes no argument", argv[0], name);
			if (optopt)
				return misuse("%s does not understand '-%c'", argv[0], optopt);
			return misuse("%s does not understand '%s'", argv[0], said);
		}
		int letter = option == ':' ? optopt : option;

		if (letter != 'h' && !strchr(command->accepts, letter))
			return misuse("%s takes no --%s", argv[0], option_name(letter));
		if (option == ':')
			return misuse("%s: '%s' needs an argument", argv[0],
					argv[optind - 1]);
		switch (option) {
		/* note one option of a subcommand */
		case 'H':
			/* note a list of heads */
			if (strchr(command->accepts, 't')) {
				if (!number_list(optarg, options.times.heads))
					return misuse("%s: --heads wants up to %d numbers from 1 on,"
							" as 2,4, got '%s'", argv[0], SWEEP_LIST, optarg);
				break;
			}
			if (!take_number(argv[0], "heads", &options.heads))
				return CANNOT;
			break;
		case 'p':
			options.prefix = optarg;
			break;
		case 'P':
			options.path = optarg;
			break;
		case 'u':
			options.unmasked = true;
			break;
		case 'b':
			options.backward = true;
			break;

		case 'q':
			options.quick = true;
			break;
		case 's':
			options.serve = true;
			break;

		case 't':
			options.time = true;
			break;
		case 'k':
			if (!number_list(optarg, options.times.tokens))
				return misuse("%s: --tokens wants up to %d numbers from 1 on,"
						" as 128,256, got '%s'", argv[0], SWEEP_LIST, optarg);
			break;
		case 'a':
			if (!path_list(optarg, options.times.paths))
				return misuse("%s: --paths wants names of paths, as"
						" loop,packed, got '%s'", argv[0], optarg);
			break;
		case 'w':
			if (!take_number(argv[0], "width", &options.times.width))
				return CANNOT;
			break;

		case 'L':
			options.list = true;
			break;
		case 'J':
			options.json = true;
			break;
		case 'C':
			options.cards = true;
			break;
		case 'Q':
			options.question = optarg;
			break;

		case 'r':
			if (!take_number(argv[0], "rounds", &options.rounds))
				return CANNOT;
			break;
		case 'S':
			if (!take_number(argv[0], "seed", &options.seed))
				return CANNOT;
			break;
		case 'T':
			options.topic = optarg;
			break;
		case 'R':
			options.remember = true;
			break;

		case 'h':
			printf("Usage: multihead %s%s%s\n%c%s.\n", command->name,
					*command->arguments ? " " : "", command->arguments,
					toupper((unsigned char)command->summary[0]),
					command->summary + 1);
			return finish(ANSWER_YES);
		case 'o':
			options.output = optarg;
			break;
		case 'v':
			options.verbose = true;
			break;
		}
	}
	/* note the operands, as many as there must be */
	if (argc - optind > command->operands)
		return command->operands ?
				misuse("%s takes %d operands, got '%s' as well",
					argv[0], command->operands,
					argv[optind + command->operands]) :
				misuse("%s takes no operand, got '%s'", argv[0],
					argv[optind]);
	if (argc - optind < command->operands)
		return misuse("%s takes %d operands, got %d", argv[0],
				command->operands, argc - optind);
	for (int i = 0; i < command->operands; i++)
		options.operand[i] = argv[optind + i];
	return finish(command->run(&options));
}

/* The long name of an option, or NULL. */
static const char *option_name(int letter)
{
	const struct option *known = options_known;

	while (known->name && known->val != letter)
		known++;
	return known->name;
}

static char unfinished[4096 + 64];      /* its name, or empty */
static pthread_t first_thread;

static void note_unfinished(const char *beside)
{
	snprintf(unfinished, sizeof unfinished, "%s",
			beside ? beside : "");
}

static void clean_up(int number)
{
	if (!pthread_equal(pthread_self(), first_thread)) {
		pthread_kill(first_thread, number);
		return;
	}
	if (*unfinished)
		unlink(unfinished);
	signal(number, SIG_DFL);
	raise(number);
}

int main(int argc, char **argv)
{
	/* fill the places of streams that are closed */
	for (int stream = 0; stream < 3; stream++)
		if (fcntl(stream, F_GETFD) == -1)
			open("/dev/null", stream ? O_RDONLY : O_WRONLY);
	/* let no signal leave an unfinished file */
	static const int numbers[] = { SIGHUP, SIGINT, SIGPIPE, SIGQUIT,
			SIGTERM, SIGXCPU };

	first_thread = pthread_self();
	whole_watch(note_unfinished);
	/* watch the files of the float library, too */
	mhf_whole_watch(note_unfinished);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (signal(numbers[i], SIG_IGN) != SIG_IGN)
			signal(numbers[i], clean_up);
	signal(SIGXFSZ, SIG_IGN);
	/* answer a call without a subcommand */
	if (argc < 2)
		return misuse("a subcommand is missing");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
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
