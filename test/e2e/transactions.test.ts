/** Interactive transactions over HTTP: isolation, savepoints, deadlines, whose they are. */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());
await server.rows("CREATE TABLE doctor (name text PRIMARY KEY, on_call boolean NOT NULL)");

async function reset(): Promise<void> {
  await server.rows("DELETE FROM doctor");
  await server.rows("INSERT INTO doctor VALUES ('ann', true), ('bob', true)");
}

async function begin(body?: object): Promise<string> {
  return (await server.expect(201, "POST", "/v1/transactions", body)).body.data.id;
}

const execute = (id: string, sql: string, parameters: unknown[] = []) =>
  server.call("POST", `/v1/transactions/${id}/execute`, { sql, parameters });
const commit = (id: string) => server.call("POST", `/v1/transactions/${id}/commit`);

t.test("write skew is refused under serializable and allowed under repeatable read", async (t) => {
  for (const [level, refused] of [
    [undefined, true],
    ["SERIALIZABLE", true],
    ["repeatable_read", false],
    ["read committed", false],
  ] as const) {
    await reset();
    const body = level === undefined ? undefined : { isolation_level: level };
    const one = await begin(body);
    const two = await begin(body);
    for (const [id, name] of [
      [one, "ann"],
      [two, "bob"],
    ] as const) {
      t.same((await execute(id, "SELECT count(*) FROM doctor WHERE on_call")).body.data.rows, [[2]]);
      t.equal((await execute(id, "UPDATE doctor SET on_call = false WHERE name = $1", [name])).status, 200);
    }
    t.equal((await commit(one)).status, 200);
    const second = await commit(two);
    t.equal(second.status, refused ? 409 : 200, `level ${level ?? "default"}`);
    if (refused) t.match(second.body.error, { code: "serialization_failure", details: { sqlstate: "40001" } });
    t.same(await server.rows("SELECT count(*) FROM doctor WHERE on_call"), [[refused ? 1 : 0]]);
  }
});

t.test("a transaction sees its own writes and one snapshot; others see nothing of it", async (t) => {
  await reset();
  const id = await begin();
  await execute(id, "INSERT INTO doctor VALUES ('cy', true)");
  t.same((await execute(id, "SELECT count(*) FROM doctor")).body.data.rows, [[3]]);
  t.same(await server.rows("SELECT count(*) FROM doctor"), [[2]]);
  await server.rows("INSERT INTO doctor VALUES ('dee', true)");
  t.same((await execute(id, "SELECT name FROM doctor ORDER BY name")).body.data.rows, [["ann"], ["bob"], ["cy"]]);
  t.equal((await server.expect(200, "POST", `/v1/transactions/${id}/rollback`, {})).body.data.status, "rolled_back");
  t.same(await server.rows("SELECT count(*) FROM doctor"), [[3]]);
  const late = await commit(id);
  t.match([late.status, late.body.error], [404, { code: "transaction_not_found", message: /rolled back/ }]);
});

t.test("savepoints", async (t) => {
  await reset();
  const id = await begin();
  await execute(id, "INSERT INTO doctor VALUES ('cy', true)");
  t.equal((await server.call("POST", `/v1/transactions/${id}/savepoint`, { name: "a" })).status, 201);
  await execute(id, "DELETE FROM doctor");
  const failed = await execute(id, "SELECT 1/0");
  t.equal(failed.body.error.details.sqlstate, "22012");
  t.match((await execute(id, "SELECT 1")).body.error.message, /current transaction is aborted/);
  t.match((await server.call("GET", `/v1/transactions/${id}`)).body.data, {
    status: "failed",
    savepoints: ["a"],
    isolation_level: "serializable",
  });
  t.equal((await server.call("POST", `/v1/transactions/${id}/savepoint/a/rollback`, {})).status, 200);
  t.same((await execute(id, "SELECT count(*) FROM doctor")).body.data.rows, [[3]]);
  t.equal((await server.call("POST", `/v1/transactions/${id}/savepoint/b/rollback`, {})).status, 400);
  t.equal((await commit(id)).status, 200);
  t.same(await server.rows("SELECT count(*) FROM doctor"), [[3]]);
});

t.test("a failed transaction does not commit", async (t) => {
  await reset();
  const id = await begin();
  await execute(id, "DELETE FROM doctor");
  await execute(id, "SELECT nonsense");
  const reply = await commit(id);
  t.match([reply.status, reply.body.error.code], [400, "transaction_aborted"]);
  t.same(await server.rows("SELECT count(*) FROM doctor"), [[2]]);
});

t.test("definitions are transactional", async (t) => {
  const id = await begin();
  await execute(id, "CREATE TABLE passing (id integer PRIMARY KEY)");
  t.equal((await execute(id, "INSERT INTO passing VALUES (1)")).status, 200);
  t.match((await server.sql("SELECT * FROM passing")).body.error.message, /does not exist/);
  await server.expect(200, "POST", `/v1/transactions/${id}/rollback`, {});
  t.match((await server.sql("SELECT * FROM passing")).body.error.message, /does not exist/);
});

t.test("a transaction that is left open ends at its deadline", async (t) => {
  await reset();
  const id = await begin({ timeout_secs: 0.2 });
  await execute(id, "DELETE FROM doctor");
  let reply = await execute(id, "SELECT 1");
  while (reply.status === 200) reply = await execute(id, "SELECT 1");
  t.match([reply.status, reply.body.error], [404, { code: "transaction_not_found", message: /deadline/ }]);
  t.same(await server.rows("SELECT count(*) FROM doctor"), [[2]]);
  t.equal((await server.call("POST", "/v1/transactions", { timeout_secs: 80_000 })).status, 400);
});

t.test("transactions are the tenant's own", async (t) => {
  const id = await begin();
  const stranger = await server.tenant("stranger");
  t.equal((await server.call("POST", `/v1/transactions/${id}/commit`, {}, { token: stranger })).status, 404);
  t.equal((await commit(id)).status, 200);
});

t.test("BEGIN in a stateless call names the way", async (t) => {
  for (const sql of ["BEGIN", "START TRANSACTION ISOLATION LEVEL SERIALIZABLE", "COMMIT", "ROLLBACK"]) {
    const reply = await server.sql(sql);
    t.equal(reply.status, 400, sql);
    t.match(`${reply.body.error.message} ${reply.body.error.details.hint}`, /\/v1\/transactions/);
  }
});

t.test("bad requests", async (t) => {
  t.match(
    (await server.call("POST", "/v1/transactions", { isolation_level: "chaos" })).body.error.message,
    /isolation_level/,
  );
  const readOnly = await begin({ read_only: true });
  t.match((await execute(readOnly, "DELETE FROM doctor")).body.error, { code: "read_only_transaction" });
  await server.call("POST", `/v1/transactions/${readOnly}/rollback`);
  t.equal((await server.call("POST", "/v1/transactions/tx_nope/commit")).status, 404);
});

t.test("BEGIN, COMMIT and ROLLBACK as statements of an open transaction leave it as it is", async (t) => {
  await server.rows("CREATE TABLE held (id integer PRIMARY KEY)");
  const { id } = (await server.expect(201, "POST", "/v1/transactions")).body.data;
  const run = (sql: string) => server.call("POST", `/v1/transactions/${id}/execute`, { sql });
  await run("INSERT INTO held VALUES (1)");
  const begun = await run("BEGIN");
  t.match([begun.status, begun.body.data.notices], [200, ["WARNING: there is already a transaction in progress"]]);
  for (const sql of ["COMMIT", "ROLLBACK"]) {
    const { status, body } = await run(sql);
    t.match([status, body.error], [400, { details: { sqlstate: "25001", hint: /transactions\/\{id\}\/commit/ } }], sql);
  }
  t.same((await run("SELECT count(*) FROM held")).body.data.rows, [[1]]);
  await server.expect(200, "POST", `/v1/transactions/${id}/commit`);
  t.same(await server.rows("SELECT count(*) FROM held"), [[1]]);
});
