/** Writes packed operations to RocksDB, on the thread of rocksdb-writer.ts; nobody else writes in their ranges. */
import { ROW_PREFIX_BYTES } from "../values/row-place.js";
import { isRowKey, keyAfter } from "./keys.js";
import { unpackOperations } from "./packed-operations.js";
import type { Binding, Handle } from "./rocksdb-binding.js";

/** Operations that become visible at a time. */
const BATCH_OPERATIONS = 1024;
/** Deletions that are worth one of their range. */
const RANGE_DELETIONS = 1024;
/**
 * Ranges in one memtable. RocksDB sorts them anew for the first read after each: half a millisecond of who reads, at so
 * many, and four at twenty times as many. A memtable that gets none any more is full all the sooner.
 */
const RANGES_MAX = 1000;
/** Other entries among deletions, after so many of which there is no more looking for ranges. */
const OTHERS_MAX = 4;
/** Entries looked at in the first call, and at most in one: of keys among others, few are enough to tell. */
const FIRST_LOOK_ENTRIES = 4;
const LOOK_ENTRIES_MAX = 256;
const KEYS_ONCE = { keyEncoding: "buffer", valueEncoding: "buffer", values: false, fillCache: false };

/**
 * Deletions in a row that leave nothing between them are written as one of their range. Who looks for the next entry
 * would have to step over each of the others, in one call and until RocksDB has merged its files.
 */
export class PackedWrites {
  private readonly batch: Handle;
  private inBatch = 0;
  private entries = 0;
  /** Deleted last, ascending and with one prefix; not in the batch yet. */
  private deleted: Uint8Array[] = [];
  /** Ranges that the newest memtable has, at most, and how many entries it had when that was looked at last. */
  private ranges = 0;
  private entriesSeen = 0;

  constructor(
    private readonly binding: Binding,
    private readonly db: Handle,
    private readonly rangesMax = RANGES_MAX,
  ) {
    this.batch = binding.batch_init();
  }

  /** How many entries they were. Nothing of the bytes is kept. */
  write(packed: Uint8Array<ArrayBuffer>): number {
    this.entries = 0;
    unpackOperations(packed, (key, value) => {
      if (value === null) this.delete(key);
      else this.put(key, value);
    });
    this.endDeletions();
    this.flush();
    return this.entries;
  }

  private put(key: Uint8Array, value: Uint8Array): void {
    this.endDeletions();
    this.binding.batch_put(this.batch, key, value, undefined);
    this.added();
  }

  private delete(key: Uint8Array): void {
    const last = this.deleted.at(-1);
    // Beside a table's rows, or an index's entries, there may be what others write meanwhile.
    if (last !== undefined && (Buffer.compare(last, key) >= 0 || !haveOnePrefix(last, key))) this.endDeletions();
    this.deleted.push(key);
  }

  private endDeletions(): void {
    const keys = this.deleted;
    if (keys.length === 0) return;
    this.deleted = [];
    if (keys.length < RANGE_DELETIONS || !this.takesRanges()) {
      this.deleteEach(keys);
      return;
    }
    // Before what is there now is looked at.
    this.flush();
    const runs = areConsecutive(keys) ? [{ run: keys, isAlone: true }] : runsOf(this.binding, this.db, keys);
    for (const { run, isAlone } of runs) {
      if (isAlone && run.length >= RANGE_DELETIONS) {
        this.binding.db_clear(this.db, { gte: run[0]!, lt: keyAfter(run.at(-1)!) });
        this.entries++;
        this.ranges++;
      } else this.deleteEach(run);
    }
  }

  private takesRanges(): boolean {
    const entries = Number(this.binding.db_get_property(this.db, "rocksdb.num-entries-active-mem-table"));
    // It is another one.
    if (entries < this.entriesSeen) this.ranges = 0;
    this.entriesSeen = entries;
    return this.ranges < this.rangesMax;
  }

  private deleteEach(keys: readonly Uint8Array[]): void {
    for (const key of keys) {
      this.binding.batch_del(this.batch, key, undefined);
      this.added();
    }
  }

  private added(): void {
    this.entries++;
    if (++this.inBatch === BATCH_OPERATIONS) this.flush();
  }

  private flush(): void {
    if (this.inBatch === 0) return;
    this.binding.batch_write(this.db, this.batch, undefined);
    this.binding.batch_clear(this.batch);
    this.inBatch = 0;
  }
}

function haveOnePrefix(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < ROW_PREFIX_BYTES; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * Whether they are a table's rows and each key is the next number after the one before it, as those of rising integers
 * are. What lies between two such keys begins with the first of them, and no row's key begins with another row's: there
 * is nothing to look for.
 */
function areConsecutive(keys: readonly Uint8Array[]): boolean {
  const [first, last] = [keys[0]!, keys.at(-1)!];
  if (!isRowKey(first) || keys.some(({ length }) => length !== first.length)) return false;
  return numberOf(last) - numberOf(first) === BigInt(keys.length - 1);
}

const numberOf = ({ buffer, byteOffset, length }: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(buffer, byteOffset, length).toString("hex")}`);

interface Run {
  readonly run: readonly Uint8Array[];
  /** There is no other entry among these keys. */
  readonly isAlone: boolean;
}

/** Ascending keys. */
function* runsOf(binding: Binding, db: Handle, keys: readonly Uint8Array[]): Generator<Run> {
  const range = { gte: keys[0]!, lt: keyAfter(keys.at(-1)!) };
  const iterator = binding.iterator_init(db, { ...range, ...KEYS_ONCE });
  try {
    let from = 0;
    let to = upToOther(binding, iterator, keys, 0);
    for (let others = 0; to < keys.length && others < OTHERS_MAX; others++) {
      if (to > from) yield { run: keys.slice(from, to), isAlone: true };
      from = to;
      binding.iterator_seek(iterator, keys[to]!);
      to = upToOther(binding, iterator, keys, to);
    }
    yield { run: keys.slice(from), isAlone: to === keys.length };
  } finally {
    binding.iterator_close(iterator);
  }
}

/** From the key at `from`: how many keys come before an entry that is none of them, or all. */
function upToOther(binding: Binding, iterator: Handle, keys: readonly Uint8Array[], from: number): number {
  let to = from;
  for (let entries = FIRST_LOOK_ENTRIES; ; entries = Math.min(4 * entries, LOOK_ENTRIES_MAX)) {
    const { rows, finished } = binding.iterator_nextv_sync(iterator, entries);
    for (let i = 0; i < rows.length; i += 2) {
      let order = -1;
      while (order < 0) order = Buffer.compare(keys[to++]!, rows[i]!);
      if (order > 0) return to - 1;
    }
    if (finished) return keys.length;
  }
}
