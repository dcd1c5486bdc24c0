/**
 * A distance that is wanted in single precision comes from the vector index that finds the rows. Then nobody reads
 * their vectors, and if the other columns are in the primary key, nobody reads the rows. In double precision it stays
 * an expression over the stored vectors, so that it is the same with and without an index.
 *
 *   Project ((v <=> $1)::real, id)           Project (distance, id)
 *     Top-N Sort (v <=> $1)             ⇒      Top-N Sort (distance)
 *       Vector Search on t (v, id)               Vector Search on t (id, distance)
 */
import { FLOAT4 } from "../../values/values.js";
import type { CallExpr, Expr } from "../expr/expr.js";
import { columnsOf, exprEquals, mapExpr } from "../expr/walk.js";
import { isExactInKeys } from "../plan/covering.js";
import type { FilterPlan, OutputColumn, Plan, ProjectPlan, ScanPlan, SortKey, TopNPlan } from "../plan/plan.js";
import type { NearestSearch } from "../plan/search-plans.js";
import { exprsOfPlan, mapExprsOfPlan, mapPlan } from "../plan/walk.js";
import { withoutFloatCast } from "./nearest-by-index.js";
import { newColumnId } from "./new-column-id.js";
import type { Rule } from "./rule.js";

export const distanceByIndex: Rule = {
  name: "distance-by-index",
  places: [530],
  apply: (plan) => mapPlan(plan, (node) => (node.kind === "project" ? measured(node) : node)),
};

function measured(project: ProjectPlan): Plan {
  const filters: FilterPlan[] = [];
  let top = project.input;
  for (; top.kind === "filter"; top = top.input) filters.push(top);
  const scan = top.kind === "topn" ? top.input : null;
  if (top.kind !== "topn" || scan?.kind !== "scan" || scan.nearest === undefined) return project;
  const [key] = top.keys as [SortKey];
  const call = withoutFloatCast(key.expr);
  if (call.kind !== "call" || key.descending) return project;
  const column: OutputColumn = { id: newColumnId(), name: "distance", type: FLOAT4, nullable: true };
  const above = [project, ...filters].map((node) => inSingle(node, call, column));
  // Nobody wants the distance in single precision.
  if (key.expr === call && above[0] === project) return project;
  const sorted = inSingle(
    mapExprsOfPlan(top, (expr) => (exprEquals(expr, call) ? single(call) : expr)),
    call,
    column,
  );
  const vectors = vectorsOf(scan, call);
  const read = new Set([...above, sorted].flatMap((node) => exprsOfPlan(node).flatMap((expr) => [...columnsOf(expr)])));
  const filtered = scan.filter === null ? new Set() : columnsOf(scan.filter);
  // What the index measures of bits is a root, and of an expression something else than the column. Or somebody else
  // reads the vector.
  if (
    vectors.length !== 1 ||
    vectors[0]!.type.name === "bit" ||
    scan.nearest.index.vector!.form !== undefined ||
    vectors.some(({ id }) => read.has(id) || filtered.has(id))
  )
    return project;
  const told = withDistance(scan, scan.nearest, call, column, read);
  const { columns } = told;
  let input: Plan = Object.freeze({ ...(sorted as TopNPlan), input: told, columns });
  for (const filter of above.slice(1).reverse()) input = Object.freeze({ ...(filter as FilterPlan), input, columns });
  return Object.freeze({ ...(above[0] as ProjectPlan), input });
}

const single = (call: Expr): Expr => ({ kind: "cast", type: FLOAT4, input: call });

/** The node with the column wherever it has the call's value in single precision. */
function inSingle(plan: Plan, call: Expr, { id, name, type }: OutputColumn): Plan {
  const wanted = single(call);
  return mapExprsOfPlan(plan, (expr) =>
    mapExpr(expr, (node) => (exprEquals(node, wanted) ? { kind: "column", id, name, type } : node)),
  );
}

function vectorsOf(scan: ScanPlan, call: CallExpr): readonly OutputColumn[] {
  const read = columnsOf(call);
  return scan.columns.filter(({ id }) => read.has(id));
}

function withDistance(
  scan: ScanPlan,
  nearest: NearestSearch,
  call: CallExpr,
  column: OutputColumn,
  read: ReadonlySet<number>,
): ScanPlan {
  const [vector] = vectorsOf(scan, call) as [OutputColumn];
  const kept = scan.columns.flatMap((each, i) => (each.id === vector.id ? [] : [i]));
  const keys = scan.table.primaryKey ?? [];
  const byKey = scan.columns.every(
    ({ id, type }, i) => !read.has(id) || (keys.includes(scan.source[i]!) && isExactInKeys(type)),
  );
  return Object.freeze({
    ...scan,
    columns: [...kept.map((i) => scan.columns[i]!), column],
    source: kept.map((i) => scan.source[i]!),
    nearest: { ...nearest, distance: { call, vector, byKey } },
  });
}
