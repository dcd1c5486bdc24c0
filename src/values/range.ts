/**
 * Ranges and multiranges, which are held as PostgreSQL prints them (rangetypes.c, multirangetypes.c): `[1,10)`,
 * `empty`, `{[1,3),[5,7)}`; those of timestamptz in UTC. Discrete ones are in their canonical form, which includes the
 * lower bound and not the upper one. Called by the formats, the codecs, the comparisons and the functions of
 * expressions.
 */
import { sqlError } from "../protocol/errors.js";
import type { Turns } from "../protocol/turns.js";
import { type Clock, parseDate, parseTimestamp, parseTimestampTz } from "./datetime-parse.js";
import { Numeric } from "./numeric.js";
import { dateInStyle, PLAIN_STYLE, type TextStyle, timestampInStyle, timestampTzInStyle } from "./text-style.js";
import type { MultirangeName, RangeName, SqlType, TypeName } from "./values.js";

/** A value of the type that a range is of. */
export type Bound = number | bigint | Numeric;

export interface Range {
  /** Null: there is no bound. Of an empty range neither has a meaning. */
  readonly lower: Bound | null;
  readonly upper: Bound | null;
  readonly lowerInc: boolean;
  readonly upperInc: boolean;
  readonly isEmpty: boolean;
}

export const EMPTY: Range = Object.freeze({
  lower: null,
  upper: null,
  lowerInc: false,
  upperInc: false,
  isEmpty: true,
});

type Subtype = "int4" | "int8" | "numeric" | "date" | "timestamp" | "timestamptz";

const SUBTYPES: Readonly<Record<RangeName, Subtype>> = {
  int4range: "int4",
  int8range: "int8",
  numrange: "numeric",
  daterange: "date",
  tsrange: "timestamp",
  tstzrange: "timestamptz",
};

const RANGES: Readonly<Record<MultirangeName, RangeName>> = {
  int4multirange: "int4range",
  int8multirange: "int8range",
  nummultirange: "numrange",
  datemultirange: "daterange",
  tsmultirange: "tsrange",
  tstzmultirange: "tstzrange",
};

export const RANGE_NAMES = Object.keys(SUBTYPES) as readonly RangeName[];
export const MULTIRANGE_NAMES = Object.keys(RANGES) as readonly MultirangeName[];

export const isRangeName = (name: TypeName): name is RangeName => Object.hasOwn(SUBTYPES, name);
export const isMultirangeName = (name: TypeName): name is MultirangeName => Object.hasOwn(RANGES, name);
export const isRangeType = ({ name, element }: SqlType): boolean =>
  element === null && (isRangeName(name) || isMultirangeName(name));

/** The type of a range's bounds. */
export const subtypeOf = (name: RangeName): Subtype => SUBTYPES[name];
/** The type of a multirange's ranges. */
export const rangeOfMultirange = (name: MultirangeName): RangeName => RANGES[name];

// ---- Bounds ----

export function compareValues(a: Bound, b: Bound): number {
  if (a instanceof Numeric) return a.compare(b as Numeric);
  return a < (b as number) ? -1 : a > (b as number) ? 1 : 0;
}

/** An end of a range with what orders it among other ends. */
export interface End {
  readonly value: Bound | null;
  readonly inc: boolean;
  readonly isLower: boolean;
}

export const lowerEnd = ({ lower, lowerInc }: Range): End => ({ value: lower, inc: lowerInc, isLower: true });
export const upperEnd = ({ upper, upperInc }: Range): End => ({ value: upper, inc: upperInc, isLower: false });

/** The order of places, whether the bounds themselves belong to the ranges or not. */
export function compareEndValues(a: End, b: End): number {
  if (a.value === null && b.value === null) return a.isLower === b.isLower ? 0 : a.isLower ? -1 : 1;
  if (a.value === null) return a.isLower ? -1 : 1;
  if (b.value === null) return b.isLower ? 1 : -1;
  return compareValues(a.value, b.value);
}

export function compareEnds(a: End, b: End): number {
  const order = compareEndValues(a, b);
  if (order !== 0 || a.value === null || b.value === null) return order;
  if (!a.inc && !b.inc) return a.isLower === b.isLower ? 0 : a.isLower ? 1 : -1;
  if (!a.inc) return a.isLower ? 1 : -1;
  if (!b.inc) return b.isLower ? -1 : 1;
  return 0;
}

export function compareRanges(a: Range, b: Range): number {
  if (a.isEmpty || b.isEmpty) return a.isEmpty === b.isEmpty ? 0 : a.isEmpty ? -1 : 1;
  return compareEnds(lowerEnd(a), lowerEnd(b)) || compareEnds(upperEnd(a), upperEnd(b));
}

export function compareMultiranges(a: readonly Range[], b: readonly Range[]): number {
  const count = Math.min(a.length, b.length);
  for (let i = 0; i < count; i++) {
    const order = compareRanges(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

// ---- Canonical forms ----

const INT4_MAX = 2_147_483_647;
const INT8_MAX = (1n << 63n) - 1n;
/** 5874897-12-31, the last day. */
const DATE_MAX = 2_145_031_948;

/** The next value of a discrete type. Throws 22003, 22008. */
function next(subtype: Subtype, value: Bound): Bound {
  if (subtype === "date") {
    if ((value as number) >= DATE_MAX) throw sqlError("22008", "date out of range");
    return (value as number) + 1;
  }
  if (subtype === "int4") {
    if ((value as number) >= INT4_MAX) throw sqlError("22003", "integer out of range");
    return (value as number) + 1;
  }
  const sum = BigInt(value as number) + 1n;
  if (sum > INT8_MAX) throw sqlError("22003", "bigint out of range");
  return Number.isSafeInteger(Number(sum)) ? Number(sum) : sum;
}

const isDiscrete = (subtype: Subtype) => subtype === "int4" || subtype === "int8" || subtype === "date";

/** The range between the bounds. Throws 22000 for bounds in the wrong order. */
export function makeRange(
  name: RangeName,
  lower: Bound | null,
  upper: Bound | null,
  lowerInc: boolean,
  upperInc: boolean,
): Range {
  const subtype = SUBTYPES[name];
  const order = lower === null || upper === null ? -1 : compareValues(lower, upper);
  if (order > 0) throw sqlError("22000", "range lower bound must be less than or equal to range upper bound");
  if (order === 0 && !(lowerInc && upperInc)) return EMPTY;
  let range: Range = {
    lower,
    upper,
    lowerInc: lower !== null && lowerInc,
    upperInc: upper !== null && upperInc,
    isEmpty: false,
  };
  if (!isDiscrete(subtype)) return range;
  if (range.lower !== null && !range.lowerInc && !isEndless(range.lower)) {
    range = { ...range, lower: next(subtype, range.lower), lowerInc: true };
  }
  if (range.upper !== null && range.upperInc && !isEndless(range.upper)) {
    range = { ...range, upper: next(subtype, range.upper), upperInc: false };
  }
  const isGone = range.lower !== null && range.upper !== null && compareValues(range.lower, range.upper) >= 0;
  return isGone && !(range.lowerInc && range.upperInc) ? EMPTY : range;
}

/** A date that is infinite is no day, and has no next one. */
const isEndless = (value: Bound) => typeof value === "number" && !Number.isFinite(value);

/** Sorted, without empty ranges; those that touch are one. */
export function mergedRanges(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of ranges.filter(({ isEmpty }) => !isEmpty).sort(compareRanges)) addInOrder(merged, range);
  return merged;
}

/** Adds a range that does not begin before the last one. */
function addInOrder(merged: Range[], range: Range): void {
  const last = merged.at(-1);
  if (last === undefined || isGap(last, range)) merged.push(range);
  else if (compareEnds(upperEnd(range), upperEnd(last)) > 0) merged[merged.length - 1] = withUpper(last, range);
}

/** Sorted at a time, and between two looks at the clock. */
const STEP_RANGES = 1024;

/** The same of many ranges, with turns for others in between. */
export async function mergedInTurns(ranges: readonly Range[], turns: Turns): Promise<Range[]> {
  let runs: Range[][] = [];
  for (let at = 0; at < ranges.length; at += STEP_RANGES) {
    runs.push(mergedRanges(ranges.slice(at, at + STEP_RANGES)));
    if (turns.shouldYield()) await turns.yieldTurn();
  }
  while (runs.length > 1) {
    const longer: Range[][] = [];
    for (let i = 0; i < runs.length; i += 2) {
      const [a, b] = [runs[i]!, runs[i + 1]];
      longer.push(b === undefined ? a : await mergedRuns(a, b, turns));
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

async function mergedRuns(a: readonly Range[], b: readonly Range[], turns: Turns): Promise<Range[]> {
  const merged: Range[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const isFirst = j === b.length || (i < a.length && compareRanges(a[i]!, b[j]!) <= 0);
    addInOrder(merged, isFirst ? a[i++]! : b[j++]!);
    if ((i + j) % STEP_RANGES === 0 && turns.shouldYield()) await turns.yieldTurn();
  }
  return merged;
}

/** Whether there is something between a range and one that begins later. */
function isGap(before: Range, after: Range): boolean {
  const order = compareEndValues(upperEnd(before), lowerEnd(after));
  return order < 0 || (order === 0 && !before.upperInc && !after.lowerInc);
}

const withUpper = (range: Range, { upper, upperInc }: Range): Range => ({ ...range, upper, upperInc });

// ---- Text ----

const PRINTERS: Readonly<Record<Subtype, (value: never, timeZone: string, style: TextStyle) => string>> = {
  int4: (value: number) => String(value),
  int8: (value: number | bigint) => String(value),
  numeric: (value: Numeric) => value.toString(),
  date: (value: number, _, style) => dateInStyle(value, style),
  timestamp: (value: number, _, style) => timestampInStyle(value, style),
  timestamptz: (value: number, timeZone, style) => timestampTzInStyle(value, timeZone, style),
};

const UTC: Clock = { timeZone: "UTC", nowMicros: 0 };

const READERS: Readonly<Record<Subtype, (text: string) => Bound>> = {
  int4: Number,
  int8: (text) => (text.length < 16 ? Number(text) : normalInteger(BigInt(text))),
  numeric: (text) => Numeric.parse(text),
  date: (text) => parseDate(text, UTC),
  timestamp: (text) => parseTimestamp(text, UTC, null),
  timestamptz: (text) => parseTimestampTz(text, UTC, null),
};

const normalInteger = (value: bigint): number | bigint =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;

/** As a value is held, and with another time zone as it is printed. */
export function rangeText(name: RangeName, range: Range, timeZone = "UTC", style = PLAIN_STYLE): string {
  if (range.isEmpty) return "empty";
  const print = PRINTERS[SUBTYPES[name]] as (value: Bound, timeZone: string, style: TextStyle) => string;
  const lower = range.lower === null ? "" : quoted(print(range.lower, timeZone, style));
  const upper = range.upper === null ? "" : quoted(print(range.upper, timeZone, style));
  return `${range.lowerInc ? "[" : "("}${lower},${upper}${range.upperInc ? "]" : ")"}`;
}

const quoted = (text: string) => (/\s/.test(text) ? `"${text}"` : text);

export function multirangeText(
  name: MultirangeName,
  ranges: readonly Range[],
  timeZone = "UTC",
  style = PLAIN_STYLE,
): string {
  return `{${ranges.map((range) => rangeText(RANGES[name], range, timeZone, style)).join()}}`;
}

/** The text of a stored value in a time zone. */
export function rangeInZone(
  name: RangeName | MultirangeName,
  value: string,
  timeZone: string,
  style = PLAIN_STYLE,
): string {
  const isZoned = name === "tstzrange" || name === "tstzmultirange";
  if (style.dates === "ISO" && !(isZoned && timeZone !== "UTC")) return value;
  if (isMultirangeName(name)) return multirangeText(name, rangesOf(name, value), timeZone, style);
  return rangeText(name, rangeOf(name, value), timeZone, style);
}

const KEPT_MAX = 4096;
/** Longer texts are parsed each time. */
const KEPT_CHARACTERS_MAX = 200;
const keptRanges = new Map<string, Range>();
const keptLists = new Map<string, readonly Range[]>();

function kept<T>(values: Map<string, T>, key: string, make: () => T): T {
  if (key.length > KEPT_CHARACTERS_MAX) return make();
  let value = values.get(key);
  if (value === undefined) {
    value = make();
    if (values.size >= KEPT_MAX) values.clear();
    values.set(key, value);
  }
  return value;
}

/** The parts of a value in its canonical form. */
export function rangeOf(name: RangeName, value: string): Range {
  return value === "empty" ? EMPTY : kept(keptRanges, `${name}${value}`, () => parsedRange(name, value));
}

/** Quotes, which only moments need, are not part of any. */
function parsedRange(name: RangeName, value: string): Range {
  const read = READERS[SUBTYPES[name]];
  const comma = value.indexOf(",");
  const bound = (text: string) => (text === "" ? null : read(text.startsWith('"') ? text.slice(1, -1) : text));
  return {
    lower: bound(value.slice(1, comma)),
    upper: bound(value.slice(comma + 1, -1)),
    lowerInc: value.startsWith("["),
    upperInc: value.endsWith("]"),
    isEmpty: false,
  };
}

/** The ranges of a multirange in its canonical form. */
export function rangesOf(name: MultirangeName, value: string): readonly Range[] {
  if (value === "{}") return NO_RANGES;
  return kept(keptLists, `${name}${value}`, () => {
    const range = RANGES[name];
    return Array.from(value.slice(1, -1).matchAll(/[[(][^,]*,[^\])]*[\])]/g), ([text]) => parsedRange(range, text));
  });
}

const NO_RANGES: readonly Range[] = Object.freeze([]);
