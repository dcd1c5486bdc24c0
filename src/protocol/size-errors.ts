/**
 * Turns the runtime's own refusals of values that are too deep or too large into SQL errors. Called where errors of
 * statements are caught: by the actor, once per request, and by functions, whose blocks may handle them.
 */
import { DbError, sqlError } from "./errors.js";
import { JOINS_MAX, RECIPE_BYTES_MAX, RESULT_BYTES_MAX } from "./limits.js";

/** V8's and Node's words for a string, list, buffer or integer beyond what they can hold. */
const TOO_LARGE =
  /^(?:Invalid (?:string|array|typed array|array buffer) length|Invalid count value|Array buffer allocation failed|Maximum BigInt size exceeded|Cannot create a string longer than|The value of "size" is out of range)/;

const TOO_LARGE_PATTERN = /^Invalid regular expression: .*: (?:Stack overflow|Regular expression too large)$/is;

/**
 * 54001 for recursion that is too deep, 54000 for a value and 2201B for a pattern that is too large; null for every
 * other error.
 */
export function sizeError(thrown: unknown): DbError | null {
  if (!(thrown instanceof Error)) return null;
  if (thrown instanceof RangeError && thrown.message.includes("call stack")) {
    return sqlError("54001", "stack depth limit exceeded", { hint: "The request is nested too deeply." });
  }
  // V8 compiles an expression when it is used first, and only then finds it too large.
  if (thrown instanceof SyntaxError && TOO_LARGE_PATTERN.test(thrown.message)) {
    return sqlError("2201B", "invalid regular expression: it is too large");
  }
  return TOO_LARGE.test(thrown.message) ? sqlError("54000", "requested length too large") : null;
}

export function resultTooLarge(): DbError {
  return new DbError("query_error", `The result is larger than ${RESULT_BYTES_MAX} bytes.`, {
    sqlstate: "54000",
    hint: "Lower max_rows, or page with LIMIT and a key.",
  });
}

export function recipeTooLarge(): DbError {
  return new DbError("payload_too_large", `A recipe has at most ${RECIPE_BYTES_MAX} bytes.`);
}

/** A query that would take too long to plan. */
export function tooManyJoins(): DbError {
  return sqlError("54001", "statement too complex", {
    hint: `A query joins at most ${JOINS_MAX} tables, or nodes and relationships of patterns. Use several statements, or a list.`,
  });
}
