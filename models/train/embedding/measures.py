"""Quality of an encoder (a function from texts to normalised vectors): STS-B and three held-out retrievals."""

import random

import numpy as np
from scipy.stats import spearmanr

from data import stsb

INTENT_SENTENCES_MAX = 40


def sts(encode, split):
    """Spearman's rank correlation of cosines with people's scores."""
    pairs = stsb()[split]
    cosines = (encode([a for a, _, _ in pairs]) * encode([b for _, b, _ in pairs])).sum(1)
    return float(spearmanr(cosines, [score for _, _, score in pairs])[0])


def _ranks(queries, answers, right):
    """Rank (from 1) of the best right answer per query; `right[q]` is a list of answers' numbers."""
    cosines = queries @ answers.T
    return np.array([1 + (cosines[q] > cosines[q, right[q]].max()).sum() for q in range(len(queries))])


def _report(ranks, pool):
    return {
        "queries": len(ranks),
        "pool": pool,
        "recall@1": float((ranks <= 1).mean()),
        "recall@10": float((ranks <= 10).mean()),
        "mrr@10": float(np.where(ranks <= 10, 1 / ranks, 0).mean()),
    }


def retrievals(encode, held):
    """{name: figures}; `held` are the groups of data.groups() that were not trained on."""
    glosses = held["wn"]
    captions = [group for group in held["cap"] if len(group) >= 2]
    chance = random.Random(7)
    intents = [chance.sample(group, min(len(group), INTENT_SENTENCES_MAX)) for group in held["intent"]]
    own = [[q] for q in range(len(glosses))]
    lemma = _ranks(encode([g[1] for g in glosses]), encode([g[0] for g in glosses]), own)
    own = [[q] for q in range(len(captions))]
    picture = _ranks(encode([c[0] for c in captions]), encode([c[1] for c in captions]), own)
    # Half of each intent's sentences ask, the other halves are the pool.
    asks = [(number, text) for number, group in enumerate(intents) for text in group[::2]]
    pool = [(number, text) for number, group in enumerate(intents) for text in group[1::2]]
    same = [[at for at, (other, _) in enumerate(pool) if other == number] for number, _ in asks]
    intent = _ranks(encode([text for _, text in asks]), encode([text for _, text in pool]), same)
    return {
        "WordNet gloss to lemma": _report(lemma, len(glosses)),
        "caption to caption of the same picture": _report(picture, len(captions)),
        f"sentence to sentence of the same intent, of {len(intents)}": _report(intent, len(pool)),
    }
