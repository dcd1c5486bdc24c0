/** Checks how many columns a relation or a composite type has, before any work is done for each of them. */
import { sqlError } from "../protocol/errors.js";
import { TABLE_COLUMNS_MAX } from "../protocol/limits.js";

/** Throws 54011. */
export function checkColumnCount(count: number): void {
  if (count > TABLE_COLUMNS_MAX) throw sqlError("54011", `tables can have at most ${TABLE_COLUMNS_MAX} columns`);
}
