/**
 * Property graphs of SQL/PGQ: tables that are read as vertices and edges. A graph is stored as a relation beside views
 * (`ViewDef.graph`), because it depends on tables in the same way; `ViewQuery.relations` follows their renaming.
 * sql/bind makes them and reads them for GRAPH_TABLE.
 */
export interface PropertyGraph {
  readonly vertices: readonly ElementTable[];
  readonly edges: readonly EdgeTable[];
}

export interface ElementTable {
  /** Unique in the graph. */
  readonly alias: string;
  readonly tableId: number;
  /** Column ids. */
  readonly key: readonly number[];
  readonly labels: readonly ElementLabel[];
}

export interface ElementLabel {
  readonly name: string;
  readonly properties: readonly ElementProperty[];
}

export interface ElementProperty {
  readonly name: string;
  /** Over the table's columns under the names in `ViewQuery.relations`. */
  readonly sql: string;
  /** As SQL spells it; the same wherever the graph has a property of this name. */
  readonly type: string;
}

export interface EdgeTable extends ElementTable {
  readonly source: EdgeEnd;
  readonly destination: EdgeEnd;
}

export interface EdgeEnd {
  /** Of the edge table. */
  readonly columns: readonly number[];
  /** The alias of a vertex table, and there the columns that these equal. */
  readonly vertex: string;
  readonly references: readonly number[];
}
