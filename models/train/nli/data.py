"""Pairs for training and evaluation, as token ids. Used by every script here.

The environment variable NLI_DATA names the folder with nli-train, positive-groups and snli-test (.jsonl.xz), NLI_WORK the folder for
what the scripts leave (README.md).
"""

import hashlib
import json
import lzma
import os
import re
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

DATA = Path(os.environ.get("NLI_DATA", "data"))
WORK = Path(os.environ.get("NLI_WORK", "work"))
EMBEDDING = Path(__file__).resolve().parents[2] / "tessera-embed-384"

LABELS = ["contradiction", "entailment", "neutral"]
# The fourth class: two texts that have nothing to do with each other.
UNRELATED = len(LABELS)
PAD, UNKNOWN, CLS, SEP = 0, 1, 2, 3
TOKENS_MAX = 512
# Of premises: one in ten of SNLI dev's, and one in fifty of each other source's.
DEV_ONE_IN = {"snli-dev": 10}
DEV_ONE_IN_OTHERS = 50


def rows(name):
    with lzma.open(DATA / f"{name}.jsonl.xz", "rt") as file:
        return [json.loads(line) for line in file]


def normal(text):
    """Letters and digits only: how texts of two sets are compared."""
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


def is_dev(source, premise):
    """By premise, so that no premise of the dev part is seen in training."""
    drawn = int.from_bytes(hashlib.sha256(normal(premise).encode()).digest()[:4], "big")
    return drawn % DEV_ONE_IN.get(source, DEV_ONE_IN_OTHERS) == 0


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
        self.labels = np.array([LABELS.index(label) if label in LABELS else int(label) for _, _, label in triples])

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
    """(source, premise, hypothesis, label) to train on, and held out; no premise of these in the first, in whatever source."""
    all_rows = [tuple(row) for row in rows("nli-train")]
    dev = [row for row in all_rows if is_dev(row[0], row[1])]
    held_out = {normal(row[1]) for row in dev}
    return [row for row in all_rows if normal(row[1]) not in held_out], dev


def snli_test():
    return [tuple(row) for row in rows("snli-test")]


def pictures():
    """Lists of captions of one picture each, without pictures of SNLI test."""
    tested = {normal(premise) for premise, _, _ in snli_test()}
    found = {}
    for source, captions in rows("positive-groups"):
        if source in ("cap", "cap8") and len(captions) > 1 and not any(normal(one) in tested for one in captions):
            found.setdefault(normal(captions[0]), captions)
    return list(found.values())


def other_captions(rows):
    """{premise: the other captions of its picture}, for premises of `rows` that are captions; none that is held out."""
    held_out = {normal(row[1]) for row in training()[1]}
    captions = {normal(one): group for group in pictures() for one in group}
    found = {}
    for _, premise, _, _ in rows:
        if normal(premise) in captions:
            own = [one for one in captions[normal(premise)] if normal(one) != normal(premise)]
            found[premise] = [one for one in own if normal(one) not in held_out]
    return found


def unrelated(rows, count, random):
    """Premises with the hypotheses of other pairs, most of these of the same source, and captions of two pictures."""
    captions = {normal(one): number for number, group in enumerate(pictures()) for one in group}
    picture = lambda text: captions.get(normal(text), text)
    groups = pictures()
    sources = {}
    for row in rows:
        sources.setdefault(row[0], []).append(row)
    found = []
    while len(found) < count:
        if random.random() < 0.1:
            one, other = random.sample(groups, 2)
            found.append((random.choice(one), random.choice(other)))
            continue
        source, premise, _, _ = random.choice(rows)
        _, other, hypothesis, _ = random.choice(sources[source] if random.random() < 0.75 else rows)
        if picture(premise) != picture(other):
            found.append((premise, hypothesis))
    return found
