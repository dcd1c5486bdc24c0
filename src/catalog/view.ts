/**
 * Definitions of views. A view keeps its statement as text, and for every relation that the text names, which one was
 * meant and what its columns were called. So renaming, moving or extending a relation leaves the view unchanged.
 */
import type { SqlType } from "../values/values.js";
import type { ViewQuery } from "./kept-query.js";
import type { PropertyGraph } from "./property-graph.js";
import type { TriggerDef } from "./trigger.js";

export interface ViewColumn {
  readonly name: string;
  readonly type: SqlType;
  /** Of a row that is inserted through the view, in place of the table's; absent: the table's. */
  readonly defaultSql?: string;
  readonly comment?: string;
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
