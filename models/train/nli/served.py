"""The bundle as a server runs it: its tokenizer and its graph. Used by export.py and evaluate.py."""

import json

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

BATCH = 64


class Served:
    def __init__(self, folder):
        self.manifest = json.loads((folder / "manifest.json").read_text())
        self.labels = self.manifest["labels"]
        self.tokenizer = Tokenizer.from_file(str(folder / self.manifest["tokenizer"]))
        self.tokenizer.enable_truncation(self.manifest["max_length"], strategy="longest_first")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(folder / self.manifest["onnx"]), options)

    def logits(self, pairs):
        encoded = self.tokenizer.encode_batch_fast(pairs)
        order = sorted(range(len(pairs)), key=lambda i: len(encoded[i].ids))
        found = np.zeros((len(pairs), len(self.labels)), dtype=np.float32)
        for at in range(0, len(order), BATCH):
            rows = order[at : at + BATCH]
            longest = max(len(encoded[i].ids) for i in rows)
            fill = lambda lists: np.array([[*one, *[0] * (longest - len(one))] for one in lists], dtype=np.int64)
            inputs = {
                "input_ids": fill([encoded[i].ids for i in rows]),
                "attention_mask": fill([[1] * len(encoded[i].ids) for i in rows]),
                "token_type_ids": fill([encoded[i].type_ids for i in rows]),
            }
            found[rows] = self.session.run(["logits"], inputs)[0]
        return found
