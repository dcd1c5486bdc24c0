/** A client whose statements have so many milliseconds, and never give way. */
import { DbError } from "../../src/protocol/errors.js";

export function statementClient(ms: number) {
  const deadline = Date.now() + ms;
  return {
    checkpoint: () => {
      if (Date.now() > deadline) throw new DbError("request_timeout");
    },
    shouldYield: () => false,
    yieldTurn: () => Promise.resolve(),
  };
}
