/**
 * ORDER BY: keeps all rows, sorts their numbers, and hands the rows on in that order. Rows that do not fit into the
 * statement's memory go to disk in sorted runs, which are merged at the end (Knuth, The Art of Computer Programming 3,
 * §5.4).
 */
import type { SqlType, Value } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import type { OutputColumn, SortKey, SortPlan } from "../plan/plan.js";
import { type Abbreviation, abbreviate, abbreviatedOrder, abbreviationOf } from "./abbreviated-keys.js";
import type { ExecContext } from "./context.js";
import { type NumberSort, type NumberSortOf, numberSortOf } from "./number-sort.js";
import { after, drain, inTurns, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns, RowBuffer } from "./row-buffer.js";
import { compileAll, type EvaluateAll, slotsOf } from "./slots.js";
import { comparisonCost, type RowOrderOf, rowOrderOf, sortRows } from "./sort-rows.js";
import { RunMerge } from "./spill/run-merge.js";
import type { SpillFile } from "./spill/spill-area.js";
import { canSpill, type Run, RunWriter } from "./spill/spilled-rows.js";
import { type ColumnBytes, columnBytesOf } from "./value-bytes.js";

export interface SortProgram {
  readonly columns: readonly OutputColumn[];
  readonly keys: readonly EvaluateAll[];
  readonly keyBytes: readonly ColumnBytes[];
  readonly orderOf: RowOrderOf;
  /** Of the first key. */
  readonly abbreviation: Abbreviation | null;
  readonly descending: boolean;
  readonly numbersOf: NumberSortOf;
  /** Of the keys and then of the columns; null if there is one that cannot be put on disk. */
  readonly spillTypes: readonly SqlType[] | null;
}

export function compileSortKeys(columns: readonly OutputColumn[], keys: readonly SortKey[]): SortProgram {
  const slotOf = slotsOf(columns);
  const types = [...keys.map((key) => key.expr.type), ...columns.map((column) => column.type)];
  return {
    spillTypes: canSpill(types) ? types : null,
    columns,
    keys: keys.map((key) => compileAll(key.expr, slotOf)),
    keyBytes: keys.map((key) => columnBytesOf(key.expr.type)),
    orderOf: rowOrderOf(keys),
    abbreviation: keys.length === 0 ? null : abbreviationOf(keys[0]!.expr.type),
    descending: keys[0]?.descending === true,
    numbersOf: numberSortOf(keys),
  };
}

export function compileSort(plan: SortPlan, input: Open): Open {
  const program = compileSortKeys(plan.input.columns, plan.keys);
  return (context) => new SortOperator(program, input(context), context);
}

/** A row's place in the order and the number that stands for its first key, or what a sort by numbers moves. */
const ROW_BYTES = 16;
/** A key's number. */
const KEY_BYTES = 8;

class SortOperator implements Operator {
  private readonly rows: RowBuffer;
  private readonly keys: Value[][];
  /** The first key's abbreviations. */
  private numbers: number[] = [];
  /** All keys; null: values have to be compared. */
  private numberSort: NumberSort | null;
  private readonly out: Value[][];
  private order: Uint32Array | Int32Array | null = null;
  private position = 0;
  private keyBytes = 0;
  private file: SpillFile | null = null;
  private readonly runs: Run[] = [];
  private merge: RunMerge | null = null;

  constructor(
    private readonly program: SortProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.rows = new RowBuffer(program.columns, context);
    this.keys = emptyColumns(program.keys.length);
    this.out = emptyColumns(program.columns.length);
    this.numberSort = program.numbersOf();
  }

  next(): Pulled {
    if (this.merge !== null) return this.merge.next();
    if (this.order !== null) {
      // A consumer that passes over many rows (OFFSET) asks nobody else for its turns.
      return this.context.shouldYield() ? this.context.yieldTurn().then(() => this.emit()) : this.emit();
    }
    return drain(this.input, this.append, () => {
      if (this.runs.length > 0) return after(this.spillRun(), () => this.startMerge().next());
      return after(this.sorted(), (order) => {
        this.order = order;
        return this.emit();
      });
    });
  }

  private sorted(): Uint32Array | Int32Array | Promise<Uint32Array | Int32Array> {
    if (this.numberSort !== null) return this.numberSort.sort(this.context, this.rows.length);
    const { abbreviation, descending, orderOf } = this.program;
    const full = orderOf(this.keys);
    const order = abbreviation === null ? full : abbreviatedOrder(this.numbers, abbreviation, descending, full);
    return sortRows(this.context, this.rows.length, order, comparisonCost(this.keys, this.rows.length));
  }

  private readonly append = (batch: Batch): void | Promise<void> => {
    const { context, program } = this;
    const isFull = program.spillTypes !== null && context.statement.isCrowded(this.keyBytes + this.rows.bytes);
    if (!isFull || context.spill === null) {
      this.keep(batch);
      return;
    }
    const spilled = this.spillRun();
    if (spilled instanceof Promise) return spilled.then(() => this.keep(batch));
    this.keep(batch);
  };

  private keep(batch: Batch): void {
    const { program, context, rows } = this;
    let bytes = (ROW_BYTES + (this.numberSort === null ? 0 : KEY_BYTES * program.keys.length)) * batch.length;
    for (let k = 0; k < program.keys.length; k++) {
      const values = program.keys[k]!(batch, context, []);
      const to = this.keys[k]!;
      for (let row = 0; row < batch.length; row++) to.push(values[row]!);
      bytes += program.keyBytes[k]!(values, batch.length);
      if (this.numberSort?.add(k, values, batch.length) === false) this.numberSort = null;
      if (k === 0 && program.abbreviation !== null) {
        abbreviate(values, batch.length, program.abbreviation, this.numbers);
      }
    }
    this.keyBytes += bytes;
    context.statement.reserve(bytes);
    rows.append(batch);
  }

  /** The rows that are held go to disk as one sorted run. */
  private spillRun(): void | Promise<void> {
    const { context, rows, keys, program } = this;
    if (rows.length === 0) return;
    return after(this.sorted(), (order) => {
      this.file ??= context.spill!.open(context.statement);
      const writer = new RunWriter(this.file, program.spillTypes!, context.statement);
      const columns = [...keys, ...rows.columns];
      const write = (i: number) => writer.add(columns, order[i]!);
      return inTurns(context, order.length, write, () => {
        this.runs.push(writer.finish());
        this.forget();
      });
    });
  }

  private forget(): void {
    this.context.statement.release(this.keyBytes);
    this.keyBytes = 0;
    this.numbers = [];
    this.numberSort?.clear();
    for (let k = 0; k < this.keys.length; k++) this.keys[k] = [];
    this.rows.clear();
  }

  private startMerge(): RunMerge {
    this.merge = new RunMerge(this.runs, this.program.keys.length, this.program.orderOf, this.context);
    return this.merge;
  }

  private emit(): Batch | null {
    const from = this.position;
    if (from === this.rows.length) return null;
    this.position = Math.min(from + this.context.batchRows, this.rows.length);
    return this.rows.gather(this.order!, from, this.position, this.out);
  }

  close(): void {
    this.merge?.close();
    this.file?.close();
    this.context.statement.release(this.keyBytes);
    this.keyBytes = 0;
    this.rows.release();
    this.input.close();
  }
}
