/**
 * The deferred calls of one node's expressions: each is taken out, with the condition under which its expression
 * reaches it, and stacked as a `deferred` node on the node's input. Used by lift-deferred.ts; one per node.
 */
import { BOOL } from "../../values/values.js";
import type { CallExpr, CaseExpr, ColumnExpr, ColumnId, Expr } from "../expr/expr.js";
import { andOf, columnsOf, exprEquals, inputsOf, isConstant, isVolatile, withInputs } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import type { DeferredCall, OutputColumn, Plan } from "../plan/plan.js";
import { withChildren } from "../plan/walk.js";
import { hasToMove, isCoalesce, isWaitingSubquery, refuseIn, type Waits } from "./deferred-parts.js";
import { newColumnId } from "./new-column-id.js";
import { passesColumns } from "./rule.js";

interface Taken extends DeferredCall {
  readonly column: ColumnExpr;
  /** One more than that of the calls that it reads; those of 0 are in the input. */
  readonly level: number;
}

export class DeferredCalls {
  private readonly taken: Taken[] = [];
  private readonly input: Plan;

  constructor(
    private readonly waits: Waits,
    input: Plan,
  ) {
    this.input = withAllColumns(input);
    for (const [call, { id, type, name }] of callsBelow(this.input)) {
      this.taken.push({ ...call, column: { kind: "column", type, id, name }, level: 0 });
    }
  }

  /** Whether the input has these columns. */
  has(ids: ReadonlySet<ColumnId>): boolean {
    return [...ids].every((id) => this.input.columns.some((column) => column.id === id));
  }

  /** The input with the calls' values as further columns. */
  stacked(): Plan {
    const levels = Math.max(0, ...this.taken.map(({ level }) => level));
    let plan = this.input;
    for (let level = 1; level <= levels; level++) {
      const here = this.taken.filter((one) => one.level === level);
      const made = here.map(({ column: { id, name, type } }): OutputColumn => ({ id, name, type, nullable: true }));
      plan = Object.freeze({
        kind: "deferred",
        input: plan,
        calls: here.map(({ expr, when }) => ({ expr, when })),
        columns: [...plan.columns, ...made],
      });
    }
    return plan;
  }

  /** The expression with columns in place of calls. `when`: the condition under which it is evaluated; null: always. */
  lift(expr: Expr, when: Expr | null = null): Expr {
    if (!hasToMove(expr, this.waits) && (when === null || !this.hasCall(expr))) return expr;
    switch (expr.kind) {
      case "case":
        return this.liftCase(expr, when);
      case "and":
      case "or":
        return this.liftLogic(expr, when);
      case "list": {
        const list = this.lift(expr.list, when);
        const initial = expr.initial && this.lift(expr.initial, when);
        const parts = [expr.where, expr.result].filter((part) => part !== null);
        for (const part of parts) {
          if (hasToMove(part, this.waits)) refuseIn(part, this.waits, "for the elements of a list");
        }
        return Object.freeze({ ...expr, list, initial });
      }
      case "call":
        if (isCoalesce(expr)) return this.liftCoalesce(expr, when);
        break;
      default:
        break;
    }
    const changed = withInputs(
      expr,
      inputsOf(expr).map((input) => this.lift(input, when)),
    );
    if (changed.kind === "subquery") {
      return isWaitingSubquery(changed) ? this.take(changed, when) : changed;
    }
    if (!this.waits(changed)) return changed;
    return when === null && isConstant(changed) ? changed : this.take(changed, when);
  }

  private hasCall(expr: Expr): boolean {
    return this.waits(expr) || inputsOf(expr).some((input) => this.hasCall(input));
  }

  /** A branch is reached when no earlier condition was true. */
  private liftCase(expr: CaseExpr, when: Expr | null): Expr {
    const decided: Expr[] = [];
    const branches = expr.branches.map((branch) => {
      const condition = this.lift(branch.when, unless(decided, when));
      const value = this.lift(branch.then, reached(decided, condition, when));
      decided.push(condition);
      // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
      return { when: condition, then: value };
    });
    const otherwise = expr.otherwise && this.lift(expr.otherwise, unless(decided, when));
    return Object.freeze({ ...expr, branches, otherwise });
  }

  /** What need not be waited for goes first, and may decide. */
  private liftLogic(expr: Expr & { kind: "and" | "or" }, when: Expr | null): Expr {
    const later = expr.args.filter((arg) => this.hasCall(arg) || hasToMove(arg, this.waits));
    const decided: Expr[] = [];
    const args = [...expr.args.filter((arg) => !later.includes(arg)), ...later].map((arg) => {
      const changed = this.lift(arg, unless(decided, when));
      decided.push(expr.kind === "or" ? changed : Object.freeze({ kind: "not", type: BOOL, input: changed }));
      return changed;
    });
    return Object.freeze({ ...expr, args });
  }

  private liftCoalesce(expr: CallExpr, when: Expr | null): Expr {
    const decided: Expr[] = [];
    const args = expr.args.map((arg) => {
      const changed = this.lift(arg, unless(decided, when));
      decided.push(Object.freeze({ kind: "isnull", type: BOOL, input: changed, negated: true }));
      return changed;
    });
    return Object.freeze({ ...expr, args });
  }

  /** A call with columns in place of the calls in its arguments. */
  withLiftedInputs(call: CallExpr): CallExpr {
    return withInputs(
      call,
      inputsOf(call).map((input) => this.lift(input)),
    ) as CallExpr;
  }

  /** The column of the call's values. */
  take(expr: DeferredCall["expr"], when: Expr | null): Expr {
    const repeatable = expr.kind === "call" && !isVolatile(expr);
    if (repeatable) {
      const same = this.taken.find((one) => (one.when === null || one.when === when) && exprEquals(one.expr, expr));
      if (same !== undefined) return same.column;
    }
    const name = expr.kind === "call" ? expr.fn.name : "subquery";
    const column: ColumnExpr = Object.freeze({ kind: "column", type: expr.type, id: newColumnId(), name });
    const read = new Set([...columnsOf(expr), ...(when === null ? [] : columnsOf(when))]);
    const level = 1 + Math.max(0, ...this.taken.map((one) => (read.has(one.column.id) ? one.level : 0)));
    this.taken.push({ expr, when, column, level });
    return column;
  }
}

/** None of the conditions was true, and `when` is. */
function unless(decided: readonly Expr[], when: Expr | null): Expr | null {
  return decided.length === 0 ? when : firstTrue([...decided.map((one) => [one, false] as const)], when ?? TRUE);
}

/** `condition` is the first that is true. */
function reached(decided: readonly Expr[], condition: Expr, when: Expr | null): Expr {
  if (decided.length === 0) return when === null ? condition : andOf([when, condition])!;
  const branches = [...decided.map((one) => [one, false] as const), [condition, true] as const];
  const found = firstTrue(branches, FALSE);
  return when === null ? found : andOf([when, found])!;
}

function firstTrue(branches: readonly (readonly [Expr, boolean])[], otherwise: Expr): Expr {
  return Object.freeze({
    kind: "case",
    type: BOOL,
    // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
    branches: branches.map(([when, value]) => ({ when, then: value ? TRUE : FALSE })),
    otherwise,
  });
}

const TRUE: Expr = Object.freeze({ kind: "const", type: BOOL, value: true });
const FALSE: Expr = Object.freeze({ kind: "const", type: BOOL, value: false });

/** The same rows, with the columns of the calls below that projections had left out. */
function withAllColumns(plan: Plan): Plan {
  switch (plan.kind) {
    case "filter":
    case "sort":
    case "limit":
    case "topn":
      return withChildren(plan, [withAllColumns(plan.input)]);
    case "project": {
      const input = withAllColumns(plan.input);
      const below = callsBelow(input).map(([, column]) => column);
      const missing = below.filter(({ id }) => !plan.columns.some((column) => column.id === id));
      if (missing.length === 0) return plan;
      if (passesColumns(plan)) return input;
      const passed = missing.map(columnExpr);
      return Object.freeze({
        ...plan,
        input,
        exprs: [...plan.exprs, ...passed],
        columns: [...plan.columns, ...missing],
      });
    }
    default:
      return plan;
  }
}

/** Calls whose values the plan has as columns in all its rows. */
function callsBelow(plan: Plan): (readonly [DeferredCall, OutputColumn])[] {
  switch (plan.kind) {
    case "filter":
    case "sort":
    case "limit":
    case "topn":
      return callsBelow(plan.input);
    case "project":
      return callsBelow(plan.input).filter(([, { id }]) => plan.columns.some((column) => column.id === id));
    case "deferred": {
      const made = plan.columns.slice(-plan.calls.length);
      const here = plan.calls.map((call, i) => [call, made[i]!] as const);
      return [...callsBelow(plan.input), ...here.filter(([{ when }]) => when === null)];
    }
    default:
      return [];
  }
}
