/* reference.c: made from chapters/50-pytorch.nw; edit it there. */
#include "reference.h"
#include "reference_lab.h"

/* Borrow a tensor and fill it with recorded numbers. */
static enum status take(struct reference *reference, int rank,
		const size_t shape[], const double *numbers,
		struct tensor *t, struct error *error)
{
	size_t count = 0;
	enum status status = workspace_take(&reference->room, rank, shape,
			t, error);

	if (!status)
		tensor_count(rank, shape, &count);
	for (size_t i = 0; i < count; i++)
		t->data[i] = (real)numbers[i];
	return status;
}

/* set the reference */
enum status reference_set(struct reference *reference,
		struct error *error)
{
	enum { B = REFERENCE_LAB_B, T = REFERENCE_LAB_T,
			C = REFERENCE_LAB_C, H = REFERENCE_LAB_HEADS };
	struct reference *r = reference;
	struct tensor in_proj, out_proj;

	*r = (struct reference){ .version = REFERENCE_LAB_TORCH };
	/* list the recorded tensors */
	const struct {
		struct tensor *t;
		int rank;
		size_t shape[TENSOR_AXES];
		const double *numbers;
	} list[] = {
		{ &r->x, 3, { B, T, C }, reference_lab_x },
		{ &r->dy, 3, { B, T, C }, reference_lab_dy },
		{ &r->answer.output, 3, { B, T, C }, reference_lab_y },
		{ &r->answer.weights, 4, { B, H, T, T },
				reference_lab_attn_weights },
		{ &r->answer.concat, 3, { B, T, C }, reference_lab_concat },
		{ &r->dx, 3, { B, T, C }, reference_lab_grad_x },
		{ &r->din_proj, 2, { 3 * C, C },
				reference_lab_grad_in_proj_weight },
		{ &r->dout_proj, 2, { C, C },
				reference_lab_grad_out_proj_weight },
		{ &in_proj, 2, { 3 * C, C }, reference_lab_in_proj_weight },
		{ &out_proj, 2, { C, C }, reference_lab_out_proj_weight },
	};
	enum status status = layer_create(C, H, &r->layer, error);

	for (size_t i = 0; i < sizeof list / sizeof list[0] && !status; i++)
		status = take(r, list[i].rank, list[i].shape, list[i].numbers,
				list[i].t, error);
	if (!status) {
		tensor_contiguous(in_proj, r->layer->in_proj.value.data);
		tensor_contiguous(out_proj, r->layer->out_proj.value.data);
	}
	return status;
}

void reference_free(struct reference *reference)
{
	workspace_free(&reference->room);
	layer_free(reference->layer);
	reference->layer = NULL;
}
