/**
 * `jsonb` in keys, in the order of PostgreSQL's B-tree operators (chapter 8.14.4): Object > Array > Boolean > Number >
 * String > Null, arrays and objects with fewer members first, and an empty array before everything. A byte for the
 * kind, then the value; of objects the names in jsonb's own order (shorter first), each followed by its value. Used by
 * key-codec.ts.
 */
import { Numeric } from "../values/numeric.js";
import { readNumeric, writeNumeric } from "./key-numeric.js";
import { damagedKey, type KeyReader } from "./key-reader.js";
import { checkKeyLength, writeByte, writeInt32, writeText } from "./key-writer.js";

const KIND = { emptyArray: 1, null: 2, string: 3, number: 4, boolean: 5, array: 6, object: 7 } as const;

/** More values inside each other do not fit into a key. */
const DEPTH_MAX = 2000;

export function writeJson(value: unknown): void {
  checkKeyLength();
  if (typeof value === "string") {
    writeByte(KIND.string);
    writeText(value);
  } else if (typeof value === "boolean") {
    writeByte(KIND.boolean);
    writeByte(value ? 1 : 0);
  } else if (typeof value === "number" || typeof value === "bigint" || value instanceof Numeric) {
    writeByte(KIND.number);
    writeNumeric(numericOf(value));
  } else if (value === null) writeByte(KIND.null);
  else if (Array.isArray(value)) writeArray(value);
  else writeObject(value as Readonly<Record<string, unknown>>);
}

function numericOf(value: number | bigint | Numeric): Numeric {
  if (typeof value === "number") return Numeric.fromNumber(value);
  return typeof value === "bigint" ? Numeric.fromInteger(value) : value;
}

function writeArray(items: readonly unknown[]): void {
  writeByte(items.length === 0 ? KIND.emptyArray : KIND.array);
  if (items.length === 0) return;
  writeInt32(items.length);
  for (const item of items) writeJson(item);
}

function writeObject(object: Readonly<Record<string, unknown>>): void {
  const names = jsonNames(object);
  writeByte(KIND.object);
  writeInt32(names.length);
  for (const name of names) {
    writeText(name);
    writeJson(object[name]);
  }
}

/** Shorter ones first, in bytes; then by code point. */
function jsonNames(object: object): string[] {
  return Object.keys(object)
    .map((name) => Buffer.from(name))
    .sort((a, b) => a.length - b.length || a.compare(b))
    .map(String);
}

/** An equal value: 1.0 comes back as 1. */
export function readJson(reader: KeyReader, depth = 0): unknown {
  if (depth > DEPTH_MAX) throw damagedKey();
  switch (reader.byte()) {
    case KIND.emptyArray:
      return [];
    case KIND.null:
      return null;
    case KIND.string:
      return reader.text();
    case KIND.number:
      return plain(readNumeric(reader));
    case KIND.boolean:
      return reader.byte() !== 0;
    case KIND.array:
      return Array.from({ length: countOf(reader) }, () => readJson(reader, depth + 1));
    case KIND.object:
      return Object.fromEntries(
        Array.from({ length: countOf(reader) }, () => [reader.text(), readJson(reader, depth + 1)]),
      );
    default:
      throw damagedKey();
  }
}

/** A key has room for no more. */
const MEMBERS_MAX = 16 * 1024;

function countOf(reader: KeyReader): number {
  const count = reader.int32();
  if (count < 0 || count > MEMBERS_MAX) throw damagedKey();
  return count;
}

/** As in parsed JSON: a double if that is exact. */
function plain(number: Numeric): number | Numeric {
  const double = number.toNumber();
  return Number.isFinite(double) && Numeric.fromNumber(double).equals(number) ? double : number;
}
