/**
 * The past of a tenant and its branches, over HTTP: AS OF, forks of forks, and a kill in between.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { BRANCH_DEPTH_MAX } from "../../src/protocol/limits.js";
import { sized } from "../lengths.js";
import { branchCalls } from "./branch-calls.js";
import { TestServer } from "./server.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());

const { as, fork, rows, sequence } = branchCalls(server);

t.test("AS OF reads what was there, definitions included", async (t) => {
  const token = await server.tenant("past", ["super_admin"]);
  const error = async (sql: string) => {
    const { status, body } = await server.sql(sql, [], { token });
    return { status, sqlstate: body.error?.details?.sqlstate };
  };
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v text)");
  await rows(token, "INSERT INTO item VALUES (1, 'one'), (2, 'two')");
  t.same(await error("SELECT * FROM item AS OF '2026-01-01'"), { status: 400, sqlstate: "55000" }, "nothing is kept");
  t.equal((await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token })).status, 200);
  const first = await sequence(token);
  await rows(token, "UPDATE item SET v = 'changed' WHERE id = 1");
  const second = await sequence(token);
  await rows(token, "ALTER TABLE item DROP COLUMN v");
  await rows(token, "TRUNCATE item");
  await rows(token, "DROP TABLE item");
  await rows(token, "CREATE (:Person {name: 'Ann'})");
  t.same(await rows(token, `SELECT * FROM item ORDER BY id AS OF SEQUENCE ${first}`), [
    [1, "one"],
    [2, "two"],
  ]);
  t.same(await rows(token, `SELECT v FROM item WHERE id = 1 AS OF SEQUENCE ${second}`), [["changed"]]);
  t.same(await rows(token, "SELECT v FROM item WHERE v = $1 AS OF SEQUENCE $2", undefined, ["two", second]), [["two"]]);
  t.same(await rows(token, "MATCH (p:Person) RETURN p.name AS OF now()"), [["Ann"]]);
  t.same(await error("SELECT * FROM item AS OF SEQUENCE 1"), { status: 400, sqlstate: "72000" });
  t.same(await error("SELECT * FROM item AS OF '2020-01-01 10:00Z'"), { status: 400, sqlstate: "72000" });
  t.same(await error("SELECT 1 AS OF '2999-01-01'"), { status: 400, sqlstate: "22023" });
  t.same(await error(`DELETE FROM item AS OF SEQUENCE ${first}`), { status: 400, sqlstate: "25006" });
  t.same(await error(`CREATE TABLE other (id int) AS OF SEQUENCE ${first}`), { status: 400, sqlstate: "25006" });
  t.same(await error("SELECT nonsense AS OF now()"), { status: 400, sqlstate: "42703" });
  const both = await server.sql("SELECT 1 AS OF now()", [], { token, headers: { "X-Tessera-As-Of": `${second}` } });
  t.match(both, { status: 400, body: { error: { details: { sqlstate: "55000" } } } }, "the header says when");
  t.same(await rows(token, "SELECT 1 AS of"), [[1]], "a name that a column may have");
  t.equal((await server.call("DELETE", "/v1/history", undefined, { token })).status, 204);
  t.same(await error(`SELECT 1 AS OF SEQUENCE ${first}`), { status: 400, sqlstate: "55000" });
});

t.test("one text is read at many moments, by the definitions of each", async (t) => {
  const token = await server.tenant("moments", ["super_admin"]);
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  await rows(token, "CREATE TABLE part (id int PRIMARY KEY)");
  await rows(token, "INSERT INTO part VALUES (1), (2)");
  const moments = [await sequence(token)];
  // More versions of the definitions than are kept in memory.
  for (let i = 0; i < 6; i++) {
    await rows(token, `ALTER TABLE part ADD COLUMN c${i} int DEFAULT ${i}`);
    await rows(token, "DELETE FROM part WHERE id = 2");
    moments.push(await sequence(token));
    await rows(token, "INSERT INTO part (id) VALUES (2)");
  }
  const read = "SELECT * FROM part WHERE id = $1 AS OF SEQUENCE $2";
  const columns = [0, 1, 2, 3, 4, 5];
  for (let turn = 0; turn < 2; turn++) {
    for (const [i, moment] of moments.entries()) {
      t.same(await rows(token, read, undefined, [1, moment]), [[1, ...columns.slice(0, i)]], `the row after ${i}`);
      const other = i === 0 ? [[2]] : [];
      t.same(await rows(token, read, undefined, [2, moment]), other, `the other one after ${i}`);
    }
  }
});

t.test("all models branch, and any request reads the past or a branch by its headers", async (t) => {
  const token = await server.tenant("models", ["super_admin"]);
  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const { status, body: answer } = await server.call(method, path, body, { token, headers });
    return { status, data: answer.data, error: answer.error };
  };
  const fields = [
    { name: "title", type: "string" },
    { name: "text", type: "string", embed: true },
  ];
  const indexes = [{ name: "words", fields: ["text"], type: "text" }];
  await ask("POST", "/v1/collections", { name: "note", schema: { fields, indexes } });
  await ask("POST", "/v1/collections/note/documents", { id: "a", title: "A", text: "walking in the woods" });
  await rows(token, "CREATE (:Person {name: 'Ann'})-[:KNOWS]->(:Person {name: 'Bob'})");
  await ask("PUT", "/v1/history", { window_seconds: 3600 });
  await fork(token, { name: "b" });
  const before = await sequence(token);
  const inBranch = { "X-Tessera-Branch": "b" };
  const inPast = { "X-Tessera-As-Of": `${before}` };
  const found = async (headers: Record<string, string>) => {
    const { data } = await ask("POST", "/v1/collections/note/search", { query: "woods", limit: 5 }, headers);
    return data.documents.map(({ id }: { id: string }) => id);
  };
  await ask("DELETE", "/v1/collections/note/documents/a", undefined, inBranch);
  await ask("POST", "/v1/collections/note/documents", { id: "b", title: "B", text: "deep woods" }, inBranch);
  await rows(token, "MATCH (p:Person {name: 'Bob'}) SET p.name = 'Bobby'", "b");
  await ask("POST", "/v1/collections/note/documents", { id: "c", title: "C", text: "no trees, but woods" });
  t.same(await found(inBranch), ["b"]);
  t.same((await found({})).sort(), ["a", "c"]);
  t.same(await found(inPast), ["a"], "a search reads the past");
  const friends = "MATCH (:Person)-[:KNOWS]->(p) RETURN p.name";
  t.same(await rows(token, friends, "b"), [["Bobby"]]);
  t.same(await rows(token, friends), [["Bob"]]);
  t.equal((await ask("GET", "/v1/collections/note/documents/c", undefined, inPast)).status, 404);
  t.equal((await ask("GET", "/v1/collections/note/documents/a", undefined, { ...inPast, ...inBranch })).status, 400);
  t.match(await ask("POST", "/v1/collections/note/documents", { id: "d" }, inPast), {
    status: 400,
    error: { code: "invalid_request" },
  });
  t.match(await ask("GET", "/v1/collections", undefined, { "X-Tessera-As-Of": "yesterday" }), { status: 400 });
  t.match(await ask("GET", "/v1/collections", undefined, { "X-Tessera-Branch": "No such" }), { status: 400 });
  t.match(await ask("GET", "/v1/collections", undefined, { "X-Tessera-As-Of": "2020-01-01T00:00:00Z" }), {
    status: 400,
  });
  t.match((await ask("POST", "/v1/branches/b/merge")).data, { merged: true, added: 1, removed: 1, changed: 1 });
  t.same((await found({})).sort(), ["b", "c"], "by words and vectors of the merged documents");
  t.same(await rows(token, friends), [["Bobby"]]);
});

t.test("vectors, neighbours and subscriptions are those of the branch, or of the moment", async (t) => {
  const token = await server.tenant("followed", ["super_admin"]);
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    server.call(method, path, body, { token, headers });
  const [rust, sky] = [
    { id: "rust", vector: [0.7, 0.2, 0.1] },
    { id: "sky", vector: [0.3, 0.6, 0.9] },
  ];
  await call("POST", "/v1/vectors/collections", { name: "paint", dimensions: 3, metric: "cosine" });
  await call("POST", "/v1/vectors/collections/paint/vectors", { vectors: [rust, sky] });
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v text)");
  await rows(token, "CREATE (:P {name: 'Ann'})-[:KNOWS]->(:P {name: 'Bob'})");
  const [[ann]] = (await rows(token, "MATCH (p:P {name: 'Ann'}) RETURN id(p)")) as [[number]];
  await call("PUT", "/v1/history", { window_seconds: 3600 });
  const inPast = { "X-Tessera-As-Of": `${await sequence(token)}` };
  const inBranch = { "X-Tessera-Branch": "b" };
  await fork(token, { name: "b" });
  await call("DELETE", "/v1/vectors/collections/paint/vectors/rust");
  await call("POST", "/v1/vectors/collections/paint/vectors", { id: "mud", vector: [0.9, 0.1, 0.1] }, inBranch);
  await rows(token, "MATCH (p:P {name: 'Bob'}) DETACH DELETE p");
  const near = async (headers?: Record<string, string>) => {
    const { body } = await call(
      "POST",
      "/v1/vectors/collections/paint/search",
      { vector: [0.8, 0.1, 0.1], limit: 3 },
      headers,
    );
    return body.data.map(({ id }: { id: string }) => id);
  };
  t.same([await near(), await near(inPast), await near(inBranch)], [["sky"], ["rust", "sky"], ["mud", "rust", "sky"]]);
  const friends = async (headers?: Record<string, string>) =>
    JSON.stringify((await call("GET", `/v1/graph/nodes/${ann}/neighbors`, undefined, headers)).body.data).includes(
      "Bob",
    );
  t.same([await friends(), await friends(inPast), await friends(inBranch)], [false, true, true]);

  const follow = async (headers: Record<string, string>) => {
    const all = { Authorization: `Bearer ${token}`, ...headers };
    const answer = await fetch(`${server.url}/v1/subscribe?table=item`, { headers: all });
    const told = { status: answer.status, text: "" };
    const reading = (async () => {
      for await (const piece of answer.body!) told.text += Buffer.from(piece).toString();
    })();
    reading.catch(() => {});
    return told;
  };
  const until = async (told: { text: string }, text: string) => {
    while (!told.text.includes(text)) await sleep(20);
  };
  t.equal((await follow(inPast)).status, 400, "nobody follows the past");
  const [ofTenant, ofBranch] = [await follow({}), await follow(inBranch)];
  for (const told of [ofTenant, ofBranch]) await until(told, "subscribed");
  await rows(token, "INSERT INTO item VALUES (1, 'of the tenant')");
  await rows(token, "INSERT INTO item VALUES (2, 'of the branch')", "b");
  await until(ofTenant, "of the tenant");
  await until(ofBranch, "of the branch");
  t.notMatch(ofTenant.text, "of the branch");
  t.notMatch(ofBranch.text, "of the tenant");
  t.match((await call("POST", "/v1/branches/b/merge")).body.data, { merged: true });
  await until(ofTenant, "of the branch");
  await call("DELETE", "/v1/branches/b");
  await until(ofBranch, 'The branch \\"b\\" was deleted.');
});

t.test("a branch has what its origin had, and neither sees what the other writes", async (t) => {
  const token = await server.tenant("forks", ["super_admin"]);
  const other = await server.tenant("stranger", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id serial PRIMARY KEY, v text UNIQUE, n int)");
  await rows(token, "CREATE INDEX item_n ON item (n)");
  await rows(token, "INSERT INTO item (v, n) SELECT 'v' || i, i % 10 FROM generate_series(1, 3000) i");
  await fork(token, { name: "a" });
  await rows(token, "DELETE FROM item WHERE n = 3");
  await rows(token, "UPDATE item SET n = 77 WHERE id = 1", "a");
  await rows(token, "DELETE FROM item WHERE n = 4", "a");
  await rows(token, "INSERT INTO item (v, n) VALUES ('new', 5)", "a");
  await fork(token, { name: "b", from: "a" });
  await rows(token, "DROP INDEX item_n", "b");
  await rows(token, "DELETE FROM item WHERE n < 9", "b");
  t.same(await rows(token, "SELECT count(*), count(*) FILTER (WHERE n = 3) FROM item"), [[2700, 0]]);
  t.same(await rows(token, "SELECT count(*), count(*) FILTER (WHERE n = 3) FROM item", "a"), [[2701, 300]]);
  t.same(await rows(token, "SELECT count(*) FROM item WHERE n = 77", "a"), [[1]]);
  t.same(await rows(token, "SELECT count(*), min(n) FROM item", "b"), [[301, 9]]);
  t.equal((await server.sql("SELECT 1", [], as(token, "none"))).status, 404);
  t.equal((await server.sql("SELECT 1", [], as(other, "a"))).status, 404, "others' branches are not there");
  t.equal((await server.call("GET", "/v1/branches/a", undefined, { token: other })).status, 404);
  t.equal((await server.call("POST", "/v1/branches", { name: "a" }, { token })).status, 409);
  t.equal((await server.call("DELETE", "/v1/branches/a", undefined, { token })).status, 409, "b was forked from it");
  for (const name of ["b", "a"]) {
    t.equal((await server.call("DELETE", `/v1/branches/${name}`, undefined, { token })).status, 204);
  }
  t.same((await server.call("GET", "/v1/branches", undefined, { token })).body.data, { branches: [], total: 0 });
  t.equal((await server.sql("SELECT 1", [], as(token, "a"))).status, 404);
  await fork(token, { name: "a" });
  t.same(await rows(token, "SELECT count(*) FROM item", "a"), [[2700]], "nothing is left of the one before");
});

t.test("an insert into a table whose rows a branch has deleted goes on", async (t) => {
  const token = await server.tenant("emptied", ["super_admin"]);
  await rows(token, "CREATE TABLE item (v int)");
  await rows(token, "INSERT INTO item SELECT i FROM generate_series(1, 6000) i");
  await fork(token, { name: "b" });
  await rows(token, "DELETE FROM item WHERE v > 0", "b");
  await rows(token, "INSERT INTO item VALUES (1), (2)", "b");
  t.same(await rows(token, "SELECT v FROM item ORDER BY v", "b"), [[1], [2]]);
  t.same(await rows(token, "SELECT count(*) FROM item"), [[6000]]);
});

t.test("what a branch, its origin and the past do not share", async (t) => {
  const token = await server.tenant("apart", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id serial PRIMARY KEY, v int)");
  await rows(token, "INSERT INTO item (v) SELECT i FROM generate_series(1, 2000) i");
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  const before = await sequence(token);
  await rows(token, "TRUNCATE item");
  await fork(token, { name: "b" });
  t.same(await rows(token, "SELECT count(*) FROM item", "b"), [[0]]);
  // What TRUNCATE left is looked at twice a second.
  await sleep(1500);
  t.same(await rows(token, "SELECT count(*) FROM item", "b"), [[0]]);
  await sleep(1000);
  t.same(await rows(token, `SELECT count(*) FROM item AS OF SEQUENCE ${before}`), [[2000]], "the past stays");
  const once = { "Idempotency-Key": "one" };
  const body = { sql: "INSERT INTO item (v) VALUES (7)" };
  for (const headers of [once, { ...once, "X-Tessera-Branch": "b" }, { ...once, "X-Tessera-Branch": "b" }]) {
    t.equal((await server.call("POST", "/v1/query/execute", body, { token, headers })).status, 200);
  }
  t.same(await rows(token, "SELECT count(*) FROM item"), [[1]]);
  t.same(await rows(token, "SELECT count(*) FROM item", "b"), [[1]], "an answer of the origin is none of the branch");
  const past = { token, headers: { "X-Tessera-As-Of": `${before}` } };
  const next = await server.call("POST", "/v1/query/execute", { sql: "SELECT nextval('item_id_seq')" }, past);
  t.match(next, { status: 400, body: { error: { details: { sqlstate: "25006" } } } });
  t.equal((await server.call("POST", "/v1/transactions", {}, past)).status, 400);
  const both = { token, headers: { "X-Tessera-Branch": "b", "X-Tessera-As-Of": `${before}` } };
  t.equal((await server.call("GET", "/v1/history", undefined, both)).status, 400);
  for (let i = 0; i < 80; i++) await rows(token, "SELECT count(*) FROM generate_series(1, 20000)", "b");
  const many = Array.from({ length: 80 }, () => rows(token, "SELECT pg_sleep(0.01)", "b"));
  t.equal((await Promise.all(many)).length, 80, "requests of a branch end as others do");
  await fork(token, { name: "short", ttl_seconds: 1 });
  // Until its time is over.
  while ((await server.call("GET", "/v1/branches/short", undefined, { token })).status !== 404) await sleep(100);
});

t.test("what is kept survives a kill", async (t) => {
  const token = await server.tenant("killed", ["super_admin"]);
  const kills = sized(1, 10);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v int)");
  await rows(token, "INSERT INTO item SELECT i, 0 FROM generate_series(1, 5000) i");
  await server.call("PUT", "/v1/history", { window_seconds: null }, { token });
  const moments: [number, number][] = [];
  for (let round = 1; round <= kills; round++) {
    await fork(token, { name: `r${round}` });
    // A commit of 5,000 rows, which the engine takes in parts.
    await rows(token, `UPDATE item SET v = ${round}`);
    await rows(token, `UPDATE item SET v = ${-round} WHERE id > 4000`, `r${round}`);
    moments.push([await sequence(token), round]);
    await rows(token, `UPDATE item SET v = 1000 WHERE id = 1`);
    await server.kill();
    await server.boot();
  }
  for (const [at, round] of moments) {
    const past = await rows(token, `SELECT count(*), min(v), max(v) FROM item AS OF SEQUENCE ${at}`);
    t.same(past, [[5000, round, round]], `after round ${round}`);
    const branch = await rows(token, "SELECT min(v), count(*) FILTER (WHERE v >= 0) FROM item", `r${round}`);
    t.same(branch, [[-round, 4000]], `branch of round ${round}`);
  }
});

t.test("roles and policies of now hold for the past and for branches", async (t) => {
  const token = await server.tenant("ruled", ["super_admin"]);
  await server.expect(201, "POST", "/admin/tenants/ruled/users", {
    ...{ username: "clerk", password: "a password of the clerk", roles: ["user"] },
  });
  const clerk = await server.login("clerk", "a password of the clerk");
  await rows(token, "CREATE TABLE secret (id int PRIMARY KEY, v text)");
  await rows(token, "INSERT INTO secret VALUES (1, 'hidden')");
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  const before = await sequence(token);
  await fork(token, { name: "b" });
  t.same(await rows(clerk, "SELECT v FROM secret", "b"), [["hidden"]], "nothing forbids it yet");
  const inPast = `SELECT v FROM secret AS OF SEQUENCE ${before}`;
  for (let i = 0; i < 3; i++) t.same(await rows(clerk, inPast), [["hidden"]], "nor in the past");
  await rows(token, "REVOKE ALL ON secret FROM member");
  for (const [sql, branch] of [
    ["SELECT v FROM secret", "b"],
    [inPast, undefined],
  ] as const) {
    const { status, body } = await server.sql(sql, [], as(clerk, branch));
    t.equal(status, 403, sql);
    t.notMatch(JSON.stringify(body), "hidden");
  }
  const past = { token: clerk, headers: { "X-Tessera-As-Of": `${before}` } };
  t.equal((await server.call("POST", "/v1/query/execute", { sql: "SELECT v FROM secret" }, past)).status, 403);
  t.equal((await server.call("GET", "/v1/branches/b/diff", undefined, { token: clerk })).status, 403);
  t.same(await rows(token, "SELECT v FROM secret", "b"), [["hidden"]], "administrators see all");
  await rows(token, "GRANT ALL ON secret TO member");
  for (const sql of [
    "CREATE TABLE pay (id int PRIMARY KEY, v text)",
    "INSERT INTO pay VALUES (1, 'hidden')",
    "ALTER TABLE pay ENABLE ROW LEVEL SECURITY",
  ])
    await rows(token, sql, "b");
  t.same(await rows(clerk, "SELECT v FROM pay", "b"), [], "a policy of the branch alone");
  await fork(token, { name: "of-b", from: "b" });
  await rows(token, "DROP TABLE secret", "of-b");
  for (const accept of ["application/json", "application/x-ndjson"]) {
    for (const name of ["b", "of-b"]) {
      const request = { token: clerk, headers: { accept } };
      const { status, body } = await server.call("GET", `/v1/branches/${name}/diff`, undefined, request);
      t.equal(status, 403, `${name} ${accept}`);
      t.notMatch(JSON.stringify(body), "hidden");
    }
  }
  t.match(JSON.stringify((await server.call("GET", "/v1/branches/b/diff", undefined, { token })).body), "hidden");
  await rows(token, "REVOKE ALL ON secret FROM member");
  await rows(token, "CREATE ROLE narrow");
  const sql = `SET ROLE narrow; SELECT v FROM secret AS OF SEQUENCE ${before}`;
  const narrow = await server.call("POST", "/v1/query/script", sql, {
    ...{ token, headers: { "content-type": "application/sql" } },
  });
  t.notMatch(JSON.stringify(narrow.body), "hidden", "not as another role");
  t.match(JSON.stringify(narrow.body), "permission denied");
});

t.test("what protected a table then protects its past only if it is gone", async (t) => {
  const token = await server.tenant("protected", ["super_admin"]);
  const password = "a password of the clerk";
  await server.expect(201, "POST", "/admin/tenants/protected/users", { username: "clerk2", password, roles: ["user"] });
  const clerk = await server.login("clerk2", password);
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  for (const table of ["closed", "policed", "dropped", "lent"]) {
    await rows(token, `CREATE TABLE ${table} (id int PRIMARY KEY, v text)`);
    await rows(token, `INSERT INTO ${table} VALUES (1, 'hidden')`);
    if (table !== "policed") await rows(token, `REVOKE ALL ON ${table} FROM member`);
  }
  await rows(token, "ALTER TABLE policed ENABLE ROW LEVEL SECURITY");
  await rows(token, "CREATE ROLE lender");
  await rows(token, "CREATE ROLE clerk2 LOGIN");
  await rows(token, "GRANT SELECT ON lent TO lender");
  await rows(token, "GRANT lender TO clerk2");
  t.same(await rows(clerk, "SELECT v FROM lent"), [["hidden"]], "by a role");
  const before = await sequence(token);
  const inPast = (table: string) => `SELECT v FROM ${table} AS OF SEQUENCE ${before}`;
  const refused = async (table: string) => {
    const { status, body } = await server.sql(inPast(table), [], as(clerk));
    t.equal(status, 403, table);
    t.notMatch(JSON.stringify(body), "hidden");
  };
  for (const table of ["closed", "policed", "dropped", "lent"]) await refused(table);
  for (const sql of [
    "GRANT ALL ON closed TO member",
    "ALTER TABLE policed DISABLE ROW LEVEL SECURITY",
    "DROP TABLE dropped",
    "DROP TABLE lent",
  ])
    await rows(token, sql);
  for (const table of ["closed", "policed"]) {
    t.same(await rows(clerk, inPast(table)), [["hidden"]], `${table}: the present says who may read it`);
    const past = { token: clerk, headers: { "X-Tessera-As-Of": `${before}` } };
    const { body } = await server.call("POST", "/v1/query/execute", { sql: `SELECT v FROM ${table}` }, past);
    t.same(body.data.rows, [["hidden"]], `${table}, by the header`);
  }
  await refused("dropped");
  t.same(await rows(clerk, inPast("lent")), [["hidden"]], "still a member of the role that might read it");
  await rows(token, "REVOKE lender FROM clerk2");
  await refused("lent");
  t.same(await rows(token, inPast("dropped")), [["hidden"]], "administrators see all");
});

t.test("a chain of branches may be long, and each branch has what it began with", async (t) => {
  const token = await server.tenant("chained", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v text)");
  await rows(token, "CREATE INDEX item_v ON item (v)");
  await rows(token, "INSERT INTO item SELECT i, 'old' FROM generate_series(0, 99) i");
  const LAST = 2 * BRANCH_DEPTH_MAX + 8;
  for (let depth = 1; depth <= LAST; depth++) {
    await fork(token, { name: `b${depth}`, ...(depth > 1 && { from: `b${depth - 1}` }) });
    await rows(token, `INSERT INTO item VALUES (${100 + depth}, 'new')`, `b${depth}`);
    await rows(token, `UPDATE item SET v = 'b${depth}' WHERE id = ${depth}`, `b${depth}`);
    await rows(token, `DELETE FROM item WHERE id = ${50 + depth}`, `b${depth}`);
  }
  // What an origin does later is not seen.
  await rows(token, "UPDATE item SET v = 'later' WHERE id = 3");
  await rows(token, "DELETE FROM item WHERE id IN (4, 103)", "b7");
  const look = async () => {
    for (let depth = 1; depth <= LAST; depth++) {
      const name = `b${depth}`;
      const gone = depth === 7 ? 2 : 0;
      t.same(await rows(token, "SELECT count(*) FROM item", name), [[100 - gone]], name);
      t.same(await rows(token, "SELECT id FROM item WHERE v = 'new' ORDER BY id DESC LIMIT 1", name), [[100 + depth]]);
      t.same(await rows(token, `SELECT v FROM item WHERE id = ${depth}`, name), [[name]]);
      t.same(await rows(token, `SELECT id FROM item WHERE v = 'b1'`, name), [[1]], "by the index");
      t.same(await rows(token, `SELECT id FROM item WHERE id BETWEEN 49 AND ${51 + depth} ORDER BY id`, name), [
        [49],
        [50],
        [51 + depth],
      ]);
    }
    const { body } = await server.call("GET", `/v1/branches/b${LAST}/diff`, undefined, { token });
    t.match(body.data.tables, [{ table: "item", added: 1, removed: 1, changed: 1 }], "its own changes alone");
  };
  await look();
  await server.kill();
  await server.boot();
  await look();
  const { body } = await server.call("POST", `/v1/branches/b${LAST}/merge`, {}, { token });
  t.equal(body.data.merged, true, "into the one that it was forked from");
  t.same(await rows(token, `SELECT v FROM item WHERE id = ${LAST}`, `b${LAST - 1}`), [[`b${LAST}`]]);
});

t.test("of two forks of one name at once, one is made", async (t) => {
  const token = await server.tenant("twice", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY)");
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  await rows(token, "INSERT INTO item VALUES (1)");
  const past = new Date().toISOString();
  for (let i = 0; i < 2; i++) {
    const made = await Promise.all(
      [{ as_of: past }, {}, {}, { as_of: past }].map(async (more) => {
        const { status } = await server.call("POST", "/v1/branches", { name: `fork${i}`, ...more }, { token });
        return status;
      }),
    );
    t.same([...made].sort(), [201, 409, 409, 409]);
  }
  const { body } = await server.call("GET", "/v1/branches", undefined, { token });
  t.equal(body.data.branches.length, 2);
});
