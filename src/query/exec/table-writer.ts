/**
 * The only place that writes rows: records, index entries and the constraints that storage can check (NOT NULL,
 * primary key, unique). One writer per run of a data-modifying operator; its writes are in the statement's
 * transaction.
 *
 * Rows are arrays by column id. table-layout.ts describes their layout in storage.
 */
import { type IndexDef, storageOf, type TableDef } from "../../catalog/table.js";
import { type DbError, sqlError } from "../../protocol/errors.js";
import { encodeKey } from "../../storage/key-codec.js";
import { prefixRange, storageIdOf } from "../../storage/keys.js";
import { buildRecord, encodeRecord } from "../../storage/record-codec.js";
import type { Value } from "../../values/values.js";
import { BulkChanges } from "./bulk-changes.js";
import { isSameEntry, type Move, touches } from "./changed-entries.js";
import type { ConstraintEvent } from "./constraint-event.js";
import type { ExecContext } from "./context.js";
import { entryValue, suffixOf } from "./entry-value.js";
import { ChainWriter, chainPrefix } from "./hash-chain.js";
import { entryPlaces } from "./load-entry.js";
import { after } from "./operator.js";
import { canOverlap, looksAtMany, type Neighbour, overlappingNeighbour } from "./overlap-key.js";
import { policyViolation, type RowCheck } from "./row-checks.js";
import { rowKeyOfNumber } from "./row-numbers.js";
import { TableExpressions } from "./table-expressions.js";
import {
  entryKey,
  joinKey,
  type KeyLayout,
  keyLayoutOf,
  keyText,
  keyValues,
  layoutOf,
  rowOfRecord,
  type TableLayout,
  valueText,
} from "./table-layout.js";

export type Row = Value[];

/** The key of a row; a promise where the search for it gave way. */
type Found = Uint8Array | null | Promise<Uint8Array | null>;

export class TableWriter {
  private readonly layout: TableLayout;
  private readonly rowPrefix: Buffer;
  private readonly expressions: TableExpressions | null;
  /** By index; see `entryPlaces`. */
  private readonly places: readonly (readonly number[])[];
  private readonly chain: ChainWriter | null;
  private changes: BulkChanges | null = null;

  /** `shown`: ids of the columns as messages show a failing row; they are those of the table that a statement names. */
  constructor(
    table: TableDef,
    private readonly context: ExecContext,
    private readonly shown: readonly number[] | null = null,
  ) {
    this.layout = layoutOf(table);
    this.rowPrefix = this.layout.rowPrefixOf(context.tenantNumber);
    this.places = this.layout.indexes.map(entryPlaces);
    this.expressions = this.layout.computed ? new TableExpressions(table, context) : null;
    this.chain = table.immutable
      ? new ChainWriter(chainPrefix(context.tenantNumber, storageOf(table)), context.tx)
      : null;
  }

  /** Fills in generated columns; call it before the row is checked. */
  generate(row: Row): void {
    this.expressions?.generate(row);
  }

  /** Throws 23502. */
  checkNotNull(row: Row): void {
    for (const column of this.layout.notNull) {
      if (row[column.id] !== null) continue;
      const { table } = this.layout;
      throw sqlError(
        "23502",
        `null value in column "${column.name}" of relation "${table.name}" violates not-null constraint`,
        { ...this.failingRow(row), schema: table.schema, table: table.name, column: column.name },
      );
    }
  }

  /** The error 23514, or 44000 of a view, or 42501 of row security. */
  checkViolation(failing: Row, check: RowCheck): DbError {
    const { table } = this.layout;
    const { name: constraint } = check;
    if (check.policy !== undefined) return policyViolation(check);
    if (check.ofView) {
      const message = `new row violates check option for view "${constraint}"`;
      return sqlError("44000", message, this.failingRow(failing));
    }
    return sqlError("23514", `new row for relation "${table.name}" violates check constraint "${constraint}"`, {
      ...this.failingRow(failing),
      schema: table.schema,
      table: table.name,
      constraint,
    });
  }

  /** The error 23514 for a row that another partition should have. */
  partitionViolation(row: Row): DbError {
    const { schema, name } = this.layout.table;
    return sqlError("23514", `new row for relation "${name}" violates partition constraint`, {
      ...this.failingRow(row),
      schema,
      table: name,
    });
  }

  /** Writes a new row with its index entries; answers its key. `given`: the key that it has already. Throws 23505. */
  insert(row: Row, given?: Uint8Array): Uint8Array {
    const { layout, context } = this;
    const key = given ?? this.keyOfNewRow(row);
    if (layout.primaryKey !== null && context.tx.get(key) !== undefined) throw this.duplicate(layout.primaryKey, row);
    const suffix = key.subarray(this.rowPrefix.length);
    for (const index of layout.indexes) this.putEntry(index, row, suffix);
    const record = encodeRecord(layout.types, row);
    context.tx.put(key, record);
    this.chain?.append(suffix, record);
    if (layout.table.foreignKeys !== undefined) this.referencing(key, row, null);
    return key;
  }

  /** The key of the stored row that conflicts with a new one by the arbiter (null: by any unique key). */
  conflicting(row: Row, arbiter: IndexDef | "primary key" | null): Found {
    if (arbiter !== null) return this.stored(keyLayoutOf(this.layout.table, arbiter), row);
    const { primaryKey } = this.layout;
    const found = primaryKey === null ? null : this.stored(primaryKey, row);
    return after(found, (key) => key ?? this.conflictingFrom(0, row));
  }

  private conflictingFrom(from: number, row: Row): Found {
    const { indexes } = this.layout;
    for (let i = from; i < indexes.length; i++) {
      const index = indexes[i]!;
      const found = index.unique || index.overlap ? this.stored(index, row) : null;
      if (found instanceof Promise) return found.then((key) => key ?? this.conflictingFrom(i + 1, row));
      if (found !== null) return found;
    }
    return null;
  }

  /** Whether a row has this row's values in a key whose rows have different ones. */
  has(unique: IndexDef | "primary key", row: Row): boolean {
    return this.holder(keyLayoutOf(this.layout.table, unique), row) !== null;
  }

  /** The stored row with that key, which exists. */
  read(key: Uint8Array): Row {
    return this.find(key)!;
  }

  /** The stored row with that key; null when there is none, or the table was emptied since by a storage of its own. */
  find(key: Uint8Array): Row | null {
    if (storageIdOf(key) !== storageOf(this.layout.table)) return null;
    const record = this.context.tx.get(key);
    if (record === undefined) return null;
    return rowOfRecord(this.layout, record);
  }

  /** From now on rows are removed together, by `endChanges`, each once. Null: the transaction takes no load. */
  beginRemovals(): BulkChanges | null {
    this.changes = BulkChanges.begin(this.layout, this.context, true);
    return this.changes;
  }

  /** Null: rows must be changed one by one. Otherwise by `change`, each once, and then `endChanges`. */
  beginChanges(): BulkChanges | null {
    this.requireMutable();
    this.changes = BulkChanges.begin(this.layout, this.context, false);
    return this.changes;
  }

  /** @param assigned as of `takeOut`. Throws 23505. */
  endChanges(assigned: ReadonlySet<number> = NONE_ASSIGNED): void | Promise<void> {
    const { changes, layout } = this;
    if (changes === null) return;
    this.changes = null;
    return changes.finish(this.isKeyAssigned(assigned), assigned, (key, record) =>
      this.duplicate(key, rowOfRecord(layout, record)),
    );
  }

  /** Both halves of an update at once, of one of many rows. */
  change(oldKey: Uint8Array, oldRow: Row, newRow: Row, assigned: ReadonlySet<number>): void {
    const { layout } = this;
    const changes = this.changes!;
    const move = this.moveOf(oldKey, newRow, assigned);
    if (this.isKeyAssigned(assigned)) changes.removeRow(oldKey, oldRow);
    const oldSuffix = oldKey.subarray(this.rowPrefix.length);
    const newSuffix = move.newKey.subarray(this.rowPrefix.length);
    buildRecord(layout.types, newRow);
    const number = changes.putRow(move.newKey);
    for (let i = 0; i < layout.indexes.length; i++) {
      const index = layout.indexes[i]!;
      if (!touches(index, move, assigned)) continue;
      const oldValues = index.computed ? this.valuesOf(index, oldRow) : oldRow;
      const newValues = index.computed ? this.valuesOf(index, newRow) : newRow;
      if (move.newKey === oldKey && isSameEntry(index, this.places[i]!, oldValues, newValues, oldRow, newRow)) continue;
      if (oldValues !== null) changes.removeEntry(i, oldValues, oldSuffix, oldRow);
      if (newValues !== null) changes.putEntry(i, newValues, newSuffix, newRow, number);
    }
    this.noteChange(move, oldRow, newRow);
  }

  /** `after`: the row as it goes on in another partition, by this table's columns; null: it is gone. */
  remove(key: Uint8Array, row: Row, after: Row | null = null): void {
    const { layout, context } = this;
    if (this.changes !== null) {
      this.removeInLoad(key, row, after);
      return;
    }
    this.requireMutable();
    const suffix = key.subarray(this.rowPrefix.length);
    for (const index of layout.indexes) {
      const entry = this.entryKey(index, row, suffix);
      if (entry !== null) context.tx.delete(entry);
    }
    context.tx.delete(key);
    if (layout.table.referencedBy !== undefined) this.referenced(row, after);
  }

  /** After `beginRemovals`. `key` null: it is made of the row's primary key. */
  removeInLoad(key: Uint8Array | null, row: Row, after: Row | null = null): void {
    const { layout } = this;
    const changes = this.changes!;
    this.requireMutable();
    const suffix = key === null ? layout.primaryKey! : key.subarray(this.rowPrefix.length);
    for (let i = 0; i < layout.indexes.length; i++) {
      const index = layout.indexes[i]!;
      const values = index.computed ? this.valuesOf(index, row) : row;
      if (values !== null) changes.removeEntry(i, values, suffix, row);
    }
    changes.removeRow(key, row);
    if (layout.table.referencedBy !== undefined) this.referenced(row, after);
  }

  /**
   * The first half of an update: removes what the change makes stale. All rows of a statement go through it before the
   * second half of any, so that unique keys are checked against the statement's result.
   * @param assigned ids of the columns that the statement assigns; entries of other columns stay as they are.
   */
  takeOut(oldKey: Uint8Array, oldRow: Row, newRow: Row, assigned: ReadonlySet<number>): Move {
    const { layout, context } = this;
    this.requireMutable();
    const move = this.moveOf(oldKey, newRow, assigned);
    if (move.newKey !== oldKey) context.tx.delete(oldKey);
    const oldSuffix = oldKey.subarray(this.rowPrefix.length);
    const newSuffix = move.newKey.subarray(this.rowPrefix.length);
    for (const index of layout.indexes) {
      if (!touches(index, move, assigned)) continue;
      const oldEntry = this.entryKey(index, oldRow, oldSuffix);
      if (oldEntry === null) continue;
      const newEntry = move.newKey === oldKey ? this.entryKey(index, newRow, newSuffix) : null;
      if (newEntry !== null && oldEntry.equals(newEntry)) continue;
      context.tx.delete(oldEntry);
    }
    this.noteChange(move, oldRow, newRow);
    return move;
  }

  private isKeyAssigned(assigned: ReadonlySet<number>): boolean {
    return this.layout.primaryKey?.columnIds.some((id) => assigned.has(id)) === true;
  }

  private moveOf(oldKey: Uint8Array, newRow: Row, assigned: ReadonlySet<number>): Move {
    const encoded = this.isKeyAssigned(assigned) ? this.keyOfNewRow(newRow) : oldKey;
    return { oldKey, newKey: Buffer.compare(encoded, oldKey) === 0 ? oldKey : encoded };
  }

  private noteChange({ oldKey, newKey }: Move, oldRow: Row, newRow: Row): void {
    const { foreignKeys, referencedBy } = this.layout.table;
    if (foreignKeys !== undefined) this.referencing(newKey, newRow, oldRow, newKey !== oldKey);
    if (referencedBy !== undefined) this.referenced(oldRow, newRow);
  }

  /** The second half: writes the new row where the move says. Throws 23505. */
  putBack(move: Move, newRow: Row, assigned: ReadonlySet<number>): void {
    const { layout, context } = this;
    if (move.newKey !== move.oldKey && context.tx.get(move.newKey) !== undefined) {
      throw this.duplicate(layout.primaryKey!, newRow);
    }
    const suffix = move.newKey.subarray(this.rowPrefix.length);
    for (const index of layout.indexes) if (touches(index, move, assigned)) this.putEntry(index, newRow, suffix);
    context.tx.put(move.newKey, encodeRecord(layout.types, newRow));
  }

  /** Throws 42809 for an immutable table, however the change came about: a cascade, ON CONFLICT, MERGE. */
  private requireMutable(): void {
    if (this.chain === null) return;
    throw sqlError("42809", `rows of immutable table "${this.layout.table.name}" cannot be changed or deleted`);
  }

  keyOfNewRow(row: Row): Buffer {
    const { primaryKey, table } = this.layout;
    if (primaryKey !== null) return encodeKey(this.rowPrefix, primaryKey.columns, keyValues(primaryKey, row));
    return rowKeyOfNumber(this.rowPrefix, this.context.rowNumbers.next(this.context.tenantNumber, storageOf(table)));
  }

  private putEntry(index: KeyLayout, row: Row, suffix: Uint8Array): void {
    const { tx } = this.context;
    const entry = this.entryKey(index, row, suffix);
    if (entry === null) return;
    if (index.unique) {
      const holder = tx.get(entry);
      if (holder !== undefined && Buffer.compare(suffixOf(index, holder), suffix) !== 0)
        throw this.duplicate(index, row);
    }
    if (index.deferrable && (index.overlap ? this.mayOverlap(index, row, suffix) : this.hasEntries(index, row, 1))) {
      const rowKey = joinKey(this.rowPrefix, suffix);
      this.note({ kind: "unique", tableId: this.layout.table.id, indexId: index.indexId, rowKey });
    }
    tx.put(entry, entryValue(index, row, suffix));
  }

  /**
   * Whether the row has to be looked at when all are written. While no row has to, none overlap, and a look at its
   * neighbours tells; where the check may wait, rows between them may go before it is made, and figures may have many.
   */
  private mayOverlap(index: KeyLayout, row: Row, suffix: Uint8Array): boolean {
    const { statement } = this.context;
    const values = this.valuesOf(index, row);
    if (!canOverlap(index, values)) return false;
    const isLater = index.overlap === "deferrable" || looksAtMany(index);
    const isNoted = isLater || statement.overlapping?.has(index.indexId) === true;
    if (!isNoted && overlappingNeighbour(this.context, index, values, suffix) === null) return false;
    statement.overlapping ??= new Set();
    statement.overlapping.add(index.indexId);
    return true;
  }

  /** Whether at least that many entries have the row's values in a deferrable key. */
  private hasEntries(index: KeyLayout, row: Row, count: number): boolean {
    const values = this.valuesOf(index, row);
    if (values === null || (!index.nullsNotDistinct && values.includes(null))) return false;
    const { tx, tenantNumber } = this.context;
    tx.guardReads(true);
    const cursor = tx.scan(prefixRange(encodeKey(index.prefixOf(tenantNumber), index.columns, values)));
    tx.guardReads(false);
    const { length } = cursor.next(count).keys;
    cursor.close();
    return length === count;
  }

  /** Whether an entry of a deferrable key that is being made has the row's values. */
  isTaken(index: IndexDef, row: Row): boolean | Promise<boolean> {
    const key = keyLayoutOf(this.layout.table, index);
    if (!key.overlap) return this.hasEntries(key, row, 1);
    return after(this.excluded(key, row, null), (other) => other !== null);
  }

  private excluded(key: KeyLayout, row: Row, suffix: Uint8Array | null): Neighbour | null | Promise<Neighbour | null> {
    const values = this.valuesOf(key, row);
    return canOverlap(key, values) ? overlappingNeighbour(this.context, key, values, suffix) : null;
  }

  /** The row's deferrable key at the end of the statement or transaction. Throws 23505, 23P01. */
  checkUnique(index: IndexDef, row: Row, rowKey: Uint8Array): void | Promise<void> {
    const key = keyLayoutOf(this.layout.table, index);
    if (key.overlap) {
      return after(this.excluded(key, row, rowKey.subarray(this.rowPrefix.length)), (other) => {
        if (other !== null) throw this.duplicate(key, row, other.values);
      });
    }
    if (this.hasEntries(key, row, 2)) throw this.duplicate(key, row);
  }

  /** Null: a partial index that the row is not in. */
  private entryKey(index: KeyLayout, row: Row, suffix: Uint8Array): Buffer | null {
    const values = this.valuesOf(index, row);
    return values === null ? null : entryKey(index, this.context.tenantNumber, values, suffix);
  }

  private valuesOf(index: KeyLayout, row: Row): Value[] | null {
    return this.expressions === null ? keyValues(index, row) : this.expressions.valuesOf(index, row);
  }

  /**
   * Notes the foreign keys of a new row (`before` null), or those that an update changed. A row that has `moved` is no
   * longer where a check that waits would look for it, so what may wait is noted again.
   */
  private referencing(rowKey: Uint8Array, row: Row, before: Row | null, moved = false): void {
    if (this.context.isReplica) return;
    const { table } = this.layout;
    for (const foreignKey of table.foreignKeys!) {
      if (foreignKey.unchecked || foreignKey.columns.every((id) => row[id] === null)) continue;
      const isChecked = !(moved && foreignKey.deferrable);
      if (before !== null && isChecked && this.sameValues(foreignKey.columns, before, row)) continue;
      this.note({ kind: "referencing", tableId: table.id, foreignKey, rowKey });
    }
  }

  /** Notes for those that refer to the row that it is gone (`after` null) or another one. */
  private referenced(before: Row, after: Row | null): void {
    if (this.context.isReplica) return;
    const { table } = this.layout;
    for (const reference of table.referencedBy!) {
      const { columns, unchecked } = reference;
      if (unchecked) continue;
      const values: Value[] = columns.map((id) => before[id]!);
      if (values.includes(null) || (after !== null && this.sameValues(columns, before, after))) continue;
      const now = after === null ? null : columns.map((id) => after[id]!);
      this.note({ kind: "referenced", tableId: table.id, reference, before: values, after: now });
    }
  }

  private note(event: ConstraintEvent): void {
    const { statement } = this.context;
    if (statement.constraintEvents === null) statement.constraintEvents = [event];
    else statement.constraintEvents.push(event);
  }

  private sameValues(ids: readonly number[], a: Row, b: Row): boolean {
    const columns = ids.map((id) => ({ type: this.layout.types[id]!, descending: false, nullsFirst: false }));
    const encode = (row: Row) =>
      encodeKey(
        NO_PREFIX,
        columns,
        ids.map((id) => row[id]!),
      );
    return encode(a).equals(encode(b));
  }

  /** The key of the row that has this row's values in a unique key, if there is one. */
  private stored(unique: KeyLayout, row: Row): Found {
    const found = (other: Neighbour | null) => (other === null ? null : joinKey(this.rowPrefix, other.suffix));
    return unique.overlap ? after(this.excluded(unique, row, null), found) : this.holder(unique, row);
  }

  private holder(unique: KeyLayout, row: Row): Uint8Array | null {
    const values = this.valuesOf(unique, row);
    if (values === null || (!unique.nullsNotDistinct && values.includes(null))) return null;
    const { tx, tenantNumber } = this.context;
    const key = encodeKey(unique.prefixOf(tenantNumber), unique.columns, values);
    const value = tx.get(key);
    if (value === undefined) return null;
    return unique === this.layout.primaryKey ? key : joinKey(this.rowPrefix, suffixOf(unique, value));
  }

  /** `existing`: the values that they conflict with; absent: the same ones. */
  private duplicate(key: KeyLayout, row: Row, existing?: readonly Value[]): DbError {
    if (key.exclusion) {
      const own = this.valuesOf(key, row) ?? [];
      const [text, other] = [own, existing ?? own].map((values) => keyText(key, values, this.context.timeZone));
      return sqlError("23P01", `conflicting key value violates exclusion constraint "${key.name}"`, {
        ...this.told(`Key ${text} conflicts with existing key ${other}.`),
        schema: this.layout.table.schema,
        table: this.layout.table.name,
        constraint: key.name,
      });
    }
    return sqlError("23505", `duplicate key value violates unique constraint "${key.name}"`, {
      ...this.told(`Key ${keyText(key, this.valuesOf(key, row) ?? [], this.context.timeZone)} already exists.`),
      schema: this.layout.table.schema,
      table: this.layout.table.name,
      constraint: key.name,
    });
  }

  /** What an error says of values, unless who asked may not see all of them. */
  private told(detail: string): { readonly detail?: string } {
    return this.context.hidesRows ? {} : { detail };
  }

  private failingRow(row: Row): { readonly detail?: string } {
    const ids = this.shown ?? this.layout.table.columns.map(({ id }) => id);
    const values = ids.map((id) => {
      const text = valueText(this.layout.types[id]!, row[id]!, this.context.timeZone);
      return text.length > FAILING_VALUE_CHARACTERS ? `${text.slice(0, FAILING_VALUE_CHARACTERS)}...` : text;
    });
    return this.told(`Failing row contains (${values.join(", ")}).`);
  }
}

const NO_PREFIX = new Uint8Array(0);
const NONE_ASSIGNED: ReadonlySet<number> = new Set();

/** PostgreSQL cuts the values that it shows of a failing row. */
const FAILING_VALUE_CHARACTERS = 64;

/** A row of NULLs, by column id. */
export function emptyRow(table: TableDef): Row {
  return new Array<Value>(table.nextColumnId).fill(null);
}

/** Ids of the columns that an update may change: those it assigns, and generated ones. */
export function assignedColumns(
  table: TableDef,
  assignments: readonly { readonly columnId: number }[],
): ReadonlySet<number> {
  const generated = table.columns.filter((column) => column.generatedSql);
  return new Set([...assignments.map(({ columnId }) => columnId), ...generated.map((column) => column.id)]);
}
