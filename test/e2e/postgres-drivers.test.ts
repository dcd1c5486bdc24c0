/**
 * The driver `pg` against the server of PostgreSQL's protocol: values of many types, transactions that wait, tenants.
 */
import type { Socket } from "node:net";
import pg from "pg";
import t from "tap";
import { passwordOf, TestServer } from "./server.js";
import { postgresPort, WITH_POSTGRES } from "./wire-client.js";

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "2" });
});
t.teardown(() => server?.stop());

const clients: pg.Client[] = [];
t.teardown(() => {
  for (const client of clients) (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
});

async function connect(user = "admin", password = server.password): Promise<pg.Client> {
  const client = new pg.Client({ host: "127.0.0.1", port: postgresPort(server), user, password, database: "postgres" });
  client.on("error", () => undefined);
  await client.connect();
  clients.push(client);
  return client;
}

const codeOf = (error: unknown): string => (error as { code: string }).code;

t.test("a plan in JSON is a value of json, however it is asked for", async (t) => {
  const client = await connect();
  const text = "EXPLAIN (FORMAT JSON) SELECT 1";
  for (const query of [{ text }, { text, name: "explained" }, { text: `PREPARE asked AS SELECT 1; ${text}` }]) {
    const answers = [await client.query(query)].flat() as pg.QueryResult[];
    const { fields, rows } = answers.at(-1)!;
    t.match(fields, [{ name: "QUERY PLAN", dataTypeID: 114 }]);
    t.match(rows, [{ "QUERY PLAN": [{ Plan: { "Node Type": String } }] }]);
  }
  const executed = await client.query("EXPLAIN (FORMAT JSON) EXECUTE asked");
  t.match(executed.rows, [{ "QUERY PLAN": [{ Plan: {} }] }]);
  const yaml = await client.query("EXPLAIN (FORMAT YAML) SELECT 1");
  t.match(yaml.fields, [{ name: "QUERY PLAN", dataTypeID: 25 }]);
});

t.test("what monitoring tools ask for has an answer, or the refusal from which they go on", async (t) => {
  const client = await connect();
  const rows = async (text: string) => (await client.query({ text, rowMode: "array" })).rows as unknown[][];
  await client.query("CREATE TABLE watched (n int); INSERT INTO watched SELECT generate_series(1, 10)");
  const counts = "SELECT xact_commit, xact_rollback FROM pg_stat_database";
  const [before] = await rows(counts);
  await client.query("SELECT 1");
  await client.query("BEGIN; SELECT 1; COMMIT");
  await client.query("BEGIN; SELECT 1; ROLLBACK");
  await client.query("SELECT 1/0").catch(() => undefined);
  const [after] = await rows(counts);
  // The first look itself is a transaction, too.
  t.same(
    after!.map((count, i) => Number(count) - Number(before![i])),
    [3, 2],
  );
  const analyzed =
    "SELECT last_analyze BETWEEN now() - interval '1 minute' AND now() + interval '1 minute', last_vacuum, last_analyze = pg_stat_get_last_analyze_time(relid) FROM pg_stat_user_tables WHERE relname = 'watched'";
  t.same(await rows(analyzed), [[null, null, null]]);
  await client.query("VACUUM watched");
  t.same(await rows(analyzed), [[null, null, null]]);
  await client.query("VACUUM (ANALYZE) watched");
  t.same(await rows(analyzed), [[true, null, true]]);
  const sizes = "SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'i') AND pg_table_size(oid) IS NULL";
  t.same(await rows(sizes), [["0"]]);
  const settings =
    "SELECT current_setting('autovacuum_max_workers'), current_setting('max_wal_senders'), current_setting('is_superuser'), age(datfrozenxid) FROM pg_database";
  t.same(await rows(settings), [["1", "0", "on", 0]]);
  for (const sql of [
    "SHOW data_directory",
    "SELECT current_setting('hba_file', true)",
    "SELECT count(*) FROM pg_ls_waldir()",
    "SELECT size FROM pg_tablespace ts, LATERAL pg_ls_tmpdir(ts.oid)",
    "SELECT pg_read_file('postgresql.conf')",
  ]) {
    await t.rejects(client.query(sql), { code: "42501" }, sql);
  }
  t.same(await rows("SELECT name FROM pg_settings WHERE name = 'data_directory'"), []);
  // Programs that change the zone for a while look up the one to go back to under PostgreSQL's spelling.
  await client.query("SET timezone = 'Asia/Tokyo'");
  t.same((await client.query("SHOW timezone")).rows, [{ TimeZone: "Asia/Tokyo" }]);
  t.same(await rows("SELECT name, setting FROM pg_settings WHERE name = 'TimeZone'"), [["TimeZone", "Asia/Tokyo"]]);
});

t.test("pg_namespace has schemas of temporary relations; information_schema shows their own session's", async (t) => {
  const [own, other] = [await connect(), await connect()];
  const rows = async (client: pg.Client, text: string) => (await client.query({ text, rowMode: "array" })).rows;
  await own.query("CREATE TEMP TABLE fleeting (a int PRIMARY KEY); CREATE TEMP VIEW passing AS TABLE fleeting");
  const inSchemas = `SELECT relname, nspname LIKE 'pg_temp_%', pg_is_other_temp_schema(n.oid) FROM pg_class
    JOIN pg_namespace n ON n.oid = relnamespace WHERE relname IN ('fleeting', 'passing') ORDER BY relname`;
  const seen = (isOther: boolean) => ["fleeting", "passing"].map((name) => [name, true, isOther]);
  t.same(await rows(own, inSchemas), seen(false));
  t.same(await rows(other, inSchemas), seen(true));
  const tables = "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema LIKE 'pg_temp%'";
  t.same(await rows(own, tables), [
    ["fleeting", "LOCAL TEMPORARY"],
    ["passing", "LOCAL TEMPORARY"],
  ]);
  const columns = "SELECT column_name FROM information_schema.columns WHERE table_name = 'fleeting'";
  t.same(await rows(own, columns), [["a"]]);
  t.same(await rows(other, tables), []);
  t.same(await rows(other, columns), []);
});

t.test("columns tell their column of the table: of RETURNING, subqueries, WITH and views, too", async (t) => {
  const client = await connect();
  await client.query("CREATE TABLE told (a int, id serial PRIMARY KEY, gone text); ALTER TABLE told DROP COLUMN a");
  const origins = async (sql: string) =>
    (await client.query(sql)).fields.map(({ tableID, columnID }) => [tableID, columnID]);
  const selected = await origins("SELECT id, gone, id + 1 FROM told");
  t.match(selected, [[/[1-9]/], [/[1-9]/], [0, 0]]);
  for (const sql of [
    "INSERT INTO told (gone) VALUES ('x') RETURNING id, gone, id + 1",
    "INSERT INTO told AS t VALUES (1, 'y') ON CONFLICT (id) DO UPDATE SET gone = 'y' RETURNING t.id, gone, id + 1",
    "UPDATE told SET gone = 'z' RETURNING id, gone, id + 1",
    "DELETE FROM told USING (VALUES (1)) AS other (n) WHERE id = n RETURNING id, gone, id + n",
  ]) {
    t.same(await origins(sql), selected, sql);
  }
  t.equal(selected[0]![1], 2, "numbers stay when a column before them is dropped");
  await client.query("CREATE VIEW shown AS SELECT gone, id FROM told");
  for (const sql of [
    "SELECT id, gone, n FROM (SELECT gone, id, id + 1 AS n FROM told) s",
    "SELECT * FROM (SELECT DISTINCT id, gone, upper(gone) FROM told ORDER BY 3 LIMIT 1) s",
    "WITH w(a, b) AS (SELECT id, gone FROM told) SELECT x.a, y.b, y.b || 'x' FROM w x JOIN w y USING (b)",
    "WITH w AS MATERIALIZED (UPDATE told SET gone = 'z' RETURNING gone, id) SELECT id, gone, 1 FROM w",
  ]) {
    t.same(await origins(sql), selected, sql);
  }
  const [[view], none] = [await origins("SELECT id, gone FROM (SELECT * FROM shown) s"), [[0, 0]]];
  t.match([selected[0]![0] !== view![0], view![1]], [true, 2], "of a view's column the view's");
  for (const sql of [
    "SELECT * FROM (SELECT id FROM told UNION SELECT 1) s",
    "WITH RECURSIVE w AS (SELECT id FROM told UNION ALL SELECT id FROM w WHERE id < 0) SELECT * FROM w",
    "SELECT * FROM (SELECT max(id) FROM told) s",
  ]) {
    t.same(await origins(sql), none, `${sql}: no table's`);
  }
});

t.test("values come as they went", async (t) => {
  const client = await connect();
  const columns = [
    ["bool", true],
    ["int2", -2],
    ["int4", 2147483647],
    ["int8", "-9007199254740993"],
    ["numeric", "-12345678901234567890.0123456789"],
    ["numeric", "0.00001"],
    ["numeric", "10000"],
    ["float8", 1.5e-300],
    ["text", 'é "\\\n'],
    ["uuid", "0123abcd-0000-4000-8000-00000000ffff"],
    ["bytea", Buffer.from([0, 255, 7])],
    ["jsonb", { a: [1, null, "x"] }],
    ["int4[]", [1, null, 3]],
    ["text[]", ["a,b", 'c"d', null]],
    ["interval", "1 year 2 mons 3 days 04:05:06.7"],
    ["timestamptz", new Date("2026-02-03T04:05:06.789Z")],
    ["date", "1999-12-31"],
    ["inet", "10.1.2.0/24"],
  ] as const;
  const values = columns.map(([, value]) => value);
  const select = (suffix: string) => `SELECT ${columns.map(([type], i) => `$${i + 1}::${type}${suffix}`).join(", ")}`;
  const texts = await client.query({ text: select("::text"), values, rowMode: "array" });
  const types = { getTypeParser: () => String };
  const plain = await client.query({ text: select(""), values, rowMode: "array", types });
  t.same(plain.rows[0]!.slice(1), texts.rows[0]!.slice(1));
  t.same([plain.rows[0]![0], texts.rows[0]![0]], ["t", "true"], "a cast of a boolean writes the word");
  const known = (await client.query("SELECT 1::int2 a, 2::int8 b, '{1,NULL}'::int[] c, 'x' d, NULL e, 1.50 f")).rows[0];
  t.same(known, { a: 1, b: "2", c: [1, null], d: "x", e: null, f: "1.50" });
});

t.test("a text of comments alone is no statement, and no error, in the extended protocol, too", async (t) => {
  const client = await connect();
  for (const text of ["-- nothing", "/* nothing */ ;", " ;; ", ""]) {
    const { rows, fields } = await client.query({ text, name: `named ${text}`, values: [] });
    t.same([rows, fields], [[], []], text);
  }
});

t.test("a table named as a type does not hide the type from functions", async (t) => {
  const client = await connect();
  await client.query(`
    CREATE SCHEMA named; SET search_path TO named; CREATE TABLE json (a int); CREATE TABLE rows (b int);
    CREATE FUNCTION made(given json DEFAULT '{"a":1}') RETURNS json LANGUAGE plpgsql
      AS 'DECLARE other json := given; BEGIN RETURN other; END';
    CREATE FUNCTION of_row(given rows) RETURNS int LANGUAGE sql AS 'SELECT given.b';
  `);
  t.same((await client.query("SELECT made() AS m, of_row(ROW(7)::rows) AS r")).rows, [{ m: { a: 1 }, r: 7 }]);
});

t.test("errors have the fields that clients read", async (t) => {
  const client = await connect();
  await client.query(
    "CREATE TABLE parents (id int PRIMARY KEY); CREATE TABLE children (id int, parent int REFERENCES parents (id), n int NOT NULL CHECK (n > 0))",
  );
  const errorOf = (sql: string) =>
    client.query(sql).then(
      () => null,
      (error: object) => error,
    );
  await client.query("INSERT INTO parents VALUES (1)");
  t.match(await errorOf("INSERT INTO parents VALUES (1)"), {
    code: "23505",
    table: "parents",
    constraint: "parents_pkey",
    schema: "public",
    detail: "Key (id)=(1) already exists.",
    severity: "ERROR",
  });
  t.match(await errorOf("INSERT INTO children VALUES (1, 2, 1)"), {
    code: "23503",
    constraint: "children_parent_fkey",
  });
  t.match(await errorOf("INSERT INTO children VALUES (1, 1, NULL)"), { code: "23502", column: "n" });
  t.match(await errorOf("INSERT INTO children VALUES (1, 1, 0)"), { code: "23514", constraint: "children_n_check" });
  t.match(await errorOf("SELECT 1 FROM nowhere"), { code: "42P01", position: "15" });
});

t.test("parameters of any length arrive", async (t) => {
  const client = await connect();
  for (const length of [200_000, 262_144, 300_000, 5_000_000]) {
    const { rows } = await client.query("SELECT length($1::text) AS n", ["x".repeat(length)]);
    t.same(rows, [{ n: length }]);
  }
});

t.test("transactions at read committed wait for each other and lose nothing", async (t) => {
  const [a, b] = [await connect(), await connect()];
  await a.query("CREATE TABLE counters (id int PRIMARY KEY, n int)");
  await a.query("INSERT INTO counters SELECT i, 0 FROM generate_series(1, 4) i");
  const value = async (id: number) => (await a.query("SELECT n FROM counters WHERE id = $1", [id])).rows[0].n;

  // FOR UPDATE: the second reader sees what the first has made of the row.
  await a.query("BEGIN");
  await b.query("BEGIN");
  const first = (await a.query("SELECT n FROM counters WHERE id = 1 FOR UPDATE")).rows[0].n;
  const waiting = b.query("SELECT n FROM counters WHERE id = 1 FOR UPDATE");
  await a.query("UPDATE counters SET n = $1 WHERE id = 1", [first + 1]);
  await a.query("COMMIT");
  const second = (await waiting).rows[0].n;
  await b.query("UPDATE counters SET n = $1 WHERE id = 1", [second + 1]);
  await b.query("COMMIT");
  t.equal(await value(1), 2);

  // An UPDATE runs again over what was committed; one of another transaction that rolls back is as if it never was.
  await a.query("BEGIN");
  await a.query("UPDATE counters SET n = 10 WHERE id = 2");
  const added = b.query("UPDATE counters SET n = n + 1 WHERE id = 2");
  await a.query("COMMIT");
  await added;
  t.equal(await value(2), 11);
  await a.query("BEGIN");
  await a.query("UPDATE counters SET n = 100 WHERE id = 2");
  const alone = b.query("UPDATE counters SET n = n + 1 WHERE id = 2");
  await a.query("ROLLBACK");
  await alone;
  t.equal(await value(2), 12);

  // Two inserts of one key: the second waits, and then collides or does not.
  await a.query("BEGIN");
  await a.query("INSERT INTO counters VALUES (50, 0)");
  const duplicate = b.query("INSERT INTO counters VALUES (50, 1)").then(() => "stored", codeOf);
  await a.query("COMMIT");
  t.equal(await duplicate, "23505");

  // Statements of HTTP respect what is held, too.
  await a.query("BEGIN");
  await a.query("UPDATE counters SET n = 1 WHERE id = 4");
  const overHttp = server.sql("UPDATE counters SET n = n + 1 WHERE id = 4");
  await a.query("COMMIT");
  t.equal((await overHttp).status, 200);
  t.equal(await value(4), 2);
});

t.test("SKIP LOCKED, NOWAIT, deadlocks and time-outs", async (t) => {
  const [a, b] = [await connect(), await connect()];
  await a.query("CREATE TABLE jobs (id int PRIMARY KEY, state text)");
  await a.query("INSERT INTO jobs SELECT i, 'new' FROM generate_series(1, 10) i");
  const next = "SELECT id FROM jobs WHERE state = 'new' ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED";
  await a.query("BEGIN");
  await b.query("BEGIN");
  t.same((await a.query(next)).rows, [{ id: 1 }, { id: 2 }]);
  t.same((await b.query(next)).rows, [{ id: 3 }, { id: 4 }]);
  const refused = await b.query("SELECT 1 FROM jobs WHERE id = 1 FOR UPDATE NOWAIT").catch((error) => error);
  t.match(refused, { code: "55P03", message: 'could not obtain lock on row in relation "jobs"' });
  await b.query("ROLLBACK");
  await b.query("BEGIN");
  await b.query("SET LOCAL lock_timeout = '50ms'");
  t.equal(await b.query("UPDATE jobs SET state = 'done' WHERE id = 1").then(() => null, codeOf), "55P03");
  await b.query("ROLLBACK");
  await b.query("SET statement_timeout = '50ms'");
  t.equal(await b.query("UPDATE jobs SET state = 'done' WHERE id = 1").then(() => null, codeOf), "57014");
  await b.query("RESET statement_timeout");
  await a.query("ROLLBACK");

  // Statements that ran before, and are transactions by themselves.
  await a.query("CREATE VIEW held AS SELECT id FROM jobs WHERE id < 3 FOR UPDATE SKIP LOCKED");
  const alone = [next, "SELECT * FROM (SELECT id FROM jobs WHERE id < 3 FOR SHARE SKIP LOCKED) s", "TABLE held"];
  for (const sql of alone) t.same((await b.query(sql)).rows, [{ id: 1 }, { id: 2 }], sql);
  await a.query("BEGIN");
  await a.query("UPDATE jobs SET state = 'held' WHERE id = 1");
  const now = [[{ id: 2 }, { id: 3 }], [{ id: 2 }], [{ id: 2 }]];
  for (const [i, sql] of alone.entries()) t.same((await b.query(sql)).rows, now[i], sql);
  await a.query("ROLLBACK");

  await a.query("BEGIN");
  await b.query("BEGIN");
  await a.query("UPDATE jobs SET state = 'a' WHERE id = 1");
  await b.query("UPDATE jobs SET state = 'b' WHERE id = 2");
  const crossed = a.query("UPDATE jobs SET state = 'a' WHERE id = 2").then(() => "done", codeOf);
  const back = b.query("UPDATE jobs SET state = 'b' WHERE id = 1").then(() => "done", codeOf);
  t.same([await crossed, await back].sort(), ["40P01", "done"]);
  await Promise.all([a.query("ROLLBACK"), b.query("ROLLBACK")]);
});

t.test("rows are shared by FOR SHARE, and one who wants to change them waits for all", async (t) => {
  const [a, b, c] = [await connect(), await connect(), await connect()];
  await a.query("CREATE TABLE shared_rows (id int PRIMARY KEY, n int)");
  await a.query("INSERT INTO shared_rows VALUES (1, 0), (2, 0)");
  const lock = (how: string) => `SELECT n FROM shared_rows WHERE id = 1 FOR ${how} NOWAIT`;
  for (const client of [a, b, c]) await client.query("BEGIN");
  await a.query(lock("SHARE"));
  await b.query(lock("SHARE"));
  await b.query(lock("KEY SHARE"));
  t.equal(await c.query(lock("NO KEY UPDATE")).then(() => null, codeOf), "55P03");
  await c.query("ROLLBACK");
  const changed = c.query("UPDATE shared_rows SET n = n + 1 WHERE id = 1 RETURNING n");
  await a.query("COMMIT");
  t.equal(await b.query("SELECT n FROM shared_rows WHERE id = 1").then(({ rows }) => rows[0].n), 0, "c waits for b");
  await b.query("COMMIT");
  t.same((await changed).rows, [{ n: 1 }]);

  // Both share the row and want to change it.
  for (const client of [a, b]) {
    await client.query("BEGIN");
    await client.query(lock("SHARE"));
  }
  const both = [a, b].map(async (client) => {
    const done = await client.query("UPDATE shared_rows SET n = n + 1 WHERE id = 1").then(() => "done", codeOf);
    await client.query("COMMIT");
    return done;
  });
  t.same((await Promise.all(both)).sort(), ["40P01", "done"]);
  t.equal((await a.query("SELECT n FROM shared_rows WHERE id = 1")).rows[0].n, 2);
});

t.test("clients that add to one row at the same time lose no addition", async (t) => {
  const many = await Promise.all(Array.from({ length: 6 }, () => connect()));
  await many[0]!.query("CREATE TABLE sums (id int PRIMARY KEY, n int)");
  await many[0]!.query("INSERT INTO sums VALUES (1, 0), (2, 0)");
  await Promise.all(
    many.map(async (client, c) => {
      for (let i = 0; i < 10; i++) {
        await client.query("BEGIN");
        await client.query("UPDATE sums SET n = n + 1 WHERE id = 1");
        await client.query("UPDATE sums SET n = n + 1 WHERE id = 2");
        await client.query((c + i) % 5 === 0 ? "ROLLBACK" : "COMMIT");
      }
    }),
  );
  t.same((await many[0]!.query("SELECT n FROM sums ORDER BY id")).rows, [{ n: 48 }, { n: 48 }]);
});

t.test("notifications come after the commit, to those who listen", async (t) => {
  const [listener, sender] = [await connect(), await connect()];
  const heard: string[] = [];
  listener.on("notification", ({ channel, payload }) => heard.push(`${channel} ${payload}`));
  await listener.query("LISTEN jobs");
  await sender.query("NOTIFY jobs, 'alone'");
  await sender.query("BEGIN");
  await sender.query("SELECT pg_notify('jobs', 'in a transaction')");
  await sender.query("NOTIFY jobs, 'in a transaction'; NOTIFY others, 'unheard'");
  await sender.query("COMMIT");
  await sender.query("BEGIN; NOTIFY jobs, 'taken back'; ROLLBACK");
  await listener.query("NOTIFY jobs, 'its own'");
  while (heard.length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  t.same(heard, ["jobs alone", "jobs in a transaction", "jobs its own"]);
  await listener.query("UNLISTEN *");
  await sender.query("NOTIFY jobs");
  await listener.query("SELECT 1");
  t.equal(heard.length, 3);
});

t.test("advisory locks exclude other sessions", async (t) => {
  const [a, b] = [await connect(), await connect()];
  const value = async (client: pg.Client, sql: string) => Object.values((await client.query(sql)).rows[0])[0];
  t.equal(await value(a, "SELECT pg_try_advisory_lock(1)"), true);
  t.equal(await value(a, "SELECT pg_try_advisory_lock(1)"), true, "again in the same session");
  t.equal(await value(b, "SELECT pg_try_advisory_lock(1)"), false);
  t.equal(await value(b, "SELECT pg_try_advisory_lock(0, 1)"), true, "two keys are another space");
  const waiting = b.query("SELECT pg_advisory_lock(1)");
  await a.query("SELECT pg_advisory_unlock(1)");
  t.equal(await value(a, "SELECT pg_advisory_unlock(1)"), true);
  await waiting;
  t.equal(await value(a, "SELECT pg_try_advisory_lock_shared(1)"), false);
  await a.query("BEGIN");
  await a.query("SELECT pg_advisory_xact_lock(2)");
  t.equal(await value(b, "SELECT pg_try_advisory_lock(2)"), false);
  await a.query("COMMIT");
  t.equal(await value(b, "SELECT pg_try_advisory_lock(2)"), true);
  const pid = await value(b, "SELECT pg_backend_pid()");
  const sleeping = b.query("SELECT pg_sleep(60)").then(() => null, codeOf);
  const state = `SELECT state FROM pg_stat_activity WHERE pid = ${pid} AND query LIKE '%pg_sleep%'`;
  while ((await a.query(state)).rows[0]?.state !== "active") await new Promise((resolve) => setTimeout(resolve, 10));
  t.equal(await value(a, `SELECT pg_cancel_backend(${pid})`), true);
  t.equal(await sleeping, "57014");
  await b.query("SET application_name = 'watched'");
  const seen = await a.query(
    "SELECT pid, usename, state, query FROM pg_stat_activity WHERE application_name = 'watched'",
  );
  t.same(seen.rows, [{ pid, usename: "admin", state: "idle", query: "SET application_name = 'watched'" }]);
  await b.query("DISCARD ALL");
  t.equal(await value(a, "SELECT pg_try_advisory_lock(1)"), true, "DISCARD ALL gives all back");
});

t.test("a tenant's user sees that tenant alone, and loses the connection when it is disabled", async (t) => {
  await server.tenant("acme");
  const client = await connect("acme-user", passwordOf("acme"));
  await client.query("CREATE TABLE mine (i int)");
  const admin = await connect();
  t.equal(await admin.query("SELECT * FROM mine").then(() => null, codeOf), "42P01");
  t.equal((await client.query("SELECT current_user AS u")).rows[0].u, "acme-user");
  await server.expect(200, "PATCH", "/admin/tenants/acme/users/acme-user", { is_active: false });
  t.ok(
    await client.query("SELECT 1").then(
      () => null,
      (error: unknown) => error,
    ),
  );
});
