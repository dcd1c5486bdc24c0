/**
 * What the three data-modifying operators have in common: they do all their work when first asked, then hand on the
 * rows of RETURNING, batch by batch.
 */
import type { Value } from "../../protocol/values.js";
import type { SlotOf } from "../expr/compile.js";
import type { Batch } from "../expr/expr.js";
import type { Returning } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { after, type Operator, type Pulled } from "./operator.js";
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

/** Runs `modify` once; a statement without RETURNING has no rows. */
export class ModifyOperator implements Operator {
  private changed: ChangedRows | null = null;
  private position = 0;

  constructor(
    private readonly modify: () => ChangedRows | Promise<ChangedRows>,
    private readonly returning: ReturningProgram | null,
    private readonly input: Operator,
    private readonly release: () => void,
    private readonly context: ExecContext,
  ) {}

  next(): Pulled {
    if (this.changed !== null) return this.emit();
    return after(this.modify(), (changed) => {
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
    this.release();
    this.input.close();
  }
}
