/** The syntax tree of whole statements: queries, and commands about indexes and constraints. */
import type { Expr, Node, Parameter, Query, Variable } from "./ast.js";

/** A name, or a parameter that has it. */
export type UsedGraph = string | { readonly parameter: string };

/** One text: Cypher has one statement per text. */
export interface Statement {
  readonly mode: "run" | "explain" | "profile";
  /** USE: the graph that it is about, in place of the one that the request names. */
  readonly graph?: UsedGraph;
  readonly body: Query | SchemaCommand;
  /** Names of the parameters, in the order of their first use. */
  readonly parameters: readonly string[];
}

export type SchemaCommand =
  | CreateLookupCommand
  | CreateIndexCommand
  | CreateConstraintCommand
  | DropIndexCommand
  | DropConstraintCommand;

/** A parameter stands for a string. */
export type SchemaName = string | Parameter;

/** What an index or a constraint is of: `(n:Label)` or `()-[r:TYPE]-()`. */
export interface SchemaSubject extends Node {
  readonly of: "node" | "relationship";
  readonly variable: Variable | null;
  /** A label or a relationship type. */
  readonly label: string;
  /** Of an index over several labels or types: all of them. */
  readonly labels?: readonly string[];
}

/** An index by labels or types: `FOR (n) ON EACH labels(n)`. */
export interface CreateLookupCommand extends Node {
  readonly kind: "create-lookup";
  readonly of: SchemaSubject["of"];
  readonly name: SchemaName | null;
  readonly ifNotExists: boolean;
}

export interface CreateIndexCommand extends Node {
  readonly kind: "create-index";
  readonly method: "range" | "text" | "point" | "vector" | "fulltext";
  readonly name: SchemaName | null;
  readonly ifNotExists: boolean;
  readonly subject: SchemaSubject;
  readonly properties: readonly string[];
  /** OPTIONS {…}. */
  readonly options: Expr | null;
}

export interface CreateConstraintCommand extends Node {
  readonly kind: "create-constraint";
  readonly name: SchemaName | null;
  readonly ifNotExists: boolean;
  readonly subject: SchemaSubject;
  readonly properties: readonly string[];
  readonly requires: "unique" | "key" | "not-null" | "type";
  /** Of a "type", as `writtenType` gives it. */
  readonly valueType?: string;
}

/** By name, or by label and properties (`DROP INDEX ON :Label(a, b)`). */
export interface DropIndexCommand extends Node {
  readonly kind: "drop-index";
  readonly name: SchemaName | null;
  readonly label: string | null;
  readonly properties: readonly string[];
  readonly ifExists: boolean;
}

/** By name, or by what it requires (`DROP CONSTRAINT ON (n:Label) ASSERT n.a IS UNIQUE`). */
export interface DropConstraintCommand extends Node {
  readonly kind: "drop-constraint";
  readonly name: SchemaName | null;
  /** Without a name. */
  readonly required?: Pick<CreateConstraintCommand, "subject" | "properties" | "requires">;
  readonly ifExists: boolean;
}
