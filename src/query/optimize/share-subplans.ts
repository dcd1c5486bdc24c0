/**
 * Equal parts of a statement, in the query and in its subqueries, are computed once and their rows shared:
 *
 *   Filter sum > Subquery 1                   With
 *     Aggregate                                 shared 1: Join a, b
 *       Join a, b                        ⇒      Filter sum > Subquery 1
 *     Subquery 1:                                 Aggregate
 *       Aggregate                                   Shared Scan
 *         Join a, b                               Subquery 1: Aggregate ▸ Shared Scan
 *
 * Runs once, over the whole statement, when all other rules have made their plans: so no filter or order is kept from
 * the place where it helps, and what a part costs is known. It is shared when computing it again would cost more than
 * storing and reading its rows. Parts that read different columns share those of all of them. Rows are computed as far
 * as they are read, in the order of the plan, so readers may rely on the order or stop early.
 */

import { columnExpr } from "../plan/column-expr.js";
import type { CommonScanPlan, CommonTable, CommonTableDefinition, OutputColumn, Plan } from "../plan/plan.js";
import { childrenOf, mapSubqueries, modifiesData, subqueriesOf, walkPlan, withChildren } from "../plan/walk.js";
import type { Cardinality } from "./cardinality.js";
import { readCost, sharingCost } from "./join-cost.js";
import { newColumnId } from "./new-column-id.js";
import { type Names, PlanShapes, type Shape } from "./plan-shapes.js";
import type { Rule } from "./rule.js";

/** Microseconds below which the rows are not worth keeping. */
const GAIN_MIN = 100;
/** Parts that one statement shares at most; each takes one more look at the whole. */
const SHARED_MAX = 16;

export const shareSubplans: Rule = {
  name: "share-subplans",
  places: [610],
  wholeStatement: true,
  apply(plan, cardinality) {
    switch (plan.kind) {
      case "insert":
      case "update":
      case "delete":
      case "merge":
        return withChildren(plan, [share(plan.input, cardinality)]);
      default:
        return share(plan, cardinality);
    }
  },
};

function share(plan: Plan, cardinality: Cardinality): Plan {
  if (!readsTwice(plan) || modifiesData(plan)) return plan;
  let current = plan;
  for (let number = 1; number <= SHARED_MAX; number++) {
    const shapes = new PlanShapes();
    shapes.add(current);
    const found = bestOf(current, shapes, cardinality);
    if (found === null) break;
    current = replaced(current, found, shapes, number);
    cardinality.learn(current);
  }
  return current;
}

/** Calls `visit` for each node, those of subqueries included. */
export function walkStatement(plan: Plan, visit: (plan: Plan) => void): void {
  walkPlan(plan, (node) => {
    visit(node);
    for (const subquery of subqueriesOf(node)) walkStatement(subquery.plan, visit);
  });
}

/** Some table occurs in the statement twice; otherwise nothing can be equal. */
function readsTwice(plan: Plan): boolean {
  const seen = new Set<object>();
  let twice = false;
  walkStatement(plan, (node) => {
    if (!("table" in node)) return;
    if (seen.has(node.table)) twice = true;
    seen.add(node.table);
  });
  return twice;
}

/** The largest part that is worth sharing, wherever it occurs. */
function bestOf(plan: Plan, shapes: PlanShapes, cardinality: Cardinality): readonly Plan[] | null {
  const groups = new Map<number, Set<Plan>>();
  walkStatement(plan, (node) => {
    const shape = shapes.of(node);
    if (shape === null || shape.depth > 0) return;
    const group = groups.get(shape.id) ?? new Set();
    groups.set(shape.id, group.add(node));
  });
  let best: readonly Plan[] | null = null;
  let bestSize = 0;
  for (const group of groups.values()) {
    const parts = [...group];
    const [first] = parts as [Plan];
    if (parts.length < 2 || !isComputed(first)) continue;
    const size = sizeOf(first);
    if (size <= bestSize || gainOf(parts, cardinality) < GAIN_MIN) continue;
    best = parts;
    bestSize = size;
  }
  return best;
}

/** Whether the plan computes more than rows that exist anyway. */
function isComputed(plan: Plan): boolean {
  switch (plan.kind) {
    case "commonscan":
    case "values":
      return false;
    case "scan":
      return plan.filter !== null;
    case "project":
      return isComputed(plan.input);
    default:
      return true;
  }
}

function sizeOf(plan: Plan): number {
  let size = 0;
  walkStatement(plan, () => size++);
  return size;
}

function gainOf(parts: readonly Plan[], cardinality: Cardinality): number {
  const [first] = parts as [Plan];
  return readCost(first, cardinality) * (parts.length - 1) - sharingCost(cardinality.rows(first), parts.length);
}

/** The statement with one table in place of equal parts. */
function replaced(plan: Plan, parts: readonly Plan[], shapes: PlanShapes, number: number): Plan {
  const definition = parts.reduce((wide, part) => widened(wide, part, shapes));
  shapes.add(definition);
  const places = placesOf(definition, shapes.of(definition)!);
  const table: CommonTable = Object.freeze({ name: `shared ${number}`, outer: [], working: false, shared: true });
  const scans = new Map(parts.map((part) => [part, scanOf(table, part, shapes.of(part)!, places)]));
  return withTable({ table, plan: definition, modifies: false }, withScans(plan, scans));
}

/** Each column's position, by its meaning. */
function placesOf(definition: Plan, { names }: Shape): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  definition.columns.forEach(({ id }, place) => {
    const name = names.get(id)!;
    if (!places.has(name)) places.set(name, place);
  });
  return places;
}

function scanOf(table: CommonTable, part: Plan, { names }: Shape, places: ReadonlyMap<string, number>): CommonScanPlan {
  const source = part.columns.map(({ id }) => places.get(names.get(id)!)!);
  return Object.freeze({ kind: "commonscan", table, alias: table.name, source, columns: part.columns });
}

/** The statement with those nodes replaced, in subqueries, too. */
function withScans(plan: Plan, scans: ReadonlyMap<Plan, Plan>): Plan {
  const scan = scans.get(plan);
  if (scan !== undefined) return scan;
  const inputs = childrenOf(plan).map((child) => withScans(child, scans));
  return mapSubqueries(withChildren(plan, inputs), (subquery) => withScans(subquery, scans));
}

/** The table before those that read it: nothing that it reads itself is defined after them. */
function withTable(definition: CommonTableDefinition, plan: Plan): Plan {
  const { columns } = plan;
  if (plan.kind !== "with") return Object.freeze({ kind: "with", tables: [definition], input: plan, columns });
  const reader = plan.tables.findIndex((other) => reads(other.plan, definition.table));
  const at = reader < 0 ? plan.tables.length : reader;
  return Object.freeze({ ...plan, tables: plan.tables.toSpliced(at, 0, definition) });
}

function reads(plan: Plan, table: CommonTable): boolean {
  let found = false;
  walkStatement(plan, (node) => {
    found ||= node.kind === "commonscan" && node.table === table;
  });
  return found;
}

/** `plan`, which is equal to `other`, with all columns that `other` has. `outside`: as PlanShapes has it. */
function widened(plan: Plan, other: Plan, shapes: PlanShapes, outside: readonly Names[] = []): Plan {
  const missing = missingIn(plan, other, shapes);
  if (missing.length === 0) return plan;
  const wide = widenedNode(plan, other, missing, shapes, outside);
  shapes.add(wide, outside);
  return wide;
}

/** Columns of `other`, each once, without an equal one in `plan`. */
function missingIn(plan: Plan, other: Plan, shapes: PlanShapes): readonly OutputColumn[] {
  const { names } = shapes.of(other)!;
  const present = new Set(shapes.of(plan)!.names.values());
  return other.columns.filter(({ id }) => {
    const name = names.get(id)!;
    return !present.has(name) && present.add(name);
  });
}

function widenedNode(
  plan: Plan,
  other: Plan,
  missing: readonly OutputColumn[],
  shapes: PlanShapes,
  outside: readonly Names[],
): Plan {
  switch (plan.kind) {
    case "scan":
    case "indexscan":
    case "pointget": {
      const { columns, source } = other as typeof plan;
      const added = missing.map((column) => source[columns.indexOf(column)]!);
      return Object.freeze({ ...plan, columns: plan.columns.concat(anew(missing)), source: plan.source.concat(added) });
    }
    case "commonscan": {
      const { columns, source } = other as typeof plan;
      const added = missing.map((column) => source?.[columns.indexOf(column)] ?? columns.indexOf(column));
      const before = plan.source ?? plan.columns.map((_, place) => place);
      return Object.freeze({ ...plan, columns: plan.columns.concat(anew(missing)), source: before.concat(added) });
    }
    case "project": {
      const input = widened(plan.input, (other as typeof plan).input, shapes, outside);
      const { names } = shapes.of(other)!;
      const added = missing.map(({ id }) => columnNamed(input, names.get(id)!, shapes));
      const exprs = added.map(columnExpr);
      return Object.freeze({ ...plan, input, exprs: plan.exprs.concat(exprs), columns: plan.columns.concat(added) });
    }
    default: {
      const others = childrenOf(other);
      const inputs: Plan[] = [];
      for (const [i, child] of childrenOf(plan).entries()) {
        const isLateral = plan.kind === "join" && plan.lateral && i === 1;
        const around = isLateral ? [shapes.of(inputs[0]!)!.names, ...outside] : outside;
        inputs.push(widened(child, others[i]!, shapes, around));
      }
      return withChildren(plan, inputs);
    }
  }
}

function anew(columns: readonly OutputColumn[]): readonly OutputColumn[] {
  return columns.map((column) => ({ ...column, id: newColumnId() }));
}

function columnNamed(plan: Plan, name: string, shapes: PlanShapes): OutputColumn {
  const { names } = shapes.of(plan)!;
  return plan.columns.find(({ id }) => names.get(id) === name)!;
}
