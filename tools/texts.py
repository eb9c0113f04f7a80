"""What the tools share about texts: chunks that hold no code but questions and
cards, in words.

<<question NAME>>, <<explain NAME>> and <<card NAME>> consist of fields. A line
that begins with the name of a field and a colon begins it; the lines up to the
next field belong to it. Within a field these marks have a meaning, and each
must stand whole on one line:

    {26/7 = KEY}    a number derived by hand, compared with the record
    {KEY}, {KEY:2}  a measured number, with so many decimals
    `x`             code
    $x$             mathematics, plain enough to be read without its dollars

The page shows a text as prose; the program carries it in its own.
"""

import re

NAME = re.compile(r"(question|explain|card) ([a-z0-9-]+)")
FIELDS = {"question": ("see", "prompt", "answer", "rubric"),
          "explain": ("see", "prompt", "apply", "answer", "explains",
                      "applies", "ask", "reply"),
          "card": ("see", "front", "back")}
ANY = re.compile(r"(%s):(?: +(.*))?" %
                 "|".join(sorted({f for kind in FIELDS.values()
                                  for f in kind})))
MARK = re.compile(r"\{([^{}]+) = ([\w.]+)\}|\{([\w.]+)(?::(\d))?\}"
                  r"|`([^`]+)`|\$([^$]+)\$")
ESCAPES = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}",
           "^": r"\textasciicircum{}", **{c: "\\" + c for c in "#$%&_{}"}}


def escaped(text):
    text = re.sub(r'"([^"]*)"', r"``\1''", text)
    return "".join(ESCAPES.get(c, c) for c in text)


def mathematics(text):
    """TeX of what stands between dollars."""
    text = re.sub(r"\bsqrt\(([^()]*)\)", r"\\sqrt{\1}", text)
    text = re.sub(r"\b(softmax|concat|mean|ln)\b", r"\\mathrm{\1}", text)
    return "$" + text.replace("*", r"\cdot ").replace("%", r"\%") + "$"


def tex_of_mark(match):
    claim, claimed, measured, decimals, code, formula = match.groups()
    if claim:
        return r"\claimed{%s}{%s}" % (claim, claimed)
    if measured:
        return r"\measured%s{%s}" % (f"[{decimals}]" if decimals else "",
                                     measured)
    return r"\lit{%s}" % escaped(code) if code else mathematics(formula)


def each(text, of_mark, of_words):
    """The text, its marks turned into something and its words, too."""
    end, out = 0, []
    for match in MARK.finditer(text):
        out += [of_words(text[end:match.start()]), of_mark(match)]
        end = match.end()
    return "".join(out + [of_words(text[end:])])


def tex(text):
    return each(text, tex_of_mark, escaped)


def tex_of_line(line):
    """One line of a text as TeX, for tools that look at prose."""
    field = ANY.fullmatch(line)
    if field and field[1] == "see":
        return references(field[2])
    return tex((field[2] or "") if field else line)


def plain(text):
    """What a terminal shows; measured numbers stay marked, for the program
    knows them."""
    def of_mark(match):
        claim, _, measured, decimals, code, formula = match.groups()
        return (claim or code or formula or
                "{%s:%s}" % (measured, decimals or "-"))
    return each(text, of_mark, str)


def references(labels):
    return ", ".join((r"chapter~\ref{%s}" if label.startswith("ch:") else
                      r"section~\ref{%s}") % label
                     for label in (labels or "").split())


class Text:
    """One text: its kind, its name, and the fields in their order."""

    def __init__(self, piece):
        self.kind, self.name = NAME.fullmatch(piece.name).groups()
        self.place = f"{piece.file}:{piece.line}"
        self.fields, self.problems = [], []
        for offset, line in enumerate(piece.lines, 1):
            self.add(f"{piece.file}:{piece.line + offset}", "".join(
                part if kind == "text" else f"<<{part}>>"
                for kind, part in line))
        for wanted in FIELDS[self.kind]:
            if not self.all(wanted):
                self.problems.append(f"{self.place}: <<{piece.name}>> has no "
                                     f"{wanted}:")

    def add(self, place, line):
        field = ANY.fullmatch(line)
        if field and field[1] in FIELDS[self.kind]:
            self.fields.append([field[1], field[2] or ""])
        elif self.fields:
            self.fields[-1][1] += " " + line.strip()
        else:
            self.problems.append(f"{place}: a text begins with a field")
        left = MARK.sub("", line)
        if re.search(r"[{}`$]", left):
            self.problems.append(f"{place}: a mark must stand whole on one "
                                 f"line: {line}")
        if not line.isascii():
            self.problems.append(f"{place}: not plain ASCII: {line}")

    def all(self, name):
        return [text.strip() for field, text in self.fields if field == name]

    def one(self, name):
        return " ".join(self.all(name))


def texts(pieces):
    """The texts among the pieces of a book, in its order."""
    return [Text(piece) for piece in pieces if NAME.fullmatch(piece.name)]
