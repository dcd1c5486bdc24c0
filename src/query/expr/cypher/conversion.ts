/** Conversions between Cypher's types: toInteger() and its kin, and the text of values. */

import { cypherError } from "../../../values/cypher-error.js";
import { isOfType } from "../../../values/cypher-type.js";
import { CypherVector, vectorTypeName } from "../../../values/cypher-vector.js";
import { CypherPoint, pointToText } from "../../../values/point.js";
import { temporalToText } from "../../../values/temporal-text.js";
import { BOOL } from "../../../values/values.js";
import {
  Float,
  floatValue,
  GraphNode,
  GraphPath,
  GraphRelationship,
  isIntegerValue,
  type Variant,
} from "../../../values/variant.js";
import { integerValue, isList, isTemporal } from "../../../values/variant-format.js";
import { itemsOfVector } from "../../../values/vector-list.js";
import type { ScalarFunction } from "../expr.js";
import { numberOf } from "../variant-order.js";
import { equals } from "./comparison.js";
import { cypherFn, wrongArgument } from "./define.js";

/** A float as openCypher prints it (Java's Double.toString): "1.0", "1.0E10", "1.5E-5". */
export function floatToText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  if (size >= 1e-3 && size < 1e7) return Number.isInteger(value) ? `${value}.0` : String(value);
  const [digits, exponent] = value.toExponential().split("e") as [string, string];
  return `${digits.includes(".") ? digits : `${digits}.0`}E${exponent.replace("+", "")}`;
}

/** The text of a value that toString() takes; undefined for others. */
export function scalarText(value: Variant): string | undefined {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
      return Number.isInteger(value) ? String(value) : floatToText(value);
    case "bigint":
    case "boolean":
      return String(value);
    default:
      if (value instanceof Float) return floatToText(value.value);
      if (value instanceof CypherPoint) return pointToText(value);
      return isTemporal(value) ? temporalToText(value) : undefined;
  }
}

/** Undefined for a value of the wrong kind, null for one that means no integer. */
function integerOf(value: Variant): number | bigint | null | undefined {
  if (isIntegerValue(value)) return value;
  if (typeof value === "string") return integerFromText(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number" || value instanceof Float) return truncated(Number(numberOf(value)));
  return undefined;
}

const INTEGER = /^\s*[+-]?\d+\s*$/;
const FLOAT = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

function integerFromText(text: string): number | bigint | null {
  if (INTEGER.test(text)) {
    const number = Number(text);
    if (Number.isSafeInteger(number)) return number + 0;
    const value = BigInt(text.trim().replace(/^\+/, ""));
    return BigInt.asIntN(64, value) === value ? integerValue(value) : outOfRange();
  }
  return FLOAT.test(text) ? truncated(Number(text)) : null;
}

/** Towards zero. */
function truncated(value: number): number | bigint | null {
  if (Number.isNaN(value)) return null;
  const whole = Math.trunc(value) + 0;
  if (Number.isSafeInteger(whole)) return whole;
  return whole >= -(2 ** 63) && whole < 2 ** 63 ? integerValue(BigInt(whole)) : outOfRange();
}

function outOfRange(): never {
  throw cypherError("ArithmeticError", "IntegerOverflow", "the value is out of the range of an integer");
}

function floatOf(value: Variant): Variant | undefined {
  if (typeof value === "number" || typeof value === "bigint") return floatValue(Number(value));
  if (value instanceof Float) return value;
  if (typeof value === "string") {
    if (FLOAT.test(value)) return floatValue(Number(value));
    const word = /^\s*([+-]?)(NaN|Infinity)\s*$/.exec(value);
    return word === null ? null : Number(`${word[2] === "NaN" ? "" : word[1]}${word[2]}`);
  }
  return undefined;
}

function booleanOf(value: Variant): boolean | null | undefined {
  if (typeof value === "boolean") return value;
  if (isIntegerValue(value)) return value !== 0;
  if (typeof value !== "string") return undefined;
  const word = value.trim().toLowerCase();
  return word === "true" ? true : word === "false" ? false : null;
}

/** A vector may stand for a list of the same numbers. */
const NUMERIC: ReadonlySet<string> = new Set(["toInteger", "toFloat"]);

type Convert = (value: Variant) => Variant | undefined;

/**
 * `name()`, which refuses other kinds, and the forms that give null for them, of a value and of each item of a list.
 */
function conversions(name: string, wanted: string, convert: Convert): ScalarFunction[] {
  const orNull: Convert = (value) => (value === null ? null : (convert(value) ?? null));
  return [
    cypherFn(name, 1, (value) => {
      const result = convert(value);
      if (result === undefined) throw wrongArgument(`${name}()`, wanted, value);
      return result;
    }),
    cypherFn(`${name}OrNull`, 1, (value) => orNull(value)!),
    cypherFn(`${name}List`, 1, (value) => {
      const list = NUMERIC.has(name) ? itemsOfVector(value) : isList(value) ? value : undefined;
      if (list === undefined) throw wrongArgument(`${name}List()`, "a list", value);
      return list.map((item) => orNull(item)!);
    }),
  ];
}

/** The name of a value's type, as valueType() gives it. */
function valueType(value: Variant): string {
  return value === null ? "NULL" : `${typeName(value)} NOT NULL`;
}

const TEMPORAL_NAMES: Readonly<Record<string, string>> = {
  CypherDate: "DATE",
  LocalTime: "LOCAL TIME",
  ZonedTime: "ZONED TIME",
  LocalDateTime: "LOCAL DATETIME",
  ZonedDateTime: "ZONED DATETIME",
  Duration: "DURATION",
};

function typeName(value: NonNullable<Variant>): string {
  if (isIntegerValue(value)) return "INTEGER";
  if (typeof value === "number" || value instanceof Float) return "FLOAT";
  if (typeof value === "boolean") return "BOOLEAN";
  if (typeof value === "string") return "STRING";
  if (isList(value)) return listType(value);
  if (value instanceof Map) return "MAP";
  if (value instanceof GraphNode) return "NODE";
  if (value instanceof GraphRelationship) return "RELATIONSHIP";
  if (value instanceof GraphPath) return "PATH";
  if (value instanceof CypherPoint) return "POINT";
  if (value instanceof Uint8Array) return "BYTES";
  if (value instanceof CypherVector) return vectorTypeName(value);
  return TEMPORAL_NAMES[value.constructor.name] ?? "ANY";
}

function listType(list: readonly Variant[]): string {
  const members = [...new Set(list.map((item) => (item === null ? "NULL" : typeName(item))))].sort();
  const notNull = list.includes(null) ? "" : " NOT NULL";
  const names = members.filter((name) => name !== "NULL");
  if (members.length === 0) return "LIST<NOTHING>";
  if (names.length === 0) return "LIST<NULL>";
  return `LIST<${names.map((name) => name + notNull).join(" | ")}>`;
}

function isTyped(value: Variant, type: Variant): boolean {
  if (typeof type === "string") return isOfType(value, type);
  throw wrongArgument("a test of a type", "a type's name", type);
}

const FORMS = new Set(["NFC", "NFD", "NFKC", "NFKD"]);

/** Of what is no string null. */
function isNormalized(value: Variant, form: string): boolean | null {
  if (!FORMS.has(form)) throw cypherError("ArgumentError", "InvalidArgumentValue", `there is no normal form ${form}`);
  return typeof value === "string" ? value === value.normalize(form) : null;
}

export const CONVERSIONS: readonly ScalarFunction[] = [
  ...conversions("toInteger", "a number, a string or a boolean", integerOf),
  ...conversions("toFloat", "a number or a string", floatOf),
  ...conversions("toBoolean", "a boolean, an integer or a string", booleanOf),
  ...conversions("toString", "a number, a string, a boolean, a point or a temporal value", scalarText),
  cypherFn("valueType", 1, valueType, { strict: false, nanosPerUnit: 100 }),
  // What `IS :: TYPE` and `IS NORMALIZED` call; only quotes can write the names.
  cypherFn("is typed", 2, isTyped, { strict: false, returns: BOOL, nanosPerUnit: 100 }),
  cypherFn("is normalized", 2, isNormalized, { returns: BOOL, nanosPerUnit: 10 }),
  cypherFn("nullIf", 2, (value, other) => (equals(value, other) === true ? null : value), { strict: false }),
  cypherFn("exists", 1, (value) => value !== null, { strict: false, returns: BOOL }),
];
