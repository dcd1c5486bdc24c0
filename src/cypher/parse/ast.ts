/**
 * The syntax tree of Cypher, part two: statements, queries and clauses (expressions and patterns are in `ast-expr.ts`).
 * Made by `parse.ts`, read by `print.ts`, `cypher/bind` and the session.
 */
import type { Expr, PathPattern, PropertyAccess, Variable } from "./ast-expr.js";

interface Node {
  /** 0-based UTF-16 offset. */
  readonly position: number;
}

/** One text: Cypher has one statement per text. */
export interface Statement {
  readonly mode: "run" | "explain" | "profile";
  readonly body: Query | SchemaCommand;
  /** Names of the parameters, in the order of their first use. */
  readonly parameters: readonly string[];
}

/** Single queries joined by UNION; with one part `all` is false. */
export interface Query extends Node {
  readonly kind: "query";
  readonly parts: readonly SingleQuery[];
  /** UNION ALL. */
  readonly all: boolean;
}

export interface SingleQuery extends Node {
  readonly clauses: readonly Clause[];
}

export type Clause =
  | MatchClause
  | UnwindClause
  | CallClause
  | ProjectionClause
  | CreateClause
  | MergeClause
  | SetClause
  | RemoveClause
  | DeleteClause
  | ForeachClause;

export interface MatchClause extends Node {
  readonly kind: "match";
  readonly optional: boolean;
  readonly patterns: readonly PathPattern[];
  readonly where: Expr | null;
}

export interface UnwindClause extends Node {
  readonly kind: "unwind";
  readonly list: Expr;
  readonly variable: Variable;
}

export interface CallClause extends Node {
  readonly kind: "call";
  readonly procedure: string;
  /** null: no parentheses, the arguments are the parameters of the same names (standalone calls only). */
  readonly args: readonly Expr[] | null;
  /** null: no YIELD. `*` only in standalone calls. */
  readonly yields: readonly YieldItem[] | "*" | null;
  readonly where: Expr | null;
  /** The statement's only clause. */
  readonly standalone: boolean;
}

export interface YieldItem extends Node {
  readonly field: string;
  /** What the field is called from here on: the alias, or its own name. */
  readonly variable: Variable;
}

/** WITH and RETURN. */
export interface ProjectionClause extends Node {
  readonly kind: "with" | "return";
  readonly distinct: boolean;
  /** `*`, before any items. */
  readonly star: boolean;
  readonly items: readonly ProjectionItem[];
  readonly orderBy: readonly SortItem[];
  readonly skip: Expr | null;
  readonly limit: Expr | null;
  /** Of WITH only. */
  readonly where: Expr | null;
}

export interface ProjectionItem extends Node {
  readonly expr: Expr;
  readonly alias: Variable | null;
  /** The column's name: the alias, or the expression as it is written. */
  readonly name: string;
}

export interface SortItem extends Node {
  readonly expr: Expr;
  readonly descending: boolean;
}

export interface CreateClause extends Node {
  readonly kind: "create";
  readonly patterns: readonly PathPattern[];
}

export interface MergeClause extends Node {
  readonly kind: "merge";
  readonly pattern: PathPattern;
  readonly onCreate: readonly SetItem[];
  readonly onMatch: readonly SetItem[];
}

export interface SetClause extends Node {
  readonly kind: "set";
  readonly items: readonly SetItem[];
}

export type SetItem =
  | (Node & { readonly kind: "set-property"; readonly target: PropertyAccess; readonly value: Expr })
  /** `n = map`. */
  | (Node & { readonly kind: "replace"; readonly variable: Variable; readonly value: Expr })
  /** `n += map`. */
  | (Node & { readonly kind: "add"; readonly variable: Variable; readonly value: Expr })
  | (Node & { readonly kind: "labels"; readonly variable: Variable; readonly labels: readonly string[] });

export interface RemoveClause extends Node {
  readonly kind: "remove";
  readonly items: readonly RemoveItem[];
}

export type RemoveItem =
  | (Node & { readonly kind: "remove-property"; readonly target: PropertyAccess })
  | (Node & { readonly kind: "labels"; readonly variable: Variable; readonly labels: readonly string[] });

export interface DeleteClause extends Node {
  readonly kind: "delete";
  readonly detach: boolean;
  readonly targets: readonly Expr[];
}

export interface ForeachClause extends Node {
  readonly kind: "foreach";
  readonly variable: Variable;
  readonly list: Expr;
  /** Updating clauses only. */
  readonly clauses: readonly Clause[];
}

export type SchemaCommand = CreateIndexCommand | CreateConstraintCommand | DropIndexCommand | DropConstraintCommand;

/** What an index or a constraint is of: `(n:Label)` or `()-[r:TYPE]-()`. */
export interface SchemaSubject extends Node {
  readonly of: "node" | "relationship";
  readonly variable: Variable | null;
  /** A label or a relationship type. */
  readonly label: string;
}

export interface CreateIndexCommand extends Node {
  readonly kind: "create-index";
  readonly method: "range" | "text" | "point" | "vector" | "fulltext";
  readonly name: string | null;
  readonly ifNotExists: boolean;
  readonly subject: SchemaSubject;
  readonly properties: readonly string[];
  /** OPTIONS {…}. */
  readonly options: Expr | null;
}

export interface CreateConstraintCommand extends Node {
  readonly kind: "create-constraint";
  readonly name: string | null;
  readonly ifNotExists: boolean;
  readonly subject: SchemaSubject;
  readonly properties: readonly string[];
  readonly requires: "unique" | "key" | "not-null";
}

/** By name, or by label and properties (`DROP INDEX ON :Label(a, b)`). */
export interface DropIndexCommand extends Node {
  readonly kind: "drop-index";
  readonly name: string | null;
  readonly label: string | null;
  readonly properties: readonly string[];
  readonly ifExists: boolean;
}

export interface DropConstraintCommand extends Node {
  readonly kind: "drop-constraint";
  readonly name: string;
  readonly ifExists: boolean;
}
