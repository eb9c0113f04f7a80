/* quiz.c: made from chapters/72-check-yourself.nw; edit it there. */
#define _DEFAULT_SOURCE
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "measure.h"
#include "questions.h"
#include "quiz.h"
#include "reply.h"

/* functions of quiz */
#define QUESTIONS (sizeof questions / sizeof questions[0])
#define EXPLAIN (sizeof explanations / sizeof explanations[0])
#define CARDS (sizeof cards / sizeof cards[0])

const struct question *quiz_question(size_t i)
{
	if (i < QUESTIONS)
		return &questions[i];
	return i < QUESTIONS + EXPLAIN ? &explanations[i - QUESTIONS] :
			NULL;
}

const struct card *quiz_card(size_t i)
{
	return i < CARDS ? &cards[i] : NULL;
}

const struct question *quiz_find(const char *name)
{
	const struct question *question;

	for (size_t i = 0; (question = quiz_question(i)); i++)
		if (strcmp(question->name, name) == 0)
			break;
	return question;
}

enum status facts_take(struct facts *facts, struct error *error)
{
	struct record record = { 0 };
	size_t size = 0;
	enum status status;
	bool whole;

	facts->text = NULL;
	record.file = open_memstream(&facts->text, &size);
	if (!record.file)
		return REFUSE(error, MH_EMEMORY, "no memory for a record");
	status = measure(&record, error);
	whole = !ferror(record.file);
	if ((fclose(record.file) != 0 || !whole) && !status)
		status = REFUSE(error, MH_EMEMORY, "no memory for a record");
	return status;
}

void facts_free(struct facts *facts)
{
	free(facts->text);
	facts->text = NULL;
}

/* Find a key among the lines; store value and kind. */
static bool fact_find(const struct facts *facts, const char *key,
		size_t length, double *value, char kind[8])
{
	const char *line = facts->text;

	while (line && *line) {
		if (strncmp(line, key, length) == 0 && line[length] == '\t')
			return sscanf(line + length, " %lf %*s %7s", value,
					kind) == 2;
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return false;
}

/* Write a number as the page shows it: thousands are set apart. */
static void fact_write(double value, int decimals, char number[48])
{
	char plain[40];
	int n = snprintf(plain, sizeof plain, "%.*f", decimals, value);
	int whole = n - (decimals ? decimals + 1 : 0), at = 0;

	for (int i = 0; i < n && at < 46; i++) {
		if (i && i < whole && (whole - i) % 3 == 0 &&
				plain[i - 1] != '-')
			number[at++] = ',';
		number[at++] = plain[i];
	}
	number[at] = '\0';
}

/* Replace one mark, which begins at text and ends before end. */
static enum status fact_put(const struct facts *facts, const char *text,
		const char *end, char number[48], struct error *error)
{
	const char *colon = memchr(text, ':', (size_t)(end - text));
	size_t length = (size_t)(colon - text - 1);
	char kind[8];
	double value;

	if (!fact_find(facts, text + 1, length, &value, kind))
		return REFUSE(error, MH_EFORMAT, "no value is recorded under"
				" %.*s", (int)length, text + 1);
	fact_write(value, colon[1] != '-' ? colon[1] - '0' :
			strcmp(kind, "exact") == 0 ? 0 : 6, number);
	return MH_OK;
}

enum status facts_fill(const struct facts *facts, const char *text,
		char filled[], struct error *error)
{
	size_t used = 0, length;
	char number[48];
	enum status status = MH_OK;

	while (*text && !status) {
		const char *end = *text == '{' ? strchr(text, '}') : text;
		const char *piece = *text == '{' ? number : text;

		if (*text == '{')
			status = fact_put(facts, text, end, number, error);
		length = status ? 0 : *text == '{' ? strlen(number) : 1;
		if (used + length + 1 > QUIZ_TEXT)
			return REFUSE(error, MH_EFORMAT, "a text is too long");
		memcpy(filled + used, piece, length);
		used += length;
		text = end + 1;
	}
	filled[used] = '\0';
	return status;
}

/* Print a text with its numbers. */
static enum status quiz_show(struct quiz *quiz, int indent,
		const char *lead, const char *text, struct error *error)
{
	char filled[QUIZ_TEXT];
	enum status status = facts_fill(&quiz->facts, text, filled, error);

	if (!status)
		reply_wrap(quiz->out, indent, lead, filled);
	return status;
}

/* Does the line skip the question, or end the quiz? */
static bool quiz_leaves(struct quiz *quiz, const char *line)
{
	quiz->skipped |= reply_is(line, "s");
	quiz->stopped |= reply_stops(line);
	quiz->ended |= quiz->stopped;
	return quiz->skipped || quiz->stopped;
}

/* Let the reader write, until a line is empty. False if nothing was
 * written, or if what was asked is left. */
static bool quiz_listen(struct quiz *quiz)
{
	char line[REPLY_LINE];
	bool written = false;

	for (;;) {
		quiz->ended = !reply_line(quiz->in, quiz->out, "> ", line);
		if (quiz->ended || reply_empty(line))
			return written;
		if (quiz_leaves(quiz, line))
			return false;
		written = true;
	}
}

/* Yes or no? Asks until it is one of them, or what is asked is left. */
static bool quiz_mark(struct quiz *quiz)
{
	char line[REPLY_LINE];

	for (;;) {
		quiz->ended = !reply_line(quiz->in, quiz->out,
				"     found in yours? (y/n) ", line);
		if (quiz->ended || quiz_leaves(quiz, line))
			return false;
		if (reply_is(line, "y") || reply_is(line, "yes"))
			return true;
		if (reply_is(line, "n") || reply_is(line, "no"))
			return false;
		fputs("     (Your answer is complete. Write y or n; s skips"
				" the rest,\n     q ends the quiz.)\n", quiz->out);
	}
}

static bool quiz_goes_on(const struct quiz *quiz)
{
	return !quiz->ended && !quiz->skipped;
}

/* Ask what follows a gap up, and answer it. */
static enum status quiz_follow(struct quiz *quiz,
		const struct quiz_item *item, struct error *error)
{
	enum status status = quiz_show(quiz, 5, "", item->ask, error);

	if (!status)
		quiz_listen(quiz);
	if (!status && quiz_goes_on(quiz))
		status = quiz_show(quiz, 5, "", item->reply, error);
	return status;
}

/* Let the reader mark the items of the explanation or of the case. */
static enum status quiz_judge(struct quiz *quiz,
		const struct question *question, bool applies,
		struct error *error)
{
	const struct quiz_item *item = question->rubric;
	enum status status = MH_OK;
	size_t found = 0, items = 0;
	char lead[16];

	fputs("\nNobody has read yours. Mark it yourself; half an item is"
			" none:\n", quiz->out);
	for (; item->text && quiz_goes_on(quiz) && !status; item++) {
		if (item->applies != applies)
			continue;
		snprintf(lead, sizeof lead, "%zu. ", items + 1);
		status = quiz_show(quiz, 5, lead, item->text, error);
		bool has = !status && quiz_mark(quiz);

		if (!quiz_goes_on(quiz))
			break;
		found += has;
		items++;
		if (!has && !status && item->ask)
			status = quiz_follow(quiz, item, error);
	}
	quiz->found += found;
	quiz->items += items;
	if (question->apply)
		fprintf(quiz->out, "%s: %zu of %zu.\n", applies ?
				"Application" : "Explanation", found, items);
	return status;
}

/* Ask for a case, when the explanation has been marked. */
static enum status quiz_case(struct quiz *quiz,
		const struct question *question, struct error *error)
{
	enum status status;

	putc('\n', quiz->out);
	status = quiz_show(quiz, 0, "", question->apply, error);
	if (!status)
		quiz_listen(quiz);
	if (!status && quiz_goes_on(quiz))
		status = quiz_judge(quiz, question, true, error);
	return status;
}

static enum status quiz_answer(struct quiz *quiz,
		const struct question *question, struct error *error)
{
	fputs("\nOur answer:\n", quiz->out);
	return quiz_show(quiz, 2, "", question->answer, error);
}

enum status quiz_ask(struct quiz *quiz, const struct question *question,
		struct error *error)
{
	size_t missed = quiz->items - quiz->found;
	bool explain = question->apply != NULL;
	enum status status;

	quiz->skipped = false;
	fprintf(quiz->out, "%s%s\n\n", quiz->asked++ ? "\n" : "",
			question->name);
	status = quiz_show(quiz, 0, "", question->prompt, error);
	if (status)
		return status;
	fputs("\nIn your own words; an empty line ends it. (s skips the"
			" question, q ends\nthe quiz.)\n", quiz->out);
	if (!quiz_listen(quiz) && !quiz_goes_on(quiz))
		return MH_OK;
	if (!explain)
		status = quiz_answer(quiz, question, error);
	if (!status && quiz_goes_on(quiz))
		status = quiz_judge(quiz, question, false, error);
	if (!status && explain && quiz_goes_on(quiz))
		status = quiz_case(quiz, question, error);
	if (!status && explain && !quiz->skipped && !quiz->stopped)
		status = quiz_answer(quiz, question, error);
	/* say where to read what was missed */
	bool misses = quiz->items - quiz->found > missed;

	if (misses && quiz->misses < QUIZ_MISSED)
		quiz->missed[quiz->misses++] = question;
	if (misses || (quiz->ended && !quiz->stopped)) {
		fputs("\nTo read again:\n", quiz->out);
		reply_wrap(quiz->out, 2, "", question->see);
	}
	return status;
}

enum status quiz_run(struct quiz *quiz, const char *name,
		struct error *error)
{
	const struct question *question = NULL;
	enum status status = facts_take(&quiz->facts, error);

	if (!status && name && !(question = quiz_find(name)))
		status = REFUSE(error, MH_EFORMAT, "no question is called"
				" '%.60s'; --list names them", name);
	if (question)
		status = quiz_ask(quiz, question, error);
	for (size_t i = 0; !name && !status && !quiz->ended &&
			(question = quiz_question(i)); i++)
		status = quiz_ask(quiz, question, error);
	if (!status)
		fprintf(quiz->out, "\n%sBy your own marks, %zu of %zu"
				" found.\n", quiz->ended && !quiz->stopped ?
				"The input has ended. " : "", quiz->found,
				quiz->items);
	for (size_t i = 0; i < quiz->misses && !status && !name; i++) {
		fprintf(quiz->out, "  missed in %s:\n",
				quiz->missed[i]->name);
		reply_wrap(quiz->out, 4, "", quiz->missed[i]->see);
	}
	facts_free(&quiz->facts);
	return status;
}

static enum status quiz_object(const struct facts *facts,
		const struct question *question, json_t *list,
		struct error *error)
{
	char prompt[QUIZ_TEXT], answer[QUIZ_TEXT], item[QUIZ_TEXT];
	json_t *rubric = json_array();
	enum status status = facts_fill(facts, question->prompt, prompt,
			error);

	if (!status)
		status = facts_fill(facts, question->answer, answer, error);
	for (int i = 0; !status && question->rubric[i].text; i++) {
		status = facts_fill(facts, question->rubric[i].text, item,
				error);
		if (!status)
			json_array_append_new(rubric, json_string(item));
	}
	if (status) {
		json_decref(rubric);
		return status;
	}
	if (json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:o,s:s}",
			"id", question->name, "prompt", prompt, "answer",
			answer, "rubric", rubric, "see", question->see)))
		return REFUSE(error, MH_EMEMORY, "no memory for JSON");
	return MH_OK;
}

enum status quiz_json(FILE *out, struct error *error)
{
	struct facts facts;
	json_t *list = json_array();
	enum status status = facts_take(&facts, error);

	for (size_t i = 0; i < QUESTIONS && !status; i++)
		status = quiz_object(&facts, &questions[i], list, error);
	if (!status && json_dumpf(list, out, JSON_INDENT(2)) != 0 &&
			!ferror(out))   /* a full disk is the caller's business */
		status = REFUSE(error, MH_EMEMORY, "no memory for JSON");
	if (!status)
		putc('\n', out);
	json_decref(list);
	facts_free(&facts);
	return status;
}

static void card_field(FILE *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		default: putc(*text, out);
		}
}

static enum status card_write(FILE *out, const struct facts *facts,
		const struct card *card, const char *tag, struct error *error)
{
	char front[QUIZ_TEXT], back[QUIZ_TEXT];
	enum status status = facts_fill(facts, card->front, front, error);

	if (!status)
		status = facts_fill(facts, card->back, back, error);
	if (status)
		return status;
	fprintf(out, "multihead-%s\t", card->name);
	card_field(out, front);
	putc('\t', out);
	card_field(out, back);
	fputs("<br><br><small>", out);
	card_field(out, card->see);
	fprintf(out, "</small>\tmultihead::%s\tMulti-head attention\n",
			tag);
	return MH_OK;
}

enum status quiz_cards(FILE *out, struct error *error)
{
	struct facts facts;
	enum status status = facts_take(&facts, error);

	if (!status)
		fputs("#separator:tab\n#html:true\n#notetype:Basic\n"
				"#guid column:1\n#tags column:4\n#deck column:5\n",
				out);
	for (size_t i = 0; i < CARDS && !status; i++)
		status = card_write(out, &facts, &cards[i], "card", error);
	for (size_t i = 0; i < QUESTIONS && !status; i++) {
		struct card card = { questions[i].name, questions[i].see,
				questions[i].prompt, questions[i].answer };

		status = card_write(out, &facts, &card, "question", error);
	}
	facts_free(&facts);
	return status;
}
