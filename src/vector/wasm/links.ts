/**
 * The links of nodes: how they are chosen (SELECT-NEIGHBORS-HEURISTIC, Malkov & Yashunin 2016, Algorithm 4) and how
 * they change. In layer 0 each slot knows how many nodes link to it, and a node never drops the last link to another
 * one, because a node without links to it would not be found again.
 */

import { measureFrom } from "./distance";
import { batch, chosen, chosenDistances, distances, linksMax0, linksOf, m, pairs } from "./layout";
import { distanceAt, size, slotAt } from "./pool";
import { countLink, inDegreeOf, isInGraph, levelOf, lock, uncountLink, unlock } from "./slots";

export function linksMax(level: i32): u32 {
  return level === 0 ? linksMax0 : m;
}

/** True when `to` is (still) a node of the layer. */
function isNode(to: u32, level: i32): bool {
  return isInGraph(to) && levelOf(to) >= level;
}

export function hasLink(from: u32, to: u32, level: i32): bool {
  const links = linksOf(from, level);
  const end = links + ((<usize>load<u32>(links)) << 2);
  for (let at = links; at < end; at += 4) if (load<u32>(at, 4) === to) return true;
  return false;
}

function append(from: u32, to: u32, level: i32): void {
  const links = linksOf(from, level);
  const count = load<u32>(links);
  store<u32>(links + ((<usize>count) << 2), to, 4);
  // Walks of other threads read the list meanwhile: the slot first.
  atomic.store<u32>(links, count + 1);
  if (level === 0) countLink(to);
}

export function dropLink(from: u32, to: u32, level: i32): void {
  const links = linksOf(from, level);
  const count = load<u32>(links);
  for (let i: u32 = 0; i < count; i++) {
    const at = links + ((<usize>i) << 2);
    if (load<u32>(at, 4) !== to) continue;
    store<u32>(at, load<u32>(links + ((<usize>(count - 1)) << 2), 4), 4);
    store<u32>(links, count - 1);
    if (level === 0) uncountLink(to);
    return;
  }
}

/** Takes all links of the node away. */
export function clearLinks(from: u32, level: i32): void {
  const links = linksOf(from, level);
  const count = load<u32>(links);
  store<u32>(links, 0);
  if (level > 0) return;
  for (let i: u32 = 0; i < count; i++) uncountLink(load<u32>(links + ((<usize>i) << 2), 4));
}

/** Drops links to what has left the layer. */
export function purge(from: u32, level: i32): void {
  const links = linksOf(from, level);
  const count = load<u32>(links);
  let kept: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const to = load<u32>(links + ((<usize>i) << 2), 4);
    if (isNode(to, level)) {
      store<u32>(links + ((<usize>kept) << 2), to, 4);
      kept++;
    } else if (level === 0) uncountLink(to);
  }
  store<u32>(links, kept);
}

/** True when one of the first `count` slots of `list` is nearer to `slot` than `distance`, or as near. */
function isCovered(slot: u32, distance: f32, list: usize, count: i32): bool {
  for (let i = 0; i < count; i += 4) {
    const group = min(4, count - i);
    measureFrom(slot, list + ((<usize>i) << 2), group, chosenDistances);
    for (let j = 0; j < group; j++) if (load<f32>(chosenDistances + ((<usize>j) << 2)) <= distance) return true;
  }
  return false;
}

/** Links a new node to those of the pool, at most `most`, that no nearer chosen one covers. */
export function linkToPool(slot: u32, level: i32, most: i32): void {
  let count = 0;
  for (let i = 0; i < size && count < most; i++) {
    const candidate = slotAt(i);
    if (candidate === slot || isCovered(candidate, distanceAt(i), chosen, count)) continue;
    store<u32>(chosen + ((<usize>count) << 2), candidate);
    count++;
  }
  lock(slot);
  const links = linksOf(slot, level);
  for (let i = 0; i < count && load<u32>(links) < <u32>linksMax(level); i++) {
    const to = load<u32>(chosen + ((<usize>i) << 2));
    // Other threads, which have met the slot in a layer above, may have linked it.
    if (!hasLink(slot, to, level)) append(slot, to, level);
  }
  unlock(slot);
}

/** Sorts the batch by distance into `pairs`. */
function sortBatch(count: i32): void {
  for (let i = 0; i < count; i++) {
    const d = load<f32>(distances + ((<usize>i) << 2));
    let at = pairs + ((<usize>i) << 3);
    while (at > pairs && load<f32>(at - 8) > d) {
      store<u64>(at, load<u64>(at - 8));
      at -= 8;
    }
    store<f32>(at, d);
    store<u32>(at, load<u32>(batch + ((<usize>i) << 2)), 4);
  }
}

/** Adds a link. If there is no room, all links are chosen again. */
export function connect(from: u32, to: u32, level: i32): void {
  lock(from);
  connectLocked(from, to, level);
  unlock(from);
}

function connectLocked(from: u32, to: u32, level: i32): void {
  if (from === to || hasLink(from, to, level)) return;
  const most = linksMax(level);
  const links = linksOf(from, level);
  if (load<u32>(links) >= most) purge(from, level);
  const count = load<u32>(links);
  if (count < most) {
    append(from, to, level);
    return;
  }
  memory.copy(batch, links + 4, (<usize>count) << 2);
  store<u32>(batch + ((<usize>count) << 2), to);
  measureFrom(from, batch, count + 1, distances);
  sortBatch(count + 1);
  rechoose(from, level, count + 1);
}

/** Chooses the node's links among the `count` of `pairs`, which are its present ones and a new one. */
function rechoose(from: u32, level: i32, count: i32): void {
  const most = <i32>linksMax(level);
  let kept = 0;
  // Those covered go to the front of `batch`.
  let covered = 0;
  for (let i = 0; i < count; i++) {
    const at = pairs + ((<usize>i) << 3);
    const slot = load<u32>(at, 4);
    if (kept === most || isCovered(slot, load<f32>(at), chosen, kept)) {
      store<u32>(batch + ((<usize>covered) << 2), slot);
      covered++;
    } else {
      store<u32>(chosen + ((<usize>kept) << 2), slot);
      kept++;
    }
  }
  if (level === 0) kept = keepLastLinks(from, covered, kept);
  const links = linksOf(from, level);
  for (let i = 0; i < kept; i++) if (level === 0) countLink(load<u32>(chosen + ((<usize>i) << 2)));
  const before = load<u32>(links);
  memory.copy(batch, links + 4, (<usize>before) << 2);
  // Word by word: walks of other threads read the list meanwhile.
  atomic.store<u32>(links, min(kept, before));
  for (let i = 0; i < kept; i++) {
    store<u32>(links + ((<usize>i) << 2), load<u32>(chosen + ((<usize>i) << 2)), 4);
  }
  atomic.store<u32>(links, kept);
  if (level === 0) for (let i: u32 = 0; i < before; i++) uncountLink(load<u32>(batch + ((<usize>i) << 2)));
}

/** Adds to the chosen those of the batch that would lose their last link; returns how many are chosen then. */
function keepLastLinks(from: u32, covered: i32, kept: i32): i32 {
  for (let i = 0; i < covered; i++) {
    const slot = load<u32>(batch + ((<usize>i) << 2));
    const others = inDegreeOf(slot) - (hasLink(from, slot, 0) ? 1 : 0);
    if (others > 0) continue;
    if (<u32>kept < linksMax0) {
      store<u32>(chosen + ((<usize>kept) << 2), slot);
      kept++;
      continue;
    }
    // The furthest that others link to makes room.
    for (let j = kept - 1; j >= 0; j--) {
      const at = chosen + ((<usize>j) << 2);
      if (inDegreeOf(load<u32>(at)) < 2) continue;
      store<u32>(at, slot);
      break;
    }
  }
  return kept;
}

/**
 * After a node has lost its link to `gone`: gives it the nearest of what `gone` linked to that its own links do not
 * cover (the delete of FreshDiskANN, Singh et al. 2021, section 4.2, with one replacement per node).
 */
export function replaceLink(from: u32, gone: u32, level: i32): void {
  dropLink(from, gone, level);
  purge(from, level);
  const goneLinks = linksOf(gone, level);
  const goneEnd = goneLinks + ((<usize>load<u32>(goneLinks)) << 2);
  let count = 0;
  for (let at = goneLinks; at < goneEnd; at += 4) {
    const candidate = load<u32>(at, 4);
    if (candidate === from || !isNode(candidate, level) || hasLink(from, candidate, level)) continue;
    store<u32>(batch + ((<usize>count) << 2), candidate);
    count++;
  }
  measureFrom(from, batch, count, distances);
  sortBatch(count);
  const links = linksOf(from, level);
  let own = load<u32>(links);
  if (own >= linksMax(level)) return;
  // The list is measured in groups that are filled up at its end, so it is not measured in place.
  memory.copy(chosen, links + 4, (<usize>own) << 2);
  for (let i = 0; i < count; i++) {
    const at = pairs + ((<usize>i) << 3);
    if (isCovered(load<u32>(at, 4), load<f32>(at), chosen, own)) continue;
    append(from, load<u32>(at, 4), level);
    store<u32>(chosen + ((<usize>own) << 2), load<u32>(at, 4));
    own++;
    if (own === linksMax(level)) return;
  }
  if (count > 0 && own < m >> 1) append(from, load<u32>(pairs, 4), level);
}
