/** What an INSERT knows before it runs: checks, routes, ON CONFLICT and triggers of the tables that take its rows. */
import { forbidsOverlap, type IndexDef } from "../../catalog/table.js";
import { compileExpr, type Predicate } from "../expr/compile.js";
import type { Evaluate } from "../expr/expr.js";
import type { InsertPlan, OnConflict } from "../plan/change-plans.js";
import { partitionIndex } from "./partition-index.js";
import { compileRoutes, type RoutedTable, type RouteProgram } from "./partition-router.js";
import { compileChecks, type RowCheck } from "./row-checks.js";
import { compileCondition, slotsOf } from "./slots.js";
import {
  hasTriggers,
  type RowTriggers,
  rowTriggers,
  type StatementTriggers,
  statementTriggers,
} from "./table-triggers.js";
import { assignedColumns } from "./table-writer.js";

export interface InsertProgram {
  readonly plan: InsertPlan;
  /** The statement's own table; its columns are in the order of the input's. */
  readonly own: RoutedTable;
  readonly routes: RouteProgram;
  /** Of the named table, over rows that go to partitions; other checks the partitions have themselves. */
  readonly policies: readonly RowCheck[];
  /** WITH CHECK OPTION, in the same way. */
  readonly viewChecks: readonly RowCheck[];
  readonly conflict: ConflictProgram | null;
  /** Of the tables that runs have written to. */
  readonly targets: Map<RoutedTable, TargetProgram>;
  readonly triggers: StatementTriggers | null;
  /** Some table that takes rows may have row triggers, or somebody wants to see the rows. */
  readonly isTriggered: boolean;
  /** A row may have to wait: for a trigger, or for the search of what it conflicts with. */
  readonly waits: boolean;
}

/** What is known of a table that takes rows of the statement before it runs. */
export interface TargetProgram {
  /** Places of generated columns. */
  readonly generated: readonly number[];
  readonly arbiter: IndexDef | "primary key" | null;
  /** Ids of the columns that ON CONFLICT DO UPDATE may change. */
  readonly assigned: ReadonlySet<number>;
  readonly onInsert: RowTriggers | null;
  /** Of ON CONFLICT DO UPDATE. */
  readonly onUpdate: RowTriggers | null;
}

export interface ConflictProgram {
  readonly arbiter: OnConflict["index"];
  /** Null: DO NOTHING. */
  readonly update: {
    /** By place among the columns. */
    readonly assignments: readonly { readonly place: number; readonly evaluate: Evaluate }[];
    readonly where: Predicate | null;
    /** Null: no policy decides. Then those of the plan's checks do not count for the new row. */
    readonly policies: { readonly using: readonly RowCheck[]; readonly checks: readonly RowCheck[] } | null;
  } | null;
}

export function insertProgramOf(plan: InsertPlan): InsertProgram {
  const { table, partitions, membership } = plan;
  const slotOf = slotsOf(plan.rowColumns);
  const checks = compileChecks(plan.checks, slotOf);
  const updates = plan.onConflict?.action === "update";
  const triggers = statementTriggers(
    table,
    updates ? ["insert", "update"] : ["insert"],
    updates ? assignedColumns(table, plan.onConflict.assignments) : null,
  );
  const isTriggered = triggers !== null || hasTriggers(table, partitions);
  return {
    plan,
    own: { table, columnIds: table.columns.map(({ id }) => id), checks },
    policies: partitions === undefined ? [] : checks.filter(({ policy }) => policy !== undefined),
    viewChecks: partitions === undefined ? [] : checks.filter(({ ofView, policy }) => ofView && policy === undefined),
    routes: compileRoutes(partitions, membership, slotOf),
    conflict: plan.onConflict && compileConflict(plan.onConflict, plan),
    targets: new Map(),
    triggers,
    isTriggered,
    waits: isTriggered || (plan.onConflict !== null && table.indexes.some(forbidsOverlap)),
  };
}

function compileConflict(conflict: OnConflict, { table, rowColumns }: InsertPlan): ConflictProgram {
  if (conflict.action === "nothing") return { arbiter: conflict.index, update: null };
  const slotOf = slotsOf([...conflict.existing, ...conflict.excluded]);
  return {
    arbiter: conflict.index,
    update: {
      assignments: conflict.assignments.map(({ columnId, expr }) => ({
        place: table.columns.findIndex(({ id }) => id === columnId),
        evaluate: compileExpr(expr, slotOf),
      })),
      where: compileCondition(conflict.where, slotOf),
      policies:
        conflict.policies === undefined
          ? null
          : {
              using: compileChecks(conflict.policies.using, slotOf),
              checks: compileChecks(conflict.policies.checks, slotsOf(rowColumns)),
            },
    },
  };
}

export function compileTarget({ own, conflict, targets }: InsertProgram, routed: RoutedTable): TargetProgram {
  const known = targets.get(routed);
  if (known !== undefined) return known;
  const { table, columnIds } = routed;
  const arbiter = conflict?.arbiter ?? null;
  const assignments = (conflict?.update?.assignments ?? []).map(({ place }) => ({ columnId: columnIds[place]! }));
  const assigned = assignedColumns(table, assignments);
  const onUpdate = conflict?.update == null ? null : rowTriggers(table, "update", assigned);
  const target = {
    generated: table.columns.flatMap(({ id, generatedSql }) => (generatedSql ? [columnIds.indexOf(id)] : [])),
    arbiter: arbiter === null || routed === own ? arbiter : partitionIndex(table, arbiter, own.table),
    // A trigger may give any column another value.
    assigned: onUpdate !== null && onUpdate.before.length > 0 ? new Set(columnIds) : assigned,
    onInsert: rowTriggers(table, "insert"),
    onUpdate,
  };
  targets.set(routed, target);
  return target;
}
