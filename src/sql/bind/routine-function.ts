/**
 * Calls of functions that statements made, as expressions and plans have them: the session runs the function
 * (EvalServices.callRoutine, routineRows). Equal calls get the same object.
 */
import type { FunctionDef } from "../../catalog/function.js";
import type { EvalContext, RoutineCall, RoutineRows, ScalarFunction } from "../../query/expr/expr.js";
import type { TableFunction, TableRows } from "../../query/expr/table-function.js";
import { someExpr } from "../../query/expr/walk.js";
import type { Plan } from "../../query/plan/plan.js";
import { exprsOfPlan, subqueriesOf, walkPlan } from "../../query/plan/walk.js";
import type { SqlType, Value } from "../../values/values.js";
import type { MatchedRoutine } from "./matched-routine.js";

/** Functions of one definition by the types of the call. */
interface Made {
  readonly parameterTypes: readonly SqlType[];
  readonly returns: SqlType;
  readonly scalar: ScalarFunction;
  readonly oneValue: TableFunction;
  readonly rows: TableFunction;
}

const made = new WeakMap<FunctionDef, Made[]>();

function madeFor({ definition, parameterTypes, returns }: MatchedRoutine): Made {
  let all = made.get(definition);
  if (all === undefined) {
    all = [];
    made.set(definition, all);
  }
  const same = all.find(
    (other) => other.returns === returns && other.parameterTypes.every((type, i) => type === parameterTypes[i]),
  );
  if (same !== undefined) return same;
  const routine: RoutineCall = Object.freeze({ definition, parameterTypes, returns });
  const { name, strict, volatility } = definition;
  const common = { name, args: parameterTypes, returns, routine };
  const next: Made = {
    parameterTypes,
    returns,
    scalar: Object.freeze({
      ...common,
      volatility,
      strict,
      needsContext: true,
      apply: (context: EvalContext, ...args: Value[]) =>
        context.services.callRoutine(routine, args, context, false) as Value,
    } satisfies ScalarFunction),
    oneValue: Object.freeze({
      ...common,
      strict: false,
      oneValue: true,
      open: (context: EvalContext, args: readonly Value[]) => new OneValue(routine, args, context, strict),
    } satisfies TableFunction),
    rows: Object.freeze({
      ...common,
      // A function that is strict has no rows; one that gives a value gives NULL.
      strict: strict && definition.returnsSet,
      open: (context: EvalContext, args: readonly Value[], shape: SqlType) =>
        strict && args.includes(null)
          ? new CollectedRows(() => [nulls(shape)])
          : new CollectedRows(() => context.services.routineRows(routine, args, shape, context)),
    } satisfies TableFunction),
  };
  all.push(next);
  return next;
}

const nulls = (shape: SqlType): readonly Value[] => (shape.fields ?? [null]).map(() => null);

/** The call as an expression, which cannot wait. */
export function scalarRoutine(matched: MatchedRoutine): ScalarFunction {
  return madeFor(matched).scalar;
}

/** The call beside the expressions of a row, where it can wait. */
export function waitingRoutine(matched: MatchedRoutine): TableFunction {
  return madeFor(matched).oneValue;
}

/** The call as a source of rows; of a function that returns one value, of one row. */
export function routineRows(matched: MatchedRoutine): TableFunction {
  return madeFor(matched).rows;
}

class OneValue implements TableRows {
  private done = false;

  constructor(
    private readonly routine: RoutineCall,
    private readonly args: readonly Value[],
    private readonly context: EvalContext,
    private readonly strict: boolean,
  ) {}

  next(out: readonly Value[][], at: number): number | Promise<number> {
    if (this.done) return 0;
    this.done = true;
    const column = out[0]!;
    if (this.strict && this.args.includes(null)) {
      column[at] = null;
      return 1;
    }
    const value = this.context.services.callRoutine(this.routine, this.args, this.context, true);
    if (value instanceof Promise) {
      return value.then((arrived) => {
        column[at] = arrived;
        return 1;
      });
    }
    column[at] = value;
    return 1;
  }
}

/** The rows of a call, which runs to its end before the first is handed out. */
class CollectedRows implements TableRows {
  private rows: RoutineRows | null = null;
  private taken = 0;

  constructor(private readonly run: () => RoutineRows | Promise<RoutineRows>) {}

  next(out: readonly Value[][], at: number, max: number): number | Promise<number> {
    if (this.rows !== null) return this.take(this.rows, out, at, max);
    const rows = this.run();
    if (rows instanceof Promise) {
      return rows.then((arrived) => {
        this.rows = arrived;
        return this.take(arrived, out, at, max);
      });
    }
    this.rows = rows;
    return this.take(rows, out, at, max);
  }

  private take(rows: RoutineRows, out: readonly Value[][], at: number, max: number): number {
    const count = Math.min(max, rows.length - this.taken);
    for (let i = 0; i < count; i++) {
      const row = rows[this.taken + i]!;
      for (let c = 0; c < out.length; c++) out[c]![at + i] = row[c] ?? null;
    }
    this.taken += count;
    return count;
  }

  close(): void {
    this.rows = [];
    this.taken = 0;
  }
}

/** Whether the plan calls a function that a statement made and that may write. */
export function callsRoutines(plan: Plan): boolean {
  let calls = false;
  walkPlan(plan, (node) => {
    if (node.kind === "tablefunction" || node.kind === "projectset")
      calls ||= node.calls.some(({ fn }) => mayWrite(fn));
    if (node.kind === "aggregate" || node.kind === "window") {
      calls ||= node.calls.some(({ fn }) => "mayWrite" in fn && fn.mayWrite === true);
    }
    calls ||= exprsOfPlan(node).some((expr) => someExpr(expr, (part) => part.kind === "call" && mayWrite(part.fn)));
    calls ||= subqueriesOf(node).some((subquery) => callsRoutines(subquery.plan));
  });
  return calls;
}

function mayWrite({ routine }: { readonly routine?: RoutineCall }): boolean {
  return routine !== undefined && routine.definition.volatility === "volatile";
}
