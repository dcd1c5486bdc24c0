/**
 * Rows by columns for MessagePack: a column of numbers is `{dtype, data, nulls?}`, whose data are the bytes of a typed
 * array (little-endian) and whose nulls are a byte per row, 1 where the value is NULL; any other column is a list of
 * values. Clients who round numbers as readers of JSON do must know where they are, so columns of types that statements
 * made say what these are made of. Called by message-rows.ts; stateless.
 */

import type { Batch } from "../../query/expr/expr.js";
import { displayName } from "../../query/expr/types.js";
import type { ResultShape } from "../../session/sql-result.js";
import { plainWriter } from "../../values/json-format.js";
import { type SqlType, typeOf, type Value } from "../../values/values.js";

export type PackedColumn =
  | { readonly dtype: string; readonly data: Uint8Array; readonly nulls?: Uint8Array }
  | readonly unknown[];

/** A type's name, or of a composite type its fields'; of an array of composite values those of an element. */
type BaseType = string | { readonly [field: string]: BaseType };

/** A shape's columns, with the `base_type` of those whose type's name does not tell what its values are. */
export function withBaseTypes({ columns, outputs }: ResultShape): readonly object[] {
  return columns.map((column, c) => {
    const { type } = outputs[c]!;
    return isNamed(type) ? { ...column, base_type: baseType(type) } : column;
  });
}

function isNamed({ user, typeName, fields, element }: SqlType): boolean {
  return user !== undefined || typeName !== undefined || fields !== undefined || (element !== null && isNamed(element));
}

function baseType({ name, fields, element }: SqlType): BaseType {
  if (fields !== undefined) return Object.fromEntries(fields.map((field) => [field.name, baseType(field.type)]));
  if (element === null) return displayName(typeOf(name));
  const base = baseType(element);
  return typeof base === "string" ? `${base}[]` : base;
}

type Writer = (values: ArrayLike<Value>, from: number, to: number) => PackedColumn;

export function packedColumns(types: readonly SqlType[]): (batch: Batch, from: number, to: number) => PackedColumn[] {
  const writers = types.map(writerOf);
  return ({ columns }, from, to) => writers.map((write, c) => write(columns[c]!, from, to));
}

function writerOf(type: SqlType): Writer {
  switch (type.name) {
    case "int2":
    case "int4":
      return numbers("int32", (length) => new Int32Array(length));
    case "float4":
      return numbers("float32", (length) => new Float32Array(length));
    case "float8":
      return numbers("float64", (length) => new Float64Array(length));
    case "int8":
    case "oid":
      return longs;
    case "bool":
      return numbers("bool", (length) => new Uint8Array(length));
    default: {
      const write = plainWriter(type);
      return (values, from, to) => {
        const list = new Array<unknown>(to - from);
        for (let r = from; r < to; r++) list[r - from] = values[r] === null ? null : write(values[r]!);
        return list;
      };
    }
  }
}

interface NumberArray extends ArrayBufferView {
  [index: number]: number;
}

function numbers(dtype: string, make: (length: number) => NumberArray): Writer {
  return (values, from, to) => {
    const data = make(to - from);
    let nulls: Uint8Array | null = null;
    for (let r = from; r < to; r++) {
      const value = values[r]!;
      if (value === null) {
        nulls ??= new Uint8Array(to - from);
        nulls[r - from] = 1;
      } else data[r - from] = Number(value);
    }
    return column(dtype, data, nulls);
  };
}

const TWO_32 = 2 ** 32;

/** Numbers beyond a double's whole ones are bigint. */
function longs(values: ArrayLike<Value>, from: number, to: number): PackedColumn {
  const data = new DataView(new ArrayBuffer(8 * (to - from)));
  let nulls: Uint8Array | null = null;
  for (let r = from; r < to; r++) {
    const value = values[r]!;
    const at = 8 * (r - from);
    if (value === null) {
      nulls ??= new Uint8Array(to - from);
      nulls[r - from] = 1;
    } else if (typeof value === "number") {
      data.setUint32(at, value % TWO_32, true);
      data.setInt32(at + 4, Math.floor(value / TWO_32), true);
    } else data.setBigInt64(at, value as bigint, true);
  }
  return column("int64", data, nulls);
}

function column(
  dtype: string,
  { buffer, byteOffset, byteLength }: ArrayBufferView,
  nulls: Uint8Array | null,
): PackedColumn {
  const data = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
  return nulls === null ? { dtype, data } : { dtype, data, nulls: Buffer.from(nulls.buffer as ArrayBuffer) };
}
