/**
 * An actor's thread that also has functions which do not give way: one loops for so many milliseconds, or for ever
 * where they are negative; one fills the memory. Only programs of tests start it (looping-server.ts); the functions are
 * nowhere in the server.
 */

import { fn } from "../../src/query/expr/functions/define.js";
import { registerFunction } from "../../src/query/expr/functions/registry.js";
import { FLOAT8 } from "../../src/values/values.js";
import "../../workers/actor.js";

const kept: unknown[] = [];
registerFunction(
  fn(
    "fill_memory",
    [FLOAT8],
    FLOAT8,
    (_: number) => {
      for (;;) kept.push(Array.from({ length: 100_000 }, (_, i) => ({ i })));
    },
    { volatility: "volatile" },
  ),
);

registerFunction(
  fn(
    "loop_for",
    [FLOAT8],
    FLOAT8,
    (milliseconds: number) => {
      const end = performance.now() + (milliseconds < 0 ? Number.POSITIVE_INFINITY : milliseconds);
      let rounds = 0;
      while (performance.now() < end) rounds++;
      return rounds;
    },
    { volatility: "volatile" },
  ),
);
