/* lab.c: made from chapters/80-program.nw; edit it there. */
/* includes of lab.c */
#include "fixture.h"

#include <string.h>

#include "interventions.h"

#include "storage.h"

#include "gradient.h"
#include "reference.h"

#include "lab.h"

void lab_part(struct lab *lab, int number, const char *title)
{
	fprintf(lab->out, "%sPart %d: %s\n", number > 1 ? "\n" : "",
			number, title);
}

void lab_expect(struct lab *lab, bool holds, const char *what)
{
	const size_t room = sizeof lab->which / sizeof lab->which[0];

	if (!holds && lab->broken < room)
		lab->which[lab->broken] = what;
	lab->broken += !holds;
}

/* parts of the lab */
static void print_numbers(struct lab *lab, const char *label,
		struct tensor row)
{
	fprintf(lab->out, "  %s [", label);
	for (size_t i = 0; i < row.shape[0]; i++) {
		double number = (double)AT(row, i);

		if (fabs(number) <= 0.5e-6)
			number = 0;
		fprintf(lab->out, "%s%.6f", i ? ", " : "", number);
	}
	fprintf(lab->out, "]\n");
}

/* The last row of a matrix: the final position. */
static struct tensor last_row(struct tensor rows)
{
	return tensor_slice(rows, 0, rows.shape[0] - 1);
}

static void print_last(struct lab *lab, size_t h, const char *what,
		struct tensor rows)
{
	char label[32];

	snprintf(label, sizeof label, "head %zu final %s", h, what);
	print_numbers(lab, label, last_row(rows));
}

static void expect_row(struct lab *lab, const char *what,
		struct tensor row, const double wanted[])
{
	bool near = true;

	for (size_t i = 0; i < row.shape[0]; i++) {
		double size = fmax(1, fabs(wanted[i]));
		double off = fabs((double)AT(row, i) - wanted[i]);

		near &= off <= 8 * (double)REAL_EPSILON * size;
	}
	lab_expect(lab, near, what);
}

static enum status part_1(struct lab *lab, struct fixture *f)
{
	const size_t shape[] = { 1, FIXTURE_T, FIXTURE_C };
	struct tensor x = tensor_view(f->x[0], 3, shape);
	enum status status = fixture_run_heads(f, lab->error);

	if (status)
		return status;
	lab_part(lab, 1,
			"hand-chosen projections, not trained semantic heads");
	fprintf(lab->out, "  input %s, heads %d, head width %d\n",
			tensor_shape(x).text, FIXTURE_H, FIXTURE_D);
	fprintf(lab->out, "  each query projection weight %s\n",
			tensor_shape(fixture_weight(f->query[0])).text);
	fprintf(lab->out, "  X rows [constant query, log-key,"
			" value first, value second]\n");
	for (size_t t = 0; t < FIXTURE_T; t++)
		print_numbers(lab, "X",
				tensor_slice(fixture_rows(f->x, FIXTURE_C), 0, t));
	/* print what each head made of the last position */
	for (size_t h = 0; h < FIXTURE_H; h++) {
		const size_t T = FIXTURE_T, d = FIXTURE_D;

		print_last(lab, h, "scores", fixture_rows(f->scores[h], T));
		print_last(lab, h, "weights", fixture_rows(f->weights[h], T));
		print_last(lab, h, "output", fixture_rows(f->output[h], d));
	}
	/* state what must hold of part 1 */
	expect_row(lab, "head 0 final weights are [1/7, 2/7, 4/7]",
			last_row(fixture_rows(f->weights[0], FIXTURE_T)),
			(double[]){ 1 / 7., 2 / 7., 4 / 7. });
	expect_row(lab, "head 1 final weights are [4/7, 2/7, 1/7]",
			last_row(fixture_rows(f->weights[1], FIXTURE_T)),
			(double[]){ 4 / 7., 2 / 7., 1 / 7. });
	return MH_OK;
}

static enum status part_2(struct lab *lab, struct fixture *f)
{
	const size_t T = FIXTURE_T, C = FIXTURE_C, H = FIXTURE_H;
	const size_t wide[] = { 1, T, C }, square[] = { 1, H, T, T };
	enum status status = fixture_run_layer(f, lab->error);

	if (status)
		return status;
	lab_part(lab, 2, "concatenate and output-project");
	fprintf(lab->out, "  weights %s, concatenation %s, output %s\n",
			shape_write(4, square).text, shape_write(3, wide).text,
			shape_write(3, wide).text);
	/* print what the layer made of the last position */
	struct tensor concat = last_row(fixture_rows(f->concat, C));
	struct tensor output = last_row(fixture_rows(f->projected, C));
	struct tensor share = last_row(fixture_rows(f->contribution[1], C));

	print_numbers(lab, "final concatenation", concat);
	print_numbers(lab, "final projected output", output);
	fprintf(lab->out, "  output projection stored rows\n");
	for (size_t c = 0; c < C; c++)
		print_numbers(lab, "W", tensor_view(f->out_proj[c], 1, &C));
	print_numbers(lab, "sum instead of concat loses separate routes",
			last_row(fixture_rows(f->sum, FIXTURE_D)));
	print_numbers(lab, "head 1 contribution after output projection",
			share);
	/* state what must hold of part 2 */
	expect_row(lab, "final concatenation is [26/7, 16/7, 14/7, 10/7]",
			concat, (double[]){ 26 / 7., 16 / 7., 14 / 7., 10 / 7. });
	expect_row(lab, "final output is [40/7, 6/7, 12/7, 26/7]", output,
			(double[]){ 40 / 7., 6 / 7., 12 / 7., 26 / 7. });
	expect_row(lab, "head 1 contributes [2, -10/7, -2, 10/7]", share,
			(double[]){ 2, -10 / 7., -2, 10 / 7. });
	lab_expect(lab, memcmp(f->weights, f->layer_weights,
			sizeof f->weights) == 0,
			"the layer's weights are those of its heads run alone");
	return MH_OK;
}

static const char *truth(bool holds)
{
	return holds ? "True" : "False";
}

static enum status part_3(struct lab *lab)
{
	struct flow flow;
	struct fixture silent;
	enum status status = observe_flow(&flow, lab->error);

	fixture_set(&silent);
	fixture_silence(&silent);
	if (!status)
		status = fixture_run_heads(&silent, lab->error);
	if (!status)
		status = fixture_run_layer(&silent, lab->error);
	if (status)
		return status;
	lab_part(lab, 3, "test information flow, not only shapes");
	/* print how information flows */
	bool normalized = flow.rows <= 8 * REAL_EPSILON;

	fprintf(lab->out, "  causal prefix max change %.6f\n",
			(double)flow.masked);
	fprintf(lab->out, "  unmasked prefix changes %s\n",
			truth(flow.unmasked > 0));
	fprintf(lab->out, "  future nonzero weights %zu\n", flow.future);
	fprintf(lab->out, "  normalized rows %s\n", truth(normalized));
	/* print what silence does */
	struct tensor one = last_row(fixture_rows(silent.weights[0],
			FIXTURE_T));
	struct tensor two = last_row(fixture_rows(silent.weights[1],
			FIXTURE_T));
	struct tensor mixed = last_row(fixture_rows(silent.projected,
			FIXTURE_C));

	print_numbers(lab, "zero-query final weights, both heads", one);
	print_numbers(lab, "zero-query final concatenation",
			last_row(fixture_rows(silent.concat, FIXTURE_C)));
	print_numbers(lab, "zero-query final projected output", mixed);
	/* state what must hold of part 3 */
	static const double third[] = { 1 / 3., 1 / 3., 1 / 3. };
	static const double output[] = { 16 / 3., 0, 0, 4 };

	lab_expect(lab, flow.masked == 0, "the masked past does not move");
	lab_expect(lab, flow.unmasked > 0, "the unmasked past moves");
	lab_expect(lab, flow.future == 0, "no weight lies on the future");
	lab_expect(lab, normalized, "rows of weights add up to 1");
	expect_row(lab, "silent head 0 is uniform", one, third);
	expect_row(lab, "silent head 1 is uniform", two, third);
	expect_row(lab, "the silent output is [16/3, 0, 0, 4]", mixed, output);
	return MH_OK;
}

/* A count with its thousands set apart; counts below a thousand
 * million. */
static void print_grouped(FILE *out, size_t n)
{
	if (n >= 1000000)
		fprintf(out, "%zu,%03zu,%03zu", n / 1000000, n / 1000 % 1000,
				n % 1000);
	else if (n >= 1000)
		fprintf(out, "%zu,%03zu", n / 1000, n % 1000);
	else
		fprintf(out, "%zu", n);
}

static void print_bytes(struct lab *lab, size_t T, size_t entries)
{
	fprintf(lab->out, "  T=%zu, entries ", T);
	print_grouped(lab->out, entries);
	fprintf(lab->out, ", bytes ");
	print_grouped(lab->out, entries * sizeof(float));
	fprintf(lab->out, "\n");
}

static enum status part_5(struct lab *lab)
{
	enum status status = MH_OK;
	struct cost cost;

	lab_part(lab, 5, "fixed C=8, B=2, T=4, no biases");
	for (size_t H = 1; H <= 4 && !status; H *= 2) {
		status = storage_cost(2, 4, 8, H, &cost, lab->error);
		if (status)
			return status;
		fprintf(lab->out, "  heads %zu, head width %zu, parameters"
				" %zu, score entries %zu\n", H, 8 / H,
				cost.parameters, cost.entries);
		lab_expect(lab, cost.parameters == 256,
				"a layer of width 8 has 256 parameters");
	}
	fprintf(lab->out, "  one float32 score tensor, B=2, H=2\n");
	for (size_t T = 128; T <= 256 && !status; T *= 2) {
		status = storage_cost(2, T, 8, 2, &cost, lab->error);
		if (!status)
			print_bytes(lab, T, cost.entries);
	}
	return status;
}

/* Do two tensors of one shape agree to 1e-12, absolute and relative? */
static bool agree(struct tensor a, struct tensor b)
{
	bool near = true;

	if (a.rank == 0)
		return fabs(*a.data - *b.data) <= (real)1e-12 +
				(real)1e-12 * fabs(*b.data);
	for (size_t i = 0; i < a.shape[0]; i++)
		near &= agree(tensor_slice(a, 0, i), tensor_slice(b, 0, i));
	return near;
}

/* Is every gradient of the registry finite, and none all zero? */
static bool all_slope(const struct registry *registry)
{
	for (size_t i = 0; i < registry->count; i++) {
		struct tensor t = registry->entries[i].parameter->gradient;
		bool some = false;

		for (size_t r = 0; r < t.shape[0]; r++)
			for (size_t c = 0; c < t.shape[1]; c++)
				some |= AT(t, r, c) != 0;
		if (!some || !tensor_finite(t))
			return false;
	}
	return true;
}

static enum status part_4(struct lab *lab)
{
	struct reference r;
	struct forward loop, packed;
	struct tensor dx;
	enum status status = reference_set(&r, lab->error);

	/* run the recorded case on both paths, and back */
	if (!status)
		status = forward_take(r.layer, r.x, &loop, &r.room, lab->error);
	if (!status)
		status = forward_take(r.layer, r.x, &packed, &r.room, lab->error);
	if (!status)
		status = workspace_take(&r.room, 3, r.x.shape, &dx, lab->error);
	if (!status)
		status = layer_forward_loop(r.layer, r.x, true, &loop, &r.room,
				lab->error);
	if (!status)
		status = layer_forward_packed(r.layer, r.x, true, &packed, &r.room,
				lab->error);
	if (!status)
		status = layer_backward_loop(r.layer, r.x, true, &loop, r.dy, dx,
				&r.room, lab->error);
	if (!status) {
		/* print whether the paths and PyTorch agree */
		bool paths = agree(loop.output, packed.output) &&
				agree(loop.weights, packed.weights) &&
				agree(loop.concat, packed.concat);
		bool outputs = agree(loop.output, r.answer.output);
		bool weights = agree(loop.weights, r.answer.weights);
		bool slopes = all_slope(&r.layer->registry);

		lab_part(lab, 4, "trainable random projections and numerical parity");
		if (lab->verbose)
			fprintf(lab->out, "  the referee is PyTorch %s, on record in"
					" tests/reference/lab.safetensors\n", r.version);
		fprintf(lab->out, "  random input %s, per-head weights %s\n",
				tensor_shape(r.x).text, tensor_shape(loop.weights).text);
		fprintf(lab->out, "  loop matches packed %s\n", truth(paths));
		fprintf(lab->out, "  loop matches PyTorch %s\n", truth(outputs));
		fprintf(lab->out, "  per-head weights match PyTorch %s\n",
				truth(weights));
		fprintf(lab->out, "  all projection tensors have finite nonzero"
				" gradients %s\n", truth(slopes));
		/* state what must hold of part 4 */
		lab_expect(lab, paths, "the loop and the packed path agree");
		lab_expect(lab, outputs, "the loop's output is PyTorch's");
		lab_expect(lab, weights, "the weights of all heads are PyTorch's");
		lab_expect(lab, slopes,
				"every gradient is finite, and none is all zero");
		lab_expect(lab, agree(dx, r.dx) &&
				agree(r.layer->in_proj.gradient, r.din_proj) &&
				agree(r.layer->out_proj.gradient, r.dout_proj),
				"all gradients are PyTorch's");
	}
	reference_free(&r);
	return status;
}

enum status lab_run(struct lab *lab)
{
	enum status status = MH_OK;

	/* run the parts of the lab in order */
	struct fixture fixture;

	fixture_set(&fixture);
	status = part_1(lab, &fixture);

	if (!status)
		status = part_2(lab, &fixture);

	if (!status)
		status = part_3(lab);

	/* run part 4, which needs a referee */
	if (!status)
		status = part_4(lab);
	if (!status)
		status = part_5(lab);
	/* name what did not hold */
	if (!status && !lab->broken)
		fprintf(lab->out, "\nCHECK PASSED\n");

	for (size_t i = 0; i < lab->broken && i < 32; i++)
		fprintf(lab->out, "%sCHECK FAILED: %s\n", i ? "" : "\n",
				lab->which[i]);
	return status;
}
