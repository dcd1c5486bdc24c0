/**
 * Moves conditions out of an OR. A condition that all branches contain is tested once, outside. What every branch says
 * about one table is also added as a condition on that table. So a join condition that is repeated in each branch can
 * join, and a scan below drops rows that no branch would take.
 *
 *   (a.k = b.k AND a.x = 1 AND b.y = 2) OR (a.k = b.k AND a.x = 3)
 *   ⇒  a.k = b.k AND ((a.x = 1 AND b.y = 2) OR a.x = 3) AND (a.x = 1 OR a.x = 3)
 *
 * Branches that all compare one expression with constants, or with columns of enclosing queries, become an IN list: (x
 * = 1 OR x = 2) ⇒ x IN (1, 2).
 *
 * The first is the distributive law read backwards (PostgreSQL's canonicalize_qual), the second its
 * extract_restriction_or_clauses.
 */
import { BOOL } from "../../values/values.js";
import type { ColumnId, Expr, InListExpr } from "../expr/expr.js";
import { andOf, columnsOf, conjuncts, exprEquals, isConstant, isVolatile, someExpr } from "../expr/walk.js";
import type { FilterPlan, JoinPlan, Plan } from "../plan/plan.js";
import { childrenOf, mapPlan } from "../plan/walk.js";
import type { Rule } from "./rule.js";

export const factorConditions: Rule = {
  name: "factor-conditions",
  places: [220],
  apply: (plan) =>
    mapPlan(plan, (node) => {
      if (node.kind === "filter") return factorFilter(node);
      return node.kind === "join" && node.condition !== null ? factorJoin(node) : node;
    }),
};

/**
 * Most conditions have no OR: then nobody asks what they tie together, which takes as long as there are joins below.
 */
const hasOr = (predicate: Expr): boolean => conjuncts(predicate).some(({ kind }) => kind === "or");

function factorFilter(plan: FilterPlan): Plan {
  if (!hasOr(plan.predicate)) return plan;
  const predicate = factored(plan.predicate, relationsOf(plan.input));
  return predicate === plan.predicate ? plan : Object.freeze({ ...plan, predicate });
}

function factorJoin(plan: JoinPlan): Plan {
  if (!hasOr(plan.condition!)) return plan;
  const relations = [...relationsOf(plan.left), ...relationsOf(plan.right)];
  const condition = factored(plan.condition!, relations);
  return condition === plan.condition ? plan : Object.freeze({ ...plan, condition });
}

type Ids = ReadonlySet<ColumnId>;

/** The column sets of the inputs that are joined directly below. */
function relationsOf(plan: Plan): Ids[] {
  if (plan.kind === "join" || plan.kind === "filter") return childrenOf(plan).flatMap(relationsOf);
  return [new Set(plan.columns.map(({ id }) => id))];
}

/** The condition with what is hidden in its ORs; `relations`: the columns of each thing that it ties together. */
export function factored(predicate: Expr, relations: readonly Ids[]): Expr {
  if (!hasOr(predicate)) return predicate;
  let changed = false;
  const joined = new Set(relations.flatMap((relation) => [...relation]));
  const conditions = conjuncts(predicate).flatMap((condition) => {
    if (condition.kind !== "or" || isVolatile(condition)) return [condition];
    const list = asList(condition.args, joined);
    if (list !== null) {
      changed = true;
      return [list];
    }
    const [common, rest] = commonOf(condition);
    const implied = rest === null ? [] : impliedBy(rest, relations);
    if (common.length === 0 && implied.length === 0) return [condition];
    changed = true;
    return [...common, ...implied, ...(rest === null ? [] : [rest])];
  });
  return changed ? andOf(conditions)! : predicate;
}

/** `x = a OR x = b OR x IN (c, d)` as one list, all by the same equality and with what is known; else null. */
function asList(branches: readonly Expr[], joined: Ids): Expr | null {
  let first: InListExpr | null = null;
  const items: Expr[] = [];
  for (const branch of branches) {
    const one = listOf(branch, joined);
    if (one === null) return null;
    if (first !== null && (one.equals !== first.equals || !exprEquals(one.input, first.input))) return null;
    first ??= one;
    items.push(...one.items);
  }
  return first && Object.freeze({ ...first, items });
}

function listOf(branch: Expr, joined: Ids): InListExpr | null {
  const isKnown = (expr: Expr) => isConstant(expr) || isFromOutside(expr, joined);
  if (branch.kind === "in") return branch.negated || !branch.items.every(isKnown) ? null : branch;
  if (branch.kind !== "call" || branch.fn.operator !== "=" || branch.args.length !== 2) return null;
  const [input, item] = branch.args as [Expr, Expr];
  if (isKnown(input) || !isKnown(item) || !branch.fn.strict) return null;
  return { kind: "in", type: BOOL, input, items: [item], equals: branch.fn, negated: false };
}

/** Columns of enclosing queries only. */
function isFromOutside(expr: Expr, joined: Ids): boolean {
  const read = columnsOf(expr);
  if (read.size === 0 || isVolatile(expr) || someExpr(expr, (node) => node.kind === "subquery")) return false;
  return ![...read].some((id) => joined.has(id));
}

type Or = Expr & { readonly kind: "or"; readonly args: readonly Expr[] };

/** What all branches have, and the OR without it; null when some branch says no more than that. */
function commonOf(or: Expr): [Expr[], Or | Expr | null] {
  const branches = (or as Or).args.map(conjuncts);
  const common = branches[0]!.filter((one) =>
    branches.every((branch) => branch.some((other) => exprEquals(one, other))),
  );
  if (common.length === 0) return [[], or];
  const rest = branches.map((branch) => branch.filter((one) => !common.some((other) => exprEquals(one, other))));
  if (rest.some((branch) => branch.length === 0)) return [common, null];
  return [common, orOf(rest.map((branch) => andOf(branch)!))];
}

/**
 * For each relation that every branch has a condition on, the OR of these conditions; only if there are several
 * relations.
 */
function impliedBy(or: Expr, relations: readonly Ids[]): Expr[] {
  if (or.kind !== "or" || relations.length < 2) return [];
  const branches = or.args.map(conjuncts);
  const joined = new Set(relations.flatMap((relation) => [...relation]));
  return relations.flatMap((relation) => {
    const parts = branches.map((branch) => branch.filter((one) => readsOnly(one, relation, joined)));
    const whole = parts.every((part, i) => part.length === branches[i]!.length);
    if (whole || parts.some((part) => part.length === 0)) return [];
    const args = parts.map((part) => andOf(part)!);
    return [asList(args, joined) ?? orOf(args)];
  });
}

/** Whether the condition reads this relation only, of those joined; columns of enclosing queries count as constants. */
function readsOnly(condition: Expr, relation: Ids, joined: Ids): boolean {
  const read = [...columnsOf(condition)].filter((id) => joined.has(id));
  if (read.length === 0 || someExpr(condition, (node) => node.kind === "subquery")) return false;
  return read.every((id) => relation.has(id));
}

function orOf(args: readonly Expr[]): Expr {
  return Object.freeze({ kind: "or", type: BOOL, args });
}
