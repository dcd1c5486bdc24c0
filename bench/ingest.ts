/**
 * A folder of mixed files as a filesystem collection, over HTTP: how fast it is read, whether every file is accounted
 * for and search finds known passages; then random edits, moves and deletes while it runs, with a SIGKILL among them,
 * and whether the collection equals the folder at last.
 *
 *   node dist/bench/ingest.js [files, 320 unless said] [changes, 1000 unless said] [--ocr]
 *
 * Prints what it finds; ends with 1 when something is missing or differs.
 */
import { join } from "node:path";
import { filesOf, ROUTE, TestFolder } from "../test/e2e/filesystem-folder.js";
import { TestServer } from "../test/e2e/server.js";
import { type KnownPassage, makeFolder } from "./ingest/make-folder.js";

const numbers = process.argv.slice(2).filter((word) => /^\d+$/.test(word));
const files = Number(numbers[0] ?? 320);
const changes = Number(numbers[1] ?? 1000);
const ocr = process.argv.includes("--ocr");
const folder = new TestFolder();
// It makes the folder itself.
folder.end();
const made = await makeFolder(folder.root, { files });
const server = await TestServer.start({ TESSERA_FILES_ROOTS: folder.root, TESSERA_FILES_RESCAN_SECONDS: "20" });
let faults = 0;
try {
  const id = await ingest();
  await search(made.passages.filter((passage) => ocr || !passage.ocr));
  await change(id);
} finally {
  await server.stop();
  folder.end();
}
process.exitCode = faults > 0 ? 1 : 0;

function fault(text: string): void {
  faults++;
  console.log(`  FAULT ${text}`);
}

async function ingest(): Promise<string> {
  const started = performance.now();
  const body = { name: "docs", watch_dir: folder.root, ocr_images: ocr };
  const { id, plan } = (await server.expect(201, "POST", ROUTE, body)).body.data;
  await settled(id);
  const seconds = (performance.now() - started) / 1000;
  const { data } = (await server.expect(200, "GET", `${ROUTE}/${id}`)).body;
  const { total, indexed, failed, bytes } = data.files;
  console.log(`plan: ${plan.files} files, ${(plan.bytes / 1e6).toFixed(1)} MB, ${plan.estimated_seconds} s estimated`);
  console.log(
    `read: ${indexed} indexed in ${data.chunk_count} passages, ${failed} set aside, in ${seconds.toFixed(1)} s: ` +
      `${(total / seconds).toFixed(1)} files/s, ${(bytes / 1e6 / seconds).toFixed(2)} MB/s`,
  );
  const known = new Map((await filesOf(server, id)).map((file) => [file.path, file]));
  for (const path of folder.paths()) if (!known.has(path)) fault(`${path} is not accounted for`);
  for (const { path, status, error_code: code, error } of known.values()) {
    if (status === "failed") console.log(`  set aside: ${path} (${code}): ${error}`);
  }
  return id;
}

/** Among the first five of a search for the passage's words: by words alone, and by words and vectors. */
async function search(passages: readonly KnownPassage[]): Promise<void> {
  for (const mode of ["text", "hybrid"]) {
    let first = 0;
    let found = 0;
    for (const { file, text } of passages) {
      const body = { query: text, limit: 5, mode };
      const { documents } = (await server.expect(200, "POST", "/v1/collections/docs/search", body)).body.data;
      const place = documents.findIndex((document: { file: string }) => document.file === file);
      if (place === 0) first++;
      if (place >= 0) found++;
      else if (mode === "text") fault(`not found: ${file}: ${text}`);
    }
    console.log(
      `search (${mode}): of ${passages.length} known passages ${found} are among the first five, ${first} first`,
    );
  }
}

async function change(id: string): Promise<void> {
  const random = (below: number) => Math.floor(Math.random() * below);
  const counts = { edits: 0, moves: 0, deletes: 0, made: 0 };
  const killAt = random(changes);
  const started = performance.now();
  for (let i = 0; i < changes; i++) {
    const paths = folder.paths();
    const path = paths[random(paths.length)];
    const what = random(10);
    if (path === undefined || what < 3) {
      counts.made++;
      folder.put(`made/${i}.txt`, `Made as number ${i}, with the word w${random(1e6)}.`);
    } else if (what < 5) {
      counts.edits++;
      if (/\.(txt|md)$/.test(path)) folder.put(path, `${folder.text(path).slice(0, 5000)}\nEdited as number ${i}.`);
      else folder.put(`${path}.txt`, `Beside ${path}, number ${i}.`);
    } else if (what < 8) {
      counts.moves++;
      folder.move(path, join("moved", String(random(10)), `${i}-${path.split("/").at(-1)}`));
    } else {
      counts.deletes++;
      folder.remove(path);
    }
    if (i === killAt) {
      await server.kill();
      await server.boot();
    } else if (random(8) === 0) await new Promise((resolve) => setTimeout(resolve, random(40)));
  }
  const changedIn = (performance.now() - started) / 1000;
  const left = await equal(id);
  const seconds = (performance.now() - started) / 1000;
  const { made: added, edits, moves, deletes } = counts;
  console.log(
    `changed: ${added} made, ${edits} edited, ${moves} moved, ${deletes} deleted in ${changedIn.toFixed(1)} s with a SIGKILL after ${killAt}; ` +
      `the collection ${left.length === 0 ? "equals the folder" : "DIFFERS"} after ${seconds.toFixed(1)} s`,
  );
  for (const line of left.slice(0, 20)) fault(line);
}

async function settled(id: string): Promise<void> {
  for (;;) {
    const { status, last_scan_at: scanned } = (await server.expect(200, "GET", `${ROUTE}/${id}`)).body.data;
    if (status === "ready" && scanned !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** By paths, digests, and texts of short text files; what was set aside has to be there, too. Within ten minutes. */
async function equal(id: string): Promise<string[]> {
  const end = Date.now() + 600_000;
  for (;;) {
    await settled(id);
    const left = await differencesNow(id);
    if (left.length === 0 || Date.now() > end) return left;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function differencesNow(id: string): Promise<string[]> {
  const left: string[] = [];
  const known = new Map((await filesOf(server, id)).map((file) => [file.path, file]));
  const sql = "SELECT file, count(*), min(text) FROM docs GROUP BY file";
  const { rows } = (await server.expect(200, "POST", "/v1/query/execute", { sql, max_rows: 1_000_000 })).body.data;
  const passages = new Map<string, [number, string]>(
    (rows as [string, number, string][]).map(([file, count, text]) => [file, [count, text]]),
  );
  for (const path of folder.paths()) {
    const file = known.get(path);
    known.delete(path);
    const [count, text] = passages.get(path) ?? [0, ""];
    passages.delete(path);
    if (file === undefined) left.push(`${path} is missing`);
    else if (file.chunk_count !== count)
      left.push(`${path} has ${count} passages, its record says ${file.chunk_count}`);
    else if (file.status === "indexed" && file.hash !== folder.digest(path)) left.push(`${path} has another content`);
    else if (file.status !== "indexed" && file.status !== "failed") left.push(`${path} is ${file.status}`);
    else if (path.startsWith("made/") && text !== folder.text(path)) left.push(`${path} has another text`);
  }
  for (const path of [...known.keys(), ...passages.keys()]) left.push(`${path} is not in the folder`);
  return left;
}
