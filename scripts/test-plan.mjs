/**
 * Which test files share a process, and in which order the processes start. Used by scripts/run-tests.mjs.
 *
 * Files of one folder share a process, because loading tap and the modules under test takes one to two CPU seconds.
 * Folders with little share one, too. Files in OWN_PROCESS_FOLDERS, and those whose text matches OWN_PROCESS, have a
 * process of their own.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** A test of this name ends each file; the runner does not count it. */
export const END_OF_FILE = "end of file ";

/** Replace clocks, run for long, or (the library's downloads) depend on how fast this process is. */
const OWN_PROCESS_FOLDERS = ["ai/library", "browser", "fuzz", "simulation", "torture", "workers"];
/** Measure this process, or change what belongs to all of it. A limit of time holds until the next file begins. */
const OWN_PROCESS =
  /process\.(memoryUsage|cpuUsage|exit|on)\(|performance\.now = |\.registerProcedure\(|"[./]+\/turn-lengths\.js"/;
/** Tests that share a server, too: `TestServer.shared…` in test/e2e/server.ts. They come in processes of their own. */
const SHARED_SERVER = /TestServer\.shared(?:Installation)?\(/;
const WITH_SHARED_SERVER = " with a shared server";
/**
 * A process gets files of at most so many recorded seconds in all. Each more process takes a CPU second for its start.
 * Those that share a server stay in smaller groups, beside fewer others.
 */
const GROUP_SECONDS = 120;
const SHARED_SERVER_SECONDS = 60;
/** For files that are not in the list of recorded times. */
const UNKNOWN_SECONDS = 3;

/** How long each file took when the times were last recorded (`RECORD=1 make test`). */
export const RECORDED = new URL("test-seconds.json", import.meta.url);

const TESTS = "dist/test";
/** The same files with what they import (bundleTests in scripts/bundle.mjs). */
export const TEST_BUNDLE = "dist/test-bundle";

/** The compiled files that the arguments name: test files or folders, as TypeScript or compiled. No argument: all. */
export function testFiles(names) {
  if (names.length === 0) return filesIn(TESTS);
  return names.flatMap((name) => {
    const compiled = relative(".", name)
      .replace(/^(?!dist\/)/, "dist/")
      .replace(/\.ts$/, ".js");
    const files = statSync(compiled, { throwIfNoEntry: false })?.isDirectory() ? filesIn(compiled) : [compiled];
    const missing = files.find((file) => statSync(file, { throwIfNoEntry: false }) === undefined);
    if (files.length === 0 || missing !== undefined) throw new Error(`no test file: ${name}`);
    return files;
  });
}

export function bundledTest(file) {
  return join(TEST_BUNDLE, relative("dist", file));
}

/** Of a compiled file. */
export function sourceOf(file) {
  return relative("dist", file).replace(/\.js$/, ".ts");
}

function filesIn(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".test.js"))
    .sort()
    .map((file) => join(folder, file));
}

/** Lists of files, each for a process: those that take longest come first, so that none of them is left for the end. */
export function groupsOf(files) {
  const recorded = JSON.parse(readFileSync(RECORDED, "utf8"));
  const secondsOf = (file) => recorded[relative(TESTS, file).replace(/\.js$/, "")] ?? UNKNOWN_SECONDS;
  const groups = [];
  const open = new Map();
  for (const file of files) {
    const room = roomOf(file);
    const seconds = secondsOf(file);
    let group = open.get(room);
    const most = room?.endsWith(WITH_SHARED_SERVER) ? SHARED_SERVER_SECONDS : GROUP_SECONDS;
    if (room === null || group === undefined || group.seconds + seconds > most) {
      group = { seconds: 0, files: [] };
      groups.push(group);
      if (room !== null) open.set(room, group);
    }
    group.files.push(file);
    group.seconds += seconds;
  }
  return joined(groups, open)
    .sort((a, b) => b.seconds - a.seconds)
    .map((group) => group.files);
}

/** Puts the last groups of rooms, those that have room left, together as far as they fit. */
function joined(groups, last) {
  const open = new Set([...last].filter(([room]) => !room.endsWith(WITH_SHARED_SERVER)).map(([, group]) => group));
  const full = groups.filter((group) => !open.has(group));
  const made = [];
  for (const group of [...open].sort((a, b) => b.seconds - a.seconds)) {
    const fitting = made.find(({ seconds }) => seconds + group.seconds <= GROUP_SECONDS);
    if (fitting === undefined) {
      made.push(group);
    } else {
      fitting.files.push(...group.files);
      fitting.seconds += group.seconds;
    }
  }
  return [...full, ...made];
}

/** The folder whose files may share a process; null for a file that may not. */
function roomOf(file) {
  const room = relative(TESTS, dirname(file));
  const text = readFileSync(file, "utf8");
  if (SHARED_SERVER.test(text)) return room + WITH_SHARED_SERVER;
  return OWN_PROCESS_FOLDERS.some((folder) => room === folder || room.startsWith(`${folder}/`)) ||
    OWN_PROCESS.test(text)
    ? null
    : room;
}
