"""Learns the WordPiece vocabulary (uncased, as BERT's) and encodes the corpus for ppmi.py. 4 minutes.

Writes tokenizer.json and corpus-ids.npy (uint16; [SEP] ends each line).
"""

import random

import numpy as np
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from data import SPECIAL_TOKENS, VOCABULARY, WORK

TRAINING_CHARACTERS = 120_000_000
LINES_AT_ONCE = 20_000

random.seed(0)
lines = (WORK / "corpus.txt").read_text().split("\n")
random.shuffle(lines)


def sample():
    taken = 0
    for line in lines:
        yield line
        taken += len(line)
        if taken > TRAINING_CHARACTERS:
            return


tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
tokenizer.decoder = decoders.WordPiece()
tokenizer.train_from_iterator(
    sample(), trainers.WordPieceTrainer(vocab_size=VOCABULARY, min_frequency=5, special_tokens=SPECIAL_TOKENS)
)
tokenizer.save(str(WORK / "tokenizer.json"))

separator = tokenizer.token_to_id("[SEP]")
encoded = []
for start in range(0, len(lines), LINES_AT_ONCE):
    for line in tokenizer.encode_batch_fast(lines[start : start + LINES_AT_ONCE], add_special_tokens=False):
        encoded.append(np.array(line.ids + [separator], dtype=np.uint16))
ids = np.concatenate(encoded)
np.save(WORK / "corpus-ids.npy", ids)
print(f"{tokenizer.get_vocab_size()} tokens; corpus of {len(ids) / 1e6:.1f} M")
