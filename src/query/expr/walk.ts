/**
 * Walking and rewriting bound expressions. The optimizer's rules, the folder and the binders call it. Rewrites share
 * every subtree that does not change, so a rule can tell by `===` whether it did anything.
 */
import { isDeepStrictEqual } from "node:util";
import type { Value } from "../../values/values.js";
import { BOOL } from "../../values/values.js";
import type { ColumnId, ConstExpr, Expr, SubqueryExpr } from "./expr.js";

/** The direct inputs of a node, in evaluation order; a subquery's plan is not entered. */
export function inputsOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case "const":
    case "param":
    case "column":
      return [];
    case "call":
    case "and":
    case "or":
      return expr.args;
    case "cast":
    case "not":
    case "isnull":
      return [expr.input];
    case "case": {
      const inputs = expr.branches.flatMap((branch) => [branch.when, branch.then]);
      return expr.otherwise === null ? inputs : [...inputs, expr.otherwise];
    }
    case "in":
      return [expr.input, ...expr.items];
    case "subquery":
      return expr.input === null ? [] : [expr.input];
    case "list":
      return [expr.list, expr.initial, expr.where, expr.result].filter((input) => input !== null);
  }
}

/** The node with other inputs (as many as inputsOf gave); the node itself when all are the same. */
export function withInputs(expr: Expr, inputs: readonly Expr[]): Expr {
  const before = inputsOf(expr);
  if (inputs.every((input, i) => input === before[i])) return expr;
  switch (expr.kind) {
    case "const":
    case "param":
    case "column":
      return expr;
    case "call":
    case "and":
    case "or":
      return Object.freeze({ ...expr, args: inputs });
    case "cast":
    case "not":
    case "isnull":
    case "subquery":
      return Object.freeze({ ...expr, input: inputs[0] as Expr });
    case "case": {
      const branches = expr.branches.map((_, i) => ({
        when: inputs[2 * i] as Expr,
        // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
        then: inputs[2 * i + 1] as Expr,
      }));
      return Object.freeze({ ...expr, branches, otherwise: expr.otherwise === null ? null : (inputs.at(-1) as Expr) });
    }
    case "in":
      return Object.freeze({ ...expr, input: inputs[0] as Expr, items: inputs.slice(1) });
    case "list": {
      let at = 1;
      const next = (part: Expr | null) => (part === null ? null : (inputs[at++] as Expr));
      const [initial, where, result] = [next(expr.initial), next(expr.where), next(expr.result)];
      return Object.freeze({ ...expr, list: inputs[0] as Expr, initial, where, result });
    }
  }
}

/** Rewrites bottom-up: `change` sees each node after its inputs and returns it or another one. */
export function mapExpr(expr: Expr, change: (expr: Expr) => Expr): Expr {
  const inputs = inputsOf(expr);
  if (inputs.length === 0) return change(expr);
  return change(
    withInputs(
      expr,
      inputs.map((input) => mapExpr(input, change)),
    ),
  );
}

/** Calls `visit` for the node and everything below it, top-down; `false` keeps it out of a node's inputs. */
export function walkExpr(expr: Expr, visit: (expr: Expr) => boolean | void): void {
  if (visit(expr) === false) return;
  for (const input of inputsOf(expr)) walkExpr(input, visit);
}

/** True when some node satisfies the test. */
export function someExpr(expr: Expr, test: (expr: Expr) => boolean): boolean {
  return test(expr) || inputsOf(expr).some((input) => someExpr(input, test));
}

/**
 * Columns that the expression reads, those that its subqueries take from outside included; no local variables of lists.
 */
export function columnsOf(expr: Expr): Set<ColumnId> {
  const columns = new Set<ColumnId>();
  const locals: ColumnId[] = [];
  walkExpr(expr, (node) => {
    if (node.kind === "column") columns.add(node.id);
    else if (node.kind === "subquery") for (const id of node.outer) columns.add(id);
    else if (node.kind === "list") {
      locals.push(node.variable);
      if (node.accumulator !== null) locals.push(node.accumulator);
    }
  });
  // Ids are unique in a statement, so none of these is meant outside of its list.
  for (const id of locals) columns.delete(id);
  return columns;
}

/** Reads no column and runs no subquery: one value per execution (parameters allowed, volatile calls not). */
export function isConstant(expr: Expr): boolean {
  return !someExpr(
    expr,
    (node) =>
      node.kind === "column" || node.kind === "subquery" || (node.kind === "call" && node.fn.volatility === "volatile"),
  );
}

export function isVolatile(expr: Expr): boolean {
  return someExpr(expr, (node) => node.kind === "call" && node.fn.volatility === "volatile");
}

/**
 * Evaluating it for one row may take so long that turns are due between rows: correlated subqueries, statements'
 * functions.
 */
export function takesLong(expr: Expr): boolean {
  return someExpr(expr, (node) => {
    if (node.kind === "subquery") return node.outer.length > 0;
    if (node.kind !== "call" || (node.fn.routine === undefined && node.fn.slow === undefined)) return false;
    return isVolatile(node) || columnsOf(node).size > 0;
  });
}

/**
 * Same structure, overloads, types and values. Volatile calls and lists equal only themselves; a subquery equals one
 * that is written alike in the same query.
 */
export function exprEquals(a: Expr, b: Expr): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.type !== b.type) return false;
  switch (a.kind) {
    case "const":
      return sameValue(a.value, (b as ConstExpr).value);
    case "param":
      return a.index === (b as typeof a).index;
    case "column":
      return a.id === (b as typeof a).id;
    case "call":
      if (a.fn !== (b as typeof a).fn || a.fn.volatility === "volatile") return false;
      break;
    case "isnull":
      if (a.negated !== (b as typeof a).negated) return false;
      break;
    case "in":
      if (a.negated !== (b as typeof a).negated || a.equals !== (b as typeof a).equals) return false;
      break;
    case "case":
      if (a.branches.length !== (b as typeof a).branches.length) return false;
      break;
    case "subquery":
      if (!areAlike(a, b as typeof a)) return false;
      break;
    case "list":
      return false;
  }
  const left = inputsOf(a);
  const right = inputsOf(b);
  return left.length === right.length && left.every((input, i) => exprEquals(input, right[i] as Expr));
}

/** What they read from outside may have been replaced in one of them. */
function areAlike(a: SubqueryExpr, b: SubqueryExpr): boolean {
  if (a.alike === undefined || a.alike !== b.alike || a.outer.length !== b.outer.length) return false;
  return a.outer.every((id, i) => id === b.outer[i]);
}

/** Equality of constants: the same representation all the way down. */
function sameValue(a: Value, b: Value): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  return isDeepStrictEqual(a, b);
}

/** The operands of nested ANDs, left to right; a lone condition is its own only conjunct, null has none. */
export function conjuncts(predicate: Expr | null): Expr[] {
  if (predicate === null) return [];
  return predicate.kind === "and" ? predicate.args.flatMap(conjuncts) : [predicate];
}

/** The AND of conditions: null for none, the condition itself for one. */
export function andOf(conditions: readonly Expr[]): Expr | null {
  if (conditions.length <= 1) return conditions[0] ?? null;
  return Object.freeze({ kind: "and", type: BOOL, args: conditions });
}
