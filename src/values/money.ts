/**
 * PostgreSQL's money: an integer of cents within 64 bits, written as "$1,234.56" whatever the session's locale (cash.c
 * of PostgreSQL 15 where lc_monetary is C). A value is an int8's.
 */
import { sqlError } from "../protocol/errors.js";

type Cents = number | bigint;

const MAX = (1n << 63n) - 1n;
const MIN = -(1n << 63n);
/** `-$1,234.56`, `$ (1.00)`, `1.5-`. What has no digit is zero. */
const SPELLED = /^\s*\$?\s*([-+(])?\s*\$?\s*([\d,]*)(?:\.([\d,]*))?([\s)\-+$]*)$/;

/** Throws 22P02, 22003. */
export function moneyFromText(text: string): Cents {
  const match = SPELLED.exec(text);
  if (match === null) throw sqlError("22P02", `invalid input syntax for type money: "${text}"`);
  const [, sign = "", whole = "", part = "", end = ""] = match;
  const fraction = part.replaceAll(",", "");
  const shown = BigInt(whole.replaceAll(",", "") + fraction.slice(0, 2).padEnd(2, "0"));
  const magnitude = (fraction[2] ?? "0") >= "5" ? shown + 1n : shown;
  const isNegative = sign === "-" || sign === "(" || end.includes("-");
  return cents(isNegative ? -magnitude : magnitude, `value "${text}" is out of range for type money`);
}

/** In its normal form. Throws 22003. */
export function cents(value: bigint, message = "money out of range"): Cents {
  if (value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER) return Number(value);
  if (value < MIN || value > MAX) throw sqlError("22003", message);
  return value;
}

export function moneyToText(value: Cents): string {
  const isNegative = value < 0;
  const digits = String(isNegative ? -value : value).padStart(3, "0");
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${isNegative ? "-" : ""}$${whole}.${digits.slice(-2)}`;
}

const SMALL =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const GROUPS = ["", " thousand", " million", " billion", " trillion", " quadrillion"];

/** Of a number below a thousand, as cash.c has it: "and" before the last part of some. */
function wordsBelowThousand(value: number): string {
  const rest = value % 100;
  const hundreds = Math.floor(value / 100);
  if (value <= 20) return SMALL[value] ?? TENS[2]!;
  if (rest === 0) return `${SMALL[hundreds]} hundred`;
  if (value > 99) {
    const before = `${SMALL[hundreds]} hundred`;
    if (value % 10 === 0 && rest > 10) return `${before} ${TENS[rest / 10]}`;
    if (rest < 20) return `${before} and ${SMALL[rest]}`;
    return `${before} ${TENS[Math.floor(rest / 10)]} ${SMALL[rest % 10]}`;
  }
  if (value % 10 === 0 && rest > 10) return TENS[rest / 10]!;
  if (rest < 20) return SMALL[rest]!;
  return `${TENS[Math.floor(rest / 10)]} ${SMALL[rest % 10]}`;
}

/** cash_words: "One hundred twenty three dollars and forty five cents". */
export function moneyInWords(value: Cents): string {
  const magnitude = BigInt(value < 0 ? -BigInt(value) : value);
  const dollars = magnitude / 100n;
  const rest = Number(magnitude % 100n);
  let words = value < 0 ? "minus " : "";
  for (let group = GROUPS.length - 1; group >= 1; group--) {
    const part = Number((dollars / 1000n ** BigInt(group)) % 1000n);
    if (part > 0) words += `${wordsBelowThousand(part)}${GROUPS[group]} `;
  }
  const last = Number(dollars % 1000n);
  if (last > 0) words += wordsBelowThousand(last);
  if (dollars === 0n) words += "zero";
  words += `${dollars === 1n ? " dollar and " : " dollars and "}${wordsBelowThousand(rest)}`;
  words += rest === 1 ? " cent" : " cents";
  return words[0]!.toUpperCase() + words.slice(1);
}
