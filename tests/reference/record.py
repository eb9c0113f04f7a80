#!/usr/bin/env python3
"""record.py [--check]: record what torch.nn.MultiheadAttention answers, one
file a case, beside this script; or compare the files with this PyTorch.

    python3 tests/reference/record.py            writes the files anew
    python3 tests/reference/record.py --check    says how far they differ

A file NAME.safetensors holds the layer (in_proj_weight, out_proj.weight and
the biases, as state_dict() names them), its input x, its output y, the weights
of each head attn_weights (B,H,T,T), the concatenation concat, and the
gradients of sum(dy * y): grad.x and grad. with the name of each parameter.
Its metadata say with which PyTorch, how many heads, and whether causally.
The inputs come from a generator that is the same everywhere; the answers of
float files are those of PyTorch in float.
"""

import collections
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
try:
    import torch
    import pytorch
except ImportError as problem:
    print(f"record.py: no PyTorch: {problem}", file=sys.stderr)
    sys.exit(2)

Case = collections.namedtuple("Case", "name B T H d causal biases dtype")
DOUBLE, FLOAT = torch.float64, torch.float32

# In most, B, T, H, d and C all differ, so that no axis passes for another.
CASES = [
    Case("lab", 2, 4, 2, 4, True, False, DOUBLE),
    Case("causal", 3, 5, 2, 7, True, False, DOUBLE),
    Case("unmasked", 2, 6, 3, 5, False, False, DOUBLE),
    Case("biases", 3, 4, 5, 2, True, True, DOUBLE),
    Case("unmasked-biases", 4, 7, 2, 3, False, True, DOUBLE),
    Case("one-token", 3, 1, 2, 5, True, True, DOUBLE),
    Case("single-head", 2, 5, 1, 6, True, True, DOUBLE),
    Case("heads-of-width-one", 3, 4, 6, 1, True, True, DOUBLE),
    Case("odd-width", 3, 5, 2, 13, False, True, DOUBLE),
    Case("long", 2, 33, 3, 5, True, True, DOUBLE),
    Case("float-causal", 3, 5, 2, 7, True, False, FLOAT),
    Case("float-unmasked-biases", 2, 6, 3, 5, False, True, FLOAT),
    Case("float-one-token", 3, 1, 2, 5, False, True, FLOAT),
    Case("float-long", 2, 65, 3, 5, True, True, FLOAT),
]


def fixture():
    """The layer that the book works out by hand; only dy is added here."""
    def double(rows):
        return torch.tensor(rows, dtype=DOUBLE)

    ln2, root = math.log(2), math.sqrt(2)
    query, off = [1, 0, 0, 0], [0, 0, 0, 0]
    first, second = [0, 0, 1, 0], [0, 0, 0, 1]
    parameters = {
        "in_proj_weight": double([query, off, query, off,
                                  [0, root, 0, 0], off, [0, -root, 0, 0], off,
                                  first, second, first, second]),
        "out_proj.weight": double([[1, 0, 1, 0], [0, 1, 0, -1],
                                   [1, 0, -1, 0], [0, 1, 0, 1]])}
    x = double([[[1, 0, 2, 0], [1, ln2, 0, 4], [1, 2 * ln2, 6, 2]]])
    dy = double([[[3, -1, 2, 5], [-2, 4, 1, -3], [1, 6, -5, 2]]])
    return parameters, x, dy


def draw(case, seed):
    """The parameters of a case, its input, and dy."""
    C = case.H * case.d
    generator = pytorch.Generator(seed)
    bound = 1 / math.sqrt(C)
    parameters = {"in_proj_weight": generator.tensor(bound, 3 * C, C),
                  "out_proj.weight": generator.tensor(bound, C, C)}
    if case.biases:
        parameters["in_proj_bias"] = generator.tensor(bound, 3 * C)
        parameters["out_proj.bias"] = generator.tensor(bound, C)
    parameters = {name: tensor.to(case.dtype)
                  for name, tensor in parameters.items()}
    x = generator.tensor(1, case.B, case.T, C).to(case.dtype)
    dy = generator.tensor(1, case.B, case.T, C).to(case.dtype)
    return parameters, x, dy


def described(case):
    number = {DOUBLE: "double", FLOAT: "float"}[case.dtype]
    return (f"{number}, B={case.B} T={case.T} H={case.H} d={case.d}, "
            f"{'causal' if case.causal else 'unmasked'}, "
            f"with{'' if case.biases else 'out'} biases")


def recorded(case, parameters, x, dy, text):
    """The tensors and the metadata of a file."""
    layer = pytorch.make_layer(parameters, case.H)
    if dy is None:
        # The lab's gradients are those of the mean of the squares of y.
        y = pytorch.forward(layer, x, case.causal)[0].detach()
        dy = 2 * y / y.numel()
    found = pytorch.answers(layer, x, dy, case.causal)
    again = torch.nn.functional.linear(found["concat"], layer.out_proj.weight,
                                       layer.out_proj.bias)
    error = (again - found["y"]).abs().max().item()
    if not error <= 8 * torch.finfo(case.dtype).eps * found["y"].abs().max():
        sys.exit(f"record.py: {case.name}: the output projection of concat is "
                 f"not y, but off by {error:.1e}")
    metadata = {"torch": torch.__version__, "heads": str(case.H),
                "causal": "true" if case.causal else "false", "case": text}
    return {**parameters, "x": x, "dy": dy, **found}, metadata


def all_cases():
    """Each case with its tensors and metadata."""
    case = Case("fixture", 1, 3, 2, 2, True, False, DOUBLE)
    yield case, *recorded(case, *fixture(),
                          "the fixture worked out by hand, " + described(case))
    for seed, case in enumerate(CASES, 1):
        parameters, x, dy = draw(case, seed)
        text = described(case)
        if case.name == "lab":
            dy, text = None, text + ", dy that of mean(y^2)"
        yield case, *recorded(case, parameters, x, dy, text)


def file_of(case):
    return os.path.join(HERE, case.name + ".safetensors")


def record():
    for case, tensors, metadata in all_cases():
        pytorch.write_tensors(file_of(case) + ".new", tensors, metadata)
        os.replace(file_of(case) + ".new", file_of(case))
        print(f"{os.path.getsize(file_of(case)):7d} bytes  {case.name}: "
              f"{metadata['case']}")


def difference(one, other):
    """The largest difference, as a part of the largest number above one."""
    size = max(1, other.abs().max().item())
    return (one - other).abs().max().item() / size


def compare():
    """Print the worst difference of each file; the status to exit with.
    What sums in another order differs by a few epsilons, never by many."""
    status = 0
    for case, now, _ in all_cases():
        kept, metadata = pytorch.read_tensors(file_of(case))
        if sorted(kept) != sorted(now):
            print(f"record.py: {case.name} holds other tensors than it should",
                  file=sys.stderr)
            return 1
        off = {name: difference(now[name], kept[name]) for name in now}
        worst = max(off, key=off.get)
        print(f"{off[worst]:.1e}  {case.name}: {worst}, recorded with "
              f"{metadata['torch']}, this is {torch.__version__}")
        if not off[worst] <= 64 * torch.finfo(case.dtype).eps:
            status = 1
    return status


def main():
    torch.set_num_threads(1)        # sums in one order
    if sys.argv[1:] == ["--check"]:
        sys.exit(compare())
    if sys.argv[1:]:
        print(f"usage: {sys.argv[0]} [--check]", file=sys.stderr)
        sys.exit(2)
    record()


main()
