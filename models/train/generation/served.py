"""The bundle as a server runs it: prompts by its template, a KV cache. Used by check.py and evaluate.py."""

import json

import numpy as np
import onnxruntime
from jinja2 import Template
from tokenizers import Tokenizer


class Bundle:
    def __init__(self, folder):
        self.manifest = json.loads((folder / "manifest.json").read_text())
        self.shape = self.manifest["generation"]
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.template = Template(json.loads((folder / "tokenizer_config.json").read_text())["chat_template"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)

    def run(self, ids, past=None, mask=None):
        """(logits, cache) of batch × tokens, after what the cache holds. Positions count what the mask lets through."""
        rows, tokens = ids.shape
        names = [f"past_key_values.{i}.{part}" for i in range(self.shape["layers"]) for part in ("key", "value")]
        empty = np.zeros((rows, self.shape["kv_heads"], 0, self.shape["head_dimensions"]), dtype=np.float32)
        past = past or [empty] * len(names)
        mask = np.ones((rows, past[0].shape[2] + tokens), dtype=np.int64) if mask is None else mask
        positions = np.maximum(mask.cumsum(1) - 1, 0)[:, -tokens:]
        inputs = {"input_ids": ids, "attention_mask": mask, "position_ids": positions, **dict(zip(names, past))}
        logits, *present = self.session.run(None, inputs)
        return logits, present

    def prompt(self, messages):
        """Token ids of messages, each (role, text), and what begins the answer."""
        text = self.template.render(messages=[{"role": role, "content": content} for role, content in messages], add_generation_prompt=True)
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def answer(self, messages, tokens_max, temperature, top_p, generator):
        """Text until an end token; by the most likely tokens when the temperature is 0."""
        past, written, given = None, [], self.prompt(messages)
        while len(written) < tokens_max:
            logits, past = self.run(np.array([given], dtype=np.int64), past)
            token = chosen(logits[0, -1].astype(np.float64), temperature, top_p, generator)
            if token in self.shape["eos_token_ids"]:
                break
            written.append(token)
            given = [token]
        return self.tokenizer.decode(written)


def chosen(logits, temperature, top_p, generator):
    if temperature == 0:
        return int(logits.argmax())
    order = np.argsort(-logits)
    probability = np.exp((logits[order] - logits[order[0]]) / temperature)
    probability /= probability.sum()
    kept = int(np.searchsorted(probability.cumsum(), top_p)) + 1
    return int(order[generator.choice(kept, p=probability[:kept] / probability[:kept].sum())])
