/**
 * Segments of one scan that other threads read: runs of neighbours whose rows the transaction sees as the files have
 * them. The scan goes on in the order of keys: it takes their results in the place of those rows, and reads all other
 * segments, gaps and corrected rows by itself. What threads cannot do, it does. Owned by scan.ts, one per run.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DbError } from "../../../protocol/errors.js";
import { sentLeaf } from "../../expr/sent-condition.js";
import type { ExecContext } from "../context.js";
import { receivedColumn } from "../segments/column.js";
import type { Handed, Handing, SegmentScan } from "../segments/segment-scan.js";
import type { TableSegments } from "../segments/table-segments.js";
import { readNanos } from "./read-nanos.js";
import {
  FromThread,
  type ReadAnswer,
  type Reading,
  type ReadJob,
  type ReadSegment,
  type ReadThreads,
  type SentPlan,
  type ThreadWork,
} from "./read-threads.js";
import { type Part, PartFinder, type ThreadUnit, unitsOf } from "./read-units.js";

/** Jobs of one scan that threads have, or that wait for one, by thread. */
const JOBS_PER_THREAD = 2;
/** How often the statement looks whether it is to end while it waits. */
const LOOK_MS = 20;
/**
 * A job is no longer, so that a statement that ends early has not much of it done in vain, and others have their turn.
 */
const UNIT_NANOS_MAX = 20e6;
/** However long it was thought to take. */
const JOB_MS_MAX = 100;
/** Jobs of one scan that may take longer: threads run a statement's code slowly at first, and others need the cores. */
const LATE_MAX = 4;
/** A job that no thread has begun after that is done here: threads are busy for others. */
const BEGIN_MS = 4;
/** Part of the statement's memory that all answers may take which it has not used up. */
const MEMORY_SHARE = 0.25;
/** Of a row and a call, where a thread sends numbers as they are, and of a row and a key, where each row is a group. */
const CALL_BYTES = 16;
const KEY_BYTES = 64;

export class ThreadReads implements Handing {
  /** By the number of their first segment, in their order. */
  private readonly units = new Map<number, ThreadUnit>();
  private readonly waiting: ThreadUnit[] = [];
  /** What was found before it is known whether it is worth it; null: it is. */
  private found: (Part | null)[] | null = [];
  private readonly stop = new Int32Array(new SharedArrayBuffer(4));
  private readonly seen = new Set<number>();
  private readonly running = new Set<ThreadUnit>();
  /** Reserved for results. */
  private held = 0;
  /** Threads are busy for others: nothing more is sent until one has done something for this statement. */
  private isBusy = false;
  /** Of the result that was given last: it is the consumer's until the next one. */
  private given: ThreadUnit | null = null;
  private isOff = false;
  private addsUp = true;
  private late = 0;

  private constructor(
    private readonly context: ExecContext,
    private readonly work: ThreadWork,
    private readonly threads: ReadThreads,
    private readonly plan: SentPlan,
    private readonly parameters: ReadJob["parameters"],
    private readonly prefix: Uint8Array,
    private readonly source: readonly number[],
    private readonly finder: PartFinder,
  ) {
    context.statement.canRelease.add(this.end);
  }

  private get jobsMax(): number {
    return JOBS_PER_THREAD * this.threads.count;
  }

  private get memoryMax(): number {
    return this.context.statement.memoryBytesMax * MEMORY_SHARE;
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
    const threads = context.isUninterrupted ? null : (services.readThreads ?? null);
    if (threads === null || cache === null || table.rows < cache.sizes.storedRowsMin || !work.wants()) return null;
    const plan = work.plan();
    const parameters = plan === null ? null : sentParameters(plan, context);
    if (plan === null || parameters === null) return null;
    cache.pages.areShared = true;
    const finder = new PartFinder(context, table, scan, source, readNanos(plan.read));
    const reads = new ThreadReads(context, work, threads, plan, parameters, table.rowPrefix, source, finder);
    reads.find();
    return reads.isOff ? null : reads;
  }

  /** Looks at more segments, so that no turn is spent on those of a long table. */
  private find(): void {
    const { finder, threads, context } = this;
    if (this.isOff || finder.isDone) return;
    const first = this.found === null ? finder.at : finder.at - this.found.length;
    const parts = [...(this.found ?? []), ...finder.some()];
    const { unitNanos, readNanosMin } = context.segments!.sizes;
    if (finder.nanos < readNanosMin) {
      this.found = parts;
      if (finder.isDone) this.close();
      return;
    }
    if (!threads.areReady()) {
      threads.start();
      this.close();
      return;
    }
    this.found = null;
    const share = Math.min(UNIT_NANOS_MAX, finder.nanosOfAll / (2 * this.jobsMax));
    const { goal } = this.plan.read;
    const [calls, keys] = goal.kind === "aggregate" ? [goal.calls.length, goal.groups.length] : [0, 1];
    const rows = this.memoryMax / this.jobsMax / Math.max(1, CALL_BYTES * calls + KEY_BYTES * keys);
    for (const unit of unitsOf(parts, first, { nanos: Math.max(unitNanos, share), rows })) {
      this.units.set(unit.first, unit);
      if (unit.parts.length > 0) this.waiting.push(unit);
    }
  }

  /** Threads that have given results. */
  get used(): number {
    return this.seen.size;
  }

  handedAt(number: number): number {
    this.find();
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
    // Where all of the statement's jobs have ended, one more tells whether threads are busy still.
    if (!this.isBusy || this.running.size === 0) this.launch();
    const answer = unit.parts.length === 0 ? NOTHING : await this.wait(unit);
    this.given = unit;
    if (answer === null || this.isOff) {
      this.release();
      return null;
    }
    const { result } = answer;
    if (result.kind === "none") {
      // Otherwise the next ones would fare no better.
      if (result.why !== "late" || ++this.late > LATE_MAX) this.close();
      else this.release();
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

  close(): void {
    this.end();
  }

  /** Threads that are at work end soon, and the others do not begin. */
  private readonly end = (): void => {
    this.isOff = true;
    this.release();
    Atomics.store(this.stop, 0, 1);
    for (const unit of this.running) unit.reading!.withdraw();
    for (const unit of this.units.values()) this.give(unit);
    this.units.clear();
    this.waiting.length = 0;
    this.context.statement.canRelease.delete(this.end);
  };

  private release(): void {
    if (this.given !== null) this.give(this.given);
    this.given = null;
  }

  private give(unit: ThreadUnit): void {
    this.context.statement.release(unit.bytes);
    this.held -= unit.bytes;
    unit.bytes = 0;
  }

  private launch(): void {
    const { jobsMax, memoryMax, running, waiting } = this;
    while (running.size < jobsMax && this.held + ((running.size + 1) * memoryMax) / jobsMax <= memoryMax) {
      const unit = waiting.shift();
      if (unit === undefined) return;
      running.add(unit);
      unit.reading = this.threads.read(this.jobOf(unit));
      unit.answer = this.take(unit, unit.reading);
      if (this.isBusy) return;
    }
  }

  /** Null: the thread has died, is not to be had, or its result does not fit. */
  private async take(unit: ThreadUnit, { answer: asked }: Reading): Promise<ReadAnswer | null> {
    let isRefused = false;
    try {
      const answer = await asked;
      this.isBusy = false;
      for (const [i, columns] of answer.shared.entries()) {
        for (const [id, column] of columns) unit.parts[i]!.pages.adopt(id, receivedColumn(column));
      }
      const { statement } = this.context;
      const { bytes } = answer;
      const isTooMuch = this.held + bytes > this.memoryMax || statement.memoryBytes + bytes > statement.memoryBytesMax;
      if (this.isOff || isTooMuch) return null;
      unit.bytes = bytes;
      this.held += bytes;
      statement.reserve(bytes);
      return answer;
    } catch (error) {
      // The rows are read here: what is wrong with them is found there.
      isRefused = this.isBusy || (error instanceof DbError && error.code === "overloaded");
      if (isRefused) this.putBack(unit);
      return null;
    } finally {
      this.running.delete(unit);
      if (!this.isOff && !isRefused) this.launch();
    }
  }

  /** Later there may be a thread for it, unless its turn has come. */
  private putBack(unit: ThreadUnit): void {
    this.isBusy = true;
    if (this.isOff || !this.units.has(unit.first)) return;
    unit.reading = undefined;
    unit.answer = undefined;
    const behind = this.waiting.findIndex(({ first }) => first > unit.first);
    this.waiting.splice(behind < 0 ? this.waiting.length : behind, 0, unit);
  }

  /** Null: it is to be read here. */
  private async wait(unit: ThreadUnit): Promise<ReadAnswer | null> {
    const { context, waiting } = this;
    const { answer, reading } = unit;
    if (answer === undefined || reading === undefined) {
      waiting.splice(waiting.indexOf(unit), 1);
      return null;
    }
    const outcome: { answer?: ReadAnswer | null } = {};
    const noted = answer.then((given) => {
      outcome.answer = given;
    });
    for (let ms = this.isBusy ? 0 : BEGIN_MS; outcome.answer === undefined; ms = LOOK_MS) {
      await Promise.race([noted, sleep(ms)]);
      context.checkpoint();
      if (outcome.answer === undefined && reading.withdraw()) this.isBusy = true;
    }
    await context.yieldTurn();
    return outcome.answer;
  }

  private jobOf({ parts }: ThreadUnit): ReadJob {
    const { context, plan, parameters, source } = this;
    const { transactionMicros, statementMicros, timeZone, style, user, tenant } = context;
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
      memoryBytesMax: this.memoryMax / this.jobsMax,
      millisMax: JOB_MS_MAX,
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
