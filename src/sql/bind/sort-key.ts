/** Sort keys and the output columns that ORDER BY, GROUP BY and DISTINCT ON may name. */
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { operatorFor } from "../../query/expr/resolve.js";
import { displayName, hasOrder } from "../../query/expr/types.js";
import type { SortKey } from "../../query/plan/plan.js";
import type { SqlType } from "../../values/values.js";
import type { ExprNode, SortNode } from "../parse/ast-query.js";

const TEXT_TYPES = new Set(["text", "varchar", "bpchar", "name", "unknown"]);

export function bindSortKey(node: SortNode, expr: Expr): SortKey {
  const { position } = node;
  let { descending } = node;
  if (node.using !== null) {
    // The pattern operators of text sort by code point, as all text does here.
    const order = node.using.replace(/^~([<>])~$/, "$1");
    if ((order !== "<" && order !== ">") || (order !== node.using && !TEXT_TYPES.has(expr.type.name))) {
      throw sqlError("42809", `operator ${node.using} is not a valid ordering operator`, { position });
    }
    descending = order === ">";
  }
  checkOrdered(expr.type, position);
  return { expr, descending, nullsFirst: node.nullsFirst ?? descending };
}

export function checkOrdered(type: SqlType, position: number): void {
  if (!hasOrder(type) && operatorFor("<", type) === null) {
    throw sqlError("42883", `could not identify an ordering operator for type ${displayName(type)}`, {
      position,
      hint: "Use an explicit ordering operator or modify the query.",
    });
  }
}

/** For GROUP BY, DISTINCT and set operations without ALL. */
export function checkComparable(type: SqlType, position: number): void {
  if (!hasOrder(type) && operatorFor("=", type) === null) {
    const message = `could not identify an equality operator for type ${displayName(type)}`;
    throw sqlError("42883", message, position > 0 ? { position } : {});
  }
}

/**
 * The output column that a key names by position or by bare name, or null when the key is any other expression.
 * Throws 42P10 for a position out of range, 42702 for an ambiguous name, 42601 for another constant.
 */
export function outputSortKey<T extends { readonly name: string }>(
  node: ExprNode,
  outputs: readonly T[],
  clause: string,
  same: (a: T, b: T) => boolean = (a, b) => a === b,
): T | null {
  const { position } = node;
  if (node.kind === "column" && node.path.length === 1 && !node.star) {
    const named = outputs.filter((output) => output.name === node.path[0]);
    if (named.length > 1 && !named.every((output) => same(output, named[0]!))) {
      throw sqlError("42702", `${clause} "${node.path[0]}" is ambiguous`, { position });
    }
    return named[0] ?? null;
  }
  return positionKey(node, outputs, clause);
}

/** The output column at a position, null for what is not a constant. */
export function positionKey<T>(node: ExprNode, outputs: readonly T[], clause: string): T | null {
  const { position } = node;
  if (node.kind === "integer") {
    const output = outputs[node.value - 1];
    if (output === undefined) {
      throw sqlError("42P10", `${clause} position ${node.value} is not in select list`, { position });
    }
    return output;
  }
  if (node.kind === "number" || node.kind === "string" || node.kind === "boolean" || node.kind === "null") {
    throw sqlError("42601", `non-integer constant in ${clause}`, { position });
  }
  return null;
}
