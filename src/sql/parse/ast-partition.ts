/** The syntax tree of SQL, the part about partitions: clauses of CREATE TABLE and ALTER TABLE. See `ast.ts`. */
import type { ConstraintNode } from "./ast.js";
import type { ExprNode, NameNode } from "./ast-query.js";

/** PARTITION BY. */
export interface PartitionByNode {
  readonly strategy: "range" | "list" | "hash";
  readonly elements: readonly PartitionElement[];
  readonly position: number;
}

/** A column or an expression. */
export interface PartitionElement {
  readonly column: string | null;
  readonly expr: ExprNode | null;
  readonly operatorClass: string | null;
  readonly collation: readonly string[] | null;
  readonly position: number;
}

/** FOR VALUES … or DEFAULT. */
export type PartitionBoundNode = { readonly position: number } & (
  | { readonly kind: "default" }
  | {
      readonly kind: "range";
      readonly from: readonly PartitionDatumNode[];
      readonly to: readonly PartitionDatumNode[];
    }
  | { readonly kind: "list"; readonly values: readonly ExprNode[] }
  | { readonly kind: "hash"; readonly modulus: number; readonly remainder: number }
);

export type PartitionDatumNode = ExprNode | "minvalue" | "maxvalue";

/** PARTITION OF parent (column constraints) bound; constraints of the table stand with the statement. */
export interface PartitionOfNode {
  readonly parent: NameNode;
  readonly bound: PartitionBoundNode;
  readonly columns: readonly PartitionColumnNode[];
}

/** A column that the parent has, with constraints of the partition's own. */
export interface PartitionColumnNode {
  readonly name: string;
  readonly constraints: readonly ConstraintNode[];
  readonly position: number;
}
