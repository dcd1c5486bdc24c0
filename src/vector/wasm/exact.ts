/**
 * Search by measuring every vector: exactly, which needs the originals in this memory, by codes, as the walk does, or
 * by the least distance that a code of int8 allows.
 */

import { errorMax, exactDistance, measure } from "./distance";
import { allowedBits, batch, batchMax, distances, input, isWhole, originalOf, query } from "./layout";
import { distanceAt, offer, rescore, size, slotAt } from "./pool";
import { isFindable } from "./slots";
import { isSet } from "./twins";
import { offerBatch } from "./walk";

// How slots are measured (graph-module.ts).
export const EXACTLY: i32 = 0;
export const BY_CODE: i32 = 1;
export const AT_LEAST: i32 = 2;

/** Offers the `count` linked slots of the batch to the pool. */
export function offerSlots(count: i32, how: i32): void {
  if (how === BY_CODE || isWhole()) {
    offerBatch(query, count);
    return;
  }
  if (how === AT_LEAST) {
    measure(query, batch, count, distances);
    for (let i = 0; i < count; i++) {
      const slot = load<u32>(batch + ((<usize>i) << 2));
      offer(slot, load<f32>(distances + ((<usize>i) << 2)) - errorMax(slot));
    }
    return;
  }
  for (let i = 0; i < count; i++) {
    const slot = load<u32>(batch + ((<usize>i) << 2));
    offer(slot, exactDistance(input, originalOf(slot)));
  }
}

/** Offers the (allowed) slots from `from` up to `to` to the pool. */
export function scan(from: u32, to: u32, filtered: bool, how: i32): void {
  let count = 0;
  for (let slot = from; slot < to; slot++) {
    if (filtered) {
      // Nothing in this word of the filter.
      if ((slot & 31) === 0 && load<u32>(allowedBits + ((<usize>slot >> 5) << 2)) === 0) {
        slot += 31;
        continue;
      }
      if (!isSet(allowedBits, slot)) continue;
    }
    if (!isFindable(slot)) continue;
    store<u32>(batch + ((<usize>count) << 2), slot);
    count++;
    if (<u32>count === batchMax) {
      offerSlots(count, how);
      count = 0;
    }
  }
  offerSlots(count, how);
}

/** Sorts the pool by exact distances in the place of the quantised ones, and equal ones by slot. */
export function rerank(): void {
  for (let i = 0; i < size; i++) {
    rescore(i, isWhole() ? distanceAt(i) : exactDistance(input, originalOf(slotAt(i))));
  }
}
