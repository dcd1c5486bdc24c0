/**
 * Sorts rows whose keys are all numbers without a look at the values: each key becomes a double that rises where the
 * order does, and rows are sorted by radix (sort-numbers.ts). Used by Sort and index-spool.ts, for one run of a
 * statement.
 */
import type { CheckedTurns } from "../../protocol/turns.js";
import type { Value } from "../../values/values.js";
import type { KeyDirection, SortKey } from "../plan/plan.js";
import { GrowingArray } from "./segments/growing-array.js";
import { sortInSteps } from "./sort-numbers.js";

/** Types of which all values are numbers; bigints are numbers as long as they are exact. */
export const NUMBERS: ReadonlySet<string> = new Set(
  "int2 int4 int8 oid float4 float8 date time timestamp timestamptz".split(" "),
);

/** Of a row of sort keys; null: not all of them are numbers. */
export type NumberSortOf = () => NumberSort | null;

export function numberSortOf(keys: readonly SortKey[]): NumberSortOf {
  const isPossible = keys.length > 0 && keys.every(({ expr }) => NUMBERS.has(expr.type.name));
  return () => (isPossible ? new NumberSort(keys) : null);
}

export class NumberSort {
  private columns: readonly GrowingArray<Float64Array>[];
  /** By key: all are integers of 32 bits. */
  private readonly areIntegers: boolean[];

  /** `expected`: about how many rows will come. */
  constructor(
    private readonly keys: readonly KeyDirection[],
    expected = 0,
  ) {
    this.columns = keys.map(() => new GrowingArray(Float64Array, expected));
    this.areIntegers = keys.map(() => true);
  }

  /** Adds values of the key. False: one of them has no such number, and the rows have to be compared. */
  add(key: number, values: ArrayLike<Value>, length: number): boolean {
    const { descending, nullsFirst } = this.keys[key]!;
    const room = this.columns[key]!.room(length);
    const ofNull = nullsFirst ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    let areIntegers = this.areIntegers[key]!;
    for (let row = 0; row < length; row++) {
      const value = values[row]!;
      if (value === null) {
        room[row] = ofNull;
        areIntegers = false;
        continue;
      }
      const number = typeof value === "bigint" ? Number(value) : (value as number);
      // Infinity is what NULL is, NaN is equal to itself, and large integers are not exact.
      if (!(Math.abs(number) <= Number.MAX_SAFE_INTEGER)) return false;
      // Not −0.
      const standIn = (descending ? -number : number) + 0;
      if ((standIn | 0) !== standIn) areIntegers = false;
      room[row] = standIn;
    }
    this.areIntegers[key] = areIntegers;
    return true;
  }

  /** Forgets all rows. */
  clear(): void {
    this.columns = this.keys.map(() => new GrowingArray(Float64Array));
  }

  /** The numbers 0 ≤ i < count in the keys' order; equal rows stay in ascending order. */
  sort(context: CheckedTurns, count: number): Int32Array | Promise<Int32Array> {
    const steps = this.inSteps(count);
    const goOn = (): Int32Array | Promise<Int32Array> => {
      for (let step = steps.next(); ; step = steps.next()) {
        if (step.done === true) return step.value;
        context.checkpoint();
        if (context.shouldYield()) return context.yieldTurn().then(goOn);
      }
    };
    return goOn();
  }

  /** The same in steps (in-steps.ts). */
  *inSteps(count: number): Generator<undefined, Int32Array> {
    while (!this.settle()) yield;
    const columns = this.numbers().map((numbers, key) => ({
      ...ASCENDING,
      numbers,
      areIntegers: this.areIntegers[key]!,
    }));
    return yield* sortInSteps(count, columns);
  }

  /** Puts some rows together; true: all are. */
  settle(): boolean {
    return this.columns.every((column) => column.settle());
  }

  /** By key: what stands for the values, by row. */
  numbers(): readonly Float64Array[] {
    return this.columns.map((column) => column.all());
  }
}

/** What stands for the values has their direction, and a place for NULL. */
const ASCENDING = { nulls: null, descending: false, nullsFirst: false } as const;
