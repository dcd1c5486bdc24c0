/**
 * What the language itself refuses because it is too deep or too large, as SQL says it. Called where errors of
 * statements are caught: the actor, once per request, and functions, whose blocks may handle them.
 */
import { type DbError, sqlError } from "./errors.js";

/** V8's and Node's words for a string, list, buffer or integer beyond what they can hold. */
const TOO_LARGE =
  /^(?:Invalid (?:string|array|typed array|array buffer) length|Invalid count value|Array buffer allocation failed|Maximum BigInt size exceeded|Cannot create a string longer than|The value of "size" is out of range)/;

/** 54001 for recursion that is too deep, 54000 for a value that is too large; null for every other error. */
export function sizeError(thrown: unknown): DbError | null {
  if (!(thrown instanceof Error)) return null;
  if (thrown instanceof RangeError && thrown.message.includes("call stack")) {
    return sqlError("54001", "stack depth limit exceeded", { hint: "The request is nested too deeply." });
  }
  return TOO_LARGE.test(thrown.message) ? sqlError("54000", "requested length too large") : null;
}
