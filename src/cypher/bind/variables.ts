/**
 * The meaning of names at a place in a query, and variables as columns (query/plan/graph-plans.ts). A scope is never
 * changed: each clause makes the next one.
 */

import { cypherFunction, NODE_OF, PATH_OF, RELATIONSHIP_OF } from "../../query/expr/cypher/registry.js";
import type { ConstExpr, Expr, ScalarFunction } from "../../query/expr/expr.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { EdgeColumns, NodeColumns } from "../../query/plan/graph-plans.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { BOOL, INT8, TEXT, VARIANT } from "../../values/values.js";

export type Variable =
  | { readonly kind: "node"; readonly columns: NodeColumns }
  | { readonly kind: "relationship"; readonly columns: EdgeColumns }
  /** Anything else; a path is the call that makes it, until it is projected. */
  | { readonly kind: "value"; readonly expr: Expr; readonly path?: PathParts };

/** What a path is made of: it need not be made to tell its length, or its relationships. */
export interface PathParts {
  /** The id of the node that it starts at. */
  readonly start: Expr;
  /** Relationships and lists of them. */
  readonly parts: readonly PathPart[];
}

export interface PathPart {
  readonly expr: Expr;
  /** A relationship's; of a list it is the list itself. */
  readonly id: Expr;
}

export type EntityVariable = Exclude<Variable, { readonly kind: "value" }>;

export type Variables = ReadonlyMap<string, Variable>;

export const NO_VARIABLES: Variables = new Map();

/** The columns of an entity, its id first. */
export function columnsOfEntity(variable: EntityVariable): readonly OutputColumn[] {
  if (variable.kind === "node") {
    const { id, labels, properties } = variable.columns;
    return [id, labels, properties];
  }
  const { id, type, src, dst, properties } = variable.columns;
  return [id, type, src, dst, properties];
}

/** The same entity in other columns, which stand in the order of `columnsOfEntity`. */
export function entityIn(kind: EntityVariable["kind"], columns: readonly OutputColumn[]): EntityVariable {
  if (kind === "node") {
    const [id, labels, properties] = columns as [OutputColumn, OutputColumn, OutputColumn];
    return { kind, columns: { id, labels, properties } };
  }
  const [id, type, src, dst, properties] = columns as [
    OutputColumn,
    OutputColumn,
    OutputColumn,
    OutputColumn,
    OutputColumn,
  ];
  return { kind, columns: { id, type, src, dst, properties } };
}

/** The variable as one value. */
export function valueOfVariable(variable: Variable): Expr {
  if (variable.kind === "value") return variable.expr;
  const make = variable.kind === "node" ? NODE_OF : RELATIONSHIP_OF;
  return call(make, columnsOfEntity(variable).map(columnExpr));
}

/** A path's variable. */
export function pathOf(start: Variable, parts: readonly PathPart[]): Variable {
  const expr = call(PATH_OF, [valueOfVariable(start), ...parts.map((part) => part.expr)]);
  return { kind: "value", expr, path: { start: idOf(start), parts } };
}

/** An entity that knows its id and no more: enough to be compared. */
export function comparable({ kind, columns }: EntityVariable): Expr {
  const id = columnExpr(columns.id);
  if (kind === "node") return call(NODE_OF, [id, textConst(""), variant(null)]);
  return call(RELATIONSHIP_OF, [id, textConst(""), integerConst(0), integerConst(0), variant(null)]);
}

/** The id of a value that should be an entity. */
export function idOf(variable: Variable): Expr {
  if (variable.kind !== "value") return columnExpr(variable.columns.id);
  return call(cypherFunction("id", 1) as ScalarFunction, [variable.expr]);
}

export function call(fn: ScalarFunction, args: readonly Expr[]): Expr {
  return Object.freeze({ kind: "call", type: fn.returns, fn, args });
}

export function variant(value: ConstExpr["value"]): ConstExpr {
  return Object.freeze({ kind: "const", type: VARIANT, value });
}

export function textConst(value: string): ConstExpr {
  return Object.freeze({ kind: "const", type: TEXT, value });
}

export function boolConst(value: boolean | null): ConstExpr {
  return Object.freeze({ kind: "const", type: BOOL, value });
}

export function integerConst(value: number): ConstExpr {
  return Object.freeze({ kind: "const", type: INT8, value });
}

export function not(input: Expr): Expr {
  return Object.freeze({ kind: "not", type: BOOL, input });
}

export function isNull(input: Expr, negated = false): Expr {
  return Object.freeze({ kind: "isnull", type: BOOL, input, negated });
}
