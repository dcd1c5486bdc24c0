/**
 * A branch is merged more than once: each merge writes what has changed since the last one, and nothing twice.
 */
import t from "tap";
import { branchCalls } from "./branch-calls.js";
import { TestServer } from "./server.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());

const { fork, rows } = branchCalls(server);

async function merge(token: string, body: object = {}, name = "b") {
  const { status, body: answer } = await server.call("POST", `/v1/branches/${name}/merge`, body, { token });
  if (status !== 200) throw new Error(JSON.stringify(answer));
  return answer.data;
}

const nothing = { merged: true, added: 0, removed: 0, changed: 0, conflicts_total: 0 };

t.test("rows that a merge has written are no conflict for the next one", async (t) => {
  const token = await server.tenant("again", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v text)");
  await rows(token, "INSERT INTO item SELECT i, 'first' FROM generate_series(1, 6) i");
  await fork(token, { name: "b" });
  t.equal((await server.call("GET", "/v1/branches/b", undefined, { token })).body.data.merged, null);
  await rows(token, "UPDATE item SET v = 'second' WHERE id IN (1, 2, 3)", "b");
  await rows(token, "DELETE FROM item WHERE id = 4", "b");
  await rows(token, "INSERT INTO item VALUES (7, 'new'), (8, 'new')", "b");
  t.match(await merge(token), { merged: true, added: 2, removed: 1, changed: 3 });
  t.match(await merge(token), nothing);
  const { merged } = (await server.call("GET", "/v1/branches/b", undefined, { token })).body.data;
  t.match(merged, { sequence: Number, at: String });
  // Changed again, back as it was at the fork, gone, there again, and gone as before the fork.
  await rows(token, "UPDATE item SET v = 'third' WHERE id = 1", "b");
  await rows(token, "UPDATE item SET v = 'first' WHERE id = 2", "b");
  await rows(token, "DELETE FROM item WHERE id = 3", "b");
  await rows(token, "INSERT INTO item VALUES (4, 'first')", "b");
  await rows(token, "DELETE FROM item WHERE id = 7", "b");
  await server.call("PATCH", "/v1/branches/b", { quota_bytes: 1_000_000 }, { token });
  const all = "SELECT id, v FROM item ORDER BY id";
  t.match(await merge(token), { merged: true, added: 1, removed: 2, changed: 2, conflicts_total: 0 });
  t.same(await rows(token, all), await rows(token, all, "b"));
  // Only one side has changed each of these since.
  await rows(token, "UPDATE item SET v = 'of the origin' WHERE id = 1");
  await rows(token, "UPDATE item SET v = 'of the branch' WHERE id = 2", "b");
  t.match(await merge(token), { merged: true, changed: 1, conflicts_total: 0 });
  t.same(await rows(token, "SELECT v FROM item WHERE id <= 2 ORDER BY id"), [["of the origin"], ["of the branch"]]);
  await rows(token, "UPDATE item SET v = 'of the branch' WHERE id = 1", "b");
  t.match(await merge(token), {
    merged: false,
    conflicts: [{ base: { v: "third" }, ours: { v: "of the origin" }, theirs: { v: "of the branch" } }],
  });
  t.match(await merge(token, { conflicts: "ours" }), { ...nothing, conflicts_total: 1 });
  t.match(await merge(token), nothing, "it has been decided");
});

t.test("a query is asked once about a conflict", async (t) => {
  const token = await server.tenant("asked-once", ["super_admin"]);
  await rows(token, "CREATE TABLE shelf (id int PRIMARY KEY, n int)");
  await rows(token, "INSERT INTO shelf VALUES (1, 10)");
  await fork(token, { name: "b" });
  await rows(token, "UPDATE shelf SET n = n + 5", "b");
  await rows(token, "UPDATE shelf SET n = n - 1");
  const n = "(ours->>'n')::int + (theirs->>'n')::int - (base->>'n')::int";
  const resolve = { sql: `SELECT number, ours || jsonb_build_object('n', ${n}) FROM conflict` };
  t.match(await merge(token, { resolve }), { merged: true, resolved: 1 });
  t.match(await merge(token, { resolve }), { ...nothing, resolved: 0 });
  await rows(token, "UPDATE shelf SET n = n + 1", "b");
  await rows(token, "UPDATE shelf SET n = n + 100");
  t.match(await merge(token, { resolve }), { merged: true, resolved: 1 });
  t.same(await rows(token, "SELECT n FROM shelf"), [[115]]);
});

t.test("definitions are merged again and again", async (t) => {
  const token = await server.tenant("defined-again", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id serial PRIMARY KEY, v text)");
  await rows(token, "CREATE TABLE note (id int PRIMARY KEY, v text)");
  await rows(token, "INSERT INTO item (v) VALUES ('a'), ('b'), ('c')");
  await rows(token, "INSERT INTO note VALUES (1, 'a')");
  await fork(token, { name: "b" });
  await rows(token, "UPDATE note SET v = 'first' WHERE id = 1", "b");
  await rows(token, "ALTER TABLE item ADD COLUMN n int DEFAULT 7", "b");
  t.match(await merge(token), { merged: true });
  t.match(await merge(token), nothing);
  await rows(token, "UPDATE item SET n = 8 WHERE id = 1", "b");
  await rows(token, "UPDATE item SET n = 9 WHERE id = 2");
  t.match(await merge(token), { merged: true, changed: 1, conflicts_total: 0 }, "rows only");
  t.same(await rows(token, "SELECT n FROM item ORDER BY id"), [[8], [9], [7]]);
  // note has rows of an earlier merge, and none of the origin's own.
  for (const sql of [
    "ALTER TABLE note ADD COLUMN more int DEFAULT 1",
    "CREATE INDEX note_more ON note (more)",
    "INSERT INTO note VALUES (2, 'b', 2)",
    "CREATE TABLE made (id serial PRIMARY KEY, note int REFERENCES note (id))",
    "INSERT INTO made (note) VALUES (2)",
    "CREATE VIEW seen AS SELECT v FROM note WHERE more = 2",
  ])
    await rows(token, sql, "b");
  t.match(await merge(token), { merged: true, conflicts_total: 0 });
  t.match(await merge(token), nothing);
  t.same(await rows(token, "SELECT id, v, more FROM note ORDER BY id"), [
    [1, "first", 1],
    [2, "b", 2],
  ]);
  t.same(await rows(token, "SELECT v FROM note WHERE more = 2"), [["b"]], "by the new index");
  t.same(await rows(token, "SELECT v FROM seen"), [["b"]]);
  // What it has made goes again.
  for (const sql of ["DROP VIEW seen", "DROP TABLE made", "ALTER TABLE note DROP COLUMN more"])
    await rows(token, sql, "b");
  t.match(await merge(token), { merged: true, conflicts_total: 0 });
  t.same(await rows(token, "SELECT * FROM note ORDER BY id"), [
    [1, "first"],
    [2, "b"],
  ]);
  t.equal((await server.sql("SELECT * FROM made", [], { token })).status, 400);
  await rows(token, "INSERT INTO item (v) VALUES ('d')");
  await rows(token, "ALTER TABLE item ADD COLUMN late int", "b");
  const { body } = await server.call("POST", "/v1/branches/b/merge", {}, { token });
  t.match(body, { error: { code: "conflict", message: /definition of "item", and the origin its rows/ } });
  await rows(token, "ALTER TABLE item DROP COLUMN late", "b");
  await rows(token, "CREATE TABLE ours (id int)");
  await rows(token, "CREATE TABLE theirs (id int)", "b");
  const both = (await server.call("POST", "/v1/branches/b/merge", {}, { token })).body;
  t.match(both, { error: { code: "conflict", message: /both the branch and its origin/ } });
});

t.test("the rows of some tables are merged again, before and after the rest", async (t) => {
  const token = await server.tenant("some-again", ["super_admin"]);
  for (const table of ["a", "b"]) {
    await rows(token, `CREATE TABLE ${table} (id int PRIMARY KEY, v int)`);
    await rows(token, `INSERT INTO ${table} VALUES (1, 1)`);
  }
  await fork(token, { name: "b" });
  const set = async (v: number) => {
    for (const table of ["a", "b"]) await rows(token, `UPDATE ${table} SET v = ${v}`, "b");
  };
  const both = () => rows(token, "SELECT a.v, b.v FROM a, b");
  await set(2);
  t.match(await merge(token, { tables: ["a"] }), { merged: true, changed: 1 });
  await set(3);
  t.match(await merge(token, { tables: ["b"] }), { merged: true, changed: 1 });
  t.same(await both(), [[2, 3]]);
  await set(4);
  t.match(await merge(token, { tables: ["a"] }), { merged: true, changed: 1, conflicts_total: 0 });
  t.match(await merge(token), { merged: true, changed: 1, conflicts_total: 0 });
  await set(5);
  t.match(await merge(token, { tables: ["b"] }), { merged: true, changed: 1, conflicts_total: 0 });
  t.same(await both(), [[4, 5]]);
});

t.test("merges and what the branch has written since survive a restart", async (t) => {
  const token = await server.tenant("restarted", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v text)");
  await rows(token, "INSERT INTO item SELECT i, 'first' FROM generate_series(1, 3) i");
  await fork(token, { name: "b" });
  await rows(token, "UPDATE item SET v = 'second'", "b");
  t.match(await merge(token), { merged: true, changed: 3 });
  await server.kill();
  await server.boot();
  await rows(token, "UPDATE item SET v = 'first' WHERE id = 1", "b");
  await server.kill();
  await server.boot();
  t.match(await merge(token), { merged: true, changed: 1, conflicts_total: 0 });
  t.same(await rows(token, "SELECT v FROM item ORDER BY id"), [["first"], ["second"], ["second"]]);
  t.match(await merge(token), nothing);
  await fork(token, { name: "of-b", from: "b" });
  await rows(token, "UPDATE item SET v = 'of of-b' WHERE id = 3", "of-b");
  t.match(await merge(token, {}, "of-b"), { merged: true, changed: 1 });
  t.match(await merge(token), { merged: true, changed: 1, conflicts_total: 0 });
  for (const name of ["of-b", "b"]) await server.expect(204, "DELETE", `/v1/branches/${name}`, undefined, { token });
  t.same((await server.call("GET", "/v1/history", undefined, { token })).body.data.kept, false);
});
