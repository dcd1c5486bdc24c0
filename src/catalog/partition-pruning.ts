/**
 * Whether a partition can hold rows that satisfy conditions on its table's partition key. Asked when a statement is
 * planned, for constants, and when it runs, for parameters.
 */
import type { Value } from "../values/values.js";
import type { PartitionBounds } from "./partition-bounds.js";

/** One condition: part `place` of the key, compared with values of its type. */
export interface PartitionCondition {
  readonly place: number;
  readonly op: "=" | "<" | "<=" | ">" | ">=" | "in" | "null";
  /** One, the elements of the list, none for IS NULL. */
  readonly values: readonly Value[];
}

/** False: no row of the partition satisfies all of them. */
export function mayHold(
  bounds: PartitionBounds,
  partitionId: number,
  conditions: readonly PartitionCondition[],
): boolean {
  // Nothing compares with NULL.
  for (const { op, values } of conditions) {
    if (op !== "null" && values.every((value) => value === null)) return false;
  }
  switch (bounds.strategy) {
    case "list":
      return conditions.every((condition) => listMayHold(bounds, partitionId, condition));
    case "hash":
      return hashMayHold(bounds, partitionId, conditions);
    case "range":
      return rangeMayHold(bounds, partitionId, conditions);
  }
}

function listMayHold(bounds: PartitionBounds, id: number, { op, values }: PartitionCondition): boolean {
  if (op === "null") return bounds.find([null]) === id;
  if (op === "=" || op === "in") return values.some((value) => value !== null && bounds.find([value]) === id);
  if (bounds.fallback === id) return true;
  const limit = bounds.key(values).toString("latin1");
  for (const [value, owner] of bounds.lists) if (owner === id && compares(value, op, limit)) return true;
  return false;
}

/** Texts whose characters are bytes stand to each other as the bytes do. */
function compares(value: string, op: PartitionCondition["op"], limit: string): boolean {
  switch (op) {
    case "<":
      return value < limit;
    case "<=":
      return value <= limit;
    case ">":
      return value > limit;
    case ">=":
      return value >= limit;
    default:
      return value === limit;
  }
}

/** Tuples of keys tried at most: IN lists over several parts multiply. */
const TUPLES_MAX = 256;

/** Only conditions on all parts of the key tell anything. */
function hashMayHold(bounds: PartitionBounds, id: number, conditions: readonly PartitionCondition[]): boolean {
  let tuples: Value[][] = [[]];
  for (let place = 0; place < bounds.types.length; place++) {
    const fixed = conditions.find((condition) => condition.place === place && /^(?:=|in|null)$/.test(condition.op));
    if (fixed === undefined) return true;
    const values = fixed.op === "null" ? [null] : fixed.values.filter((value) => value !== null);
    tuples = tuples.flatMap((tuple) => values.map((value) => [...tuple, value]));
    if (tuples.length > TUPLES_MAX) return true;
  }
  return tuples.some((tuple) => bounds.find(tuple) === id);
}

const ABOVE_ALL = Buffer.of(0xff);

function rangeMayHold(bounds: PartitionBounds, id: number, conditions: readonly PartitionCondition[]): boolean {
  if (conditions.some(({ op }) => op === "null")) return bounds.fallback === id;
  const list = conditions.find(({ op }) => op === "in");
  if (list !== undefined) {
    const others = conditions.filter((condition) => condition !== list);
    return list.values.some(
      (value) => value !== null && rangeMayHold(bounds, id, [...others, { ...list, op: "=", values: [value] }]),
    );
  }
  if (conditions.some((condition) => contradicts(bounds, condition, conditions))) return false;
  const equal: Value[] = [];
  const at = (op: PartitionCondition["op"]) =>
    conditions.filter((condition) => condition.place === equal.length && condition.op === op);
  for (let found = at("="); found.length > 0; found = at("=")) equal.push(found[0]!.values[0]!);
  // All keys that begin with these values, from `low` up to `high`.
  let low: Buffer = bounds.key(equal);
  let high: Buffer = Buffer.concat([low, ABOVE_ALL]);
  for (const op of ["<", "<=", ">", ">="] as const) {
    for (const { values } of at(op)) {
      const key = bounds.key([...equal, values[0]!]);
      const limit = op === "<=" || op === ">" ? Buffer.concat([key, ABOVE_ALL]) : key;
      if (op === "<" || op === "<=") high = limit.compare(high) < 0 ? limit : high;
      else low = limit.compare(low) > 0 ? limit : low;
    }
  }
  if (low.compare(high) >= 0) return false;
  if (bounds.fallback === id) {
    // Rows with a NULL in a part without a condition are there, whatever the others hold.
    const all = bounds.types.every((_, place) => conditions.some((condition) => condition.place === place));
    return !all || !isCovered(bounds, low, high);
  }
  const range = bounds.ranges.find((other) => other.id === id)!;
  return range.from.compare(high) < 0 && low.compare(range.to) < 0;
}

/** Whether another condition on the same part leaves out the one value of an equality. */
function contradicts(
  bounds: PartitionBounds,
  { place, op, values }: PartitionCondition,
  others: readonly PartitionCondition[],
): boolean {
  if (op !== "=") return false;
  const key = bounds.partKey(place, values[0]!);
  return others.some(
    (other) =>
      other.place === place &&
      other.op !== "null" &&
      !other.values.some((value) => value !== null && compares(key, other.op, bounds.partKey(place, value))),
  );
}

/** Whether ranges without a gap hold all keys from `low` up to `high`; then the DEFAULT partition has none of them. */
function isCovered(bounds: PartitionBounds, low: Buffer, high: Buffer): boolean {
  let reached = low;
  for (let i = Math.max(bounds.rangeAt(low), 0); i < bounds.ranges.length; i++) {
    const { from, to } = bounds.ranges[i]!;
    if (from.compare(reached) > 0) return false;
    if (to.compare(reached) > 0) reached = to;
    if (reached.compare(high) >= 0) return true;
  }
  return false;
}
