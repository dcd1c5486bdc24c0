/**
 * Runs the compiled tests and ends with the line "N passed, N failed". Called by `make test`; arguments are test files
 * or folders (default: all). TIMES=1 prints the CPU and wall time of each file, longest first, and RECORD=1 also writes
 * the wall times to scripts/test-seconds.json, from which scripts/test-plan.mjs makes its plan.
 *
 * Each process gets a temporary folder of its own. What its tests leave there is a failure.
 *
 * tap's own runner is not used: it has every process that a test starts load its hooks, with which a server takes three
 * times as much CPU to start.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { Parser } from "tap-parser";
import { bundleTests } from "./bundle.mjs";
import { END_OF_FILE, groupsOf, RECORDED, sourceOf, testFiles } from "./test-plan.mjs";

const JOBS = 3;
/**
 * After so long in a file tap ends the process, with a word on the test that hung; one that does not even do that is
 * killed.
 */
const FILE_SECONDS = Number(process.env.FILE_SECONDS ?? 300);
const KILL_SECONDS = FILE_SECONDS + 30;
/**
 * V8 optimizes a function when it has run for longer than usual. Most of a test's code runs a few times: V8's compiler
 * took a fifth of the CPU time of tests, and a sixth of that of the servers that they start. `make turns` measures what
 * users have.
 */
const OPTIMIZES_LATER = process.env.TURN_MS === undefined;
/**
 * Calls of code that is not optimized take more of the stack, of which node gives 984 KB. The parser of answers that
 * `fetch` uses is WebAssembly: after a few answers V8 would take a tenth of a second to optimize it.
 */
const V8_FLAGS = OPTIMIZES_LATER
  ? ["--interrupt-budget=1000000", "--stack-size=1500", "--wasm-tiering-budget=1000000000"]
  : [];
const SERVER_HOOK = new URL("optimize-later.cjs", import.meta.url).pathname;
/** Read by test/e2e/server.ts. In quotes, since the path may have spaces. */
const SERVER_OPTIONS = OPTIMIZES_LATER ? { TEST_SERVER_OPTIONS: `--require ${JSON.stringify(SERVER_HOOK)}` } : {};

/** With further certificates each node of a test reads all that it trusts at its start: a third of that start. */
const { NODE_EXTRA_CA_CERTS: _, ...SURROUNDINGS } = process.env;

const names = process.argv.slice(2);
/** For a few files it takes longer to make the bundle than to do without. */
const isBundled = names.length === 0 || process.env.BUNDLED === "1";
let groups;
try {
  const files = testFiles(names);
  groups = groupsOf(files);
  if (isBundled) await bundleTests(files.map(sourceOf));
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const temporary = mkdtempSync(join(tmpdir(), "tessera-tests-"));
// Some tests run PostgreSQL as another user, below it.
chmodSync(temporary, 0o755);
const running = new Set();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

const counts = { pass: 0, fail: 0, skip: 0, todo: 0 };
const times = [];
let started = 0;
await Promise.all(Array.from({ length: JOBS }, runGroups));
if (process.env.TIMES === "1") printTimes();
if (process.env.RECORD === "1") recordTimes();
const skipped = counts.skip + counts.todo;
console.log(`${counts.pass} passed, ${counts.fail} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = counts.fail === 0 && counts.pass > 0 ? 0 : 1;

async function runGroups() {
  for (let files = groups.shift(); files !== undefined; files = groups.shift()) await runGroup(files);
}

/** Each file gets a line; a group with a failure prints everything before. */
async function runGroup(files) {
  const folder = join(temporary, String(++started));
  mkdirSync(folder);
  const child = spawn(process.execPath, ["--enable-source-maps", ...V8_FLAGS, "scripts/test-group.mjs", ...files], {
    env: {
      ORT_DISABLE_TELEMETRY: "1",
      ...SURROUNDINGS,
      ...SERVER_OPTIONS,
      TMPDIR: folder,
      TAP_TIMEOUT: String(FILE_SECONDS),
      BUNDLED: isBundled ? "1" : "0",
    },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  running.add(child);
  const printed = [];
  const parser = new Parser();
  let failed = 0;
  for (const kind of Object.keys(counts)) {
    parser.on(kind, ({ name }) => {
      if (kind !== "pass" || !name.startsWith(END_OF_FILE)) counts[kind]++;
    });
  }
  const failedFiles = new Set();
  let isFailed = false;
  parser.on("assert", ({ ok, name }) => {
    if (!ok) {
      failed++;
      isFailed = true;
    }
    if (!name.startsWith(END_OF_FILE)) return;
    if (isFailed) failedFiles.add(name.slice(END_OF_FILE.length));
    isFailed = false;
  });
  child.stdout.on("data", (data) => {
    printed.push(data);
    parser.write(data);
  });
  child.stderr.on("data", (data) => printed.push(data));
  const finished = new Map();
  createInterface({ input: child.stdio[3] }).on("line", (line) => {
    const { file, cpu, wall } = JSON.parse(line);
    const before = finished.get(file) ?? { cpu: 0, wall: 0 };
    finished.set(file, { file, cpu: before.cpu + cpu, wall: before.wall + wall });
    timer.refresh();
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), KILL_SECONDS * 1000);
  const [code, signal] = await once(child, "close");
  clearTimeout(timer);
  running.delete(child);
  parser.end();
  times.push(...finished.values());
  const hasPassed = parser.results.ok && code === 0 && finished.size === files.length;
  // A process may fail without a failed test: it threw, was killed, or ended before its plan did.
  if (!hasPassed && failed === 0) counts.fail++;
  if (!hasPassed) process.stdout.write(Buffer.concat(printed));
  for (const file of files) {
    const time = finished.get(file);
    const end = time === undefined || failedFiles.has(file) ? "not ok" : "ok";
    console.log(`${end} - ${file}${time === undefined ? "" : ` # ${timeText(time)}`}`);
  }
  if (!hasPassed) console.log(`not ok - the process ended with ${signal ?? `exit code ${code}`}`);
  const left = readdirSync(folder);
  if (left.length > 0) {
    counts.fail++;
    console.log(`not ok - a test of these left ${left.join(", ")} in the temporary folder`);
  }
}

function timeText({ cpu, wall }) {
  return `cpu=${cpu.toFixed(2)}s wall=${wall.toFixed(2)}s`;
}

function printTimes() {
  times.sort((a, b) => b.cpu - a.cpu);
  for (const time of times) console.log(`# ${timeText(time)} ${time.file}`);
  console.log(`# ${times.reduce((sum, { cpu }) => sum + cpu, 0).toFixed(0)} CPU seconds in ${times.length} files`);
}

function recordTimes() {
  const seconds = JSON.parse(readFileSync(RECORDED, "utf8"));
  for (const { file, wall } of times)
    seconds[relative("dist/test", file).replace(/\.js$/, "")] = Number(wall.toFixed(1));
  writeFileSync(RECORDED, `${JSON.stringify(Object.fromEntries(Object.entries(seconds).sort()), null, 2)}\n`);
}
