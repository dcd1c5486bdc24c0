/**
 * Large commits: how the operations of one go into the log ahead of it (transaction.ts), and how the engine takes them
 * afterwards (shard.ts). A commit's operations are in several maps, none of which is ever copied.
 */
import type { CheckedTurns } from "../protocol/turns.js";
import type { CommitLog, PartPlace } from "./commit-log.js";
import type { LargeCommitSizes } from "./large-commit-sizes.js";
import type { LargeSource } from "./large-source.js";
import { type CommitParts, type Operation, sizeOf } from "./operation.js";
import { keyText } from "./ordered-map.js";
import { bytesOfPart, type OperationPart } from "./packed-operations.js";
import type { WriteSet } from "./write-set.js";

/** Bytes of parts that are worth a sync. */
const SYNC_BYTES = 1024 * 1024;
/**
 * Bytes that may wait for one: a sync of so many takes twice as long as one of none, and holds up everybody's next one
 * so long.
 */
const UNSYNCED_BYTES_MAX = 8 * 1024 * 1024;

/** Operations, so many of them and of their bytes at a time. */
export function* partsOf(
  writes: Iterable<Operation>,
  { stepOperations, stepBytes }: LargeCommitSizes,
): IterableIterator<readonly Operation[]> {
  let part: Operation[] = [];
  let bytes = 0;
  for (const write of writes) {
    part.push(write);
    bytes += sizeOf(write);
    if (part.length < stepOperations && bytes < stepBytes) continue;
    yield part;
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield part;
}

/**
 * Writes operations into the log as parts of a future commit, giving the loop its turns; `checkOpen` throws if the
 * transaction has been ended. `written`: told where each part is.
 */
export async function writeParts(
  log: CommitLog,
  parts: CommitParts,
  writes: Iterable<OperationPart>,
  turns: CheckedTurns,
  checkOpen: () => void,
  written: (part: OperationPart, place: PartPlace | null) => void = () => undefined,
): Promise<void> {
  let unsynced = 0;
  let syncing: Promise<void> | null = null;
  let isSynced = false;
  for (const part of writes) {
    written(part, log.appendPart(parts, part));
    unsynced += bytesOfPart(part);
    // Bit by bit, or the commit's own sync would hold up everybody's; some is written while the last one is synced.
    if (unsynced >= UNSYNCED_BYTES_MAX) await syncing;
    if (unsynced >= SYNC_BYTES && (syncing === null || isSynced)) {
      isSynced = false;
      syncing = log.sync().finally(() => {
        isSynced = true;
      });
      // Who waits for it hears of a failure, if anybody still does.
      syncing.catch(() => undefined);
      unsynced = 0;
    }
    turns.checkpoint();
    if (turns.shouldYield()) await turns.yieldTurn();
    checkOpen();
  }
}

/** The same of all that a transaction has written and is not among the parts. What comes later in the log counts. */
export async function writeAhead(
  log: CommitLog,
  parts: CommitParts,
  writes: Pick<WriteSet, "loads" | "orderingWrites">,
  sizes: LargeCommitSizes,
  turns: CheckedTurns,
  checkOpen: () => void,
): Promise<void> {
  for (const load of writes.loads) {
    const left = load.parts(sizes.stepOperations, sizes.stepBytes, parts);
    await writeParts(log, parts, left, turns, checkOpen);
  }
  await writeParts(log, parts, partsOf(writes.orderingWrites(), sizes), turns, checkOpen);
}

/** All of a large commit's operations, a step at a time; of several on one key, the last one counts. */
export function* stepsOf(sources: readonly LargeSource[], sizes: LargeCommitSizes): IterableIterator<OperationPart> {
  for (const { writes } of [...sources].reverse()) {
    yield* writes.parts?.(sizes.stepOperations, sizes.stepBytes) ?? partsOf(writes.values(), sizes);
  }
}

/** The same, but of each key only the one that counts. Of loads, only runs whose prefix is wanted. */
export function* mergedOperationsOf(
  sources: readonly LargeSource[],
  wants: (prefix: Uint8Array) => boolean,
): IterableIterator<Operation> {
  for (const [i, { writes }] of sources.entries()) {
    if (i === 0) yield* writes.values();
    else {
      for (const operation of writes.operations?.(wants) ?? writes.values()) {
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
