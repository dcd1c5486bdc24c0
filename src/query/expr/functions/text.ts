/** String and bytea functions and operators (chapters 9.4 and 9.5). Positions and lengths count code points. */

import { sqlError } from "../../../protocol/errors.js";
import { ARRAY_ELEMENTS_MAX, TEXT_CHARACTERS_MAX } from "../../../protocol/limits.js";
import { spend } from "../../../protocol/stretch.js";
import type { Turns } from "../../../protocol/turns.js";
import { toText } from "../../../values/text-format.js";
import { checkArraySize, sqlArray } from "../../../values/text-format-array.js";
import {
  arrayOf,
  BOOL,
  BPCHAR,
  BYTEA,
  INT4,
  INT8,
  type SqlArray,
  type SqlType,
  TEXT,
  type Value,
} from "../../../values/values.js";
import { trimBlanks } from "../compare.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { listInTurns } from "../list-in-turns.js";
import { quoteIdentifier, quoteLiteral } from "../print.js";
import { aliases, contextFn, type FunctionFamily, family, fn, op, taking } from "./define.js";
import { formatText } from "./format-text.js";
import { bounded, checkLength, joinedTexts } from "./text-length.js";

const SURROGATE = /[\ud800-\udfff]/;

/** Throws 54000. */
function pointsOf(text: string): string[] {
  return Array.from(bounded(text));
}

function joined(a: string, b: string): string {
  checkLength(a.length + b.length);
  return a + b;
}

export function lengthOf(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** Characters up to which code units are looked at one by one. */
const FEW_CHARACTERS = 32;

/** Code points from `start` (0-based) up to `end`. */
function slice(text: string, start: number, end?: number): string {
  // What comes behind the end does not matter.
  if (end !== undefined && end <= FEW_CHARACTERS && isPlain(text, end)) return text.slice(start, end);
  return SURROGATE.test(text) ? pointsOf(text).slice(start, end).join("") : text.slice(start, end);
}

/** Whether the first code units are characters. */
function isPlain(text: string, units: number): boolean {
  const length = Math.min(units, text.length);
  for (let i = 0; i < length; i++) if ((text.charCodeAt(i) & 0xf800) === 0xd800) return false;
  return true;
}

/** substring(text, start, count) with 1-based start, which may lie before the text. */
function substring(text: string, start: number, count?: number): string {
  if (count === undefined) return slice(text, Math.max(start - 1, 0));
  if (count < 0) throw sqlError("22011", "negative substring length not allowed");
  return slice(text, Math.max(start - 1, 0), Math.max(start - 1 + count, 0));
}

function substringBytes(bytes: Uint8Array, start: number, count?: number): Uint8Array {
  if (count === undefined) return bytes.slice(Math.max(start - 1, 0));
  if (count < 0) throw sqlError("22011", "negative substring length not allowed");
  return bytes.slice(Math.max(start - 1, 0), Math.max(start - 1 + count, 0));
}

/** 1-based position of `part` in `text`, 0 when it is not there. */
function position(text: string, part: string): number {
  const index = text.indexOf(part);
  return index < 0 ? 0 : lengthOf(text.slice(0, index)) + 1;
}

function overlay(text: string, by: string, start: number, count = lengthOf(by)): string {
  if (start <= 0) throw sqlError("22011", "negative substring length not allowed");
  return slice(text, 0, start - 1) + by + slice(text, Math.max(start - 1 + count, 0));
}

type Side = "both" | "left" | "right";

function trim(text: string, characters: string, side: Side): string {
  const set = new Set(characters);
  let start = 0;
  let end = text.length;
  if (side !== "right") {
    for (let point = pointAt(text, start); start < end && set.has(point); point = pointAt(text, start)) {
      start += point.length;
    }
  }
  if (side !== "left") {
    for (let point = pointBefore(text, end); end > start && set.has(point); point = pointBefore(text, end)) {
      end -= point.length;
    }
  }
  return text.slice(start, end);
}

const pointAt = (text: string, index: number): string =>
  index < text.length ? String.fromCodePoint(text.codePointAt(index)!) : "";

/** The character that ends before `index`. */
function pointBefore(text: string, index: number): string {
  if (index === 0) return "";
  const isPair = index > 1 && (text.charCodeAt(index - 1) & 0xfc00) === 0xdc00 && text.codePointAt(index - 2)! > 0xffff;
  return text.slice(index - (isPair ? 2 : 1), index);
}

function trimBytes(bytes: Uint8Array, set: Uint8Array, side: Side): Uint8Array {
  let start = 0;
  let end = bytes.length;
  if (side !== "right") while (start < end && set.includes(bytes[start] as number)) start++;
  if (side !== "left") while (end > start && set.includes(bytes[end - 1] as number)) end--;
  return bytes.slice(start, end);
}

function trims(name: string, side: Side): ScalarFunction[] {
  return [
    fn(name, [TEXT], TEXT, (text: string) => trim(text, " ", side)),
    fn(name, [TEXT, TEXT], TEXT, (text: string, set: string) => trim(text, set, side)),
    fn(name, [BYTEA, BYTEA], BYTEA, (bytes: Uint8Array, set: Uint8Array) => trimBytes(bytes, set, side)),
  ];
}

function pad(text: string, length: number, fill: string, left: boolean): string {
  checkLength(length);
  const characters = lengthOf(bounded(text));
  if (length <= characters) return slice(text, 0, Math.max(length, 0));
  const filler = pointsOf(fill);
  if (filler.length === 0) return text;
  const missing = length - characters;
  spend(missing);
  const rest = filler.slice(0, missing % filler.length).join("");
  const padding = fill.repeat(Math.floor(missing / filler.length)) + rest;
  return left ? padding + text : text + padding;
}

function repeat(text: string, count: number): string {
  if (count <= 0) return "";
  checkLength(text.length * count);
  spend(text.length * count);
  return text.repeat(count);
}

function splitPart(text: string, separator: string, field: number): string {
  if (field === 0) throw sqlError("22023", "field position must not be zero");
  const parts = separator === "" ? [text] : bounded(text).split(separator);
  if (text === "") return "";
  return parts.at(field > 0 ? field - 1 : field) ?? "";
}

/** Letters after anything that is not alphanumeric are upper case, others lower case. */
function initcap(text: string): string {
  return text.toLowerCase().replace(/[\p{L}\p{N}]+/gu, (word) => {
    const [first] = word;
    return (first as string).toUpperCase() + word.slice((first as string).length);
  });
}

function chr(code: number): string {
  if (code === 0) throw sqlError("54000", "null character not permitted");
  if (code < 0) throw sqlError("54000", "character number must be positive");
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
    throw sqlError("54000", `requested character not valid for encoding: ${code}`);
  }
  return String.fromCodePoint(code);
}

/** Throws 54000 before it makes a text that is too long. */
function replaced(text: string, from: string, to: string): string {
  const { length } = text;
  // No more than that many can fit.
  if (to.length > from.length && length * (to.length / from.length) > TEXT_CHARACTERS_MAX) {
    let count = 0;
    for (let at = text.indexOf(from); at >= 0; at = text.indexOf(from, at + from.length)) count++;
    checkLength(length + count * (to.length - from.length));
  }
  // A dollar in the replacement means itself.
  return text.replaceAll(from, to.replaceAll("$", "$$$$"));
}

/** Throws 22023. */
function normalized(text: string, form: string): string {
  if (!/^nfk?[cd]$/i.test(form)) throw sqlError("22023", `invalid normalization form: ${form}`);
  return text.normalize(form.toUpperCase());
}

function reversed(text: string): string {
  if (SURROGATE.test(text)) return pointsOf(text).reverse().join("");
  const bytes = Buffer.from(bounded(text), "utf16le");
  new Uint16Array(bytes.buffer, bytes.byteOffset, text.length).reverse();
  return bytes.toString("utf16le");
}

function translate(text: string, from: string, to: string): string {
  const target = Array.from(to);
  const map = new Map<string, string>();
  for (const [i, character] of Array.from(from).entries()) {
    if (!map.has(character)) map.set(character, target[i] ?? "");
  }
  return Array.from(bounded(text), (character) => map.get(character) ?? character).join("");
}

function left(text: string, count: number): string {
  return slice(text, 0, count < 0 ? Math.max(lengthOf(text) + count, 0) : count);
}

function right(text: string, count: number): string {
  const length = lengthOf(text);
  return slice(text, count < 0 ? Math.min(-count, length) : Math.max(length - count, 0));
}

function toHex(x: number | bigint, bits: number): string {
  return BigInt.asUintN(bits, BigInt(x)).toString(16);
}

function concatBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  return new Uint8Array(Buffer.concat([a, b]));
}

export const TEXT_OPERATORS: readonly ScalarFunction[] = [
  op("||", [TEXT, TEXT], TEXT, joined, { nanosPerUnit: 0 }),
  op("||", [BYTEA, BYTEA], BYTEA, concatBytes),
  op("^@", [TEXT, TEXT], BOOL, (text: string, start: string) => text.startsWith(start), { nanosPerUnit: 0 }),
];

/** text || anything and anything || text, the other operand being written as its type prints it. */
export const TEXT_OPERATOR_FAMILIES: readonly FunctionFamily[] = [
  family("||", "(text, anynonarray) → text", (types) => {
    const [a, b] = types as [SqlType, SqlType];
    if (types.length !== 2 || a.element !== null || b.element !== null || isText(a) === isText(b)) return null;
    const volatility = WRITTEN_ALIKE.has((isText(a) ? b : a).name) ? "immutable" : "stable";
    const options = { volatility, needsContext: true } as const;
    if (isText(a)) {
      const apply = (context: EvalContext, x: string, y: Value) => joined(x, castText(context, b, y));
      return op("||", [TEXT, b], TEXT, apply, options);
    }
    const apply = (context: EvalContext, x: Value, y: string) => joined(castText(context, a, x), y);
    return op("||", [a, TEXT], TEXT, apply, options);
  }),
];

/** Whatever the session's settings are, and whatever is defined. */
const WRITTEN_ALIKE = new Set(["bool", "int2", "int4", "int8", "float4", "float8", "numeric", "money", "uuid"]);

/** As a cast to text writes it: a boolean in full, a date in the session's style. */
const castText = (context: EvalContext, type: SqlType, value: Value) =>
  typeof value === "boolean" ? String(value) : toText(type, value, context.timeZone, context.style);

const TEXT_LIKE = new Set(["unknown", "text", "varchar", "bpchar", "name", "citext"]);
const isText = (type: SqlType) => TEXT_LIKE.has(type.name);

/** A function of any number of values of any types, each printed as its type does. */
function printing(
  name: string,
  fewest: number,
  apply: (texts: (string | null)[]) => string | null,
  most = Number.POSITIVE_INFINITY,
): FunctionFamily {
  const form = most === fewest ? "(any) → text" : `(${"any, ".repeat(fewest)}…) → text`;
  return family(name, form, (types) => {
    if (types.length < fewest || types.length > most) return null;
    const args = types.map((type) => (type.name === "unknown" ? TEXT : type));
    return contextFn(
      name,
      args,
      TEXT,
      (context: EvalContext, ...values: Value[]) =>
        apply(
          values.map((value, i) =>
            value === null ? null : toText(args[i] as SqlType, value, context.timeZone, context.style),
          ),
        ),
      { strict: false },
    );
  });
}

/** A function of one value of any type, as a cast to text writes it. */
function quoting(name: string, quote: (text: string | null) => string | null): FunctionFamily {
  return family(name, "(anyelement) → text", ([type, ...rest]) => {
    if (type === undefined || rest.length > 0) return null;
    const given = type.name === "unknown" ? TEXT : type;
    const apply = (context: EvalContext, value: Value) =>
      quote(value === null || typeof value !== "boolean" ? textIn(context, given, value) : String(value));
    return contextFn(name, [given], TEXT, apply, { strict: false });
  });
}

const textIn = (context: EvalContext, type: SqlType, value: Value) =>
  value === null ? null : toText(type, value, context.timeZone, context.style);

function concatWithSeparator([separator, ...texts]: (string | null)[]): string | null {
  if (separator === null || separator === undefined) return null;
  return joinedTexts(
    texts.filter((text) => text !== null),
    separator,
  );
}

export const TEXT_FAMILIES: readonly FunctionFamily[] = [
  printing("concat", 1, (texts) =>
    joinedTexts(
      texts.filter((text) => text !== null),
      "",
    ),
  ),
  printing("concat_ws", 2, concatWithSeparator),
  printing("format", 1, formatText),
  quoting("quote_literal", (text) => (text === null ? null : quoteLiteral(text))),
  quoting("quote_nullable", (text) => (text === null ? "NULL" : quoteLiteral(text))),
];

function charactersOf(text: string): string[] {
  checkArraySize(text.length);
  return Array.from(text);
}

/** Throws 54000. */
export function stringToArray(
  text: string | null,
  separator: string | null,
  nullText: string | null = null,
): SqlArray | null {
  if (text === null) return null;
  const parts =
    text === ""
      ? []
      : separator === ""
        ? [text]
        : separator === null
          ? charactersOf(text)
          : text.split(separator, ARRAY_ELEMENTS_MAX + 1);
  return sqlArray(parts.map((part) => (part === nullText ? null : part)));
}

/** The same in turns. Throws 54000. */
export async function stringToArrayInTurns(
  turns: Turns,
  text: string | null,
  separator: string | null,
  nullText: string | null = null,
): Promise<SqlArray | null> {
  if (text === null || text === "" || separator === "") return stringToArray(text, separator, nullText);
  const parts = separator === null ? text : splitParts(text, separator);
  function* items(): Iterable<Value> {
    let count = 0;
    for (const part of parts) {
      checkArraySize(++count);
      yield part === nullText ? null : part;
    }
  }
  return sqlArray(await listInTurns(turns, items()));
}

/** The parts of a text between separators. */
export function* splitParts(text: string, separator: string): Iterable<string> {
  let start = 0;
  for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, start)) {
    yield text.slice(start, at);
    start = at + separator.length;
  }
  yield text.slice(start);
}

const SPLIT = { strict: false, nanosPerUnit: 40, applyInTurns: stringToArrayInTurns };

const CASE_AND_LENGTH: readonly ScalarFunction[] = [
  ...["length", "char_length", "character_length", "len", "textlen"].flatMap((name) => [
    fn(name, [TEXT], INT4, lengthOf, { nanosPerUnit: 1 }),
    fn(name, [BPCHAR], INT4, (text: string) => lengthOf(trimBlanks(text))),
  ]),
  fn("length", [BYTEA], INT4, (bytes: Uint8Array) => bytes.length, { nanosPerUnit: 0 }),
  fn("length", [BYTEA, TEXT], INT4, (bytes: Uint8Array) => lengthOf(Buffer.from(bytes).toString())),
  fn("octet_length", [TEXT], INT4, (text: string) => Buffer.byteLength(text), { nanosPerUnit: 1 }),
  fn("octet_length", [BPCHAR], INT4, (text: string) => Buffer.byteLength(text)),
  fn("octet_length", [BYTEA], INT4, (bytes: Uint8Array) => bytes.length, { nanosPerUnit: 0 }),
  fn("bit_length", [TEXT], INT4, (text: string) => Buffer.byteLength(text) * 8),
  fn("bit_length", [BYTEA], INT4, (bytes: Uint8Array) => bytes.length * 8),
  ...aliases(
    ["lower", "lcase"],
    fn("lower", [TEXT], TEXT, (text: string) => text.toLowerCase()),
  ),
  ...aliases(
    ["upper", "ucase"],
    fn("upper", [TEXT], TEXT, (text: string) => text.toUpperCase()),
  ),
  fn("initcap", [TEXT], TEXT, initcap, { nanosPerUnit: 120 }),
  ...taking(30, [
    fn("normalize", [TEXT], TEXT, (text: string) => text.normalize()),
    fn("normalize", [TEXT, TEXT], TEXT, normalized),
    fn("is_normalized", [TEXT], BOOL, (text: string) => text === text.normalize()),
    fn("is_normalized", [TEXT, TEXT], BOOL, (text: string, form: string) => text === normalized(text, form)),
  ]),
  fn("reverse", [TEXT], TEXT, reversed),
];

const PARTS: readonly ScalarFunction[] = [
  ...["substring", "substr"].flatMap((name) => [
    fn(name, [TEXT, INT4], TEXT, substring, { nanosPerUnit: 1 }),
    fn(name, [TEXT, INT4, INT4], TEXT, substring, { nanosPerUnit: 1 }),
    fn(name, [BYTEA, INT4], BYTEA, substringBytes, { nanosPerUnit: 1 }),
    fn(name, [BYTEA, INT4, INT4], BYTEA, substringBytes, { nanosPerUnit: 1 }),
  ]),
  ...aliases(["strpos", "instr", "position"], fn("strpos", [TEXT, TEXT], INT4, position)),
  fn("position", [BYTEA, BYTEA], INT4, (bytes: Uint8Array, part: Uint8Array) => Buffer.from(bytes).indexOf(part) + 1),
  fn("overlay", [TEXT, TEXT, INT4], TEXT, overlay),
  fn("overlay", [TEXT, TEXT, INT4, INT4], TEXT, overlay),
  fn("left", [TEXT, INT4], TEXT, left, { nanosPerUnit: 1 }),
  fn("textcat", [TEXT, TEXT], TEXT, joined, { nanosPerUnit: 0 }),
  fn("right", [TEXT, INT4], TEXT, right, { nanosPerUnit: 1 }),
  fn("split_part", [TEXT, TEXT, INT4], TEXT, splitPart),
  fn("starts_with", [TEXT, TEXT], BOOL, (text: string, start: string) => text.startsWith(start), { nanosPerUnit: 0 }),
  fn("string_to_array", [TEXT, TEXT], arrayOf(TEXT), stringToArray, SPLIT),
  fn("string_to_array", [TEXT, TEXT, TEXT], arrayOf(TEXT), stringToArray, SPLIT),
];

const MAKING: readonly ScalarFunction[] = [
  ...trims("btrim", "both"),
  ...trims("trim", "both"),
  ...trims("ltrim", "left"),
  ...trims("rtrim", "right"),
  fn("lpad", [TEXT, INT4], TEXT, (text: string, length: number) => pad(text, length, " ", true)),
  fn("lpad", [TEXT, INT4, TEXT], TEXT, (text: string, length: number, fill: string) => pad(text, length, fill, true)),
  fn("rpad", [TEXT, INT4], TEXT, (text: string, length: number) => pad(text, length, " ", false)),
  fn("rpad", [TEXT, INT4, TEXT], TEXT, (text: string, length: number, fill: string) => pad(text, length, fill, false)),
  fn("repeat", [TEXT, INT4], TEXT, repeat),
  fn("replace", [TEXT, TEXT, TEXT], TEXT, (text: string, from: string, to: string) =>
    from === "" ? text : replaced(text, from, to),
  ),
  fn("translate", [TEXT, TEXT, TEXT], TEXT, translate, { nanosPerUnit: 100 }),
  fn("ascii", [TEXT], INT4, (text: string) => text.codePointAt(0) ?? 0),
  fn("chr", [INT4], TEXT, chr),
  fn("to_hex", [INT4], TEXT, (x: number) => toHex(x, 32)),
  fn("to_hex", [INT8], TEXT, (x: number | bigint) => toHex(x, 64)),
  fn("quote_ident", [TEXT], TEXT, quoteIdentifier),
  fn("quote_literal", [TEXT], TEXT, quoteLiteral),
];

export const TEXT_FUNCTIONS: readonly ScalarFunction[] = [...CASE_AND_LENGTH, ...PARTS, ...MAKING];
