/** Functions and operators of numbers of transactions, of snapshots and of places in a log. */
import { sqlError } from "../../../protocol/errors.js";
import { compareText } from "../../../values/compare-text.js";
import { Numeric } from "../../../values/numeric.js";
import { BOOL, INT4, INT8, NUMERIC, type SqlType, TEXT, typeOf, type Value } from "../../../values/values.js";
import { lowerHalf, snapshotOf, wideNumber, wideValue } from "../../../values/wide-numbers.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { normalInt8 } from "../number-cast.js";
import { type TableFunction, tableFn, valueRows } from "../table-function.js";
import { contextFn, fn, op } from "./define.js";

const PG_LSN = typeOf("pg_lsn");
const XID = typeOf("xid");
const XID8 = typeOf("xid8");
/** What numbers of transactions are: by PostgreSQL 15, and before version 13. */
interface Kind {
  readonly prefix: "pg" | "txid";
  readonly snapshot: SqlType;
  readonly id: SqlType;
  readonly from: (number: bigint) => Value;
  readonly to: (value: never) => bigint;
}

const SNAPSHOTS: readonly [Kind, Kind] = [
  { prefix: "pg", snapshot: typeOf("pg_snapshot"), id: XID8, from: wideValue, to: wideNumber },
  { prefix: "txid", snapshot: typeOf("txid_snapshot"), id: INT8, from: normalInt8, to: BigInt },
];

const MAX = (1n << 64n) - 1n;

// Places in a log

function moved(place: string, by: Numeric, sign: 1n | -1n): string {
  if (by.isNaN()) throw sqlError("0A000", `cannot ${sign === 1n ? "add NaN to" : "subtract NaN from"} pg_lsn`);
  const distance = by.toInteger();
  const to = distance === null ? -1n : wideNumber(place) + sign * distance;
  if (to < 0n || to > MAX) throw sqlError("22023", "pg_lsn out of range");
  return wideValue(to);
}

function placeOf(number: Numeric): string {
  if (number.isNaN()) throw sqlError("0A000", "cannot convert NaN to pg_lsn");
  const place = number.toInteger();
  if (place === null) throw sqlError("0A000", "cannot convert infinity to pg_lsn");
  if (place < 0n || place > MAX) throw sqlError("22023", "pg_lsn out of range");
  return wideValue(place);
}

export const LOG_PLACE_OPERATORS: readonly ScalarFunction[] = [
  op("-", [PG_LSN, PG_LSN], NUMERIC, (a: string, b: string) => Numeric.of(wideNumber(a) - wideNumber(b), 0)),
  op("+", [PG_LSN, NUMERIC], PG_LSN, (place: string, by: Numeric) => moved(place, by, 1n)),
  op("+", [NUMERIC, PG_LSN], PG_LSN, (by: Numeric, place: string) => moved(place, by, 1n)),
  op("-", [PG_LSN, NUMERIC], PG_LSN, (place: string, by: Numeric) => moved(place, by, -1n)),
];

// Numbers of transactions

/** A transaction's number here is the moment of its start, so that one that has begun later is greater. */
const current = ({ transactionMicros }: EvalContext): bigint => BigInt(transactionMicros);

/** What became of one that has ended is not kept: null, as of one that is long over in PostgreSQL. Throws 22023. */
function statusOf(context: EvalContext, id: bigint): string | null {
  if (id > current(context)) throw sqlError("22023", `transaction ID ${id} is in the future`);
  return id === current(context) ? "in progress" : null;
}

function isVisible(id: bigint, type: SqlType, text: string): boolean {
  const { xmin, xmax, running } = snapshotOf(type.name, text);
  return id < xmin || (id < xmax && !running.includes(id));
}

/** Where the log ends is a moment here, too: what was written later is further on. */
const endOfLog = (): Value => wideValue(BigInt(Date.now()) * 1000n);

export const TRANSACTION_ID_FUNCTIONS: readonly ScalarFunction[] = [
  ...["pg_current_wal_lsn", "pg_current_wal_insert_lsn", "pg_current_wal_flush_lsn"].map((name) =>
    contextFn(name, [], PG_LSN, endOfLog, { volatility: "volatile" }),
  ),
  fn("pg_wal_lsn_diff", [PG_LSN, PG_LSN], NUMERIC, (a: string, b: string) =>
    Numeric.of(wideNumber(a) - wideNumber(b), 0),
  ),
  fn("pg_lsn", [NUMERIC], PG_LSN, placeOf),
  fn("xid", [XID8], XID, lowerHalf),
  fn("xid8cmp", [XID8, XID8], INT4, (a: string, b: string) => Math.sign(compareText(a, b))),
  ...["pg_current_xact_id", "pg_current_xact_id_if_assigned", "txid_current", "txid_current_if_assigned"].map(
    (name) => {
      const { id, from } = SNAPSHOTS[name.startsWith("pg") ? 0 : 1];
      return contextFn(name, [], id, (context) => from(current(context)));
    },
  ),
  ...SNAPSHOTS.flatMap(({ prefix, snapshot, id, from, to }) => [
    contextFn(`${prefix}_current_snapshot`, [], snapshot, (context) => {
      const now = current(context);
      return `${now}:${now}:`;
    }),
    fn(`${prefix}_snapshot_xmin`, [snapshot], id, (text: string) => from(snapshotOf(prefix, text).xmin)),
    fn(`${prefix}_snapshot_xmax`, [snapshot], id, (text: string) => from(snapshotOf(prefix, text).xmax)),
    fn(`${prefix}_visible_in_snapshot`, [id, snapshot], BOOL, (number, text: string) =>
      isVisible(to(number as never), snapshot, text),
    ),
    contextFn(prefix === "pg" ? "pg_xact_status" : "txid_status", [id], TEXT, (context, number: never) =>
      statusOf(context, to(number)),
    ),
  ]),
];

export const SNAPSHOT_TABLE_FUNCTIONS: readonly TableFunction[] = SNAPSHOTS.map(({ prefix, snapshot, id, from }) =>
  tableFn(`${prefix}_snapshot_xip`, [snapshot], id, (text: string) =>
    valueRows(snapshotOf(prefix, text).running.map((number) => from(number))),
  ),
);
