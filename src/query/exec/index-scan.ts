/**
 * Ranges of the primary key or of an index, in key order. Over the primary key the entries are the rows, which come
 * from column segments where the table has them. Over an index each batch of entries is followed by one multi-get of
 * their rows, unless the entries have everything that is read (an index-only scan). Segments are made for joins that
 * look up many rows of a table, and when ranges have read as much of its records as making them takes. A long range of
 * the primary key is scanned as a whole table is, with chunks from segments.
 */

import { keyAfter } from "../../storage/keys.js";
import { keyText } from "../../storage/ordered-map.js";
import { type Cursor, type Entries, type KeyRange, readSome } from "../../storage/store.js";
import type { Batch } from "../expr/expr.js";
import type { IndexScanPlan, ScanPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { type CoveredRows, compileCoveredRows } from "./covered-rows.js";
import { suffixOf } from "./entry-value.js";
import { compileIndexSpool, type IndexSpool, type IndexSpoolProgram, spoolOf } from "./index-spool.js";
import type { KeptRows } from "./kept-rows.js";
import { compileKeyRanges, type KeyRanges, type KeyRangesProgram, keyRanges } from "./key-ranges.js";
import { compileKeyedStretch } from "./keyed-scan.js";
import { after, type Open, type Operator, type Pulled } from "./operator.js";
import { compileRowDecoder, RowDecoder, type RowDecoderProgram } from "./row-decoder.js";
import { compileStretchScan, FIRST_BATCH_ROWS, type Stretch } from "./scan.js";
import { isLookedUp } from "./segments/column.js";
import { SegmentBuilder } from "./segments/segment-builder.js";
import type { SegmentCache } from "./segments/segment-cache.js";
import { openSegmentRange, type SegmentRange } from "./segments/segment-range.js";
import type { TableSegments } from "./segments/table-segments.js";
import { joinKey, type KeyLayout, keyLayoutOf, layoutOf, type TableLayout } from "./table-layout.js";

interface IndexScanProgram {
  readonly rows: RowDecoderProgram;
  readonly ranges: KeyRangesProgram;
  readonly layout: TableLayout;
  readonly keyLayout: KeyLayout;
  readonly byPrimaryKey: boolean;
  readonly source: readonly number[];
  /** Segments can hold its rows. */
  readonly segmentable: boolean;
  /** Reads a long range from segments; null when they cannot have what is read. Its scan is null where they lack it. */
  readonly openStretch: ((context: ExecContext, stretch: Stretch) => Operator | null) | null;
  /** Its rows from the entries alone; null when they must be fetched. */
  readonly covered: CoveredRows | null;
  /** The half of its entries that is looked at; absent: both. */
  readonly only: KeyRange["only"];
  /** Each entry is a row that is handed on. */
  readonly entriesAreRows: boolean;
  /** What many lookups of one statement read; null: records. */
  readonly spool: IndexSpoolProgram | null;
}

/** Rows of a table that can be made into segments in the time of one lookup in the records. */
const ROWS_PER_LOOKUP = 128;
/** Lookups that are counted at a time: statements with fewer do not count. */
const LOOKUPS_COUNTED = 64;

export function compileIndexScan(plan: IndexScanPlan): Open {
  const layout = layoutOf(plan.table);
  const keyLayout = keyLayoutOf(plan.table, plan.index);
  const { table, alias, source, columns, filter, rowKey } = plan;
  const isInRowOrder = keyLayout === layout.primaryKey && !plan.reverse;
  const segmentable = isInRowOrder && rowKey === null && columns.every((column) => isLookedUp(column.type));
  const rest: ScanPlan = { kind: "scan", table, alias, source, columns, filter, rowKey, reverse: false };
  const openKeyed = isInRowOrder && rowKey !== null ? compileKeyedStretch(rest) : null;
  const rows = compileRowDecoder(plan);
  const ranges = compileKeyRanges(plan, keyLayout);
  const covered = compileCoveredRows(plan);
  const byPrimaryKey = keyLayout === layout.primaryKey;
  const program: IndexScanProgram = {
    rows,
    ranges,
    layout,
    keyLayout,
    byPrimaryKey,
    source: plan.source,
    covered,
    only: byPrimaryKey ? undefined : covered === null ? "values" : covered.only,
    entriesAreRows: !byPrimaryKey && !ranges.points && rows.predicate === null,
    segmentable,
    openStretch: segmentable ? compileStretchScan(rest) : openKeyed,
    spool: compileIndexSpool(plan, keyLayout, ranges),
  };
  return (context) => new IndexScanOperator(program, context);
}

class IndexScanOperator implements Operator {
  private readonly rows: RowDecoder;
  /** Null until the first call, which may evaluate subqueries. */
  private ranges: KeyRanges | null = null;
  private position = 0;
  private cursor: Cursor | null = null;
  private segments: TableSegments | null = null;
  private builder: SegmentBuilder | null = null;
  /** The current range's rows, when they come from segments. */
  private held: SegmentRange | null = null;
  /** Reads the rest of the current range, which is long. */
  private stretch: Operator | null = null;
  private handsOutChunks = false;
  private size: number;
  /** How many rows are likely to be read. */
  private expected = FIRST_BATCH_ROWS;
  /** Rows that nobody wants, at the beginning. */
  private toPassOver = 0;
  /** Rows of the current range that have come from records. */
  private rangeRows = 0;
  /** Rows of ranges that came from records. */
  private rowsRead = 0;
  private closed = false;
  private readonly spool: IndexSpool | null;
  /** Where its next row is, and where its last one ends. */
  private kept: KeptRows | null = null;
  private keptAt = 0;
  private keptTo = 0;

  constructor(
    private readonly program: IndexScanProgram,
    private readonly context: ExecContext,
  ) {
    this.spool = program.spool === null ? null : spoolOf(program.spool, context);
    this.rows = new RowDecoder(program.rows, context);
    this.size = Math.min(FIRST_BATCH_ROWS, context.batchRows);
  }

  acceptChunks(): void {
    this.handsOutChunks = true;
  }

  expectRows(rows: number): void {
    this.expected = rows;
    this.size = Math.max(1, Math.min(this.size, rows));
  }

  passOver(rows: number): boolean {
    if (!this.program.entriesAreRows) return false;
    this.toPassOver = rows;
    this.expected = Math.max(1, this.expected - rows);
    this.size = Math.min(this.context.batchRows, rows);
    return true;
  }

  next(): Pulled {
    const { context } = this;
    if (this.kept !== null) return this.readKept(this.kept);
    if (this.stretch !== null) return after(this.stretch.next(), this.fromStretch);
    if (this.ranges === null) {
      const kept = this.spool?.lookUp() ?? null;
      if (kept !== null) return this.beginKept(kept);
      return after(keyRanges(this.program.ranges, context), (ranges) => this.begin(ranges));
    }
    if (context.shouldYield()) return context.yieldTurn().then(() => this.readOrNext());
    return this.readOrNext();
  }

  private beginKept(kept: KeptRows): Pulled {
    const { context, toPassOver } = this;
    context.tx.requireOpen();
    const { from, to } = kept.find(context);
    this.kept = kept;
    this.keptAt = this.program.ranges.reverse ? from : Math.min(to, from + toPassOver);
    this.keptTo = this.program.ranges.reverse ? Math.max(from, to - toPassOver) : to;
    if (toPassOver > 0) this.size = Math.min(context.batchRows, this.expected);
    return this.readKept(kept);
  }

  private readKept(kept: KeptRows): Pulled {
    const { context, rows, program } = this;
    const { reverse } = program.ranges;
    while (!this.closed && this.keptAt < this.keptTo) {
      context.checkpoint();
      const count = Math.min(this.size, this.keptTo - this.keptAt);
      this.size = context.batchRows;
      if (reverse) for (let i = 0; i < count; i++) rows.addHeld(kept.vectors, kept.rows[--this.keptTo]!);
      else for (let i = 0; i < count; i++) rows.addHeld(kept.vectors, kept.rows[this.keptAt++]!);
      if (rows.length > 0) return rows.take();
      if (context.shouldYield()) return context.yieldTurn().then(() => this.readKept(kept));
    }
    return null;
  }

  private begin(ranges: KeyRanges): Pulled {
    this.ranges = ranges;
    if (this.program.segmentable) this.lookForSegments();
    return this.readOrNext();
  }

  private readOrNext(): Pulled {
    const { context, rows } = this;
    while (!this.closed && this.position < this.ranges!.length) {
      context.checkpoint();
      const passes = this.toPassOver > 0;
      if (this.builder !== null) this.build(this.builder);
      else if (this.segments !== null) this.readSegments(this.segments, this.ranges!);
      else if (this.program.ranges.points) this.readPoints(this.ranges!);
      else this.readRange(this.ranges!);
      // A batch ends where the rows that are passed over end.
      if (this.toPassOver > 0) this.size = Math.min(context.batchRows, this.toPassOver);
      else if (rows.length === 0 && passes) this.size = Math.min(context.batchRows, this.expected);
      else this.size = context.batchRows;
      if (rows.length > 0) return rows.take();
      if (this.stretch !== null) return after(this.stretch.next(), this.fromStretch);
      if (context.shouldYield()) return context.yieldTurn().then(() => this.readOrNext());
    }
    return null;
  }

  private readonly fromStretch = (batch: Batch | null): Pulled => {
    if (batch !== null) return batch;
    this.stretch?.close();
    this.stretch = null;
    this.rangeRows = 0;
    this.position++;
    return this.readOrNext();
  };

  /** The rest of a range from here on is read from segments, if it has all of one. */
  private beginStretch(table: TableSegments, stretch: Stretch): boolean {
    const { context, program } = this;
    if (!hasWholeSegment(table, stretch)) return false;
    this.stretch = program.openStretch!(context, stretch);
    if (this.stretch === null) return false;
    if (this.handsOutChunks) this.stretch.acceptChunks?.();
    this.cursor?.close();
    this.cursor = null;
    return true;
  }

  /** So many records of the range have been read that segments are worth their pages. */
  private leaveRecords(after: Uint8Array, lt: Uint8Array): void {
    const { context, program } = this;
    const { layout, source } = program;
    const table = context.segments?.find(context.tenantNumber, layout, source) ?? null;
    if (table === null) return;
    if (program.segmentable && source.some((id) => table.holds(layout, id) !== "yes")) return;
    this.beginStretch(table, { gte: keyAfter(after), lt });
  }

  private lookForSegments(): void {
    const { context, program } = this;
    const cache = context.segments;
    if (cache === null) return;
    const { layout, source } = program;
    const table = cache.tables === 0 ? null : cache.find(context.tenantNumber, layout, source);
    const missing = source.filter((id) => table === null || table.holds(layout, id) === "not yet");
    if (table !== null && missing.length === 0) {
      this.segments = table;
      return;
    }
    const rowsRead = context.outer === null ? this.rowsReadBefore(cache) : this.rowsWorthReading(cache);
    const rowsMax = Math.min(rowsRead, cache.rowsMaxOf(layout, missing));
    if (rowsMax === 0 || (table !== null && table.rows > rowsMax) || !context.tx.seesEngine) return;
    const claimed = cache.claim(context.tenantNumber, layout);
    if (claimed === null) return;
    const columns = cache.columnsToMake(claimed, layout, missing);
    this.builder = new SegmentBuilder(cache, claimed, layout, columns, context.tx, rowsMax);
  }

  /** Counts a lookup. Of how many rows segments could have been made in the time of all of them; 0: too few to say. */
  private rowsWorthReading(cache: SegmentCache): number {
    const { statement, tenantNumber } = this.context;
    const { layout } = this.program;
    const lookups = (statement.lookups?.get(layout.table) ?? 0) + 1;
    statement.lookups ??= new Map();
    statement.lookups.set(layout.table, lookups);
    const counted = Math.min(LOOKUPS_COUNTED, cache.sizes.lookupsBefore);
    return lookups % counted === 0 ? ROWS_PER_LOOKUP * cache.lookedUp(tenantNumber, layout, counted) : 0;
  }

  /** The same for the ranges of statements that were no lookups of a join. */
  private rowsReadBefore(cache: SegmentCache): number {
    return ROWS_PER_LOOKUP * cache.lookedUp(this.context.tenantNumber, this.program.layout, 0);
  }

  private build(builder: SegmentBuilder): void {
    if (!builder.step()) return;
    this.builder = null;
    this.lookForSegments();
  }

  private readSegments(table: TableSegments, ranges: KeyRanges): void {
    this.context.tx.requireOpen();
    const range = ranges.at(this.position);
    if (this.held === null) {
      const held = openSegmentRange(table, this.program.source, range, this.context);
      if (held === null) {
        // From here on records are read.
        this.segments = null;
        return;
      }
      if (this.beginStretch(table, range)) return;
      this.held = held;
    }
    if (this.held.read(this.rows, this.size)) return;
    this.held = null;
    this.position++;
  }

  /** Whole unique keys: their entries by one multi-get, without a cursor. */
  private readPoints(ranges: KeyRanges): void {
    const { tx } = this.context;
    const keys = ranges.starts.slice(this.position, this.position + this.size);
    this.position += keys.length;
    const values = tx.getMany(keys);
    if (this.program.byPrimaryKey) {
      for (let i = 0; i < keys.length; i++) if (values[i] !== undefined) this.rows.add(keys[i]!, values[i]!);
    } else if (this.program.covered !== null) {
      const found = keys.filter((_, i) => values[i] !== undefined);
      const entries = { keys: found, values: values.filter((value) => value !== undefined) };
      this.program.covered.add(entries, this.context.tenantNumber, this.rows);
    } else {
      this.addRows(values.filter((value) => value !== undefined));
    }
  }

  private readRange(ranges: KeyRanges): void {
    const { rows } = this;
    const range = ranges.at(this.position);
    this.cursor ??= this.context.tx.scan({ ...range, only: this.program.only });
    const found = readSome(this.cursor, this.size);
    if (found === null) return;
    const entries = this.wanted(found);
    if (this.program.byPrimaryKey) {
      for (let i = 0; i < entries.keys.length; i++) this.rows.add(entries.keys[i]!, entries.values[i]!);
    } else if (this.program.covered !== null) {
      this.program.covered.add(entries, this.context.tenantNumber, rows);
    } else {
      this.addRows(entries.values);
    }
    this.rowsRead += found.keys.length;
    this.spool?.noteRead(found.keys.length);
    if (found.keys.length === 0) {
      this.cursor.close();
      this.cursor = null;
      this.rangeRows = 0;
      this.position++;
      return;
    }
    const before = this.rangeRows;
    this.rangeRows += found.keys.length;
    const sizes = this.program.openStretch === null ? undefined : this.context.segments?.sizes;
    if (sizes === undefined || before >= sizes.recordsBefore || this.rangeRows < sizes.recordsBefore) return;
    this.leaveRecords(found.keys.at(-1)!, range.lt);
  }

  /** The entries without those that are passed over: no row is fetched for them. */
  private wanted(found: Entries): Entries {
    const passed = Math.min(this.toPassOver, found.keys.length);
    if (passed === 0) return found;
    this.toPassOver -= passed;
    return { keys: found.keys.slice(passed), values: found.values.slice(passed) };
  }

  private addRows(values: readonly Uint8Array[]): void {
    const { context, program, rows } = this;
    const prefix = program.layout.rowPrefixOf(context.tenantNumber);
    const keys = values.map((value) => joinKey(prefix, suffixOf(program.keyLayout, value)));
    const records = context.tx.getMany(keys);
    for (let i = 0; i < keys.length; i++) {
      const record = records[i];
      // Only a row that this statement itself removed since the cursor was opened has an entry but no record.
      if (record !== undefined) rows.add(keys[i]!, record);
    }
  }

  /** Counts rows that were read from records as the lookups that would have cost as much. */
  private countRowsRead(): void {
    const { context, program } = this;
    if (!program.segmentable || this.rowsRead < ROWS_PER_LOOKUP || context.outer !== null) return;
    context.segments?.lookedUp(context.tenantNumber, program.layout, Math.floor(this.rowsRead / ROWS_PER_LOOKUP));
    this.rowsRead = 0;
  }

  close(): void {
    if (!this.closed && this.ranges !== null) this.context.statement.release(this.ranges.bytes);
    this.closed = true;
    this.countRowsRead();
    this.builder?.abandon();
    this.builder = null;
    this.stretch?.close();
    this.cursor?.close();
    this.cursor = null;
  }
}

function hasWholeSegment(table: TableSegments, { gte, lt }: Stretch): boolean {
  const from = keyText(gte);
  const before = table.segments[table.numberBefore(from)];
  const first = before?.from === from ? before : table.segments[table.numberBefore(from) + 1];
  return first !== undefined && first.to <= keyText(lt);
}
