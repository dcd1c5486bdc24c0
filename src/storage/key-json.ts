/**
 * `jsonb` in keys, in the order of PostgreSQL's B-tree operators (chapter 8.14.4): Object > Array > Boolean > Number >
 * String > Null, arrays and objects with fewer members first, and an empty array before everything. A byte for the kind,
 * then the value; of objects the names in jsonb's own order (shorter first), each followed by its value. Used by key-codec.ts.
 */
import { Numeric } from "../protocol/numeric.js";
import { readNumeric, writeNumeric } from "./key-numeric.js";
import { damagedKey, type KeyReader } from "./key-reader.js";
import { checkKeyLength, writeByte, writeInt32, writeText } from "./key-writer.js";

const KIND = { emptyArray: 1, null: 2, string: 3, number: 4, boolean: 5, array: 6, object: 7 } as const;

/** More values inside each other do not fit into a key. */
const DEPTH_MAX = 2000;

export function writeJson(value: unknown): void {
  checkKeyLength();
  if (value === null) return writeByte(KIND.null);
  switch (typeof value) {
    case "string":
      writeByte(KIND.string);
      return writeText(value);
    case "number":
      writeByte(KIND.number);
      return writeNumeric(Numeric.fromNumber(value));
    case "bigint":
      writeByte(KIND.number);
      return writeNumeric(Numeric.fromInteger(value));
    case "boolean":
      writeByte(KIND.boolean);
      return writeByte(value ? 1 : 0);
    default:
      break;
  }
  if (value instanceof Numeric) {
    writeByte(KIND.number);
    return writeNumeric(value);
  }
  if (Array.isArray(value)) {
    if (value.length === 0) return writeByte(KIND.emptyArray);
    writeByte(KIND.array);
    writeInt32(value.length);
    for (const item of value) writeJson(item);
    return;
  }
  const names = jsonNames(value as object);
  writeByte(KIND.object);
  writeInt32(names.length);
  for (const name of names) {
    writeText(name);
    writeJson((value as Record<string, unknown>)[name]);
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

/** As parsed JSON has it: a double where that is exact. */
function plain(number: Numeric): number | Numeric {
  const double = number.toNumber();
  return Number.isFinite(double) && Numeric.fromNumber(double).equals(number) ? double : number;
}
