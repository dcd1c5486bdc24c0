/**
 * Statements that all want the same rows and give way to each other get through: each loses, and then has a longer
 * turn.
 */
import t from "tap";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";

const SESSIONS = 6;
const NODES = 60;

t.test("concurrent MERGEs of the same nodes", async (t) => {
  await loadParser();
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  t.teardown(() => shard.close());
  const tenant = new Partition(0, shard, loadConfig({ env: {} }), () => undefined).tenant(1);
  let turns = 0;
  const request = {
    checkpoint: () => undefined,
    shouldYield: () => true,
    yieldTurn: () => {
      turns++;
      return new Promise<void>((resolve) => setImmediate(resolve));
    },
  };
  const run = async (sql: string) => {
    const options = { isolation: null, readOnly: false, user: "u", tenantName: "t", control: "routes" } as const;
    const statement = { sql, params: {}, language: "cypher", maxRows: 1000, collector: plainRows, request } as const;
    return new Session(tenant, options).execute(statement, (tx) => tenant.commit(tx));
  };
  await run("CREATE INDEX FOR (c:Counter) ON (c.i)");
  const count = `UNWIND range(1, ${NODES}) AS i MERGE (c:Counter {i: i}) SET c.n = coalesce(c.n, 0) + 1`;
  await Promise.all(Array.from({ length: SESSIONS }, () => run(count)));
  t.ok(turns > SESSIONS, "they have given way");
  const { rows } = await run("MATCH (c:Counter) RETURN count(c), min(c.n), max(c.n)");
  t.same(rows.plain, [[NODES, SESSIONS, SESSIONS]]);
});
