/**
 * Search among the slots whose bit is set in `allowedBits`.
 *
 * A loose filter is applied to the pool of a wider walk. Otherwise the walk is that of ACORN-1 (Patel et al. 2024,
 * section 5): only allowed slots are measured and kept. If a neighbour is not allowed, its own neighbours take its
 * place, so the walk goes on through nodes that do not match. If it ends before the pool is full, it starts again from
 * other allowed slots, a bounded number of times.
 */

import {
  allowedBits,
  batch,
  batchMax,
  chosen,
  efConstruction,
  linksMax0,
  linksOf,
  NONE,
  passBits,
  slots,
} from "./layout";
import { isFull, move, next, reset, size, slotAt, truncate } from "./pool";
import { isInGraph } from "./slots";
import { isSet } from "./twins";
import { isVisited, newMark, offerBatch, visit, walkLayer } from "./walk";

/** Slots that the unfiltered walk to the query's surroundings ends with. */
const SEEDS: i32 = 8;
const RESTARTS_MAX: i32 = 4;

function passes(slot: u32): bool {
  return isSet(passBits, slot);
}

/** Clears the bits of words from `words` on, and counts those set before. */
export function countAllowed(words: u32): u32 {
  const total = (slots() + 31) >> 5;
  let count: u32 = 0;
  for (let i: u32 = 0; i < min(words, total); i++) count += popcnt<u32>(load<u32>(allowedBits + ((<usize>i) << 2)));
  if (words < total) memory.fill(allowedBits + ((<usize>words) << 2), 0, (<usize>(total - words)) << 2);
  return count;
}

/** Fills the pool with allowed slots by a walk of `wide` (more than `ef`) that heeds no filter. */
export function walkWide(q: usize, wide: i32): void {
  walkLayer(q, wide, 0);
  let count = 0;
  for (let i = 0; i < size; i++) {
    if (!passes(slotAt(i))) continue;
    move(i, count);
    count++;
  }
  truncate(count);
}

export function walkAllowed(q: usize, ef: i32, allowedCount: u32): void {
  walkLayer(q, SEEDS, 0);
  const seeds = size;
  const list = chosen + ((<usize>linksMax0) << 2);
  for (let i = 0; i < seeds; i++) store<u32>(list + ((<usize>i) << 2), slotAt(i));
  reset(ef);
  newMark();
  for (let i = 0; i < seeds; i++) {
    const seed = load<u32>(list + ((<usize>i) << 2));
    let count = 0;
    if (passes(seed) && visit(seed)) {
      store<u32>(batch, seed);
      count = 1;
    }
    offerBatch(q, gatherAround(seed, count));
  }
  expandAllowed(q);
  for (let i = 0; i < RESTARTS_MAX && !isFull() && <u32>size < allowedCount; i++) {
    offerBatch(q, gatherElsewhere(<u32>i));
    expandAllowed(q);
  }
}

function expandAllowed(q: usize): void {
  for (let slot = next(); slot !== NONE; slot = next()) offerBatch(q, gatherAround(slot, 0));
}

/** Adds the allowed among the slot's neighbours, and among those of the others, to the `count` of the batch. */
function gatherAround(slot: u32, count: i32): i32 {
  const links = linksOf(slot, 0);
  const end = links + ((<usize>load<u32>(links)) << 2);
  let detours = 0;
  for (let at = links; at < end; at += 4) {
    const neighbour = load<u32>(at, 4);
    if (!visit(neighbour)) continue;
    if (passes(neighbour)) {
      store<u32>(batch + ((<usize>count) << 2), neighbour);
      count++;
    } else {
      store<u32>(chosen + ((<usize>detours) << 2), neighbour);
      detours++;
    }
  }
  for (let i = 0; i < detours && count < <i32>batchMax; i++) {
    const around = linksOf(load<u32>(chosen + ((<usize>i) << 2)), 0);
    const aroundEnd = around + ((<usize>load<u32>(around)) << 2);
    for (let at = around; at < aroundEnd && count < <i32>batchMax; at += 4) {
      const neighbour = load<u32>(at, 4);
      if (!passes(neighbour) || !visit(neighbour)) continue;
      store<u32>(batch + ((<usize>count) << 2), neighbour);
      count++;
    }
  }
  return count;
}

/** Allowed slots that were not visited yet, from other places of the bits each time. */
function gatherElsewhere(round: u32): i32 {
  const words = (slots() + 31) >> 5;
  const start = <u32>((<u64>words * (round * 2 + 1)) / (<u32>RESTARTS_MAX * 2));
  const step = max(1, words / efConstruction);
  const most = min(16, <i32>batchMax);
  let count = 0;
  // Two passes: at wide steps, then at every word.
  for (let pass = 0; pass < 2 && count < most; pass++) {
    const stride = pass === 0 ? step : 1;
    for (let i: u32 = 0; i < words && count < most; i += stride) {
      const word = (start + i) % words;
      const bits = load<u32>(passBits + ((<usize>word) << 2));
      if (bits === 0) continue;
      const slot = (word << 5) + ctz<u32>(bits);
      if (slot >= slots() || isVisited(slot) || !isInGraph(slot)) continue;
      visit(slot);
      store<u32>(batch + ((<usize>count) << 2), slot);
      count++;
    }
  }
  return count;
}
