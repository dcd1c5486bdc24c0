/**
 * Nodes of the algebra that are about graphs. Cypher's binder makes `match` and `graphwrite`; the rule that plans
 * patterns turns a `match` into scans, joins, `expand` and `shortestpath`.
 *
 * What a variable of Cypher is in columns:
 *   node          id int8, labels text (LABEL_MARK), properties variant (a map)
 *   relationship  id int8, type text, src int8, dst int8, properties variant
 *   anything else one variant: also a path, and the relationships of a path of variable length
 * An entity that OPTIONAL MATCH did not find has NULL in all its columns. Where an entity is a value, `node(…)` and
 * `relationship(…)` make it of its columns.
 */
import type { GraphTables } from "../../catalog/graph.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import type { BoundCheck } from "./change-plans.js";
import type { OutputColumn, Plan } from "./plan.js";

export interface NodeColumns {
  readonly id: OutputColumn;
  readonly labels: OutputColumn;
  readonly properties: OutputColumn;
}

export interface EdgeColumns {
  readonly id: OutputColumn;
  readonly type: OutputColumn;
  readonly src: OutputColumn;
  readonly dst: OutputColumn;
  readonly properties: OutputColumn;
}

export type PatternNode =
  /** Given by the input: its id (int8; NULL matches nothing). */
  | { readonly kind: "bound"; readonly id: Expr }
  | {
      readonly kind: "new";
      readonly name: string;
      readonly columns: NodeColumns;
      /** The condition under which it is seen (graph-guard.ts), over its columns; absent: always. */
      readonly policy?: Expr;
    };

export interface PatternEdge {
  readonly name: string;
  /** Positions in `nodes`, as the pattern is read. */
  readonly left: number;
  readonly right: number;
  /** "out": from left to right. "either": both ways; a loop comes once. */
  readonly direction: "out" | "in" | "either";
  /** Any of these; empty: any type at all. */
  readonly types: readonly string[];
  readonly shape:
    | { readonly kind: "one"; readonly columns: EdgeColumns; readonly policy?: Expr }
    /** One given by the input: its id. */
    | { readonly kind: "bound"; readonly id: Expr }
    | VariableLength;
}

/** One of several relationships that are walked in turn. */
export interface CycleStep {
  readonly direction: "out" | "in" | "either";
  readonly types: readonly string[];
  readonly each: EdgeColumns;
  /** As that of the whole path. */
  readonly filter: Expr | null;
}

/** A path of `min` to `max` relationships, none twice unless it `avoids` something else; `max` null: any number. */
export interface VariableLength {
  readonly kind: "many";
  readonly min: number;
  readonly max: number | null;
  /** Each relationship on the way, for `filter`; its columns are not handed on. */
  readonly each: EdgeColumns;
  /** Over `each`, the match's input, and nodes and other relationships of the pattern. */
  readonly filter: Expr | null;
  /**
   * The path takes these relationships in turn, from left to right, and ends only after the last of them; `min` and
   * `max` are multiples of their number, and the edge's own direction and `filter` say nothing. Absent: all are alike.
   */
  readonly cycle?: readonly CycleStep[];
  /** variant: the relationships from left to right. */
  readonly relationships: OutputColumn;
  /** An object: so many of the shortest paths of each pair of nodes, or all paths of so many lengths. */
  readonly search: "all" | "shortest" | "all-shortest" | { readonly by: "paths" | "groups"; readonly count: number };
  /** What may not come twice on the way, of a search for all; absent: relationships. */
  readonly avoids?: "nodes" | "nothing";
  /** The input gives the list (variant); then it is compared. */
  readonly bound: Expr | null;
}

/**
 * Rows of the input, each once per match of the pattern. No relationship is bound twice in a match, unless it is
 * `repeatable`. `optional`: a row
 * without a match comes once, with NULLs. Columns: the input's, then those of new nodes and of edges, in the order of
 * the pattern.
 */
export interface MatchPlan {
  readonly kind: "match";
  readonly columns: readonly OutputColumn[];
  readonly input: Plan;
  readonly graph: GraphTables;
  readonly optional: boolean;
  readonly repeatable?: true;
  readonly nodes: readonly PatternNode[];
  readonly edges: readonly PatternEdge[];
  /** WHERE, labels and property maps: over all columns. */
  readonly predicate: Expr | null;
}

/** What an expand walks along from a node. */
interface Walk {
  readonly graph: GraphTables;
  readonly input: Plan;
  /** The node's id, over the input; NULL gives no rows. */
  readonly from: Expr;
  readonly direction: "out" | "in" | "either";
  readonly types: readonly string[];
  /** Relationships that may not be used: ids (int8) or lists of relationships (variant), over the input. */
  readonly exclude: readonly Expr[];
  /** Relationships that a node has on average, where the pattern tells what nodes these are; for estimates. */
  readonly fanOut?: number;
}

/**
 * Each input row once per relationship of a node, by the graph's adjacency. Columns: the input's, then those of `edge`
 * that anybody reads, then the id of the node at the other end.
 */
export interface ExpandPlan extends Walk {
  readonly kind: "expand";
  readonly columns: readonly OutputColumn[];
  readonly edge: Partial<EdgeColumns>;
  /** Null when `into` says which node it has to be, or nobody reads it. */
  readonly other: OutputColumn | null;
  readonly into: Expr | null;
}

/**
 * The same along paths (depth first, none of whose relationships come twice; or the shortest, breadth first). Columns:
 * the input's, then the list of relationships and the node at the other end, as far as anybody reads them.
 */
export interface ExpandPathPlan extends Walk {
  readonly kind: "expandpath";
  readonly columns: readonly OutputColumn[];
  readonly path: VariableLength;
  /** As `fanOut`, of the nodes that the path goes on from. */
  readonly onward?: number;
  /** Each end once, however many paths lead there; set by distinct-ends. */
  readonly distinct?: boolean;
  /** The list runs against the walk: the pattern's right end is where the walk begins. */
  readonly reversed: boolean;
  readonly other: OutputColumn | null;
  readonly into: Expr | null;
}

/** One relationship of the walks that are counted, from a node that is known by then. */
export interface WalkStep {
  /** A column of the input, `start`, or `other` of an earlier step. */
  readonly from: Expr;
  readonly direction: "out" | "in" | "either";
  readonly types: readonly string[];
  /** Columns: the id of the relationship, of the node at its other end; null where nobody names them. */
  readonly edge: ColumnId | null;
  readonly other: ColumnId | null;
  readonly into: Expr | null;
  /** As in an expand; may name `edge` of earlier steps. */
  readonly exclude: readonly Expr[];
}

/**
 * Expands that are only counted: each input row once, with the number of rows that the steps would make of it, if that
 * is not 0. Columns: the input's, then `count` (int8).
 */
export interface CountWalksPlan {
  readonly kind: "countwalks";
  readonly columns: readonly OutputColumn[];
  readonly graph: GraphTables;
  readonly input: Plan;
  /** Walks begin at every node that has relationships, whose id this column is; null: at what the input says. */
  readonly start: ColumnId | null;
  readonly steps: readonly WalkStep[];
  readonly count: OutputColumn;
}

/** What policies ask of the rows of one of a graph's tables, over the table's columns. */
export interface EntityPolicies {
  readonly columns: readonly OutputColumn[];
  /** Of what goes together with something else. */
  readonly visible: readonly BoundCheck[];
  /** Of what is made. */
  readonly insert: readonly BoundCheck[];
  /** Of what is stored and is changed, and of what becomes of it. */
  readonly existing: readonly BoundCheck[];
  readonly update: readonly BoundCheck[];
  /** Of what is deleted. */
  readonly remove: readonly BoundCheck[];
}

/**
 * One writing clause of Cypher. All rows of the input are read first. Then the steps run for each row in order, and see
 * what earlier rows and steps wrote. Then entities in the rows are read again, so that the output shows their stored
 * state (DELETED_MARK and DELETED_PROPERTIES for deleted ones). Columns: the input's, then those that steps make.
 */
export interface GraphWritePlan {
  readonly kind: "graphwrite";
  readonly columns: readonly OutputColumn[];
  readonly graph: GraphTables;
  readonly input: Plan;
  readonly steps: readonly GraphWriteStep[];
  /** Entities among the input's columns; variant columns are looked through for entities inside. */
  readonly nodes: readonly NodeColumns[];
  readonly edges: readonly EdgeColumns[];
  /** Absent: no policy decides. */
  readonly policies?: { readonly nodes: EntityPolicies | null; readonly edges: EntityPolicies | null };
}

export type GraphWriteStep =
  /** `properties`: a variant map or NULL; entries that are null are left out. */
  | {
      readonly kind: "create-node";
      readonly columns: NodeColumns;
      readonly labels: readonly string[];
      /** Variants: further names, strings or lists of them. */
      readonly dynamic?: readonly Expr[];
      readonly properties: Expr | null;
    }
  | {
      readonly kind: "create-edge";
      readonly columns: EdgeColumns;
      readonly type: string | Expr;
      /** Ids; NULL is an error (openCypher: SemanticError MergeReadOwnWrites or EntityNotFound). */
      readonly src: Expr;
      readonly dst: Expr;
      readonly properties: Expr | null;
    }
  /** Targets are variants: a node, a relationship, or NULL, which is passed over. */
  | { readonly kind: "set-property"; readonly target: Expr; readonly key: string | Expr; readonly value: Expr }
  /** `n = map` and `n += map`; the value is a map, a node or a relationship. */
  | { readonly kind: "set-properties"; readonly target: Expr; readonly value: Expr; readonly replace: boolean }
  | {
      readonly kind: "set-labels" | "remove-labels";
      readonly target: Expr;
      readonly labels: readonly string[];
      readonly dynamic?: readonly Expr[];
    }
  /** Nodes, relationships, paths, lists of them; a node with relationships left is refused at the clause's end. */
  | { readonly kind: "delete"; readonly target: Expr; readonly detach: boolean }
  | MergeStep
  | CallStep
  | {
      readonly kind: "foreach";
      readonly list: Expr;
      /** A local variable, as of a ListExpr: its value is an outer column of the steps. */
      readonly variable: ColumnId;
      readonly steps: readonly GraphWriteStep[];
    };

/** A query that writes, run for each row: `CALL (x) { … }`. It sees what it wrote for the rows before. */
export interface CallStep {
  readonly kind: "call";
  /** Reads the step's row by outer columns. */
  readonly match: Plan;
  /** The row goes on once for each of the query's, in these columns; null: it goes on once, as it is. */
  readonly columns: readonly OutputColumn[] | null;
  /** A row for which the query gives none goes on with nulls. */
  readonly optional: boolean;
}

/** Rows of `match` for the row or, without any, the row that `create` makes. One row may become several. */
export interface MergeStep {
  readonly kind: "merge";
  /** Reads the step's row by outer columns; gives the columns that are new here, in the order of `columns`. */
  readonly match: Plan;
  /** Each relationship of the pattern has one direction. */
  readonly isDirected: boolean;
  readonly columns: readonly OutputColumn[];
  /** Makes the same columns. */
  readonly create: readonly GraphWriteStep[];
  readonly onCreate: readonly GraphWriteStep[];
  readonly onMatch: readonly GraphWriteStep[];
}
