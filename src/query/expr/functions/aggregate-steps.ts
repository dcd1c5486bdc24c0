/** How the tables of this folder write down an aggregate. */
import type { SqlType, Value } from "../../../values/values.js";
import type { AggregateFunction, MovingSteps } from "../expr.js";

export interface Aggregate<S> {
  init(): S;
  // biome-ignore lint/suspicious/noExplicitAny: arguments have the declared types
  step(state: S, ...args: any[]): S;
  result(state: S): Value;
  moving?: MovingSteps;
  extreme?: (a: Value, b: Value) => number;
}

export function aggregate<S>(
  name: string,
  args: readonly SqlType[],
  returns: SqlType,
  steps: Aggregate<S>,
  strict = true,
): AggregateFunction {
  return Object.freeze({ name, args, returns, strict, ...steps });
}
