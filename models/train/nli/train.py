"""Trains the classifier: train.py SECONDS [BUNDLE]. One thread. Writes nli.pt: the running mean of weights at the end.

Beside the labelled pairs it learns, for the first part of the time, which two captions are of the same picture. With a bundle it
goes on from that one's weights, without captions.
"""

import random
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from bundle import load_into, members_of
from data import LABELS, UNRELATED, WORK, Pairs, other_captions, pictures, training, unrelated
from model import DIMENSIONS, Classifier
from table import first_table

SECONDS = float(sys.argv[1])
BUNDLE = Path(sys.argv[2]) if len(sys.argv) > 2 else None
MEMBERS = 2
BATCH, POOL = 128, 2048
# How often a pair of a source is drawn: whole sentences by people, with all three labels, more often.
WEIGHTS = {"snli-dev": 4.0, "cad": 1.5, "litl": 1.0, "mnli-olora": 1.0, "conj": 0.4}
OTHERS = 0.25
TURNED = ("snli-dev", "cad", "litl", "mnli-olora")
# What does not follow from a caption, or is against it, does not follow from another caption of the picture either, mostly.
OF_OTHER_CAPTIONS = ("contradiction", "neutral")
# Of all pairs that are drawn, those about different things.
UNRELATED_SHARE = 0.15
UNRELATED_PAIRS = 60_000
# Batches of captions among those of labelled pairs at the start; none after this share of the time.
CAPTIONS, CAPTIONS_UNTIL = 0.3, 0.4
CAPTION_PAIRS = 60_000
RATE, TABLE_RATE, WARM = 1.2e-3, 2e-3, 0.03
DECAY = 0.98


def labelled(rows):
    """Pairs and how often each is drawn; a contradiction turned round is one too."""
    captions = other_captions([row for row in rows if row[0] in ("snli-dev", "cad")])
    drawn = []
    for source, premise, hypothesis, label in rows:
        weight = WEIGHTS.get(source, OTHERS)
        if label == "contradiction" and source in TURNED:
            drawn.append(((hypothesis, premise, label), 0.5 * weight))
        others = captions.get(premise, []) if source in ("snli-dev", "cad") and label in OF_OTHER_CAPTIONS else []
        for other in others:
            drawn.append(((other, hypothesis, label), 0.5 * weight / len(others)))
        drawn.append(((premise, hypothesis, label), weight if not others else 0.5 * weight))
    apart = unrelated(rows, UNRELATED_PAIRS, random)
    share = UNRELATED_SHARE / (1 - UNRELATED_SHARE) * sum(weight for _, weight in drawn) / len(apart)
    drawn += [((premise, hypothesis, str(UNRELATED)), share) for premise, hypothesis in apart]
    return Pairs([pair for pair, _ in drawn]), [weight for _, weight in drawn]


def caption_pairs(table):
    """Half of one picture; half of two, mostly two whose captions have alike words."""
    groups = pictures()
    texts = [random.choice(group) for group in groups]
    pairs = Pairs([(text, "", "0") for text in texts])
    means = np.stack([table[torch.tensor(ids[1:-2])].mean(0).numpy() for ids in pairs.ids])
    means -= means.mean(0)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    near = np.concatenate([np.argpartition(-(means[at : at + 512] @ means.T), 40, axis=1)[:, :40] for at in range(0, len(means), 512)])
    found = []
    for number in random.choices(range(len(groups)), k=CAPTION_PAIRS):
        if random.random() < 0.5:
            found.append((*random.sample(groups[number], 2), "1"))
        else:
            other = random.choice(near[number]) if random.random() < 0.7 else random.randrange(len(groups))
            if other != number:
                found.append((random.choice(groups[number]), random.choice(groups[other]), "0"))
    print(len(groups), "pictures", flush=True)
    return Pairs(found)


def accuracy(model, pairs):
    model.eval()
    order = sorted(range(len(pairs)), key=lambda i: len(pairs.ids[i]))
    right = 0
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for at in range(0, len(order), 256):
            *inputs, labels = pairs.batch(order[at : at + 256])
            probability = model(*map(torch.tensor, inputs)).float().softmax(2).mean(0)
            right += (probability[:, : len(LABELS)].argmax(1).numpy() == labels).sum()
    model.train()
    return right / len(pairs)


def batches(pairs, weights=None):
    """Without end; texts of like length together."""
    while True:
        chosen = sorted(random.choices(range(len(pairs)), weights, k=POOL), key=lambda i: len(pairs.ids[i]))
        found = [chosen[at : at + BATCH] for at in range(0, POOL, BATCH)]
        random.shuffle(found)
        yield from (pairs.batch(one) for one in found)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    rows, dev_rows = training()
    pairs, weights = labelled(rows)
    dev = Pairs([row[1:] for row in dev_rows if row[0] == "snli-dev"])
    table = first_table(DIMENSIONS)
    captions = batches(caption_pairs(table)) if BUNDLE is None else None
    labels_batches = batches(pairs, weights)
    model = Classifier(table, members=MEMBERS if BUNDLE is None else members_of(BUNDLE))
    if BUNDLE is None:
        model.relations.load_state_dict(torch.load(WORK / "relations.pt"))
    else:
        load_into(model, BUNDLE)
        print(f"begins with dev {accuracy(model, dev):.4f}", flush=True)
    mean = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(DECAY))
    tables = [model.table.weight, model.relations.table.weight]
    model.relations.table.weight.requires_grad_(False)
    dense = [p for n, p in model.named_parameters() if "table" not in n]
    print("dense parameters", sum(p.numel() for p in dense), "pairs", len(pairs), "dev", len(dev), flush=True)
    sparse_optimizer = torch.optim.SparseAdam(tables[:1], lr=TABLE_RATE)
    optimizer = torch.optim.AdamW(dense, lr=RATE, weight_decay=0.02)
    started, seen, steps, next_look = time.process_time(), 0, 0, 60
    while (passed := (time.process_time() - started) / SECONDS) < 1:
        rate = min(passed / WARM, 1) * max(0.02, 1 - passed)
        sparse_optimizer.param_groups[0]["lr"] = TABLE_RATE * rate + 1e-8
        optimizer.param_groups[0]["lr"] = RATE * rate
        of_captions = captions is not None and random.random() < CAPTIONS * max(0, 1 - passed / CAPTIONS_UNTIL)
        *inputs, labels = next(captions if of_captions else labels_batches)
        inputs, labels = [torch.tensor(one) for one in inputs], torch.tensor(labels)
        with torch.autocast("cpu", torch.bfloat16):
            logits = (model.same_picture if of_captions else model)(*inputs).float()
        if of_captions:
            loss = F.binary_cross_entropy_with_logits(logits, labels.float().expand(logits.shape))
        else:
            loss = F.cross_entropy(logits.flatten(0, 1), labels.repeat(len(logits)), label_smoothing=0.05)
            seen += len(labels)
        sparse_optimizer.zero_grad()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(dense, 2)
        sparse_optimizer.step()
        optimizer.step()
        steps += 1
        # The mean touches every row of the tables: not at each step.
        if steps % 8 == 0:
            mean.update_parameters(model)
        if time.process_time() - started > next_look:
            next_look += 120
            score = accuracy(mean.module, dev)
            print(f"{passed:.2f}, {steps} steps, {seen / len(pairs):.2f} epochs, {'captions' if of_captions else 'pairs'} loss {loss.item():.3f}, dev {score:.4f}", flush=True)
    torch.save(mean.module.state_dict(), WORK / "nli.pt")
    print(f"dev {accuracy(mean.module, dev):.4f}", flush=True)


main()
