/** Calls of functions with large arguments in each place and in all places, and what their longest turns were. */
import type { Test } from "tap";
import type { AggregateFunction, ScalarFunction, WindowFunction } from "../../src/query/expr/expr.js";
import type { TableFunction } from "../../src/query/expr/table-function.js";
import type { SqlType, Value } from "../../src/values/values.js";
import { tries } from "../lengths.js";
import { TURN_MAX_MS } from "../turn-bound.js";
import { largeValues, smallValues } from "./large-values.js";
import { byWallClock, type TurnLengths } from "./turn-lengths.js";

/** Collections of garbage lengthen a turn; the shortest of some tries counts. */
const TRIES = 24;
/** Characters, bytes or elements of a large value. An aggregate's step takes its value at once, so it gets fewer. */
export const UNITS = Number(process.env.TURN_UNITS ?? 16_000);
export const AGGREGATED_UNITS = UNITS / 2;

/** The name of one function; undefined: all. */
export const [, , only] = process.argv;
const longest: { readonly call: string; readonly turns: TurnLengths }[] = [];

export interface Arguments {
  readonly args: readonly Value[];
  readonly isLarge: boolean;
}

/**
 * Arguments for the types: one large among small ones, all large, all small (numbers may ask for much). In a whole run
 * of the tests a large one comes among the first small ones only.
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

export async function shortest(measure: () => Promise<TurnLengths>): Promise<TurnLengths> {
  let best = await byWallClock(measure);
  for (let i = 0; i < TRIES && best.longest > TURN_MAX_MS; i++) {
    const turns = await measure();
    if (turns.longest < best.longest) best = turns;
  }
  return best;
}

/**
 * Fails for each wanted list of arguments, the first of which are small, with which the call has a turn that is too
 * long.
 */
export async function checkTurns(
  t: Test,
  fn: ScalarFunction | AggregateFunction | TableFunction | WindowFunction,
  units: number,
  measure: (args: Arguments) => Promise<TurnLengths>,
  wanted: (args: Arguments, place: number) => boolean = () => true,
): Promise<void> {
  const { name, variadic } = fn;
  const types = [...fn.args, ...(variadic === undefined ? [] : [variadic, variadic])];
  let place = 0;
  for (const given of argumentLists(types, units)) {
    if (!wanted(given, place++)) continue;
    await checkCall(t, described(name, types, given.args), () => measure(given));
  }
}

export async function checkCall(t: Test, call: string, measure: () => Promise<TurnLengths>): Promise<void> {
  const turns = await shortest(measure);
  longest.push({ call, turns });
  if (turns.longest > TURN_MAX_MS) t.fail(`${call}: a turn of ${turns.longest.toFixed(0)} ms, ${turns.way}`);
}

/** The ten longest turns as comments. */
export function tellLongest(t: Test): void {
  longest.sort((a, b) => b.turns.longest - a.turns.longest);
  for (const { call, turns } of longest.slice(0, only === undefined ? 10 : 40)) {
    t.comment(`${turns.longest.toFixed(1)} ms ${turns.way}: ${call}${turns.error === null ? "" : ` (${turns.error})`}`);
  }
}
