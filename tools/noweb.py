"""What the tools share: how to read a noweb source and noweb's markup."""

import re
import sys

CHUNK_START = re.compile(r"^<<(.*)>>=\s*$")
CHUNK_END = re.compile(r"^@(\s|$)")


def documentation(path):
    """Yield (line number, text) for each line of prose; code is left out."""
    in_code = False
    with open(path, encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            if in_code:
                in_code = not CHUNK_END.match(line)
                if not in_code and not line.startswith("@ %def"):
                    yield number, without_comment(line[2:].rstrip("\n"))
            elif CHUNK_START.match(line):
                in_code = True
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


def complain(problems):
    """Print the problems, one a line, and exit with status 1 if any."""
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(1)
