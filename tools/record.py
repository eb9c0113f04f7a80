"""What the tools share about records and claims: reading the one, working out
the other, and whether they agree."""

import ast
import math
import re
import sys

EPSILON = sys.float_info.epsilon


class Measurement:
    def __init__(self, value, unit, kind, place):
        self.value, self.unit, self.kind, self.place = value, unit, kind, place
        self.printed = 0


def read_records(paths):
    records = {}
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for count, line in enumerate(lines, 1):
                fields = line.rstrip("\n").split("\t")
                if len(fields) != 5:
                    sys.exit(f"{path}:{count}: wanted five fields: {line!r}")
                key, value, unit, kind, place = fields
                if key in records:
                    sys.exit(f"{place}: {key} was already recorded at "
                             f"{records[key].place}")
                try:
                    number = value if kind == "text" else float(value)
                except ValueError:
                    sys.exit(f"{path}:{count}: {key} is no number: {value!r}")
                records[key] = Measurement(number, unit, kind, place)
    return records


FUNCTIONS = {"ln": math.log, "sqrt": math.sqrt}
OPERATORS = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b,
             ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b}


def evaluate(node):
    """The value of a claim: numbers, + - * / ( ), ln and sqrt."""
    if isinstance(node, ast.Expression):
        return evaluate(node.body)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](evaluate(node.left),
                                        evaluate(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -evaluate(node.operand)
    if (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            and node.func.id in FUNCTIONS and len(node.args) == 1
            and not node.keywords):
        return FUNCTIONS[node.func.id](evaluate(node.args[0]))
    raise ValueError("wanted numbers, + - * / ( ), ln and sqrt")


CLAIM = re.compile(r"(?:\d+(?:\.\d+)?|ln|sqrt|[-+*/() ])+")


def value_of(expression):
    if not CLAIM.fullmatch(expression) or len(expression) > 200:
        raise ValueError("wanted numbers, + - * / ( ), ln and sqrt")
    return evaluate(ast.parse(expression.strip(), mode="eval"))


def agree(claim, value):
    """Is a value what was claimed, but for the last digits?"""
    return (math.isfinite(value) and
            abs(claim - value) <= 8 * EPSILON * max(1, abs(value)))
