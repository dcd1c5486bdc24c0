/** Correlated subqueries and functions inside expressions: turns between rows, and an end for one that has none. */
import t from "tap";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { Session } from "../../src/session/session.js";
import { jsonRows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";

const ROWS = 200;

t.test("expressions that may take long for a row", async (t) => {
  await loadParser();
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  t.teardown(() => shard.close());
  const tenant = new Partition(0, shard, loadConfig({ env: {} }), () => undefined).tenant(7);
  const session = new Session(tenant, {
    isolation: null,
    readOnly: false,
    user: "u",
    tenantName: "t",
    control: "routes",
  });
  let turns = 0;
  const request = {
    checkpoint: () => undefined,
    shouldYield: () => true,
    yieldTurn: async () => {
      turns++;
    },
  };
  const execute = async (sql: string) => {
    turns = 0;
    const run = { sql, params: [], maxRows: 1000, collector: jsonRows, request };
    return (await session.execute(run, (tx) => tenant.commit(tx))).rows;
  };
  await execute("create table t (id int primary key)");
  await execute(`insert into t select g from generate_series(1, ${ROWS}) g`);
  await execute("create function odd(i int) returns bool language plpgsql as $$ begin return i % 2 = 1; end $$");
  await execute("create function spin(i int) returns int language plpgsql as $$ begin loop null; end loop; end $$");
  const cases = {
    "select count(*) from t where odd(id)": ROWS / 2,
    "select count(*) from t where odd(id) and not odd(id)": 0,
    "select count(*) filter (where o) from (select odd(id) or id < 0 as o from t) x": ROWS / 2,
    "select count(*) from t a where id < 0 or exists (select from t b where b.id + 0 = a.id + 1)": ROWS - 1,
    "select sum(n) from (select (select count(*) from t b where b.id > a.id) + random() * 0 as n from t a) x":
      (ROWS * (ROWS - 1)) / 2,
  };
  for (const [sql, expected] of Object.entries(cases)) {
    const rows = await execute(sql);
    t.match(JSON.stringify(rows), String(expected), sql);
    t.ok(turns >= ROWS, `${turns} turns in: ${sql}`);
  }
  const { now } = performance;
  performance.now = () => now.call(performance) * 1000;
  t.teardown(() => {
    performance.now = now;
  });
  await t.rejects(execute("select id from t where spin(id) = 1"), { code: "request_timeout" });
});
