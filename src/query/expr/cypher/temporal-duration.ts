/**
 * Cypher's durations: from maps and from text, and their arithmetic. A fraction of a part goes on into the next smaller
 * one (months to days by a month's average length, days to hours); everything is exact until the last nanosecond, whose
 * fraction is dropped.
 */
import { cypherError } from "../../../values/cypher-error.js";
import type { Duration } from "../../../values/temporal.js";
import { AVERAGE_MONTH_SECONDS } from "../../../values/temporal-order.js";
import { Float, type Variant, type VariantMap } from "../../../values/variant.js";
import { DAY_NANOS, durationOf, invalidArgument, makeDuration, SECOND_NANOS } from "./temporal-range.js";

const MONTH = BigInt(AVERAGE_MONTH_SECONDS) * BigInt(SECOND_NANOS);
const DAY = BigInt(DAY_NANOS);

/** `digits` / 10^scale, exactly. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** Parts over a common denominator: months, days, nanoseconds. */
type Parts = [months: bigint, days: bigint, nanos: bigint];

/** The duration of these parts over `denominator` (positive). Throws ArithmeticError when it is too long. */
function cascade([months, days, nanos]: Parts, denominator: bigint): Duration {
  const allDays = days * DAY + (months % denominator) * MONTH;
  const dayUnit = DAY * denominator;
  return makeDuration(months / denominator, allDays / dayUnit, (nanos + (allDays % dayUnit)) / denominator);
}

/** Each unit in the part that it counts in. */
const UNITS: ReadonlyMap<string, { readonly part: 0 | 1 | 2; readonly size: bigint }> = new Map([
  ["years", { part: 0, size: 12n }],
  ["quarters", { part: 0, size: 3n }],
  ["months", { part: 0, size: 1n }],
  ["weeks", { part: 1, size: 7n }],
  ["days", { part: 1, size: 1n }],
  ["hours", { part: 2, size: 3_600_000_000_000n }],
  ["minutes", { part: 2, size: 60_000_000_000n }],
  ["seconds", { part: 2, size: 1_000_000_000n }],
  ["milliseconds", { part: 2, size: 1_000_000n }],
  ["microseconds", { part: 2, size: 1000n }],
  ["nanoseconds", { part: 2, size: 1n }],
]);

function sumOf(amounts: readonly (readonly [unit: string, amount: Decimal])[]): Duration {
  const scale = Math.max(0, ...amounts.map(([, amount]) => amount.scale));
  const parts: Parts = [0n, 0n, 0n];
  for (const [name, amount] of amounts) {
    const { part, size } = UNITS.get(name) as { part: 0 | 1 | 2; size: bigint };
    parts[part] += amount.digits * size * 10n ** BigInt(scale - amount.scale);
  }
  return cascade(parts, 10n ** BigInt(scale));
}

/** duration({days: 1.5, hours: 2}). Throws ArgumentError. */
export function durationFromMap(map: VariantMap): Duration {
  if (map.size === 0) throw invalidArgument("a duration needs at least one unit");
  const amounts: [string, Decimal][] = [];
  for (const [key, value] of map) {
    const name = key.toLowerCase();
    if (!UNITS.has(name)) throw invalidArgument(`"${key}" is no unit of a duration`);
    const amount = decimalOf(value);
    if (amount === null) throw invalidArgument(`${key} must be a finite number`);
    amounts.push([name, amount]);
  }
  return sumOf(amounts);
}

/** A finite number by its shortest decimal digits; null for anything else. */
function decimalOf(value: Variant): Decimal | null {
  if (typeof value === "bigint") return { digits: value, scale: 0 };
  const x = value instanceof Float ? value.value : value;
  if (typeof x !== "number" || !Number.isFinite(x)) return null;
  if (Number.isSafeInteger(x)) return { digits: BigInt(x), scale: 0 };
  return parseDecimal(String(x));
}

function parseDecimal(text: string): Decimal {
  const [mantissa, exponent] = text.replace(",", ".").split("e");
  const [whole, fraction = ""] = (mantissa as string).split(".");
  const scale = fraction.length - Number(exponent ?? 0);
  const digits = BigInt(`${whole}${fraction}`);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

const NUMBER = "[+-]?\\d{1,30}(?:[.,]\\d{1,30})?";
const BY_UNITS = new RegExp(
  `^([+-]?)P(?:(${NUMBER})Y)?(?:(${NUMBER})M)?(?:(${NUMBER})W)?(?:(${NUMBER})D)?` +
    `(?:T(?=[\\d+-])(?:(${NUMBER})H)?(?:(${NUMBER})M)?(?:(${NUMBER})S)?)?$`,
);
const UNITS_IN_TEXT = ["years", "months", "weeks", "days", "hours", "minutes", "seconds"];
const BY_CLOCK =
  /^([+-]?)P(\d{4})(?:-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d(?:[.,]\d{1,9})?)|(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d(?:[.,]\d{1,9})?))$/;
const UNITS_BY_CLOCK = ["years", "months", "days", "hours", "minutes", "seconds"];
const CLOCK_MAX = [9999, 12, 31, 23, 59, 59];

/** A duration as ISO 8601 writes it: "P1Y2M3.5D", "PT-5M", "P2W", "P2012-02-02T14:37:21.545". Throws ArgumentError. */
export function parseDuration(text: string): Duration {
  const byUnits = BY_UNITS.exec(text);
  if (byUnits?.slice(2).some((amount) => amount !== undefined)) {
    return sumOf(amountsOf(UNITS_IN_TEXT, byUnits.slice(2), byUnits[1] as string));
  }
  const byClock = BY_CLOCK.exec(text);
  if (byClock === null) throw invalidArgument(`"${text}" is no duration`);
  const fields = [byClock[2], ...byClock.slice(byClock[3] === undefined ? 8 : 3)].slice(0, 6);
  const outside = fields.findIndex(
    (field, i) => Math.floor(Number(field?.replace(",", "."))) > (CLOCK_MAX[i] as number),
  );
  if (outside >= 0) throw invalidArgument(`${UNITS_BY_CLOCK[outside]} of the duration "${text}" out of range`);
  return sumOf(amountsOf(UNITS_BY_CLOCK, fields, byClock[1] as string));
}

function amountsOf(
  names: readonly string[],
  texts: readonly (string | undefined)[],
  sign: string,
): [string, Decimal][] {
  const amounts: [string, Decimal][] = [];
  for (const [i, text] of texts.entries()) {
    if (text === undefined) continue;
    const { digits, scale } = signedDecimal(text);
    amounts.push([names[i] as string, { digits: sign === "-" ? -digits : digits, scale }]);
  }
  return amounts;
}

/** BigInt() reads "-5" but not "+5". */
const signedDecimal = (text: string) => parseDecimal(text.startsWith("+") ? text.slice(1) : text);

const nanosOf = (x: Duration) => BigInt(x.seconds) * BigInt(SECOND_NANOS) + BigInt(x.nanos);

/** a + sign · b, part by part. Throws ArithmeticError. */
export function addDurations(a: Duration, b: Duration, sign: 1 | -1): Duration {
  const months = a.months + sign * b.months;
  const days = a.days + sign * b.days;
  if (typeof a.seconds === "number" && typeof b.seconds === "number") {
    const nanos = a.nanos + sign * b.nanos;
    const over = Math.floor(nanos / SECOND_NANOS);
    const sum = a.seconds + sign * b.seconds;
    const seconds = sum + over;
    // A sum that was rounded may become safe again.
    if (Number.isSafeInteger(sum) && Number.isSafeInteger(seconds))
      return durationOf(months, days, seconds, nanos - over * SECOND_NANOS);
  }
  return makeDuration(BigInt(months), BigInt(days), nanosOf(a) + BigInt(sign) * nanosOf(b));
}

/** duration * number; NaN and infinities raise ArithmeticError. */
export function multiplyDuration(duration: Duration, factor: Variant): Duration {
  const { digits, scale } = finite(factor);
  return cascade(scaled(duration, digits), 10n ** BigInt(scale));
}

/** duration / number. Throws ArithmeticError, also for 0. */
export function divideDuration(duration: Duration, divisor: Variant): Duration {
  const { digits, scale } = finite(divisor);
  if (digits === 0n) throw cypherError("ArithmeticError", "DivisionByZero", "duration divided by zero");
  const unit = 10n ** BigInt(scale);
  return digits > 0n ? cascade(scaled(duration, unit), digits) : cascade(scaled(duration, -unit), -digits);
}

const scaled = (x: Duration, factor: bigint): Parts => [
  BigInt(x.months) * factor,
  BigInt(x.days) * factor,
  nanosOf(x) * factor,
];

function finite(number: Variant): Decimal {
  const decimal = decimalOf(number);
  if (decimal === null) throw cypherError("ArithmeticError", "NumberOutOfRange", "duration out of range");
  return decimal;
}
