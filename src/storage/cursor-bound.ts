/** Where a range begins, without looking for it for long. */
import { type Cursor, readSome } from "./store.js";

/**
 * All that the cursor has left are this key and what comes after it in its order. Null: it has nothing left. Closes it.
 */
export function boundOf(cursor: Cursor): Uint8Array | null {
  try {
    for (;;) {
      const entries = readSome(cursor, 1);
      if (entries !== null) return entries.keys[0] ?? null;
      if (cursor.at != null) return cursor.at;
    }
  } finally {
    cursor.close();
  }
}
