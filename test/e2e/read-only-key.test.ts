/** What a ReadOnly key is told of a statement that writes, and what a text without a statement is answered with. */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

t.test("it names what writes", async (t) => {
  const made = await server.expect(201, "POST", "/v1/api-keys", { name: "reader", permission: "ReadOnly" });
  await server.rows("CREATE TABLE t (a int)");
  await server.rows("CREATE SEQUENCE s");
  for (const [sql, what] of [
    ["SELECT nextval('s')", "the function nextval()"],
    ["SELECT (SELECT setval('s', 3))", "the function setval()"],
    ["SELECT memory_store('n', 'x')", "the function memory_store()"],
    ["WITH w AS (INSERT INTO t VALUES (1) RETURNING a) SELECT * FROM w", "INSERT"],
    ["WITH w AS (DELETE FROM t RETURNING a) SELECT * FROM w", "DELETE"],
    ["INSERT INTO t SELECT nextval('s')", "INSERT"],
    ["UPDATE t SET a = 1", "UPDATE"],
    ["CREATE (n:Person)", "CYPHER"],
  ] as const) {
    const { status, body } = await server.call("POST", "/v1/query/execute", { sql }, { token: made.body.raw_key });
    t.equal(status, 403, sql);
    t.match(body.error, { message: `The credential has ReadOnly permission; ${what} is refused.` }, sql);
  }
});

t.test("a text without a statement", async (t) => {
  for (const sql of ["  ", "\n", ";", "-- nothing"]) {
    const { body } = await server.call("POST", "/v1/query/execute", { sql });
    t.match(
      body.error,
      { message: "The text holds no statement.", details: { sqlstate: "42601" } },
      JSON.stringify(sql),
    );
  }
});
