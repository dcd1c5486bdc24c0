/**
 * The writes of a load: many writes that are collected beside the transaction, sorted, and then attached to it as a
 * whole. That costs a tenth of the time and memory of single writes. Until it is attached nobody sees it. From then on
 * it does not change, and as part of a large commit it takes the place of the maps. Made by `Transaction.beginLoad`.
 */
import { sqlError } from "../protocol/errors.js";
import { LOAD_BYTES_MAX } from "../protocol/limits.js";
import type { Memory } from "./copy-bytes.js";
import { keyLength } from "./key-writer.js";
import { LoadRun, type NumberedValues } from "./load-run.js";
import type { CommitParts, Operation } from "./operation.js";
import { keyText, type OrderedEntries, STOP_WALK } from "./ordered-map.js";
import type { PackedRun, SpareMemory } from "./packed-run.js";
import { recordLength } from "./record-writer.js";
import { type LoadPart, partsOfRun, type SortedRun } from "./sorted-run.js";
import type { RunBytes, StoredRun } from "./stored-run.js";

interface LoadWrite extends Operation {
  readonly text: string;
  readonly snapshot: number;
}

/** Memory of a write beside its bytes. */
export const LOAD_WRITE_BYTES = 24;

export class Load implements OrderedEntries<LoadWrite> {
  /** In the order of their prefixes, none of which begins with another. Two with one prefix have no key in common. */
  readonly runs: SortedRun[] = [];
  /** Memory. */
  bytes = 0;
  /** In its file. */
  private storedBytes = 0;
  /** Where runs are that are not in memory; null: all are. */
  private file: RunBytes | null = null;
  /** Writes that were looked up in the file and are asked for again. */
  private keptWrites: Map<string, LoadWrite> | null = null;
  /** Keys that were looked for in the file and are not there. */
  private absent: Set<string> | null = null;
  /** Somebody may read it although the transaction was rolled back to before it. */
  isFrozen = false;

  constructor(
    /** Of the transaction. */
    readonly snapshot: number,
    /** Throws past it. */
    readonly bytesMax: number,
  ) {}

  get anyPrefix(): Uint8Array | undefined {
    return this.runs[0]?.prefix;
  }

  get size(): number {
    let size = 0;
    for (const run of this.runs) size += run.size;
    return size;
  }

  /** Where writes go whose keys begin with the prefix. `spare`: as LoadRun has it. */
  run(prefix: Uint8Array, spare?: SpareMemory): LoadRun {
    const run = new LoadRun(prefix, spare);
    this.put(run);
    return run;
  }

  private put(run: SortedRun): void {
    const place = this.runs.findIndex((other) => Buffer.compare(other.prefix, run.prefix) > 0);
    this.runs.splice(place === -1 ? this.runs.length : place, 0, run);
  }

  /** The load has these runs, whose prefixes are new to it, and closes their file in the end (`release`). */
  takeStored(runs: readonly StoredRun[], file: RunBytes): void {
    for (const { storedBytes } of runs) this.storedBytes += storedBytes;
    this.file = file;
    for (const run of runs) {
      this.count(run.memoryBytes);
      this.put(run);
    }
  }

  /** Bytes of keys and values. */
  get writtenBytes(): number {
    return this.isStored ? this.storedBytes : Math.max(0, this.bytes - this.size * LOAD_WRITE_BYTES);
  }

  /** Some of it is in a file. */
  get isStored(): boolean {
    return this.file !== null;
  }

  isIn(file: RunBytes): boolean {
    return this.file === file;
  }

  /** Nobody reads it any more. */
  release(): void {
    this.file?.close();
  }

  /** From the first key of each run, up to the last one. */
  *ranges(): IterableIterator<{ readonly low: string; readonly high: string }> {
    for (const run of this.runs) {
      if (run.size === 0) continue;
      const [first, last] = [run.keyOf(run.numberAt(0)), run.keyOf(run.numberAt(run.size - 1))];
      yield { low: keyText(first), high: `${keyText(last)}\0` };
    }
  }

  /** A key may be added once. Answers the write's number in its run. Throws 54000 past the transaction's bound. */
  add(run: LoadRun, key: Uint8Array, value: Uint8Array | null): number {
    this.grow(key.length + (value === null ? 0 : value.length));
    return run.add(key, value);
  }

  /** As `LoadRun.addBuiltKey`. */
  addBuiltKey(run: LoadRun, value: Uint8Array | null): number {
    this.grow(keyLength() + (value === null ? 0 : value.length));
    return run.addBuiltKey(value);
  }

  /** As `LoadRun.removeKeys`. */
  removeKeys(run: LoadRun, keys: Memory, length: number, count: number): void {
    this.count(count * (length + LOAD_WRITE_BYTES));
    run.removeKeys(keys, length, count);
  }

  /** As `LoadRun.addBuiltRow`. */
  addBuiltRow(run: LoadRun): number {
    this.grow(keyLength() + recordLength());
    return run.addBuiltRow();
  }

  /** As `LoadRun.addWithRecord`. */
  addWithRecord(run: LoadRun, key: Uint8Array): number {
    this.grow(key.length + recordLength());
    return run.addWithRecord(key);
  }

  /** As `LoadRun.addBuilt`. */
  addBuilt(run: LoadRun, mark: number, isWhole: boolean): number {
    const length = keyLength();
    this.grow(isWhole ? 2 * length - mark : length);
    return run.addBuilt(mark, isWhole);
  }

  /** As `LoadRun.addBuiltRoom`. */
  addBuiltRoom(run: LoadRun, valueLength: number): boolean {
    if (!run.addBuiltRoom(valueLength)) return false;
    this.grow(keyLength() + valueLength);
    return true;
  }

  /** As `LoadRun.addNumbered`. */
  addNumbered(run: LoadRun, firstNumber: number, values: NumberedValues, from: number, to: number): number {
    const end = run.addNumbered(firstNumber, values, from, to);
    let bytes = (end - from) * (run.keyLengthOf(run.size - 1) + LOAD_WRITE_BYTES);
    for (let i = from; i < end; i++) bytes += values.sizes[i]!;
    this.count(bytes);
    return end;
  }

  /** As `LoadRun.takeOver`; `bytes`: of the loads that it comes from. Throws 54000 past the transaction's bound. */
  takeOver(run: LoadRun, packed: PackedRun, bytes: number): void {
    this.count(bytes);
    run.takeOver(packed);
  }

  private grow(bytes: number): void {
    this.count(bytes + LOAD_WRITE_BYTES);
  }

  private count(bytes: number): void {
    this.requireRoom(bytes);
    this.bytes += bytes;
  }

  /** Throws 54000 past the transaction's bound. */
  requireRoom(bytes: number): void {
    if (this.bytes + bytes <= this.bytesMax) return;
    throw sqlError("54000", `the transaction's changes exceed ${LOAD_BYTES_MAX} bytes`, {
      hint: "Change fewer rows in one transaction.",
    });
  }

  /** To be done before it is attached, in steps (in-steps.ts). */
  *sort(): Generator<undefined, void> {
    for (const run of this.runs) yield* run.sort();
  }

  get isSorted(): boolean {
    return this.runs.every((run) => run.isSorted);
  }

  /** All of it in order, so many operations and bytes at a time. `written`: without runs that are among these. */
  *parts(operationsMax: number, bytesMax: number, written?: CommitParts): IterableIterator<LoadPart> {
    for (const run of this.runs) {
      if (written === undefined || run.parts !== written) yield* partsOfRun(run, operationsMax, bytesMax);
    }
  }

  /** `wants`: tells by its prefix whether a run is of interest. */
  *operations(wants: (prefix: Uint8Array) => boolean = () => true): IterableIterator<Operation> {
    for (const run of this.runs) {
      if (!wants(run.prefix)) continue;
      for (let i = 0; i < run.size; i++) yield run.operationAt(i);
    }
  }

  /**
   * Of the table that the key is of, it has only changed other columns than these, so that who reads these need not see
   * it.
   */
  changesOthers(key: Uint8Array, columns: readonly number[]): boolean {
    return this.runsOf(key).every((run) => run instanceof LoadRun && changesOthers(run.changedColumns, columns));
  }

  /** Runs that have all keys with the beginning of this one. */
  runsOf(key: Uint8Array): readonly SortedRun[] {
    return this.runs.filter(({ prefix }) => beginsWith(key, prefix));
  }

  find(key: Uint8Array): Operation | undefined {
    for (const run of this.runs) {
      if (!beginsWith(key, run.prefix)) continue;
      const place = run.lowerBound(key);
      if (place === run.size) continue;
      const operation = run.operationAt(place);
      if (Buffer.compare(operation.key, key) === 0) return operation;
    }
    return undefined;
  }

  get(text: string): LoadWrite | undefined {
    const kept = this.keptWrites?.get(text);
    if (kept !== undefined) return kept;
    const operation = this.find(bytesOf(text));
    return operation === undefined ? undefined : this.write(operation);
  }

  /** The same, and memory keeps it. */
  kept(text: string): LoadWrite | undefined {
    const write = this.get(text);
    if (write === undefined || !this.isStored) return write;
    this.keptWrites ??= new Map();
    this.keptWrites.set(text, write);
    return write;
  }

  /** Looks for the key in the file now, so that `has` need not. */
  noteKey(text: string): void {
    if (!this.isStored || this.absent?.has(text) || this.kept(text) !== undefined) return;
    this.absent ??= new Set();
    this.absent.add(text);
  }

  has(text: string): boolean {
    if (this.keptWrites?.has(text)) return true;
    return this.absent?.has(text) !== true && this.find(bytesOf(text)) !== undefined;
  }

  *values(): IterableIterator<LoadWrite> {
    for (const operation of this.operations()) yield this.write(operation);
  }

  /** It does not change while somebody reads it in order. */
  clone(): this {
    return this;
  }

  *entries(low: string): IterableIterator<[string, LoadWrite]> {
    const key = bytesOf(low);
    for (const runs of this.byPrefix()) {
      const [run, ...others] = runs;
      if (others.length > 0) yield* this.entriesOf(runs, (one) => one.lowerBound(key), 1);
      else for (let i = run!.lowerBound(key); i < run!.size; i++) yield this.entry(run!, i);
    }
  }

  *entriesReversed(high: string): IterableIterator<[string, LoadWrite]> {
    const key = bytesOf(high);
    for (const runs of this.byPrefix().reverse()) {
      const [run, ...others] = runs;
      if (others.length > 0) yield* this.entriesOf(runs, (one) => one.lowerBound(key) - 1, -1);
      else for (let i = run!.lowerBound(key) - 1; i >= 0; i--) yield this.entry(run!, i);
    }
  }

  private byPrefix(): SortedRun[][] {
    const groups: SortedRun[][] = [];
    for (const run of this.runs) {
      const last = groups.at(-1);
      if (last !== undefined && Buffer.compare(last[0]!.prefix, run.prefix) === 0) last.push(run);
      else groups.push([run]);
    }
    return groups;
  }

  /** Of runs with one prefix, in order (1) or from the end (−1). */
  private *entriesOf(
    runs: readonly SortedRun[],
    begin: (run: SortedRun) => number,
    step: 1 | -1,
  ): IterableIterator<[string, LoadWrite]> {
    const heads = runs.map((run) => ({ run, place: begin(run), entry: null as [string, LoadWrite] | null }));
    const stand = (head: (typeof heads)[number]): void => {
      const { run, place } = head;
      head.entry = place >= 0 && place < run.size ? this.entry(run, place) : null;
    };
    heads.forEach(stand);
    for (;;) {
      let next: (typeof heads)[number] | null = null;
      for (const head of heads) {
        if (head.entry === null) continue;
        if (next === null || head.entry[0] < next.entry![0] === (step === 1)) next = head;
      }
      if (next === null) return;
      yield next.entry!;
      next.place += step;
      stand(next);
    }
  }

  forRange(
    low: string,
    high: string,
    _includeHigh: false,
    visit: (text: string, write: LoadWrite) => typeof STOP_WALK | undefined,
  ): unknown {
    let count = 0;
    for (const [text, write] of this.entries(low)) {
      if (text >= high) break;
      if (visit(text, write) === STOP_WALK) return undefined;
      count++;
    }
    return count;
  }

  private entry(run: SortedRun, place: number): [string, LoadWrite] {
    const write = this.write(run.operationAt(place));
    return [write.text, write];
  }

  private write({ key, value }: Operation): LoadWrite {
    return { text: keyText(key), key, value, snapshot: this.snapshot };
  }
}

/** `changed`: as LoadRun.changedColumns; none of these columns is among them. */
export function changesOthers(changed: LoadRun["changedColumns"], columns: readonly number[]): boolean {
  return changed !== null && !columns.some((id) => changed.has(id));
}

function beginsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  for (let i = prefix.length - 1; i >= 0; i--) if (key[i] !== prefix[i]) return false;
  return true;
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

/** The newest write of the key; `loads` are oldest first. */
export function findInLoads(loads: readonly Load[], key: Uint8Array): Operation | undefined {
  for (let i = loads.length - 1; i >= 0; i--) {
    const found = loads[i]!.find(key);
    if (found !== undefined) return found;
  }
  return undefined;
}
