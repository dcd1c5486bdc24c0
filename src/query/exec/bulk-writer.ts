/**
 * Writes many new rows at once: rows and index entries are collected in a load, sorted, checked against each other and
 * against what is stored, and attached to the transaction as a whole. One per load; called by insert.ts for a
 * statement of many rows, and by bulk-insert.ts for a file. table-writer.ts writes single rows.
 */
import { type ForeignKeyDef, forbidsOverlap, storageOf, type TableDef } from "../../catalog/table.js";
import { type DbError, sqlError } from "../../protocol/errors.js";
import { LOAD_BYTES_MAX } from "../../protocol/limits.js";
import { batchesOf, inSteps } from "../../storage/in-steps.js";
import { beginKey, encodeKey } from "../../storage/key-codec.js";
import { watchKey } from "../../storage/keys.js";
import { Load } from "../../storage/load.js";
import type { LoadRun } from "../../storage/load-run.js";
import type { SpareMemory } from "../../storage/packed-run.js";
import { buildRecord } from "../../storage/record-codec.js";
import type { RunLog } from "../../storage/stored-run.js";
import type { Value } from "../../values/values.js";
import type { ChunkRecords } from "./chunk-records.js";
import { type ExecContext, storesAhead, type UnseenTable } from "./context.js";
import { loadKeyed, loadNumbered } from "./load-chunk.js";
import { entryPlaces, loadEntry, loadEntryOfPart } from "./load-entry.js";
import { type ReferencedKey, referencedKey } from "./referenced-key.js";
import { beginRowKeyOfNumber } from "./row-numbers.js";
import { RowsAside } from "./rows-aside.js";
import type { Chunk } from "./segments/chunk.js";
import { TableExpressions } from "./table-expressions.js";
import {
  type KeyLayout,
  keyText,
  keyValues,
  layoutOf,
  rowOfRecord,
  type TableLayout,
  valueText,
} from "./table-layout.js";
import { firesOnInsert } from "./table-triggers.js";
import { firstTaken } from "./unique-run.js";

/** Rows from which on it pays. */
export const BULK_ROWS = 1024;

/**
 * Keys looked up at a time, and between two looks at the clock: few enough for a load in a file, where each may be in a
 * place of its own.
 */
const STEP_KEYS = 64;
/** Rows that the log can have at once go there so many times as often as others go into a file. */
const LOADS_LOGGED = 4;
/** Keys that are sorted at a time. */
const SORTED_KEYS = 2048;

export type FindTable = (id: number) => TableDef | null;

interface IndexRun {
  readonly index: KeyLayout;
  readonly run: LoadRun;
  readonly places: readonly number[];
  /** Of a unique index: the row of each entry. */
  readonly rows: number[] | null;
}

interface Referenced {
  readonly foreignKey: ForeignKeyDef;
  readonly parent: TableDef;
  readonly key: ReferencedKey;
  /** Keys that must be there, as latin-1 text, with the first row of the load that refers to each. */
  wanted: Map<string, number>;
  /** The same of loads before; a later row of the table itself may have them. */
  readonly waiting: Map<string, Referring>;
}

interface Referring {
  /** Of all rows. */
  readonly number: number;
  readonly row: readonly Value[];
}

/** Keys of later rows that rows may refer to. */
const WAITING_MAX = 100_000;

/** Why the table's rows must be written one by one; null: they may be loaded. */
export function requiresSingleRows(table: TableDef, findTable: FindTable): string | null {
  if (table.immutable) return "a hash chain";
  if (firesOnInsert(table)) return "triggers";
  if (table.partitionKey !== undefined) return "partitions";
  if (table.indexes.some(({ deferrable }) => deferrable !== undefined)) return "deferrable keys";
  if (table.indexes.some(forbidsOverlap)) return "exclusion constraints";
  for (const key of table.foreignKeys ?? []) {
    const parent = findTable(key.tableId);
    if (key.deferrable || parent === null || referencedKey(parent, table, key) === null) return "foreign keys";
  }
  return null;
}

export class BulkWriter {
  /** The row, counted from 0, that `finish` or `add` has found fault with. */
  failing: number | null = null;
  private layout: TableLayout;
  private prefix: Buffer;
  private load!: Load;
  private rows!: LoadRun;
  private indexes!: readonly IndexRun[];
  private readonly references: readonly Referenced[];
  private readonly expressions: TableExpressions | null;
  /** Takes rows ahead of the commit; null: all wait for it. */
  private readonly unseen: UnseenTable | null;
  /** Has what memory is not to hold; null: there is nothing. */
  private aside: RowsAside | null = null;
  /** Takes it, if it is to be in the log; null: it is not, or nothing is there yet. */
  private logged: RunLog | null = null;
  /** Bytes of a load from which on it goes there. */
  private asideFrom: number;
  /** Bytes that may still be attached to the transaction. */
  private readonly room: number;
  /** Rows that either has taken. */
  private stored = 0;
  /** Some of them are stored ahead. */
  private isAhead = false;

  /**
   * The table is one that `requiresSingleRows` says nothing against. `load`: null where the transaction takes none, and
   * the rows are stored ahead.
   */
  constructor(
    table: TableDef,
    private readonly context: ExecContext,
    load: Load | null,
    findTable: FindTable,
  ) {
    this.layout = layoutOf(table);
    this.prefix = this.layout.rowPrefixOf(context.tenantNumber);
    this.unseen = storesAhead(table, context);
    this.room = load?.bytesMax ?? 0;
    this.asideFrom = (context.spill?.loadBytes ?? Number.POSITIVE_INFINITY) / LOADS_LOGGED;
    this.begin(this.unseen?.beginLoad() ?? load!);
    const checked = (table.foreignKeys ?? []).filter(({ unchecked }) => !unchecked);
    this.references = (context.isReplica ? [] : checked).map((foreignKey) => {
      const parent = findTable(foreignKey.tableId)!;
      return {
        foreignKey,
        parent,
        key: referencedKey(parent, table, foreignKey)!,
        wanted: new Map(),
        waiting: new Map(),
      };
    });
    this.expressions = this.layout.computed ? new TableExpressions(table, context) : null;
  }

  /** `spare`: memory for its rows. */
  private begin(load: Load, spare?: SpareMemory): void {
    const { layout, prefix, context } = this;
    this.load = load;
    this.rows = load.run(prefix, spare);
    this.indexes = layout.indexes.map((index) => {
      const run = load.run(index.prefixOf(context.tenantNumber));
      return { index, run, rows: index.unique ? [] : null, places: entryPlaces(index) };
    });
  }

  get count(): number {
    return this.stored + this.rows.size;
  }

  /** Where there are many rows, stores them somewhere, and goes on with none. Throws as `finish` does. */
  storeIfFull(): void | Promise<void> {
    const { unseen, load } = this;
    if (load.bytes >= this.asideFrom && (unseen === null || this.waitsAside(load))) return this.putAside();
    if (unseen !== null && load.bytes >= unseen.bytes) return this.store(unseen);
  }

  /**
   * Of rows that may be stored ahead: whether they wait in a file all the same, so that the statement need not wait for
   * the engine. Not too many do, and none of which the others must be asked for their keys.
   */
  private waitsAside({ bytes }: Load): boolean {
    const { context, aside, room } = this;
    if (this.isAhead || this.hasUniqueKeys || bytes > room) return false;
    return (aside?.bytes ?? 0) + bytes <= context.spill!.waitingBytesMax;
  }

  /** Whether the load may wait somewhere else; if not, when to ask again. */
  private mayWaitAside(): boolean {
    const { context, aside, layout, load } = this;
    const { tx, tenantNumber } = context;
    const spill = context.spill!;
    if (aside !== null) return true;
    // Followers are told of each row when the commit is made, and hold them in memory.
    const isWatched = tx.get(watchKey(tenantNumber, layout.table.id)) !== undefined;
    if (isWatched || !tx.storesLoads) this.asideFrom = Number.POSITIVE_INFINITY;
    else if (this.isRising) this.logged = tx.logAhead(this.prefix, (held) => spill.share([context.statement, held]));
    if (this.logged === null) this.asideFrom = Math.max(this.asideFrom, spill.loadBytes);
    return load.bytes >= this.asideFrom;
  }

  /** The load has rows only, in key order, and nobody must be asked for what they refer to. */
  private get isRising(): boolean {
    return this.rows.isInOrder && this.indexes.length === 0 && this.references.length === 0;
  }

  private async putAside(): Promise<void> {
    const { context, references, unseen } = this;
    if (!this.mayWaitAside()) return;
    // Later rows may be stored ahead.
    if (unseen !== null && this.aside === null) await inSteps(context, this.moving(unseen.move()));
    const { layout } = this;
    await inSteps(context, this.checking());
    for (const reference of references) await inSteps(context, this.requireSoon(reference));
    this.aside ??= new RowsAside(context, context.spill!, layout, this.logged);
    const { primaryKey } = layout;
    const rows = { key: primaryKey, run: this.rows, rowOf: primaryKey === null ? null : this.rowOf(this.rows, null) };
    const entries = this.indexes.map(({ index, run, rows: of }) => {
      return { key: index, run, rowOf: of === null ? null : this.rowOf(run, of) };
    });
    const spare = await this.aside.add([rows, ...entries], this.isRising);
    this.stored = this.aside.count;
    this.begin(new Load(context.tx.snapshot, LOAD_BYTES_MAX), spare);
  }

  private rowOf(run: LoadRun, rows: readonly number[] | null): (place: number) => number {
    return (place) => (rows === null ? run.numberAt(place) : rows[run.numberAt(place)]!);
  }

  private async store(unseen: UnseenTable): Promise<void> {
    const { context, load } = this;
    if (this.stored === 0) await inSteps(context, this.moving(unseen.move()));
    // Keys are looked for among those that were stored before.
    else if (this.hasUniqueKeys) await unseen.stored();
    this.isAhead = true;
    await inSteps(context, this.checking());
    await unseen.store(load);
    this.stored += this.rows.size;
    this.begin(unseen.beginLoad());
  }

  private *moving(table: TableDef): Generator<undefined, void> {
    const { tenantNumber } = this.context;
    this.layout = layoutOf(table);
    this.prefix = this.layout.rowPrefixOf(tenantNumber);
    yield* this.rows.move(this.prefix);
    for (const [i, { run }] of this.indexes.entries()) yield* run.move(this.layout.indexes[i]!.prefixOf(tenantNumber));
  }

  private get hasUniqueKeys(): boolean {
    return this.layout.primaryKey !== null || this.indexes.some(({ rows }) => rows !== null);
  }

  /** The ids of the columns that `add` reads of a row; null: all. */
  static columnsRead(table: TableDef): ReadonlySet<number> | null {
    if (layoutOf(table).computed) return null;
    const { primaryKey, indexes } = layoutOf(table);
    const keys = [primaryKey, ...indexes].flatMap((key) =>
      key === null ? [] : [...key.columnIds, ...(key.included?.ids ?? [])],
    );
    return new Set([...keys, ...(table.foreignKeys ?? []).flatMap(({ columns }) => columns)]);
  }

  /** Fills in generated columns. */
  generate(row: Value[]): void {
    this.expressions?.generate(row);
  }

  /** A row by column id; the array may be used again. */
  addRow(row: readonly Value[]): void {
    buildRecord(this.layout.types, row);
    this.beginRowKey(row);
    this.addEntries(row, this.load.addBuiltRow(this.rows));
  }

  /** The same with its record. */
  add(row: readonly Value[], record: Uint8Array): void {
    this.beginRowKey(row);
    this.addEntries(row, this.load.addBuiltKey(this.rows, record));
  }

  /**
   * Rows of a chunk, of which `records` has measured so many.
   * @param rowOf the values that keys and entries are made of, of one row of the group.
   */
  addChunk(chunk: Chunk, records: ChunkRecords, count: number, rowOf: (number: number) => readonly Value[]): void {
    const { load, rows } = this;
    if (this.layout.primaryKey === null) loadNumbered(load, rows, chunk, records, count, this.nextNumber(count));
    else loadKeyed(load, rows, chunk, records, count, (number) => this.beginRowKey(rowOf(number)));
    if (this.indexes.length === 0 && this.references.length === 0) return;
    for (let i = 0, number = rows.size - count; i < count; i++, number++) this.addEntries(rowOf(i), number);
  }

  /** Of a row that is in the load. */
  private addEntries(row: readonly Value[], number: number): void {
    const { load, expressions } = this;
    const { indexes } = this;
    if (indexes.length > 0) {
      const end = this.rows.valueStart(number);
      const start = end - this.rows.keyLengthOf(number) + this.prefix.length;
      const { bytes } = this.rows.slabOf(number);
      for (let i = 0; i < indexes.length; i++) {
        const { index, run, rows, places } = indexes[i]!;
        const values = index.computed ? expressions!.valuesOf(index, row) : row;
        if (values === null) continue;
        if (index.included === null) loadEntryOfPart(load, run, index, values, places, bytes, start, end);
        else loadEntry(load, run, index, values, places, bytes.subarray(start, end), row);
        rows?.push(number);
      }
    }
    for (const reference of this.references) this.refer(reference, row, number);
  }

  /** Sorts, checks and attaches. Throws 23505 and 23503, with `failing` set. */
  finish(): void | Promise<void> {
    if (this.aside !== null && !this.isAhead) return this.finishAside(this.aside);
    if (this.isAhead || (this.unseen !== null && this.load.bytes > this.room)) return this.finishStored();
    return this.rows.size === 0 ? undefined : inSteps(this.context, this.finishing());
  }

  /** The rest goes the usual way, if the transaction has room for it. */
  private async finishStored(): Promise<void> {
    if (this.load.bytes > this.room) await this.store(this.unseen!);
    await this.unseen!.stored();
    this.unseen!.keep();
    if (this.aside !== null) await inSteps(this.context, this.merging(this.aside));
    if (this.rows.size > 0) await inSteps(this.context, this.finishing());
  }

  private async finishAside(aside: RowsAside): Promise<void> {
    if (this.rows.size > 0) await this.putAside();
    await inSteps(this.context, this.merging(aside));
  }

  private *merging(aside: RowsAside): Generator<undefined, void> {
    const { tx } = this.context;
    const load = new Load(tx.snapshot, LOAD_BYTES_MAX);
    const twice = yield* aside.merge(load);
    if (twice !== null) throw this.duplicate(twice.key, twice.number, twice.row);
    tx.attach(load);
    for (const reference of this.references) yield* this.requireReferenced(reference);
  }

  /** Sorts, and looks for keys that are there twice. */
  private *checking(): Generator<undefined, void> {
    const { load, layout } = this;
    yield* load.sort();
    if (layout.primaryKey !== null) yield* this.requireUnique(layout.primaryKey, this.rows, null);
    for (const { index, run, rows } of this.indexes) if (rows !== null) yield* this.requireUnique(index, run, rows);
  }

  private *finishing(): Generator<undefined, void> {
    yield* this.checking();
    this.context.tx.attach(this.load);
    for (const reference of this.references) yield* this.requireReferenced(reference);
  }

  private beginRowKey(row: readonly Value[]): void {
    const { prefix } = this;
    const { primaryKey } = this.layout;
    if (primaryKey !== null) beginKey(prefix, primaryKey.columns, row, primaryKey.columnIds);
    else beginRowKeyOfNumber(prefix, this.nextNumber(1));
  }

  private nextNumber(rows: number): number {
    const { rowNumbers, tenantNumber } = this.context;
    return rowNumbers.next(tenantNumber, storageOf(this.layout.table), rows);
  }

  private *requireUnique(key: KeyLayout, run: LoadRun, rows: readonly number[] | null): Generator<undefined, void> {
    const first = yield* firstTaken(this.context.tx, run, this.rowOf(run, rows));
    if (first !== Number.POSITIVE_INFINITY) throw this.duplicate(key, this.stored + first, this.rowAt(first));
  }

  private refer({ foreignKey, key, wanted }: Referenced, row: readonly Value[], number: number): void {
    const values: Value[] = key.sources.map((id) => row[id]!);
    if (values.includes(null)) {
      if (foreignKey.match === "simple" || values.every((value) => value === null)) return;
      this.failing = this.stored + number;
      throw this.violation(foreignKey, "MATCH FULL does not allow mixing of null and nonnull key values.");
    }
    const { layout } = key;
    const text = encodeKey(layout.prefixOf(this.context.tenantNumber), layout.columns, values).toString("latin1");
    if (!wanted.has(text)) wanted.set(text, number);
  }

  /** All rows are attached. */
  private *requireReferenced(reference: Referenced): Generator<undefined, void> {
    const { wanted, waiting, foreignKey, parent } = reference;
    let first: Referring | null = null;
    for (const text of yield* this.missing([...waiting.keys()])) {
      const referring = waiting.get(text)!;
      if (first === null || referring.number < first.number) first = referring;
    }
    let next = Number.POSITIVE_INFINITY;
    for (const text of yield* this.missing([...wanted.keys()])) next = Math.min(next, wanted.get(text)!);
    if (first === null && next === Number.POSITIVE_INFINITY) return;
    throw this.unreferenced(foreignKey, parent, first ?? { number: next + this.stored, row: this.rowAt(next) });
  }

  /** The same while rows of the table itself may still come. */
  private *requireSoon(reference: Referenced): Generator<undefined, void> {
    const { wanted, waiting, foreignKey, parent } = reference;
    const isOwn = parent.id === this.layout.table.id;
    let first = Number.POSITIVE_INFINITY;
    const missing = yield* this.missing([...wanted.keys()]);
    if (!isOwn) for (const text of missing) first = Math.min(first, wanted.get(text)!);
    else {
      for (const [i, text] of (yield* this.notCollected(missing)).entries()) {
        if (waiting.has(text)) continue;
        if (i % STEP_KEYS === 0) yield;
        const number = wanted.get(text)!;
        waiting.set(text, { number: this.stored + number, row: this.rowAt(number) });
        if (waiting.size > WAITING_MAX) throw tooManyWaiting(foreignKey);
      }
    }
    reference.wanted = new Map();
    if (first === Number.POSITIVE_INFINITY) return;
    throw this.unreferenced(foreignKey, parent, { number: this.stored + first, row: this.rowAt(first) });
  }

  /** Those of the keys that no row has which was collected so far. In steps. */
  private *notCollected(texts: readonly string[]): Generator<undefined, readonly string[]> {
    const { load, aside } = this;
    const missing: string[] = [];
    for (const [i, text] of texts.entries()) {
      if (i % STEP_KEYS === 0) yield;
      if (load.find(Buffer.from(text, "latin1")) === undefined) missing.push(text);
    }
    return aside === null ? missing : yield* aside.without(missing);
  }

  /**
   * Those of the keys that the transaction does not find. Another one must not remove what was found.
   */
  private *missing(texts: readonly string[]): Generator<undefined, readonly string[]> {
    const { tx } = this.context;
    const missing: string[] = [];
    for (const some of stepsInOrder(texts)) {
      const found = tx.expectFound(() => tx.getMany(some.map((text) => Buffer.from(text, "latin1"))));
      found.forEach((stored, i) => {
        if (stored === undefined) missing.push(some[i]!);
      });
      yield;
    }
    return missing;
  }

  private unreferenced(foreignKey: ForeignKeyDef, parent: TableDef, { number, row }: Referring): DbError {
    const { context } = this;
    this.failing = number;
    const { types, table } = this.layout;
    const names = foreignKey.columns.map((id) => table.columns.find((column) => column.id === id)!.name);
    const texts = foreignKey.columns.map((id) => valueText(types[id]!, row[id] ?? null, context.timeZone));
    const told = context.hidesRows ? "Key" : `Key (${names.join(", ")})=(${texts.join(", ")})`;
    const detail = `${told} is not present in table "${parent.name}".`;
    return this.violation(foreignKey, detail);
  }

  private violation({ name: constraint }: ForeignKeyDef, detail: string): DbError {
    const { schema, name: table } = this.layout.table;
    const message = `insert or update on table "${table}" violates foreign key constraint "${constraint}"`;
    return sqlError("23503", message, { detail, schema, table, constraint });
  }

  private duplicate(key: KeyLayout, number: number, row: Value[]): DbError {
    this.failing = number;
    const values = this.expressions === null ? keyValues(key, row) : (this.expressions.valuesOf(key, row) ?? []);
    return sqlError("23505", `duplicate key value violates unique constraint "${key.name}"`, {
      ...(!this.context.hidesRows && { detail: `Key ${keyText(key, values, this.context.timeZone)} already exists.` }),
      schema: this.layout.table.schema,
      table: this.layout.table.name,
      constraint: key.name,
    });
  }

  /** The row with a number, by column id. */
  private rowAt(number: number): Value[] {
    return rowOfRecord(this.layout, this.rows.valueOf(number)!);
  }
}

function* stepsInOrder(texts: readonly string[]): Generator<readonly string[], void> {
  for (const some of batchesOf(texts, SORTED_KEYS)) yield* batchesOf(some.sort(), STEP_KEYS);
}

function tooManyWaiting({ name }: ForeignKeyDef): DbError {
  return sqlError(
    "54000",
    `more than ${WAITING_MAX} rows refer to later rows of the same table (constraint "${name}")`,
    {
      hint: "Order the rows so that those that others refer to come first, or insert fewer rows at a time.",
    },
  );
}
