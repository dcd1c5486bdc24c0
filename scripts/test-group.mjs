/**
 * Runs test files one after another in this process, so that tap and the modules under test are loaded once. Called by
 * scripts/run-tests.mjs, which reads lines of JSON about finished files from the file descriptor 3.
 */
import asyncHooks from "node:async_hooks";
import { readdirSync, readFileSync, writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { bundledTest, END_OF_FILE } from "./test-plan.mjs";

/** Of random inputs. */
const SEED = 20_261_130;
/** Linux counts CPU time in ticks of a hundredth of a second. */
const TICKS_PER_SECOND = 100;

// Tests see the command line of a file that runs by itself.
const files = process.argv.splice(2);
const { default: t } = await importTap();
await compareFast();
await tryTheSame();
const isBundled = process.env.BUNDLED === "1";
delete process.env.BUNDLED;
let cpuBefore = 0;
let cleanups = [];
// tap itself would run these at the end of the process, and would end the process as soon as a file's tests are done.
t.teardown = (cleanup) => cleanups.unshift(cleanup);

for (const file of files) {
  const startMs = performance.now();
  t.setTimeout(Number(process.env.TAP_TIMEOUT) * 1000); // counts from now
  // tap would name the folder after this script, and the groups beside this one would empty it.
  t.testdirName = resolve(".tap/fixtures", file.replaceAll(/[^\w.-]+/g, "-"));
  await import(pathToFileURL(resolve(isBundled ? bundledTest(file) : file)));
  await t.test(END_OF_FILE + file, cleanUp);
  report(file, (performance.now() - startMs) / 1000);
}
// What a shared server does at its end is the last file's.
process.on("exit", () => report(files.at(-1), 0));

/**
 * With tap's hooks Node.js tells of each promise that begins and of each that is gone: some 7 % of the CPU time of
 * tests that start no server. They say in which test an error was thrown that nothing caught. Without them such an
 * error still fails the run, and is printed, but it may end the process, so that the files that were to come do not
 * run.
 */
async function importTap() {
  const { createHook } = asyncHooks;
  asyncHooks.createHook = () => ({ enable() {}, disable() {} });
  syncBuiltinESMExports();
  const tap = await import("tap");
  asyncHooks.createHook = createHook;
  syncBuiltinESMExports();
  return tap;
}

/**
 * What Node.js finds equal is not given to tap's comparison, which writes both values out, even when they are the same.
 * Whatever else is: it may still find it the same, and shows the difference.
 */
async function compareFast() {
  const { Assertions } = await import("@tapjs/asserts");
  for (const name of ["same", "strictSame"]) {
    const compare = Assertions.prototype[name];
    Assertions.prototype[name] = function (found, wanted, ...rest) {
      return isDeepStrictEqual(found, wanted)
        ? compare.call(this, 0, 0, ...rest)
        : compare.call(this, found, wanted, ...rest);
    };
  }
}

/**
 * Properties try the same inputs in each run, so that a change is refused for what it does. The long form, and a file
 * that is run by itself, try others each time.
 */
async function tryTheSame() {
  if (Number(process.env.TEST_LENGTH ?? 1) > 1) return;
  const { default: fc } = await import("fast-check");
  fc.configureGlobal({ seed: SEED });
}

/** A file may be reported several times: the times add up. */
function report(file, wall) {
  const cpu = usedCpuSeconds();
  writeSync(3, `${JSON.stringify({ file, cpu: cpu - cpuBefore, wall })}\n`);
  cpuBefore = cpu;
}

async function cleanUp() {
  const now = cleanups;
  cleanups = [];
  for (const cleanup of now) await cleanup();
}

/** CPU time of this process and of its child processes; without the latter where there is no /proc. */
function usedCpuSeconds() {
  const own = statOf(process.pid);
  if (own === null) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  // Children that have ended count as the process's own.
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((stat) => stat?.parent === process.pid);
  return [own, ...children].reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND;
}

/** Null for a process that there is not, or not any more. */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The fields after the command's name, which may contain spaces, begin with the 3rd. The parent is the 4th; user
    // and system time are the 14th and 15th, those of ended children the 16th and 17th.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), ticks };
  } catch {
    return null;
  }
}
