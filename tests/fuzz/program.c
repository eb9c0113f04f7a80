/* Bytes as a call of the program: its arguments, a line each; an empty line; and
 * the rest, which is what stands in standard input, in a file called BYTES, and
 * in the file that `predict --remember` remembers by. The call is made in a
 * folder that also holds a layer and its inputs, LAYER and INPUTS. Whatever it
 * was, it ends with status 0, or with status 2, one line on standard error, and
 * the folder as it was.
 *
 * What measures would take seconds or minutes. So measure() says what is in
 * a file RECORD; tables of times are left empty; and a call
 * is passed over if it names a place outside of the folder, or asks for passes
 * of many numbers. */
#define _GNU_SOURCE     /* and with it what main.c defines */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"
#include "bench.h"
#include "measure.h"
#include "record.h"
#include "storage.h"

/* ---- what measures ----------------------------------------------------------- */

enum status __wrap_mh_measure(struct record *, struct error *);
enum status __wrap_mh_sweep_measure(struct point *, struct error *);
enum status __wrap_mh_storage_measure(storage_pass *, size_t, size_t,
		size_t, size_t, struct usage *, struct error *);
enum status __wrap_mh_bench_table(struct record *, bool, struct error *);
enum status __wrap_mh_bench_sweep(const struct sweep_times *,
		struct record *, struct error *);

static const char *measured;            /* what RECORD holds */

enum status __wrap_mh_measure(struct record *record, struct error *error)
{
	(void)error;
	for (const char *line = measured; *line;) {
		size_t whole = strcspn(line, "\n"), key = strcspn(line, "\t");

		fwrite(line, 1, record->keys_only ? key : whole, record->file);
		putc('\n', record->file);
		line += whole + (line[whole] == '\n');
	}
	return MH_OK;
}

enum status __wrap_mh_sweep_measure(struct point *point,
		struct error *error)
{
	(void)error;
	point->usage = (struct usage){ 0 };
	return MH_OK;
}

enum status __wrap_mh_storage_measure(storage_pass *pass, size_t B,
		size_t T, size_t C, size_t H, struct usage *usage,
		struct error *error)
{
	(void)pass;
	(void)error;
	usage->asked = B * T * C * H;
	return MH_OK;
}

enum status __wrap_mh_bench_table(struct record *record, bool quick,
		struct error *error)
{
	(void)error;
	if (record)
		RECORD(record, NOISE, "1", quick, "bench.quick");
	return MH_OK;
}

enum status __wrap_mh_bench_sweep(const struct sweep_times *times,
		struct record *record, struct error *error)
{
	(void)error;
	for (size_t i = 0; times->tokens[i]; i++)
		printf("%zu\n", times->tokens[i]);
	for (size_t i = 0; times->heads[i]; i++)
		printf("%zu\n", times->heads[i]);
	for (size_t i = 0; times->paths[i]; i++)
		puts(times->paths[i]);
	if (record)
		RECORD(record, NOISE, "1", times->width, "sweep.width");
	return MH_OK;
}

/* The peaks of a machine, of which a server may be asked. */
double __wrap_mh_speed_fma(size_t threads);
double __wrap_mh_speed_reading(size_t bytes, size_t threads);
double __wrap_mhf_speed_gemm(size_t n);
double __wrap_mhf_speed_product(size_t T, bool gradient);
double __wrap_mhf_speed_head(size_t T, bool backward);

double __wrap_mh_speed_fma(size_t threads)
{
	return (double)threads;
}

double __wrap_mh_speed_reading(size_t bytes, size_t threads)
{
	return (double)(bytes * threads);
}

double __wrap_mhf_speed_gemm(size_t n)
{
	return (double)n;
}

double __wrap_mhf_speed_product(size_t T, bool gradient)
{
	return (double)T + gradient;
}

double __wrap_mhf_speed_head(size_t T, bool backward)
{
	return (double)T + backward;
}

/* ---- the folder -------------------------------------------------------------- */

struct bytes { char *start; size_t size; };

static struct bytes layer, inputs;      /* what LAYER and INPUTS hold */
static const char remembered[] = "state/multihead/predict.tsv";

static struct bytes read_file(const char *path)
{
	struct bytes all;
	struct stat facts;
	FILE *file = fopen(path, "rb");

	MUST(file && fstat(fileno(file), &facts) == 0);
	all.start = calloc(1, (size_t)facts.st_size + 1);
	MUST(all.start);
	all.size = fread(all.start, 1, (size_t)facts.st_size, file);
	fclose(file);
	return all;
}

static void write_file(const char *path, struct bytes bytes)
{
	FILE *file = fopen(path, "wb");

	MUST(file);
	MUST(fwrite(bytes.start, 1, bytes.size, file) == bytes.size);
	MUST(fclose(file) == 0);
}

static bool holds_file(const char *path, struct bytes bytes)
{
	struct bytes found = read_file(path);
	bool same = found.size == bytes.size &&
			memcmp(found.start, bytes.start, bytes.size) == 0;

	free(found.start);
	return same;
}

/* Remove all files of a folder but this one; how many there were. */
static int clear(const char *folder)
{
	DIR *all = opendir(folder);
	struct dirent *entry;
	char path[600];
	int count = 0;

	while (all && (entry = readdir(all))) {
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		if (entry->d_type == DT_REG)
			count += unlink(path) == 0;
	}
	if (all)
		closedir(all);
	return count;
}

/* What the folder FUZZ_FILES holds under this name. */
static struct bytes given(const char *name)
{
	const char *files = getenv("FUZZ_FILES");
	char path[500];

	snprintf(path, sizeof path, "%.400s/%s", files ? files : ".", name);
	return read_file(path);
}

/* A folder of our own. */
static void go_there(void)
{
	const char *place = getenv("TMPDIR");
	char path[500];

	layer = given("LAYER");
	inputs = given("INPUTS");
	measured = given("RECORD").start;
	snprintf(path, sizeof path, "%.400s/fuzz-XXXXXX", place ? place :
			"/tmp");
	MUST(mkdtemp(path));
	MUST(chdir(path) == 0);
	MUST(mkdir("state", 0700) == 0 && mkdir("state/multihead", 0700) == 0);
	strcat(path, "/state");
	setenv("XDG_STATE_HOME", path, 1);
}

static void go_away(void)
{
	char path[500];

	clear("state/multihead");
	rmdir("state/multihead");
	rmdir("state");
	clear(".");
	if (getcwd(path, sizeof path))
		rmdir(path);
}

/* ---- the call ---------------------------------------------------------------- */

#undef _DEFAULT_SOURCE
#define main program_main
int program_main(int argc, char **argv);
#include "main.c"
#undef main

enum { ARGUMENTS = 16, LONGEST = 4000 };

#define NO_ARGUMENT "takes no argument"

/* Is the call one that leaves the folder, or takes long? Numbers of three digits
 * are many for what is asked of a server. */
static bool unwelcome(char *const argv[], const char *rest)
{
	bool serves = false;
	int digits = 0;

	for (; *argv; argv++) {
		serves |= strstr(*argv, "--s") != NULL;
		if (strchr(*argv, '/') || strcmp(*argv, "state") == 0)
			return true;
	}
	for (; serves && *rest; rest++) {
		digits = isdigit((unsigned char)*rest) ? digits + 1 : 0;
		if (digits > 2)
			return true;
	}
	return false;
}

/* Cut the bytes into arguments and the rest. */
static char *cut(char *text, char *argv[])
{
	static char name[] = "multihead";
	int argc = 0;

	argv[argc++] = name;
	while (*text && *text != '\n' && argc < ARGUMENTS) {
		argv[argc++] = text;
		text += strcspn(text, "\n");
		if (*text)
			*text++ = '\0';
	}
	argv[argc] = NULL;
	return *text == '\n' ? text + 1 : text;
}

struct outcome { int status; char *out, *complaint; };

static struct outcome call(char *argv[])
{
	FILE *in = stdin, *out = stdout, *err = stderr;
	struct outcome o = { 0 };
	size_t length[2];
	int argc = 0;

	while (argv[argc])
		argc++;
	stdin = fopen("BYTES", "rb");
	stdout = open_memstream(&o.out, &length[0]);
	stderr = open_memstream(&o.complaint, &length[1]);
	MUST(stdin && stdout && stderr);
	optind = 0;
	errno = 0;
	o.status = program_main(argc, argv);
	fclose(stdin);
	fclose(stdout);
	fclose(stderr);
	stdin = in;
	stdout = out;
	stderr = err;
	return o;
}

/* Nothing has appeared in the folder, and nothing has gone. */
static bool as_it_was(struct bytes rest)
{
	bool same = holds_file("LAYER", layer) &&
			holds_file("INPUTS", inputs) && holds_file("BYTES", rest);

	return clear(".") == 3 && same;
}

static bool one_line(const char *text)
{
	const char *end = text;

	while (*end >= ' ' && *end <= '~')
		end++;
	return strncmp(text, "multihead: ", 11) == 0 &&
			strcmp(end, "\n") == 0;
}

/* Is there an option with an argument behind an equals sign, or do the arguments
 * say themselves what the complaint, which repeats them, seems to say? */
static bool gives_one(char *const argv[])
{
	for (; *argv; argv++)
		if ((strncmp(*argv, "--", 2) == 0 && strchr(*argv, '=')) ||
				strstr(*argv, NO_ARGUMENT))
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static char text[LONGEST + 1];
	char *argv[ARGUMENTS + 2];
	struct bytes rest;
	struct outcome o;

	if (!layer.start) {
		go_there();
		atexit(go_away);
	}
	if (size > LONGEST)
		return -1;
	memcpy(text, bytes, size);
	text[size] = '\0';
	rest.start = cut(text, argv);
	rest.size = rest.start > text + size ? 0 :
			(size_t)(text + size - rest.start);
	if (unwelcome(argv, rest.start))
		return -1;
	clear(".");
	clear("state/multihead");
	write_file("LAYER", layer);
	write_file("INPUTS", inputs);
	write_file("BYTES", rest);
	write_file(remembered, rest);
	o = call(argv);
	MUST(o.status == ANSWER_YES || as_it_was(rest));
	MUST(o.status == ANSWER_YES || o.status == CANNOT);
	if (o.status == CANNOT && !one_line(o.complaint))
		fprintf(stderr, "%s", o.complaint);
	MUST(o.status == ANSWER_YES || one_line(o.complaint));
	MUST(o.status == CANNOT || !*o.complaint ||
			(one_line(o.complaint) && strstr(o.complaint, "damaged")));
	if (strstr(o.complaint, NO_ARGUMENT))
		MUST(gives_one(argv));
	free(o.out);
	free(o.complaint);
	return 0;
}
