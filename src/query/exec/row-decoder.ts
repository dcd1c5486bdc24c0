/**
 * Decodes stored records into batches, for every operator that reads a table. Only wanted columns are decoded; with a
 * filter, its columns first, and the others only of rows that pass.
 */
import type { TableDef } from "../../catalog/table.js";
import type { RecordDecoder } from "../../storage/record-codec.js";
import type { Value } from "../../values/values.js";
import type { Predicate } from "../expr/compile.js";
import type { Batch, ColumnId, Expr } from "../expr/expr.js";
import { columnsOf } from "../expr/walk.js";
import type { OutputColumn } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { emptyColumns } from "./row-buffer.js";
import { type Column, valueAt } from "./segments/column.js";
import { compileCondition, slotsOf } from "./slots.js";
import { decoderOf, layoutOf } from "./table-layout.js";

/** The part of a scan, point get or index scan that says how a record is decoded. */
export interface TableOutput {
  readonly table: TableDef;
  readonly columns: readonly OutputColumn[];
  readonly source: readonly number[];
  readonly filter: Expr | null;
  readonly rowKey: ColumnId | null;
}

interface Part {
  readonly slots: readonly number[];
  readonly decode: RecordDecoder;
}

export interface RowDecoderProgram {
  readonly width: number;
  /** Decoded before the predicate is asked; null without one. */
  readonly tested: Part | null;
  readonly predicate: Predicate | null;
  readonly others: Part | null;
  /** The slot of the storage key, −1 for none. */
  readonly rowKeySlot: number;
  /** The predicate reads it. */
  readonly testsRowKey: boolean;
}

export function compileRowDecoder(output: TableOutput): RowDecoderProgram {
  const { table, columns, source, filter, rowKey } = output;
  const layout = layoutOf(table);
  const read = filter === null ? new Set<ColumnId>() : columnsOf(filter);
  const part = (inFilter: boolean): Part | null => {
    const slots = source.map((_, slot) => slot).filter((slot) => read.has(columns[slot]!.id) === inFilter);
    if (slots.length === 0) return null;
    const wanted = slots.map((slot) => source[slot]!);
    return { slots, decode: decoderOf(layout, wanted) };
  };
  return {
    width: columns.length,
    tested: part(true),
    predicate: compileCondition(filter, slotsOf(columns)),
    others: part(false),
    rowKeySlot: rowKey === null ? -1 : columns.findIndex((column) => column.id === rowKey),
    testsRowKey: rowKey !== null && read.has(rowKey),
  };
}

/** Collects the rows of one batch after the other; owned by one run of one operator. */
export class RowDecoder {
  length = 0;
  private readonly columns: Value[][];
  /** What the predicate sees: the row that is being added. */
  private readonly view: Batch;
  private readonly testedColumns: Value[][];
  private readonly otherColumns: Value[][];

  constructor(
    private readonly program: RowDecoderProgram,
    private readonly context: ExecContext,
  ) {
    this.columns = emptyColumns(program.width);
    this.view = { columns: this.columns, length: 0 };
    this.testedColumns = program.tested === null ? [] : program.tested.slots.map((slot) => this.columns[slot]!);
    this.otherColumns = program.others === null ? [] : program.others.slots.map((slot) => this.columns[slot]!);
  }

  /** Adds the row unless the filter refuses it. Neither argument is kept: they may be parts of a reader's block. */
  add(key: Uint8Array, record: Uint8Array): void {
    const { program, length } = this;
    if (program.tested !== null) program.tested.decode(record, this.testedColumns, length);
    if (program.testsRowKey) this.columns[program.rowKeySlot]![length] = Buffer.from(key);
    if (program.predicate !== null && !program.predicate(this.view, length, this.context)) return;
    if (program.others !== null) program.others.decode(record, this.otherColumns, length);
    if (program.rowKeySlot >= 0) this.columns[program.rowKeySlot]![length] = Buffer.from(key);
    this.length++;
  }

  /** Adds row number `row` of columns (by slot) that hold it already, unless the filter refuses it. */
  addHeld(vectors: readonly Column[], row: number): void {
    const { program, length, columns } = this;
    if (program.tested !== null) {
      for (const slot of program.tested.slots) columns[slot]![length] = valueAt(vectors[slot]!, row);
    }
    if (program.predicate !== null && !program.predicate(this.view, length, this.context)) return;
    if (program.others !== null) {
      for (const slot of program.others.slots) columns[slot]![length] = valueAt(vectors[slot]!, row);
    }
    this.length++;
  }

  /** Adds a row of these values, by slot, unless the filter refuses it. */
  addValues(values: readonly Value[]): void {
    const { program, length, columns } = this;
    for (let slot = 0; slot < values.length; slot++) columns[slot]![length] = values[slot]!;
    if (program.predicate === null || program.predicate(this.view, length, this.context)) this.length++;
  }

  /** The same of a row of which is known that it passes. */
  addPassing(values: readonly Value[]): void {
    for (let slot = 0; slot < values.length; slot++) this.columns[slot]![this.length] = values[slot]!;
    this.length++;
  }

  /** The rows added since the last call. */
  take(): Batch {
    const batch = { columns: this.columns, length: this.length };
    this.length = 0;
    return batch;
  }
}
