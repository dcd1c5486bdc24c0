/**
 * Algorithms over graphs as procedures: `CALL algo.pageRank({dampingFactor: 0.9}) YIELD node, score`. Each column of
 * nodes is there twice: `node`, the node itself, and `nodeId`.
 */
import { NODE_COLUMN } from "../../catalog/graph.js";
import { seenEdges, seenNodes } from "../../cypher/bind/guarded-rows.js";
import type { Procedure, ProcedureStatement } from "../../cypher/bind/procedure.js";
import type { ProcedureField } from "../../cypher/bind/procedure-catalog.js";
import { FLOAT, INTEGER, listOf, MAP, NODE } from "../../cypher/bind/static-type.js";
import { call } from "../../cypher/bind/variables.js";
import type { Algorithm, ResultColumn } from "../../graph/algorithms/algorithm.js";
import { ALGORITHMS } from "../../graph/algorithms/run-algorithm.js";
import { algorithmFunction } from "../../query/exec/graph-algorithm.js";
import { NODE_OF } from "../../query/expr/cypher/registry.js";
import type { Expr } from "../../query/expr/expr.js";
import { resolveOperator } from "../../query/expr/resolve.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import { INT8, TEXT, VARIANT } from "../../values/values.js";

const TYPES: Readonly<Record<ResultColumn["kind"], ProcedureField["type"]>> = {
  node: NODE,
  integer: INTEGER,
  float: FLOAT,
  nodes: listOf(INTEGER),
};

function procedureOf(algorithm: Algorithm): Procedure {
  const outputs = algorithm.columns.map(({ name, kind }): ProcedureField => ({ name, type: TYPES[kind] }));
  const nodes = algorithm.columns.filter(({ kind }) => kind === "node");
  return {
    name: `algo.${algorithm.name}`,
    description: `Runs the algorithm ${algorithm.name} over the graph.`,
    inputs: [{ name: "options", type: MAP, optional: true }],
    outputs: [...outputs, ...nodes.map(({ name }): ProcedureField => ({ name: `${name}Id`, type: INTEGER }))],
    rows: ([options], statement) => rowsOf(algorithm, options ?? NO_OPTIONS, statement),
  };
}

const NO_OPTIONS: Expr = Object.freeze({ kind: "const", type: VARIANT, value: null });

/** The function's rows, joined with the nodes that they speak of, unless nobody reads those. */
function rowsOf(algorithm: Algorithm, options: Expr, statement: ProcedureStatement): Plan {
  const { guard } = statement;
  const seen = guard === null ? null : { nodes: seenNodes(statement), edges: seenEdges(statement) };
  const fn = algorithmFunction(statement.graph, algorithm, seen);
  const made = fn.returns.fields!.map(({ name, type }) => statement.newColumn(name, type));
  let plan: Plan = Object.freeze({
    kind: "tablefunction",
    alias: fn.name,
    calls: [{ fn, args: [options], shape: fn.returns }],
    ordinality: false,
    columns: made,
  });
  const exprs: Expr[] = [];
  const ids: Expr[] = [];
  algorithm.columns.forEach(({ kind }, i) => {
    const id = columnExpr(made[i]!);
    if (kind !== "node") {
      exprs.push(id);
      return;
    }
    const columns = nodeColumns(statement);
    plan = joined(plan, nodesIn(statement, columns), id, columns[0]!);
    exprs.push(call(NODE_OF, columns.map(columnExpr)));
    ids.push(id);
  });
  const { outputs } = procedureOf(algorithm);
  const columns = outputs.map(({ name }) => statement.newColumn(name, VARIANT));
  return Object.freeze({ kind: "project", input: plan, exprs: [...exprs, ...ids], columns });
}

function nodeColumns(statement: ProcedureStatement): readonly OutputColumn[] {
  return [
    statement.newColumn("id", INT8),
    statement.newColumn("labels", TEXT),
    statement.newColumn("properties", VARIANT),
  ];
}

function nodesIn({ graph }: ProcedureStatement, columns: readonly OutputColumn[]): Plan {
  const source = [NODE_COLUMN.id, NODE_COLUMN.labels, NODE_COLUMN.properties];
  const table = graph.nodes;
  return Object.freeze({
    kind: "scan",
    table,
    alias: "node",
    source,
    filter: null,
    reverse: false,
    rowKey: null,
    columns,
  });
}

function joined(left: Plan, right: Plan, id: Expr, column: OutputColumn): Plan {
  const condition = call(resolveOperator("=", INT8, INT8).fn, [id, columnExpr(column)]);
  const columns = [...left.columns, ...right.columns.map((one) => ({ ...one, nullable: true }))];
  return Object.freeze({ kind: "join", type: "left", left, right, condition, lateral: false, columns });
}

export const ALGORITHM_PROCEDURES: readonly Procedure[] = ALGORITHMS.map(procedureOf);
