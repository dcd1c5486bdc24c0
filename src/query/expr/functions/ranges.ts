/**
 * Functions, operators and aggregates of range and multirange types (chapter 9.20): the algebra is in
 * values/range-algebra.ts.
 */
import { sqlError } from "../../../protocol/errors.js";
import type { Turns } from "../../../protocol/turns.js";
import {
  type Bound,
  type MultirangeKey,
  makeRange,
  mergedInTurns,
  mergedRanges,
  multirangeText,
  type Range,
  type RangeKey,
  rangeOf,
  rangeOfMultirange,
  rangesOf,
  rangeText,
  subtypeOf,
} from "../../../values/range.js";
import * as algebra from "../../../values/range-algebra.js";
import {
  arrayOf,
  BOOL,
  MULTIRANGES,
  type MultirangeName,
  RANGES,
  type RangeName,
  type SqlArray,
  type SqlType,
  TEXT,
  typeOf,
  type Value,
} from "../../../values/values.js";
import type { AggregateFunction, ScalarFunction } from "../expr.js";
import { type TableFunction, tableFn, valueRows } from "../table-function.js";
import { aggregate } from "./aggregate-steps.js";
import { fn, op, taking } from "./define.js";
import { checkLength } from "./text-length.js";

/** A range type with its multirange and the type of its bounds. */
export interface RangeKind {
  /** How they are called, and so their constructors. */
  readonly name: string;
  readonly listName: string;
  readonly range: RangeKey;
  readonly list: MultirangeKey;
  readonly rangeType: SqlType;
  readonly listType: SqlType;
  readonly bound: SqlType;
}

const KINDS: readonly RangeKind[] = (Object.keys(MULTIRANGES) as MultirangeName[]).map((list) => {
  const range = rangeOfMultirange(list) as RangeName;
  const types = { rangeType: RANGES[range], listType: MULTIRANGES[list], bound: typeOf(subtypeOf(range)) };
  return { name: range, listName: list, range, list, ...types };
});

/** The built-in range type that the type is, or is a multirange of; null for any other. */
export const builtInRange = (type: SqlType): Pick<RangeKind, "rangeType" | "listType" | "bound"> | null =>
  KINDS.find(({ rangeType, listType }) => type === rangeType || type === listType) ?? null;

const FLAGS = /^[[(][\])]$/;

function constructed(name: RangeKey, lower: Bound | null, upper: Bound | null, flags: string | null): string {
  if (flags === null) throw sqlError("22000", "range constructor flags argument must not be null");
  if (!FLAGS.test(flags)) {
    throw sqlError("42601", "invalid range bound flags", { hint: 'Valid values are "[]", "[)", "(]", and "()".' });
  }
  return rangeText(name, makeRange(name, lower, upper, flags[0] === "[", flags[1] === "]"));
}

function listed(list: MultirangeKey, ranges: SqlArray): string {
  if (ranges.dimensions.length > 1)
    throw sqlError("21000", "multiranges cannot be constructed from multidimensional arrays");
  if (ranges.elements.includes(null)) throw sqlError("22004", "multirange values cannot contain null members");
  const range = rangeOfMultirange(list);
  return multirangeText(list, mergedRanges(ranges.elements.map((value) => rangeOf(range, value as string))));
}

const NOT_STRICT = { strict: false } as const;

/** Functions that are called as the types are. */
export function rangeConstructors(kind: RangeKind): ScalarFunction[] {
  const { name, listName, range, list, rangeType, listType, bound } = kind;
  return [
    fn(name, [bound, bound], rangeType, (lower, upper) => constructed(range, lower, upper, "[)"), NOT_STRICT),
    fn(
      name,
      [bound, bound, TEXT],
      rangeType,
      (lower, upper, flags) => constructed(range, lower, upper, flags),
      NOT_STRICT,
    ),
    fn(listName, [], listType, () => "{}"),
    fn(listName, [rangeType], listType, (value: string) => multirangeText(list, mergedRanges([rangeOf(range, value)]))),
    fn(listName, [arrayOf(rangeType)], listType, (values: SqlArray) => listed(list, values)),
    fn(listName, [rangeType, rangeType], listType, (...values: string[]) => listOf(list, values), {
      variadic: rangeType,
    }),
  ];
}

function listOf(list: MultirangeKey, values: readonly string[]): string {
  const range = rangeOfMultirange(list);
  return multirangeText(list, mergedRanges(values.map((value) => rangeOf(range, value))));
}

/** What looks at a range, or at a multirange's first and last range, and what puts them together. */
export function rangeFunctions({ range, list, rangeType, listType, bound }: RangeKind): ScalarFunction[] {
  const of = (name: string, returns: SqlType, look: (whole: Range) => Value) => [
    fn(name, [rangeType], returns, (value: string) => look(rangeOf(range, value))),
    fn(name, [listType], returns, (value: string) => look(algebra.spanOf(rangesOf(list, value)))),
  ];
  return [
    fn("multirange", [rangeType], listType, (value: string) =>
      multirangeText(list, mergedRanges([rangeOf(range, value)])),
    ),
    ...of("lower", bound, ({ lower }) => lower),
    ...of("upper", bound, ({ upper }) => upper),
    ...of("isempty", BOOL, ({ isEmpty }) => isEmpty),
    ...of("lower_inc", BOOL, ({ lowerInc }) => lowerInc),
    ...of("upper_inc", BOOL, ({ upperInc }) => upperInc),
    ...of("lower_inf", BOOL, ({ lower, isEmpty }) => lower === null && !isEmpty),
    ...of("upper_inf", BOOL, ({ upper, isEmpty }) => upper === null && !isEmpty),
    fn("range_merge", [rangeType, rangeType], rangeType, (a: string, b: string) =>
      rangeText(range, algebra.span(rangeOf(range, a), rangeOf(range, b))),
    ),
    fn("range_merge", [listType], rangeType, (value: string) =>
      rangeText(range, algebra.spanOf(rangesOf(list, value))),
    ),
  ];
}

type Test<A, B> = (a: A, b: B) => boolean;
type Ranges = readonly Range[];

/** For the tests that look at the two ends of a multirange alone. */
const spans =
  (test: Test<Range, Range>): Test<Ranges, Ranges> =>
  (a, b) =>
    test(algebra.spanOf(a), algebra.spanOf(b));

/** A test between ranges, its form for a multirange and a range, and the one for two multiranges. */
function tests(
  { range, list, rangeType, listType }: RangeKind,
  symbol: string,
  both: Test<Range, Range>,
  lists: Test<Ranges, Ranges>,
): ScalarFunction[] {
  const one = (value: string) => rangeOf(range, value);
  const many = (value: string) => rangesOf(list, value);
  const asList = (value: string): Ranges => {
    const single = one(value);
    return single.isEmpty ? [] : [single];
  };
  return [
    op(symbol, [rangeType, rangeType], BOOL, (a: string, b: string) => both(one(a), one(b))),
    op(symbol, [rangeType, listType], BOOL, (a: string, b: string) => lists(asList(a), many(b))),
    op(symbol, [listType, rangeType], BOOL, (a: string, b: string) => lists(many(a), asList(b))),
    op(symbol, [listType, listType], BOOL, (a: string, b: string) => lists(many(a), many(b))),
  ];
}

const flipped =
  <A, B>(test: Test<A, B>): Test<B, A> =>
  (a, b) =>
    test(b, a);

function testOperators(kind: RangeKind): ScalarFunction[] {
  const { range, list, rangeType, listType, bound } = kind;
  const containsBound = (value: string, inner: Bound) => algebra.containsValue(rangeOf(range, value), inner);
  const listContainsBound = (value: string, inner: Bound) => algebra.listContainsValue(rangesOf(list, value), inner);
  return [
    ...tests(kind, "@>", algebra.contains, algebra.listContainsAll),
    ...tests(kind, "<@", flipped(algebra.contains), flipped(algebra.listContainsAll)),
    ...tests(kind, "&&", algebra.overlaps, algebra.listsOverlap),
    ...tests(kind, "<<", algebra.isBefore, spans(algebra.isBefore)),
    ...tests(kind, ">>", flipped(algebra.isBefore), spans(flipped(algebra.isBefore))),
    ...tests(kind, "&<", algebra.endsWithin, spans(algebra.endsWithin)),
    ...tests(kind, "&>", algebra.beginsWithin, spans(algebra.beginsWithin)),
    ...tests(kind, "-|-", algebra.isAdjacent, spans(algebra.isAdjacent)),
    op("@>", [rangeType, bound], BOOL, containsBound),
    op("<@", [bound, rangeType], BOOL, flipped(containsBound)),
    op("@>", [listType, bound], BOOL, listContainsBound),
    op("<@", [bound, listType], BOOL, flipped(listContainsBound)),
  ];
}

function setOperators({ range, list, rangeType, listType }: RangeKind): ScalarFunction[] {
  const ofRanges = (symbol: string, combine: (a: Range, b: Range) => Range) =>
    op(symbol, [rangeType, rangeType], rangeType, (a: string, b: string) =>
      rangeText(range, combine(rangeOf(range, a), rangeOf(range, b))),
    );
  const ofLists = (symbol: string, combine: (a: Ranges, b: Ranges) => Ranges) =>
    op(symbol, [listType, listType], listType, (a: string, b: string) =>
      multirangeText(list, combine(rangesOf(list, a), rangesOf(list, b))),
    );
  return [
    ofRanges("+", algebra.union),
    ofRanges("*", algebra.intersection),
    ofRanges("-", algebra.difference),
    ofLists("+", algebra.listUnion),
    ofLists("*", algebra.listIntersection),
    ofLists("-", algebra.listDifference),
  ];
}

/** Nanoseconds for each character of a value. */
export const RANGE_NANOS = 60;

export const rangeOperators = (kind: RangeKind): ScalarFunction[] => [...testOperators(kind), ...setOperators(kind)];

export const RANGE_FUNCTIONS: readonly ScalarFunction[] = taking(
  RANGE_NANOS,
  KINDS.flatMap((kind) => [...rangeConstructors(kind), ...rangeFunctions(kind)]),
);

export const RANGE_OPERATORS: readonly ScalarFunction[] = taking(RANGE_NANOS, KINDS.flatMap(rangeOperators));

/** So many ranges are put together without a pause. */
const AT_ONCE_MAX = 2048;
const STEP_RANGES = 1024;

/** Throws 54000. */
async function inTurns(list: MultirangeKey, ranges: Ranges, turns: Turns): Promise<string> {
  const range = rangeOfMultirange(list);
  const merged = await mergedInTurns(ranges, turns);
  const pieces: string[] = [];
  let length = 2;
  for (let at = 0; at < merged.length; at += STEP_RANGES) {
    const piece = merged
      .slice(at, at + STEP_RANGES)
      .map((each) => rangeText(range, each))
      .join();
    length += piece.length + 1;
    checkLength(length);
    pieces.push(piece);
    if (turns.shouldYield()) await turns.yieldTurn();
  }
  return `{${pieces.join()}}`;
}

/** Multiranges of many ranges are made at the end. */
function rangeAgg(
  { list, listType }: RangeKind,
  input: SqlType,
  rangesIn: (value: string) => Ranges,
): AggregateFunction {
  const steps = {
    init: () => null,
    step: (state: Range[] | null, value: string) => {
      const ranges = state ?? [];
      for (const range of rangesIn(value)) ranges.push(range);
      return ranges;
    },
    result: (state: Range[] | null) => (state === null ? null : multirangeText(list, mergedRanges(state))),
    resultInTurns: (state: Range[] | null, turns: Turns) =>
      state === null || state.length < AT_ONCE_MAX ? null : inTurns(list, state, turns),
  };
  return Object.freeze({ ...aggregate<Range[] | null>("range_agg", [input], listType, steps), keepsInput: true });
}

export function rangeAggregates(kind: RangeKind): AggregateFunction[] {
  const { range, list, rangeType, listType } = kind;
  const folded = (type: SqlType, combine: (a: string, b: string) => string) =>
    aggregate("range_intersect_agg", [type], type, {
      init: () => null,
      step: (state: string | null, value: string) => (state === null ? value : combine(state, value)),
      result: (state: string | null) => state,
    });
  return [
    rangeAgg(kind, rangeType, (value) => [rangeOf(range, value)]),
    rangeAgg(kind, listType, (value) => rangesOf(list, value)),
    folded(rangeType, (a, b) => rangeText(range, algebra.intersection(rangeOf(range, a), rangeOf(range, b)))),
    folded(listType, (a, b) => multirangeText(list, algebra.listIntersection(rangesOf(list, a), rangesOf(list, b)))),
  ];
}

export const RANGE_AGGREGATES: readonly AggregateFunction[] = KINDS.flatMap(rangeAggregates);

/** The ranges of a multirange. */
export const rangeTable = ({ range, list, rangeType, listType }: RangeKind): TableFunction =>
  tableFn("unnest", [listType], rangeType, (value: string) =>
    valueRows(rangesOf(list, value).map((each) => rangeText(range, each))),
  );

export const RANGE_TABLES: readonly TableFunction[] = KINDS.map(rangeTable);
