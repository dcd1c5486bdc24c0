/**
 * Ordered-set and hypothetical-set aggregates (chapter 9.21, WITHIN GROUP). The executor steps them with the sorted
 * values of a group; the arguments before WITHIN GROUP come with the result. Formulas: orderedsetaggs.c of PostgreSQL.
 */
import { sqlError } from "../../../protocol/errors.js";
import { addIntervals, multiplyInterval, negateInterval } from "../../../values/interval.js";
import {
  arrayOf,
  FLOAT8,
  INT8,
  INTERVAL,
  type Interval,
  type SqlArray,
  type SqlType,
  TEXT,
  type Value,
} from "../../../values/values.js";
import { comparatorOf, sortComparator } from "../compare.js";
import type { AggregateFunction } from "../expr.js";
import { type AggregateFamily, family, matchPatterns } from "./define.js";

type Result = (values: readonly Value[], direct: readonly Value[]) => Value;

/** The last of `args` is the sorted one. NULLs among the sorted values are passed over. */
function orderedSet(name: string, args: readonly SqlType[], returns: SqlType, result: Result): AggregateFunction {
  return Object.freeze({
    name,
    args,
    returns,
    strict: true,
    directArgs: args.length - 1,
    init: (): Value[] => [],
    step(values: Value[], value: Value) {
      values.push(value);
      return values;
    },
    result: (values: Value[], direct: readonly Value[] = []) => (values.length === 0 ? null : result(values, direct)),
  });
}

function checkedFraction(fraction: number): number {
  if (fraction >= 0 && fraction <= 1) return fraction;
  throw sqlError("22003", `percentile value ${fraction} is not between 0 and 1`);
}

type Percentile = (values: readonly Value[], fraction: number) => Value;

/** One percentile, or an array of them of the same shape. */
function ofFraction(percentile: Percentile): Result {
  return (values, [fraction]) => (fraction === null ? null : percentile(values, checkedFraction(fraction as number)));
}

function ofFractions(percentile: Percentile): Result {
  return (values, [given]) => {
    if (given === null) return null;
    const { elements, ...shape } = given as SqlArray;
    const found = elements.map((fraction) =>
      fraction === null ? null : percentile(values, checkedFraction(fraction as number)),
    );
    return { ...shape, elements: found };
  };
}

/** Between the two values around the fraction, by `between(low, high, share)`. */
function continuous(between: (low: Value, high: Value, share: number) => Value): Percentile {
  return (values, fraction) => {
    const at = fraction * (values.length - 1);
    const low = Math.floor(at);
    const high = Math.ceil(at);
    return low === high ? values[low]! : between(values[low]!, values[high]!, at - low);
  };
}

const betweenFloats = continuous((low, high, share) => (low as number) + share * ((high as number) - (low as number)));

const betweenIntervals = continuous((low, high, share) => {
  const span = addIntervals(high as Interval, negateInterval(low as Interval));
  return addIntervals(low as Interval, multiplyInterval(span, share));
});

/** The first value whose position among all reaches the fraction. */
const discrete: Percentile = (values, fraction) => values[Math.max(Math.ceil(fraction * values.length) - 1, 0)]!;

const FRACTIONS = arrayOf(FLOAT8);

export const ORDERED_SETS: readonly AggregateFunction[] = [
  orderedSet("percentile_cont", [FLOAT8, FLOAT8], FLOAT8, ofFraction(betweenFloats)),
  orderedSet("percentile_cont", [FLOAT8, INTERVAL], INTERVAL, ofFraction(betweenIntervals)),
  orderedSet("percentile_cont", [FRACTIONS, FLOAT8], FRACTIONS, ofFractions(betweenFloats)),
  orderedSet("percentile_cont", [FRACTIONS, INTERVAL], arrayOf(INTERVAL), ofFractions(betweenIntervals)),
];

const known = (type: SqlType) => (type.name === "unknown" ? TEXT : type);

interface ModeState {
  best: Value;
  bestCount: number;
  /** The value that came last, and how often it has come. */
  last: Value;
  count: number;
}

/** The most frequent value; of several the first in the order. It is found as the sorted values come. */
function mode(type: SqlType): AggregateFunction {
  const compare = comparatorOf(type);
  return Object.freeze({
    ...{ name: "mode", args: [type], returns: type, strict: true, directArgs: 0 },
    init: (): ModeState => ({ best: null, bestCount: 0, last: null, count: 0 }),
    step(state: ModeState, value: Value) {
      state.count = state.count > 0 && compare(value, state.last) === 0 ? state.count + 1 : 1;
      state.last = value;
      if (state.count > state.bestCount) {
        state.bestCount = state.count;
        state.best = value;
      }
      return state;
    },
    result: ({ best }: ModeState) => best,
  });
}

export const ORDERED_SET_FAMILIES: readonly AggregateFamily[] = [
  family("percentile_disc", "(double precision) WITHIN GROUP (ORDER BY anyelement) → anyelement", (types) => {
    if (types.length !== 2) return null;
    const type = known(types[1]!);
    if (types[0]!.element === null) return orderedSet("percentile_disc", [FLOAT8, type], type, ofFraction(discrete));
    if (type.element !== null) return null;
    return orderedSet("percentile_disc", [FRACTIONS, type], arrayOf(type), ofFractions(discrete));
  }),
  family("mode", "() WITHIN GROUP (ORDER BY anyelement) → anyelement", (types) => {
    const match = matchPatterns(["any"], types);
    return match === null ? null : mode(match.args[0]!);
  }),
];

// ---- hypothetical sets ----

interface Ranks {
  /** Rows of the group that come before the hypothetical one, and how many different ones. */
  readonly before: number;
  readonly distinctBefore: number;
  /** Rows that are equal to it. */
  readonly peers: number;
  readonly rows: number;
}

const RANKS: Readonly<Record<string, readonly [SqlType, (ranks: Ranks) => Value]>> = {
  rank: [INT8, ({ before }) => before + 1],
  dense_rank: [INT8, ({ distinctBefore }) => distinctBefore + 1],
  percent_rank: [FLOAT8, ({ before, rows }) => (rows === 0 ? 0 : before / rows)],
  cume_dist: [FLOAT8, ({ before, peers, rows }) => (before + peers + 1) / (rows + 1)],
};

export function isHypotheticalSetName(name: string): boolean {
  return Object.hasOwn(RANKS, name);
}

/** How one column of WITHIN GROUP sorts. */
export interface HypotheticalKey {
  readonly type: SqlType;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

const made = new Map<string, AggregateFunction>();
const MADE_MAX = 1000;

/** The place that a row of direct arguments would have among the group's rows, which come sorted by the keys. */
export function hypotheticalSet(name: string, keys: readonly HypotheticalKey[]): AggregateFunction {
  const signature = keys.map(({ type, descending, nullsFirst }) => [typeKey(type), descending, nullsFirst].join(" "));
  const id = [name, ...signature].join("/");
  let fn = made.get(id);
  if (fn === undefined) {
    if (made.size >= MADE_MAX) made.clear();
    fn = newHypotheticalSet(name, keys);
    made.set(id, fn);
  }
  return fn;
}

const typeKey = (type: SqlType): string => (type.element === null ? type.name : `${typeKey(type.element)}[]`);

function newHypotheticalSet(name: string, keys: readonly HypotheticalKey[]): AggregateFunction {
  const [returns, rankOf] = RANKS[name]!;
  const types = keys.map((key) => key.type);
  const comparators = keys.map((key) => sortComparator(key.type, key.descending, key.nullsFirst));
  const compare = (a: readonly Value[], b: readonly Value[]): number => {
    for (const [i, comparator] of comparators.entries()) {
      const order = comparator(a[i]!, b[i]!);
      if (order !== 0) return order;
    }
    return 0;
  };
  return Object.freeze({
    name,
    args: [...types, ...types],
    returns,
    strict: false,
    directArgs: types.length,
    init: (): Value[][] => [],
    step(rows: Value[][], ...row: Value[]) {
      rows.push(row);
      return rows;
    },
    result(rows: Value[][], direct: readonly Value[] = []) {
      const before = rows.filter((row) => compare(row, direct) < 0);
      const distinctBefore = before.filter((row, i) => i === 0 || compare(row, before[i - 1]!) !== 0).length;
      const peers = rows.filter((row) => compare(row, direct) === 0).length;
      return rankOf({ before: before.length, distinctBefore, peers, rows: rows.length });
    },
  });
}
