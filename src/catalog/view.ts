/**
 * Definitions of views. A view keeps its statement as text, and for every relation that the text names, which one was
 * meant and what its columns were called. So renaming, moving or extending a relation leaves the view unchanged.
 */
import type { SqlType } from "../values/values.js";
import { referencesIn } from "./object-reference.js";
import type { PropertyGraph } from "./property-graph.js";
import type { TriggerDef } from "./trigger.js";

export interface ViewColumn {
  readonly name: string;
  readonly type: SqlType;
  /** Of a row that is inserted through the view, in place of the table's; absent: the table's. */
  readonly defaultSql?: string;
  readonly comment?: string;
}

/** A relation that a view's text names, as it was then. */
export interface ViewRelation {
  readonly kind: "table" | "view" | "graph";
  /** Of the table or view, which may have another name now. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  /** By column id (of a view: its number from 0). `used`: the view cannot do without the column. */
  readonly columns: readonly { readonly id: number; readonly name: string; readonly used: boolean }[];
}

/** A stored query: of a view, or of a materialized view's table. */
export interface ViewQuery {
  /** The whole CREATE statement. */
  readonly sql: string;
  /** Where its names were looked up. */
  readonly searchPath: readonly string[];
  readonly relations: readonly ViewRelation[];
  /** Functions and types that statements made stand in the text by their ids (object-reference.ts). */
  readonly exact?: true;
  /** Of a text from before: ids of the functions that its names may mean. */
  readonly functions?: readonly number[];
}

/** Ids of functions that the query calls; of types, too, where it names them. */
export function functionsOf({ sql, exact, functions = [] }: ViewQuery): readonly number[] {
  return exact ? referencesIn(sql) : functions;
}

export interface ViewDef {
  /** Unique within the tenant, among tables and views. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly ViewColumn[];
  readonly query: ViewQuery;
  readonly checkOption: "local" | "cascaded" | null;
  /** What ALTER VIEW said about security_invoker; absent: as the CREATE statement says. */
  readonly invoker?: boolean;
  /** The same about security_barrier: conditions of who reads the view see only its rows. */
  readonly barrier?: boolean;
  /** Which columns can be changed through the view, for the system's relations; absent: rows cannot be. */
  readonly updatable?: readonly boolean[];
  /** As in TableDef. */
  readonly triggers?: readonly TriggerDef[];
  /** A property graph and no view: it has no columns, and only GRAPH_TABLE reads it. */
  readonly graph?: PropertyGraph;
  /** CREATE RULE, in the same order; absent: none. */
  readonly rules?: readonly TriggerDef[];
  readonly comment?: string;
  /** Microseconds since the epoch. */
  readonly createdAt: number;
}

/** A property graph of SQL/PGQ. */
export type PropertyGraphDef = ViewDef & { readonly graph: PropertyGraph };
