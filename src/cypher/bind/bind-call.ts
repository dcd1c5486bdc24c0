/** Calls of functions. Those of an entity's variable that only need one of its columns read that. */
import { PATH_LENGTH, PATH_RELATIONSHIPS, WHOLE_AS_INTEGER } from "../../query/expr/cypher/clause-functions.js";
import { cypherFunction, LABELS_OF } from "../../query/expr/cypher/registry.js";
import type { Expr } from "../../query/expr/expr.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Expr as ExprNode, FunctionCall } from "../parse/ast.js";
import type { ExprContext } from "./binding.js";
import { call, isNull, type PathParts, type Variable, variant } from "./variables.js";

type Bind = (node: ExprNode, context: ExprContext) => Expr;

/** Throws UnknownFunction and InvalidNumberOfArguments. */
export function bindCall(node: FunctionCall, context: ExprContext, bind: Bind): Expr {
  const name = node.name.toLowerCase();
  const [only] = node.args;
  if (node.args.length === 1 && only !== undefined) {
    if (name === "exists") return bindExists(only, context, bind);
    const variable = only.kind === "variable" ? context.scope.get(only.name) : undefined;
    const direct = variable === undefined ? null : ofVariable(name, variable, context);
    if (direct !== null) return direct;
  }
  const fn = cypherFunction(node.name, node.args.length);
  if ("error" in fn) {
    if (fn.error === "unknown") {
      throw context.binding.error(node.position, "UnknownFunction", `there is no function ${node.name}`);
    }
    const wanted = fn.expected === undefined ? "" : `, it takes ${fn.expected}`;
    const message = `${node.name}() cannot be called with ${node.args.length} arguments${wanted}`;
    throw context.binding.error(node.position, "InvalidNumberOfArguments", message);
  }
  const args = node.args.map((arg) => {
    const expr = bind(arg, context);
    // Drivers for JavaScript send every number as a float.
    if (name === "range" && arg.kind === "parameter") return call(WHOLE_AS_INTEGER, [expr]);
    return expr.kind === "const" ? variant(expr.value) : expr;
  });
  return call(fn, args);
}

/** `exists(n.p)`; with a pattern it is what the pattern alone is. */
function bindExists(arg: ExprNode, context: ExprContext, bind: Bind): Expr {
  const expr = bind(arg, context);
  return arg.kind === "pattern" ? expr : isNull(expr, true);
}

/** Null: it takes the whole value. */
function ofVariable(name: string, variable: Variable, { binding }: ExprContext): Expr | null {
  if (variable.kind === "value")
    return variable.path === undefined || binding.deletes ? null : ofPath(name, variable.path);
  const { columns, kind } = variable;
  if (name === "id") return columnExpr(columns.id);
  // What is deleted has an id, and no more.
  if (binding.deletes) return null;
  switch (name) {
    case "properties":
      return columnExpr(columns.properties);
    case "keys":
      return keysOf(columnExpr(columns.properties));
    case "labels":
      return kind === "node" ? call(LABELS_OF, [columnExpr(variable.columns.labels)]) : null;
    case "type":
      return kind === "relationship" ? columnExpr(variable.columns.type) : null;
    default:
      return null;
  }
}

/** What can be told of a path without its nodes. */
function ofPath(name: string, { start, parts }: PathParts): Expr | null {
  if (name === "length") return call(PATH_LENGTH, [start, ...parts.map(({ id }) => id)]);
  return name === "relationships" ? call(PATH_RELATIONSHIPS, [start, ...parts.map(({ expr }) => expr)]) : null;
}

function keysOf(properties: Expr): Expr | null {
  const fn = cypherFunction("keys", 1);
  return "error" in fn ? null : call(fn, [properties]);
}
