/** What a server's processes use, read from /proc: CPU and memory of whole trees, CPU of threads. State: none. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const TICKS_PER_SECOND = 100;

interface ProcessStat {
  readonly parent: number;
  /** Of the process and of its children that have ended. */
  readonly cpuSeconds: number;
}

/** The processes and everything they started that still runs. */
export function processTree(roots: readonly number[]): Map<number, ProcessStat> {
  const all = new Map<number, ProcessStat>();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? statOf(`/proc/${name}/stat`) : null;
    if (stat !== null) all.set(Number(name), stat);
  }
  const inTree = (pid: number): boolean => {
    for (let at = pid; at > 1; at = all.get(at)?.parent ?? 0) if (roots.includes(at)) return true;
    return false;
  };
  return new Map([...all].filter(([pid]) => inTree(pid)));
}

export function cpuSecondsOf(roots: readonly number[]): number {
  let sum = 0;
  for (const { cpuSeconds } of processTree(roots).values()) sum += cpuSeconds;
  return sum;
}

/** CPU seconds of this process's children that have ended. */
export function cpuSecondsOfEndedChildren(): number {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)!.split(" ");
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

/**
 * The most memory that the processes had since they began, in bytes: the sum of their peaks (VmHWM). Pages of files and
 * shared pages (PostgreSQL's buffers) are in every process that touched them; they are counted once.
 */
export function peakMemoryOf(roots: readonly number[]): number {
  let own = 0;
  let shared = 0;
  for (const pid of processTree(roots).keys()) {
    const status = readOrNull(`/proc/${pid}/status`) ?? "";
    const bytes = (name: string): number =>
      1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
    const sharedHere = bytes("RssShmem") + bytes("RssFile");
    own += Math.max(0, bytes("VmHWM") - sharedHere);
    shared = Math.max(shared, sharedHere);
  }
  return own + shared;
}

/** Memory that the processes have now, in bytes: each page shared out over those that map it. */
export function memoryOf(roots: readonly number[]): number {
  let sum = 0;
  for (const pid of processTree(roots).keys()) {
    const rollup = readOrNull(`/proc/${pid}/smaps_rollup`) ?? "";
    sum += 1024 * Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
  }
  return sum;
}

/** CPU seconds of every thread of a process, by thread id. */
export function cpuSecondsOfThreads(pid: number): Map<number, number> {
  const threads = new Map<number, number>();
  for (const name of readdirSync(`/proc/${pid}/task`)) {
    const text = readOrNull(`/proc/${pid}/task/${name}/stat`);
    if (text === null) continue;
    const fields = text.split(") ").at(-1)!.split(" ");
    threads.set(Number(name), (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND);
  }
  return threads;
}

function statOf(path: string): ProcessStat | null {
  const text = readOrNull(path);
  if (text === null) return null;
  // The name, in parentheses, may have anything in it; fields are counted from behind it: state, parent, …
  const fields = text.split(") ").at(-1)!.split(" ");
  const ticks = [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i]), 0);
  return { parent: Number(fields[1]), cpuSeconds: ticks / TICKS_PER_SECOND };
}

/** Null when the process or thread has ended meanwhile. */
function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** The least of two seconds, which leaves out what waits for a collection or is about to be given back. */
export async function settledMemoryOf(roots: readonly number[]): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 20; i++) {
    await sleep(100);
    least = Math.min(least, memoryOf(roots));
  }
  return least;
}
