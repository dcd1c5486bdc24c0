/**
 * The rows of several inputs, one input after the other; an input is opened when its turn comes, so that a LIMIT over
 * many partitions opens few. With an order, that of all inputs, their rows are merged (merge-append.ts).
 */
import { mayHold } from "../../catalog/partition-pruning.js";
import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Batch, Evaluate } from "../expr/expr.js";
import { exprEquals } from "../expr/walk.js";
import type { PruningTest } from "../plan/partition-tree.js";
import type { AppendPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { compileMergeAppend } from "./merge-append.js";
import { type Open, type Operator, type Pulled, pull } from "./operator.js";
import { EMPTY_ROW, NO_SLOTS } from "./slots.js";

export function compileAppend(plan: AppendPlan, inputs: readonly Open[]): Open {
  const oids = plan.tableOid === null ? null : plan.oids;
  if (plan.tests !== undefined) return compilePruned(plan, plan.tests, inputs);
  if (plan.mergeKeys !== undefined) return compileMergeAppend(plan, oids, inputs);
  return (context) => new AppendOperator(inputs, oids, context);
}

/** Of partitions: without those that the values of this run rule out. */
function compilePruned(plan: AppendPlan, tests: readonly (readonly PruningTest[])[], inputs: readonly Open[]): Open {
  const { tests: _, ...rest } = plan;
  const groups: TestGroup[] = [];
  const places = tests.map((each) => each.map((test) => ({ id: test.partitionId, group: groupOf(test, groups) })));
  return (context) => {
    const answers = groups.map((group) => answerOf(group, context));
    const kept: number[] = [];
    for (let i = 0; i < inputs.length; i++) {
      if (places[i]!.every(({ id, group }) => answers[group]!(id))) kept.push(i);
    }
    const oids = kept.map((i) => plan.oids[i]!);
    return compileAppend(
      { ...rest, oids },
      kept.map((i) => inputs[i]!),
    )(context);
  };
}

/** Tests that differ in the partition alone: their values are computed once. */
interface TestGroup {
  readonly test: PruningTest;
  readonly values: readonly (readonly Evaluate[])[];
  /** One value for each part of the key: then one partition is left. */
  readonly isPoint: boolean;
}

function groupOf(test: PruningTest, groups: TestGroup[]): number {
  const { bounds, conditions } = test;
  const isSame = (other: PruningTest) =>
    other.bounds === bounds &&
    other.conditions.length === conditions.length &&
    conditions.every(({ place, op, values }, i) => {
      const condition = other.conditions[i]!;
      return (
        condition.place === place &&
        condition.op === op &&
        condition.values.length === values.length &&
        values.every((value, v) => exprEquals(value, condition.values[v]!))
      );
    });
  const known = groups.findIndex((group) => isSame(group.test));
  if (known >= 0) return known;
  const values = conditions.map((condition) => condition.values.map((value) => compileExpr(value, NO_SLOTS)));
  const isPoint =
    conditions.length === bounds.types.length &&
    bounds.types.every((_, place) => conditions.some((condition) => condition.place === place && condition.op === "="));
  return groups.push({ test, values, isPoint }) - 1;
}

/** Whether a partition may hold rows, in this run. */
function answerOf({ test, values, isPoint }: TestGroup, context: ExecContext): (partitionId: number) => boolean {
  const { bounds } = test;
  const conditions = test.conditions.map(({ place, op }, i) => {
    return { place, op, values: values[i]!.map((evaluate) => evaluate(EMPTY_ROW, 0, context)) };
  });
  if (!isPoint) return (id) => mayHold(bounds, id, conditions);
  const key: Value[] = bounds.types.map((_, place) => conditions.find((each) => each.place === place)!.values[0]!);
  // Nothing equals NULL.
  const home = key.includes(null) ? null : bounds.find(key);
  return (id) => id === home;
}

class AppendOperator implements Operator {
  private current: Operator | null = null;
  private opened = 0;
  private handsOutChunks = false;

  constructor(
    private readonly inputs: readonly Open[],
    private readonly oids: readonly number[] | null,
    private readonly context: ExecContext,
  ) {}

  acceptChunks(): void {
    this.handsOutChunks = this.oids === null;
  }

  next(): Pulled {
    for (;;) {
      if (this.current === null) {
        if (this.opened === this.inputs.length) return null;
        this.current = this.inputs[this.opened++]!(this.context);
        if (this.handsOutChunks) this.current.acceptChunks?.();
      }
      const batch = pull(this.current, this.select);
      if (batch instanceof Promise) return batch.then((arrived) => arrived ?? this.next());
      if (batch !== null) return batch;
    }
  }

  private readonly select = (batch: Batch | null): Batch | null => {
    if (batch === null) {
      this.current!.close();
      this.current = null;
      return null;
    }
    if (this.oids === null) return batch;
    const oid: Value[] = new Array<Value>(batch.length).fill(this.oids[this.opened - 1]!);
    return { columns: [...batch.columns, oid], length: batch.length };
  };

  close(): void {
    this.current?.close();
    this.current = null;
    this.opened = this.inputs.length;
  }
}
