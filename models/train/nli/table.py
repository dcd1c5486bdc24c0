"""The first token vectors: those of the bundled embedding, turned to their main directions. Used by relations.py and train.py."""

import numpy as np
import torch

from data import EMBEDDING
from model import VOCABULARY

WIDTH = 384


def first_table(dimensions):
    content = (EMBEDDING / "weights.bin").read_bytes()
    table = np.frombuffer(content, np.int8, VOCABULARY * WIDTH).reshape(VOCABULARY, WIDTH)
    scales = np.frombuffer(content, np.float32, VOCABULARY, VOCABULARY * WIDTH)
    vectors = torch.tensor(table.astype(np.float32) * scales[:, None])
    # About 1 in each dimension: what is smaller is lost among the first biases, and nothing is learnt for long.
    vectors = vectors / vectors.norm(dim=1).median() * dimensions**0.5
    _, main = torch.linalg.eigh(vectors.T @ vectors)
    return (vectors @ main.flip(1)[:, :dimensions]).contiguous()
