/**
 * A table's partitions as a statement that writes rows needs them: made by sql/bind, read by exec/partition-router.ts.
 * All expressions are over the row as the statement's own table has it.
 */
import type { PartitionBounds } from "../../catalog/partition-bounds.js";
import type { PartitionCondition } from "../../catalog/partition-pruning.js";
import type { TableDef } from "../../catalog/table.js";
import type { Expr } from "../expr/expr.js";

/** The parts of this in plans of INSERT, UPDATE and MERGE. */
export interface Partitioning {
  /** Of a partitioned table: where its rows go. Absent: into the table itself, or not where they may move. */
  readonly partitions?: PartitionBranch;
  /**
   * For a partition: the condition on its rows. Absent: it is not a partition, or its rows cannot violate the
   * condition.
   */
  readonly membership?: readonly PartitionMembership[];
}

/** A partitioned table's key, and how to find the partition of a row. */
export interface PartitionLevel {
  readonly table: TableDef;
  readonly keys: readonly Expr[];
  /** The key as messages show it: `a, lower(b)`. */
  readonly keyText: string;
  readonly bounds: PartitionBounds;
}

/** A partitioned table with its partitions. */
export interface PartitionBranch extends PartitionLevel {
  /** By table id. */
  readonly partitions: ReadonlyMap<number, PartitionBranch | PartitionLeaf>;
}

/** A partition that stores rows. */
export interface PartitionLeaf {
  readonly table: TableDef;
  /** Ids of its columns, in the order of the columns of the statement's table. */
  readonly columnIds: readonly number[];
  /** CHECK constraints, as BoundCheck. */
  readonly checks: readonly { readonly name: string; readonly predicate: Expr }[];
}

/** What a row of a partition must satisfy: that the table above would put it there. The topmost table comes first. */
export interface PartitionMembership {
  readonly level: PartitionLevel;
  readonly partitionId: number;
}

/** Conditions on a partition key whose values are known before the first row: mayHold tells what they leave. */
export interface PruningTest {
  readonly bounds: PartitionBounds;
  readonly partitionId: number;
  readonly conditions: readonly {
    readonly place: number;
    readonly op: PartitionCondition["op"];
    readonly values: readonly Expr[];
  }[];
}

export function isBranch(node: PartitionBranch | PartitionLeaf): node is PartitionBranch {
  return "partitions" in node;
}
