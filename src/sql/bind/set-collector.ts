/**
 * The set-returning calls of one query's select list, GROUP BY, ORDER BY and DISTINCT ON. In its expression each is
 * replaced by a column. bind-select.ts asks for the plan nodes that make these columns once it knows where they
 * belong. A call in another's arguments is a level below it; calls of one level are expanded side by side.
 */
import type { ColumnExpr, ColumnId, Expr } from "../../query/expr/expr.js";
import { columnsOf, exprEquals } from "../../query/expr/walk.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { OutputColumn, Plan, SetCall } from "../../query/plan/plan.js";
import type { Binding } from "./binding.js";

interface Collected {
  readonly call: SetCall;
  readonly column: OutputColumn;
  readonly level: number;
}

/** Calls below and above a grouping. */
export interface SplitCalls {
  below(input: Plan): Plan;
  /** `exprs`, over the grouping's result, may still need a call that was expanded below it: it is made again. */
  above(apply: (expr: Expr) => Expr, exprs: readonly Expr[]): void;
}

export class SetCollector {
  private collected: Collected[] = [];

  get isEmpty(): boolean {
    return this.collected.length === 0;
  }

  /** The column that replaces the call; equal calls share one. */
  add(call: SetCall, binding: Binding): ColumnExpr {
    const same = call.fn.oneValue ? undefined : this.collected.find(({ call: other }) => sameCall(other, call));
    if (same !== undefined) return columnExpr(same.column);
    const column = binding.newColumn(call.fn.name, call.shape, true);
    this.collected.push({ call, column, level: this.levelOf(call) });
    return columnExpr(column);
  }

  private levelOf(call: SetCall): number {
    const read = new Set(call.args.flatMap((arg) => [...columnsOf(arg)]));
    return 1 + Math.max(0, ...this.collected.filter(({ column }) => read.has(column.id)).map(({ level }) => level));
  }

  /** Whether every call gives one row per row. */
  get keepsRows(): boolean {
    return this.collected.every(({ call }) => call.fn.oneValue === true);
  }

  /** Whether any of the expressions needs a call. */
  isReadBy(exprs: readonly Expr[]): boolean {
    return exprs.some((expr) =>
      [...columnsOf(expr)].some((id) => this.collected.some(({ column }) => column.id === id)),
    );
  }

  /** The input with every call expanded. */
  plan(input: Plan): Plan {
    return expanded(input, this.collected);
  }

  /**
   * For a query that groups or has windows: calls inside its groups (or keys of windows) are expanded below the
   * grouping. `above` are the remaining calls to expand over its result; `apply` turns the arguments into expressions
   * over that.
   */
  splitByGroups(groups: readonly Expr[]): SplitCalls {
    const needed = this.readBy(groups);
    const below = this.collected.filter(({ column }) => needed.has(column.id));
    return {
      below: (input) => expanded(input, below),
      above: (apply, exprs) => {
        const still = this.readBy(exprs);
        this.collected = this.collected
          .filter(({ column }) => !needed.has(column.id) || still.has(column.id))
          .map(({ call, ...rest }) => ({ ...rest, call: { ...call, args: call.args.map(apply) } }));
      },
    };
  }

  /** Columns that the expressions read, and those that the calls among them read. */
  private readBy(exprs: readonly Expr[]): ReadonlySet<ColumnId> {
    const read = new Set(exprs.flatMap((expr) => [...columnsOf(expr)]));
    for (const { call, column } of [...this.collected].sort((a, b) => b.level - a.level)) {
      if (read.has(column.id)) for (const arg of call.args) for (const id of columnsOf(arg)) read.add(id);
    }
    return read;
  }
}

function sameCall(a: SetCall, b: SetCall): boolean {
  return a.fn === b.fn && a.shape === b.shape && a.args.every((arg, i) => exprEquals(arg, b.args[i]!));
}

function expanded(input: Plan, collected: readonly Collected[]): Plan {
  let plan = input;
  const levels = [...new Set(collected.map(({ level }) => level))].sort((a, b) => a - b);
  for (const level of levels) {
    const here = collected.filter((other) => other.level === level);
    // Plain functions are called for each row that those which return rows make.
    for (const oneValue of [false, true]) {
      const part = here.filter(({ call }) => (call.fn.oneValue === true) === oneValue);
      if (part.length === 0) continue;
      const calls = part.map(({ call }) => call);
      const columns = [...plan.columns, ...part.map(({ column }) => column)];
      plan = Object.freeze({ kind: "projectset", input: plan, calls, columns });
    }
  }
  return plan;
}
