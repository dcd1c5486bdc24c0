/** The parts of Cypher's expressions, for checks that look through them. */

import { cypherAggregate } from "../../query/expr/cypher/registry.js";
import type { Expr, LabelExpr, Variable } from "../parse/ast.js";
import type { Scope } from "./scope.js";

export const isAggregate = (expr: Expr): boolean =>
  expr.kind === "count-all" || (expr.kind === "call" && cypherAggregate(expr.name) !== null);

/** Whether the expression itself contains an aggregate; those of a subquery belong to the subquery. */
export function aggregateIn(expr: Expr): boolean {
  return isAggregate(expr) || directParts(expr, null).some(aggregateIn);
}

/**
 * The expressions that an expression is made of, without the variables that it brings itself. Of patterns and
 * subqueries: their variables that are in `scope` (null: none of them).
 */
export function directParts(expr: Expr, scope: Scope | null): readonly Expr[] {
  switch (expr.kind) {
    case "property":
      return [expr.target];
    case "label-test":
      return [expr.target, ...computedNames(expr.labels)];
    case "index":
      return [expr.target, expr.index];
    case "slice":
      return present([expr.target, expr.from, expr.to]);
    case "call":
      return expr.args;
    case "unary":
    case "not":
    case "null-test":
      return [expr.operand];
    case "arithmetic":
    case "text-match":
      return [expr.left, expr.right];
    case "logical":
      return expr.operands;
    case "comparison":
      return [expr.first, ...expr.rest.map(({ operand }) => operand)];
    case "in":
      return [expr.item, expr.list];
    case "list":
      return expr.items;
    case "map":
      return expr.entries.map(({ value }) => value);
    case "map-projection":
      return [
        expr.variable,
        ...expr.items.flatMap((item) =>
          item.kind === "variable" ? [item] : item.kind === "entry" ? [item.value] : [],
        ),
      ];
    case "case":
      return present([expr.subject, ...expr.branches.flatMap(({ when, result }) => [when, result]), expr.otherwise]);
    case "list-comprehension":
      return [expr.list, ...open([expr.where, expr.result], [expr.variable], scope)];
    case "quantifier":
      return [expr.list, ...open([expr.where], [expr.variable], scope)];
    case "reduce":
      return [expr.initial, expr.list, ...open([expr.result], [expr.accumulator, expr.variable], scope)];
    case "pattern":
    case "pattern-comprehension":
    case "subquery":
      return scope === null ? [] : variablesIn(expr).filter(({ name }) => scope.has(name));
    default:
      return [];
  }
}

function computedNames(labels: LabelExpr): readonly Expr[] {
  if (labels.kind === "dynamic-label") return [labels.names];
  if (labels.kind === "not-label") return computedNames(labels.operand);
  return "operands" in labels ? labels.operands.flatMap(computedNames) : [];
}

const present = (parts: readonly (Expr | null)[]): Expr[] => parts.filter((part) => part !== null);

/** What is left of expressions in which some variables are bound: their largest parts that do not use those. */
function open(parts: readonly (Expr | null)[], bound: readonly Variable[], scope: Scope | null): Expr[] {
  return present(parts).flatMap((part) => {
    const uses = variablesIn(part).some(({ name }) => bound.some((variable) => variable.name === name));
    return uses ? open(directParts(part, scope), bound, scope) : [part];
  });
}

/** All variables that are written in a tree. */
function variablesIn(tree: unknown): Variable[] {
  if (typeof tree !== "object" || tree === null) return [];
  if (Array.isArray(tree)) return tree.flatMap(variablesIn);
  if ((tree as { kind?: unknown }).kind === "variable") return [tree as Variable];
  return Object.values(tree).flatMap(variablesIn);
}
