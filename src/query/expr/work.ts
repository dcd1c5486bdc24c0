/**
 * Tells before a call how much work its arguments will make (protocol/stretch.ts). Used by the compilers of
 * expressions; functions that take more or less than usual declare it (ScalarFunction.nanosPerUnit).
 */
import { spend } from "../../protocol/stretch.js";
import { CypherVector } from "../../values/cypher-vector.js";
import { costLeft } from "../../values/value-cost.js";
import { Json, type SqlType, type Value } from "../../values/values.js";
import type { Expr, ScalarFunction } from "./expr.js";
import { knownPartsOf } from "./value-parts.js";
import { someExpr } from "./walk.js";

/** Nanoseconds per character, byte or element of a call's arguments. */
const NANOS_PER_UNIT = 10;
/** Shorter values are not worth counting. */
const UNITS_MIN = 2_048;

/** Types whose values have the same size, whatever a client does. */
const SMALL_TYPES: ReadonlySet<string> = new Set([
  ...["bool", "int2", "int4", "int8", "oid", "money", "float4", "float8", "uuid", "name", "char", "enum"],
  ...["date", "time", "timetz", "timestamp", "timestamptz", "interval", "inet", "cidr", "macaddr", "macaddr8"],
]);

const isSmall = ({ name }: SqlType): boolean => SMALL_TYPES.has(name);

/** Whether the time of a call depends on how large its arguments are. */
export function takesLargeValues({ args, variadic }: ScalarFunction): boolean {
  return !(args.every(isSmall) && (variadic === undefined || isSmall(variadic)));
}

/** Parts of JSON that are counted. What has more takes too long, whatever is done with it. */
const JSON_PARTS_MAX = 256 * 1024;
const MORE_PARTS = 1024 * 1024;

/** Parts of a value, counted no further than is worth it. */
export function jsonParts(value: unknown): number {
  const known = knownPartsOf(value);
  if (known !== undefined) return known > JSON_PARTS_MAX ? MORE_PARTS : known;
  const left = costLeft(value, JSON_PARTS_MAX);
  return left < 0 ? MORE_PARTS : JSON_PARTS_MAX - left;
}

/** How many characters of a text take as long as one part of parsed JSON. */
const CHARACTERS_PER_PART = 8;

/** Characters, bytes or elements; of lists in lists, maps and JSON without a text all their parts. */
export function unitsOf(value: Value): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  if (value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return typeof value[0] === "object" ? jsonParts(value) : value.length;
  if (value instanceof Json) return value.text?.length ?? jsonParts(value.value) * CHARACTERS_PER_PART;
  if (value instanceof Map) return jsonParts(value);
  if (value instanceof CypherVector) return value.dimension;
  return "elements" in value ? value.elements.length : 0;
}

/** Says what a call of the function is about to do. Throws Overrun. */
export function spendOn(fn: Pick<ScalarFunction, "nanosPerUnit">, args: readonly Value[]): void {
  let units = 0;
  for (const arg of args) units += unitsOf(arg);
  if (units > UNITS_MIN) spend(units * (fn.nanosPerUnit ?? NANOS_PER_UNIT));
}

/**
 * `fn.apply`, which first says what it is about to do. For functions that take large values; the context does not
 * count.
 */
export function measured(fn: ScalarFunction): ScalarFunction["apply"] {
  const { apply, nanosPerUnit = NANOS_PER_UNIT, args, variadic } = fn;
  const say = (units: number): void => {
    if (units > UNITS_MIN) spend(units * nanosPerUnit);
  };
  if (variadic !== undefined || fn.needsContext === true || args.length > 3) {
    return (...values) => {
      let units = 0;
      for (const value of values) units += unitsOf(value);
      say(units);
      return apply(...values);
    };
  }
  switch (args.length) {
    case 0:
      return apply;
    case 1:
      return (x) => {
        say(unitsOf(x));
        return apply(x);
      };
    case 2:
      return (x, y) => {
        say(unitsOf(x) + unitsOf(y));
        return apply(x, y);
      };
    default:
      return (x, y, z) => {
        say(unitsOf(x) + unitsOf(y) + unitsOf(z));
        return apply(x, y, z);
      };
  }
}

/** Whether computing the expression for one row may take longer than a turn, however few steps it looks. */
export function mayTakeLong(expr: Expr): boolean {
  return someExpr(expr, (part) => {
    if (part.kind === "list") return true;
    if (part.kind === "cast") return !isSmall(part.input.type);
    if (part.kind !== "call") return false;
    if (part.fn.routine !== undefined) return true;
    return takesLargeValues(part.fn) && !isPlainComparison(part.fn, part.args);
  });
}

const COMPARISONS: ReadonlySet<string> = new Set(["=", "<>", "<", "<=", ">", ">="]);

/** A comparison of what rows have, which an index may answer. */
function isPlainComparison({ operator }: ScalarFunction, args: readonly Expr[]): boolean {
  return operator !== undefined && COMPARISONS.has(operator) && args.every(isAtHand);
}

/** A constant, a parameter, a column or a property of one. */
function isAtHand(expr: Expr): boolean {
  if (expr.kind === "call") return expr.fn.name === "property" && expr.args.every(isAtHand);
  return expr.kind === "const" || expr.kind === "param" || expr.kind === "column";
}
