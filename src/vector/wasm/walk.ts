/** The walk through one layer of the graph (SEARCH-LAYER, Malkov & Yashunin 2016, Algorithm 2). */

import { measure } from "./distance";
import { batch, distances, entry, linksOf, NEVER, NONE, visited } from "./layout";
import { next, offer, reset, restart, size, slotAt } from "./pool";
import { levelOf } from "./slots";
import { markedSlots } from "./threads";

/** Starting points that the walk of a layer gets from the layer above. */
const STARTS: i32 = 8;

/** The mark of this walk in `visited`; older marks are smaller, free slots have NEVER. */
let mark: u8 = 0;

/** Starts a walk: nothing is visited. */
export function newMark(): void {
  mark++;
  if (mark === NEVER) {
    clearMarks();
    mark = 1;
  }
}

/** Forgets all marks but those of free slots. */
export function clearMarks(): void {
  mark = 0;
  const count = markedSlots();
  for (let slot: u32 = 0; slot < count; slot++) {
    if (load<u8>(visited + slot) !== NEVER) store<u8>(visited + slot, 0);
  }
}

/** True the first time in a walk, never for a free slot. */
export function visit(slot: u32): bool {
  const at = visited + slot;
  if (load<u8>(at) >= mark) return false;
  store<u8>(at, mark);
  return true;
}

export function isVisited(slot: u32): bool {
  return load<u8>(visited + slot) >= mark;
}

/** Offers `count` slots of the batch to the pool. */
export function offerBatch(q: usize, count: i32): void {
  measure(q, batch, count, distances);
  for (let i = 0; i < count; i++) {
    const at = (<usize>i) << 2;
    offer(load<u32>(batch + at), load<f32>(distances + at));
  }
}

/**
 * Goes down from the entry, greedily; leaves in the pool where to start in the layer. Of the layer above it those are a
 * few: with one, a group of near vectors is lost once removals have cut it off from others in the layers below.
 */
export function enter(q: usize, level: i32): void {
  reset(1);
  newMark();
  const start = entry();
  store<u32>(batch, <u32>start);
  offerBatch(q, 1);
  for (let layer = <i32>(start >> 32); layer > level; layer--) walkLayer(q, layer === level + 1 ? STARTS : 1, layer);
}

/** Fills the pool with the `ef` nearest of the layer that a walk from what the pool holds finds. */
export function walkLayer(q: usize, ef: i32, level: i32): void {
  restart(ef);
  newMark();
  for (let i = 0; i < size; i++) visit(slotAt(i));
  expandAll(q, level);
}

/** Goes on until every entry of the pool is expanded. */
export function expandAll(q: usize, level: i32): void {
  for (let slot = next(); slot !== NONE; slot = next()) {
    const links = linksOf(slot, level);
    const end = links + ((<usize>load<u32>(links)) << 2);
    let count = 0;
    for (let at = links; at < end; at += 4) {
      const neighbour = load<u32>(at, 4);
      if (!visit(neighbour)) continue;
      // A link may be older than the slot's present vector, which need not be in this layer.
      if (level > 0 && levelOf(neighbour) < level) continue;
      store<u32>(batch + ((<usize>count) << 2), neighbour);
      count++;
    }
    offerBatch(q, count);
  }
}
