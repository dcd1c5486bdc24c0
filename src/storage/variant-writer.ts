/**
 * Variants in records: a tag byte, then what the tag asks for. Used by record-writer.ts; one value at a time is under
 * construction. The bytes are a stored format; format.ts holds its version.
 *
 *   null, false, true                  the tag alone
 *   integer −16 to 47                  the tag alone: SMALL_INT + value + 16
 *   integer                            INT + its length (0 to 8), two's complement, little-endian
 *   float                              8 bytes, little-endian
 *   text of up to 63 units to U+00FF   SHORT_TEXT + length, a byte each
 *   other text                         varint length in bytes, then a byte each (TEXT), or UTF-8 (UTF8_TEXT)
 *   the rest                           varint length of what follows in bytes, so that a reader can pass over it:
 *     list                             varint count, values
 *     map                              varint count, entries: varint key length · 2 (+ 1 when it is UTF-8), key, value
 *     node                             id, label count, labels, properties (a map)
 *     relationship                     id, type, src, dst, properties
 *     path                             node count, nodes, relationships
 *     temporal                         its parts as values
 *     bytes                            as they are
 *     vector                           a byte for the type of its coordinates, and they as they are
 */

import { DbError } from "../protocol/errors.js";
import { RECORD_BYTES_MAX } from "../protocol/limits.js";
import { COORDINATE_TYPES, CypherVector } from "../values/cypher-vector.js";
import { CypherPoint } from "../values/point.js";
import {
  CypherDate,
  Duration,
  LocalDateTime,
  LocalTime,
  type Temporal,
  ZonedDateTime,
  ZonedTime,
} from "../values/temporal.js";
import { Float, GraphNode, GraphPath, GraphRelationship, type Variant, type VariantMap } from "../values/variant.js";
import { isList, tooDeep, VARIANT_DEPTH_MAX } from "../values/variant-format.js";
import { StoredMap } from "./stored-map.js";
import { SHORT_TEXT_MAX, SMALL_INT_MAX, SMALL_INT_MIN, TAG } from "./variant-tags.js";

const SCRATCH_BYTES = 16 * 1024;
/** A scratch buffer that grew beyond this is not kept. */
const SCRATCH_BYTES_KEPT = 1024 * 1024;
const TWO_32 = 2 ** 32;

let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
let at = 0;

const doubles = new Float64Array(1);
const doubleBytes = new Uint8Array(doubles.buffer);

/**
 * The value's bytes, which are good until the next call. Throws 54000 past RECORD_BYTES_MAX, 54001 for deep nesting.
 */
export function encodeVariant(value: Variant): Uint8Array {
  if (scratch.length > SCRATCH_BYTES_KEPT) scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  at = 0;
  write(value, 0);
  return scratch.subarray(0, at);
}

function write(value: Variant, depth: number): void {
  switch (typeof value) {
    case "number":
      if (Number.isInteger(value)) writeInteger(value);
      else writeFloat(value);
      return;
    case "string":
      writeText(value);
      return;
    case "boolean":
      writeByte(value ? TAG.true : TAG.false);
      return;
    case "bigint":
      ensure(9);
      scratch[at++] = TAG.int + 8;
      scratch.writeBigInt64LE(value, at);
      at += 8;
      return;
    case "object":
      if (value === null) writeByte(TAG.null);
      else writeObject(value, depth);
      return;
    default:
      throw new DbError("internal_error", `A ${typeof value} cannot be stored.`);
  }
}

function writeByte(byte: number): void {
  ensure(1);
  scratch[at++] = byte;
}

function writeInteger(value: number): void {
  if (value >= SMALL_INT_MIN && value <= SMALL_INT_MAX) {
    writeByte(TAG.smallInt + value - SMALL_INT_MIN);
    return;
  }
  ensure(9);
  const head = at++;
  if (value === (value | 0)) {
    scratch[at++] = value;
    if (value < -0x80 || value >= 0x80) {
      scratch[at++] = value >> 8;
      if (value < -0x8000 || value >= 0x8000) {
        scratch[at++] = value >> 16;
        scratch[at++] = value >> 24;
      }
    }
  } else {
    const high = Math.floor(value / TWO_32);
    scratch.writeUInt32LE(value - high * TWO_32, at);
    scratch.writeInt32LE(high, at + 4);
    at += 8;
  }
  scratch[head] = TAG.int + at - head - 1;
}

function writeFloat(value: number): void {
  ensure(9);
  scratch[at++] = TAG.float;
  doubles[0] = value;
  for (let i = 0; i < 8; i++) scratch[at++] = doubleBytes[i]!;
}

function writeText(text: string): void {
  const { length } = text;
  if (isOneByte(text)) {
    ensure(length + 6);
    if (length <= SHORT_TEXT_MAX) scratch[at++] = TAG.shortText + length;
    else {
      scratch[at++] = TAG.text;
      writeVarint(length);
    }
    writeUnits(text);
    return;
  }
  const bytes = Buffer.byteLength(text);
  ensure(bytes + 6);
  scratch[at++] = TAG.utf8Text;
  writeVarint(bytes);
  at += scratch.write(text, at);
}

/** Whether a byte holds each of its units. */
function isOneByte(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0xff) return false;
  return true;
}

function writeUnits(text: string): void {
  const { length } = text;
  if (length > 32) {
    at += scratch.write(text, at, "latin1");
    return;
  }
  for (let i = 0; i < length; i++) scratch[at++] = text.charCodeAt(i);
}

function writeVarint(value: number): void {
  ensure(5);
  let rest = value;
  while (rest > 0x7f) {
    scratch[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  scratch[at++] = rest;
}

function writeObject(value: Exclude<Variant, null | boolean | number | bigint | string>, depth: number): void {
  if (value instanceof Float) {
    writeFloat(value.value);
    return;
  }
  if (depth > VARIANT_DEPTH_MAX) throw tooDeep();
  ensure(1);
  const head = ++at;
  // In a statement of its own: the body may get another buffer, and an assignment would have looked up this one before.
  const tag = writeBody(value, depth);
  scratch[head - 1] = tag;
  writeLength(head);
}

/** The body of a value that has a length; its tag. */
function writeBody(value: Exclude<Variant, null | boolean | number | bigint | string | Float>, depth: number): number {
  if (isList(value)) {
    writeVarint(value.length);
    for (const item of value) write(item, depth + 1);
    return TAG.list;
  }
  if (value instanceof Map) {
    writeMap(value, depth);
    return TAG.map;
  }
  if (value instanceof GraphNode) {
    write(value.id, depth);
    writeVarint(value.labels.length);
    for (const label of value.labels) writeText(label);
    write(value.properties, depth + 1);
    return TAG.node;
  }
  if (value instanceof GraphRelationship) {
    write(value.id, depth);
    writeText(value.type);
    write(value.src, depth);
    write(value.dst, depth);
    write(value.properties, depth + 1);
    return TAG.relationship;
  }
  if (value instanceof GraphPath) {
    writeVarint(value.nodes.length);
    for (const node of value.nodes) write(node, depth + 1);
    for (const relationship of value.relationships) write(relationship, depth + 1);
    return TAG.path;
  }
  if (value instanceof CypherPoint) {
    writeInteger(value.srid);
    writeFloat(value.x);
    writeFloat(value.y);
    if (value.z !== null) writeFloat(value.z);
    return TAG.point;
  }
  if (value instanceof Uint8Array) {
    ensure(value.length);
    scratch.set(value, at);
    at += value.length;
    return TAG.bytes;
  }
  if (value instanceof CypherVector) {
    const { type, bytes } = value;
    ensure(1 + bytes.length);
    scratch[at++] = COORDINATE_TYPES.indexOf(type);
    scratch.set(bytes, at);
    at += bytes.length;
    return TAG.vector;
  }
  return writeTemporal(value as Temporal);
}

function writeMap(map: VariantMap, depth: number): void {
  if (map instanceof StoredMap) {
    const bytes = map.encoded();
    ensure(bytes.length);
    at += scratch.write(bytes, at, "latin1");
    return;
  }
  writeVarint(map.size);
  for (const [key, value] of map) {
    const isWide = !isOneByte(key);
    const length = isWide ? Buffer.byteLength(key) : key.length;
    ensure(length + 5);
    writeVarint(2 * length + (isWide ? 1 : 0));
    if (isWide) at += scratch.write(key, at);
    else writeUnits(key);
    write(value, depth + 1);
  }
}

function writeTemporal(value: Temporal): number {
  if (value instanceof CypherDate) {
    writeInteger(value.days);
    return TAG.date;
  }
  if (value instanceof LocalTime) {
    writeInteger(value.nanos);
    return TAG.localTime;
  }
  if (value instanceof ZonedTime) {
    writeInteger(value.nanos);
    writeInteger(value.offset);
    return TAG.zonedTime;
  }
  if (value instanceof Duration) {
    writeInteger(value.months);
    writeInteger(value.days);
    write(value.seconds, 0);
    writeInteger(value.nanos);
    return TAG.duration;
  }
  writeInteger(value.days);
  writeInteger(value.nanos);
  if (value instanceof LocalDateTime) return TAG.localDateTime;
  if (!(value instanceof ZonedDateTime)) throw new DbError("internal_error", "An unknown value cannot be stored.");
  writeInteger(value.offset);
  write(value.zone, 0);
  return TAG.zonedDateTime;
}

/** Inserts the length of everything from `start` on in front of it. */
function writeLength(start: number): void {
  const length = at - start;
  const head = length < 0x80 ? 1 : length < 0x4000 ? 2 : length < 0x200000 ? 3 : length < 0x10000000 ? 4 : 5;
  ensure(head);
  scratch.copyWithin(start + head, start, at);
  at = start;
  writeVarint(length);
  at = start + head + length;
}

function ensure(count: number): void {
  if (at + count <= scratch.length) return;
  if (at + count > 2 * RECORD_BYTES_MAX)
    throw new DbError("query_error", "a value is too large", { sqlstate: "54000" });
  const larger = Buffer.allocUnsafeSlow(Math.max(at + count, scratch.length * 2));
  scratch.copy(larger, 0, 0, at);
  scratch = larger;
}
