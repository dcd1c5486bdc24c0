/**
 * What a vector index takes of its column, where it is on an expression: the vector in another type, one bit for each
 * member, a part; of bits so many. Definitions keep it in this form (catalog/table.ts); query/expr/form-of.ts finds it
 * in expressions.
 */
import { denseOf } from "./sparse-vector.js";
import type { SqlType } from "./values.js";

export interface VectorForm {
  /** The type that the expression is cast to, with so many dimensions. */
  readonly type: "vector" | "halfvec" | "bit";
  readonly dimensions: number;
  /** Of subvector(column, start, count), counted from 1; absent: all members. */
  readonly part?: readonly [start: number, count: number];
  /** The column has bits, of any length. */
  readonly isOfBits?: true;
}

/** Such a form gives every vector of the column as it is. */
export function isWholeForm({ type, dimensions, part }: VectorForm, { name, modifier }: SqlType): boolean {
  return part === undefined && dimensions === modifier && (type === "vector" || type === name);
}

export function isSameForm(a: VectorForm | undefined, b: VectorForm | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.type === b.type && a.dimensions === b.dimensions && String(a.part) === String(b.part);
}

/** As it is written in a definition; `column` is quoted as it must be. */
export function formText({ type, dimensions, part, isOfBits }: VectorForm, column: string): string {
  const input = type === "bit" && !isOfBits ? `binary_quantize(${column})` : `(${column})`;
  const inner = part === undefined ? input : `subvector(${column}, ${part.join(", ")})`;
  return `(${inner}::${type}(${dimensions}))`;
}

/** The numbers that are compared, of a value of vector, halfvec, sparsevec or bit. Null: it does not fit. */
export function formed(form: VectorForm | undefined, value: Float32Array | string | null): Float32Array | null {
  const whole = numbersOf(value);
  if (form === undefined || whole === null) return whole;
  const { type, dimensions, part } = form;
  const taken = part === undefined ? whole : whole.subarray(part[0] - 1, part[0] - 1 + part[1]);
  if (type === "bit") return bitsOf(taken, dimensions);
  return taken.length === dimensions ? taken : null;
}

/** A cast to bit(n) cuts what is longer, and fills what is shorter with zeros. */
function bitsOf(numbers: Float32Array, length: number): Float32Array {
  const bits = new Float32Array(length);
  for (let i = 0; i < length && i < numbers.length; i++) if (numbers[i]! > 0) bits[i] = 1;
  return bits;
}

/** Bits are numbers of 0 and 1. */
export function numbersOf(value: Float32Array | string | null): Float32Array | null {
  if (typeof value !== "string") return value;
  if (value.startsWith("{")) return denseOf(value);
  const bits = new Float32Array(value.length);
  for (let i = 0; i < bits.length; i++) bits[i] = value.charCodeAt(i) & 1;
  return bits;
}
