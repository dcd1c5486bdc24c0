/**
 * Has those who store many vectors keep to the pace at which these are linked, whichever way they store them: by a
 * route, by SQL or by COPY. A search compares the vectors that wait to be linked one by one, so a load that runs ahead
 * would make searches slower and slower. A request notes here what it commits, and waits before it answers.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { WriteSet } from "../storage/write-set.js";
import type { DerivedIndex } from "./derived-index.js";

/** Transactions that store fewer do not wait. */
const ROWS_MIN = 64;
/** So many may wait: a search compares them in one or two milliseconds. */
export const WAITING_MAX = 20_000;
const LOOK_MS = 5;
/** The longest that a request waits: for each of its vectors several times what linking it takes, and altogether. */
const VECTOR_MS = 2;
const REQUEST_MS_MAX = 2_000;

/** What waits in an index. */
export interface Waiting {
  /** Somebody works on it. */
  readonly hasWork: boolean;
  readonly waiting: number;
}

/** What a request has committed into indexes whose work is long. */
export class AwaitedLinks {
  private readonly rows = new Map<DerivedIndex, number>();

  /** The rows of these indexes' tables that a transaction is about to commit. */
  note(indexes: readonly DerivedIndex[], writes: WriteSet): void {
    for (const index of indexes) {
      const rows = rowsWritten(writes, index.place.rowPrefix);
      if (rows >= ROWS_MIN) this.rows.set(index, (this.rows.get(index) ?? 0) + rows);
    }
  }

  /** Null: nothing is to be waited for. */
  done(isOver: () => boolean): Promise<void> | null {
    const behind = [...this.rows].filter(([index]) => isBehind(waitingIn(index)));
    if (behind.length === 0) return null;
    return Promise.all(behind.map(([index, rows]) => awaitLinks(() => waitingIn(index), rows, isOver))).then(() => {});
  }
}

/** Resolves when few of the index's vectors wait, or a request of so many vectors has waited long enough. */
export async function awaitLinks(
  progress: () => Waiting | null,
  vectors: number,
  isOver: () => boolean,
): Promise<void> {
  const until = performance.now() + Math.min(VECTOR_MS * vectors, REQUEST_MS_MAX);
  while (isBehind(progress()) && performance.now() < until && !isOver()) await sleep(LOOK_MS);
}

function isBehind(progress: Waiting | null): boolean {
  return progress?.hasWork === true && progress.waiting > WAITING_MAX;
}

/** Null: the index is no more. */
function waitingIn({ state, body, entries }: DerivedIndex): Waiting | null {
  if (state === "dropped") return null;
  const hasWork = entries.size > 0 || body.hasWork || body.longWork?.isAway === true;
  return { hasWork, waiting: (body.waitingCount ?? 0) + entries.size };
}

/** How many rows are stored under the prefix; 0 for fewer than wait. */
function rowsWritten({ writes, loads }: WriteSet, prefix: Uint8Array): number {
  let rows = 0;
  for (const load of loads) {
    for (const run of load.runs) if (beginsWith(run.prefix, prefix)) rows += run.size;
  }
  if (writes.size < ROWS_MIN) return rows;
  for (const { key, value } of writes.values()) if (value !== null && beginsWith(key, prefix)) rows++;
  return rows;
}

function beginsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  if (key.length < prefix.length) return false;
  for (let i = prefix.length - 1; i >= 0; i--) if (key[i] !== prefix[i]) return false;
  return true;
}
