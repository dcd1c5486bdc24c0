/**
 * Partitions that a scan's conditions rule out are not read:
 *
 *   append on p                       append on p
 *   ├ scan p1 [1 ≤ a < 10], a = 12    └ scan p2 [10 ≤ a < 20], a = 12
 *   └ scan p2 [10 ≤ a < 20], a = 12
 *
 * What depends on parameters or enclosing queries is left as tests that the operator makes when it runs. An append of
 * one input is that input.
 */
import { mayHold } from "../../catalog/partition-pruning.js";
import { OID } from "../../values/values.js";
import type { Expr } from "../expr/expr.js";
import { conjuncts } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import type { PartitionMembership, PruningTest } from "../plan/partition-tree.js";
import type { AppendPlan, Plan, ScanPlan } from "../plan/plan.js";
import { mapPlan } from "../plan/walk.js";
import { conditionsOnParts, type PartCondition } from "./key-conditions.js";
import type { Rule } from "./rule.js";

export const prunePartitions: Rule = {
  name: "prune-partitions",
  places: [310],
  apply: (plan) => mapPlan(plan, (node) => (node.kind === "append" ? pruned(node) : node)),
};

function pruned(plan: AppendPlan): Plan {
  const kept: { readonly input: Plan; readonly oid: number; readonly tests: readonly PruningTest[] }[] = [];
  for (const [i, input] of plan.inputs.entries()) {
    const tests = input.kind === "scan" ? testsOf(input) : [];
    if (tests !== null) kept.push({ input, oid: plan.oids[i]!, tests });
  }
  const hasTests = kept.some(({ tests }) => tests.length > 0);
  if (kept.length === plan.inputs.length && !hasTests && kept.length !== 1) return plan;
  if (kept.length === 1) return alone(plan, kept[0]!.input, kept[0]!.oid);
  const { tests: _, ...rest } = plan;
  return Object.freeze({
    ...rest,
    inputs: kept.map(({ input }) => input),
    oids: kept.map(({ oid }) => oid),
    ...(hasTests && { tests: kept.map(({ tests }) => tests) }),
  });
}

/** The one input's columns under the ids that the rest of the plan knows. */
function alone(plan: AppendPlan, input: Plan, oid: number): Plan {
  const exprs: Expr[] = input.columns.map(columnExpr);
  if (plan.tableOid !== null) exprs.push({ kind: "const", type: OID, value: oid });
  return Object.freeze({ kind: "project", input, exprs, columns: plan.columns });
}

/** What remains to be tested when the plan runs; null: the scan gives no row. */
function testsOf(scan: ScanPlan): readonly PruningTest[] | null {
  if (scan.membership === undefined || scan.filter === null) return [];
  const own = new Set(scan.columns.map(({ id }) => id));
  const tests: PruningTest[] = [];
  for (const membership of scan.membership) {
    const { keys, bounds } = membership.level;
    const known: PartCondition[] = [];
    const late: PartCondition[] = [];
    for (const condition of conjuncts(scan.filter)) {
      if (!armMayHold(condition, membership, own)) return null;
      for (const part of conditionsOnParts(condition, keys, own)) {
        (part.values.every(({ kind }) => kind === "const") ? known : late).push(part);
      }
    }
    if (!decided(membership, known)) return null;
    if (late.length > 0) tests.push({ bounds, partitionId: membership.partitionId, conditions: [...known, ...late] });
  }
  return tests;
}

function decided({ level, partitionId }: PartitionMembership, conditions: readonly PartCondition[]): boolean {
  const values = conditions.map((condition) => ({
    ...condition,
    values: condition.values.map((value) => (value.kind === "const" ? value.value : null)),
  }));
  return values.length === 0 || mayHold(level.bounds, partitionId, values);
}

/** Of OR: whether an arm leaves the partition any rows; of anything else true. */
function armMayHold(condition: Expr, membership: PartitionMembership, own: ReadonlySet<number>): boolean {
  if (condition.kind !== "or") return true;
  return condition.args.some((arm) => {
    const parts = conjuncts(arm);
    const known = parts
      .flatMap((part) => conditionsOnParts(part, membership.level.keys, own))
      .filter(({ values }) => values.every(({ kind }) => kind === "const"));
    return decided(membership, known) && parts.every((part) => armMayHold(part, membership, own));
  });
}
