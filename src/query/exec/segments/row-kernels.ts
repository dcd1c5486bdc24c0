/**
 * Kernels for conjuncts that vector-filter.ts has none for: comparisons of two number columns, and any condition on one
 * column that has few different values in the segment, which is asked once for each of them. Used by segment-scan.ts.
 */
import type { Value } from "../../../values/values.js";
import type { Predicate, SlotOf } from "../../expr/compile.js";
import type { EvalContext, Expr } from "../../expr/expr.js";
import { type Column, type NumberColumn, valueAt } from "./column.js";
import type { Kernel } from "./kernel.js";

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
  if (column.kind === "plain" || column.kind === "text") return null;
  if (column.kind === "dictionary") {
    const { codes, values } = column;
    return { count: values.length, at: (row) => codes[row]! };
  }
  const { data, nulls, min, max } = column;
  const count = max < min ? 0 : max - min + 1;
  if (!(data instanceof Int32Array) || count > ANSWERS_MAX) return null;
  // The last code is that of NULL.
  if (nulls === null) return { count: count + 1, at: (row) => data[row]! - min };
  return { count: count + 1, at: (row) => (nulls[row] === 1 ? count : data[row]! - min) };
}
