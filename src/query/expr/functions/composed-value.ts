/**
 * JSON and records that are put together of others. A value may stand in several places of another at no cost, so a few
 * dozen steps of `jsonb_build_array(j, j)` would make one whose text or comparison never ends. What such functions make
 * is therefore counted as if it were written out. Called by the functions that nest values.
 */
import { Json, type Value } from "../../../values/values.js";
import { withParts } from "../value-parts.js";

/** Throws 54000. */
export function composedJson(value: unknown, text?: string): Json {
  withParts(value);
  return new Json(value, text);
}

/** Throws 54000. */
export function composedRecord(fields: readonly Value[]): readonly Value[] {
  return fields.some((field) => Array.isArray(field) || field instanceof Json) ? withParts(fields) : fields;
}
