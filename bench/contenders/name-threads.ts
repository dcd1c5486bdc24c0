/**
 * Loaded into each thread of a server by `node --import`: writes a line "THREAD-ID NAME" to the file that BENCH_THREADS
 * names, so that the CPU of threads can be told apart (bench/scaling.ts).
 */
import { appendFileSync, readlinkSync } from "node:fs";
import { isMainThread, workerData } from "node:worker_threads";

const file = process.env.BENCH_THREADS;
if (file !== undefined) {
  const id = readlinkSync("/proc/thread-self").split("/").at(-1);
  const actor = (workerData as { actor?: number } | null)?.actor;
  const name = isMainThread ? "gateway" : actor === undefined ? "other" : "actor";
  appendFileSync(file, `${id} ${name}\n`);
}
