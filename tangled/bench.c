/* bench.c: made from chapters/60-speed.nw; edit it there. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "record.h"
#include "speed.h"
#include "storage.h"

#ifdef __clang__
#define BENCH_COMPILER __VERSION__      /* "Clang 14.0.6" */
#else
#define BENCH_COMPILER "gcc " __VERSION__
#endif

/* private functions of bench */
enum { STANDS = 16 };

/* Layers are kept, since each is asked for many times. */
struct server {
	struct {
		char request[128];
		struct timed *timed;
	} stand[STANDS];
	size_t count;
	FILE *out;
};

/* Answer the rest of a request. */
typedef enum status answer(struct server *server, const char *rest,
		struct error *error);

static enum status puzzled(struct error *error, const char *rest)
{
	return REFUSE(error, MH_EFORMAT, "cannot read '%.60s'", rest);
}

static enum status answer_paths(struct server *server, const char *rest,
		struct error *error)
{
	(void)rest, (void)error;
	fputs("ok", server->out);
	for (size_t i = 0; speed_path(i); i++)
		fprintf(server->out, " %s", speed_path(i));
	fputs("\n", server->out);
	return MH_OK;
}

static enum status answer_about(struct server *server, const char *rest,
		struct error *error)
{
	(void)rest, (void)error;
	fprintf(server->out, "ok %zu %s\n", speed_lanes(), BENCH_COMPILER);
	return MH_OK;
}

/* Read so many numbers and no more, or return false. */
static bool read_numbers(const char *rest, size_t count,
		size_t numbers[])
{
	char *end;

	for (size_t i = 0; i < count; i++) {
		rest += strspn(rest, " ");
		errno = 0;
		numbers[i] = strtoul(rest, &end, 10);
		if (!isdigit((unsigned char)*rest) || errno != 0)
			return false;
		rest = end;
	}
	return rest[strspn(rest, " ")] == '\0';
}

static enum status answer_rate(struct server *server, double rate,
		struct error *error)
{
	if (!(rate > 0))
		return REFUSE(error, MH_EMEMORY, "that could not be measured");
	fprintf(server->out, "ok %.17g\n", rate);
	return MH_OK;
}

static enum status answer_fma(struct server *server, const char *rest,
		struct error *error)
{
	size_t threads;

	if (!read_numbers(rest, 1, &threads))
		return puzzled(error, rest);
	return answer_rate(server, speed_fma(threads), error);
}

static enum status answer_read(struct server *server, const char *rest,
		struct error *error)
{
	size_t n[2];

	if (!read_numbers(rest, 2, n))
		return puzzled(error, rest);
	return answer_rate(server, speed_reading(n[0], n[1]), error);
}

static enum status answer_gemm(struct server *server, const char *rest,
		struct error *error)
{
	size_t n;

	if (!read_numbers(rest, 1, &n))
		return puzzled(error, rest);
	return answer_rate(server, mhf_speed_gemm(n), error);
}

static enum status answer_count(struct server *server, const char *rest,
		struct error *error)
{
	struct speed_shape s;
	char path[16];
	size_t n[4];
	int end;

	if (sscanf(rest, "%15s%n", path, &end) != 1 ||
			!read_numbers(rest + end, 4, n))
		return puzzled(error, rest);
	s = (struct speed_shape){ n[0], n[1], n[2], n[3] };
	fprintf(server->out, "ok %.17g %.17g %.17g\n",
			speed_projections(s), speed_attention(s),
			speed_bytes(path, s));
	return MH_OK;
}

static enum status answer_part(struct server *server, const char *rest,
		struct error *error)
{
	static const struct {
		const char *name;
		double (*rate)(size_t T, bool backward);
		bool backward;
	} parts[] = {
		{ "product", mhf_speed_product, false },
		{ "gradient", mhf_speed_product, true },
		{ "forward", mhf_speed_head, false },
		{ "backward", mhf_speed_head, true },
	};
	char name[16];
	size_t T;
	int end;

	if (sscanf(rest, "%15s%n", name, &end) == 1 &&
			read_numbers(rest + end, 1, &T))
		for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
			if (strcmp(parts[i].name, name) == 0)
				return answer_rate(server, parts[i].rate(T,
						parts[i].backward), error);
	return puzzled(error, rest);
}

static enum status answer_drop(struct server *server, const char *rest,
		struct error *error)
{
	(void)rest, (void)error;
	while (server->count)
		mhf_speed_free(server->stand[--server->count].timed);
	fputs("ok\n", server->out);
	return MH_OK;
}

/* The layer of this request, kept or new. */
static enum status find_timed(struct server *server, const char *path,
		const char *way, struct speed_shape s, struct timed **timed,
		struct error *error)
{
	char request[128];
	size_t i = 0;
	enum status status;

	snprintf(request, sizeof request, "%s %s %zu %zu %zu %zu", path,
			way, s.B, s.T, s.C, s.H);
	while (i < server->count &&
			strcmp(server->stand[i].request, request) != 0)
		i++;
	if (i == STANDS)
		return REFUSE(error, MH_EMEMORY, "more than %d layers; drop"
				" some", STANDS);
	if (i == server->count) {
		status = mhf_speed_create(path, s, strcmp(way, "forward") != 0,
				&server->stand[i].timed, error);
		if (status)
			return status;
		strcpy(server->stand[server->count++].request, request);
	}
	*timed = server->stand[i].timed;
	return MH_OK;
}

static enum status answer_step(struct server *server, const char *rest,
		struct error *error)
{
	struct speed_shape s;
	struct timed *timed = NULL;
	struct speed_memory memory;
	char path[16], way[16];
	size_t n[5];
	int end;
	double seconds;
	enum status status;

	if (sscanf(rest, "%15s %15s%n", path, way, &end) != 2 ||
			!read_numbers(rest + end, 5, n) || n[4] == 0 ||
			(strcmp(way, "forward") && strcmp(way, "backward")))
		return puzzled(error, rest);
	s = (struct speed_shape){ n[0], n[1], n[2], n[3] };
	status = find_timed(server, path, way, s, &timed, error);
	if (!status)
		status = mhf_speed_step(timed, n[4], &seconds, error);
	if (status)
		return status;
	memory = mhf_speed_memory(timed);
	fprintf(server->out, "ok %.17g %zu %zu\n", seconds, memory.asked,
			memory.grown);
	return MH_OK;
}

enum { TURNS = 15, CONTENDERS = 8 };

struct contender {
	const char *path;
	struct timed *timed;
	double seconds[TURNS];
};

/* One shape, one way, and the paths that are timed on it by turns. */
struct cell {
	struct speed_shape shape;
	bool backward;
	struct contender list[CONTENDERS];
	size_t count, turns, repeats;
};

/* Paths that would take longer than this for one step are left out. */
static const double patience = 2;

static void cell_free(struct cell *cell)
{
	while (cell->count)
		mhf_speed_free(cell->list[--cell->count].timed);
}

/* rates: operations a second of each path so far, or 0. */
static enum status cell_set(struct cell *cell, const double rates[],
		struct error *error)
{
	double operations = speed_operations(cell->shape, cell->backward);
	enum status status = MH_OK;

	for (size_t i = 0; i < CONTENDERS && speed_path(i) && !status;
			i++) {
		struct contender *c = &cell->list[cell->count];

		if (strcmp(speed_path(i), "bare") == 0 || (rates[i] > 0 &&
				operations / rates[i] > patience))
			continue;
		c->path = speed_path(i);
		status = mhf_speed_create(c->path, cell->shape, cell->backward,
				&c->timed, error);
		cell->count += !status;
	}
	return status;
}

static enum status cell_turn(struct cell *cell, size_t repeats,
		size_t turn, struct error *error)
{
	enum status status = MH_OK;

	for (size_t i = 0; i < cell->count && !status; i++)
		status = mhf_speed_step(cell->list[i].timed, repeats,
				&cell->list[i].seconds[turn], error);
	return status;
}

static enum status cell_run(struct cell *cell, double budget,
		struct error *error)
{
	double end = speed_now() + budget, least = budget;
	enum status status = cell_turn(cell, 1, 0, error);

	for (size_t i = 0; i < cell->count; i++)
		if (cell->list[i].seconds[0] < least)
			least = cell->list[i].seconds[0];
	cell->repeats = least < 1e-3 ? (size_t)(1e-3 / least) + 1 : 1;
	while (!status && cell->turns < TURNS &&
			(cell->turns < 3 || speed_now() < end))
		status = cell_turn(cell, cell->repeats, cell->turns++, error);
	return status;
}

static void cell_report(struct cell *cell, struct record *record,
		double rates[])
{
	const char *way = cell->backward ? "backward" : "forward";
	double operations = speed_operations(cell->shape, cell->backward);
	struct speed_shape s = cell->shape;

	for (size_t i = 0; i < cell->count; i++) {
		struct contender *c = &cell->list[i];
		struct spread spread = speed_spread(c->seconds, cell->turns);
		double rate = operations / spread.median;

		printf("%3zu%6zu%6zu%4zu %-9s%-10s%10.3f%10.3f%10.3f%9.2f\n",
				s.B, s.T, s.C, s.H, way, c->path, spread.median * 1e3,
				spread.low * 1e3, spread.high * 1e3, rate / 1e9);
		for (size_t k = 0; speed_path(k); k++)
			if (speed_path(k) == c->path)
				rates[k] = rate;
		if (record)
			/* record the times of one path */
			{
				const struct { const char *name, *unit; double value; } line[] = {
					{ "median", "ms", spread.median * 1e3 },
					{ "low", "ms", spread.low * 1e3 },
					{ "high", "ms", spread.high * 1e3 },
					{ "rate", "GFLOP/s", rate / 1e9 },
				};

				for (size_t k = 0; k < sizeof line / sizeof line[0]; k++)
					RECORD(record, NOISE, line[k].unit, line[k].value,
							"bench.t%zu.%s.%s.%s", s.T, way, c->path,
							line[k].name);
			}
	}
}

/* Say on a terminal what is being done; NULL: nothing any more. */
static void bench_progress(const char *what)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%s", what ? what : "");
}

static enum status measure_peaks(struct record *record, bool quick,
		struct error *error)
{
	const size_t all = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	const size_t bytes = (size_t)1 << (quick ? 20 : 28);
	const struct { const char *key, *unit; double value; } peaks[] = {
		{ "fma.one", "GFLOP/s", speed_fma(1) / 1e9 },
		{ "fma.all", "GFLOP/s", speed_fma(all) / 1e9 },
		{ "gemm", "GFLOP/s", mhf_speed_gemm(quick ? 64 : 2048) / 1e9 },
		{ "read.one", "GB/s", speed_reading(bytes, 1) / 1e9 },
		{ "read.all", "GB/s", speed_reading(bytes, all) / 1e9 },
	};

	printf("threads of this machine: %zu\n", all);
	for (size_t i = 0; i < sizeof peaks / sizeof peaks[0]; i++) {
		if (!(peaks[i].value > 0))
			return REFUSE(error, MH_EMEMORY, "no memory or no threads"
					" to measure %s", peaks[i].key);
		printf("%-10s%10.1f %s\n", peaks[i].key, peaks[i].value,
				peaks[i].unit);
		if (record)
			RECORD(record, NOISE, peaks[i].unit, peaks[i].value,
					"bench.%s", peaks[i].key);
	}
	if (record)
		RECORD(record, NOISE, "1", all, "bench.processors");
	return MH_OK;
}

/* What the processor is called, as far as the system says. */
static void processor_name(char name[], size_t room)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[256];

	snprintf(name, room, "unknown processor");
	while (file && fgets(line, sizeof line, file)) {
		const char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) == 0 && colon) {
			snprintf(name, room, "%.*s",
					(int)strcspn(colon + 2, "\t\n"), colon + 2);
			break;
		}
	}
	if (file)
		fclose(file);
}

static void record_circumstances(struct record *record)
{
	char name[128], date[32];
	time_t now = time(NULL);
	struct tm *utc = gmtime(&now);

	processor_name(name, sizeof name);
	strftime(date, sizeof date, "%Y-%m-%d", utc);
	printf("%s, %s, %s\n", date, name, BENCH_COMPILER);
	if (record) {
		RECORD_TEXT(record, date, "bench.date");
		RECORD_TEXT(record, name, "bench.machine");
		RECORD_TEXT(record, BENCH_COMPILER, "bench.compiler");
	}
}

struct timing {
	const char *path;
	struct speed_shape shape;
	bool backward;
	struct spread seconds;
	struct speed_memory memory;
};

static enum status time_alone(void *data, struct error *error)
{
	struct timing *t = data;
	double seconds[TURNS], end = speed_now() + 0.5;
	struct timed *timed;
	size_t turns = 0;
	enum status status = mhf_speed_create(t->path, t->shape,
			t->backward, &timed, error);

	if (status)
		return status;
	status = mhf_speed_step(timed, 1, &seconds[0], error);
	while (!status && turns < TURNS && (!turns || speed_now() < end))
		status = mhf_speed_step(timed, 1, &seconds[turns++], error);
	t->seconds = speed_spread(seconds, turns);
	t->memory = mhf_speed_memory(timed);
	mhf_speed_free(timed);
	return status;
}

static void report_timing(const struct timing *t,
		struct record *record)
{
	const char *way = t->backward ? "backward" : "forward";
	const struct { const char *name, *unit; double value; } line[] = {
		{ "median", "ms", t->seconds.median * 1e3 },
		{ "low", "ms", t->seconds.low * 1e3 },
		{ "high", "ms", t->seconds.high * 1e3 },
		{ "rate", "GFLOP/s", speed_operations(t->shape, t->backward) /
				t->seconds.median / 1e9 },
		{ "asked", "KiB", (double)t->memory.asked / 1024 },
		{ "grown", "KiB", (double)t->memory.grown / 1024 },
	};

	printf("%6zu%4zu %-10s%-9s", t->shape.T, t->shape.H, t->path, way);
	for (size_t i = 0; i < sizeof line / sizeof line[0]; i++) {
		printf(i < 4 ? "%10.3f" : "%11.1f", line[i].value);
		if (record)
			RECORD(record, NOISE, line[i].unit, line[i].value,
					"sweep.time.%s.t%zu.h%zu.%s.%s", t->path,
					t->shape.T, t->shape.H, way, line[i].name);
	}
	printf("\n");
}
/* functions of bench */
void bench_serve(FILE *in, FILE *out)
{
	static const struct { const char *word; answer *answer; }
	words[] = {
		{ "paths", answer_paths }, { "about", answer_about },
		{ "fma", answer_fma }, { "read", answer_read },
		{ "gemm", answer_gemm }, { "part", answer_part },
		{ "count", answer_count }, { "step", answer_step },
		{ "drop", answer_drop },
	};
	struct server server = { .out = out };
	char line[256], word[16];
	int end;

	while (fgets(line, sizeof line, in)) {
		struct error error = { .message = "no such request" };
		enum status status = MH_EFORMAT;

		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "end") == 0)
			break;
		if (sscanf(line, "%15s%n", word, &end) == 1)
			for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
				if (strcmp(words[i].word, word) == 0)
					status = words[i].answer(&server, line +
							end, &error);
		if (status)
			fprintf(out, "no %s\n", error.message);
		fflush(out);
	}
	while (server.count)
		mhf_speed_free(server.stand[--server.count].timed);
}

enum status bench_table(struct record *record, bool quick,
		struct error *error)
{
	static const struct speed_shape real_shapes[] = {
		{ 1, 128, 768, 12 }, { 4, 256, 768, 12 },
		{ 4, 1024, 768, 12 }, { 1, 2048, 768, 12 },
		{ 1, 4096, 512, 8 }, { 0 }
	}, tiny_shapes[] = { { 2, 4, 8, 2 }, { 1, 16, 24, 3 }, { 0 } };
	const struct speed_shape *s = quick ? tiny_shapes : real_shapes;
	double rates[CONTENDERS] = { 0 };
	enum status status;

	bench_progress("peaks of this machine");
	record_circumstances(record);
	status = measure_peaks(record, quick, error);
	bench_progress(NULL);
	if (status)
		return status;
	printf("%3s%6s%6s%4s %-9s%-10s%10s%10s%10s%9s\n", "B", "T", "C",
			"H", "way", "path", "ms", "low", "high", "GFLOP/s");
	for (; s->B && !status; s++)
		for (int way = 0; way < 2 && !status; way++) {
			/* time all paths on one shape, one way */
			struct cell cell = { .shape = *s, .backward = way };
			char what[64];

			snprintf(what, sizeof what, "T=%zu, %s", s->T, way ? "backward" :
					"forward");
			bench_progress(what);
			status = cell_set(&cell, rates, error);
			if (!status)
				status = cell_run(&cell, quick ? 0.01 : 2, error);
			bench_progress(NULL);
			if (!status)
				cell_report(&cell, record, rates);
			cell_free(&cell);
		}
	bench_progress(NULL);
	return status;
}

enum status bench_sweep(const struct sweep_times *times,
		struct record *record, struct error *error)
{
	enum status status = MH_OK;
	bool begun = false;

	for (const size_t *T = times->tokens; *T; T++)
		for (const size_t *H = times->heads; *H; H++)
			for (int i = 0; times->paths[i / 2]; i++) {
				struct timing t = { .path = times->paths[i / 2],
						.shape = { 1, *T, times->width, *H },
						.backward = i % 2 };

				/* time one point of the sweep */
				char what[80];

				snprintf(what, sizeof what, "T=%zu, H=%zu, %s", *T, *H, t.path);
				bench_progress(what);
				status = storage_apart(time_alone, &t, sizeof t, error);
				bench_progress(NULL);
				if (status)
					return status;
				if (!begun)
					printf("%6s%4s %-10s%-9s%10s%10s%10s%10s%11s%11s\n", "T", "H",
							"path", "way", "ms", "low", "high", "GFLOP/s", "asked KiB",
							"got KiB");
				begun = true;
				report_timing(&t, record);
			}
	return status;
}
