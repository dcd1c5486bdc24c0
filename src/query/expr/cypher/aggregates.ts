/**
 * Cypher's aggregates (openCypher 9, "Aggregating functions"). Nulls are passed over; DISTINCT is the call's matter.
 * count() is SQL's.
 */
import type { Turns } from "../../../protocol/turns.js";
import { cypherError } from "../../../values/cypher-error.js";
import { type SqlType, VARIANT } from "../../../values/values.js";
import { floatValue, type Variant } from "../../../values/variant.js";
import { isTemporal } from "../../../values/variant-format.js";
import type { AggregateFunction } from "../expr.js";
import { AGGREGATE_FAMILY_TABLE, AGGREGATE_TABLE } from "../functions/aggregates.js";
import { ListMaker } from "../value-parts.js";
import { compareVariants, numberOf } from "../variant-order.js";
import { add, divide, isNumber } from "./arithmetic.js";
import { described, wrongArgument } from "./define.js";

interface Steps<S> {
  init(): S;
  step(state: S, ...args: never[]): S;
  result(state: S, direct?: readonly Variant[]): Variant;
  resultInTurns?(state: S, turns: Turns): Promise<Variant> | null;
}

type Rest = Partial<Pick<AggregateFunction, "keepsInput" | "arrivalOrder" | "extreme" | "directArgs">>;

function aggregate<S>(name: string, args: readonly SqlType[], steps: Steps<S>, rest: Rest = {}): AggregateFunction {
  return Object.freeze({
    name,
    args,
    returns: VARIANT,
    strict: true,
    ...(steps as unknown as Steps<unknown>),
    ...rest,
  });
}

/** The sum of numbers, or of durations; null before the first. Small integers are added without a call. */
function addTo(name: string, sum: Variant, value: Variant): Variant {
  if (typeof value === "number" && typeof sum === "number") {
    const total = sum + value;
    if (Number.isSafeInteger(total) && Number.isInteger(sum) && Number.isInteger(value)) return total;
  } else if (!isNumber(value) && !isTemporal(value)) throw wrongArgument(name, "numbers or durations", value);
  return sum === null ? value : add(sum, value);
}

const SUM = aggregate<Variant>("sum", [VARIANT], {
  init: () => null,
  step: (sum: Variant, value: Variant) => addTo("sum()", sum, value),
  result: (sum) => sum ?? 0,
});

interface Average {
  sum: Variant;
  count: number;
}

const AVG = aggregate<Average>("avg", [VARIANT], {
  init: () => ({ sum: null, count: 0 }),
  step: (state: Average, value: Variant) => {
    // As floats, whose sum does not overflow.
    state.sum = addTo("avg()", state.sum, isNumber(value) ? floatValue(Number(numberOf(value))) : value);
    state.count++;
    return state;
  },
  result: ({ sum, count }) => (sum === null ? null : divide(sum, count)),
});

function extreme(name: string, direction: 1 | -1): AggregateFunction {
  const better = (a: Variant, b: Variant) => direction * compareVariants(a, b);
  const steps: Steps<Variant> = {
    init: () => null,
    step: (state: Variant, value: Variant) => (state === null || better(value, state) > 0 ? value : state),
    result: (state) => state,
  };
  return aggregate(name, [VARIANT], steps);
}

const COLLECT = aggregate<ListMaker>(
  "collect",
  [VARIANT],
  {
    init: () => new ListMaker(),
    step: (made: ListMaker, value: Variant) => {
      made.add(value);
      return made;
    },
    result: ({ list }) => list as readonly Variant[],
    resultInTurns: (made, turns) => (made.isLong ? (made.listInTurns(turns) as Promise<readonly Variant[]>) : null),
  },
  { keepsInput: true, arrivalOrder: true },
);

/** By Welford's method (Technometrics 4(3), 1962). */
interface Spread {
  count: number;
  mean: number;
  squares: number;
}

function deviation(name: string, result: (spread: Spread) => number): AggregateFunction {
  return aggregate<Spread>(name, [VARIANT], {
    init: () => ({ count: 0, mean: 0, squares: 0 }),
    step: (state: Spread, value: Variant) => {
      if (!isNumber(value)) throw wrongArgument(`${name}()`, "numbers", value);
      const x = Number(numberOf(value));
      state.count++;
      const difference = x - state.mean;
      state.mean += difference / state.count;
      state.squares += difference * (x - state.mean);
      return state;
    },
    result: (state) => floatValue(result(state)),
  });
}

type Percentile = (values: readonly Variant[], fraction: number) => Variant;

/** The values come in order; the percentile is an argument that has one value per group. */
function percentile(name: string, find: Percentile): AggregateFunction {
  const steps: Steps<Variant[]> = {
    init: () => [],
    step: (values: Variant[], value: Variant) => {
      if (!isNumber(value)) throw wrongArgument(`${name}()`, "numbers", value);
      values.push(value);
      return values;
    },
    result: (values, [given = null] = []) => {
      if (given === null) return null;
      const fraction = checkedFraction(name, given);
      return values.length === 0 ? null : find(values, fraction);
    },
  };
  return aggregate(name, [VARIANT], steps, { keepsInput: true });
}

function checkedFraction(name: string, given: Variant): number {
  if (!isNumber(given)) {
    const message = `the percentile of ${name}() must be a number, not ${described(given)}`;
    throw cypherError("TypeError", "InvalidArgumentType", message);
  }
  const fraction = Number(numberOf(given));
  if (fraction >= 0 && fraction <= 1) return fraction;
  const message = `the percentile of ${name}() must be between 0 and 1, not ${fraction}`;
  throw cypherError("ArgumentError", "NumberOutOfRange", message);
}

/** Linear between the two values around it. */
function continuous(values: readonly Variant[], fraction: number): Variant {
  const place = fraction * (values.length - 1);
  const low = Number(numberOf(values[Math.floor(place)]!));
  const high = Number(numberOf(values[Math.ceil(place)]!));
  return floatValue(low + (place - Math.floor(place)) * (high - low));
}

/** The smallest value that at least the given fraction of the values does not exceed. */
function discrete(values: readonly Variant[], fraction: number): Variant {
  return values[Math.max(0, Math.ceil(fraction * values.length) - 1)]!;
}

/** The first value that comes, null too: of columns that a group's key decides. */
export const FIRST_VALUE: AggregateFunction = Object.freeze({
  name: "first_value",
  args: [VARIANT],
  returns: VARIANT,
  strict: false,
  init: () => undefined,
  step: (state: Variant | undefined, value: Variant) => (state === undefined ? value : state),
  result: (state: Variant | undefined) => state ?? null,
});

/** `count(*)`. */
export const COUNT_ALL: AggregateFunction = AGGREGATE_TABLE.find(
  ({ name, args }) => name === "count" && args.length === 0,
)!;
const COUNT: AggregateFunction = AGGREGATE_FAMILY_TABLE.find(({ name }) => name === "count")!.instantiate([VARIANT])!;

export interface CypherAggregate {
  readonly fn: AggregateFunction;
  /** How many of the last arguments have one value per group. */
  readonly directArgs: number;
}

const plain = (fn: AggregateFunction): CypherAggregate => ({ fn, directArgs: 0 });

export const AGGREGATES: readonly CypherAggregate[] = [
  plain(COUNT),
  plain(SUM),
  plain(AVG),
  plain(extreme("min", -1)),
  plain(extreme("max", 1)),
  plain(COLLECT),
  plain(deviation("stDev", ({ count, squares }) => (count < 2 ? 0 : Math.sqrt(squares / (count - 1))))),
  plain(deviation("stDevP", ({ count, squares }) => (count === 0 ? 0 : Math.sqrt(squares / count)))),
  { fn: percentile("percentileCont", continuous), directArgs: 1 },
  { fn: percentile("percentileDisc", discrete), directArgs: 1 },
];
