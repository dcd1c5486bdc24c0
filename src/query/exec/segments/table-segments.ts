/**
 * The segments of one table, and the entries that the engine has taken since they were built: together they are always
 * what the engine holds in the segments' ranges. Between segments there may be gaps, whose rows are only in records.
 * Owned by the cache (segment-cache.ts), which reports every write of the engine. A scan takes the list of segments and
 * the newer entries when it opens; neither is changed in place after that.
 */

import { prefixEnd } from "../../../storage/keys.js";
import { LOAD_WRITE_BYTES } from "../../../storage/load.js";
import { NewerWrites } from "../../../storage/newer-writes.js";
import { type Operation, sizeOf } from "../../../storage/operation.js";
import { keyText } from "../../../storage/ordered-map.js";
import type { LoadPart, SortedRun } from "../../../storage/sorted-run.js";
import type { NewerEntries } from "../../../storage/store.js";
import { fromText } from "../../../values/text-format.js";
import type { SqlType, Value } from "../../../values/values.js";
import type { TableLayout } from "../table-layout.js";
import { ROW_KEYS, type Segment } from "./segment.js";

/** What a column's values were decoded as: a definition that reads them otherwise needs other segments. */
export interface HeldColumn {
  readonly type: SqlType;
  /** What records that were stored before the column was added have in it, as text; null: NULL. */
  readonly missing: string | null;
}

/** From a key (inclusive) to another (exclusive), as text (storage/ordered-map.ts). */
export interface KeyTextSpan {
  readonly from: string;
  readonly to: string;
}

/** Of which segments are being made. */
export interface MakingSpan extends KeyTextSpan {
  /** A load whose writes in it need not be noted, because the segments are made of them. */
  readonly run?: number;
  /** Absent: nobody may wait for them. */
  readonly awaited?: AwaitedSegments;
  /** The rows that the load has brought into it; null: the engine has not taken them all yet. */
  readonly loaded?: () => number | null;
}

export interface AwaitedSegments {
  /** Rows without segments, about. */
  readonly rows: number;
  /** Resolves when the segments are there, or will not come. */
  readonly done: Promise<void>;
  /** Has them made now, where that may wait. */
  readonly ask?: () => void;
}

/** Entry of a B+ tree with its key as text, roughly. */
const ENTRY_BYTES = 160;

export class TableSegments implements NewerEntries {
  /** In order of their keys; they do not overlap. */
  segments: readonly Segment[] = [];
  readonly entries = new NewerWrites();
  /** Set while somebody adds columns, folds newer entries in or replaces segments; nobody else may then. */
  busy = false;
  /** Thrown out of the cache: what holds it may read on, but it is not kept up to date. */
  dropped = false;
  /** Memory of segments and newer entries, estimated; pages of files are counted by their cache. */
  bytes = 0;
  /** Part of `bytes`. */
  entryBytes = 0;
  /** Ranges of which segments are being made: their newer entries are noted, too. */
  readonly making = new Set<MakingSpan>();
  /** Writes since the last build where there is no segment. */
  writesInGaps = 0;
  /** A statement has asked for the segments since the last build. */
  isRead = false;
  /** Builds in a row whose segments nobody has read before the next one. */
  unreadBuilds = 0;
  /** The last build has left ranges that it was to make. */
  hasRest = false;
  /** Lookups that found pages not in memory. */
  lookups = 0;
  private measured: {
    readonly segments: readonly Segment[];
    readonly columnIds: readonly number[];
    bytes: number;
  } | null = null;
  /** Its segments are in files (stored/column-store.ts); those stay when memory is short. */
  isStored = false;
  /** Its segments are those of the table that it was forked from (stored/lent-segments.ts): nobody adds columns. */
  isLent = false;
  /** False while its files are being opened: nobody may read it. */
  isReady = true;
  /** Told when the table is dropped. */
  onDrop: (() => void) | null = null;
  /** The end of all its keys. */
  readonly end: string;
  private readonly held = new Map<number, HeldColumn>();
  /** The definition that `held` was found to fit. */
  private readonly fits = new WeakMap<TableLayout, Set<number>>();

  constructor(
    readonly tenantNumber: number,
    readonly storageId: number,
    /** What the keys of its rows begin with. */
    readonly rowPrefix: Uint8Array,
  ) {
    this.end = keyText(prefixEnd(rowPrefix));
  }

  get prefixLength(): number {
    return this.rowPrefix.length;
  }

  get start(): string {
    return keyText(this.rowPrefix);
  }

  get rows(): number {
    let rows = 0;
    for (const segment of this.segments) rows += segment.rows;
    return rows;
  }

  /** Of the pages of these columns and the keys. */
  bytesOf(columnIds: readonly number[]): number {
    const { segments, measured } = this;
    if (measured !== null && measured.segments === segments && measured.columnIds === columnIds) return measured.bytes;
    let bytes = 0;
    for (const { stored } of segments) bytes += stored?.bytesOf(columnIds) ?? 0;
    this.measured = { segments, columnIds, bytes };
    return bytes;
  }

  /** How much there is to merge, as the memory that all of it would take as single writes. */
  get bytesToMerge(): number {
    return this.entryBytes + (ENTRY_BYTES - LOAD_WRITE_BYTES) * this.entries.loadSize;
  }

  /** What is newer, for who reads these columns. */
  read(columns: readonly number[]): NewerEntries {
    return { entries: this.entries, columns };
  }

  get columnIds(): readonly number[] {
    return [...this.held.keys()];
  }

  heldColumn(columnId: number): HeldColumn {
    return this.held.get(columnId)!;
  }

  typeOf(columnId: number): SqlType {
    return this.held.get(columnId)!.type;
  }

  missingOf(columnId: number): Value {
    const { type, missing } = this.held.get(columnId)!;
    return missing === null ? null : fromText(type, missing);
  }

  /** "no": the column is held as another definition had it. */
  holds(layout: TableLayout, columnId: number): "yes" | "no" | "not yet" {
    if (columnId === ROW_KEYS) return "yes";
    const held = this.held.get(columnId);
    if (held === undefined) return "not yet";
    let fitting = this.fits.get(layout);
    if (fitting?.has(columnId) === true) return "yes";
    if (!isSame(held, heldColumnOf(layout, columnId))) return "no";
    if (fitting === undefined) {
      fitting = new Set();
      this.fits.set(layout, fitting);
    }
    fitting.add(columnId);
    return "yes";
  }

  hold(columns: ReadonlyMap<number, HeldColumn>): void {
    for (const [id, column] of columns) this.held.set(id, column);
  }

  /** Forgets columns that are in memory only; scans that are open keep them. */
  releaseMade(): void {
    this.segments = this.segments.map((segment) => segment.withoutMade());
    this.bytes = this.entryBytes;
    for (const id of [...this.held.keys()]) {
      if (this.segments.some((segment) => !segment.has(id))) this.held.delete(id);
    }
  }

  /** The engine has taken a write of one of the table's rows. Answers by how much the memory grew. */
  applied(operation: Operation): number {
    const text = keyText(operation.key);
    return this.note(text, operation, this.segmentOf(text));
  }

  /** The same of all of a load's part, whose keys rise. `touched`: called with each segment that has some of them. */
  appliedEach(part: LoadPart, touched: (segment: Segment) => void): number {
    const { run, bytes, length } = part;
    const bytesEach = LOAD_WRITE_BYTES + Math.ceil(bytes / length);
    let grown = 0;
    for (let from = part.from; from < part.to; ) {
      const text = keyText(run.keyOf(run.numberAt(from)));
      const segment = this.segmentOf(text);
      const end = segment?.to ?? this.segments[this.numberBefore(text) + 1]?.from ?? this.end;
      const to = Math.min(part.to, run.lowerBound(Buffer.from(end, "latin1")));
      if (segment !== null) touched(segment);
      grown += this.noteLoad(run, { from, to, bytesEach }, segment);
      from = to;
    }
    return grown;
  }

  /** Writes of a load that are all in one segment, or in one gap. */
  private noteLoad(
    run: SortedRun,
    places: { readonly from: number; readonly to: number; readonly bytesEach: number },
    segment: Segment | null,
  ): number {
    const { from, to, bytesEach } = places;
    if (segment === null && this.making.size === 0) {
      this.writesInGaps += to - from;
      return 0;
    }
    // Segments in memory are made again of entries that are known one by one (segment-folder.ts).
    const isStored = segment !== null && segment.stored !== null;
    const before = this.entries.loadBytes;
    const replaced = isStored ? this.entries.addLoad(run, { from, to }, bytesEach) : null;
    if (replaced !== null) {
      segment!.changes += to - from - replaced.length;
      return this.grown(this.entries.loadBytes - before - bytesOfEntries(replaced));
    }
    let grown = 0;
    for (let place = from; place < to; place++) {
      const operation = run.operationAt(place);
      grown += this.note(keyText(operation.key), operation, segment);
    }
    return grown;
  }

  private note(text: string, operation: Operation, segment: Segment | null): number {
    if (segment === null && !this.isMaking(text)) {
      this.writesInGaps++;
      return 0;
    }
    const before = this.entries.set(text, operation);
    if (before === false && segment === null) this.writesInGaps++;
    else if (before === false) segment!.changes++;
    return this.grown(bytesOfEntries([operation]) - (typeof before === "object" ? bytesOfEntries([before]) : 0));
  }

  private grown(bytes: number): number {
    this.bytes += bytes;
    this.entryBytes += bytes;
    return bytes;
  }

  /** The engine has taken a part of a load. False: nothing was noted, and each write has to be. */
  appliedLoad(part: LoadPart): boolean {
    const [first, last] = [keyText(part.firstKey), keyText(part.lastKey)];
    for (const { from, to, run } of this.making) {
      if (run === part.run.id) return true;
      if (last >= from && first < to) return false;
    }
    const segment = this.segments[this.numberBefore(last)];
    if (segment !== undefined && segment.to > first) return false;
    this.writesInGaps += removesOnly(part) ? 0 : part.length;
    return true;
  }

  /** Segments were made; `hasRest`: not of all ranges. */
  noteBuild(hasRest: boolean): void {
    if (!hasRest) this.unreadBuilds = this.isRead ? 0 : this.unreadBuilds + 1;
    if (!hasRest) this.isRead = false;
    this.hasRest = hasRest;
  }

  /** Takes a single write out, if it is this one. Answers by how much the memory shrank. */
  forget(text: string, operation: Operation): number {
    return this.entries.take(text, operation) ? -this.grown(-bytesOfEntries([operation])) : 0;
  }

  /**
   * Takes writes of loads out that lie in the range and that `noted`, a clone of the entries, has. Single writes that
   * it has there are to be forgotten afterwards, and not before: they are newer. Answers as `forget`.
   */
  forgetLoads(noted: NewerWrites, { from, to }: KeyTextSpan): number {
    const before = this.entries.loadBytes;
    this.entries.takeLoadsOf(noted, from, to);
    return -this.grown(this.entries.loadBytes - before);
  }

  /** Takes all entries of the range out. Answers by how much the memory shrank. */
  forgetRange(range: KeyTextSpan): number {
    const loads = this.forgetLoads(this.entries, range);
    return loads - this.grown(-bytesOfEntries(this.entries.takeRange(range.from, range.to)));
  }

  /** Counts again what several loads may have changed twice; not beyond `max`. Answers the segment's changes. */
  recount(segment: Segment, max: number): number {
    if (segment.changes > max) segment.changes = this.entries.countIn(segment.from, segment.to, max);
    return segment.changes;
  }

  /** What is being made where the key is; null: nothing. */
  makingAt(text: string): MakingSpan | null {
    for (const span of this.making) if (text >= span.from && text < span.to) return span;
    return null;
  }

  isMakingIn(from: string, to: string): boolean {
    for (const span of this.making) if (span.from < to && span.to > from) return true;
    return false;
  }

  /** The first range at or after the key of which the number of rows is known, apart from newer entries; null: none. */
  countedFrom(text: string): (KeyTextSpan & { readonly rows: number }) | null {
    let first: (KeyTextSpan & { readonly rows: number }) | null = null;
    for (const { from, to, loaded } of this.making) {
      if (loaded === undefined || from < text || (first !== null && first.from < from)) continue;
      const rows = loaded();
      if (rows !== null) first = { from, to, rows };
    }
    return first;
  }

  private isMaking(text: string): boolean {
    return this.makingAt(text) !== null;
  }

  /** The segment whose range has the key; null: there is a gap. */
  segmentOf(text: string): Segment | null {
    return segmentIn(this.segments, text);
  }

  /** A segment has a part of the range. */
  hasSegmentIn(from: string, to: string): boolean {
    const number = numberBefore(this.segments, to);
    // It may begin where the range ends.
    const last = this.segments[this.segments[number]?.from === to ? number - 1 : number];
    return last !== undefined && last.to > from;
  }

  /** The number of the last segment that begins at or before the key; −1 for none. */
  numberBefore(text: string): number {
    return numberBefore(this.segments, text);
  }

  /** Parts of the table that no segment has, in order. */
  gaps(): KeyTextSpan[] {
    return gapsBetween(this.segments, this.start, this.end);
  }
}

/** Gaps that have lost rows are not worth a build. */
export function removesOnly({ run }: LoadPart): boolean {
  return run.deletions === run.size;
}

/** The one of the segments, which are in order, whose range has the key; null for none. */
export function segmentIn(segments: readonly Segment[], text: string): Segment | null {
  const segment = segments[numberBefore(segments, text)];
  return segment !== undefined && text < segment.to ? segment : null;
}

function numberBefore(segments: readonly Segment[], text: string): number {
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (segments[middle]!.from <= text) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Those of the segments, which are in order, that end at the key or before it. */
export function segmentsUpTo(segments: readonly Segment[], text: string): readonly Segment[] {
  const number = numberBefore(segments, text);
  const last = segments[number];
  return last === undefined ? [] : segments.slice(0, last.to <= text ? number + 1 : number);
}

/** Parts of a range that none of the segments has, in order. */
export function gapsBetween(segments: readonly Segment[], start: string, end: string): KeyTextSpan[] {
  const gaps: KeyTextSpan[] = [];
  let at = start;
  for (const { from, to } of segments) {
    if (at < from) gaps.push({ from: at, to: from });
    at = to;
  }
  if (at < end) gaps.push({ from: at, to: end });
  return gaps;
}

/** Memory of single writes, estimated. */
function bytesOfEntries(operations: readonly Operation[]): number {
  return operations.reduce((sum, operation) => sum + ENTRY_BYTES + sizeOf(operation), 0);
}

/** What the columns are by a definition. */
export function heldColumnOf({ table, types }: TableLayout, id: number): HeldColumn {
  return { type: types[id]!, missing: table.columns.find((column) => column.id === id)?.missingSql ?? null };
}

function isSame(a: HeldColumn, b: HeldColumn): boolean {
  return a.missing === b.missing && (a.type === b.type || JSON.stringify(a.type) === JSON.stringify(b.type));
}
