/**
 * Cypher's operators where an operand is a temporal value (openCypher 9, "Temporal types"). Called by arithmetic.ts.
 */

import type { DbError } from "../../../protocol/errors.js";
import { cypherError } from "../../../values/cypher-error.js";
import { Duration, type Temporal } from "../../../values/temporal.js";
import { Float, type Variant } from "../../../values/variant.js";
import { isTemporal } from "../../../values/variant-format.js";
import { described } from "./define.js";
import { addDuration } from "./temporal-arithmetic.js";
import { divideDuration, multiplyDuration } from "./temporal-duration.js";

const isNumber = (x: Variant) => typeof x === "number" || typeof x === "bigint" || x instanceof Float;

function refused(symbol: string, a: Variant, b: Variant): DbError {
  const message = `the operator ${symbol} does not take ${described(a)} and ${described(b)}`;
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
