/** CPU time of the calling thread; unlike a clock it stands still while the system runs other threads. */
import { openSync, readSync } from "node:fs";

/** Of this thread, kept open: to open the file takes ten times as long as to read it. A thread's end closes it. */
let file: number | null | undefined;
const bytes = Buffer.alloc(64);

/**
 * Milliseconds that this thread has been on a CPU; null where the system does not tell (no /proc). Takes microseconds.
 */
export function threadCpuMs(): number | null {
  if (file === undefined) file = opened();
  if (file === null) return null;
  try {
    // The system's count is as old as its last tick (4 ms); asking for the process's time brings the calling thread's
    // up.
    process.cpuUsage();
    const length = readSync(file, bytes, 0, bytes.length, 0);
    return Number(bytes.toString("latin1", 0, length).split(" ")[0]) / 1e6;
  } catch {
    return null;
  }
}

function opened(): number | null {
  try {
    return openSync("/proc/thread-self/schedstat", "r");
  } catch {
    return null;
  }
}
