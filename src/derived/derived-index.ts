/**
 * An index that lives in memory and is derived from records. Each row that the engine holds is either in the body or
 * among the newer entries. So body plus newer entries are always what the engine holds, and a reader merges its own
 * view over them (`Transaction.corrections`), as it does over column segments.
 *
 * Its life: `open` reads the saved body, if there is one, and completes it from the commit log. If the log does not
 * reach back so far, it compares the body with the records; without a saved body it reads the records. Then the index
 * is ready: what the engine takes arrives by `applied` and is put into the body by `fold`. Owned by
 * derived-indexes.ts.
 */
import { giveWay, type Turns } from "../protocol/turns.js";
import { type CommitLog, LogLacks } from "../storage/commit-log.js";
import type { Engine } from "../storage/engine.js";
import { prefixRange } from "../storage/keys.js";
import { partsOf } from "../storage/large-commit.js";
import { LARGE_COMMIT_SIZES } from "../storage/large-commit-sizes.js";
import type { Operation } from "../storage/operation.js";
import { createOrderedMap, keyText, type OrderedMap } from "../storage/ordered-map.js";
import { REPLAY_BYTES_MAX, ReplayedRows } from "../storage/replayed-rows.js";
import { type NewerEntries, readSome } from "../storage/store.js";
import { FilterMarks } from "./filter-marks.js";
import type { IndexBody, IndexKind } from "./index-body.js";
import { copiedKeys, type IndexContent, type IndexFile, readIndexFile, type SavedIndex } from "./index-file.js";
import { SlotKeys } from "./slot-keys.js";

/** What an index needs of its shard. */
export interface IndexStore {
  readonly engine: Engine;
  readonly log: CommitLog;
  /** The newest commit that the engine has wholly taken. */
  readonly appliedSequence: number;
  /** The engine is in the middle of a large commit. */
  readonly hasBacklog: boolean;
  largeCommitDone(): Promise<void>;
}

/** The tenant and the rows that the index is of. */
export interface IndexPlace {
  readonly tenantNumber: number;
  readonly storageId: number;
  readonly indexId: number;
  /** What the keys of all rows begin with. */
  readonly rowPrefix: Uint8Array;
}

export type IndexState = "opening" | "ready" | "dropped";

const STEP_ENTRIES = 256;
/** Of a newer entry in its map, roughly. */
const ENTRY_BYTES = 200;
/** Of the key of a row that is not in the body, roughly. */
const REST_BYTES = 80;

export class DerivedIndex<Item = unknown, Body extends IndexBody<Item> = IndexBody<Item>> implements NewerEntries {
  state: IndexState = "opening";
  body: Body;
  /** Rows that the engine took and the body has not. While `opening`, those taken since it began. */
  readonly entries: OrderedMap<Operation> = createOrderedMap();
  /** Newer entries that were put into the body. */
  folded = 0;
  /** Changes of the body since it was saved. */
  unsaved = 0;
  /** Rows read so far while it is made from records; for progress. */
  rowsRead = 0;
  private entryBytes = 0;
  /** What goes on with the first of the entries, which it has begun to put into the body. */
  private folding: Generator<undefined, void> | null = null;
  /** The body is being copied: newer entries wait. */
  private isFrozen = false;
  /** It may change meanwhile. */
  private isBeingSaved = false;
  /** By key after the prefix, latin-1. */
  private keys = new SlotKeys();
  /** Rows that are not in the body, by key after the prefix. */
  private readonly rest = new Set<string>();
  /** Which slots' rows pass a filter, as far as that was looked at. */
  readonly marks = new FilterMarks();

  constructor(
    readonly place: IndexPlace,
    readonly kind: IndexKind<Item, Body>,
    private readonly store: IndexStore,
    private readonly replayBytesMax = REPLAY_BYTES_MAX,
  ) {
    this.body = kind.create(this.itemsAt);
  }

  get count(): number {
    return this.kind.slotOf === undefined ? this.keys.size : this.body.count;
  }

  /** Newer entries can be put into the body. */
  get canFold(): boolean {
    return this.entries.size > 0 && !this.isFrozen && this.body.isBusy !== true;
  }

  /** What a saved body must be of to be used. */
  get definition(): string {
    return `${this.kind.definition} of ${this.place.storageId}`;
  }

  get bytes(): number {
    return this.body.bytes + this.entryBytes + this.keys.bytes + this.rest.size * REST_BYTES;
  }

  slotOf(key: Uint8Array): number | undefined {
    if (this.kind.slotOf === undefined) return this.keys.slotOf(this.suffixOf(key));
    const slot = this.kind.slotOf(key, this.place.rowPrefix.length);
    return this.body.has!(slot) ? slot : undefined;
  }

  /** The key of the row in a slot that is in use. */
  keyOf(slot: number): Uint8Array {
    return this.keys.keyAt(slot, this.place.rowPrefix);
  }

  /** Of that key what comes after the prefix of the table's rows, latin-1. */
  suffixAt(slot: number): string {
    return this.keys.at(slot)!;
  }

  private keyOfSuffix(suffix: string): Uint8Array {
    const { rowPrefix } = this.place;
    const key = Buffer.allocUnsafe(rowPrefix.length + suffix.length);
    key.set(rowPrefix);
    key.write(suffix, rowPrefix.length, "latin1");
    return key;
  }

  /** Keys of rows that are not in the body. */
  restKeys(): readonly Uint8Array[] {
    return [...this.rest].map((suffix) => this.keyOfSuffix(suffix));
  }

  get restCount(): number {
    return this.rest.size;
  }

  /** Slots are smaller than this. */
  get slotCount(): number {
    return this.keys.slotCount;
  }

  isUsed(slot: number): boolean {
    return this.keys.isUsed(slot);
  }

  /** What the engine holds under the key of a slot that is in use. Only a newer entry may say that it is gone. */
  recordOf(slot: number): Uint8Array | undefined {
    return this.store.engine.get(this.keyOf(slot));
  }

  /** The engine has taken a write of one of the table's rows. */
  applied(operation: Operation): void {
    const text = keyText(operation.key);
    const before = this.entries.get(text);
    if (before !== undefined) this.entryBytes -= sizeOf(before);
    this.entries.set(text, operation);
    this.entryBytes += sizeOf(operation);
  }

  /**
   * The same, into the body: false where that would take long or has to wait. Searches wait for what lies among the
   * entries instead. Bodies with `longWork` put their work off, and those whose slots are said by keys take an item
   * into arrays.
   */
  appliedAtOnce({ key, value }: Operation): boolean {
    const { body, entries, kind, state } = this;
    if (state !== "ready" || this.isFrozen || body.isBusy === true) return false;
    if (kind.slotOf === undefined && body.longWork === undefined) return false;
    // Where keys say the slots, only an older entry of the same row is in the way.
    if (entries.size > 0 && (kind.slotOf === undefined || entries.has(keyText(key)))) return false;
    try {
      // Such a body takes no steps.
      for (const _ of this.set(key, value));
    } catch {
      // It may be full. Whoever works on it finds out, and throws it out.
      return false;
    }
    this.folded++;
    return true;
  }

  /** The body's work had better wait until the engine has all of a load, or it would be done again. */
  get waitsForLoad(): boolean {
    return this.kind.slotOf !== undefined && this.store.hasBacklog;
  }

  /**
   * Puts newer entries into the body until there are none, as many are in it as `until` says, or `isOver` says to stop.
   * True in the first two cases.
   */
  fold(isOver: () => boolean, until = Number.POSITIVE_INFINITY): boolean {
    while (this.canFold && this.folded < until) {
      this.folding ??= this.foldFirst();
      if (this.folding.next().done === true) this.folding = null;
      if (isOver()) break;
    }
    return this.entries.size === 0 || this.folded >= until;
  }

  /** Resolves when the engine has all of the large commit that it is taking; null: there is none. */
  whileTaken(): Promise<void> | null {
    return this.store.hasBacklog ? this.store.largeCommitDone() : null;
  }

  /** What `folded` is when as many entries were put into the body as there are now. */
  get foldedThen(): number {
    return this.folded + this.entries.size;
  }

  /** The entry is one until the body has all of it; then a newer one of the same row may have taken its place. */
  private *foldFirst(): Generator<undefined, void> {
    const { entries } = this;
    const text = entries.minKey()!;
    const operation = entries.get(text)!;
    yield* this.set(operation.key, operation.value);
    this.folded++;
    if (entries.get(text) !== operation) return;
    entries.delete(text);
    this.entryBytes -= sizeOf(operation);
  }

  /** Its table has no rows: it is ready, and grows with them. */
  beginEmpty(): void {
    this.state = "ready";
  }

  /** Makes it ready. Rejects when `turns` does; then it is of no use. */
  async open(saved: SavedIndex | null, turns: Turns, damaged: (reason: string) => void): Promise<void> {
    // What is left of a large commit arrives by `applied`; the part before must be among what is read here.
    while (this.store.hasBacklog) await this.store.largeCommitDone();
    const upTo = this.store.appliedSequence;
    this.entries.clear();
    this.entryBytes = 0;
    const { definition, kind, itemsAt } = this;
    const file = saved === null ? null : await readIndexFile({ ...saved, definition, kind, itemsAt, turns, damaged });
    if (file === null) await this.readRecords(turns);
    else {
      await this.load(file, turns);
      if (!(await this.replay(file.sequence, upTo, turns))) await this.compareRecords(turns);
    }
    if (this.state === "opening") this.state = "ready";
  }

  /** What is to be saved; null while there are newer entries or it is not ready. Newer ones wait until it resolves. */
  async content(turns: Turns): Promise<IndexContent | null> {
    if (this.state !== "ready" || this.isFrozen || this.entries.size > 0 || this.store.hasBacklog) return null;
    if (this.body.longWork?.isAway === true || this.isBeingSaved) return null;
    const { definition, body } = this;
    const sequence = this.store.appliedSequence;
    let parts: Iterable<Uint8Array>;
    this.isFrozen = true;
    try {
      if (body.saveNow !== undefined) {
        parts = body.saveNow();
        this.isBeingSaved = true;
      } else parts = await collected(body.save(), turns);
      return { definition, sequence, ...(await copiedKeys(this.keys, this.rest, turns)), body: parts };
    } catch (error) {
      this.contentDone();
      throw error;
    } finally {
      this.isFrozen = false;
    }
  }

  /** The content was written, or is not needed. */
  contentDone(): void {
    if (this.isBeingSaved) this.body.saved!();
    this.isBeingSaved = false;
  }

  /** Work of the body begins in other threads: what each is given; empty: not now. */
  handOver(threads: number): readonly unknown[] {
    return this.isFrozen ? [] : this.body.longWork!.begin(threads);
  }

  /** The other threads have ended. False: there was nothing that they could do. */
  async takeBack(turns: Turns): Promise<boolean> {
    const waitingBefore = this.body.waitingCount ?? 0;
    const steps = this.body.longWork!.end();
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) if (turns.shouldYield()) await turns.yieldTurn();
    this.unsaved += Math.max(1, this.body.count - waitingBefore);
    return step.value;
  }

  private readonly itemsAt = (slots: readonly number[]): readonly (Item | undefined)[] => {
    const keys: Uint8Array[] = [];
    for (const slot of slots) if (this.isUsed(slot)) keys.push(this.keyOf(slot));
    const records = this.store.engine.getMany(keys);
    let next = 0;
    return slots.map((slot) => {
      const record = this.isUsed(slot) ? records[next++] : undefined;
      return record === undefined ? undefined : (this.kind.itemOf(record) ?? undefined);
    });
  };

  private suffixOf(key: Uint8Array): string {
    return keyText(key.subarray(this.place.rowPrefix.length));
  }

  private async load(file: IndexFile<Body>, turns: Turns): Promise<void> {
    this.body = file.body;
    this.keys = file.keys;
    for (const suffix of file.rest) this.rest.add(suffix);
    for (let slot = 0; slot < this.slotCount; slot++) {
      if (!this.isUsed(slot) && this.body.has?.(slot) === true) this.body.remove(slot);
      if (slot % STEP_ENTRIES === 0 && turns.shouldYield()) await turns.yieldTurn();
    }
  }

  /**
   * Notes what commits after `from` did up to `upTo`; false when the log does not have all of them, or they have
   * changed more than memory is to hold.
   */
  private async replay(from: number, upTo: number, turns: Turns): Promise<boolean> {
    const { log } = this.store;
    if (from > upTo || log.firstSequence > from + 1) return false;
    if (from === upTo) return true;
    const found = new ReplayedRows(this.replayBytesMax);
    try {
      for (const { sequence, gap, operations } of log.replay(from + 1)) {
        if (sequence > upTo) break;
        if (gap) return false;
        for (const some of partsOf(operations, LARGE_COMMIT_SIZES)) {
          for (const operation of some) if (this.isRow(operation.key)) found.note(operation);
          if (found.isFull) return false;
          await giveWay(turns);
        }
      }
    } catch (error) {
      if (error instanceof LogLacks) return false;
      throw error;
    }
    for (const [text, operation] of found.rows) {
      if (!this.entries.has(text)) this.applied(operation);
      await giveWay(turns);
    }
    return true;
  }

  private isRow(key: Uint8Array): boolean {
    const { rowPrefix } = this.place;
    if (key.length < rowPrefix.length) return false;
    for (let i = rowPrefix.length - 1; i >= 0; i--) if (key[i] !== rowPrefix[i]) return false;
    return true;
  }

  private async readRecords(turns: Turns): Promise<void> {
    await this.eachRecord(turns, (key, record) => this.set(key, record));
  }

  /** Mends a body that is not known to be what the engine holds. */
  private async compareRecords(turns: Turns): Promise<void> {
    if (this.kind.slotOf !== undefined) {
      this.body = this.kind.create(this.itemsAt);
      this.rest.clear();
      return this.readRecords(turns);
    }
    const unseen = new Uint8Array(this.slotCount).fill(1);
    this.rest.clear();
    await this.eachRecord(turns, (key, record) => this.compare(this.suffixOf(key), record, unseen));
    for (const [slot, isUnseen] of unseen.entries()) {
      if (isUnseen === 1 || slot % STEP_ENTRIES === 0) await giveWay(turns);
      const suffix = this.keys.at(slot);
      if (isUnseen === 0 || suffix === null) continue;
      for (const _ of this.setItem(suffix, null)) if (turns.shouldYield()) await turns.yieldTurn();
    }
  }

  private *compare(suffix: string, record: Uint8Array, unseen: Uint8Array): Generator<undefined, void> {
    const item = this.kind.itemOf(record);
    if (item === null) this.rest.add(suffix);
    const slot = this.keys.slotOf(suffix);
    if (slot === undefined || item === null || !(yield* this.holds(slot, item))) yield* this.setItem(suffix, item);
    const now = this.keys.slotOf(suffix);
    if (now !== undefined) unseen[now] = 0;
  }

  /** Rows as the engine holds them when this begins; later changes are among the newer entries. */
  private async eachRecord(
    turns: Turns,
    visit: (key: Uint8Array, record: Uint8Array) => Generator<undefined, void>,
  ): Promise<void> {
    const cursor = this.store.engine.cursor({ ...prefixRange(this.place.rowPrefix), isOnce: true });
    try {
      for (;;) {
        const entries = readSome(cursor, STEP_ENTRIES);
        if (entries === null) {
          await turns.yieldTurn();
          continue;
        }
        const { keys, values } = entries;
        if (keys.length === 0) return;
        for (let i = 0; i < keys.length; i++) {
          for (const _ of visit(keys[i]!, values[i]!)) if (turns.shouldYield()) await turns.yieldTurn();
          this.rowsRead++;
          if (turns.shouldYield()) await turns.yieldTurn();
        }
      }
    } finally {
      cursor.close();
    }
  }

  private *set(key: Uint8Array, record: Uint8Array | null): Generator<undefined, void> {
    const item = record === null ? null : this.kind.itemOf(record);
    const isRest = item === null && record !== null;
    const { slotOf } = this.kind;
    if (slotOf !== undefined && !isRest && this.rest.size === 0) return this.setBySlot(key, item);
    const suffix = this.suffixOf(key);
    if (isRest) this.rest.add(suffix);
    else this.rest.delete(suffix);
    if (slotOf !== undefined) this.setBySlot(key, item);
    else yield* this.setItem(suffix, item);
  }

  /** Of kinds whose keys say the slots. */
  private setBySlot(key: Uint8Array, item: Item | null): void {
    this.unsaved++;
    if (item !== null) this.body.replace!(item);
    else {
      const before = this.slotOf(key);
      if (before !== undefined) this.body.remove(before);
    }
  }

  private *setItem(suffix: string, item: Item | null): Generator<undefined, void> {
    this.unsaved++;
    const before = this.keys.slotOf(suffix);
    if (before !== undefined) {
      yield* this.removed(before);
      this.marks.forget(before);
      this.keys.delete(before, suffix);
    }
    if (item !== null) {
      const slot = yield* this.added(item);
      this.keys.set(slot, suffix);
      this.marks.forget(slot);
    }
  }

  private *added(item: Item): Generator<undefined, number> {
    return this.body.addInSteps === undefined ? this.body.add(item) : yield* this.body.addInSteps(item);
  }

  private *holds(slot: number, item: Item): Generator<undefined, boolean> {
    const { body } = this;
    return body.holdsInSteps === undefined ? body.holds(slot, item) : yield* body.holdsInSteps(slot, item);
  }

  private *removed(slot: number): Generator<undefined, void> {
    if (this.body.removeInSteps === undefined) this.body.remove(slot);
    else yield* this.body.removeInSteps(slot);
  }
}

async function collected(parts: Iterable<Uint8Array>, turns: Turns): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for (const part of parts) {
    all.push(part);
    if (turns.shouldYield()) await turns.yieldTurn();
  }
  return all;
}

function sizeOf({ key, value }: Operation): number {
  return ENTRY_BYTES + key.length + (value?.length ?? 0);
}
