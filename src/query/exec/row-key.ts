/**
 * Map keys of rows: what GROUP BY, DISTINCT, set operations and hash joins put rows together by. Two rows have the
 * same key just when their values are equal, NULLs being equal to each other (IS NOT DISTINCT FROM).
 */
import type { SqlType, Value } from "../../values/values.js";
import { type HashKey, hashKeyOf } from "../expr/compare.js";

/** The key of one row of parallel columns; null is the key of a single NULL. */
export type RowKeyOf = (columns: readonly ArrayLike<Value>[], row: number) => HashKey | null;

export function rowKeyOf(types: readonly SqlType[]): RowKeyOf {
  const keys = types.map(hashKeyOf);
  if (keys.length === 1) {
    const keyOf = keys[0]!;
    return ([values], row) => {
      const value = values![row]!;
      return value === null ? null : keyOf(value);
    };
  }
  return (columns, row) => {
    let key = "";
    for (let c = 0; c < keys.length; c++) {
      const value = columns[c]![row]!;
      if (value === null) key += "~";
      else {
        // A text key is preceded by its length, so that no two rows' keys run together.
        const part = keys[c]!(value);
        key += typeof part === "string" ? `${part.length}:${part}` : `${part};`;
      }
    }
    return key;
  };
}
