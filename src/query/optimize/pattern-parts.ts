/** What plans of patterns are made of: scans of a graph's tables, joins and conditions. */
import { EDGE_COLUMN, NODE_COLUMN } from "../../catalog/graph.js";
import { BOOL, type SqlType, TEXT } from "../../values/values.js";
import type { Expr, ScalarFunction } from "../expr/expr.js";
import { resolveOperator } from "../expr/resolve.js";
import { columnExpr } from "../plan/column-expr.js";
import { graphIndexExprs } from "../plan/graph-index-exprs.js";
import type { EdgeColumns, MatchPlan, NodeColumns } from "../plan/graph-plans.js";
import type { OutputColumn, Plan, ScanPlan } from "../plan/plan.js";
import { joinColumns } from "../plan/walk.js";
import { newColumnId } from "./new-column-id.js";
import { filtered } from "./rule.js";

export function nodeColumns({ id, labels, properties }: NodeColumns): readonly OutputColumn[] {
  return [id, labels, properties];
}

export function edgeColumns({ id, type, src, dst, properties }: EdgeColumns): readonly OutputColumn[] {
  return [id, type, src, dst, properties];
}

export function scanBase(table: ScanPlan["table"], alias: string, columns: readonly OutputColumn[]) {
  return { kind: "scan", table, alias, filter: null, reverse: false, rowKey: null, columns } as const;
}

export function nodeScan(graph: MatchPlan["graph"], name: string, columns: readonly OutputColumn[]): ScanPlan {
  const source: readonly number[] = [NODE_COLUMN.id, NODE_COLUMN.labels, NODE_COLUMN.properties];
  const indexExprs = graphIndexExprs(graph.nodes, (id) => columns[source.indexOf(id)] ?? null);
  return Object.freeze({ ...scanBase(graph.nodes, name, columns), source, ...(indexExprs && { indexExprs }) });
}

export function edgeScan(graph: MatchPlan["graph"], name: string, columns: readonly OutputColumn[]): ScanPlan {
  const { id, type, src, dst, properties } = EDGE_COLUMN;
  const source: readonly number[] = [id, type, src, dst, properties];
  const indexExprs = graphIndexExprs(graph.edges, (column) => columns[source.indexOf(column)] ?? null);
  return Object.freeze({ ...scanBase(graph.edges, name, columns), source, ...(indexExprs && { indexExprs }) });
}

export function joined(type: "inner" | "left", left: Plan, right: Plan, condition: Expr | null): Plan {
  return Object.freeze({
    kind: "join",
    type,
    left,
    right,
    condition,
    lateral: false,
    columns: joinColumns(type, left, right),
  });
}

export function newColumn(name: string, type: SqlType): OutputColumn {
  return { id: newColumnId(), name, type, nullable: true };
}

export function constant(type: SqlType, value: boolean | string): Expr {
  return { kind: "const", type, value };
}

export function call(symbol: string, a: Expr, b: Expr): Expr {
  const fn: ScalarFunction = resolveOperator(symbol, a.type, b.type).fn;
  return { kind: "call", type: BOOL, fn, args: [a, b] };
}

export function equal(a: Expr, b: Expr): Expr {
  return call("=", a, b);
}

export function not(input: Expr): Expr {
  return { kind: "not", type: BOOL, input };
}

export function isNotNull(input: Expr): Expr {
  return { kind: "isnull", type: BOOL, input, negated: true };
}

export function choice(when: Expr, yes: Expr, no: Expr): Expr {
  // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
  return { kind: "case", type: yes.type, branches: [{ when, then: yes }], otherwise: no };
}

export function anyType(column: OutputColumn, types: readonly string[]): Expr {
  const equals = resolveOperator("=", TEXT, TEXT).fn;
  const items = types.map((type) => constant(TEXT, type));
  return { kind: "in", type: BOOL, input: columnExpr(column), items, equals, negated: false };
}

/** Each relationship once as it points and once against that, a loop only once; and the ends as they are seen then. */
export function bothWays(relationships: Plan, src: Expr, dst: Expr): [plan: Plan, from: Expr, to: Expr] {
  const turned = newColumn("turned", BOOL);
  const rows = [[constant(BOOL, false)], [constant(BOOL, true)]];
  const ways: Plan = Object.freeze({ kind: "values", rows, columns: [turned] });
  const isTurned = columnExpr(turned);
  const once: Expr = { kind: "or", type: BOOL, args: [not(isTurned), call("<>", src, dst)] };
  const plan = filtered(joined("inner", relationships, ways, null), [once]);
  return [plan, choice(isTurned, dst, src), choice(isTurned, src, dst)];
}
