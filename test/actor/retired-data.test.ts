/**
 * TRUNCATE and DROP of many rows leave them to the background: rollback, older snapshots, restarts, and nothing stays.
 */
import t, { type Test } from "tap";
import { removeRetired } from "../../src/actor/remove-retired.js";
import { TenantCopy } from "../../src/features/placement/tenant-copy.js";
import {
  indexPrefix,
  prefixRange,
  rangeClearedBy,
  retiredPrefix,
  rowPrefix,
  tenantPrefix,
} from "../../src/storage/keys.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import type { Operation } from "../../src/storage/operation.js";
import { open } from "../conformance/sql-adapter.js";

type Database = Awaited<ReturnType<typeof open>>;

const SCHEMA = [
  "create table t (id serial primary key, k int, name text unique)",
  "create index on t (k)",
  "insert into t (k, name) select g % 10, 'name ' || g from generate_series(1, 3000) g",
];

/** Keys with the prefix that a new transaction sees. */
function count({ shard }: Database, prefix: Uint8Array): number {
  const tx = shard.begin({ readOnly: true });
  const cursor = tx.scan(prefixRange(prefix));
  const { length } = cursor.next(1_000_000).keys;
  cursor.close();
  tx.rollback();
  return length;
}

/** Entries of rows and of all indexes of a storage. */
function stored(database: Database, storageId: number): [number, number] {
  const { tenantNumber } = database;
  const indexes = indexPrefix(tenantNumber, storageId, 0).subarray(0, 9);
  return [count(database, rowPrefix(tenantNumber, storageId)), count(database, indexes)];
}

const scheduler = { shouldYield: () => true, yieldTurn: () => new Promise<void>((resolve) => setImmediate(resolve)) };

/** Runs the background work until `commits` have been made. */
async function remove(database: Database, commits = Number.POSITIVE_INFINITY): Promise<void> {
  let left = commits;
  // First it gives the orders, then it forgets the records of those that the engine has taken.
  for (let look = 0; look < 2; look++) {
    await removeRetired(database.tenant, scheduler, () => left-- <= 0);
    database.shard.flush();
  }
}

async function filled(t: Test): Promise<Database> {
  const database = await open();
  t.teardown(() => database.close());
  for (const sql of SCHEMA) await database.exec(sql);
  return database;
}

async function rows(database: Database, sql: string): Promise<string[]> {
  return (await database.exec(sql)).rows.map((row) => row.map((value) => value ?? "∅").join("|"));
}

t.test("TRUNCATE empties at once, the background removes", async (t) => {
  const database = await filled(t);
  t.same(stored(database, 1), [3000, 6000]);
  await database.exec("truncate t restart identity");
  t.same(await rows(database, "select count(*), count(k) from t"), ["0|0"]);
  t.same(stored(database, 1), [3000, 6000], "the old rows are still there");
  await database.exec("insert into t (k, name) values (1, 'name 7')");
  t.same(await rows(database, "select id, k from t where name = 'name 7'"), ["1|1"], "old keys are in nobody's way");
  t.same(await rows(database, "select id from t where k = 1"), ["1"]);
  await remove(database);
  t.same(stored(database, 1), [0, 0]);
  t.equal(count(database, retiredPrefix(database.tenantNumber)), 0);
  t.same(await rows(database, "select id, k, name from t"), ["1|1|name 7"]);
});

t.test("a rollback keeps the rows, to a savepoint too", async (t) => {
  const database = await filled(t);
  for (const sql of ["begin", "truncate t", "insert into t (k, name) values (5, 'name 5')"]) await database.exec(sql);
  t.same(await rows(database, "select count(*), sum(k) from t"), ["1|5"]);
  await database.exec("rollback");
  t.same(await rows(database, "select count(*), sum(k) from t"), ["3000|13500"]);
  for (const sql of ["begin", "savepoint s", "truncate t", "rollback to s", "delete from t where k > 0", "commit"]) {
    await database.exec(sql);
  }
  await remove(database);
  t.same(await rows(database, "select count(*), sum(k) from t"), ["300|0"]);
  t.same(await rows(database, "select count(*) from t where name like 'name %0'"), ["300"]);
});

t.test("an older snapshot reads the old rows, and they stay as long as it does", async (t) => {
  const database = await filled(t);
  const old = database.shard.begin({ readOnly: true, isolation: "repeatable read" });
  await database.exec("truncate t");
  await remove(database);
  const cursor = old.scan(prefixRange(rowPrefix(database.tenantNumber, 1)));
  t.equal(cursor.next(10_000).keys.length, 3000);
  cursor.close();
  t.same(stored(database, 1), [3000, 6000]);
  old.rollback();
  await remove(database);
  t.same(stored(database, 1), [0, 0]);
});

t.test("they go although definitions go on changing and some transaction is always open", async (t) => {
  const database = await filled(t);
  const read = () => database.shard.begin({ readOnly: true, isolation: "repeatable read" });
  let open = read();
  await database.exec("truncate t");
  for (let i = 0; i < 3; i++) {
    await database.exec(`create table before_${i} (id int)`);
    const next = read();
    await database.exec(`create table after_${i} (id int)`);
    open.rollback();
    open = next;
    await remove(database);
  }
  t.same(stored(database, 1), [0, 0]);
  t.equal(count(database, retiredPrefix(database.tenantNumber)), 0);
  open.rollback();
});

t.test("what is no longer retired when its time has come stays, as after a restored backup", async (t) => {
  const database = await filled(t);
  const old = database.shard.begin({ readOnly: true, isolation: "repeatable read" });
  await database.exec("truncate t");
  await remove(database);
  old.rollback();
  const back = database.shard.begin({ isolation: "read committed" });
  const cursor = back.scan(prefixRange(retiredPrefix(database.tenantNumber)));
  for (const key of cursor.next(100).keys) back.delete(Buffer.from(key));
  cursor.close();
  database.tenant.commit(back);
  await remove(database);
  t.same(stored(database, 1), [3000, 6000]);
});

t.test("a transaction that writes to the table as it was is refused", async (t) => {
  const database = await filled(t);
  const late = database.shard.begin({ isolation: "read committed" });
  database.tenant.catalog.view(late);
  late.put(Buffer.concat([rowPrefix(database.tenantNumber, 1), Buffer.from("late")]), Buffer.from("row"));
  await database.exec("truncate t");
  t.throws(() => database.tenant.commit(late), /could not serialize access/);
});

t.test("it goes on after a restart, wherever it was", async (t) => {
  for (const commits of [0, 1, 2, 3]) {
    const storage = { engine: new MemoryEngine(), log: new MemoryCommitLog() };
    const first = await open(storage);
    for (const sql of SCHEMA) await first.exec(sql);
    await first.exec("truncate t");
    await first.exec("insert into t (k, name) select g, 'name ' || g from generate_series(1, 5) g");
    await remove(first, commits);
    // What the engine has is a copy of that moment, the log is whole.
    const second = await open({ engine: storage.engine.clone(), log: storage.log });
    t.same(await rows(second, "select count(*), sum(k), min(name) from t"), ["5|15|name 1"]);
    await remove(second);
    t.same(stored(second, 1), [0, 0], `${commits} commits`);
    t.same(await rows(second, "select count(*), sum(k) from t where k > 0"), ["5|15"]);
    await second.close();
  }
});

t.test("an engine that has lost the removal gets it from the log", async (t) => {
  const storage = { engine: new MemoryEngine(), log: new MemoryCommitLog() };
  const first = await open(storage);
  for (const sql of SCHEMA) await first.exec(sql);
  await first.exec("truncate t");
  const before = storage.engine.clone();
  await remove(first);
  const second = await open({ engine: before, log: storage.log });
  t.teardown(() => second.close());
  t.same(stored(second, 1), [0, 0]);
  t.equal(count(second, retiredPrefix(second.tenantNumber)), 0);
});

t.test("a copy of the tenant that is under way has the removal, too", async (t) => {
  const database = await filled(t);
  const { shard, tenant, tenantNumber } = database;
  await database.exec("truncate t");
  shard.flush();
  const copy = new TenantCopy(shard, tenantNumber);
  const other = new MemoryEngine();
  const take = (operations: readonly Operation[]) => {
    for (const operation of operations) {
      const cleared = rangeClearedBy(operation);
      if (cleared !== null) other.clear(cleared);
      other.write([operation]);
    }
  };
  const noted = shard.onApplied;
  shard.onApplied = (operations) => {
    copy.applied(operations);
    noted?.(operations);
  };
  // It has rows that are removed now, and has not come to their record.
  for (let i = 0; i < 3; i++) take(copy.next());
  await removeRetired(tenant, scheduler, () => false);
  shard.flush();
  await removeRetired(tenant, scheduler, () => false);
  shard.flush();
  while (!copy.isCopied || copy.hasChanges) {
    take(copy.takeChanges());
    take(copy.next());
  }
  const all = (engine: Pick<MemoryEngine, "cursor">) =>
    engine
      .cursor(prefixRange(tenantPrefix(tenantNumber)))
      .next(100_000)
      .keys.map((key) => Buffer.from(key).toString("hex"));
  t.same(all(other), all(shard.engine));
});

t.test("DROP, of tables and of indexes, and rewritten tables", async (t) => {
  const database = await filled(t);
  await database.exec("drop index t_k_idx");
  t.same(stored(database, 1), [3000, 6000]);
  await remove(database);
  t.same(stored(database, 1), [3000, 3000]);
  await database.exec("alter table t alter column k type text, drop constraint t_name_key");
  t.same(await rows(database, "select count(*), min(k), max(k) from t"), ["3000|0|9"]);
  await remove(database);
  t.same(stored(database, 1), [0, 0]);
  await database.exec("create index on t (k)");
  t.same(await rows(database, "select count(*) from t where k = '3'"), ["300"]);
  await database.exec("drop table t");
  await remove(database);
  t.equal(count(database, Buffer.from([0, 0, 0, database.tenantNumber, 2])), 0);
  t.equal(count(database, Buffer.from([0, 0, 0, database.tenantNumber, 3])), 0);
});

t.test("foreign keys, checks that wait, partitions and heirs", async (t) => {
  const database = await filled(t);
  const run = async (...statements: string[]) => {
    for (const sql of statements) await database.exec(sql);
  };
  await run("create table child (id int primary key, t int references t deferrable initially deferred)");
  await t.rejects(database.exec("truncate t"), { code: "0A000" });
  await run("insert into child select g, g from generate_series(1, 2000) g", "truncate t, child");
  t.same(await rows(database, "select (select count(*) from t), (select count(*) from child)"), ["0|0"]);
  await run("begin", "insert into child select g, 7000 from generate_series(1, 2000) g");
  await t.rejects(database.exec("truncate child"), { code: "55006" });
  await run("rollback");
  await t.rejects(database.exec("insert into child values (1, 1)"), { code: "23503" });
  await run(
    "create table p (id int, k int) partition by range (id)",
    "create table p1 partition of p for values from (0) to (5000)",
    "create table p2 partition of p for values from (5000) to (9000)",
    "insert into p select g, 1 from generate_series(1, 8000) g",
    "truncate p1",
    "insert into p values (17, 2)",
    "update p set k = k + 1 where id in (17, 6000)",
    "update p set id = id + 100 where id in (17, 6000)",
    "delete from p where id = 6001",
  );
  t.same(await rows(database, "select tableoid::regclass, count(*), max(k) from p group by 1 order by 1"), [
    "p1|1|3",
    "p2|3000|2",
  ]);
  await run("create table top (id int)", "create table below (x int) inherits (top)");
  await run(
    "insert into below select g, g from generate_series(1, 3000) g",
    "truncate top",
    "insert into below values (1, 2)",
  );
  await run("update top set id = 5", "insert into top values (6)");
  await remove(database);
  t.same(await rows(database, "select id, tableoid::regclass from top order by id"), ["5|below", "6|top"]);
});
