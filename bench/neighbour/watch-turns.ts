/**
 * Loaded into each thread of the server that is measured (node's `--import`): writes down how much CPU time the gateway
 * and the actors take between two beats of a timer. CPU time, because on a busy machine a clock also counts what other
 * programs do.
 */
import { appendFileSync } from "node:fs";
import { isMainThread, workerData } from "node:worker_threads";
import { threadCpuMs } from "../../src/session/thread-cpu.js";
import { TURNS_FILE } from "./turns.js";

/** Shorter ones are not written down. */
const TURN_MS_MIN = 10;

const file = process.env[TURNS_FILE];
const isGateway = isMainThread && process.argv[1]!.endsWith("/main.cjs");
const isActor = !isMainThread && workerData?.actor !== undefined;
if (file !== undefined && (isGateway || isActor)) watch(file, isGateway ? "gateway" : "actor");

function watch(file: string, thread: string): void {
  let last = threadCpuMs()!;
  setInterval(() => {
    const now = threadCpuMs()!;
    if (now - last > TURN_MS_MIN) appendFileSync(file, `${thread} ${(now - last).toFixed(0)}\n`);
    last = threadCpuMs()!;
  }, 1).unref();
}
