/**
 * Computes the ranges of keys, as bytes, that one run of an index scan reads: its expressions give the bounds. NULL is
 * equal to nothing and in no range. So a NULL bound gives no range, and open ranges leave out keys that are NULL.
 */

import { encodeKey } from "../../storage/key-codec.js";
import { prefixEnd } from "../../storage/keys.js";
import type { KeyRange } from "../../storage/store.js";
import { cypherError } from "../../values/cypher-error.js";
import type { SqlArray, SqlType, Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Evaluate, Expr } from "../expr/expr.js";
import type { IndexScanPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { labelRanges } from "./label-ranges.js";
import { after, inTurns } from "./operator.js";
import { EMPTY_ROW, NO_SLOTS } from "./slots.js";
import { type RowOrder, sortRows } from "./sort-rows.js";
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

/** Bytes that a range takes beside its key. */
const RANGE_BYTES = 120;
/** Step in bytes in which reserved memory is counted. */
const RESERVED_STEP_BYTES = 256 * 1024;
/** Bytes of a key that a double holds exactly. */
const NUMBER_BYTES = 6;

/** The ranges of one run, in the order in which their keys are to be read; disjoint. */
export class KeyRanges {
  constructor(
    /** Where they begin. */
    readonly starts: readonly Uint8Array[],
    /** Where they end, exclusive; null: each holds the keys that begin with its start. */
    private readonly ends: readonly Uint8Array[] | null,
    private readonly reverse: boolean,
    /** What was reserved for them. */
    readonly bytes = 0,
  ) {}

  get length(): number {
    return this.starts.length;
  }

  at(index: number): KeyRange {
    const gte = this.starts[index]!;
    return { gte, lt: this.ends === null ? prefixEnd(gte) : this.ends[index]!, reverse: this.reverse };
  }
}

const NO_RANGES = new KeyRanges([], null, false);

/** Gives way when there are many: clients send arrays of hundreds of thousands of keys. */
export function keyRanges(program: KeyRangesProgram, context: ExecContext): KeyRanges | Promise<KeyRanges> {
  const { reverse } = program;
  if (program.labels !== null) {
    const ranges = labelRanges(program.layout, program.labels, reverse, context);
    return new KeyRanges(
      ranges.map(({ gte }) => gte),
      ranges.map(({ lt }) => lt),
      reverse,
    );
  }
  const prefix: Value[] = [];
  for (const expr of program.prefix) {
    const value = expr(EMPTY_ROW, 0, context);
    if (value === null) return NO_RANGES;
    prefix.push(value);
  }
  if (program.keySets !== null && !program.isNull) {
    return new KeySet(program, prefix, context).ranges(keyValues(program, program.keySets, context));
  }
  const range = rangeOf(program, program.isNull ? [...prefix, null] : prefix, context);
  return range === null || isEmpty(range) ? NO_RANGES : new KeyRanges([range.gte], [range.lt], reverse);
}

const isEmpty = ({ gte, lt }: KeyRange): boolean => Buffer.compare(gte, lt) >= 0;

/** The elements of the IN list or of the array; perhaps with NULLs, and some more than once. */
function keyValues({ fits }: KeyRangesProgram, keySets: readonly Evaluate[], context: ExecContext): readonly Value[] {
  const values = keySets.map((expr) => expr(EMPTY_ROW, 0, context));
  if (fits === null) return values;
  const arrays = values.filter((value) => value !== null).map(elementsOf);
  return arrays.length === 1 ? arrays[0]! : arrays.flat();
}

/**
 * Makes ranges of many values for the column after the prefix: encodes, sorts and drops what is there twice, in turns.
 */
class KeySet {
  private readonly starts: Uint8Array[] = [];
  private readonly ends: Uint8Array[] | null;
  /** How many bytes all keys have in common at their beginning. */
  private shared = 0;
  private bytes = 0;
  private unreserved = 0;

  constructor(
    private readonly program: KeyRangesProgram,
    private readonly prefix: readonly Value[],
    private readonly context: ExecContext,
  ) {
    this.ends = program.lower === null && program.upper === null ? null : [];
  }

  ranges(values: readonly Value[]): KeyRanges | Promise<KeyRanges> {
    const { context, program, prefix } = this;
    const row: Value[] = [...prefix, null];
    const add = (i: number): void => {
      const value = values[i]!;
      if (value === null || (program.fits !== null && !program.fits(value))) return;
      row[prefix.length] = value;
      const range = rangeOf(program, row, context, this.ends === null);
      if (range !== null && (this.ends === null || !isEmpty(range))) this.add(range);
    };
    return inTurns(context, values.length, add, () => (this.starts.length < 2 ? this.made() : this.inOrder()));
  }

  private add({ gte, lt }: KeyRange): void {
    const { starts, ends } = this;
    if (starts.length === 0) this.shared = gte.length;
    else {
      const first = starts[0]!;
      const end = Math.min(this.shared, gte.length);
      let i = 0;
      while (i < end && gte[i] === first[i]) i++;
      this.shared = i;
    }
    starts.push(gte);
    ends?.push(lt);
    this.unreserved += gte.length + RANGE_BYTES;
    if (this.unreserved >= RESERVED_STEP_BYTES) this.reserve();
  }

  private reserve(): void {
    this.context.statement.reserve(this.unreserved);
    this.bytes += this.unreserved;
    this.unreserved = 0;
  }

  private made(): KeyRanges {
    return new KeyRanges(this.starts, this.ends, this.program.reverse, this.bytes);
  }

  /** Most keys differ in the bytes after those that they share, which are compared as a number. */
  private inOrder(): KeyRanges | Promise<KeyRanges> {
    const { context, starts, shared } = this;
    const numbers = new Float64Array(starts.length);
    const number = (i: number): void => {
      const key = starts[i]!;
      let value = 0;
      for (let at = shared; at < shared + NUMBER_BYTES; at++) value = value * 256 + (key[at] ?? 0);
      numbers[i] = value;
    };
    const ascending: RowOrder = (a, b) => numbers[a]! - numbers[b]! || Buffer.compare(starts[a]!, starts[b]!);
    const order: RowOrder = this.program.reverse ? (a, b) => ascending(b, a) : ascending;
    return inTurns(context, starts.length, number, () =>
      after(sortRows(context, starts.length, order), (sorted) => this.distinct(sorted)),
    );
  }

  private distinct(order: Uint32Array): KeyRanges | Promise<KeyRanges> {
    const { context, program, starts, ends } = this;
    const sorted: Uint8Array[] = [];
    const sortedEnds: Uint8Array[] | null = ends === null ? null : [];
    const take = (i: number): void => {
      const start = starts[order[i]!]!;
      const last = sorted.at(-1);
      if (last !== undefined && Buffer.compare(last, start) === 0) return;
      sorted.push(start);
      sortedEnds?.push(ends![order[i]!]!);
    };
    return inTurns(context, order.length, take, () => new KeyRanges(sorted, sortedEnds, program.reverse, this.bytes));
  }
}

/** Of an array, or of a list of Cypher. Throws TypeError for what is neither. */
function elementsOf(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value as readonly Value[];
  if (typeof value === "object" && value !== null && "elements" in value) return (value as SqlArray).elements;
  throw cypherError("TypeError", "InvalidArgumentType", "IN looks for a value in a list");
}

/** Integers are compared by value, but a key has room for those of its own type only. */
function fitsIn({ name }: SqlType): (value: Value) => boolean {
  if (name !== "int2" && name !== "int4") return () => true;
  const limit = name === "int2" ? 2 ** 15 : 2 ** 31;
  return (value) => typeof value === "number" && value >= -limit && value < limit;
}

/** `startOnly`: there are no bounds, and the caller wants to know no more than where the range begins. */
function rangeOf(
  program: KeyRangesProgram,
  values: readonly Value[],
  context: ExecContext,
  startOnly = false,
): KeyRange | null {
  const { layout, lower, upper, reverse } = program;
  const base = layout.prefixOf(context.tenantNumber);
  const all = encodeKey(base, layout.columns, values);
  if (lower === null && upper === null) return { gte: all, lt: startOnly ? all : prefixEnd(all), reverse };
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
