"""Makes the training texts: data.py. Writes general.npy, talk.npy and lessons.npy (tokens and which of them count) and held-out.json. 3 minutes.

General text is lines of the corpus. Talk is conversations in the chat template: dialogues of the corpus, and short tasks made
of data with known answers (tasks.py). One text in HELD_OUT_ONE_IN is kept back, by a hash of its beginning.
"""

import hashlib
import json
import random
import re

import numpy as np
from tokenizers import Tokenizer

from corpus import WORK, corpus_lines
from small_talk import small_talk
from tasks import lessons, tasks
from template import ASSISTANT, BOS, END, SYSTEM, USER

HELD_OUT_ONE_IN = 200
ROLES = {"system": SYSTEM, "user": USER, "assistant": ASSISTANT}
# Of the corpus, by line: where its parts end, and which share of each is used.
BOOKS_END, T0_END, TOPICAL_END, DIALOGUES_END, CAPTIONS_END = 335_000, 450_000, 472_000, 484_000, 672_000
SHARES = {"books": 0.12, "t0": 0.5, "dialogues": 0.5, "captions": 0.15, "wikipedia": 0.2}
LINE_CHARACTERS_MAX = 1500
SPEAKER = re.compile(r"^([A-Z][a-z]{1,12}|M|W): (.{2,300})$")
NOT_SPEAKERS = {"Question", "Article", "Context", "Title", "Document", "Bio", "Review", "Answer", "Hint", "Suggestion", "Text", "Options", "Passage"}
TOPICAL_TURNS = (2, 6)


def held_out(text):
    return int.from_bytes(hashlib.sha256(text[:200].encode()).digest()[:4], "big") % HELD_OUT_ONE_IN == 0


def spoken(lines):
    """(Dialogue of alternating turns, summary or None) from lines 'Name: text'."""
    turns, last = [], None
    for line in [*lines, ""]:
        match = SPEAKER.match(line)
        if match and match[1] not in NOT_SPEAKERS:
            if match[1] == last:
                turns[-1] += " " + match[2]
            else:
                turns.append(match[2])
                last = match[1]
        else:
            if len(turns) >= 2:
                yield turns
            turns, last = [], None


def as_messages(turns):
    roles = ("user", "assistant")
    turns = turns[: len(turns) // 2 * 2]
    return [(roles[i % 2], text) for i, text in enumerate(turns)]


def windows(lines):
    """Conversations of the part where each line is a turn of two who talk in turn."""
    at = 0
    while at < len(lines) - 2:
        length = random.randint(*TOPICAL_TURNS)
        yield lines[at : at + length]
        at += max(2, length - 2)


def general(lines):
    """(source, text) of the corpus's parts."""
    parts = {
        "books": lines[:BOOKS_END],
        "t0": lines[BOOKS_END:T0_END],
        "dialogues": lines[TOPICAL_END:DIALOGUES_END],
        "captions": lines[DIALOGUES_END:CAPTIONS_END],
        "wikipedia": lines[CAPTIONS_END : CAPTIONS_END + 30_000],
    }
    for source, part in parts.items():
        # Whole passages, not single lines: neighbours belong together.
        for at in range(0, len(part), 8):
            if random.random() < SHARES[source]:
                passage = "\n".join(line[:LINE_CHARACTERS_MAX] for line in part[at : at + 8])
                yield source, passage


def encoded(tokenizer, messages):
    """Tokens of a conversation, and 1 for those that the model is to write."""
    ids, counts = [BOS], [0]
    for role, text in messages:
        own = tokenizer.encode(text.strip(), add_special_tokens=False).ids
        ids += [ROLES[role], *own, END]
        counts += [0] + [int(role == "assistant")] * (len(own) + 1)
    return ids, counts


def main():
    random.seed(0)
    tokenizer = Tokenizer.from_file(str(WORK / "tokenizer.json"))
    lines = list(corpus_lines())
    kept = {}

    def keep(source, value, text):
        if held_out(text):
            if len(kept.setdefault(source, [])) < 200:
                kept[source].append(value)
            return False
        return True

    texts = [(source, text) for source, text in general(lines) if keep(source, text, text)]
    random.shuffle(texts)
    ids = [BOS]
    counted = {}
    for (source, _), one in zip(texts, tokenizer.encode_batch_fast([text for _, text in texts], add_special_tokens=False)):
        ids += one.ids + [END, BOS]
        counted[source] = counted.get(source, 0) + len(one.ids)
    np.save(WORK / "general.npy", np.array(ids, dtype=np.uint16))
    print("general tokens", counted, flush=True)
    dialogues = [("topical", as_messages(turns)) for turns in windows(lines[T0_END:TOPICAL_END])]
    dialogues += [("dialogue", as_messages(turns)) for turns in spoken(lines[BOOKS_END:T0_END])]
    small = [("small talk", messages) for messages in small_talk()]
    for name, talks in (("talk", [*dialogues, *tasks(lines, BOOKS_END), *small]), ("lessons", [*dialogues[::2], *lessons(lines, BOOKS_END), *small])):
        talks = [(source, messages) for source, messages in talks if source == "small talk" or keep(source, messages, messages[-2][1])]
        random.shuffle(talks)
        ids, counts, counted = [], [], {}
        for source, messages in talks:
            one, count = encoded(tokenizer, messages)
            ids += one
            counts += count
            counted[source] = counted.get(source, 0) + len(one)
        np.save(WORK / f"{name}.npy", np.array([ids, counts], dtype=np.uint16))
        print(name, "tokens", counted, flush=True)
    (WORK / "held-out.json").write_text(json.dumps(kept))


main()
