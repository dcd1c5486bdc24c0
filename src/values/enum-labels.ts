/** Labels of enum types: their order, and the numbers that stand for them in storage. */
import { sqlError } from "../protocol/errors.js";
import type { SqlType } from "./values.js";

interface Lookup {
  readonly orders: ReadonlyMap<string, number>;
  readonly labels: ReadonlyMap<number, string>;
}

const lookups = new WeakMap<SqlType, Lookup>();

function lookupOf(type: SqlType): Lookup {
  let lookup = lookups.get(type);
  if (lookup === undefined) {
    const labels = type.user!.labels;
    lookup = {
      orders: new Map(labels.map(({ label, order }) => [label, order])),
      labels: new Map(labels.map(({ label, order }) => [order, label])),
    };
    lookups.set(type, lookup);
  }
  return lookup;
}

/** The label that a text means. Throws 22P02. */
export function enumFromText(type: SqlType, text: string): string {
  if (lookupOf(type).orders.has(text)) return text;
  throw sqlError("22P02", `invalid input value for enum ${type.user!.name}: "${text}"`);
}

export function orderOfLabel(type: SqlType, label: string): number {
  return lookupOf(type).orders.get(label)!;
}

export function labelOfOrder(type: SqlType, order: number): string {
  return lookupOf(type).labels.get(order)!;
}
