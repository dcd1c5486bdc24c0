"""Figures of the card, of the bundle as it is served: evaluate.py FOLDER. Also compares it with the weights of training, if nli.pt is there."""

import sys
import time
from pathlib import Path

import numpy as np
import torch

from data import LABELS, WORK, Pairs, snli_test, training
from model import DIMENSIONS, Classifier
from served import Served

BINS = 10
THRESHOLD = 0.6


def probabilities(logits):
    """Of LABELS, whatever the model says of unrelated texts."""
    logits = logits[:, : len(LABELS)]
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    return shifted / shifted.sum(1, keepdims=True)


def calibration(probability, labels):
    """Expected calibration error, and (bin's least confidence, share of pairs, mean confidence, accuracy) by bins of equal width."""
    confidence, right = probability.max(1), probability.argmax(1) == labels
    table, error = [], 0.0
    for low in np.arange(BINS) / BINS:
        within = (confidence >= low) & (confidence < low + 1 / BINS + (low + 1 / BINS >= 1))
        if within.any():
            table.append((low, within.mean(), confidence[within].mean(), right[within].mean()))
            error += within.mean() * abs(confidence[within].mean() - right[within].mean())
    return error, table


def in_training(rows):
    """Logits of the float model of training for the same pairs; None without its weights."""
    path = WORK / "nli.pt"
    if not path.exists():
        return None
    state = torch.load(path)
    members = len({name.split(".")[1] for name in state if name.startswith("members.")})
    model = Classifier(torch.zeros(len(state["table.weight"]), DIMENSIONS), members=members)
    model.load_state_dict(state)
    model.eval()
    pairs = Pairs(rows)
    found = []
    with torch.no_grad():
        for at in range(0, len(pairs), 64):
            *inputs, _ = pairs.batch(range(at, min(at + 64, len(pairs))))
            found.append(model(*map(torch.tensor, inputs)).softmax(2).mean(0).numpy()[:, : len(LABELS)])
    return np.concatenate(found)


def main():
    torch.set_num_threads(1)
    served = Served(Path(sys.argv[1]))
    tested = snli_test()
    started = time.process_time()
    probability = probabilities(served.logits([(p, h) for p, h, _ in tested]))
    seconds = time.process_time() - started
    labels = np.array([LABELS.index(label) for _, _, label in tested])
    print(f"SNLI test: accuracy {np.mean(probability.argmax(1) == labels):.4f} of {len(labels)}; {len(labels) / seconds:.0f} pairs/s")
    print("confusion, rows are the right labels:", LABELS)
    for i, name in enumerate(LABELS):
        print(f"  {name:14}", [int(np.sum((labels == i) & (probability.argmax(1) == j))) for j in range(len(LABELS))])
    error, table = calibration(probability, labels)
    print(f"ECE {error:.4f}")
    for row in table:
        print("  from {:.1f}: {:.3f} of pairs, confidence {:.3f}, accuracy {:.3f}".format(*row))
    for i, name in enumerate(LABELS):
        sure = probability[:, i] >= THRESHOLD
        print(f"  {name} at {THRESHOLD} or more: {sure.mean():.3f} of pairs, right {np.mean(labels[sure] == i):.3f}, found {np.mean(sure[labels == i]):.3f}")
    _, held_out = training()
    for source in sorted({row[0] for row in held_out}):
        rows = [row for row in held_out if row[0] == source]
        probability_of = probabilities(served.logits([(p, h) for _, p, h, _ in rows]))
        right = np.array([LABELS.index(row[3]) for row in rows])
        print(f"held out {source}: {np.mean(probability_of.argmax(1) == right):.4f} of {len(rows)}, ECE {calibration(probability_of, right)[0]:.3f}")
    plain = in_training(tested[:2000])
    if plain is not None:
        same = np.mean(plain.argmax(1) == probability[:2000].argmax(1))
        print(f"float weights on the first 2000: accuracy {np.mean(plain.argmax(1) == labels[:2000]):.4f}, int8 {np.mean(probability[:2000].argmax(1) == labels[:2000]):.4f}, same answer {same:.4f}")


if __name__ == "__main__":
    main()
