"""Where the training data is, how it is read, and which groups are held out for evaluation.

Used by every script here. The folder with the unpacked data and all intermediate results is named by the environment
variable EMBEDDING_TRAIN (see README.md); prepare.py fills it.
"""

import hashlib
import json
import os
import re
from pathlib import Path

WORK = Path(os.environ.get("EMBEDDING_TRAIN", "work"))
VOCABULARY = 30_522
DIMENSIONS = 384
SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

# Shares of groups that no training step sees, by source: one of so many.
HELD_OUT_ONE_IN = {"wn": 50, "cap": 25, "intent": 5}


def normal(text):
    """Letters and digits only: how texts of two sets are compared."""
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


def _held_out(source, group):
    one_in = HELD_OUT_ONE_IN.get(source)
    if one_in is None:
        return False
    digest = hashlib.sha256(normal(group[0]).encode()).digest()
    return int.from_bytes(digest[:4], "big") % one_in == 0


def groups():
    """(training, held out): groups of texts that mean the same, by source.

    A group of another source is dropped from training when it repeats a held-out text: WordNet's examples and synonyms
    repeat glosses and lemmas, the two sets of captions share pictures.
    """
    training, held = {}, {}
    with open(WORK / "positive-groups.jsonl") as file:
        for line in file:
            source, group = json.loads(line)
            (held if _held_out(source, group) else training).setdefault(source, []).append(group)
    taken = {normal(text) for source in ("wn", "cap") for group in held[source] for text in group if " " in text}
    for source, list_ in training.items():
        if source == "wnsyn":
            training[source] = [g for g in list_ if normal(", ".join(g)) not in taken]
        elif source != "wn":
            training[source] = [g for g in list_ if not any(normal(text) in taken for text in g)]
    return training, held


def stsb():
    """{"train" | "dev" | "test": [[first, second, score 0 to 5], …]}"""
    return json.loads((WORK / "stsb.json").read_text())


def stsb_sentences(*splits):
    sets = stsb()
    return {normal(text) for split in splits for a, b, _ in sets[split] for text in (a, b)}


def nli_triples():
    """(premise, entailed sentences, contradicting sentences), without sentences of STS-B dev and test."""
    banned = stsb_sentences("dev", "test")
    # Sources whose pairs differ by a word or a mark only: they teach a bag of words nothing.
    left_out = {"help", "med", "breaking", "conj", "cad"}
    by_premise = {}
    with open(WORK / "nli-train.jsonl") as file:
        for line in file:
            source, premise, hypothesis, label = json.loads(line)
            if source in left_out or normal(premise) in banned or normal(hypothesis) in banned:
                continue
            by_premise.setdefault(premise, {}).setdefault(label, []).append(hypothesis)
    return [
        (premise, labels["entailment"], labels.get("contradiction", []))
        for premise, labels in by_premise.items()
        if "entailment" in labels
    ]


def adjacent_sentences(random, pairs_max=120_000):
    """Pairs of sentences that follow each other in the corpus."""
    pairs = []
    with open(WORK / "corpus.txt") as file:
        for number, line in enumerate(file):
            if number % 6 != 0 or len(line) <= 200:
                continue
            sentences = re.split(r"(?<=[.!?]) ", line.strip())
            if len(sentences) < 2:
                continue
            at = random.randrange(len(sentences) - 1)
            pair = sentences[at : at + 2]
            if all(30 < len(sentence) < 300 for sentence in pair):
                pairs.append(pair)
            if len(pairs) == pairs_max:
                break
    return pairs
