/* tests/test_pytorch.c: made from chapters/50-pytorch.nw; edit it there. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gradient.h"
#include "run.h"
#include "suites.h"
#include "support.h"
#include "weights.h"

/* tests of the referee */
static const char *const cases[] = {
	"fixture", "lab", "causal", "unmasked", "biases",
	"unmasked-biases", "one-token", "single-head",
	"heads-of-width-one", "odd-width", "long", "float-causal",
	"float-unmasked-biases", "float-one-token", "float-long",
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* Where the record is; make runs the suite at the top of the
 * sources. */
static const char *reference_path(const char *name)
{
	static char path[256];
	const char *folder = getenv("REFERENCE");

	snprintf(path, sizeof path, "%s/%s.safetensors",
			folder ? folder : "tests/reference", name);
	return path;
}

/* Compare got with what the file has under this name. */
static void judge(const struct weights *file, const char *name,
		struct tensor got)
{
	static real memory[1 << 15];
	size_t count = 0;
	double largest = 0;

	ck_assert(tensor_count(got.rank, got.shape, &count));
	ck_assert_uint_le(count, 1 << 15);
	ck_assert(tensor_is_contiguous(got));
	ck_ok(weights_read(file, name, tensor_view(memory, got.rank,
			got.shape), NULL));
	for (size_t i = 0; i < count; i++)
		largest = fmax(largest, fabs((double)memory[i]));
	ck_assert(largest > 0);
	for (size_t i = 0; i < count; i++) {
		double want = (double)memory[i], is = (double)got.data[i];
		double bound = sizeof(real) == sizeof(double) ?
				1e-12 + 1e-12 * fabs(want) :
				32 * (double)REAL_EPSILON * largest;

		ck_assert_msg(fabs(is - want) <= bound,
				"%s: entry %zu is %.17g, PyTorch has %.17g", name, i,
				is, want);
	}
}

/* A case of the record: the layer, and room for what it makes. */
struct trial {
	struct weights *file;
	struct layer *layer;
	struct tensor x, dy, dx;
	struct forward result;
	struct workspace room;
	bool causal, biases;
	/* more fields of trial */
	struct streamed streamed;
};

/* False if the case is of the other precision. */
static bool trial_set(struct trial *t, const char *name)
{
	const struct weights_entry *x, *in;

	*t = (struct trial){ 0 };
	ck_ok(weights_open(reference_path(name), &t->file, NULL));
	x = weights_find(t->file, "x");
	in = weights_find(t->file, "in_proj_weight");
	ck_assert(x && in);
	if (strcmp(x->type, sizeof(real) == sizeof(double) ? "F64" :
			"F32") != 0) {
		weights_close(t->file);
		return false;
	}
	t->causal = strcmp(weights_metadata(t->file, "causal"), "true") ==
			0;
	t->biases = weights_find(t->file, "in_proj_bias");
	ck_ok(layer_create(in->shape[1], strtoul(weights_metadata(t->file,
			"heads"), NULL, 10), &t->layer, NULL));
	/* read the weights and inputs of the case */
	if (t->biases) {
		ck_ok(layer_add_biases(t->layer, NULL));
		ck_ok(weights_read(t->file, "in_proj_bias",
				t->layer->in_bias.value, NULL));
		ck_ok(weights_read(t->file, "out_proj.bias",
				t->layer->out_bias.value, NULL));
	}
	ck_ok(weights_read(t->file, "in_proj_weight", t->layer->in_proj.value,
			NULL));
	ck_ok(weights_read(t->file, "out_proj.weight", t->layer->out_proj.value,
			NULL));
	ck_ok(workspace_take(&t->room, 3, x->shape, &t->x, NULL));
	ck_ok(workspace_take(&t->room, 3, x->shape, &t->dy, NULL));
	ck_ok(workspace_take(&t->room, 3, x->shape, &t->dx, NULL));
	ck_ok(weights_read(t->file, "x", t->x, NULL));
	ck_ok(weights_read(t->file, "dy", t->dy, NULL));
	ck_ok(forward_take(t->layer, t->x, &t->result, &t->room, NULL));
	/* take room for more paths of the case */
	ck_ok(streamed_take(t->layer, t->x, &t->streamed, &t->room, NULL));
	t->streamed.output = t->result.output;
	t->streamed.concat = t->result.concat;
	return true;
}

/* The case of this name that is of our precision. */
static void trial_pick(struct trial *t, const char *name)
{
	char own[64];

	snprintf(own, sizeof own, "%s%s", sizeof(real) == sizeof(double) ?
			"" : "float-", name);
	ck_assert(trial_set(t, own));
}

static void trial_free(struct trial *t)
{
	workspace_free(&t->room);
	layer_free(t->layer);
	weights_close(t->file);
}

/* Forth and back on one path. */
static void trial_run(struct trial *t, enum run_path path)
{
	struct forward *seen = &t->result;

	registry_zero_gradients(&t->layer->registry);
	switch (path) {
	case RUN_LOOP:
		ck_ok(layer_forward_loop(t->layer, t->x, t->causal, seen,
				&t->room, NULL));
		ck_ok(layer_backward_loop(t->layer, t->x, t->causal, seen,
				t->dy, t->dx, &t->room, NULL));
		break;
	case RUN_PACKED:
		ck_ok(layer_forward_packed(t->layer, t->x, t->causal, seen,
				&t->room, NULL));
		ck_ok(layer_backward_packed(t->layer, t->x, t->causal, seen,
				t->dy, t->dx, &t->room, NULL));
		break;
	/* run a case on more paths */
	case RUN_ONLINE:
		ck_ok(layer_forward_online(t->layer, t->x, t->causal, &t->streamed,
				&t->room, NULL));
		ck_ok(layer_backward_online(t->layer, t->x, t->causal, &t->streamed,
				t->dy, t->dx, &t->room, NULL));
		break;

	case RUN_STREAMING:
		ck_ok(layer_forward_streaming(t->layer, t->x, t->causal,
				&t->streamed, &t->room, NULL));
		ck_ok(layer_backward_streaming(t->layer, t->x, t->causal,
				&t->streamed, t->dy, t->dx, &t->room, NULL));
		break;
	case RUN_PATHS:
		ck_abort();
	}
}

/* Does the path hand back the weights? */
static bool has_weights(enum run_path path)
{
	return path == RUN_LOOP || path == RUN_PACKED;
}

START_TEST(all_paths_agree_with_pytorch)
{
	enum run_path path = (enum run_path)(_i % RUN_PATHS);
	struct trial t;

	if (!trial_set(&t, cases[_i / RUN_PATHS]))
		return;
	trial_run(&t, path);
	judge(t.file, "y", t.result.output);
	if (has_weights(path))
		judge(t.file, "attn_weights", t.result.weights);
	judge(t.file, "concat", t.result.concat);
	judge(t.file, "grad.x", t.dx);
	judge(t.file, "grad.in_proj_weight", t.layer->in_proj.gradient);
	judge(t.file, "grad.out_proj.weight", t.layer->out_proj.gradient);
	if (t.biases) {
		judge(t.file, "grad.in_proj_bias", t.layer->in_bias.gradient);
		judge(t.file, "grad.out_proj.bias",
				t.layer->out_bias.gradient);
	}
	trial_free(&t);
}
END_TEST

START_TEST(every_recorded_case_is_in_the_list)
{
	glob_t found;

	ck_assert_int_eq(glob(reference_path("*"), 0, NULL, &found), 0);
	ck_assert_uint_eq(found.gl_pathc, CASES);
	globfree(&found);
}
END_TEST

struct folder { char name[32], model[48], inputs[48], answer[48]; };

static void folder_set(struct folder *f)
{
	snprintf(f->name, sizeof f->name, "/tmp/run-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(f->name));
	snprintf(f->model, sizeof f->model, "%s/model", f->name);
	snprintf(f->inputs, sizeof f->inputs, "%s/inputs", f->name);
	snprintf(f->answer, sizeof f->answer, "%s/answer", f->name);
}

static void folder_free(struct folder *f)
{
	remove(f->model);
	remove(f->inputs);
	remove(f->answer);
	ck_assert_int_eq(rmdir(f->name), 0);    /* nothing else is left */
}

/* The case as two files. Every tensor of the layer gets the prefix;
 * beside them the model has one that is none of our business. */
static void take_apart(struct trial *t, const struct folder *f)
{
	struct weights_tensor model[] = {
		{ "a.b.in_proj_weight", t->layer->in_proj.value },
		{ "embedding", t->x },
		{ "a.b.out_proj.weight", t->layer->out_proj.value },
		{ "a.b.in_proj_bias", t->layer->in_bias.value },
		{ "a.b.out_proj.bias", t->layer->out_bias.value },
	};
	struct weights_tensor inputs[] = { { "dy", t->dy }, { "x", t->x } };

	ck_ok(weights_write(f->model, model, t->biases ? 5 : 3, NULL));
	ck_ok(weights_write(f->inputs, inputs, 2, NULL));
}

START_TEST(a_layer_out_of_a_model_runs_as_pytorch_ran_it)
{
	struct folder f;
	struct trial t;
	struct weights *answer;

	if (!trial_set(&t, cases[_i / RUN_PATHS]))
		return;
	folder_set(&f);
	take_apart(&t, &f);
	struct run_request request = { f.model, f.inputs, f.answer,
			_i % 2 ? "a.b" : "a.b.", t.layer->heads,
			(enum run_path)(_i % RUN_PATHS), t.causal, true };

	ck_ok(run_layer(&request, NULL));
	ck_ok(weights_open(f.answer, &answer, NULL));
	ck_assert_uint_eq(weights_count(answer), (t.biases ? 7 : 5) +
			has_weights(request.path));
	for (size_t i = 0; i < weights_count(answer); i++) {
		/* judge one tensor of the answer */
		const struct weights_entry *entry = weights_nth(answer, i);
		struct workspace_mark mark = workspace_mark(&t.room);
		struct tensor got;

		ck_ok(workspace_take(&t.room, (int)entry->rank, entry->shape, &got,
				NULL));
		ck_ok(weights_read(answer, entry->name, got, NULL));
		judge(t.file, entry->name, got);
		workspace_release(&t.room, mark);
	}
	weights_close(answer);
	folder_free(&f);
	trial_free(&t);
}
END_TEST

/* Does the file hold these very numbers under this name? */
static bool same_bits(const struct weights *file, const char *name,
		struct tensor want)
{
	static real memory[1 << 15];
	size_t count = 0;

	ck_assert(tensor_count(want.rank, want.shape, &count));
	ck_assert_uint_le(count, 1 << 15);
	ck_assert(tensor_is_contiguous(want));
	ck_ok(weights_read(file, name, tensor_view(memory, want.rank,
			want.shape), NULL));
	return memcmp(memory, want.data, count * sizeof(real)) == 0;
}

START_TEST(a_run_takes_the_path_it_is_asked_for)
{
	struct folder f;
	struct trial t;
	struct weights *answer;

	trial_pick(&t, "long");
	folder_set(&f);
	take_apart(&t, &f);
	struct run_request request = { f.model, f.inputs, f.answer, "a.b",
			t.layer->heads, (enum run_path)_i, t.causal, true };

	ck_ok(run_layer(&request, NULL));
	ck_ok(weights_open(f.answer, &answer, NULL));
	for (int path = 0; path < RUN_PATHS; path++) {
		trial_run(&t, (enum run_path)path);
		ck_assert(same_bits(answer, "grad.x", t.dx) == (path == _i));
		if (path == _i)
			ck_assert(same_bits(answer, "y", t.result.output));
	}
	weights_close(answer);
	folder_free(&f);
	trial_free(&t);
}
END_TEST

START_TEST(a_run_keeps_the_mask_on_the_way_back)
{
	struct folder f;
	struct trial t;
	struct weights *answer;

	trial_pick(&t, "causal");
	folder_set(&f);
	tensor_fill(of_head(t.dy, 0, 0), (real)INFINITY);
	take_apart(&t, &f);
	struct run_request request = { f.model, f.inputs, f.answer, "a.b",
			t.layer->heads, (enum run_path)_i, true, true };

	ck_ok(run_layer(&request, NULL));
	ck_ok(weights_open(f.answer, &answer, NULL));
	ck_ok(weights_read(answer, "grad.x", t.dx, NULL));
	ck_assert(!tensor_finite(of_head(t.dx, 0, 0)));
	ck_assert(tensor_finite(tensor_narrow(t.dx, 1, 1,
			t.dx.shape[1] - 1)));
	weights_close(answer);
	folder_free(&f);
	trial_free(&t);
}
END_TEST

START_TEST(a_bias_that_is_missing_counts_as_zero)
{
	bool out = _i;
	struct folder f;
	struct trial t;
	struct weights *answer;

	trial_pick(&t, "unmasked-biases");
	folder_set(&f);
	take_apart(&t, &f);
	/* leave one bias out of the model */
	struct parameter *there = out ? &t.layer->out_bias :
			&t.layer->in_bias;
	struct weights_tensor model[] = {
		{ "a.b.in_proj_weight", t.layer->in_proj.value },
		{ "a.b.out_proj.weight", t.layer->out_proj.value },
		{ out ? "a.b.out_proj.bias" : "a.b.in_proj_bias", there->value },
	};

	ck_ok(weights_write(f.model, model, 3, NULL));
	tensor_fill(out ? t.layer->in_bias.value : t.layer->out_bias.value,
			0);
	struct run_request request = { f.model, f.inputs, f.answer, "a.b",
			t.layer->heads, RUN_PACKED, t.causal, true };

	ck_ok(run_layer(&request, NULL));
	ck_ok(weights_open(f.answer, &answer, NULL));
	trial_run(&t, RUN_PACKED);
	ck_assert_uint_eq(weights_count(answer), 7);
	ck_assert(same_bits(answer, "y", t.result.output));
	ck_assert(same_bits(answer, "grad.x", t.dx));
	ck_assert(same_bits(answer, out ? "grad.out_proj.bias" :
			"grad.in_proj_bias", there->gradient));
	weights_close(answer);
	folder_free(&f);
	trial_free(&t);
}
END_TEST

START_TEST(without_backward_no_gradient_is_written)
{
	struct folder f;
	struct trial t;
	struct weights *answer;

	trial_pick(&t, "causal");
	folder_set(&f);
	take_apart(&t, &f);
	struct weights_tensor x = { "x", t.x };
	struct run_request request = { f.model, f.inputs, f.answer, "a.b",
			2, RUN_PACKED, true, false };

	ck_assert_int_eq(run_layer(&request, NULL), MH_EFORMAT);   /* dy */
	ck_ok(weights_write(f.inputs, &x, 1, NULL));
	ck_ok(run_layer(&request, NULL));
	ck_ok(weights_open(f.answer, &answer, NULL));
	ck_assert_uint_eq(weights_count(answer), 3);
	weights_close(answer);
	folder_free(&f);
	trial_free(&t);
}
END_TEST

static int files_open(void)
{
	int count = 0;

	for (int number = 0; number < 256; number++)
		if (fcntl(number, F_GETFD) != -1)
			count++;
	return count;
}

START_TEST(a_run_leaves_no_file_open)
{
	struct folder f;
	struct trial t;
	int before;
	bool single;

	trial_pick(&t, "causal");
	folder_set(&f);
	take_apart(&t, &f);
	struct run_request request = { f.model, f.inputs, f.answer, "a.b",
			2, RUN_PACKED, true, true };

	before = files_open();
	ck_ok(run_layer(&request, NULL));
	ck_assert_int_eq(files_open(), before);
	request.backward = false;               /* and still there is dy */
	ck_assert_int_eq(run_layer(&request, NULL), MH_EFORMAT);
	ck_assert_int_eq(files_open(), before);
	ck_ok(run_wants_float(&request, &single, NULL));
	ck_assert(single == (sizeof(real) == sizeof(float)));
	ck_assert_int_eq(files_open(), before);
	folder_free(&f);
	trial_free(&t);
}
END_TEST

static void refused_run(struct folder *f, struct run_request request,
		const char *sentence)
{
	struct error error = { 0 };
	char wanted[400], kept[8] = "";
	FILE *file = fopen(f->answer, "w");

	ck_assert_ptr_nonnull(file);
	fputs("old", file);
	fclose(file);
	request.output = f->answer;
	ck_assert_int_ne(run_layer(&request, &error), MH_OK);
	snprintf(wanted, sizeof wanted, sentence, f->name);
	ck_assert_str_eq(error.message, wanted);
	file = fopen(f->answer, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(kept, sizeof kept, file));
	fclose(file);
	ck_assert_str_eq(kept, "old");
}

START_TEST(a_prefix_has_room_for_255_letters_with_its_dot)
{
	char prefix[257], sentence[128];
	bool single;
	struct folder f;
	struct trial t;

	trial_pick(&t, "causal");
	folder_set(&f);
	take_apart(&t, &f);
	struct run_request request = { .layer = f.model,
			.inputs = f.inputs, .prefix = prefix, .heads = 2 };

	memset(prefix, 'x', 256);
	snprintf(sentence, sizeof sentence, "the prefix %.40s... is too"
			" long", prefix);
	prefix[255] = '\0';
	refused_run(&f, request, sentence);
	ck_assert_int_eq(run_wants_float(&request, &single, NULL),
			MH_EFORMAT);
	ck_assert(!single);
	snprintf(sentence, sizeof sentence, "%%s/model: there is no"
			" %.60sin_proj_weight", prefix);
	prefix[254] = '.';
	refused_run(&f, request, sentence);
	prefix[254] = '\0';
	refused_run(&f, request, sentence);
	folder_free(&f);
	trial_free(&t);
}
END_TEST

START_TEST(a_run_does_not_replace_what_it_reads)
{
	struct folder f;
	struct trial t;
	char sentence[128];

	trial_pick(&t, "causal");
	folder_set(&f);
	take_apart(&t, &f);
	const char *input = _i & 1 ? f.inputs : f.model;
	struct run_request request = { f.model, f.inputs,
			_i & 2 ? f.answer : input, "a.b", 2, RUN_PACKED, true,
			true };

	ck_assert_int_eq(link(input, f.answer), 0);
	snprintf(sentence, sizeof sentence, "the output would replace the"
			" input %s", input);
	ck_refused(run_layer(&request, &error), MH_EFILE, sentence);
	folder_free(&f);
	trial_free(&t);
}
END_TEST

START_TEST(what_is_no_layer_or_no_input_is_refused_by_name)
{
	struct folder f;
	struct trial t;

	trial_pick(&t, "unmasked-biases");
	folder_set(&f);
	take_apart(&t, &f);

	const size_t C = t.layer->width, B = t.x.shape[0];
	struct run_request request = { .layer = f.model,
			.inputs = f.inputs, .prefix = "a.b", .heads = 3,
			.backward = true };
	struct run_request other = request;

	other.prefix = "";
	refused_run(&f, other, "%s/model: there is no in_proj_weight;"
			" --prefix says where in a model it lies");
	other.prefix = "a";
	refused_run(&f, other, "%s/model: there is no a.in_proj_weight");
	other = request;
	other.heads = C - 1;
	char wanted[200];

	snprintf(wanted, sizeof wanted, "width %zu does not divide into"
			" %zu heads", C, C - 1);
	refused_run(&f, other, wanted);
	/* refuse inputs that do not fit */
	struct weights_tensor list[] = {
		{ "x", tensor_narrow(t.x, 0, 0, 1) }, { "dy", t.dy },
		{ "mask", t.x },
	};

	ck_ok(weights_write(f.inputs, list, 2, NULL));
	ck_assert_uint_gt(B, 1);
	{
		struct error error;

		other = request;
		other.output = f.answer;
		ck_assert_int_eq(run_layer(&other, &error), MH_EFORMAT);
		ck_assert_ptr_nonnull(strstr(error.message, "dy"));
	}
	ck_ok(weights_write(f.inputs, list, 3, NULL));
	refused_run(&f, request, "%s/inputs: wanted x and dy, got a tensor"
			" 'mask'");
	list[2].name = "z";                     /* the last of the names */
	ck_ok(weights_write(f.inputs, list, 3, NULL));
	refused_run(&f, request, "%s/inputs: wanted x and dy, got a tensor"
			" 'z'");

	const struct tensor odd[] = {
		tensor_slice(t.x, 0, 0),
		tensor_view(t.x.data, 3, (size_t[]){ 1, 2, C - 1 }),
		tensor_view(t.x.data, 4, (size_t[]){ 1, 2, C, 1 }),
	};

	for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
		list[0].tensor = odd[i];
		ck_ok(weights_write(f.inputs, list, 1, NULL));
		snprintf(wanted, sizeof wanted, "%%s/inputs: wanted x of shape"
				" (B, T, %zu), got %s", C, tensor_shape(odd[i]).text);
		refused_run(&f, request, wanted);
	}
	ck_ok(weights_write(f.inputs, list + 1, 1, NULL));
	snprintf(wanted, sizeof wanted, "%%s/inputs: wanted x of shape"
			" (B, T, %zu), got none", C);
	refused_run(&f, request, wanted);
	/* refuse a vector in the place of the matrix */
	struct weights_tensor vector = { "a.b.in_proj_weight",
			t.layer->in_bias.value };

	ck_ok(weights_write(f.model, &vector, 1, NULL));
	snprintf(wanted, sizeof wanted, "%%s/model: a.b.in_proj_weight has"
			" shape (%zu), wanted (3C, C)", 3 * C);
	refused_run(&f, request, wanted);
	folder_free(&f);
	trial_free(&t);
}
END_TEST

void pytorch_suite(Suite *suite)
{
	TCase *record = tcase_create("record");
	TCase *files = tcase_create("files");

	suite_add_tcase(suite, record);
	tcase_add_loop_test(record, all_paths_agree_with_pytorch, 0,
			RUN_PATHS * CASES);
	tcase_add_test(record, every_recorded_case_is_in_the_list);
	suite_add_tcase(suite, files);
	tcase_add_loop_test(files,
			a_layer_out_of_a_model_runs_as_pytorch_ran_it, 0,
			RUN_PATHS * CASES);
	tcase_add_loop_test(files, a_run_takes_the_path_it_is_asked_for, 0,
			RUN_PATHS);
	tcase_add_loop_test(files, a_run_keeps_the_mask_on_the_way_back, 0,
			RUN_PATHS);
	tcase_add_loop_test(files, a_bias_that_is_missing_counts_as_zero, 0,
			2);
	tcase_add_test(files, without_backward_no_gradient_is_written);
	tcase_add_test(files, a_run_leaves_no_file_open);
	tcase_add_test(files,
			a_prefix_has_room_for_255_letters_with_its_dot);
	tcase_add_loop_test(files, a_run_does_not_replace_what_it_reads, 0,
			4);
	tcase_add_test(files,
			what_is_no_layer_or_no_input_is_refused_by_name);
}
