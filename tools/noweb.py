"""What the tools share: how to read a noweb source and noweb's markup."""

import re
import sys

import texts

CHUNK_START = re.compile(r"^<<(.*)>>=\s*$")
CHUNK_END = re.compile(r"^@(\s|$)")


def documentation(path):
    """Yield (line number, text) for each line of prose; code is left out,
    but chunks that hold texts are prose."""
    in_code = in_text = False
    with open(path, encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            if in_code:
                in_code = not CHUNK_END.match(line)
                if in_code and in_text:
                    yield number, texts.tex_of_line(line.rstrip("\n"))
                if not in_code and not line.startswith("@ %def"):
                    yield number, without_comment(line[2:].rstrip("\n"))
            elif CHUNK_START.match(line):
                in_code = True
                in_text = texts.NAME.fullmatch(
                    CHUNK_START.match(line)[1]) is not None
            else:
                yield number, without_comment(line.rstrip("\n"))


def without_comment(line):
    """A line of TeX up to its comment. Quoted code has no comments."""
    return re.sub(r"(\[\[.*?\]\])|(?<!\\)%.*", r"\1", line)


class Chunk:
    """One piece of a chunk: its name, where it starts, and its lines.

    A line is a list of ("text", string) and ("use", name).
    """

    def __init__(self, name, file, line):
        self.name, self.file, self.line = name, file, line
        self.lines = [[]]
        self.defines = []


def chunks(markup):
    """Read noweb's markup; return the pieces of all chunks, in order."""
    found, file, line, chunk = [], "?", 1, None
    for text in markup:
        word, _, rest = text.rstrip("\n").partition(" ")
        if word == "@file":
            file, line = rest, 1
        elif word == "@line":
            line = int(rest)
        elif word == "@fatal":
            sys.exit(f"{file}:{line}: noweb: {rest}")
        elif word == "@defn":
            chunk = Chunk(rest, file, line)
            found.append(chunk)
        elif word == "@end":
            chunk = None
        elif word == "@nl":
            line += 1
            if chunk:
                chunk.lines.append([])
        elif word == "@index":
            kind, _, name = rest.partition(" ")
            if kind == "nl":
                line += 1
            elif kind == "defn" and found:
                found[-1].defines.append(name)
        elif chunk and word == "@text":
            chunk.lines[-1].append(("text", rest))
        elif chunk and word == "@use":
            chunk.lines[-1].append(("use", rest))
    for piece in found:
        del piece.lines[0]      # the rest of the line of the definition
        if piece.lines and not piece.lines[-1]:
            piece.lines.pop()   # what follows the last newline
    return found


def text_of(line, use="<<{}>>"):
    """The text of a line, in which a use stands as <<name>>, or as is said."""
    return "".join(part if kind == "text" else use.format(part)
                   for kind, part in line)


def code_of(piece, use="<<{}>>"):
    """The text of a piece."""
    return "\n".join(text_of(line, use) for line in piece.lines)


def tags(pieces):
    """The identifiers that are tags of structures and nothing else: used only
    behind their keyword. A variable may have the same name."""
    code = "\n".join(code_of(piece, " ") for piece in pieces)
    defined = {name for piece in pieces for name in piece.defines}
    found = defined & set(re.findall(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", code))
    other = set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", code, re.MULTILINE))
    other |= set(re.findall(r"^[A-Za-z_][\w \t*]*[ \t*](\w+)\(", code, re.MULTILINE))
    other |= set(re.findall(r"^static\s[\w \t*]*?(\w+)\s*[\[=;]", code, re.MULTILINE))
    return found - other


def labels(markup):
    """The label of each piece of code, which stands before its name."""
    label = None
    for line in markup:
        if line.startswith("@xref label "):
            label = line.split()[2]
        elif line.startswith("@defn "):
            yield label


# ---- variants ---------------------------------------------------------------

# <<wrong NAME: TARGET>>: a chunk that stands in for another, in one place.
VARIANT = re.compile(r"(wrong|right|exercise) ([a-z0-9-]+): (.+)")
# A definition, or only its head: a name, then parameters, then a brace.
FUNCTION = re.compile(r"^(?:[A-Za-z_][\w \t*]*[ \t*])?(\w+)\([^;{}]*\)\s*\{",
                      re.MULTILINE)


def functions_of(pieces):
    """The names of the functions that the pieces define."""
    return {name for piece in pieces
            for name in FUNCTION.findall(code_of(piece))}


def is_variant(name):
    return VARIANT.fullmatch(name) is not None


def used_by(pieces):
    """For each chunk, the names that it uses."""
    uses = {}
    for piece in pieces:
        uses.setdefault(piece.name, set()).update(
            part for line in piece.lines for kind, part in line
            if kind == "use")
    return uses


def reached(uses, roots):
    """The chunks that the roots use, directly or not, and the roots."""
    found, ahead = set(), list(roots)
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += uses.get(name, ())
    return found


class Part:
    """What a variant puts in one place: the pieces of its own text, and the
    one piece, or the name of the chunk, that they stand in for."""

    def __init__(self, name, target):
        self.name, self.target = name, target
        self.pieces, self.replaced = [], None

    def place(self):
        return f"{self.pieces[0].file}:{self.pieces[0].line}"

    def replaces_piece(self):
        return isinstance(self.replaced, Chunk)


class Variant:
    def __init__(self, kind, name):
        self.kind, self.name, self.parts = kind, name, []

    def place(self):
        return self.parts[0].place()


def chapters_of_tests(pieces):
    """{test: the number in the name of the chapter in which it stands}."""
    found = {}
    for piece in pieces:
        chapter = re.match(r"(?:.*/)?(\d+)-", piece.file)
        for line in piece.lines if chapter else []:
            for name in re.findall(r"\bSTART_TEST\((\w+)\)",
                                   "".join(text for _, text in line)):
                found[name] = int(chapter[1])
    return found


class Variants:
    """The variants of a book. What is wrong with them is in `problems`. In a
    book that was cut they may stand in for what is gone: it has none to try."""

    def __init__(self, pieces, cut=False):
        self.pieces, self.problems = pieces, []
        self.uses = used_by(p for p in pieces if not is_variant(p.name))
        used = set().union(*self.uses.values()) if self.uses else set()
        roots = set(self.uses) - used
        tests = {root for root in roots if root.startswith("[[tests/")}
        self.roots = roots - tests
        self.in_tests = reached(self.uses, tests)
        self.in_book = reached(self.uses, self.roots)
        self.all = {}
        for piece in pieces:
            if is_variant(piece.name):
                self.add(piece)
        for variant in [] if cut else self.all.values():
            for part in variant.parts:
                self.resolve(part)
            self.check_overlap(variant)

    def complain(self, part, text):
        self.problems.append(f"{part.place()}: <<{part.name}>>: {text}")

    def add(self, piece):
        kind, name, target = VARIANT.fullmatch(piece.name).groups()
        variant = self.all.setdefault(name, Variant(kind, name))
        part = next((p for p in variant.parts if p.name == piece.name), None)
        if not part:
            part = Part(piece.name, target)
            variant.parts.append(part)
        part.pieces.append(piece)
        if variant.kind != kind:
            self.complain(part, f"{name} is {variant.kind} at "
                                f"{variant.place()}")

    def resolve(self, part):
        """Find what a part stands in for, or complain."""
        function = re.fullmatch(r"\[\[(\w+)\]\]", part.target)
        if function:
            self.resolve_function(part, function[1])
        elif part.target not in self.uses:
            self.complain(part, "there is no chunk of that name")
        elif part.target in self.in_tests:
            self.complain(part, "that chunk belongs to the tests")
        elif part.target in self.roots:
            self.complain(part, "that is a file; name a chunk in it")
        elif part.target not in self.in_book:
            self.complain(part, "no file has that chunk")
        else:
            part.replaced = part.target

    def resolve_function(self, part, function):
        found = [p for p in self.pieces if not is_variant(p.name)
                 and function in functions_of([p])]
        ours = [p for p in found if p.name in self.in_book
                and p.name not in self.in_tests]
        if len(ours) > 1:
            self.complain(part, "two chunks define that function, at " +
                          " and at ".join(f"{p.file}:{p.line}" for p in ours))
        elif ours:
            part.replaced = ours[0]
            for name in sorted(functions_of(ours) - functions_of(part.pieces)):
                self.complain(part, f"the chunk at {ours[0].file}:"
                              f"{ours[0].line} defines {name}; so must this")
        elif found:
            self.complain(part, "that function belongs to the tests")
        else:
            self.complain(part, "no chunk defines that function")

    def check_overlap(self, variant):
        seen = {}
        for part in variant.parts:
            if part.replaces_piece():
                other = seen.setdefault(id(part.replaced), part)
                if other is not part:
                    self.complain(part, "the same chunk is replaced at "
                                        f"{other.place()}")

    def files(self, variant):
        """The names of the files that the variant changes."""
        touched = {part.replaced.name if part.replaces_piece()
                   else part.replaced for part in variant.parts}
        return {root.strip("[]") for root in self.roots
                if touched & reached(self.uses, [root])}


def with_variant(markup, variant, pieces):
    """The markup, a list of lines, in which the variant stands in its place:
    uses of its targets, but for those in its own text, use it. The text of a piece becomes one such use, and
    as many empty lines as will keep the count."""
    names = {part.replaced: part.name for part in variant.parts
             if not part.replaces_piece()}
    gone = {id(part.replaced): part.name for part in variant.parts
            if part.replaces_piece()}
    number, name, use, lines = -1, None, None, 0
    for text in markup:
        word, _, rest = text.rstrip("\n").partition(" ")
        if word == "@defn":
            number, name, lines = number + 1, rest, 0
            use = gone.get(id(pieces[number]))
        elif word == "@end":
            name = use = None
        elif use and word in ("@text", "@use"):
            continue
        elif use and word == "@nl":
            lines += 1
            if lines == 2:
                yield f"@use {use}\n"
        elif word == "@use" and rest in names and name != names[rest]:
            text = f"@use {names[rest]}\n"
        yield text


def complain(problems):
    """Print the problems, one a line, and exit with status 1 if any."""
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(1)
