/* reference.h: made from chapters/50-pytorch.nw; edit it there. */
#ifndef MH_REFERENCE_H
#define MH_REFERENCE_H

#include "layer.h"

/* What PyTorch was asked in the lab's case, and what it answered. */
struct reference {
	const char *version;            /* of PyTorch */
	struct layer *layer;            /* with the recorded weights */
	struct tensor x, dy;            /* (B,T,C) */
	struct forward answer;
	struct tensor dx;               /* (B,T,C) */
	struct tensor din_proj, dout_proj;      /* like the weights */
	struct workspace room;          /* where the tensors are */
};

/* Fill *reference. MH_EMEMORY if there is no room. Whatever it returns,
 * reference_free must be called. */
enum status reference_set(struct reference *reference,
		struct error *error);
void reference_free(struct reference *reference);

#endif
