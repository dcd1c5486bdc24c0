/** Where a field has several names, errors speak of the one that the client sent. */
import t, { type Test } from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

type Case = readonly [path: string, body: object, field: string];

async function names(t: Test, cases: readonly Case[]): Promise<void> {
  for (const [path, body, field] of cases) {
    const { status, body: answer } = await server.call("POST", path, body);
    const error = answer.error ?? answer.data.results?.[0]?.error;
    t.match([status, error?.details?.field], [path.endsWith("batch") ? 200 : 400, field], JSON.stringify(body));
    const others = OTHERS[field] ?? [];
    for (const other of others) {
      t.notMatch(error?.message ?? "", new RegExp(`^${other}:|"${other}"`), `${other} is not what was sent`);
    }
  }
}

/** The canonical names, which the messages must not use instead. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  target_column: ["target"],
  task_type: ["task"],
  optimization_metric: ["metric"],
  webhook_url: ["callback_url"],
  message: ["content"],
  text_query: ["query"],
};

t.before(async () => {
  await server.rows(
    "CREATE TABLE pts AS SELECT x, x * 2 AS y, 1 AS one, NULL::int AS nul FROM generate_series(1, 60) x",
  );
});

t.test("training", async (t) => {
  const train = (body: object, field: string): Case => ["/v1/automl/train", { table: "pts", ...body }, field];
  await names(t, [
    train({ target_column: "nosuch" }, "target_column"),
    train({ target_column: "one" }, "target_column"),
    train({ target_column: "nul" }, "target_column"),
    train({ target: "one" }, "target"),
    train({ config: { target_column: "one" } }, "target_column"),
    train({ target_column: "y", task_type: "bogus" }, "task_type"),
    train({ target_column: "y", task: "bogus" }, "task"),
    train({ target_column: "y", optimization_metric: "bogus" }, "optimization_metric"),
    train({ target_column: "y", webhook_url: "ftp://x" }, "webhook_url"),
    ["/v1/automl/train", { query: "SELECT 1 AS y WHERE false", target_column: "y" }, "query"],
    ["/v1/automl/train", { sql: "SELECT 1 AS y", target_column: "y" }, "sql"],
  ]);
  const statement = "CREATE EXPERIMENT e AS SELECT x, y FROM pts WITH (target_column = 'nosuch')";
  t.match((await server.sql(statement)).body.error, {
    message: /^target_column: /,
    details: { field: "target_column" },
  });
  const tool = await server.call("POST", "/v1/mcp", {
    ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
    params: { name: "train_model", arguments: { collection: "pts", target: "y", task_type: "bogus" } },
  });
  t.match(tool.body.result.content[0].text, /task_type: must be one of/);
});

t.test("statements, searches, algorithms, chat", async (t) => {
  await server.expect(201, "POST", "/v1/vectors/collections", { name: "v", dimensions: 2 });
  const { body } = await server.call("POST", "/v1/ai/sessions", {});
  const execute = "/v1/query/execute";
  await names(t, [
    [execute, { sql: "SELECT $1", params: { a: 1 } }, "params"],
    [execute, { sql: "SELECT $1", parameters: { a: 1 } }, "parameters"],
    [execute, { sql: "RETURN $a", params: [1] }, "params"],
    ["/v1/graph/match", { cypher: "RETURN $a", params: [1] }, "params"],
    ["/v1/query/execute/batch", { statements: [{ sql: "SELECT $1", params: { a: 1 } }] }, "params"],
    ["/v1/vectors/collections/v/search", { text_query: "x" }, "text_query"],
    ["/v1/vectors/collections/v/search", { vector: [1, 2], text_query: "x" }, "text_query"],
    ["/v1/graph/algorithms", { algorithm: "pageRank", params: { damping: "x" } }, "params.damping"],
    ["/v1/graph/algorithms", { algorithm: "pageRank", options: { dampingFactor: 7 } }, "options.dampingFactor"],
    ["/v1/ai/chat", { session_id: body.data.session_id, message: " " }, "message"],
    ["/v1/ai/chat", { session_id: body.data.session_id, content: " " }, "content"],
  ]);
});
