/**
 * Expressions of a body. Each is bound when it is first needed, with the types that records have then, and kept. One
 * that is plain is a closure over the variables; only one with a subquery runs as a statement.
 */
import { sqlError } from "../../../protocol/errors.js";
import type { ExecContext } from "../../../query/exec/context.js";
import { NO_SLOTS, slotsOf } from "../../../query/exec/slots.js";
import { compileExpr } from "../../../query/expr/compile.js";
import type { Batch, Evaluate, Expr } from "../../../query/expr/expr.js";
import type { TableFunction } from "../../../query/expr/table-function.js";
import { someExpr } from "../../../query/expr/walk.js";
import type { Plan } from "../../../query/plan/plan.js";
import type { SqlType, Value } from "../../../values/values.js";
import type { ExpectedResult } from "../../bind/bound-statement.js";
import type { StatementNode } from "../../parse/ast.js";
import { parseSql } from "../../parse/parse.js";
import type { RoutinePlan } from "../host.js";
import type { Frame } from "./frame.js";
import type { Namespace, RecordUse } from "./namespace.js";

/** A bound expression: its type, and how its value is found. */
interface Compiled {
  readonly epoch: string;
  readonly uses: readonly RecordUse[];
  readonly type: SqlType;
  readonly evaluate: (frame: Frame) => Value | Promise<Value>;
}

const EMPTY_ROW: Batch = { columns: [], length: 1 };

/** A value of that type, whatever the expression's own is, as an assignment has it. */
export function assigned(type: SqlType): ExpectedResult {
  return { types: [type], throughText: true, check: () => undefined };
}

export class PlExpression {
  private node: StatementNode | null = null;
  private compiled: Compiled | null = null;

  constructor(
    readonly text: string,
    private readonly names: Namespace,
    /** What the value is converted to; null: it stays as it is. */
    private readonly want: SqlType | null,
    private readonly isAssigned = false,
  ) {}

  evaluate(frame: Frame): Value | Promise<Value> {
    const { compiled } = this;
    if (compiled !== null && isCurrent(compiled, frame)) return compiled.evaluate(frame);
    return this.compile(frame).evaluate(frame);
  }

  /** The type of what `evaluate` gives now. */
  type(frame: Frame): SqlType {
    const { compiled } = this;
    return (compiled !== null && isCurrent(compiled, frame) ? compiled : this.compile(frame)).type;
  }

  private compile(frame: Frame): Compiled {
    const { host, context } = frame.invocation;
    this.node ??= parseSql(`SELECT ${this.text}`)[0]!.node;
    const uses: RecordUse[] = [];
    const variables = this.names.variables(frame, uses);
    const names = this.want === null ? { variables } : { variables, expected: assigned(this.want) };
    const plan = host.plan(this.node, names, context);
    const columns = plan.bound.kind === "query" ? plan.bound.columns : [];
    if (columns.length !== 1) {
      const source = this.isAssigned ? "assignment source" : `query "${this.text}"`;
      throw sqlError("42601", `${source} returned ${columns.length} columns`);
    }
    const epoch = host.epoch(context);
    this.compiled = { epoch, uses, type: columns[0]!.type, evaluate: evaluatorOf(plan, this.text) };
    return this.compiled;
  }
}

function isCurrent({ epoch, uses }: Compiled, frame: Frame): boolean {
  const { host, context } = frame.invocation;
  if (epoch !== host.epoch(context)) return false;
  for (const [slot, type] of uses) if (frame.types[slot] !== type) return false;
  return true;
}

/** A closure for a plan of one row without subqueries, else a run of the plan. */
function evaluatorOf(plan: RoutinePlan, text: string): Compiled["evaluate"] {
  const simple = plan.program === null ? null : simplePlan(plan.program.plan);
  if (simple === null) return (frame) => runForValue(plan, frame, text);
  const { expr, calls, columns } = simple;
  if (calls.length === 0) {
    const evaluate = compileExpr(expr, NO_SLOTS);
    return (frame) => evaluate(EMPTY_ROW, 0, frame.invocation.host.current(frame.context));
  }
  const slotOf = slotsOf(columns);
  const steps = calls.map(({ fn, args }) => ({ fn, args: args.map((arg) => compileExpr(arg, slotOf)) }));
  const last = compileExpr(expr, slotOf);
  return (frame) => {
    const row: Batch & { readonly columns: Value[][] } = { columns: columns.map(() => [null]), length: 1 };
    return afterCalls(steps, 0, row, frame.invocation.host.current(frame.context), last);
  };
}

interface Step {
  readonly fn: TableFunction;
  readonly args: readonly Evaluate[];
}

/** The calls that may wait first, each into its column, then the expression over them. */
function afterCalls(
  steps: readonly Step[],
  from: number,
  row: Batch & { readonly columns: Value[][] },
  context: ExecContext,
  last: Evaluate,
): Value | Promise<Value> {
  for (let i = from; i < steps.length; i++) {
    const { fn, args } = steps[i]!;
    const values = args.map((arg) => arg(row, 0, context));
    const done = fn.open(context, values, fn.returns).next([row.columns[i]!], 0, 1);
    if (done instanceof Promise) return done.then(() => afterCalls(steps, i + 1, row, context, last));
  }
  return last(row, 0, context);
}

interface Simple {
  readonly expr: Expr;
  readonly calls: readonly { readonly fn: TableFunction; readonly args: readonly Expr[] }[];
  /** Of the calls, in order. */
  readonly columns: Plan["columns"];
}

function simplePlan(plan: Plan): Simple | null {
  if (plan.kind === "values" && plan.rows.length === 1 && plan.columns.length === 1) {
    return isPlain(plan.rows[0]![0]!) ? { expr: plan.rows[0]![0]!, calls: [], columns: [] } : null;
  }
  if (plan.kind !== "project") return null;
  const calls: Simple["calls"][number][] = [];
  let { input } = plan;
  const { columns } = input;
  for (; input.kind === "projectset"; input = input.input) {
    if (!input.calls.every(({ fn, args }) => fn.oneValue === true && args.every(isPlain))) return null;
    calls.unshift(...input.calls);
  }
  if (input.kind !== "values" || input.rows.length !== 1 || input.columns.length > 0) return null;
  return isPlain(plan.exprs[0]!) ? { expr: plan.exprs[0]!, calls, columns } : null;
}

const isPlain = (expr: Expr) => !someExpr(expr, (part) => part.kind === "subquery");

function runForValue(plan: RoutinePlan, frame: Frame, text: string): Value | Promise<Value> {
  const { host, context, canWait } = frame.invocation;
  const result = host.run(plan, frame.values.slice(), context, { maxRows: 2, canWait });
  const onlyValue = (rows: readonly (readonly Value[])[]): Value => {
    if (rows.length > 1) {
      throw sqlError("21000", "query returned more than one row", { detail: `query: ${text}` });
    }
    return rows[0]?.[0] ?? null;
  };
  return result instanceof Promise ? result.then(({ rows }) => onlyValue(rows)) : onlyValue(result.rows);
}
