/** Procedures that list a graph's content. */

import { UNWIND } from "../../query/expr/cypher/clause-functions.js";
import { cypherFunction, LABELS_OF } from "../../query/expr/cypher/registry.js";
import type { Expr, ScalarFunction } from "../../query/expr/expr.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { EdgeColumns, NodeColumns } from "../../query/plan/graph-plans.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import { VARIANT } from "../../values/values.js";
import { seenEdges, seenNodes } from "./guarded-rows.js";
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
      const labels = distinct(columnOf(seenNodes(statement), "labels"));
      return distinct(unwound(labels, call(LABELS_OF, [columnExpr(labels.columns[0]!)]), "label", statement));
    },
  },
  {
    name: "db.relationshipTypes",
    description: "The types of the graph's relationships.",
    inputs: [],
    outputs: [text("relationshipType")],
    rows: (_args, statement) => distinct(columnOf(seenEdges(statement), "type")),
  },
  {
    name: "db.propertyKeys",
    description: "The names of the properties of nodes and relationships.",
    inputs: [],
    outputs: [text("propertyKey")],
    rows: (_args, statement) => {
      const left = columnOf(seenNodes(statement), "properties");
      const right = columnOf(seenEdges(statement), "properties");
      const columns = [statement.newColumn("properties", VARIANT)];
      const all: Plan = Object.freeze({ kind: "setop", op: "union", all: true, left, right, columns });
      const keys = call(cypherFunction("keys", 1) as ScalarFunction, [columnExpr(columns[0]!)]);
      return distinct(unwound(all, keys, "propertyKey", statement));
    },
  },
];

function columnOf<C extends NodeColumns | EdgeColumns>(
  { plan, columns }: { readonly plan: Plan; readonly columns: C },
  name: keyof C & string,
): Plan {
  const column = columns[name] as OutputColumn;
  if (plan.kind !== "scan") return only(plan, [column]);
  const place = plan.columns.indexOf(column);
  return Object.freeze({ ...plan, source: [plan.source[place]!], columns: [column] });
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
