"""Short tasks with known answers: definitions, opposites, paraphrases, sentences about a thing, answers from a passage, summaries,
sums. tasks() is wide, lessons() narrow: common words, each some times, and much that is to be copied. Both give (kind, messages)
and are used by data.py."""

import collections
import random
import re

from corpus import rows
from wordnet import antonyms, first_meanings, kinds

DEFINE = [
    "What is {a}?", "What is {a}?", "What does {w} mean?", "Define {w}.", "Define the word {w}.", "Explain what {a} is.",
    "Tell me what {a} is.", "What's {a}?", "Can you explain {w}?", "What is the meaning of {w}?",
]  # fmt: skip
OPPOSITE = ["What is the opposite of {w}?", "Give me the opposite of {w}.", "Name a word that means the opposite of {w}.", "The opposite of {w}?"]
KIND = ["What kind of thing is {a}?", "What is {a} an example of?", "Which group does {a} belong to?"]
REPHRASE = ["Say this in other words: {t}", "Rephrase: {t}", "Paraphrase this sentence: {t}", "Rewrite this sentence: {t}", "Write this differently: {t}"]
SPLIT = ["Split this into shorter sentences: {t}", "Make this easier to read: {t}", "Rewrite this as two sentences: {t}", "Simplify: {t}"]
ABOUT = ["Write a sentence about {a}.", "Write one sentence about {a}.", "Describe a scene with {a}.", "Make up a sentence with the word {w}.", "Tell me something about {a} in a picture."]
HEADLINE = ["Write a headline about {w}.", "Give me a news headline with the word {w}."]
FOLLOWS = ["{p} What follows from this?", "Read this: {p} What can you say for sure?", "{p} So what is true?"]
CHECK = ["{p} Is it true that: {h}", "Text: {p}\nQuestion: is this right? {h}", "{p}\nDoes this follow? {h}"]
FROM_PASSAGE = ["{c}\n\nQuestion: {q}", "Context:\n{c}\n\n{q}", "Use the text to answer.\n\n{c}\n\n{q}", "Passages:\n{c}\n\nAnswer from the passages. {q}", "{q}\n\n{c}"]
SUMMARIZE = ["Summarize this conversation:\n{t}", "Write a summary of this dialogue:\n{t}", "{t}\n\nSum this up in a sentence.", "Summarize: {t}"]
STORY = ["Tell me a story.", "Tell me a short story.", "Can you tell me a story?", "Write a short story.", "Begin a story.", "I'd like to hear a story."]
SYSTEMS = ["You are a helpful assistant.", "You are a friendly assistant.", "Answer briefly.", "You are Tessera, a small assistant.", "Be short and clear."]
REPEAT = ["Repeat: {t}", "Say: {t}", "Repeat after me: {t}", "Write this again: {t}", "Copy this text: {t}"]
COMMON_MIN = 500
SUMMARY_ASKED = re.compile(r"(summary|Sum up|summarize)", re.I)
STORY_BEGINS = re.compile(r"^(Once upon a time|There was once|Once there was|There once|One day|One morning|One evening|Long ago|A long time ago|In the old days|An? [A-Z]?[a-z]+ once)")
STORY_CHARACTERS = (150, 700)


def article(word):
    return ("an " if word[0] in "aeiouAEIOU" else "a ") + word


def talk(question, answer):
    """Sometimes with a system prompt."""
    messages = [("user", question), ("assistant", answer)]
    return [("system", random.choice(SYSTEMS)), *messages] if random.random() < 0.25 else messages


def sentence(text):
    text = text.strip().replace(" ,", ",").replace(" .", ".")
    text = text[0].upper() + text[1:]
    return text if text[-1] in ".!?\"" else text + "."


def definitions():
    """(word, definition) of WordNet, proper names and plain words, nothing long."""
    for source, group in rows("positive-groups"):
        if source == "wn" and len(group) == 2 and len(group[0]) < 60 and 12 < len(group[1]) < 160:
            word = group[0].split(",")[0].strip()
            if re.fullmatch(r"[A-Za-z][A-Za-z' -]*", word):
                yield word, re.sub(r"^\([^)]*\) ", "", group[1])


def defined(word, gloss):
    """An answer of one sentence."""
    if word[0].isupper():
        return sentence(f"{word} is {gloss}")
    if re.match(r"(a|an|the|any|one|something|someone|some|that|those)\b", gloss):
        return sentence(f"{article(word)} is {gloss}") if re.match(r"(a|an|any|one|someone)\b", gloss) else sentence(f"{word} is {gloss}")
    return sentence(f"{word} means: {gloss}")


def asked(word):
    return random.choice(DEFINE).format(a=word if word[0].isupper() or random.random() < 0.2 else article(word), w=word)


def of_definitions():
    found = list(definitions())
    for word, gloss in found:
        if random.random() < 0.6:
            yield "define", talk(asked(word), defined(word, gloss))
        match = re.match(r"(?:the )?capital(?: and largest city)? of (?:the )?([A-Z][A-Za-z ]+)", gloss)
        if match:
            place = match[1].strip()
            for question in ("What is the capital of {}?", "Capital of {}?", "Which city is the capital of {}?", "Tell me the capital of {}."):
                yield "capital", talk(question.format(place), f"The capital of {place} is {word}.")
    # From passages: some definitions, a question about one of them, its answer as it stands there.
    for _ in range(26_000):
        some = random.sample(found, random.randint(1, 4))
        word, gloss = random.choice(some)
        form = random.choice(["{n}{w}: {g}", "{n}{d}", "{n}{d}"])
        number = random.random() < 0.5
        passages = "\n".join(form.format(n=f"[{i + 1}] " if number else "", w=w, g=g, d=defined(w, g)) for i, (w, g) in enumerate(some))
        yield "passage", talk(random.choice(FROM_PASSAGE).format(c=passages, q=asked(word)), defined(word, gloss))


def of_groups():
    subjects = {}
    for source, group in rows("positive-groups"):
        if source in ("cap", "cap8") and random.random() < 0.5:
            a, b = random.sample(group, 2)
            if random.random() < 0.3:
                yield "rephrase", talk(random.choice(REPHRASE).format(t=sentence(a)), sentence(b))
            words = [word for word in re.findall(r"[a-z]{3,}", b.lower())]
            word = random.choice(words) if words else None
            if word and subjects.setdefault(word, 0) < 60:
                subjects[word] += 1
                yield "sentence", talk(random.choice(ABOUT).format(a=article(word), w=word), sentence(b))
        elif source in ("msrp", "qqp"):
            yield "rephrase", talk(random.choice(REPHRASE).format(t=group[0]), group[1])
        elif source == "wsplit" and len(group[0]) < 200:
            yield "split", talk(random.choice(SPLIT).format(t=group[0]), group[1])


def of_inference():
    verdicts = {"entailment": ["Yes."], "contradiction": ["No."], "neutral": ["It does not say.", "Maybe."]}
    for source, premise, hypothesis, label in rows("nli-train"):
        if source in ("snli-dev", "cad") and len(premise) < 200:
            premise, hypothesis = sentence(premise), sentence(hypothesis)
            yield "check", talk(random.choice(CHECK).format(p=premise, h=hypothesis), random.choice(verdicts[label]))
            if label == "entailment":
                yield "follows", talk(random.choice(FOLLOWS).format(p=premise), hypothesis)


def of_words():
    for word, other in antonyms():
        for question in random.sample(OPPOSITE, 2):
            yield "opposite", talk(question.format(w=word), sentence(f"the opposite of {word} is {other}"))
    for word, kind in kinds():
        yield "kind", talk(random.choice(KIND).format(a=article(word)), sentence(f"{article(word)} is a kind of {kind}"))


def of_lines(lines, books_end):
    """Summaries of conversations, and stories, these of books only."""
    name = re.compile(r"^[A-Z][a-z]{1,12}: ")
    for i, line in enumerate(lines[:-2]):
        if SUMMARY_ASKED.search(line) and len(line) < 80:
            start = i
            while start > 0 and name.match(lines[start - 1]):
                start -= 1
            if i - start >= 3 and len(lines[i + 1]) < 250 and not name.match(lines[i + 1]):
                text = "\n".join(lines[start:i])
                if len(text) < 1200:
                    for question in random.sample(SUMMARIZE, 2):
                        yield "summary", talk(question.format(t=text), lines[i + 1])
        elif i < books_end and STORY_BEGINS.match(line) and len(line) > STORY_CHARACTERS[0]:
            text = line if len(line) < STORY_CHARACTERS[1] else line[: line.rfind(". ", 0, STORY_CHARACTERS[1]) + 1]
            if len(text) > STORY_CHARACTERS[0]:
                yield "story", talk(random.choice(STORY), text)


def sums():
    for a in range(21):
        for b in range(21):
            yield "sum", talk(random.choice(["What is {} + {}?", "{} + {} = ?", "What is {} plus {}?"]).format(a, b), f"{a} + {b} = {a + b}.")
            if a >= b:
                yield "sum", talk(random.choice(["What is {} - {}?", "{} - {} = ?", "What is {} minus {}?"]).format(a, b), f"{a} - {b} = {a - b}.")


def tasks(lines, books_end):
    for makers in (of_definitions(), of_groups(), of_inference(), of_words(), of_lines(lines, books_end), sums(), sums()):
        yield from makers


def common_words(lines):
    """How often each word stands in every tenth line, of those that are common."""
    counts = collections.Counter(word for line in lines[::10] for word in re.findall(r"[a-z]{3,}", line))
    return {word: count for word, count in counts.items() if count * 10 >= COMMON_MIN}


def of_common_words(common):
    for word, (part, gloss, above) in first_meanings().items():
        if word not in common or not 8 < len(gloss) < 110:
            continue
        plain = re.match(r"(an?|the|any|one|someone|something|that|those)\b", gloss)
        if part == "noun":
            answer = f"{article(word)} is {gloss}" if plain else f"{word} is {gloss}"
        elif part == "verb":
            answer = f"to {word} means to {gloss}"
        else:
            answer = f"{word} means {gloss}"
        for form in random.sample(DEFINE, 8 if part == "noun" else 3):
            yield "define", talk(form.format(a=article(word) if part == "noun" else word, w=word), sentence(answer))
        if above and above.replace(" ", "").isalpha():
            for form in KIND:
                yield "kind", talk(form.format(a=article(word)), sentence(f"{article(word)} is a kind of {above}"))


def of_copying(common):
    words = sorted(common)
    for _ in range(24_000):
        text = " ".join(random.sample(words, random.randint(2, 10)))
        yield "repeat", talk(random.choice(REPEAT).format(t=text), text)
    # Words that mean nothing, so that only the text can tell.
    parts = ["zor", "bel", "qui", "nt", "mar", "lo", "ve", "tam", "fri", "gle", "po", "sun", "dra", "ke", "wim", "bo", "ra", "ti", "lux", "en"]
    glosses = [gloss for _, (part, gloss, _) in first_meanings().items() if part == "noun" and 15 < len(gloss) < 80 and re.match("an? ", gloss)]
    for _ in range(16_000):
        some = [("".join(random.sample(parts, random.randint(2, 3))), random.choice(glosses)) for _ in range(random.randint(1, 3))]
        word, gloss = random.choice(some)
        number = random.random() < 0.5
        texts = [f"[{i + 1}] " * number + random.choice([f"{w}: {g}", defined(w, g), defined(w, g)]) for i, (w, g) in enumerate(some)]
        question = random.choice(["What is {a}?", "What is {a}?", "Define {w}.", "What does {w} mean?"]).format(a=article(word), w=word)
        yield "passage", talk(random.choice(FROM_PASSAGE).format(c="\n".join(texts), q=question), defined(word, gloss))


def of_common_pairs(common):
    for word, other in antonyms():
        if word in common and other in common:
            for form in OPPOSITE:
                yield "opposite", talk(form.format(w=word), sentence(f"the opposite of {word} is {other}"))


def lessons(lines, books_end):
    common = common_words(lines)
    yield from of_common_words(common)
    yield from of_copying(common)
    yield from of_common_pairs(common)
    shares = {"sentence": 0.8, "rephrase": 0.6, "split": 0.15, "follows": 0.6, "check": 0.25, "passage": 0.15, "capital": 1}
    for kind, messages in [*of_groups(), *of_inference(), *of_definitions()]:
        if random.random() < shares.get(kind, 0):
            for _ in range(4 if kind == "capital" else 1):
                yield kind, messages
    for _ in range(2):
        yield from of_lines(lines, books_end)
    for _ in range(3):
        yield from sums()
