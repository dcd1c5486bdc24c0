"""The classifier: token vectors, two layers of context, and attention between premise and hypothesis.

After "A Decomposable Attention Model for Natural Language Inference" (Parikh et al., 2016) with the comparison and pooling of
ESIM (Chen et al., 2017); convolutions give a token its neighbours.
"""

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, DIMENSIONS = 30_522, 384
SPECIAL = 4


class Context(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.convolution = nn.Conv1d(width, width, 3, padding=1)
        self.norm = nn.LayerNorm(width)

    def forward(self, x, mask):
        return self.norm(x + F.gelu(self.convolution((x * mask).transpose(1, 2)).transpose(1, 2))) * mask


class Classifier(nn.Module):
    def __init__(self, table, width=256, drop=0.15):
        super().__init__()
        self.table = nn.Embedding.from_pretrained(table, freeze=False, sparse=True)
        self.narrow = nn.Linear(DIMENSIONS, width)
        self.contexts = nn.ModuleList([Context(width), Context(width)])
        self.score = nn.Linear(width, width)
        self.compare = nn.Sequential(nn.Linear(4 * width, width), nn.GELU(), nn.Dropout(drop))
        self.decide = nn.Sequential(nn.Linear(8 * width, width), nn.GELU(), nn.Dropout(0.2), nn.Linear(width, 3))
        self.drop = nn.Dropout(drop)
        self.scale = width**-0.5

    def forward(self, input_ids, attention_mask, token_type_ids):
        """Logits of LABELS, batch × 3."""
        text = (attention_mask * (input_ids >= SPECIAL) + attention_mask * (input_ids == 1)).float()[..., None]
        second = token_type_ids.float()[..., None]
        first = 1 - second
        x = self.drop(self.narrow(self.table(input_ids))) * text
        for context in self.contexts:
            x = context(x, text)
        projected = self.score(x)
        affinity = projected @ projected.transpose(1, 2) * self.scale
        # A token looks only at tokens of the other text.
        other = first @ second.transpose(1, 2) + second @ first.transpose(1, 2)
        visible = other * text.transpose(1, 2)
        aligned = (affinity + (visible - 1) * 1e4).softmax(2) @ x
        compared = self.compare(torch.cat([x, aligned, x - aligned, x * aligned], 2))
        p, h = pooled(compared, first * text), pooled(compared, second * text)
        return self.decide(torch.cat([p, h, p - h, p * h], 1))


def pooled(x, mask):
    mean = (x * mask).sum(1) / mask.sum(1).clamp(min=1)
    return torch.cat([mean, (x + (mask - 1) * 1e4).max(1)[0].clamp(min=-1e3)], 1)
