/** Conversions between the types of numbers, bounded and rounded as in PostgreSQL. Called by cast.ts and functions. */
import { sqlError } from "../../protocol/errors.js";
import { nearestFloat4 } from "../../values/float-text.js";
import { Numeric } from "../../values/numeric.js";
import type { Value } from "../../values/values.js";

type FromNumber = (value: Value) => Value;

export const outOfRange = (what: string) => sqlError("22003", `${what} out of range`);

const INTEGER_BOUNDS: Readonly<Record<string, readonly [number, number, string]>> = {
  int2: [-32_768, 32_767, "smallint"],
  int4: [-2_147_483_648, 2_147_483_647, "integer"],
  oid: [0, 4_294_967_295, "OID"],
};

const INT8_MIN = -(1n << 63n);
const INT8_MAX = (1n << 63n) - 1n;

/** A 64-bit integer in its normal form. Throws 22003. */
export function normalInt8(value: bigint): number | bigint {
  if (value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER) return Number(value);
  if (value < INT8_MIN || value > INT8_MAX) throw outOfRange("bigint");
  return value;
}

/** Between number types; integers round halves to even out of floats and away from zero out of numeric. */
export function numberConversion(from: string, to: string): FromNumber | null {
  const bounds = INTEGER_BOUNDS[to];
  if (bounds !== undefined) {
    // They have the same 32 bits.
    if (to === "oid" && (from === "int4" || from === "int2")) return (value) => (value as number) >>> 0;
    if (to === "int4" && from === "oid") return (value) => (value as number) | 0;
    const [min, max, name] = bounds;
    const whole = wholeNumber(from, name);
    return (value) => {
      const integer = whole(value);
      if (integer < min || integer > max) throw outOfRange(name);
      return Number(integer);
    };
  }
  switch (to) {
    case "int8": {
      const whole = wholeNumber(from, "bigint");
      return (value) => {
        const integer = whole(value);
        return typeof integer === "number" && Number.isSafeInteger(integer) ? integer : normalInt8(BigInt(integer));
      };
    }
    case "float8":
      if (from === "numeric") return (value) => numericToFloat(value as Numeric, "double precision");
      return (value) => Number(value);
    case "float4":
      if (from === "numeric") return (value) => toFloat4(numericToFloat(value as Numeric, "real"), value);
      return (value) => toFloat4(Number(value), value);
    case "money":
      if (from !== "numeric") return (value) => normalInt8(BigInt(value as number | bigint) * 100n);
      return (value) => normalInt8(toCents(value as Numeric));
    case "numeric":
      if (from === "money") return (value) => Numeric.of(BigInt(value as number | bigint), 2);
      if (from === "float8") return (value) => Numeric.fromFloat(value as number, 15);
      if (from === "float4") return (value) => Numeric.fromFloat(value as number, 6);
      if (from === "numeric") return (value) => value;
      return (value) => Numeric.fromInteger(value as number | bigint);
    default:
      return null;
  }
}

/** Half a cent is rounded away from zero. */
function toCents(value: Numeric): bigint {
  if (!value.isFinite()) throw sqlError("0A000", `cannot convert ${value.isNaN() ? "NaN" : "infinity"} to bigint`);
  const { unscaled, scale } = value.round(2);
  return unscaled * 10n ** BigInt(2 - scale);
}

function wholeNumber(from: string, target: string): (value: Value) => number | bigint {
  if (from === "numeric") {
    return (value) => {
      const integer = (value as Numeric).toInteger();
      if (integer === null) {
        const what = (value as Numeric).isNaN() ? "NaN" : "infinity";
        throw sqlError("0A000", `cannot convert ${what} to ${target}`);
      }
      return integer;
    };
  }
  if (from === "float4" || from === "float8") {
    return (value) => {
      const integer = roundHalfEven(value as number);
      if (!Number.isFinite(integer) || Math.abs(integer) > 2 ** 63) throw outOfRange(target);
      return integer;
    };
  }
  return (value) => value as number | bigint;
}

export function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  const difference = x - floor;
  if (difference < 0.5) return floor;
  if (difference > 0.5) return floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

/** `x`: the double nearest to the value; a float8 is one itself. */
function toFloat4(x: number, value: Value): number {
  const single = typeof value === "number" ? Math.fround(x) : nearestFloat4(x, () => String(value));
  if (!Number.isFinite(single) && Number.isFinite(x)) throw sqlError("22003", "value out of range: overflow");
  if (single === 0 && x !== 0) throw sqlError("22003", "value out of range: underflow");
  return single;
}

function numericToFloat(value: Numeric, type: string): number {
  const number = value.toNumber();
  if (!Number.isFinite(number) && value.isFinite()) {
    throw sqlError("22003", `"${value}" is out of range for type ${type}`);
  }
  return number;
}
