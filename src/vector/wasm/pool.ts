/**
 * The nearest slots that a walk has met, sorted: what the paper keeps in two heaps, the candidates C and the results W
 * (Malkov & Yashunin 2016, Algorithm 2), is one list of at most `limit` here. A candidate further than all of a full W
 * is never expanded, so C needs nothing that W does not hold; a bit tells what was expanded already.
 */

import { pool } from "./layout";

/** Set in the slot's word once the entry has been expanded. */
const EXPANDED: u32 = 0x80000000;

export let size: i32 = 0;
let limit: i32 = 0;
/** All entries before it are expanded. */
let cursor: i32 = 0;
/** Distance of the last entry of a full list. */
let worst: f32 = Infinity;

export function reset(most: i32): void {
  size = 0;
  limit = most;
  cursor = 0;
  worst = Infinity;
}

/** Starts from the list's content, with another limit; all entries count as not expanded. */
export function restart(most: i32): void {
  limit = most;
  size = min(size, most);
  for (let i = 0; i < size; i++) store<u32>(pool + ((<usize>i) << 3), slotAt(i), 4);
  cursor = 0;
  worst = size === limit ? distanceAt(size - 1) : Infinity;
}

export function distanceAt(index: i32): f32 {
  return load<f32>(pool + ((<usize>index) << 3));
}

export function slotAt(index: i32): u32 {
  return load<u32>(pool + ((<usize>index) << 3), 4) & ~EXPANDED;
}

export function isFull(): bool {
  return size === limit;
}

export function offer(slot: u32, distance: f32): void {
  if (size === limit && !(distance < worst)) return;
  // Overflowed sums may be NaN; they come last.
  const d: f32 = isNaN(distance) ? f32.MAX_VALUE : distance;
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (distanceAt(middle) <= d) low = middle + 1;
    else high = middle;
  }
  if (size < limit) size++;
  const at = pool + ((<usize>low) << 3);
  // From the end, two entries at a time; the room behind the list takes what a full one pushes out.
  let to = pool + ((<usize>(size - 1)) << 3);
  while (to >= at + 16) {
    v128.store(to - 8, v128.load(to - 16));
    to -= 16;
  }
  if (to > at) store<u64>(to, load<u64>(to - 8));
  store<f32>(at, d);
  store<u32>(at, slot, 4);
  if (low < cursor) cursor = low;
  if (size === limit) worst = distanceAt(size - 1);
}

/** The nearest slot not yet expanded, marked as expanded; NONE (all bits) when there is none. */
export function next(): u32 {
  while (cursor < size) {
    const at = pool + ((<usize>cursor) << 3);
    const word = load<u32>(at, 4);
    cursor++;
    if ((word & EXPANDED) === 0) {
      store<u32>(at, word | EXPANDED, 4);
      return word;
    }
  }
  return 0xffffffff;
}

/** Keeps the first `count` entries only. */
export function truncate(count: i32): void {
  size = count;
  cursor = count;
  worst = Infinity;
}

/** Writes the entry `from` to `to`. */
export function move(from: i32, to: i32): void {
  store<u64>(pool + ((<usize>to) << 3), load<u64>(pool + ((<usize>from) << 3)));
}

/** Gives the entry another distance and its place among those before it, equal ones by slot. */
export function rescore(index: i32, distance: f32): void {
  const slot = slotAt(index);
  const d: f32 = isNaN(distance) ? f32.MAX_VALUE : distance;
  let at = pool + ((<usize>index) << 3);
  while (at > pool && (load<f32>(at - 8) > d || (load<f32>(at - 8) === d && load<u32>(at - 8, 4) > slot))) {
    store<u64>(at, load<u64>(at - 8));
    at -= 8;
  }
  store<f32>(at, d);
  store<u32>(at, slot, 4);
}
