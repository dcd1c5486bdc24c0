/** What a `deferred` node asks of each of its items: a call (deferred-call.ts) or a subquery (deferred-subquery.ts). */
import type { Value } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import type { ExecContext } from "./context.js";

export interface CompiledDeferred {
  /** Rows that are computed together at most. */
  readonly rowsMax: number;
  open(context: ExecContext): DeferredValues;
}

/** The values of one run. */
export interface DeferredValues {
  /** Writes the value for each row of the batch into `out`, NULL where it is not computed. */
  fill(batch: Batch, out: Value[]): Promise<void>;
  close(): void;
}
