/** Every way to the tables of a tenant, asked by a user who may not see one of them, on a running server. */
import t from "tap";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import { TestServer } from "../e2e/server.js";

const SECRET = "xyzzy-of-the-board";

t.test("who may not see a table sees it nowhere", { timeout: 120_000 }, async (t) => {
  const server = await TestServer.sharedInstallation();
  t.teardown(() => server.stop());
  const user = await server.tenant("alpha");
  const password = "password of the admin";
  const path = "/admin/tenants/alpha/users";
  await server.expect(201, "POST", path, { username: "gate-boss", password, roles: ["admin"] });
  const admin = await server.login("gate-boss", password);
  const run = (sql: string, token: string) => server.call("POST", "/v1/query/execute", { sql }, { token });
  const must = (sql: string) => server.expect(200, "POST", "/v1/query/execute", { sql }, { token: admin });
  await must("CREATE TABLE board (id int PRIMARY KEY, note text)");
  await must(`INSERT INTO board VALUES (1, '${SECRET}')`);
  await must("CREATE TABLE common (id int PRIMARY KEY, note text)");
  t.match(JSON.stringify(await run("SELECT * FROM board", user)), SECRET, "without roles everybody sees everything");
  t.equal((await server.call("GET", "/v1/schema/tables", undefined, { token: user })).status, 200);

  await must("REVOKE ALL ON board FROM member");
  for (const endpoint of ENDPOINTS.filter(({ door }) => door === "whole" || door === "all")) {
    const at = endpoint.path.replace(/\{\w+\}|:\w+/g, "board");
    const { status, body } = await server.call(endpoint.method, at, endpoint.method === "GET" ? undefined : {}, {
      token: user,
    });
    // What opens a WebSocket reaches no table; its messages have doors of their own.
    if (status === 426) continue;
    t.equal(status, 403, `${endpoint.name}: ${JSON.stringify(body).slice(0, 200)}`);
    t.notMatch(JSON.stringify(body), SECRET, endpoint.name);
  }
  for (const sql of [
    "SELECT * FROM board",
    "SELECT count(*) FROM board",
    "TABLE board",
    "SELECT (SELECT note FROM board)",
    "WITH b AS (SELECT * FROM board) SELECT * FROM b",
    "CREATE TABLE copy AS SELECT * FROM board",
    "INSERT INTO common SELECT * FROM board",
    "EXPLAIN ANALYZE SELECT 1",
    "UPDATE common SET note = (SELECT note FROM board)",
    "MERGE INTO common c USING board b ON c.id = b.id WHEN NOT MATCHED THEN INSERT VALUES (b.id, b.note)",
    "DO $$ BEGIN PERFORM note FROM board; END $$",
    "PREPARE p AS SELECT * FROM board",
    "DECLARE c CURSOR WITH HOLD FOR SELECT * FROM board",
    "CREATE INDEX ON board (note)",
    "CREATE TRIGGER g BEFORE UPDATE ON board EXECUTE FUNCTION f()",
    "ALTER TABLE common INHERIT board",
    "SELECT * FROM search('board', 'xyzzy')",
    "SET ROLE admin",
    'SET SESSION AUTHORIZATION "gate-boss"',
    "GRANT SELECT ON board TO member",
    "ALTER TABLE board OWNER TO member",
    "TRUNCATE board",
    "LOCK TABLE board; SELECT * FROM board",
  ]) {
    const { status, body } = await run(sql, user);
    t.ok(status >= 400 && status !== 500, `${sql}: ${status}`);
    t.notMatch(JSON.stringify(body), SECRET, sql);
  }
  t.equal((await run("CREATE VIEW v AS SELECT * FROM board", user)).status, 200, "who reads it is asked");
  t.equal((await run("SELECT * FROM v", user)).status, 403);
  t.equal((await run("DROP VIEW v", user)).status, 200);
  const batch = { statements: [{ sql: "SELECT 1" }, { sql: "SELECT * FROM board" }] };
  const batched = await server.call("POST", "/v1/query/execute/batch", batch, { token: user });
  t.not(batched.status, 404, "the door is there");
  t.notMatch(JSON.stringify(batched), SECRET);
  const exported = await server.call("GET", "/v1/data/export?table=board", undefined, { token: user });
  t.equal(exported.status, 403);
  t.equal((await run("SELECT * FROM common", user)).status, 200, "other tables stay as they were");
  t.match(JSON.stringify(await run("SELECT * FROM board", admin)), SECRET, "administrators see it");

  await must('CREATE ROLE "alpha-user" SUPERUSER BYPASSRLS');
  t.equal((await run("SELECT * FROM board", user)).status, 403, "a user is not a role of its name that may not log in");
  await must('ALTER ROLE "alpha-user" NOSUPERUSER LOGIN');
  t.equal((await run("SELECT * FROM board", user)).status, 403);
  await must('GRANT SELECT ON board TO "alpha-user"');
  t.match(JSON.stringify(await run("SELECT * FROM board", user)), SECRET, "it is one that may log in");
});
