/**
 * Differences and merges of branches, over HTTP.
 */
import t from "tap";
import { branchCalls } from "./branch-calls.js";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const { fork, rows } = branchCalls(server);

t.test("a table with a dot in its name is not one of a schema", async (t) => {
  const token = await server.tenant("dotted", ["super_admin"]);
  const [dotted, inSchema] = ['"a.b"', "a.b"];
  await rows(token, "CREATE SCHEMA a");
  for (const table of [dotted, inSchema]) {
    await rows(token, `CREATE TABLE ${table} (id int PRIMARY KEY, v text)`);
    await rows(token, `INSERT INTO ${table} VALUES (1, 'first')`);
  }
  await fork(token, { name: "try" });
  for (const table of [dotted, inSchema]) await rows(token, `UPDATE ${table} SET v = 'second'`, "try");
  await rows(token, `INSERT INTO ${dotted} VALUES (2, 'new')`, "try");
  const ask = async (method: string, path: string, body?: object) =>
    (await server.expect(200, method, path, body, { token })).body.data;
  t.same((await ask("GET", "/v1/branches/try/diff")).tables, [
    { table: dotted, kind: "table", added: 1, removed: 0, changed: 1, in_origin: 0 },
    { table: inSchema, kind: "table", added: 0, removed: 0, changed: 1, in_origin: 0 },
  ]);
  const some = (table: string) => ask("GET", `/v1/branches/try/diff?table=${encodeURIComponent(table)}`);
  t.same((await some(inSchema)).rows.length, 1);
  t.same((await some(dotted)).rows.length, 2);
  await ask("PUT", "/v1/history", { window_seconds: 3600 });
  const as_of = (await ask("GET", "/v1/history")).newest.sequence;
  const values = async () => [
    (await rows(token, `SELECT v FROM ${dotted} ORDER BY id`)).flat(),
    (await rows(token, `SELECT v FROM ${inSchema}`)).flat(),
  ];
  t.match(await ask("POST", "/v1/branches/try/merge", { tables: [dotted] }), { added: 1, changed: 1 });
  t.same(await values(), [["second", "new"], ["first"]]);
  t.match((await ask("GET", "/v1/branches/try/diff")).tables, [{ in_origin: 2 }, { in_origin: 0 }]);
  t.same(
    (await some(dotted)).rows.map((row: { in_origin: boolean }) => row.in_origin),
    [true, true],
  );
  t.match(await ask("POST", "/v1/branches/try/merge", {}), { added: 0, changed: 1 });
  t.match(await ask("POST", "/v1/history/undo", { table: dotted, as_of }), { removed: 1, changed: 1 });
  t.same(await values(), [["first"], ["second"]]);
  t.same(await rows(token, `RESTORE TABLE ${inSchema} AS OF SEQUENCE ${as_of}`), [[inSchema, 0, 0, 1]]);
  t.same(await rows(token, `RESTORE TABLE public.${dotted} AS OF SEQUENCE ${as_of}`), [[dotted, 0, 0, 0]]);
  t.same(await values(), [["first"], ["first"]]);
});

t.test("differences and merges", async (t) => {
  const token = await server.tenant("merges", ["super_admin"]);
  await rows(token, "CREATE TABLE owner (id int PRIMARY KEY, name text UNIQUE)");
  await rows(token, "CREATE TABLE pet (id serial PRIMARY KEY, owner int REFERENCES owner (id), name text)");
  await rows(token, "INSERT INTO owner VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cy')");
  await rows(token, "INSERT INTO pet (owner, name) VALUES (1, 'Rex'), (2, 'Tom')");
  await fork(token, { name: "try" });
  await rows(token, "UPDATE owner SET name = 'Anna' WHERE id = 1", "try");
  await rows(token, "DELETE FROM owner WHERE id = 3", "try");
  await rows(token, "INSERT INTO pet (owner, name) VALUES (2, 'Mia')", "try");
  const diff = async () => (await server.call("GET", "/v1/branches/try/diff", undefined, { token })).body.data;
  t.match(await diff(), {
    tables: [
      { table: "owner", added: 0, removed: 1, changed: 1 },
      { table: "pet", added: 1, removed: 0, changed: 0 },
    ],
    rows: [
      { table: "owner", change: "changed", before: { id: 1, name: "Ann" }, after: { id: 1, name: "Anna" } },
      { table: "owner", change: "removed", before: { id: 3, name: "Cy" }, after: null },
      { table: "pet", change: "added", before: null, after: { owner: 2, name: "Mia" } },
    ],
    complete: true,
  });
  const some = async (query: string) =>
    (await server.expect(200, "GET", `/v1/branches/try/diff?${query}`, undefined, { token })).body.data;
  t.match(await some("limit=1&offset=1"), { rows: [{ change: "removed", before: { id: 3 } }], complete: false });
  t.match(await some("limit=2&offset=1"), { rows: [{ table: "owner" }, { table: "pet" }], complete: true });
  const removed = await some("change=removed");
  t.match(removed, { rows: [{ before: { name: "Cy" } }], complete: true });
  t.equal(removed.rows.length, 1);
  t.equal(removed.tables.length, 2, "counts are of all changes");
  t.same((await some("table=pet&change=removed")).rows, []);
  t.equal((await server.call("GET", "/v1/branches/try/diff?change=moved", undefined, { token })).status, 400);
  const merge = async (body: object) => (await server.call("POST", "/v1/branches/try/merge", body, { token })).body;
  t.match((await merge({ dry_run: true })).data, {
    merged: false,
    added: 1,
    removed: 1,
    changed: 1,
    conflicts_total: 0,
  });
  await rows(token, "UPDATE owner SET name = 'Anne' WHERE id = 1");
  t.match((await merge({})).data, {
    merged: false,
    conflicts: [{ table: "owner", base: { name: "Ann" }, ours: { name: "Anne" }, theirs: { name: "Anna" } }],
  });
  await rows(token, "INSERT INTO pet (owner, name) VALUES (3, 'Bo')");
  const refused = await merge({ conflicts: "ours" });
  t.match(
    refused.error,
    { code: "constraint_violation", details: { sqlstate: "23503" } },
    "a key is still referred to",
  );
  t.same(await rows(token, "SELECT count(*) FROM pet"), [[3]], "nothing of it was written");
  await rows(token, "UPDATE pet SET owner = 2 WHERE name = 'Bo'");
  t.match((await merge({ conflicts: "ours" })).data, { merged: true, added: 1, removed: 1, changed: 0 });
  t.same(await rows(token, "SELECT name FROM owner ORDER BY id"), [["Anne"], ["Bob"]]);
  t.match((await merge({ conflicts: "theirs" })).data, { added: 0, removed: 0, changed: 0, conflicts_total: 0 });
  t.same(await rows(token, "SELECT name FROM owner ORDER BY id"), [["Anne"], ["Bob"]], "ours has been chosen");
  await rows(token, "UPDATE owner SET name = 'Ana' WHERE id = 1", "try");
  t.match((await merge({ dry_run: true })).data, { conflicts: [{ base: { name: "Anna" }, ours: { name: "Anne" } }] });
  t.match((await merge({ conflicts: "theirs" })).data, { merged: true, added: 0, removed: 0, changed: 1 });
  t.same(await rows(token, "SELECT id FROM owner WHERE name = 'Ana'"), [[1]], "by its index, too");
  t.same(await rows(token, "SELECT id FROM owner WHERE name = 'Anne'"), []);
  const [made] = await rows(token, "INSERT INTO pet (owner, name) VALUES (1, 'Zoe') RETURNING id");
  const [mia] = await rows(token, "SELECT id FROM pet WHERE name = 'Mia'");
  t.ok((made![0] as number) > (mia![0] as number), "the sequence goes on after the branch's");
  await rows(token, "UPDATE owner SET name = 'Bobby' WHERE id = 2");
  await rows(token, "ALTER TABLE owner ADD COLUMN since date", "try");
  t.same((await diff()).definitions, ["owner"]);
  t.match((await merge({})).error, { code: "conflict", message: /definition of "owner", and the origin its rows/ });
});

t.test("a query says what rows in conflict are to be", async (t) => {
  const token = await server.tenant("resolved", ["super_admin"]);
  await rows(
    token,
    "CREATE TABLE stock (id int PRIMARY KEY, n numeric(20, 4), b bytea, at timestamptz, twice numeric GENERATED ALWAYS AS (n * 2) STORED)",
  );
  await rows(token, "CREATE TABLE note (t text)");
  await rows(
    token,
    "CREATE FUNCTION noted() RETURNS int LANGUAGE sql AS $$ INSERT INTO note VALUES ('x') RETURNING 1 $$",
  );
  await rows(
    token,
    "INSERT INTO stock SELECT i, i, '\\x0102', '2026-01-01 10:00:00.123456Z' FROM generate_series(1, 600) i",
  );
  await fork(token, { name: "try" });
  await rows(token, "UPDATE stock SET n = n + 10", "try");
  await rows(token, "UPDATE stock SET n = n + 1");
  await rows(token, "DELETE FROM stock WHERE id = 600");
  const merge = async (sql: string, more: object = {}) =>
    (await server.call("POST", "/v1/branches/try/merge", { resolve: { sql }, ...more }, { token })).body;
  const sum = "(ours->>'n')::numeric + (theirs->>'n')::numeric - (base->>'n')::numeric";
  const added = `SELECT number, ours || jsonb_build_object('n', ${sum}) FROM conflict WHERE table_name = 'stock'`;
  t.match((await merge(`${added} AND ours IS NOT NULL`)).data, {
    ...{ merged: false, resolved: 599, conflicts_total: 1 },
    conflicts: [{ table: "stock", ours: null, theirs: { id: 600 } }],
  });
  const left = await rows(token, "SELECT sum(n) FROM stock");
  const wrong = async (sql: string) => (await merge(sql)).error;
  t.match(await wrong("SELECT number, '{\"id\": 1}'::jsonb FROM conflict"), {
    ...{ code: "invalid_request", details: { field: "resolve.sql" }, message: /lacks the column "n"/ },
  });
  t.match(await wrong("SELECT number, theirs || '{\"x\": 1}' FROM conflict"), { message: /has no column "x"/ });
  t.match(await wrong("SELECT number, theirs || '{\"id\": 1}' FROM conflict"), { message: /another primary key/ });
  t.match(await wrong("SELECT 5000, theirs FROM conflict"), { message: /number 5000, which is none/ });
  t.match(await wrong("SELECT 1, theirs FROM conflict, generate_series(1, 2) WHERE number = 1"), {
    message: /more than one row for the conflict number 1/,
  });
  t.match(await wrong("SELECT number, '[]'::jsonb FROM conflict"), { message: /no JSON object/ });
  t.match(await wrong('SELECT number, theirs || \'{"n": "x"}\' FROM conflict'), { code: "query_error" });
  t.match(await wrong("SELECT nothing FROM conflict"), { details: { sqlstate: "42703", field: "resolve.sql" } });
  t.match(await wrong("INSERT INTO note VALUES ('x')"), { code: "syntax_error" });
  t.match(await wrong("SELECT number, ours FROM conflict) AS x; DELETE FROM stock; --"), { code: "syntax_error" });
  const writes = { sqlstate: "25006", field: "resolve.sql" };
  t.match(await wrong("SELECT number, ours FROM conflict WHERE noted() = 1"), { details: writes });
  t.same(await rows(token, "SELECT sum(n) FROM stock"), left, "nothing was written");
  t.same(await rows(token, "SELECT count(*)::int FROM note"), [[0]]);
  const all = `${added} AND ours IS NOT NULL UNION ALL SELECT number, NULL FROM conflict WHERE ours IS NULL -- so`;
  t.match((await merge(all, { dry_run: true })).data, { merged: false, resolved: 600, changed: 599 });
  t.match((await merge(`${all}\n;`)).data, {
    merged: true,
    resolved: 600,
    added: 0,
    removed: 0,
    changed: 599,
    conflicts_total: 0,
  });
  t.same(
    await rows(
      token,
      "SELECT count(*), bool_and(n = id + 11 AND twice = 2 * n AND b = '\\x0102' AND at = '2026-01-01 10:00:00.123456Z') FROM stock",
    ),
    [[599, true]],
  );
  const again = (await merge(all)).data;
  t.match(again, { merged: true, resolved: 0, added: 0, removed: 0, changed: 0 }, "they have been resolved");
  await rows(token, "UPDATE stock SET n = n + 2", "try");
  t.match((await merge(`${added} AND false`, { conflicts: "theirs" })).data, {
    merged: true,
    resolved: 0,
    added: 1,
    changed: 599,
  });
});

t.test("a merge is done once, however often a client asks with one key", async (t) => {
  const token = await server.tenant("once", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v int)");
  await fork(token, { name: "outer" });
  await fork(token, { name: "inner", from: "outer" });
  for (const [name, into] of [
    ["inner", "outer"],
    ["outer", undefined],
  ] as const) {
    await rows(token, "INSERT INTO item VALUES (1, 1)", name === "inner" ? name : undefined);
    await rows(token, `INSERT INTO item VALUES (${name === "inner" ? 2 : 3}, 1)`, name);
    const headers = { "Idempotency-Key": `merge-${name}` };
    const merge = () => server.call("POST", `/v1/branches/${name}/merge`, { conflicts: "ours" }, { token, headers });
    const first = await merge();
    t.match(first.body.data, { merged: true }, JSON.stringify(first.body));
    await rows(token, "DELETE FROM item", into);
    const again = await merge();
    t.same(again.body.data, first.body.data, `the first answer again, of ${name}`);
    t.same(await rows(token, "SELECT count(*) FROM item", into), [[0]], "and nothing was written");
  }
});

t.test("a difference of any size comes as a stream, a row a line", async (t) => {
  const token = await server.tenant("streamed", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v text)");
  await rows(token, "INSERT INTO item SELECT i, 'one' FROM generate_series(1, 12000) i");
  await fork(token, { name: "try" });
  await rows(token, "UPDATE item SET v = repeat('x', 1000) WHERE id > 2000", "try");
  await rows(token, "DELETE FROM item WHERE id <= 2000", "try");
  const stream = async (query = "", signal: AbortSignal | null = null) =>
    fetch(`${server.url}/v1/branches/try/diff${query}`, {
      headers: { Authorization: `Bearer ${token}`, Accept: "application/x-ndjson" },
      signal,
    });
  const lines = async (answer: Response) =>
    (await answer.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  const answer = await stream();
  t.equal(answer.headers.get("content-type"), "application/x-ndjson");
  const all = await lines(answer);
  t.equal(all.length, 12_001);
  t.same(all[0], { table: "item", change: "removed", before: { id: 1, v: "one" }, after: null, in_origin: false });
  t.same(new Set(all.slice(0, -1).map(({ before }) => before.id)).size, 12_000, "each row once");
  t.same(all.at(-1), {
    tables: [{ table: "item", kind: "table", added: 0, removed: 2000, changed: 10_000, in_origin: 0 }],
    ...{ definitions: [], complete: true },
  });
  const some = await lines(await stream("?change=changed&limit=3&offset=1"));
  t.same(
    some.slice(0, -1).map(({ before }) => before.id),
    [2002, 2003, 2004],
  );
  t.equal(some.at(-1).complete, false);
  const missing = await fetch(`${server.url}/v1/branches/none/diff`, {
    headers: { Authorization: `Bearer ${token}`, Accept: "application/x-ndjson" },
  });
  t.equal(missing.status, 404);
  const stop = new AbortController();
  const cut = await stream("", stop.signal);
  const reader = cut.body!.getReader();
  t.equal((await reader.read()).done, false);
  stop.abort();
  await t.rejects(reader.read());
  t.equal((await lines(await stream("?limit=1"))).length, 2, "who goes ends its stream, and no other");
});

t.test("definitions are merged where only the branch has changed them", async (t) => {
  const token = await server.tenant("migrations", ["super_admin"]);
  const merge = async (name: string) => (await server.call("POST", `/v1/branches/${name}/merge`, {}, { token })).body;
  await rows(token, "CREATE TABLE city (id serial PRIMARY KEY, name text)");
  await rows(token, "CREATE TABLE note (id int PRIMARY KEY, v text)");
  await rows(token, "INSERT INTO city (name) VALUES ('Oslo'), ('Riga'), ('Bern')");
  await fork(token, { name: "m" });
  for (const sql of [
    "ALTER TABLE city ADD COLUMN people int DEFAULT 7",
    "UPDATE city SET people = 700 WHERE name = 'Oslo'",
    "DELETE FROM city WHERE name = 'Riga'",
    "CREATE INDEX city_people ON city (people)",
    "CREATE TABLE street (id serial PRIMARY KEY, city int REFERENCES city (id), name text UNIQUE)",
    "INSERT INTO street (city, name) VALUES (1, 'Storgata'), (3, 'Kramgasse')",
    "CREATE VIEW big AS SELECT name FROM city WHERE people > 100",
    "INSERT INTO note VALUES (1, 'of the branch')",
  ]) {
    await rows(token, sql, "m");
  }
  await rows(token, "INSERT INTO note VALUES (2, 'of the origin')");
  await rows(token, "ANALYZE note");
  t.match(await merge("m"), { data: { merged: true, conflicts_total: 0 } });
  t.same(await rows(token, "SELECT name, people FROM city ORDER BY id"), [
    ["Oslo", 700],
    ["Bern", 7],
  ]);
  t.same(await rows(token, "SELECT name FROM city WHERE people = 700"), [["Oslo"]], "by the new index");
  t.same(await rows(token, "SELECT name FROM big"), [["Oslo"]]);
  t.same(await rows(token, "SELECT v FROM note ORDER BY id"), [["of the branch"], ["of the origin"]]);
  const [street] = await rows(token, "INSERT INTO street (city, name) VALUES (1, 'Nygata') RETURNING id");
  t.ok((street![0] as number) > 2, "the new table's sequence goes on");
  t.equal((await server.sql("INSERT INTO street (city, name) VALUES (2, 'x')", [], { token })).status, 409);
  t.equal((await server.sql("INSERT INTO street (city, name) VALUES (1, 'Storgata')", [], { token })).status, 409);
  await fork(token, { name: "n" });
  await rows(token, "CREATE TABLE ours (id int)");
  await rows(token, "CREATE TABLE theirs (id int)", "n");
  t.match(await merge("n"), { error: { code: "conflict", message: /both the branch and its origin/ } });
});

t.test("no definitions are merged beside others that the origin has changed, with or without new ids", async (t) => {
  const token = await server.tenant("moved-on", ["super_admin"]);
  for (const sql of [
    "CREATE FUNCTION okay(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT $1 <> 'bad' $$",
    "CREATE TABLE t (id int PRIMARY KEY, v text)",
    "CREATE VIEW v AS SELECT id FROM t",
    "CREATE ROLE one",
  ])
    await rows(token, sql);
  const function_ = (name: string) => `CREATE FUNCTION ${name}(text) RETURNS boolean LANGUAGE sql AS 'SELECT false'`;
  // What the origin does, what the branch does, and what the origin does to be as before.
  for (const [i, [ours, theirs, back]] of [
    ["DROP FUNCTION okay(text)", "CREATE VIEW n AS SELECT okay(v) FROM t", function_("okay")],
    ["ALTER FUNCTION okay(text) RENAME TO fine", function_("fine"), "ALTER FUNCTION fine(text) RENAME TO okay"],
    [
      "ALTER TABLE t ALTER v SET DEFAULT okay('x')::text",
      "DROP FUNCTION okay(text)",
      "ALTER TABLE t ALTER v DROP DEFAULT",
    ],
    ["CREATE OR REPLACE VIEW v AS SELECT 1 AS id WHERE okay('x')", "DROP FUNCTION okay(text)", "SELECT 1"],
    ["ALTER TABLE t RENAME TO u", "CREATE TABLE u (id int)", "ALTER TABLE u RENAME TO t"],
    ["ALTER ROLE one RENAME TO two", "CREATE ROLE two", "ALTER ROLE two RENAME TO one"],
  ].entries()) {
    const name = `b${i}`;
    await fork(token, { name });
    await rows(token, ours!);
    await rows(token, theirs!, name);
    const { body } = await server.call("POST", `/v1/branches/${name}/merge`, {}, { token });
    t.match(body, { error: { code: "conflict", message: /both the branch and its origin/ } }, ours);
    await rows(token, back!);
  }
});

t.test("the rows of some tables are merged, and the others later", async (t) => {
  const token = await server.tenant("half", ["super_admin"]);
  const merge = async (body: object) => (await server.call("POST", "/v1/branches/b/merge", body, { token })).body;
  await rows(token, "CREATE TABLE a (id int PRIMARY KEY)");
  await rows(token, "CREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a (id))");
  await fork(token, { name: "b" });
  await rows(token, "INSERT INTO a VALUES (1)", "b");
  await rows(token, "INSERT INTO b VALUES (1, 1)", "b");
  t.match(await merge({ tables: ["b"] }), { error: { code: "constraint_violation" } }, "b refers to a row of a");
  t.match(await merge({ tables: ["a"] }), { data: { merged: true, added: 1 } });
  t.same(await rows(token, "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)"), [[1, 0]]);
  t.match(await merge({ tables: ["c"] }), { error: { code: "not_found", details: { field: "tables[0]" } } });
  await rows(token, "ALTER TABLE b ADD COLUMN v int", "b");
  t.match(await merge({ tables: ["b"] }), { error: { code: "conflict", details: { field: "tables[0]" } } });
  t.match(await merge({}), { data: { merged: true, conflicts_total: 0 } });
  t.same(await rows(token, "SELECT * FROM b"), [[1, 1, null]]);
});

t.test("no merge leaves a relationship without its nodes", async (t) => {
  const token = await server.tenant("ends", ["super_admin"]);
  const merge = async (branch: string, body: object) =>
    (await server.call("POST", `/v1/branches/${branch}/merge`, body, { token })).body;
  await rows(token, "CREATE (:N {i: 0})-[:T]->(:N {i: 9}), (:N {i: 5})");
  for (const name of ["late", "made", "removed"]) await fork(token, { name });
  await rows(token, "MATCH (a:N {i: 0}), (b:N {i: 5}) CREATE (a)-[:LATE]->(b)", "late");
  await rows(token, "MATCH (n:N {i: 5}) DELETE n");
  const late = [{ table: "graph:default.edges", base: null, ours: null, theirs: { type: "LATE" } }];
  t.match(await merge("late", {}), { data: { merged: false, conflicts: late, conflicts_total: 1 } });
  await rows(token, "CREATE (:N {i: 1})-[:T]->(:N {i: 2})", "made");
  t.match(await merge("made", { tables: ["graph:default.edges"] }), {
    error: { code: "invalid_request", message: /name "graph:default.nodes"/, details: { field: "tables[0]" } },
  });
  t.match(await merge("made", { tables: ["graph:default.edges", "graph:default.nodes"] }), {
    data: { merged: true, added: 3 },
  });
  await rows(token, "MATCH (n:N {i: 9}) DETACH DELETE n", "removed");
  await rows(token, "MATCH (a:N {i: 0}), (b:N {i: 9}) CREATE (a)-[:NEW]->(b)");
  const conflicts = [{ table: "graph:default.edges", ours: { type: "NEW" }, theirs: null }];
  t.match(await merge("removed", { dry_run: true }), { data: { merged: false, conflicts } });
  t.match(await merge("removed", {}), { data: { merged: false, conflicts, conflicts_total: 1 } });
  t.match(await merge("removed", { conflicts: "theirs" }), { error: { code: "conflict", message: /without a node/ } });
  t.same(await rows(token, "MATCH ()-[r:NEW]->() RETURN count(r)"), [[1]]);
  await rows(token, "MATCH ()-[r:NEW]->() DELETE r");
  t.match(await merge("removed", {}), { data: { merged: true, removed: 2 } });
});

t.test("merges and differences are audited by what they write and show", async (t) => {
  const token = await server.tenant("audits", ["super_admin"]);
  for (const name of ["a", "b", "c"]) {
    await rows(token, `CREATE TABLE ${name} (id int PRIMARY KEY)`);
    await rows(token, `INSERT INTO ${name} VALUES (1)`);
    await rows(token, `ALTER TABLE ${name} SET (audit = 'read, write')`);
  }
  const entries = async () => {
    const { body } = await server.call("GET", "/admin/audit/data", undefined, { token });
    return body.data.entries.map(({ action, target }: { action: string; target: string[] }) => [action, target.sort()]);
  };
  await fork(token, { name: "br" });
  await rows(token, "INSERT INTO a VALUES (2)", "br");
  await rows(token, "DROP TABLE b", "br");
  await server.expect(200, "GET", "/v1/branches/br/diff", undefined, { token });
  t.same((await entries())[0], ["data.read", ["a", "b", "c"]], "also rows of what was dropped");
  await server.expect(200, "POST", "/v1/branches/br/merge", {}, { token });
  t.same(
    (await entries()).filter(([action]: [string]) => action === "data.write").slice(0, 1),
    [["data.write", ["a", "b"]]],
    "what was dropped, and not what stays as it was",
  );
});

t.test("a branch of a branch is merged by a request about the tenant", async (t) => {
  const token = await server.tenant("deep", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v text)");
  await fork(token, { name: "outer" });
  await rows(token, "INSERT INTO item VALUES (1, 'outer')", "outer");
  await fork(token, { name: "inner", from: "outer" });
  await rows(token, "ALTER TABLE item ADD COLUMN w int DEFAULT 7", "inner");
  t.same(await rows(token, "SELECT * FROM item", "outer"), [[1, "outer"]]);
  const merged = await server.call("POST", "/v1/branches/inner/merge", {}, { token });
  t.equal(merged.status, 200, JSON.stringify(merged.body));
  t.same(await rows(token, "SELECT v, w FROM item", "outer"), [["outer", 7]], "its origin has the new column");
  t.same(await rows(token, "SELECT * FROM item"), [], "the tenant itself has not");
});

t.test("a merge beside an open transaction takes no row of it", async (t) => {
  const token = await server.tenant("beside", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY)");
  await rows(token, "CREATE TABLE line (n int)");
  await fork(token, { name: "try" });
  await rows(token, "INSERT INTO item VALUES (1)", "try");
  const { id } = (await server.expect(201, "POST", "/v1/transactions", {}, { token })).body.data;
  const insert = (from: number) => {
    const sql = `INSERT INTO line SELECT i FROM generate_series(${from}, ${from + 9}) i`;
    return server.expect(200, "POST", `/v1/transactions/${id}/execute`, { sql }, { token });
  };
  await insert(1);
  const merged = await server.expect(200, "POST", "/v1/branches/try/merge", {}, { token });
  t.match(merged.body.data, { merged: true, added: 1 });
  await insert(11);
  await server.expect(200, "POST", `/v1/transactions/${id}/commit`, {}, { token });
  t.same(await rows(token, "SELECT count(*), min(n), max(n) FROM line"), [[20, 1, 20]]);
});
