/* predict.h: made from chapters/74-predict.nw; edit it there. */
#ifndef MH_PREDICT_H
#define MH_PREDICT_H

#include "remember.h"
#include "reply.h"
#include "tensor.h"

enum {
	PREDICT_NUMBERS = 8, PREDICT_SLIPS = 24, PREDICT_TEXT = 1200,
	PREDICT_HOW = 400, PREDICT_PLACES = 8
};

/* kinds of slips */
enum slip_kind {
	SLIP_MASK, SLIP_MASKED, SLIP_DIVISOR, SLIP_NO_DIVISOR,
	SLIP_NO_ROOT, SLIP_HEADS_ROOT, SLIP_SCORE_SIGN, SLIP_SUMS_FIRST,
	SLIP_AXIS, SLIP_UNNORMALISED, SLIP_UNIFORM, SLIP_EVEN_FUTURE,
	SLIP_LARGEST, SLIP_ORDER, SLIP_ITSELF, SLIP_EARLIER, SLIP_LATER,
	SLIP_OPPOSITE, SLIP_UNWEIGHED, SLIP_SUM, SLIP_SCALED, SLIP_KEPT,
	SLIP_INTACT, SLIP_TRANSPOSED, SLIP_NO_PROJECTION, SLIP_BLOCK,
	SLIP_SIGN, SLIP_REST, SLIP_WHOLE, SLIP_INTERLEAVED,
	SLIP_CLOSED_UP, SLIP_FULL_WIDTH, SLIP_NO_OUT, SLIP_ONE_MATRIX,
	SLIP_DIVIDED, SLIP_BIAS, SLIP_SWAPPED, SLIP_ONE_EXAMPLE,
	SLIP_ONE_HEAD, SLIP_ONE_SQUARE, SLIP_ROW, SLIP_TRIANGLE,
	SLIP_LINEAR, SLIP_CONSTANT, SLIP_CUBE, SLIP_DOUBLE,
	SLIP_RIGHT_MERGE, SLIP_OTHER_ROW, SLIP_MASK_AFTER,
	SLIP_MASK_ZERO, SLIP_HIDDEN, SLIP_ARGMAX, SLIP_PROPORTIONAL,
	SLIP_WIDTH, SLIP_NUMERATORS, SLIP_KINDS
};

struct slip {
	enum slip_kind kind;
	double numbers[PREDICT_NUMBERS];
};

/* A question that was drawn. */
struct prediction {
	char text[PREDICT_TEXT];
	size_t count;                   /* of numbers that are wanted */
	bool bits;                      /* each of them is 0 or 1 */
	bool whole;                     /* each of them is a count */
	char how[PREDICT_HOW];          /* they come by hand */
	double truth[PREDICT_NUMBERS];  /* what the library says */
	struct slip slips[PREDICT_SLIPS];
	size_t slip_count;
};

struct topic {
	const char *name, *summary, *see;
	enum status (*draw)(struct random *random, struct prediction *p,
			struct error *error);
};

/* prototypes of predict */
/* Topic number i, or NULL if there are not so many. */
const struct topic *predict_topic(size_t i);

/* Draw a question of this topic. Returns what the library returns. */
enum status predict_draw(const struct topic *topic,
		struct random *random, struct prediction *p,
		struct error *error);

/* Are these numbers the true ones? Might they be, rounded more than is
 * allowed? */
bool predict_right(const struct prediction *p,
		const struct reply_number typed[]);
bool predict_vague(const struct prediction *p,
		const struct reply_number typed[]);

/* Store in found the slips that explain the numbers typed, each kind
 * once, and return how many. */
size_t predict_explain(const struct prediction *p,
		const struct reply_number typed[],
		const struct slip *found[PREDICT_SLIPS]);

/* Sections to read again, each once. */
struct places { size_t count; const char *place[PREDICT_PLACES]; };

/* A session: where it reads and writes, and what has come of it. */
struct predict {
	FILE *in, *out;
	struct memory memory;
	const char *path;               /* of the memory's file, or NULL */
	size_t only;                    /* ask this topic, if it is one */
	bool fixed;                     /* the order of topics is */
	size_t rounds, asked, right;
	size_t missed[MEMORY_ITEMS];    /* by topic */
	struct places read[MEMORY_ITEMS];
	bool ended, stopped;            /* the input has; the reader did */
	struct error lost;              /* why nothing is remembered */
};

/* Begin a session: a memory that knows the topics' names, and no more.
 * If only is the name of a topic, it knows that one alone; false if
 * there is no such topic. */
bool predict_begin(struct predict *predict, const char *only);

/* Ask so many rounds and sum up. What is drawn in a round depends on
 * the seed, the round and the topic. The topic depends on the seed and
 * the round, if the order is fixed, and else on what was missed. Each
 * answer is kept in the memory's file, if that has a path; if it cannot
 * be, that is said at once, and the session goes on. Returns what the
 * library or memory_round returns. */
enum status predict_run(struct predict *predict, uint64_t seed,
		struct error *error);

/* Say all that can be said of a miss, and where to read again, which is
 * added to read. If nothing was typed, that is NULL. */
void predict_diagnose(FILE *out, const struct topic *topic,
		const struct prediction *p, const struct reply_number typed[],
		struct places *read);

#endif
