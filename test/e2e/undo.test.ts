/**
 * Undo of a table's changes, over HTTP: by condition, against constraints, of many changes, and while the past is
 * forgotten.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { sized } from "../lengths.js";
import { branchCalls } from "./branch-calls.js";
import { TestServer } from "./server.js";

const server = await TestServer.sharedInstallation();
t.teardown(() => server.stop());

const { rows, sequence } = branchCalls(server);

t.test("undo makes rows what they were", async (t) => {
  const token = await server.tenant("undone", ["super_admin"]);
  const undo = async (body: object) => (await server.call("POST", "/v1/history/undo", body, { token })).body;
  await rows(token, "CREATE TABLE owner (id int PRIMARY KEY, name text UNIQUE)");
  await rows(token, "CREATE TABLE pet (id int PRIMARY KEY, owner int REFERENCES owner (id), name text)");
  await rows(token, "CREATE TABLE log (line text)");
  await rows(token, "INSERT INTO owner VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cy'), (4, 'Di')");
  await rows(token, "INSERT INTO log SELECT 'line ' || i FROM generate_series(1, 20) i");
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  const as_of = await sequence(token);
  await rows(token, "UPDATE owner SET name = 'Bob' || id WHERE id < 3");
  await rows(token, "DELETE FROM owner WHERE id = 3");
  await rows(token, "INSERT INTO owner VALUES (5, 'Eve')");
  const all = "SELECT id, name FROM owner ORDER BY id";
  t.match((await undo({ table: "owner", as_of, dry_run: true })).data, {
    ...{ undone: false, added: 1, removed: 1, changed: 2, as_of: { sequence: as_of } },
    rows: [
      { change: "changed", before: { id: 1, name: "Bob1" }, after: { id: 1, name: "Ann" } },
      { change: "changed", before: { id: 2, name: "Bob2" }, after: { id: 2, name: "Bob" } },
      { change: "added", before: null, after: { id: 3, name: "Cy" } },
      { change: "removed", before: { id: 5, name: "Eve" }, after: null },
    ],
  });
  t.equal((await rows(token, all)).length, 4, "a dry run writes nothing");
  const some = await undo({ table: "owner", as_of, where: "name = 'Bob' OR id = 3 -- a comment" });
  t.match(some.data, { undone: true, added: 1, removed: 0, changed: 1 });
  const expected = [
    [1, "Bob1"],
    [2, "Bob"],
    [3, "Cy"],
    [4, "Di"],
    [5, "Eve"],
  ];
  t.same(await rows(token, all), expected, "only where the condition is true, now or then");
  await rows(token, "INSERT INTO pet VALUES (1, 5, 'Rex')");
  t.match((await undo({ table: "owner", as_of })).error, {
    code: "constraint_violation",
    details: { sqlstate: "23503" },
  });
  t.same(await rows(token, all), expected, "all or nothing");
  await rows(token, "DELETE FROM pet");
  t.match((await undo({ table: "public.owner", as_of })).data, { undone: true, added: 0, removed: 1, changed: 1 });
  t.match((await undo({ table: "owner", as_of })).data, { added: 0, removed: 0, changed: 0 }, "it may be repeated");
  t.same(await rows(token, "SELECT id FROM owner WHERE name = 'Ann'"), [[1]], "by its index, too");
  await rows(token, "TRUNCATE log");
  await rows(token, "INSERT INTO log VALUES ('another')");
  t.match((await undo({ table: "log", as_of })).data, { undone: true, added: 20, removed: 1, changed: 0 });
  t.same(await rows(token, "SELECT count(*), count(DISTINCT line) FROM log"), [[20, 20]]);
  await rows(token, "INSERT INTO log VALUES ('one more')");
  t.same(await rows(token, "SELECT count(*) FROM log"), [[21]], "new rows get new numbers");
  t.match((await undo({ table: "log", as_of, where: "true" })).error, {
    code: "invalid_request",
    details: { field: "where" },
  });
  t.match((await undo({ table: "none", as_of })).error, { code: "not_found", details: { field: "table" } });
  t.match((await undo({ table: "owner", as_of: 0 })).error, { details: { sqlstate: "72000" } });
  t.match((await undo({ table: "owner", as_of, where: "nonsense = 1" })).error, { details: { sqlstate: "42703" } });
  await rows(token, "ALTER TABLE owner ADD COLUMN since date");
  t.match((await undo({ table: "owner", as_of })).error, { code: "conflict" });
  const tool = { name: "undo", arguments: { table: "log", as_of, dry_run: true } };
  const called = await server.call(
    "POST",
    "/v1/mcp",
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: tool },
    { token },
  );
  t.match(JSON.stringify(called.body), /undone[^:]*:false/);

  // The entries of one row fill more than is read at a time.
  await rows(token, "CREATE TABLE often (id int PRIMARY KEY, v int)");
  await rows(token, "INSERT INTO often VALUES (1, 0), (2, 0)");
  const then = await sequence(token);
  const statements = Array.from({ length: 600 }, () => "UPDATE often SET v = v + 1 WHERE id = 1");
  for (const sql of statements) await rows(token, sql);
  await rows(token, "DELETE FROM often");
  t.match((await undo({ table: "often", as_of: then })).data, { undone: true, added: 2 });
  t.same(await rows(token, "SELECT id, v FROM often ORDER BY id"), [
    [1, 0],
    [2, 0],
  ]);
});

t.test("undo brings back no row that a constraint of now refuses", async (t) => {
  const token = await server.tenant("refused", ["super_admin"]);
  const undo = async (body: object) => (await server.call("POST", "/v1/history/undo", body, { token })).body;
  await rows(token, "CREATE DOMAIN amount AS int");
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, qty int, twice int GENERATED ALWAYS AS (qty * 2) STORED)");
  await rows(token, "CREATE TABLE bill (id int PRIMARY KEY, sum amount, all_sums amount[])");
  await rows(token, "CREATE TABLE part (id int PRIMARY KEY, v text)");
  await rows(token, "CREATE TABLE whole (id int PRIMARY KEY, v text) PARTITION BY RANGE (id)");
  await rows(token, "INSERT INTO item VALUES (1, -1), (2, NULL), (3, 3)");
  await rows(token, "INSERT INTO bill VALUES (1, -1, '{1}'), (2, 2, '{-2}'), (3, 3, '{3}')");
  await rows(token, "INSERT INTO part VALUES (1, 'one'), (200, 'outside')");
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  const as_of = await sequence(token);
  await rows(token, "UPDATE item SET qty = 10 * id");
  await rows(token, "UPDATE bill SET sum = 10, all_sums = '{10}'");
  await rows(token, "DELETE FROM part WHERE id > 100");
  await rows(token, "UPDATE part SET v = 'another'");
  await rows(token, "ALTER TABLE item ALTER COLUMN qty SET NOT NULL, ADD CONSTRAINT item_qty CHECK (qty > 0)");
  await rows(token, "ALTER DOMAIN amount ADD CONSTRAINT amount_positive CHECK (VALUE > 0)");
  await rows(token, "ALTER TABLE whole ATTACH PARTITION part FOR VALUES FROM (0) TO (100)");
  for (const [table, where, sqlstate] of [
    ["item", "id = 1", "23514"],
    ["item", "id = 2", "23502"],
    ["bill", "id = 1", "23514"],
    ["bill", "id = 2", "23514"],
    ["part", "id = 200", "23514"],
  ]) {
    for (const dry_run of [true, false]) {
      const { error } = await undo({ table, as_of, where, dry_run });
      t.match(error, { code: "constraint_violation", details: { sqlstate } }, `${table}: ${where}`);
    }
    t.match(await undo({ table, as_of }), { error: { details: { sqlstate: /^235/ } } }, `${table}: all or nothing`);
  }
  t.match((await undo({ table: "item", as_of, where: "id = 3" })).data, { undone: true, changed: 1 });
  t.match((await undo({ table: "bill", as_of, where: "id = 3" })).data, { undone: true, changed: 1 });
  t.match((await undo({ table: "part", as_of, where: "id = 1" })).data, { undone: true, changed: 1 });
  t.same(await rows(token, "SELECT id, qty, twice FROM item ORDER BY id"), [
    [1, 10, 20],
    [2, 20, 40],
    [3, 3, 6],
  ]);
  t.same(await rows(token, "SELECT id, sum FROM bill ORDER BY id"), [
    [1, 10],
    [2, 10],
    [3, 3],
  ]);
  t.same(await rows(token, "SELECT id, v FROM whole"), [[1, "one"]]);
});

t.test("a condition of undo may be true for more rows than undo writes", async (t) => {
  const token = await server.tenant("broad", ["super_admin"]);
  const undo = async (body: object) => (await server.call("POST", "/v1/history/undo", body, { token })).body;
  const count = sized(8_000, 100_001);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v int)");
  await rows(token, "CREATE TABLE pair (a text, b date, v int, PRIMARY KEY (a, b))");
  await rows(token, `INSERT INTO item SELECT i, 0 FROM generate_series(1, ${count}) i`);
  await rows(token, `INSERT INTO pair SELECT 'it''s ' || i, '2026-01-01', 0 FROM generate_series(1, ${count}) i`);
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  const as_of = await sequence(token);
  await rows(token, "UPDATE item SET v = 1 WHERE id IN (1, 7000)");
  await rows(token, "DELETE FROM item WHERE id = 5");
  await rows(token, `INSERT INTO item VALUES (${count + 1}, 0)`);
  await rows(token, "UPDATE pair SET v = 1 WHERE a IN ('it''s 1', 'it''s 2')");
  const where = "v >= 0 AND id <> 7000";
  t.match(await undo({ table: "item", as_of, where }), { data: { undone: true, added: 1, changed: 1, removed: 1 } });
  t.same(await rows(token, "SELECT id FROM item WHERE v = 1"), [[7000]]);
  const pairs = await undo({ table: "pair", as_of, where: "v >= 0 AND a <> 'it''s 2'" });
  t.match(pairs, { data: { undone: true, added: 0, changed: 1, removed: 0 } });
  t.same(await rows(token, "SELECT a FROM pair WHERE v = 1"), [["it's 2"]]);
});

t.test("undo is whole, or refused, when the past is forgotten meanwhile", async (t) => {
  const token = await server.tenant("forgetful", ["super_admin"]);
  const count = sized(8_000, 20_000);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v int)");
  await rows(token, `INSERT INTO item SELECT i, 0 FROM generate_series(1, ${count}) i`);
  for (let round = 1; round <= sized(4, 20); round++) {
    await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
    const as_of = await sequence(token);
    await rows(token, `UPDATE item SET v = ${round}`);
    const undone = server.call("POST", "/v1/history/undo", { table: "item", as_of }, { token });
    await sleep(round * 5);
    await server.call("DELETE", "/v1/history", undefined, { token });
    const { body } = await undone;
    const left = await rows(token, `SELECT count(*) FROM item WHERE v = ${round}`);
    if (body.error === undefined) t.same(left, [[0]], `round ${round}: all of it`);
    else {
      t.match(body.error.details.sqlstate, /^(72000|55000)$/);
      t.same(left, [[count]], `round ${round}: nothing of it`);
    }
    await rows(token, "UPDATE item SET v = 0");
  }
});

t.test("undo beside an open transaction takes no row of it", async (t) => {
  const token = await server.tenant("beside", ["super_admin"]);
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY)");
  await rows(token, "CREATE TABLE line (n int)");
  const as_of = await sequence(token);
  await rows(token, "INSERT INTO item VALUES (1)");
  const { id } = (await server.expect(201, "POST", "/v1/transactions", {}, { token })).body.data;
  const insert = (from: number) => {
    const sql = `INSERT INTO line SELECT i FROM generate_series(${from}, ${from + 9}) i`;
    return server.expect(200, "POST", `/v1/transactions/${id}/execute`, { sql }, { token });
  };
  await insert(1);
  const undone = await server.expect(200, "POST", "/v1/history/undo", { table: "item", as_of }, { token });
  t.match(undone.body.data, { undone: true, removed: 1 });
  await insert(11);
  await server.expect(200, "POST", `/v1/transactions/${id}/commit`, {}, { token });
  t.same(await rows(token, "SELECT count(*), min(n), max(n) FROM line"), [[20, 1, 20]]);
});

t.test("RESTORE does the same as a statement, of several tables and in a transaction", async (t) => {
  const token = await server.tenant("restored", ["super_admin"]);
  const refused = async (sql: string, of = token) => {
    const { status, body } = await server.sql(sql, [], { token: of });
    return { status, sqlstate: body.error?.details?.sqlstate };
  };
  await rows(token, "CREATE TABLE owner (id int PRIMARY KEY, name text)");
  await rows(token, "CREATE TABLE pet (id int PRIMARY KEY, owner int REFERENCES owner (id))");
  await rows(token, "INSERT INTO owner VALUES (1, 'Ann'), (2, 'Bob')");
  await rows(token, "INSERT INTO pet VALUES (1, 1), (2, 2)");
  t.same(await refused("RESTORE TABLE owner AS OF now()"), { status: 400, sqlstate: "55000" });
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  const as_of = await sequence(token);
  const [[at]] = (await rows(token, "SELECT now()")) as [[string]];
  await sleep(5);
  await rows(token, "DELETE FROM pet");
  await rows(token, "DELETE FROM owner WHERE id = 2");
  await rows(token, "UPDATE owner SET name = 'Anna'");
  t.same(await rows(token, `EXPLAIN RESTORE TABLE owner AS OF SEQUENCE ${as_of}`), [
    ["owner", "changed", { id: 1, name: "Anna" }, { id: 1, name: "Ann" }],
    ["owner", "added", null, { id: 2, name: "Bob" }],
  ]);
  t.same(await rows(token, "SELECT count(*) FROM owner"), [[1]], "EXPLAIN writes nothing");
  t.same(await refused(`RESTORE TABLE pet AS OF SEQUENCE ${as_of}`), { status: 409, sqlstate: "23503" });
  t.same(await rows(token, `RESTORE TABLE owner WHERE name = 'Bob' AS OF '${at}'`), [["owner", 1, 0, 0]]);
  const script = `BEGIN; RESTORE TABLE pet, owner AS OF SEQUENCE ${as_of}; ROLLBACK`;
  const options = { token, headers: { "content-type": "application/sql" } };
  t.equal((await server.call("POST", "/v1/query/script", script, options)).status, 200);
  t.same(await rows(token, "SELECT count(*) FROM pet"), [[0]], "it was rolled back with its transaction");
  const late = `BEGIN; INSERT INTO owner VALUES (9, 'Zoe'); RESTORE TABLE owner AS OF SEQUENCE ${as_of}; COMMIT`;
  t.match(JSON.stringify((await server.call("POST", "/v1/query/script", late, options)).body), "25001");
  t.same(await rows(token, "RESTORE TABLE pet, owner AS OF $1::timestamptz", undefined, [at]), [
    ["pet", 2, 0, 0],
    ["owner", 0, 0, 1],
  ]);
  t.same(await rows(token, "SELECT name, p.id FROM owner JOIN pet p ON owner.id = p.owner ORDER BY 1"), [
    ["Ann", 1],
    ["Bob", 2],
  ]);
  t.same(await refused(`RESTORE TABLE none AS OF SEQUENCE ${as_of}`), { status: 404, sqlstate: undefined });
  t.same(await refused("RESTORE TABLE owner AS OF '2020-01-01'"), { status: 400, sqlstate: "72000" });
  await server.expect(201, "POST", "/admin/tenants/restored/users", {
    ...{ username: "keeper", password: "a password of a keeper", roles: ["user"] },
  });
  const keeper = await server.login("keeper", "a password of a keeper");
  t.same(await refused(`RESTORE TABLE owner AS OF SEQUENCE ${as_of}`, keeper), { status: 403, sqlstate: "42501" });
  await rows(token, "CREATE ROLE narrow");
  const asNarrow = `SET ROLE narrow; RESTORE TABLE owner AS OF SEQUENCE ${as_of}`;
  t.match(JSON.stringify((await server.call("POST", "/v1/query/script", asNarrow, options)).body), "42501");
});

t.test("the tables of a graph go together", async (t) => {
  const token = await server.tenant("linked", ["super_admin"]);
  const undo = async (body: object) => (await server.call("POST", "/v1/history/undo", body, { token })).body;
  await rows(token, "CREATE (:Person {name: 'Ann'})-[:KNOWS]->(:Person {name: 'Bob'})");
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  const as_of = await sequence(token);
  await rows(token, "MATCH (p:Person {name: 'Ann'}) SET p.name = 'Anna'");
  await rows(token, "MATCH (p:Person {name: 'Bob'}) CREATE (p)-[:LIKES]->(:Person {name: 'Cy'})");
  const tables = (await rows(
    token,
    "SELECT table_schema || '.' || table_name FROM information_schema.tables WHERE table_name IN ('nodes', 'edges') ORDER BY 1 DESC",
  )) as [string][];
  const [[nodes], [edges]] = tables as [[string], [string]];
  // Without "Cy", the relationship to it would be left.
  const half = await undo({ table: nodes, as_of });
  t.match(half.error, { code: "conflict", details: { hint: /RESTORE GRAPH/ } });
  t.same(await rows(token, "MATCH (a)-[:LIKES]->(b) RETURN b.name"), [["Cy"]]);
  t.match((await undo({ tables: [nodes, edges], as_of, dry_run: true })).data, { removed: 2, changed: 1 });
  t.match((await undo({ table: nodes, tables: [edges], as_of })).error, { code: "invalid_request" });
  t.match(await rows(token, `RESTORE GRAPH AS OF SEQUENCE ${as_of}`), [
    [nodes, 0, 1, 1],
    [edges, 0, 1, 0],
  ]);
  t.same(await rows(token, "MATCH (a)-[r]->(b) RETURN a.name, type(r), b.name"), [["Ann", "KNOWS", "Bob"]]);
  t.same(await rows(token, "MATCH (p) RETURN count(p)"), [[2]]);
  await rows(token, "MATCH (p) DETACH DELETE p");
  t.match((await undo({ table: edges, as_of })).error, { code: "conflict" }, "relationships without their nodes");
  await rows(token, `RESTORE GRAPH AS OF SEQUENCE ${as_of}`);
  t.same(await rows(token, "MATCH (a)-[r]->(b) RETURN a.name, type(r), b.name"), [["Ann", "KNOWS", "Bob"]]);

  // What constraints of the graph ask now, rows of then have to meet, too.
  await rows(token, "MATCH (p) SET p.name = 1");
  await rows(token, "CREATE CONSTRAINT number FOR (p:Person) REQUIRE p.name IS :: INTEGER");
  const refused = { code: "constraint_violation", message: /property "name" of type INTEGER/ };
  const restored = await server.call(
    "POST",
    "/v1/query/execute",
    { sql: `RESTORE GRAPH AS OF SEQUENCE ${as_of}` },
    { token },
  );
  t.match(restored.body.error, refused);
  t.match((await undo({ tables: [nodes, edges], as_of, dry_run: true })).error, refused);
  t.same(await rows(token, "MATCH (p) RETURN DISTINCT p.name"), [[1]]);
});

t.test("what a rewritten table was is there as long as somebody may read it", async (t) => {
  const token = await server.tenant("rewritten", ["super_admin"]);
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  await rows(token, "CREATE TABLE wide (id int PRIMARY KEY, v int)");
  await rows(token, "INSERT INTO wide SELECT i, i FROM generate_series(1, 50000) i");
  const as_of = await sequence(token);
  await rows(token, "ALTER TABLE wide ALTER COLUMN v TYPE bigint");
  for (let i = 0; i < 8; i++) {
    const read = `SELECT count(*)::int FROM wide AS OF SEQUENCE ${as_of}`;
    t.same(await rows(token, read), [[50_000]]);
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
});
