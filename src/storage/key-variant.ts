/**
 * Encodes variants in keys, in the order of query/expr/variant-order.ts: a byte for the kind, then the value. Used by
 * key-codec.ts.
 *
 * A number is the greatest double that is not above it and, from 2^53 on, the rest in two bytes. So integers and
 * floats share one order, and 1 and 1.0 have one key. Entities are encoded as their ids: an index holds properties,
 * which are never entities, but it may be searched for one.
 */

import {
  COORDINATE_TYPES,
  CypherVector,
  DIMENSIONS_MAX,
  isFloatType,
  vectorOfNumbers,
} from "../values/cypher-vector.js";
import { CypherPoint, systemWith } from "../values/point.js";
import {
  CypherDate,
  Duration,
  LocalDateTime,
  LocalTime,
  type Temporal,
  ZonedDateTime,
  ZonedTime,
} from "../values/temporal.js";
import { averageSeconds } from "../values/temporal-order.js";
import {
  doubleOf,
  Float,
  floatValue,
  GraphNode,
  GraphPath,
  GraphRelationship,
  type Variant,
  type VariantMap,
} from "../values/variant.js";
import { integerValue, isList } from "../values/variant-format.js";
import { KIND } from "../values/variant-kind.js";
import { listOfVector } from "../values/vector-list.js";
import { damagedKey, type KeyReader } from "./key-reader.js";
import {
  checkKeyLength,
  writeBigInt64,
  writeByte,
  writeBytes,
  writeFloat64,
  writeInt32,
  writeInt64,
  writeText,
} from "./key-writer.js";

/** Behind the byte of a path: a vector, bytes or a point. No id has that first byte: all come after all paths. */
const VECTOR_MARK = 0xfd;
const BYTES_MARK = 0xfe;
const POINT_MARK = 0xff;
/** Ends a list; below every kind, so that a shorter list comes first. */
const END = 0;

const SECONDS_PER_DAY = 86_400;
const NANOS_PER_SECOND = 1_000_000_000;
const TWO_53 = 2 ** 53;
const TWO_63 = 2 ** 63;
/** A key has room for no more. */
const DEPTH_MAX = 2000;
const MEMBERS_MAX = 16 * 1024;

const doubles = new Float64Array(1);
const doubleBits = new BigInt64Array(doubles.buffer);

export function writeVariant(value: Variant): void {
  checkKeyLength();
  switch (typeof value) {
    case "number":
      writeNumber(value, 0);
      return;
    case "bigint":
      writeLarge(value);
      return;
    case "string":
      writeByte(KIND.text);
      writeText(value);
      return;
    case "boolean":
      writeByte(KIND.boolean);
      writeByte(value ? 1 : 0);
      return;
    default:
      if (value === null) writeByte(KIND.null);
      else if (value instanceof Float) writeNumber(value.value, 0);
      else if (isList(value)) {
        writeByte(KIND.list);
        for (const item of value) writeVariant(item);
        writeByte(END);
      } else if (value instanceof Map) writeMap(value);
      else if (value instanceof GraphNode || value instanceof GraphRelationship || value instanceof GraphPath) {
        writeEntity(value);
      } else if (value instanceof CypherPoint) writePoint(value);
      else if (value instanceof Uint8Array) {
        writeByte(KIND.path);
        writeByte(BYTES_MARK);
        writeBytes(value);
      } else if (value instanceof CypherVector) writeVector(value);
      else writeTemporal(value as Temporal);
  }
}

/** @param rest what `double` is below the number */
function writeNumber(double: number, rest: number): void {
  writeByte(KIND.number);
  writeFloat64(double);
  if (Math.abs(double) < TWO_53 || Number.isNaN(double)) return;
  writeByte(rest >>> 8);
  writeByte(rest & 0xff);
}

function writeLarge(value: bigint): void {
  doubles[0] = Number(value);
  if (BigInt(doubles[0]) > value) doubleBits[0]! += value > 0n ? -1n : 1n;
  const double = doubles[0];
  writeNumber(double, Number(value - BigInt(double)));
}

function writeMap(map: VariantMap): void {
  const entries = Array.from(map, ([key, value]) => ({ key, value, bytes: Buffer.from(key) }));
  entries.sort((a, b) => a.bytes.compare(b.bytes));
  writeByte(KIND.map);
  writeInt32(entries.length);
  for (const { key } of entries) {
    checkKeyLength();
    writeText(key);
  }
  for (const { value } of entries) writeVariant(value);
}

function writeTemporal(value: Temporal): void {
  if (value instanceof CypherDate) {
    writeByte(KIND.date);
    writeInt64(value.days);
  } else if (value instanceof LocalTime) {
    writeByte(KIND.localTime);
    writeInt64(value.nanos);
  } else if (value instanceof ZonedTime) {
    writeByte(KIND.zonedTime);
    writeInt64(value.nanos - value.offset * NANOS_PER_SECOND);
    writeInt32(value.offset);
  } else if (value instanceof LocalDateTime) {
    writeByte(KIND.localDateTime);
    writeInt64(value.days);
    writeInt64(value.nanos);
  } else if (value instanceof ZonedDateTime) {
    writeByte(KIND.zonedDateTime);
    writeInt64(value.days * SECONDS_PER_DAY + Math.floor(value.nanos / NANOS_PER_SECOND) - value.offset);
    writeInt32(value.nanos % NANOS_PER_SECOND);
    writeInt32(value.offset);
    writeText(value.zone ?? "");
  } else if (value instanceof Duration) {
    writeByte(KIND.duration);
    writeInteger(averageSeconds(value));
    writeInt32(value.nanos);
    writeInt64(value.months);
    writeInt64(value.days);
    writeInteger(value.seconds);
  }
}

function writePoint({ srid, x, y, z }: CypherPoint): void {
  writeByte(KIND.path);
  writeByte(POINT_MARK);
  writeInt32(srid);
  // A zero has one sign in keys.
  for (const part of z === null ? [x, y] : [x, y, z]) writeFloat64(part + 0);
}

function writeVector(vector: CypherVector): void {
  const { type, dimension } = vector;
  writeByte(KIND.path);
  writeByte(VECTOR_MARK);
  writeByte(COORDINATE_TYPES.indexOf(type));
  writeInt32(dimension);
  for (const coordinate of listOfVector(vector)) {
    checkKeyLength();
    if (isFloatType(type)) writeFloat64(doubleOf(coordinate) + 0);
    else writeInteger(coordinate as number | bigint);
  }
}

/** By their ids. */
function writeEntity(value: GraphNode | GraphRelationship | GraphPath): void {
  if (value instanceof GraphPath) {
    writeByte(KIND.path);
    value.nodes.forEach((node, i) => {
      checkKeyLength();
      writeInt64(node.id);
      if (i < value.relationships.length) writeInt64(value.relationships[i]!.id);
    });
    writeByte(END);
    return;
  }
  writeByte(value instanceof GraphNode ? KIND.node : KIND.relationship);
  writeInt64(value.id);
}

function writeInteger(value: number | bigint): void {
  if (typeof value === "number") writeInt64(value);
  else writeBigInt64(value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : value);
}

const INT64_MIN = -(1n << 63n);
const INT64_MAX = (1n << 63n) - 1n;

/** An equal value: 1.0 comes back as 1. */
export function readVariant(reader: KeyReader, depth = 0): Variant {
  return readOfKind(reader, reader.byte(), depth);
}

function readOfKind(reader: KeyReader, kind: number, depth: number): Variant {
  if (depth > DEPTH_MAX) throw damagedKey();
  switch (kind) {
    case KIND.null:
      return null;
    case KIND.number:
      return readNumber(reader);
    case KIND.boolean:
      return reader.byte() !== 0;
    case KIND.text:
      return reader.text();
    case KIND.list: {
      const items: Variant[] = [];
      for (let next = reader.byte(); next !== END; next = reader.byte()) {
        items.push(readOfKind(reader, next, depth + 1));
      }
      return items;
    }
    case KIND.map:
      return readMap(reader, depth);
    case KIND.node:
      return bareNode(reader.time64());
    case KIND.relationship:
      return bareRelationship(reader.time64());
    case KIND.path:
      return readPath(reader);
    default:
      return readTemporal(reader, kind);
  }
}

function readNumber(reader: KeyReader): Variant {
  const double = reader.float64();
  if (Math.abs(double) < TWO_53) return double;
  if (Number.isNaN(double)) return double;
  const rest = reader.byte() * 256 + reader.byte();
  if (double >= TWO_63 || double < -TWO_63) return floatValue(double);
  return integerValue(BigInt(double) + BigInt(rest));
}

function readMap(reader: KeyReader, depth: number): Variant {
  const count = reader.int32();
  if (count < 0 || count > MEMBERS_MAX) throw damagedKey();
  const names = Array.from({ length: count }, () => reader.text());
  return new Map(names.map((name) => [name, readVariant(reader, depth + 1)]));
}

const NOTHING: VariantMap = new Map();
const bareNode = (id: number) => new GraphNode(id, [], NOTHING);
const bareRelationship = (id: number) => new GraphRelationship(id, "", 0, 0, NOTHING);

function readPoint(reader: KeyReader): CypherPoint {
  const srid = reader.int32();
  const [x, y] = [reader.float64(), reader.float64()];
  if (systemWith(srid, 2) !== null) return new CypherPoint(srid, x, y, null);
  if (systemWith(srid, 3) === null) throw damagedKey();
  return new CypherPoint(srid, x, y, reader.float64());
}

function readVector(reader: KeyReader): CypherVector {
  const type = COORDINATE_TYPES[reader.byte()];
  const dimension = reader.int32();
  if (type === undefined || dimension < 1 || dimension > DIMENSIONS_MAX) throw damagedKey();
  const read = () => (isFloatType(type) ? reader.float64() : reader.int64());
  return vectorOfNumbers(type, Array.from({ length: dimension }, read));
}

function readPath(reader: KeyReader): GraphPath | CypherPoint | CypherVector | Uint8Array {
  const mark = reader.byte();
  if (mark === VECTOR_MARK) return readVector(reader);
  if (mark === POINT_MARK) return readPoint(reader);
  if (mark === BYTES_MARK) return new Uint8Array(reader.bytes());
  reader.position--;
  const ids: number[] = [];
  // No id is negative, so that its first byte is not END.
  while (reader.byte() !== END) {
    reader.position--;
    ids.push(reader.time64());
  }
  const nodes = ids.filter((_, i) => i % 2 === 0).map(bareNode);
  return new GraphPath(nodes, ids.filter((_, i) => i % 2 === 1).map(bareRelationship));
}

function readTemporal(reader: KeyReader, kind: number): Variant {
  switch (kind) {
    case KIND.date:
      return new CypherDate(reader.time64());
    case KIND.localTime:
      return new LocalTime(reader.time64());
    case KIND.zonedTime: {
      const [instant, offset] = [reader.time64(), reader.int32()];
      return new ZonedTime(instant + offset * NANOS_PER_SECOND, offset);
    }
    case KIND.localDateTime:
      return new LocalDateTime(reader.time64(), reader.time64());
    case KIND.zonedDateTime:
      return readZonedDateTime(reader);
    case KIND.duration: {
      reader.int64();
      const nanos = reader.int32();
      return new Duration(reader.time64(), reader.time64(), reader.int64(), nanos);
    }
    default:
      throw damagedKey();
  }
}

function readZonedDateTime(reader: KeyReader): ZonedDateTime {
  const [second, nanos, offset] = [reader.time64(), reader.int32(), reader.int32()];
  const zone = reader.text();
  const days = Math.floor((second + offset) / SECONDS_PER_DAY);
  const secondOfDay = second + offset - days * SECONDS_PER_DAY;
  return new ZonedDateTime(days, secondOfDay * NANOS_PER_SECOND + nanos, offset, zone === "" ? null : zone);
}
