/**
 * What pg_catalog tells of sessions' locks and prepared statements. Rows that a transaction holds are one lock on their
 * table.
 */
import { storageOf } from "../../../catalog/table.js";
import type { ScalarFunction } from "../../../query/expr/expr.js";
import { oidOfId } from "../../../query/expr/types.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { arrayOf, BOOL, INT4, type SqlArray } from "../../../values/values.js";
import { systemFunction } from "./define-function.js";
import { typeOid } from "./relation-facts.js";
import { systemShapes } from "./shapes.js";
import { databaseOid, type LiveLock, liveRelation, type SystemRow, type SystemView } from "./system-view.js";

const pgLocks = liveRelation("pg_catalog", "pg_locks", (view) => {
  const database = databaseOid(view);
  const oids = new Map(view.catalog.tables().map((table) => [storageOf(table), oidOfId(table.id)]));
  return [...view.locks].map((lock) => ({
    ...placeOf(lock, oids, database),
    virtualtransaction: lock.pid === null ? null : `${lock.pid}/1`,
    pid: lock.pid,
    mode: modeOf(lock),
    granted: lock.waitsSinceMicros === null,
    fastpath: false,
    waitstart: lock.waitsSinceMicros,
  }));
});

function placeOf(lock: LiveLock, oids: ReadonlyMap<number, number>, database: number): SystemRow {
  switch (lock.kind) {
    case "virtual":
      return { locktype: "virtualxid", virtualxid: `${lock.pid}/1` };
    case "reads locks":
      return { locktype: "relation", database, relation: systemShapes().get("pg_catalog.pg_locks")!.oid };
    case "rows":
      return { locktype: "relation", database, relation: oids.get(lock.storageId) ?? null };
    case "table":
      return { locktype: "relation", database, relation: oids.get(lock.storageId) ?? null };
    case "transaction":
      return { locktype: "transactionid", transactionid: String(lock.transaction) };
    case "advisory":
      return { locktype: "advisory", database, ...placeOfKey(lock.key) };
  }
}

/** One key of 64 bits is shown in two halves. */
function placeOfKey(key: string): SystemRow {
  const [first, second] = key.split(",") as [string, string?];
  if (second !== undefined) return { classid: Number(first) >>> 0, objid: Number(second) >>> 0, objsubid: 2 };
  const whole = BigInt.asUintN(64, BigInt(first));
  return { classid: Number(whole >> 32n), objid: Number(whole & 0xffffffffn), objsubid: 1 };
}

function modeOf(lock: LiveLock): string {
  switch (lock.kind) {
    case "virtual":
      return "ExclusiveLock";
    case "reads locks":
      return "AccessShareLock";
    case "table":
      return `${lock.mode.replaceAll(/(?:^| )(.)/g, (_, first: string) => first.toUpperCase())}Lock`;
    case "rows":
      return lock.writes ? "RowExclusiveLock" : "RowShareLock";
    case "transaction":
      return lock.waitsSinceMicros === null ? "ExclusiveLock" : "ShareLock";
    case "advisory":
      return lock.shared ? "ShareLock" : "ExclusiveLock";
  }
}

const pgPreparedStatements = liveRelation("pg_catalog", "pg_prepared_statements", ({ preparedStatements }) =>
  [...preparedStatements].map(({ name, sql, preparedMicros, parameterTypes, bySql }) => ({
    name,
    statement: sql,
    prepare_time: preparedMicros,
    parameter_types: sqlArray(parameterTypes.map(typeOid)),
    from_sql: bySql,
    generic_plans: 0,
    custom_plans: 0,
  })),
);

/** Sessions that hold what the session waits for. */
function blockersOf({ locks }: SystemView, pid: number): number[] {
  const all = [...locks];
  const found = new Set<number>();
  for (const wanted of all) {
    if (wanted.pid !== pid || wanted.waitsSinceMicros === null) continue;
    for (const held of all) if (blocks(held, wanted) && held.pid !== null) found.add(held.pid);
  }
  return [...found];
}

function blocks(held: LiveLock, wanted: LiveLock): boolean {
  if (held.waitsSinceMicros !== null || held.pid === wanted.pid) return false;
  if (held.kind === "transaction" && wanted.kind === "transaction") return held.transaction === wanted.transaction;
  if (held.kind !== "advisory" || wanted.kind !== "advisory") return false;
  return held.key === wanted.key && !(held.shared && wanted.shared);
}

export const PG_SESSIONS = [pgLocks, pgPreparedStatements];

export const LOCK_FUNCTIONS: readonly ScalarFunction[] = [
  systemFunction("pg_blocking_pids", [INT4], arrayOf(INT4), (view, pid: number) => sqlArray(blockersOf(view, pid))),
  // PostgreSQL's isolationtester asks it after each step.
  systemFunction(
    "pg_isolation_test_session_is_blocked",
    [INT4, arrayOf(INT4)],
    BOOL,
    (view, pid: number, by: SqlArray) => blockersOf(view, pid).some((blocker) => by.elements.includes(blocker)),
  ),
];
