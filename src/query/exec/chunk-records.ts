/**
 * Records made from the columns of chunks: texts are copied as bytes and numbers taken from their arrays, so most values
 * never exist. For INSERT … SELECT of many rows; one per load (bulk-writer.ts).
 */
import { RecordSlab } from "../../storage/record-slab.js";
import type { SqlType, Value } from "../../values/values.js";
import type { Chunk } from "./segments/chunk.js";
import { type Column, type DictionaryColumn, type NumberColumn, valueAt } from "./segments/column.js";
import type { TableLayout } from "./table-layout.js";

enum Form {
  Other = 0,
  /** Also the micros and days of moments. */
  Integer = 1,
  Float8 = 2,
  Text = 3,
}

const INTEGERS = new Set(["int2", "int4", "int8", "oid", "date", "time", "timestamp", "timestamptz"]);
/** Types whose values are stored as their UTF-8. */
const TEXTS = new Set(["text", "varchar", "bpchar", "name"]);

interface Target {
  readonly id: number;
  /** Of the chunk; −1: the column was dropped. */
  readonly slot: number;
  readonly type: SqlType | null;
  readonly form: Form;
  readonly isNotNull: boolean;
}

export class ChunkRecords {
  private readonly slab = new RecordSlab();
  private readonly targets: readonly Target[];
  /** By slot: the dictionary that came last, and the UTF-8 of its values by code. */
  private readonly encoded: { column: DictionaryColumn | null; texts: (Uint8Array | undefined)[] }[];

  /** `columnIds`: by slot of the chunks. */
  constructor({ types, notNull }: TableLayout, columnIds: readonly number[]) {
    this.targets = types.map((type, id) => {
      const slot = columnIds.indexOf(id);
      return { id, slot, type, form: formOf(type), isNotNull: notNull.some((column) => column.id === id) };
    });
    this.encoded = columnIds.map(() => ({ column: null, texts: [] }));
  }

  /** Of one of the chunk's rows, valid until the load has copied it. Null: a column that must not be NULL is. */
  record(chunk: Chunk, number: number): Uint8Array | null {
    const { slab, targets } = this;
    slab.begin(targets.length);
    for (const target of targets) {
      if (target.slot < 0 || target.type === null) {
        slab.null(target.id);
        continue;
      }
      const { rows, from } = chunk.selections[target.slot]!;
      const row = rows === null ? from + number : rows[number]!;
      if (!this.write(target, target.type, chunk.vectors[target.slot]!, row)) {
        if (target.isNotNull) return null;
        slab.null(target.id);
      }
    }
    return slab.finish();
  }

  /** False: the value is NULL. */
  private write(target: Target, type: SqlType, column: Column, row: number): boolean {
    switch (column.kind) {
      case "number":
        if (target.form === Form.Other || target.form === Form.Text) break;
        return this.writeNumber(target.form, type, column, row);
      case "text": {
        if (target.form !== Form.Text) break;
        if (column.nulls !== null && column.nulls[row] === 1) return false;
        this.slab.text(column.data, column.offsets[row]!, column.offsets[row + 1]!);
        return true;
      }
      case "dictionary": {
        if (target.form !== Form.Text) break;
        return this.writeEntry(target.slot, column, column.codes[row]!);
      }
    }
    return this.writeValue(type, valueAt(column, row));
  }

  private writeNumber(form: Form, type: SqlType, column: NumberColumn, row: number): boolean {
    if (column.nulls !== null && column.nulls[row] === 1) return false;
    const number = column.data[row]!;
    if (form === Form.Float8) this.slab.float8(number);
    else if (Number.isFinite(number)) this.slab.integer(number);
    else this.slab.value(type, number);
    return true;
  }

  private writeEntry(slot: number, column: DictionaryColumn, code: number): boolean {
    const known = this.encoded[slot]!;
    if (known.column !== column) {
      known.column = column;
      known.texts = [];
    }
    let text = known.texts[code];
    if (text === undefined) {
      const value = column.values[code]!;
      if (value === null) return false;
      text = Buffer.from(value as string);
      known.texts[code] = text;
    }
    this.slab.text(text, 0, text.length);
    return true;
  }

  private writeValue(type: SqlType, value: Value): boolean {
    if (value === null) return false;
    this.slab.value(type, value);
    return true;
  }
}

function formOf(type: SqlType | null): Form {
  if (type === null) return Form.Other;
  if (INTEGERS.has(type.name)) return Form.Integer;
  if (type.name === "float8") return Form.Float8;
  return TEXTS.has(type.name) ? Form.Text : Form.Other;
}
