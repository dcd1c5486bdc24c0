/**
 * One row by its whole primary key or by all columns of a unique index. Never waits. A join that gets many rows in
 * this way takes them from column segments where the table has them.
 */

import { encodeKey } from "../../storage/key-codec.js";
import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Evaluate } from "../expr/expr.js";
import type { PointGetPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { suffixOf } from "./entry-value.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { compileRowDecoder, RowDecoder, type RowDecoderProgram } from "./row-decoder.js";
import { isLookedUp } from "./segments/column.js";
import { openSegmentRange, type SegmentRange } from "./segments/segment-range.js";
import { EMPTY_ROW, NO_SLOTS } from "./slots.js";
import { joinKey, type KeyLayout, keyLayoutOf, layoutOf, type TableLayout } from "./table-layout.js";

interface PointGetProgram {
  readonly rows: RowDecoderProgram;
  readonly layout: TableLayout;
  readonly keyLayout: KeyLayout;
  readonly byPrimaryKey: boolean;
  readonly key: readonly Evaluate[];
  readonly source: readonly number[];
  /** Segments can hold the row. */
  readonly segmentable: boolean;
}

/** What makes of a key the next one. */
const AFTER = new Uint8Array(1);

export function compilePointGet(plan: PointGetPlan): Open {
  const layout = layoutOf(plan.table);
  const keyLayout = keyLayoutOf(plan.table, plan.index);
  const program: PointGetProgram = {
    rows: compileRowDecoder(plan),
    layout,
    keyLayout,
    byPrimaryKey: keyLayout === layout.primaryKey,
    key: plan.key.map((expr) => compileExpr(expr, NO_SLOTS)),
    source: plan.source,
    segmentable:
      keyLayout === layout.primaryKey &&
      plan.rowKey === null &&
      plan.columns.every((column) => isLookedUp(column.type)),
  };
  return (context) => new PointGetOperator(program, context);
}

class PointGetOperator implements Operator {
  private done = false;

  constructor(
    private readonly program: PointGetProgram,
    private readonly context: ExecContext,
  ) {}

  next(): Pulled {
    if (this.done) return null;
    this.done = true;
    const { program, context } = this;
    context.checkpoint();
    const key = this.rowKey();
    if (key === undefined) return null;
    const held = program.segmentable && context.outer !== null ? this.inSegments(key) : null;
    const record = held === null ? context.tx.get(key) : undefined;
    if (held === null && record === undefined) return null;
    const rows = new RowDecoder(program.rows, context);
    if (held === null) rows.add(key, record!);
    else held.read(rows, 1);
    return rows.length === 0 ? null : rows.take();
  }

  private inSegments(key: Uint8Array): SegmentRange | null {
    const { program, context } = this;
    const { layout, source } = program;
    const table = context.segments?.find(context.tenantNumber, layout, source) ?? null;
    if (table === null || !source.every((id) => table.holds(layout, id) === "yes")) return null;
    return openSegmentRange(table, source, { gte: key, lt: Buffer.concat([key, AFTER]) }, context);
  }

  /** Undefined when a key value is NULL (nothing equals it) or the index has no such entry. */
  private rowKey(): Uint8Array | undefined {
    const { program, context } = this;
    const { key, keyLayout } = program;
    const values = new Array<Value>(key.length);
    for (let i = 0; i < key.length; i++) {
      const value = key[i]!(EMPTY_ROW, 0, context);
      if (value === null) return undefined;
      values[i] = value;
    }
    const encoded = encodeKey(keyLayout.prefixOf(context.tenantNumber), keyLayout.columns, values);
    if (program.byPrimaryKey) return encoded;
    const value = context.tx.get(encoded);
    if (value === undefined) return undefined;
    return joinKey(program.layout.rowPrefixOf(context.tenantNumber), suffixOf(keyLayout, value));
  }

  close(): void {}
}
