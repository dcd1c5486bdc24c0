/**
 * Counts the parts of a composed value: what writing, comparing or hashing it visits. A list may hold the same list
 * twice, so a value of forty small lists can have 2^40 parts. Code that makes lists, maps or JSON from values counts
 * them first.
 */

import { sqlError } from "../../protocol/errors.js";
import { ARRAY_ELEMENTS_MAX, VALUE_PARTS_MAX } from "../../protocol/limits.js";
import type { Turns } from "../../protocol/turns.js";
import { Json, type Value } from "../../values/values.js";

/** For values with at least this many parts the number is kept, so that no part is counted often. */
const KEPT_FROM = 256;

const counted = new WeakMap<object, number>();

/** The value itself and all that it holds. Entities of a graph and scalars count as one. */
export function partsOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  if (value instanceof Json) return partsOf(value.value);
  // The content of a record was counted when it was stored.
  if (!Array.isArray(value) && !(value instanceof Map) && !isPlain(value)) return 1;
  const known = counted.get(value);
  if (known !== undefined) return known;
  let parts = 1;
  const items = Array.isArray(value) ? value : value instanceof Map ? value.values() : Object.values(value);
  for (const item of items) parts += typeof item === "object" && item !== null ? partsOf(item) : 1;
  if (parts >= KEPT_FROM) counted.set(value, parts);
  return parts;
}

/** What partsOf would answer, where it was counted before. */
export function knownPartsOf(value: unknown): number | undefined {
  return typeof value === "object" && value !== null ? counted.get(value) : undefined;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Throws 54000 for more parts than a value may have. */
export function checkParts(parts: number): void {
  if (parts <= VALUE_PARTS_MAX) return;
  throw sqlError("54000", `a value has at most ${VALUE_PARTS_MAX} parts`, {
    hint: "Lists, maps and JSON count with all their contents, repeated parts included.",
  });
}

/** The value, once its parts have been counted. Throws 54000. */
export function withParts<T>(value: T): T {
  checkParts(partsOf(value));
  return value;
}

/** Items that are put into one array while a list grows: to grow a large one, V8 copies all of it. */
const CHUNK_ITEMS = 65_536;

const LONG_CHUNKS = 4;

/** The items of all lists in one, with turns in between. */
export async function joinedInTurns<T>(lists: readonly (readonly T[])[], turns: Turns): Promise<T[]> {
  const joined = new Array<T>(lists.reduce((count, list) => count + list.length, 0));
  let next = 0;
  for (const list of lists) {
    for (let from = 0; from < list.length; from += CHUNK_ITEMS) {
      const to = Math.min(list.length, from + CHUNK_ITEMS);
      for (let i = from; i < to; i++) joined[next++] = list[i]!;
      if (turns.shouldYield()) await turns.yieldTurn();
    }
  }
  return joined;
}

/** A list that grows by single items, in chunks. */
export class LongList<T> {
  private readonly chunks: T[][] = [];
  private items: T[] = [];
  private before = 0;

  get length(): number {
    return this.before + this.items.length;
  }

  /** Throws 54000. */
  push(item: T): void {
    if (this.items.push(item) < CHUNK_ITEMS) return;
    this.closeChunk();
    if (this.before > ARRAY_ELEMENTS_MAX) throw sqlError("54000", `a list has at most ${ARRAY_ELEMENTS_MAX} items`);
  }

  private closeChunk(): void {
    this.before += this.items.length;
    this.chunks.push(this.items);
    this.items = [];
  }

  /** Whether putting the list together takes longer than one turn should. */
  get isLong(): boolean {
    return this.length > LONG_CHUNKS * CHUNK_ITEMS;
  }

  /** All items in one list, which stays as it is when more are added. */
  get list(): readonly T[] {
    if (this.items.length > 0 || this.chunks.length === 0) this.closeChunk();
    if (this.chunks.length > 1) {
      const [first, ...others] = this.chunks.splice(0) as [T[], ...T[][]];
      this.chunks.push(first.concat(...others));
    }
    return this.chunks[0]!;
  }

  /** The same, put together with turns in between. */
  async listInTurns(turns: Turns): Promise<readonly T[]> {
    if (this.items.length > 0) this.closeChunk();
    this.chunks.push(await joinedInTurns(this.chunks.splice(0), turns));
    return this.list;
  }
}

/** A list whose parts are counted as it grows. Nothing is added once it has been given away. */
export class ListMaker {
  private readonly items = new LongList<Value>();
  private parts = 1;

  /** Throws 54000. */
  add(value: Value): void {
    this.parts += typeof value === "object" && value !== null ? partsOf(value) : 1;
    checkParts(this.parts);
    this.items.push(value);
  }

  get isLong(): boolean {
    return this.items.isLong;
  }

  async listInTurns(turns: Turns): Promise<readonly Value[]> {
    await this.items.listInTurns(turns);
    return this.list;
  }

  get list(): readonly Value[] {
    const { list } = this.items;
    if (this.parts >= KEPT_FROM) counted.set(list, this.parts);
    return list;
  }
}
