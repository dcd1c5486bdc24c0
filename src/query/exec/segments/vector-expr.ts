/**
 * Arithmetic on the number columns of segments, whole chunks at a time, in double precision. Exactness is proved per
 * segment before anything is computed: from the smallest and largest values of the columns follow bounds of every
 * intermediate result, and what could leave the integers that doubles hold exactly (or the range of its integer type)
 * is refused, so that the compiled expressions compute it. numeric is computed on unscaled integers.
 */
import type { Numeric } from "../../../values/numeric.js";
import type { SqlType, Value } from "../../../values/values.js";
import type { SlotOf } from "../../expr/compile.js";
import type { CallExpr, Expr } from "../../expr/expr.js";
import type { Chunk } from "./chunk.js";
import { type Column, type DictionaryColumn, loadNumbers, markNulls } from "./column.js";
import type { TextColumn } from "./text-column.js";

/** Integers up to here, and sums of two, are exact. */
export const EXACT_MAX = 2 ** 52;

/** What is computed of a chunk: where its rows are. */
export type ChunkRows = Pick<Chunk, "selections" | "length">;

/** An expression over one segment. */
export interface VectorValue {
  /** Digits after the point of the unscaled results; 0 unless it is numeric. */
  readonly scale: number;
  /** Bounds of the results; low > high when all are NULL. */
  readonly low: number;
  readonly high: number;
  readonly mayBeNull: boolean;
  /** Writes the chunk's results into `out`, and 1 into `nulls` (zeroed before) where one is NULL. */
  compute(chunk: ChunkRows, out: Float64Array, nulls: Uint8Array): void;
}

/** Works the expression out for a segment with these columns (by slot); null: it must be computed row by row. */
export type VectorExpr = (vectors: readonly Column[]) => VectorValue | null;

const LIMITS: Readonly<Record<string, number>> = { int2: 2 ** 15 - 1, int4: 2 ** 31 - 1, int8: EXACT_MAX };
const INTEGERS = new Set(["int2", "int4", "int8"]);
const COLUMNS = new Set([...INTEGERS, "numeric", "float8", "float4"]);

const OPERATORS: ReadonlySet<string> = new Set(["+", "-", "*", "%"]);

/**
 * Null for expressions of other kinds than columns, constants, +, −, ×, %, lengths of texts and casts that keep the
 * number.
 */
export function vectorExprOf(expr: Expr, slotOf: SlotOf): VectorExpr | null {
  switch (expr.kind) {
    case "column":
      return COLUMNS.has(expr.type.name) ? slotExpr(slotOf(expr.id)) : null;
    case "const":
      return constantExpr(expr.type, expr.value);
    case "cast": {
      if (!keepsNumber(expr.input.type, expr.type)) return null;
      return vectorExprOf(expr.input, slotOf);
    }
    case "call": {
      const { operator } = expr.fn;
      if (LENGTHS.has(expr.fn.name) && expr.fn.routine === undefined) return lengthExpr(expr, slotOf);
      if (expr.args.length !== 2 || operator === undefined || !OPERATORS.has(operator)) return null;
      if (!isArithmetic(expr.type) || expr.args.some((arg) => !isArithmetic(arg.type))) return null;
      const [left, right] = expr.args.map((arg) => vectorExprOf(arg, slotOf));
      return left == null || right == null ? null : binaryExpr(operator, expr.type, left, right);
    }
    default:
      return null;
  }
}

/** Functions that give the length of a text. */
const LENGTHS: ReadonlySet<string> = new Set(["length", "char_length", "character_length", "len", "octet_length"]);
/** Types whose values are their texts. */
const TEXTS: ReadonlySet<string> = new Set(["text", "varchar", "name"]);

function lengthExpr({ fn, args }: CallExpr, slotOf: SlotOf): VectorExpr | null {
  const [arg] = args;
  if (args.length !== 1 || arg === undefined || fn.args[0]!.name !== "text") return null;
  const column = arg.kind === "cast" && arg.type.name === "text" ? arg.input : arg;
  const slot = column.kind === "column" && TEXTS.has(column.type.name) ? slotOf(column.id) : -1;
  if (slot < 0) return null;
  const isOctets = fn.name === "octet_length";
  return (vectors) => {
    const held = vectors[slot]!;
    if (held.kind === "dictionary") return entryLengths(held, slot, (text) => fn.apply(text) as number);
    return held.kind === "text" ? textLengths(held, slot, isOctets || held.isAscii) : null;
  };
}

/** Worked out once for each entry. */
function entryLengths(
  { codes, values }: DictionaryColumn,
  slot: number,
  lengthOf: (text: Value) => number,
): VectorValue {
  const lengths = Int32Array.from(values, (value) => (value === null ? 0 : lengthOf(value)));
  const isNull = Uint8Array.from(values, (value) => (value === null ? 1 : 0));
  return {
    scale: 0,
    low: 0,
    high: lengths.reduce((a, b) => Math.max(a, b), 0),
    mayBeNull: values.includes(null),
    compute(chunk, out, outNulls) {
      const { rows, from } = chunk.selections[slot]!;
      for (let i = 0; i < chunk.length; i++) {
        const code = codes[rows === null ? from + i : rows[i]!]!;
        out[i] = lengths[code]!;
        if (isNull[code] === 1) outNulls[i] = 1;
      }
    },
  };
}

/** `areBytes`: each byte counts; else each that begins a character. */
function textLengths({ data, offsets, nulls }: TextColumn, slot: number, areBytes: boolean): VectorValue {
  return {
    scale: 0,
    low: 0,
    high: data.length,
    mayBeNull: nulls !== null,
    compute(chunk, out, outNulls) {
      const { rows, from } = chunk.selections[slot]!;
      for (let i = 0; i < chunk.length; i++) {
        const row = rows === null ? from + i : rows[i]!;
        const end = offsets[row + 1]!;
        let length = end - offsets[row]!;
        if (!areBytes) for (let at = offsets[row]!; at < end; at++) if ((data[at]! & 0xc0) === 0x80) length--;
        out[i] = length;
      }
      if (nulls !== null) markNulls(nulls, rows, from, chunk.length, outNulls);
    },
  };
}

const isArithmetic = (type: SqlType) => INTEGERS.has(type.name) || type.name === "numeric";

function keepsNumber(from: SqlType, to: SqlType): boolean {
  if (!INTEGERS.has(from.name)) return false;
  return (to.name === "numeric" && to.modifier === null) || to.name === "int8";
}

function slotExpr(slot: number): VectorExpr | null {
  if (slot < 0) return null;
  return (vectors) => {
    const column = vectors[slot]!;
    if (column.kind !== "number" || column.hasNaN) return null;
    const { nulls, min, max } = column;
    return {
      scale: Math.max(column.scale, 0),
      low: min,
      high: max,
      mayBeNull: nulls !== null,
      compute(chunk, out, outNulls) {
        const { rows, from } = chunk.selections[slot]!;
        loadNumbers(column, rows, from, chunk.length, out);
        if (nulls !== null) markNulls(nulls, rows, from, chunk.length, outNulls);
      },
    };
  };
}

function constantExpr(type: SqlType, value: unknown): VectorExpr | null {
  let number: number;
  let scale = 0;
  if (INTEGERS.has(type.name) && typeof value === "number") number = value;
  else if (type.name === "numeric" && value !== null) {
    const numeric = value as Numeric;
    number = Number(numeric.unscaled);
    scale = numeric.scale;
    if (numeric.special !== null) return null;
  } else return null;
  if (!(Math.abs(number) <= EXACT_MAX)) return null;
  const constant: VectorValue = {
    scale,
    low: number,
    high: number,
    mayBeNull: false,
    compute: (chunk, out) => void out.fill(number, 0, chunk.length),
  };
  return () => constant;
}

function binaryExpr(operator: string, type: SqlType, left: VectorExpr, right: VectorExpr): VectorExpr {
  return (vectors) => {
    const a = left(vectors);
    const b = right(vectors);
    if (a === null || b === null) return null;
    if (operator === "%") return remainderOf(a, b);
    if (operator === "*") return within(type, productOf(a, b));
    const scale = Math.max(a.scale, b.scale);
    return within(type, sumOf(rescaled(a, scale), rescaled(b, scale), operator === "-" ? -1 : 1));
  };
}

/** Null when a result may not be exact, or not of the type. */
function within(type: SqlType, value: VectorValue | null): VectorValue | null {
  if (value === null) return null;
  const limit = LIMITS[type.name] ?? EXACT_MAX;
  return value.low > value.high || (value.low >= -limit && value.high <= limit) ? value : null;
}

/** Null unless the divisor is one integer, and not 0. */
function remainderOf(value: VectorValue, { low, high, mayBeNull, scale }: VectorValue): VectorValue | null {
  if (low !== high || low === 0 || mayBeNull || scale !== 0 || value.scale !== 0) return null;
  const divisor = Math.abs(low);
  if (value.low < -EXACT_MAX || value.high > EXACT_MAX) return null;
  return {
    ...value,
    low: value.low > value.high ? 1 : Math.max(Math.min(value.low, 0), 1 - divisor),
    high: value.low > value.high ? 0 : Math.min(Math.max(value.high, 0), divisor - 1),
    compute(chunk, out, nulls) {
      value.compute(chunk, out, nulls);
      for (let i = 0; i < chunk.length; i++) out[i] = remainder(out[i]!, divisor);
    },
  };
}

/** As %, which calls a slow function for doubles, but never −0. */
function remainder(number: number, divisor: number): number {
  const rest = number - Math.trunc(number / divisor) * divisor;
  // The quotient may have been rounded to the next integer.
  if (number < 0) return rest > 0 ? rest - divisor : rest + 0;
  return rest < 0 ? rest + divisor : rest;
}

export function rescaled(value: VectorValue, scale: number): VectorValue | null {
  if (scale === value.scale) return value;
  const factor = 10 ** (scale - value.scale);
  const { low, high } = value;
  if (!(Math.max(Math.abs(low), Math.abs(high)) * factor <= EXACT_MAX) && low <= high) return null;
  return {
    ...value,
    scale,
    low: low * factor,
    high: high * factor,
    compute(chunk, out, nulls) {
      value.compute(chunk, out, nulls);
      for (let i = 0; i < chunk.length; i++) out[i]! *= factor;
    },
  };
}

function sumOf(a: VectorValue | null, b: VectorValue | null, sign: 1 | -1): VectorValue | null {
  if (a === null || b === null) return null;
  let scratch = new Float64Array(0);
  return {
    scale: a.scale,
    low: sign === 1 ? a.low + b.low : a.low - b.high,
    high: sign === 1 ? a.high + b.high : a.high - b.low,
    mayBeNull: a.mayBeNull || b.mayBeNull,
    compute(chunk, out, nulls) {
      if (scratch.length < chunk.length) scratch = new Float64Array(chunk.length);
      const other = scratch;
      a.compute(chunk, out, nulls);
      b.compute(chunk, other, nulls);
      if (sign === 1) for (let i = 0; i < chunk.length; i++) out[i]! += other[i]!;
      else for (let i = 0; i < chunk.length; i++) out[i]! -= other[i]!;
    },
  };
}

function productOf(a: VectorValue, b: VectorValue): VectorValue {
  let scratch = new Float64Array(0);
  const corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
  const isEmpty = a.low > a.high || b.low > b.high;
  return {
    scale: a.scale + b.scale,
    low: isEmpty ? 1 : Math.min(...corners),
    high: isEmpty ? 0 : Math.max(...corners),
    mayBeNull: a.mayBeNull || b.mayBeNull,
    compute(chunk, out, nulls) {
      if (scratch.length < chunk.length) scratch = new Float64Array(chunk.length);
      const other = scratch;
      a.compute(chunk, out, nulls);
      b.compute(chunk, other, nulls);
      for (let i = 0; i < chunk.length; i++) out[i]! *= other[i]!;
    },
  };
}
