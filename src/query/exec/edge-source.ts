/**
 * The interface between walks along relationships and the sources of relationships (expand-edges.ts,
 * expand-adjacency.ts).
 */
import type { GraphTables } from "../../catalog/graph.js";
import type { RecordDecoder } from "../../storage/record-codec.js";
import type { KeyLayout, TableLayout } from "./table-layout.js";

/**
 * Relationships of one node that have one type and lead the same way, side by side in arrays of other nodes and of ids.
 */
export interface Span {
  readonly others: ArrayLike<number>;
  readonly edges: ArrayLike<number>;
  readonly from: number;
  readonly to: number;
  readonly type: string;
  /** They leave the node. */
  readonly isOut: boolean;
  /** Those that lead back to the node itself are in another span. */
  readonly skipsLoops: boolean;
}

export interface EdgeSource {
  /** The node's relationships, in the source's direction and of its types. Valid for the whole run. */
  of(node: number): readonly Span[];
  /** The same, but those that lead to any other node than `other` may be missing; fewer of them count as read. */
  between(node: number, other: number): readonly Span[];
  /** At least the greatest id of a node that has relationships. */
  maxNode(): number;
}

/** The direction as seen from the other end. */
export const TURNED = { out: "in", in: "out", either: "either" } as const;

export interface Walked {
  readonly graph: GraphTables;
  readonly direction: "out" | "in" | "either";
  readonly types: readonly string[];
}

export interface EdgeSourceProgram extends Walked {
  readonly layout: TableLayout;
  readonly out: KeyLayout;
  readonly in: KeyLayout;
  /** Reads the ends of a relationship out of its record. */
  readonly decodeEnds: RecordDecoder;
}
