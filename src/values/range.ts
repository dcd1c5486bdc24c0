/**
 * Ranges and multiranges, which are held as PostgreSQL prints them (rangetypes.c, multirangetypes.c): `[1,10)`,
 * `empty`, `{[1,3),[5,7)}`; those of timestamptz in UTC. Discrete ones are in their canonical form, which includes the
 * lower bound and not the upper one. Called by the formats, the codecs, the comparisons and the functions of
 * expressions.
 */
import { sqlError } from "../protocol/errors.js";
import type { Turns } from "../protocol/turns.js";
import { compareText } from "./compare-text.js";
import { timeToText } from "./datetime.js";
import { type Clock, parseDate, parseTime, parseTimestamp, parseTimestampTz } from "./datetime-parse.js";
import { float4ToText, float8ToText } from "./float-text.js";
import { Numeric } from "./numeric.js";
import { dateInStyle, PLAIN_STYLE, type TextStyle, timestampInStyle, timestampTzInStyle } from "./text-style.js";
import type { Timestamp } from "./timestamp.js";
import type { MultirangeName, RangeName, SqlType, TypeName } from "./values.js";

/** A value of the type that a range is of. */
export type Bound = number | bigint | string | Numeric;

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

/** Types that CREATE TYPE … AS RANGE can make ranges of: those whose values `compareValues` knows how to order. */
const OWN_SUBTYPES = [
  "int2",
  "int4",
  "int8",
  "float4",
  "float8",
  "numeric",
  "text",
  "varchar",
  "uuid",
  "date",
  "time",
  "timestamp",
  "timestamptz",
] as const;

type Subtype = (typeof OWN_SUBTYPES)[number];

/** What says how a range is read, ordered and printed: a built-in type, or the subtype of one that a statement made. */
export type RangeKey = RangeName | `range of ${Subtype}`;
export type MultirangeKey = MultirangeName | `multirange of ${Subtype}`;

const BUILT_IN: Readonly<Record<RangeName, Subtype>> = {
  int4range: "int4",
  int8range: "int8",
  numrange: "numeric",
  daterange: "date",
  tsrange: "timestamp",
  tstzrange: "timestamptz",
};

const RANGE_NAMES = Object.keys(BUILT_IN) as readonly RangeName[];

const SUBTYPES = {
  ...BUILT_IN,
  ...Object.fromEntries(OWN_SUBTYPES.map((name) => [`range of ${name}`, name])),
} as Readonly<Record<RangeKey, Subtype>>;

const BUILT_IN_LISTS: Readonly<Record<MultirangeName, RangeName>> = {
  int4multirange: "int4range",
  int8multirange: "int8range",
  nummultirange: "numrange",
  datemultirange: "daterange",
  tsmultirange: "tsrange",
  tstzmultirange: "tstzrange",
};

const RANGES = {
  ...BUILT_IN_LISTS,
  ...Object.fromEntries(OWN_SUBTYPES.map((name) => [`multirange of ${name}`, `range of ${name}`])),
} as Readonly<Record<MultirangeKey, RangeKey>>;

const isRangeName = (name: TypeName): name is RangeName => Object.hasOwn(BUILT_IN, name);
const isMultirangeName = (name: TypeName): name is MultirangeName => Object.hasOwn(BUILT_IN_LISTS, name);

/** What a range or multirange is made of; of a domain over one, what that is made of. */
function partOf({ user }: SqlType): SqlType {
  return user!.part ?? partOf(user!.base!);
}

/** Null for a type that is no range. */
export function rangeKeyOf(type: SqlType): RangeKey | null {
  const { name, element } = type;
  if (element !== null) return null;
  if (name === "range") return `range of ${partOf(type).name as Subtype}`;
  return isRangeName(name) ? name : null;
}

/** Null for a type that is no multirange. */
export function multirangeKeyOf(type: SqlType): MultirangeKey | null {
  const { name, element } = type;
  if (element !== null) return null;
  if (name === "multirange") return `multirange of ${partOf(partOf(type)).name as Subtype}`;
  return isMultirangeName(name) ? name : null;
}

/** The name of a type; of a range that a statement made, the built-in one over the same subtype, if any. */
export function namedByPart(type: SqlType): TypeName {
  if (type.name !== "range" && type.name !== "multirange") return type.name;
  const subtype = subtypeOf(rangeKeyOf(type) ?? rangeOfMultirange(multirangeKeyOf(type)!));
  return RANGE_NAMES.find((name) => BUILT_IN[name] === subtype) ?? type.name;
}

export const isRangeType = (type: SqlType): boolean => rangeKeyOf(type) !== null || multirangeKeyOf(type) !== null;

/** Whether CREATE TYPE … AS RANGE can make ranges of the type; `possibleSubtypes` names those. */
export const isSubtype = ({ name, element }: SqlType): boolean =>
  element === null && (OWN_SUBTYPES as readonly string[]).includes(name);
export const possibleSubtypes = (): readonly TypeName[] => OWN_SUBTYPES;

/** The type of a range's bounds. */
export const subtypeOf = (name: RangeKey): Subtype => SUBTYPES[name];
/** The type of a multirange's ranges. */
export const rangeOfMultirange = (name: MultirangeKey): RangeKey => RANGES[name];

// ---- Bounds ----

export function compareValues(a: Bound, b: Bound): number {
  if (typeof a === "string") return compareText(a, b as string);
  if (a instanceof Numeric) return a.compare(b as Numeric);
  // NaN comes last.
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
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

/** Ranges of types that statements made have no canonical form. */
const isDiscrete = (name: RangeKey) => name === "int4range" || name === "int8range" || name === "daterange";

/** The range between the bounds. Throws 22000 for bounds in the wrong order. */
export function makeRange(
  name: RangeKey,
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
  if (!isDiscrete(name)) return range;
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
  int2: (value: number) => String(value),
  int4: (value: number) => String(value),
  float4: (value: number) => float4ToText(value),
  float8: (value: number) => float8ToText(value),
  text: (value: string) => value,
  varchar: (value: string) => value,
  uuid: (value: string) => value,
  time: (value: number) => timeToText(value),
  int8: (value: number | bigint) => String(value),
  numeric: (value: Numeric) => value.toString(),
  date: (value: number, _, style) => dateInStyle(value, style),
  timestamp: (value: Timestamp, _, style) => timestampInStyle(value, style),
  timestamptz: (value: Timestamp, timeZone, style) => timestampTzInStyle(value, timeZone, style),
};

const UTC: Clock = { timeZone: "UTC", nowMicros: 0 };

const READERS: Readonly<Record<Subtype, (text: string) => Bound>> = {
  int2: Number,
  int4: Number,
  float4: Number,
  float8: Number,
  text: String,
  varchar: String,
  uuid: String,
  time: (text) => parseTime(text, UTC),
  int8: (text) => (text.length < 16 ? Number(text) : normalInteger(BigInt(text))),
  numeric: (text) => Numeric.parse(text),
  date: (text) => parseDate(text, UTC),
  timestamp: (text) => parseTimestamp(text, UTC, null),
  timestamptz: (text) => parseTimestampTz(text, UTC, null),
};

const normalInteger = (value: bigint): number | bigint =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;

/** As a value is held, and with another time zone as it is printed. */
export function rangeText(name: RangeKey, range: Range, timeZone = "UTC", style = PLAIN_STYLE): string {
  if (range.isEmpty) return "empty";
  const print = PRINTERS[SUBTYPES[name]] as (value: Bound, timeZone: string, style: TextStyle) => string;
  const lower = range.lower === null ? "" : quoted(print(range.lower, timeZone, style));
  const upper = range.upper === null ? "" : quoted(print(range.upper, timeZone, style));
  return `${range.lowerInc ? "[" : "("}${lower},${upper}${range.upperInc ? "]" : ")"}`;
}

const quoted = (text: string) =>
  text === "" || /[\s"\\()[\],]/.test(text) ? `"${text.replace(/["\\]/g, "$&$&")}"` : text;

export function multirangeText(
  name: MultirangeKey,
  ranges: readonly Range[],
  timeZone = "UTC",
  style = PLAIN_STYLE,
): string {
  return `{${ranges.map((range) => rangeText(RANGES[name], range, timeZone, style)).join()}}`;
}

/** The text of a stored value in a time zone. */
export function rangeInZone(
  name: RangeKey | MultirangeKey,
  value: string,
  timeZone: string,
  style = PLAIN_STYLE,
): string {
  const list = isMultirangeKey(name) ? name : null;
  const subtype = SUBTYPES[isMultirangeKey(name) ? RANGES[name] : name];
  if (style.dates === "ISO" && !(subtype === "timestamptz" && timeZone !== "UTC")) return value;
  if (list !== null) return multirangeText(list, rangesOf(list, value), timeZone, style);
  return rangeText(name as RangeKey, rangeOf(name as RangeKey, value), timeZone, style);
}

export const isMultirangeKey = (name: RangeKey | MultirangeKey): name is MultirangeKey => Object.hasOwn(RANGES, name);

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
export function rangeOf(name: RangeKey, value: string): Range {
  return value === "empty" ? EMPTY : kept(keptRanges, `${name}${value}`, () => parsedRange(name, value));
}

function parsedRange(name: RangeKey, value: string): Range {
  return scannedRange(READERS[SUBTYPES[name]], value, 0).range;
}

type ReadCanonical = (text: string) => Bound;

/** The range that begins there, and where what follows it begins. */
function scannedRange(read: ReadCanonical, value: string, from: number): { range: Range; end: number } {
  const lower = scannedBound(read, value, from + 1);
  const upper = scannedBound(read, value, lower.end + 1);
  const [lowerInc, upperInc] = [value[from] === "[", value[upper.end] === "]"];
  return { range: { lower: lower.bound, upper: upper.bound, lowerInc, upperInc, isEmpty: false }, end: upper.end + 1 };
}

/** Quotes are around the whole bound; in them quotes and backslashes are doubled. */
function scannedBound(read: ReadCanonical, value: string, from: number): { bound: Bound | null; end: number } {
  if (value[from] === '"') {
    let end = from + 1;
    while (end < value.length && (value[end] !== '"' || value[end + 1] === '"'))
      end += value[end] === '"' || value[end] === "\\" ? 2 : 1;
    const text = value.slice(from + 1, end).replace(/(["\\])\1/g, "$1");
    return { bound: read(text), end: end + 1 };
  }
  let end = from;
  while (end < value.length && value[end] !== "," && value[end] !== "]" && value[end] !== ")") end++;
  return { bound: end === from ? null : read(value.slice(from, end)), end };
}

/** The ranges of a multirange in its canonical form. */
export function rangesOf(name: MultirangeKey, value: string): readonly Range[] {
  if (value === "{}") return NO_RANGES;
  return kept(keptLists, `${name}${value}`, () => {
    const read = READERS[SUBTYPES[RANGES[name]]];
    const ranges: Range[] = [];
    for (let at = 1; at < value.length - 1; ) {
      const { range, end } = scannedRange(read, value, at);
      ranges.push(range);
      at = end + 1;
    }
    return ranges;
  });
}

const NO_RANGES: readonly Range[] = Object.freeze([]);
