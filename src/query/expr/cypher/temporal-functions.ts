/**
 * Cypher's functions of temporal values, by lower-case name and number of arguments, for registry.ts: constructors
 * (with the clocks .transaction, .statement and .realtime), .truncate, duration and the durations between instants. The
 * present is that of the statement's start unless a clock is named.
 */
import { cypherError } from "../../../values/cypher-error.js";
import {
  CypherDate,
  Duration,
  LocalDateTime,
  LocalTime,
  type Temporal,
  ZonedDateTime,
  ZonedTime,
} from "../../../values/temporal.js";
import { VARIANT } from "../../../values/values.js";
import { isIntegerValue, type Variant } from "../../../values/variant.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { durationBetween, durationInDays, durationInMonths, durationInSeconds } from "./temporal-between.js";
import { epochInstant, type InstantKind, instantAt, instantInZone, makeInstant } from "./temporal-build.js";
import { durationFromMap, parseDuration } from "./temporal-duration.js";
import { formatTemporal } from "./temporal-pattern.js";
import { instantByPattern } from "./temporal-pattern-read.js";
import { truncateInstant } from "./temporal-truncate.js";
import { sessionZone } from "./temporal-zone.js";

const KINDS: readonly InstantKind[] = ["date", "localtime", "time", "localdatetime", "datetime"];

type Clock = (context: EvalContext) => number;

/** Microseconds since the epoch. */
const CLOCKS: Readonly<Record<string, Clock>> = {
  transaction: (context) => context.transactionMicros,
  statement: (context) => context.statementMicros,
  realtime: () => Math.floor((performance.timeOrigin + performance.now()) * 1000),
};

const functions: ScalarFunction[] = [];

function define(
  name: string,
  argumentCount: number,
  volatility: ScalarFunction["volatility"],
  apply: (context: EvalContext, ...args: Variant[]) => Variant,
): void {
  const args = Array.from({ length: argumentCount }, () => VARIANT);
  functions.push({ name, args, returns: VARIANT, volatility, strict: true, needsContext: true, apply });
}

for (const kind of KINDS) {
  define(kind, 0, "stable", (context) => instantAt(kind, context.statementMicros, sessionZone(context)));
  define(kind, 1, "stable", (context, argument) => makeInstant(kind, argument as Variant, context));
  define(kind, 2, "stable", (context, text, pattern) => {
    if (typeof text !== "string" || typeof pattern !== "string") throw wrongType(kind, "a string and a pattern");
    return instantByPattern(kind, text, pattern, context);
  });
  for (const [clock, micros] of Object.entries(CLOCKS)) {
    const volatility = clock === "realtime" ? "volatile" : "stable";
    define(`${kind}.${clock}`, 0, volatility, (context) => instantAt(kind, micros(context), sessionZone(context)));
    define(`${kind}.${clock}`, 1, volatility, (context, zone) => instantInZone(kind, micros(context), zone as Variant));
  }
  for (const argumentCount of [1, 2, 3]) defineTruncate(kind, argumentCount);
}

function defineTruncate(kind: InstantKind, argumentCount: number): void {
  const name = `${kind}.truncate`;
  define(name, argumentCount, "stable", (context, unit, value, fields) => {
    if (typeof unit !== "string") throw wrongType(name, "a string for its unit");
    if (fields !== undefined && !(fields instanceof Map)) throw wrongType(name, "a map for its fields");
    // Without a value it truncates the present.
    const instant =
      argumentCount === 1 ? instantAt(kind, context.statementMicros, sessionZone(context)) : instantOf(name, value);
    return truncateInstant(kind, unit, instant, fields ?? null, context);
  });
}

define("datetime.fromepoch", 2, "immutable", (_context, seconds, nanos) =>
  epochInstant(integer("datetime.fromepoch", seconds), Number(integer("datetime.fromepoch", nanos)), 0),
);
define("datetime.fromepochmillis", 1, "immutable", (_context, argument) => {
  const millis = integer("datetime.fromepochmillis", argument);
  return epochInstant(millis / 1000n, Number(millis % 1000n) * 1_000_000, 0);
});
define("timestamp", 0, "stable", (context) => Math.floor(context.statementMicros / 1000));

define("duration", 1, "immutable", (_context, argument) => {
  if (typeof argument === "string") return parseDuration(argument);
  if (argument instanceof Map) return durationFromMap(argument as ReadonlyMap<string, Variant>);
  if (argument instanceof Duration) return argument;
  throw wrongType("duration", "a string or a map");
});

for (const count of [1, 2]) {
  define("format", count, "immutable", (_context, value, pattern = null) => {
    if (pattern !== null && typeof pattern !== "string") throw wrongType("format", "a string as its pattern");
    if (value instanceof Duration || isInstant(value)) return formatTemporal(value, pattern);
    throw wrongType("format", "a temporal value");
  });
}

const BETWEEN: Readonly<Record<string, (from: Temporal, to: Temporal) => Duration>> = {
  "duration.between": durationBetween,
  "duration.inmonths": durationInMonths,
  "duration.indays": durationInDays,
  "duration.inseconds": durationInSeconds,
};
for (const [name, between] of Object.entries(BETWEEN)) {
  define(name, 2, "immutable", (_context, from, to) => between(instantOf(name, from), instantOf(name, to)));
}

const wrongType = (name: string, wanted: string) =>
  cypherError("TypeError", "InvalidArgumentType", `${name}() takes ${wanted}`);

function instantOf(name: string, value: Variant | undefined): Temporal {
  if (isInstant(value)) return value;
  throw wrongType(name, "dates and times");
}

const isInstant = (value: unknown): value is Exclude<Temporal, Duration> =>
  value instanceof CypherDate ||
  value instanceof LocalTime ||
  value instanceof ZonedTime ||
  value instanceof LocalDateTime ||
  value instanceof ZonedDateTime;

function integer(name: string, value: Variant | undefined): bigint {
  if (!isIntegerValue(value)) throw wrongType(name, "integers");
  return BigInt(value);
}

/** Those of one name differ in their number of arguments. */
export const TEMPORAL_FUNCTIONS: readonly ScalarFunction[] = functions;
