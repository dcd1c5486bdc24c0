/**
 * Finds the partition of each row that INSERT, UPDATE or MERGE stores, and checks that rows stored in a partition by
 * its own name belong there. Keys are compiled with the statement; one router per run keeps the writers of the
 * partitions that the run has met.
 */
import type { TableDef } from "../../catalog/table.js";
import { type DbError, sqlError } from "../../protocol/errors.js";
import type { Value } from "../../values/values.js";
import { compileExpr, type SlotOf } from "../expr/compile.js";
import type { Batch, Evaluate } from "../expr/expr.js";
import {
  isBranch,
  type PartitionBranch,
  type PartitionLeaf,
  type PartitionLevel,
  type PartitionMembership,
} from "../plan/partition-tree.js";
import type { ExecContext } from "./context.js";
import { compileChecks, type RowCheck } from "./row-checks.js";
import { valueText } from "./table-layout.js";

/** A level with its keys as functions of the row. */
interface Level {
  readonly level: PartitionLevel;
  readonly keys: readonly Evaluate[];
}

interface Branch extends Level {
  readonly partitions: ReadonlyMap<number, Branch | RoutedTable>;
}

/** A partition that stores rows, as the statement's rows fill it. */
export interface RoutedTable {
  readonly table: TableDef;
  readonly columnIds: readonly number[];
  readonly checks: readonly RowCheck[];
}

export interface RouteProgram {
  /** Null: the statement's table stores its rows itself. */
  readonly root: Branch | null;
  readonly membership: readonly { readonly level: Level; readonly partitionId: number }[];
}

export function compileRoutes(
  partitions: PartitionBranch | undefined,
  membership: readonly PartitionMembership[] | undefined,
  slotOf: SlotOf,
): RouteProgram {
  return {
    root: partitions === undefined ? null : compileBranch(partitions, slotOf),
    membership: (membership ?? []).map(({ level, partitionId }) => ({
      level: compileLevel(level, slotOf),
      partitionId,
    })),
  };
}

function compileLevel(level: PartitionLevel, slotOf: SlotOf): Level {
  return { level, keys: level.keys.map((key) => compileExpr(key, slotOf)) };
}

function compileBranch(branch: PartitionBranch, slotOf: SlotOf): Branch {
  const compile = (node: PartitionBranch | PartitionLeaf): Branch | RoutedTable =>
    isBranch(node)
      ? compileBranch(node, slotOf)
      : { table: node.table, columnIds: node.columnIds, checks: compileChecks(node.checks, slotOf) };
  const partitions = [...branch.partitions].map(([id, node]) => [id, compile(node)] as const);
  return { ...compileLevel(branch, slotOf), partitions: new Map(partitions) };
}

/** The partition that stores the row. Throws 23514 when there is none. */
export function routeRow(root: Branch, batch: Batch, row: number, context: ExecContext): RoutedTable {
  const found = findRoute(root, batch, row, context);
  if ("level" in found) throw noPartition(found.level, keyValues(found, batch, row, context), context);
  return found;
}

/** As `routeRow`; where there is none, the branch that has none for the row. */
export function findRoute(root: Branch, batch: Batch, row: number, context: ExecContext): RoutedTable | Branch {
  let branch = root;
  for (;;) {
    const id = branch.level.bounds.find(keyValues(branch, batch, row, context));
    if (id === null) return branch;
    const next = branch.partitions.get(id)!;
    if (!("partitions" in next)) return next;
    branch = next;
  }
}

/** Whether the row belongs to the partition that the statement names. */
export function belongs(program: RouteProgram, batch: Batch, row: number, context: ExecContext): boolean {
  return program.membership.every(
    ({ level, partitionId }) => level.level.bounds.find(keyValues(level, batch, row, context)) === partitionId,
  );
}

function keyValues({ keys }: Level, batch: Batch, row: number, context: ExecContext): Value[] {
  return keys.map((evaluate) => evaluate(batch, row, context));
}

function noPartition(level: PartitionLevel, values: readonly Value[], context: ExecContext): DbError {
  const { schema, name } = level.table;
  const texts = values.map((value, i) => valueText(level.bounds.types[i]!, value, context.timeZone));
  return sqlError("23514", `no partition of relation "${name}" found for row`, {
    ...(!context.hidesRows && {
      detail: `Partition key of the failing row contains (${level.keyText}) = (${texts.join(", ")}).`,
    }),
    schema,
    table: name,
  });
}
