/** Functions about sessions of PostgreSQL's protocol: their numbers, cancellation, notifications, advisory locks. */

import { setTimeout } from "node:timers/promises";
import { sqlError } from "../../protocol/errors.js";
import { Capability, need } from "../../query/expr/capability.js";
import type { DeferredContext, EvalContext, ScalarFunction } from "../../query/expr/expr.js";
import { contextFn, deferredFn } from "../../query/expr/functions/define.js";
import { recordRows, type TableFunction } from "../../query/expr/table-function.js";
import {
  BOOL,
  FLOAT8,
  INT4,
  INT8,
  INTERVAL,
  type Interval,
  type SqlType,
  TEXT,
  type Value,
  VOID,
} from "../../values/values.js";

/** What the functions need of the session that calls them. */
export interface SessionActions {
  readonly number: number;
  /** Those that it listens to. */
  readonly channels: ReadonlySet<string>;
  /** Throws 22023, 42501. */
  notify(channel: string, payload: string): void;
  /** False: there is no such session of the tenant. Throws 42501 where it is another owner's. */
  cancel(session: number): boolean;
  terminate(session: number): boolean;
  tryLock(key: string, shared: boolean, inTransaction: boolean): boolean;
  lock(key: string, shared: boolean, inTransaction: boolean, signal: AbortSignal): Promise<void>;
  unlock(key: string, shared: boolean): boolean;
  unlockAll(): void;
}

export const SESSION = new Capability<SessionActions>(
  "This function is about a session. Connect by PostgreSQL's protocol to have one.",
);

const VOLATILE = { volatility: "volatile" } as const;

const actions = (context: EvalContext): SessionActions => need(context, SESSION);

/** One key of 64 bits and two of 32 bits are different spaces. */
const keyOf = (args: readonly Value[]): string => args.map(String).join(",");

const KEYS: readonly (readonly SqlType[])[] = [[INT8], [INT4, INT4]];

/** Calls `of` for each of PostgreSQL's forms of a lock. */
function forms(
  of: (suffix: string, shared: boolean, inTransaction: boolean, keys: readonly SqlType[]) => ScalarFunction[],
) {
  return KEYS.flatMap((keys) =>
    [false, true].flatMap((inTransaction) =>
      [false, true].flatMap((shared) =>
        of(`${inTransaction ? "_xact" : ""}_lock${shared ? "_shared" : ""}`, shared, inTransaction, keys),
      ),
    ),
  );
}

const locking = forms((suffix, shared, inTransaction, keys) => [
  deferredFn(
    `pg_advisory${suffix}`,
    [...keys],
    VOID,
    async (args, count, context: DeferredContext) => {
      const values: Value[] = [];
      for (let i = 0; i < count; i++) {
        await actions(context).lock(keyOf(args.map((values) => values[i]!)), shared, inTransaction, context.signal);
        values.push("");
      }
      return values;
    },
    VOLATILE,
  ),
  fnWith(`pg_try_advisory${suffix}`, keys, BOOL, (context, args) =>
    actions(context).tryLock(keyOf(args), shared, inTransaction),
  ),
]);

const unlocking = KEYS.flatMap((keys) =>
  [false, true].map((shared) =>
    fnWith(`pg_advisory_unlock${shared ? "_shared" : ""}`, keys, BOOL, (context, args) =>
      actions(context).unlock(keyOf(args), shared),
    ),
  ),
);

/** A function of the context and its arguments. */
function fnWith(
  name: string,
  args: readonly SqlType[],
  returns: SqlType,
  apply: (context: EvalContext, args: readonly Value[]) => Value,
): ScalarFunction {
  return contextFn(name, args, returns, (context, ...given) => apply(context, given), VOLATILE);
}

const CHANNEL_BYTES_MAX = 63;
const PAYLOAD_BYTES_MAX = 7999;

/** Throws 22023. */
export function checkNotification(channel: string, payload: string): void {
  if (channel === "") throw sqlError("22023", "channel name cannot be empty");
  if (Buffer.byteLength(channel) > CHANNEL_BYTES_MAX) throw sqlError("22023", "channel name too long");
  if (Buffer.byteLength(payload) > PAYLOAD_BYTES_MAX) throw sqlError("22023", "payload string too long");
}

/** Longer waits than timers can be set for. */
const SLEEP_MS_MAX = 0x7fffffff;

const sleeping = (name: string, type: SqlType, millisecondsOf: (value: Value) => number) =>
  deferredFn(
    name,
    [type],
    VOID,
    async ([times], count, { signal }: DeferredContext) => {
      const values: Value[] = [];
      for (let i = 0; i < count; i++) {
        await setTimeout(Math.min(SLEEP_MS_MAX, Math.max(0, millisecondsOf(times![i]!))), undefined, { signal }).catch(
          () => {
            throw signal.reason;
          },
        );
        values.push("");
      }
      return values;
    },
    VOLATILE,
  );

export const SESSION_TABLE_FUNCTIONS: readonly TableFunction[] = [
  {
    name: "pg_listening_channels",
    args: [],
    returns: TEXT,
    strict: true,
    open: (context) => recordRows([...actions(context).channels].map((channel) => [channel])),
  },
];

export const SESSION_FUNCTIONS: readonly ScalarFunction[] = [
  sleeping("pg_sleep", FLOAT8, (seconds) => (seconds as number) * 1000),
  sleeping("pg_sleep_for", INTERVAL, (interval) => {
    const { months, days, micros } = interval as Interval;
    return (months * 30 + days) * 86_400_000 + Number(micros) / 1000;
  }),
  fnWith("pg_backend_pid", [], INT4, (context) => actions(context).number),
  fnWith("pg_cancel_backend", [INT4], BOOL, (context, [pid]) => actions(context).cancel(pid as number)),
  fnWith("pg_terminate_backend", [INT4], BOOL, (context, [pid]) => actions(context).terminate(pid as number)),
  // What was notified waits in no queue that could become full.
  fnWith("pg_notification_queue_usage", [], FLOAT8, () => 0),
  fnWith("pg_notify", [TEXT, TEXT], VOID, (context, [channel, payload]) => {
    actions(context).notify(channel as string, payload as string);
    return "";
  }),
  ...locking,
  ...unlocking,
  fnWith("pg_advisory_unlock_all", [], VOID, (context) => {
    actions(context).unlockAll();
    return "";
  }),
];
