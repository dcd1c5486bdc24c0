"""The decoder: a small Llama-like Transformer. RMSNorm before each part, rotary positions, grouped keys and values, squared ReLU.

Weights of the vocabulary serve both as token vectors and as output. export.py writes the same computation as ONNX.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

EPSILON = 1e-5


@dataclass(frozen=True)
class Shape:
    vocabulary: int = 8192
    width: int = 384
    layers: int = 6
    heads: int = 6
    kv_heads: int = 2
    inner: int = 1536
    context: int = 1024
    base: float = 10_000.0

    @property
    def head(self):
        return self.width // self.heads


def rotary(shape, length):
    """(cos, sin), each length × head / 2."""
    frequencies = shape.base ** (-torch.arange(0, shape.head, 2).float() / shape.head)
    angles = torch.arange(length).float()[:, None] * frequencies
    return angles.cos(), angles.sin()


def turn(x, cos, sin):
    """x: batch × heads × tokens × head. The first half of a head's dimensions turns with the second."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Layer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.norm1 = nn.RMSNorm(shape.width, eps=EPSILON)
        self.qkv = nn.Linear(shape.width, (shape.heads + 2 * shape.kv_heads) * shape.head, bias=False)
        self.out = nn.Linear(shape.width, shape.width, bias=False)
        self.norm2 = nn.RMSNorm(shape.width, eps=EPSILON)
        self.up = nn.Linear(shape.width, shape.inner, bias=False)
        self.down = nn.Linear(shape.inner, shape.width, bias=False)

    def forward(self, x, cos, sin):
        shape = self.shape
        b, t, _ = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, t, -1, shape.head).transpose(1, 2)
        q, k, v = qkv.split([shape.heads, shape.kv_heads, shape.kv_heads], 1)
        q, k = turn(q, cos, sin), turn(k, cos, sin)
        groups = shape.heads // shape.kv_heads
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        attended = F.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(b, t, -1))
        return x + self.down(F.relu(self.up(self.norm2(x))).square())


class Decoder(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.table = nn.Embedding(shape.vocabulary, shape.width)
        self.layers = nn.ModuleList([Layer(shape) for _ in range(shape.layers)])
        self.norm = nn.RMSNorm(shape.width, eps=EPSILON)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=parameter.shape[1] ** -0.5 * 0.6)
        nn.init.normal_(self.table.weight, std=0.02)
        for layer in self.layers:
            nn.init.zeros_(layer.out.weight)
            nn.init.zeros_(layer.down.weight)
        cos, sin = rotary(shape, shape.context)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, ids):
        """Vectors before the output, batch × tokens × width."""
        t = ids.shape[1]
        # A token's vector is of length about 1 per dimension; as output the same table is small.
        x = self.table(ids) * math.sqrt(self.shape.width)
        for layer in self.layers:
            x = layer(x, self.cos[:t], self.sin[:t])
        return self.norm(x)

    def logits(self, vectors):
        return vectors @ self.table.weight.T
