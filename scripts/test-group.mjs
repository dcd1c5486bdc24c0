/**
 * Runs test files one after another in this process, so that tap and the modules under test are loaded once. Called by
 * scripts/run-tests.mjs, which reads a line of JSON for each finished file from the file descriptor 3.
 */
import { readFileSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import t from "tap";
import { END_OF_FILE } from "./test-plan.mjs";

/** Linux counts CPU time in ticks of a hundredth of a second. */
const TICKS_PER_SECOND = 100;

// Tests see the command line of a file that runs by itself.
const files = process.argv.splice(2);
let cpuBefore = 0;
let cleanups = [];
// tap itself would run these at the end of the process, and would end the process as soon as a file's tests are done.
t.teardown = (cleanup) => cleanups.unshift(cleanup);

for (const file of files) {
  const startMs = performance.now();
  t.setTimeout(Number(process.env.TAP_TIMEOUT) * 1000); // counts from now
  await import(pathToFileURL(resolve(file)));
  await t.test(END_OF_FILE + file, cleanUp);
  const cpu = usedCpuSeconds();
  const times = { file, cpu: cpu - cpuBefore, wall: (performance.now() - startMs) / 1000 };
  writeSync(3, `${JSON.stringify(times)}\n`);
  cpuBefore = cpu;
}

async function cleanUp() {
  const now = cleanups;
  cleanups = [];
  for (const cleanup of now) await cleanup();
}

/** CPU time of this process and of the child processes that have ended; without the latter where there is no /proc. */
function usedCpuSeconds() {
  let stat;
  try {
    stat = readFileSync("/proc/self/stat", "latin1");
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  // The fields after the command's name, which may contain spaces: utime, stime, cutime and cstime are the 12th to the 15th.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}
