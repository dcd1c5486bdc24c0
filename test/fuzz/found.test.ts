/** What fuzzing found, each as it was found, so that it stays found. */
import t from "tap";
import { TestServer } from "../e2e/server.js";
import { SocketClient } from "../e2e/socket-client.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());

t.test("U+0000 inside a JSON parameter: refused when written, instead of a row that cannot be read", async (t) => {
  await server.rows("CREATE TABLE note (id integer PRIMARY KEY, data jsonb)");
  await server.call("POST", "/v1/vectors/collections", { name: "places", dimensions: 2 });
  for (const value of [{ x: "\u0000" }, { "\u0000": 1 }, { x: [{ y: "a\u0000b" }] }]) {
    const row = await server.sql("INSERT INTO note VALUES (1, $1)", [value]);
    t.match([row.status, row.body.error?.details.sqlstate], [400, "22P05"]);
    const memory = await server.call("POST", "/v1/ai/memory/found", { content: "x", metadata: value });
    t.equal(memory.status, 400, "a memory");
    const vector = { id: "v", vector: [1, 2], metadata: value };
    t.equal((await server.call("POST", "/v1/vectors/collections/places/vectors", vector)).status, 400, "a vector");
  }
  t.same(await server.rows("SELECT * FROM note"), []);
  await server.rows("INSERT INTO note VALUES (2, $1)", [{ x: "\\u0000 is six characters" }]);
  t.same(await server.rows("SELECT data FROM note"), [[{ x: "\\u0000 is six characters" }]]);
});

t.test("connections that became WebSockets count while they are open, not for ever", async (t) => {
  const small = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_LIMITS_CONNECTIONS_MAX: "20" });
  t.teardown(() => small.stop());
  for (let n = 0; n < 60; n++) {
    const client = await SocketClient.open(small.url, "/v1/ws", { authorization: `Bearer ${small.token}` });
    client.send({ type: "ping", id: n });
    t.match(await client.next(), { type: "pong", id: n });
    client.destroy();
  }
});

t.test("transition functions of aggregates, called with states that are none", async (t) => {
  for (const call of [
    "int2_avg_accum(ARRAY[]::int8[], 1::int2)",
    "int4_avg_accum(ARRAY[1, NULL]::int8[], 1)",
    "int8_avg(ARRAY[1]::int8[])",
  ]) {
    const { status, body } = await server.sql(`SELECT ${call}`);
    t.match([status, body.error?.message], [400, "expected 2-element int8 array"], call);
  }
});

t.test("a statement of PL/pgSQL that is only a semicolon", async (t) => {
  for (const body of ["BEGIN; END", "BEGIN IF true THEN ; END IF; END", "BEGIN PERFORM 1;; END"]) {
    const { status, body: reply } = await server.sql(`DO '${body}'`);
    t.match([status, reply.error?.message], [400, 'syntax error at or near ";"'], body);
  }
});

t.test("lists and exports while what they tell of comes and goes", async (t) => {
  let isDone = false;
  const definitions = async () => {
    for (let n = 0; n < 8; n++) {
      await server.rows(`CREATE TABLE passing_${n} (id serial PRIMARY KEY, v text UNIQUE)`);
      await server.expect(201, "POST", "/v1/graph/graphs", { name: "passing" });
      await server.expect(201, "POST", "/v1/vectors/collections", { name: "vectors", dimensions: 2 });
      await server.expect(201, "POST", "/v1/ai/memory/passing", { content: "x" });
      await server.call("DELETE", "/v1/ai/memory/passing");
      await server.call("DELETE", "/v1/vectors/collections/vectors");
      await server.call("DELETE", "/v1/graph/graphs/passing");
      await server.rows(`DROP TABLE passing_${n}`);
    }
    isDone = true;
  };
  const lists = async (method: string, path: string) => {
    while (!isDone) {
      const { status, body } = await server.call(method, path, method === "POST" ? {} : undefined);
      t.ok(status === 200 || body.error.code === "not_found", `${path}: ${status} ${JSON.stringify(body)}`);
    }
  };
  const gets = ["/v1/graph/graphs", "/v1/vectors/collections", "/v1/ai/memory"].map((path) => lists("GET", path));
  await Promise.all([definitions(), ...gets, lists("POST", "/v1/recipes/export")]);
});
