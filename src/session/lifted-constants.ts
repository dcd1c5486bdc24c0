/**
 * A statement's text with parameters in place of its constants: clients that write values into their texts send the
 * same statement again and again. Where the text has anything out of the ordinary, it is left as it is.
 */
import { numberConstant } from "../sql/bind/number-constant.js";
import { type SqlType, UNKNOWN, type Value } from "../values/values.js";

/** A constant as it stands in the text: of a string the type is not known there. */
export interface LiftedConstant {
  readonly type: SqlType;
  readonly value: Value;
}

export interface LiftedText {
  /** With $1, $2, … in place of the constants. */
  readonly sql: string;
  readonly constants: readonly LiftedConstant[];
}

/** Longer texts are not statements about a few rows, and reading them again takes time. */
const CHARACTERS_MAX = 4_000;
const CONSTANTS_MAX = 100;

/**
 * What may hold or begin something that looks like a constant. A number that is a part of a name is none; one that is
 * long or has an exponent stays, as reading it may take time.
 */
const TOKEN = new RegExp(
  [
    `"(?:[^"]|"")*"`,
    `'(?:[^']|'')*'`,
    String.raw`(?<![\w.$])(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?![\w.])`,
    String.raw`--|\/\*|[$'"\\]`,
  ].join("|"),
  "g",
);
const BEGINNING = /^\s*(?:select|insert|update|delete)\b/i;
/** A minus sign that belongs to the number behind it, and not to what comes before. */
const SIGN = /(?<=[-+*/%<>=(,]\s*)-$/;
/** Numbers behind these words are a part of the plan. */
const STAYS = /\b(?:limit|offset)\s+$/i;

/**
 * Null: the text has no constants, or something that is not read here: comments, parameters, other kinds of strings.
 */
export function liftConstants(text: string): LiftedText | null {
  if (text.length > CHARACTERS_MAX || !BEGINNING.test(text)) return null;
  const constants: LiftedConstant[] = [];
  let sql = "";
  /** Up to here the text is in `sql`. */
  let done = 0;
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(text); found !== null; found = TOKEN.exec(text)) {
    const [token] = found;
    const first = token[0]!;
    if (first === '"' && token.length > 1) continue;
    const passed = text.slice(done, found.index);
    if (first === "'" && token.length > 1) {
      // Letters before a quote make another kind of string of it.
      if (/[\w&]$/.test(passed)) return null;
      constants.push({ type: UNKNOWN, value: token.slice(1, -1).replaceAll("''", "'") });
      sql += passed;
    } else if (/[\d.]/.test(first)) {
      if (STAYS.test(passed)) continue;
      const isSigned = SIGN.test(passed) || (passed === "-" && SIGN.test(`${sql}-`));
      constants.push(numberConstant(isSigned ? `-${token}` : token));
      sql += isSigned ? passed.slice(0, -1) : passed;
    } else return null;
    sql += `$${constants.length}`;
    done = TOKEN.lastIndex;
  }
  return constants.length === 0 || constants.length > CONSTANTS_MAX ? null : { sql: sql + text.slice(done), constants };
}
