"""Pairs for training and evaluation, as token ids. Used by every script here.

The environment variable NLI_DATA names the folder with nli-train.jsonl.xz and snli-test.jsonl.xz, NLI_WORK the folder for
what the scripts leave (README.md).
"""

import hashlib
import json
import lzma
import os
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

DATA = Path(os.environ.get("NLI_DATA", "data"))
WORK = Path(os.environ.get("NLI_WORK", "work"))
EMBEDDING = Path(__file__).resolve().parents[2] / "tessera-embed-384"

LABELS = ["contradiction", "entailment", "neutral"]
PAD, UNKNOWN, CLS, SEP = 0, 1, 2, 3
TOKENS_MAX = 512
DEV_ONE_IN = 25


def rows(name):
    with lzma.open(DATA / f"{name}.jsonl.xz", "rt") as file:
        return [json.loads(line) for line in file]


def is_dev(premise):
    """By premise, so that no premise of the dev part is seen in training."""
    return int.from_bytes(hashlib.sha256(premise.encode()).digest()[:4], "big") % DEV_ONE_IN == 0


class Pairs:
    """Sequences [CLS] premise [SEP] hypothesis [SEP], the longer text cut first beyond TOKENS_MAX."""

    def __init__(self, triples):
        tokenizer = Tokenizer.from_file(str(EMBEDDING / "tokenizer.json"))
        encode = lambda texts: [one.ids for one in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
        premises = encode([premise for premise, _, _ in triples])
        hypotheses = encode([hypothesis for _, hypothesis, _ in triples])
        self.ids, self.types = [], []
        for a, b in zip(premises, hypotheses):
            a, b = cut(a, b)
            self.ids.append(np.array([CLS, *a, SEP, *b, SEP], dtype=np.int64))
            self.types.append(np.array([0] * (len(a) + 2) + [1] * (len(b) + 1), dtype=np.int64))
        self.labels = np.array([LABELS.index(label) for _, _, label in triples])

    def __len__(self):
        return len(self.ids)

    def batch(self, positions):
        """(input_ids, attention_mask, token_type_ids), each positions × longest, and the labels."""
        longest = max(len(self.ids[i]) for i in positions)
        ids, mask, types = (np.zeros((len(positions), longest), dtype=np.int64) for _ in range(3))
        for row, i in enumerate(positions):
            length = len(self.ids[i])
            ids[row, :length], mask[row, :length], types[row, :length] = self.ids[i], 1, self.types[i]
        return ids, mask, types, self.labels[positions]


def cut(a, b):
    a, b = list(a), list(b)
    while len(a) + len(b) > TOKENS_MAX - 3:
        (a if len(a) >= len(b) else b).pop()
    return a, b


def training():
    """(sources, training triples), and the dev triples."""
    train, dev = [], []
    for source, premise, hypothesis, label in rows("nli-train"):
        (dev if is_dev(premise) else train).append((source, premise, hypothesis, label))
    return [one[0] for one in train], [one[1:] for one in train], [one[0] for one in dev], [one[1:] for one in dev]


def snli_test():
    return [tuple(row) for row in rows("snli-test")]
