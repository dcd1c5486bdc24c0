/**
 * How fast files become chunks, by kind: CPU time of one thread, over the folder of make-folder.ts. OCR is counted
 * apart, since its engine computes in a thread of its own.
 *
 *   node dist/bench/ingest/parse-rates.js [files, 320 unless said] [--ocr]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { releaseImageReader } from "../../src/ingest/image/read-text.js";
import { parseFile } from "../../src/ingest/parse/parse-file.js";
import { DbError } from "../../src/protocol/errors.js";
import { makeFolder } from "./make-folder.js";

interface Sum {
  files: number;
  bytes: number;
  characters: number;
  chunks: number;
  cpuMs: number;
  refused: number;
}

const ocrImages = process.argv.includes("--ocr");
const files = Number(process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? 320);
const directory = mkdtempSync(join(tmpdir(), "tessera-parse-rates-"));
const root = join(directory, "files");
const made = await makeFolder(root, { files });
const sums = new Map<string, Sum>();
const missing: string[] = [];

for (const pass of ["warm", "counted"]) {
  for (const file of made.files) {
    const before = process.cpuUsage();
    const job = { path: join(root, file), root, bytesMax: 64 * 1024 * 1024, timeoutMs: 60_000, thumbnails: true };
    try {
      const parsed = await parseFile({ ...job, ocrImages, chunkCharacters: 1200, overlapCharacters: 150 });
      const { user, system } = process.cpuUsage(before);
      if (pass === "warm") continue;
      const sum = sumOf(parsed.kind);
      sum.files++;
      sum.bytes += parsed.bytes;
      sum.characters += parsed.characters;
      sum.chunks += parsed.chunks.length;
      sum.cpuMs += (user + system) / 1000;
      for (const known of made.passages.filter((passage) => passage.file === file && (ocrImages || !passage.ocr))) {
        const words = known.text.replace(/\s+/g, " ");
        const found = parsed.chunks.some(
          ({ text, page }) =>
            text.replace(/\s+/g, " ").includes(words) && (known.page === undefined || page === known.page),
        );
        if (!found) missing.push(`${file}: ${known.text}`);
      }
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      if (pass === "counted") sumOf(error.code).refused++;
    }
  }
}
await releaseImageReader();
rmSync(directory, { recursive: true });

console.log("kind        files     MB  chunks  files/s CPU  MB/s CPU");
for (const [kind, { files, bytes, chunks, cpuMs, refused }] of [...sums].sort()) {
  const cells = [
    kind.padEnd(10),
    String(files + refused).padStart(6),
    (bytes / 1e6).toFixed(2).padStart(7),
    String(chunks).padStart(7),
    (files / (cpuMs / 1000)).toFixed(0).padStart(12),
    (bytes / 1e6 / (cpuMs / 1000)).toFixed(2).padStart(9),
  ];
  console.log(cells.join(" "));
}
console.log(`known passages not found: ${missing.length} of ${made.passages.length}`);
for (const line of missing.slice(0, 10)) console.log(`  ${line}`);

function sumOf(kind: string): Sum {
  const sum = sums.get(kind) ?? { files: 0, bytes: 0, characters: 0, chunks: 0, cpuMs: 0, refused: 0 };
  sums.set(kind, sum);
  return sum;
}
