/**
 * Loads of one writer of rows (bulk-writer.ts) that have more than memory is to hold: each goes into a file, sorted and
 * checked by itself, or at once into the commit log. In the end they are merged, which finds keys that two of them
 * have, and become one load of the transaction. Nobody sees them before. Owned by the writer; the transaction closes
 * the file.
 */
import { batchesOf, inSteps } from "../../storage/in-steps.js";
import type { Load } from "../../storage/load.js";
import type { LoadRun } from "../../storage/load-run.js";
import type { SpareMemory } from "../../storage/packed-run.js";
import type { SortedRun } from "../../storage/sorted-run.js";
import { type RunLog, StoredRun } from "../../storage/stored-run.js";
import type { Value } from "../../values/values.js";
import type { ExecContext } from "./context.js";
import { suffixOf } from "./entry-value.js";
import type { SpillArea, SpillFile } from "./spill/spill-area.js";
import { type KeyLayout, rowOfRecord, type TableLayout } from "./table-layout.js";

/** Keys that are sorted at a time, and looked up between two looks at the clock. */
const KEYS_AT_ONCE = 2048;
const KEYS_PER_LOOK = 16;

/** A run of a load, with the key that its writes are of. */
export interface KeyedRun {
  /** Null: rows of a table without a primary key. */
  readonly key: KeyLayout | null;
  readonly run: LoadRun;
  /** The number of the row of a write, from 0 in this load; null: keys may be there several times. */
  readonly rowOf: ((place: number) => number) | null;
}

/** A row whose key another one has. */
export interface TwiceFound {
  readonly key: KeyLayout;
  readonly number: number;
  /** By column id. */
  readonly row: Value[];
}

export class RowsAside {
  /** Rows that are here. */
  count = 0;
  /** Made when something goes there. */
  private spilled: SpillFile | null = null;
  /** By place among the runs of a load; those of rows come first. */
  private readonly stored: StoredRun[][] = [];
  private readonly keys: KeyedRun["key"][] = [];

  constructor(
    private readonly context: ExecContext,
    private readonly spill: SpillArea,
    private readonly layout: TableLayout,
    /** Takes loads that have nothing but rows in key order; null: they go into the file. */
    private readonly logged: RunLog | null,
  ) {}

  private get file(): SpillFile {
    const { context, spill } = this;
    this.spilled ??= context.tx.holdFile((held) => spill.open(context.statement, held));
    return this.spilled;
  }

  /** In the file and in the log. */
  get bytes(): number {
    return (this.spilled?.length ?? 0) + (this.logged?.length ?? 0);
  }

  /**
   * A load that is sorted and checked, its rows first. `isRising`: it has nothing else, added in key order. Answers
   * memory that nobody looks at any more.
   */
  async add(runs: readonly KeyedRun[], isRising: boolean): Promise<SpareMemory> {
    const { context, logged, count } = this;
    const { key, run } = runs[0]!;
    if (logged === null || !isRising) {
      await inSteps(context, this.spilling(runs));
      return { slabs: [], blocks: [] };
    }
    this.keys[0] = key;
    this.stored[0] ??= [];
    this.stored[0].push(await logged.write(run, key === null ? null : count, context));
    this.count += run.size;
    return run.takeMemory();
  }

  private *spilling(runs: readonly KeyedRun[]): Generator<undefined, void> {
    const { count } = this;
    for (const [i, { key, run, rowOf }] of runs.entries()) {
      this.keys[i] = key;
      this.stored[i] ??= [];
      this.stored[i].push(yield* StoredRun.of(run, this.file, rowOf === null ? null : (place) => count + rowOf(place)));
    }
    this.count += runs[0]!.run.size;
  }

  /** Those of the keys, which begin with one prefix, that have no write here. In steps. */
  *without(texts: readonly string[]): Generator<undefined, readonly string[]> {
    const missing: string[] = [];
    for (const some of batchesOf(texts, KEYS_AT_ONCE)) {
      some.sort();
      yield;
      let left: readonly Buffer[] = some.map((text) => Buffer.from(text, "latin1"));
      const runs = this.stored.find(([run]) => isBegun(left[0]!, run!.prefix)) ?? [];
      for (const run of runs) left = yield* keysWithout(run, left);
      for (const key of left) missing.push(key.toString("latin1"));
    }
    return missing;
  }

  /** All writes go into the load. Answers the first row whose key an earlier one has; null: there is none. In steps. */
  *merge(into: Load): Generator<undefined, TwiceFound | null> {
    let found: {
      readonly key: KeyLayout;
      readonly number: number;
      readonly run: StoredRun;
      readonly place: number;
    } | null = null;
    const merged: StoredRun[] = [];
    for (const [i, runs] of this.stored.entries()) {
      const key = this.keys[i]!;
      const note = (one: StoredRun, place: number, other: StoredRun, otherPlace: number): void => {
        const number = one.rowNumberAt(place);
        const otherNumber = other.rowNumberAt(otherPlace);
        if (Math.max(number, otherNumber) >= (found?.number ?? Number.POSITIVE_INFINITY)) return;
        found =
          number > otherNumber
            ? { key, number, run: one, place }
            : { key, number: otherNumber, run: other, place: otherPlace };
      };
      merged.push(yield* StoredRun.merged(runs, runs[0]!.hasNumbers ? note : null, () => this.file));
    }
    into.takeStored(merged, merged[0]!.file);
    if (found === null) return null;
    const { key, number, run, place } = found as NonNullable<typeof found>;
    return { key, number, row: rowOfRecord(this.layout, this.recordOf(key, run, place)) };
  }

  private recordOf(key: KeyLayout, run: StoredRun, place: number): Uint8Array {
    const { value } = run.operationAt(place);
    if (key === this.layout.primaryKey) return value!;
    const rows = this.stored[0]!;
    const rowKey = Buffer.concat([rows[0]!.prefix, suffixOf(key, value!)]);
    for (const each of rows) {
      const at = find(each, rowKey);
      if (at !== null) return each.operationAt(at).value!;
    }
    throw new Error("an entry has no row");
  }
}

function isBegun(key: Buffer, prefix: Uint8Array): boolean {
  return key.subarray(0, prefix.length).equals(prefix);
}

/** Those of sorted keys that the run does not have: each of its slabs is read once. In steps. */
function* keysWithout(run: StoredRun, keys: readonly Buffer[]): Generator<undefined, Buffer[]> {
  const missing: Buffer[] = [];
  for (const [i, key] of keys.entries()) {
    if (i % KEYS_PER_LOOK === 0) yield;
    if (find(run, key) === null) missing.push(key);
  }
  return missing;
}

/** The place of the key; null: it has none. */
function find(run: SortedRun, key: Uint8Array): number | null {
  const place = run.lowerBound(key);
  return place < run.size && Buffer.compare(run.keyOf(run.numberAt(place)), key) === 0 ? place : null;
}
