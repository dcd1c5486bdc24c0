/**
 * JSON and records that are put together of others. A value may stand in several places of another at no cost, so a few
 * dozen steps of `jsonb_build_array(j, j)` would make one whose text or comparison never ends. What such functions make
 * is therefore counted as if it were written out. Called by the functions that nest values.
 */
import { sqlError } from "../../../protocol/errors.js";
import { Json, type Value } from "../../../protocol/values.js";

/** Members of one value, all levels together. */
const MEMBERS_MAX = 16 * 1024 * 1024;

/** Members of the lists and objects that were counted already. */
const counted = new WeakMap<object, number>();

/** Throws 54000. */
export function composedJson(value: unknown, text?: string): Json {
  membersOf(value);
  return new Json(value, text);
}

/** Throws 54000. */
export function composedRecord(fields: readonly Value[]): readonly Value[] {
  if (fields.some((field) => Array.isArray(field) || field instanceof Json)) membersOf(fields);
  return fields;
}

function membersOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  if (value instanceof Json) return membersOf(value.value);
  const isList = Array.isArray(value);
  if (!isList && Object.getPrototypeOf(value) !== Object.prototype) return 1;
  const known = counted.get(value);
  if (known !== undefined) return known;
  let count = 1;
  for (const member of isList ? (value as readonly unknown[]) : Object.values(value)) {
    count += membersOf(member);
    if (count > MEMBERS_MAX) throw sqlError("54000", `value exceeds the maximum allowed of ${MEMBERS_MAX} members`);
  }
  counted.set(value, count);
  return count;
}
