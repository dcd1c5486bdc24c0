/** CPU time of the calling thread; unlike a clock it stands still while the system runs other threads. */
import { readFileSync } from "node:fs";

/** Milliseconds that this thread has been on a CPU; null where the system does not tell (no /proc). Takes microseconds. */
export function threadCpuMs(): number | null {
  try {
    // The system's count is as old as its last tick (4 ms); asking for the process's time brings the calling thread's up.
    process.cpuUsage();
    return Number(readFileSync("/proc/thread-self/schedstat", "latin1").split(" ")[0]) / 1e6;
  } catch {
    return null;
  }
}
