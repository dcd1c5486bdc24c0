/**
 * No window holds its thread for long: window functions and aggregates of the tables over frames of each kind, with
 * many rows and with large values, and windows whose keys are large. New functions come by themselves, as in
 * function-turns.test.ts, which has the settings.
 */
import t from "tap";
import { arrayOf, INT4, JSONB, NUMERIC, TEXT, VARIANT } from "../../src/values/values.js";
import { sized } from "../lengths.js";
import { aggregateFunctions, windowFunctions } from "./all-functions.js";
import { largeCopies } from "./large-values.js";
import { AGGREGATED_UNITS, checkCall, checkTurns, only, tellLongest, UNITS } from "./turn-checks.js";
import { FRAMES, keyTurns, windowTurns } from "./window-turns.js";

/** Of a window's arguments: rows of large values fill its memory soon. */
const ROWS_OF_LARGE = 250;

/** In a whole run of the tests each function is tried over so many of the frames. */
const FRAMES_EACH = sized(1, Object.keys(FRAMES).length);

for (const [place, [way, { frame, rows }]] of Object.entries(FRAMES).entries()) {
  t.test(`window functions and aggregates over a frame: ${way}`, async (t) => {
    const aggregates = aggregateFunctions().filter((fn) => (fn.directArgs ?? 0) === 0);
    const isTried = (at: number): boolean => (at + place) % Object.keys(FRAMES).length < FRAMES_EACH;
    const called = [...windowFunctions(), ...aggregates].filter(({ name }, at) =>
      only === undefined ? isTried(at) : name === only,
    );
    for (const fn of called) {
      await checkTurns(
        t,
        fn,
        AGGREGATED_UNITS,
        ({ args, isLarge }) => windowTurns(fn, args, { frame, rows: isLarge ? ROWS_OF_LARGE : rows }),
        // Other small values take as many steps.
        ({ isLarge }, at) => isLarge || at === 0,
      );
    }
    t.ok(only !== undefined || called.length > 20, `${called.length} overloads`);
  });
}

t.test("keys of windows", async (t) => {
  for (const type of [TEXT, JSONB, NUMERIC, arrayOf(INT4), VARIANT]) {
    for (const keys of largeCopies(type, UNITS)) {
      await checkCall(t, `a window by ${type.name}`, () => keyTurns(type, keys));
    }
  }
  t.pass("turns of keys");
});

t.teardown(() => tellLongest(t));
