/**
 * Writes that a cache of the engine's entries does not have yet, by key. Single writes are in an ordered map. Writes of
 * loads stay in the sorted runs that they came in, so that noting a million of them costs a few objects: only who reads
 * them makes texts and operations of them. Single writes are newer than those of loads, and later loads than earlier
 * ones; `addLoad` keeps it so. Owned by who keeps the cache.
 */
import { changesOthers, type Load } from "./load.js";
import { LoadRun } from "./load-run.js";
import { writeOverlay } from "./merged-cursor.js";
import type { Operation } from "./operation.js";
import { createOrderedMap, keyText, type OrderedEntries, type OrderedMap, STOP_WALK } from "./ordered-map.js";
import type { PackedKeys } from "./packed-keys.js";
import { type Places, piecesIn, RunOverlay, runOverlay } from "./run-overlay.js";
import type { SortedRun } from "./sorted-run.js";
import type { Corrections, KeyRange } from "./store.js";

/** Loads that reads may have to merge. */
const LOADS_MAX = 8;
/** Single writes among those of a load, at most, that are taken out for it: a share of the load's. */
const SINGLES_SHARE = 1 / 16;

/** What is noted of a load, in key order. Not changed in place. */
interface NotedLoad {
  readonly run: LoadRun;
  readonly pieces: readonly Places[];
  /** Memory of a write, roughly. */
  readonly bytesEach: number;
  /** As of its run; null, too, if it has taken the place of a single write, which may have changed other columns. */
  readonly changed: LoadRun["changedColumns"];
}

/** Keys packed between two looks at the clock. */
const PACKED_PER_STEP = 4096;

type Entry = [string, Operation];

export class NewerWrites implements OrderedEntries<Operation> {
  constructor(
    private readonly singles: OrderedMap<Operation> = createOrderedMap(),
    /** The newest first. */
    private loads: readonly NotedLoad[] = [],
  ) {}

  /** As it is now; it does not follow. */
  clone(): NewerWrites {
    return new NewerWrites(this.singles.clone(), this.loads);
  }

  /** As NewerEntries have it. */
  beside(loads: readonly Load[], columns: readonly number[] | undefined): NewerWrites {
    if (this.loads.length === 0) return this;
    const isLeft = ({ run, changed }: NotedLoad): boolean =>
      !loads.some(({ runs }) => runs.includes(run)) && (columns === undefined || !changesOthers(changed, columns));
    return new NewerWrites(this.singles, this.loads.filter(isLeft));
  }

  get isEmpty(): boolean {
    return this.singles.size === 0 && this.loads.length === 0;
  }

  /** At most: a key of several loads counts for each of them. */
  get size(): number {
    return this.singles.size + this.loadSize;
  }

  /** Writes of loads. */
  get loadSize(): number {
    return this.loads.reduce((sum, { pieces }) => sum + lengthOf(pieces), 0);
  }

  /** Memory of the writes of loads, roughly. */
  get loadBytes(): number {
    return this.loads.reduce((sum, { pieces, bytesEach }) => sum + bytesEach * lengthOf(pieces), 0);
  }

  get(text: string): Operation | undefined {
    const single = this.singles.get(text);
    return single !== undefined || this.loads.length === 0 ? single : this.inLoads(text);
  }

  private inLoads(text: string): Operation | undefined {
    const key = bytesOf(text);
    for (const { run, pieces } of this.loads) {
      const place = run.lowerBound(key);
      if (!pieces.some(({ from, to }) => place >= from && place < to)) continue;
      const operation = run.operationAt(place);
      if (Buffer.compare(operation.key, key) === 0) return operation;
    }
    return undefined;
  }

  has(text: string): boolean {
    return this.get(text) !== undefined;
  }

  hasIn(low: string, high: string): boolean {
    return typeof this.forRange(low, high, false, () => STOP_WALK) !== "number";
  }

  /** How many keys of the range it has; not counted beyond `max`. */
  countIn(low: string, high: string, max: number): number {
    let count = 0;
    for (const text of this.keys(low)) {
      if (text >= high || count > max) break;
      count++;
    }
    return count;
  }

  /** The columns in which records of the range may differ from those before all of these writes; null: not known. */
  changedColumnsIn(low: string, high: string): ReadonlySet<number> | null {
    if (typeof this.singles.forRange(low, high, false, () => STOP_WALK) !== "number") return null;
    const [lowKey, highKey] = [bytesOf(low), bytesOf(high)];
    const columns = new Set<number>();
    for (const { run, pieces, changed } of this.loads) {
      const within = { from: run.lowerBound(lowKey), to: run.lowerBound(highKey) };
      if (piecesIn(pieces, within).length === 0) continue;
      if (changed === null) return null;
      for (const id of changed) columns.add(id);
    }
    return columns;
  }

  keys(low = ""): IterableIterator<string> {
    return this.upwards(low, textOf);
  }

  /**
   * Packs all keys without their first `skip` bytes, in no order; a key that several sources have comes for each of
   * them. In steps (in-steps.ts).
   */
  *packKeys(skip: number, keys: PackedKeys): Generator<undefined, void> {
    let left = PACKED_PER_STEP;
    for (const text of this.singles.keys()) {
      keys.addText(text.slice(skip));
      if (--left > 0) continue;
      yield;
      left = PACKED_PER_STEP;
    }
    for (const { run, pieces } of this.loads) {
      for (const { from, to } of pieces) {
        for (let at = from; at < to; at += PACKED_PER_STEP) {
          run.packKeys(at, Math.min(to, at + PACKED_PER_STEP), skip, keys);
          yield;
        }
      }
    }
  }

  entries(low = ""): IterableIterator<Entry> {
    return this.loads.length === 0 ? this.singles.entries(low) : this.upwards(low, entryOf);
  }

  private upwards<T>(low: string, of: (head: Corrections) => T): IterableIterator<T> {
    const key = bytesOf(low);
    const loads = this.loads.map(
      ({ run, pieces }) => new RunOverlay(run, piecesIn(pieces, { from: run.lowerBound(key), to: run.size }), 1),
    );
    return merged([new SingleHead(this.singles.entries(low)), ...loads], 1, of);
  }

  /** As NewerEntries have it. */
  overlays(range: KeyRange): readonly Corrections[] {
    const singles = this.singles.size === 0 ? null : writeOverlay(this.singles, range);
    const loads = this.loads.map(({ run, pieces }) => runOverlay(run, range, pieces));
    return singles === null ? loads : [singles, ...loads];
  }

  /** From below `high` downwards. */
  entriesReversed(high: string, _reused: undefined, _skipHighest: true): IterableIterator<Entry> {
    const singles = this.singles.entriesReversed(high, undefined, true);
    if (this.loads.length === 0) return singles;
    const key = bytesOf(high);
    const loads = this.loads.map(
      ({ run, pieces }) => new RunOverlay(run, piecesIn(pieces, { from: 0, to: run.lowerBound(key) }).reverse(), -1),
    );
    return merged([new SingleHead(singles), ...loads], -1, entryOf);
  }

  forRange(
    low: string,
    high: string,
    _includeHigh: false,
    visit: (text: string, operation: Operation) => typeof STOP_WALK | undefined,
  ): unknown {
    if (this.loads.length === 0) return this.singles.forRange(low, high, false, visit);
    let count = 0;
    for (const [text, operation] of this.entries(low)) {
      if (text >= high) break;
      if (visit(text, operation) === STOP_WALK) return undefined;
      count++;
    }
    return count;
  }

  /** Answers the single write that had the key before, or whether a load's had it. */
  set(text: string, operation: Operation): Operation | boolean {
    if (this.singles.setIfNotPresent(text, operation)) return this.loads.length > 0 && this.inLoads(text) !== undefined;
    const before = this.singles.get(text)!;
    this.singles.set(text, operation);
    return before;
  }

  /**
   * Notes a load's writes of these places as they are. Answers the single writes that they replace; null: nothing was
   * noted, and each write has to be by itself, because there are many among them, or many loads, or the run is in a
   * file that will be gone.
   */
  addLoad(run: SortedRun, places: Places, bytesEach: number): readonly Operation[] | null {
    const isKnown = this.loads[0]?.run === run;
    if (!(run instanceof LoadRun) || (!isKnown && this.loads.length >= LOADS_MAX)) return null;
    const replaced = this.singlesIn(run, places);
    if (replaced === null) return null;
    for (const [text] of replaced) this.singles.delete(text);
    const [first, ...others] = this.loads;
    const load = isKnown ? first! : { run, pieces: [], bytesEach, changed: run.changedColumns };
    const changed = replaced.length > 0 ? null : load.changed;
    this.loads = [{ ...load, pieces: joined(load.pieces, places), changed }, ...(isKnown ? others : this.loads)];
    return replaced.map(([, operation]) => operation);
  }

  /** Of keys that the run has at these places; null: there are too many to look. */
  private singlesIn(run: LoadRun, { from, to }: Places): readonly Entry[] | null {
    const found: Entry[] = [];
    if (this.singles.size === 0) return found;
    let room = SINGLES_SHARE * (to - from);
    const [low, high] = [textAt(run, from), `${textAt(run, to - 1)}\0`];
    this.singles.forRange(low, high, false, (text, operation) => {
      const place = run.lowerBound(operation.key);
      if (Buffer.compare(run.keyOf(run.numberAt(place)), operation.key) === 0) found.push([text, operation]);
      return --room < 0 ? STOP_WALK : undefined;
    });
    return room < 0 ? null : found;
  }

  /** Takes single writes of the range out. Answers them. */
  takeRange(low: string, high: string): readonly Operation[] {
    const taken: Operation[] = [];
    this.singles.forRange(low, high, false, (_, operation) => {
      taken.push(operation);
    });
    this.singles.deleteRange(low, high, false);
    return taken;
  }

  /**
   * Takes writes of loads out that lie in the range. `noted`: a clone, of which only those are taken out that it had.
   * Where a single write replaces one of them, that must stay for now. Answers how many they were.
   */
  takeLoadsOf(noted: NewerWrites, low: string, high: string): number {
    if (noted.loads.length === 0) return 0;
    const [lowKey, highKey] = [bytesOf(low), bytesOf(high)];
    const before = this.size;
    for (const { run, pieces } of noted.loads) {
      const [first, end] = [run.lowerBound(lowKey), run.lowerBound(highKey)];
      for (const { from, to } of pieces) {
        const gone = { from: Math.max(from, first), to: Math.min(to, end) };
        if (gone.from < gone.to) this.cut(run, gone);
      }
    }
    return before - this.size;
  }

  private cut(run: LoadRun, gone: Places): void {
    this.loads = this.loads
      .map((load) => (load.run === run ? { ...load, pieces: without(load.pieces, gone) } : load))
      .filter(({ pieces }) => pieces.length > 0);
  }

  /** Takes a single write out, if it is this one. */
  take(text: string, operation: Operation): boolean {
    return this.singles.get(text) === operation && this.singles.delete(text);
  }

  /** The single writes alone, in order. */
  singlesFrom(low: string): IterableIterator<Entry> {
    return this.singles.entries(low);
  }
}

/** Stands on a single write. */
class SingleHead implements Corrections {
  private step: IteratorResult<Entry>;

  constructor(private readonly steps: Iterator<Entry>) {
    this.step = steps.next();
  }

  get text(): string | null {
    return this.step.done === true ? null : this.step.value[0];
  }

  get key(): Uint8Array {
    return this.step.value[1].key;
  }

  get value(): Uint8Array | null {
    return this.step.value[1].value;
  }

  advance(): void {
    this.step = this.steps.next();
  }
}

const textOf = ({ text }: Corrections): string => text!;
const entryOf = ({ text, key, value }: Corrections): Entry => [text!, { key, value }];

/** Of heads that have one key, the first counts. */
function* merged<T>(heads: Corrections[], step: 1 | -1, of: (head: Corrections) => T): IterableIterator<T> {
  for (;;) {
    let next: Corrections | null = null;
    for (const head of heads) {
      if (head.text === null || (next !== null && next.text === head.text)) continue;
      if (next === null || head.text < next.text! === (step === 1)) next = head;
    }
    if (next === null) return;
    const { text } = next;
    yield of(next);
    for (const head of heads) if (head.text === text) head.advance();
  }
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

function textAt(run: LoadRun, place: number): string {
  return keyText(run.keyOf(run.numberAt(place)));
}

function lengthOf(pieces: readonly Places[]): number {
  return pieces.reduce((sum, { from, to }) => sum + to - from, 0);
}

/** With places that come after all of them. */
function joined(pieces: readonly Places[], places: Places): readonly Places[] {
  const last = pieces.at(-1);
  return last?.to === places.from ? [...pieces.slice(0, -1), { from: last.from, to: places.to }] : [...pieces, places];
}

function without(pieces: readonly Places[], { from, to }: Places): readonly Places[] {
  return pieces.flatMap((piece) => [
    ...piecesIn([piece], { from: 0, to: from }),
    ...piecesIn([piece], { from: to, to: piece.to }),
  ]);
}
