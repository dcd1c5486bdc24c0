/**
 * The rows of several set-returning calls side by side, as the operators for FROM and for the select list read them: a
 * call that ends before the others gives NULLs from then on. Owned by one operator of one run.
 */
import type { Value } from "../../values/values.js";
import { compileExpr, type SlotOf } from "../expr/compile.js";
import type { Batch, Evaluate } from "../expr/expr.js";
import { shapeColumns, type TableRows } from "../expr/table-function.js";
import type { SetCall } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { emptyColumns } from "./row-buffer.js";

export interface CompiledCall {
  readonly call: SetCall;
  readonly args: readonly Evaluate[];
  /** Fields of a row. */
  readonly width: number;
  /** Give the fields of a row as one record. */
  readonly asRecord: boolean;
}

/** `asRecords`: rows of several fields become one value each. */
export function compileCalls(calls: readonly SetCall[], slotOf: SlotOf, asRecords: boolean): readonly CompiledCall[] {
  return calls.map((call) => ({
    call,
    args: call.args.map((arg) => compileExpr(arg, slotOf)),
    width: call.fn.oneValue ? 1 : shapeColumns(call.shape, "").length,
    asRecord: asRecords && call.shape.fields !== undefined && !call.fn.oneValue,
  }));
}

/** What one call has given and nobody has taken. */
class Reader {
  rows: TableRows | null = null;
  readonly buffer: Value[][];
  taken = 0;
  filled = 0;

  constructor(readonly compiled: CompiledCall) {
    this.buffer = emptyColumns(compiled.width);
  }

  get ended(): boolean {
    return this.rows === null;
  }

  accept(count: number): void {
    this.taken = 0;
    this.filled = count;
    if (count === 0) this.close();
  }

  close(): void {
    this.rows?.close?.();
    this.rows = null;
    this.taken = 0;
    this.filled = 0;
  }
}

export class SetRows {
  private readonly readers: readonly Reader[];
  /** Where each call's columns begin in the output. */
  private readonly offsets: readonly number[];
  /** Columns that the calls fill together. */
  readonly width: number;

  constructor(
    calls: readonly CompiledCall[],
    private readonly context: ExecContext,
  ) {
    this.readers = calls.map((call) => new Reader(call));
    const offsets: number[] = [];
    let width = 0;
    for (const call of calls) {
      offsets.push(width);
      width += call.asRecord ? 1 : call.width;
    }
    this.offsets = offsets;
    this.width = width;
  }

  /** Calls the functions with the arguments that this row gives. */
  open(batch: Batch, row: number): void {
    for (const reader of this.readers) {
      const { call, args } = reader.compiled;
      reader.close();
      const values = args.map((arg) => arg(batch, row, this.context));
      if (call.fn.strict && values.includes(null)) continue;
      reader.rows = call.fn.open(this.context, values, call.shape);
    }
  }

  /** Writes up to `max` rows into `out` from row `at` on; answers how many, 0 once every call has ended. */
  fill(out: readonly Value[][], at: number, max: number): number | Promise<number> {
    const only = this.readers.length === 1 ? this.readers[0]! : null;
    if (only !== null && !only.compiled.asRecord) return this.fillFromOne(only, out, at, max);
    for (const reader of this.readers) {
      if (reader.ended || reader.taken < reader.filled) continue;
      const count = reader.rows!.next(reader.buffer, 0, max);
      if (count instanceof Promise) {
        return count.then((arrived) => {
          reader.accept(arrived);
          return this.fill(out, at, max);
        });
      }
      reader.accept(count);
    }
    return this.take(out, at, max);
  }

  /** Straight into the output: most calls stand alone. */
  private fillFromOne(reader: Reader, out: readonly Value[][], at: number, max: number): number | Promise<number> {
    if (reader.ended) return 0;
    const count = reader.rows!.next(out, at, max);
    if (count instanceof Promise) return count.then((arrived) => this.counted(reader, arrived));
    return this.counted(reader, count);
  }

  private counted(reader: Reader, count: number): number {
    if (count === 0) reader.close();
    return count;
  }

  private take(out: readonly Value[][], at: number, max: number): number {
    let count = 0;
    for (const reader of this.readers) {
      if (reader.ended) continue;
      const available = reader.filled - reader.taken;
      count = count === 0 ? Math.min(max, available) : Math.min(count, available);
    }
    this.readers.forEach((reader, i) => {
      this.write(reader, this.offsets[i]!, out, at, count);
    });
    return count;
  }

  private write(reader: Reader, offset: number, out: readonly Value[][], at: number, count: number): void {
    const { width, asRecord } = reader.compiled;
    const { buffer, taken, ended } = reader;
    if (asRecord) {
      const column = out[offset]!;
      for (let i = 0; i < count; i++) {
        column[at + i] = ended ? null : buffer.map((field) => field[taken + i] ?? null);
      }
    } else {
      for (let c = 0; c < width; c++) {
        const from = buffer[c]!;
        const to = out[offset + c]!;
        for (let i = 0; i < count; i++) to[at + i] = ended ? null : from[taken + i]!;
      }
    }
    reader.taken += count;
  }

  close(): void {
    for (const reader of this.readers) reader.close();
  }
}
