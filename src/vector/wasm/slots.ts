/**
 * What is known of a slot beside its code and links: its state, its place among twins, how many link to it. Free slots.
 */

import { FREE_SLOT, freeUpper, hasFreeSlot, infoOf, isShared, LIVE, m, SLOTS, STOP, take } from "./layout";
// States of a slot.
export const FREE: u8 = 0;
export const LINKED: u8 = 1;
/** A vector without a direction under cosine: kept, never found. */
export const UNLINKED: u8 = 2;
/** While its links are taken away. */
export const LEAVING: u8 = 3;
/** Has the code of a node, its representative, and no links; see twins.ts. */
export const TWIN: u8 = 4;
/** A node whose vector was removed while it has twins. */
export const GHOST: u8 = 5;
/** Has no links yet: found by measuring, not by walks. */
export const WAITING: u8 = 6;

export const GONE: u8 = 1;
export const GONE_LATER: u8 = 2;

export function stateOf(slot: u32): u8 {
  return load<u8>(infoOf(slot), 8);
}

export function setStateOf(slot: u32, state: u8): void {
  store<u8>(infoOf(slot), state, 8);
}

/** What was stored before can be read by those who see the state by `seenState`. */
export function publishState(slot: u32, state: u8): void {
  atomic.store<u8>(infoOf(slot) + 8, state);
}

export function seenState(slot: u32): u8 {
  return atomic.load<u8>(infoOf(slot) + 8);
}

/** True for what the walk meets: a node of layer 0. */
export function isInGraph(slot: u32): bool {
  const state = stateOf(slot);
  return state === LINKED || state === GHOST;
}

/** True for what searches find. */
export function isFindable(slot: u32): bool {
  const state = stateOf(slot);
  return (state === LINKED || state === TWIN || state === WAITING) && !isGone(slot);
}

/** The next in the ring of a node and its twins. */
export function nextTwinOf(slot: u32): u32 {
  return load<u32>(infoOf(slot), 12);
}

export function previousTwinOf(slot: u32): u32 {
  return load<u32>(infoOf(slot), 16);
}

export function joinTwins(slot: u32, next: u32): void {
  store<u32>(infoOf(slot), next, 12);
  store<u32>(infoOf(next), slot, 16);
}

/** In a twin: the node with its code. */
export function representativeOf(slot: u32): u32 {
  return load<u32>(infoOf(slot));
}

export function setRepresentativeOf(slot: u32, node: u32): void {
  store<u32>(infoOf(slot), node);
}

/** Highest layer of the slot; -1 for one that is not in the graph. */
export function levelOf(slot: u32): i32 {
  return <i32>load<i8>(infoOf(slot), 9);
}

export function setLevelOf(slot: u32, level: i32): void {
  store<i8>(infoOf(slot), <i8>level, 9);
}

/** How many slots link to this one in layer 0. */
export function inDegreeOf(slot: u32): u32 {
  return load<u32>(infoOf(slot), 4);
}

export function countLink(to: u32): void {
  atomic.add<u32>(infoOf(to) + 4, 1);
}

/** A free slot waits for its last link to go before it is used again, so that links never lead to strangers. */
export function uncountLink(to: u32): void {
  const at = infoOf(to);
  const degree = atomic.sub<u32>(at + 4, 1) - 1;
  if (degree === 0 && load<u8>(at, 8) === FREE) pushFree(to);
}

/** Makes the slot the next to be used; its info holds the one after it. */
export function pushFree(slot: u32): void {
  for (;;) {
    const before = atomic.load<u32>(FREE_SLOT);
    store<u32>(infoOf(slot), before);
    if (atomic.cmpxchg<u32>(FREE_SLOT, before, slot) === before) return;
  }
}

/** A slot for one more vector: a free one, or the first never used, for which `ensureSlot` has made room. */
export function popSlot(): u32 {
  if (!hasFreeSlot()) return atomic.add<u32>(SLOTS, 1);
  const slot = load<u32>(FREE_SLOT);
  store<u32>(FREE_SLOT, load<u32>(infoOf(slot)));
  return slot;
}

/** Makes a slot that waits a node; false when it does not wait any more. */
export function claim(slot: u32): bool {
  return atomic.cmpxchg<u8>(infoOf(slot) + 8, WAITING, LINKED) === WAITING;
}

/** It is being linked: it counts as linked, and walks do not find it yet. */
export function isBusy(slot: u32): bool {
  return atomic.load<u8>(infoOf(slot) + 10) !== 0;
}

export function setBusy(slot: u32, busy: bool): void {
  atomic.store<u8>(infoOf(slot) + 10, busy ? 1 : 0);
}

/**
 * Tries to lock between two looks at STOP; and looks, all of which say stop, until the lock counts as left behind: a
 * second.
 */
const TRIES: u32 = 4096;
const LOOKS_MAX: u32 = 32768;

/**
 * Waits until no other thread changes the node's links or its ring. One at a time; nothing else is waited for
 * meanwhile. A thread that ended in the middle leaves its lock: then the owner has others stop, and they trap.
 */
export function lock(slot: u32): void {
  if (!isShared()) return;
  const at = infoOf(slot) + 11;
  let looks: u32 = 0;
  for (let round: u32 = 1; atomic.cmpxchg<u8>(at, 0, 1) !== 0; round++) {
    if (round % TRIES !== 0 || atomic.load<u32>(STOP) === 0) continue;
    looks++;
    if (looks > LOOKS_MAX) unreachable();
  }
}

export function unlock(slot: u32): void {
  atomic.store<u8>(infoOf(slot) + 11, 0);
}

/** It was removed while no links may change, and will be taken out later. */
export function isGone(slot: u32): bool {
  return goneOf(slot) !== 0;
}

export function goneOf(slot: u32): u8 {
  return load<u8>(infoOf(slot), 20);
}

/** 0, GONE, or GONE_LATER: since what is being saved was to be saved. */
export function setGone(slot: u32, gone: u8): void {
  store<u8>(infoOf(slot), gone, 20);
}

export function addLive(by: i32): void {
  store<u32>(LIVE, load<u32>(LIVE) + <u32>by);
}

/** Takes room for the links of layers 1 to `level`. */
export function takeUpper(slot: u32, level: i32): bool {
  let at: usize = 0;
  if (level > 0) {
    const list = freeUpper + ((<usize>level) << 2);
    at = isShared() ? 0 : <usize>load<u32>(list);
    if (at !== 0) store<u32>(list, load<u32>(at));
    else {
      at = take(<usize>level * <usize>(m + 1) * 4);
      if (at === 0) return false;
    }
    for (let layer = 0; layer < level; layer++) store<u32>(at + <usize>layer * <usize>(m + 1) * 4, 0);
  }
  store<u32>(infoOf(slot), <u32>at);
  return true;
}

export function releaseUpper(slot: u32): void {
  const level = levelOf(slot);
  if (level <= 0) return;
  const at = <usize>load<u32>(infoOf(slot));
  const list = freeUpper + ((<usize>level) << 2);
  for (;;) {
    const before = atomic.load<u32>(list);
    store<u32>(at, before);
    if (atomic.cmpxchg<u32>(list, before, <u32>at) === before) return;
  }
}
