/**
 * Waits for edits and then checks the types and runs the affected tests: those that import an edited file, directly or
 * through others, nearest first. `make watch` runs it. FILES says how many tests run at most after an edit (default:
 * 8). Tests that start the server import nothing of it and run only when they are edited themselves.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { watch } from "chokidar";
import { buildChanged, outputOf, sourceFiles } from "./build.mjs";

const FILES_MAX = Number(process.env.FILES ?? 8);
/** An editor may write a file in several steps, and a branch many files. */
const QUIET_MS = 100;
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*|new URL\(\s*)"(\.{1,2}\/[^"]+\.js)"/g;

/** Compiled file → the compiled files that it imports. */
const imports = new Map();
let running = [];
let timer = null;

await buildChanged();
for (const source of sourceFiles()) readImports(outputOf(source));
console.log(`watching ${imports.size} files`);
watch(["src", "workers", "test", "bench"], { ignoreInitial: true, ignored: /node_modules/ }).on("all", (_, path) => {
  if (!path.endsWith(".ts") || path.endsWith(".found.ts")) return;
  clearTimeout(timer);
  timer = setTimeout(run, QUIET_MS);
});

async function run() {
  stopRunning();
  const startMs = performance.now();
  let changed;
  try {
    changed = await buildChanged({ keepsCode: false });
  } catch (error) {
    console.log(error.message);
    return;
  }
  if (changed.length === 0) return;
  for (const source of changed) readImports(outputOf(source));
  const affected = affectedTests(changed.map(outputOf));
  const now = affected.slice(0, FILES_MAX);
  const rest = affected.length - now.length;
  console.log(`\n${changed.join(" ")}: ${affected.length} tests${rest > 0 ? `, the nearest ${now.length} run` : ""}`);
  const children = [start("types", ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json", "--noEmit"])];
  if (now.length > 0) children.push(start("tests", ["scripts/run-tests.mjs", ...now]));
  running = children.map(({ child }) => child);
  const ended = await Promise.all(children.map(async ({ name, end }) => ({ name, ...(await end) })));
  if (ended.some(({ signal }) => signal !== null)) return;
  const text = ended.map(({ name, code, seconds }) => `${name} ${code === 0 ? "ok" : "FAILED"} (${seconds} s)`);
  console.log(`${text.join(", ")}; ${((performance.now() - startMs) / 1000).toFixed(1)} s after the edit`);
}

function start(name, args) {
  const startMs = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  const end = once(child, "exit").then(([code, signal]) => {
    return { code, signal, seconds: ((performance.now() - startMs) / 1000).toFixed(1) };
  });
  return { name, child, end };
}

/** A new edit makes the results of the last one worthless. */
function stopRunning() {
  for (const child of running) if (child.exitCode === null) child.kill("SIGTERM");
  running = [];
}

function readImports(file) {
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    imports.delete(file); // its source was removed
    return;
  }
  imports.set(file, new Set([...text.matchAll(IMPORT)].map(([, path]) => relative(".", join(dirname(file), path)))));
}

/** In the order of their distance from the edited files. */
function affectedTests(edited) {
  const importers = new Map();
  for (const [file, imported] of imports) {
    for (const path of imported) importers.set(path, [...(importers.get(path) ?? []), file]);
  }
  const seen = new Set(edited);
  for (const file of seen) for (const importer of importers.get(file) ?? []) seen.add(importer);
  return [...seen].filter((file) => file.endsWith(".test.js"));
}
