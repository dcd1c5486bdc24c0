/** Dotted paths into documents, as schemas, filters and indexes name fields: "address.city". */
import { DbError } from "../protocol/errors.js";
import { IDENTIFIER_BYTES_MAX } from "../protocol/limits.js";

/** Names of one path. */
export const PATH_DEPTH_MAX = 16;

/**
 * The names of a path. `where` names the place of the request in errors. Throws invalid_request for empty names, names
 * beyond 63 bytes (so that each can be a column's) and such that begin with `$`.
 */
export function pathOf(text: string, where: string): readonly string[] {
  const names = text.split(".");
  for (const name of names) {
    if (name === "") throw invalid(where, `the field name "${text}" has an empty part`);
    if (name.startsWith("$")) throw invalid(where, `the field name "${text}" begins with $`);
    if (Buffer.byteLength(name) > IDENTIFIER_BYTES_MAX) {
      throw invalid(where, `the field name "${name.slice(0, 20)}…" is longer than ${IDENTIFIER_BYTES_MAX} bytes`);
    }
    if (/[\p{Cc}\p{Cs}]/u.test(name)) throw invalid(where, "a field name holds characters that cannot be in one");
  }
  if (names.length > PATH_DEPTH_MAX) throw invalid(where, `the path "${text}" is deeper than ${PATH_DEPTH_MAX} names`);
  return names;
}

/** A fault of a request, with the path of the wrong value. */
export function invalid(path: string, message: string, details: object = {}): DbError {
  return new DbError("invalid_request", path === "" ? message : `${path}: ${message}`, { field: path, ...details });
}
