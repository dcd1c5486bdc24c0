/** Whether a prepared statement's rows are still those that its client was told of. */
import { sqlError } from "../protocol/errors.js";
import { pgOidOf } from "../query/expr/types.js";
import type { OutputColumn } from "../query/plan/plan.js";

/** A client reads rows by the columns that it was told of. Throws 0A000 where definitions have changed since. */
export function requireSame(told: readonly OutputColumn[], now: readonly OutputColumn[]): void {
  const isSame = ({ name, type }: OutputColumn, i: number): boolean => {
    const other = now[i]!;
    return name === other.name && pgOidOf(type) === pgOidOf(other.type) && type.modifier === other.type.modifier;
  };
  if (told.length === now.length && told.every(isSame)) return;
  throw sqlError("0A000", "cached plan must not change result type", {
    hint: "Prepare the statement again.",
    routine: "RevalidateCachedQuery",
  });
}
