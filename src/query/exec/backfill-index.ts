/**
 * Fills a new index: makes the entries of all rows as a load, sorted and checked as a whole. Rows come from a scan of
 * the columns that the entries need, which reads column segments where the table has them. Called by the session
 * within the statement's transaction. Writers go on meanwhile: what they commit is made up for before the transaction's
 * own commit (`Transaction.follow`). Of a long table whose columns are in files, task threads make them
 * (index-runs.ts).
 */
import type { IndexBuild } from "../../catalog/index-build.js";
import { forbidsOverlap, type IndexDef, storageOf, type TableDef } from "../../catalog/table.js";
import { type DbError, sqlError } from "../../protocol/errors.js";
import { inSteps } from "../../storage/in-steps.js";
import { encodeKey } from "../../storage/key-codec.js";
import { prefixRange } from "../../storage/keys.js";
import type { Load } from "../../storage/load.js";
import type { LoadRun } from "../../storage/load-run.js";
import type { RangeFollower, Transaction } from "../../storage/store.js";
import { BYTEA, type Value } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import { newColumnId } from "../optimize/new-column-id.js";
import type { OutputColumn, ScanPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { entryValue, suffixOf } from "./entry-value.js";
import { IndexRuns } from "./index-runs.js";
import { entryPlaces, loadEntry } from "./load-entry.js";
import { after, drain, inOrder, inTurns } from "./operator.js";
import { compileScan } from "./scan.js";
import { areSettling, settledSegments } from "./segments/await-segments.js";
import { TableExpressions } from "./table-expressions.js";
import {
  entryKey,
  indexLayout,
  joinKey,
  type KeyLayout,
  keyText,
  keyValues,
  layoutOf,
  rowOfRecord,
  type TableLayout,
} from "./table-layout.js";
import { emptyRow, type Row, TableWriter } from "./table-writer.js";

const NO_PREFIX = new Uint8Array(0);
/** Entries between two looks at the clock. */
const STEP_ENTRIES = 1024;

/**
 * Makes the entries of an index for all rows of the table; `index` need not be part of the definition yet. Throws 23505
 * when it is unique and two rows have the same values.
 */
export function backfillIndex(context: ExecContext, table: TableDef, index: IndexDef): void | Promise<void> {
  // A deferrable key looks at the entries that it has made.
  const load = index.deferrable || forbidsOverlap(index) ? null : context.tx.beginLoad();
  return new IndexFill(context, table, index, load).run();
}

class IndexFill implements RangeFollower {
  private readonly layout: TableLayout;
  private readonly key: KeyLayout;
  private readonly expressions: TableExpressions | null;
  /** Ids of the columns that the scan reads; behind them it may give the row's key. */
  private readonly ids: readonly number[];
  private readonly row: Row;
  private readonly rowPrefix: Buffer;
  private readonly entries: LoadRun | null;
  private readonly writer: TableWriter;
  private readonly places: readonly number[];
  private readonly build: IndexBuild;

  constructor(
    private readonly context: ExecContext,
    private readonly table: TableDef,
    private readonly index: IndexDef,
    /** Null: the entries are written one by one. */
    private readonly load: Load | null,
  ) {
    const { tenantNumber } = context;
    this.layout = layoutOf(table);
    this.key = indexLayout(table, index);
    this.expressions = this.key.computed ? new TableExpressions(table, context) : null;
    const { columnIds, included, computed } = this.key;
    const needed = [...columnIds, ...(included?.ids ?? []), ...(this.layout.primaryKey?.columnIds ?? [])];
    this.ids = computed ? table.columns.map(({ id }) => id) : [...new Set(needed)];
    this.row = emptyRow(table);
    this.rowPrefix = this.layout.rowPrefixOf(tenantNumber);
    this.entries = load?.run(this.key.prefixOf(tenantNumber)) ?? null;
    this.writer = new TableWriter(table, context);
    this.places = entryPlaces(this.key);
    const rowsExpected = context.tx.unread(() => context.services.estimatedRows(table));
    this.build = { table, index, phase: "scanning table", rows: 0, rowsExpected };
  }

  run(): void | Promise<void> {
    const { context, layout } = this;
    const { segments: cache, tenantNumber } = context;
    if (cache === null || !areSettling(cache, tenantNumber, layout)) return this.fill();
    return settledSegments(cache, tenantNumber, layout, context).then(() => this.fill());
  }

  private fill(): void | Promise<void> {
    const { context, rowPrefix, load, key, layout } = this;
    // Entries that were written one by one are not followed: there, writers meanwhile are a conflict.
    const tx = load === null ? context.tx : context.tx.frozen(false);
    if (load !== null) context.tx.follow(prefixRange(rowPrefix), this);
    const endShow = context.services.showBuild(this.build);
    const ids = this.ids.filter((id) => key.columnIds.includes(id) || key.included?.ids.includes(id) === true);
    const add = (to: Load, run: LoadRun, rowKey: Uint8Array, record: Uint8Array): void => {
      const row = rowOfRecord(layout, record);
      loadEntry(to, run, key, row, this.places, rowKey.subarray(rowPrefix.length), row);
    };
    const runs = load === null ? null : IndexRuns.of(context, tx, layout, key, ids, load, add);
    return runs === null ? this.scan(tx, endShow) : this.fillInThreads(runs, tx, endShow);
  }

  private async fillInThreads(runs: IndexRuns, tx: Transaction, endShow: () => void): Promise<void> {
    const showRows = (): void => {
      this.build.rows = runs.rows;
    };
    let isScanned = false;
    try {
      if (await runs.fill(this.entries!, showRows)) return await inSteps(this.context, this.finish());
      this.build.rows = 0;
      isScanned = true;
      await this.scan(tx, endShow);
    } finally {
      if (!isScanned) endShow();
    }
  }

  private scan(tx: Transaction, endShow: () => void): void | Promise<void> {
    const { context } = this;
    const segments = this.isHeld() ? context.segments : null;
    const operator = compileScan(this.scanPlan())({ ...context, segments, tx });
    const close = (): void => {
      endShow();
      operator.close();
    };
    let isPending = false;
    try {
      const filled = drain(
        operator,
        (batch) => this.takeRows(batch),
        () => inSteps(context, this.finish()),
      );
      isPending = filled instanceof Promise;
      return filled instanceof Promise ? filled.finally(close) : filled;
    } finally {
      if (!isPending) close();
    }
  }

  /** Rows without a primary key are told apart by their keys only; those are given behind the columns. */
  private scanPlan(): ScanPlan {
    const { table, layout, ids } = this;
    const columns = ids.map((id): OutputColumn => {
      const { name } = table.columns.find((column) => column.id === id)!;
      return { id: newColumnId(), name, type: layout.types[id]!, nullable: true };
    });
    const rowKey = layout.primaryKey === null ? newColumnId() : null;
    if (rowKey !== null) columns.push({ id: rowKey, name: "key", type: BYTEA, nullable: false });
    return { kind: "scan", table, alias: table.name, columns, source: ids, filter: null, reverse: false, rowKey };
  }

  /** Whether column segments have all that is needed. To make them for this alone would take longer than to read. */
  private isHeld(): boolean {
    const { context, layout, ids } = this;
    const held = context.segments?.find(context.tenantNumber, layout, []) ?? null;
    return held !== null && held.segments.length > 0 && ids.every((id) => held.holds(layout, id) === "yes");
  }

  private takeRows({ columns, length }: Batch): void | Promise<void> {
    const { ids, row, rowPrefix, layout } = this;
    const keys = layout.primaryKey === null ? columns[ids.length]! : null;
    const take = (number: number): void | Promise<void> => {
      for (let i = 0; i < ids.length; i++) row[ids[i]!] = columns[i]![number]!;
      return this.takeRow(keys === null ? layout.primaryKey! : (keys[number] as Uint8Array).subarray(rowPrefix.length));
    };
    const done = (): void => {
      this.build.rows += length;
    };
    // A search for what a row excludes may wait.
    return this.key.overlap
      ? inOrder(this.context, length, take, done)
      : inTurns(this.context, length, (number) => void take(number), done);
  }

  /** `suffix`: of the row's key, or the primary key. */
  private takeRow(suffix: Uint8Array | KeyLayout): void | Promise<void> {
    const { key, row, load, entries, places, expressions } = this;
    const values = expressions === null ? row : expressions.valuesOf(key, row);
    if (values === null) return;
    if (load !== null) loadEntry(load, entries!, key, values, places, suffix, row);
    else
      return this.takeSingle(
        places.map((place) => values[place]!),
        suffix instanceof Uint8Array ? suffix : encodeKey(NO_PREFIX, suffix.columns, keyValues(suffix, row)),
      );
  }

  isWanted(): boolean {
    const { table, index, context } = this;
    const now = context.services.catalogView().tableById(table.id);
    return now !== null && storageOf(now) === storageOf(table) && now.indexes.some(({ id }) => id === index.id);
  }

  removed(key: Uint8Array, value: Uint8Array): void {
    const change = this.entryOf(key, value);
    if (change !== null) this.context.tx.delete(change.entry);
  }

  added(key: Uint8Array, value: Uint8Array): void {
    const change = this.entryOf(key, value);
    if (change === null) return;
    const { tx } = this.context;
    const { entry, values, row, suffix } = change;
    if (this.index.unique && tx.get(entry) !== undefined) throw this.duplicate(values);
    tx.put(entry, Buffer.from(entryValue(this.key, row, suffix)));
  }

  /** Of a stored row; null: it has none. */
  private entryOf(rowKey: Uint8Array, record: Uint8Array) {
    const { key, layout, expressions, rowPrefix, context } = this;
    const row = rowOfRecord(layout, record);
    const values = expressions === null ? keyValues(key, row) : expressions.valuesOf(key, row);
    if (values === null) return null;
    const suffix = rowKey.subarray(rowPrefix.length);
    return { entry: entryKey(key, context.tenantNumber, values, suffix), values, row, suffix };
  }

  private takeSingle(values: readonly Value[], suffix: Uint8Array): void | Promise<void> {
    const { key, row, index, context, writer } = this;
    const { tx, tenantNumber } = context;
    const entry = entryKey(key, tenantNumber, values, suffix);
    const isTaken = index.unique ? tx.get(entry) !== undefined : key.deferrable && writer.isTaken(index, row);
    return after(isTaken, (taken) => {
      if (taken) throw this.duplicate(values);
      tx.put(entry, Buffer.from(entryValue(key, row, suffix)));
    });
  }

  private *finish(): Generator<undefined, void> {
    const { load, entries, index, context } = this;
    if (load === null || entries === null || entries.size === 0) return;
    this.build.phase = "sorting live tuples";
    yield* load.sort();
    this.build.phase = "loading tuples in tree";
    for (let from = 1; index.unique && from < entries.size; from += STEP_ENTRIES) {
      const repeated = entries.firstRepeated(from, Math.min(from + STEP_ENTRIES, entries.size));
      if (repeated >= 0) throw this.duplicate(this.valuesAt(repeated));
      yield;
    }
    context.tx.attach(load);
  }

  /** The index's values of the row of an entry. */
  private valuesAt(place: number): readonly Value[] {
    const { key, rowPrefix, layout, expressions, context } = this;
    const rowKey = joinKey(rowPrefix, suffixOf(key, this.entries!.operationAt(place).value!));
    const row = rowOfRecord(layout, context.tx.get(rowKey)!);
    return expressions === null ? keyValues(key, row) : expressions.valuesOf(key, row)!;
  }

  private duplicate(values: readonly Value[]): DbError {
    const { table, index } = this;
    const text = keyText(this.key, values, "UTC");
    const at = { schema: table.schema, table: table.name, constraint: index.name };
    if (index.exclusion) {
      const detail = `Key ${text} conflicts with key ${text}.`;
      return sqlError("23P01", `could not create exclusion constraint "${index.name}"`, { detail, ...at });
    }
    const detail = `Key ${text} is duplicated.`;
    return sqlError("23505", `could not create unique index "${index.name}"`, { detail, ...at });
  }
}
