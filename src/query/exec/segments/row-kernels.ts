/**
 * Kernels for conjuncts that vector-filter.ts has none for: comparisons of two number columns, or of what is computed
 * from them (vector-expr.ts), and any condition on one column that has few different values in the segment, which is
 * asked once for each of them. Used by segment-scan.ts.
 */
import type { Value } from "../../../values/values.js";
import type { Predicate, SlotOf } from "../../expr/compile.js";
import type { EvalContext, Expr } from "../../expr/expr.js";
import type { Selection } from "./chunk.js";
import { type Column, entryCount, type NumberColumn, valueAt } from "./column.js";
import type { Kernel } from "./kernel.js";
import { rescaled, type VectorExpr, vectorExprOf } from "./vector-expr.js";

/** A comparison of the columns in two slots. */
export interface PairTest {
  readonly operator: string;
  readonly left: number;
  readonly right: number;
}

const COMPARABLE = new Set(["int2", "int4", "int8", "oid", "date", "time", "timestamp", "timestamptz"]);

/** Null unless the expression compares two columns of one type whose values are numbers. */
export function pairTestOf(expr: Expr, slotOf: SlotOf): PairTest | null {
  if (expr.kind !== "call" || expr.args.length !== 2 || expr.fn.operator === undefined) return null;
  const [a, b] = expr.args as [Expr, Expr];
  if (a.kind !== "column" || b.kind !== "column" || a.type !== b.type || !COMPARABLE.has(a.type.name)) return null;
  const [left, right] = [slotOf(a.id), slotOf(b.id)];
  const { operator } = expr.fn;
  return left < 0 || right < 0 || COMPARISONS[operator] === undefined ? null : { operator, left, right };
}

const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "=": (a, b) => a === b,
  "<>": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

/** Null when one of the columns is not held as numbers. */
export function pairKernel({ operator, left, right }: PairTest, vectors: readonly Column[]): Kernel | null {
  const a = vectors[left]!;
  const b = vectors[right]!;
  if (a.kind !== "number" || b.kind !== "number") return null;
  switch (operator) {
    case "<":
      return below(a, b);
    case ">":
      return below(b, a);
    default:
      return compared(a, b, COMPARISONS[operator]!);
  }
}

/** Of its own, as the loop that is run most: nothing in it is called. */
function below(a: NumberColumn, b: NumberColumn): Kernel {
  if (a.nulls !== null || b.nulls !== null) return compared(a, b, COMPARISONS["<"]!);
  const [x, y] = [a.data, b.data];
  return (rows, from, count, out) => {
    let found = 0;
    for (let i = 0; i < count; i++) {
      const row = rows === null ? from + i : rows[i]!;
      out[found] = row;
      found += x[row]! < y[row]! ? 1 : 0;
    }
    return found;
  };
}

function compared(a: NumberColumn, b: NumberColumn, holds: (a: number, b: number) => boolean): Kernel {
  return (rows, from, count, out) => {
    let found = 0;
    for (let i = 0; i < count; i++) {
      const row = rows === null ? from + i : rows[i]!;
      if (a.nulls?.[row] === 1 || b.nulls?.[row] === 1) continue;
      if (holds(a.data[row]!, b.data[row]!)) out[found++] = row;
    }
    return found;
  };
}

/** A comparison of two expressions over number columns. */
export interface ComputedTest {
  readonly operator: string;
  readonly left: VectorExpr;
  readonly right: VectorExpr;
}

const COMPUTED = new Set(["int2", "int4", "int8", "numeric"]);

/** Null unless the expression compares what can be computed for a whole segment. */
export function computedTestOf(expr: Expr, slotOf: SlotOf): ComputedTest | null {
  if (expr.kind !== "call" || expr.args.length !== 2) return null;
  const { operator, routine } = expr.fn;
  if (operator === undefined || routine !== undefined || COMPARISONS[operator] === undefined) return null;
  if (expr.args.some(({ type }) => !COMPUTED.has(type.name))) return null;
  const [left, right] = expr.args.map((arg) => vectorExprOf(arg, slotOf));
  return left == null || right == null ? null : { operator, left, right };
}

/** Rows that are computed at a time: their numbers stay in the processor's cache. */
const COMPUTED_ROWS = 1024;

/** Null when the segment's numbers do not allow it. */
export function computedKernel({ operator, left, right }: ComputedTest, vectors: readonly Column[]): Kernel | null {
  const [one, other] = [left(vectors), right(vectors)];
  if (one === null || other === null) return null;
  const scale = Math.max(one.scale, other.scale);
  const [a, b] = [rescaled(one, scale), rescaled(other, scale)];
  if (a === null || b === null) return null;
  const holds = COMPARISONS[operator]!;
  const x = new Float64Array(COMPUTED_ROWS);
  const y = new Float64Array(COMPUTED_ROWS);
  const nulls = new Uint8Array(COMPUTED_ROWS);
  return (rows, from, count, out) => {
    let found = 0;
    for (let first = 0; first < count; first += COMPUTED_ROWS) {
      const length = Math.min(COMPUTED_ROWS, count - first);
      const selection: Selection =
        rows === null ? { rows, from: from + first } : { rows: rows.subarray(first, first + length), from: 0 };
      const chunk = { selections: new Array<Selection>(vectors.length).fill(selection), length };
      nulls.fill(0);
      a.compute(chunk, x, nulls);
      b.compute(chunk, y, nulls);
      for (let i = 0; i < length; i++) {
        if (nulls[i] === 0 && holds(x[i]!, y[i]!)) out[found++] = rows === null ? from + first + i : rows[first + i]!;
      }
    }
    return found;
  };
}

/** Numbers from the smallest to the largest of a column that answers are kept for. */
const ANSWERS_MAX = 1 << 16;
const UNKNOWN = 0;
const PASSES = 1;
const FAILS = 2;

/** The predicate reads the column in `slot` and no other. Null when the column may have too many different values. */
export function answersKernel(column: Column, slot: number, predicate: Predicate, context: EvalContext): Kernel | null {
  const codeOf = codesOf(column);
  if (codeOf === null) return null;
  const answers = new Uint8Array(codeOf.count);
  const one: Value[] = [null];
  const columns: Value[][] = [];
  columns[slot] = one;
  const batch = { columns, length: 1 };
  return (rows, from, count, out) => {
    let found = 0;
    for (let i = 0; i < count; i++) {
      const row = rows === null ? from + i : rows[i]!;
      const code = codeOf.at(row);
      if (answers[code] === UNKNOWN) {
        one[0] = valueAt(column, row);
        answers[code] = predicate(batch, 0, context) ? PASSES : FAILS;
      }
      if (answers[code] === PASSES) out[found++] = row;
    }
    return found;
  };
}

function codesOf(column: Column): { readonly count: number; at(row: number): number } | null {
  if (column.kind !== "number" && column.kind !== "dictionary") return null;
  if (column.kind === "dictionary") {
    const { codes } = column;
    return { count: entryCount(column), at: (row) => codes[row]! };
  }
  const { data, nulls, min, max } = column;
  const count = max < min ? 0 : max - min + 1;
  if (!(data instanceof Int32Array) || count > ANSWERS_MAX) return null;
  // The last code is that of NULL.
  if (nulls === null) return { count: count + 1, at: (row) => data[row]! - min };
  return { count: count + 1, at: (row) => (nulls[row] === 1 ? count : data[row]! - min) };
}
