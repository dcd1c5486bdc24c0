/**
 * A transaction's cursor: the engine's entries, corrected by recent versions of the snapshot, and then by the
 * transaction's own writes at the time when the cursor was opened. Opened and closed by transaction.ts.
 */
import { Load } from "./load.js";
import type { OrderedEntries } from "./ordered-map.js";
import { keyText } from "./ordered-map.js";
import type { RangeRead } from "./read-set.js";
import { type Corrections, type Cursor, type Entries, type KeyRange, NO_ENTRIES, readSome } from "./store.js";
import { type RecentVersions, valueAt } from "./versions.js";

/** A source of corrections, in the cursor's order; `value` null hides the engine's entry. */
type Overlay = Corrections;

interface Keyed {
  readonly key: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);
/** Entries that a cursor drops before it says that it has nothing yet: a millisecond or so. */
const DROPPED_MAX = 256;

/**
 * Entries of an ordered map within a range; `correct` gives the value, undefined to skip an entry. Reads a clone of the
 * map.
 */
class MapOverlay<V extends Keyed> implements Overlay {
  text: string | null = null;
  key: Uint8Array = NO_BYTES;
  value: Uint8Array | null = null;
  private readonly steps: Iterator<[string, V]>;
  private readonly low: string;
  private readonly high: string;
  private readonly reverse: boolean;
  private readonly correct: (item: V) => Uint8Array | null | undefined;

  constructor(map: OrderedEntries<V>, range: KeyRange, correct: (item: V) => Uint8Array | null | undefined) {
    this.low = keyText(range.gte);
    this.high = keyText(range.lt);
    this.reverse = range.reverse === true;
    this.correct = correct;
    const clone = map.clone();
    this.steps = this.reverse ? clone.entriesReversed(this.high, undefined, true) : clone.entries(this.low);
    this.advance();
  }

  advance(): void {
    for (;;) {
      const step = this.steps.next();
      if (step.done === true || (this.reverse ? step.value[0] < this.low : step.value[0] >= this.high)) {
        this.text = null;
        return;
      }
      const value = this.correct(step.value[1]);
      if (value === undefined) continue;
      this.text = step.value[0];
      this.key = step.value[1].key;
      this.value = value;
      return;
    }
  }
}

/** Recent versions as of a snapshot, those that win first. `ofLoad`: how a load is read. */
export function versionOverlays(
  versions: RecentVersions,
  range: KeyRange,
  snapshot: number,
  ofLoad: (load: Load) => readonly (Overlay | null)[] = (load) => [writeOverlay(load, range)],
): Overlay[] {
  if (versions.size === 0) return [];
  const overlays: (Overlay | null)[] = [
    existing(new MapOverlay(versions.ordered(), range, (entry) => valueAt(entry, snapshot))),
  ];
  for (const { sources } of versions.largeCommits(snapshot)) {
    for (const { ordered } of sources) {
      if (ordered instanceof Load) overlays.push(...ofLoad(ordered));
      else overlays.push(writeOverlay(ordered, range));
    }
  }
  return overlays.filter((overlay) => overlay !== null);
}

function existing(overlay: Overlay): Overlay | null {
  return overlay.text === null ? null : overlay;
}

/** A transaction's own writes; null when there are none in the range. */
export function writeOverlay(
  map: OrderedEntries<Keyed & { readonly value: Uint8Array | null }>,
  range: KeyRange,
): Overlay | null {
  return existing(new MapOverlay(map, range, (write) => write.value));
}

/** Several sources as one, ascending; where two have a key, the earlier source wins. */
export class MergedCorrections implements Corrections {
  text: string | null = null;
  private first: Overlay | null = null;
  private sources: Overlay[];

  constructor(sources: readonly (Overlay | null)[]) {
    this.sources = sources.filter((source) => source !== null);
    this.settle();
  }

  advance(): void {
    for (const source of this.sources) if (source.text === this.text) source.advance();
    this.settle();
  }

  private settle(): void {
    if (this.sources.some((source) => source.text === null)) {
      this.sources = this.sources.filter((source) => source.text !== null);
    }
    let first: Overlay | null = null;
    for (const source of this.sources) if (first === null || source.text! < first.text!) first = source;
    this.first = first;
    this.text = first === null ? null : first.text;
  }

  get key(): Uint8Array {
    return this.first?.key ?? NO_BYTES;
  }

  get value(): Uint8Array | null {
    return this.first?.value ?? null;
  }
}

export class MergedCursor implements Cursor {
  /** No entry that was not merged yet comes before it. */
  private bound: Uint8Array | null = null;
  private readonly engine: Cursor;
  /** Own writes before versions: the earlier one wins where both have a key. */
  private overlays: Overlay[];
  private readonly reverse: boolean;
  private readonly read: RangeRead | null;
  private readonly onClose: (cursor: MergedCursor) => void;
  private buffer: Entries = NO_ENTRIES;
  private position = 0;
  /** What was merged before it had to be said that there is nothing yet. */
  private merged: { readonly keys: Uint8Array[]; readonly values: Uint8Array[] } = { keys: [], values: [] };
  private isOpen = true;

  constructor(
    engine: Cursor,
    overlays: readonly (Overlay | null)[],
    reverse: boolean,
    read: RangeRead | null,
    onClose: (cursor: MergedCursor) => void,
  ) {
    this.engine = engine;
    this.overlays = overlays.filter((overlay) => overlay !== null);
    this.reverse = reverse;
    this.read = read;
    this.onClose = onClose;
  }

  get at(): Uint8Array | null {
    return this.merged.keys[0] ?? this.bound;
  }

  next(max: number): Entries {
    for (;;) {
      const entries = this.step(max);
      if (entries !== null) return entries;
    }
  }

  step(max: number): Entries | null {
    if (!this.isOpen) return NO_ENTRIES;
    const isPlain =
      this.overlays.length === 0 && this.position === this.buffer.keys.length && this.merged.keys.length === 0;
    const entries = isPlain ? readSome(this.engine, max) : this.merge(max);
    if (entries === null) {
      if (isPlain) this.bound = this.engine.at ?? null;
      return null;
    }
    const count = entries.keys.length;
    if (this.read !== null) {
      if (count > 0) this.read.last = entries.keys[count - 1]!;
      if (count < max) this.read.finished = true;
    }
    if (count === 0) this.close();
    return entries;
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.engine.close();
    this.overlays = [];
    if (this.read !== null) this.read.closed = true;
    this.onClose(this);
  }

  private merge(max: number): Entries | null {
    const { keys, values } = this.merged;
    for (let dropped = 0; keys.length < max; ) {
      if (dropped > DROPPED_MAX) return null;
      if (this.position === this.buffer.keys.length) {
        // Where much is dropped, few at a time take several times as long.
        const read = readSome(this.engine, max + dropped);
        if (read === null) {
          this.bound = this.boundAt(this.engine.at ?? null) ?? this.bound;
          return null;
        }
        this.buffer = read;
        this.position = 0;
      }
      const engineKey = this.buffer.keys[this.position];
      const overlay = this.nextOverlay();
      if (overlay === null) {
        if (engineKey === undefined) break;
        keys.push(engineKey);
        values.push(this.buffer.values[this.position++]!);
        continue;
      }
      const order = engineKey === undefined ? -1 : this.compare(overlay.text!, keyText(engineKey));
      if (order > 0) {
        keys.push(engineKey!);
        values.push(this.buffer.values[this.position++]!);
        continue;
      }
      if (order === 0) this.position++;
      if (overlay.value !== null) {
        keys.push(overlay.key);
        values.push(overlay.value);
      } else dropped++;
      this.bound = overlay.key;
      this.skip(overlay.text!);
    }
    this.merged = { keys: keys.slice(max), values: values.slice(max) };
    return keys.length <= max ? { keys, values } : { keys: keys.slice(0, max), values: values.slice(0, max) };
  }

  /** What comes first: where the engine's cursor stands, or a correction. */
  private boundAt(key: Uint8Array | null): Uint8Array | null {
    const overlay = this.nextOverlay();
    if (key === null || overlay === null) return key;
    return this.compare(overlay.text!, keyText(key)) < 0 ? overlay.key : key;
  }

  /** The overlay whose correction comes next, null when none is left. */
  private nextOverlay(): Overlay | null {
    let first: Overlay | null = null;
    for (const overlay of this.overlays) {
      if (first === null || this.compare(overlay.text!, first.text!) < 0) first = overlay;
    }
    return first;
  }

  /** Moves all overlays past a key. */
  private skip(text: string): void {
    for (const overlay of this.overlays) if (overlay.text === text) overlay.advance();
    if (this.overlays.some((overlay) => overlay.text === null)) {
      this.overlays = this.overlays.filter((overlay) => overlay.text !== null);
    }
  }

  private compare(a: string, b: string): number {
    if (a === b) return 0;
    return a < b === this.reverse ? 1 : -1;
  }
}
