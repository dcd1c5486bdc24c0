"""Figures and samples of the card, of the bundle as it is served: evaluate.py FOLDER. Needs held-out.json of data.py."""

import json
import sys
from pathlib import Path

import numpy as np

from corpus import WORK
from served import Bundle
from template import BOS, END

CONTEXT = 512
TEXTS = 100
SAMPLE_TOKENS = 60
PROMPTS = [
    [("user", "Hello!")],
    [("user", "Who are you?")],
    [("user", "What can you do?")],
    [("user", "What is a dog?")],
    [("user", "What is a volcano?")],
    [("user", "Define river.")],
    [("user", "Repeat: green house seven birds")],
    [("user", "What is the opposite of cold?")],
    [("user", "What is the capital of France?")],
    [("user", "What is 3 + 4?")],
    [("user", "Write a sentence about a horse.")],
    [("user", "Rephrase: A man is riding a bicycle down the street.")],
    [("user", "Tell me a short story.")],
    [("user", "Do you like football?")],
    [("user", "Anna: Are you coming tonight?\nTom: Sorry, I have to work late.\nAnna: What a pity!\n\nSum this up in a sentence.")],
    [("user", "Use the text to answer.\n\n[1] zorbel: a small green lamp that burns oil\n[2] A quint is a boat with five sails.\n\nWhat is a quint?")],
    [("user", "Use the text to answer.\n\n[1] zorbel: a small green lamp that burns oil\n[2] A quint is a boat with five sails.\n\nWhat is a zorbel?")],
    [("system", "You are a helpful assistant."), ("user", "Hi"), ("assistant", "Hello! How can I help you?"), ("user", "Explain what a lake is.")],
    [("user", "Why is the sky blue, and how would you prove it?")],
]  # fmt: skip


def perplexities(bundle, texts):
    """Of the tokens that follow the first; in talk of the assistant's only."""
    losses = []
    for text in texts:
        if isinstance(text, str):
            ids = [BOS, *bundle.tokenizer.encode(text, add_special_tokens=False).ids]
            first = 1
        else:
            given = bundle.prompt(text[:-1])
            ids = [*given, *bundle.tokenizer.encode(text[-1][1], add_special_tokens=False).ids, END]
            first = len(given)
        ids = np.array(ids[:CONTEXT])
        if first >= len(ids):
            continue
        logits = bundle.run(ids[None, :-1])[0][0].astype(np.float64)
        highest = logits.max(1)
        own = np.log(np.exp(logits - highest[:, None]).sum(1)) + highest - logits[np.arange(len(ids) - 1), ids[1:]]
        losses.extend(own[first - 1 :])
    return float(np.exp(np.mean(losses))), len(losses)


def main():
    bundle = Bundle(Path(sys.argv[1]))
    print("perplexity per token on held-out texts (of talk: of the last answer)")
    for source, texts in sorted(json.loads((WORK / "held-out.json").read_text()).items()):
        perplexity, tokens = perplexities(bundle, texts[:TEXTS])
        print(f"  {source:10} {perplexity:8.1f}   {tokens} tokens")
    generator = np.random.default_rng(0)
    for messages in PROMPTS:
        print()
        for role, text in messages:
            print(f"{role}: {text}")
        print("most likely:", bundle.answer(messages, SAMPLE_TOKENS, 0, 1, generator))
        print("temperature 0.7:", bundle.answer(messages, SAMPLE_TOKENS, 0.7, 0.9, generator))


main()
