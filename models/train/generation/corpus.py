"""Where the training data is, and its parts. Used by every script here.

The environment variable GENERATION_DATA names the folder with corpus.txt.xz, positive-groups.jsonl.xz and nli-train.jsonl.xz,
GENERATION_WORK the folder for what the scripts leave (README.md).
"""

import json
import lzma
import os
from pathlib import Path

DATA = Path(os.environ.get("GENERATION_DATA", "data"))
WORK = Path(os.environ.get("GENERATION_WORK", "work"))


def corpus_lines():
    with lzma.open(DATA / "corpus.txt.xz", "rt") as file:
        for line in file:
            yield line.rstrip("\n")


def rows(name):
    with lzma.open(DATA / f"{name}.jsonl.xz", "rt") as file:
        return [json.loads(line) for line in file]
