"""The decoder's first token vectors: those of the bundled embedding for tokens that are whole words, noise for the others. Used by train.py."""

import json
import math
from pathlib import Path

import numpy as np
import torch

EMBEDDING = Path(__file__).resolve().parents[2] / "tessera-embed-384"
WIDTH = 384
SPREAD = 0.02


def first_table(tokenizer, shape):
    vocabulary = json.loads((EMBEDDING / "tokenizer.json").read_text())["model"]["vocab"]
    content = (EMBEDDING / "weights.bin").read_bytes()
    rows = len(vocabulary)
    vectors = np.frombuffer(content, np.int8, rows * WIDTH).reshape(rows, WIDTH).astype(np.float32)
    vectors = torch.tensor(vectors * np.frombuffer(content, np.float32, rows, rows * WIDTH)[:, None])
    _, main = torch.linalg.eigh(vectors.T @ vectors)
    vectors = vectors @ main.flip(1)[:, : shape.width]
    vectors = vectors / vectors.norm(dim=1, keepdim=True).clamp(min=1e-6) * math.sqrt(shape.width)
    table = torch.randn(shape.vocabulary, shape.width)
    known = 0
    for token, id in tokenizer.get_vocab().items():
        row = vocabulary.get(token.removeprefix("Ġ").lower() if token.startswith("Ġ") else "##" + token.lower())
        if row is not None:
            # Some noise, so that "The" and "the" are not the same.
            table[id] = 0.9 * vectors[row] + 0.4 * table[id]
            known += 1
    print(known, "of", shape.vocabulary, "tokens have first vectors", flush=True)
    return table * SPREAD
