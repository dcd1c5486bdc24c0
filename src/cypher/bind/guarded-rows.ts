/**
 * Nodes and relationships that the statement's role sees, for patterns of variable length and for procedures that read
 * the graph's tables. A relationship is seen only with both of its ends.
 */
import { EDGE_COLUMN, type GraphTables, NODE_COLUMN } from "../../catalog/graph.js";
import type { Expr } from "../../query/expr/expr.js";
import { resolveOperator } from "../../query/expr/resolve.js";
import { andOf } from "../../query/expr/walk.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import { behindPolicy, edgeColumnList, type GraphGuard, nodeColumnList } from "../../query/plan/graph-guard.js";
import type { EdgeColumns, NodeColumns } from "../../query/plan/graph-plans.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import { INT8, type SqlType, TEXT, VARIANT } from "../../values/values.js";
import { existsSubquery } from "./bind-subquery.js";
import { filtered, only } from "./rows.js";
import { call } from "./variables.js";

/** The statement: of Cypher, or one that calls a procedure. */
interface Asking {
  readonly graph: GraphTables;
  readonly guard: GraphGuard | null;
  newColumn(name: string, type: SqlType, nullable?: boolean): OutputColumn;
}

/** All nodes that are seen. */
export function seenNodes(asking: Asking): { readonly plan: Plan; readonly columns: NodeColumns } {
  const columns: NodeColumns = {
    id: asking.newColumn("id", INT8, false),
    labels: asking.newColumn("labels", TEXT, false),
    properties: asking.newColumn("properties", VARIANT),
  };
  const { id, labels, properties } = NODE_COLUMN;
  const plan = scan(asking.graph.nodes, [id, labels, properties], nodeColumnList(columns));
  return { plan: behindPolicy(plan, asking.guard?.node(columns)), columns };
}

/** All relationships that are seen. */
export function seenEdges(asking: Asking): { readonly plan: Plan; readonly columns: EdgeColumns } {
  const columns: EdgeColumns = {
    id: asking.newColumn("id", INT8, false),
    type: asking.newColumn("type", TEXT, false),
    src: asking.newColumn("src", INT8, false),
    dst: asking.newColumn("dst", INT8, false),
    properties: asking.newColumn("properties", VARIANT),
  };
  const { id, type, src, dst, properties } = EDGE_COLUMN;
  const plan = scan(asking.graph.edges, [id, type, src, dst, properties], edgeColumnList(columns));
  return { plan: behindPolicy(plan, wholeEdgePolicy(columns, asking)), columns };
}

/** The condition under which a relationship and its ends are seen; null: always. */
export function wholeEdgePolicy(columns: EdgeColumns, asking: Asking): Expr | null {
  if (asking.guard === null) return null;
  const ends = [columns.src, columns.dst].flatMap((end) => seenEnd(end, asking) ?? []);
  const own = asking.guard.edge(columns);
  return andOf([...(own === null ? [] : [own]), ...ends]);
}

function seenEnd(end: OutputColumn, asking: Asking): Expr | null {
  const { plan, columns } = seenNodes(asking);
  if (plan.kind === "scan") return null;
  const isEnd = call(resolveOperator("=", INT8, INT8).fn, [columnExpr(columns.id), columnExpr(end)]);
  return existsSubquery(only(filtered(plan, isEnd), [columns.id]));
}

function scan(table: GraphTables["nodes"], source: readonly number[], columns: readonly OutputColumn[]): Plan {
  const place = { alias: table.name, source, filter: null, reverse: false, rowKey: null } as const;
  return Object.freeze({ kind: "scan", table, ...place, columns });
}
