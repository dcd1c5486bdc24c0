/** The walk through one layer of the graph (SEARCH-LAYER, Malkov & Yashunin 2016, Algorithm 2). */

import { measure } from "./distance";
import { batch, distances, levelOf, linksOf, NEVER, NONE, slots, visited } from "./layout";
import { next, offer, reset, slotAt } from "./pool";

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
  for (let slot: u32 = 0; slot < slots; slot++) {
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

/** Fills the pool with the `ef` nearest of the layer that a walk from `entry` finds. */
export function walkLayer(q: usize, entry: u32, ef: i32, level: i32): void {
  reset(ef);
  newMark();
  visit(entry);
  store<u32>(batch, entry);
  offerBatch(q, 1);
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

/** The nearest slot of the layer that a greedy walk finds. */
export function nearestOf(q: usize, entry: u32, level: i32): u32 {
  walkLayer(q, entry, 1, level);
  return slotAt(0);
}
