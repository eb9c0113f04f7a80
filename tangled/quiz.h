/* quiz.h: made from chapters/72-check-yourself.nw; edit it there. */
#ifndef MH_QUIZ_H
#define MH_QUIZ_H

#include <stdbool.h>
#include <stdio.h>

#include "error.h"

enum { QUIZ_ITEMS = 9, QUIZ_TEXT = 2000, QUIZ_MISSED = 16 };

/* What a good answer contains. */
struct quiz_item {
	const char *text;       /* NULL behind the last one */
	const char *ask;        /* a question if it is missing, or NULL */
	const char *reply;      /* what we would answer to that */
	bool applies;           /* of the case, not of the explanation */
};

struct question {
	const char *name, *see;         /* see: what to read again */
	const char *prompt, *apply;     /* apply: a case, or NULL */
	const char *answer;
	struct quiz_item rubric[QUIZ_ITEMS];
};

struct card {
	const char *name, *see, *front, *back;
};

/* prototypes of quiz */
/* Question number i in the order of the book, those to explain last;
 * card number i. NULL if there are not so many. */
const struct question *quiz_question(size_t i);
const struct card *quiz_card(size_t i);

/* The question of this name, or NULL. */
const struct question *quiz_find(const char *name);

/* What `multihead record` writes. */
struct facts { char *text; };

/* Measure. MH_EMEMORY, or what measure returns. Whatever it returns,
 * facts_free must be called. */
enum status facts_take(struct facts *facts, struct error *error);
void facts_free(struct facts *facts);

/* Copy text into filled, which has QUIZ_TEXT characters, with each
 * {key:decimals} replaced by the number, as the page shows it.
 * MH_EFORMAT if there is no such key or no such room. */
enum status facts_fill(const struct facts *facts, const char *text,
		char filled[], struct error *error);

/* A session: where it reads and writes, and what has come of it. */
struct quiz {
	FILE *in, *out;
	struct facts facts;
	size_t asked, found, items, misses;
	const struct question *missed[QUIZ_MISSED];
	bool skipped;                   /* this question is */
	bool ended, stopped;            /* the input has; the reader did */
};

/* Ask one question: show the prompt, wait for a line that is empty,
 * show answer and rubric, and let the reader mark each item. What is
 * to be explained is marked first, then comes the case, and at last the
 * answer. If the input ends in the midst of an answer, ours is still
 * shown. Returns what facts_fill returns. */
enum status quiz_ask(struct quiz *quiz, const struct question *question,
		struct error *error);

/* Ask the question of this name, or all if it is NULL, and say what has
 * come of it. Returns what facts_take and quiz_ask return. */
enum status quiz_run(struct quiz *quiz, const char *name,
		struct error *error);

/* Print the questions as JSON, or the cards as Anki imports them.
 * Returns what facts_take and facts_fill return, or MH_EMEMORY. */
enum status quiz_json(FILE *out, struct error *error);
enum status quiz_cards(FILE *out, struct error *error);

#endif
