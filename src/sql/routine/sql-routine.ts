/** LANGUAGE sql: the statements of the body one after another; the last one's rows are the answer. */
import { type FunctionDef, inputsOf, keptBody } from "../../catalog/function.js";
import { sqlError } from "../../protocol/errors.js";
import { after } from "../../query/exec/operator.js";
import { sumOfBytes } from "../../query/exec/value-bytes.js";
import type { Expr, RoutineCall, RoutineRows } from "../../query/expr/expr.js";
import { type SqlType, type Value, VOID } from "../../values/values.js";
import { expectedOf, isWholeRecord, parameterVariables, refuseNoRows, statementsOf } from "../bind/sql-body.js";
import type { StatementNode } from "../parse/ast.js";
import type { RoutineNames, RoutinePlan, StatementResult } from "./host.js";
import type { Invocation, PreparedRoutine } from "./prepared-routine.js";
import { refuseWrites } from "./refuse-writes.js";

interface Planned {
  readonly epoch: string;
  readonly plan: RoutinePlan;
  /** Each row is the record itself, in one column. */
  readonly whole: boolean;
}

const ALL_ROWS = Number.MAX_SAFE_INTEGER;
const NO_RESULT: StatementResult = { columns: [], rows: [], count: 0 };

export class SqlRoutine implements PreparedRoutine {
  private readonly definition: FunctionDef;
  private readonly nodes: readonly StatementNode[];
  private readonly names: RoutineNames;
  private readonly plans: (Planned | undefined)[] = [];

  constructor(private readonly routine: RoutineCall) {
    this.definition = routine.definition;
    this.nodes = statementsOf(this.definition).map(({ node }) => node);
    const args = inputsOf(this.definition).map(
      (_, index): Expr => Object.freeze({ kind: "param", type: routine.parameterTypes[index]!, index }),
    );
    const { searchPath } = this.definition;
    const kept = keptBody(this.definition);
    const names = kept !== null ? { kept } : searchPath !== undefined ? { searchPath } : {};
    this.names = { variables: parameterVariables(this.definition, args), ...names };
  }

  value(args: readonly Value[], invocation: Invocation): Value | Promise<Value> {
    const { returns } = this.routine;
    return after(this.run(0, args, invocation, 1, returns), ({ rows }) => {
      if (returns === VOID) return null;
      const row = rows[0];
      if (row === undefined) return null;
      return returns.name === "record" && !this.isWhole() ? row : row[0]!;
    });
  }

  rows(args: readonly Value[], shape: SqlType, invocation: Invocation): RoutineRows | Promise<RoutineRows> {
    return after(this.run(0, args, invocation, ALL_ROWS, shape), ({ rows }) => {
      for (const row of rows) invocation.context.statement.reserve(sumOfBytes(row, row.length));
      return this.isWhole() ? rows.map(([record]) => (record ?? []) as readonly Value[]) : rows;
    });
  }

  private isWhole(): boolean {
    return this.plans[this.nodes.length - 1]?.whole ?? false;
  }

  private run(
    from: number,
    args: readonly Value[],
    invocation: Invocation,
    maxRows: number,
    returns: SqlType,
  ): StatementResult | Promise<StatementResult> {
    const { host, context, canWait } = invocation;
    for (let i = from; i < this.nodes.length; i++) {
      context.checkpoint();
      const plan = this.planOf(i, invocation, returns);
      refuseWrites(plan, invocation);
      const isLast = i === this.nodes.length - 1;
      const options = { maxRows: isLast ? maxRows : ALL_ROWS, canWait };
      const result = host.run(plan, args, context, options);
      if (result instanceof Promise) {
        return result.then((arrived) => (isLast ? arrived : this.run(i + 1, args, invocation, maxRows, returns)));
      }
      if (isLast) return result;
    }
    return NO_RESULT;
  }

  private planOf(index: number, { host, context }: Invocation, shape: SqlType): RoutinePlan {
    const epoch = host.epoch(context);
    const known = this.plans[index];
    if (known?.epoch === epoch) return known.plan;
    const node = this.nodes[index]!;
    if (node.kind === "transaction") {
      throw sqlError("0A000", `${node.action.toUpperCase()} is not allowed in an SQL function`);
    }
    const { names } = this;
    let plan = host.plan(node, names, context);
    let whole = false;
    const returns = this.routine.returns === VOID ? VOID : shape;
    if (index === this.nodes.length - 1 && returns !== VOID) {
      if (plan.bound.kind !== "query" || !plan.bound.returnsRows) refuseNoRows(returns);
      whole = isWholeRecord(plan.bound.columns, returns);
      const expected = expectedOf(returns);
      if (whole) plan = host.plan(node, { ...names, expected: { types: [returns], check: () => undefined } }, context);
      else if (expected !== null) plan = host.plan(node, { ...names, expected }, context);
    }
    this.plans[index] = { epoch, plan, whole };
    return plan;
  }
}
