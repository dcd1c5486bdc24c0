/**
 * Counts of microseconds, as intervals have them and as there are between two timestamps: a number within ±(2^53−1),
 * else a bigint.
 */

/** In PostgreSQL such a count has 64 bits. */
export const isInt64 = (x: bigint): boolean => BigInt.asIntN(64, x) === x;

export function normalMicros(x: bigint): number | bigint {
  return x >= Number.MIN_SAFE_INTEGER && x <= Number.MAX_SAFE_INTEGER ? Number(x) : x;
}

export function plusMicros(a: number | bigint, b: number | bigint): number | bigint {
  if (typeof a === "number" && typeof b === "number" && Number.isSafeInteger(a + b)) return a + b;
  return normalMicros(BigInt(a) + BigInt(b));
}

/** Whole units, and what is left, both with the sign of all of them. */
export function splitMicros(micros: number | bigint, unit: number): { readonly whole: number; readonly rest: number } {
  if (typeof micros === "bigint") return { whole: Number(micros / BigInt(unit)), rest: Number(micros % BigInt(unit)) };
  const whole = Math.trunc(micros / unit);
  return { whole, rest: micros - whole * unit };
}

/** Without what is left of a unit. */
export function wholeMicros(micros: number | bigint, unit: number): number | bigint {
  return plusMicros(micros, -splitMicros(micros, unit).rest);
}

/** With so many digits behind the seconds (0 to 6), half away from zero. */
export function roundedMicros(micros: number | bigint, digits: number): number | bigint {
  const unit = 10 ** (6 - digits);
  const { rest } = splitMicros(micros, unit);
  const isUp = Math.abs(rest) * 2 >= unit;
  return plusMicros(micros, (isUp ? Math.sign(rest) * unit : 0) - rest);
}
