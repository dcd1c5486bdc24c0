/**
 * The rows of several inputs, one input after the other; an input is opened when its turn comes, so that a LIMIT over
 * many partitions opens few. With an order, that of all inputs, their rows are merged (merge-append.ts).
 */
import { mayHold } from "../../catalog/partition-pruning.js";
import type { Value } from "../../protocol/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Batch } from "../expr/expr.js";
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
  const compiled = tests.map((each) => each.map(compileTest));
  const { tests: _, ...rest } = plan;
  return (context) => {
    const kept = inputs.map((_, i) => i).filter((i) => compiled[i]!.every((test) => test(context)));
    const oids = kept.map((i) => plan.oids[i]!);
    return compileAppend(
      { ...rest, oids },
      kept.map((i) => inputs[i]!),
    )(context);
  };
}

function compileTest({ bounds, partitionId, conditions }: PruningTest): (context: ExecContext) => boolean {
  const compiled = conditions.map(({ place, op, values }) => {
    return { place, op, values: values.map((value) => compileExpr(value, NO_SLOTS)) };
  });
  return (context) => {
    const known = compiled.map(({ place, op, values }) => {
      return { place, op, values: values.map((evaluate) => evaluate(EMPTY_ROW, 0, context)) };
    });
    return mayHold(bounds, partitionId, known);
  };
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
