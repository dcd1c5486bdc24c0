/** States of accumulators on their way from threads to the statement. Used by the accumulators of segments. */
import type { Value } from "../../../values/values.js";
import type { AggregateFunction, Batch } from "../../expr/expr.js";
import { receivedLeaf, type SentValue, sentLeaf } from "../../expr/sent-condition.js";
import type { FromThread, SentState } from "./read-threads.js";

/** Groups, or numbers, between two looks at the clock. */
export const MERGED_AT_ONCE = 4096;

/** Rows that a thread gives for one job at most: the statement takes them in one turn. */
export const THREAD_ROWS_MAX = 8192;

/** Groups that a thread gives for one job at most: where there are more, it saves the statement little. */
export const THREAD_GROUPS_MAX = 16_384;

/** What a thread has made is no use to the statement. */
export class Unfit extends Error {}

/** Rows that a thread has left of those that it has read. */
export function rowsOfThread({ result }: FromThread): Batch {
  if (result.kind !== "rows") throw new Error("a thread has sent groups for rows");
  return { columns: result.columns.map((values) => values.map(receivedLeaf)), length: result.count };
}

/** Of min and max, whose results are values of columns, which have a form. */
export function sentExtremes(count: number, resultOf: (group: number) => Value): SentState {
  const values = new Array<SentValue>(count);
  for (let group = 0; group < count; group++) values[group] = sentLeaf(resultOf(group)) ?? null;
  return { kind: "extremes", values };
}

export function* mergeExtremes(
  fn: AggregateFunction,
  states: unknown[],
  state: SentState,
  groupOf: Int32Array,
): Iterable<void> {
  if (state.kind !== "extremes") throw new Error("not the state of a least or greatest value");
  const { values } = state;
  for (let group = 0; group < values.length; group++) {
    const value = values[group]!;
    const own = groupOf[group]!;
    if (value !== null) states[own] = fn.step(states[own], receivedLeaf(value));
    if (group % MERGED_AT_ONCE === MERGED_AT_ONCE - 1) yield;
  }
}
