/** Threads as the operating system knows them, where it has /proc. */
import { readFileSync, readlinkSync } from "node:fs";

/** The calling thread's number in this process; 0: the system does not tell. */
export function osThread(): number {
  try {
    return Number(readlinkSync("/proc/thread-self").split("/").at(-1));
  } catch {
    return 0;
  }
}

/** Milliseconds that the thread was ready to run while others had the processors; null: the system does not tell. */
export function runQueueMs(thread: number): number | null {
  if (thread === 0) return null;
  try {
    // Nanoseconds that it ran, nanoseconds that it waited, and how often it ran.
    return Number(readFileSync(`/proc/self/task/${thread}/schedstat`, "latin1").split(" ")[1]) / 1e6;
  } catch {
    return null;
  }
}
