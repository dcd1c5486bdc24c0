"""Trains the decoder: train.py talk SECONDS, then train.py lessons SECONDS. One thread, bfloat16 products. Writes decoder.pt.

At first mostly general text, then ever more talk, in the end lessons; the second run goes on from the decoder.pt of the first.
Matrices learn by Muon, the rest by Adam; a running mean of weights is what stays.
"""

import json
import sys
import time
from dataclasses import asdict

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from corpus import WORK
from first_table import first_table
from model import Decoder, Shape

STAGE, SECONDS = sys.argv[1], float(sys.argv[2])
SHAPE = Shape(width=320, layers=4, heads=5, kv_heads=1, inner=1280, context=512)
BATCH_TOKENS = 4096
PART = 2048
LENGTHS = (256, 512)
LONG_ONE_IN = 6
# Of batches, the share of general text at the stage's start and end.
GENERAL = {"talk": (0.75, 0.33), "lessons": (0.12, 0.08)}[STAGE]
# Part of the stage, its last, in which rates fall.
COOL = {"talk": 0, "lessons": 0.85}[STAGE]
# What a user says counts this much beside what the assistant says.
PROMPT_WEIGHT = 0.25
MUON_RATE, ADAM_RATE, WARM = 0.02, 1.5e-3, 0.01
DECAY = 0.995
LOOK_SECONDS, SAVE_SECONDS = 60, 240


class Stream:
    """Random windows of a long row of tokens."""

    def __init__(self, ids, counts, generator):
        self.ids, self.counts, self.generator = ids, counts, generator

    def batch(self, rows, length):
        starts = self.generator.integers(0, len(self.ids) - length - 1, rows)
        ids = np.stack([self.ids[at : at + length + 1] for at in starts]).astype(np.int64)
        if self.counts is None:
            return ids, np.ones((rows, length), dtype=np.float32)
        counts = np.stack([self.counts[at + 1 : at + length + 1] for at in starts])
        return ids, np.where(counts > 0, 1, PROMPT_WEIGHT).astype(np.float32)


def loss_of(model, ids, weights):
    logits = model.logits(model(ids[:, :-1]))
    losses = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none").float()
    return (losses * weights.flatten()).sum() / weights.sum()


def rate_at(passed):
    """Up to 1, level, then perhaps down in a straight line."""
    return min(passed / WARM, 1, max(0.02, (1 - passed) / COOL) if COOL > 0 else 1)


def save(model):
    torch.save({"shape": asdict(SHAPE), "state": model.state_dict()}, WORK / "decoder.pt")


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    generator = np.random.default_rng(0)
    general = Stream(np.load(WORK / "general.npy"), None, generator)
    talk = Stream(*np.load(WORK / f"{STAGE}.npy"), generator)
    model = Decoder(SHAPE)
    if STAGE == "talk":
        model.table.weight.data = first_table(Tokenizer.from_file(str(WORK / "tokenizer.json")), SHAPE)
    else:
        model.load_state_dict(torch.load(WORK / "decoder.pt")["state"])
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f} M parameters", flush=True)
    mean = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(DECAY))
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and "table" not in n]
    others = [p for n, p in model.named_parameters() if p.dim() != 2 or "table" in n]
    muon = torch.optim.Muon(matrices, lr=MUON_RATE, momentum=0.95, weight_decay=0.01)
    adam = torch.optim.AdamW(others, lr=ADAM_RATE, betas=(0.85, 0.98), weight_decay=0)
    step_loss = torch.compile(loss_of, dynamic=False)
    started = time.process_time()
    # Compilation does not count against the time that the rates are planned by.
    for length in LENGTHS:
        with torch.autocast("cpu", torch.bfloat16):
            step_loss(model, torch.zeros(PART // length, length + 1, dtype=torch.int64), torch.ones(PART // length, length)).backward()
    print(f"compiled in {time.process_time() - started:.0f} s", flush=True)
    started, steps, tokens, looked, saved, recent = time.process_time(), 0, 0, 0, 0, {}
    while (passed := (time.process_time() - started) / SECONDS) < 1:
        muon.param_groups[0]["lr"], adam.param_groups[0]["lr"] = MUON_RATE * rate_at(passed), ADAM_RATE * rate_at(passed)
        muon.zero_grad(), adam.zero_grad()
        share = GENERAL[0] + (GENERAL[1] - GENERAL[0]) * passed
        length = LENGTHS[int(generator.integers(LONG_ONE_IN) == 0)]
        for _ in range(BATCH_TOKENS // PART):
            name = "general" if generator.random() < share else "talk"
            ids, weights = (general if name == "general" else talk).batch(PART // length, length)
            with torch.autocast("cpu", torch.bfloat16):
                loss = step_loss(model, torch.from_numpy(ids), torch.from_numpy(weights))
            (loss / (BATCH_TOKENS // PART)).backward()
            recent[name] = 0.98 * recent.get(name, loss.item()) + 0.02 * loss.item()
            tokens += PART
        torch.nn.utils.clip_grad_norm_(others, 1.0)
        muon.step(), adam.step()
        mean.update_parameters(model)
        steps += 1
        seconds = time.process_time() - started
        if seconds > looked + LOOK_SECONDS or steps == 20:
            looked = seconds
            said = {name: round(value, 3) for name, value in recent.items()}
            print(f"{passed:.3f}, {steps} steps, {tokens / 1e6:.2f} M tokens, {tokens / seconds:.0f} tokens/s, {json.dumps(said)}", flush=True)
        if seconds > saved + SAVE_SECONDS:
            saved = seconds
            save(mean.module)
    save(mean.module)
    print(f"{steps} steps, {tokens} tokens", flush=True)


main()
