/**
 * What somebody made is theirs: nobody else of the tenant writes through it, changes what its name means, or gets its
 * answers.
 */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.sharedInstallation();
t.teardown(() => server.stop());
const admin = { token: await server.tenant("owned", ["super_admin"]) };
const password = "a password of Ann";
await server.expect(201, "POST", "/admin/tenants/owned/users", { username: "ann", password, roles: ["user"] });
const ann = { token: await server.login("ann", password) };
const keyOf = async (permission: string, maker: { token: string }): Promise<{ token: string }> => ({
  token: (await server.expect(201, "POST", "/v1/api-keys", { name: permission, permission }, maker)).body.raw_key,
});
const reader = await keyOf("ReadOnly", ann);
const bens = { token: await otherUser() };
await server.rows("CREATE TABLE t (a int)", [], ann);
await server.rows("INSERT INTO t VALUES (1), (2)", [], ann);
const count = async () => (await server.rows("SELECT count(*) FROM t", [], admin))[0]![0];

async function otherUser(): Promise<string> {
  await server.expect(201, "POST", "/admin/tenants/owned/users", { username: "ben", password, roles: ["user"] });
  return server.login("ben", password);
}

t.test("a transaction is found by who began it and by administrators", async (t) => {
  const { id } = (await server.expect(201, "POST", "/v1/transactions", {}, ann)).body.data;
  const sql = { sql: "DELETE FROM t" };
  for (const other of [reader, bens, await keyOf("FullAccess", bens), await keyOf("ReadOnly", admin)]) {
    for (const [path, body] of [
      ["execute", sql],
      ["savepoint", { name: "s" }],
      ["commit", {}],
      ["rollback", {}],
    ] as const) {
      const { status, body: answer } = await server.call("POST", `/v1/transactions/${id}/${path}`, body, other);
      t.match([status, answer.error], [404, { code: "transaction_not_found" }], path);
    }
    await server.expect(404, "GET", `/v1/transactions/${id}`, undefined, other);
  }
  await server.expect(200, "POST", `/v1/transactions/${id}/execute`, { sql: "DELETE FROM t WHERE a = 2" }, ann);
  t.equal((await server.expect(200, "GET", `/v1/transactions/${id}`, undefined, admin)).body.data.status, "active");
  await server.expect(200, "POST", `/v1/transactions/${id}/commit`, {}, admin);
  t.equal(await count(), 1);
  // Nor do others learn how it ended.
  const ended = await server.call("POST", `/v1/transactions/${id}/commit`, {}, bens);
  t.match(ended.body.error.message, /does not exist\.$/);
  t.match((await server.call("POST", `/v1/transactions/${id}/commit`, {}, ann)).body.error.message, /was committed/);
});

t.test("a name of a prepared statement is its owner's", async (t) => {
  const named = { name: "mine", sql: "SELECT a FROM t" };
  await server.expect(201, "POST", "/v1/query/prepare", named, ann);
  await server.expect(404, "POST", "/v1/query/exec", { statement_id: "mine" }, bens);
  t.same((await server.expect(200, "POST", "/v1/query/close", { statement_id: "mine" }, reader)).body.data, {
    closed: false,
  });
  await server.expect(201, "POST", "/v1/query/prepare", { name: "mine", sql: "SELECT 'another'" }, reader);
  const rowsOf = async (who: { token: string }) =>
    (await server.expect(200, "POST", "/v1/query/exec", { statement_id: "mine" }, who)).body.data.rows;
  t.same([await rowsOf(ann), await rowsOf(reader)], [[[1]], [["another"]]]);
});

t.test("a ReadOnly key prepares only what reads", async (t) => {
  for (const sql of [
    "DELETE FROM t",
    "WITH gone AS (DELETE FROM t RETURNING a) SELECT * FROM gone",
    "SELECT nextval('t_a_seq')",
    "CREATE TABLE made (a int)",
    "CREATE (n:Made)",
    "EXPLAIN ANALYZE DELETE FROM t",
  ]) {
    const { status, body } = await server.call("POST", "/v1/query/prepare", { sql }, reader);
    t.ok(status === 403 || (status === 400 && body.error.details?.sqlstate === "42P01"), `${sql}: ${status}`);
  }
  await server.expect(201, "POST", "/v1/query/prepare", { sql: "SELECT a FROM t WHERE a = $1" }, reader);
  await server.expect(201, "POST", "/v1/query/prepare", { sql: "MATCH (n) RETURN n", language: "cypher" }, reader);
  t.equal(await count(), 1);
});

t.test("a kept answer is given to who got it first, and not to who may no longer do it", async (t) => {
  const send = (who: { token: string }, sql: string) =>
    server.call("POST", "/v1/query/execute", { sql }, { ...who, headers: { "idempotency-key": "once" } });
  const sql = "INSERT INTO t VALUES (7) RETURNING a";
  t.same((await send(ann, sql)).body.data.rows, [[7]]);
  const again = await send(ann, sql);
  t.equal(again.headers.get("idempotency-replayed"), "true");
  t.match(await send(reader, sql), { status: 403 }, "its own key, but one that only reads");
  t.equal((await send(bens, sql)).status, 200, "another's request is another one");
  t.same(await server.rows("SELECT count(*) FROM t WHERE a = 7", [], admin), [[2]]);
});
