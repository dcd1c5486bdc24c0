/** What Cypher's conditions ask of keys: bounds of STARTS WITH, and variants that are compared with an id. */
import { INT8, VARIANT } from "../../values/values.js";
import { Float, isIntegerValue, type Variant } from "../../values/variant.js";
import type { Expr, ScalarFunction } from "../expr/expr.js";

function keyFunction(
  name: string,
  returns: ScalarFunction["returns"],
  apply: (value: Variant) => Variant,
): ScalarFunction {
  return Object.freeze({ name, args: [VARIANT], returns, volatility: "immutable", strict: true, apply });
}

/** The first key that begins with the text; null for what is no text, with which nothing begins. */
export const PREFIX_START = keyFunction("prefix_start", VARIANT, (prefix) =>
  typeof prefix === "string" ? prefix : null,
);

/** The first key after all that begin with the text: its last character's successor, or what comes after all texts. */
export const PREFIX_END = keyFunction("prefix_end", VARIANT, (prefix) => {
  if (typeof prefix !== "string") return null;
  const characters = Array.from(prefix, (character) => character.codePointAt(0)!);
  while (characters.length > 0) {
    const last = characters.pop()!;
    if (last === LAST_CHARACTER) continue;
    const next = last === LAST_BEFORE_SURROGATES ? FIRST_AFTER_SURROGATES : last + 1;
    return String.fromCodePoint(...characters, next);
  }
  return AFTER_TEXTS;
});

const LAST_CHARACTER = 0x10ffff;
const LAST_BEFORE_SURROGATES = 0xd7ff;
const FIRST_AFTER_SURROGATES = 0xe000;
/** Of the kinds of variants, booleans follow texts. */
const AFTER_TEXTS = false;

/** The integer that a value is equal to; null: none. */
export const INTEGER_KEY = keyFunction("integer_key", INT8, integerKey);

function integerKey(value: Variant): Variant {
  if (isIntegerValue(value)) return value;
  return value instanceof Float && Number.isSafeInteger(value.value) ? value.value : null;
}

/** Those of the values of a list. */
export const INTEGER_KEYS = keyFunction("integer_keys", VARIANT, (list) =>
  Array.isArray(list) ? (list as readonly Variant[]).map(integerKey) : list,
);

export function callOf(fn: ScalarFunction, arg: Expr): Expr {
  return Object.freeze({ kind: "call", type: fn.returns, fn, args: [arg] });
}
