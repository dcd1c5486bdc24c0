/**
 * A lateral join whose right side is one row by a unique key: keys of many left rows are looked up together, which
 * takes the engine a third of the time. lateral-join.ts does the same row by row, for all other cases.
 */
import { decodeKey, encodeKey } from "../../storage/key-codec.js";
import type { Value } from "../../values/values.js";
import { compileExpr, type Predicate } from "../expr/compile.js";
import type { Batch, ColumnId, Evaluate } from "../expr/expr.js";
import { columnsOf, someExpr } from "../expr/walk.js";
import { placesByKey } from "../plan/covering.js";
import type { JoinPlan, PointGetPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { suffixOf } from "./entry-value.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { ReadStep } from "./read-step.js";
import { emptyColumns } from "./row-buffer.js";
import { compileRowDecoder, RowDecoder, type RowDecoderProgram } from "./row-decoder.js";
import { isLookedUp } from "./segments/column.js";
import { compileCondition, slotsOf } from "./slots.js";
import { joinKey, type KeyLayout, keyLayoutOf, layoutOf, type TableLayout } from "./table-layout.js";

interface KeyedProgram {
  readonly isLeft: boolean;
  readonly leftWidth: number;
  readonly rightWidth: number;
  readonly rows: RowDecoderProgram;
  readonly layout: TableLayout;
  readonly keyLayout: KeyLayout;
  readonly byPrimaryKey: boolean;
  /** Over columns of the left side. */
  readonly key: readonly Evaluate[];
  /** By column of the right side; null: its rows have to be read. See `placesByKey`. */
  readonly places: readonly (number | null)[] | null;
  readonly condition: Predicate | null;
  /** What the right side's filter reads of the left one. */
  readonly handedOver: readonly { readonly id: ColumnId; readonly slot: number }[];
}

/** Null: the join cannot be done in this way. */
export function compileKeyedJoin(plan: JoinPlan, left: Open): Open | null {
  const { right, type } = plan;
  if (right.kind !== "pointget" || (type !== "inner" && type !== "left") || !isPlain(right)) return null;
  const layout = layoutOf(right.table);
  const keyLayout = keyLayoutOf(right.table, right.index);
  const byPrimaryKey = keyLayout === layout.primaryKey;
  // Rows may be in column segments.
  if (byPrimaryKey && right.rowKey === null && right.columns.every((column) => isLookedUp(column.type))) return null;
  const leftSlots = slotsOf(plan.left.columns);
  const filtered = right.filter === null ? new Set<ColumnId>() : columnsOf(right.filter);
  const program: KeyedProgram = {
    isLeft: type === "left",
    leftWidth: plan.left.columns.length,
    rightWidth: right.columns.length,
    rows: compileRowDecoder(right),
    layout,
    keyLayout,
    byPrimaryKey,
    key: right.key.map((expr) => compileExpr(expr, leftSlots)),
    places: placesByKey(right),
    condition: compileCondition(plan.condition, slotsOf([...plan.left.columns, ...right.columns])),
    handedOver: [...filtered].flatMap((id) => (leftSlots(id) >= 0 ? [{ id, slot: leftSlots(id) }] : [])),
  };
  return (context) => new KeyedJoinOperator(program, left(context), context);
}

/** Without subqueries, and without documents that are parsed in turns (large-documents.ts). */
function isPlain({ key, filter, columns }: PointGetPlan): boolean {
  if (columns.some(({ type }) => type.name === "json" || type.name === "jsonb")) return false;
  return ![...key, ...(filter === null ? [] : [filter])].some((expr) =>
    someExpr(expr, (part) => part.kind === "subquery"),
  );
}

class KeyedJoinOperator implements Operator {
  private readonly outer: Map<ColumnId, Value>;
  private readonly inner: ExecContext;
  private batch: Batch | null = null;
  private row = 0;
  private readonly step = new ReadStep();
  /** Of the records that the last step has read. */
  private bytes = 0;
  /** All values of its keys are plain. */
  private isPlain = true;

  constructor(
    private readonly program: KeyedProgram,
    private readonly left: Operator,
    private readonly context: ExecContext,
  ) {
    this.outer = new Map(context.outer);
    this.inner = { ...context, outer: this.outer };
  }

  next(): Pulled {
    for (;;) {
      const { context, batch } = this;
      if (batch === null) {
        const arrived = this.left.next();
        if (arrived instanceof Promise) return arrived.then((later) => (this.accept(later) ? this.next() : null));
        if (!this.accept(arrived)) return null;
        continue;
      }
      context.checkpoint();
      if (context.shouldYield()) return context.yieldTurn().then(() => this.joinSome() ?? this.next());
      const joined = this.joinSome();
      if (joined !== null) return joined;
    }
  }

  private accept(batch: Batch | null): boolean {
    this.batch = batch;
    this.row = 0;
    return batch !== null;
  }

  /** Null: none of the rows has a partner. */
  private joinSome(): Batch | null {
    const batch = this.batch!;
    const from = this.row;
    const to = Math.min(from + Math.min(this.step.rows, this.context.batchRows), batch.length);
    this.bytes = 0;
    const joined = this.join(batch, from, to);
    this.step.note(to - from, this.bytes);
    this.row = to;
    if (to === batch.length) this.batch = null;
    return joined.length === 0 ? null : joined;
  }

  private join(batch: Batch, from: number, to: number): Batch {
    const { program, inner } = this;
    const { isLeft, leftWidth, rightWidth, condition } = program;
    const decoder = new RowDecoder(program.rows, inner);
    const numbers = this.decode(batch, from, to, decoder);
    const found = decoder.take().columns;
    const out = emptyColumns(leftWidth + rightWidth);
    const view: Batch = { columns: out, length: 0 };
    let length = 0;
    for (let row = from, next = 0; row < to; row++) {
      const isFound = numbers[next] === row;
      if (!isFound && !isLeft) continue;
      for (let c = 0; c < leftWidth; c++) out[c]![length] = batch.columns[c]![row]!;
      if (isFound) {
        for (let c = 0; c < rightWidth; c++) out[leftWidth + c]![length] = found[c]![next]!;
        next++;
        if (condition === null || condition(view, length, inner)) {
          length++;
          continue;
        }
        if (!isLeft) continue;
      }
      for (let c = 0; c < rightWidth; c++) out[leftWidth + c]![length] = null;
      length++;
    }
    // A row that the condition has refused last is still there.
    for (const column of out) column.length = length;
    return { columns: out, length };
  }

  /** Decodes the right rows, and answers the left rows that they belong to. */
  private decode(batch: Batch, from: number, to: number, decoder: RowDecoder): readonly number[] {
    const { program, context, outer } = this;
    const { layout, keyLayout, byPrimaryKey, handedOver } = program;
    let rows: number[] = [];
    let keys: Uint8Array[] = [];
    this.isPlain = true;
    for (let row = from; row < to; row++) {
      const key = this.keyOf(batch, row);
      if (key === null) continue;
      rows.push(row);
      keys.push(key);
    }
    if (!byPrimaryKey && keys.length > 0) {
      const prefix = layout.rowPrefixOf(context.tenantNumber);
      const entries = context.tx.getMany(keys);
      if (program.places !== null && this.isPlain) return this.decodeEntries(rows, entries, program.places, decoder);
      const present = rows.filter((_row, i) => entries[i] !== undefined);
      keys = entries.flatMap((entry) => (entry === undefined ? [] : [joinKey(prefix, suffixOf(keyLayout, entry))]));
      rows = present;
    }
    if (keys.length === 0) return [];
    const records = context.tx.getMany(keys);
    const found: number[] = [];
    for (let i = 0; i < records.length; i++) {
      const record = records[i];
      if (record === undefined) continue;
      this.bytes += record.length;
      for (const { id, slot } of handedOver) outer.set(id, batch.columns[slot]![rows[i]!]!);
      const before = decoder.length;
      decoder.add(keys[i]!, record);
      if (decoder.length > before) found.push(rows[i]!);
    }
    return found;
  }

  /** The entries have all that is read. */
  private decodeEntries(
    rows: readonly number[],
    entries: readonly (Uint8Array | undefined)[],
    places: readonly (number | null)[],
    decoder: RowDecoder,
  ): readonly number[] {
    const { layout, keyLayout } = this.program;
    const { columns } = layout.primaryKey!;
    return rows.filter((_row, i) => {
      const entry = entries[i];
      if (entry === undefined) return false;
      const key = decodeKey(suffixOf(keyLayout, entry), 0, columns);
      decoder.addPassing(places.map((place) => (place === null ? null : key[place]!)));
      return true;
    });
  }

  /** Null when a value of it is NULL: nothing equals it. */
  private keyOf(batch: Batch, row: number): Uint8Array | null {
    const { program, inner } = this;
    const { key, keyLayout } = program;
    const values = new Array<Value>(key.length);
    for (let i = 0; i < key.length; i++) {
      const value = key[i]!(batch, row, inner);
      if (value === null) return null;
      if (typeof value === "object" || Number.isNaN(value)) this.isPlain = false;
      values[i] = value;
    }
    return encodeKey(keyLayout.prefixOf(inner.tenantNumber), keyLayout.columns, values);
  }

  close(): void {
    this.left.close();
  }
}
