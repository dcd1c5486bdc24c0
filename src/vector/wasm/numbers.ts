/**
 * Reads a JSON list of numbers into single precision. A module of its own (numbers.wasm), called by number-list.ts. It
 * reads plain numbers; for anything else it returns that it cannot, and JSON.parse then reports the error.
 *
 * A number is a mantissa of up to 19 digits and a power of ten. As a double it is wrong by two roundings at most.
 * Single precision does not show that, unless the number lies in between two singles; such a number is refused as
 * well.
 */

/**
 * Behind what the compiler has put into memory. What `inputAt` and `outputAt` have room for: `INPUT_BYTES` with the
 * closing bracket, `MOST` numbers.
 */
const INPUT: usize = 4096;
const INPUT_BYTES: usize = 262144;
const OUTPUT: usize = INPUT + INPUT_BYTES;
/** As protocol/limits.ts has it for the dimensions of vectors. */
const MOST: usize = 16000;
const OUTPUT_END: usize = OUTPUT + MOST * 4;

/** Powers that a double holds exactly. */
const POWERS: StaticArray<f64> = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
  1e21, 1e22,
];
const WHOLE_POWERS: StaticArray<u64> = [1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000];
const POWER_MAX: i32 = 22;
const DIGITS_MAX: usize = 19;
/** Mantissas above are rounded when they become doubles. */
const EXACT_MAX: u64 = 1 << 53;
/** More than two roundings. */
const BELOW: f64 = 1 - 6e-16;
const ABOVE: f64 = 1 + 6e-16;

const COMMA: u32 = 44;
const MINUS: u32 = 45;
const PLUS: u32 = 43;
const POINT: u32 = 46;
const ZERO: u32 = 48;
const CLOSE_LIST: u32 = 93;
const LETTER_E: u32 = 101;
/** What makes a small letter of a capital one. */
const SMALL: u32 = 32;

/** Where the reader has come to. */
let at: usize = 0;
let isPlain: bool = true;

export function inputAt(): usize {
  return INPUT;
}

export function inputBytes(): usize {
  return INPUT_BYTES;
}

export function outputAt(): usize {
  return OUTPUT;
}

/** Reads the input from after the opening bracket to the closing one; returns the number of numbers, or -1. */
export function read(): i32 {
  at = INPUT;
  isPlain = true;
  let out = OUTPUT;
  if (next() === CLOSE_LIST) return 0;
  while (true) {
    if (out === OUTPUT_END) return -1;
    next();
    store<f32>(out, number());
    if (!isPlain) return -1;
    out += 4;
    const byte = next();
    at++;
    if (byte === CLOSE_LIST) return <i32>((out - OUTPUT) >> 2);
    if (byte !== COMMA) return -1;
  }
}

/** The byte after blanks. */
function next(): u32 {
  while (true) {
    const byte: u32 = load<u8>(at);
    if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) return byte;
    at++;
  }
}

function number(): f32 {
  const isNegative = load<u8>(at) === <u8>MINUS;
  if (isNegative) at++;
  let first = at;
  let mantissa = digits(0);
  const whole = at - first;
  if (whole === 0 || (whole > 1 && load<u8>(first) === <u8>ZERO)) return refuse();
  let count = whole;
  let power: i32 = 0;
  if (load<u8>(at) === <u8>POINT) {
    at++;
    const begin = at;
    mantissa = digits(mantissa);
    if (at === begin) return refuse();
    power = -(<i32>(at - begin));
    count += at - begin;
    if (count > DIGITS_MAX) {
      // Zeros in front make nothing overflow.
      if (load<u8>(first) === <u8>ZERO) {
        first = begin;
        while (load<u8>(first) === <u8>ZERO) first++;
        count = at > first ? at - first : 0;
      }
    }
  }
  if (count > DIGITS_MAX) return refuse();
  if ((<u32>load<u8>(at) | SMALL) === LETTER_E) power += exponent();
  const value = scaled(<f64>mantissa, power);
  if (mantissa > EXACT_MAX && <f32>(value * BELOW) !== <f32>(value * ABOVE)) return refuse();
  return <f32>(isNegative ? -value : value);
}

/** Eight at a time (Lemire, "Quickly parsing eight digits", 2018), however many of them are digits. */
function digits(before: u64): u64 {
  let mantissa = before;
  while (true) {
    const bytes = load<u64>(at);
    // A byte that is no digit spoils only what comes after it.
    const values = bytes - 0x3030303030303030;
    const others = (values | (bytes + 0x4646464646464646)) & 0x8080808080808080;
    const count = <i32>(ctz<u64>(others) >> 3);
    if (count === 0) return mantissa;
    mantissa = mantissa * unchecked(WHOLE_POWERS[count]) + eight(values << ((<u64>(8 - count)) << 3));
    at += count;
    if (count < 8) return mantissa;
  }
}

/** The number of these digits, the first in the lowest byte. */
function eight(values: u64): u64 {
  let sums = (values * 10 + (values >> 8)) & 0x00ff00ff00ff00ff;
  sums = (sums * 100 + (sums >> 16)) & 0x0000ffff0000ffff;
  return (sums * 10000 + (sums >> 32)) & 0xffffffff;
}

function exponent(): i32 {
  at++;
  const sign: u32 = load<u8>(at);
  if (sign === PLUS || sign === MINUS) at++;
  const begin = at;
  const value = digits(0);
  if (at === begin || at - begin > 3) isPlain = false;
  return sign === MINUS ? -(<i32>value) : <i32>value;
}

/** With a power beyond what doubles hold the division would be one more rounding. */
function scaled(mantissa: f64, power: i32): f64 {
  if (power === 0) return mantissa;
  if (power < -POWER_MAX || power > POWER_MAX) {
    isPlain = false;
    return 0;
  }
  return power < 0 ? mantissa / unchecked(POWERS[-power]) : mantissa * unchecked(POWERS[power]);
}

function refuse(): f32 {
  isPlain = false;
  return 0;
}
