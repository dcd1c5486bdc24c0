/**
 * A hash join whose right side does not fit into memory: both sides are dealt out over files by their keys, and then
 * joined one pair of files after the other. The order of the left rows is lost. Made by hash-join.ts.
 */
import type { SqlType, Value } from "../../../values/values.js";
import type { HashKey } from "../../expr/compare.js";
import type { Batch } from "../../expr/expr.js";
import type { ExecContext } from "../context.js";
import { drain, type Operator, type Pulled } from "../operator.js";
import { valuesOfBatch } from "../segments/chunk.js";
import { Partitions } from "./partitions.js";
import { type Run, RunScan } from "./spilled-rows.js";

/** What a join must know to be able to go to disk. */
export interface JoinSpill {
  readonly leftTypes: readonly SqlType[];
  readonly rightTypes: readonly SqlType[];
  /** Keys of a batch's rows; rows with a NULL in their keys may have any. */
  leftKeys(batch: Batch, context: ExecContext): (row: number) => HashKey | null;
  rightKeys(batch: Batch, context: ExecContext): (row: number) => HashKey | null;
  /** The same join of other inputs; `depth` counts how often its rows were divided. */
  open(left: Operator, right: Operator, context: ExecContext, depth: number): Operator;
}

export class SpilledJoin {
  private readonly right: Partitions;
  private readonly left: Partitions;
  private rightRuns: readonly Run[] = [];
  private leftRuns: readonly Run[] = [];
  private position = -1;
  private current: Operator | null = null;

  constructor(
    private readonly spill: JoinSpill,
    private readonly context: ExecContext,
    private readonly depth: number,
  ) {
    this.right = new Partitions(context.spill!, spill.rightTypes, context, depth);
    this.left = new Partitions(context.spill!, spill.leftTypes, context, depth);
  }

  addRight(batch: Batch): void {
    addAll(this.right, batch, this.spill.rightKeys(batch, this.context));
  }

  /** All of the right side has come: takes the left side, then gives the first batch. */
  start(left: Operator): Pulled {
    this.rightRuns = this.right.finish();
    return drain(
      left,
      (batch) => {
        const values = valuesOfBatch(batch);
        addAll(this.left, values, this.spill.leftKeys(values, this.context));
      },
      () => {
        this.leftRuns = this.left.finish();
        return this.next();
      },
    );
  }

  next(): Pulled {
    for (;;) {
      if (this.current === null && !this.openNext()) return null;
      const batch = this.current!.next();
      if (batch instanceof Promise) return batch.then((arrived) => this.handOn(arrived) ?? this.next());
      const handed = this.handOn(batch);
      if (handed !== null) return handed;
    }
  }

  private handOn(batch: Batch | null): Batch | null {
    if (batch !== null) return batch;
    this.current?.close();
    this.current = null;
    return null;
  }

  private openNext(): boolean {
    if (++this.position >= this.rightRuns.length) return false;
    const { context, position } = this;
    const left = new RunScan(this.leftRuns[position]!, context);
    const right = new RunScan(this.rightRuns[position]!, context);
    this.current = this.spill.open(left, right, context, this.depth + 1);
    return true;
  }

  close(): void {
    this.current?.close();
    this.current = null;
    this.right.close();
    this.left.close();
  }
}

function addAll(partitions: Partitions, batch: Batch, keyOf: (row: number) => HashKey | null): void {
  const columns: readonly ArrayLike<Value>[] = batch.columns;
  for (let row = 0; row < batch.length; row++) partitions.add(keyOf(row), columns, row);
}
