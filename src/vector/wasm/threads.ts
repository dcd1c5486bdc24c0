/** Instances of the module in other threads, which link: what they share with the owner, and their scratch. */

import {
  IMAGE,
  LINKING,
  loadState,
  NEVER,
  NONE,
  SHARED,
  STOP,
  scratchBytes,
  slots,
  storeState,
  take,
  useScratch,
  visited,
} from "./layout";
import { FREE, stateOf } from "./slots";

// Of the threads that link. Places of threads follow, where each has its scratch: an address and a length.
const NEXT: usize = IMAGE + 116;
const LIMIT: usize = IMAGE + 120;
const PLACES: usize = IMAGE + 256;
/** Slots of which this instance has marks; 0: all (the owner's). */
let marked: u32 = 0;

export function markedSlots(): u32 {
  return marked === 0 ? slots() : marked;
}

/** Slots from `from` on that wait are to be linked by others. */
export function share(from: u32): void {
  storeState();
  atomic.store<u32>(STOP, 0);
  atomic.store<u32>(NEXT, from);
  atomic.store<u32>(LIMIT, slots());
  atomic.store<u32>(SHARED, LINKING);
}

export function stopSharing(): void {
  atomic.store<u32>(STOP, 1);
}

/** The next slot that may wait; NONE when there is none. */
export function nextShared(): u32 {
  if (atomic.load<u32>(STOP) !== 0) return NONE;
  const slot = atomic.add<u32>(NEXT, 1);
  return slot < marked ? slot : NONE;
}

/**
 * Gives this instance, that of a thread, its scratch: what a thread of the same number had, or new. 0: there is no
 * room.
 */
export function takePlace(thread: u32): bool {
  loadState();
  marked = atomic.load<u32>(LIMIT);
  const bytes = scratchBytes();
  const place = PLACES + ((<usize>thread) << 3);
  let at = <usize>load<u32>(place);
  if (<usize>load<u32>(place, 4) < bytes) {
    at = take(bytes);
    if (at === 0) return false;
    store<u32>(place, <u32>at);
    store<u32>(place, <u32>bytes, 4);
  }
  useScratch(at);
  for (let slot: u32 = 0; slot < marked; slot++) store<u8>(visited + slot, stateOf(slot) === FREE ? NEVER : 0);
  return true;
}
