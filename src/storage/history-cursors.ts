/** Cursors of layered-engine.ts: a range as it was after a commit, and a branch's range over that of its origin. */
import {
  commitOfReplaced,
  compareReplaced,
  isSameReplaced,
  LATEST,
  ofTenant,
  readBesideKey,
  readReplacedKey,
  replacedKey,
  replacedRange,
} from "./history-keys.js";
import { isOwnOnly } from "./keys.js";
import { type Cursor, type Entries, type KeyRange, NO_ENTRIES, readSome } from "./store.js";

/** Entries that an overlay reads at a time. */
const READ_ENTRIES = 256;
/** Entries that an overlay reads first, and after it has stepped over some: more each time. */
const READ_FIRST = 4;
/** Entries of a key that say nothing, after which the rest of them is stepped over: fewer after each such key. */
const USELESS_MIN = 2;
const USELESS_MAX = 8;
/** To step over entries costs as much as to read so many. */
const STEP_WORK = 8;
/** Entries that a cursor drops before it says that it has nothing yet. */
const DROPPED_MAX = 1024;
/** What keys begin with. */
const TENANT_BYTES = 4;
const NO_BYTES = new Uint8Array(0);

interface Correction {
  readonly key: Uint8Array;
  /** Null: hides the entry. */
  readonly value: Uint8Array | null;
}

/** What a cursor gives, an entry at a time; the cursor is closed when no more is asked for. */
export function* entriesOf(cursor: Cursor): IterableIterator<{ readonly key: Uint8Array; readonly value: Uint8Array }> {
  try {
    for (let size = READ_FIRST; ; size = Math.min(2 * size, READ_ENTRIES)) {
      const { keys, values } = cursor.next(size);
      for (let i = 0; i < keys.length; i++) yield { key: keys[i]!, value: values[i]! };
      if (keys.length < size) return;
    }
  } finally {
    cursor.close();
  }
}

/** Goes over entries, a few first, and steps over some on the way. */
class Walk {
  private cursor: Cursor;
  private entries: Entries = NO_ENTRIES;
  private position = 0;
  private size = READ_FIRST;
  private isAtEnd = false;

  constructor(
    private readonly open: (range: KeyRange) => Cursor,
    private readonly range: KeyRange,
  ) {
    this.cursor = open(range);
  }

  /** The entry that it came to. */
  key: Uint8Array = NO_BYTES;
  value: Uint8Array = NO_BYTES;

  /** False: there is none. */
  advance(): boolean {
    if (this.position === this.entries.keys.length) {
      if (this.isAtEnd) return false;
      this.entries = this.cursor.next(this.size);
      this.position = 0;
      this.isAtEnd = this.entries.keys.length < this.size;
      this.size = Math.min(2 * this.size, READ_ENTRIES);
      if (this.entries.keys.length === 0) return false;
    }
    const i = this.position++;
    this.key = this.entries.keys[i]!;
    this.value = this.entries.values[i]!;
    return true;
  }

  /** Goes on at that key, in which no entry is. */
  stepTo(key: Uint8Array): void {
    if (this.cursor.seek?.(key) !== true) {
      this.cursor.close();
      this.cursor = this.open(this.range.reverse === true ? { ...this.range, lt: key } : { ...this.range, gte: key });
    }
    this.entries = NO_ENTRIES;
    this.position = 0;
    this.size = READ_FIRST;
    this.isAtEnd = false;
  }

  close(): void {
    this.cursor.close();
  }
}

/** Corrections that are read when they are needed: to find the next one may take several pieces of work. */
interface Overlay {
  /** False: it has worked for a while, and does not know its next one yet. */
  settle(): boolean;
  /** Of what `settle` has found: there is none. */
  readonly isAtEnd: boolean;
  readonly key: Uint8Array;
  /** Null: hides the entry. */
  readonly value: Uint8Array | null;
  /** Where its key is, in the order of bytes; below 0: before that one. Only one of them has the tenant's number. */
  compare(key: Uint8Array): number;
  advance(): void;
  close(): void;
}

class CorrectionSteps implements Overlay {
  isAtEnd = false;
  key: Uint8Array = NO_BYTES;
  value: Uint8Array | null = null;
  private isSettled = false;

  constructor(private readonly steps: Iterator<Correction>) {}

  settle(): boolean {
    if (this.isSettled) return true;
    const step = this.steps.next();
    if (step.done === true) this.isAtEnd = true;
    else ({ key: this.key, value: this.value } = step.value);
    this.isSettled = true;
    return true;
  }

  compare(key: Uint8Array): number {
    return compareRests(this.key, key);
  }

  advance(): void {
    this.isSettled = false;
  }

  close(): void {
    this.steps.return?.();
  }
}

/**
 * The range as it was after the commit `sequence`. `now`: as it is. `replaced` opens a cursor over what commits have
 * replaced.
 */
export function cursorAsOf(
  now: Cursor,
  replaced: (range: KeyRange) => Cursor,
  sequence: number,
  range: KeyRange,
): Cursor {
  return new LayeredCursor(now, [now], [new ReplacedOverlay(replaced, sequence, range)], range, null);
}

/**
 * Of each key the oldest value that a later commit replaced. Of keys that were written very often, before or after, the
 * rest is stepped over. Most keys stay as they are stored: those of the base are the same.
 */
class ReplacedOverlay implements Overlay {
  isAtEnd = false;
  /** What was found, as it is stored. */
  private foundKey: Uint8Array = NO_BYTES;
  private foundValue: Uint8Array = NO_BYTES;
  /** Of the key that the walk is in, which is not given out yet. */
  private nextKey: Uint8Array | null = null;
  private nextValue: Uint8Array = NO_BYTES;
  private isSettled = false;
  /** The entry that the walk came to last: most are of no interest, and need not be decoded. */
  private stored: Uint8Array | null = null;
  /** Entries since it gave way, whatever was found. */
  private work = 0;
  private useless = 0;
  private uselessMax = USELESS_MAX;
  private readonly isReverse: boolean;
  private readonly walk: Walk;

  constructor(
    private readonly open: (range: KeyRange) => Cursor,
    private readonly sequence: number,
    range: KeyRange,
  ) {
    this.isReverse = range.reverse === true;
    this.walk = new Walk(open, replacedRange(range));
  }

  get key(): Uint8Array {
    return readReplacedKey(this.foundKey).key;
  }

  get value(): Uint8Array | null {
    return readReplaced(this.foundValue);
  }

  compare(key: Uint8Array): number {
    return compareReplaced(this.foundKey, key);
  }

  advance(): void {
    this.isSettled = false;
  }

  close(): void {
    this.walk.close();
  }

  settle(): boolean {
    if (this.isSettled) return true;
    while (this.walk.advance()) {
      const { key } = this.walk;
      const isNext = this.stored === null || !isSameReplaced(this.stored, key);
      const isFound = isNext && this.give();
      if (isNext && this.useless > 0) this.uselessMax = Math.min(2 * this.uselessMax, USELESS_MAX);
      if (isNext) this.useless = 0;
      this.stored = key;
      this.work += this.look() ? STEP_WORK : 1;
      if (isFound) return true;
      if (this.work < READ_ENTRIES) continue;
      this.work = 0;
      return false;
    }
    if (!this.give()) this.isAtEnd = true;
    this.isSettled = true;
    return true;
  }

  /** Gives out what was found of a key whose entries are over. */
  private give(): boolean {
    if (this.nextKey === null) return false;
    this.foundKey = this.nextKey;
    this.foundValue = this.nextValue;
    this.nextKey = null;
    this.isSettled = true;
    return true;
  }

  /** Looks at the entry that the walk came to. True: it has stepped over the rest of the key's. */
  private look(): boolean {
    const { isReverse, sequence, walk } = this;
    const { key: stored } = walk;
    // Backwards, the older commits come later.
    const isFound = commitOfReplaced(stored) > sequence && (this.nextKey === null || isReverse);
    if (isFound) [this.nextKey, this.nextValue] = [stored, walk.value];
    if ((isFound && !isReverse) || ++this.useless < this.uselessMax) return false;
    this.useless = 0;
    this.uselessMax = Math.max(USELESS_MIN, this.uselessMax >> 1);
    const { key } = readReplacedKey(stored);
    if (isReverse && isFound) this.findOldest(key);
    walk.stepTo(replacedKey(key, isReverse ? 0 : this.nextKey === null ? sequence + 1 : LATEST));
    return true;
  }

  private findOldest(key: Uint8Array): void {
    const range = { gte: replacedKey(key, this.sequence + 1), lt: replacedKey(key, LATEST) };
    const cursor = this.open(range);
    const { keys, values } = cursor.next(1);
    cursor.close();
    if (keys.length > 0) [this.nextKey, this.nextValue] = [keys[0]!, values[0]!];
  }
}

/** `own` and `hidden` are the branch's; `origin` is the origin's range as of the fork. All go in the same direction. */
export function branchCursor(own: Cursor, hidden: Cursor, origin: Cursor, range: KeyRange, tenant: number): Cursor {
  const overlays = [new CorrectionSteps(entriesOf(own)), new CorrectionSteps(hiddenKeys(hidden))];
  return new LayeredCursor(origin, [own, hidden, origin], overlays, range, tenant);
}

/**
 * The range of a branch's origin as of the fork: `base` is that of what the branch reads instead, `copied` what was
 * copied for the branch.
 */
export function flatCursor(base: Cursor, copied: Cursor, range: KeyRange, origin: number): Cursor {
  return new LayeredCursor(base, [base, copied], [new CorrectionSteps(copiedEntries(copied, origin))], range, origin);
}

function* copiedEntries(copied: Cursor, origin: number): IterableIterator<Correction> {
  for (const { key, value } of entriesOf(copied))
    yield { key: ofTenant(readBesideKey(key), origin), value: readReplaced(value) };
}

function* hiddenKeys(hidden: Cursor): IterableIterator<Correction> {
  for (const { key } of entriesOf(hidden)) yield { key: readBesideKey(key), value: null };
}

/**
 * Entries of a base under corrections. `tenant`: the base is its origin's, whose entries are given out under the
 * tenant's number, but for those that only their owner has.
 */
export class LayeredCursor implements Cursor {
  /** No entry that was not found yet comes before it. */
  private bound: Uint8Array | null = null;
  private found: { readonly keys: Uint8Array[]; readonly values: Uint8Array[] } = { keys: [], values: [] };
  private buffer: Entries = { keys: [], values: [] };
  private position = 0;
  /** Entries that the base is asked for: more each time that some were hidden. */
  private size = 0;
  private hidden = 0;
  private replaced = 0;
  private readonly isReverse: boolean;

  constructor(
    private readonly base: Cursor,
    private readonly all: readonly Cursor[],
    private overlays: readonly Overlay[],
    range: KeyRange,
    private readonly tenant: number | null,
  ) {
    this.isReverse = range.reverse === true;
  }

  get at(): Uint8Array | null {
    return this.found.keys[0] ?? this.bound;
  }

  next(max: number): Entries {
    for (;;) {
      const entries = this.step(max);
      if (entries !== null) return entries;
    }
  }

  step(max: number): Entries | null {
    const { keys, values } = this.found;
    if (this.isPlain) return readSome(this.base, max);
    for (let dropped = 0; keys.length < max; ) {
      if (dropped > DROPPED_MAX || !this.settle(max - keys.length)) return null;
      const overlay = this.nextOverlay();
      const key = this.buffer.keys[this.position];
      if (overlay === null && key === undefined) break;
      const order = overlay === null ? 1 : key === undefined ? -1 : this.order(overlay, key);
      if (order > 0) {
        if (this.giveUpTo(overlay, max)) continue;
      } else {
        const { value } = overlay!;
        const corrected = order === 0 && this.tenant === null ? key! : overlay!.key;
        if (order === 0) this.position++;
        this.replaced++;
        this.bound = corrected;
        this.advance(overlay!, corrected);
        if (value !== null) {
          keys.push(corrected);
          values.push(value);
          continue;
        }
      }
      dropped++;
      this.hidden++;
    }
    this.found = { keys: keys.slice(max), values: values.slice(max) };
    return keys.length <= max ? { keys, values } : { keys: keys.slice(0, max), values: values.slice(0, max) };
  }

  /** How many corrections it came to since the call before. */
  takeReplaced(): number {
    const { replaced } = this;
    this.replaced = 0;
    return replaced;
  }

  /** Nothing is left but the base. */
  private get isPlain(): boolean {
    if (this.tenant !== null || this.found.keys.length > 0 || this.position < this.buffer.keys.length) return false;
    return this.overlays.every((overlay) => overlay.settle() && overlay.isAtEnd);
  }

  /** The base and all overlays know their next entries. False: not yet. */
  private settle(max: number): boolean {
    for (const overlay of this.overlays) if (!overlay.settle()) return false;
    if (this.position < this.buffer.keys.length) return true;
    this.size = this.hidden === 0 ? max : Math.min(Math.max(max, this.size * 2), Math.max(max, READ_ENTRIES));
    this.hidden = 0;
    const read = readSome(this.base, this.size);
    if (read === null) {
      this.bound = this.boundAt(this.base.at ?? null) ?? this.bound;
      return false;
    }
    this.buffer = read;
    this.position = 0;
    return true;
  }

  /** What comes first: where the base stands, or a correction. */
  private boundAt(key: Uint8Array | null): Uint8Array | null {
    if (key === null) return null;
    const own = this.tenant === null ? key : ofTenant(key, this.tenant);
    const overlay = this.nextOverlay();
    return overlay !== null && this.order(overlay, own) < 0 ? overlay.key : own;
  }

  /** Gives the base's next entries, up to the correction. False: it came to one that is not the tenant's. */
  private giveUpTo(overlay: Overlay | null, max: number): boolean {
    const { keys, values } = this.found;
    const { buffer, tenant } = this;
    const { length } = buffer.keys;
    const isAll = overlay === null || this.order(overlay, buffer.keys[length - 1]!) > 0;
    do {
      const key = buffer.keys[this.position]!;
      const value = buffer.values[this.position++]!;
      if (tenant !== null && isOwnOnly(key)) return false;
      keys.push(tenant === null ? key : ofTenant(key, tenant));
      values.push(value);
    } while (
      keys.length < max &&
      this.position < length &&
      (isAll || this.order(overlay, buffer.keys[this.position]!) > 0)
    );
    return true;
  }

  /** Whose correction comes next; of two for one key, the earlier overlay's. */
  private nextOverlay(): Overlay | null {
    let first: Overlay | null = null;
    for (const overlay of this.overlays) {
      if (!overlay.isAtEnd && (first === null || this.order(first, overlay.key) > 0)) first = overlay;
    }
    return first;
  }

  /** Moves all overlays past a key, which one of them has. */
  private advance(first: Overlay, key: Uint8Array): void {
    for (const overlay of this.overlays) {
      if (overlay === first || (!overlay.isAtEnd && overlay.compare(key) === 0)) overlay.advance();
    }
  }

  /** Where the overlay's key is beside that one: below 0 if it comes first. */
  private order(overlay: Overlay, key: Uint8Array): number {
    const order = overlay.compare(key);
    return this.isReverse ? -order : order;
  }

  close(): void {
    for (const cursor of this.all) cursor.close();
    for (const overlay of this.overlays) overlay.close();
    this.overlays = [];
    this.buffer = { keys: [], values: [] };
    this.position = 0;
  }
}

/** All keys are of one tenant, or its origin. */
function compareRests(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  let at = TENANT_BYTES;
  while (at < length && a[at] === b[at]) at++;
  return at < length ? a[at]! - b[at]! : a.length - b.length;
}

/** As stored under `replacedKey`: null says that there was no entry. */
export function replacedValue(value: Uint8Array | undefined): Buffer {
  if (value === undefined) return Buffer.of(0);
  const stored = Buffer.allocUnsafe(value.length + 1);
  stored[0] = 1;
  stored.set(value, 1);
  return stored;
}

export function readReplaced(stored: Uint8Array): Uint8Array | null {
  return stored[0] === 0 ? null : stored.subarray(1);
}
