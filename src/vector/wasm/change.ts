/**
 * Adding a slot to the graph (INSERT, Malkov & Yashunin 2016, Algorithm 1) and taking one out, with its links repaired.
 */

import { prepareStored } from "./distance";
import {
  efConstruction,
  entry,
  entryLevel,
  entrySlot,
  LEVEL_MAX,
  linksOf,
  m,
  NEVER,
  NONE,
  nextRandom,
  query,
  raiseEntry,
  setEntry,
  setSweepSlot,
  slots,
  sweepSlot,
  visited,
} from "./layout";
import { clearLinks, connect, hasLink, linkToPool, purge, replaceLink } from "./links";
import { size, slotAt } from "./pool";
import { FREE, inDegreeOf, isInGraph, LEAVING, levelOf, pushFree, releaseUpper, setLevelOf, setStateOf } from "./slots";
import { equalInPool } from "./twins";
import { enter, walkLayer } from "./walk";

/** Nodes that are looked at, per removal, for links to slots that were removed before. */
const SWEEP_SLOTS: u32 = 32;

/** A level with the probability of the paper's section 4.1, mL = 1/ln(m); the generator is splitmix64. */
export function randomLevel(): i32 {
  let z = nextRandom(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  z = z ^ (z >> 31);
  // (0, 1]: 53 bits, never zero.
  const uniform = (<f64>(z >> 11) + 1) / 9007199254740992.0;
  return min(LEVEL_MAX, <i32>Math.floor(-Math.log(uniform) / Math.log(<f64>m)));
}

/**
 * Links the slot, whose code is stored and prepared at `query`, into layers 0 to `level`; its links are empty. When the
 * graph has a node of the same code, it is returned and nothing is linked; else NONE.
 */
export function insert(slot: u32, level: i32): u32 {
  const start = entry();
  const highest = <i32>(start >> 32);
  if (<u32>start !== NONE) {
    if (level > 0) {
      enter(query, 0);
      walkLayer(query, min(8, efConstruction), 0);
      const equal = equalInPool(slot);
      if (equal !== NONE) return equal;
    }
    enter(query, level);
    for (let layer = min(level, highest); layer >= 0; layer--) {
      walkLayer(query, efConstruction, layer);
      if (level === 0) {
        const equal = equalInPool(slot);
        if (equal !== NONE) return equal;
      }
      linkToPool(slot, layer, m);
      const links = linksOf(slot, layer);
      // Other threads may add links meanwhile.
      const count = load<u32>(links);
      for (let i: u32 = 0; i < count; i++) connect(load<u32>(links + ((<usize>i) << 2), 4), slot, layer);
    }
  }
  raiseEntry(slot, level);
  return NONE;
}

/** Takes a linked slot out of the graph. */
export function extract(slot: u32): void {
  const level = levelOf(slot);
  prepareStored(slot, query);
  enter(query, level);
  setStateOf(slot, LEAVING);
  if (slot === entrySlot()) chooseEntry(slot, level);
  for (let layer = level; layer >= 0; layer--) {
    walkLayer(query, efConstruction, layer);
    for (let i = 0; i < size; i++) {
      const near = slotAt(i);
      if (near !== slot && hasLink(near, slot, layer)) replaceLink(near, slot, layer);
    }
    if (layer > 0) clearLinks(slot, layer);
  }
  const links = linksOf(slot, 0);
  const count = load<u32>(links);
  clearLinks(slot, 0);
  for (let i: u32 = 0; i < count; i++) {
    const to = load<u32>(links + ((<usize>i) << 2), 4);
    if (inDegreeOf(to) === 0 && isInGraph(to)) linkFromNeighbour(to, slot);
  }
  releaseUpper(slot);
  free(slot);
  sweep();
}

/** Looks for links to free slots in the next few nodes, so that all of them are found in time. */
function sweep(): void {
  for (let i: u32 = 0; i < min(SWEEP_SLOTS, slots()); i++) {
    setSweepSlot(sweepSlot() + 1 < slots() ? sweepSlot() + 1 : 0);
    if (isInGraph(sweepSlot())) purge(sweepSlot(), 0);
  }
}

/** Leaves the slot to another vector, once the links to it that were not found are gone. */
export function free(slot: u32): void {
  store<u8>(visited + slot, NEVER);
  setLevelOf(slot, -1);
  setStateOf(slot, FREE);
  if (inDegreeOf(slot) === 0) pushFree(slot);
}

/** Has a neighbour link to a node that nobody links to since the slot has gone. */
function linkFromNeighbour(to: u32, gone: u32): void {
  const links = linksOf(to, 0);
  const count = load<u32>(links);
  for (let i: u32 = 0; i < count; i++) {
    const near = load<u32>(links + ((<usize>i) << 2), 4);
    if (near !== gone && isInGraph(near)) {
      connect(near, to, 0);
      return;
    }
  }
  for (let i = 0; i < size; i++) {
    const near = slotAt(i);
    if (near !== gone && near !== to) {
      connect(near, to, 0);
      return;
    }
  }
}

/**
 * Has one of those that the node links to link to it: other threads, each for itself, may both have dropped a last
 * link.
 */
export function linkBack(slot: u32): void {
  const links = linksOf(slot, 0);
  const count = load<u32>(links);
  for (let i: u32 = 0; i < count && inDegreeOf(slot) === 0; i++) {
    const near = load<u32>(links + ((<usize>i) << 2), 4);
    if (isInGraph(near)) connect(near, slot, 0);
  }
}

/** Another entry in the place of the slot: a neighbour in its highest layer that has one, else the highest there is. */
function chooseEntry(slot: u32, level: i32): void {
  for (let layer = level; layer >= 0; layer--) {
    const links = linksOf(slot, layer);
    const count = load<u32>(links);
    for (let i: u32 = 0; i < count; i++) {
      const to = load<u32>(links + ((<usize>i) << 2), 4);
      if (isInGraph(to) && levelOf(to) >= layer) {
        setEntry(to, levelOf(to));
        return;
      }
    }
  }
  setEntry(NONE, -1);
  for (let other: u32 = 0; other < slots(); other++) {
    if (isInGraph(other) && levelOf(other) > entryLevel()) setEntry(other, levelOf(other));
  }
}
