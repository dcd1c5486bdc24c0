/** Operators and functions of money (cash.c of PostgreSQL 15). Results beyond 64 bits are refused, not wrapped. */
import { cents, moneyInWords } from "../../../values/money.js";
import {
  BOOL,
  FLOAT4,
  FLOAT8,
  INT2,
  INT4,
  INT8,
  MONEY,
  NUMERIC,
  type SqlType,
  TEXT,
  type Value,
} from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { numberConversion, roundHalfEven } from "../number-cast.js";
import { divisionByZero } from "./arithmetic.js";
import { type Apply, fn, op } from "./define.js";

type Cents = number | bigint;

const sum = (a: Cents, b: Cents): Cents => cents(BigInt(a) + BigInt(b));
const difference = (a: Cents, b: Cents): Cents => cents(BigInt(a) - BigInt(b));
const times = (a: Cents, b: Cents): Cents => cents(BigInt(a) * BigInt(b));
const larger = (a: Cents, b: Cents): Cents => (a > b ? a : b);
const smaller = (a: Cents, b: Cents): Cents => (a < b ? a : b);

/** Throws 22003. */
function rounded(value: number): Cents {
  const whole = roundHalfEven(value);
  // An infinite number, or none, is out of range, too.
  return cents(Number.isFinite(whole) ? BigInt(whole) : 1n << 64n);
}

const scaled = (a: Cents, by: number): Cents => rounded(Number(a) * by);

function dividedByFloat(a: Cents, by: number): Cents {
  if (by === 0) throw divisionByZero();
  return rounded(Number(a) / by);
}

/** Towards zero. */
function dividedByInteger(a: Cents, by: Cents): Cents {
  if (by === 0) throw divisionByZero();
  return cents(BigInt(a) / BigInt(by));
}

function ratio(a: Cents, b: Cents): number {
  if (b === 0) throw divisionByZero();
  return Number(a) / Number(b);
}

const FACTORS: readonly (readonly [SqlType, Apply, Apply])[] = [
  ...[FLOAT8, FLOAT4].map((type) => [type, scaled, dividedByFloat] as const),
  ...[INT8, INT4, INT2].map((type) => [type, times, dividedByInteger] as const),
];

const compared = (symbol: string, holds: (a: Cents, b: Cents) => boolean) => fn(symbol, [MONEY, MONEY], BOOL, holds);

const toMoney = (type: SqlType) => fn("money", [type], MONEY, numberConversion(type.name, "money")!);

export const MONEY_OPERATORS: readonly ScalarFunction[] = [
  op("+", [MONEY, MONEY], MONEY, sum),
  op("-", [MONEY, MONEY], MONEY, difference),
  op("/", [MONEY, MONEY], FLOAT8, ratio),
  ...FACTORS.flatMap(([type, multiply, divide]) => [
    op("*", [MONEY, type], MONEY, multiply),
    op("*", [type, MONEY], MONEY, (by: Cents, a: Cents) => multiply(a, by)),
    op("/", [MONEY, type], MONEY, divide),
  ]),
];

export const MONEY_FUNCTIONS: readonly ScalarFunction[] = [
  fn("cash_words", [MONEY], TEXT, moneyInWords),
  fn("cashlarger", [MONEY, MONEY], MONEY, larger),
  fn("cashsmaller", [MONEY, MONEY], MONEY, smaller),
  fn("cash_cmp", [MONEY, MONEY], INT4, (a: Cents, b: Cents) => (a === b ? 0 : a < b ? -1 : 1)),
  compared("cash_eq", (a, b) => a === b),
  compared("cash_ne", (a, b) => a !== b),
  compared("cash_lt", (a, b) => a < b),
  compared("cash_le", (a, b) => a <= b),
  compared("cash_gt", (a, b) => a > b),
  compared("cash_ge", (a, b) => a >= b),
  toMoney(INT4),
  toMoney(INT8),
  toMoney(NUMERIC),
  fn("numeric", [MONEY], NUMERIC, numberConversion("money", "numeric") as (value: Value) => Value),
];
