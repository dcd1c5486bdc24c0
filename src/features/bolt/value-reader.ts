/** Parameters in PackStream as the engine has values. Called by bolt-session.ts. */
import { boltError } from "../../protocol/bolt/failure-message.js";
import { STRUCT, VECTOR_MARKS } from "../../protocol/bolt/message-tags.js";
import { type Hydrate, malformed } from "../../protocol/bolt/pack-reader.js";
import { checkedDays } from "../../query/expr/cypher/temporal-range.js";
import { parseZone, zonedAtInstant, zonedOfLocal } from "../../query/expr/cypher/temporal-zone.js";
import { COORDINATE_TYPES, type CypherVector, vectorOfBytes } from "../../values/cypher-vector.js";
import { CypherPoint, systemWith, wrappedLongitude } from "../../values/point.js";
import { CypherDate, Duration, LocalDateTime, LocalTime, ZonedTime } from "../../values/temporal.js";
import { doubleOf, floatValue } from "../../values/variant.js";

const DAY_SECONDS = 86_400;
const SECOND_NANOS = 1_000_000_000;
const DAY_NANOS = DAY_SECONDS * SECOND_NANOS;
const OFFSET_MAX = 18 * 3600;

type Fields = readonly unknown[];

export const VARIANTS: Hydrate = {
  float: floatValue,
  // A copy: the message's memory is used again.
  bytes: (value) => new Uint8Array(value),
  structure: (tag, fields) => {
    const read = READERS[tag];
    if (read === undefined) throw malformed(`there is no structure with the tag ${tag.toString(16)}`);
    const [count, make] = read;
    if (fields.length !== count) throw malformed(`a structure ${tag.toString(16)} has ${count} fields`);
    return make(fields);
  },
};

const notAValue = (what: string) => (): never => {
  const message = `${what} are not supported as parameters.`;
  throw boltError("not_supported", "Neo.ClientError.Statement.TypeError", message);
};

const READERS: Readonly<Record<number, readonly [count: number, make: (fields: Fields) => unknown]>> = {
  [STRUCT.date]: [1, ([days]) => new CypherDate(checkedDays(integer(days)))],
  [STRUCT.localTime]: [1, ([nanos]) => new LocalTime(nanosOfDay(nanos))],
  [STRUCT.time]: [2, ([nanos, offset]) => new ZonedTime(nanosOfDay(nanos), offsetOf(offset))],
  [STRUCT.localDateTime]: [
    2,
    (fields) => {
      const { days, nanos } = moment(fields);
      return new LocalDateTime(checkedDays(days), nanos);
    },
  ],
  [STRUCT.offsetDateTime]: [3, (fields) => atInstant(fields, offsetOf(fields[2]))],
  [STRUCT.offsetDateTimeLocal]: [3, (fields) => ofLocal(fields, offsetOf(fields[2]))],
  [STRUCT.zonedDateTime]: [3, (fields) => atInstant(fields, zoneOf(fields[2]))],
  [STRUCT.zonedDateTimeLocal]: [3, (fields) => ofLocal(fields, zoneOf(fields[2]))],
  [STRUCT.duration]: [4, durationOf],
  [STRUCT.point2D]: [3, pointOf],
  [STRUCT.point3D]: [4, pointOf],
  [STRUCT.node]: [4, notAValue("Nodes")],
  [STRUCT.relationship]: [8, notAValue("Relationships")],
  [STRUCT.path]: [3, notAValue("Paths")],
  [STRUCT.vector]: [2, vectorOf],
};

function integer(value: unknown): number {
  if (typeof value === "number" && Number.isInteger(value)) return value;
  throw malformed("a temporal value has a field that is no integer, or too large a one");
}

function nanosOfDay(value: unknown): number {
  const nanos = integer(value);
  if (nanos >= 0 && nanos < DAY_NANOS) return nanos;
  throw malformed("a time is not within a day");
}

function offsetOf(value: unknown): number {
  const offset = integer(value);
  if (Math.abs(offset) <= OFFSET_MAX) return offset;
  throw malformed("a time zone's offset is more than 18 hours");
}

function zoneOf(value: unknown): ReturnType<typeof parseZone> {
  if (typeof value === "string") return parseZone(value);
  throw malformed("a time zone is no string");
}

/** Seconds since 1970 and nanoseconds, as days and nanoseconds of the day. */
function moment([first, second]: Fields): { readonly days: number; readonly nanos: number } {
  const [seconds, nanos] = [integer(first), integer(second)];
  if (nanos < 0 || nanos >= SECOND_NANOS) throw malformed("nanoseconds are not within a second");
  const days = Math.floor(seconds / DAY_SECONDS);
  return { days, nanos: (seconds - days * DAY_SECONDS) * SECOND_NANOS + nanos };
}

function atInstant(fields: Fields, zone: ReturnType<typeof parseZone>): unknown {
  const { days, nanos } = moment(fields);
  return zonedAtInstant(checkedDays(days), nanos, zone);
}

function ofLocal(fields: Fields, zone: ReturnType<typeof parseZone>): unknown {
  const { days, nanos } = moment(fields);
  return zonedOfLocal(days, nanos, zone);
}

function durationOf([months, days, seconds, nanos]: Fields): Duration {
  const rest = integer(nanos);
  if (rest < 0 || rest >= SECOND_NANOS) throw malformed("nanoseconds are not within a second");
  if (typeof seconds !== "bigint") integer(seconds);
  return new Duration(integer(months), integer(days), seconds as number | bigint, rest);
}

const COORDINATES = new Map(COORDINATE_TYPES.map((type) => [VECTOR_MARKS[type] as number, type]));

function vectorOf([mark, bytes]: Fields): CypherVector {
  const type = mark instanceof Uint8Array && mark.length === 1 ? COORDINATES.get(mark[0]!) : undefined;
  const vector = type === undefined || !(bytes instanceof Uint8Array) ? null : vectorOfBytes(type, bytes);
  if (vector !== null) return vector;
  throw malformed("a vector has an unknown type of coordinates, or a part of one");
}

function pointOf([srid, ...coordinates]: Fields): CypherPoint {
  const system = typeof srid === "number" ? systemWith(srid, coordinates.length) : null;
  const [x, y, z = null] = coordinates.map((each) => doubleOf(each)) as [number, number, number?];
  if (system?.isGeographic && Math.abs(y) > 90) throw malformed(`a latitude is from -90 to 90, not ${y}`);
  if (system !== null && [x, y, z ?? 0].every(Number.isFinite)) {
    return new CypherPoint(system.srid, system.isGeographic ? wrappedLongitude(x) : x, y, z);
  }
  throw malformed("a point has an unknown reference system, or a coordinate that is no finite number");
}
