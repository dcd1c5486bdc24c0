/**
 * `allReduce(acc = initial, x IN list | step, condition)`, whether the condition holds after each step, in terms of
 * reduce() over a list of the accumulator and what the condition has said so far:
 *
 *   reduce(s = [initial, true], x IN list | CASE s[1]
 *     WHEN true THEN head([acc IN [s[0]] | head([acc IN [step] | [acc, condition]])]) ELSE s END)[1]
 */
import type { Expr, Variable } from "./ast.js";
import { hidden } from "./composed-queries.js";

interface AllReduce {
  readonly accumulator: Variable;
  readonly initial: Expr;
  readonly variable: Variable;
  readonly list: Expr;
  readonly step: Expr;
  readonly condition: Expr;
  readonly position: number;
}

export function holdsAlways({ accumulator, initial, variable, list, step, condition, position }: AllReduce): Expr {
  const state = hidden("state", position);
  const listOf = (...items: Expr[]): Expr => ({ kind: "list", items, position });
  const yes: Expr = { kind: "boolean", value: true, position };
  const itemOf = (target: Expr, value: number): Expr => {
    return { kind: "index", target, index: { kind: "integer", value, position }, position };
  };
  /** The value of an expression that reads the accumulator. */
  const withAccumulator = (value: Expr, result: Expr): Expr => ({
    kind: "call",
    name: "head",
    distinct: false,
    args: [{ kind: "list-comprehension", variable: accumulator, list: listOf(value), where: null, result, position }],
    position,
  });
  const next = withAccumulator(itemOf(state, 0), withAccumulator(step, listOf(accumulator, condition)));
  const branches = [{ when: yes, result: next }];
  const result: Expr = { kind: "case", subject: itemOf(state, 1), branches, otherwise: state, position };
  return itemOf(
    { kind: "reduce", accumulator: state, initial: listOf(initial, yes), variable, list, result, position },
    1,
  );
}
