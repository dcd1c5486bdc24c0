/** Procedures that list a graph's content. */

import { EDGE_COLUMN, NODE_COLUMN } from "../../catalog/graph.js";
import type { TableDef } from "../../catalog/table.js";
import { UNWIND } from "../../query/expr/cypher/clause-functions.js";
import { cypherFunction, LABELS_OF } from "../../query/expr/cypher/registry.js";
import type { Expr, ScalarFunction } from "../../query/expr/expr.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Plan } from "../../query/plan/plan.js";
import { type SqlType, TEXT, VARIANT } from "../../values/values.js";
import type { Procedure, ProcedureStatement } from "./procedure.js";
import type { ProcedureField } from "./procedure-catalog.js";
import { only } from "./rows.js";
import { STRING } from "./static-type.js";
import { call } from "./variables.js";

const text = (name: string): ProcedureField => ({ name, type: STRING });

export const GRAPH_PROCEDURES: readonly Procedure[] = [
  {
    name: "db.labels",
    description: "The labels of the graph's nodes.",
    inputs: [],
    outputs: [text("label")],
    rows: (_args, statement) => {
      const labels = distinct(scanOf(statement.graph.nodes, NODE_COLUMN.labels, TEXT, statement));
      return distinct(unwound(labels, call(LABELS_OF, [columnExpr(labels.columns[0]!)]), "label", statement));
    },
  },
  {
    name: "db.relationshipTypes",
    description: "The types of the graph's relationships.",
    inputs: [],
    outputs: [text("relationshipType")],
    rows: (_args, statement) => distinct(scanOf(statement.graph.edges, EDGE_COLUMN.type, TEXT, statement)),
  },
  {
    name: "db.propertyKeys",
    description: "The names of the properties of nodes and relationships.",
    inputs: [],
    outputs: [text("propertyKey")],
    rows: (_args, statement) => {
      const left = scanOf(statement.graph.nodes, NODE_COLUMN.properties, VARIANT, statement);
      const right = scanOf(statement.graph.edges, EDGE_COLUMN.properties, VARIANT, statement);
      const columns = [statement.newColumn("properties", VARIANT)];
      const all: Plan = Object.freeze({ kind: "setop", op: "union", all: true, left, right, columns });
      const keys = call(cypherFunction("keys", 1) as ScalarFunction, [columnExpr(columns[0]!)]);
      return distinct(unwound(all, keys, "propertyKey", statement));
    },
  },
];

function scanOf(table: TableDef, column: number, type: SqlType, statement: ProcedureStatement): Plan {
  const name = table.columns.find(({ id }) => id === column)!.name;
  const columns = [statement.newColumn(name, type)];
  return Object.freeze({
    kind: "scan",
    table,
    alias: table.name,
    source: [column],
    filter: null,
    reverse: false,
    rowKey: null,
    columns,
  });
}

function distinct(input: Plan): Plan {
  return Object.freeze({ kind: "distinct", input, on: null, columns: input.columns });
}

/** The elements of a list per row, alone. */
function unwound(input: Plan, list: Expr, name: string, statement: ProcedureStatement): Plan {
  const column = statement.newColumn(name, VARIANT);
  const calls = [{ fn: UNWIND, args: [list], shape: UNWIND.returns }];
  const plan: Plan = Object.freeze({ kind: "projectset", input, calls, columns: [...input.columns, column] });
  return only(plan, [column]);
}
