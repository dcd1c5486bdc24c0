/** A server that is killed in the middle of a recipe: nothing of it is left but that it began. */
import t from "tap";
import { until } from "./filesystem-folder.js";
import { TestServer } from "./server.js";

const RECIPE = {
  id: "long",
  version: "1.0.0",
  engine: "*",
  name: "Long",
  parameters: { count: { type: "integer", default: 10 } },
  schema: ["CREATE TABLE steps (id int PRIMARY KEY)"],
  seed: [{ nodes: [{ key: 1, labels: ["Begun"] }] }],
  workflow: [
    { name: "write", sql: "INSERT INTO steps SELECT generate_series(1, 1000)" },
    { name: "graph", cypher: "CREATE (:Begun {n: 2})" },
    { name: "wait", sql: "SELECT count(*) FROM generate_series(1, $count) a CROSS JOIN generate_series(1, $count) b" },
    { name: "more", sql: "INSERT INTO steps VALUES (1001)" },
  ],
};

t.setTimeout(300_000);
t.test("SIGKILL during an execution", async (t) => {
  const server = await TestServer.start({});
  t.teardown(() => server.stop());
  const imported = await server.call("POST", "/v1/recipes/import", RECIPE);
  t.equal(imported.status, 201, JSON.stringify(imported.body));
  const history = async () => (await server.expect(200, "GET", "/v1/recipes/long/executions")).body.data.executions;
  const cutOff = server.call("POST", "/v1/recipes/long/execute", { parameters: { count: 50_000 } }).then(
    () => t.fail("it was not cut off"),
    () => t.pass("no answer"),
  );
  const [begun] = await until(async () => ((await history()).length > 0 ? history() : null));
  t.match(begun, { status: "running", parameters: { count: 50_000 } });
  await server.kill();
  await cutOff;
  await server.boot();
  t.equal((await server.sql("SELECT * FROM steps")).status, 400, "not even the table");
  const nodes = await server.call("POST", "/v1/graph/match", { cypher: "MATCH (n:Begun) RETURN count(n) AS n" });
  t.same(nodes.body.data.rows, [[0]]);
  const one = (await server.expect(200, "GET", `/v1/recipes/long/executions/${begun.execution_id}`)).body.data;
  t.match(one, { status: "interrupted", error: { code: "interrupted", message: /changes were rolled back/ } });
  t.equal((await server.call("POST", "/v1/recipes/long/execute", {})).status, 200, "and it can be executed again");
  t.same(await server.rows("SELECT count(*) FROM steps"), [[1001]]);
  t.same(
    (await history()).map(({ status }: { status: string }) => status),
    ["completed", "interrupted"],
  );
});
