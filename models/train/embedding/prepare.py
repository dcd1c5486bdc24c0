"""Unpacks the data: prepare.py FOLDER_WITH_XZ_FILES. Writes into $EMBEDDING_TRAIN."""

import lzma
import shutil
import sys
from pathlib import Path

from data import WORK

FILES = ["corpus.txt", "positive-groups.jsonl", "nli-train.jsonl", "stsb.json"]

WORK.mkdir(parents=True, exist_ok=True)
for name in FILES:
    with lzma.open(Path(sys.argv[1]) / f"{name}.xz") as packed, open(WORK / name, "wb") as unpacked:
        shutil.copyfileobj(packed, unpacked)
    print(name, (WORK / name).stat().st_size)
