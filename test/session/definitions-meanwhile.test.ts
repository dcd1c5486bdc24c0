/** Definitions that change while a transaction is open: only those that it uses make its commit fail. */
import t, { type Test } from "tap";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { openShard } from "../storage/shards.js";

const ISOLATIONS = ["read committed", "repeatable read", "serializable"] as const;
type Isolation = (typeof ISOLATIONS)[number];

const SETUP = [
  "CREATE TYPE mood AS ENUM ('sad', 'happy')",
  "CREATE DOMAIN small AS integer CHECK (VALUE < 100)",
  "CREATE TABLE parent (id integer PRIMARY KEY, note text)",
  "CREATE SEQUENCE ids",
  "CREATE TABLE tab (id integer PRIMARY KEY, n small, m mood, parent_id integer REFERENCES parent)",
  "CREATE TABLE child (id integer PRIMARY KEY, tab_id integer REFERENCES tab)",
  "CREATE TABLE other (id integer PRIMARY KEY, s text)",
  "CREATE TABLE read_only (id integer)",
  "CREATE VIEW v AS SELECT id FROM tab",
  "CREATE FUNCTION f() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
  "CREATE ROLE someone",
  "INSERT INTO parent VALUES (1)",
  "INSERT INTO tab VALUES (50, 50, 'happy', 1)",
  "INSERT INTO read_only SELECT * FROM generate_series(1, 10)",
];

/** What the transaction has nothing to do with. */
const UNRELATED = [
  "CREATE TABLE made (a integer)",
  "CREATE TEMP TABLE made (a integer)",
  "ALTER TABLE other ADD more text",
  "ALTER TABLE other ALTER id TYPE bigint",
  "CREATE INDEX ON other (s)",
  "DROP TABLE other",
  "TRUNCATE other",
  "CREATE VIEW made AS SELECT * FROM tab",
  "CREATE MATERIALIZED VIEW made AS SELECT * FROM tab",
  "CREATE FUNCTION made() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
  "CREATE TYPE made AS ENUM ('a')",
  "CREATE SEQUENCE made",
  "CREATE SCHEMA made",
  "CREATE ROLE made",
  "GRANT SELECT ON other TO someone",
  "COMMENT ON TABLE other IS 'one'",
];

/** What its rows are laid out by, or kept right by. */
const USED = [
  "ALTER TABLE tab ADD more integer NOT NULL DEFAULT 7",
  "ALTER TABLE tab DROP n",
  "ALTER TABLE tab ADD CHECK (id > 1)",
  "CREATE INDEX ON tab (n)",
  "CREATE UNIQUE INDEX ON tab (n)",
  "DROP TABLE tab CASCADE",
  "ALTER TABLE child ADD more text",
  "ALTER TABLE parent ALTER note TYPE varchar(5)",
  "ALTER TYPE mood ADD VALUE 'calm'",
  "ALTER DOMAIN small ADD CHECK (VALUE > 1)",
];

/** What a serializable transaction worked by, or has read. */
const READ = [
  "TRUNCATE read_only",
  "ALTER TABLE read_only ADD more integer",
  "CREATE OR REPLACE VIEW v AS SELECT id FROM tab WHERE id > 0",
  "DROP VIEW v",
  "CREATE OR REPLACE FUNCTION f() RETURNS integer LANGUAGE sql AS 'SELECT 2'",
];

async function opened(t: Test) {
  await loadParser();
  const shard = await openShard(t);
  const tenant = new Partition(0, shard, loadConfig({ env: {} }), () => undefined).tenant(7);
  const client = (isolation: Isolation) => {
    const options = {
      isolation,
      readOnly: false,
      user: "u",
      tenantName: "t",
      control: "statements",
      administrator: true,
    } as const;
    const session = new Session(tenant, options);
    return async (sql: string, onTurn?: () => Promise<void>) => {
      const yieldTurn = () => onTurn!();
      const request = { checkpoint: () => undefined, shouldYield: () => onTurn !== undefined, yieldTurn };
      const statement = { sql, params: [], maxRows: 100_000, collector: plainRows, request };
      const outcome = await session.execute(statement, (tx) => tenant.commit(tx));
      shard.flush();
      await applyBacklog(shard);
      return outcome.rows.plain ?? [];
    };
  };
  const run = client("read committed");
  for (const sql of SETUP) await run(sql);
  return { client, run };
}

async function sqlstateOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "none",
    (error) => error.details?.sqlstate ?? error.message,
  );
}

/** How the commit of a transaction ends beside which `definition` was committed. */
async function endBeside(t: Test, definition: string, isolation: Isolation): Promise<{ state: string; rows: unknown }> {
  const { client, run } = await opened(t);
  const writer = client(isolation);
  await writer("BEGIN");
  await writer("INSERT INTO tab VALUES (1, 1, 'sad', 1)");
  await writer("SELECT count(*) FROM read_only");
  await client("read committed")(definition);
  const state = await sqlstateOf(writer("COMMIT"));
  const rows = await run("SELECT count(*) FROM tab").catch(() => "gone");
  return { state, rows };
}

for (const isolation of ISOLATIONS) {
  t.test(`at ${isolation}`, async (t) => {
    for (const definition of UNRELATED) {
      t.same(await endBeside(t, definition, isolation), { state: "none", rows: [[2]] }, definition);
    }
    for (const definition of USED) {
      const { state, rows } = await endBeside(t, definition, isolation);
      t.equal(state, "40001", definition);
      t.same(rows, definition.startsWith("DROP") ? "gone" : [[1]], "nothing was written");
    }
    for (const definition of READ) {
      const { state } = await endBeside(t, definition, isolation);
      t.equal(state, isolation === "serializable" ? "40001" : "none", definition);
    }
  });
}

t.test("a sequence that was drawn from is dropped", async (t) => {
  const { client } = await opened(t);
  const writer = client("repeatable read");
  await writer("BEGIN");
  await writer("INSERT INTO other SELECT nextval('ids'), 'a'");
  await client("read committed")("ALTER SEQUENCE ids INCREMENT 10");
  t.equal(await sqlstateOf(writer("COMMIT")), "none", "what was drawn stays");
});

t.test("a table is emptied", async (t) => {
  const { client, run } = await opened(t);
  const writer = client("repeatable read");
  for (const [rows, state] of [
    [10, "none"],
    // Too many to be removed one by one: the table gets another place.
    [20_000, "40001"],
  ] as const) {
    await run(`INSERT INTO read_only SELECT * FROM generate_series(1, ${rows})`);
    await writer("BEGIN");
    await writer("INSERT INTO read_only VALUES (0)");
    await run("TRUNCATE read_only");
    t.equal(await sqlstateOf(writer("COMMIT")), state, `${rows} rows`);
    t.same(await run("SELECT id FROM read_only"), state === "none" ? [[0]] : [], "as if it were empty before");
  }
});

t.test("partitions come and go", async (t) => {
  const { client, run } = await opened(t);
  await run("CREATE TABLE parts (n integer) PARTITION BY LIST (n)");
  await run("CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1)");
  await run("CREATE TABLE part_2 (n integer)");
  const writer = client("read committed");
  for (const definition of ["ALTER TABLE parts ATTACH PARTITION part_2 FOR VALUES IN (2)", "DROP TABLE part_2"]) {
    await writer("BEGIN");
    await writer("INSERT INTO parts VALUES (1)");
    await run(definition);
    t.equal(await sqlstateOf(writer("COMMIT")), "40001", definition);
  }
});

t.test("a statement that gives way goes on while others define", async (t) => {
  const { client, run } = await opened(t);
  await run("INSERT INTO other SELECT i, 'a' FROM generate_series(1, 3000) g(i)");
  let made = 0;
  const define = async () => {
    if (made < 3) await run(`CREATE TABLE made_${++made} (a integer)`);
  };
  await client("read committed")("UPDATE other SET s = s || 'b' WHERE id % 2 = 0", define);
  t.equal(made, 3);
  t.same(await run("SELECT s, count(*) FROM other GROUP BY s ORDER BY s"), [
    ["a", 1500],
    ["ab", 1500],
  ]);
});

t.test("a later statement at read committed writes by newer definitions of another table", async (t) => {
  const { client, run } = await opened(t);
  const writer = client("read committed");
  await writer("BEGIN");
  await writer("INSERT INTO tab VALUES (1, 1, 'sad', 1)");
  await run("ALTER TABLE other ADD more text DEFAULT 'x'");
  await writer("INSERT INTO other VALUES (1, 'a', 'b')");
  t.equal(await sqlstateOf(writer("COMMIT")), "none");
  t.same(await run("SELECT * FROM other"), [[1, "a", "b"]]);
  await writer("BEGIN");
  await writer("INSERT INTO tab VALUES (2, 1, 'sad', 1)");
  await run("ALTER TABLE tab ADD more text");
  await writer("INSERT INTO other VALUES (2, 'a', 'b')");
  t.equal(await sqlstateOf(writer("COMMIT")), "40001", "unless it had written that one before");
  await writer("BEGIN");
  await writer("INSERT INTO tab VALUES (2, 1, 'sad', 1)");
  await writer("CREATE TABLE own (a integer)");
  await writer("INSERT INTO own VALUES (1)");
  t.equal(await sqlstateOf(writer("COMMIT")), "none", "its own");
});
