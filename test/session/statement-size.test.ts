/** Statements that would take long to plan are refused with 54001; large ones that are plain run. */
import t from "tap";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";

const list = (n: number, item: (i: number) => string, between = ",") =>
  Array.from({ length: n }, (_, i) => item(i)).join(between);

t.test("statements of many parts", async (t) => {
  await loadParser();
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  t.teardown(() => shard.close());
  const tenant = new Partition(0, shard, loadConfig({ env: {} }), () => undefined).tenant(7);
  const options = { isolation: null, readOnly: false, user: "u", tenantName: "t", control: "statements" } as const;
  const session = new Session(tenant, options);
  const request = { checkpoint: () => undefined, shouldYield: () => false, yieldTurn: () => Promise.resolve() };
  const execute = async (language: "sql" | "cypher", sql: string, values: readonly unknown[] = []) => {
    const params = language === "sql" ? values : {};
    const run = { sql, language, params, maxRows: 1000, collector: plainRows, request };
    return (await session.execute(run, (tx) => tenant.commit(tx))).rows.plain;
  };
  await execute("sql", "CREATE TABLE t (a text, b text)");
  await execute("cypher", "CREATE (:P)");
  const refused: readonly ["sql" | "cypher", string][] = [
    ["sql", `SELECT 1 FROM ${list(600, (i) => `t t${i}`)}`],
    ["cypher", `MATCH ${list(2000, (i) => `(n${i})`, "-->")} RETURN 1`],
    ["cypher", `${list(2000, (i) => `MATCH (n${i})`, " ")} RETURN 1`],
    ["cypher", `${list(2000, (i) => `WITH 1 AS x${i}`, " ")} RETURN 1`],
    ["cypher", `${list(2000, (i) => `WITH *, 1 AS x${i}`, " ")} RETURN 1`],
    ["cypher", list(2000, () => "RETURN 1 AS x", " UNION ")],
  ];
  for (const [language, text] of refused) {
    const error = { details: { sqlstate: "54001" } } as unknown as Error;
    await t.rejects(execute(language, text), error, text.slice(0, 40));
  }
  t.same(await execute("sql", `SELECT 1 FROM t c ${list(100, (i) => `JOIN t c${i} ON c${i}.a = c.a`, " ")}`), []);
  const rows = list(20_000, (i) => `(${i}, 'a', $1)`);
  t.same(await execute("sql", `SELECT count(*), max(x) FROM (VALUES ${rows}) v (n, a, x)`, ["b"]), [["20000", "b"]]);
  t.same(await execute("cypher", `MATCH ${list(50, (i) => `(n${i})`, "-->")} RETURN 1`), []);
  t.same(await execute("cypher", `CREATE ${list(3000, (i) => `(n${i} {a: ${i}})`)}`), []);
  t.same(await execute("cypher", "MATCH (n) RETURN count(*)"), [[3001]]);
  t.same(await execute("cypher", `${list(200, (i) => `WITH *, 1 AS x${i}`, " ")} RETURN x0 + x199 AS two`), [[2]]);
});
