/** Values of parameters where a statement is bound: names of indexes, and what an index is made with. */
import { sqlError } from "../../protocol/errors.js";
import { cypherError } from "../../values/cypher-error.js";
import { doubleOf, Float } from "../../values/variant.js";
import type { Expr, FunctionCall } from "../parse/ast.js";

/** By name: those that came with the statement. */
export type GivenParameters = Readonly<Record<string, unknown>>;

/** Throws ParameterMissing. */
export function givenValue(name: string, given: GivenParameters = {}): unknown {
  if (Object.hasOwn(given, name)) return given[name];
  throw cypherError("ParameterMissing", "MissingParameter", `The parameter $${name} has no value.`, "compile time");
}

/**
 * An expression as it is written, with values in the place of parameters and of `toInteger` of a number. Whatever
 * else it is stays, for the caller to refuse.
 */
export function withValues(expr: Expr, given: GivenParameters): Expr {
  if (expr.kind === "map") {
    return {
      ...expr,
      entries: expr.entries.map((entry) => ({ ...entry, value: withValues(entry.value, given) })),
    };
  }
  if (expr.kind === "parameter") return literal(givenValue(expr.name, given), expr.position);
  if (expr.kind === "call" && isToInteger(expr)) {
    const number = withValues(expr.args[0]!, given);
    if (number.kind === "float") return { kind: "integer", value: Math.trunc(number.value), position: number.position };
    return number;
  }
  return expr;
}

const isToInteger = ({ name, args }: FunctionCall): boolean => name.toLowerCase() === "tointeger" && args.length === 1;

/** As if it had been written there. Values come as JSON over HTTP, and as Cypher has them over Bolt. */
function literal(value: unknown, position: number): Expr {
  if (typeof value === "string") return { kind: "string", value, position };
  if (typeof value === "boolean") return { kind: "boolean", value, position };
  if (value instanceof Float) return { kind: "float", value: value.value, position };
  if (typeof value === "bigint") return { kind: "integer", value, position };
  if (typeof value === "number") {
    return Number.isSafeInteger(value)
      ? { kind: "integer", value, position }
      : { kind: "float", value: doubleOf(value), position };
  }
  const entries = value instanceof Map ? [...value] : isObject(value) ? Object.entries(value) : null;
  if (entries === null)
    throw sqlError("22023", "an option takes strings, numbers, truth values and maps", { position: position + 1 });
  return {
    kind: "map",
    entries: entries.map(([key, each]) => ({ key, value: literal(each, position), position })),
    position,
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
