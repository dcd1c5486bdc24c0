/**
 * Runs the compiled tests, a process a file, and ends with the line "N passed, N failed". Called by `make test`; arguments are
 * test files (default: all). Tests that start a server start the bundle, so it is made anew first.
 *
 * tap's own runner is not used: it has every process that a test starts load its hooks, with which a server takes three times
 * as much CPU to start.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Parser } from "tap-parser";
import { bundle } from "./bundle.mjs";

const JOBS = 3;
/** After so long tap ends a file, with a word on the test that hung; a file that does not even do that is killed. */
const FILE_SECONDS = 300;
const KILL_SECONDS = FILE_SECONDS + 30;

await bundle();
const all = readdirSync("dist/test", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".test.js"));
const files = process.argv.length > 2 ? process.argv.slice(2) : all.sort().map((file) => join("dist/test", file));
const running = new Set();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

const counts = { pass: 0, fail: 0, skip: 0, todo: 0 };
await Promise.all(Array.from({ length: JOBS }, runFiles));
const skipped = counts.skip + counts.todo;
console.log(`${counts.pass} passed, ${counts.fail} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = counts.fail === 0 && counts.pass > 0 ? 0 : 1;

async function runFiles() {
  for (let file = files.shift(); file !== undefined; file = files.shift()) await runFile(file);
}

/** Passed files get a line each, failed ones everything they printed. */
async function runFile(file) {
  const startMs = performance.now();
  const child = spawn(process.execPath, ["--enable-source-maps", file], {
    env: { ...process.env, TAP_TIMEOUT: String(FILE_SECONDS) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  const printed = [];
  const parser = new Parser();
  let failed = 0;
  for (const kind of Object.keys(counts)) parser.on(kind, () => counts[kind]++);
  parser.on("fail", () => failed++);
  child.stdout.on("data", (data) => {
    printed.push(data);
    parser.write(data);
  });
  child.stderr.on("data", (data) => printed.push(data));
  const timer = setTimeout(() => child.kill("SIGKILL"), KILL_SECONDS * 1000);
  const [code, signal] = await once(child, "close");
  clearTimeout(timer);
  running.delete(child);
  parser.end();
  const hasPassed = parser.results.ok && code === 0;
  // A file may fail without a failed test: it threw, was killed, or ended before its plan did.
  if (!hasPassed && failed === 0) counts.fail++;
  if (!hasPassed) process.stdout.write(Buffer.concat(printed));
  const end = hasPassed ? "ok" : `not ok (${signal ?? `exit code ${code}`})`;
  console.log(`${end} - ${file} # time=${Math.round(performance.now() - startMs)}ms`);
}
