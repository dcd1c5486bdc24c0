/**
 * UNION, INTERSECT and EXCEPT, with and without ALL. Columns go by position. Rows come out in the order of the left
 * side (then, for UNION, of the right); INTERSECT and EXCEPT count the right side's rows by key first.
 */
import type { Value } from "../../values/values.js";
import type { HashKey } from "../expr/compare.js";
import type { Batch } from "../expr/expr.js";
import type { SetOpPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { SET_ENTRY_BYTES } from "./distinct.js";
import { drain, type Open, type Operator, type Pulled, pull } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { type RowKeyOf, rowKeyOf } from "./row-key.js";
import { bytesOf } from "./value-bytes.js";

export function compileSetOp(plan: SetOpPlan, left: Open, right: Open): Open {
  const keyOf = rowKeyOf(plan.columns.map((column) => column.type));
  return (context) => new SetOpOperator(plan, keyOf, left(context), right(context), context);
}

class SetOpOperator implements Operator {
  /** Rows of the right side by key, for INTERSECT and EXCEPT; null until they are counted. */
  private counts: Map<HashKey | null, number> | null = null;
  /** Keys that were handed on, when rows must not repeat. */
  private readonly emitted = new Set<HashKey | null>();
  private readonly columns: Value[][];
  private onRight = false;
  private bytes = 0;

  constructor(
    private readonly plan: SetOpPlan,
    private readonly keyOf: RowKeyOf,
    private readonly left: Operator,
    private readonly right: Operator,
    private readonly context: ExecContext,
  ) {
    this.columns = emptyColumns(plan.columns.length);
  }

  next(): Pulled {
    if (this.plan.op === "union") return this.union();
    if (this.counts !== null) return pull(this.left, this.select);
    const counts = new Map<HashKey | null, number>();
    return drain(
      this.right,
      (batch) => {
        for (let row = 0; row < batch.length; row++) {
          const key = this.keyOf(batch.columns, row);
          const count = counts.get(key) ?? 0;
          if (count === 0) this.reserve(SET_ENTRY_BYTES + bytesOf(key));
          counts.set(key, count + 1);
        }
      },
      () => {
        this.counts = counts;
        return pull(this.left, this.select);
      },
    );
  }

  private union(): Pulled {
    if (this.onRight) return pull(this.right, this.select);
    const batch = pull(this.left, this.select);
    return batch instanceof Promise ? batch.then(this.leftOrRight) : this.leftOrRight(batch);
  }

  private readonly leftOrRight = (batch: Batch | null): Pulled => {
    if (batch !== null) return batch;
    this.onRight = true;
    return pull(this.right, this.select);
  };

  private readonly select = (batch: Batch | null): Batch | null | undefined => {
    if (batch === null || (this.plan.op === "union" && this.plan.all)) return batch;
    const { columns } = this;
    let kept = 0;
    for (let row = 0; row < batch.length; row++) {
      if (!this.isWanted(this.keyOf(batch.columns, row))) continue;
      for (let c = 0; c < columns.length; c++) columns[c]![kept] = batch.columns[c]![row]!;
      kept++;
    }
    return kept === 0 ? undefined : { columns, length: kept };
  };

  /** INTERSECT ALL hands a row on min(left, right) times, EXCEPT ALL max(left − right, 0) times. */
  private isWanted(key: HashKey | null): boolean {
    const { plan, counts } = this;
    if (counts !== null) {
      const count = counts.get(key) ?? 0;
      if (plan.all) {
        if (count > 0) counts.set(key, count - 1);
        return count > 0 === (plan.op === "intersect");
      }
      if (count > 0 !== (plan.op === "intersect")) return false;
    }
    if (this.emitted.has(key)) return false;
    this.emitted.add(key);
    this.reserve(SET_ENTRY_BYTES + bytesOf(key));
    return true;
  }

  private reserve(bytes: number): void {
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
  }

  close(): void {
    this.context.statement.release(this.bytes);
    this.bytes = 0;
    this.left.close();
    this.right.close();
  }
}
