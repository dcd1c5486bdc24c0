/**
 * Vectors with the same code. Only the first is a node; the others are its twins, in a ring with it. Thousands of equal
 * vectors would otherwise be each other's only neighbours, and a walk that came among them would not find out again. A
 * node whose vector is removed stays as a ghost, a step on the way, until its last twin has gone.
 */

import { DOT, JACCARD } from "./distance";
import {
  addTwins,
  allowedBits,
  codeOf,
  codeStride,
  isShared,
  metric,
  NONE,
  passBits,
  pool,
  poolMax,
  slots,
  twinBits,
  twinCount,
} from "./layout";
import { isFull, offer, reset, size, slotAt } from "./pool";
import {
  isFindable,
  isInGraph,
  joinTwins,
  lock,
  nextTwinOf,
  previousTwinOf,
  representativeOf,
  seenState,
  setRepresentativeOf,
  stateOf,
  TWIN,
  unlock,
} from "./slots";

/** Members of rings that one search looks at. */
const MEMBERS_MAX: u32 = 32768;

/** A node of the pool with the slot's code; NONE when there is none. */
export function equalInPool(slot: u32): u32 {
  // An equal vector is the nearest, but not by inner product, nor where no bit is set.
  const most = metric === DOT || metric === JACCARD ? size : min(size, 4);
  for (let i = 0; i < most; i++) {
    const node = slotAt(i);
    if (node === slot || !isInGraph(node)) continue;
    if (memory.compare(codeOf(node), codeOf(slot), codeStride) === 0) return node;
  }
  return NONE;
}

export function addTwin(slot: u32, node: u32): void {
  setRepresentativeOf(slot, node);
  lock(node);
  joinTwins(slot, nextTwinOf(node));
  joinTwins(node, slot);
  unlock(node);
  if (!isShared()) flip(slot);
  addTwins(1);
}

/** Takes the twin out of its ring; returns its representative. */
export function removeTwin(slot: u32): u32 {
  joinTwins(previousTwinOf(slot), nextTwinOf(slot));
  flip(slot);
  addTwins(-1);
  return representativeOf(slot);
}

export function hasTwins(node: u32): bool {
  return nextTwinOf(node) !== node;
}

function flip(slot: u32): void {
  const at = twinBits + ((<usize>slot >> 5) << 2);
  store<u32>(at, load<u32>(at) ^ ((<u32>1) << (slot & 31)));
}

/** Computes `passBits` of `allowedBits`. */
export function passRepresentatives(): void {
  const bytes: usize = ((<usize>slots() + 31) >> 5) << 2;
  memory.copy(passBits, allowedBits, bytes);
  if (twinCount() === 0) return;
  const shared = isShared();
  for (let at: usize = 0; at < bytes; at += 4) {
    let bits = load<u32>(allowedBits + at);
    if (!shared) bits &= load<u32>(twinBits + at);
    for (; bits !== 0; bits &= bits - 1) {
      const slot = ((<u32>at) << 3) + ctz<u32>(bits);
      // The bits of twins are the owner's: those that other threads have made are not in them yet.
      if (shared && seenState(slot) !== TWIN) continue;
      const node = representativeOf(slot);
      if (node >= slots()) continue;
      const word = passBits + ((<usize>node >> 5) << 2);
      store<u32>(word, load<u32>(word) | ((<u32>1) << (node & 31)));
    }
  }
}

/** Puts the (allowed) members of their rings in the place of the pool's nodes. */
export function spreadTwins(ef: i32, filtered: bool): void {
  if (twinCount() === 0) return;
  const nodes = size;
  const copy = pool + ((<usize>poolMax) << 3);
  memory.copy(copy, pool, (<usize>nodes) << 3);
  reset(ef);
  let looked: u32 = 0;
  for (let i = 0; i < nodes && !isFull(); i++) {
    const at = copy + ((<usize>i) << 3);
    const d = load<f32>(at);
    const node = load<u32>(at, 4) & 0x7fffffff;
    let member = node;
    do {
      if (isFindable(member) && (!filtered || isSet(allowedBits, member))) offer(member, d);
      member = nextTwinOf(member);
      looked++;
    } while (member !== node && !isFull() && looked < MEMBERS_MAX);
  }
}

/** Sets the bits of twins from what the slots are; after other threads have linked. */
export function markTwins(from: u32, to: u32): void {
  for (let slot = from; slot < to; slot++) {
    const at = twinBits + ((<usize>slot >> 5) << 2);
    const bit = (<u32>1) << (slot & 31);
    const word = load<u32>(at);
    store<u32>(at, stateOf(slot) === TWIN ? word | bit : word & ~bit);
  }
}

export function isSet(bits: usize, slot: u32): bool {
  return ((load<u32>(bits + ((<usize>slot >> 5) << 2)) >> (slot & 31)) & 1) !== 0;
}
