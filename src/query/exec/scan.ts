/** A scan of a whole table in the order of its row keys, filtering while it reads. */

import { prefixRange } from "../../storage/keys.js";
import type { Cursor } from "../../storage/store.js";
import type { ScanPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { compileRowDecoder, RowDecoder, type RowDecoderProgram } from "./row-decoder.js";
import { layoutOf } from "./table-layout.js";

/** Rows of a scan's first batch: a statement with a small LIMIT reads little more than it needs. */
export const FIRST_BATCH_ROWS = 64;

export function compileScan(plan: ScanPlan): Open {
  const program = compileRowDecoder(plan);
  const { rowPrefixOf } = layoutOf(plan.table);
  return (context) => new ScanOperator(program, rowPrefixOf(context.tenantNumber), plan.reverse, context);
}

class ScanOperator implements Operator {
  private readonly rows: RowDecoder;
  private cursor: Cursor | null = null;
  private size: number;
  private done = false;

  constructor(
    program: RowDecoderProgram,
    private readonly prefix: Uint8Array,
    private readonly reverse: boolean,
    private readonly context: ExecContext,
  ) {
    this.rows = new RowDecoder(program, context);
    this.size = Math.min(FIRST_BATCH_ROWS, context.batchRows);
  }

  next(): Pulled {
    const { context } = this;
    while (!this.done) {
      if (this.cursor !== null && context.shouldYield()) return context.yieldTurn().then(() => this.readOrNext());
      this.read();
      if (this.rows.length > 0) return this.rows.take();
    }
    return null;
  }

  private readOrNext(): Pulled {
    this.read();
    return this.rows.length > 0 ? this.rows.take() : this.next();
  }

  private read(): void {
    const { rows, context } = this;
    context.checkpoint();
    this.cursor ??= context.tx.scan(prefixRange(this.prefix, this.reverse));
    const { keys, values } = this.cursor.next(this.size);
    for (let i = 0; i < keys.length; i++) rows.add(keys[i]!, values[i]!);
    if (keys.length === 0) this.close();
    this.size = context.batchRows;
  }

  close(): void {
    this.done = true;
    this.cursor?.close();
    this.cursor = null;
  }
}
