/**
 * Queries whose answer follows from each changed row alone: columns and conditions over one table. The same plan runs
 * over the table for the first answer, and then over each changed row, which takes the table's place as VALUES. Made
 * by query-subscriptions.ts, called by query-group.ts.
 */

import { compilePlan } from "../../query/exec/compile-plan.js";
import type { ExecContext } from "../../query/exec/context.js";
import type { Program } from "../../query/exec/operator.js";
import { runToCompletion } from "../../query/exec/run.js";
import { optimize } from "../../query/optimize/optimize.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import { withChildren } from "../../query/plan/walk.js";
import type { Value } from "../../values/values.js";
import { type AnswerDelta, type AnswerRows, Difference, type WriteRow } from "./answer-delta.js";
import type { ChangedRow } from "./row-change.js";
import { positionsOf, renumbered, SingleRow, scanBelow } from "./row-source.js";

export class QueryDelta implements AnswerDelta {
  private constructor(
    /** Over the table: the query's columns, then those of the primary key. */
    private readonly all: Program,
    private readonly single: SingleRow,
    /** Positions, in the table's columns, of the single row's values. */
    private readonly source: readonly number[],
    /** How many of the columns are the query's. */
    private readonly width: number,
  ) {}

  /** Null: the query is not of that kind. */
  static of(plan: Plan, params: readonly Value[]): QueryDelta | null {
    const scan = scanBelow(plan);
    if (scan === null || scan.table.primaryKey === null) return null;
    const { table, source } = scan;
    if (table.primaryKey!.some((id) => !source.includes(id))) return null;
    const keys = table.primaryKey!.map((id) => scan.columns[source.indexOf(id)]!);
    const keyed = withKeys(plan, keys);
    if (keyed === null) return null;
    const single = new SingleRow(keyed, scan, params);
    return new QueryDelta(compilePlan(optimize(keyed)), single, positionsOf(scan), plan.columns.length);
  }

  async whole(context: ExecContext, rowsMax: number, write: WriteRow): Promise<AnswerRows> {
    const { rows } = await runToCompletion(this.all, context, { maxRows: rowsMax + 1 });
    return new Map(rows.map((row) => [this.keyOf(row), write(row)]));
  }

  apply(rows: readonly ChangedRow[], answer: AnswerRows, context: ExecContext, write: WriteRow): Difference {
    const difference = new Difference();
    for (const { before, after } of rows) {
      const old = before && this.rowOf(before, context);
      const now = after && this.rowOf(after, context);
      const oldKey = old && this.keyOf(old);
      const nowKey = now && this.keyOf(now);
      if (oldKey !== null && oldKey === nowKey) difference.tell(write(old!), write(now!));
      else {
        if (old !== null) difference.removed.push(write(old));
        if (now !== null) difference.added.push(write(now));
      }
      if (oldKey !== null) answer.delete(oldKey);
      if (nowKey !== null) answer.set(nowKey, write(now!));
    }
    return difference;
  }

  /** The answer's row that this row of the table makes: its values, then those of the key; null: none. */
  private rowOf(row: readonly Value[], context: ExecContext): readonly Value[] | null {
    return this.single.of(
      this.source.map((position) => row[position]!),
      context,
    );
  }

  private keyOf(values: readonly Value[]): string {
    return values.slice(this.width).map(String).join("\u0000");
  }
}

/** The plan with the key's columns behind its own. */
function withKeys(plan: Plan, keys: readonly OutputColumn[]): Plan | null {
  const carried = carrying(plan, keys);
  if (carried === null) return null;
  const both = [...plan.columns, ...keys];
  // A column may belong to the query and the key at once, so names are assigned again.
  return Object.freeze({
    kind: "project",
    input: carried,
    exprs: both.map(columnExpr),
    columns: renumbered(plan, both),
  });
}

function carrying(plan: Plan, keys: readonly OutputColumn[]): Plan | null {
  if (plan.kind === "scan") return plan;
  if (plan.kind !== "project" && plan.kind !== "filter") return null;
  const input = carrying(plan.input, keys);
  if (input === null) return null;
  if (plan.kind === "filter") return withChildren(plan, [input]);
  const missing = keys.filter(({ id }) => !plan.columns.some((column) => column.id === id));
  return Object.freeze({
    ...plan,
    input,
    exprs: [...plan.exprs, ...missing.map(columnExpr)],
    columns: [...plan.columns, ...missing],
  });
}
