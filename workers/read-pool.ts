/**
 * Threads that read column files for an actor's statements. They are started when the first long read comes, which does not wait for
 * them, and go when nobody reads for minutes. Made by actor.ts.
 */
import type { ReadThreads } from "../src/query/exec/threads/read-threads.js";
import { taskPool } from "./task-pool.js";

const THREADS_MAX = 4;
/** Jobs of a few statements wait; the statement reads by itself what finds no place. */
const WAITING_PER_THREAD = 8;
/** How long threads stay without work; until shortly before, they are taken to be there. */
const IDLE_MS = 300_000;
const READY_MS = IDLE_MS - 10_000;

export function readPool(cores: number): { readonly threads: ReadThreads; end(): Promise<void> } {
  const count = Math.min(cores, THREADS_MAX);
  const pool = taskPool({
    ...{ name: "reads", threads: count, waitingMax: count * WAITING_PER_THREAD },
    ...{ niceIncrement: 2, idleMs: IDLE_MS },
  });
  let isStarting = false;
  /** When they were last at work; 0: they have not been started. */
  let workedAt = 0;
  const threads: ReadThreads = {
    count,
    areReady: () => workedAt > 0 && Date.now() - workedAt < READY_MS,
    start: () => {
      if (isStarting) return;
      isStarting = true;
      // One for each thread: none of them answers before its thread has loaded the program.
      const started = Array.from({ length: count }, () => pool.run("prepareReads", undefined));
      void Promise.all(started).then(
        () => {
          isStarting = false;
          workedAt = Date.now();
        },
        () => {
          isStarting = false;
        },
      );
    },
    read: async (job) => {
      workedAt = Date.now();
      return pool.run("readSegments", job);
    },
  };
  return { threads, end: () => pool.end() };
}
