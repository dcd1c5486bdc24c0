/** Pairs as Hugging Face's tokenizers encode and cut them (fixtures/make_fixtures.py). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { longestFirst, PairTokenizer } from "../../../src/ai/nli/pair-tokenizer.js";
import { BUNDLED } from "../bundle-copies.js";
import { FIXTURES, UNIGRAM_TOKENIZER } from "./claim-bundles.js";

interface Golden {
  readonly premise: string;
  readonly hypothesis: string;
  readonly windows: Readonly<Record<string, { readonly ids: number[]; readonly types: number[] }>>;
}

/** The embedding model's vocabulary with BERT's template. */
function wordPiece(): string {
  const file = JSON.parse(readFileSync(join(BUNDLED, "tessera-embed-384", "tokenizer.json"), "utf8")) as {
    model: { vocab: Record<string, number> };
  };
  const place = (token: string) => [token, file.model.vocab[token]];
  return JSON.stringify({
    ...file,
    post_processor: { type: "BertProcessing", sep: place("[SEP]"), cls: place("[CLS]") },
  });
}

const tokenizers = { unigram: UNIGRAM_TOKENIZER, "word-piece": wordPiece() };
for (const [name, json] of Object.entries(tokenizers)) {
  t.test(`pairs of ${name}`, async (t) => {
    const goldens = JSON.parse(readFileSync(join(FIXTURES, `${name}-pairs.json`), "utf8")) as Golden[];
    const windows = Object.keys(goldens[0]!.windows);
    for (const window of windows) {
      const tokenizer = new PairTokenizer(json, Number(window));
      const encoded = tokenizer.encode(goldens);
      for (const [i, golden] of goldens.entries()) {
        const what = `${window}: ${JSON.stringify([golden.premise.slice(0, 30), golden.hypothesis.slice(0, 30)])}`;
        t.same(encoded[i]!.ids, golden.windows[window]!.ids, what);
        t.same(encoded[i]!.types, golden.windows[window]!.types, `types of ${what}`);
      }
    }
  });
}

t.test("the longer text is cut first, the odd token stays with the longer one", async (t) => {
  const cases = [
    [3, 4, 7, 3, 4],
    [3, 4, 6, 3, 3],
    [4, 3, 6, 3, 3],
    [100, 2, 9, 7, 2],
    [2, 100, 9, 2, 7],
    [100, 101, 9, 4, 5],
    [101, 100, 9, 5, 4],
    [100, 100, 9, 4, 5],
    [0, 100, 9, 0, 9],
    [5, 5, 0, 0, 0],
    [5, 5, 1, 0, 1],
  ] as const;
  for (const [first, second, room, ...expected] of cases) {
    t.same(longestFirst(first, second, room), expected, `${first} and ${second} into ${room}`);
  }
});

t.test("a tokenizer without a template for pairs is refused", async (t) => {
  const { post_processor: _, ...without } = JSON.parse(UNIGRAM_TOKENIZER);
  for (const post_processor of [null, { type: "ByteLevel" }]) {
    t.throws(() => new PairTokenizer(JSON.stringify({ ...without, post_processor }), 512), { message: /no template/ });
  }
});
