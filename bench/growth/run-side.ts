/**
 * One system at one size, from an empty folder to the last check. The order: import, a wait, restarts (clean with a
 * warm page cache, clean with a cold one), each read twice, a commit and SIGKILL at once, a restart, writes, checks.
 */
import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sample } from "../load/client.js";
import { cpuSecondsOf, peakMemoryOf, settledMemoryOf } from "../processes.js";
import type { Answer } from "../tpch/side.js";
import { type Waits, waitsBetween } from "./neighbour-reads.js";
import { diskBytesOf, dropFromPageCache } from "./page-cache.js";
import type { GrowthSide } from "./side.js";
import { CHECKS, pointRead, READS, RECENT, SCHEMA, type Statement, WRITES } from "./table.js";

/** What the means are taken of; `other` has no mean, and `idle` no time of its own. */
export type Kind = "first read" | "second read" | "write" | "other" | "idle";

export interface Step {
  readonly name: string;
  readonly kind: Kind;
  /** Rows that it is about. */
  readonly rows: number;
  /** Not a number when it failed. */
  readonly milliseconds: number;
  /** Of all its processes, in steps of ten; null where it starts or ends in the step. */
  readonly cpuMilliseconds: number | null;
  readonly answer: Answer["rows"];
  readonly error: string | null;
  /** What a neighbour's reads waited meanwhile; null: none was due. */
  readonly neighbour: Waits | null;
}

export interface SideResult {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly steps: readonly Step[];
  /** By what they are of, in bytes. */
  readonly memory: Readonly<Record<string, number>>;
  readonly diskBytes: number;
  readonly importedBytes: number;
  /** Bytes that stayed in the page cache when it was dropped, of so many; null: it was not dropped. */
  readonly pageCache: { readonly left: number; readonly of: number } | null;
  readonly loadAverage: number;
}

interface Timed extends Omit<Step, "neighbour"> {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Seconds in which the neighbour reads alone. */
const ALONE_SECONDS = 3;

export const STEP_NAMES = {
  alone: "neighbour alone",
  import: "import",
  wait: "wait after the import",
  stop: "clean stop",
  secondStop: "clean stop after a start",
  warmStart: "start to first answer, page cache warm",
  coldStart: "start to first answer, page cache cold",
  killedStart: "start to first answer after SIGKILL",
} as const;

class SideRun {
  readonly steps: Timed[] = [];
  readonly samples: Sample[] = [];
  readonly memory: Record<string, number> = {};

  constructor(
    readonly side: GrowthSide,
    readonly rows: number,
  ) {}

  async time(name: string, kind: Kind, share: number, work: () => Promise<Answer | number>): Promise<void> {
    const { side } = this;
    const cpuBefore = cpuSecondsOf(side.roots);
    const fromMs = now();
    const of = { name, kind, rows: share * this.rows, fromMs };
    try {
      const done = await work();
      const { milliseconds, rows } = typeof done === "number" ? { milliseconds: done, rows: [] } : done;
      const toMs = now();
      const cpuMilliseconds = 1000 * (cpuSecondsOf(side.roots) - cpuBefore);
      this.steps.push({ ...of, milliseconds, cpuMilliseconds, answer: rows, error: null, toMs });
    } catch (error) {
      const message = (error as Error).message.slice(0, 500);
      console.log(`  ${side.name}, ${name}: ${message}`);
      this.steps.push({
        ...{ ...of, milliseconds: Number.NaN, cpuMilliseconds: null, answer: [], error: message, toMs: now() },
      });
    }
  }

  /** Statements that are no step of the table. */
  async prepare(sql: string): Promise<void> {
    await this.side.query(sql);
  }

  statement({ name, sql, share }: Statement, kind: Kind): Promise<void> {
    return this.time(name, kind, share, () => this.side.query(sql));
  }

  async idle(name: string, seconds: number): Promise<void> {
    await this.time(name, "idle", 1, async () => {
      await sleep(1000 * seconds);
      return 1000 * seconds;
    });
  }

  /** `name`: as which the time is told. */
  async end(how: "clean" | "kill", name?: string): Promise<void> {
    if (this.side.neighbour !== undefined) {
      for (const sample of await this.side.neighbour.end()) this.samples.push(sample);
    }
    const started = performance.now();
    await this.side.end(how);
    if (name !== undefined) this.plain(name, performance.now() - started);
  }

  /** Asks for one row; the neighbour begins after it. */
  async start(name: string): Promise<void> {
    const { milliseconds, rows } = await this.side.start(pointRead(this.rows));
    this.plain(name, milliseconds, rows);
    this.memory[`peak at the first answer: ${name.replace("start to first answer", "start")}`] = peakMemoryOf(
      this.side.roots,
    );
    await this.side.neighbour?.begin();
  }

  private plain(name: string, milliseconds: number, answer: Answer["rows"] = []): void {
    const none = { cpuMilliseconds: null, error: null, fromMs: 0, toMs: 0 };
    this.steps.push({ name, kind: "other", rows: this.rows, milliseconds, answer, ...none });
  }
}

export async function runSide(
  side: GrowthSide,
  files: readonly string[],
  rows: number,
  waitSeconds: number,
): Promise<SideResult> {
  const run = new SideRun(side, rows);
  await run.prepare(SCHEMA);
  await run.prepare(RECENT.schema);
  await side.neighbour?.begin();
  if (side.neighbour !== undefined) await run.idle(STEP_NAMES.alone, ALONE_SECONDS);
  await run.time(STEP_NAMES.import, "other", 1, () => importAll(side, files));
  const { error } = run.steps.at(-1)!;
  if (error !== null) throw new Error(`${side.name}, import: ${error}`);
  run.memory["peak of the import"] = peakMemoryOf(side.roots);
  const importedBytes = diskBytesOf(side.folder);
  if (waitSeconds > 0) await run.idle(STEP_NAMES.wait, waitSeconds);
  run.memory["settled after the wait"] = await settledMemoryOf(side.roots);
  const diskBytes = diskBytesOf(side.folder);

  await run.end("clean", STEP_NAMES.stop);
  await run.start(STEP_NAMES.warmStart);
  await run.end("clean", STEP_NAMES.secondStop);
  const pageCache = dropFromPageCache(side.folder);
  await run.start(STEP_NAMES.coldStart);
  for (const read of READS) {
    await run.statement({ ...read, name: `${read.name}, first` }, "first read");
    await run.statement({ ...read, name: `${read.name}, second` }, "second read");
  }
  run.memory["peak after the reads"] = peakMemoryOf(side.roots);

  await run.prepare(RECENT.fill(rows));
  await run.end("kill");
  await run.start(STEP_NAMES.killedStart);
  await run.time("rows that were committed before SIGKILL", "other", 0.01, () => side.query(RECENT.check));
  for (const write of WRITES) await run.statement(write, "write");
  run.memory["peak after the writes"] = peakMemoryOf(side.roots);
  for (const [i, sql] of CHECKS.entries())
    await run.time(`check ${i + 1} after the writes`, "other", 1, () => side.query(sql));
  const loadAverage = loadavg()[0]!;
  if (side.neighbour !== undefined) run.samples.push(...(await side.neighbour.end()));
  const steps = run.steps.map(
    ({ fromMs, toMs, ...step }): Step => ({ ...step, neighbour: waitsBetween(run.samples, fromMs, toMs) }),
  );
  const { id, name, version } = side;
  return { id, name, version, steps, memory: run.memory, diskBytes, importedBytes, pageCache, loadAverage };
}

async function importAll(side: GrowthSide, files: readonly string[]): Promise<number> {
  let milliseconds = 0;
  for (const file of files) milliseconds += await side.importCsv(file);
  return milliseconds;
}

/** Milliseconds since 1970, with fractions: the clock of the neighbour's samples. */
function now(): number {
  return performance.timeOrigin + performance.now();
}
