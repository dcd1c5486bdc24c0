/** Bundles are verified to the byte when their model is loaded; a bad one is refused with its reason. */
import { mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { Models } from "../../src/ai/models.js";
import { BUNDLED, editManifest, folder, ID, rootWith } from "./bundle-copies.js";

function modelsIn(...folders: string[]): { models: Models; warnings: string[] } {
  const warnings: string[] = [];
  const warn = (_message: string, fields: object) => void warnings.push(JSON.stringify(fields));
  return { models: new Models({ roots: folders, embeddingModel: ID, warn, inference: null }), warnings };
}

function flipByte(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at]! ^= 1;
  writeFileSync(file, bytes);
}

t.test("a whole bundle is installed, then ready once it was used", async (t) => {
  const { models, warnings } = modelsIn(rootWith(() => undefined));
  t.match(models.list(), [{ name: ID, alias: "default", kind: "embedding", state: "installed", dimensions: 384 }]);
  t.equal(models.embedNow("a text", null, "tenant")?.length, 384);
  t.same(models.embedNow("a text", "default", "tenant"), models.embedNow("a text", ID, "tenant"), "by id and by alias");
  t.match(models.list(), [{ state: "ready", problem: null, lastUsedMs: Number }]);
  t.same(warnings, []);
});

const broken: readonly (readonly [string, (bundle: string) => void, RegExp])[] = [
  ["a changed byte of the table", (b) => flipByte(join(b, "weights.bin"), 5_000_000), /weights.bin was changed/],
  ["a changed byte of the tokenizer", (b) => flipByte(join(b, "tokenizer.json"), 100), /tokenizer.json was changed/],
  ["a half-written file", (b) => truncateSync(join(b, "weights.bin"), 1_000_000), /weights.bin has 1000000 bytes/],
  ["a renamed file", (b) => renameSync(join(b, "weights.bin"), join(b, "weights.old")), /weights.bin is missing/],
  ["a missing file", (b) => rmSync(join(b, "tokenizer.json")), /tokenizer.json is missing/],
  [
    "a folder in place of a file",
    (b) => {
      rmSync(join(b, "weights.bin"));
      mkdirSync(join(b, "weights.bin"));
    },
    /missing/,
  ],
  ["half a manifest", (b) => truncateSync(join(b, "manifest.json"), 200), /manifest.json is not valid JSON/],
  [
    "a manifest without files",
    (b) => editManifest(b, (m) => ({ ...m, files: [] })),
    /manifest.json: files must not be empty/,
  ],
  [
    "a file outside of the bundle",
    (b) => editManifest(b, (m) => ({ ...m, tokenizer: "../tokenizer.json" })),
    /manifest.json: tokenizer must be/,
  ],
  [
    "a file that the manifest does not list",
    (b) => editManifest(b, (m) => ({ ...m, files: m.files.filter(({ name }) => name !== "weights.bin") })),
    /files does not list weights.bin/,
  ],
  [
    "a capability that the server lacks",
    (b) => editManifest(b, (m) => ({ ...m, required_capabilities: ["embedding", "telepathy"] })),
    /lacks: telepathy/,
  ],
  [
    "a table that is too small for its rows",
    (b) => editManifest(b, (m) => ({ ...m, static: { table: "weights.bin", rows: 30_523 } })),
    /does not hold 30523 rows/,
  ],
];

for (const [what, change, reason] of broken) {
  t.test(`${what} is refused`, async (t) => {
    const { models, warnings } = modelsIn(rootWith(change));
    t.throws(() => models.embedNow("a text", null, "tenant"), { code: "model_unavailable", message: reason });
    t.throws(() => models.embedNow("a text", null, "tenant"), { code: "model_unavailable", message: reason });
    t.match(models.list(), [{ name: ID, state: "failed", problem: reason }]);
    t.equal(warnings.length, 1, "told once");
  });
}

t.test("folders without a manifest are none, nor is a missing root", async (t) => {
  const root = join(folder, "others");
  mkdirSync(join(root, "half-written"), { recursive: true });
  writeFileSync(join(root, "half-written", "weights.bin"), "x");
  const { models } = modelsIn(root, join(folder, "nowhere"));
  t.same(models.list(), []);
  t.throws(() => models.embedNow("a text", null, "tenant"), { code: "model_not_found", message: /installed: none/ });
});

t.test("a model has the name that its manifest says, whatever its folder is called", (t) => {
  const root = rootWith((bundle) => renameSync(bundle, `${bundle}-moved`));
  const { models } = modelsIn(root);
  t.match(models.list(), [{ name: ID, state: "installed" }]);
  t.equal(models.embedNow("a text", null, "tenant")?.length, 384);
  t.end();
});

t.test("of two bundles of one name that of the earlier root counts", async (t) => {
  const own = rootWith((bundle) => editManifest(bundle, (manifest) => ({ ...manifest, revision: "own" })));
  const { models } = modelsIn(own, BUNDLED);
  t.match(models.list(), [{ name: ID, revision: "own" }]);
});
