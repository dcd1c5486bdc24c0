/** The folder that benches and tests ingest: the same for a seed, and its known passages stand where it says. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { makeFolder } from "../../bench/ingest/make-folder.js";
import { ingestFolder } from "./ingest-folder.js";

t.test("known passages are found in their files, on their pages", async (t) => {
  const folder = ingestFolder(t);
  const made = await makeFolder(join(folder.path, "a"), { files: 60, seed: 7 });
  const again = await makeFolder(join(folder.path, "b"), { files: 60, seed: 7 });
  t.equal(made.files.length, 60);
  t.strictSame(again.files, made.files);
  t.strictSame(again.passages, made.passages);
  for (const file of made.files.filter((file) => /\.(md|csv|json|eml|png|txt|html)$/.test(file))) {
    const [a, b] = ["a", "b"].map((name) => readFileSync(join(folder.path, name, file)));
    if (!a!.equals(b!)) t.fail(`${file} differs`);
  }
  t.ok(new Set(made.passages.map(({ text }) => text)).size === made.passages.length, "no two alike");
  for (const { file, text, page, ocr } of made.passages) {
    const { chunks } = await folder.parse(join("a", file), { chunkCharacters: 1500, ocrImages: false });
    const chunk = chunks.find((chunk) => chunk.text.replace(/\s+/g, " ").includes(text));
    if (ocr) t.equal(chunk, undefined, `${file} has words to see, not to read`);
    else t.ok(chunk !== undefined && (page === undefined || chunk.page === page), `${file}: ${text}`);
  }
});
