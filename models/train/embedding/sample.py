"""Writes what a bundle gives for some texts, for the server's tests: sample.py FOLDER > test/ai/tessera-embed-384.json"""

import json
import sys

TEXTS = [
    "",
    " ",
    "hello world",
    "A dog runs in the park.",
    "héllo Wörld, naïve café: Ångström İstanbul ẞ",
    "can't won't — “quotes” … $5.00 50% (a/b) x_y #1 @me",
    "ΣΟΦΟΣ ΣΕΙΡΑ ς",
    "日本語のテキスト and 한국어",
    "русский текст",
    "emoji 😀 ok 👩‍👩‍👧",
    "tab\tnew\nline\r\x00null\u200bzero\ufeff\u00a0wide\u3000",
    "ﬁ ligature ½ ² e\u0301",
    "[CLS] hello [SEP] [MASK] [UNK] [PAD]",
    "x" * 99 + " " + "x" * 101,
    "antidisestablishmentarianism deoxyribonucleic",
    "the quick brown fox jumps over the lazy dog " * 100,
]
SHOWN = 16


def main():
    from evaluate import encode, manifest, tokenizer

    tokens_max = manifest["max_length"]
    rows = []
    for text in TEXTS:
        ids = tokenizer.encode(text, add_special_tokens=False).ids[:tokens_max]
        vector = [round(float(x), 6) for x in encode([text])[0][:SHOWN]]
        rows.append({"text": text, "ids": ids, "vector": vector})
    sys.stdout.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


main()
