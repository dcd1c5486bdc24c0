/**
 * cypher('MATCH …' [, parameters [, graph]]) in FROM: the rows of a Cypher query. It is bound as a part of the
 * statement's own plan, so that the two are optimized together. Its columns are jsonb, or have the types of `AS t(name
 * text, …)`. Called by bind-from.ts; the session provides the binder of Cypher (BindEnvironment.cypher), which this
 * room does not know.
 */
import { DbError, sqlError } from "../../protocol/errors.js";
import { cypherOperator } from "../../query/expr/cypher/registry.js";
import type { Expr } from "../../query/expr/expr.js";
import { displayName } from "../../query/expr/types.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import { JSONB, type SqlType, TEXT, VARIANT } from "../../values/values.js";
import type { CallNode, ColumnSpec, ExprNode, FromFunction } from "../parse/ast-query.js";
import { contextOf } from "./bind-context.js";
import { bindExpr } from "./bind-expr.js";
import { bindType } from "./bind-type.js";
import type { Binding, Source } from "./binding.js";
import type { CypherBinder } from "./bound-statement.js";
import { coerceImplicit, constant, isUnknown } from "./coerce.js";
import { routinesNamed } from "./resolve-routine.js";
import type { Scope } from "./scope.js";
import { project } from "./source.js";

const CYPHER = "cypher";

/** The call, if the function in FROM is this one and no statement has made another of its name. */
export function cypherCallOf(node: FromFunction, { env }: Binding): CallNode | null {
  const { call } = node.functions[0]!;
  if (node.functions.length > 1 || node.ordinality || call.kind !== "call") return null;
  if (call.path.length !== 1 || call.path[0] !== CYPHER || routinesNamed(call.path, env).length > 0) return null;
  return call;
}

/** `lateral`: the scope of the items to the left of the function, which its parameters may read. */
export function bindCypherFunction(call: CallNode, node: FromFunction, lateral: Scope, binding: Binding): Source {
  const { position } = call;
  const [text, given, graph] = call.args.map(({ value }) => value);
  if (text === undefined || call.args.length > 3) {
    throw sqlError("42883", "function cypher takes a statement of Cypher, and perhaps its parameters and a graph", {
      position,
      hint: "Call it as cypher('MATCH …', '{\"name\": value}', 'graph').",
    });
  }
  const { cypher } = binding.env;
  if (cypher === undefined) throw sqlError("0A000", "cypher() cannot be called here", { position });
  const parameters = given === undefined ? null : parametersOf(given, lateral, binding);
  const found = bindText(cypher, text, {
    graph: graph === undefined ? undefined : constantText(graph, "the graph that cypher() reads"),
    newId: () => binding.newColumn("", VARIANT, true).id,
    parameter: (name) => parameterOf(name, parameters, position),
  });
  if (!found.readOnly) {
    throw sqlError("0A000", "cypher() in FROM can only read", {
      position,
      hint: "Send Cypher statements that write separately, in the same transaction if needed.",
    });
  }
  return converted(
    found.source,
    node.functions[0]!.columns.length > 0 ? node.functions[0]!.columns : node.columns,
    binding,
  );
}

type Hooks = Parameters<CypherBinder>[1];

/** Positions in the text of Cypher are told as `offset`; the statement's own is that of the literal. */
function bindText(cypher: CypherBinder, node: ExprNode, hooks: Hooks): ReturnType<CypherBinder> {
  const text = constantText(node, "what cypher() runs");
  try {
    return cypher(text, hooks);
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    throw new DbError(error.code, error.message, { ...error.details, position: node.position });
  }
}

function constantText(node: ExprNode, what: string): string {
  if (node.kind === "cast") return constantText(node.input, what);
  if (node.kind === "string") return node.value;
  throw sqlError("0A000", `${what} must be written as a constant`, { position: node.position });
}

/** A variant: a map. */
function parametersOf(node: ExprNode, lateral: Scope, binding: Binding): Expr {
  const bound = bindExpr(node, contextOf(binding, lateral, "functions in FROM"));
  const expr = isUnknown(bound) ? coerceImplicit(bound, JSONB, binding, node.position) : bound;
  const { type } = expr;
  if (type === VARIANT) return expr;
  if (type.name === "jsonb" || type.name === "json") return Object.freeze({ kind: "cast", type: VARIANT, input: expr });
  throw sqlError("42883", `cypher() wants its parameters as jsonb, not as ${displayName(type)}`, {
    position: node.position,
  });
}

function parameterOf(name: string, parameters: Expr | null, position: number): Expr {
  if (parameters === null) {
    throw sqlError("42P02", `cypher() is given no parameters, but its statement has $${name}`, { position });
  }
  const fn = cypherOperator("property");
  return Object.freeze({ kind: "call", type: VARIANT, fn, args: [parameters, constant(TEXT, name)] });
}

function converted(source: Source, definition: readonly ColumnSpec[], binding: Binding): Source {
  const { columns } = source;
  if (definition.length > columns.length) {
    throw sqlError("42P10", `cypher() returns ${columns.length} columns, and ${definition.length} are defined`, {
      position: definition[columns.length]!.type.position,
    });
  }
  const names = columns.map(({ name }, i) => definition[i]?.name ?? name);
  const exprs = columns.map((column, i) => {
    const type: SqlType = definition[i] === undefined ? JSONB : bindType(definition[i]!.type, binding);
    const input = columnExpr(column);
    return type === VARIANT ? input : Object.freeze({ kind: "cast" as const, type, input });
  });
  return project(source.plan, exprs, names, binding);
}
