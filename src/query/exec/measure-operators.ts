/**
 * EXPLAIN ANALYZE's stopwatch: an operator around each operator that counts its rows, its runs, its time and the memory
 * it holds. Only there when asked for; other programs are compiled without it. The session owns the measurements of
 * one run.
 */
import type { Batch } from "../expr/expr.js";
import type { Plan } from "../plan/plan.js";
import { AroundOperator } from "./around-operator.js";
import type { ExecContext } from "./context.js";
import type { Open, Operator, Pulled } from "./operator.js";

/** What one plan node did in a run, all its loops together. */
export interface Measured {
  rows: number;
  /** How often it was opened. */
  loops: number;
  /** Milliseconds in its own and its inputs' `next`, waits included. */
  milliseconds: number;
  /** The most bytes that it held itself, by its own estimate. */
  bytesPeak: number;
  /** Other threads that read for it. */
  threads: number;
}

export class Measurements {
  private readonly nodes = new Map<Plan, Measured>();
  /** Bytes that inputs of the operator now running have come to hold during its call. */
  private nestedBytes = 0;

  /** Null: the node was never opened. */
  of(plan: Plan): Measured | null {
    return this.nodes.get(plan) ?? null;
  }

  around(plan: Plan, open: Open): Open {
    return (context) => {
      let measured = this.nodes.get(plan);
      if (measured === undefined) {
        measured = { rows: 0, loops: 0, milliseconds: 0, bytesPeak: 0, threads: 0 };
        this.nodes.set(plan, measured);
      }
      measured.loops++;
      return new MeasuredOperator(open(context), measured, this, context);
    };
  }

  /** Starts counting an operator's call; answers what is to be given to `leave`. */
  enter(): number {
    const outer = this.nestedBytes;
    this.nestedBytes = 0;
    return outer;
  }

  /** The bytes of a call that grew by `grown` in all, without what inputs took of it. */
  leave(outer: number, grown: number): number {
    const own = grown - this.nestedBytes;
    this.nestedBytes = outer + grown;
    return own;
  }
}

class MeasuredOperator extends AroundOperator {
  private bytes = 0;

  constructor(
    operator: Operator,
    private readonly measured: Measured,
    private readonly all: Measurements,
    private readonly context: ExecContext,
  ) {
    super(operator);
  }

  override next(): Pulled {
    const started = performance.now();
    const outer = this.all.enter();
    const before = this.context.statement.memoryBytes;
    const batch = this.operator.next();
    if (!(batch instanceof Promise)) return this.count(batch, started, outer, before);
    return batch.then((arrived) => this.count(arrived, started, outer, before));
  }

  private count(batch: Batch | null, started: number, outer: number, before: number): Batch | null {
    const { measured, context, all } = this;
    measured.milliseconds += performance.now() - started;
    if (batch !== null) measured.rows += batch.length;
    this.bytes += all.leave(outer, context.statement.memoryBytes - before);
    if (this.bytes > measured.bytesPeak) measured.bytesPeak = this.bytes;
    measured.threads = Math.max(measured.threads, this.threadsUsed);
    return batch;
  }
}
