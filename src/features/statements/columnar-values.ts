/**
 * Values by columns as Arrow and Parquet have them (ingest/columnar/contract.ts). Types that these formats lack become
 * text as SQL prints it, or JSON text: documents, graph values, rows without known fields. Compiled per column of a
 * result; used by column-stream.ts.
 */
import type { ColumnarData, ColumnarField, ColumnarType } from "../../ingest/columnar/contract.js";
import { sqlError } from "../../protocol/errors.js";
import { toJsonText } from "../../values/json-format.js";
import { type Numeric, pow10 } from "../../values/numeric.js";
import { numericModifier, toText } from "../../values/text-format.js";
import type { Timestamp } from "../../values/timestamp.js";
import type { SqlArray, SqlType, Value } from "../../values/values.js";

export interface ColumnarWriter {
  readonly type: ColumnarType;
  write(values: ArrayLike<Value>, from: number, to: number): ColumnarData;
}

const DECIMAL_DIGITS_MAX = 38;

/** `name`: of the column, for errors. */
export function columnarWriter(type: SqlType, name: string): ColumnarWriter {
  switch (type.name) {
    case "bool":
      return numbers("bool", (rows) => new Uint8Array(rows));
    case "int2":
      return numbers("int16", (rows) => new Int16Array(rows));
    case "int4":
      return numbers("int32", (rows) => new Int32Array(rows));
    case "oid":
      return numbers("uint32", (rows) => new Uint32Array(rows));
    case "float4":
      return numbers("float32", (rows) => new Float32Array(rows));
    case "float8":
      return numbers("float64", (rows) => new Float64Array(rows));
    case "date":
      return dates;
    case "int8":
      return longs("int64", name);
    case "time":
    case "timestamp":
    case "timestamptz":
      return longs(type.name, name);
    case "numeric":
      return decimals(type, name);
    case "bytea":
      return bytes;
    case "json":
    case "jsonb":
    case "variant":
      return texts("json", (value) => toJsonText(type, value));
    case "record":
      return type.fields === undefined ? texts("json", (value) => toJsonText(type, value)) : structs(type, name);
    case "vector":
    case "halfvec":
      return vectors(type.modifier);
    case "array":
      return lists(type.element!, name);
    default:
      return texts("text", (value) => toText(type, value));
  }
}

/** A byte for each row, 1 where it is NULL; null: none is. */
function nullsOf(values: ArrayLike<Value>, from: number, to: number): Uint8Array | null {
  let nulls: Uint8Array | null = null;
  for (let r = from; r < to; r++) {
    if (values[r] !== null) continue;
    nulls ??= new Uint8Array(to - from);
    nulls[r - from] = 1;
  }
  return nulls;
}

type NumberArray = Uint8Array | Int16Array | Int32Array | Uint32Array | Float32Array | Float64Array;

function numbers(kind: ColumnarType["kind"], make: (rows: number) => NumberArray): ColumnarWriter {
  return {
    type: { kind },
    write(values, from, to) {
      const data = make(to - from);
      for (let r = from; r < to; r++) data[r - from] = Number(values[r]!);
      return { rows: to - from, nulls: nullsOf(values, from, to), data };
    },
  };
}

/** Infinity is the last day, −infinity the first, as DuckDB writes them. */
const DAY_MAX = 2 ** 31 - 1;

const dates: ColumnarWriter = {
  type: { kind: "date" },
  write(values, from, to) {
    const data = new Int32Array(to - from);
    for (let r = from; r < to; r++) data[r - from] = Math.max(-DAY_MAX, Math.min(DAY_MAX, Number(values[r]!)));
    return { rows: to - from, nulls: nullsOf(values, from, to), data };
  },
};

const LONG_MAX = 2n ** 63n - 1n;
const TWO_32 = 2 ** 32;

/** Infinity is the last moment, −infinity the first, as DuckDB writes them. `name`: of the column, for errors. */
function longs(kind: ColumnarType["kind"], name: string): ColumnarWriter {
  return {
    type: { kind },
    write(values, from, to) {
      const view = new DataView(new ArrayBuffer(8 * (to - from)));
      for (let r = from; r < to; r++) {
        const value = values[r]!;
        const at = 8 * (r - from);
        if (value === null) continue;
        if (kind !== "int64" && isLate(value as Timestamp)) {
          throw notOfFormat(name, "a time after 294247-01-10 04:00:54.775806", `${name}::text`);
        }
        if (typeof value === "bigint") view.setBigInt64(at, value, true);
        else if (!Number.isFinite(value)) view.setBigInt64(at, (value as number) > 0 ? LONG_MAX : -LONG_MAX, true);
        else {
          view.setUint32(at, (value as number) % TWO_32, true);
          view.setInt32(at + 4, Math.floor((value as number) / TWO_32), true);
        }
      }
      return { rows: to - from, nulls: nullsOf(values, from, to), data: new Uint8Array(view.buffer) };
    },
  };
}

/** A finite time that would be read as infinity, or not at all. */
const isLate = (value: Timestamp): boolean => value >= LONG_MAX && value !== Number.POSITIVE_INFINITY;

/** Without a declared precision, or with one that the formats cannot have, it is text. */
function decimals(type: SqlType, name: string): ColumnarWriter {
  const { precision, scale } = type.modifier === null ? { precision: 0, scale: 0 } : numericModifier(type.modifier);
  if (precision === 0 || precision > DECIMAL_DIGITS_MAX || scale < 0 || scale > precision) {
    return texts("text", (value) => toText(type, value));
  }
  return {
    type: { kind: "decimal", precision, scale },
    write(values, from, to) {
      const view = new DataView(new ArrayBuffer(16 * (to - from)));
      for (let r = from; r < to; r++) {
        if (values[r] === null) continue;
        const value = values[r] as Numeric;
        if (value.special !== null) throw notOfFormat(name, `the value ${value.special}`, `${name}::float8`);
        const unscaled = value.unscaled * pow10(scale - value.scale);
        view.setBigInt64(16 * (r - from), BigInt.asIntN(64, unscaled), true);
        view.setBigInt64(16 * (r - from) + 8, unscaled >> 64n, true);
      }
      return { rows: to - from, nulls: nullsOf(values, from, to), data: new Uint8Array(view.buffer) };
    },
  };
}

function notOfFormat(name: string, what: string, instead: string) {
  return sqlError("0A000", `column "${name}" has ${what}, for which Arrow and Parquet have no type`, {
    column: name,
    hint: `Select ${instead} instead.`,
  });
}

function texts(kind: "text" | "json", print: (value: Value) => string): ColumnarWriter {
  return {
    type: { kind },
    write(values, from, to) {
      const rows = to - from;
      const parts = new Array<string>(rows);
      for (let r = from; r < to; r++) parts[r - from] = values[r] === null ? "" : print(values[r]!);
      const data = Buffer.from(parts.join(""));
      const offsets = new Int32Array(rows + 1);
      let characters = 0;
      for (let r = 0; r < rows; r++) offsets[r + 1] = characters += parts[r]!.length;
      // Beyond ASCII a character is more than a byte.
      if (characters !== data.length) {
        for (let r = 0, at = 0; r < rows; r++) offsets[r + 1] = at += Buffer.byteLength(parts[r]!);
      }
      return { rows, nulls: nullsOf(values, from, to), data: new Uint8Array(data), offsets };
    },
  };
}

const bytes: ColumnarWriter = {
  type: { kind: "binary" },
  write(values, from, to) {
    const parts: Uint8Array[] = [];
    const offsets = new Int32Array(to - from + 1);
    for (let r = from, at = 0; r < to; r++) {
      const value = values[r] as Uint8Array | null;
      if (value !== null) parts.push(value);
      offsets[r - from + 1] = at += value?.length ?? 0;
    }
    return { rows: to - from, nulls: nullsOf(values, from, to), data: new Uint8Array(Buffer.concat(parts)), offsets };
  },
};

const FLOATS: ColumnarField = { name: "element", type: { kind: "float32" } };

function vectors(dimensions: number | null): ColumnarWriter {
  const type: ColumnarType =
    dimensions === null
      ? { kind: "list", children: [FLOATS] }
      : { kind: "fixedList", size: dimensions, children: [FLOATS] };
  return {
    type,
    write(values, from, to) {
      const rows = to - from;
      const offsets = new Int32Array(rows + 1);
      for (let r = 0; r < rows; r++) {
        const length = (values[from + r] as Float32Array | null)?.length ?? 0;
        offsets[r + 1] = offsets[r]! + (dimensions ?? length);
      }
      const data = new Float32Array(offsets[rows]!);
      for (let r = 0; r < rows; r++) {
        const vector = values[from + r] as Float32Array | null;
        if (vector !== null) data.set(vector, offsets[r]!);
      }
      const children = [{ rows: data.length, nulls: null, data }];
      const nulls = nullsOf(values, from, to);
      return dimensions === null ? { rows, nulls, offsets, children } : { rows, nulls, children };
    },
  };
}

function lists(element: SqlType, name: string): ColumnarWriter {
  const inner = columnarWriter(element, name);
  return {
    type: { kind: "list", children: [{ name: "element", type: inner.type }] },
    write(values, from, to) {
      const elements: Value[] = [];
      const offsets = new Int32Array(to - from + 1);
      for (let r = from; r < to; r++) {
        const array = values[r] as SqlArray | null;
        if (array !== null && array.dimensions.length > 1) {
          throw notOfFormat(name, "an array of several dimensions", `to_json(${name})`);
        }
        for (const item of array?.elements ?? []) elements.push(item);
        offsets[r - from + 1] = elements.length;
      }
      const children = [inner.write(elements, 0, elements.length)];
      return { rows: to - from, nulls: nullsOf(values, from, to), offsets, children };
    },
  };
}

function structs(type: SqlType, name: string): ColumnarWriter {
  const fields = type.fields!.map((field) => ({ name: field.name, writer: columnarWriter(field.type, name) }));
  return {
    type: { kind: "struct", children: fields.map((field) => ({ name: field.name, type: field.writer.type })) },
    write(values, from, to) {
      const rows = to - from;
      const children = fields.map(({ writer }, i) => {
        const column = Array.from(
          { length: rows },
          (_, r) => (values[from + r] as readonly Value[] | null)?.[i] ?? null,
        );
        return writer.write(column, 0, rows);
      });
      return { rows, nulls: nullsOf(values, from, to), children };
    },
  };
}
