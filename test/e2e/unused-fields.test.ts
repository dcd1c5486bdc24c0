/** Fields that public clients send and that mean nothing here: taken, with a note in the answer. */
import t from "tap";
import { TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

t.test("such a field is taken, and noted", async (t) => {
  await server.rows("CREATE TABLE customers (id integer PRIMARY KEY, name text)");
  await server.rows("CREATE TABLE measured AS SELECT i::float8 x, 2 * i::float8 y FROM generate_series(1, 60) i");
  const bodies = [
    ["/v1/query/prepare", { sql: "SELECT $1::int", parameter_types: ["integer"] }, "parameter_types", 201],
    ["/v1/nl2sql/query", { question: "how many customers", dialect: "postgresql", database: "main" }, "dialect", 200],
    ["/v1/graph/graphs", { name: "noted", description: "of people" }, "description", 201],
    ["/v1/ai/sessions", { title: "a", database: "main" }, "database", 201],
    ["/v1/ai/summarize", { text: "One sentence. Another one.", min_length: 5 }, "min_length", 200],
    [
      "/v1/automl/train",
      { table: "measured", target: "y", max_trials: 1, timeout_minutes: 1, validation_split: 0.2 },
      "validation_split",
      202,
    ],
  ] as const;
  for (const [path, body, field, status] of bodies) {
    const reply = await server.expect(status, "POST", path, body);
    t.match(reply.body.meta.warnings[0], new RegExp(`"${field}"`), path);
    const { [field]: _, ...rest } = body as Record<string, unknown>;
    const again = { ...rest, misspelt: 1 };
    const refused = await server.call("POST", path, again);
    t.equal(refused.status, 400, `${path}: others are refused as before`);
    t.match(refused.body.error.message, /"misspelt"/);
  }
});

t.test("without one there is no note", async (t) => {
  const { meta, data } = (await server.expect(201, "POST", "/v1/query/prepare", { sql: "SELECT $1::int" })).body;
  t.notOk("warnings" in meta);
  t.match(data, { param_count: 1, parameter_count: 1 });
});

t.test("a large answer has its note too", async (t) => {
  await server.rows("INSERT INTO customers SELECT i, repeat('x', 2000) FROM generate_series(1, 1500) AS s(i)");
  const body = { question: "show all customers", dialect: "postgresql" };
  const reply = await server.expect(200, "POST", "/v1/nl2sql/query", body);
  t.equal(reply.body.data.rows.length, 1000, "as many as are shown unless more are asked for");
  t.match(reply.body.meta.warnings, [/"dialect"/]);
});

t.test("a batch that stops at the first error", async (t) => {
  const statements = [
    { sql: "INSERT INTO customers VALUES (100001, 'kept')" },
    "SELECT nothing FROM nowhere",
    "INSERT INTO customers VALUES (100002, 'not run')",
  ];
  const run = async (body: object) =>
    (await server.expect(200, "POST", "/v1/query/execute/batch", body)).body.data.results.map(
      ({ type }: { type: string }) => type,
    );
  t.same(await run({ queries: statements, stop_on_error: true }), ["success", "error"]);
  const count = "SELECT count(*) FROM customers WHERE id > 100000";
  t.same(await server.rows(count), [[1]]);
  t.same(await run({ statements: ["BEGIN", "DELETE FROM customers", "SELECT 1/0", "COMMIT"], stop_on_error: true }), [
    "success",
    "success",
    "error",
  ]);
  t.same(await server.rows(count), [[1]], "an open transaction is rolled back");
  t.same(await run({ statements: statements.slice(1) }), ["error", "success"], "unless said, the others go on");
  const rows = await server.expect(200, "POST", "/v1/query/execute/batch", {
    statements: [{ sql: "SELECT i FROM generate_series(1, 9) i", max_rows: 2 }],
  });
  t.equal(rows.body.data.results[0].data.rows.length, 2);
  t.notOk("rows_affected" in rows.body.data.results[0]);
  const changed = await server.expect(200, "POST", "/v1/query/execute/batch", {
    statements: ["DELETE FROM customers WHERE id > 100000"],
  });
  t.match(changed.body.data.results[0], { rows_affected: 2, data: { rows_affected: 2 } });
});

t.test("in lists, objects and query strings", async (t) => {
  const items = [
    { sql: "SELECT 1", timeout_secs: 5, database: "main" },
    { sql: "SELECT 2", timeout_secs: 5 },
  ];
  const batch = await server.expect(200, "POST", "/v1/query/execute/batch", { queries: items, database: "main" });
  t.match(batch.body.data.results, [{ data: { rows: [[1]] } }, { data: { rows: [[2]] } }]);
  t.match(batch.body.meta.warnings, [
    /^The field "queries\[\]\.timeout_secs" is not used: /,
    /"queries\[\]\.database"/,
    /"database"/,
  ]);
  t.equal(batch.body.meta.warnings.length, 3, "once for a name, however many statements have it");
  const misspelt = await server.call("POST", "/v1/query/execute/batch", { queries: [{ sql: "SELECT 1", timeout: 5 }] });
  t.match(misspelt, { status: 400, body: { error: { message: /"queries\[0\]\.timeout"/ } } });
  const tables = await server.expect(200, "GET", "/v1/schema/tables?database=main&limit=1");
  t.match(tables.body.meta.warnings, [/^The query parameter "database" is not used: /]);
  t.equal(tables.body.data.length, 1);
});

t.test("the options in `config` of a training are obeyed, others noted", async (t) => {
  await server.rows(
    "CREATE TABLE mixed AS SELECT (i % 20)::float8 x, (i % 20 * 2)::float8 y FROM generate_series(1, 60) i",
  );
  const body = { table: "mixed", target: "y", async_mode: false, name: "configured", algorithms: ["linear"] };
  const config = { max_trials: 1, algorithms: ["lightgbm"], metric: "mae", validation_split: 0.2, device: "gpu" };
  const { data, meta } = (await server.expect(200, "POST", "/v1/automl/train", { ...body, config })).body;
  t.match(data, { algorithm: "linear", metric: "mae" }, "what stands beside it goes first");
  t.match(meta.warnings, [/"config\.validation_split"/, /"config\.device" is not used. Known: .*max_trials/]);
  const wrong = await server.call("POST", "/v1/automl/train", { ...body, config: { max_trials: "many" } });
  t.match(wrong, {
    status: 400,
    body: { error: { message: /"config\.max_trials" must be a whole number from 1 to 200, not a string/ } },
  });
});

t.test("in messages of a WebSocket and streams", async (t) => {
  const client = await SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${server.token}` });
  t.teardown(() => client.destroy());
  const last = async (message: object, type: string) => {
    client.send(message);
    for (;;) {
      const answer = await client.next();
      if (answer.type === type || answer.type === "error") return answer;
    }
  };
  const done = await last({ type: "query", id: 1, sql: "SELECT 1", database: "main" }, "sql.done");
  t.match(done, { id: 1, row_count: 1, warnings: [/"database" is not used/] });
  t.notOk("warnings" in (await last({ type: "query", id: 2, sql: "SELECT 1" }, "sql.done")));
  const chat = await last({ type: "send_message", id: 3, message: "Hello", database: "main" }, "message_complete");
  t.match(chat.warnings, [/"database" is not used/]);
  const options = { max_iterations: 5 };
  const ranked = await last({ type: "graph.algorithm", id: 4, algorithm: "wcc", options }, "graph.complete");
  t.match(ranked.warnings, [/"max_iterations" is not used/]);
  const streamed = await fetch(`${server.url}/v1/ai/chat/stream`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    body: JSON.stringify({ content: "Hello", database: "main" }),
  });
  t.match(await streamed.text(), /"done":true.*"warnings":\["The field \\"database\\" is not used/);
});
