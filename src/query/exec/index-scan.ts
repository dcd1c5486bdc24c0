/**
 * Ranges of the primary key or of an index, in key order. Over the primary key the entries are the rows; over an index
 * each batch of entries is followed by one multi-get of their rows.
 */
import type { Cursor, Entries, KeyRange } from "../../storage/store.js";
import type { IndexScanPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { compileKeyRanges, type KeyRangesProgram, keyRanges } from "./key-ranges.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { compileRowDecoder, RowDecoder, type RowDecoderProgram } from "./row-decoder.js";
import { FIRST_BATCH_ROWS } from "./scan.js";
import { joinKey, keyLayoutOf, layoutOf, type TableLayout } from "./table-layout.js";

interface IndexScanProgram {
  readonly rows: RowDecoderProgram;
  readonly ranges: KeyRangesProgram;
  readonly layout: TableLayout;
  readonly byPrimaryKey: boolean;
}

export function compileIndexScan(plan: IndexScanPlan): Open {
  const layout = layoutOf(plan.table);
  const keyLayout = keyLayoutOf(plan.table, plan.index);
  const program: IndexScanProgram = {
    rows: compileRowDecoder(plan),
    ranges: compileKeyRanges(plan, keyLayout),
    layout,
    byPrimaryKey: keyLayout === layout.primaryKey,
  };
  return (context) => new IndexScanOperator(program, context);
}

class IndexScanOperator implements Operator {
  private readonly rows: RowDecoder;
  /** Null until the first call, which may evaluate subqueries. */
  private ranges: KeyRange[] | null = null;
  private position = 0;
  private cursor: Cursor | null = null;
  private size: number;
  private closed = false;

  constructor(
    private readonly program: IndexScanProgram,
    private readonly context: ExecContext,
  ) {
    this.rows = new RowDecoder(program.rows, context);
    this.size = Math.min(FIRST_BATCH_ROWS, context.batchRows);
  }

  next(): Pulled {
    const { context } = this;
    if (this.ranges === null) this.ranges = keyRanges(this.program.ranges, context);
    else if (context.shouldYield()) return context.yieldTurn().then(() => this.readOrNext());
    return this.readOrNext();
  }

  private readOrNext(): Pulled {
    const { context, rows } = this;
    while (!this.closed && this.position < this.ranges!.length) {
      context.checkpoint();
      if (this.program.ranges.points) this.readPoints(this.ranges!);
      else this.readRange(this.ranges![this.position]!);
      this.size = context.batchRows;
      if (rows.length > 0) return rows.take();
      if (context.shouldYield()) return context.yieldTurn().then(() => this.readOrNext());
    }
    return null;
  }

  /** Whole unique keys: their entries by one multi-get, without a cursor. */
  private readPoints(ranges: readonly KeyRange[]): void {
    const { tx } = this.context;
    const keys = ranges.slice(this.position, this.position + this.size).map((range) => range.gte);
    this.position += keys.length;
    const values = tx.getMany(keys);
    if (this.program.byPrimaryKey) {
      for (let i = 0; i < keys.length; i++) if (values[i] !== undefined) this.rows.add(keys[i]!, values[i]!);
    } else {
      this.addRows(values.filter((suffix) => suffix !== undefined));
    }
  }

  private readRange(range: KeyRange): void {
    this.cursor ??= this.context.tx.scan(range);
    const entries: Entries = this.cursor.next(this.size);
    if (this.program.byPrimaryKey) {
      for (let i = 0; i < entries.keys.length; i++) this.rows.add(entries.keys[i]!, entries.values[i]!);
    } else {
      this.addRows(entries.values);
    }
    if (entries.keys.length === 0) {
      this.cursor.close();
      this.cursor = null;
      this.position++;
    }
  }

  private addRows(suffixes: readonly Uint8Array[]): void {
    const { context, program, rows } = this;
    const prefix = program.layout.rowPrefixOf(context.tenantNumber);
    const keys = suffixes.map((suffix) => joinKey(prefix, suffix));
    const records = context.tx.getMany(keys);
    for (let i = 0; i < keys.length; i++) {
      const record = records[i];
      // Only a row that this statement itself removed since the cursor was opened has an entry but no record.
      if (record !== undefined) rows.add(keys[i]!, record);
    }
  }

  close(): void {
    this.closed = true;
    this.cursor?.close();
    this.cursor = null;
  }
}
