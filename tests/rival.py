#!/usr/bin/env python3
"""rival.py: PyTorch's causal attention layers, timed on request.

Answers the requests of `multihead bench --serve` that concern a rival, a line
each, so that one program can drive both by turns:

    paths                           the layers that this PyTorch has
    about                           its version
    step LAYER WAY B T C H REPEATS  seconds of one step, and by how many bytes
                                    the process has grown beyond inputs, output
                                    and gradients
    drop                            forget all layers
    end

WAY is forward, without gradients, or backward, which is both. All is in float,
without biases. The layers:

    sdpa    two linear layers around functional.scaled_dot_product_attention
    mha     nn.MultiheadAttention that is not asked for its weights
    square  nn.MultiheadAttention that hands back the weights of every head

With the set-up that the caller has chosen (threads, memory) PyTorch is left to
take the fastest of its kernels.
"""

import inspect
import math
import sys
import time

import torch
from torch.nn import functional


class Sdpa(torch.nn.Module):
    """What nanoGPT's model.py does, without biases and dropout."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.in_proj = torch.nn.Linear(width, 3 * width, bias=False)
        self.out_proj = torch.nn.Linear(width, width, bias=False)

    def forward(self, x):
        batch, tokens, width = x.shape
        split = batch, tokens, self.heads, width // self.heads
        q, k, v = (part.view(split).transpose(1, 2)
                   for part in self.in_proj(x).split(width, dim=2))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(y.transpose(1, 2).reshape(x.shape))


class Module(torch.nn.Module):
    """nn.MultiheadAttention as its documentation would have it called."""

    def __init__(self, width, heads, weights, tokens):
        super().__init__()
        self.inner = torch.nn.MultiheadAttention(width, heads, bias=False,
                                                 batch_first=True)
        self.how = {"need_weights": weights, "average_attn_weights": False}
        # Older versions cannot be told that the mask is the causal one.
        if "is_causal" in inspect.signature(self.inner.forward).parameters:
            self.how["is_causal"] = True
        self.mask = torch.triu(torch.ones(tokens, tokens, dtype=torch.bool),
                               diagonal=1)

    def forward(self, x):
        return self.inner(x, x, x, attn_mask=self.mask, **self.how)[0]


LAYERS = {
    "sdpa": lambda tokens, width, heads: Sdpa(width, heads),
    "mha": lambda tokens, width, heads: Module(width, heads, False, tokens),
    "square": lambda tokens, width, heads: Module(width, heads, True, tokens),
}
if not hasattr(functional, "scaled_dot_product_attention"):
    del LAYERS["sdpa"]


def size():
    """The largest size this process ever had, in bytes. (What getrusage says
    may be that of the process which has started this one.)"""
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    return 0


class Timed:
    """A random layer and a random input."""

    def __init__(self, name, way, batch, tokens, width, heads):
        self.backward = way == "backward"
        self.layer = LAYERS[name](tokens, width, heads)
        self.x = torch.randn(batch, tokens, width, requires_grad=self.backward)
        self.dy = torch.randn(batch, tokens, width)
        # The output, and with backward all gradients, are not counted.
        self.owed = 4 * self.x.numel()
        if self.backward:
            self.owed += 4 * (self.x.numel() + sum(
                p.numel() for p in self.layer.parameters()))
        self.before = size()

    def step(self):
        if not self.backward:
            with torch.inference_mode():
                self.layer(self.x)
            return
        self.x.grad = None
        for parameter in self.layer.parameters():
            parameter.grad = None
        self.layer(self.x).backward(self.dy)

    def run(self, repeats):
        start = time.perf_counter()
        for _ in range(repeats):
            self.step()
        return (time.perf_counter() - start) / repeats

    def grown(self):
        return max(0, size() - self.before - self.owed)


def answer(words, kept):
    if words == ["paths"]:
        return " ".join(LAYERS)
    if words == ["about"]:
        return torch.__version__
    if words == ["drop"]:
        kept.clear()
        return ""
    if len(words) != 8 or words[0] != "step":
        raise ValueError("no such request")
    key = tuple(words[1:7])
    if key not in kept:
        kept[key] = Timed(*words[1:3], *map(int, words[3:7]))
    seconds = kept[key].run(int(words[7]))
    if not math.isfinite(seconds):
        raise ValueError("no time was measured")
    return f"{seconds:.17g} {kept[key].grown()}"


def main():
    kept = {}
    for line in sys.stdin:
        if line.strip() == "end":
            break
        try:
            said = "ok " + answer(line.split(), kept)
        except (KeyError, ValueError, RuntimeError, MemoryError) as problem:
            said = "no " + " ".join(str(problem).split())
        print(said.strip(), flush=True)


main()
