"""Compares the bundle with PyTorch: check.py WEIGHTS.pt FOLDER. Logits in one go, with a KV cache, and beside padding."""

import sys
import time
from pathlib import Path

import numpy as np
import torch

from model import Decoder, Shape
from served import Bundle
from template import BOS

TEXT = "<|user|>What is a dog?<|end|><|assistant|>A dog is a kind of animal that lives with people.<|end|>"
PADDING = 5
SPEED_TOKENS = 200


def compare(name, found, right):
    probability = lambda x: np.exp(x - x.max(-1, keepdims=True)) / np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)
    distance = 0.5 * np.abs(probability(found) - probability(right)).sum(-1)
    print(f"{name}: largest difference of logits {np.abs(found - right).max():.4f} of a spread {right.std():.2f};", end=" ")
    print(f"total variation mean {distance.mean():.4f}, largest {distance.max():.4f}; same best token {np.mean(found.argmax(-1) == right.argmax(-1)):.3f}")


def main():
    saved, folder = torch.load(sys.argv[1]), Path(sys.argv[2])
    shape = Shape(**saved["shape"])
    model = Decoder(shape)
    model.load_state_dict(saved["state"])
    model.eval()
    torch.set_num_threads(1)
    bundle = Bundle(folder)
    ids = np.array([[BOS, *bundle.tokenizer.encode(TEXT).ids]], dtype=np.int64)
    with torch.no_grad():
        right = model.logits(model(torch.tensor(ids))).numpy()
    whole, _ = bundle.run(ids)
    compare("PyTorch and ONNX", whole, right)
    past, steps = None, []
    for at in [slice(0, 6), *[slice(i, i + 1) for i in range(6, ids.shape[1])]]:
        logits, past = bundle.run(ids[:, at], past)
        steps.append(logits)
    compare("ONNX in one go and with a cache", np.concatenate(steps, 1), whole)
    padded = np.concatenate([np.zeros((1, PADDING), dtype=np.int64), ids], 1)
    other = np.random.default_rng(0).integers(6, shape.vocabulary, padded.shape)
    mask = np.ones((2, padded.shape[1]), dtype=np.int64)
    mask[0, :PADDING] = 0
    both, _ = bundle.run(np.concatenate([padded, other]), mask=mask)
    compare("ONNX alone and padded beside another", both[:1, PADDING:], whole)
    started, token = time.process_time(), np.array([[BOS]])
    past = None
    for _ in range(SPEED_TOKENS):
        _, past = bundle.run(token, past)
    print(f"{SPEED_TOKENS / (time.process_time() - started):.0f} tokens/s, one thread, one text")


main()
