/** Members of parsed JSON values by key, by index and by path. Used by json.ts and json-subscripts.ts. */
import { Numeric } from "../../../values/numeric.js";

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Numeric);
}

/**
 * The member of a jsonb value by index. PostgreSQL stores a scalar as an array of itself, and its operators -> and ->>
 * show it.
 */
export function scalarOrElement(value: unknown, index: number): unknown {
  return member(typeof value === "object" && value !== null && !(value instanceof Numeric) ? value : [value], index);
}

/** A member by key of an object or by index (negative: from the end) of an array; undefined when it is not there. */
export function member(value: unknown, key: string | number): unknown {
  if (typeof key === "number") return Array.isArray(value) ? value.at(key) : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Path elements are keys in objects and numbers in arrays. */
export function atPath(value: unknown, path: readonly (string | null)[]): unknown {
  let current = value;
  for (const step of path) {
    if (step === null) return undefined;
    if (!Array.isArray(current)) current = member(current, step);
    else current = /^\s*[+-]?\d+\s*$/.test(step) ? current.at(Number(step)) : undefined;
    if (current === undefined) return undefined;
  }
  return current;
}
