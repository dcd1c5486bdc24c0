/**
 * Loaded into each thread of the servers that tests start (scripts/run-tests.mjs): V8 optimizes a function when it has
 * run for longer than usual. A thread loads its script with the usual flags, for which the build has kept V8's code.
 */
const { channel } = require("node:diagnostics_channel");
const { setFlagsFromString } = require("node:v8");
const { isMainThread } = require("node:worker_threads");

/** Node's of version 20; with another one threads that start late compile their scripts. */
const USUAL = "--interrupt-budget=67584";
const LATER = "--interrupt-budget=1000000";

// The flags are those of the whole process. The main thread loads more of node before the others start.
if (!isMainThread) {
  setFlagsFromString(USUAL);
  channel("tessera.script").subscribe(() => setFlagsFromString(LATER));
}
