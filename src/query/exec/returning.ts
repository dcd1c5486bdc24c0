/**
 * The common part of the three data-modifying operators: they do all their work when first asked, then hand on the
 * rows of RETURNING, batch by batch.
 */
import type { Value } from "../../values/values.js";
import type { SlotOf } from "../expr/compile.js";
import type { Batch } from "../expr/expr.js";
import type { Returning } from "../plan/change-plans.js";
import type { ExecContext } from "./context.js";
import { after, type Open, type Operator, type Pulled } from "./operator.js";
import { compileAll, type EvaluateAll } from "./slots.js";

/** The changed rows, column by column, and which of them RETURNING shows, in order. */
export interface ChangedRows {
  readonly columns: readonly ArrayLike<Value>[];
  readonly rows: readonly number[];
  /** How many were changed, when nobody will be shown them; absent: as many as `rows`. */
  readonly count?: number;
}

export type ReturningProgram = readonly EvaluateAll[];

export function compileReturning(returning: Returning | null, slotOf: SlotOf): ReturningProgram | null {
  return returning === null ? null : returning.exprs.map((expr) => compileAll(expr, slotOf));
}

/** One run of a statement that changes rows. */
interface Modifier {
  run(): ChangedRows | Promise<ChangedRows>;
  /** Gives back what the run holds. */
  release(): void;
}

/** How every node that changes rows opens: `make` gets the opened input and reads it to its end. */
export function modifying(
  input: Open,
  returning: ReturningProgram | null,
  make: (input: Operator, context: ExecContext) => Modifier,
): Open {
  return (context) => {
    const operator = input(context);
    return new ModifyOperator(make(operator, context), returning, operator, context);
  };
}

/** Runs the modifier once; a statement without RETURNING has no rows. */
class ModifyOperator implements Operator {
  private changed: ChangedRows | null = null;
  private position = 0;

  constructor(
    private readonly modifier: Modifier,
    private readonly returning: ReturningProgram | null,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {}

  next(): Pulled {
    if (this.changed !== null) return this.emit();
    return after(this.modifier.run(), (changed) => {
      this.changed = changed;
      this.context.statement.rowsAffected += changed.count ?? changed.rows.length;
      return this.emit();
    });
  }

  private emit(): Batch | null {
    const { columns, rows } = this.changed!;
    const from = this.position;
    if (this.returning === null || from === rows.length) return null;
    const to = Math.min(from + this.context.batchRows, rows.length);
    this.position = to;
    const batch: Batch = {
      columns: columns.map((values) => rows.slice(from, to).map((row) => values[row]!)),
      length: to - from,
    };
    return { columns: this.returning.map((expr) => expr(batch, this.context, [])), length: batch.length };
  }

  close(): void {
    this.modifier.release();
    this.input.close();
  }
}
