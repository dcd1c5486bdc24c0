/** Helpers with which the tables of this folder declare aggregates. */
import type { Turns } from "../../../protocol/turns.js";
import type { SqlType, Value } from "../../../values/values.js";
import type { AggregateFunction, MovingSteps } from "../expr.js";

export interface Aggregate<S> {
  init(): S;
  // biome-ignore lint/suspicious/noExplicitAny: arguments have the declared types
  step(state: S, ...args: any[]): S;
  result(state: S): Value;
  resultInTurns?(state: S, turns: Turns): Promise<Value> | null;
  moving?: MovingSteps;
  extreme?: (a: Value, b: Value) => number;
  takesJson?: boolean;
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
