/**
 * Reads variants in the form in which variant-writer.ts stores them, from a string with one byte per code unit
 * (Latin-1). V8 makes such a string faster than a view, and its substrings cost nothing. A map stays in its stored
 * form, and `get` skips what is not asked for, so reading one property of a node costs little. Used by
 * record-reader.ts and record-writer.ts.
 */

import { DbError } from "../protocol/errors.js";
import { COORDINATE_TYPES, CypherVector } from "../values/cypher-vector.js";
import { CypherPoint, systemWith } from "../values/point.js";
import { CypherDate, Duration, LocalDateTime, LocalTime, ZonedDateTime, ZonedTime } from "../values/temporal.js";
import {
  doubleOf,
  Float,
  GraphNode,
  GraphPath,
  GraphRelationship,
  type Variant,
  type VariantMap,
} from "../values/variant.js";
import { tooDeep, VARIANT_DEPTH_MAX } from "../values/variant-format.js";
import { SHORT_TEXT_MAX, SMALL_INT_MIN, TAG } from "./variant-tags.js";

const TWO_32 = 2 ** 32;
/** Pieces of a longer string are copied, so that a short one does not keep all of it in memory. */
const SHARED_LENGTH_MAX = 4096;

const doubles = new Float64Array(1);
const doubleBytes = new Uint8Array(doubles.buffer);

/** Where the value that was read or passed over last ends. */
let next = 0;

/** The variant whose stored bytes are the units of `bytes`. Throws internal_error when they are damaged. */
export function decodeVariant(bytes: string): Variant {
  const value = read(bytes, 0, 0);
  if (next !== bytes.length) throw damaged();
  return value;
}

function read(bytes: string, start: number, depth: number): Variant {
  const tag = bytes.charCodeAt(start);
  if (tag >= TAG.smallInt) {
    next = start + 1;
    return tag - TAG.smallInt + SMALL_INT_MIN;
  }
  if (tag >= TAG.shortText) return readUnits(bytes, start + 1, tag - TAG.shortText);
  if (tag >= TAG.list) return readLong(bytes, start, tag, depth);
  switch (tag) {
    case TAG.null:
      next = start + 1;
      return null;
    case TAG.false:
    case TAG.true:
      next = start + 1;
      return tag === TAG.true;
    case TAG.float:
      return readFloat(bytes, start + 1);
    case TAG.text:
    case TAG.utf8Text: {
      const length = readVarint(bytes, start + 1);
      return tag === TAG.text ? readUnits(bytes, next, length) : readUtf8(bytes, next, length);
    }
    default:
      return readInteger(bytes, start + 1, tag - TAG.int);
  }
}

function readUnits(bytes: string, start: number, length: number): string {
  next = start + length;
  if (next > bytes.length) throw damaged();
  return piece(bytes, start, next);
}

function piece(bytes: string, start: number, end: number): string {
  const text = bytes.substring(start, end);
  return bytes.length <= SHARED_LENGTH_MAX || end - start < 13 ? text : Buffer.from(text, "latin1").toString("latin1");
}

function readUtf8(bytes: string, start: number, length: number): string {
  next = start + length;
  if (next > bytes.length) throw damaged();
  return Buffer.from(bytes.substring(start, next), "latin1").toString();
}

function readFloat(bytes: string, start: number): number | Float {
  next = start + 8;
  if (next > bytes.length) throw damaged();
  for (let i = 0; i < 8; i++) doubleBytes[i] = bytes.charCodeAt(start + i);
  const value = doubles[0]!;
  return Number.isInteger(value) ? new Float(value) : value;
}

function readInteger(bytes: string, start: number, length: number): number | bigint {
  next = start + length;
  if (next > bytes.length) throw damaged();
  switch (length) {
    case 1:
      return (bytes.charCodeAt(start) << 24) >> 24;
    case 2:
      return ((bytes.charCodeAt(start) << 16) | (bytes.charCodeAt(start + 1) << 24)) >> 16;
    case 4:
      return readInt32(bytes, start);
    case 8: {
      const low = readInt32(bytes, start) >>> 0;
      const high = readInt32(bytes, start + 4);
      const value = high * TWO_32 + low;
      return Number.isSafeInteger(value) ? value : (BigInt(high) << 32n) | BigInt(low);
    }
    default:
      throw damaged();
  }
}

function readInt32(bytes: string, start: number): number {
  return (
    bytes.charCodeAt(start) |
    (bytes.charCodeAt(start + 1) << 8) |
    (bytes.charCodeAt(start + 2) << 16) |
    (bytes.charCodeAt(start + 3) << 24)
  );
}

/** An unsigned number of at most 31 bits; `next` is behind it. */
function readVarint(bytes: string, start: number): number {
  let value = 0;
  let position = start;
  for (let shift = 0; shift <= 28; shift += 7) {
    const byte = bytes.charCodeAt(position++);
    value |= (byte & 0x7f) << shift;
    if (byte <= 0x7f) {
      if (value < 0) throw damaged();
      next = position;
      return value;
    }
    // Behind the end.
    if (Number.isNaN(byte)) throw damaged();
  }
  throw damaged();
}

/** A value with a length: what is read must end there. */
function readLong(bytes: string, start: number, tag: number, depth: number): Variant {
  if (depth > VARIANT_DEPTH_MAX) throw tooDeep();
  const length = readVarint(bytes, start + 1);
  const body = next;
  const end = body + length;
  if (end > bytes.length) throw damaged();
  if (tag === TAG.map) {
    next = end;
    return new StoredMap(bytes, body, end);
  }
  const value = readBody(bytes, body, end, tag, depth);
  if (next !== end) throw damaged();
  return value;
}

function readBody(bytes: string, start: number, end: number, tag: number, depth: number): Variant {
  switch (tag) {
    case TAG.list:
      return readList(bytes, start, end, depth);
    case TAG.node: {
      const id = read(bytes, start, depth) as number;
      const labels = readList(bytes, next, end, depth) as readonly string[];
      return new GraphNode(id, labels, readProperties(bytes, depth));
    }
    case TAG.relationship: {
      const id = read(bytes, start, depth) as number;
      const type = read(bytes, next, depth) as string;
      const src = read(bytes, next, depth) as number;
      const dst = read(bytes, next, depth) as number;
      return new GraphRelationship(id, type, src, dst, readProperties(bytes, depth));
    }
    case TAG.path: {
      const count = readVarint(bytes, start);
      if (count > end - next) throw damaged();
      const nodes = Array.from({ length: count }, () => read(bytes, next, depth + 1) as GraphNode);
      const between = Array.from({ length: Math.max(0, count - 1) }, () => read(bytes, next, depth + 1));
      return new GraphPath(nodes, between as GraphRelationship[]);
    }
    case TAG.point:
      return readPoint(bytes, start, end);
    case TAG.bytes:
      next = end;
      return new Uint8Array(Buffer.from(bytes.substring(start, end), "latin1"));
    case TAG.vector:
      return readVector(bytes, start, end);
    default:
      return readTemporal(bytes, start, tag);
  }
}

function readProperties(bytes: string, depth: number): VariantMap {
  const properties = read(bytes, next, depth + 1);
  if (!(properties instanceof Map)) throw damaged();
  return properties;
}

function readList(bytes: string, start: number, end: number, depth: number): readonly Variant[] {
  const count = readVarint(bytes, start);
  if (count > end - next) throw damaged();
  const items = new Array<Variant>(count);
  for (let i = 0; i < count; i++) items[i] = read(bytes, next, depth + 1);
  return items;
}

function readPoint(bytes: string, start: number, end: number): CypherPoint {
  const srid = read(bytes, start, 0) as number;
  const coordinate = () => doubleOf(read(bytes, next, 0));
  const [x, y] = [coordinate(), coordinate()];
  const z = next < end ? coordinate() : null;
  if (systemWith(srid, z === null ? 2 : 3) === null) throw damaged();
  return new CypherPoint(srid, x, y, z);
}

function readVector(bytes: string, start: number, end: number): CypherVector {
  next = end;
  const type = COORDINATE_TYPES[bytes.charCodeAt(start)];
  if (type === undefined || start >= end) throw damaged();
  const vector = new CypherVector(type, new Uint8Array(Buffer.from(bytes.substring(start + 1, end), "latin1")));
  if (!Number.isInteger(vector.dimension)) throw damaged();
  return vector;
}

function readTemporal(bytes: string, start: number, tag: number): Variant {
  const first = read(bytes, start, 0) as number;
  const part = () => read(bytes, next, 0) as number;
  switch (tag) {
    case TAG.date:
      return new CypherDate(first);
    case TAG.localTime:
      return new LocalTime(first);
    case TAG.zonedTime:
      return new ZonedTime(first, part());
    case TAG.localDateTime:
      return new LocalDateTime(first, part());
    case TAG.zonedDateTime: {
      const [nanos, offset] = [part(), part()];
      return new ZonedDateTime(first, nanos, offset, read(bytes, next, 0) as string | null);
    }
    case TAG.duration: {
      const [days, seconds] = [part(), part()];
      return new Duration(first, days, seconds, part());
    }
    default:
      throw damaged();
  }
}

/** The key of an entry; `next` is behind it, at the value. */
function readKey(bytes: string, start: number): string {
  const head = readVarint(bytes, start);
  return (head & 1) === 1 ? readUtf8(bytes, next, head >>> 1) : readUnits(bytes, next, head >>> 1);
}

/** Passes over a value without making it. */
function skip(bytes: string, start: number): void {
  const tag = bytes.charCodeAt(start);
  if (tag >= TAG.smallInt) next = start + 1;
  else if (tag >= TAG.shortText) next = start + 1 + (tag & SHORT_TEXT_MAX);
  else if (tag >= TAG.text) {
    const length = readVarint(bytes, start + 1);
    next += length;
  } else if (tag === TAG.float) next = start + 9;
  else if (tag >= TAG.int) next = start + 1 + tag - TAG.int;
  else if (tag >= TAG.null) next = start + 1;
  else throw damaged();
}

/**
 * A stored map. To `instanceof` and to readers it is a Map, but it is not one inside: making a real Map costs more than
 * reading a property from this.
 */
export class StoredMap implements ReadonlyMap<string, Variant> {
  constructor(
    private readonly bytes: string,
    private readonly start: number,
    private readonly end: number,
  ) {}

  /** Its stored form, without tag and length. */
  encoded(): string {
    return this.bytes.substring(this.start, this.end);
  }

  /** Characters that it keeps in memory, alone or together with others. */
  get characters(): number {
    return this.end - this.start;
  }

  get size(): number {
    return readVarint(this.bytes, this.start);
  }

  get(key: string): Variant | undefined {
    return this.find(key) ? read(this.bytes, next, 0) : undefined;
  }

  has(key: string): boolean {
    return this.find(key);
  }

  /** Leaves `next` at the value. */
  private find(key: string): boolean {
    const { bytes, end } = this;
    const { length } = key;
    const count = readVarint(bytes, this.start);
    for (let i = 0; i < count; i++) {
      const head = readVarint(bytes, next);
      const from = next;
      next = from + (head >>> 1);
      if (next >= end) throw damaged();
      if ((head & 1) === 0) {
        if (head === 2 * length && hasUnits(bytes, from, key)) return true;
      } else if (isUtf8Of(bytes, from, head >>> 1, key)) return true;
      skip(bytes, next);
    }
    return false;
  }

  forEach(call: (value: Variant, key: string, map: ReadonlyMap<string, Variant>) => void): void {
    const { bytes, start, end } = this;
    const count = readVarint(bytes, start);
    let position = next;
    for (let i = 0; i < count; i++) {
      const key = readKey(bytes, position);
      const value = read(bytes, next, 0);
      position = next;
      if (position > end) throw damaged();
      call(value, key, this);
    }
  }

  entries(): MapIterator<[string, Variant]> {
    const entries: [string, Variant][] = [];
    this.forEach((value, key) => void entries.push([key, value]));
    return entries.values();
  }

  keys(): MapIterator<string> {
    const keys: string[] = [];
    const { bytes, start, end } = this;
    const count = readVarint(bytes, start);
    for (let i = 0; i < count; i++) {
      keys.push(readKey(bytes, next));
      skip(bytes, next);
      if (next > end) throw damaged();
    }
    return keys.values();
  }

  values(): MapIterator<Variant> {
    const values: Variant[] = [];
    this.forEach((value) => void values.push(value));
    return values.values();
  }

  [Symbol.iterator](): MapIterator<[string, Variant]> {
    return this.entries();
  }
}

Object.setPrototypeOf(StoredMap.prototype, Map.prototype);

function hasUnits(bytes: string, from: number, key: string): boolean {
  for (let i = 0; i < key.length; i++) if (bytes.charCodeAt(from + i) !== key.charCodeAt(i)) return false;
  return true;
}

function isUtf8Of(bytes: string, from: number, length: number, key: string): boolean {
  const value = next;
  const text = readUtf8(bytes, from, length);
  next = value;
  return text === key;
}

function damaged(): DbError {
  return new DbError("internal_error", "A stored variant is damaged.");
}
