/**
 * What a program knows of its tenant: the types that `tessera types` writes, given to `connect<Database>`. Types only.
 */
import type { Row } from "./result.js";

/** What `Database` of `tessera types` is. Without one any name may be used, and values are `unknown`. */
export interface Schema {
  readonly tables: object;
  readonly functions: object;
  readonly procedures: object;
  readonly graphs: object;
}

/** Any names. */
export interface AnySchema {
  readonly tables: Record<string, { row: Row; insert: Record<string, unknown>; update: Record<string, unknown> }>;
  readonly functions: Record<string, { arguments: readonly unknown[]; row: Row }>;
  readonly procedures: Record<string, { arguments: readonly unknown[] }>;
  readonly graphs: Record<
    string,
    { nodes: Record<string, Record<string, unknown>>; relationships: Record<string, Record<string, unknown>> }
  >;
}

type Member<T, K extends string> = T extends { readonly [name in K]: infer V } ? V : never;

/** The names of the tenant's tables, views and collections. */
export type TableName<S extends Schema> = keyof S["tables"] & string;
/** A row of a table as it is read. */
export type RowOf<S extends Schema, T extends TableName<S>> = Member<S["tables"][T], "row">;
/** A row of a table as it is inserted. */
export type InsertOf<S extends Schema, T extends TableName<S>> = Member<S["tables"][T], "insert">;
/** A change of a table's rows. */
export type UpdateOf<S extends Schema, T extends TableName<S>> = Member<S["tables"][T], "update">;

/** A document of a collection, beside its id. */
export type DocumentOf<S extends Schema, T extends TableName<S>> = Omit<Extract<InsertOf<S, T>, object>, "id">;

/** The names of the tenant's functions. */
export type FunctionName<S extends Schema> = keyof S["functions"] & string;
/** What a function takes. */
export type ArgumentsOf<S extends Schema, F extends FunctionName<S>> = Extract<
  Member<S["functions"][F], "arguments">,
  readonly unknown[]
>;
/** A row of a function's result. */
export type FunctionRow<S extends Schema, F extends FunctionName<S>> = Member<S["functions"][F], "row">;

/** The names of the tenant's procedures. */
export type ProcedureName<S extends Schema> = keyof S["procedures"] & string;
/** What a procedure takes. */
export type ProcedureArguments<S extends Schema, P extends ProcedureName<S>> = Extract<
  Member<S["procedures"][P], "arguments">,
  readonly unknown[]
>;

/** The names of the tenant's graphs; `default` unless another one was made. */
export type GraphName<S extends Schema> = keyof S["graphs"] & string;
type NodesOf<S extends Schema, G extends GraphName<S>> = Member<S["graphs"][G], "nodes">;
type RelationshipsOf<S extends Schema, G extends GraphName<S>> = Member<S["graphs"][G], "relationships">;
/** The labels of a graph's nodes. */
export type LabelOf<S extends Schema, G extends GraphName<S>> = keyof NodesOf<S, G> & string;
/** The types of a graph's relationships. */
export type RelationshipTypeOf<S extends Schema, G extends GraphName<S>> = keyof RelationshipsOf<S, G> & string;

/** A node, as Cypher returns it. */
export interface GraphNode<P = Record<string, unknown>> {
  readonly id: number;
  readonly labels: readonly string[];
  readonly properties: P;
}

/** A relationship, as Cypher returns it. */
export interface GraphRelationship<P = Record<string, unknown>> {
  readonly id: number;
  readonly type: string;
  /** Ids of the nodes that it connects. */
  readonly src: number;
  readonly dst: number;
  readonly properties: P;
}

/** A node of a label. */
export type NodeOf<
  S extends Schema,
  L extends LabelOf<S, G>,
  G extends GraphName<S> = "default" & GraphName<S>,
> = GraphNode<NodesOf<S, G>[L]>;

/** A relationship of a type. */
export type RelationshipOf<
  S extends Schema,
  T extends RelationshipTypeOf<S, G>,
  G extends GraphName<S> = "default" & GraphName<S>,
> = GraphRelationship<RelationshipsOf<S, G>[T]>;
