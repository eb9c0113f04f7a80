"""What the book foretells of an edit, on lines of prose:

    \\moves{NAME}{KEY}{EXPRESSION}  the value recorded under KEY becomes so much
    \\stays{NAME}{KEY}              it does not change
    \\fails{NAME}{TEST}             the test fails
    \\passes{NAME}                  the whole suite passes

A wrong variant fails some test, and a right one passes, without more words.
"""

import re

import noweb
from record import agree, value_of

FIELDS = {"moves": 3, "stays": 2, "fails": 2, "passes": 1}
PROMISE = re.compile(rf"\\({'|'.join(FIELDS)})(?![A-Za-z])"
                     r"((?:\{[^{}]*\})*)")


def differs(value, other):
    """Do two measurements differ in more than the last digits?"""
    if value.kind == "text" or other.kind == "text":
        return value.value != other.value
    same = value.value == other.value or (
        value.value != value.value and other.value != other.value)
    return not same and not agree(other.value, value.value)


class Promise:
    """One of the macros: its place, kind, and arguments."""

    def __init__(self, place, macro, name, *arguments):
        self.place, self.macro, self.name, self.arguments = (
            place, macro, name, arguments)

    def broken(self, outcome, normal):
        """Why the promise is not kept, given what the program did with the
        edit and without it; nothing if it is kept."""
        return getattr(self, self.macro)(outcome, normal, *self.arguments)

    def moves(self, outcome, normal, key, expression):
        if key not in normal.record:
            return f"no value is recorded under {key}"
        if normal.record[key].kind == "text":
            return f"{key} is text; only numbers can be foretold"
        try:
            claim = value_of(expression)
        except (ValueError, SyntaxError, ArithmeticError) as problem:
            return f"{expression} cannot be worked out: {problem}"
        if agree(claim, normal.record[key].value):
            return f"{key} is {expression} without the edit"
        if key not in outcome.record:
            return f"{key} is not recorded any more"
        value = outcome.record[key].value
        return "" if agree(claim, value) else (
            f"{key} moves to {value:.9g}, not to {expression}")

    def stays(self, outcome, normal, key):
        if key not in normal.record:
            return f"no value is recorded under {key}"
        if key not in outcome.record:
            return f"{key} is not recorded any more"
        old, new = normal.record[key], outcome.record[key]
        return (f"{key} moves from {old.value:.9g} to {new.value:.9g}"
                if differs(old, new) else "")

    def fails(self, outcome, _, test):
        return "" if test in outcome.failed() else f"{test} does not fail"

    def passes(self, outcome, _):
        names = outcome.failed()
        return f"the suite fails {', '.join(names[:3])}" if names else ""


def promises(sources):
    """All promises of the sources, and what is wrong with their form."""
    found, problems = [], []
    for path in sources:
        for number, text in noweb.documentation(path):
            place = f"{path}:{number}"
            for macro, fields in PROMISE.findall(text):
                fields = re.findall(r"\{([^{}]*)\}", fields)[:FIELDS[macro]]
                if len(fields) < FIELDS[macro]:
                    problems.append(f"{place}: \\{macro} and its "
                                    f"{FIELDS[macro]} arguments must stand "
                                    "whole on one line")
                else:
                    found.append(Promise(place, macro, *fields))
    return found, problems
