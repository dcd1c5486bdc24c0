/** Cypher's functions of strings (openCypher 9, "String functions"). Positions and lengths count code points. */
import type { Turns } from "../../../protocol/turns.js";
import { cypherError } from "../../../values/cypher-error.js";
import { isIntegerValue, type Variant } from "../../../values/variant.js";
import { isList } from "../../../values/variant-format.js";
import type { ScalarFunction } from "../expr.js";
import { splitParts } from "../functions/text.js";
import { listInTurns } from "../list-in-turns.js";
import { checkTextLength } from "./arithmetic.js";
import { cypherFn, cypherFns, wrongArgument } from "./define.js";
import { charactersOf } from "./list-functions.js";

function textArgument(name: string, value: Variant): string {
  if (typeof value === "string") return value;
  throw wrongArgument(`${name}()`, "a string", value);
}

/** A number of characters; throws for negative ones. */
function countArgument(name: string, value: Variant): number {
  if (!isIntegerValue(value)) throw wrongArgument(`${name}()`, "an integer", value);
  if (value < 0) throw cypherError("ArgumentError", "NegativeIntegerArgument", `${name}() takes no negative number`);
  return Number(value);
}

const SURROGATE = /[\ud800-\udbff]/;

/** Characters `from … to − 1`. */
function part(text: string, from: number, to: number): string {
  return SURROGATE.test(text) ? Array.from(text).slice(from, to).join("") : text.slice(from, to);
}

const ofText = (name: string, change: (text: string) => Variant): ScalarFunction =>
  cypherFn(name, 1, (value) => change(textArgument(name, value)));

function left(text: Variant, count: Variant): string {
  return part(textArgument("left", text), 0, countArgument("left", count));
}

function right(text: Variant, count: Variant): string {
  const source = textArgument("right", text);
  const wanted = countArgument("right", count);
  return part(source, Math.max(0, charactersOf(source) - wanted), Number.POSITIVE_INFINITY);
}

function substring(text: Variant, start: Variant, length?: Variant): string {
  const source = textArgument("substring", text);
  const from = countArgument("substring", start);
  return part(
    source,
    from,
    length === undefined ? Number.POSITIVE_INFINITY : from + countArgument("substring", length),
  );
}

function replace(text: Variant, search: Variant, by: Variant): string {
  const [source, wanted, given] = [text, search, by].map((each) => textArgument("replace", each)) as [
    string,
    string,
    string,
  ];
  if (wanted === "") return source;
  const parts = source.split(wanted);
  checkTextLength(source.length + (parts.length - 1) * (given.length - wanted.length));
  return parts.join(given);
}

/** By a delimiter, or by any of a list of them; an empty one separates all characters. */
function split(text: Variant, delimiters: Variant): readonly string[] {
  return [...splitBy(text, delimiters)];
}

function splitBy(text: Variant, delimiters: Variant): Iterable<string> {
  const source = textArgument("split", text);
  const given = isList(delimiters) ? delimiters : [delimiters];
  return given.reduce<Iterable<string>>(
    (pieces, delimiter) => splitAll(pieces, textArgument("split", delimiter)),
    [source],
  );
}

function* splitAll(pieces: Iterable<string>, separator: string): Iterable<string> {
  for (const piece of pieces) yield* separator === "" ? piece : splitParts(piece, separator);
}

const splitInTurns = (turns: Turns, text: Variant, delimiters: Variant) =>
  listInTurns(turns, splitBy(text, delimiters)) as Promise<Variant>;

/** Of blanks, or of the characters of a second argument. */
function trimmed(name: string, atStart: boolean, atEnd: boolean): ScalarFunction[] {
  return cypherFns(name, [1, 2], (value: Variant, characters: Variant = null) => {
    const text = textArgument(name, value);
    if (characters === null) return atStart ? (atEnd ? text.trim() : text.trimStart()) : text.trimEnd();
    const set = new Set(textArgument(name, characters));
    const units = Array.from(text);
    let [from, to] = [0, units.length];
    if (atStart) while (from < to && set.has(units[from]!)) from++;
    if (atEnd) while (to > from && set.has(units[to - 1]!)) to--;
    return units.slice(from, to).join("");
  });
}

const FORMS = new Set(["NFC", "NFD", "NFKC", "NFKD"]);

function normalize(text: Variant, form: Variant = "NFC"): string {
  if (typeof form !== "string" || !FORMS.has(form)) {
    throw cypherError("ArgumentError", "InvalidArgumentValue", "normalize() takes NFC, NFD, NFKC or NFKD");
  }
  return textArgument("normalize", text).normalize(form);
}

export const TEXT_FUNCTIONS: readonly ScalarFunction[] = [
  cypherFn("left", 2, left),
  cypherFn("right", 2, right),
  ...cypherFns("substring", [2, 3], substring),
  cypherFn("replace", 3, replace),
  cypherFn("split", 2, split, { nanosPerUnit: 40, applyInTurns: splitInTurns }),
  ...trimmed("trim", true, true),
  ...trimmed("btrim", true, true),
  ...trimmed("ltrim", true, false),
  ...trimmed("rtrim", false, true),
  ofText("toLower", (text) => text.toLowerCase()),
  ofText("toUpper", (text) => text.toUpperCase()),
  ofText("lower", (text) => text.toLowerCase()),
  ofText("upper", (text) => text.toUpperCase()),
  ofText("char_length", charactersOf),
  ofText("character_length", charactersOf),
  ...cypherFns("normalize", [1, 2], normalize),
];
