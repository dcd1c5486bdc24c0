/**
 * No call of a function holds its thread for long, however large its arguments are: every function, operator, aggregate and function
 * that returns rows of the tables, with large values in each place and in all places. A new one comes by itself; a new type needs values
 * (large-values.ts).
 *
 *   TURN_UNITS=400000 node dist/test/query/function-turns.test.js [name]     with larger values; prints the ten longest turns, too
 */
import t from "tap";
import type { ScalarFunction } from "../../src/query/expr/expr.js";
import { aggregateFunctions, scalarFunctions, tableFunctions } from "./all-functions.js";
import { AGGREGATED_UNITS, checkTurns, only, tellLongest, UNITS } from "./turn-checks.js";
import { aggregateTurns, rowTurns, turnLengths } from "./turn-lengths.js";

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
    await checkTurns(t, fn, AGGREGATED_UNITS, ({ args, isLarge }) => aggregateTurns(fn, args, isLarge ? 4 : 100_000));
  t.ok(only !== undefined || called.length > 50, `${called.length} overloads`);
});

t.test("functions that return rows", async (t) => {
  const called = tableFunctions().filter(({ name }) => only === undefined || name === only);
  for (const fn of called) await checkTurns(t, fn, UNITS, ({ args }) => rowTurns(fn, args));
  t.ok(only !== undefined || called.length > 40, `${called.length} overloads`);
});

t.teardown(() => tellLongest(t));
