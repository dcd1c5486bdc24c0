"""Learns the vocabulary of the decoder: byte-level BPE, 8,192 tokens. Writes tokenizer.json. 2 minutes."""

import random

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from corpus import WORK, corpus_lines
from template import SPECIAL_TOKENS

VOCABULARY = 8192
CHARACTERS = 40_000_000

random.seed(0)


def sample():
    lines = list(corpus_lines())
    random.shuffle(lines)
    taken = 0
    for line in lines:
        yield line
        taken += len(line)
        if taken > CHARACTERS:
            return


tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
    [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.train_from_iterator(
    sample(),
    trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    ),
)
tokenizer.save(str(WORK / "tokenizer.json"))
print(tokenizer.get_vocab_size(), tokenizer.encode("<|user|>What is a dog?<|end|>").tokens)
