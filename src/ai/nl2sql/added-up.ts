/**
 * What is done with a number where the question names no function: "revenue per month" is added up, of "height per
 * region" nobody knows. Used by read-question.ts; stateless.
 */
import { wordsOfName } from "./bare-names.js";
import type { AggregateFn, GroupKey } from "./query-shape.js";
import { stemOf } from "./question.js";
import type { ColumnRef } from "./schema-facts.js";
import { RATES, SUMS } from "./vocabulary.js";

/** The functions that it may be; empty: its sum. */
export function functionsFor({ table, column }: ColumnRef, groups: readonly GroupKey[]): readonly AggregateFn[] {
  const names = wordsOfName(column.name);
  const stems = names.map(stemOf);
  const says = (list: readonly string[]) => list.some((word) => stems.includes(stemOf(word)));
  // A row of its own has one number.
  const isOfRows = groups.every((group) => group.kind === "table" && group.table === table);
  if (says(SUMS) || isOfRows) return [];
  const isOfTime = groups.every(({ kind }) => kind === "time");
  if (says(RATES)) return ["sum", "avg", "max"];
  // "Units per hospital": things are added up.
  return isOfTime || /[^s]s$/.test(names.at(-1)!) ? [] : ["sum", "avg", "max"];
}
