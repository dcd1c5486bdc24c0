"""Batches of texts that mean the same, and the InfoNCE loss over them. Used by contrastive.py and cosent.py."""

import random

import torch
import torch.nn.functional as F

TEMPERATURE = 0.05


def batch_of(source, list_, size):
    """Texts, their partners, further negatives, and for each text the number of its group (null: all differ)."""
    if source == "intent":
        # Fewer groups than texts: several texts of a batch may be of one.
        numbers = [random.randrange(len(list_)) for _ in range(size // 2)]
        pairs = [random.sample(list_[number], 2) for number in numbers]
        return [a for a, _ in pairs], [b for _, b in pairs], [], torch.tensor(numbers)
    chosen = random.sample(list_, min(size, len(list_)))
    if source == "nli":
        contradictions = [random.choice(c) for _, _, c in chosen if c]
        return [p for p, _, _ in chosen], [random.choice(e) for _, e, _ in chosen], contradictions, None
    pairs = [random.sample(group, 2) for group in chosen]
    return [a for a, _ in pairs], [b for _, b in pairs], [], None


def loss_of(encoder, texts, partners, negatives, numbers):
    """In both directions; in one only where there are negatives."""
    a = F.normalize(encoder(texts), dim=1)
    b = F.normalize(encoder(partners + negatives), dim=1)
    scores = a @ b.T / TEMPERATURE
    if numbers is not None:
        same = (numbers[:, None] == numbers[None]) & ~torch.eye(len(numbers), dtype=torch.bool)
        scores = scores.masked_fill(same, -1e4)
    right = torch.arange(len(texts))
    loss = F.cross_entropy(scores, right)
    return loss if negatives else (loss + F.cross_entropy(scores.T, right)) / 2
