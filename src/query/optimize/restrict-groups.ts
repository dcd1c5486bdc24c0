/**
 * Groups that nobody asks for are not made: where grouped rows are joined by a group column to a table of which few
 * rows are wanted, only rows with one of their keys are grouped (magic sets: Mumick and Pirahesh, "Implementation of
 * Magic-sets in a Relational Database System", SIGMOD 1994). The keys are read twice, which costs little.
 *
 *   Join (p.id = l.part)                      Join (p.id = l.part)
 *     Scan p, Filter (brand = 'x')     ⇒        Scan p, Filter (brand = 'x')
 *     Aggregate avg(l.q) by l.part              Aggregate avg(l.q) by l.part
 *       Scan l                                    Join (l.part = p'.id)
 *                                                   Scan p', Filter (brand = 'x')
 *                                                   Scan l
 */
import { BOOL } from "../../values/values.js";
import type { CallExpr, ColumnId, Expr } from "../expr/expr.js";
import { conjuncts } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import type { AggregatePlan, DistinctPlan, JoinPlan, Plan, ProjectPlan, ScanPlan } from "../plan/plan.js";
import { childrenOf, joinColumns, withChildren } from "../plan/walk.js";
import type { Cardinality } from "./cardinality.js";
import { copyOfScan, isRepeatable } from "./copy-scan.js";
import { isUnique } from "./drop-distinct.js";
import { groupCost, hashCost, looksUpIn, lookUpCost, readCost } from "./join-cost.js";
import { type Rule, withColumns } from "./rule.js";

export const restrictGroups: Rule = {
  name: "restrict-groups",
  places: [330],
  apply: (plan, cardinality) => visit(plan, null, cardinality),
};

/**
 * What every row that a tree of joins gives in the end has in it: rows of these scans, equal values in these columns.
 */
interface Given {
  readonly scans: ScanPlan[];
  readonly equal: (readonly ColumnId[])[];
}

/** `given`: of the tree of joins that the plan is part of; null above one. */
function visit(plan: Plan, given: Given | null, cardinality: Cardinality): Plan {
  const passing = plan.kind === "filter" || plan.kind === "project" ? given : null;
  if (plan.kind !== "join") return mapChildren(plan, (child) => visit(child, passing, cardinality));
  if (plan.type === "right" || plan.type === "full")
    return mapChildren(plan, (child) => visit(child, null, cardinality));
  const whole = given ?? givenBy(plan);
  const joined = restrictedJoin(plan, whole, cardinality);
  const left = visit(joined.left, whole, cardinality);
  return withChildren(joined, [left, visit(joined.right, plan.type === "inner" ? whole : null, cardinality)]);
}

function mapChildren(plan: Plan, change: (child: Plan) => Plan): Plan {
  const children = childrenOf(plan);
  return children.length === 0 ? plan : withChildren(plan, children.map(change));
}

function restrictedJoin(join: JoinPlan, given: Given, cardinality: Cardinality): JoinPlan {
  if (join.lateral || (join.type !== "left" && join.type !== "inner")) return join;
  const right = restricted(join, join.right, given, cardinality);
  if (right !== null) return withChildren(join, [join.left, right]) as JoinPlan;
  const left = join.type === "inner" ? restricted(join, join.left, given, cardinality) : null;
  return left === null ? join : (withChildren(join, [left, join.right]) as JoinPlan);
}

/** The side with fewer groups; null when it has none or the rest says too little about them. */
function restricted(join: JoinPlan, side: Plan, given: Given, cardinality: Cardinality): Plan | null {
  const aggregate = side.kind === "filter" ? side.input : side;
  if (aggregate.kind !== "aggregate" || aggregate.grouping !== undefined) return null;
  for (const condition of conjuncts(join.condition)) {
    const pair = columnPair(condition);
    if (pair === null) continue;
    const at = aggregate.columns.findIndex(({ id }, i) => i < aggregate.groups.length && pair.ids.includes(id));
    const group = aggregate.groups[at];
    if (group?.kind !== "column" || !aggregate.input.columns.some(({ id }) => id === group.id)) continue;
    const [outside] = pair.ids.filter((id) => id !== aggregate.columns[at]!.id);
    const keys = smallestKeys(given, outside!, cardinality);
    if (keys === null) continue;
    const input = joinedToKeys(aggregate.input, pair.equality, group.id, keys);
    if (!pays(aggregate, input.join, keys, group, cardinality)) continue;
    const fewer = Object.freeze({ ...aggregate, input: input.plan });
    return side.kind === "filter" ? withChildren(side, [fewer]) : fewer;
  }
  return null;
}

/** `a = b` of two columns of one type. */
function columnPair(condition: Expr): { equality: CallExpr; ids: readonly ColumnId[] } | null {
  if (condition.kind !== "call" || condition.fn.operator !== "=" || condition.args.length !== 2) return null;
  const [a, b] = condition.args as [Expr, Expr];
  if (a.kind !== "column" || b.kind !== "column" || a.type !== b.type) return null;
  return { equality: condition, ids: [a.id, b.id] };
}

/** A scan in which each value of the wanted column occurs once. */
interface Keys {
  readonly scan: ScanPlan;
  readonly id: ColumnId;
}

/** Of the filtered scans that hold all values of the column, the one with fewest rows. */
function smallestKeys({ scans, equal }: Given, id: ColumnId, cardinality: Cardinality): Keys | null {
  const same = new Set([id]);
  // As many rounds as a chain of equalities may be long.
  for (let before = 0; before < same.size; ) {
    before = same.size;
    for (const ids of equal) if (ids.some((one) => same.has(one))) for (const one of ids) same.add(one);
  }
  let best: Keys | null = null;
  for (const scan of scans) {
    const column = scan.columns.find((one) => same.has(one.id));
    if (column === undefined || scan.filter === null || !isRepeatable(scan)) continue;
    if (best === null || cardinality.rows(scan) < cardinality.rows(best.scan)) best = { scan, id: column.id };
  }
  return best;
}

function givenBy(plan: Plan): Given {
  const given: Given = { scans: [], equal: [] };
  collect(plan, given.scans, given.equal);
  return given;
}

function collect(plan: Plan, scans: ScanPlan[], equal: (readonly ColumnId[])[]): void {
  switch (plan.kind) {
    case "scan":
      scans.push(plan);
      return;
    case "filter":
      collect(plan.input, scans, equal);
      return;
    case "project":
      if (plan.exprs.every((expr, i) => expr.kind !== "column" || expr.id === plan.columns[i]!.id)) {
        collect(plan.input, scans, equal);
      }
      return;
    case "join": {
      if (plan.type === "right" || plan.type === "full") return;
      collect(plan.left, scans, equal);
      if (plan.type !== "inner" && plan.type !== "semi") return;
      for (const condition of conjuncts(plan.condition)) {
        const pair = columnPair(condition);
        if (pair !== null) equal.push(pair.ids);
      }
      collect(plan.right, scans, equal);
      return;
    }
    default:
      return;
  }
}

function joinedToKeys(input: Plan, equality: CallExpr, id: ColumnId, { scan, id: keyId }: Keys) {
  const { scan: copy, columns } = copyOfScan(scan);
  const key = columns.get(keyId)!;
  const keyExpr = columnExpr(key);
  const keys: ProjectPlan = Object.freeze({ kind: "project", input: copy, exprs: [keyExpr], columns: [key] });
  const distinct: DistinctPlan = Object.freeze({ kind: "distinct", input: keys, on: null, columns: keys.columns });
  const right = isUnique(copy, new Set([key.id])) ? copy : distinct;
  const args: Expr[] = [columnExpr(input.columns.find((column) => column.id === id)!), keyExpr];
  const join: JoinPlan = Object.freeze({
    kind: "join",
    type: "inner",
    left: input,
    right,
    condition: Object.freeze({ ...equality, type: BOOL, args }),
    lateral: false,
    columns: joinColumns("inner", input, right),
  });
  return { join, plan: withColumns(join, input.columns) };
}

/** Grouping what is left, and finding it, against grouping everything. */
function pays(
  aggregate: AggregatePlan,
  join: JoinPlan,
  { scan }: Keys,
  group: Expr,
  cardinality: Cardinality,
): boolean {
  const { input } = aggregate;
  const [keys, all] = [cardinality.rows(scan), cardinality.rows(input)];
  const rows = all * Math.min(1, keys / cardinality.distinct(group, all));
  const bare = input.kind === "scan" && aggregate.groups.length === 1;
  const reading = readCost(input, cardinality);
  const byIndex = findsByIndex(input, join) ? lookUpCost("entries", keys, rows) : reading;
  const finding = Math.min(byIndex, reading + hashCost(all, keys, rows)) + readCost(scan, cardinality);
  return finding + groupCost(rows, false) < (reading + groupCost(all, bare)) * WORTH_IT;
}

/** Less is not worth the uncertainty of the estimates. */
const WORTH_IT = 0.8;

/** Whether a table below has a key that begins with the joined column. */
function findsByIndex(input: Plan, join: JoinPlan): boolean {
  if (looksUpIn(input, conjuncts(join.condition)) !== null) return true;
  if (input.kind !== "join" && input.kind !== "filter" && input.kind !== "project") return false;
  return input.kind === "join"
    ? findsByIndex(input.left, join) || (input.type === "inner" && findsByIndex(input.right, join))
    : findsByIndex(input.input, join);
}
