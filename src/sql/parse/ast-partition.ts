/** The syntax tree of SQL, the part about partitions: keys and bounds in CREATE TABLE and ALTER TABLE. See `ast.ts`. */
import type { ExprNode } from "./ast-query.js";

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
