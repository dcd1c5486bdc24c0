/**
 * FOR UPDATE and FOR SHARE: holds the rows that come by against other transactions until this one ends, where
 * transactions wait for each other (storage/key-locks.ts). Elsewhere the transaction fails at its commit if such a row
 * was changed.
 */
import { sqlError } from "../../protocol/errors.js";
import { KeyConflict } from "../../storage/key-locks.js";
import type { Transaction } from "../../storage/store.js";
import type { Batch } from "../expr/expr.js";
import type { LockPlan } from "../plan/plan.js";
import { type Open, type Operator, type Pulled, pull } from "./operator.js";
import { columnSlots, slotsOf } from "./slots.js";

export function compileLockRows(plan: LockPlan, input: Open): Open {
  const slots = columnSlots(plan.keys, slotsOf(plan.input.columns))!;
  return (context) => new LockRows(plan, slots, context.live ?? context.tx, input(context));
}

class LockRows implements Operator {
  private batch: Batch | null = null;
  private row = 0;

  constructor(
    private readonly plan: LockPlan,
    private readonly slots: readonly number[],
    private readonly tx: Transaction,
    private readonly input: Operator,
  ) {}

  next(): Pulled {
    if (this.batch !== null && this.row < this.batch.length) {
      const found = this.oneOf(this.batch);
      if (found !== undefined) return found;
    }
    return pull(this.input, this.step);
  }

  private readonly step = (batch: Batch | null): Batch | null | undefined => {
    if (batch === null) return null;
    if (!this.plan.oneByOne) return this.allOf(batch);
    this.batch = batch;
    this.row = 0;
    return this.oneOf(batch);
  };

  /** The next row that it could lock: what nobody asks for stays free. */
  private oneOf(batch: Batch): Batch | undefined {
    while (this.row < batch.length) {
      const r = this.row++;
      if (this.lock(batch, r)) return { columns: batch.columns.map((values) => [values[r]!]), length: 1 };
    }
    return undefined;
  }

  private allOf(batch: Batch): Batch | undefined {
    const rows: number[] = [];
    for (let r = 0; r < batch.length; r++) if (this.lock(batch, r)) rows.push(r);
    if (rows.length === batch.length) return batch;
    if (rows.length === 0) return undefined;
    return { columns: batch.columns.map((values) => rows.map((r) => values[r]!)), length: rows.length };
  }

  /**
   * False: another transaction holds the row, which is to be skipped. The side of an outer join without a row has no
   * key.
   */
  private lock({ columns }: Batch, row: number): boolean {
    const { strength, tables, wait } = this.plan;
    for (let i = 0; i < this.slots.length; i++) {
      const key = columns[this.slots[i]!]![row] as Uint8Array | null;
      if (key === null) continue;
      try {
        if (!this.tx.lockKey(key, strength, wait === "skip")) return false;
      } catch (error) {
        if (wait === "error" && error instanceof KeyConflict && error.holder !== null) {
          throw sqlError("55P03", `could not obtain lock on row in relation "${tables[i]}"`);
        }
        throw error;
      }
    }
    return true;
  }

  close(): void {
    this.input.close();
  }
}
