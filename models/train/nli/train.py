"""Trains the classifier: train.py SECONDS [NAME]. One thread. Writes NAME.pt; the running mean of weights that is best on dev stays."""

import random
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

from data import EMBEDDING, WORK, Pairs, snli_test, training
from model import DIMENSIONS, VOCABULARY, Classifier

SECONDS = float(sys.argv[1])
NAME = sys.argv[2] if len(sys.argv) > 2 else "nli"
BATCH, POOL = 128, 2048
# How often a pair of a source is drawn: whole sentences by people, with all three labels, more often.
WEIGHTS = {"snli-dev": 4.0, "cad": 1.5, "litl": 1.0, "mnli-olora": 1.0, "conj": 0.6}
OTHERS = 0.3
# Dev counts only these.
LIKELY = {"snli-dev"}


def first_table():
    content = (EMBEDDING / "weights.bin").read_bytes()
    table = np.frombuffer(content, np.int8, VOCABULARY * DIMENSIONS).reshape(VOCABULARY, DIMENSIONS)
    scales = np.frombuffer(content, np.float32, VOCABULARY, VOCABULARY * DIMENSIONS)
    vectors = torch.tensor(table.astype(np.float32) * scales[:, None])
    return vectors / vectors.norm(dim=1).median()


def accuracy(model, pairs):
    model.eval()
    order = sorted(range(len(pairs)), key=lambda i: len(pairs.ids[i]))
    right = 0
    with torch.no_grad():
        for at in range(0, len(order), 512):
            *inputs, labels = pairs.batch(order[at : at + 512])
            right += (model(*map(torch.tensor, inputs)).argmax(1).numpy() == labels).sum()
    model.train()
    return right / len(pairs)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    sources, triples, dev_sources, dev_triples = training()
    counts = {}
    for source in sources:
        counts[source] = counts.get(source, 0) + 1
    print(counts, flush=True)
    swapped = [i for i, (p, h, l) in enumerate(triples) if l == "contradiction" and sources[i] in ("snli-dev", "cad", "litl")]
    sources = sources + [sources[i] for i in swapped]
    triples = list(triples) + [(triples[i][1], triples[i][0], "contradiction") for i in swapped]
    pairs = Pairs(triples)
    likely = [i for i, s in enumerate(dev_sources) if s in LIKELY]
    dev = Pairs([dev_triples[i] for i in likely])
    test = Pairs(snli_test())
    weights = [WEIGHTS.get(source, OTHERS) * (0.5 if i >= len(sources) - len(swapped) else 1) for i, source in enumerate(sources)]
    model = Classifier(first_table())
    mean = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.998))
    dense = [p for n, p in model.named_parameters() if n != "table.weight"]
    print("dense parameters", sum(p.numel() for p in dense), "dev", len(dev), flush=True)
    sparse_optimizer = torch.optim.SparseAdam([model.table.weight], lr=5e-4)
    optimizer = torch.optim.AdamW(dense, lr=1e-3, weight_decay=1e-4)
    started, seen, next_look, best = time.process_time(), 0, 60, 0.0
    while (passed := time.process_time() - started) < SECONDS:
        rate = max(0.03, 1 - passed / SECONDS)
        sparse_optimizer.param_groups[0]["lr"] = 5e-4 * rate
        optimizer.param_groups[0]["lr"] = 1e-3 * rate
        chosen = sorted(random.choices(range(len(pairs)), weights, k=POOL), key=lambda i: len(pairs.ids[i]))
        batches = [chosen[at : at + BATCH] for at in range(0, POOL, BATCH)]
        random.shuffle(batches)
        for batch in batches:
            *inputs, labels = pairs.batch(batch)
            loss = F.cross_entropy(model(*map(torch.tensor, inputs)), torch.tensor(labels), label_smoothing=0.05)
            sparse_optimizer.zero_grad()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(dense, 5)
            sparse_optimizer.step()
            optimizer.step()
            mean.update_parameters(model)
            seen += len(batch)
        if time.process_time() - started > next_look:
            next_look += 90
            score = accuracy(mean.module, dev)
            if score > best:
                best = score
                torch.save(mean.module.state_dict(), WORK / f"{NAME}.pt")
            print(f"{passed:.0f} s, {seen / len(pairs):.2f} epochs, loss {loss.item():.3f}, dev {score:.4f}", flush=True)
    model.load_state_dict(torch.load(WORK / f"{NAME}.pt"))
    print(f"best dev {best:.4f}, SNLI test {accuracy(model, test):.4f}", flush=True)


main()
