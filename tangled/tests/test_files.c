/* tests/test_files.c: made from chapters/47-files.nw; edit it there. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layer_bench.h"
#include "suites.h"
#include "support.h"
#include "weights.h"

/* tests of weights */
struct scratch { char path[32]; };

static struct scratch scratch_bytes(const void *bytes, size_t count)
{
	struct scratch scratch = { "/tmp/weights-XXXXXX" };
	int descriptor = mkstemp(scratch.path);

	ck_assert_int_ge(descriptor, 0);
	ck_assert_int_eq(write(descriptor, bytes, count), count);
	close(descriptor);
	return scratch;
}

/* A file of this header and so many data bytes. */
static struct scratch scratch_file(const char *header, size_t data)
{
	size_t length = strlen(header), count = 8 + length + data;
	unsigned char *bytes = calloc(count, 1);

	ck_assert_ptr_nonnull(bytes);
	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)((uint64_t)length >> 8 * i);
	memcpy(bytes + 8, header, length);
	struct scratch scratch = scratch_bytes(bytes, count);

	free(bytes);
	return scratch;
}

/* Opening refuses with MH_EFORMAT, the path, and this sentence; the
 * file is removed. */
static void ck_malformed(struct scratch scratch, const char *sentence)
{
	struct error error = { 0 };
	struct weights *weights;
	enum status status = weights_open(scratch.path, &weights, &error);
	size_t length = strlen(scratch.path);

	remove(scratch.path);
	ck_assert_int_eq(status, MH_EFORMAT);
	ck_assert_ptr_null(weights);
	ck_assert(strncmp(error.message, scratch.path, length) == 0);
	ck_assert_str_eq(error.message + length, sentence);
}

#define ENTRY(name, type, shape, offsets) "\"" name "\":{\"dtype\":\"" \
	type "\",\"shape\":[" shape "],\"data_offsets\":[" offsets "]}"

static const struct { const char *header; size_t data;
		const char *sentence; } lies[] = {
	/* lies about places */
	{ "{" ENTRY("a", "U8", "4", "0,4") "," ENTRY("b", "U8", "4", "5,9")
		"}", 9, ": b begins at byte 5 of the data, wanted 4" },
	{ "{" ENTRY("a", "U8", "4", "1,5") "}", 5,
		": a begins at byte 1 of the data, wanted 0" },
	{ "{" ENTRY("a", "U8", "4", "0,4") "," ENTRY("b", "U8", "4", "3,7")
		"}", 7, ": b begins at byte 3 of the data, wanted 4" },
	{ "{" ENTRY("a", "U8", "4", "0,4") "," ENTRY("b", "U8", "4", "0,4")
		"}", 4, ": b begins at byte 0 of the data, wanted 4" },
	{ "{" ENTRY("a", "U8", "4", "0,4") "}", 5,
		": its tensors take 4 bytes, its data have 5" },
	{ "{" ENTRY("a", "U8", "4", "0,4") "}", 3,
		": its tensors take 4 bytes, its data have 3" },
	{ "{}", 1, ": its tensors take 0 bytes, its data have 1" },
	{ "{" ENTRY("a", "U8", "4", "4,0") "}", 4,
		": the data_offsets of a are no range" },
	{ "{" ENTRY("a", "U8", "4", "-4,0") "}", 4,
		": the data_offsets of a are no range" },
	{ "{" ENTRY("a", "U8", "4", "0,4.0") "}", 4,
		": the data_offsets of a are no range" },
	{ "{" ENTRY("a", "U8", "4", "0,4,4") "}", 4,
		": a lacks dtype, shape or two data_offsets" },
	/* lies about sizes */
	{ "{" ENTRY("a", "F64", "2,2", "0,31") "}", 31, ": a (2, 2) of type"
		" F64 takes 256 bits, its data_offsets hold 31 bytes" },
	{ "{" ENTRY("a", "F4", "3", "0,1") "}", 1, ": a (3) of type F4 takes"
		" 12 bits, its data_offsets hold 1 bytes" },
	{ "{" ENTRY("a", "U8", "1,1,1,1,2", "0,1") "}", 1, ": a with 5 axes"
		" of type U8 takes 16 bits, its data_offsets hold 1 bytes" },
	{ "{" ENTRY("a", "U8", "-1", "0,1") "}", 1, ": axis 0 of a has no"
		" length" },
	{ "{" ENTRY("a", "U8", "1,1.5", "0,1") "}", 1, ": axis 1 of a has no"
		" length" },
	{ "{" ENTRY("a", "U8", "\"1\"", "0,1") "}", 1, ": axis 0 of a has no"
		" length" },
	{ "{" ENTRY("a", "U8", "4294967296,4294967296", "0,0") "}", 0,
		": the shape of a is larger than any file" },
	{ "{" ENTRY("a", "U8", "0,4294967296,4294967296", "0,0") "}", 0,
		": the shape of a is larger than any file" },
	{ "{" ENTRY("a", "U64", "2305843009213693952", "0,0") "}", 0,
		": the shape of a is larger than any file" },
	{ "{" ENTRY("a", "U8", "144115188075855872", "0,1") "}", 1,
		": the shape of a is larger than any file" },
	{ "{" ENTRY("a", "U8", "144115188075855871", "0,1") "}", 1,
		": a (144115188075855871) of type U8 takes 1152921504606846968"
		" bits, its data_offsets hold 1 bytes" },
	{ "{" ENTRY("a", "U8", "9223372036854775808", "0,0") "}", 0,
		": its header is not JSON: too big integer near"
		" '9223372036854775808'" },
	{ "{" ENTRY("a", "F65", "1", "0,8") "}", 8,
		": a has the unknown type F65" },
	{ "{" ENTRY("a", "f\\n32", "1", "0,4") "}", 4,
		": a has the unknown type f?32" },
	/* headers that are none */
	{ "", 0, ": its header does not begin with a brace" },
	{ " {}", 0, ": its header does not begin with a brace" },
	{ "[]", 0, ": its header does not begin with a brace" },
	{ "{", 0, ": its header is not JSON: string or '}' expected near end"
		" of file" },
	{ "{} x", 0, ": its header is not JSON: end of file expected near"
		" 'x'" },
	{ "{" ENTRY("a", "U8", "", "0,1") "," ENTRY("a", "U8", "", "1,2")
		"}", 2, ": its header is not JSON: duplicate object key near"
		" '\"a\"'" },
	{ "{\"a\":3}", 0, ": a lacks dtype, shape or two data_offsets" },
	{ "{\"a\":{}}", 0, ": a lacks dtype, shape or two data_offsets" },
	{ "{\"a\":{\"dtype\":8,\"shape\":[],\"data_offsets\":[0,1]}}", 1,
		": a lacks dtype, shape or two data_offsets" },
	{ "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,3]}}", 3,
		": a lacks dtype, shape or two data_offsets" },
	{ "{\"a\":{\"dtype\":\"U8\",\"shape\":3,"
		"\"data_offsets\":[0,3]}}", 3,
		": a lacks dtype, shape or two data_offsets" },
	{ "{\"__metadata__\":{\"format\":1}}", 0,
		": __metadata__ is not a map from texts to texts" },
	{ "{\"__metadata__\":[]}", 0,
		": __metadata__ is not a map from texts to texts" },
};
enum { LIES = sizeof lies / sizeof lies[0] };

START_TEST(a_file_that_breaks_a_rule_is_refused_in_one_sentence)
{
	ck_malformed(scratch_file(lies[_i].header, lies[_i].data),
			lies[_i].sentence);
}
END_TEST

START_TEST(no_beginning_of_a_file_is_taken_for_the_whole)
{
	static const char whole[] = "?\0\0\0\0\0\0\0{" ENTRY("a", "U8",
			"3", "0,3") "," ENTRY("b", "U8", "", "3,4") "}    abcd";
	size_t size = sizeof whole - 1;
	char bytes[sizeof whole];
	struct weights *weights;

	memcpy(bytes, whole, size);
	bytes[0] = (char)(size - 4 - 8);        /* the data are "abcd" */
	struct scratch scratch = scratch_bytes(bytes, size);

	ck_ok(weights_open(scratch.path, &weights, NULL));
	weights_close(weights);
	for (; size > 0; size--) {
		ck_assert_int_eq(truncate(scratch.path, (off_t)size - 1), 0);
		ck_assert_int_eq(weights_open(scratch.path, &weights, NULL),
				MH_EFORMAT);
		ck_assert_ptr_null(weights);
	}
	remove(scratch.path);
}
END_TEST

START_TEST(a_header_longer_than_its_file_is_refused_unread)
{
	ck_malformed(scratch_bytes("", 0),
			": 0 bytes are too few for a header");
	ck_malformed(scratch_bytes("\x02\0\0\0\0\0\0", 7),
			": 7 bytes are too few for a header");
	ck_malformed(scratch_bytes("\x03\0\0\0\0\0\0\0{}", 10),
			": a header of 3 bytes, of which the file has 2");
	ck_malformed(scratch_bytes("\0\xe1\xf5\x05\0\0\0\0{}", 10),
			": a header of 100000000 bytes, of which the file has 2");
	ck_malformed(scratch_bytes("\x01\xe1\xf5\x05\0\0\0\0{}", 10),
			": a header of 100000001 bytes, at most 100000000 are"
			" allowed; is it safetensors?");
	ck_malformed(scratch_bytes("\0\0\0\0\0\0\0\x80{}", 10),
			": a header of 9223372036854775808 bytes, at most"
			" 100000000 are allowed; is it safetensors?");
}
END_TEST

START_TEST(a_hostile_name_makes_no_long_or_coloured_complaint)
{
	char text[10100] = "{\"\\u001b[31m\\n", sentence[160];
	size_t used = strlen(text);

	memset(text + used, 'x', 10000);
	strcpy(text + used + 10000, "\":{}}");
	snprintf(sentence, sizeof sentence, ": ?[31m?%.*s... lacks dtype,"
			" shape or two data_offsets", 54, text + used);
	ck_malformed(scratch_file(text, 0), sentence);
	strcpy(text, "{\"a\":");
	memset(text + 5, '[', 10000);
	text[10005] = '\0';
	ck_malformed(scratch_file(text, 0), ": its header is not JSON:"
			" maximum parsing depth reached near '['");
	ck_malformed(scratch_file("{\"\xc3\x28\":{}}", 0), ": its header is"
			" not JSON: unable to decode byte 0xc3 near '\"'");
	ck_malformed(scratch_file("{\"a\\u0000b\":{}}", 0), ": its header"
			" is not JSON: NUL byte in object key not supported near"
			" '\"a\\u0000b\"'");
}
END_TEST

START_TEST(a_text_is_shown_up_to_its_limit)
{
	struct weights *weights;
	char path[102] = "/nowhere/", header[80], sentence[160];

	memset(path + 9, 'x', 92);              /* 101 letters */
	snprintf(sentence, sizeof sentence, "cannot read %.100s...: No"
			" such file or directory", path);
	ck_refused(weights_open(path, &weights, &error), MH_EFILE,
			sentence);
	path[100] = '\0';
	snprintf(sentence, sizeof sentence, "cannot read %s: No such file"
			" or directory", path);
	ck_refused(weights_open(path, &weights, &error), MH_EFILE,
			sentence);
	for (int length = 60; length <= 61; length++) {
		snprintf(header, sizeof header, "{\"%.*s\":{}}", length,
				path + 9);
		snprintf(sentence, sizeof sentence, ": %.60s%s lacks dtype,"
				" shape or two data_offsets", path + 9,
				length > 60 ? "..." : "");
		ck_malformed(scratch_file(header, 0), sentence);
	}
}
END_TEST

static struct scratch scratch_pipe(void)
{
	struct scratch pipe = scratch_bytes("", 0);

	remove(pipe.path);
	ck_assert_int_eq(mkfifo(pipe.path, 0600), 0);
	return pipe;
}

START_TEST(what_is_no_file_is_refused)
{
	struct weights *weights;

	ck_refused(weights_open("/nowhere/at/all", &weights, &error),
			MH_EFILE, "cannot read /nowhere/at/all: No such file or"
			" directory");
	ck_assert_ptr_null(weights);
	ck_refused(weights_open("/tmp", &weights, &error), MH_EFILE,
			"cannot read /tmp: it is no file");
	ck_refused(weights_open("/dev/null", &weights, &error), MH_EFILE,
			"cannot read /dev/null: it is no file");
	struct scratch pipe = scratch_pipe();

	ck_assert_int_eq(weights_open(pipe.path, &weights, NULL),
			MH_EFILE);
	remove(pipe.path);
}
END_TEST

START_TEST(what_the_rules_allow_is_read)
{
	struct weights *weights;
	struct scratch scratch = scratch_file("{"
			ENTRY("z", "BF16", "3", "9,15") ","
			"\"__metadata__\":{\"format\":\"pt\"},"
			ENTRY("a", "F64", "", "1,9") "," ENTRY("nothing", "I64",
			"7,0", "9,9") "," ENTRY("flag", "BOOL", "1", "0,1") ","
			ENTRY("deep", "F64", "1,0,1,1,1", "9,9") ","
			ENTRY("deeper", "F32", "1,0,1,1,1", "9,9") "}  ", 15);
	const char *deep = sizeof(real) == 8 ? "deep" : "deeper";

	ck_ok(weights_open(scratch.path, &weights, NULL));
	remove(scratch.path);
	ck_assert_uint_eq(weights_count(weights), 6);
	ck_assert_str_eq(weights_nth(weights, 0)->name, "a");
	ck_assert_uint_eq(weights_nth(weights, 0)->rank, 0);
	ck_assert_str_eq(weights_nth(weights, 5)->type, "BF16");
	ck_assert_uint_eq(weights_nth(weights, 5)->begin, 9);
	ck_assert_uint_eq(weights_nth(weights, 5)->end, 15);
	ck_assert_int_eq(weights_expect(weights, deep, 5, (size_t[]){ 1, 0,
			1, 1, 1 }, NULL), MH_EFORMAT);  /* no tensor of ours */
	ck_assert_uint_eq(weights_find(weights, "nothing")->rank, 2);
	ck_assert_uint_eq(weights_find(weights, "nothing")->shape[0], 7);
	ck_assert_ptr_null(weights_find(weights, "__metadata__"));
	ck_assert_ptr_null(weights_find(weights, ""));
	ck_assert_str_eq(weights_metadata(weights, "format"), "pt");
	ck_assert_ptr_null(weights_metadata(weights, "author"));
	weights_close(weights);
	weights_close(NULL);
}
END_TEST

START_TEST(tensors_of_every_type_may_stand_in_a_file)
{
	static const char *const names[] = { "BOOL", "U8", "I8", "F8_E5M2",
			"F8_E4M3", "F8_E8M0", "I16", "U16", "F16", "BF16", "I32",
			"U32", "F32", "F64", "I64", "U64", "C64" };
	static const size_t bytes[] = { 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 4,
			4, 4, 8, 8, 8, 8 };
	struct weights *weights;
	char text[128];

	snprintf(text, sizeof text, "{\"x\":{\"dtype\":\"%s\",\"shape\":[3]"
			",\"data_offsets\":[0,%zu]}}", names[_i], 3 * bytes[_i]);
	struct scratch scratch = scratch_file(text, 3 * bytes[_i]);

	ck_ok(weights_open(scratch.path, &weights, NULL));
	remove(scratch.path);
	ck_assert_str_eq(weights_nth(weights, 0)->type, names[_i]);
	weights_close(weights);
}
END_TEST

START_TEST(eight_small_numbers_fill_as_many_bytes_as_one_has_bits)
{
	static const char *const headers[] = {
		"{" ENTRY("x", "F4", "8", "0,4") "}",
		"{" ENTRY("x", "F6_E2M3", "8", "0,6") "}",
		"{" ENTRY("x", "F6_E3M2", "8", "0,6") "}",
	};
	struct weights *weights;
	struct scratch scratch = scratch_file(headers[_i], _i ? 6 : 4);

	ck_ok(weights_open(scratch.path, &weights, NULL));
	remove(scratch.path);
	weights_close(weights);
}
END_TEST

START_TEST(a_file_is_closed_whatever_its_number)
{
	struct scratch scratch = scratch_file("{}", 0);
	int input = dup(STDIN_FILENO);
	struct weights *weights;

	close(STDIN_FILENO);
	ck_ok(weights_open(scratch.path, &weights, NULL));
	remove(scratch.path);
	ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
	weights_close(weights);
	ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
	if (input >= 0) {
		dup2(input, STDIN_FILENO);
		close(input);
	}
}
END_TEST

START_TEST(a_tensor_that_is_not_the_wanted_one_is_refused)
{
	struct error error = { 0 };
	struct weights *weights;
	real memory[6] = { 7, 7, 7, 7, 7, 7 };
	struct tensor t = tensor_view(memory, 2, (size_t[]){ 2, 3 });
	struct scratch scratch = scratch_file("{" ENTRY("i", "U8", "2,3",
			"0,6") "," ENTRY("long", "U8", "1,1,1,1,1", "6,7") ","
			ENTRY("f", "F32", "3,2", "7,31") "," ENTRY("d", "F64",
			"3,2", "31,79") "}", 79);
	const char *mine = sizeof(real) == 4 ? "f" : "d";
	const char *type = sizeof(real) == 4 ? "F32" : "F64";

	ck_ok(weights_open(scratch.path, &weights, NULL));
	remove(scratch.path);
	/* expect what is not there */
	const char *const names[] = { "w", "i", "long", mine };
	const char *const sentences[] = { ": there is no w",
			": i is U8 (2, 3), wanted ",
			": long is U8 with 5 axes, wanted ", " (3, 2), wanted " };

	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(weights_read(weights, names[i], t, &error),
				MH_EFORMAT);
		ck_assert_ptr_nonnull(strstr(error.message, sentences[i]));
		ck_assert(i == 0 || strstr(error.message, type));
		ck_assert(i == 0 || strstr(error.message, " (2, 3)"));
	}
	ck_assert_int_eq(weights_expect(weights, mine, 1, (size_t[]){ 6 },
			NULL), MH_EFORMAT);
	ck_assert_int_eq(weights_expect(weights, mine, 0, NULL, NULL),
			MH_EFORMAT);
	for (int i = 0; i < 6; i++)
		ck_assert(memory[i] == 7);
	ck_ok(weights_read(weights, mine, tensor_swap(t, 0, 1), NULL));
	for (int i = 0; i < 6; i++)
		ck_assert(memory[i] == 0);
	weights_close(weights);
}
END_TEST

/* The file's bytes are these; it is removed. */
static void ck_bytes(struct scratch scratch, const void *bytes,
		size_t count)
{
	FILE *file = fopen(scratch.path, "rb");
	char read[512];

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fread(read, 1, sizeof read, file), count);
	fclose(file);
	remove(scratch.path);
	ck_assert_mem_eq(read, bytes, count);
}

START_TEST(the_bytes_are_those_of_the_reference)
{
	static const char none[] = "\x08\0\0\0\0\0\0\0{}      ";
	static const char attn[] = "\x40\0\0\0\0\0\0\0{\"attn.0\":{\"dtype"
			"\":\"F32\",\"shape\":[1,2,3],\"data_offsets\":[0,24]}}"
			"\0\0\0\0\0\0\x80\x3f\0\0\0\x40"
			"\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40";
	struct scratch scratch = scratch_bytes(attn, sizeof attn - 1);
	struct weights *weights;
	real memory[6] = { 0, 1, 2, 3, 4, 5 };
	struct weights_tensor six = { "attn.0", tensor_view(memory, 3,
			(size_t[]){ 1, 2, 3 }) };

	ck_ok(weights_open(scratch.path, &weights, NULL));
	ck_assert_str_eq(weights_find(weights, "attn.0")->type, "F32");
	weights_close(weights);
	ck_ok(weights_write(scratch.path, &six, 1, NULL));
	if (sizeof(real) == sizeof(float))
		ck_bytes(scratch, attn, sizeof attn - 1);
	ck_ok(weights_write(scratch.path, NULL, 0, NULL));
	ck_bytes(scratch, none, sizeof none - 1);
}
END_TEST

START_TEST(every_bit_of_every_number_comes_back)
{
	enum { M = 37, N = 41 };
	real there[M * N], back[M * N], copy[M * N], one = 3, got = 0;
	struct tensor a = noise(there, 2, (size_t[]){ M, N }, 47);
	struct tensor b = tensor_view(back, 2, (size_t[]){ N, M });
	struct tensor none = tensor_view(NULL, 2, (size_t[]){ 0, 5 });
	struct weights_tensor all[] = { { "none", none }, { "a/\xc3\xa4\"",
			tensor_swap(a, 0, 1) }, { "one", tensor_view(&one, 0,
			NULL) }, { "last", none } };
	struct scratch scratch = scratch_bytes("old", 3);
	struct weights *weights;

	/* make the numbers odd */
	there[0] = -(real)0;
	there[1] = (real)INFINITY;
	there[2] = -(real)INFINITY;
	there[3] = (real)0x1p-149;              /* subnormal, as a float */
	memset(&there[4], 0xff, sizeof(real));  /* negative NaN, all bits set */
	((unsigned char *)&there[4])[0] = 0x5a;
	there[5] = REAL_EPSILON;
	ck_ok(weights_write(scratch.path, all, 4, NULL));
	ck_ok(weights_open(scratch.path, &weights, NULL));
	remove(scratch.path);
	ck_ok(weights_read(weights, all[1].name, b, NULL));
	ck_ok(weights_read(weights, "one", tensor_view(&got, 0, NULL),
			NULL));
	ck_ok(weights_read(weights, "none", none, NULL));
	weights_close(weights);
	tensor_contiguous(tensor_swap(b, 0, 1), copy);
	ck_assert_mem_eq(copy, there, sizeof copy);
	ck_assert(got == 3);
}
END_TEST

/* A file of one number, opened; *number is that of the open file. */
static struct weights *open_one(int *number)
{
	real one = 1;
	struct weights_tensor w = { "w", tensor_view(&one, 0, NULL) };
	struct scratch scratch = scratch_bytes("", 0);
	struct weights *weights;

	ck_ok(weights_write(scratch.path, &w, 1, NULL));
	*number = dup(STDERR_FILENO);
	close(*number);
	ck_ok(weights_open(scratch.path, &weights, NULL));
	remove(scratch.path);
	return weights;
}

START_TEST(a_read_that_fails_is_no_silence)
{
	struct error error = { 0 };
	int number;
	struct weights *weights = open_one(&number);
	real got = 7;

	ck_assert_int_eq(close(number), 0);
	ck_assert_int_eq(weights_read(weights, "w", tensor_view(&got, 0,
			NULL), &error), MH_EFILE);
	ck_assert_ptr_nonnull(strstr(error.message,
			": Bad file descriptor"));
	ck_assert(got == 7);
	weights_close(weights);
}
END_TEST

START_TEST(an_old_error_does_not_disturb_a_read)
{
	int number;
	struct weights *weights = open_one(&number);
	real got = 7;

	errno = EINTR;
	ck_ok(weights_read(weights, "w", tensor_view(&got, 0, NULL),
			NULL));
	ck_assert(got == 1);
	weights_close(weights);
}
END_TEST

START_TEST(what_is_missing_is_refused_in_a_sentence)
{
	struct tensor none = { .rank = 2, .shape = { 2, 2 } };
	struct weights_tensor odd = { "w", none };
	struct registry registry = { 0 };
	int number;
	struct weights *weights = open_one(&number), *other = weights;

	ck_refused(weights_open(NULL, &other, &error), MH_EFILE,
			"there is no path");
	ck_assert_ptr_null(other);
	ck_refused(registry_save(&registry, NULL, &error), MH_EFILE,
			"there is no path");
	ck_refused(registry_save(NULL, "x", &error), MH_ESHAPE,
			"there is no registry");
	ck_refused(registry_load(NULL, weights, "", &error), MH_ESHAPE,
			"there is no registry");
	ck_refused(registry_load(&registry, NULL, "", &error), MH_ESHAPE,
			"there is no file");
	ck_refused(registry_load(&registry, weights, NULL, &error),
			MH_ESHAPE, "there is no prefix");
	ck_refused(weights_open("/", NULL, &error), MH_EFILE,
			"there is no place for a file");
	ck_refused(weights_write("/nowhere/at", NULL, 1, &error), MH_EFILE,
			"there is no tensor");
	none.rank = 0;
	ck_refused(weights_read(weights, "w", none, &error), MH_ESHAPE,
			"w has elements but no data");
	/* ask for a tensor of nine hundred axes */
	struct error said = { 0 };

	none.rank = 900;
	ck_assert_int_eq(weights_read(weights, "w", none, &said), MH_EFORMAT);
	ck_assert_str_eq(strstr(said.message, " of rank"), " of rank 900");
	ck_refused(weights_read(weights, NULL, none, &error), MH_ESHAPE,
			"there is no name");
	ck_refused(weights_expect(weights, "w", 2, NULL, &error), MH_ESHAPE,
			"there is no shape");
	weights_close(weights);
	/* refuse to write what is no tensor */
	ck_refused(weights_write("/", &odd, 1, &error), MH_ESHAPE,
			"w of shape (2, 2) is no tensor, or has no data");
	odd.tensor.rank = 900;
	ck_refused(weights_write("/", &odd, 1, &error), MH_ESHAPE,
			"w of shape of rank 900 is no tensor, or has no data");
	odd.tensor.rank = -3;
	ck_refused(weights_write("/", &odd, 1, &error), MH_ESHAPE,
			"w of shape of rank -3 is no tensor, or has no data");
}
END_TEST

START_TEST(a_file_that_cannot_be_written_leaves_the_old_one)
{
	static const char *const names[] = { "w", "w", "__metadata__",
			"\xff" };
	real memory[2000] = { 0 };
	struct weights_tensor two[2];
	struct scratch scratch = scratch_bytes("old", 3);
	struct scratch pipe = scratch_pipe();
	struct rlimit before;
	char sentence[128];

	for (int i = 0; i < 2; i++)
		two[i] = (struct weights_tensor){ "w", tensor_view(memory, 1,
				(size_t[]){ 2000 }) };
	/* refuse names and places */
	ck_refused(weights_write(scratch.path, two, 2, &error), MH_EFORMAT,
			"two tensors are called w");
	for (int i = 2; i < 4; i++) {
		two[1].name = names[i];
		ck_refused(weights_write(scratch.path, two, 2, &error), MH_EFORMAT,
				i == 2 ? "no tensor can be called __metadata__" :
				"no tensor can be called ?");
	}
	two[1].tensor = (struct tensor){ memory, 2, { SIZE_MAX, 2 }, { 0, 0 } };
	two[1].name = "v";
	ck_refused(weights_write(scratch.path, two, 2, &error), MH_ESIZE,
			"v of shape (18446744073709551615, 2) is too large for a"
			" file");
	two[0].tensor = (struct tensor){ memory, 1,
			{ PTRDIFF_MAX / sizeof(real) }, { 0 } };
	two[1].tensor = tensor_view(memory, 1, (size_t[]){ 2000 });
	ck_refused(weights_write(scratch.path, two, 2, &error), MH_ESIZE,
			"v of shape (2000) is too large for a file");
	two[0] = (struct weights_tensor){ "w", two[1].tensor };
	snprintf(sentence, sizeof sentence, "%s exists and is no file",
			pipe.path);
	ck_refused(weights_write(pipe.path, two, 1, &error), MH_EFILE,
			sentence);
	remove(pipe.path);
	ck_refused(weights_write("/nowhere/at", two, 1, &error), MH_EFILE,
			"cannot write /nowhere/at: No such file or directory");
	snprintf(sentence, sizeof sentence, "cannot write %s: File too"
			" large", scratch.path);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	for (rlim_t most = 0; most < 4096; most += 2048) {
		struct rlimit limit = { most, before.rlim_max };

		ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
		ck_refused(weights_write(scratch.path, two, 1, &error),
				MH_EFILE, sentence);
	}
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_bytes(scratch, "old", 3);
}
END_TEST

START_TEST(no_header_is_written_that_is_too_long_to_be_read)
{
	static const char frame[] = "{" ENTRY("", "F64", "0", "0,0") "}";
	size_t letters = 100000000 - (sizeof frame - 1);
	char *name = malloc(letters + 2);
	struct weights_tensor none = { name, tensor_view(NULL, 1,
			(size_t[]){ 0 }) };

	ck_assert_ptr_nonnull(name);
	memset(name, 'x', letters + 1);
	name[letters + 1] = '\0';
	ck_refused(weights_write("/nowhere/at", &none, 1, &error),
			MH_ESIZE, "a header of 100000008 bytes, at most 100000000"
			" are allowed");
	name[letters] = '\0';
	ck_refused(weights_write("/nowhere/at", &none, 1, &error),
			MH_EFILE, "cannot write /nowhere/at: No such file or"
			" directory");
	free(name);
}
END_TEST

static struct bench first, second;      /* too large for a stack */

START_TEST(a_layer_comes_back_bit_for_bit)
{
	const size_t *s = shapes[_i];
	struct scratch scratch = scratch_bytes("", 0);
	struct weights *weights;

	bench_set(&first, s[0], s[1], s[2], s[3]);
	bench_set(&second, s[0], s[1], s[2], s[3]);
	layer_randomize(second.layer, 1000);
	bench_run(&first, true);
	bench_run(&second, true);
	ck_assert_mem_ne(first.output, second.output, sizeof first.output);
	ck_ok(registry_save(&first.layer->registry, scratch.path, NULL));
	ck_ok(weights_open(scratch.path, &weights, NULL));
	remove(scratch.path);
	ck_assert_uint_eq(weights_count(weights), 3 * first.H + 1);
	ck_ok(registry_load(&second.layer->registry, weights, "", NULL));
	weights_close(weights);
	bench_run(&second, true);
	ck_assert_mem_eq(first.output, second.output, sizeof first.output);
	bench_free(&first);
	bench_free(&second);
}
END_TEST

/* A file of these tensors is refused by the layer with a sentence that
 * ends like this, and the layer does not change. Without a sentence, it
 * lacks data. */
static void ck_unloadable(struct layer *layer,
		const struct weights_tensor tensors[], size_t count,
		const char *prefix, const char *sentence)
{
	size_t numbers = 8 * layer->width * layer->width;
	struct scratch scratch = scratch_bytes("", 0);
	real *before = malloc(numbers * sizeof *before);
	struct error error = { 0 };
	struct weights *weights;

	ck_assert_ptr_nonnull(before);
	memcpy(before, layer->memory, numbers * sizeof *before);
	ck_ok(weights_write(scratch.path, tensors, count, NULL));
	ck_ok(weights_open(scratch.path, &weights, NULL));
	remove(scratch.path);
	ck_assert_int_eq(registry_load(&layer->registry, weights, prefix,
			&error), sentence ? MH_EFORMAT : MH_ESHAPE);
	if (sentence)
		ck_assert_str_eq(error.message + strlen(scratch.path),
				sentence);
	else
		ck_assert_ptr_nonnull(strstr(error.message, "but no data"));
	ck_assert_mem_eq(layer->memory, before, numbers * sizeof *before);
	weights_close(weights);
	free(before);
}

START_TEST(a_file_for_another_layer_is_refused_and_changes_nothing)
{
	struct layer *layer, *other;
	struct weights_tensor all[8];
	const char *wanted = sizeof(real) == 4 ?
		": heads.1.key.weight is F32 (6, 3), wanted F32 (3, 6)" :
		": heads.1.key.weight is F64 (6, 3), wanted F64 (3, 6)";

	ck_ok(layer_create(6, 2, &layer, NULL));
	ck_ok(layer_create(6, 2, &other, NULL));
	layer_randomize(layer, 1);
	layer_randomize(other, 2);
	for (size_t i = 0; i < 7; i++)
		all[i] = (struct weights_tensor){
			other->registry.entries[i].name,
			other->registry.entries[i].parameter->value };
	all[7] = all[5];
	/* offer it what does not fit */
	ck_unloadable(layer, all, 6, "", ": there is no"
			" heads.1.value.weight");
	all[7].name = "heads.2.key.weight";
	ck_unloadable(layer, all, 8, "", ": nothing here is called"
			" heads.2.key.weight");
	ck_unloadable(layer, all, 8, "block.", ": there is no"
			" block.out_proj.weight");
	/* offer it to a layer whose last head has lost its data */
	real *data = layer->own[1].value.value.data;

	layer->own[1].value.value.data = NULL;
	ck_unloadable(layer, all, 7, "", NULL);
	layer->own[1].value.value.data = data;
	all[5].tensor = tensor_swap(all[5].tensor, 0, 1);
	ck_unloadable(layer, all, 7, "", wanted);
	all[5] = all[7];
	all[5].name = "heads.1.key.weight";
	all[6].tensor.data[0] = (real)NAN;      /* is a number like others */
	ck_ok(layer_enter(layer, 1, layer->head[0], NULL));
	ck_unloadable(layer, all, 7, "", ": heads.0.query.weight and"
			" heads.1.query.weight are one parameter here, and differ");
	layer_free(layer);
	layer_free(other);
}
END_TEST

START_TEST(a_prefix_finds_a_part_of_a_model)
{
	real there[5 + 24], back[5 + 24] = { 0 };
	const size_t box[] = { 2, 3, 1, 4 };
	struct parameter bias = { .value = tensor_view(back, 1,
			(size_t[]){ 5 }) };
	struct parameter cube = { .value = tensor_view(back + 5, 4, box) };
	struct entry entries[2] = { { "bias", &bias }, { "cube", &cube } };
	const struct registry registry = { entries, 2, 2 };
	struct weights_tensor all[] = {
		{ "b.cube", noise(there + 5, 4, box, 1) },
		{ "other", tensor_view(there, 1, (size_t[]){ 2 }) },
		{ "b.bias", noise(there, 1, (size_t[]){ 5 }, 2) },
	};
	struct scratch scratch = scratch_bytes("", 0);
	struct weights *weights;

	ck_ok(weights_write(scratch.path, all, 3, NULL));
	ck_ok(weights_open(scratch.path, &weights, NULL));
	ck_ok(registry_load(&registry, weights, "b.", NULL));
	ck_assert_mem_eq(there, back, sizeof there);
	weights_close(weights);
	ck_ok(registry_save(&registry, scratch.path, NULL));
	ck_ok(weights_open(scratch.path, &weights, NULL));
	/* cut the file while it is open */
	ck_ok(registry_load(&registry, weights, "", NULL));
	ck_assert_int_eq(truncate(scratch.path, 200), 0);
	ck_assert_int_eq(registry_load(&registry, weights, "", NULL),
			MH_EFILE);
	weights_close(weights);
	remove(scratch.path);
}
END_TEST

START_TEST(a_head_entered_twice_is_saved_twice_and_loads_again)
{
	struct layer *layer;
	struct scratch scratch = scratch_bytes("", 0);
	struct weights *weights;
	real was;

	ck_ok(layer_create(6, 2, &layer, NULL));
	ck_ok(layer_enter(layer, 1, layer->head[0], NULL));
	layer_randomize(layer, 3);
	was = layer->memory[7];
	ck_ok(registry_save(&layer->registry, scratch.path, NULL));
	ck_ok(weights_open(scratch.path, &weights, NULL));
	remove(scratch.path);
	ck_assert_uint_eq(weights_count(weights), 7);
	layer_randomize(layer, 4);
	ck_assert(layer->memory[7] != was);
	ck_ok(registry_load(&layer->registry, weights, "", NULL));
	ck_assert(layer->memory[7] == was);
	weights_close(weights);
	layer_free(layer);
}
END_TEST

void files_suite(Suite *suite)
{
	TCase *opening = tcase_create("opening");
	TCase *tensors = tcase_create("reading and writing");
	TCase *headers = tcase_create("long headers");
	TCase *layers = tcase_create("layers");

	/* add the tests of opening */
	suite_add_tcase(suite, opening);
	tcase_add_loop_test(opening,
			a_file_that_breaks_a_rule_is_refused_in_one_sentence, 0, LIES);
	tcase_add_test(opening, no_beginning_of_a_file_is_taken_for_the_whole);
	tcase_add_test(opening,
			a_header_longer_than_its_file_is_refused_unread);
	tcase_add_test(opening,
			a_hostile_name_makes_no_long_or_coloured_complaint);
	tcase_add_test(opening, what_is_no_file_is_refused);
	tcase_add_test(opening, what_the_rules_allow_is_read);
	tcase_add_loop_test(opening,
			tensors_of_every_type_may_stand_in_a_file, 0, 17);
	tcase_add_loop_test(opening,
			eight_small_numbers_fill_as_many_bytes_as_one_has_bits, 0, 3);
	tcase_add_test(opening, a_text_is_shown_up_to_its_limit);
	tcase_add_test(opening, a_file_is_closed_whatever_its_number);
	/* add the tests of tensors and layers */
	suite_add_tcase(suite, tensors);
	tcase_add_test(tensors,
			a_tensor_that_is_not_the_wanted_one_is_refused);
	tcase_add_test(tensors, the_bytes_are_those_of_the_reference);
	tcase_add_test(tensors, every_bit_of_every_number_comes_back);
	tcase_add_test(tensors,
			a_file_that_cannot_be_written_leaves_the_old_one);
	tcase_add_test(tensors, a_read_that_fails_is_no_silence);
	tcase_add_test(tensors, what_is_missing_is_refused_in_a_sentence);
	tcase_add_test(tensors, an_old_error_does_not_disturb_a_read);
	suite_add_tcase(suite, headers);
	tcase_set_tags(headers, "long");        /* twice 100 million letters */
	tcase_add_test(headers,
			no_header_is_written_that_is_too_long_to_be_read);
	suite_add_tcase(suite, layers);
	tcase_add_loop_test(layers, a_layer_comes_back_bit_for_bit, 0, SHAPES);
	tcase_add_test(layers,
			a_file_for_another_layer_is_refused_and_changes_nothing);
	tcase_add_test(layers, a_prefix_finds_a_part_of_a_model);
	tcase_add_test(layers,
			a_head_entered_twice_is_saved_twice_and_loads_again);
}
