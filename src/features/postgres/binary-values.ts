/**
 * Column values and parameters in PostgreSQL's binary format, as the send and receive functions of its types have it
 * (src/backend/utils/adt of PostgreSQL 15) and those of pgvector. Types that have no form here are refused with 0A000.
 */
import { sqlError } from "../../protocol/errors.js";
import { IDENTIFIER_BYTES_MAX } from "../../protocol/limits.js";
import { MessageFields, textIn } from "../../protocol/postgres/message-reader.js";
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";
import { displayName, pgOidOf } from "../../query/expr/types.js";
import { checkedDate, DAY_MICROS } from "../../values/datetime.js";
import { networkOf, networkValue } from "../../values/network.js";
import type { Numeric } from "../../values/numeric.js";
import { isRangeType } from "../../values/range.js";
import { charOfByte } from "../../values/system-values.js";
import { fitNumeric, fromText, toText } from "../../values/text-format.js";
import { checkArraySize, sqlArray } from "../../values/text-format-array.js";
import {
  checkedTimestamp,
  isFiniteTimestamp,
  microsBetween,
  type Timestamp,
  timestampOf,
} from "../../values/timestamp.js";
import type { Interval, SqlArray, SqlType, TimeTz, Value } from "../../values/values.js";
import { checkedVector } from "../../values/vector-text.js";
import { GEOMETRIC_WRITERS, geometricText } from "./binary-geometry.js";
import { numericFrom, writeNumeric } from "./binary-numeric.js";
import { rangeWriter, readRangeValue } from "./binary-ranges.js";
import { TEXT_TYPE_WRITERS, textFromBinary } from "./binary-texts.js";
import { checkUnused, readHalves, readSparse, writeHalves, writeSparse } from "./binary-vectors.js";
import type { TextSettings, ValueWriter } from "./text-values.js";

/** Days and microseconds from 1970 to 2000, where PostgreSQL counts from. */
const EPOCH_DAYS = 10_957;
const EPOCH_MICROS = EPOCH_DAYS * 86_400_000_000;
const INT4_MAX = 0x7fffffff;
const INFINITE_DAYS = INT4_MAX;
const INFINITE_MICROS = 0x7fffffffffffffffn;
/** No zone is as far from UTC. */
const OFFSET_SECONDS = 16 * 3600;

/** The writer of a type's values; throws 0A000 for a type without a binary form. */
export function binaryWriter(type: SqlType): ValueWriter {
  const write = PLAIN_WRITERS[type.name];
  if (write !== undefined) return sized(write);
  if (isRangeType(type)) return sized(rangeWriter(type, binaryWriter));
  switch (type.name) {
    case "array": {
      const element = type.element!;
      const writeElement = binaryWriter(element);
      const oid = pgOidOf(element);
      return sized((writer, value) => writeArray(writer, value as SqlArray, oid, writeElement));
    }
    case "record": {
      const { fields } = type;
      if (fields === undefined) break;
      const writers = fields.map((field) => binaryWriter(field.type));
      const oids = fields.map((field) => pgOidOf(field.type));
      return sized((writer, value) => writeRecord(writer, value as readonly Value[], oids, writers));
    }
    case "text":
    case "varchar":
    case "bpchar":
    case "citext":
    case "name":
    case "enum":
    case "unknown":
      return (writer, value) => writer.sizedText(value as string);
    case "variant":
    case "json":
    case "void":
      return (writer, value) => writer.sizedText(toText(type, value));
  }
  throw noBinaryForm(type);
}

function noBinaryForm(type: SqlType): Error {
  return sqlError("0A000", `the type ${displayName(type)} has no binary format here`, { hint: "Use the text format." });
}

function sized(write: ValueWriter): ValueWriter {
  return (writer, value) => {
    const from = writer.beginSized();
    write(writer, value);
    writer.endSized(from);
  };
}

/** Days since 2000 as PostgreSQL keeps them. */
function pgDays(days: number): number {
  if (Number.isFinite(days)) return days - EPOCH_DAYS;
  return days > 0 ? INFINITE_DAYS : -INFINITE_DAYS - 1;
}

function pgMicros(timestamp: Timestamp): number | bigint {
  if (isFiniteTimestamp(timestamp)) return microsBetween(timestamp, EPOCH_MICROS);
  return timestamp > 0 ? INFINITE_MICROS : -INFINITE_MICROS - 1n;
}

const PLAIN_WRITERS: Partial<Record<SqlType["name"], ValueWriter>> = {
  ...TEXT_TYPE_WRITERS,
  ...GEOMETRIC_WRITERS,
  bool: (writer, value) => writer.byte(value === true ? 1 : 0),
  int2: (writer, value) => writer.int16(value as number),
  int4: (writer, value) => writer.int32(value as number),
  oid: (writer, value) => writer.uint32(value as number),
  xid: (writer, value) => writer.uint32(Number(value)),
  xid8: (writer, value) => writer.bytes(Buffer.from(value as string, "hex")),
  pg_lsn: (writer, value) => writer.bytes(Buffer.from(value as string, "hex")),
  int8: (writer, value) => writer.int64(value as number | bigint),
  money: (writer, value) => writer.int64(value as number | bigint),
  float4: (writer, value) => writer.float32(value as number),
  float8: (writer, value) => writer.float64(value as number),
  numeric: (writer, value) => writeNumeric(writer, value as Numeric),
  bytea: (writer, value) => writer.bytes(value as Uint8Array),
  uuid: (writer, value) => writer.bytes(Buffer.from((value as string).replaceAll("-", ""), "hex")),
  date: (writer, value) => writer.int32(pgDays(value as number)),
  time: (writer, value) => writer.int64(value as number),
  timetz: (writer, value) => {
    const { micros, offset } = value as TimeTz;
    writer.int64(BigInt(micros));
    writer.int32(-offset);
  },
  timestamp: (writer, value) => writer.int64(pgMicros(value as Timestamp)),
  timestamptz: (writer, value) => writer.int64(pgMicros(value as Timestamp)),
  interval: (writer, value) => {
    const { months, days, micros } = value as Interval;
    writer.int64(BigInt(micros));
    writer.int32(days);
    writer.int32(months);
  },
  jsonb: (writer, value) => {
    writer.byte(1);
    writer.text(toText(JSONB_TEXT, value));
  },
  char: (writer, value) => writer.byte(value === "" ? 0 : (value as string).charCodeAt(0)),
  bit: (writer, value) => writeBits(writer, value as string),
  varbit: (writer, value) => writeBits(writer, value as string),
  inet: (writer, value) => writeNetwork(writer, value as string, false),
  cidr: (writer, value) => writeNetwork(writer, value as string, true),
  macaddr: (writer, value) => writer.bytes(Buffer.from((value as string).replaceAll(":", ""), "hex")),
  macaddr8: (writer, value) => writer.bytes(Buffer.from((value as string).replaceAll(":", ""), "hex")),
  vector: (writer, value) => {
    const vector = value as Float32Array;
    writer.uint16(vector.length);
    writer.uint16(0);
    for (const member of vector) writer.float32(member);
  },
  halfvec: (writer, value) => writeHalves(writer, value as Float32Array),
  sparsevec: (writer, value) => writeSparse(writer, value as string),
};

/** jsonb's text. */
const JSONB_TEXT = Object.freeze({ name: "jsonb", modifier: null, element: null }) as SqlType;

function writeArray(writer: MessageWriter, array: SqlArray, oid: number, writeElement: ValueWriter): void {
  const { elements, dimensions, lowerBounds } = array;
  writer.int32(dimensions.length);
  writer.int32(elements.includes(null) ? 1 : 0);
  writer.uint32(oid);
  for (const [i, length] of dimensions.entries()) {
    writer.int32(length);
    writer.int32(lowerBounds[i]!);
  }
  for (const element of elements) {
    if (element === null) writer.int32(-1);
    else writeElement(writer, element);
  }
}

function writeRecord(
  writer: MessageWriter,
  row: readonly Value[],
  oids: readonly number[],
  writers: readonly ValueWriter[],
): void {
  writer.int32(writers.length);
  for (const [i, write] of writers.entries()) {
    writer.uint32(oids[i]!);
    // A row that was stored before its type got a field is shorter.
    const value = row[i] ?? null;
    if (value === null) writer.int32(-1);
    else write(writer, value);
  }
}

function writeBits(writer: MessageWriter, bits: string): void {
  writer.int32(bits.length);
  for (let at = 0; at < bits.length; at += 8) writer.byte(Number.parseInt(bits.slice(at, at + 8).padEnd(8, "0"), 2));
}

const FAMILY_4 = 2;
const FAMILY_6 = 3;

function writeNetwork(writer: MessageWriter, value: string, isCidr: boolean): void {
  const { bytes, bits } = networkOf(value);
  writer.byte(bytes.length === 4 ? FAMILY_4 : FAMILY_6);
  writer.byte(bits);
  writer.byte(isCidr ? 1 : 0);
  writer.byte(bytes.length);
  writer.bytes(bytes);
}

/** The value of a parameter in binary format. Throws 22P03 where the bytes are none of the type, 0A000. */
export function fromBinary(type: SqlType, bytes: Buffer): Value {
  return fromFields(type, new MessageFields(bytes));
}

/** The value that the fields are, all of them. Throws as `fromBinary` does. */
export function fromFields(type: SqlType, fields: MessageFields): Value {
  const value = readValue(type, fields);
  if (fields.left > 0) throw wrongBytes(type);
  return value;
}

export function wrongBytes(type: SqlType): Error {
  return sqlError("22P03", `incorrect binary data format for type ${displayName(type)}`);
}

function readValue(type: SqlType, fields: MessageFields): Value {
  if (isRangeType(type)) return readRangeValue(type, fields, fromBinary);
  switch (type.name) {
    case "bool":
      return fields.byte() !== 0;
    case "int2":
      return fields.int16();
    case "int4":
      return fields.int32();
    case "oid":
      return fields.uint32();
    case "int8":
    case "money":
      return normal(fields.int64());
    case "float4":
      return fields.float32();
    case "float8":
      return fields.float64();
    case "numeric":
      return fitNumeric(type, readNumeric(type, fields));
    case "bytea":
      return new Uint8Array(fields.rest());
    case "uuid":
      return uuidText(fields.view(16));
    case "char":
      return charOfByte(fields.byte());
    case "date":
      return checkedDate(ofPgDays(fields.int32()));
    case "time":
      return readTime(fields);
    case "timetz":
      return { micros: readTime(fields), offset: readOffset(fields) };
    case "timestamp":
    case "timestamptz":
      return ofPgMicros(fields.int64());
    case "interval": {
      const micros = normal(fields.int64());
      const days = fields.int32();
      return { micros, days, months: fields.int32() };
    }
    case "array":
      return readArray(type, fields);
    case "record":
      return readRecord(type, fields);
    case "vector":
      return readVector(type, fields);
    case "halfvec":
      return readHalves(type, fields);
    case "sparsevec":
      return readSparse(type, fields);
    default:
      return fromText(type, textOf(type, fields));
  }
}

/** The text of a value whose binary form says the same. */
function textOf(type: SqlType, fields: MessageFields): string {
  switch (type.name) {
    case "jsonb":
      if (fields.byte() !== 1) throw wrongBytes(type);
      return fields.text(fields.left);
    case "bit":
    case "varbit":
      return readBits(type, fields);
    case "inet":
    case "cidr":
      return readNetwork(type, fields);
    case "macaddr":
      return fields.view(6).toString("hex");
    case "macaddr8":
      return fields.view(fields.left === 6 ? 6 : 8).toString("hex");
    case "name":
      return readName(fields);
    case "xid":
      return String(fields.uint32());
    case "xid8":
    case "pg_lsn":
      return fields.view(8).toString("hex");
    default:
      // Otherwise text, names, enums, json.
      return geometricText(type, fields) ?? textFromBinary(type, fields) ?? fields.text(fields.left);
  }
}

function normal(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function ofPgDays(days: number): number {
  if (days === INFINITE_DAYS) return Number.POSITIVE_INFINITY;
  if (days === -INFINITE_DAYS - 1) return Number.NEGATIVE_INFINITY;
  return days + EPOCH_DAYS;
}

function ofPgMicros(micros: bigint): Timestamp {
  if (micros === INFINITE_MICROS) return Number.POSITIVE_INFINITY;
  if (micros === -INFINITE_MICROS - 1n) return Number.NEGATIVE_INFINITY;
  return checkedTimestamp(timestampOf(micros + BigInt(EPOCH_MICROS)));
}

function readTime(fields: MessageFields): number {
  const micros = fields.int64();
  if (micros < 0n || micros > BigInt(DAY_MICROS)) throw sqlError("22008", "time out of range");
  return Number(micros);
}

/** Seconds to the east, of which the bytes have the opposite. */
function readOffset(fields: MessageFields): number {
  const offset = 0 - fields.int32();
  if (Math.abs(offset) >= OFFSET_SECONDS) throw sqlError("22009", "time zone displacement out of range");
  return offset;
}

/** A longer one is cut where it comes as text only. */
function readName(fields: MessageFields): string {
  if (fields.left > IDENTIFIER_BYTES_MAX) {
    throw sqlError("42622", `identifier too long: it must have ${IDENTIFIER_BYTES_MAX} bytes at most`);
  }
  return fields.text(fields.left);
}

/** As the bytes have it, whatever the column holds. Throws 22P03. */
function readNumeric(type: SqlType, fields: MessageFields): Numeric {
  const value = numericFrom(fields);
  if (value === null) throw wrongBytes(type);
  return value;
}

function readBits(type: SqlType, fields: MessageFields): string {
  const length = fields.int32();
  if (length < 0) throw wrongBytes(type);
  let bits = "";
  for (const byte of fields.view(Math.ceil(length / 8))) bits += byte.toString(2).padStart(8, "0");
  return bits.slice(0, length);
}

function readNetwork(type: SqlType, fields: MessageFields): string {
  const family = fields.byte();
  const bits = fields.byte();
  fields.byte();
  const bytes = fields.view(fields.byte());
  if (bytes.length !== (family === FAMILY_4 ? 4 : 16) || bits > bytes.length * 8) throw wrongBytes(type);
  return networkValue({ bytes, bits });
}

function readArray(type: SqlType, fields: MessageFields): SqlArray {
  const element = type.element!;
  const count = fields.int32();
  const hasNulls = fields.int32();
  const oid = fields.uint32();
  if (count < 0 || count > 6 || (hasNulls !== 0 && hasNulls !== 1)) throw wrongBytes(type);
  if (!mayBeOf(element, oid)) throw wrongBytes(type);
  const dimensions: number[] = [];
  const lowerBounds: number[] = [];
  for (let i = 0; i < count; i++) {
    dimensions.push(fields.int32());
    lowerBounds.push(fields.int32());
  }
  const size = count === 0 ? 0 : dimensions.reduce((product, length) => product * length, 1);
  if (dimensions.some((length) => length < 0) || size > fields.left / 4) throw wrongBytes(type);
  checkArraySize(size);
  if (size === 0) return sqlArray([]);
  for (const [i, lower] of lowerBounds.entries()) {
    if (lower + dimensions[i]! > INT4_MAX) throw sqlError("54000", `array lower bound is too large: ${lower}`);
  }
  const elements: Value[] = [];
  for (let i = 0; i < size; i++) elements.push(readSized(element, fields));
  return { elements, dimensions, lowerBounds };
}

function isText({ name }: SqlType): boolean {
  return name === "text" || name === "varchar" || name === "bpchar" || name === "name" || name === "enum";
}

/** Whether values that a client says to be of the type with that number have the bytes of these. */
function mayBeOf(type: SqlType, oid: number): boolean {
  return oid === 0 || oid === pgOidOf(type) || isText(type);
}

function readSized(type: SqlType, fields: MessageFields): Value {
  const length = fields.int32();
  return length === -1 ? null : fromBinary(type, fields.view(length));
}

function readRecord(type: SqlType, fields: MessageFields): readonly Value[] {
  const members = type.fields;
  if (members === undefined) throw noBinaryForm(type);
  if (fields.int32() !== members.length) throw wrongBytes(type);
  return members.map((member) => {
    if (!mayBeOf(member.type, fields.uint32())) throw wrongBytes(type);
    return readSized(member.type, fields);
  });
}

function readVector(type: SqlType, fields: MessageFields): Value {
  const length = fields.uint16();
  checkUnused(fields.uint16());
  const members = Uint8Array.from(fields.view(length * 4)).buffer;
  // The bytes are turned round in place.
  Buffer.from(members).swap32();
  return checkedVector(type, new Float32Array(members));
}

/** The value of a parameter in text format. */
export function parameterFromText(type: SqlType, bytes: Buffer, { timeZone, style }: TextSettings): Value {
  return fromText(type, textIn(bytes), { timeZone, nowMicros: Date.now() * 1000, ...style });
}
