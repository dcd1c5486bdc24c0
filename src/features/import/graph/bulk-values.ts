/** Values of fields in Neo4j's bulk format, by the types that headers name. Called by the files beside. */
import { sqlError } from "../../../protocol/errors.js";
import { pointOfMap } from "../../../query/expr/cypher/point-functions.js";
import { makeInstant } from "../../../query/expr/cypher/temporal-build.js";
import { parseDuration } from "../../../query/expr/cypher/temporal-duration.js";
import type { EvalContext } from "../../../query/expr/expr.js";
import { floatValue, type Variant } from "../../../values/variant.js";

type Read = (text: string, context: EvalContext) => Variant;

export interface BulkType {
  readonly name: string;
  /** Of one value. Throws 22P02 and errors of Cypher. */
  readonly read: Read;
  /** The field has several, with the array delimiter between. */
  readonly isList: boolean;
}

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** No point is longer. */
const POINT_CHARACTERS_MAX = 4096;
/** To read a longer integer takes the square of its length, and it is out of every range. */
const DIGITS_MAX = 1024;
const SPECIAL: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
};
const MEMBER = /^['"]?([A-Za-z_]\w*)['"]?$/;

function notOf(type: string, text: string): Error {
  return sqlError("22P02", `invalid input for type ${type}: "${text.slice(0, 100)}"`);
}

const integerOfBits = (name: string, bits: number): Read => {
  const limit = 2n ** BigInt(bits - 1);
  return (text) => {
    const trimmed = text.trim();
    if (!INTEGER.test(trimmed)) throw notOf(name, text);
    const number = Number(trimmed);
    if (Number.isSafeInteger(number) && number >= -limit && number < limit) return number === 0 ? 0 : number;
    const exact = trimmed.length > DIGITS_MAX ? limit : BigInt(trimmed);
    if (exact < -limit || exact >= limit) throw sqlError("22003", `"${text.slice(0, 100)}" is out of range of ${name}`);
    return exact;
  };
};

const floatNamed =
  (name: string): Read =>
  (text) => {
    const trimmed = text.trim();
    const special = SPECIAL[trimmed];
    if (special !== undefined) return special;
    if (!NUMBER.test(trimmed)) throw notOf(name, text);
    return floatValue(Number(trimmed));
  };

function readBoolean(text: string): boolean {
  const lower = text.trim().toLowerCase();
  if (lower === "true") return true;
  if (lower === "false") return false;
  throw notOf("boolean", text);
}

function readChar(text: string): string {
  if ([...text].length === 1) return text;
  throw notOf("char", text);
}

/** `{latitude: 55.7, longitude: 12.6}`, `{x: 1, y: 2, crs: 'cartesian'}`. */
function readPoint(text: string): Variant {
  const trimmed = text.trim();
  const isEnclosed = trimmed.startsWith("{") && trimmed.endsWith("}");
  if (!isEnclosed || trimmed.length < 2 || text.length > POINT_CHARACTERS_MAX) throw notOf("point", text);
  const members = trimmed
    .slice(1, -1)
    .split(",")
    .map((part): [string, Variant] => {
      const colon = part.indexOf(":");
      const name = MEMBER.exec(part.slice(0, Math.max(0, colon)).trim())?.[1];
      if (name === undefined) throw notOf("point", text);
      const value = withoutQuotes(part.slice(colon + 1).trim());
      if (/['"]/.test(value)) throw notOf("point", text);
      if (INTEGER.test(value)) return [name, Number(value)];
      return [name, NUMBER.test(value) ? floatValue(Number(value)) : value];
    });
  return pointOfMap(new Map(members));
}

const withoutQuotes = (text: string): string => text.replace(/^['"]/, "").replace(/['"]$/, "");

const instantOf =
  (kind: "date" | "localtime" | "time" | "localdatetime" | "datetime"): Read =>
  (text, context) =>
    makeInstant(kind, text.trim().replace(" ", "T"), context);

const READERS: Readonly<Record<string, Read>> = {
  string: (text) => text,
  char: readChar,
  boolean: readBoolean,
  byte: integerOfBits("byte", 8),
  short: integerOfBits("short", 16),
  int: integerOfBits("int", 64),
  integer: integerOfBits("integer", 64),
  long: integerOfBits("long", 64),
  float: floatNamed("float"),
  double: floatNamed("double"),
  point: readPoint,
  date: instantOf("date"),
  localtime: instantOf("localtime"),
  time: instantOf("time"),
  localdatetime: instantOf("localdatetime"),
  datetime: instantOf("datetime"),
  duration: (text) => parseDuration(text.trim()),
};

/** `int`, `string[]`; null: there is no such type. */
export function bulkTypeOf(text: string): BulkType | null {
  const isList = text.endsWith("[]");
  const name = (isList ? text.slice(0, -2) : text).toLowerCase();
  const read = Object.hasOwn(READERS, name) ? READERS[name]! : null;
  return read === null ? null : { name, read, isList };
}

export function readBulkValue(
  { read, isList }: BulkType,
  text: string,
  delimiter: string,
  context: EvalContext,
): Variant {
  if (!isList) return read(text, context);
  return text === "" ? [] : text.split(delimiter).map((item) => read(item, context));
}
