/**
 * No call of a function holds its thread for long, however large its arguments are: every function, operator, aggregate and function
 * that returns rows of the tables, with large values in each place and in all places. A new one comes by itself; a new type needs values
 * (large-values.ts).
 *
 *   TURN_UNITS=400000 node dist/test/query/function-turns.test.js [name]     with larger values; prints the ten longest turns, too
 */
import t, { type Test } from "tap";
import type { SqlType, Value } from "../../src/protocol/values.js";
import type { AggregateFunction, ScalarFunction } from "../../src/query/expr/expr.js";
import type { TableFunction } from "../../src/query/expr/table-function.js";
import { tries } from "../lengths.js";
import { aggregateFunctions, scalarFunctions, tableFunctions } from "./all-functions.js";
import { largeValues, smallValues } from "./large-values.js";
import { aggregateTurns, rowTurns, type TurnLengths, turnLengths } from "./turn-lengths.js";

/** Milliseconds of a turn, of CPU time. */
const TURN_MAX = 50;
/** Collections of garbage lengthen a turn; the shortest of some tries counts. */
const TRIES = 24;
/** Characters, bytes or elements of a large value. An aggregate's step takes its value at once, so it gets fewer. */
const UNITS = Number(process.env.TURN_UNITS ?? 64_000);
const AGGREGATED_UNITS = UNITS / 2;

const [, , only] = process.argv;
const longest: { readonly call: string; readonly turns: TurnLengths }[] = [];

interface Arguments {
  readonly args: readonly Value[];
  readonly isLarge: boolean;
}

/**
 * Arguments for the types: one large among small ones, all large, all small (numbers may ask for much). In a whole run of the tests
 * a large one comes among the first small ones only.
 */
function* argumentLists(types: readonly SqlType[], units: number): Iterable<Arguments> {
  const small = types.map(smallValues);
  const variants = Math.max(1, ...small.map((values) => values.length));
  const others = (k: number): Value[] => small.map((values) => values[Math.min(k, values.length - 1)]!);
  for (let k = 0; k < variants; k++) yield { args: others(k), isLarge: false };
  for (const [place, type] of types.entries()) {
    for (const large of largeValues(type, units)) {
      for (let k = 0; k < (types.length > 1 ? Math.min(variants, 2, tries(1)) : 1); k++) {
        yield { args: others(k).with(place, large), isLarge: true };
      }
    }
  }
  if (types.length < 2) return;
  const all = types.map((type) => largeValues(type, Math.floor(units / types.length)));
  for (let k = 0; k < Math.max(...all.map((values) => values.length)); k++) {
    yield { args: all.map((values, i) => values[Math.min(k, values.length - 1)] ?? small[i]![0]!), isLarge: true };
  }
}

function described(name: string, types: readonly SqlType[], args: readonly Value[]): string {
  const texts = types.map(({ name: type, element }, i) => {
    const value = args[i]!;
    const size = typeof value === "string" && value.length > 20 ? ` ${value.slice(0, 5)}…` : "";
    return `${element === null ? type : `${element.name}[]`}${size}`;
  });
  return `${name}(${texts.join(", ")})`;
}

async function shortest(measure: () => Promise<TurnLengths>): Promise<TurnLengths> {
  let best = await measure();
  for (let i = 1; i < TRIES && best.longest > TURN_MAX; i++) {
    const turns = await measure();
    if (turns.longest < best.longest) best = turns;
  }
  return best;
}

async function check(
  t: Test,
  fn: ScalarFunction | AggregateFunction | TableFunction,
  units: number,
  measure: (args: Arguments) => Promise<TurnLengths>,
): Promise<void> {
  const { name, variadic } = fn;
  const types = [...fn.args, ...(variadic === undefined ? [] : [variadic, variadic])];
  for (const given of argumentLists(types, units)) {
    const turns = await shortest(() => measure(given));
    const call = described(name, types, given.args);
    longest.push({ call, turns });
    if (turns.longest > TURN_MAX) t.fail(`${call}: a turn of ${turns.longest.toFixed(0)} ms, ${turns.way}`);
  }
}

/** Values of deferred ones are waited for; lazy ones are compiled into conditions. */
const isCalled = ({ deferred, lazy }: ScalarFunction): boolean => deferred === undefined && lazy !== true;

t.test("functions and operators", async (t) => {
  const called = scalarFunctions().filter((fn) => isCalled(fn) && (only === undefined || fn.name === only));
  for (const fn of called) await check(t, fn, UNITS, ({ args }) => turnLengths(fn, args));
  t.ok(only !== undefined || called.length > 1000, `${called.length} overloads`);
});

t.test("aggregates", async (t) => {
  const called = aggregateFunctions().filter(({ name }) => only === undefined || name === only);
  for (const fn of called)
    await check(t, fn, AGGREGATED_UNITS, ({ args, isLarge }) => aggregateTurns(fn, args, isLarge ? 4 : 100_000));
  t.ok(only !== undefined || called.length > 50, `${called.length} overloads`);
});

t.test("functions that return rows", async (t) => {
  const called = tableFunctions().filter(({ name }) => only === undefined || name === only);
  for (const fn of called) await check(t, fn, UNITS, ({ args }) => rowTurns(fn, args));
  t.ok(only !== undefined || called.length > 40, `${called.length} overloads`);
});

t.teardown(() => {
  longest.sort((a, b) => b.turns.longest - a.turns.longest);
  for (const { call, turns } of longest.slice(0, only === undefined ? 10 : 40)) {
    t.comment(`${turns.longest.toFixed(1)} ms ${turns.way}: ${call}${turns.error === null ? "" : ` (${turns.error})`}`);
  }
});
