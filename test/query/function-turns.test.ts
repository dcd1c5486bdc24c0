/**
 * No call of a function holds its thread for long, however large its arguments are: every function, operator, aggregate
 * and function that returns rows of the tables, with large values in each place and in all places. A new one comes by
 * itself; a new type needs values (large-values.ts).
 *
 *   TURN_UNITS=400000 node dist/test/query/function-turns.test.js [name]
 *
 * uses larger values and prints the ten longest turns, too; the name "many" takes lists of many values alone.
 */
import t from "tap";
import { AGGREGATES } from "../../src/query/expr/cypher/aggregates.js";
import type { AggregateFunction, ScalarFunction } from "../../src/query/expr/expr.js";
import { AGGREGATE_FAMILY_TABLE } from "../../src/query/expr/functions/aggregates.js";
import { quantifiedOperator } from "../../src/sql/bind/array-functions.js";
import { sqlArray } from "../../src/values/text-format-array.js";
import { arrayOf, INT4, type SqlType, TEXT, type Value } from "../../src/values/values.js";
import { sized } from "../lengths.js";
import { TURN_MAX_MS } from "../turn-bound.js";
import { aggregateFunctions, scalarFunctions, tableFunctions } from "./all-functions.js";
import { AGGREGATED_UNITS, checkTurns, only, shortest, tellLongest, UNITS } from "./turn-checks.js";
import { aggregateTurns, rowTurns, turnLengths } from "./turn-lengths.js";

function aggregateOf(name: string, type: SqlType): AggregateFunction {
  return AGGREGATE_FAMILY_TABLE.find((family) => family.name === name)!.instantiate([type])!;
}

/** Values of deferred ones are waited for; lazy ones are compiled into conditions. */
const isCalled = ({ deferred, lazy }: ScalarFunction): boolean => deferred === undefined && lazy !== true;

t.test("functions and operators", async (t) => {
  const called = scalarFunctions().filter((fn) => isCalled(fn) && (only === undefined || fn.name === only));
  for (const fn of called) await checkTurns(t, fn, UNITS, ({ args }) => turnLengths(fn, args));
  t.ok(only !== undefined || called.length > 1000, `${called.length} overloads`);
});

t.test("aggregates", async (t) => {
  const called = aggregateFunctions().filter(({ name }) => only === undefined || name === only);
  for (const fn of called)
    await checkTurns(t, fn, AGGREGATED_UNITS, ({ args, isLarge }) =>
      aggregateTurns(fn, args, isLarge ? 4 : sized(20_000, 100_000)),
    );
  t.ok(only !== undefined || called.length > 50, `${called.length} overloads`);
});

t.test("functions that return rows", async (t) => {
  const called = tableFunctions().filter(({ name }) => only === undefined || name === only);
  for (const fn of called) await checkTurns(t, fn, UNITS, ({ args }) => rowTurns(fn, args));
  t.ok(only !== undefined || called.length > 40, `${called.length} overloads`);
});

/** What one request may bring in a body, roughly, or a statement make. */
const MANY = 300_000;

t.test("results of many values", { skip: only !== undefined && only !== "many" }, async (t) => {
  const million = sqlArray(Array.from({ length: 1_000_000 }, (_, i) => i));
  const results: readonly [string, AggregateFunction, Value, number][] = [
    ["array_agg of arrays", aggregateOf("array_agg", arrayOf(INT4)), million, 3],
    ["array_agg", aggregateOf("array_agg", INT4), 1, 1_000_000],
    ["collect", AGGREGATES.find(({ fn }) => fn.name === "collect")!.fn, 1, 1_000_000],
  ];
  for (const [name, fn, value, count] of results) {
    const turns = await shortest(() => aggregateTurns(fn, [value], count));
    t.equal(turns.way, "in turns", name);
    t.ok(turns.longest <= TURN_MAX_MS, `${name}: ${turns.longest.toFixed(0)} ms`);
  }
});

t.test("= ANY of many texts", { skip: only !== undefined && only !== "many" }, async (t) => {
  const equals = scalarFunctions().find(({ operator, args }) => operator === "=" && args[0] === TEXT)!;
  const isAny = quantifiedOperator(equals, false);
  const texts = () => sqlArray(Array.from({ length: MANY }, (_, i) => `text ${i}`));
  const turns = await shortest(() => turnLengths(isAny, ["none", texts()]));
  t.equal(turns.way, "in turns");
  t.ok(turns.longest <= TURN_MAX_MS, `${turns.longest.toFixed(0)} ms`);
});

t.test("lists of many in order", { skip: only !== undefined && only !== "many" }, async (t) => {
  for (const name of ["coll.sort", "apoc.coll.sort"]) {
    const sort = scalarFunctions().find((fn) => fn.name === name)!;
    const list = Array.from({ length: MANY }, (_, i) => (i * 7919) % MANY);
    t.equal((await turnLengths(sort, [list])).way, "elsewhere", name);
  }
});

t.test("array_fill of many", { skip: only !== undefined && only !== "many" }, async (t) => {
  const fill = scalarFunctions().find(({ name, args }) => name === "array_fill" && args.length === 2)!;
  const turns = await shortest(() => turnLengths(fill, ["x", sqlArray([1_000_000])]));
  t.equal(turns.way, "in turns");
  t.ok(turns.longest <= TURN_MAX_MS, `${turns.longest.toFixed(0)} ms`);
});

t.teardown(() => tellLongest(t));
