/** Texts that differ in their constants alone share a plan where that cannot be told from planning each. */
import t from "tap";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { liftConstants } from "../../src/session/lifted-constants.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";

t.test("constants become parameters", (t) => {
  const lifted = (text: string) => {
    const found = liftConstants(text);
    return found && [found.sql, ...found.constants.map(({ type, value }) => `${type.name} ${value}`)];
  };
  t.same(lifted("SELECT * FROM t WHERE a = 1 AND b='it''s' "), [
    "SELECT * FROM t WHERE a = $1 AND b=$2 ",
    "int4 1",
    "unknown it's",
  ]);
  t.same(lifted("select 3000000000, -5, 2-1, a -1, 1.5"), [
    "select $1, $2, $3-$4, a -$5, $6",
    "int8 3000000000",
    "int4 -5",
    "int4 2",
    "int4 1",
    "int4 1",
    "numeric 1.5",
  ]);
  t.same(lifted("SELECT 9e131071, 1.5e3, 12345678901234567890, 7"), [
    "SELECT 9e131071, 1.5e3, 12345678901234567890, $1",
    "int4 7",
  ]);
  t.same(lifted('UPDATE "a 1" SET "b" = c1 * 2'), ['UPDATE "a 1" SET "b" = c1 * $1', "int4 2"]);
  for (const text of [
    "SELECT a FROM t",
    "CREATE TABLE t (a int DEFAULT 1)",
    "SELECT 1 -- one",
    "SELECT 1 /* one */",
    "SELECT $1, 1",
    "SELECT E'a', 1",
    "SELECT U&'a', 1",
    "SELECT $$a$$, 1",
    "SELECT 0x1F",
    "SELECT 1_000",
    "SELECT 'a",
  ]) {
    t.equal(liftConstants(text), null, text);
  }
  t.end();
});

t.test("plans", async (t) => {
  await loadParser();
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  t.teardown(() => shard.close());
  const tenant = new Partition(0, shard, loadConfig({ env: {} }), () => undefined).tenant(1);
  const request = { checkpoint: () => undefined, shouldYield: () => false, yieldTurn: async () => undefined };
  const options = { isolation: null, readOnly: false, user: "u", tenantName: "t", control: "statements" } as const;
  const session = new Session(tenant, options);
  const run = async (sql: string) => {
    const statement = { sql, params: [], maxRows: 1000, collector: plainRows, request } as const;
    const { rows } = await session.execute(statement, (tx) => tenant.commit(tx));
    return rows.plain;
  };
  /** How many plans are made for the text with each of the values; each answer is checked. */
  const plansFor = async (text: (i: number) => string, answer: (i: number) => unknown, count = 6) => {
    const before = tenant.plans.misses;
    for (let i = 1; i <= count; i++) t.same(await run(text(i)), answer(i), text(i));
    return tenant.plans.misses - before;
  };
  await run(
    "CREATE TABLE t (id int PRIMARY KEY, name text, n bigint, at timestamptz, short varchar(3), unique (name))",
  );

  await t.test("one plan for all", async (t) => {
    const insert = (i: number) => `INSERT INTO t (id, name, n, at) VALUES (${i}, 'name ${i}', ${i}, CURRENT_TIMESTAMP)`;
    t.equal(await plansFor(insert, () => []), 2);
    t.equal(
      await plansFor(
        (i) => `SELECT name FROM t WHERE id = ${i}`,
        (i) => [[`name ${i}`]],
      ),
      2,
    );
    t.equal(
      await plansFor(
        (i) => `SELECT id FROM t WHERE name = 'name ${i}'`,
        (i) => [[i]],
      ),
      2,
    );
    t.equal(
      await plansFor(
        (i) => `UPDATE t SET n = n + -${i} WHERE id = ${i}`,
        () => [],
      ),
      2,
    );
    t.equal(
      await plansFor(
        (i) => `SELECT n FROM t WHERE id = ${i} LIMIT 1`,
        () => [["0"]],
      ),
      2,
    );
    t.equal(
      await plansFor(
        (i) => `SELECT n + 1.5, id FROM t WHERE id = ${i}`,
        (i) => [["1.5", i]],
      ),
      2,
    );
    t.equal(
      await plansFor(
        (i) => `DELETE FROM t WHERE id = ${i + 100}`,
        () => [],
      ),
      2,
    );
    await run("BEGIN");
    t.equal(
      await plansFor(
        (i) => `SELECT name FROM t WHERE id = ${i} AND n = 0`,
        (i) => [[`name ${i}`]],
      ),
      2,
    );
    await run("COMMIT");
    t.end();
  });

  await t.test("one plan for all rows of a table that gives out keys for NULL", async (t) => {
    await run("CREATE TABLE numbered (id integer PRIMARY KEY, name text)");
    const insert = (i: number) => `INSERT INTO numbered VALUES (${i}, 'name ${i}')`;
    t.equal(await plansFor(insert, () => []), 2);
    await run("INSERT INTO numbered VALUES (NULL, 'next')");
    t.same(await run("SELECT id, name FROM numbered WHERE id > 5 ORDER BY id"), [
      [6, "name 6"],
      [7, "next"],
    ]);
    t.end();
  });

  await t.test("a plan for each where the constant may matter", async (t) => {
    t.equal(
      await plansFor(
        (i) => `SELECT count(*) FROM t WHERE n < ${i}`,
        () => [["6"]],
      ),
      6,
      "how many rows there are",
    );
    t.equal(
      await plansFor(
        (i) => `SELECT id, n FROM t ORDER BY ${(i % 2) + 1}, id LIMIT 1`,
        () => [[1, "0"]],
      ),
      2,
    );
    t.equal(
      await plansFor(
        (i) => `SELECT '${i}' FROM t WHERE id = 1`,
        (i) => [[String(i)]],
      ),
      6,
      "its type is open",
    );
    t.equal(
      await plansFor(
        (i) => `SELECT id FROM t WHERE id = 1 AND at > '200${i}-01-01'`,
        () => [[1]],
      ),
      6,
      "its time zone",
    );
    t.equal(
      await plansFor(
        (i) => `UPDATE t SET short = 'ab${i}' WHERE id = 1`,
        () => [],
      ),
      6,
      "it may be too long",
    );
    t.end();
  });

  await t.test("errors are those of the text", async (t) => {
    const text = (value: string) => `SELECT name FROM t WHERE id = '${value}'`;
    t.equal(
      await plansFor(
        (i) => text(String(i)),
        (i) => [[`name ${i}`]],
      ),
      2,
    );
    const error = await run(text("x")).then(
      () => null,
      (thrown) => thrown,
    );
    t.equal(error.message, 'invalid input syntax for type integer: "x"');
    t.equal(error.details.position, 31);
    await run("CREATE TABLE large (n numeric PRIMARY KEY)");
    await plansFor(
      (i) => `INSERT INTO large VALUES ('9e${131_000 + i}')`,
      () => [],
    );
    await plansFor(
      (i) => `DELETE FROM large WHERE n = 9e${131_000 + i}`,
      () => [],
    );
    await t.rejects(run(text("99999999999")), { message: 'value "99999999999" is out of range for type integer' });
    await t.rejects(run("UPDATE t SET short = 'abcd' WHERE id = 1"), /too long for type/);
    t.end();
  });

  await t.test("definitions and settings that change", async (t) => {
    const text = (i: number) => `SELECT * FROM u WHERE id = ${i}`;
    await run("CREATE TABLE u (id int PRIMARY KEY, a int DEFAULT 7)");
    for (let i = 0; i < 4; i++) await run(`INSERT INTO u (id) VALUES (${i})`);
    t.same(await run(text(1)), [[1, 7]]);
    t.same(await run(text(2)), [[2, 7]]);
    await run("ALTER TABLE u ALTER COLUMN id TYPE text");
    await t.rejects(run(text(3)), /operator does not exist: text = integer/);
    await run("CREATE SCHEMA s");
    await run("CREATE TABLE s.u (id int PRIMARY KEY, b text)");
    await run("INSERT INTO s.u VALUES (3, 'three')");
    await run("SET search_path = s");
    t.same(await run(text(3)), [[3, "three"]]);
    t.same(await run(text(4)), []);
    t.same(await run(text(3)), [[3, "three"]]);
    await run("SET search_path = public");
    await t.rejects(run(text(3)), /operator does not exist/);
    const other = new Session(tenant, options);
    const ofOther = async (sql: string) => {
      const statement = { sql, params: [], maxRows: 10, collector: plainRows, request } as const;
      return (await other.execute(statement, (tx) => tenant.commit(tx))).rows.plain;
    };
    await ofOther("SET search_path = s");
    await run("CREATE TABLE v (id int PRIMARY KEY, a text)");
    await run("CREATE TABLE s.v (id int PRIMARY KEY, a text)");
    await run("INSERT INTO v VALUES (1, 'public'), (2, 'public')");
    await run("INSERT INTO s.v VALUES (1, 's'), (2, 's')");
    for (const id of [1, 2, 1, 2, 1]) {
      const sql = `SELECT a FROM v WHERE id = ${id}`;
      t.same([await run(sql), await ofOther(sql)], [[["public"]], [["s"]]], "the same text of two sessions");
    }
    await run("CREATE TEMP TABLE u (id int PRIMARY KEY, c int)");
    t.same(await run(text(3)), []);
    t.end();
  });
  t.end();
});
