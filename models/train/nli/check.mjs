// Accuracy of the bundle as the server runs it: xz -dc snli-test.jsonl.xz | node check.mjs FOLDER. After `npm run build`.
import { readFileSync } from "node:fs";
import { loadCrossEncoder } from "../../../dist/src/ai/nli/cross-encoder.js";
import { NLI_LABELS } from "../../../dist/src/ai/nli/labels.js";
import { parseManifest } from "../../../dist/src/ai/manifest.js";

const PAIRS_AT_ONCE = 64;

const folder = process.argv[2];
const rows = readFileSync(0, "utf8").trim().split("\n").map(JSON.parse);
const manifest = parseManifest(readFileSync(`${folder}/manifest.json`, "utf8"));
const encoder = await loadCrossEncoder(folder, manifest, 1);
let right = 0;
for (let at = 0; at < rows.length; at += PAIRS_AT_ONCE) {
  const some = rows.slice(at, at + PAIRS_AT_ONCE);
  const { numbers } = await encoder.run(some.map(([premise, hypothesis]) => ({ premise, hypothesis })));
  for (const [i, [, , label]] of some.entries()) {
    const own = [...numbers.subarray(i * encoder.width, i * encoder.width + NLI_LABELS.length)];
    if (NLI_LABELS[own.indexOf(Math.max(...own))] === label) right++;
  }
}
const { user } = process.cpuUsage();
console.log(`accuracy ${(right / rows.length).toFixed(4)} of ${rows.length}, ${(rows.length / (user / 1e6)).toFixed(0)} pairs per CPU second`);
await encoder.release();
