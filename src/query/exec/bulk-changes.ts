/**
 * Removes or changes many rows of a table at once: the keys to remove and the rows to write are collected in two
 * loads, sorted, checked and attached to the transaction. Made by TableWriter for one statement (`beginChanges`).
 */
import type { Memory } from "../../storage/copy-bytes.js";
import { inSteps } from "../../storage/in-steps.js";
import type { Load } from "../../storage/load.js";
import type { LoadRun } from "../../storage/load-run.js";
import type { Value } from "../../values/values.js";
import type { ChunkRecords } from "./chunk-records.js";
import type { ExecContext } from "./context.js";
import { loadKeyed } from "./load-chunk.js";
import { entryPlaces, loadEntry, loadRemoval, loadRowRemoval } from "./load-entry.js";
import type { Chunk } from "./segments/chunk.js";
import type { KeyLayout, TableLayout } from "./table-layout.js";
import { firstTaken } from "./unique-run.js";

/** A load with a run for the rows and one for each index. */
interface TableLoad {
  readonly load: Load;
  readonly rows: LoadRun;
  readonly indexes: readonly LoadRun[];
}

export class BulkChanges {
  /** What goes; it counts for less than what comes. */
  private readonly stale: TableLoad;
  /** What comes; null: nothing does. */
  private readonly fresh: TableLoad | null;
  /** Of unique indexes: the row of each new entry. */
  private readonly rowsOf: readonly number[][];
  /** By index; see `entryPlaces`. */
  private readonly places: readonly (readonly number[])[];

  private constructor(
    private readonly layout: TableLayout,
    private readonly context: ExecContext,
    stale: Load,
    fresh: Load | null,
  ) {
    this.stale = this.prepared(stale);
    this.fresh = fresh === null ? null : this.prepared(fresh);
    this.rowsOf = layout.indexes.map(() => []);
    this.places = layout.indexes.map(entryPlaces);
  }

  /** Null: the transaction takes no more loads, or the table's rows must be changed one by one. */
  static begin(layout: TableLayout, context: ExecContext, removesOnly: boolean): BulkChanges | null {
    if (!removesOnly && layout.indexes.some(({ deferrable }) => deferrable)) return null;
    const stale = context.tx.beginLoad();
    const fresh = removesOnly ? null : context.tx.beginLoad();
    if (stale === null || (fresh === null && !removesOnly)) return null;
    return new BulkChanges(layout, context, stale, fresh);
  }

  private prepared(load: Load): TableLoad {
    const { layout, context } = this;
    const indexes = layout.indexes.map((index) => load.run(index.prefixOf(context.tenantNumber)));
    return { load, rows: load.run(layout.rowPrefixOf(context.tenantNumber)), indexes };
  }

  /** `key` null: it is made of the row's primary key. */
  removeRow(key: Uint8Array | null, row: readonly Value[]): void {
    const { load, rows } = this.stale;
    if (key === null) loadRowRemoval(load, rows, this.layout.primaryKey!, row);
    else load.add(rows, key, null);
  }

  /** `place`: of the index in the layout. `values` and `suffix`: of its key, as `loadEntry` takes them. */
  removeEntry(place: number, values: readonly Value[], suffix: Uint8Array | KeyLayout, row: readonly Value[]): void {
    const { stale, layout, places } = this;
    loadRemoval(stale.load, stale.indexes[place]!, layout.indexes[place]!, values, places[place]!, suffix, row);
  }

  /** Of rows (null) or entries, as `removeEntry` has the place: so many of one length, end to end. */
  removeKeys(place: number | null, keys: Memory, length: number, count: number): void {
    const { load, rows, indexes } = this.stale;
    load.removeKeys(place === null ? rows : indexes[place]!, keys, length, count);
  }

  /** With the record that record-codec.ts has built. Answers the row's number. */
  putRow(key: Uint8Array): number {
    return this.fresh!.load.addWithRecord(this.fresh!.rows, key);
  }

  /** Rows of a chunk: as `loadKeyed`. */
  putChunk(chunk: Chunk, records: ChunkRecords, count: number, beginKey: (number: number) => void): void {
    loadKeyed(this.fresh!.load, this.fresh!.rows, chunk, records, count, beginKey);
  }

  /** `number`: of the row. */
  putEntry(place: number, values: readonly Value[], suffix: Uint8Array, row: readonly Value[], number: number): void {
    const fresh = this.fresh!;
    const index = this.layout.indexes[place]!;
    loadEntry(fresh.load, fresh.indexes[place]!, index, values, this.places[place]!, suffix, row);
    if (index.unique) this.rowsOf[place]!.push(number);
  }

  /**
   * Once all has been collected.
   * @param isKeyAssigned whether rows may have got other primary keys; then all of them must have been removed.
   * @param assigned ids of the columns in which rows may have changed.
   * @param duplicate the error for a key and a record that another row stands in the way of.
   */
  finish(
    isKeyAssigned: boolean,
    assigned: ReadonlySet<number>,
    duplicate: (key: KeyLayout, record: Uint8Array) => Error,
  ): void | Promise<void> {
    if (!isKeyAssigned && this.fresh !== null) this.fresh.rows.changedColumns = assigned;
    return inSteps(this.context, this.finishing(isKeyAssigned, duplicate));
  }

  private *finishing(
    isKeyAssigned: boolean,
    duplicate: (key: KeyLayout, record: Uint8Array) => Error,
  ): Generator<undefined, void> {
    const { stale, fresh, layout, context } = this;
    const { tx } = context;
    yield* stale.load.sort();
    if (stale.load.size > 0) tx.attach(stale.load);
    if (fresh === null || fresh.load.size === 0) return;
    yield* fresh.load.sort();
    const { rows } = fresh;
    const refuse = (key: KeyLayout, row: number) => {
      if (row !== Number.POSITIVE_INFINITY) throw duplicate(key, rows.valueOf(row)!);
    };
    if (isKeyAssigned) refuse(layout.primaryKey!, yield* firstTaken(tx, rows, (at) => rows.numberAt(at)));
    for (const [place, index] of layout.indexes.entries()) {
      if (!index.unique) continue;
      const run = fresh.indexes[place]!;
      const numbers = this.rowsOf[place]!;
      refuse(index, yield* firstTaken(tx, run, (at) => numbers[run.numberAt(at)]!));
    }
    tx.attach(fresh.load);
  }
}
