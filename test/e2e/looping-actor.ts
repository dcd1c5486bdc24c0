/**
 * An actor's thread that also has a function which does not give way: for so many milliseconds, or for ever where they are
 * negative. Only programs of tests start it (looping-server.ts); the function is nowhere in the server.
 */
import { FLOAT8 } from "../../src/protocol/values.js";
import { fn } from "../../src/query/expr/functions/define.js";
import { registerFunction } from "../../src/query/expr/functions/registry.js";
import "../../workers/actor.js";

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
