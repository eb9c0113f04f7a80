/* reply.c: made from chapters/72-check-yourself.nw; edit it there. */
#define _DEFAULT_SOURCE
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
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

/* One number, which must fill its text. */
static bool reply_number(struct reply_number *number)
{
	int decimals, below;
	const char *end = reply_digits(number->text, &decimals);
	const char *slash = end;
	double unit = *end == '%' ? 0.01 : 1;

	if (end == number->text)
		return false;
	number->value = strtod(number->text, NULL) * unit;
	number->half = pow(10, -decimals) * unit / 2;
	if (*slash != '/')
		return end[*end == '%'] == '\0';
	end = reply_digits(slash + 1, &below);
	number->value /= strtod(slash + 1, NULL);
	number->half = 0;
	return end > slash + 1 && *end == '\0' && isfinite(number->value);
}

/* Put a hyphen in place of each printed minus. */
static void reply_minus(char text[])
{
	static const char minus[] = "\xe2\x88\x92";

	for (char *at = text; (at = strstr(at, minus)); at++) {
		*at = '-';
		memmove(at + 1, at + 3, strlen(at + 3) + 1);
	}
}

void reply_join(char *line)
{
	for (char *at = line; (at = strchr(at, ',')); )
		if (at > line && isdigit((unsigned char)at[-1]) &&
				strspn(at + 1, "0123456789") == 3)
			memmove(at, at + 1, strlen(at));
		else
			at++;
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
		reply_minus(number.text);
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
