/**
 * Writes rows of a file straight into a table: fields become records without a value in between, and defaults, checks
 * and index entries are computed from the few values that they need. Tables whose rows need more
 * (`requiresStatements`) go through INSERT. One per import, which feeds it row by row within one transaction.
 */
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import type { Load } from "../../storage/load.js";
import { RecordSlab } from "../../storage/record-slab.js";
import { isNamedOid } from "../../values/catalog-types.js";
import { FIELD_ESCAPED, FIELD_PLAIN, FIELD_VALUE, type RecordReader } from "../../values/csv-reader.js";
import { fromParameter } from "../../values/json-format.js";
import { jsonToCompactText } from "../../values/json-text.js";
import { Numeric } from "../../values/numeric.js";
import { fromText, numericModifier } from "../../values/text-format.js";
import type { TextStyle } from "../../values/text-style.js";
import type { SqlType, Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Batch, Evaluate, Expr } from "../expr/expr.js";
import { columnsOf } from "../expr/walk.js";
import type { InsertPlan } from "../plan/change-plans.js";
import { BulkWriter, type FindTable, requiresSingleRows } from "./bulk-writer.js";
import type { ExecContext } from "./context.js";
import { Form, formOf, INTEGERS } from "./field-forms.js";
import {
  type Digits,
  readBool,
  readDate,
  readDecimal,
  readInteger,
  readScaled,
  readTimestamp,
  readUuid,
  scaledTo,
  scaleRead,
} from "./field-readers.js";
import { compileChecks, failedCheck, type RowCheck } from "./row-checks.js";
import { RowLines } from "./row-lines.js";
import { slotsOf } from "./slots.js";
import { layoutOf, rowOfRecord, type TableLayout } from "./table-layout.js";
import { TableWriter } from "./table-writer.js";

interface Target {
  readonly column: ColumnDef;
  readonly form: Form;
  /** Of integers. */
  readonly min: number;
  readonly max: number;
  /** Characters of a varchar(n). */
  readonly charsMax: number;
  /** Of a numeric(p, s). */
  readonly digits: Digits | null;
  readonly notNull: boolean;
  /** Keys, entries or checks are made of its value. */
  readonly isKept: boolean;
  /** Place among the fields of a row; −1: not among them. */
  readonly field: number;
  /** What a row without the field has; null: NULL. */
  readonly default: Evaluate | null;
}

/** Why rows of the table must go through INSERT; null: they need not. `columns`: those that the file has. */
export function requiresStatements(
  table: TableDef,
  columns: readonly ColumnDef[],
  findTable: FindTable,
): string | null {
  if (table.partitionBound !== undefined) return "partitions";
  if (table.materialized !== undefined) return "a query";
  if (table.columns.some(({ type }) => type.user !== undefined)) return "types of its own";
  if (table.columns.some(({ type }) => isNamedOid(type.element ?? type))) return "names of objects";
  if (table.columns.some(({ generatedSql }) => Boolean(generatedSql))) return "generated columns";
  if (columns.some(({ identity }) => identity === "always")) return "identity columns";
  return requiresSingleRows(table, findTable);
}

/** The parts of the statement that inserts one row of the file's columns; null if it cannot be taken apart. */
export interface RowProgram {
  /** Parallel to the table's columns. */
  readonly exprs: readonly Expr[];
  readonly plan: InsertPlan;
}

const NO_ROW: Batch = { columns: [], length: 1 };

export class BulkInsert {
  private readonly layout: TableLayout;
  /** By column id; null for dropped columns. */
  private readonly targets: readonly (Target | null)[];
  private readonly slab = new RecordSlab();
  /** Values of the row at hand that are kept, by column id. */
  private readonly values: Value[];
  private readonly checks: readonly RowCheck[];
  private readonly kept: ReadonlySet<number>;
  /** Of the checks: the columns that they read, and the row as they see it. */
  private readonly checked: readonly number[];
  private readonly view: { readonly columns: Value[][]; readonly length: number };
  private readonly writer: BulkWriter;
  private readonly timeZone: string;
  private readonly style: TextStyle | undefined;
  /** Of each row; only where a row may be found fault with later. */
  private readonly lines: RowLines | null;
  rows = 0;

  constructor(
    table: TableDef,
    /** In the order of the fields. */
    private readonly columns: readonly ColumnDef[],
    private readonly nullBytes: Uint8Array,
    program: RowProgram,
    private readonly context: ExecContext,
    load: Load,
    findTable: FindTable,
  ) {
    this.layout = layoutOf(table);
    this.timeZone = context.timeZone;
    this.style = context.style;
    this.writer = new BulkWriter(table, context, load, findTable);
    const isChecked = this.layout.primaryKey !== null || table.indexes.some(({ unique }) => unique);
    this.lines = isChecked || table.foreignKeys !== undefined ? new RowLines() : null;
    const { rowColumns, checks } = program.plan;
    const slotOf = slotsOf(rowColumns);
    const idOf = (id: number): number => (slotOf(id) < 0 ? -1 : table.columns[slotOf(id)]!.id);
    this.checks = compileChecks(checks, idOf);
    this.checked = [...new Set(checks.flatMap(({ predicate }) => [...columnsOf(predicate)].map(idOf)))];
    const all = table.columns.map(({ id }) => id);
    this.kept = new Set([...(BulkWriter.columnsRead(table) ?? all), ...this.checked]);
    this.values = new Array<Value>(table.nextColumnId).fill(null);
    this.view = { columns: this.values.map(() => [null]), length: 1 };
    this.targets = this.layout.types.map((_type, id) => {
      const place = table.columns.findIndex((each) => each.id === id);
      return place === -1 ? null : this.targetOf(table.columns[place]!, program.exprs[place]!);
    });
  }

  /** Checks the rows against each other and what is stored, and adds them to the transaction. */
  async finish(): Promise<void> {
    try {
      await this.writer.finish();
    } catch (error) {
      throw this.atLine(error);
    }
  }

  /** Where there are many rows, they do not stay in memory; to be called between rows. Throws as `finish` does. */
  storeIfFull(): void | Promise<void> {
    const stored = this.writer.storeIfFull();
    if (stored === undefined) return;
    return stored.catch((error: unknown) => {
      throw this.atLine(error);
    });
  }

  private atLine(error: unknown): unknown {
    const { failing } = this.writer;
    return failing === null ? error : atField(error, this.lines!.lineOf(failing), null, null);
  }

  /** The record that the reader has found. If it is wrong, throws an error with line, column and value. */
  csvRow(reader: RecordReader): void {
    const { columns, slab, targets, nullBytes } = this;
    if (reader.count !== columns.length) throw fieldCountError(reader.count, columns, reader.line);
    const { bytes, starts, ends, kinds } = reader;
    slab.begin(targets.length);
    for (let id = 0; id < targets.length; id++) {
      const target = targets[id]!;
      if (target === null) {
        slab.null(id);
        continue;
      }
      const { field } = target;
      if (field === -1) {
        this.writeDefault(target, reader.line);
        continue;
      }
      const start = starts[field]!;
      const end = ends[field]!;
      const kind = kinds[field]!;
      if (kind === FIELD_PLAIN && end - start === nullBytes.length && isSame(bytes, start, nullBytes)) {
        if (target.notNull) throw this.nullError(target, reader.line);
        slab.null(id);
        if (target.isKept) this.values[id] = null;
        continue;
      }
      if (kind === FIELD_VALUE) {
        if (target.form === Form.Numeric && this.writeScaled(target, reader.scaled!(field), reader.scale!)) continue;
        this.writeValue(target, reader.value!(field));
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
      if (target !== null && target.field === -1) {
        this.writeDefault(target, line);
        continue;
      }
      const json = target === null ? null : fields[target.field];
      if (json === null || json === undefined) {
        if (target?.notNull) throw this.nullError(target, line);
        slab.null(id);
        if (target?.isKept) this.values[id] = null;
        continue;
      }
      this.writeJson(target!, json, line);
    }
    this.put(line);
  }

  /** Of a column that the file has not. */
  private writeDefault(target: Target, line: number): void {
    const { slab } = this;
    const { column } = target;
    const value = target.default === null ? null : target.default(NO_ROW, 0, this.context);
    if (value === null) {
      if (target.isKept) this.values[column.id] = null;
      if (target.notNull) throw this.nullError(target, line);
      slab.null(column.id);
    } else this.writeValue(target, value);
  }

  /** Of the column's type. */
  private writeValue({ column, form, isKept }: Target, value: Value): void {
    const { slab } = this;
    if (isKept) this.values[column.id] = value;
    if (form === Form.Float8) slab.float8(value as number);
    else if (form === Form.Bool) slab.bool(value as boolean);
    else if (INTEGERS[form] === true && typeof value === "number" && Math.abs(value) < 2 ** 63) slab.integer(value);
    else slab.value(column.type, value);
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
        if (target.isKept) this.values[column.id] = value;
        return;
      case Form.Float8:
        value = readDecimal(bytes, start, end);
        if (value === undefined) break;
        slab.float8(value);
        if (target.isKept) this.values[column.id] = value;
        return;
      case Form.Bool:
        value = readBool(bytes, start, end);
        if (value === undefined) break;
        slab.bool(value);
        if (target.isKept) this.values[column.id] = value;
        return;
      case Form.Text:
        if (end - start > target.charsMax) break;
        slab.text(bytes, start, end);
        if (target.isKept) this.values[column.id] = textOf(bytes, start, end);
        return;
      case Form.Timestamp:
      case Form.TimestampTz:
        value = readTimestamp(bytes, start, end, form === Form.TimestampTz);
        if (value === undefined) break;
        slab.integer(value);
        if (target.isKept) this.values[column.id] = value;
        return;
      case Form.Date:
        value = readDate(bytes, start, end);
        if (value === undefined) break;
        slab.integer(value);
        if (target.isKept) this.values[column.id] = value;
        return;
      case Form.Numeric:
        if (this.writeNumeric(target, bytes, start, end)) return;
        break;
      case Form.Uuid:
        // A value is its text.
        if (target.isKept || !readUuid(bytes, start, end, uuidBytes)) break;
        slab.text(uuidBytes, 0, uuidBytes.length);
        return;
    }
    this.writeParsed(target, bytes, start, end, line);
  }

  /** False: it is not in the plain form. */
  private writeNumeric(target: Target, bytes: Uint8Array, start: number, end: number): boolean {
    const read = readScaled(bytes, start, end);
    return this.writeScaled(target, read, scaleRead);
  }

  /** `read`: as if it had no point, behind which it has so many digits; undefined: it is not known, and not written. */
  private writeScaled({ column, digits, isKept }: Target, read: number | undefined, scaleOfRead: number): boolean {
    const unscaled = read === undefined || digits === null ? read : scaledTo(digits, read, scaleOfRead);
    if (unscaled === undefined) return false;
    const scale = digits === null ? scaleOfRead : digits.scale;
    this.slab.scaled(unscaled, scale);
    if (isKept) this.values[column.id] = Numeric.of(BigInt(unscaled), scale);
    return true;
  }

  private writeParsed({ column, isKept }: Target, bytes: Uint8Array, start: number, end: number, line: number): void {
    const text = textOf(bytes, start, end);
    try {
      const parsed = fromText(column.type, text, {
        timeZone: this.timeZone,
        nowMicros: Date.now() * 1000,
        ...this.style,
      });
      this.slab.value(column.type, parsed);
      if (isKept) this.values[column.id] = parsed;
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
        if (target.isKept) this.values[column.id] = json;
        return;
      }
    } else if (typeof json === "boolean" && form === Form.Bool) {
      this.slab.bool(json);
      if (target.isKept) this.values[column.id] = json;
      return;
    }
    try {
      const value = fromParameter(column.type, jsonField(column.type, json));
      this.slab.value(column.type, value);
      if (target.isKept) this.values[column.id] = value;
    } catch (error) {
      throw atField(error, line, column.name, typeof json === "string" ? json : jsonToCompactText(json));
    }
  }

  private put(line: number): void {
    const record = this.slab.finish();
    const { values, view } = this;
    if (this.checks.length > 0) {
      for (const id of this.checked) if (id >= 0) view.columns[id]![0] = values[id]!;
      const failed = failedCheck(this.checks, view, 0, this.context);
      if (failed !== null) throw this.checkError(record, failed, line);
    }
    this.lines?.add(line);
    this.rows++;
    try {
      this.writer.add(values, record);
    } catch (error) {
      throw atField(error, line, null, null);
    }
  }

  private checkError(record: Uint8Array, failed: RowCheck, line: number): unknown {
    const writer = new TableWriter(this.layout.table, this.context);
    return atField(writer.checkViolation(rowOfRecord(this.layout, record), failed), line, null, null);
  }

  private nullError({ column }: Target, line: number): DbError {
    const { table } = this.layout;
    const what = `null value in column "${column.name}" of relation "${table.name}" violates not-null constraint`;
    return sqlError("23502", `${what} at line ${line}`, {
      schema: table.schema,
      table: table.name,
      column: column.name,
      line,
      value: null,
    });
  }

  private targetOf(column: ColumnDef, expr: Expr): Target {
    const { name, modifier } = column.type;
    const bounds = INTEGER_BOUNDS[name];
    const field = this.columns.indexOf(column);
    const hasDefault = field === -1 && !(expr.kind === "const" && expr.value === null);
    return {
      column,
      form: bounds === undefined ? formOf(column.type) : Form.Integer,
      min: bounds?.[0] ?? 0,
      max: bounds?.[1] ?? 0,
      charsMax: name === "varchar" && modifier !== null ? modifier : Number.POSITIVE_INFINITY,
      notNull: this.layout.notNull.includes(column),
      isKept: this.kept.has(column.id),
      digits: name === "numeric" && modifier !== null ? numericModifier(modifier) : null,
      field,
      default: hasDefault ? compileExpr(expr, () => -1) : null,
    };
  }
}

const INTEGER_BOUNDS: Readonly<Record<string, readonly [number, number] | undefined>> = {
  int2: [-(2 ** 15), 2 ** 15 - 1],
  int4: [-(2 ** 31), 2 ** 31 - 1],
  int8: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  oid: [0, 2 ** 32 - 1],
};

/** Strings of JSON up to this length are read like fields of CSV, from bytes. */
const TEXT_CHARS_MAX = 4096;
const uuidBytes = new Uint8Array(16);
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
