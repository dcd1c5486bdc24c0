/**
 * A scan of a whole table in the order of its row keys, filtering while it reads: from column segments if the table
 * has them, else from records. A scan that turns out to be long makes the segments, and continues with them.
 */

import { keyAfter, prefixRange } from "../../storage/keys.js";
import { keyText } from "../../storage/ordered-map.js";
import { type Cursor, type KeyRange, readSome } from "../../storage/store.js";
import type { Batch } from "../expr/expr.js";
import type { ScanPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { Open, Operator, Pulled, SegmentBound } from "./operator.js";
import { compileRowDecoder, RowDecoder, type RowDecoderProgram } from "./row-decoder.js";
import { filesOpen, segmentsMade } from "./segments/await-segments.js";
import { CHUNK_ROWS, valuesOfBatch } from "./segments/chunk.js";
import type { WantedKeys } from "./segments/key-set.js";
import type { Segment } from "./segments/segment.js";
import { SegmentBuilder } from "./segments/segment-builder.js";
import type { SegmentCache } from "./segments/segment-cache.js";
import { crowdedSegment, SegmentFolder } from "./segments/segment-folder.js";
import { Gap, Handed, SegmentScan } from "./segments/segment-scan.js";
import { compileSegmentScan, type SegmentScanProgram } from "./segments/segment-scan-program.js";
import type { AwaitedSegments, TableSegments } from "./segments/table-segments.js";
import { layoutOf } from "./table-layout.js";
import type { FromThread, ThreadWork } from "./threads/read-threads.js";
import { ThreadReads } from "./threads/thread-reads.js";

/** Rows of a scan's first batch: a statement with a small LIMIT reads little more than it needs. */
export const FIRST_BATCH_ROWS = 64;

/**
 * When reading a batch and all that was done with it took longer than this, the next one is half as long; when it took
 * less than that, twice as long. So rows that cost much (a filter of a thousand conditions) leave the loop its turns.
 */
const BATCH_MS_MAX = 1;
const BATCH_MS_MIN = 0.4;
const BATCH_ROWS_MIN = 8;

interface ScanProgram {
  readonly rows: RowDecoderProgram;
  /** Null: the scan reads records in any case. */
  readonly segments: SegmentScanProgram | null;
  readonly prefixOf: (tenantNumber: number) => Uint8Array;
  readonly reverse: boolean;
}

function compileScanProgram(plan: ScanPlan): ScanProgram {
  const rows = compileRowDecoder(plan);
  const { rowPrefixOf } = layoutOf(plan.table);
  return { rows, segments: compileSegmentScan(plan, rows), prefixOf: rowPrefixOf, reverse: plan.reverse };
}

export function compileScan(plan: ScanPlan): Open {
  const program = compileScanProgram(plan);
  return (context) => new ScanOperator(program, context);
}

/** Some neighbouring keys, of which segments have rows: see index-scan.ts. */
export interface Stretch {
  readonly gte: Uint8Array;
  readonly lt: Uint8Array;
}

/** Opens a scan of such keys only; null: of the whole table. */
export type OpenStretch = (context: ExecContext, stretch: Stretch | null) => Operator;

export function compileStretchScan(plan: ScanPlan): OpenStretch {
  const program = compileScanProgram(plan);
  return (context, stretch) => new ScanOperator(program, context, stretch);
}

class ScanOperator implements Operator {
  private readonly rows: RowDecoder;
  /** Null: this run reads records to its end. */
  private cache: SegmentCache | null;
  private cursor: Cursor | null = null;
  private builder: SegmentBuilder | null = null;
  private folder: SegmentFolder | null = null;
  private scan: SegmentScan | null = null;
  private size: number;
  private begun = false;
  private done = false;
  /** Segments that are being made of what is to be read next: they are there sooner than the rows would be read. */
  private awaited: AwaitedSegments | null = null;
  private hasWaited = false;
  /** Of the gap that is being read: its segments are being made. */
  private gapAwaited: AwaitedSegments | null = null;
  private gapRows = 0;
  private records = 0;
  /** Where what is left begins; null: at the beginning. */
  private rest: Uint8Array | null = null;
  /** The segments that the scan has; null: it was never opened. */
  private segments: readonly Segment[] | null = null;
  private handsOutChunks = false;
  private bound: SegmentBound | null = null;
  private readonly wanted: WantedKeys[] = [];
  private wantsExtremes = false;
  /** What other threads may do. */
  private work: ThreadWork | null = null;
  private threads: ThreadReads | null = null;
  /** By scans of segments that were opened again. */
  private usedBefore = 0;
  /** Segments whose result comes next. */
  private handed: Handed | null = null;
  /** Rows of the next batch, at most, by what the last ones cost. */
  private rowsMax = Number.POSITIVE_INFINITY;
  /** When the last batch was begun; 0 when the statement waited since. */
  private lastBegan = 0;

  constructor(
    private readonly program: ScanProgram,
    private readonly context: ExecContext,
    /** Null: the whole table. */
    private readonly stretch: Stretch | null = null,
  ) {
    this.rows = new RowDecoder(program.rows, context);
    this.cache = program.segments === null ? null : context.segments;
    this.size = Math.min(FIRST_BATCH_ROWS, context.batchRows);
  }

  acceptChunks(): void {
    this.handsOutChunks = true;
  }

  expectRows(rows: number): void {
    this.size = Math.max(1, Math.min(this.size, rows));
  }

  acceptBound(bound: SegmentBound): void {
    this.bound = bound;
  }

  acceptKeys(keys: WantedKeys): void {
    this.wanted.push(keys);
  }

  acceptExtremes(): void {
    this.wantsExtremes = true;
  }

  acceptThreads(work: ThreadWork): void {
    this.work = work;
  }

  get threadsUsed(): number {
    return this.usedBefore + (this.threads?.used ?? 0);
  }

  next(): Pulled {
    const { context } = this;
    const opening = this.begun ? null : this.opening();
    if (opening !== null) return opening.then(() => this.next());
    while (!this.done) {
      if (this.awaited !== null) return this.wait(this.awaited).then(() => this.next());
      if (this.handed !== null) return this.fromThread(this.handed).then((batch) => batch ?? this.next());
      if (this.begun && context.shouldYield()) {
        this.adapt();
        return context.yieldTurn().then(() => {
          this.lastBegan = performance.now();
          return this.advance() ?? this.next();
        });
      }
      this.adapt();
      const batch = this.advance();
      if (batch !== undefined) return batch;
    }
    return null;
  }

  /** The table's columns are in files that are being opened: reading records would take longer. */
  private opening(): Promise<void> | null {
    const { context, program } = this;
    const opening = this.cache?.openingOf(context.tenantNumber, program.segments!.records!.layout) ?? null;
    return opening === null ? null : filesOpen(opening, context);
  }

  /** Afterwards the scan goes on at `rest`, whatever is there. */
  private async wait(awaited: AwaitedSegments): Promise<void> {
    await segmentsMade(awaited, this.context);
    this.lastBegan = 0;
    this.awaited = null;
    this.hasWaited = true;
    this.lookForSegments(this.cache!);
  }

  /** What another thread has made of the segments; null: nothing, or they are to be read here. */
  private async fromThread(handed: Handed): Promise<FromThread | null> {
    const { context, threads, scan } = this;
    this.handed = null;
    const answer = await threads!.answerOf(handed);
    context.tx.requireOpen();
    this.lastBegan = 0;
    if (answer === null) return null;
    scan!.skip(handed);
    return answer.length === 0 ? null : answer;
  }

  /** Segments of what comes after the key that are worth waiting for. */
  private awaitedAt(key: Uint8Array): AwaitedSegments | null {
    const { context, program, cache } = this;
    if (this.hasWaited) return null;
    return cache?.awaitedAt(context.tenantNumber, program.segments!.records!.layout, key) ?? null;
  }

  private adapt(): void {
    const now = performance.now();
    const tookMs = now - this.lastBegan;
    if (this.lastBegan > 0 && tookMs > BATCH_MS_MAX) {
      this.rowsMax = Math.max(BATCH_ROWS_MIN, Math.min(this.rowsMax, this.fullSize) / 2);
    } else if (tookMs < BATCH_MS_MIN) this.rowsMax *= 2;
    this.lastBegan = now;
  }

  /** Rows of a batch when rows cost little. */
  private get fullSize(): number {
    return this.scan !== null && this.handsOutChunks ? CHUNK_ROWS : this.context.batchRows;
  }

  /** A piece of work; undefined when it gave no rows. */
  private advance(): Batch | undefined {
    this.context.checkpoint();
    if (!this.begun) {
      this.begun = true;
      if (this.cache !== null) this.lookForSegments(this.cache);
    }
    if (this.scan !== null) return this.readSegments(this.scan);
    if (this.builder !== null) return this.build(this.builder);
    if (this.folder !== null) return this.fold(this.folder);
    return this.readRecords();
  }

  /** Making segments needs keys to go on from. */
  private get halfRead(): KeyRange["only"] {
    const { tested, others, rowKeySlot } = this.program.rows;
    const isKeyless = rowKeySlot < 0 && this.cache === null;
    if (tested === null && others === null) return isKeyless ? "count" : "keys";
    return isKeyless ? "values" : undefined;
  }

  private openRecords(): Cursor {
    const { context, program, rest } = this;
    const whole = this.stretch ?? prefixRange(program.prefixOf(context.tenantNumber), program.reverse);
    return context.tx.scan({ ...whole, ...(rest !== null && { gte: rest }), only: this.halfRead });
  }

  private readRecords(): Batch | undefined {
    const { rows, context, program } = this;
    this.cursor ??= this.openRecords();
    const entries = readSome(this.cursor, Math.min(this.size, this.rowsMax));
    if (entries === null) return undefined;
    const { keys, values } = entries;
    for (let i = 0; i < keys.length; i++) rows.add(keys[i]!, values[i]!);
    this.size = context.batchRows;
    if (keys.length === 0) {
      this.close();
      if (this.cache !== null)
        this.cache.endedShort(context.tenantNumber, program.segments!.records!.layout, this.records);
    } else if (this.cache !== null) {
      this.records += keys.length;
      if (this.records >= this.cache.sizes.recordsBefore) {
        this.rest = keyAfter(keys[keys.length - 1]!);
        this.lookForSegments(this.cache);
        // From here on keys are of no use.
        if (this.cache === null) this.closeCursor();
      }
    }
    return rows.length > 0 ? rows.take() : undefined;
  }

  /**
   * Goes over to segments, or to making them. What is made must be what the engine holds, so it is only made from a
   * transaction that sees exactly that, and of tables that are known to be long; others read on in the records.
   */
  private lookForSegments(cache: SegmentCache): void {
    const { context } = this;
    const { source, records } = this.program.segments!;
    const { layout } = records!;
    const table = cache.find(context.tenantNumber, layout, source);
    const missing = source.filter((id) => table === null || table.holds(layout, id) === "not yet");
    if (table !== null && missing.length === 0) {
      this.openOrFold(cache, table);
      return;
    }
    // For a table whose rows are about to change they are not made.
    if (this.stretch !== null || this.program.rows.rowKeySlot >= 0) {
      this.cache = null;
      return;
    }
    this.awaited = this.rest === null ? null : this.awaitedAt(this.rest);
    if (this.awaited !== null) {
      this.closeCursor();
      return;
    }
    if (this.records < cache.sizes.recordsBefore && !cache.isReadOften(context.tenantNumber, layout)) return;
    const rowsMax = cache.rowsMaxOf(layout, missing);
    const isTooLong = Number.isFinite(rowsMax) && cache.hasMoreRows(context.tenantNumber, layout, rowsMax);
    const claimed = context.tx.seesEngine && !isTooLong ? cache.claim(context.tenantNumber, layout) : null;
    if (claimed === null) this.cache = null;
    else {
      const columns = cache.columnsToMake(claimed, layout, missing);
      this.builder = new SegmentBuilder(cache, claimed, layout, columns, context.tx, rowsMax);
    }
  }

  private build(builder: SegmentBuilder): undefined {
    if (!builder.step()) return;
    this.builder = null;
    const table = this.heldTable();
    if (table === null) this.cache = null;
    else this.open(table);
  }

  /** The table's segments, if they have all columns. */
  private heldTable(): TableSegments | null {
    const { source, records } = this.program.segments!;
    const { layout } = records!;
    const table = this.cache?.find(this.context.tenantNumber, layout, source) ?? null;
    return table !== null && source.every((id) => table.holds(layout, id) === "yes") ? table : null;
  }

  /** Opens the table's segments; those with many changes are rebuilt first. */
  private openOrFold(cache: SegmentCache, table: TableSegments): void {
    const crowded = table.busy || !this.context.tx.seesEngine ? -1 : crowdedSegment(cache, table);
    if (crowded >= 0) this.folder = new SegmentFolder(cache, table, crowded);
    else this.open(table);
  }

  private fold(folder: SegmentFolder): undefined {
    if (!folder.step()) return;
    this.folder = null;
    const { source, records } = this.program.segments!;
    const { layout } = records!;
    const table = this.cache!.find(this.context.tenantNumber, layout, source);
    // Nobody could drop columns while this statement ran, but the cache may have thrown the table out.
    if (table === null) this.cache = null;
    else this.openOrFold(this.cache!, table);
  }

  private open(table: TableSegments): void {
    const { program, context } = this;
    const rowsMax = this.handsOutChunks ? CHUNK_ROWS : context.batchRows;
    const range = { gte: this.rest ?? this.stretch?.gte ?? null, lt: this.stretch?.lt ?? null };
    this.scan = new SegmentScan(program.segments!, table, context, rowsMax, range, this.bound);
    if (this.wanted.length > 0) this.scan.acceptKeys(this.wanted);
    // What the consumer was shown of rows that are still to come would count twice.
    if (this.segments !== null) this.scan.foresees = false;
    this.segments = table.segments;
    this.scan.givesExtremes = this.wantsExtremes && this.handsOutChunks && this.scan.knowsExtremes;
    if (this.work !== null && this.handsOutChunks && !this.scan.givesExtremes) {
      this.threads = ThreadReads.of(context, this.work, table, this.scan, program.segments!.source);
      this.scan.threads = this.threads;
    }
    this.closeCursor();
  }

  private closeCursor(): void {
    this.cursor?.close();
    this.cursor = null;
  }

  private readSegments(scan: SegmentScan): Batch | undefined {
    if (this.cursor !== null) return this.readGap(this.cursor);
    this.context.tx.requireOpen();
    const piece = scan.step(Math.min(this.fullSize, this.rowsMax));
    if (piece === null) {
      this.close();
      return undefined;
    }
    if (piece instanceof Gap) {
      this.openGap(piece);
      return undefined;
    }
    if (piece instanceof Handed) {
      this.handed = piece;
      return undefined;
    }
    return piece === undefined || this.handsOutChunks ? piece : valuesOfBatch(piece);
  }

  private openGap(gap: Gap): void {
    if (this.opensAgain(gap)) return;
    const { gte, lt } = gap;
    const { tested, others, rowKeySlot } = this.program.rows;
    this.gapAwaited = this.awaitedAt(gte);
    this.gapRows = 0;
    const isKeyless = this.gapAwaited === null && rowKeySlot < 0;
    const only = tested === null && others === null ? (isKeyless ? "count" : "keys") : isKeyless ? "values" : undefined;
    this.cursor = this.context.tx.scan({ gte, lt, only });
  }

  /** Segments in the gap have been made since the scan was opened: it goes on with them. */
  private opensAgain({ gte, lt }: Gap): boolean {
    const { threads } = this;
    const table = this.heldTable();
    if (table === null || table.segments === this.segments || !table.hasSegmentIn(keyText(gte), keyText(lt)))
      return false;
    this.usedBefore += threads?.used ?? 0;
    threads?.close();
    this.threads = null;
    this.rest = gte;
    this.open(table);
    return true;
  }

  private readGap(cursor: Cursor): Batch | undefined {
    const { rows, context } = this;
    const entries = readSome(cursor, Math.min(context.batchRows, this.rowsMax));
    if (entries === null) return undefined;
    const { keys, values } = entries;
    this.gapRows += keys.length;
    if (keys.length === 0) this.closeCursor();
    else if (this.gapAwaited !== null && this.gapRows >= this.cache!.sizes.recordsBefore) {
      this.rest = keyAfter(keys[keys.length - 1]!);
      this.awaited = this.gapAwaited;
      this.scan = null;
      this.closeCursor();
    }
    for (let i = 0; i < keys.length; i++) rows.add(keys[i]!, values[i]!);
    return rows.length > 0 ? rows.take() : undefined;
  }

  close(): void {
    this.done = true;
    this.threads?.close();
    this.builder?.abandon();
    this.builder = null;
    this.folder?.abandon();
    this.folder = null;
    this.closeCursor();
  }
}
