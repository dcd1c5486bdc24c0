/**
 * What takes long for a row (EMBED, a correlated subquery, a statement's function) is computed by a projection of its
 * own, row by row with turns for others in between. Sorts, groupings, windows, joins … compute their expressions of a
 * whole batch at a stretch.
 *
 *   Aggregate: count(embed(body))        Aggregate: count(#-1)
 *     Seq Scan on note              ⇒      Project: body, embed(body) AS #-1
 *                                            Seq Scan on note
 */
import type { ColumnExpr, Expr } from "../expr/expr.js";
import { andOf, columnsOf, conjuncts, exprEquals, inputsOf, isVolatile, takesLong, withInputs } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import type {
  AggregateCall,
  AggregatePlan,
  JoinPlan,
  OutputColumn,
  Plan,
  WindowCall,
  WindowPlan,
} from "../plan/plan.js";
import { exprsOfPlan, joinColumns, mapExprsOfPlan, mapPlan, withChildren } from "../plan/walk.js";
import { newColumnId } from "./new-column-id.js";
import { type Rule, withColumns } from "./rule.js";

export const computeSlowFirst: Rule = {
  name: "compute-slow-first",
  places: [540],
  apply: (plan) => mapPlan(plan, lifted),
};

type AtAStretch = Extract<Plan, { kind: "aggregate" | "sort" | "topn" | "window" | "distinct" }>;

const isAtAStretch = (plan: Plan): plan is AtAStretch =>
  ["aggregate", "sort", "topn", "window", "distinct"].includes(plan.kind);

function lifted(plan: Plan): Plan {
  if (plan.kind === "join") return liftedOfJoin(plan);
  if (!isAtAStretch(plan)) return plan;
  if (!exprsOfPlan(plan).some(takesLong) || ("calls" in plan && hasVolatileFilter(plan))) return plan;
  const first = new ComputedFirst();
  const changed = mapExprsOfPlan("calls" in plan ? filteredFirst(plan) : plan, first.column) as typeof plan;
  return withColumns(withChildren(changed, [first.below(plan.input)]), plan.columns);
}

/** What a projection below a node computes for it. */
class ComputedFirst {
  private readonly calls: { readonly expr: Expr; readonly column: ColumnExpr }[] = [];

  /** The column in place of an expression that takes long. */
  readonly column = (expr: Expr): Expr => {
    if (!takesLong(expr)) return expr;
    const known = this.calls.find((call) => exprEquals(call.expr, expr));
    if (known !== undefined) return known.column;
    const column = { kind: "column", type: expr.type, id: newColumnId(), name: "slow" } as const;
    this.calls.push({ expr, column });
    return column;
  };

  below(input: Plan): Plan {
    const { calls } = this;
    if (calls.length === 0) return input;
    const added = calls.map(({ column: { id, type, name } }): OutputColumn => ({ id, type, name, nullable: true }));
    return Object.freeze({
      kind: "project",
      input,
      exprs: [...input.columns.map(columnExpr), ...calls.map(({ expr }) => expr)],
      columns: [...input.columns, ...added],
    });
  }
}

/** What a condition needs of one side is computed below that side. */
function liftedOfJoin(plan: JoinPlan): Plan {
  const { condition, left, right } = plan;
  if (condition === null || !takesLong(condition)) return plan;
  const [ofLeft, ofRight] = [new ComputedFirst(), new ComputedFirst()];
  const reads = (expr: Expr, side: Plan) => side.columns.some(({ id }) => columnsOf(expr).has(id));
  const placed = (expr: Expr): Expr => {
    if (!takesLong(expr)) return expr;
    if (!reads(expr, right)) return ofLeft.column(expr);
    // The right side of a lateral join is opened for each row: what it computes may not be asked for.
    if (!reads(expr, left) && !plan.lateral) return ofRight.column(expr);
    // Whether the parts of any other expression are needed at all, its other parts say.
    const isWhole = expr.kind === "call" && expr.fn.lazy !== true;
    return isWhole ? withInputs(expr, inputsOf(expr).map(placed)) : expr;
  };
  const next = andOf(conjuncts(condition).map(placed));
  const [below, beside] = [ofLeft.below(left), ofRight.below(right)];
  if (below === left && beside === right) return plan;
  const columns = joinColumns(plan.type, below, beside);
  const joined: JoinPlan = Object.freeze({ ...plan, left: below, right: beside, condition: next, columns });
  return withColumns(joined, plan.columns);
}

type Filtered = AggregatePlan | WindowPlan;

/** Neither arguments nor sort keys are computed for rows that FILTER leaves out, where they may be errors. */
function filteredFirst(plan: Filtered): Filtered {
  const only = (expr: Expr, when: Expr): Expr => {
    if (!takesLong(expr)) return expr;
    // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
    return Object.freeze({ kind: "case", type: expr.type, branches: [{ when, then: expr }], otherwise: null });
  };
  const guarded = <C extends AggregateCall | WindowCall>(call: C): C => {
    const { args, filter } = call;
    if (filter === null) return call;
    const orderBy = "orderBy" in call ? call.orderBy.map((key) => ({ ...key, expr: only(key.expr, filter) })) : null;
    return { ...call, args: args.map((arg) => only(arg, filter)), ...(orderBy !== null && { orderBy }) };
  };
  const calls = (plan.calls as readonly (AggregateCall | WindowCall)[]).map(guarded);
  return Object.freeze({ ...plan, calls } as Filtered);
}

/** Its answer for a row would be another one the second time. */
const hasVolatileFilter = ({ calls }: Filtered): boolean =>
  calls.some(({ filter }) => filter !== null && isVolatile(filter));
