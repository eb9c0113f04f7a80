"""What the HTML edition reads: the TeX that the weave left, its groups in
braces, and its chunks of code."""

import html
import re


def group(text, start):
    """What stands between the brace at start and its partner, and where the
    text goes on."""
    depth, at = 0, start
    while True:
        at = re.compile(r"\\.|[{}]", re.S).search(text, at)
        if not at:
            raise ValueError("a brace that nothing closes: "
                             + text[start:start + 60])
        depth += {"{": 1, "}": -1}.get(at[0], 0)
        if depth == 0:
            return text[start + 1:at.start()], at.end()
        at = at.end()


def arguments(text, start, count, optional=False):
    """The arguments of a macro whose name ends at start: an optional one, if
    the macro takes it, then so many in braces."""
    found, at = [], start
    if optional:
        option = re.compile(r"\s*\[([^\]]*)\]").match(text, at)
        found.append(option[1] if option else "")
        at = option.end() if option else at
    for _ in range(count):
        at = re.compile(r"\s*").match(text, at).end()
        if text[at:at + 1] != "{":
            raise ValueError("an argument is missing: "
                             + text[max(start - 20, 0):start + 40])
        value, at = group(text, at)
        found.append(value)
    return found, at


def lines_of(text, macro, count):
    """The arguments of each line of a list that calls one macro a line."""
    head = "\\" + macro + "{"
    return [arguments(line, len(macro) + 1, count)[0]
            for line in text.split("\n") if line.startswith(head)]


def plain(text):
    """A value that was set for the page, as HTML."""
    for tex, char in ((r"\ensuremath{-}", "\u2212"), (r"\textendash{}", "\u2013"),
                      ("--", "\u2013"), ("~", "\u00a0"), (r"\,", "\u2009"),
                      (r"\allowbreak ", "\u200b"), ("{}", "")):
        text = text.replace(tex, char)
    text = re.sub(r"\\(?:mbox|texttt)\{((?:[^{}\\]|\\.)*)\}", r"\1", text)
    return html.escape(re.sub(r"\\(.)", r"\1", text), quote=False)


# ---- code -------------------------------------------------------------------

CODE = re.compile(r"""
    \\nwlinkedident[cq]\{(?P<name>(?:[^{}]|\{\\_\})*)\}\{(?P<label>[^{}]*)\}
  | \\LA\{\}(?P<use>.*?)~\{\\nwtagstyle\{\}\\subpageref\{(?P<at>[^{}]*)\}\}\\RA\{\}
  | (?P<joint>\\C[JR]\{\}) | \\(?P<mark>C[KCS])\{
  | \{\\(?P<low>[_%&$\#])\} | \\(?P<escaped>[\\{}_%&$\#~^ ])
  | (?P<end>\}) | (?P<empty>\{\}) | (?P<plain>[^\\{}]+)
""", re.X)
ELEMENT = {"CK": "b", "CC": "i", "CS": "s"}


def chunk_name(tex):
    """The name of a chunk, in which [[code]] is \\code{}code\\edoc{}."""
    name = re.sub(r"\\code\{\}(.*?)\\edoc\{\}", r"[[\1]]", tex)
    return re.sub(r"\{?\\(_)\}?", r"\1", name)


def name_html(name):
    """The name of a chunk; code in it is set as code."""
    return re.sub(r"\[\[(.*?)\]\]", r"<code>\1</code>",
                  html.escape(name, quote=False))


def code_html(tex, link):
    """Code as the weave marked it, as HTML: what noweb linked is linked, by
    link(label, shown), keywords, comments and strings are set apart."""
    out, open_marks, at = [], [], 0
    while at < len(tex):
        m = CODE.match(tex, at)
        if not m:
            raise ValueError("unexpected in code: " + tex[at:at + 60])
        at = m.end()
        if m["name"] is not None:
            out.append(link(m["label"], html.escape(
                m["name"].replace(r"{\_}", "_"), quote=False)))
        elif m["use"]:
            out.append('<span class=use>\u27e8%s\u27e9</span>'
                       % link(m["at"], name_html(chunk_name(m["use"]))))
        elif m["mark"]:
            open_marks.append(ELEMENT[m["mark"]])
            out.append(f"<{open_marks[-1]}>")
        elif m["end"]:
            out.append(f"</{open_marks.pop()}>")
        else:
            out.append(html.escape(m["low"] or m["escaped"] or m["plain"]
                                   or "", quote=False))
    return "".join(out)


CHUNK = re.compile(r"""
    \\BookChunk\{(?P<file>[^{}]*)\}\{(?P<line>\d+)\}\{(?P<count>\d+)\}.*?
    \\sublabel\{(?P<label>[^{}]*)\}.*?
    \\moddef\{(?P<name>.*?)~\{\\nwtagstyle\{\}\\subpageref\{(?P<first>[^{}]*)\}\}\}
    \\(?P<plus>plus)?endmoddef
    (?:\\BookVariant\{(?P<variant>[^{}]*)\}\{(?P<target>.*?)\}\{(?P<original>NW[^{}]*)\})?
    \\nwstartdeflinemarkup(?P<markup>.*)\\nwenddeflinemarkup$
""", re.X)


class Chunk:
    """A piece of code: where it is, what uses it, and its lines of TeX."""

    def __init__(self, head):
        self.file, self.line = head["file"], int(head["line"])
        self.label, self.first = head["label"], head["first"]
        self.name, self.continues = chunk_name(head["name"]), bool(head["plus"])
        self.variant, self.original = head["variant"], head["original"]
        self.target = head["target"] and chunk_name(head["target"])
        self.lines, self.count = [], int(head["count"])
        used = re.search(r"\\nwusesondefline\{(.*?)\}(?=\\nwprev|$)",
                         head["markup"])
        self.used_in = re.findall(r"\\\\\{(NW[^{}]*)\}", used[1]) if used else []
        around = re.search(r"\\nwprevnextdefs\{(.*?)\}\{(.*?)\}$",
                           head["markup"])
        self.before, self.after = around.groups() if around else ("", "")


# What noweb writes behind the code of a chunk: who defines and uses what.
INDEX = re.compile(r"\\nwindex(defn|use)\{\\nwixident\{(.*?)\}\}\{[^{}]*\}"
                   r"\{(NW[^{}]*)\}")


def pieces(text):
    """The prose and the chunks of a woven file, in order: strings and Chunks.
    What noweb says of identifiers comes as ("defn" or "use", name, label)."""
    prose, chunk = [], None
    for line in text.split("\n"):
        if chunk and len(chunk.lines) < chunk.count:
            chunk.lines.append(line)
            continue
        for kind, name, label in INDEX.findall(line):
            yield kind, name.replace(r"{\_}", "_"), label
        if chunk:
            if "\\nwendcode{}" not in line:
                continue        # what a %def said
            line, chunk = line[line.index("\\nwendcode{}") + 12:], None
        start = line.find("\\BookChunk{")
        prose.append(line if start < 0 else line[:start])
        if start >= 0:
            yield "\n".join(prose)
            head = CHUNK.match(line, start)
            if not head:
                raise ValueError("a chunk that begins as none does: "
                                 + line[start:start + 80])
            prose, chunk = [], Chunk(head)
            yield chunk
    yield "\n".join(prose)
