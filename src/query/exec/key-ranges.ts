/**
 * The byte ranges of keys that an index scan reads, from the values that its expressions have in one run. NULL equals
 * nothing and lies in no range, so a NULL bound gives no range, and open ranges leave out the keys' NULLs.
 */
import { cypherError } from "../../protocol/cypher-error.js";
import type { SqlArray, SqlType, Value } from "../../protocol/values.js";
import { encodeKey } from "../../storage/key-codec.js";
import { prefixEnd } from "../../storage/keys.js";
import type { KeyRange } from "../../storage/store.js";
import { compileExpr } from "../expr/compile.js";
import type { Evaluate, Expr } from "../expr/expr.js";
import type { IndexScanPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { labelRanges } from "./label-ranges.js";
import { EMPTY_ROW, NO_SLOTS } from "./slots.js";
import type { KeyLayout } from "./table-layout.js";

interface Bound {
  readonly value: Evaluate;
  readonly inclusive: boolean;
}

export interface KeyRangesProgram {
  readonly layout: KeyLayout;
  readonly prefix: readonly Evaluate[];
  readonly keySets: readonly Evaluate[] | null;
  /** Whether an element of an array can be a key; null: `keySets` are no arrays. */
  readonly fits: ((value: Value) => boolean) | null;
  readonly lower: Bound | null;
  readonly upper: Bound | null;
  /** The column after the prefix is NULL. */
  readonly isNull: boolean;
  readonly reverse: boolean;
  /** As in the plan. */
  readonly labels: readonly string[] | null;
  /** Every range holds the keys of one value of the whole key. */
  readonly points: boolean;
}

export function compileKeyRanges(plan: IndexScanPlan, layout: KeyLayout): KeyRangesProgram {
  const compile = (expr: Expr) => compileExpr(expr, NO_SLOTS);
  const bound = (side: IndexScanPlan["lower"]) => side && { value: compile(side.expr), inclusive: side.inclusive };
  const fixed = plan.prefix.length + (plan.keySets === null ? 0 : 1);
  return {
    layout,
    prefix: plan.prefix.map(compile),
    keySets: plan.keySets?.map(compile) ?? null,
    fits: plan.keyArrays ? fitsIn(layout.columns[plan.prefix.length]!.type) : null,
    lower: bound(plan.lower),
    upper: bound(plan.upper),
    isNull: plan.isNull ?? false,
    reverse: plan.reverse,
    labels: plan.labels ?? null,
    points: layout.unique && fixed === layout.columns.length,
  };
}

/** The ranges in the order in which their keys are to be read; disjoint. */
export function keyRanges(program: KeyRangesProgram, context: ExecContext): KeyRange[] {
  if (program.labels !== null) return labelRanges(program.layout, program.labels, program.reverse, context);
  const ranges: KeyRange[] = [];
  for (const values of equalValues(program, context)) {
    const range = rangeOf(program, values, context);
    if (range !== null && Buffer.compare(range.gte, range.lt) < 0) ranges.push(range);
  }
  if (ranges.length > 1) {
    const sign = program.reverse ? -1 : 1;
    ranges.sort((a, b) => sign * Buffer.compare(a.gte, b.gte));
    return ranges.filter((range, i) => i === 0 || Buffer.compare(range.gte, ranges[i - 1]!.gte) !== 0);
  }
  return ranges;
}

/** The values of the leading columns: one list, or one per element of the IN list. */
function equalValues(program: KeyRangesProgram, context: ExecContext): Value[][] {
  const prefix: Value[] = [];
  for (const expr of program.prefix) {
    const value = expr(EMPTY_ROW, 0, context);
    if (value === null) return [];
    prefix.push(value);
  }
  if (program.isNull) return [[...prefix, null]];
  if (program.keySets === null) return [prefix];
  const lists: Value[][] = [];
  for (const expr of program.keySets) {
    const value = expr(EMPTY_ROW, 0, context);
    if (value === null) continue;
    if (program.fits === null) lists.push([...prefix, value]);
    else for (const element of distinctKeys(elementsOf(value), program.fits)) lists.push([...prefix, element]);
  }
  return lists;
}

/** Of an array, or of a list of Cypher. Throws TypeError for what is neither. */
function elementsOf(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value as readonly Value[];
  if (typeof value === "object" && value !== null && "elements" in value) return (value as SqlArray).elements;
  throw cypherError("TypeError", "InvalidArgumentType", "IN looks for a value in a list");
}

function distinctKeys(elements: readonly Value[], fits: (value: Value) => boolean): Iterable<Value> {
  const keys = new Set<Value>();
  for (const element of elements) if (element !== null && fits(element)) keys.add(element);
  return keys;
}

/** Integers are compared by value, but a key has room for those of its own type only. */
function fitsIn({ name }: SqlType): (value: Value) => boolean {
  if (name !== "int2" && name !== "int4") return () => true;
  const limit = name === "int2" ? 2 ** 15 : 2 ** 31;
  return (value) => typeof value === "number" && value >= -limit && value < limit;
}

function rangeOf(program: KeyRangesProgram, values: readonly Value[], context: ExecContext): KeyRange | null {
  const { layout, lower, upper, reverse } = program;
  const base = layout.prefixOf(context.tenantNumber);
  const all = encodeKey(base, layout.columns, values);
  if (lower === null && upper === null) return { gte: all, lt: prefixEnd(all), reverse };
  const column = layout.columns[values.length]!;
  const keyOf = (value: Value) => encodeKey(base, layout.columns, [...values, value]);
  // A descending column turns the two sides round; NULLs lie before or after all values, whichever the column says.
  const [first, last] = column.descending ? [upper, lower] : [lower, upper];
  let gte: Uint8Array;
  let lt: Uint8Array;
  if (first === null) gte = column.nullsFirst ? prefixEnd(keyOf(null)) : all;
  else {
    const value = first.value(EMPTY_ROW, 0, context);
    if (value === null) return null;
    gte = first.inclusive ? keyOf(value) : prefixEnd(keyOf(value));
  }
  if (last === null) lt = column.nullsFirst ? prefixEnd(all) : keyOf(null);
  else {
    const value = last.value(EMPTY_ROW, 0, context);
    if (value === null) return null;
    lt = last.inclusive ? prefixEnd(keyOf(value)) : keyOf(value);
  }
  return { gte, lt, reverse };
}
