"""What the comparisons with PyTorch share: files of tensors, numbers that any
version draws alike, and what torch.nn.MultiheadAttention makes of an input.

Runs with PyTorch 1.13 and newer, and needs nothing else."""

import math
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "tools"))
import safetensors

TYPES = {"F64": torch.float64, "F32": torch.float32}
NAMES = {dtype: name for name, dtype in TYPES.items()}


# ---- files of tensors -------------------------------------------------------

def write_tensors(path, tensors, metadata=None):
    """Write a dictionary of tensors to a file."""
    packed = {}
    for name, tensor in sorted(tensors.items()):
        flat = tensor.detach().reshape(-1)
        content = bytearray(flat.numel() * flat.element_size())
        torch.frombuffer(content, dtype=flat.dtype).copy_(flat)
        packed[name] = NAMES[tensor.dtype], list(tensor.shape), content
    with open(path, "wb") as file:
        file.write(safetensors.pack(packed, metadata))


def read_tensors(path):
    """The tensors of a file and its metadata."""
    packed, metadata = safetensors.read(path)
    return {name: torch.frombuffer(bytearray(content), dtype=TYPES[dtype]
                                   ).reshape(shape)
            for name, (dtype, shape, content) in packed.items()}, metadata


# ---- numbers ----------------------------------------------------------------

class Generator:
    """splitmix64, the generator of the book: the same numbers everywhere."""

    def __init__(self, seed):
        self.state = seed

    def fraction(self):
        """The next number, at least 0 and below 1."""
        mask = 2 ** 64 - 1
        self.state = self.state + 0x9e3779b97f4a7c15 & mask
        z = self.state
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & mask
        z = (z ^ z >> 27) * 0x94d049bb133111eb & mask
        return ((z ^ z >> 31) >> 11) * 2.0 ** -53

    def tensor(self, bound, *shape):
        """A tensor of doubles, uniform between -bound and bound."""
        numbers = [bound * (2 * self.fraction() - 1)
                   for _ in range(math.prod(shape))]
        return torch.tensor(numbers, dtype=torch.float64).reshape(shape)


# ---- the layer --------------------------------------------------------------

def make_layer(parameters, heads):
    """A torch.nn.MultiheadAttention that holds these parameters."""
    weight = parameters["in_proj_weight"]
    layer = torch.nn.MultiheadAttention(
        weight.shape[1], heads, bias="in_proj_bias" in parameters,
        batch_first=True, dtype=weight.dtype)
    layer.load_state_dict(parameters)
    return layer


def future(tokens):
    """The mask as MultiheadAttention wants it: True means blocked."""
    return torch.triu(torch.ones(tokens, tokens, dtype=torch.bool), diagonal=1)


def forward(layer, x, causal):
    """Output (B,T,C) and the weights of each head (B,H,T,T)."""
    return layer(x, x, x, attn_mask=future(x.shape[1]) if causal else None,
                 need_weights=True, average_attn_weights=False)


def concatenation(layer, x, weights):
    """What reaches the output projection. The module keeps it to itself, so
    it is made again, from its weights and its value projection."""
    batch, tokens, width = x.shape
    bias = layer.in_proj_bias
    values = torch.nn.functional.linear(
        x, layer.in_proj_weight[2 * width:],
        None if bias is None else bias[2 * width:])
    values = values.reshape(batch, tokens, layer.num_heads, -1).transpose(1, 2)
    return (weights @ values).transpose(1, 2).reshape(batch, tokens, width)


def answers(layer, x, dy, causal):
    """All that the layer makes of x, and the gradients of sum(dy * y)."""
    x = x.detach().clone().requires_grad_()
    layer.zero_grad()
    y, weights = forward(layer, x, causal)
    y.backward(dy)
    found = {"y": y, "attn_weights": weights,
             "concat": concatenation(layer, x, weights), "grad.x": x.grad}
    for name, parameter in layer.named_parameters():
        found["grad." + name] = parameter.grad
    return {name: tensor.detach() for name, tensor in found.items()}
