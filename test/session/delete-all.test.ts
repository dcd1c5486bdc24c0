/** DELETE of all rows of a large table empties it at once, and only where nobody can tell the difference. */
import t, { type Test } from "tap";
import { Partition } from "../../src/actor/partition.js";
import { storageOf } from "../../src/catalog/table.js";
import { loadConfig } from "../../src/config/load-config.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { rowPrefix, watchKey } from "../../src/storage/keys.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { openShard } from "../storage/shards.js";

const ROWS = 12_000;

async function opened(t: Test, isolation: "read committed" | "serializable" = "read committed") {
  await loadParser();
  const shard = await openShard(t);
  const partition = new Partition(0, shard, loadConfig({ env: {} }), () => undefined);
  const tenant = partition.tenant(7);
  const client = () => {
    const session = new Session(tenant, {
      isolation,
      readOnly: false,
      user: "u",
      tenantName: "t",
      control: "statements",
    });
    /** `onTurn`: what others do where the statement gives way. */
    return async (sql: string, onTurn?: () => Promise<void>) => {
      const request = {
        checkpoint: () => undefined,
        shouldYield: () => onTurn !== undefined,
        yieldTurn: () => onTurn!(),
      };
      const outcome = await session.execute(
        { sql, params: [], maxRows: 100_000, collector: plainRows, request },
        (tx) => tenant.commit(tx),
      );
      shard.flush();
      await applyBacklog(shard);
      return { rows: outcome.rows.plain!, rowsAffected: outcome.rowsAffected };
    };
  };
  const run = client();
  await run("create table t (id int primary key, k int, name text)");
  await run("create index on t (k)");
  await run(`insert into t select i, i % 7, 'n' || i from generate_series(1, ${ROWS}) g(i)`);
  const storage = () => {
    const tx = shard.begin({ readOnly: true });
    const table = tenant.catalog
      .view(tx)
      .tables()
      .find(({ name }) => name === "t")!;
    tx.rollback();
    return storageOf(table);
  };
  const first = storage();
  return {
    run,
    client,
    shard,
    tenant,
    count: async () => (await run("select count(*) from t")).rows[0]![0],
    /** The rows went at once: the table has another storage. */
    isElsewhere: () => storage() !== first,
  };
}

t.test("the table is empty, takes rows, and its indexes with it", async (t) => {
  const { run, count, isElsewhere } = await opened(t);
  t.equal((await run("delete from t")).rowsAffected, ROWS);
  t.ok(isElsewhere());
  t.equal(await count(), 0);
  t.same((await run("select id from t where k = 3")).rows, []);
  await run("insert into t values (5, 3, 'again')");
  t.same((await run("select id, name from t where k = 3")).rows, [[5, "again"]]);
  t.equal((await run("delete from t")).rowsAffected, 1);
});

t.test("an older snapshot still has the rows", async (t) => {
  const { run, shard, tenant, isElsewhere } = await opened(t);
  const reader = shard.begin({ readOnly: true });
  const table = tenant.catalog.view(reader).tables()[0]!;
  await run("delete from t");
  t.ok(isElsewhere());
  const prefix = rowPrefix(tenant.number, storageOf(table));
  t.equal(reader.scan({ gte: prefix, lt: Buffer.concat([prefix, Buffer.of(255)]) }).next(ROWS + 1).keys.length, ROWS);
  reader.rollback();
});

const oneByOne: readonly (readonly [string, string, readonly string[]])[] = [
  ["a condition", "delete from t where id > 0", []],
  ["RETURNING", "delete from t returning id", []],
  [
    "a trigger",
    "delete from t",
    [
      "create function f() returns trigger language plpgsql as $$ begin return old; end $$",
      "create trigger g before delete on t for each row execute function f()",
    ],
  ],
  ["a foreign key that refers to it", "delete from t", ["create table other (t int references t)"]],
  ["a table that inherits", "delete from t", ["create table heir () inherits (t)"]],
  ["few rows", "delete from t", ["delete from t where id > 9000"]],
];

for (const [why, sql, before] of oneByOne) {
  t.test(`one by one: ${why}`, async (t) => {
    const { run, count, isElsewhere } = await opened(t);
    for (const each of before) await run(each);
    const rows = await count();
    t.equal((await run(sql)).rowsAffected, rows);
    t.notOk(isElsewhere());
    t.equal(await count(), 0);
  });
}

t.test("one by one: in a client's transaction, which may be rolled back", async (t) => {
  const { run, count, isElsewhere } = await opened(t);
  await run("begin");
  t.equal((await run("delete from t")).rowsAffected, ROWS);
  t.equal(await count(), 0);
  t.notOk(isElsewhere());
  await run("rollback");
  t.equal(await count(), ROWS);
});

t.test("one by one: somebody follows the changes", async (t) => {
  const { run, shard, tenant, count, isElsewhere } = await opened(t);
  const tx = shard.begin();
  const { id } = tenant.catalog.view(tx).tables()[0]!;
  tx.put(watchKey(tenant.number, id), Buffer.from("{}"));
  tx.commit();
  shard.flush();
  t.equal((await run("delete from t")).rowsAffected, ROWS);
  t.notOk(isElsewhere());
  t.equal(await count(), 0);
});

t.test("one by one: another transaction may write, and is not refused for it", async (t) => {
  const { run, client, count, isElsewhere } = await opened(t);
  const other = client();
  await other("begin");
  await other(`insert into t values (${ROWS + 1}, 1, 'other')`);
  t.equal((await run("delete from t")).rowsAffected, ROWS);
  t.notOk(isElsewhere());
  await other("commit");
  t.equal(await count(), 1);
});

for (const isolation of ["read committed", "serializable"] as const) {
  t.test(`a row that comes while the others are counted is not lost: ${isolation}`, async (t) => {
    const { run, client, count } = await opened(t, isolation);
    const other = client();
    let turns = 0;
    const { rowsAffected } = await run("delete from t", async () => {
      turns++;
      if (turns === 3) await other(`insert into t values (${ROWS + 1}, 1, 'other')`);
    });
    t.ok(turns > 3);
    // Either it came first and is gone, counted, or it came afterwards and is there.
    t.equal(rowsAffected! + ((await count()) as number), ROWS + 1);
  });
}
