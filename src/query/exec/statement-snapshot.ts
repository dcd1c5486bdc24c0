/**
 * One snapshot for all parts of a statement. When WITH holds statements that change data, every part reads the state
 * before the statement (`context.tx`), and only the writers see and change the current state (`context.live`).
 */
import type { ExecContext } from "./context.js";
import type { Open } from "./operator.js";

/** Opens with the snapshot taken. */
export function withSnapshot(open: Open): Open {
  return (context) =>
    open(context.live === undefined ? { ...context, tx: context.tx.frozen(), live: context.tx } : context);
}

/** The context in which rows are written. */
export function writingContext(context: ExecContext): ExecContext {
  return context.live === undefined ? context : { ...context, tx: context.live };
}

/** Another part of the statement has changed or removed the row: it is passed over, as in PostgreSQL. */
export function isChangedMeanwhile(context: ExecContext, key: Uint8Array): boolean {
  if (context.live === undefined) return false;
  const before = context.tx.get(key);
  const now = context.live.get(key);
  return now === undefined || before === undefined || Buffer.compare(before, now) !== 0;
}
