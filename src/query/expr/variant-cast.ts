/**
 * Variants out of SQL's values and back: what casts to and from the type variant do, and JSON of variants. Called by
 * cast.ts.
 */

import { sqlError } from "../../protocol/errors.js";
import { makeInterval } from "../../values/interval.js";
import { Numeric } from "../../values/numeric.js";
import { CypherDate, Duration, LocalDateTime, LocalTime, ZonedDateTime, ZonedTime } from "../../values/temporal.js";
import { nestArray } from "../../values/text-format-array.js";
import {
  checkedTimestamp,
  isFiniteTimestamp,
  splitTimestamp,
  type Timestamp,
  timestampAt,
} from "../../values/timestamp.js";
import {
  BOOL,
  BYTEA,
  DATE,
  FLOAT8,
  INT8,
  INTERVAL,
  type Interval,
  JSONB,
  type Json,
  Json as JsonValue,
  type SqlArray,
  type SqlType,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  TIMETZ,
  type TimeTz,
  type Value,
} from "../../values/values.js";
import { Float, floatValue, isIntegerValue, type Variant } from "../../values/variant.js";
import { integerValue, isTemporal, variantFromJson, variantToPlain } from "../../values/variant-format.js";
import { isVariantAsIs } from "./variant-order.js";

const MICRO_NANOS = 1000;
const SECOND_MICROS = 1_000_000;

/** How values of a type become variants; null: they cannot. */
export function toVariant(from: SqlType): ((value: Value) => Variant) | null {
  if (isVariantAsIs(from)) return (value) => value as Variant;
  if (from.element !== null) {
    const element = toVariant(from.element);
    if (element === null) return null;
    return (value) => nestArray(value as SqlArray, (item) => (item === null ? null : element(item))) as Variant[];
  }
  if (from.fields !== undefined) return recordToVariant(from);
  return SCALARS[from.name] ?? null;
}

const asIs = (value: Value): Variant => value as Variant;

const SCALARS: Partial<Record<SqlType["name"], (value: Value) => Variant>> = {
  oid: asIs,
  bpchar: asIs,
  name: asIs,
  unknown: asIs,
  uuid: asIs,
  bytea: asIs,
  enum: asIs,
  float4: (value) => floatValue(value as number),
  float8: (value) => floatValue(value as number),
  numeric: (value) => ofNumeric(value as Numeric),
  json: (value) => ofJson((value as Json).value),
  jsonb: (value) => ofJson((value as Json).value),
  vector: (value) => Array.from(value as Float32Array, floatValue),
  date: (value) => new CypherDate(finite(value as number)),
  time: (value) => new LocalTime((value as number) * MICRO_NANOS),
  timetz: (value) => new ZonedTime((value as TimeTz).micros * MICRO_NANOS, (value as TimeTz).offset),
  timestamp(value) {
    const { days, micros } = splitTimestamp(finite(value as Timestamp));
    return new LocalDateTime(days, micros * MICRO_NANOS);
  },
  timestamptz(value) {
    const { days, micros } = splitTimestamp(finite(value as Timestamp));
    return new ZonedDateTime(days, micros * MICRO_NANOS, 0, null);
  },
  interval: (value) => ofInterval(value as Interval),
};

function finite<T extends Timestamp>(moment: T): T {
  if (isFiniteTimestamp(moment)) return moment;
  throw sqlError("22008", "cannot convert infinity to variant");
}

/** Whole numbers are INTEGER as long as they fit. */
function ofNumeric(value: Numeric): Variant {
  const integer = value.scale === 0 && value.special === null ? value.unscaled : null;
  if (integer !== null && BigInt.asIntN(64, integer) === integer) return integerValue(integer);
  return floatValue(value.toNumber());
}

function ofInterval({ months, days, micros }: Interval): Duration {
  const total = BigInt(micros);
  const second = BigInt(SECOND_MICROS);
  const seconds = total / second - (total % second < 0n ? 1n : 0n);
  return new Duration(months, days, integerValue(seconds), Number(total - seconds * second) * MICRO_NANOS);
}

/** Numbers that a double does not hold exactly are Numeric inside a jsonb. */
function ofJson(json: unknown): Variant {
  if (json instanceof Numeric) return ofNumeric(json);
  if (Array.isArray(json)) return json.map(ofJson);
  if (typeof json !== "object" || json === null) return variantFromJson(json);
  return new Map(Object.entries(json).map(([key, value]) => [key, ofJson(value)]));
}

function recordToVariant({ fields = [] }: SqlType): ((value: Value) => Variant) | null {
  const converts = fields.map((field) => toVariant(field.type));
  if (converts.includes(null)) return null;
  return (value) =>
    new Map(
      fields.map(({ name }, i) => {
        const field = (value as readonly Value[])[i] ?? null;
        return [name, field === null ? null : converts[i]!(field)];
      }),
    );
}

/**
 * A variant as a value of the SQL type that is nearest to its kind; of lists, maps and entities jsonb. Not for null.
 */
export function sqlForm(value: Variant): { readonly type: SqlType; readonly value: Value } {
  if (typeof value === "string") return { type: TEXT, value };
  if (typeof value === "boolean") return { type: BOOL, value };
  if (isIntegerValue(value)) return { type: INT8, value };
  if (typeof value === "number") return { type: FLOAT8, value };
  if (value instanceof Float) return { type: FLOAT8, value: value.value };
  if (value instanceof Uint8Array) return { type: BYTEA, value };
  if (!isTemporal(value)) return { type: JSONB, value: new JsonValue(variantJson(value)) };
  if (value instanceof CypherDate) return { type: DATE, value: value.days };
  if (value instanceof LocalTime) return { type: TIME, value: microsOf(value.nanos) };
  if (value instanceof ZonedTime) {
    return { type: TIMETZ, value: { micros: microsOf(value.nanos), offset: value.offset } };
  }
  if (value instanceof LocalDateTime) return { type: TIMESTAMP, value: momentOf(value.days, value.nanos) };
  if (value instanceof ZonedDateTime) {
    return { type: TIMESTAMPTZ, value: momentOf(value.days, value.nanos, value.offset) };
  }
  return { type: INTERVAL, value: intervalOf(value) };
}

const microsOf = (nanos: number): number => Math.floor(nanos / MICRO_NANOS);

function momentOf(days: number, nanos: number, offset = 0): Timestamp {
  return checkedTimestamp(timestampAt(days, microsOf(nanos) - offset * SECOND_MICROS));
}

function intervalOf({ months, days, seconds, nanos }: Duration): Interval {
  const micros = BigInt(seconds) * BigInt(SECOND_MICROS) + BigInt(microsOf(nanos));
  return makeInterval(months, days, integerValue(micros));
}

/** A variant as a parsed JSON value, in the shapes of variant-format.ts. */
export function variantJson(value: Variant): unknown {
  return exactNumbers(variantToPlain(value));
}

function exactNumbers(plain: unknown): unknown {
  switch (typeof plain) {
    case "bigint":
      return Numeric.fromInteger(plain);
    case "number":
      return Number.isFinite(plain) ? plain : String(plain);
    case "object":
      if (plain === null) return null;
      if (plain instanceof Uint8Array) return `\\x${Buffer.from(plain).toString("hex")}`;
      if (Array.isArray(plain)) return plain.map(exactNumbers);
      return Object.fromEntries(Object.entries(plain).map(([key, value]) => [key, exactNumbers(value)]));
    default:
      return plain;
  }
}
