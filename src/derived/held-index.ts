/** An index among those of a partition (derived-indexes.ts), and what is asked of it there. */
import type { Turns } from "../protocol/turns.js";
import type { DerivedIndex } from "./derived-index.js";
import type { IndexBody, IndexKind } from "./index-body.js";

/** Newer entries from which on an index is behind: a search puts so many in within some twenty turns. */
const BEHIND_ENTRIES = 2000;

export interface HeldIndex {
  readonly index: DerivedIndex;
  /** It is ready, or was dropped. */
  readonly opened: Promise<void>;
  readonly open: () => void;
  /** Counted in the memory. */
  bytes: number;
  lastUse: number;
  /** Work in the background goes on. */
  working: Promise<void> | null;
  /** Other threads work on it. */
  away: Promise<void> | null;
  /** They have ended. */
  isBack: boolean;
  /** All work is done here: elsewhere it failed. */
  staysHere: boolean;
  /** Tells the work of newer entries that can be put in; it does something only while the index is saved. */
  wake: () => void;
}

/** Waits for a save, and puts what arrives meanwhile into the body: whoever waits until it is there may wait for us. */
export async function foldWhileSaved(held: HeldIndex, saving: Promise<void>, turns: Turns): Promise<void> {
  const { index } = held;
  let isOver = false;
  const over = saving.finally(() => {
    isOver = true;
    held.wake();
  });
  // Turns may end before; then nobody waits for it yet.
  over.catch(() => undefined);
  try {
    while (!isOver) {
      await new Promise<void>((resolve) => {
        held.wake = resolve;
      });
      while (!isOver && index.canFold) {
        index.fold(turns.shouldYield);
        await turns.yieldTurn();
      }
    }
  } finally {
    held.wake = sleeps;
    await over;
  }
}

function sleeps(): void {}

export function isOfKind<Item, Body extends IndexBody<Item>>(
  index: DerivedIndex,
  kind: IndexKind<Item, Body>,
): index is DerivedIndex<Item, Body> {
  return index.kind.definition === kind.definition && kind.isBody(index.body);
}

/** An index that was just made, and that nobody works on. */
export function heldFrom(index: DerivedIndex, lastUse: number): HeldIndex {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    ...{ index, opened, open, lastUse },
    bytes: 0,
    working: null,
    away: null,
    isBack: false,
    staysHere: false,
    wake: sleeps,
  };
}

/** There is work for it although nobody does any. */
export function hasMore({ index, away, isBack }: HeldIndex): boolean {
  if (index.state !== "ready") return false;
  return index.entries.size > 0 || isBack || (away === null && index.body.hasWork);
}

/** It takes newer entries as fast as the engine does, and many wait. Other indexes would hold the engine up. */
export function isBehind({ index }: HeldIndex): boolean {
  if (index.state !== "ready" || index.body.longWork === undefined) return false;
  return index.canFold && index.entries.size > BEHIND_ENTRIES;
}

export function usedLongestAgo(all: readonly HeldIndex[]): HeldIndex | null {
  let oldest: HeldIndex | null = null;
  for (const held of all) if (oldest === null || held.lastUse < oldest.lastUse) oldest = held;
  return oldest;
}

/** The same turns. Before each, `before` runs; `check`, which may throw, runs before and after it. */
export function turnsWith(turns: Turns, before: () => void, check: () => void): Turns {
  return {
    shouldYield: () => turns.shouldYield(),
    yieldTurn: async () => {
      before();
      check();
      await turns.yieldTurn();
      check();
    },
  };
}

export const tableName = (tenantNumber: number, storageId: number): string => `${tenantNumber}/${storageId}`;

/** Changes before an index is saved while the server runs: so many, and so large a part of it. */
const UNSAVED_MIN = 10_000;
const UNSAVED_SHARE = 0.2;

export function isWorthSaving({ index: { unsaved, count } }: HeldIndex): boolean {
  return unsaved >= UNSAVED_MIN && unsaved >= UNSAVED_SHARE * count;
}
