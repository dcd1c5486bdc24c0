/**
 * Helpers with which the tables of this folder declare functions of Cypher, and the errors that most of them share.
 */

import type { DbError } from "../../../protocol/errors.js";
import { cypherError } from "../../../values/cypher-error.js";
import { type SqlType, VARIANT } from "../../../values/values.js";
import type { Variant } from "../../../values/variant.js";
import { KIND, type Kind } from "../../../values/variant-kind.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { kindOf } from "../variant-order.js";

// biome-ignore lint/suspicious/noExplicitAny: arguments are variants of the kinds that each function looks for
type Apply = (...args: any[]) => Variant;

interface Options {
  readonly returns?: SqlType;
  readonly strict?: boolean;
  readonly volatility?: ScalarFunction["volatility"];
  readonly nanosPerUnit?: number;
  readonly applyInTurns?: NonNullable<ScalarFunction["applyInTurns"]>;
}

/** Of `count` variants; null arguments give null unless `strict` is false. */
export function cypherFn(name: string, count: number, apply: Apply, options: Options = {}): ScalarFunction {
  const args = new Array<SqlType>(count).fill(VARIANT);
  return Object.freeze({ name, args, returns: VARIANT, apply, volatility: "immutable", strict: true, ...options });
}

/** The same for several numbers of arguments. */
export function cypherFns(
  name: string,
  counts: readonly number[],
  apply: Apply,
  options: Options = {},
): ScalarFunction[] {
  return counts.map((count) => cypherFn(name, count, apply, options));
}

/** A function that gets the EvalContext as its first argument; `slow` ones and those with services need it. */
export function cypherContextFn(
  name: string,
  args: readonly SqlType[],
  apply: (context: EvalContext, ...args: never[]) => Variant,
  options: Options = {},
): ScalarFunction {
  const call = apply as Apply;
  return Object.freeze({
    name,
    args,
    returns: VARIANT,
    apply: call,
    volatility: "stable",
    strict: true,
    needsContext: true,
    ...options,
  });
}

const NAMES: Record<Kind, string> = {
  [KIND.map]: "a map",
  [KIND.node]: "a node",
  [KIND.relationship]: "a relationship",
  [KIND.list]: "a list",
  [KIND.path]: "a path",
  [KIND.point]: "a point",
  [KIND.bytes]: "a byte array",
  [KIND.vector]: "a vector",
  [KIND.zonedDateTime]: "a datetime",
  [KIND.localDateTime]: "a local datetime",
  [KIND.date]: "a date",
  [KIND.zonedTime]: "a time",
  [KIND.localTime]: "a local time",
  [KIND.duration]: "a duration",
  [KIND.text]: "a string",
  [KIND.boolean]: "a boolean",
  [KIND.number]: "a number",
  [KIND.null]: "null",
};

/** What a value is, for messages. */
export function described(value: Variant): string {
  return NAMES[kindOf(value)];
}

/** A function's argument is of a kind that it does not take. */
export function wrongArgument(name: string, wanted: string, value: Variant): DbError {
  return cypherError("TypeError", "InvalidArgumentValue", `${name} takes ${wanted}, not ${described(value)}`);
}
