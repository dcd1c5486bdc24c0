"""Quality of a bundle as it is served: evaluate.py FOLDER. Runs its int8 ONNX file, prints JSON for the card."""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from data import groups
from measures import retrievals, sts

BATCH = 256
UNKNOWN = 1

folder = Path(sys.argv[1])
manifest = json.loads((folder / "manifest.json").read_text())
tokenizer = Tokenizer.from_file(str(folder / manifest["tokenizer"]))
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(str(folder / manifest["onnx"]), options)


def encode(texts):
    out = []
    for start in range(0, len(texts), BATCH):
        encoded = tokenizer.encode_batch(texts[start : start + BATCH], add_special_tokens=False)
        lists = [one.ids[: manifest["max_length"]] or [UNKNOWN] for one in encoded]
        length = max(map(len, lists))
        ids = np.array([list_ + [0] * (length - len(list_)) for list_ in lists], dtype=np.int64)
        mask = np.array([[1] * len(list_) + [0] * (length - len(list_)) for list_ in lists], dtype=np.int64)
        out.append(session.run(None, {"input_ids": ids, "attention_mask": mask})[0])
    return np.concatenate(out)


if __name__ == "__main__":
    figures = {f"STS-B {split}": round(sts(encode, split), 4) for split in ("dev", "test")}
    figures |= retrievals(encode, groups()[1])
    print(json.dumps(figures, indent=2))
