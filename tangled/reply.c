/* reply.c: made from chapters/72-check-yourself.nw; edit it there. */
#define _DEFAULT_SOURCE
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "reply.h"
/* includes of reply.c */
#include <math.h>

/* functions of reply */
bool reply_line(FILE *in, FILE *out, const char *prompt, char line[])
{
	size_t used = 0;
	int c;

	fputs(prompt, out);
	fflush(out);
	while ((c = getc(in)) != EOF && c != '\n')
		if (used < REPLY_LINE - 1)
			line[used++] = c ? (char)c : '?';
	line[used] = '\0';
	if (c == EOF && !used) {
		putc('\n', out);
		return false;
	}
	if (!isatty(fileno(in))) {
		reply_print(out, line);
		putc('\n', out);
	}
	return true;
}

void reply_print(FILE *out, const char *text)
{
	for (; *text; text++)
		putc(*text >= ' ' && *text <= '~' ? *text : '?', out);
}

bool reply_empty(const char *line)
{
	return line[strspn(line, " \t\r")] == '\0';
}

bool reply_is(const char *line, const char *word)
{
	size_t length = strlen(word);

	line += strspn(line, " \t");
	return strncasecmp(line, word, length) == 0 &&
			reply_empty(line + length);
}

bool reply_stops(const char *line)
{
	return reply_is(line, "q") || reply_is(line, "quit");
}

void reply_wrap(FILE *out, int indent, const char *lead,
		const char *text)
{
	int column = 0;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column && indent + column + 1 + length > 72) {
			putc('\n', out);
			column = 0;
		}
		fprintf(out, "%*s%.*s", column ? 1 : indent, lead, length,
				text);
		lead = "";
		column += length + (column > 0);
		text += length;
		text += strspn(text, " ");
	}
	putc('\n', out);
}

/* Digits with perhaps a point; *decimals counts what follows it. */
static const char *reply_digits(const char *text, int *decimals)
{
	const char *start = text;
	int digits = 0;

	text += *text == '+' || *text == '-';
	for (; isdigit((unsigned char)*text); text++)
		digits++;
	*decimals = 0;
	if (*text == '.')
		for (text++; isdigit((unsigned char)*text); text++)
			++*decimals;
	return digits + *decimals ? text : start;
}

/* A decimal, or a whole power of one, and how many decimals it has, -1
 * if nobody rounds like that. Returns its end; text if that fails. */
static const char *reply_power(const char *text, double *value,
		int *decimals)
{
	const char *end = reply_digits(text, decimals);
	size_t digits;

	*value = strtod(text, NULL);
	if (end == text || *end != '^')
		return end;
	digits = strspn(end + 1, "0123456789");
	*value = (*text == '-' ? -1 : 1) * pow(fabs(*value),
			strtod(end + 1, NULL));
	*decimals = -1;
	return digits && digits < 4 ? end + 1 + digits : text;
}

/* The same for a product. */
static const char *reply_product(const char *text, double *value,
		int *decimals)
{
	const char *end = reply_power(text, value, decimals);

	while (end > text && *end == '*') {
		const char *next = end + 1;
		double factor;

		end = reply_power(next, &factor, decimals);
		*value *= factor;
		*decimals = -1;
		if (end == next)
			return text;
	}
	return end;
}

/* One number, which must fill its text. */
static bool reply_number(struct reply_number *number)
{
	int decimals;
	const char *end = reply_product(number->text, &number->value,
			&decimals);
	const char *below = end + 1;
	double unit = *end == '%' ? 0.01 : 1, divisor;

	if (end == number->text)
		return false;
	number->half = decimals < 0 ? 0 : pow(10, -decimals) * unit / 2;
	number->value *= unit;
	if (*end != '/')
		return end[*end == '%'] == '\0' && isfinite(number->value);
	end = reply_product(below, &divisor, &decimals);
	number->value /= divisor;
	number->half = 0;
	return end > below && *end == '\0' && isfinite(number->value);
}

void reply_plain(char line[])
{
	static const char *const signs[] = {
		"-\xe2\x88\x92", " \xc2\xa0", " \xe2\x80\xaf",
		" \xe2\x80\x89", "*\xc3\x97", "*\xe2\x8b\x85",
		"*\xc2\xb7", "/\xe2\x81\x84"
	};
	char *to = line;

	for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
		for (char *at = line; (at = strstr(at, signs[i] + 1)); ) {
			size_t length = strlen(signs[i] + 1);

			*at++ = signs[i][0];
			memmove(at, at + length - 1, strlen(at + length - 1) + 1);
		}
	for (const char *at = line; *at; at++) {
		char next = at[strspn(at, " \t")];

		if (next == *at || !(strchr("*/^", next) ||
				(to > line && strchr("*/^", to[-1]))))
			*to++ = *at;
	}
	*to = '\0';
}

void reply_join(char line[], bool whole)
{
	for (char *at = line; (at = strchr(at, ',')); at++) {
		const char *first = at;

		while (first > line && isdigit((unsigned char)first[-1]))
			first--;
		if (first == at || !isdigit((unsigned char)at[1]))
			continue;
		if (!whole)
			*at = '.';
		else if (*first != '0' && strspn(at + 1, "0123456789") == 3) {
			memmove(at, at + 1, strlen(at));
			at--;
		}
	}
}

int reply_numbers(const char *line, struct reply_number numbers[],
		int room)
{
	static const char between[] = " \t\r,;[]()";
	struct reply_number number;
	int count = 0;

	for (line += strspn(line, between); *line;
			line += strspn(line, between)) {
		size_t length = strcspn(line, between);
		bool fits = length < sizeof number.text;

		snprintf(number.text, sizeof number.text, "%.*s", (int)length,
				line);
		if (!fits || !reply_number(&number)) {
			numbers[0] = number;
			return -1;
		}
		if (count < room)
			numbers[count] = number;
		count++;
		line += length;
	}
	return count;
}

bool reply_means(const struct reply_number *number, double truth)
{
	double size = fmax(1, fabs(truth));
	double exact = fmin(1e-6 * size, 0.4);
	double slack = number->half < 0.5 ?     /* no whole number */
			fmin(number->half, 0.005 * size) : 0;

	return fabs(number->value - truth) <= slack + exact;
}

bool reply_rounds(const struct reply_number *number, double truth)
{
	return fabs(number->value - truth) <= number->half + 1e-6;
}
