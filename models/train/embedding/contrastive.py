"""Trains the token vectors on groups of texts that mean the same: in-batch negatives, NLI contradictions as hard ones.

One thread, 4 minutes. Writes contrastive.pt. STS-B dev is only printed, nothing is chosen
by it.
"""

import random
import time

import numpy as np
import torch
import torch.nn.functional as F

from contrastive_loss import batch_of, loss_of
from data import DIMENSIONS, VOCABULARY, WORK, adjacent_sentences, groups, nli_triples
from encoder import Encoder
from measures import retrievals, sts

STEPS = 1800
BATCH = 1024
RATE = 1e-3
NOISE = 0.7  # beside the PPMI vectors, so that tokens that the corpus does not tell apart can part
RARE = 1e-3  # SIF weights (Arora, Liang and Ma 2017): a / (a + frequency)

# How often a batch is of a source.
MIX = {
    "cap": 0.28,
    "cap8": 0.06,
    "nli": 0.24,
    "wn": 0.08,
    "wnsyn": 0.04,
    "wnex": 0.03,
    "wsplit": 0.05,
    "qqp": 0.04,
    "intent": 0.03,
    "msrp": 0.02,
    "adjacent": 0.08,
}


def first_weights():
    ppmi = F.normalize(torch.tensor(np.load(WORK / "ppmi.npy")), dim=1)
    counts = np.load(WORK / "frequencies.npy")
    weights = torch.tensor(RARE / (RARE + counts / counts.sum()), dtype=torch.float)[:, None]
    noise = F.normalize(torch.randn(VOCABULARY, DIMENSIONS), dim=1)
    return F.normalize(ppmi + NOISE * noise, dim=1) * weights


def main():
    torch.set_num_threads(1)
    random.seed(1)
    torch.manual_seed(1)
    encoder = Encoder(first_weights())
    training, held = groups()
    training["nli"] = nli_triples()
    training["adjacent"] = adjacent_sentences(random)
    print({source: len(list_) for source, list_ in training.items()}, flush=True)
    optimizer = torch.optim.SparseAdam(list(encoder.bag.parameters()), lr=RATE)
    started = time.time()
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = RATE * max(0.05, 1 - step / STEPS)
        source = random.choices(list(MIX), list(MIX.values()))[0]
        loss = loss_of(encoder, *batch_of(source, training[source], BATCH))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 99:
            print(f"step {step + 1} {time.time() - started:.0f} s STS-B dev {sts(encoder.encode, 'dev'):.4f}", flush=True)
            torch.save(encoder.bag.weight.data.clone(), WORK / "contrastive.pt")
    print(retrievals(encoder.encode, held))


main()
