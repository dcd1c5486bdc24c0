/** Window functions (chapter 9.22): numbering, ranks, and values of other rows of the partition or the frame. */
import { sqlError } from "../../../protocol/errors.js";
import { FLOAT8, INT4, INT8, type SqlType, type Value } from "../../../values/values.js";
import type { PartitionView, WindowFunction } from "../expr.js";
import { type Family, family, formOf, matchPatterns, type Pattern } from "./define.js";

export type WindowFamily = Family<WindowFunction>;

type Start = WindowFunction["start"];

function over(name: string, args: readonly SqlType[], returns: SqlType, readsFrame: boolean, start: Start) {
  return Object.freeze({ name, args, returns, readsFrame, start });
}

/** Rows of the groups before the row's own. */
const rowsBefore = (partition: PartitionView, row: number) => partition.groupStart(partition.peerGroup(row));

/** Rows up to the end of the row's own group. */
const rowsThrough = (partition: PartitionView, row: number) => partition.groupStart(partition.peerGroup(row) + 1);

export const WINDOW_FUNCTION_TABLE: readonly WindowFunction[] = [
  over("row_number", [], INT8, false, () => (row) => row + 1),
  over("rank", [], INT8, false, (partition) => (row) => rowsBefore(partition, row) + 1),
  over("dense_rank", [], INT8, false, (partition) => (row) => partition.peerGroup(row) + 1),
  over("percent_rank", [], FLOAT8, false, (partition) => (row) => {
    return partition.length > 1 ? rowsBefore(partition, row) / (partition.length - 1) : 0;
  }),
  over("cume_dist", [], FLOAT8, false, (partition) => (row) => rowsThrough(partition, row) / partition.length),
  over("ntile", [INT4], INT4, false, ntile),
];

/** The number of buckets is that of the first row with one; the first buckets take what does not divide evenly. */
function ntile(partition: PartitionView): (row: number) => Value {
  let buckets = 0;
  return (row) => {
    if (buckets === 0) {
      const given = partition.argument(0, row) as number | null;
      if (given === null) return null;
      if (given <= 0) throw sqlError("22014", "argument of ntile must be greater than zero");
      buckets = given;
    }
    const size = Math.floor(partition.length / buckets);
    const larger = partition.length % buckets;
    const inLarger = larger * (size + 1);
    return row < inLarger ? Math.floor(row / (size + 1)) + 1 : larger + Math.floor((row - inLarger) / size) + 1;
  };
}

/** Of any type: arguments given as "anyelement" agree on one, which is also the result's. */
function ofAnyType(name: string, patterns: readonly Pattern[], readsFrame: boolean, start: Start): WindowFamily {
  return family(name, formOf(patterns, "anyelement"), (types) => {
    const match = matchPatterns(patterns, types);
    return match === null ? null : over(name, match.args, match.args[0] as SqlType, readsFrame, start);
  });
}

/** lag and lead: the value some rows before (sign −1) or after (1), or a default beyond the partition's ends. */
function neighbour(name: string, sign: number): WindowFamily[] {
  const start =
    (count: number): Start =>
    (partition) =>
    (row) => {
      const distance = count > 1 ? (partition.argument(1, row) as number | null) : 1;
      if (distance === null) return null;
      const at = row + sign * distance;
      if (at >= 0 && at < partition.length) return partition.argument(0, at);
      return count > 2 ? partition.argument(2, row) : null;
    };
  return [
    ofAnyType(name, ["anyelement"], false, start(1)),
    ofAnyType(name, ["anyelement", INT4], false, start(2)),
    ofAnyType(name, ["anyelement", INT4, "anyelement"], false, start(3)),
  ];
}

function inFrame(partition: PartitionView, n: number): Value {
  const row = partition.frameRow(n);
  return row < 0 ? null : partition.argument(0, row);
}

export const WINDOW_FAMILY_TABLE: readonly WindowFamily[] = [
  ...neighbour("lag", -1),
  ...neighbour("lead", 1),
  ofAnyType("first_value", ["anyelement"], true, (partition) => () => inFrame(partition, 0)),
  ofAnyType("last_value", ["anyelement"], true, (partition) => () => inFrame(partition, -1)),
  ofAnyType("nth_value", ["anyelement", INT4], true, (partition) => (row) => {
    const n = partition.argument(1, row) as number | null;
    if (n === null) return null;
    if (n <= 0) throw sqlError("22016", "argument of nth_value must be greater than zero");
    return inFrame(partition, n - 1);
  }),
];
