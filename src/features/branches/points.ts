/**
 * States that are compared: a tenant or a branch as it is, or as it was after a commit. Two states of one family have
 * the nearest state in common from which both come, and which keys they may differ in is known without a look at all:
 * what branches have written on the way, and what their common origin has between the two moments.
 */

import { NO_ORIGIN } from "../../storage/branch-list.js";
import { ofTenant } from "../../storage/history-keys.js";
import { prefixRange } from "../../storage/keys.js";
import type { LayeredEngine } from "../../storage/layered-engine.js";
import type { Cursor, KeyRange } from "../../storage/store.js";

export interface Point {
  /** Of the tenant or the branch. */
  readonly number: number;
  /** The commit after which it is meant; null: as it is now. */
  readonly sequence: number | null;
}

/** Where the ways of two states meet. */
export interface Meeting {
  readonly number: number;
  /** The earlier state there. Null: as it is now, so both are. */
  readonly from: number | null;
  /** The later one. Null: as it is now. */
  readonly to: number | null;
  /** Branches on both ways from there. */
  readonly branches: readonly number[];
}

/** The state, the one that it was forked from, and so on. */
function wayOf(layers: LayeredEngine, point: Point): readonly Point[] {
  const way = [point];
  let branch = layers.branchOf(point.number);
  while (branch !== null && branch.origin !== NO_ORIGIN) {
    way.push({ number: branch.origin, sequence: branch.start.sequence });
    branch = layers.branchOf(branch.origin);
  }
  return way;
}

/** Null: one of them began empty, so that they have nothing in common. */
export function meetingOf(layers: LayeredEngine, a: Point, b: Point): Meeting | null {
  const [wayA, wayB] = [wayOf(layers, a), wayOf(layers, b)];
  const at = wayA.findIndex(({ number }) => wayB.some((other) => other.number === number));
  if (at === -1) return null;
  const mine = wayA[at]!;
  const to = wayB.findIndex(({ number }) => number === mine.number);
  const theirs = wayB[to]!;
  const isMineFirst = (mine.sequence ?? Number.POSITIVE_INFINITY) <= (theirs.sequence ?? Number.POSITIVE_INFINITY);
  const [first, last] = isMineFirst ? [mine, theirs] : [theirs, mine];
  return {
    number: mine.number,
    from: first.sequence,
    to: last.sequence,
    branches: [...wayA.slice(0, at), ...wayB.slice(0, to)].map(({ number }) => number),
  };
}

/** What entries are at a state. The keys are of any tenant, and of no two different ones. */
export function valuesAt(
  layers: LayeredEngine,
  { number, sequence }: Point,
  keys: readonly Uint8Array[],
): readonly (Uint8Array | undefined)[] {
  if (keys.length === 0) return [];
  const own = keys.map((key) => ofTenant(key, number));
  return sequence === null ? layers.getMany(own) : layers.getManyAsOf(own, sequence);
}

/** Entries of a range of that tenant at a state. */
export function cursorAt(layers: LayeredEngine, { sequence }: Point, range: KeyRange): Cursor {
  return sequence === null ? layers.cursor(range) : layers.cursorAsOf(range, sequence);
}

/** Keys that are read of one place at a time. */
const KEYS_AT_ONCE = 48;

/**
 * Keys beginning with `rest` (what comes after the tenant) whose entries two states may have differently, in order,
 * some at a time, as keys of `tenant`.
 */
export async function* keysBetween(
  layers: LayeredEngine,
  meeting: Meeting,
  rest: Uint8Array,
  tenant: number,
  yieldTurn: () => Promise<void>,
): AsyncIterable<readonly Uint8Array[]> {
  const places = meeting.branches.map((number) => new KeyPlace(ownKeys(layers, number, rest), tenant));
  if (meeting.from !== meeting.to) places.push(new KeyPlace(writtenKeys(layers, meeting, rest), tenant));
  for (;;) {
    for (const place of places) {
      while (place.isWanting) {
        place.read();
        await yieldTurn();
      }
    }
    const keys = leastOf(places);
    if (keys.length === 0) return;
    yield keys;
  }
}

/** Reads on; null: that was all. */
type ReadKeys = () => readonly Uint8Array[] | null;

class KeyPlace {
  private keys: readonly Uint8Array[] = [];
  private at = 0;
  private isAtEnd = false;

  constructor(
    private readonly readKeys: ReadKeys,
    private readonly tenant: number,
  ) {}

  /** It has to be read before it is known whether there is a key. */
  get isWanting(): boolean {
    return this.at === this.keys.length && !this.isAtEnd;
  }

  /** Null: none that has been read. */
  get first(): Uint8Array | null {
    return this.keys[this.at] ?? null;
  }

  read(): void {
    const keys = this.readKeys();
    this.isAtEnd = keys === null;
    this.keys = (keys ?? []).map((key) => ofTenant(key, this.tenant));
    this.at = 0;
  }

  skip(key: Uint8Array): void {
    while (this.at < this.keys.length && Buffer.compare(this.keys[this.at]!, key) === 0) this.at++;
  }
}

/** Until one place has to be read again. */
function leastOf(places: readonly KeyPlace[]): readonly Uint8Array[] {
  const keys: Uint8Array[] = [];
  while (keys.length < KEYS_AT_ONCE && !places.some(({ isWanting }) => isWanting)) {
    let least: Uint8Array | null = null;
    for (const { first } of places) {
      if (first !== null && (least === null || Buffer.compare(first, least) < 0)) least = first;
    }
    if (least === null) break;
    keys.push(least);
    for (const place of places) place.skip(least);
  }
  return keys;
}

function ownKeys(layers: LayeredEngine, number: number, rest: Uint8Array): ReadKeys {
  const prefix = ofTenant(Buffer.concat([Buffer.alloc(4), rest]), number);
  let after: Uint8Array | null = prefix;
  return () => {
    if (after === null) return null;
    const keys = layers.changedKeys(number, after, KEYS_AT_ONCE);
    const wanted = keys.filter((key) => Buffer.compare(key.subarray(0, prefix.length), prefix) === 0);
    const isEnd = keys.length < KEYS_AT_ONCE || wanted.length < keys.length;
    after = isEnd ? null : Buffer.from(keys.at(-1)!);
    return wanted.map((key) => Buffer.from(key));
  };
}

function writtenKeys(layers: LayeredEngine, { number, from, to }: Meeting, rest: Uint8Array): ReadKeys {
  const range = prefixRange(ofTenant(Buffer.concat([Buffer.alloc(4), rest]), number));
  let at: Uint8Array | null = null;
  let isEnd = false;
  return () => {
    if (isEnd) return null;
    const { keys, next } = layers.writtenSince(range, from!, at, KEYS_AT_ONCE, to);
    at = next;
    isEnd = next === null;
    return keys;
  };
}
