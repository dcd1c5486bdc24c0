/**
 * ORDER BY: keeps all rows in columns, sorts their numbers, and hands the rows on in that order. Rows that do not fit
 * into the statement's memory go to disk in sorted runs, which are merged at the end (Knuth, The Art of Computer
 * Programming 3, §5.4).
 */
import type { SqlType, Value } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import { newColumnId } from "../optimize/new-column-id.js";
import type { OutputColumn, SortKey, SortPlan } from "../plan/plan.js";
import { abbreviationOf } from "./abbreviated-keys.js";
import { type ColumnOrderProgram, columnOrder, type SortedRows } from "./column-order.js";
import type { ExecContext } from "./context.js";
import { after, drain, inTurns, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { ALL_ROWS, CHUNK_ROWS, Chunk, chunkOf, plainColumn, type Selection, valuesOfBatch } from "./segments/chunk.js";
import type { Column } from "./segments/column.js";
import { ColumnBuffer } from "./segments/column-buffer.js";
import { compileAll, type EvaluateAll, slotsOf, slotsRead } from "./slots.js";
import { type RowOrderOf, rowOrderOf } from "./sort-rows.js";
import { RunMerge } from "./spill/run-merge.js";
import type { SpillFile } from "./spill/spill-area.js";
import { canSpill, type Run, RunWriter } from "./spill/spilled-rows.js";

/** What a sort and a heap have in common. */
export interface SortKeys {
  readonly columns: readonly OutputColumn[];
  readonly keys: readonly EvaluateAll[];
  readonly orderOf: RowOrderOf;
}

export function compileSortKeys(columns: readonly OutputColumn[], keys: readonly SortKey[]): SortKeys {
  const slotOf = slotsOf(columns);
  return { columns, keys: keys.map((key) => compileAll(key.expr, slotOf)), orderOf: rowOrderOf(keys) };
}

interface SortProgram {
  readonly width: number;
  /** The columns, and behind them the keys that are none of them. */
  readonly kept: readonly OutputColumn[];
  readonly computed: readonly { readonly slots: readonly number[]; readonly evaluate: EvaluateAll }[];
  readonly order: ColumnOrderProgram;
  /** Of the keys and then of the columns; null if there is one that cannot be put on disk. */
  readonly spillTypes: readonly SqlType[] | null;
}

export function compileSort(plan: SortPlan, input: Open): Open {
  const { columns } = plan.input;
  const slotOf = slotsOf(columns);
  const kept = [...columns];
  const computed: { slots: readonly number[]; evaluate: EvaluateAll }[] = [];
  const keys = plan.keys.map(({ expr, descending, nullsFirst }) => {
    const { type } = expr;
    const slot = expr.kind === "column" ? slotOf(expr.id) : -1;
    if (slot >= 0) return { slot, type, descending, nullsFirst };
    computed.push({ slots: slotsRead([expr], slotOf), evaluate: compileAll(expr, slotOf) });
    const added = kept.push({ id: newColumnId(), name: "", type, nullable: true }) - 1;
    return { slot: added, type, descending, nullsFirst };
  });
  const types = [...keys.map(({ type }) => type), ...columns.map(({ type }) => type)];
  const abbreviation = keys.length === 0 ? null : abbreviationOf(keys[0]!.type);
  const program: SortProgram = {
    width: columns.length,
    kept,
    computed,
    order: { keys, orderOf: rowOrderOf(plan.keys), abbreviation },
    spillTypes: canSpill(types) ? types : null,
  };
  return (context) => new SortOperator(program, input(context), context);
}

/** What sorting moves for each row. */
const ROW_BYTES = 20;
/** Rows that are written to disk at a time. */
const WRITTEN_ROWS = 256;

class SortOperator implements Operator {
  private readonly rows: ColumnBuffer;
  private vectors: readonly Column[] = [];
  /** Those that are handed on. */
  private handed: readonly Column[] = [];
  private readonly scratch: Value[][];
  private order: Int32Array | null = null;
  private position = 0;
  private orderBytes = 0;
  private handsOutChunks = false;
  private file: SpillFile | null = null;
  private readonly runs: Run[] = [];
  private merge: RunMerge | null = null;

  constructor(
    private readonly program: SortProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.rows = new ColumnBuffer(program.kept, context);
    this.scratch = emptyColumns(program.kept.length);
    input.acceptChunks?.();
  }

  acceptChunks(): void {
    this.handsOutChunks = true;
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
        this.order = numbersOf(order);
        this.handed = this.vectors.slice(0, this.program.width);
        return this.emit();
      });
    });
  }

  private sorted(): SortedRows | Promise<SortedRows> {
    const { rows, context, program } = this;
    while (!rows.settle()) {
      if (context.shouldYield()) return context.yieldTurn().then(() => this.sorted());
    }
    this.vectors = rows.vectors();
    return columnOrder(program.order, this.vectors, rows.length, context);
  }

  private readonly append = (batch: Batch): void | Promise<void> => {
    const { context, program } = this;
    const isFull = program.spillTypes !== null && context.statement.isCrowded(this.orderBytes + this.rows.bytes);
    if (!isFull || context.spill === null) {
      this.keep(batch);
      return;
    }
    const spilled = this.spillRun();
    if (spilled instanceof Promise) return spilled.then(() => this.keep(batch));
    this.keep(batch);
  };

  private keep(batch: Batch): void {
    const bytes = ROW_BYTES * batch.length;
    this.orderBytes += bytes;
    this.context.statement.reserve(bytes);
    this.rows.append(this.withKeys(chunkOf(batch)));
  }

  private withKeys(chunk: Chunk): Chunk {
    const { computed } = this.program;
    if (computed.length === 0) return chunk;
    const made = computed.map(({ slots, evaluate }) => plainColumn(evaluate(chunk.only(slots), this.context, [])));
    const selections = [...chunk.selections, ...made.map(() => ALL_ROWS)];
    return new Chunk([...chunk.vectors, ...made], selections, chunk.length, this.scratch);
  }

  /** The rows that are held go to disk as one sorted run. */
  private spillRun(): void | Promise<void> {
    const { context, rows, program } = this;
    const { length } = rows;
    if (length === 0) return;
    return after(this.sorted(), (sorted) => {
      const order = numbersOf(sorted);
      this.file ??= context.spill!.open(context.statement);
      const writer = new RunWriter(this.file, program.spillTypes!, context.statement);
      const write = (piece: number): void => {
        const from = piece * WRITTEN_ROWS;
        const to = Math.min(from + WRITTEN_ROWS, length);
        const { columns } = this.chunkOf(this.vectors, order, from, to);
        const written = [...program.order.keys.map(({ slot }) => columns[slot]!), ...columns.slice(0, program.width)];
        for (let i = 0; i < to - from; i++) writer.add(written, i);
      };
      const finish = (): void => {
        this.runs.push(writer.finish());
        this.forget();
      };
      return inTurns(context, Math.ceil(length / WRITTEN_ROWS), write, finish, 0, 1);
    });
  }

  private forget(): void {
    this.context.statement.release(this.orderBytes);
    this.orderBytes = 0;
    this.vectors = [];
    this.rows.clear();
  }

  private startMerge(): RunMerge {
    const { order } = this.program;
    this.merge = new RunMerge(this.runs, order.keys.length, order.orderOf, this.context);
    return this.merge;
  }

  /** Rows at these places of the order. */
  private chunkOf(vectors: readonly Column[], order: Int32Array, from: number, to: number): Chunk {
    const selection: Selection = { rows: order.subarray(from, to), from: 0 };
    return new Chunk(vectors, new Array<Selection>(vectors.length).fill(selection), to - from, this.scratch);
  }

  private emit(): Batch | null {
    const from = this.position;
    if (from === this.rows.length) return null;
    const rowsMax = this.handsOutChunks ? CHUNK_ROWS : this.context.batchRows;
    this.position = Math.min(from + rowsMax, this.rows.length);
    const chunk = this.chunkOf(this.handed, this.order!, from, this.position);
    return this.handsOutChunks ? chunk : valuesOfBatch(chunk);
  }

  close(): void {
    this.merge?.close();
    this.file?.close();
    this.context.statement.release(this.orderBytes);
    this.orderBytes = 0;
    this.rows.clear();
    this.input.close();
  }
}

const numbersOf = (order: SortedRows): Int32Array =>
  order instanceof Int32Array ? order : new Int32Array(order.buffer, order.byteOffset, order.length);
