"""The encoder while it is trained: a mean of token vectors. Also the batches of token ids that it reads."""

import numpy as np
import torch
from tokenizers import Tokenizer

from data import DIMENSIONS, VOCABULARY, WORK

UNKNOWN = 1
TRAINING_TOKENS_MAX = 64


class Encoder:
    def __init__(self, weights):
        self.tokenizer = Tokenizer.from_file(str(WORK / "tokenizer.json"))
        self.bag = torch.nn.EmbeddingBag(VOCABULARY, DIMENSIONS, mode="mean", sparse=True)
        self.bag.weight.data = weights
        self._ids = {}

    def ids(self, texts, tokens_max):
        encoded = self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [one.ids[:tokens_max] or [UNKNOWN] for one in encoded]

    def __call__(self, texts):
        """With gradients; ids of texts are kept, since epochs meet them again."""
        missing = [text for text in texts if text not in self._ids]
        if missing:
            for text, ids in zip(missing, self.ids(missing, TRAINING_TOKENS_MAX)):
                self._ids[text] = ids
        return self.bag(*bags([self._ids[text] for text in texts]))

    def encode(self, texts):
        """Normalised numpy vectors, for evaluation."""
        with torch.no_grad():
            return torch.nn.functional.normalize(self.bag(*bags(self.ids(texts, 512))), dim=1).numpy()


def bags(lists):
    """EmbeddingBag's input: all ids, and where each text's begin."""
    offsets = np.cumsum([0] + [len(ids) for ids in lists[:-1]])
    return torch.tensor(np.concatenate(lists)), torch.tensor(offsets)
