/** Estimates of the memory that values take, for the bound of a statement. */

import { StoredMap } from "../../storage/stored-map.js";
import { CypherVector } from "../../values/cypher-vector.js";
import { Json, type SqlType, type Value } from "../../values/values.js";
import { GraphNode, GraphPath, GraphRelationship, type VariantMap } from "../../values/variant.js";

/** A slot of an array plus, on average, a boxed number. */
const SLOT_BYTES = 12;
const STRING_BYTES = 16;
const OBJECT_BYTES = 48;
/** A typed array, its buffer and what V8 keeps about that outside of its heap. */
const VECTOR_BYTES = 200;

/** Estimated bytes of the first `length` values of a column of that type. */
export type ColumnBytes = (values: ArrayLike<Value>, length: number) => number;

export function columnBytesOf(type: SqlType): ColumnBytes {
  switch (type.name) {
    case "bool":
    case "int2":
    case "int4":
    case "int8":
    case "money":
    case "oid":
    case "float4":
    case "float8":
    case "date":
    case "time":
    case "timestamp":
    case "timestamptz":
      return (_values, length) => length * SLOT_BYTES;
    default:
      return sumOfBytes;
  }
}

export function sumOfBytes(values: ArrayLike<Value>, length: number): number {
  let bytes = length * SLOT_BYTES;
  for (let row = 0; row < length; row++) bytes += bytesOf(values[row]!);
  return bytes;
}

/** What a value takes beside its slot. Long text counts a byte a character, as V8 holds Latin text. */
export function bytesOf(value: Value): number {
  if (typeof value === "string") return STRING_BYTES + value.length;
  if (typeof value !== "object" || value === null) return 0;
  if (value instanceof Float32Array) return VECTOR_BYTES + value.byteLength;
  if (value instanceof Uint8Array) return OBJECT_BYTES + value.byteLength;
  if (value instanceof CypherVector) return VECTOR_BYTES + value.bytes.byteLength;
  if (Array.isArray(value)) return kept(value, listBytes);
  if ("elements" in value) {
    return OBJECT_BYTES + kept(value.elements, listBytes);
  }
  if (value instanceof Json) return (value.text?.length ?? 0) + documentBytes(value);
  if (value instanceof StoredMap) return OBJECT_BYTES + value.characters;
  if (value instanceof Map) return kept(value, mapBytes);
  if (value instanceof GraphNode || value instanceof GraphRelationship) {
    return 2 * OBJECT_BYTES + bytesOf(value.properties);
  }
  if (value instanceof GraphPath) return OBJECT_BYTES + bytesOf(value.nodes) + bytesOf(value.relationships);
  return OBJECT_BYTES;
}

function mapBytes(map: VariantMap): number {
  let bytes = 4 * OBJECT_BYTES;
  for (const [key, value] of map) bytes += 2 * SLOT_BYTES + bytesOf(key) + bytesOf(value);
  return bytes;
}

/** For a longer list, some items are measured and stand for all. */
const SAMPLED_FROM = 65_536;
const SAMPLES = 4_096;

function listBytes(list: readonly Value[]): number {
  const step = list.length < SAMPLED_FROM ? 1 : Math.floor(list.length / SAMPLES);
  let bytes = 0;
  let seen = 0;
  for (let i = 0; i < list.length; i += step) {
    bytes += SLOT_BYTES + bytesOf(list[i]!);
    seen++;
  }
  return OBJECT_BYTES + (step === 1 ? bytes : Math.ceil((bytes / seen) * list.length));
}

/** Values may share parts, which are counted as often as they are there, but are gone through once. */
const knownBytes = new WeakMap<object, number>();
const KEPT_FROM_BYTES = 16_384;

function kept<T extends object>(value: T, count: (value: T) => number): number {
  const known = knownBytes.get(value);
  if (known !== undefined) return known;
  const bytes = count(value);
  if (bytes >= KEPT_FROM_BYTES) knownBytes.set(value, bytes);
  return bytes;
}

/** A text that is at hand tells: values between commas take about twice their characters. */
function documentBytes(json: Json): number {
  const text = json.compact ?? json.unparsed;
  return text === undefined ? jsonBytes(json.value) : 3 * text.length;
}

function jsonBytes(json: unknown): number {
  if (typeof json === "string") return STRING_BYTES + json.length;
  if (typeof json !== "object" || json === null) return SLOT_BYTES;
  return kept(json, membersBytes);
}

function membersBytes(json: object): number {
  let bytes = OBJECT_BYTES;
  for (const member of Array.isArray(json) ? json : Object.values(json)) bytes += SLOT_BYTES + jsonBytes(member);
  return bytes;
}
