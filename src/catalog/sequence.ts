/** Definitions of sequences, stored like tables. Numbers are 64-bit integers: a bigint beyond what a double holds. */
import { sqlError } from "../protocol/errors.js";
import { INT8, type SqlType } from "../values/values.js";

export type SequenceNumber = number | bigint;

export interface SequenceDef {
  /** Unique within the tenant; names the sequence's state. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  /** int2, int4 or int8: the bounds of `min` and `max`. */
  readonly type: SqlType;
  readonly start: SequenceNumber;
  readonly increment: SequenceNumber;
  readonly min: SequenceNumber;
  readonly max: SequenceNumber;
  readonly cycle: boolean;
  readonly cache: SequenceNumber;
  /**
   * Goes on behind the values that rows of its table were given (query/exec/free-value.ts). Absent: it does not look.
   */
  readonly follows?: true;
  /** The column that it numbers; it is dropped with it. */
  readonly ownedBy: { readonly tableId: number; readonly columnId: number } | null;
  /** Where values go on from until there is a state of this definition: ALTER SEQUENCE … RESTART. */
  readonly from: SequencePosition | null;
  readonly comment?: string;
  /**
   * Microseconds since the epoch, later with every change: tells the state that belongs to this definition from one
   * of an earlier definition, also of the same id whose creation was undone.
   */
  readonly createdAt: number;
}

/** The last value, and whether it was handed out; if not, it is the next one. */
export interface SequencePosition {
  readonly last: SequenceNumber;
  readonly called: boolean;
}

/** As written; null: not given. `type` as in AS. */
export interface SequenceOptions {
  readonly type: SqlType | null;
  readonly start: SequenceNumber | null;
  readonly increment: SequenceNumber | null;
  /** "none": NO MINVALUE, the type's bound. */
  readonly min: SequenceNumber | "none" | null;
  readonly max: SequenceNumber | "none" | null;
  readonly cycle: boolean | null;
  readonly cache: SequenceNumber | null;
  /** RESTART [WITH n]; "start": without a number. */
  readonly restart: SequenceNumber | "start" | null;
  /** As in SequenceDef. */
  readonly follows?: true;
}

export const PLAIN_SEQUENCE: SequenceOptions = Object.freeze({
  type: null,
  start: null,
  increment: null,
  min: null,
  max: null,
  cycle: null,
  cache: null,
  restart: null,
});

/** Of a column that is assigned. */
export const FOLLOWING_SEQUENCE: SequenceOptions = Object.freeze({ ...PLAIN_SEQUENCE, follows: true });

const BITS: Readonly<Record<string, number>> = { int2: 16, int4: 32, int8: 64 };

/** A number if a double holds it exactly. */
export function sequenceNumber(value: bigint): SequenceNumber {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

function boundsOf(type: SqlType): { least: bigint; largest: bigint } {
  const half = 1n << BigInt(BITS[type.name]! - 1);
  return { least: -half, largest: half - 1n };
}

type Shape = Pick<SequenceDef, "type" | "start" | "increment" | "min" | "max" | "cycle" | "cache">;

/**
 * The sequence's numbers out of what was written, over those it had (`before`; null: a new one). Throws 22023 as
 * PostgreSQL does for numbers that do not go together.
 */
export function sequenceShape(options: SequenceOptions, before: SequenceDef | null, ownType: SqlType = INT8): Shape {
  const type = options.type ?? before?.type ?? ownType;
  if (BITS[type.name] === undefined || type.user !== undefined) {
    throw sqlError("22023", "sequence type must be smallint, integer, or bigint");
  }
  const increment = BigInt(options.increment ?? before?.increment ?? 1);
  if (increment === 0n) throw sqlError("22023", "INCREMENT must not be zero");
  const { min, max } = limitsOf(options, before, type, increment > 0n);
  if (min >= max) throw sqlError("22023", `MINVALUE (${min}) must be less than MAXVALUE (${max})`);
  const start = BigInt(options.start ?? before?.start ?? (increment > 0n ? min : max));
  checkInside("START", start, min, max);
  const cache = BigInt(options.cache ?? before?.cache ?? 1);
  if (cache < 1n) throw sqlError("22023", `CACHE (${cache}) must be greater than zero`);
  return {
    type,
    start: sequenceNumber(start),
    increment: sequenceNumber(increment),
    min: sequenceNumber(min),
    max: sequenceNumber(max),
    cycle: options.cycle ?? before?.cycle ?? false,
    cache: sequenceNumber(cache),
  };
}

/** A bound that was the old type's own moves with AS to the new type's. */
function limitsOf(options: SequenceOptions, before: SequenceDef | null, type: SqlType, rising: boolean) {
  const { least, largest } = boundsOf(type);
  const old = before === null ? null : boundsOf(before.type);
  const moves = old !== null && options.type !== null && options.type !== before!.type;
  const oldMin = before === null ? null : moves && BigInt(before.min) === old!.least ? least : before.min;
  const oldMax = before === null ? null : moves && BigInt(before.max) === old!.largest ? largest : before.max;
  const givenMin = options.min === "none" ? null : (options.min ?? oldMin);
  const givenMax = options.max === "none" ? null : (options.max ?? oldMax);
  const min = givenMin === null ? (rising ? 1n : least) : BigInt(givenMin);
  const max = givenMax === null ? (rising ? largest : -1n) : BigInt(givenMax);
  const outside = (what: string, value: bigint) =>
    sqlError("22023", `${what} (${value}) is out of range for sequence data type ${DISPLAY[type.name]}`);
  if (max < least || max > largest) throw outside("MAXVALUE", max);
  if (min < least || min > largest) throw outside("MINVALUE", min);
  return { min, max };
}

const DISPLAY: Readonly<Record<string, string>> = { int2: "smallint", int4: "integer", int8: "bigint" };

function checkInside(what: "START" | "RESTART", value: bigint, min: bigint, max: bigint): void {
  if (value < min) throw sqlError("22023", `${what} value (${value}) cannot be less than MINVALUE (${min})`);
  if (value > max) throw sqlError("22023", `${what} value (${value}) cannot be greater than MAXVALUE (${max})`);
}

/** Where a changed sequence goes on: at RESTART's number, or behind `position`. Throws 22023. */
export function restartOf(shape: Shape, options: SequenceOptions, position: SequencePosition): SequencePosition {
  const min = BigInt(shape.min);
  const max = BigInt(shape.max);
  if (options.restart === null) {
    checkInside("RESTART", BigInt(position.last), min, max);
    return position;
  }
  const last = options.restart === "start" ? shape.start : options.restart;
  checkInside("RESTART", BigInt(last), min, max);
  return { last, called: false };
}
