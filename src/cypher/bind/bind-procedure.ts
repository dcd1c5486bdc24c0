/** CALL: the rows of a procedure, for each row of the surrounding query. */

import type { Expr } from "../../query/expr/expr.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import type { CallClause, MatchClause, YieldItem } from "../parse/ast.js";
import { WRITING_PROCEDURES } from "../parse/writing-procedures.js";
import { APOC_PROCEDURES } from "./apoc-procedures.js";
import { bindCondition } from "./bind-condition.js";
import { bindArgument } from "./bind-expr.js";
import { type Binding, contextOf, type QueryResult, type Rows } from "./binding.js";
import { DATABASE_PROCEDURES } from "./database-procedures.js";
import { GRAPH_PROCEDURES } from "./graph-procedures.js";
import { INDEX_PROCEDURES, nearest } from "./index-procedures.js";
import { NEIGHBOR_PROCEDURES } from "./neighbor-procedures.js";
import { type Procedure, type ProcedureRegistry, registeredProcedure, registeredProcedures } from "./procedure.js";
import { filtered, joined, NO_ROWS, ONE_ROW, only, resultOf } from "./rows.js";
import { SCHEMA_PROCEDURES } from "./schema-procedures.js";
import { serverProcedures } from "./server-procedures.js";
import { SETTING_PROCEDURES } from "./setting-procedures.js";
import { STATS_PROCEDURES } from "./stats-procedures.js";
import { NO_VARIABLES, type Variable, type Variables } from "./variables.js";

/** All that can be called, by name. */
export function allProcedures(): readonly Procedure[] {
  const all = new Map([...byName.values(), ...registeredProcedures()].map((procedure) => [procedure.name, procedure]));
  return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const byName = new Map(
  [
    ...GRAPH_PROCEDURES,
    ...INDEX_PROCEDURES,
    ...SCHEMA_PROCEDURES,
    ...DATABASE_PROCEDURES,
    ...SETTING_PROCEDURES,
    ...STATS_PROCEDURES,
    ...APOC_PROCEDURES,
    ...NEIGHBOR_PROCEDURES,
    ...serverProcedures(allProcedures),
  ].map((procedure) => [procedure.name.toLowerCase(), procedure]),
);

/** Those of every graph, and those that have been registered. */
export const PROCEDURES: ProcedureRegistry = {
  procedure: (name) => registeredProcedure(name) ?? byName.get(name.toLowerCase()) ?? null,
  names: () => [...allProcedures(), ...WRITING_PROCEDURES].map(({ name }) => name),
};

/** The statement's only clause: all that the procedure gives, unless YIELD names some of it. */
export function bindStandaloneCall(clause: CallClause, binding: Binding): QueryResult {
  const procedure = procedureOf(clause, binding);
  if (procedure.outputs.length === 0) {
    const plan = procedure.acts
      ? only(procedure.rows(argumentsOf(clause, procedure, NO_VARIABLES, binding), binding), [])
      : NO_ROWS;
    return { plan, columns: [], returns: false };
  }
  const names = namesGiven(clause, procedure);
  const { plan, scope } = bindProcedureCall(clause, { plan: ONE_ROW, scope: NO_VARIABLES }, binding);
  const made = names.map((name) => ({ name, expr: (scope.get(name) as Extract<Variable, { kind: "value" }>).expr }));
  const result = resultOf(plan, made, binding);
  return { plan: result, columns: result.columns, returns: true };
}

function namesGiven({ yields }: CallClause, { outputs }: Procedure): string[] {
  if (yields !== null && yields !== "*") return yields.map(({ variable }) => variable.name);
  return outputs.filter(({ onDemand }) => yields === "*" || onDemand !== true).map(({ name }) => name);
}

/** CALL inside a query. A procedure that gives nothing leaves the rows as they are. */
export function bindProcedureCall(clause: CallClause, rows: Rows, binding: Binding): Rows {
  const procedure = procedureOf(clause, binding);
  if (procedure.acts) {
    throw binding.error(
      clause.position,
      "UnexpectedSyntax",
      `${procedure.name}() is called alone, not inside of a query`,
    );
  }
  if (procedure.outputs.length === 0) return rows;
  const right = procedure.rows(argumentsOf(clause, procedure, rows.scope, binding), binding);
  const scope = new Map(rows.scope);
  for (const [name, column] of yielded(clause, procedure, right.columns)) {
    scope.set(name, { kind: "value", expr: columnExpr(column) });
  }
  const where = clause.where === null ? null : bindCondition(clause.where, contextOf(binding, scope));
  return { plan: filtered(joined(rows.plan, right, clause.optional), where), scope };
}

/** SEARCH of a MATCH: what the procedure that asks the index finds among that of which the condition holds. */
export function bindSearch({ call, within }: NonNullable<MatchClause["search"]>, rows: Rows, binding: Binding): Rows {
  const procedure = procedureOf(call, binding);
  const args = argumentsOf(call, procedure, rows.scope, binding);
  const [found] = call.yields as readonly YieldItem[];
  const condition = (entity: Variable) =>
    within === null
      ? null
      : bindCondition(within, contextOf(binding, new Map(rows.scope).set(found!.variable.name, entity)));
  const right = nearest(found!.field === "node" ? "nodes" : "edges", args, binding, condition);
  const scope = new Map(rows.scope);
  for (const [name, column] of yielded(call, procedure, right.columns)) {
    scope.set(name, { kind: "value", expr: columnExpr(column) });
  }
  return { plan: joined(rows.plan, right, false), scope };
}

/** Throws ProcedureNotFound. */
function procedureOf({ procedure, position }: CallClause, binding: Binding): Procedure {
  const found = PROCEDURES.procedure(procedure);
  if (found !== null) return found;
  throw binding.error(position, "ProcedureNotFound", `there is no procedure ${procedure}`);
}

/** Without parentheses: the parameters of the inputs' names. */
function argumentsOf({ args }: CallClause, { inputs }: Procedure, scope: Variables, binding: Binding): Expr[] {
  if (args === null) return inputs.map(({ name, optional }) => binding.parameter(name, optional));
  return args.map((arg) => bindArgument(arg, contextOf(binding, scope)));
}

function yielded(
  { yields }: CallClause,
  { outputs }: Procedure,
  columns: readonly OutputColumn[],
): (readonly [string, OutputColumn])[] {
  if (yields === null || yields === "*") return outputs.map(({ name }, i) => [name, columns[i]!]);
  return yields.flatMap(({ field, variable }) => {
    const place = outputs.findIndex(({ name }) => name === field);
    return place < 0 ? [] : [[variable.name, columns[place]!]];
  });
}
