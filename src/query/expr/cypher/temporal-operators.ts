/** Cypher's operators where an operand is a temporal value (openCypher 9, "Temporal types"). Called by arithmetic.ts. */
import { cypherError } from "../../../protocol/cypher-error.js";
import type { DbError } from "../../../protocol/errors.js";
import {
  CypherDate,
  Duration,
  LocalDateTime,
  LocalTime,
  type Temporal,
  ZonedDateTime,
  ZonedTime,
} from "../../../protocol/temporal.js";
import { Float, type Variant } from "../../../protocol/variant.js";
import { addDuration } from "./temporal-arithmetic.js";
import { typeName } from "./temporal-build.js";
import { divideDuration, multiplyDuration } from "./temporal-duration.js";

const isTemporal = (x: Variant): x is Temporal =>
  x instanceof CypherDate ||
  x instanceof ZonedDateTime ||
  x instanceof LocalDateTime ||
  x instanceof LocalTime ||
  x instanceof ZonedTime ||
  x instanceof Duration;

const isNumber = (x: Variant) => typeof x === "number" || typeof x === "bigint" || x instanceof Float;

function refused(symbol: string, a: Variant, b: Variant): DbError {
  const names = [a, b].map((x) => (isTemporal(x) ? typeName(x) : "another type"));
  const message = `the operator ${symbol} does not take ${names[0]} and ${names[1]}`;
  return cypherError("TypeError", "InvalidArgumentType", message);
}

/** One of them is temporal: an instant and a duration, in either order, or two durations. */
export function addTemporal(a: Variant, b: Variant): Variant {
  if (b instanceof Duration && isTemporal(a)) return addDuration(a, b, 1);
  if (a instanceof Duration && isTemporal(b)) return addDuration(b, a, 1);
  throw refused("+", a, b);
}

/** One of them is temporal: an instant or a duration, less a duration. */
export function subtractTemporal(a: Variant, b: Variant): Variant {
  if (b instanceof Duration && isTemporal(a)) return addDuration(a, b, -1);
  throw refused("-", a, b);
}

/** One of them is temporal: a duration and a number, in either order. */
export function multiplyTemporal(a: Variant, b: Variant): Variant {
  if (a instanceof Duration && isNumber(b)) return multiplyDuration(a, b);
  if (b instanceof Duration && isNumber(a)) return multiplyDuration(b, a);
  throw refused("*", a, b);
}

export function divideTemporal(a: Temporal, b: Variant): Variant {
  if (a instanceof Duration && isNumber(b)) return divideDuration(a, b);
  throw refused("/", a, b);
}
