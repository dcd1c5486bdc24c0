/**
 * LANGUAGE sql functions whose body is one expression: the expression takes the place of the call, as in PostgreSQL, so
 * that the optimizer sees it and indexes serve it. Called by bind-routine-call.ts.
 */
import { type FunctionDef, keptBody } from "../../catalog/function.js";
import { canCoerce } from "../../query/expr/coercion.js";
import type { Expr, ScalarFunction } from "../../query/expr/expr.js";
import { isAggregateName, isTableFunctionName } from "../../query/expr/resolve.js";
import { someExpr } from "../../query/expr/walk.js";
import { BOOL, VOID } from "../../values/values.js";
import type { CallNode, ExprNode } from "../parse/ast-query.js";
import type { ExprContext } from "./bind-context.js";
import { viewEnvironment } from "./bind-view.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";
import type { Bind } from "./call-arguments.js";
import { coerceAssignment, constant, isUnknown } from "./coerce.js";
import { caseOf } from "./logic.js";
import type { MatchedRoutine } from "./matched-routine.js";
import { routinesNamed } from "./resolve-routine.js";
import { Scope } from "./scope.js";
import { parameterVariables, statementsOf } from "./sql-body.js";
import { calledEnvironment } from "./stored-names.js";

/** Functions that are being put in place, by statement: a function that calls itself is called. */
const open = new WeakMap<Binding, Set<FunctionDef>>();

/** The expression that replaces the call; null: the function has to be called. */
export function inlinedCall(
  bound: MatchedRoutine & { readonly args: readonly Expr[] },
  context: ExprContext,
  bind: Bind,
): Expr | null {
  const { definition, args, returns } = bound;
  const { binding } = context;
  const { rights } = binding.env;
  // The function may run with other rights than the statement.
  if (rights?.ofRoles === true) return null;
  const env = bodyEnvironment(definition, binding);
  const body = expressionOf(definition, env);
  if (body === null || returns === VOID || (returns.name === "record" && returns.fields === undefined)) return null;
  if (definition.strict && !args.every(isCheap)) return null;
  let active = open.get(binding);
  if (active === undefined) {
    active = new Set();
    open.set(binding, active);
  }
  if (active.has(definition)) return null;
  active.add(definition);
  try {
    const uses = new Map<Expr, number>();
    const variables = parameterVariables(definition, args);
    const scope = new Scope(null, {
      ...variables,
      find: (path, position) => counted(variables.find(path, position), uses, args),
      parameter: (index) => counted({ name: "", expr: args[index]! }, uses, args)?.expr ?? null,
    });
    const expr = binding.within(env, () => bind(body, { ...context, scope, aggregates: false, windows: false }));
    if (!isUnknown(expr) && !canCoerce(expr.type, returns, "assignment")) return null;
    if (!args.every((arg) => isCheap(arg) || uses.get(arg) === 1 || (!isVolatile(arg) && !uses.has(arg)))) return null;
    if (isLooser(expr, definition.volatility) || (rights?.lendsLess === true && !isHarmless(expr))) return null;
    const value = coerceAssignment(expr, { name: definition.name, type: returns }, binding, 0);
    return definition.strict ? nullForNull(value, args) : value;
  } finally {
    active.delete(definition);
  }
}

function bodyEnvironment(definition: FunctionDef, binding: Binding): BindEnvironment {
  const env = calledEnvironment(binding);
  const kept = keptBody(definition);
  if (kept !== null) return viewEnvironment(kept, env);
  const { searchPath = env.searchPath } = definition;
  return { ...env, searchPath };
}

function counted<F extends { readonly expr: Expr }>(found: F | null, uses: Map<Expr, number>, args: readonly Expr[]) {
  if (found === null || found.expr === undefined) return null;
  for (const arg of args) {
    if (someExpr(found.expr, (part) => part === arg)) uses.set(arg, (uses.get(arg) ?? 0) + 1);
  }
  return found;
}

/** Worth no thought when it is evaluated more than once. */
const isCheap = (expr: Expr): boolean =>
  expr.kind === "const" ||
  expr.kind === "param" ||
  expr.kind === "column" ||
  (expr.kind === "cast" && isCheap(expr.input));

const isVolatile = (expr: Expr) =>
  someExpr(expr, (part) => part.kind === "subquery" || (part.kind === "call" && part.fn.volatility === "volatile"));

/** Whether it can do nothing but compute a value: then it does not matter with whose rights. */
function isHarmless(expr: Expr): boolean {
  const acts = ({ routine, deferred, volatility }: ScalarFunction) =>
    routine !== undefined || deferred !== undefined || volatility === "volatile";
  return !someExpr(expr, (part) => part.kind === "subquery" || (part.kind === "call" && acts(part.fn)));
}

/** Whether the expression changes more easily than the function says of itself. */
function isLooser(expr: Expr, declared: FunctionDef["volatility"]): boolean {
  if (declared === "volatile") return false;
  return someExpr(
    expr,
    (part) =>
      part.kind === "call" &&
      (part.fn.volatility === "volatile" || (declared === "immutable" && part.fn.volatility === "stable")),
  );
}

/** STRICT: NULL when an argument is. */
function nullForNull(value: Expr, args: readonly Expr[]): Expr {
  const perhaps = args.filter((arg) => arg.kind !== "const" || arg.value === null);
  if (perhaps.length === 0) return value;
  const tests = perhaps.map((input): Expr => Object.freeze({ kind: "isnull", type: BOOL, input, negated: false }));
  const any: Expr = tests.length === 1 ? tests[0]! : Object.freeze({ kind: "or", type: BOOL, args: tests });
  return caseOf(value.type, [[any, constant(value.type, null)]], value);
}

/** The body when it is `SELECT expression` and nothing else. */
function expressionOf(definition: FunctionDef, env: BindEnvironment): ExprNode | null {
  if (definition.language !== "sql" || definition.settings.length > 0 || definition.securityDefiner) return null;
  const statements = statementsOf(definition);
  const node = statements[0]?.node;
  if (statements.length !== 1 || node?.kind !== "select") return null;
  const { body, with: tables, orderBy, limit, offset } = node.query;
  if (body.kind !== "select" || tables !== null || orderBy.length > 0 || limit !== null || offset !== null) return null;
  if (body.from.length > 0 || body.where !== null || body.having !== null || body.groupBy.length > 0) return null;
  const [target] = body.targets;
  if (body.targets.length !== 1 || body.distinct !== "all" || body.windows.length > 0) return null;
  return isPlain(target!.expr, env) ? target!.expr : null;
}

/** No subquery, aggregate, window or set anywhere in it. */
function isPlain(node: unknown, env: BindEnvironment): boolean {
  if (typeof node !== "object" || node === null) return true;
  if ("kind" in node) {
    if (node.kind === "subquery" || node.kind === "grouping") return false;
    if (node.kind === "column" && (node as { star?: boolean }).star) return false;
    if (node.kind === "call" && !isPlainCall(node as CallNode, env)) return false;
  }
  return Object.values(node).every((child) => isPlain(child, env));
}

function isPlainCall({ path, over, star }: CallNode, env: BindEnvironment): boolean {
  const name = path[path.length - 1]!;
  if (over !== null || star || isAggregateName(name) || isTableFunctionName(name)) return false;
  return routinesNamed(path, env).every((routine) => !routine.returnsSet && routine.kind === "function");
}
