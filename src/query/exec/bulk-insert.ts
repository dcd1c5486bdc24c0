/**
 * Rows of a file straight into a plain table: one whose rows need no other thing than their key and record. What a
 * row needs beyond that (defaults, checks, indexes, foreign keys …) is `requiresStatements`, and such tables go
 * through INSERT. One per import, which feeds it row by row within one transaction.
 */
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { type CsvReader, FIELD_ESCAPED, FIELD_PLAIN } from "../../protocol/csv-reader.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { fromParameter } from "../../protocol/json-format.js";
import { fromText } from "../../protocol/text-format.js";
import type { SqlType, Value } from "../../protocol/values.js";
import { encodeKey } from "../../storage/key-codec.js";
import { prefixRange } from "../../storage/keys.js";
import { RecordSlab } from "../../storage/record-slab.js";
import type { Transaction } from "../../storage/store.js";
import { readBool, readDate, readDecimal, readInteger, readTimestamp } from "./field-readers.js";
import { type RowNumbers, rowKeyOfNumber } from "./row-numbers.js";
import { keyText, layoutOf, type TableLayout } from "./table-layout.js";

enum Form {
  Other = 0,
  Integer = 1,
  Float8 = 2,
  Bool = 3,
  Text = 4,
  Timestamp = 5,
  TimestampTz = 6,
  Date = 7,
}

interface Target {
  readonly column: ColumnDef;
  readonly form: Form;
  /** Of integers. */
  readonly min: number;
  readonly max: number;
  /** Characters of a varchar(n). */
  readonly charsMax: number;
  readonly notNull: boolean;
  readonly isKey: boolean;
  /** Place among the fields of a row; −1: not among them, and NULL. */
  readonly field: number;
}

/** Why rows of the table must go through INSERT; null: they need not. `columns`: those that the file has. */
export function requiresStatements(table: TableDef, columns: readonly ColumnDef[]): string | null {
  if (table.foreignKeys !== undefined || table.referencedBy !== undefined) return "foreign keys";
  if (table.immutable) return "a hash chain";
  if (table.partitionKey !== undefined || table.partitionBound !== undefined) return "partitions";
  if (table.checks.length > 0) return "checks";
  if (table.indexes.some((index) => index.constraint !== "primary key")) return "indexes";
  if (table.materialized !== undefined) return "a query";
  if (table.columns.some(({ type }) => type.user !== undefined)) return "types of its own";
  if (table.columns.some(({ generatedSql, identity }) => Boolean(generatedSql) || identity === "always")) {
    return "generated columns";
  }
  const isLeftOut = (column: ColumnDef): boolean => !columns.includes(column);
  return table.columns.some((column) => isLeftOut(column) && column.defaultSql !== null) ? "defaults" : null;
}

export class BulkInsert {
  private readonly layout: TableLayout;
  private readonly prefix: Buffer;
  /** By column id; null for dropped columns. */
  private readonly targets: readonly (Target | null)[];
  private readonly slab = new RecordSlab();
  /** Key columns' values of the row at hand, by column id. */
  private readonly values: Value[];
  private readonly keyIds: readonly number[];
  private readonly keyValues: Value[] = [];
  /** The greatest key that is stored or was put; what is greater needs no look. */
  private greatest: Uint8Array | null;
  rows = 0;

  constructor(
    table: TableDef,
    /** In the order of the fields. */
    private readonly columns: readonly ColumnDef[],
    private readonly nullBytes: Uint8Array,
    private readonly tx: Transaction,
    private readonly tenantNumber: number,
    private readonly rowNumbers: RowNumbers,
    private readonly timeZone: string,
  ) {
    this.layout = layoutOf(table);
    this.prefix = this.layout.rowPrefixOf(tenantNumber);
    this.keyIds = table.primaryKey ?? [];
    this.values = new Array<Value>(table.nextColumnId).fill(null);
    this.targets = this.layout.types.map((_type, id) => {
      const column = table.columns.find((each) => each.id === id);
      return column === undefined ? null : this.targetOf(column);
    });
    this.greatest = this.layout.primaryKey === null ? null : this.greatestStored();
  }

  /** The record that the reader has found. Throws what is wrong with it, with line, column and value. */
  csvRow(reader: CsvReader): void {
    const { columns, slab, targets, nullBytes } = this;
    if (reader.count !== columns.length) throw fieldCountError(reader.count, columns, reader.line);
    const { bytes, starts, ends, kinds } = reader;
    slab.begin(targets.length);
    for (let id = 0; id < targets.length; id++) {
      const target = targets[id]!;
      if (target === null || target.field === -1) {
        if (target?.notNull) throw this.nullError(target, reader.line);
        slab.null(id);
        continue;
      }
      const { field } = target;
      const start = starts[field]!;
      const end = ends[field]!;
      const kind = kinds[field]!;
      if (kind === FIELD_PLAIN && end - start === nullBytes.length && isSame(bytes, start, nullBytes)) {
        if (target.notNull) throw this.nullError(target, reader.line);
        slab.null(id);
        if (target.isKey) this.values[id] = null;
        continue;
      }
      if (kind === FIELD_ESCAPED) {
        const unescaped = reader.field(field);
        this.write(target, unescaped, 0, unescaped.length, reader.line);
      } else this.write(target, bytes, start, end, reader.line);
    }
    this.put(reader.line);
  }

  /** A row of JSON values, in the order of the fields; `undefined` is NULL. */
  jsonRow(fields: readonly unknown[], line: number): void {
    const { columns, slab, targets } = this;
    if (fields.length !== columns.length) throw fieldCountError(fields.length, columns, line);
    slab.begin(targets.length);
    for (let id = 0; id < targets.length; id++) {
      const target = targets[id]!;
      const json = target === null || target.field === -1 ? null : fields[target.field];
      if (json === null || json === undefined) {
        if (target?.notNull) throw this.nullError(target, line);
        slab.null(id);
        if (target?.isKey) this.values[id] = null;
        continue;
      }
      this.writeJson(target!, json, line);
    }
    this.put(line);
  }

  private write(target: Target, bytes: Uint8Array, start: number, end: number, line: number): void {
    const { slab } = this;
    const { column, form } = target;
    let value: Value | undefined;
    switch (form) {
      case Form.Integer:
        value = readInteger(bytes, start, end);
        if (value === undefined || value < target.min || value > target.max) break;
        slab.integer(value);
        if (target.isKey) this.values[column.id] = value;
        return;
      case Form.Float8:
        value = readDecimal(bytes, start, end);
        if (value === undefined) break;
        slab.float8(value);
        if (target.isKey) this.values[column.id] = value;
        return;
      case Form.Bool:
        value = readBool(bytes, start, end);
        if (value === undefined) break;
        slab.bool(value);
        if (target.isKey) this.values[column.id] = value;
        return;
      case Form.Text:
        if (end - start > target.charsMax) break;
        slab.text(bytes, start, end);
        if (target.isKey) this.values[column.id] = textOf(bytes, start, end);
        return;
      case Form.Timestamp:
      case Form.TimestampTz:
        value = readTimestamp(bytes, start, end, form === Form.TimestampTz);
        if (value === undefined) break;
        slab.integer(value);
        if (target.isKey) this.values[column.id] = value;
        return;
      case Form.Date:
        value = readDate(bytes, start, end);
        if (value === undefined) break;
        slab.integer(value);
        if (target.isKey) this.values[column.id] = value;
        return;
    }
    const text = textOf(bytes, start, end);
    try {
      const parsed = fromText(column.type, text, { timeZone: this.timeZone, nowMicros: Date.now() * 1000 });
      slab.value(column.type, parsed);
      if (target.isKey) this.values[column.id] = parsed;
    } catch (error) {
      throw atField(error, line, column.name, text);
    }
  }

  private writeJson(target: Target, json: unknown, line: number): void {
    const { column, form } = target;
    if (typeof json === "string") {
      if (json.includes("\0")) {
        const error = sqlError("22021", 'invalid byte sequence for encoding "UTF8": 0x00');
        throw atField(error, line, column.name, null);
      }
      if (form !== Form.Other && json.length <= TEXT_CHARS_MAX) {
        this.write(target, textBytes, 0, textBytes.write(json), line);
        return;
      }
    } else if (typeof json === "number") {
      const { slab } = this;
      const isInteger = form === Form.Integer && Number.isInteger(json) && json >= target.min && json <= target.max;
      if (isInteger) slab.integer(json);
      if (form === Form.Float8) slab.float8(json);
      if (isInteger || form === Form.Float8) {
        if (target.isKey) this.values[column.id] = json;
        return;
      }
    } else if (typeof json === "boolean" && form === Form.Bool) {
      this.slab.bool(json);
      if (target.isKey) this.values[column.id] = json;
      return;
    }
    try {
      const value = fromParameter(column.type, jsonField(column.type, json));
      this.slab.value(column.type, value);
      if (target.isKey) this.values[column.id] = value;
    } catch (error) {
      throw atField(error, line, column.name, typeof json === "string" ? json : JSON.stringify(json));
    }
  }

  private put(line: number): void {
    const record = this.slab.finish();
    const { layout, tx } = this;
    const { primaryKey } = layout;
    this.rows++;
    if (primaryKey === null) {
      const number = this.rowNumbers.next(this.tenantNumber, layout.table.id);
      tx.append(rowKeyOfNumber(this.prefix, number), record);
      return;
    }
    const { keyIds, keyValues, values } = this;
    for (let i = 0; i < keyIds.length; i++) keyValues[i] = values[keyIds[i]!]!;
    const key = encodeKey(this.prefix, primaryKey.columns, keyValues);
    if (this.greatest === null || Buffer.compare(key, this.greatest) > 0) {
      this.greatest = key;
      tx.append(key, record);
      return;
    }
    if (tx.get(key) === undefined) {
      tx.put(key, record);
      return;
    }
    const detail = `Key ${keyText(primaryKey, keyValues, this.timeZone)} already exists.`;
    throw sqlError("23505", `duplicate key value violates unique constraint "${primaryKey.name}" at line ${line}`, {
      detail,
      table: layout.table.name,
      constraint: primaryKey.name,
      line,
    });
  }

  private greatestStored(): Uint8Array | null {
    const cursor = this.tx.scan({ ...prefixRange(this.prefix), reverse: true });
    const { keys } = cursor.next(1);
    const greatest = keys.length === 0 ? null : Buffer.from(keys[0]!);
    cursor.close();
    return greatest;
  }

  private nullError({ column }: Target, line: number): DbError {
    const { table } = this.layout;
    const what = `null value in column "${column.name}" of relation "${table.name}" violates not-null constraint`;
    return sqlError("23502", `${what} at line ${line}`, { table: table.name, column: column.name, line, value: null });
  }

  private targetOf(column: ColumnDef): Target {
    const { name, modifier } = column.type;
    const bounds = INTEGER_BOUNDS[name];
    return {
      column,
      form: bounds === undefined ? formOf(column.type) : Form.Integer,
      min: bounds?.[0] ?? 0,
      max: bounds?.[1] ?? 0,
      charsMax: name === "varchar" && modifier !== null ? modifier : Number.POSITIVE_INFINITY,
      notNull: column.notNull || this.keyIds.includes(column.id),
      isKey: this.keyIds.includes(column.id),
      field: this.columns.indexOf(column),
    };
  }
}

const INTEGER_BOUNDS: Readonly<Record<string, readonly [number, number] | undefined>> = {
  int2: [-(2 ** 15), 2 ** 15 - 1],
  int4: [-(2 ** 31), 2 ** 31 - 1],
  int8: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  oid: [0, 2 ** 32 - 1],
};

function formOf({ name, modifier }: SqlType): Form {
  switch (name) {
    case "float8":
      return Form.Float8;
    case "bool":
      return Form.Bool;
    case "text":
    case "varchar":
      return Form.Text;
    // With a modifier, fractions of seconds are rounded.
    case "timestamp":
      return modifier === null ? Form.Timestamp : Form.Other;
    case "timestamptz":
      return modifier === null ? Form.TimestampTz : Form.Other;
    case "date":
      return Form.Date;
    default:
      return Form.Other;
  }
}

/** Strings of JSON up to this length are read like fields of CSV, from bytes. */
const TEXT_CHARS_MAX = 4096;
const textBytes = Buffer.allocUnsafeSlow(3 * TEXT_CHARS_MAX);

const VALUE_CHARACTERS = 200;

/** A field of a JSON row as a parameter: a text in a column of JSON is a value, not a document to be read. */
export function jsonField({ name }: SqlType, json: unknown): unknown {
  return typeof json === "string" && (name === "json" || name === "jsonb") ? JSON.stringify(json) : json;
}

/** The error with where in the file it arose. */
export function atField(error: unknown, line: number, column: string | null, value: string | null): unknown {
  if (!(error instanceof DbError)) return error;
  const { message, details } = error;
  const where = column === null ? `line ${line}` : `line ${line}, column "${column}"`;
  const shown = value !== null && value.length > VALUE_CHARACTERS ? `${value.slice(0, VALUE_CHARACTERS)}…` : value;
  const { position: _position, ...kept } = details ?? {};
  return new DbError(error.code, `${message} at ${where}`, {
    ...kept,
    line,
    ...(column === null ? {} : { column }),
    ...(shown === null ? {} : { value: shown }),
  });
}

export function fieldCountError(count: number, columns: readonly ColumnDef[], line: number): DbError {
  const missing = columns[count];
  if (missing === undefined)
    return sqlError("22P04", `extra data after last expected column at line ${line}`, { line });
  return sqlError("22P04", `missing data for column "${missing.name}" at line ${line}`, { line, column: missing.name });
}

function isSame(bytes: Uint8Array, start: number, other: Uint8Array): boolean {
  for (let i = 0; i < other.length; i++) if (bytes[start + i] !== other[i]) return false;
  return true;
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8", start, end);
}
