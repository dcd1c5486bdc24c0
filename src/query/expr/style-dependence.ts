/** What DateStyle and IntervalStyle decide: texts of dates, times and intervals, and what such texts mean. */
import { namedByPart } from "../../values/range.js";
import type { SqlType } from "../../values/values.js";
import { categoryOf } from "./types.js";

const ORDERED = new Set<string>(
  "date timestamp timestamptz daterange datemultirange tsrange tsmultirange tstzrange tstzmultirange".split(" "),
);
/** One or two digits that are no part of a time, first or after a name: day, month or year. */
const ORDER_OPEN = /(?:^|[\s[({,"]|[a-z][-/.]?)\d{1,2}(?![\d:])/i;
/** A sign before the first of several parts. */
const SIGN_OPEN = /^\s*-\d.*\s\d/;

/** True when a style decides what the text is, or means. */
export function dependsOnStyle(from: SqlType, to: SqlType): boolean {
  if (to.name === "interval") return categoryOf(from) === "S" || from.name === "unknown";
  if (categoryOf(to) !== "S") return false;
  if (from.element !== null) return dependsOnStyle(from.element, to);
  if (from.fields !== undefined) return from.fields.some(({ type }) => dependsOnStyle(type, to));
  return from.name === "interval" || ORDERED.has(namedByPart(from));
}

const FORMED = new Set<string>(["bytea", "float4", "float8"]);

/**
 * True when bytea_output or extra_float_digits decides what the text is. Indexes may have such texts all the same, as
 * in PostgreSQL.
 */
export function isFormedBySettings(from: SqlType, to: SqlType): boolean {
  if (categoryOf(to) !== "S") return false;
  if (from.element !== null) return isFormedBySettings(from.element, to);
  return FORMED.has(from.name) || from.fields?.some(({ type }) => isFormedBySettings(type, to)) === true;
}

/** True when a style, or the time, decides what such a text means as a value of the other type. */
export function isReadBySettings(from: SqlType, to: SqlType): boolean {
  if (categoryOf(from) !== "S" && from.name !== "unknown") return false;
  if (to.element !== null) return isReadBySettings(from, to.element);
  return to.name === "interval" || ORDERED.has(namedByPart(to));
}

/** Whether a style decides what this text means. */
export function isReadByStyle(text: string, to: SqlType): boolean {
  const name = namedByPart(to.element ?? to);
  return name === "interval" ? SIGN_OPEN.test(text) : ORDERED.has(name) && ORDER_OPEN.test(text);
}
