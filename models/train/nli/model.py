"""The classifier: token vectors, context from neighbours, attention between premise and hypothesis; several members vote.

After "A Decomposable Attention Model for Natural Language Inference" (Parikh et al., 2016) with the comparison, composition and
pooling of ESIM (Chen et al., 2017), and word relations in attention and comparison as in "Neural Natural Language Inference
Models Enhanced with External Knowledge" (Chen et al., 2018). The relations are not looked up but read off a second, narrow
vector per token that relations.py learns from WordNet.
"""

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, DIMENSIONS = 30_522, 256
SPECIAL = 4
# What relations.py tells apart; that two tokens are the same is counted beside them.
RELATIONS = ["synonym", "above", "below", "opposite", "sibling", "inflection"]
RELATION_WIDTH = 48
# Those of data.LABELS, and that the texts have nothing to do with each other.
CLASSES = 4
FAR = -1e4


class Relations(nn.Module):
    """How two tokens are related: batch × tokens × tokens × len(RELATIONS), each 0 to 1, not symmetric."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(VOCABULARY, RELATION_WIDTH, sparse=True)
        self.left = nn.Linear(RELATION_WIDTH, len(RELATIONS) * RELATION_WIDTH)
        self.bias = nn.Parameter(torch.full((len(RELATIONS), 1, 1), -3.0))

    def logits(self, a, b):
        """a: batch × n × width, b: batch × m × width; batch × relations × n × m."""
        turned = self.left(a).unflatten(2, (len(RELATIONS), RELATION_WIDTH)).transpose(1, 2)
        return turned @ b.unsqueeze(1).transpose(2, 3) + self.bias

    def forward(self, input_ids):
        vectors = self.table(input_ids)
        return self.logits(vectors, vectors).sigmoid()


class Drop(nn.Module):
    """Dropout of whole columns: the same dimensions for all tokens of a text, which also costs few random numbers."""

    def __init__(self, share):
        super().__init__()
        self.share = share

    def forward(self, x):
        if not self.training:
            return x
        kept = torch.rand(x.shape[0], 1, x.shape[2]) >= self.share
        return x * (kept / (1 - self.share)).to(x.dtype)


class Context(nn.Module):
    """A token and its two neighbours; the shift is a sum of three products, which every runtime does fast."""

    def __init__(self, width, drop):
        super().__init__()
        self.mix = nn.Linear(width, 3 * width)
        self.norm = nn.LayerNorm(width)
        self.drop = Drop(drop)

    def forward(self, x, mask):
        before, here, after = self.mix(x).chunk(3, 2)
        mixed = here + F.pad(before[:, :-1], (0, 0, 1, 0)) + F.pad(after[:, 1:], (0, 0, 0, 1))
        return self.norm(x + self.drop(F.gelu(mixed))) * mask


class Member(nn.Module):
    def __init__(self, width, heads, drop):
        super().__init__()
        self.heads = heads
        self.scale = (width // heads) ** -0.5
        self.narrow = nn.Linear(DIMENSIONS, width)
        self.contexts = nn.ModuleList([Context(width, drop), Context(width, drop)])
        self.score = nn.Linear(width, width)
        relations = len(RELATIONS) + 1
        self.relation_score = nn.Parameter(torch.zeros(heads, relations))
        self.compare = nn.Linear(4 * width + heads * relations, width)
        self.compare_norm = nn.LayerNorm(width)
        self.composition = Context(width, drop)
        self.decide = nn.Sequential(nn.Linear(8 * width, width), nn.GELU(), nn.Dropout(0.3))
        self.labels = nn.Linear(width, CLASSES)
        # Whether two captions are of one picture; only in training.
        self.same = nn.Linear(width, 1)
        self.drop = Drop(drop)

    def forward(self, vectors, relations, text, first, second, unseen):
        x = self.drop(self.narrow(vectors)) * text
        for context in self.contexts:
            x = context(x, text)
        projected = self.score(x).unflatten(2, (self.heads, -1)).transpose(1, 2)
        values = x.unflatten(2, (self.heads, -1)).transpose(1, 2)
        batch, kinds, n, m = relations.shape
        flat = relations.flatten(2)
        affinity = projected @ projected.transpose(2, 3) * self.scale
        affinity = affinity + (self.relation_score.to(flat.dtype) @ flat).unflatten(2, (n, m))
        attention = (affinity.float() + unseen).softmax(3).to(values.dtype)
        aligned = (attention @ values).transpose(1, 2).flatten(2)
        # Each head's share of each relation: batch × n × heads × relations.
        met = attention.transpose(1, 2) @ relations.permute(0, 2, 3, 1)
        compared = torch.cat([x, aligned, x - aligned, x * aligned, met.flatten(2)], 2)
        compared = self.compare_norm(self.drop(F.gelu(self.compare(compared))))
        compared = self.composition(compared * text, text)
        p, h = pooled(compared, first), pooled(compared, second)
        return self.decide(torch.cat([p, h, p - h, p * h], 1))


class Classifier(nn.Module):
    def __init__(self, table, members=3, width=256, heads=4, drop=0.15):
        super().__init__()
        self.table = nn.Embedding.from_pretrained(table, freeze=False, sparse=True)
        self.relations = Relations()
        self.members = nn.ModuleList([Member(width, heads, drop) for _ in range(members)])

    def features(self, input_ids, attention_mask, token_type_ids):
        """One vector per member of each pair."""
        ids, mask = input_ids, attention_mask.float()
        text = (mask * (ids >= SPECIAL) + mask * (ids == 1))[..., None]
        second = text * token_type_ids.float()[..., None]
        first = text - second
        # A token looks only at tokens of the other text.
        seen = first @ second.transpose(1, 2) + second @ first.transpose(1, 2)
        unseen = ((1 - seen) * FAR)[:, None]
        seen = seen[:, None]
        same = (ids[:, :, None] == ids[:, None, :]).float()[:, None]
        relations = torch.cat([self.relations(ids) * (1 - same), same], 1) * seen
        vectors = self.table(ids)
        return [member(vectors, relations, text, first, second, unseen) for member in self.members]

    def forward(self, input_ids, attention_mask, token_type_ids):
        """Logits of CLASSES, members × batch × 4."""
        features = self.features(input_ids, attention_mask, token_type_ids)
        return torch.stack([member.labels(one) for member, one in zip(self.members, features)])

    def same_picture(self, input_ids, attention_mask, token_type_ids):
        features = self.features(input_ids, attention_mask, token_type_ids)
        return torch.stack([member.same(one)[:, 0] for member, one in zip(self.members, features)])


def pooled(x, mask):
    mean = (x * mask).sum(1) / mask.sum(1).clamp(min=1)
    return torch.cat([mean, (x + (mask - 1) * -FAR).max(1)[0].clamp(min=-1e3)], 1)
