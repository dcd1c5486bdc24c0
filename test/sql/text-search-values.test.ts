/** Any text is read or refused with an error of SQL, and what is printed is read back as the same. */
import fc from "fast-check";
import t from "tap";
import { DbError } from "../../src/protocol/errors.js";
import { phraseToTsQuery, plainToTsQuery, webSearchToTsQuery } from "../../src/text/ts-query-input.js";
import { TsVectorBuilder } from "../../src/text/ts-vector-builder.js";
import { compareTsQueries, parseTsQuery, tsQueryFromText, tsQueryOf, tsQueryText } from "../../src/values/ts-query.js";
import { compareTsVectors, tsVectorFromText, tsVectorOf, tsVectorText } from "../../src/values/ts-vector.js";
import { tries } from "../lengths.js";

const sign = fc.constantFrom(..."'\\:,!&|()<>-*\" \t1029ABcdwé😀".split(""), "<->", "<2>", "''", "or", "😀");
const text = fc.oneof(
  fc.array(sign, { maxLength: 24 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 40 }),
);

/** The value, or null when the text is refused as SQL refuses it. */
function attempt(read: (text: string) => string, input: string): string | null {
  try {
    return read(input);
  } catch (error) {
    if (error instanceof DbError) return null;
    throw error;
  }
}

t.test("texts of vectors", async (t) => {
  let read = 0;
  fc.assert(
    fc.property(text, text, (one, other) => {
      const [a, b] = [attempt(tsVectorFromText, one), attempt(tsVectorFromText, other)];
      if (a === null || b === null) return;
      read++;
      if (tsVectorFromText(a) !== a) throw new Error(`${a} is not read back`);
      tsVectorOf("");
      if (tsVectorText(tsVectorOf(a)) !== a) throw new Error(`${a} is not kept`);
      if (Math.sign(compareTsVectors(a, b)) !== -Math.sign(compareTsVectors(b, a))) throw new Error("no order");
    }),
    { numRuns: tries(1000) },
  );
  t.ok(read > 100);
});

t.test("texts of queries", async (t) => {
  let read = 0;
  fc.assert(
    fc.property(text, text, (one, other) => {
      const [a, b] = [attempt(tsQueryFromText, one), attempt(tsQueryFromText, other)];
      for (const make of [plainToTsQuery, phraseToTsQuery, webSearchToTsQuery]) {
        const made = make("english", one);
        if (tsQueryText(tsQueryOf(made)) !== made) throw new Error(`${made} is not kept`);
      }
      const builder = new TsVectorBuilder("simple", () => {});
      builder.add(one);
      if (tsVectorFromText(builder.finish()) !== builder.finish()) throw new Error(`vector of ${one}`);
      if (a === null || b === null) return;
      read++;
      if (tsQueryFromText(a) !== a) throw new Error(`${a} is not read back`);
      if (Math.sign(compareTsQueries(a, b)) !== -Math.sign(compareTsQueries(b, a))) throw new Error("no order");
    }),
    { numRuns: tries(1000) },
  );
  t.ok(read > 100);
});

t.test("what would be too much", async (t) => {
  const nested = `${"(".repeat(100_000)}a`;
  t.throws(() => tsQueryFromText(nested), /too large/);
  t.throws(() => tsQueryFromText(`${"!".repeat(100_000)}a`), /too large/);
  t.throws(() => tsQueryFromText(Array(5000).fill("a").join(" & ")), /too large/);
  t.throws(() => plainToTsQuery("english", "word ".repeat(10_000)), /too large/);
  t.doesNotThrow(() => webSearchToTsQuery("english", `${"-".repeat(1000)}a "${"b ".repeat(500)}"`));
  t.throws(() => tsVectorFromText("x".repeat(3000)), /word is too long/);
  t.throws(
    () => tsVectorFromText(Array.from({ length: 20_000 }, (_, i) => `${"x".repeat(60)}${i}`).join(" ")),
    /too long for tsvector/,
  );
  t.equal(tsVectorFromText(`a:${Array.from({ length: 400 }, (_, i) => i + 1).join()}`).split(",").length, 255);
  t.equal(
    parseTsQuery("", () => ({ kind: "word", word: "x", weights: 0, prefix: false })),
    null,
  );
});

t.test("parsing takes time in proportion to the text", async (t) => {
  for (const piece of [
    "a_",
    "<!-- ",
    "<a '",
    "a-",
    "a.",
    "a@",
    "/a",
    "1.",
    "http://",
    "&a",
    "<?x",
    "~/",
    "a_b@c.",
    "..",
    "1e",
  ]) {
    const builder = new TsVectorBuilder("simple", () => {});
    const start = process.cpuUsage().user;
    try {
      builder.add(piece.repeat(Math.ceil(200_000 / piece.length)));
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
    }
    t.ok(process.cpuUsage().user - start < 3e6, piece);
  }
});
