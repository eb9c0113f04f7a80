/* faults.c: lets one call of the program fail, as the system might.
 *
 * Preloaded, this stands between the program and the C library. It counts
 * the calls that ask the system for something, by kind, and fails the one
 * that it is told to:
 *
 *   FAULT=KIND:NUMBER:HOW    memory, place, read, write or worker; from 1 on;
 *                            "once", "on" (that call and all after it),
 *                            "short" (fewer bytes than asked for) or
 *                            "again" (a signal came between)
 *   FAULT_REPORT=FILE        where to say, at the end, what was counted
 *
 * Only calls of the program itself count, and allocations of jansson, which
 * are told by the address that they return to. Forked processes count along.
 * Linked into a driver, faults_arm and its like do the same from within.
 *
 * It needs the GNU C library, whose names for its own allocator it uses. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "faults.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t line, size_t size);
void __libc_free(void *block);

static const char *const kind_names[FAULT_KINDS] = {
	"memory", "place", "read", "write", "worker" };
static const char *const how_names[] = { "once", "on", "short", "again" };

/* Shared with forked processes. */
static struct shared {
	_Atomic long calls[FAULT_KINDS];
	_Atomic(const char *) failed;   /* the first that did */
} unshared, *counts = &unshared;
static int fault_kind = -1;
static long fault_at;
static enum fault_how fault_how;

/* ---- whose calls count ---------------------------------------------------- */

static struct { uintptr_t begin, end; } ours[2];
static int files_before;

static int note_range(struct dl_phdr_info *info, size_t size, void *data)
{
	bool program = !*info->dlpi_name;
	int i = program ? 0 : 1;

	(void)size, (void)data;
	if (!program && !strstr(info->dlpi_name, "libjansson"))
		return 0;
	ours[i].begin = UINTPTR_MAX;
	for (int k = 0; k < info->dlpi_phnum; k++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr;

		if (info->dlpi_phdr[k].p_type != PT_LOAD)
			continue;
		if (at < ours[i].begin)
			ours[i].begin = at;
		if (at + info->dlpi_phdr[k].p_memsz > ours[i].end)
			ours[i].end = at + info->dlpi_phdr[k].p_memsz;
	}
	return 0;
}

static bool is_ours(const void *caller, bool or_jansson)
{
	uintptr_t at = (uintptr_t)caller;

	return (at >= ours[0].begin && at < ours[0].end) || (or_jansson &&
			at >= ours[1].begin && at < ours[1].end);
}

/* Count a call; does it fail? *how says in which way. */
static bool fails(enum fault_kind kind, const char *name, const void *caller,
		enum fault_how *how)
{
	const char *nobody = NULL;
	long number;

	if (!is_ours(caller, kind == FAULT_MEMORY))
		return false;
	number = atomic_fetch_add(&counts->calls[kind], 1) + 1;
	*how = fault_how;
	if ((int)kind != fault_kind || (number != fault_at &&
			!(fault_how == FAULT_ON && number > fault_at)))
		return false;
	atomic_compare_exchange_strong(&counts->failed, &nobody, name);
	return true;
}

/* The plain case: the call fails, with this error. */
static bool refused(enum fault_kind kind, const char *name, const void *caller,
		int error)
{
	enum fault_how how;

	if (!fails(kind, name, caller, &how) || how > FAULT_ON)
		return false;
	errno = error;
	return true;
}

#define HERE __builtin_return_address(0)
#define REAL(name) ((__typeof__(&name))real_function(#name))

static void *real_function(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

/* ---- memory --------------------------------------------------------------- */

/* Blocks that the program has and has not yet freed: a table with open
 * addresses, in which a freed block leaves a mark. */
enum { ROOM = 1 << 18 };
static void *table[ROOM];
static size_t live;
static char freed_mark;
static atomic_flag door = ATOMIC_FLAG_INIT;

static void enter(void) { while (atomic_flag_test_and_set(&door)) ; }
static void leave(void) { atomic_flag_clear(&door); }

static size_t first_slot(const void *block)
{
	return (size_t)(((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15u >> 46);
}

static void *note_block(void *block, const void *caller)
{
	size_t i = first_slot(block);

	if (!block || !is_ours(caller, true))
		return block;
	enter();
	while (table[i] && table[i] != &freed_mark)
		i = (i + 1) % ROOM;
	table[i] = block;
	live++;
	leave();
	return block;
}

static bool forget_block(const void *block)
{
	bool found = false;

	if (!block)
		return false;
	enter();
	for (size_t i = first_slot(block); table[i] && !found; i = (i + 1) % ROOM)
		if (table[i] == block) {
			table[i] = &freed_mark;
			live--;
			found = true;
		}
	leave();
	return found;
}

void *malloc(size_t size)
{
	if (refused(FAULT_MEMORY, "malloc", HERE, ENOMEM))
		return NULL;
	return note_block(__libc_malloc(size), HERE);
}

void *calloc(size_t count, size_t size)
{
	if (refused(FAULT_MEMORY, "calloc", HERE, ENOMEM))
		return NULL;
	return note_block(__libc_calloc(count, size), HERE);
}

void *realloc(void *old, size_t size)
{
	void *block;

	if (refused(FAULT_MEMORY, "realloc", HERE, ENOMEM))
		return NULL;
	bool known = forget_block(old);

	block = __libc_realloc(old, size);
	if (!block && known)
		note_block(old, HERE);
	return note_block(block, HERE);
}

void *aligned_alloc(size_t line, size_t size)
{
	if (refused(FAULT_MEMORY, "aligned_alloc", HERE, ENOMEM))
		return NULL;
	return note_block(__libc_memalign(line, size), HERE);
}

void free(void *block)
{
	forget_block(block);
	__libc_free(block);
}

/* ---- files and their places ----------------------------------------------- */

#define OPEN(name) \
int name(const char *path, int flags, ...) \
{ \
	va_list arguments; \
	mode_t mode; \
	va_start(arguments, flags); \
	mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0; \
	va_end(arguments); \
	return refused(FAULT_PLACE, "open", HERE, EIO) ? -1 : \
			REAL(name)(path, flags, mode); \
}
OPEN(open)
OPEN(open64)

FILE *fopen(const char *path, const char *mode)
{
	return refused(FAULT_PLACE, "fopen", HERE, EMFILE) ? NULL :
			REAL(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return refused(FAULT_PLACE, "fopen", HERE, EMFILE) ? NULL :
			REAL(fopen64)(path, mode);
}

FILE *fdopen(int file, const char *mode)
{
	return refused(FAULT_PLACE, "fdopen", HERE, ENOMEM) ? NULL :
			REAL(fdopen)(file, mode);
}

int mkstemp(char *path)
{
	return refused(FAULT_PLACE, "mkstemp", HERE, EACCES) ? -1 :
			REAL(mkstemp)(path);
}

int stat(const char *restrict path, struct stat *restrict facts)
{
	return refused(FAULT_PLACE, "stat", HERE, EIO) ? -1 :
			REAL(stat)(path, facts);
}

int stat64(const char *restrict path, struct stat64 *restrict facts)
{
	return refused(FAULT_PLACE, "stat", HERE, EIO) ? -1 :
			REAL(stat64)(path, facts);
}

int fstat(int file, struct stat *facts)
{
	return refused(FAULT_PLACE, "fstat", HERE, EIO) ? -1 :
			REAL(fstat)(file, facts);
}

int fstat64(int file, struct stat64 *facts)
{
	return refused(FAULT_PLACE, "fstat", HERE, EIO) ? -1 :
			REAL(fstat64)(file, facts);
}

ssize_t readlink(const char *restrict path, char *restrict to, size_t room)
{
	return refused(FAULT_PLACE, "readlink", HERE, EIO) ? -1 :
			REAL(readlink)(path, to, room);
}

int rename(const char *old, const char *new)
{
	return refused(FAULT_PLACE, "rename", HERE, EIO) ? -1 :
			REAL(rename)(old, new);
}

int mkdir(const char *path, mode_t mode)
{
	return refused(FAULT_PLACE, "mkdir", HERE, EIO) ? -1 :
			REAL(mkdir)(path, mode);
}

int link(const char *old, const char *new)
{
	return refused(FAULT_PLACE, "link", HERE, EIO) ? -1 :
			REAL(link)(old, new);
}

int unlink(const char *path)
{
	return refused(FAULT_PLACE, "unlink", HERE, EIO) ? -1 :
			REAL(unlink)(path);
}

/* What closes is closed, even if it says that it failed. */
int close(int file)
{
	bool bad = refused(FAULT_PLACE, "close", HERE, EIO);
	int status = REAL(close)(file);

	if (bad)
		errno = EIO;
	return bad ? -1 : status;
}

/* A stream without a file grows in memory, and that is what it may lack. */
static bool in_memory(FILE *stream)
{
	int before = errno, file = fileno(stream);

	errno = before;
	return file < 0;
}

int fclose(FILE *file)
{
	bool memory = in_memory(file);
	int error = memory ? ENOMEM : ENOSPC;
	bool bad = refused(memory ? FAULT_MEMORY : FAULT_PLACE, "fclose", HERE,
			error);
	int status = REAL(fclose)(file);

	if (bad)
		errno = error;
	return bad ? EOF : status;
}

/* ---- reading -------------------------------------------------------------- */

/* How many bytes are read, or -1 if none: all, fewer, or an error. */
static ssize_t allowed(const char *name, const void *caller, size_t count)
{
	enum fault_how how;

	if (!fails(FAULT_READ, name, caller, &how))
		return (ssize_t)count;
	if (how == FAULT_SHORT)
		return (ssize_t)(count / 2 + count % 2);
	errno = how == FAULT_AGAIN ? EINTR : EIO;
	return -1;
}

ssize_t read(int file, void *to, size_t count)
{
	ssize_t most = allowed("read", HERE, count);

	return most < 0 ? most : REAL(read)(file, to, (size_t)most);
}

ssize_t pread64(int file, void *to, size_t count, off64_t from)
{
	ssize_t most = allowed("pread", HERE, count);

	return most < 0 ? most : REAL(pread64)(file, to, (size_t)most, from);
}

ssize_t pread(int file, void *to, size_t count, off_t from)
{
	ssize_t most = allowed("pread", HERE, count);

	return most < 0 ? most : REAL(pread)(file, to, (size_t)most, from);
}

/* A stream remembers that a call of it has failed. */
static int spoil(FILE *stream)
{
	stream->_flags |= 0x20;         /* _IO_ERR_SEEN */
	return EOF;
}

size_t fread(void *restrict to, size_t size, size_t count,
		FILE *restrict stream)
{
	if (refused(FAULT_READ, "fread", HERE, EIO))
		return spoil(stream), 0;
	return REAL(fread)(to, size, count, stream);
}

char *fgets(char *restrict to, int count, FILE *restrict stream)
{
	if (refused(FAULT_READ, "fgets", HERE, EIO))
		return spoil(stream), NULL;
	return REAL(fgets)(to, count, stream);
}

/* ---- writing -------------------------------------------------------------- */

/* A complaint must get through, or nobody would know. */
static bool full(const char *name, const void *caller, FILE *stream)
{
	bool memory = in_memory(stream);

	if (stream == stderr || !refused(memory ? FAULT_MEMORY : FAULT_WRITE,
			name, caller, memory ? ENOMEM : ENOSPC))
		return false;
	spoil(stream);
	return true;
}

ssize_t write(int file, const void *from, size_t count)
{
	return refused(FAULT_WRITE, "write", HERE, ENOSPC) ? -1 :
			REAL(write)(file, from, count);
}

size_t fwrite(const void *restrict from, size_t size, size_t count,
		FILE *restrict stream)
{
	return full("fwrite", HERE, stream) ? 0 :
			REAL(fwrite)(from, size, count, stream);
}

int fputs(const char *restrict text, FILE *restrict stream)
{
	return full("fputs", HERE, stream) ? EOF : REAL(fputs)(text, stream);
}

int fputc(int letter, FILE *stream)
{
	return full("fputc", HERE, stream) ? EOF : REAL(fputc)(letter, stream);
}

#undef putc
int putc(int letter, FILE *stream)
{
	return full("putc", HERE, stream) ? EOF : REAL(fputc)(letter, stream);
}

int puts(const char *text)
{
	return full("puts", HERE, stdout) ? EOF : REAL(puts)(text);
}

#undef putchar
int putchar(int letter)
{
	return full("putchar", HERE, stdout) ? EOF : REAL(fputc)(letter, stdout);
}

static int print(const char *name, const void *caller, FILE *stream,
		const char *format, va_list arguments)
{
	return full(name, caller, stream) ? EOF :
			REAL(vfprintf)(stream, format, arguments);
}

int vfprintf(FILE *restrict stream, const char *restrict format,
		va_list arguments)
{
	return print("vfprintf", HERE, stream, format, arguments);
}

int fprintf(FILE *restrict stream, const char *restrict format, ...)
{
	va_list arguments;
	int written;

	va_start(arguments, format);
	written = print("fprintf", HERE, stream, format, arguments);
	va_end(arguments);
	return written;
}

int printf(const char *restrict format, ...)
{
	va_list arguments;
	int written;

	va_start(arguments, format);
	written = print("printf", HERE, stdout, format, arguments);
	va_end(arguments);
	return written;
}

int fflush(FILE *stream)
{
	return stream && full("fflush", HERE, stream) ? EOF :
			REAL(fflush)(stream);
}

int fsync(int file)
{
	return refused(FAULT_WRITE, "fsync", HERE, EIO) ? -1 :
			REAL(fsync)(file);
}

/* ---- others who work for us ----------------------------------------------- */

int pipe(int ends[2])
{
	return refused(FAULT_WORKER, "pipe", HERE, EMFILE) ? -1 :
			REAL(pipe)(ends);
}

pid_t fork(void)
{
	return refused(FAULT_WORKER, "fork", HERE, EAGAIN) ? -1 :
			REAL(fork)();
}

int pthread_create(pthread_t *restrict thread,
		const pthread_attr_t *restrict attributes,
		void *(*work)(void *), void *restrict data)
{
	return refused(FAULT_WORKER, "pthread_create", HERE, EAGAIN) ? EAGAIN :
			REAL(pthread_create)(thread, attributes, work, data);
}

/* ---- orders and the report ------------------------------------------------ */

void faults_arm(enum fault_kind kind, long at, enum fault_how how)
{
	faults_disarm();
	for (int i = 0; i < FAULT_KINDS; i++)
		counts->calls[i] = 0;
	counts->failed = NULL;
	fault_at = at;
	fault_how = how;
	fault_kind = (int)kind;
}

const char *faults_disarm(void)
{
	fault_kind = -1;
	return counts->failed;
}

size_t faults_live(void)
{
	return live;
}

static int files_open(void)
{
	int count = 0;

	for (int file = 0; file < 256; file++)
		count += fcntl(file, F_GETFD) != -1;
	return count;
}

static int position(const char *const names[], int count, const char *text,
		size_t length)
{
	for (int i = 0; i < count; i++)
		if (strlen(names[i]) == length && !strncmp(names[i], text, length))
			return i;
	abort();
}

__attribute__((constructor)) static void begin(void)
{
	const char *order = getenv("FAULT");
	void *memory = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory != MAP_FAILED)
		counts = memory;
	dl_iterate_phdr(note_range, NULL);
	files_before = files_open();
	if (order) {
		size_t length = strcspn(order, ":");
		char *how;

		fault_at = strtol(order + length + 1, &how, 10);
		fault_how = (enum fault_how)position(how_names, 4, how + 1,
				strlen(how + 1));
		fault_kind = position(kind_names, FAULT_KINDS, order, length);
	}
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAULT_REPORT");
	const char *failed = faults_disarm();
	int open = files_open() - files_before;
	int report = path ? (int)syscall(SYS_openat, AT_FDCWD, path,
			O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;

	if (report < 0)
		return;
	for (int i = 0; i < FAULT_KINDS; i++)
		dprintf(report, "%s %ld\n", kind_names[i],
				(long)counts->calls[i]);
	dprintf(report, "failed %s\nlive %zu\nopen %d\n",
			failed ? failed : "nothing", live, open);
}
