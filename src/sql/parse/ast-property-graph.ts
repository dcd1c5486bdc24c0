/** Trees of SQL/PGQ's statements about property graphs. Made by property-graph.ts, read by sql/bind. */
import type { NameNode, TargetNode } from "./ast-query.js";

export interface CreatePropertyGraphStatement {
  readonly kind: "create property graph";
  readonly name: NameNode;
  readonly ifNotExists: boolean;
  readonly vertices: readonly ElementTableNode[];
  readonly edges: readonly EdgeTableNode[];
  readonly position: number;
  /** The whole statement. */
  readonly text: string;
}

export interface DropPropertyGraphStatement {
  readonly kind: "drop property graph";
  readonly names: readonly NameNode[];
  readonly ifExists: boolean;
  readonly cascade: boolean;
  readonly position: number;
}

export interface ElementTableNode {
  readonly table: NameNode;
  /** The table's name, or another one. */
  readonly alias: string;
  /** null: the primary key. */
  readonly key: readonly ColumnNameNode[] | null;
  /** Empty: one label, the alias, with all columns. */
  readonly labels: readonly ElementLabelNode[];
  readonly position: number;
}

export interface EdgeTableNode extends ElementTableNode {
  readonly source: EdgeEndNode;
  readonly destination: EdgeEndNode;
}

/** `SOURCE KEY (columns) REFERENCES vertex (columns)`. */
export interface EdgeEndNode {
  /** null: those of a foreign key. */
  readonly key: readonly ColumnNameNode[] | null;
  /** The alias of a vertex table. */
  readonly vertex: string;
  /** null: the vertex table's key. */
  readonly references: readonly ColumnNameNode[] | null;
  readonly position: number;
}

export interface ColumnNameNode {
  readonly name: string;
  readonly position: number;
}

export interface ElementLabelNode {
  /** null: DEFAULT LABEL, which is called as the element. */
  readonly name: string | null;
  readonly properties: "all" | "none" | { readonly except: readonly ColumnNameNode[] } | readonly TargetNode[];
  readonly position: number;
}
