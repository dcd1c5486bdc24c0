/** A graph's two tables, and patterns by hand, for tests of what reads graphs below Cypher's binder. */
import type { GraphTables } from "../../src/catalog/graph.js";
import type { IndexDef, TableDef } from "../../src/catalog/table.js";
import type { Expr } from "../../src/query/expr/expr.js";
import type {
  EdgeColumns,
  MatchPlan,
  NodeColumns,
  PatternEdge,
  PatternNode,
  VariableLength,
} from "../../src/query/plan/graph-plans.js";
import type { OutputColumn, Plan } from "../../src/query/plan/plan.js";
import { BYTEA, INT8, type SqlType, TEXT, VARIANT } from "../../src/values/values.js";
import { big, filter, newColumn, op, scan } from "./plan-builder.js";

/** Properties are texts here. */
export const GRAPH: GraphTables = {
  name: "g",
  nodes: graphTable(901, "nodes", [
    ["id", INT8],
    ["labels", TEXT],
    ["properties", TEXT],
  ]),
  edges: graphTable(
    902,
    "edges",
    [
      ["id", INT8],
      ["type", TEXT],
      ["src", INT8],
      ["dst", INT8],
      ["properties", TEXT],
    ],
    [index(90_201, "edges_src", [3, 2, 4]), index(90_202, "edges_dst", [4, 2, 3])],
  ),
};

function graphTable(
  id: number,
  name: string,
  columns: readonly (readonly [string, SqlType])[],
  indexes: readonly IndexDef[] = [],
): TableDef {
  return {
    id,
    schema: "graph:g",
    name,
    columns: columns.map(([column, type], i) => ({
      id: i + 1,
      name: column,
      type,
      notNull: i === 0,
      defaultSql: null,
      missingSql: null,
      identity: null,
    })),
    primaryKey: [1],
    primaryKeyName: `${name}_pkey`,
    indexes,
    checks: [],
    nextColumnId: columns.length + 1,
    createdAt: 0,
  };
}

function index(id: number, name: string, columnIds: readonly number[]): IndexDef {
  const columns = columnIds.map((columnId) => ({ columnId, descending: false, nullsFirst: false }));
  return { id, name, kind: "btree", unique: false, constraint: null, columns };
}

export function newNode(name: string): Extract<PatternNode, { kind: "new" }> {
  const columns: NodeColumns = {
    id: newColumn(`${name}.id`, INT8),
    labels: newColumn(`${name}.labels`, TEXT),
    properties: newColumn(`${name}.properties`, TEXT),
  };
  return { kind: "new", name, columns };
}

export function newEdgeColumns(name: string): EdgeColumns {
  return {
    id: newColumn(`${name}.id`, INT8),
    type: newColumn(`${name}.type`, TEXT),
    src: newColumn(`${name}.src`, INT8),
    dst: newColumn(`${name}.dst`, INT8),
    properties: newColumn(`${name}.properties`, TEXT),
  };
}

type Ends = Pick<PatternEdge, "left" | "right" | "direction"> & { readonly types?: readonly string[] };

export function oneEdge(name: string, { types = [], ...ends }: Ends): PatternEdge {
  return { name, ...ends, types, shape: { kind: "one", columns: newEdgeColumns(name) } };
}

export function manyEdges(name: string, ends: Ends & Partial<VariableLength>): PatternEdge {
  const { left, right, direction, types = [], ...path } = ends;
  const shape: VariableLength = {
    kind: "many",
    min: 1,
    max: null,
    each: newEdgeColumns(name),
    filter: null,
    relationships: newColumn(name, VARIANT),
    search: "all",
    bound: null,
    ...path,
  };
  return { name, left, right, direction, types, shape };
}

export const ONE_ROW: Plan = { kind: "values", rows: [[]], columns: [] };

export function match(
  nodes: readonly PatternNode[],
  edges: readonly PatternEdge[],
  rest: Partial<Pick<MatchPlan, "input" | "optional" | "predicate">> = {},
): MatchPlan {
  const { input = ONE_ROW, optional = false, predicate = null } = rest;
  const columns = [...input.columns, ...nodes.flatMap(columnsOfNode), ...edges.flatMap(columnsOfEdge)];
  return { kind: "match", graph: GRAPH, nodes, edges, input, optional, predicate, columns };
}

function columnsOfNode(node: PatternNode): readonly OutputColumn[] {
  return node.kind === "bound" ? [] : [node.columns.id, node.columns.labels, node.columns.properties];
}

function columnsOfEdge({ shape }: PatternEdge): readonly OutputColumn[] {
  if (shape.kind === "bound") return [];
  if (shape.kind === "many") return [shape.relationships];
  const { id, type, src, dst, properties } = shape.columns;
  return [id, type, src, dst, properties];
}

export const idOf = (node: Extract<PatternNode, { kind: "new" }>): Expr => columnOf(node.columns.id);

export function columnOf({ id, type, name }: OutputColumn): Expr {
  return { kind: "column", id, type, name };
}

/** Deletes the relationship. */
export function removal(id: number): Plan {
  const key = newColumn("key", BYTEA);
  const rows = scan(GRAPH.edges, "e", key);
  const [first] = rows.columns as [Plan["columns"][number]];
  const input = filter(rows, op({ kind: "column", id: first.id, type: INT8, name: "id" }, "=", big(id)));
  const oldColumns = rows.columns.slice(0, -1);
  return { kind: "delete", table: GRAPH.edges, input, rowKey: key.id, oldColumns, returning: null, columns: [] };
}
