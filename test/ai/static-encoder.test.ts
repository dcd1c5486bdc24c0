/** The bundled model gives what its Python side gave for the same texts (models/train/embedding/sample.py). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Tokenizer } from "@huggingface/tokenizers";
import fc from "fast-check";
import t from "tap";
import { findBundles, readBundleFile } from "../../src/ai/bundle.js";
import { StaticEncoder } from "../../src/ai/static-encoder.js";
import { TextTokenizer } from "../../src/ai/text-tokenizer.js";
import { innerProduct, norm } from "../../src/values/vector-math.js";

const PROJECT = fileURLToPath(new URL("../../../", import.meta.url));
const { directory, manifest } = findBundles(join(PROJECT, "models")).find((one) => one.manifest?.dimensions === 384)!;

interface Sample {
  readonly text: string;
  readonly ids: readonly number[];
  readonly vector: readonly number[];
}

const samples = JSON.parse(readFileSync(join(PROJECT, "test/ai/tessera-embed-384.json"), "utf8")) as Sample[];
const encoder = StaticEncoder.load(directory, manifest!);

t.test("token ids are those of training", async (t) => {
  const json = readBundleFile(directory, manifest!, manifest!.tokenizer).toString();
  const tokenizer = new TextTokenizer(json, manifest!.max_length);
  for (const { text, ids } of samples) t.same(tokenizer.ids(text), ids, JSON.stringify(text.slice(0, 60)));
});

t.test("texts put together of words have the ids that they have as a whole", async (t) => {
  const json = readBundleFile(directory, manifest!, manifest!.tokenizer).toString();
  const tokenizer = new TextTokenizer(json, 10_000);
  const whole = new Tokenizer(JSON.parse(json), {});
  const character = fc.integer({ min: 0x09, max: 0x7f }).map((code) => String.fromCharCode(code));
  const word = fc.constantFrom("Running", "dogs", "can't", "x1y2", "anti-establishment", "[CLS]", "é", "z".repeat(120));
  const text = fc.array(fc.oneof(character, word, fc.constant(" ")), { maxLength: 60 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, (given) => {
      const { ids } = whole.encode(given, { add_special_tokens: false });
      return JSON.stringify(tokenizer.ids(given)) === JSON.stringify(ids);
    }),
    { numRuns: 2000, seed: 1 },
  );
  t.same(tokenizer.ids("dogs dogs"), whole.encode("dogs dogs", { add_special_tokens: false }).ids);
});

t.test("vectors are those of the ONNX file", async (t) => {
  for (const { text, vector } of samples) {
    const own = encoder.encode(text);
    const worst = Math.max(...vector.map((x, i) => Math.abs(own[i]! - x)));
    t.ok(worst < 2e-6, `${JSON.stringify(text.slice(0, 60))}: ${worst}`);
  }
});

t.test("vectors have length 1 and are the same every time", async (t) => {
  for (const { text } of samples) {
    const vector = encoder.encode(text);
    t.ok(Math.abs(norm(vector) - 1) < 1e-6);
    t.same(encoder.encode(text), vector);
  }
  t.not(encoder.encode("a"), encoder.encode("a"), "a vector belongs to who asked for it");
});

t.test("what means the same is near", async (t) => {
  const likeness = (a: string, b: string) => innerProduct(encoder.encode(a), encoder.encode(b));
  const question = "How do I get my money back?";
  t.ok(likeness(question, "I would like a refund") > likeness(question, "The weather is fine today"));
  t.ok(likeness("A dog is running outside", "A puppy runs in the garden") > 0.5);
});

t.test("a long text costs no more than its beginning", async (t) => {
  const head = "many words of one text ".repeat(200);
  t.same(encoder.encode(head + "x".repeat(10_000_000)), encoder.encode(head + "y".repeat(10_000_000)));
  t.equal(encoder.encode("x".repeat(20_000_000)).length, 384);
});
