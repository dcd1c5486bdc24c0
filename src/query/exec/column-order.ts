/**
 * The order of rows that are held in columns (segments/column-buffer.ts) by some of these columns. Columns of numbers
 * are sorted by radix (sort-numbers.ts) as they are, whatever the values are made of; so are dictionaries, by where
 * their entries are in the order. Where a key is held in another way, values are compared. Used by Sort.
 */
import { inSteps } from "../../storage/in-steps.js";
import type { SqlType, Value } from "../../values/values.js";
import { sortComparator } from "../expr/compare.js";
import type { KeyDirection } from "../plan/plan.js";
import { type Abbreviation, abbreviate, abbreviatedOrder } from "./abbreviated-keys.js";
import type { ExecContext } from "./context.js";
import { after } from "./operator.js";
import { type Column, type DictionaryColumn, valuesOf } from "./segments/column.js";
import { type NumberOrder, type NumbersByRow, sortInSteps } from "./sort-numbers.js";
import { comparisonCost, type RowOrderOf, sortRows } from "./sort-rows.js";
import { sumOfBytes } from "./value-bytes.js";

/** A sort key is the column in the slot. */
export interface ColumnKey extends KeyDirection {
  readonly slot: number;
  readonly type: SqlType;
}

export interface ColumnOrderProgram {
  readonly keys: readonly ColumnKey[];
  readonly orderOf: RowOrderOf;
  /** Of the first key. */
  readonly abbreviation: Abbreviation | null;
}

export type SortedRows = Int32Array | Uint32Array;
type Numbers = NumbersByRow & NumberOrder;

/** Rows handled between two looks at the clock. */
const STEP_ROWS = 4096;

/** The row numbers in the order of the keys; equal rows stay in ascending order. */
export function columnOrder(
  program: ColumnOrderProgram,
  vectors: readonly Column[],
  count: number,
  context: ExecContext,
): SortedRows | Promise<SortedRows> {
  return after(numbersOfKeys(program.keys, vectors, count, context), (numbers) =>
    numbers === null ? byComparing(program, vectors, count, context) : inSteps(context, sortInSteps(count, numbers)),
  );
}

/** Null: one of the keys is held neither as numbers nor as a dictionary. */
function numbersOfKeys(
  keys: readonly ColumnKey[],
  vectors: readonly Column[],
  count: number,
  context: ExecContext,
  made: Numbers[] = [],
): readonly Numbers[] | null | Promise<readonly Numbers[] | null> {
  const key = keys[made.length];
  if (key === undefined) return made;
  const column = vectors[key.slot]!;
  if (column.kind !== "number" && column.kind !== "dictionary") return null;
  const { descending, nullsFirst } = key;
  const numbers =
    column.kind === "number"
      ? { numbers: column.data, nulls: column.nulls, descending, nullsFirst }
      : placesOf(column, key, count, context);
  return after(numbers, (next) => {
    made.push(next);
    return numbersOfKeys(keys, vectors, count, context, made);
  });
}

/** By row, the place of its entry among all in the order of the key. */
function placesOf(
  { codes, values }: DictionaryColumn,
  { type, descending, nullsFirst }: ColumnKey,
  count: number,
  context: ExecContext,
): Numbers | Promise<Numbers> {
  const compare = sortComparator(type, descending, nullsFirst);
  const sorted = sortRows(context, values.length, (a, b) => compare(values[a]!, values[b]!));
  return after(sorted, (order) => {
    const places = new Int32Array(values.length);
    let place = 0;
    for (let i = 1; i < order.length; i++) {
      if (compare(values[order[i - 1]!]!, values[order[i]!]!) !== 0) place++;
      places[order[i]!] = place;
    }
    const numbers = new Int32Array(count);
    function* fill(): Generator<undefined, Numbers> {
      for (let from = 0; from < count; from += STEP_ROWS) {
        for (let row = from, to = Math.min(from + STEP_ROWS, count); row < to; row++)
          numbers[row] = places[codes[row]!]!;
        yield;
      }
      return { numbers, nulls: null, descending: false, nullsFirst: false };
    }
    return inSteps(context, fill());
  });
}

function byComparing(
  { keys, orderOf, abbreviation }: ColumnOrderProgram,
  vectors: readonly Column[],
  count: number,
  context: ExecContext,
): SortedRows | Promise<SortedRows> {
  const { statement } = context;
  const columns: Value[][] = keys.map(() => []);
  const numbers: number[] = [];
  let bytes = 0;
  function* load(): Generator<undefined, void> {
    for (let from = 0; from < count; from += STEP_ROWS) {
      const rows = Math.min(STEP_ROWS, count - from);
      for (const [k, { slot }] of keys.entries()) {
        const values = valuesOf(vectors[slot]!, null, from, rows, []);
        if (vectors[slot]!.kind !== "plain") {
          const added = sumOfBytes(values, rows);
          bytes += added;
          statement.reserve(added);
        }
        for (let i = 0; i < rows; i++) columns[k]!.push(values[i]!);
        if (k === 0 && abbreviation !== null) abbreviate(values, rows, abbreviation, numbers);
      }
      yield;
    }
  }
  const order = after(inSteps(context, load()), () => {
    const full = orderOf(columns);
    const abbreviated =
      abbreviation === null ? full : abbreviatedOrder(numbers, abbreviation, keys[0]!.descending, full);
    return sortRows(context, count, abbreviated, comparisonCost(columns, count));
  });
  return after(order, (rows) => {
    statement.release(bytes);
    return rows;
  });
}
