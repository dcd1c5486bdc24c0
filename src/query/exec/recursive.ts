/**
 * WITH RECURSIVE: the rows of the first query, then repeatedly the rows that the second query makes from the newest
 * rows (the working table), until a step adds none. UNION drops rows that came before. This is the semi-naive
 * evaluation of SQL:1999. If the recursion does not end by itself, it ends at the statement's deadline or memory
 * bound.
 */
import type { HashKey } from "../expr/compare.js";
import type { Batch } from "../expr/expr.js";
import type { RecursivePlan } from "../plan/plan.js";
import { dropCommonRows } from "./common-rows.js";
import type { CommonRows, CommonRowsReader, ExecContext } from "./context.js";
import { SET_ENTRY_BYTES } from "./distinct.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { RowBuffer } from "./row-buffer.js";
import { type RowKeyOf, rowKeyOf } from "./row-key.js";
import { FEW_ROWS } from "./spill/shared-rows.js";
import { bytesOf } from "./value-bytes.js";

export function compileRecursive(plan: RecursivePlan, first: Open, step: Open): Open {
  const keyOf = plan.all ? null : rowKeyOf(plan.columns.map((column) => column.type));
  return (context) => new RecursiveOperator(plan, keyOf, first(context), step, context);
}

class RecursiveOperator implements Operator {
  /** What the next step will read: rows handed on since the current step began. */
  private coming: RowBuffer;
  private last: RowBuffer | null = null;
  private readonly seen = new Set<HashKey | null>();
  private bytes = 0;
  private steps = 0;

  constructor(
    private readonly plan: RecursivePlan,
    private readonly keyOf: RowKeyOf | null,
    private current: Operator,
    private readonly step: Open,
    private readonly context: ExecContext,
  ) {
    this.coming = new RowBuffer(plan.columns, context);
  }

  next(): Pulled {
    for (;;) {
      const batch = this.current.next();
      if (batch instanceof Promise) return batch.then((arrived) => this.accept(arrived) ?? this.next());
      const made = this.accept(batch);
      if (made !== undefined) return made;
    }
  }

  /** New rows to hand on; null at the end of all steps; undefined when there is more to ask for. */
  private accept(batch: Batch | null): Pulled | undefined {
    if (batch === null) return this.nextStep() ? undefined : null;
    const fresh = this.keyOf === null ? batch : this.unseen(batch, this.keyOf);
    if (fresh.length === 0) return undefined;
    this.coming.append(fresh);
    return fresh;
  }

  /** False when the last step made no rows. */
  private nextStep(): boolean {
    const { context, plan } = this;
    this.current.close();
    this.last?.release();
    this.last = this.coming;
    this.coming = new RowBuffer(plan.columns, context);
    if (this.last.length === 0) return false;
    context.checkpoint();
    context.statement.commonRows ??= new Map();
    context.statement.commonRows.set(plan.working, new WorkingRows(this.last));
    this.steps++;
    this.current = this.step({ ...context, outer: new Map(context.outer).set(plan.iteration, this.steps) });
    if (context.shouldYield()) this.current = new AfterTurn(this.current, context);
    return true;
  }

  private unseen(batch: Batch, keyOf: RowKeyOf): Batch {
    const rows: number[] = [];
    for (let row = 0; row < batch.length; row++) {
      const key = keyOf(batch.columns, row);
      if (this.seen.has(key)) continue;
      this.seen.add(key);
      const bytes = SET_ENTRY_BYTES + bytesOf(key);
      this.bytes += bytes;
      this.context.statement.reserve(bytes);
      rows.push(row);
    }
    if (rows.length === batch.length) return batch;
    return { columns: batch.columns.map((values) => rows.map((row) => values[row]!)), length: rows.length };
  }

  close(): void {
    this.current.close();
    dropCommonRows(this.plan.working, this.context);
    this.coming.release();
    this.last?.release();
    this.context.statement.release(this.bytes);
    this.bytes = 0;
  }
}

/** Rows of the last step: all there; the recursion frees them. */
class WorkingRows implements CommonRows {
  constructor(private readonly rows: RowBuffer) {}

  open(context: ExecContext, slots: readonly number[]): CommonRowsReader {
    const { rows } = this;
    let position = 0;
    const read = (): Batch | null => {
      const from = position;
      if (from === rows.length) return null;
      position = Math.min(from + context.batchRows, rows.length);
      return { columns: slots.map((slot) => rows.columns[slot]!.slice(from, position)), length: position - from };
    };
    // Of few rows the recursion itself has just looked at the clock.
    if (rows.length <= FEW_ROWS) return { next: read, close: () => undefined };
    return { next: () => (context.shouldYield() ? context.yieldTurn().then(read) : read()), close: () => undefined };
  }

  complete(): void {}

  close(): void {}
}

/** Gives the actor's loop a turn before the first row. */
class AfterTurn implements Operator {
  private waited = false;

  constructor(
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {}

  next(): Pulled {
    if (this.waited) return this.input.next();
    this.waited = true;
    return this.context.yieldTurn().then(() => this.input.next());
  }

  close(): void {
    this.input.close();
  }
}
