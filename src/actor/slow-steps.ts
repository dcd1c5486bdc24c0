/**
 * A scheduler that also finds the steps which do not give way in time: at log level `debug` the actor uses it instead
 * of the plain one, and logs each step that took too long, with the place in the code that looked at the clock next.
 * A thread that the operating system held up looks the same; so the time on the CPU is told as well, where there is
 * /proc to ask.
 */

import { threadCpuMs } from "../session/thread-cpu.js";
import { Scheduler, type SchedulerOptions, type Work } from "./scheduler.js";

/** Milliseconds between two looks at the clock. */
const SLOW_MS = 2;
const FRAMES = 12;

export interface SlowStep {
  readonly tenant: number;
  readonly tookMs: number;
  /** Of the whole slice; null where the system does not tell. */
  readonly sliceCpuMs: number | null;
  /** Call sites, innermost first. */
  readonly place: string;
}

export class TracingScheduler extends Scheduler {
  private lastLook = 0;
  private cpuAtStart: number | null = null;

  constructor(
    options: SchedulerOptions,
    private readonly slow: (step: SlowStep) => void,
  ) {
    super(options);
  }

  override shouldYield(): boolean {
    this.look();
    return super.shouldYield();
  }

  override yieldTurn(tenant: number, work: Work): Promise<void> {
    this.look();
    return super.yieldTurn(tenant, work);
  }

  protected override sliceBegins(): void {
    this.lastLook = performance.now();
    this.cpuAtStart = threadCpuMs();
  }

  protected override sliceEnds(): void {
    this.look();
  }

  private look(): void {
    const now = performance.now();
    const tookMs = now - this.lastLook;
    this.lastLook = now;
    const tenant = this.currentTenant;
    if (tookMs < SLOW_MS || tenant === null) return;
    const cpu = threadCpuMs();
    const sliceCpuMs = cpu === null || this.cpuAtStart === null ? null : cpu - this.cpuAtStart;
    this.slow({ tenant, tookMs, sliceCpuMs, place: callSites() });
    this.lastLook = performance.now();
  }
}

/** Names and files of the frames above this module's. */
function callSites(): string {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES + 3;
  const stack = new Error().stack ?? "";
  Error.stackTraceLimit = before;
  return stack
    .split("\n")
    .slice(3)
    .map((line) => line.replace(/^\s*at (async )?/, "").replace(/\(?(?:file:\/\/)?\/[^)]*\//, "("))
    .join(" < ");
}
