/**
 * A table's partitions as a statement that writes rows needs them: made by sql/bind, read by exec/partition-router.ts.
 * All expressions are over the row as the statement's own table has it.
 */
import type { PartitionBounds } from "../../catalog/partition-bounds.js";
import type { TableDef } from "../../catalog/table.js";
import type { Expr } from "../expr/expr.js";
import type { BoundCheck } from "./plan.js";

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
  readonly checks: readonly BoundCheck[];
}

/** What a row of a partition must satisfy: that the table above would put it there. The topmost table comes first. */
export interface PartitionMembership {
  readonly level: PartitionLevel;
  readonly partitionId: number;
}

export function isBranch(node: PartitionBranch | PartitionLeaf): node is PartitionBranch {
  return "partitions" in node;
}
