/**
 * What a thread reports about itself for a diagnostic bundle: its heap, its last log lines, and where its CPU time
 * goes. Each thread calls it for itself.
 */
import { getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
import { DIAGNOSTIC_LINE_CHARACTERS_MAX, DIAGNOSTIC_LINES_MAX } from "./limits.js";

export interface ThreadDiagnosis {
  readonly thread: string;
  readonly heap: object;
  readonly spaces: readonly object[];
  readonly memory: object;
  /** Oldest first. */
  readonly lines: readonly string[];
  /** In V8's format (.cpuprofile); null: none was asked for. */
  readonly cpuProfile: object | null;
}

/** The last lines that a thread has logged. */
export class RecentLines {
  private readonly lines: string[] = [];
  private next = 0;

  add(line: string): void {
    this.lines[this.next % DIAGNOSTIC_LINES_MAX] = line.slice(0, DIAGNOSTIC_LINE_CHARACTERS_MAX).trimEnd();
    this.next++;
  }

  get all(): string[] {
    const start = this.next % DIAGNOSTIC_LINES_MAX;
    return this.next <= DIAGNOSTIC_LINES_MAX
      ? [...this.lines]
      : [...this.lines.slice(start), ...this.lines.slice(0, start)];
  }
}

/** Length of the profile in seconds; 0: no profile. While it runs, sampling costs the thread a few percent. */
export async function diagnoseThread(
  thread: string,
  lines: RecentLines,
  profileSeconds: number,
): Promise<ThreadDiagnosis> {
  const cpuProfile = profileSeconds > 0 ? await profile(profileSeconds) : null;
  return {
    thread,
    heap: getHeapStatistics(),
    spaces: getHeapSpaceStatistics(),
    memory: process.memoryUsage(),
    lines: lines.all,
    cpuProfile,
  };
}

async function profile(seconds: number): Promise<object> {
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    return (await session.post("Profiler.stop")).profile;
  } finally {
    session.disconnect();
  }
}
