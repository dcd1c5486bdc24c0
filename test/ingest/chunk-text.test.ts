/** Chunks are exactly the text between their offsets, keep sentences, pages and headings, and leave nothing out. */
import fc from "fast-check";
import t from "tap";
import { type Chunk, chunkText } from "../../src/ingest/chunk/chunk-text.js";
import { type ExtractedText, TextBuilder } from "../../src/ingest/chunk/extracted-text.js";

const word = fc.oneof(
  fc.stringMatching(/^[a-z]{1,12}$/),
  fc.constantFrom("naïve", "東京", "👩‍🚀", "e.g.", "Dr.", "1.5", "\u00a0", "x".repeat(300), "🙂".repeat(90)),
);
const sentence = fc.array(word, { minLength: 1, maxLength: 14 }).map((words) => `${words.join(" ")}.`);
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 6 }).map((sentences) => sentences.join(" "));
const part = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("block" as const), text: paragraph }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("heading" as const), text: sentence, level: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("page" as const), text: fc.constant("") }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("line" as const), text: sentence }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("raw" as const), text: fc.string({ unit: "binary" }) }) },
);
const sizes = fc
  .record({ characters: fc.integer({ min: 50, max: 900 }), share: fc.integer({ min: 0, max: 90 }) })
  .map(({ characters, share }) => ({ characters, overlap: Math.floor((characters * share) / 100) }));

function build(parts: readonly { kind: string; text: string; level?: number }[]): ExtractedText {
  const builder = new TextBuilder();
  let page = 0;
  for (const { kind, text, level } of parts) {
    if (kind === "block") builder.block(text);
    else if (kind === "heading") builder.heading(level! + 1, text);
    else if (kind === "page") builder.page(++page, page % 2 === 0 ? "line" : "sentence");
    else if (kind === "line") builder.line(text);
    else builder.raw(text);
  }
  return builder.finish();
}

/** Marks what chunks hold; what no chunk holds has to be white space. */
function leftOut(text: string, chunks: readonly Chunk[]): string {
  let at = 0;
  let rest = "";
  for (const { start, end } of chunks) {
    if (start > at) rest += text.slice(at, start);
    at = Math.max(at, end);
  }
  return (rest + text.slice(at)).trim();
}

t.test("any text: offsets, sizes, order, nothing lost", async (t) => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), sizes, (parts, sizes) => {
      const extracted = build(parts);
      const chunks = chunkText(extracted, sizes);
      for (const [index, chunk] of chunks.entries()) {
        if (extracted.text.slice(chunk.start, chunk.end) !== chunk.text) return false;
        if (chunk.text.length > sizes.characters || chunk.text.trim() === "") return false;
        if (/\p{Surrogate}/u.test(chunk.text)) return false;
        const before = chunks[index - 1];
        if (before === undefined) continue;
        if (chunk.start <= before.start || chunk.end <= before.end) return false;
        if (before.end - chunk.start > sizes.overlap) return false;
      }
      return leftOut(extracted.text, chunks) === "";
    }),
    { numRuns: 300 },
  );
  t.pass("300 random texts");
});

t.test("sentences stay whole and are repeated as the overlap", async (t) => {
  const sentences = Array.from({ length: 40 }, (_, i) => `This is sentence number ${i} of a long paragraph.`);
  const builder = new TextBuilder();
  builder.block(sentences.join(" "));
  const chunks = chunkText(builder.finish(), { characters: 260, overlap: 60 });
  t.ok(chunks.length > 5);
  for (const { text } of chunks) t.match(text, /^This is sentence .* paragraph\.$/s);
  for (let i = 1; i < chunks.length; i++) {
    const last = chunks[i - 1]!.text.split(/(?<=\.) /).at(-1)!;
    t.ok(chunks[i]!.text.startsWith(last), "begins with the last sentence of the chunk before");
  }
});

t.test("pages and headings are not crossed", async (t) => {
  const builder = new TextBuilder();
  for (const page of [1, 2, 3]) {
    builder.page(page);
    builder.block(`Words of page ${page}, and nothing else.`);
  }
  builder.heading(1, "Guide");
  builder.heading(2, "Install");
  builder.block("Run the command that the table names, then wait until the light is green. ".repeat(2));
  builder.heading(2, "Use");
  builder.block("Press the button and read what the display says about the state of the pump. ".repeat(2));
  const chunks = chunkText(builder.finish(), { characters: 1000, overlap: 100 });
  t.strictSame(
    chunks.map(({ page, heading }) => [page, heading]),
    [
      [1, undefined],
      [2, undefined],
      [3, undefined],
      [3, "Guide > Install"],
      [3, "Guide > Use"],
    ],
  );
  t.match(chunks[3]!.text, /^Guide\n\nInstall\n\nRun/, "a heading of no text goes with what follows");
});

t.test("a chunk ends with a paragraph where that leaves it half full", async (t) => {
  const builder = new TextBuilder();
  const paragraph = (name: string) => `${name} opens here. It has a second sentence. It ends with a third one.`;
  for (const name of ["Alpha", "Beta", "Gamma", "Delta"]) builder.block(paragraph(name));
  const chunks = chunkText(builder.finish(), { characters: 190, overlap: 0 });
  t.strictSame(
    chunks.map(({ text }) => text.split(" ")[0]),
    ["Alpha", "Gamma"],
  );
  t.ok(chunks.every(({ text }) => text.endsWith("third one.")));
});
