/**
 * The only place that writes rows: records, index entries and the constraints that storage can tell (NOT NULL, primary
 * key, unique). One writer per run of a data-modifying operator; what it writes is in the statement's transaction.
 *
 * Rows are arrays by column id. See table-layout.ts for how they lie in storage.
 */
import type { IndexDef, TableDef } from "../../catalog/table.js";
import { type DbError, sqlError } from "../../protocol/errors.js";
import type { Value } from "../../protocol/values.js";
import { encodeKey } from "../../storage/key-codec.js";
import { encodeRecord } from "../../storage/record-codec.js";
import type { ExecContext } from "./context.js";
import { rowKeyOfNumber } from "./row-numbers.js";
import {
  decoderOf,
  entryKey,
  joinKey,
  type KeyLayout,
  keyLayoutOf,
  keyText,
  keyValues,
  layoutOf,
  type TableLayout,
  valueText,
} from "./table-layout.js";

export type Row = Value[];

/** A row's way from its old place to its new one, between the two halves of an update. */
export interface Move {
  readonly oldKey: Uint8Array;
  readonly newKey: Uint8Array;
}

export class TableWriter {
  private readonly layout: TableLayout;
  private readonly rowPrefix: Buffer;

  constructor(
    table: TableDef,
    private readonly context: ExecContext,
  ) {
    this.layout = layoutOf(table);
    this.rowPrefix = this.layout.rowPrefixOf(context.tenantNumber);
  }

  /** Throws 23502. */
  checkNotNull(row: Row): void {
    for (const column of this.layout.notNull) {
      if (row[column.id] !== null) continue;
      const { table } = this.layout;
      throw sqlError(
        "23502",
        `null value in column "${column.name}" of relation "${table.name}" violates not-null constraint`,
        { detail: this.failingRow(row), table: table.name, column: column.name },
      );
    }
  }

  /** The error 23514. */
  checkViolation(row: Row, constraint: string): DbError {
    const { table } = this.layout;
    return sqlError("23514", `new row for relation "${table.name}" violates check constraint "${constraint}"`, {
      detail: this.failingRow(row),
      table: table.name,
      constraint,
    });
  }

  /** Writes a new row with its index entries; answers its key. Throws 23505. */
  insert(row: Row): Uint8Array {
    const { layout, context } = this;
    const key = this.keyOfNewRow(row);
    if (layout.primaryKey !== null && context.tx.get(key) !== undefined) throw this.duplicate(layout.primaryKey, row);
    const suffix = key.subarray(this.rowPrefix.length);
    for (const index of layout.indexes) this.putEntry(index, row, suffix);
    context.tx.put(key, encodeRecord(layout.types, row));
    return key;
  }

  /** The key of the stored row that stands in the way of a new one by the arbiter (null: by any unique key). */
  conflicting(row: Row, arbiter: IndexDef | "primary key" | null): Uint8Array | null {
    if (arbiter !== null) return this.stored(keyLayoutOf(this.layout.table, arbiter), row);
    const { primaryKey, indexes } = this.layout;
    const found = primaryKey === null ? null : this.stored(primaryKey, row);
    if (found !== null) return found;
    for (const index of indexes) {
      const key = index.unique ? this.stored(index, row) : null;
      if (key !== null) return key;
    }
    return null;
  }

  /** The stored row with that key, which exists. */
  read(key: Uint8Array): Row {
    const ids = this.layout.table.columns.map((column) => column.id);
    const columns: Value[][] = ids.map(() => []);
    decoderOf(this.layout, ids)(this.context.tx.get(key)!, columns, 0);
    const row = emptyRow(this.layout.table);
    for (let i = 0; i < ids.length; i++) row[ids[i]!] = columns[i]![0]!;
    return row;
  }

  remove(key: Uint8Array, row: Row): void {
    const { layout, context } = this;
    const suffix = key.subarray(this.rowPrefix.length);
    for (const index of layout.indexes) context.tx.delete(this.entryKey(index, row, suffix));
    context.tx.delete(key);
  }

  /**
   * The first half of an update: removes what the change makes stale. All rows of a statement go through it before the
   * second half of any, so that unique keys are checked against the statement's result.
   * @param assigned ids of the columns that the statement assigns; entries of other columns stay as they are.
   */
  takeOut(oldKey: Uint8Array, oldRow: Row, newRow: Row, assigned: ReadonlySet<number>): Move {
    const { layout, context } = this;
    const keyAssigned = layout.primaryKey?.columnIds.some((id) => assigned.has(id)) === true;
    const encoded = keyAssigned ? this.keyOfNewRow(newRow) : oldKey;
    const move: Move = { oldKey, newKey: Buffer.compare(encoded, oldKey) === 0 ? oldKey : encoded };
    if (move.newKey !== oldKey) context.tx.delete(oldKey);
    const oldSuffix = oldKey.subarray(this.rowPrefix.length);
    const newSuffix = move.newKey.subarray(this.rowPrefix.length);
    for (const index of layout.indexes) {
      if (!touches(index, move, assigned)) continue;
      const oldEntry = this.entryKey(index, oldRow, oldSuffix);
      if (move.newKey === oldKey && oldEntry.equals(this.entryKey(index, newRow, newSuffix))) continue;
      context.tx.delete(oldEntry);
    }
    return move;
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

  private keyOfNewRow(row: Row): Buffer {
    const { primaryKey, table } = this.layout;
    if (primaryKey !== null) return encodeKey(this.rowPrefix, primaryKey.columns, keyValues(primaryKey, row));
    return rowKeyOfNumber(this.rowPrefix, this.context.rowNumbers.next(this.context.tenantNumber, table.id));
  }

  private putEntry(index: KeyLayout, row: Row, suffix: Uint8Array): void {
    const { tx } = this.context;
    const entry = this.entryKey(index, row, suffix);
    if (index.unique) {
      const holder = tx.get(entry);
      if (holder !== undefined && Buffer.compare(holder, suffix) !== 0) throw this.duplicate(index, row);
    }
    tx.put(entry, suffix);
  }

  private entryKey(index: KeyLayout, row: Row, suffix: Uint8Array): Buffer {
    return entryKey(index, this.context.tenantNumber, row, suffix);
  }

  /** The key of the row that has this row's values in a unique key, if there is one. */
  private stored(unique: KeyLayout, row: Row): Uint8Array | null {
    const values = keyValues(unique, row);
    if (values.includes(null)) return null;
    const { tx, tenantNumber } = this.context;
    const key = encodeKey(unique.prefixOf(tenantNumber), unique.columns, values);
    const value = tx.get(key);
    if (value === undefined) return null;
    return unique === this.layout.primaryKey ? key : joinKey(this.rowPrefix, value);
  }

  private duplicate(key: KeyLayout, row: Row): DbError {
    return sqlError("23505", `duplicate key value violates unique constraint "${key.name}"`, {
      detail: `Key ${keyText(this.layout.table, key, row, this.context.timeZone)} already exists.`,
      table: this.layout.table.name,
      constraint: key.name,
    });
  }

  private failingRow(row: Row): string {
    const values = this.layout.table.columns.map((column) => {
      const text = valueText(column.type, row[column.id]!, this.context.timeZone);
      return text.length > FAILING_VALUE_CHARACTERS ? `${text.slice(0, FAILING_VALUE_CHARACTERS)}...` : text;
    });
    return `Failing row contains (${values.join(", ")}).`;
  }
}

/** PostgreSQL cuts the values that it shows of a failing row. */
const FAILING_VALUE_CHARACTERS = 64;

/** A row of NULLs, by column id. */
export function emptyRow(table: TableDef): Row {
  return new Array<Value>(table.nextColumnId).fill(null);
}

/** True when an update may change the entry: it assigns a column of the index, or the row's key changes. */
function touches(index: KeyLayout, move: Move, assigned: ReadonlySet<number>): boolean {
  return move.newKey !== move.oldKey || index.columnIds.some((id) => assigned.has(id));
}
