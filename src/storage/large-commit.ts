/**
 * Large commits: from what size a commit is large, how its operations go into the log ahead of it (transaction.ts),
 * and how the engine takes them afterwards (shard.ts). A commit's operations are in several maps, none of which is
 * ever copied.
 */
import type { CheckedTurns } from "../protocol/turns.js";
import type { CommitLog, CommitParts } from "./commit-log.js";
import { type Operation, sizeOf } from "./operation.js";
import { keyText } from "./ordered-map.js";
import type { LargeSource } from "./versions.js";

/** Sizes that tests make small. */
export interface LargeCommitSizes {
  /** Writes, or bytes of them, from which on a commit is large. */
  readonly operations: number;
  readonly bytes: number;
  /** What goes into the log, and later into the engine, at a time. */
  readonly stepOperations: number;
  readonly stepBytes: number;
}

export const LARGE_COMMIT_SIZES: LargeCommitSizes = {
  operations: 1024,
  bytes: 1024 * 1024,
  stepOperations: 256,
  stepBytes: 128 * 1024,
};

/** Bytes of parts between two syncs. */
const SYNC_BYTES = 1024 * 1024;

/**
 * Writes operations into the log as parts of a future commit, giving the loop its turns; `checkOpen` throws if the
 * transaction has been ended.
 */
export async function writeParts(
  log: CommitLog,
  parts: CommitParts,
  sizes: LargeCommitSizes,
  writes: Iterable<Operation>,
  turns: CheckedTurns,
  checkOpen: () => void,
): Promise<void> {
  let part: Operation[] = [];
  let bytes = 0;
  let unsynced = 0;
  for (const write of writes) {
    part.push(write);
    bytes += sizeOf(write);
    if (part.length < sizes.stepOperations && bytes < sizes.stepBytes) continue;
    log.appendPart(parts, part);
    unsynced += bytes;
    part = [];
    bytes = 0;
    if (unsynced >= SYNC_BYTES) {
      // Bit by bit, or the commit's own sync would hold up everybody's.
      await log.sync();
      unsynced = 0;
    }
    turns.checkpoint();
    if (turns.shouldYield()) await turns.yieldTurn();
    checkOpen();
  }
  log.appendPart(parts, part);
}

/** All of a large commit's operations; of several on one key, the last one counts. */
export function* operationsOf(sources: readonly LargeSource[]): IterableIterator<Operation> {
  for (const { writes } of [...sources].reverse()) yield* writes.operations?.() ?? writes.values();
}

/** The same, but of each key only the one that counts. */
export function* mergedOperationsOf(sources: readonly LargeSource[]): IterableIterator<Operation> {
  for (const [i, { writes }] of sources.entries()) {
    if (i === 0) yield* writes.values();
    else {
      for (const operation of writes.operations?.() ?? writes.values()) {
        const text = keyText(operation.key);
        if (!sources.slice(0, i).some((earlier) => earlier.writes.has(text))) yield operation;
      }
    }
  }
}

export function* textOperationsOf(
  sources: readonly LargeSource[],
): IterableIterator<Operation & { readonly text: string }> {
  for (const { writes } of [...sources].reverse()) yield* writes.values();
}
