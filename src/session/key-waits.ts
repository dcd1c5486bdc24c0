/**
 * Waits of statements for transactions that hold keys (storage/key-locks.ts). The statement has been taken back; after
 * the wait it runs again and sees what is committed by then, as PostgreSQL's UPDATE looks at a row again at read
 * committed.
 */
import { sqlError } from "../protocol/errors.js";
import type { KeyConflict, KeyHolder } from "../storage/key-locks.js";
import type { Client, StatementRun } from "./statement-run.js";

/** False: what the statement did cannot be done again unnoticed. */
export function mayWait({ holder }: KeyConflict, { request }: StatementRun): boolean {
  return request.hasActed !== true && (holder === null || request.signal !== undefined);
}

/**
 * Resolves, in a turn of the client's, when the statement may run again. `own`: what its transaction holds; null:
 * nothing. Throws 40P01 for a deadlock, 55P03 after `timeoutMs` (0: never), and what `client.checkpoint` throws.
 */
export async function afterConflict(
  { holder, holders }: KeyConflict,
  own: KeyHolder | null,
  client: Client,
  timeoutMs: number,
): Promise<void> {
  if (holder === null) return client.yieldTurn();
  if (own !== null && holders.some((each) => each.waitsOn(own))) {
    throw sqlError("40P01", "deadlock detected", {
      detail: "Two transactions wait for rows that the other one has changed.",
      hint: "Roll back and run the transaction again. Transactions that change rows in the same order do not meet so.",
    });
  }
  if (own !== null) own.waitsFor = holders;
  client.waiting?.(holder);
  try {
    await released(holder, client, timeoutMs);
  } finally {
    if (own !== null) own.waitsFor = [];
    client.waiting?.(null);
  }
  await client.yieldTurn();
}

function released(holder: KeyHolder, client: Client, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const signal = client.signal!();
    let timer: NodeJS.Timeout | undefined;
    let forget = (): void => undefined;
    const end = (act: () => void) => (): void => {
      if (timer !== undefined) clearTimeout(timer);
      signal.removeEventListener("abort", aborted);
      forget();
      act();
    };
    const aborted = end(() => reject(signal.reason as Error));
    forget = holder.whenReleased(end(resolve));
    if (timeoutMs > 0) {
      const late = sqlError("55P03", "canceling statement due to lock timeout");
      timer = setTimeout(
        end(() => reject(late)),
        timeoutMs,
      );
    }
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted);
  });
}
