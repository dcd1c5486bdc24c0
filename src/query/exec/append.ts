/**
 * The rows of several inputs, one input after the other; an input is opened when its turn comes, so that a LIMIT over
 * many partitions opens few. With an order, that of all inputs, their rows are merged (merge-append.ts).
 */
import type { Value } from "../../protocol/values.js";
import type { Batch } from "../expr/expr.js";
import type { AppendPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { compileMergeAppend } from "./merge-append.js";
import { type Open, type Operator, type Pulled, pull } from "./operator.js";

export function compileAppend(plan: AppendPlan, inputs: readonly Open[]): Open {
  const oids = plan.tableOid === null ? null : plan.oids;
  if (plan.mergeKeys !== undefined) return compileMergeAppend(plan, oids, inputs);
  return (context) => new AppendOperator(inputs, oids, context);
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
