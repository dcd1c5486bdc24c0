/**
 * Segments of one scan that other threads read: runs of neighbours whose rows the transaction sees as the files have them. The scan
 * goes on in the order of keys: it takes their results in the place of those rows, and reads all other segments, gaps and
 * corrected rows by itself. What threads cannot do, it does. Owned by scan.ts, one per run.
 */
import { sentLeaf } from "../../expr/sent-condition.js";
import type { ExecContext } from "../context.js";
import { receivedColumn } from "../segments/column.js";
import type { Segment } from "../segments/segment.js";
import type { Handed, Handing, SegmentScan } from "../segments/segment-scan.js";
import { CachedPages } from "../segments/stored/page-cache.js";
import type { TableSegments } from "../segments/table-segments.js";
import { isUninterrupted } from "../uninterrupted.js";
import { readNanos } from "./read-nanos.js";
import {
  FromThread,
  type ReadAnswer,
  type ReadJob,
  type ReadSegment,
  type ReadThreads,
  type SentPlan,
  type ThreadWork,
} from "./read-threads.js";

/** Jobs of one scan that threads have, or that wait for one, by thread. */
const JOBS_PER_THREAD = 2;
/** How often the statement looks whether it is to end while it waits. */
const LOOK_MS = 20;
/** Looks for rows that the transaction sees otherwise: beyond that it reads by itself. */
const LOOKS_MAX = 64;
/** A job is no longer, so that a statement that ends early has not much of it done in vain. */
const UNIT_NANOS_MAX = 50e6;
/** Part of the statement's memory that one job may take. */
const MEMORY_SHARE = 0.25;

interface Part {
  readonly segment: Segment;
  readonly pages: CachedPages;
  /** That reading it takes, about; 0 where no row passes. */
  nanos: number;
}

/** Neighbouring segments that one job reads. */
class ThreadUnit {
  /** Undefined: not asked for yet. */
  answer: Promise<ReadAnswer | null> | undefined;
  /** Reserved for its result. */
  bytes = 0;

  constructor(
    readonly count: number,
    /** Those in which a row may pass. */
    readonly parts: readonly Part[],
  ) {}
}

export class ThreadReads implements Handing {
  /** By the number of their first segment, in their order. */
  private readonly units = new Map<number, ThreadUnit>();
  private readonly waiting: ThreadUnit[];
  private readonly stop = new Int32Array(new SharedArrayBuffer(4));
  private readonly seen = new Set<number>();
  private running = 0;
  /** Of the result that was given last: it is the consumer's until the next one. */
  private given: ThreadUnit | null = null;
  private isOff = false;
  private addsUp = true;

  private constructor(
    private readonly context: ExecContext,
    private readonly work: ThreadWork,
    private readonly threads: ReadThreads,
    private readonly plan: SentPlan,
    private readonly parameters: ReadJob["parameters"],
    private readonly prefix: Uint8Array,
    private readonly source: readonly number[],
    units: readonly (readonly [number, ThreadUnit])[],
  ) {
    this.units = new Map(units);
    this.waiting = units.map(([, unit]) => unit);
  }

  /**
   * Null: there are no threads, they cannot do the work, or too few rows are in files as the transaction sees them.
   * @param scan has not begun.
   * @param source column ids by slot.
   */
  static of(
    context: ExecContext,
    work: ThreadWork,
    table: TableSegments,
    scan: SegmentScan,
    source: readonly number[],
  ): ThreadReads | null {
    const { services, segments: cache } = context;
    const threads = isUninterrupted(context) ? null : (services.readThreads ?? null);
    if (threads === null || cache === null || table.rows < cache.sizes.storedRowsMin || !work.wants()) return null;
    const plan = work.plan();
    const parameters = plan === null ? null : sentParameters(plan, context);
    if (plan === null || parameters === null) return null;
    cache.pages.areShared = true;
    const { unitNanos, readNanosMin } = cache.sizes;
    const whole = wholeParts(context, table, scan, source);
    const isPassed = ({ segment }: Part): boolean => !scan.hasNoRow(segment);
    const nanosOf = readNanos(plan.read);
    let nanos = 0;
    for (const part of whole) {
      if (part === null || !isPassed(part)) continue;
      part.nanos = nanosOf(part.pages);
      nanos += part.nanos;
    }
    if (nanos < readNanosMin) return null;
    if (!threads.areReady()) {
      threads.start();
      return null;
    }
    const share = Math.min(UNIT_NANOS_MAX, nanos / (JOBS_PER_THREAD * 2 * threads.count));
    const units = unitsOf(whole, scan.firstWhole, Math.max(unitNanos, share), isPassed);
    return new ThreadReads(context, work, threads, plan, parameters, table.rowPrefix, source, units);
  }

  /** Threads that have given results. */
  get used(): number {
    return this.seen.size;
  }

  handedAt(number: number): number {
    const unit = this.isOff ? undefined : this.units.get(number);
    if (unit === undefined) return 0;
    this.release();
    if (this.work.wants()) return unit.count;
    this.close();
    return 0;
  }

  /** Null: the segments are to be read here. The statement may be cancelled meanwhile. */
  async answerOf({ from }: Handed): Promise<FromThread | null> {
    const unit = this.units.get(from)!;
    this.units.delete(from);
    this.launch();
    const answer = unit.parts.length === 0 ? NOTHING : await this.wait(unit.answer!);
    this.given = unit;
    if (answer === null) {
      this.release();
      return null;
    }
    const { result } = answer;
    if (result.kind === "none") {
      // The next ones would fare no better.
      this.close();
      return null;
    }
    if (unit.parts.length > 0 && this.work.canTake?.(result) === false) {
      this.addsUp = false;
      this.release();
      return null;
    }
    if (unit.parts.length > 0) this.seen.add(answer.thread);
    return new FromThread(answer.rows, result);
  }

  /** Threads that are at work end soon. */
  close(): void {
    this.isOff = true;
    this.release();
    Atomics.store(this.stop, 0, 1);
    for (const unit of this.units.values()) this.give(unit);
    this.units.clear();
    this.waiting.length = 0;
  }

  private release(): void {
    if (this.given !== null) this.give(this.given);
    this.given = null;
  }

  private give(unit: ThreadUnit): void {
    this.context.statement.release(unit.bytes);
    unit.bytes = 0;
  }

  private launch(): void {
    while (this.running < JOBS_PER_THREAD * this.threads.count) {
      const unit = this.waiting.shift();
      if (unit === undefined) return;
      if (unit.parts.length === 0) continue;
      this.running++;
      unit.answer = this.read(unit);
    }
  }

  /** Null: the thread has died, is not to be had, or its result does not fit. */
  private async read(unit: ThreadUnit): Promise<ReadAnswer | null> {
    try {
      const answer = await this.threads.read(this.jobOf(unit));
      for (const [i, columns] of answer.shared.entries()) {
        for (const [id, column] of columns) unit.parts[i]!.pages.adopt(id, receivedColumn(column));
      }
      const { statement } = this.context;
      if (this.isOff || statement.memoryBytes + answer.bytes > statement.memoryBytesMax) return null;
      unit.bytes = answer.bytes;
      statement.reserve(answer.bytes);
      return answer;
    } catch {
      // The rows are read here: what is wrong with them is found there.
      return null;
    } finally {
      this.running--;
      if (!this.isOff) this.launch();
    }
  }

  private async wait(answer: Promise<ReadAnswer | null>): Promise<ReadAnswer | null> {
    const { context } = this;
    const outcome: { answer?: ReadAnswer | null } = {};
    const noted = answer.then((given) => {
      outcome.answer = given;
    });
    while (outcome.answer === undefined) {
      await Promise.race([noted, new Promise((resolve) => setTimeout(resolve, LOOK_MS))]);
      context.checkpoint();
    }
    await context.yieldTurn();
    return outcome.answer;
  }

  private jobOf({ parts }: ThreadUnit): ReadJob {
    const { context, plan, parameters, source } = this;
    const { transactionMicros, statementMicros, timeZone, style, user, tenant, statement } = context;
    return {
      read: plan.read,
      parameters,
      rowsMax: this.work.rowsMax,
      context: { transactionMicros, statementMicros, timeZone, style, user, tenant },
      segments: parts.map(({ segment, pages }): ReadSegment => {
        const { file, number } = pages.segment;
        const { from, to } = segment;
        return { path: file.path, fileId: file.id, number, from, to, shared: pages.shared(source) };
      }),
      prefix: Uint8Array.from(this.prefix),
      memoryBytesMax: statement.memoryBytesMax * MEMORY_SHARE,
      addsUp: this.addsUp,
      stop: this.stop,
    };
  }
}

/** Of segments in which no row can pass. */
const NOTHING: ReadAnswer = {
  thread: 0,
  rows: 0,
  result: { kind: "rows", columns: [], count: 0 },
  bytes: 0,
  shared: [],
};

/** Null: one of them has no form that can be sent. */
function sentParameters({ parameters }: SentPlan, { params }: ExecContext): ReadJob["parameters"] | null {
  const sent: [number, ReadJob["parameters"][number][1]][] = [];
  for (const index of parameters) {
    const value = sentLeaf(params[index] ?? null);
    if (value === undefined) return null;
    sent.push([index, value]);
  }
  return sent;
}

/** From the scan's first whole segment on: those that are in files as the transaction sees them, and null for others. */
function wholeParts(
  context: ExecContext,
  table: TableSegments,
  scan: SegmentScan,
  source: readonly number[],
): (Part | null)[] {
  const { segments } = table;
  const end = Buffer.from(table.end, "latin1");
  const parts: (Part | null)[] = [];
  let looks = 0;
  /** Before it, all is as in the files. */
  let corrected = "";
  for (let i = scan.firstWhole; i < segments.length; i++) {
    const segment = segments[i]!;
    if (corrected <= segment.from && looks++ < LOOKS_MAX) {
      const range = { gte: Buffer.from(segment.from, "latin1"), lt: end };
      corrected = context.tx.correctionsUnread(range, table).text ?? table.end;
    }
    const pages = segment.stored;
    const isWhole = corrected >= segment.to && pages instanceof CachedPages && source.every((id) => pages.has(id));
    parts.push(isWhole ? { segment, pages, nanos: 0 } : null);
  }
  return parts;
}

function unitsOf(
  parts: readonly (Part | null)[],
  first: number,
  nanosMax: number,
  isPassed: (part: Part) => boolean,
): [number, ThreadUnit][] {
  const units: [number, ThreadUnit][] = [];
  for (let i = 0; i < parts.length; ) {
    const run: Part[] = [];
    const begin = i;
    for (let nanos = 0; i < parts.length && nanos < nanosMax; i++) {
      const part = parts[i]!;
      // Rows in a gap between two come between their rows.
      if (part === null || (run.length > 0 && run.at(-1)!.segment.to !== part.segment.from)) break;
      run.push(part);
      nanos += part.nanos;
    }
    if (run.length === 0) i++;
    else units.push([first + begin, new ThreadUnit(run.length, run.filter(isPassed))]);
  }
  return units;
}
