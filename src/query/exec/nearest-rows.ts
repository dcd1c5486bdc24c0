/**
 * The rows that a search by a vector index found, as batches. Where the distance is the scan's last column, it is what
 * the index measured, and rows whose columns are all in the primary key are not read. Made by nearest-scan.ts, one per
 * run.
 */

import { decodeKey } from "../../storage/key-codec.js";
import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Batch, Evaluate } from "../expr/expr.js";
import type { OutputColumn, ScanPlan } from "../plan/plan.js";
import type { NearestDistance } from "../plan/search-plans.js";
import type { ExecContext } from "./context.js";
import { emptyColumns } from "./row-buffer.js";
import { compileRowDecoder, RowDecoder, type RowDecoderProgram } from "./row-decoder.js";
import { slotsOf } from "./slots.js";
import { joinKey, layoutOf, type TableLayout } from "./table-layout.js";

export interface NearestRowsProgram {
  readonly layout: TableLayout;
  readonly rows: RowDecoderProgram;
  /** Null: the distance is not a column. */
  readonly measured: MeasuredProgram | null;
}

interface MeasuredProgram {
  /** Of rows that the index does not have as they are: the columns, then the vector. */
  readonly rows: RowDecoderProgram;
  readonly distance: Evaluate;
  /** Where each column stands in the primary key, −1 for one that nobody reads. Null: the rows must be read. */
  readonly inKey: readonly number[] | null;
}

/** What a search found; later changes of the index do not matter to it. */
export interface FoundRows {
  /** Keys after the prefix of the table's rows, latin-1, and what the index measured. */
  readonly suffixes: readonly string[];
  readonly distances: readonly number[];
  /** Keys of rows that are not in the index. */
  readonly rest: readonly Uint8Array[];
  /** Rows that the transaction sees otherwise than the index. */
  readonly corrected: readonly { readonly key: Uint8Array; readonly record: Uint8Array }[];
}

/** `plan` is without the distance. */
export function compileNearestRows(plan: ScanPlan, distance: NearestDistance | undefined, columnId: number) {
  const program: NearestRowsProgram = {
    layout: layoutOf(plan.table),
    rows: compileRowDecoder(plan),
    measured: distance === undefined ? null : measuredProgram(plan, distance, columnId),
  };
  return (context: ExecContext) => new NearestRows(program, context);
}

function measuredProgram(plan: ScanPlan, { call, vector, byKey }: NearestDistance, columnId: number): MeasuredProgram {
  const whole = withVector(plan, vector, columnId);
  const key = plan.table.primaryKey ?? [];
  return {
    rows: compileRowDecoder(whole),
    distance: compileExpr(call, slotsOf(whole.columns)),
    inKey: byKey ? plan.source.map((id) => key.indexOf(id)) : null,
  };
}

/** A scan that also gives the vector, last. */
export function withVector(plan: ScanPlan, vector: OutputColumn, columnId: number): ScanPlan {
  return { ...plan, columns: [...plan.columns, vector], source: [...plan.source, columnId] };
}

export class NearestRows {
  private position = 0;
  private readonly rows: RowDecoder;
  private others: RowDecoder;

  constructor(
    private readonly program: NearestRowsProgram,
    private readonly context: ExecContext,
  ) {
    this.rows = new RowDecoder(program.rows, context);
    this.others = program.measured === null ? this.rows : new RowDecoder(program.measured.rows, context);
  }

  /** The next of them; null when there are no more. */
  next(found: FoundRows): Batch | null {
    const { suffixes } = found;
    while (this.position < suffixes.length) {
      const from = this.position;
      this.position = Math.min(from + this.context.batchRows, suffixes.length);
      const batch = this.indexed(found, from, this.position);
      if (batch.length > 0) return batch;
    }
    return this.nextOthers(found, suffixes.length);
  }

  private indexed({ suffixes, distances }: FoundRows, from: number, to: number): Batch {
    const { measured } = this.program;
    if (measured !== null && measured.inKey !== null)
      return this.fromKeys(measured.inKey, suffixes, distances, from, to);
    const { rows, context } = this;
    const prefix = this.program.layout.rowPrefixOf(context.tenantNumber);
    const keys: Uint8Array[] = [];
    for (let i = from; i < to; i++) keys.push(joinKey(prefix, Buffer.from(suffixes[i]!, "latin1")));
    const records = context.tx.getMany(keys);
    const far: Value[] = [];
    for (let i = 0; i < keys.length; i++) {
      const record = records[i];
      if (record !== undefined) rows.add(keys[i]!, record);
      if (rows.length > far.length) far.push(Math.fround(distances[from + i]!));
    }
    const batch = rows.take();
    return measured === null ? batch : { columns: [...batch.columns, far], length: batch.length };
  }

  private fromKeys(
    places: readonly number[],
    suffixes: readonly string[],
    distances: readonly number[],
    from: number,
    to: number,
  ): Batch {
    const { columns: keyColumns } = this.program.layout.primaryKey!;
    const columns = emptyColumns(places.length + 1);
    for (let i = from; i < to; i++) {
      const key = decodeKey(Buffer.from(suffixes[i]!, "latin1"), 0, keyColumns);
      for (let c = 0; c < places.length; c++) columns[c]!.push(places[c]! < 0 ? null : key[places[c]!]!);
      columns[places.length]!.push(Math.fround(distances[i]!));
    }
    return { columns, length: to - from };
  }

  /** `before` rows came from the index. */
  private nextOthers({ rest, corrected }: FoundRows, before: number): Batch | null {
    const { others, context } = this;
    const end = before + rest.length;
    while (others.length === 0 && this.position < end + corrected.length) {
      if (this.position < end) {
        const keys = rest.slice(this.position - before, this.position - before + context.batchRows);
        const records = context.tx.getMany(keys);
        for (let i = 0; i < keys.length; i++) if (records[i] !== undefined) others.add(keys[i]!, records[i]!);
        this.position += keys.length;
      }
      for (; this.position >= end && others.length < context.batchRows; this.position++) {
        const row = corrected[this.position - end];
        if (row === undefined) break;
        others.add(row.key, row.record);
      }
    }
    return others.length === 0 ? null : this.measuredBatch(others.take());
  }

  /** The distance in the place of the vector, where the distance is a column. */
  measuredBatch(batch: Batch): Batch {
    const { measured } = this.program;
    if (measured === null) return batch;
    const far: Value[] = [];
    for (let row = 0; row < batch.length; row++) {
      const distance = measured.distance(batch, row, this.context) as number | null;
      far.push(distance === null ? null : Math.fround(distance));
    }
    return { columns: [...batch.columns.slice(0, -1), far], length: batch.length };
  }
}
