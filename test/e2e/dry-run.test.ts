/** `dry_run` of tools: everything happens but the commit, on a running server. */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const sql = async (text: string) =>
  (await server.expect(200, "POST", "/v1/query/execute", { sql: text })).body.data.rows as unknown[][];

async function tool(name: string, args: object) {
  const params = { name, arguments: args };
  const { body } = await server.expect(200, "POST", "/v1/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
  return body.result as { isError: boolean; structuredContent: Record<string, unknown> };
}

t.before(async () => {
  await sql("CREATE TABLE stock (item text PRIMARY KEY, pieces int CHECK (pieces >= 0))");
  await sql("INSERT INTO stock VALUES ('bread', 4), ('milk', 2)");
});

t.test("a statement is run, told with its plan, and taken back", async (t) => {
  const asked = { sql: "DELETE FROM stock WHERE pieces < $1 RETURNING item", parameters: [3], dry_run: true };
  const { isError, structuredContent } = await tool("execute", asked);
  t.equal(isError, false);
  t.match(structuredContent, { dry_run: true, rows: [["milk"]], rows_affected: 1 });
  t.match((structuredContent.plan as string[]).join("\n"), /Delete/);
  t.same(await sql("SELECT count(*) FROM stock"), [[2]]);
  t.match((await tool("execute", { ...asked, dry_run: false })).structuredContent, { rows_affected: 1 });
  t.same(await sql("SELECT count(*) FROM stock"), [[1]], "without it, it is done");
});

t.test("what would fail fails", async (t) => {
  const { isError, structuredContent } = await tool("execute", { sql: "UPDATE stock SET pieces = -1", dry_run: true });
  t.equal(isError, true);
  t.match(structuredContent, { error: { details: { sqlstate: "23514" } } });
});

t.test("definitions are made and taken back", async (t) => {
  const made = await tool("execute", { sql: "CREATE TABLE made AS SELECT * FROM stock", dry_run: true });
  t.match(made, { isError: false, structuredContent: { dry_run: true, plan: null } });
  t.same(await sql("SELECT to_regclass('made')"), [[null]]);
});

t.test("so are nodes of the graph, and memories", async (t) => {
  const made = await tool("graph_query", { cypher: "CREATE (n:Shop {name: 'a'}) RETURN n.name", dry_run: true });
  t.match(made.structuredContent, { dry_run: true, rows: [["a"]] });
  t.same((await tool("graph_query", { cypher: "MATCH (n) RETURN count(n)" })).structuredContent.rows, [[0]]);
  const stored = await tool("memory_store", { namespace: "ann", content: "likes bread", dry_run: true });
  t.match(stored, { isError: false, structuredContent: { dry_run: true, id: String } });
  t.same(await sql("SELECT to_regclass('_memory_ann')"), [[null]]);
});

t.test("what acts outside of its transaction is refused", async (t) => {
  await sql("CREATE TABLE points AS SELECT i AS x, 2 * i AS y FROM generate_series(1, 30) i");
  const training = "CREATE EXPERIMENT trial AS SELECT x, y FROM points WITH (target = 'y')";
  for (const text of [training, "SELECT AGENT_RUN('a librarian', 'count the tables')"]) {
    const { isError, structuredContent } = await tool("execute", { sql: text, dry_run: true });
    t.equal(isError, true, text);
    t.match(structuredContent, { error: { message: /dry run/ } }, JSON.stringify(structuredContent));
  }
});

t.test("a training, an evaluation and the life of a branch are planned", async (t) => {
  const training = { collection: "points", target: "y", max_trials: 3, model_name: "planned", dry_run: true };
  const { structuredContent: planned } = await tool("train_model", training);
  t.match(planned, {
    dry_run: true,
    plan: { model_name: "planned", target: "y", rows: 30, features: ["x"], max_trials: 3 },
  });
  t.match((await tool("list_models", {})).structuredContent, { count: 0 });
  t.match(await tool("train_model", { ...training, target: "z" }), {
    isError: true,
    structuredContent: { error: { message: /no column "z"/ } },
  });

  await server.expect(201, "POST", "/v1/collections", { name: "doc" });
  await server.expect(201, "POST", "/v1/collections/doc/documents", { id: "a", text: "fresh bread" });
  const pairs = [
    { query: "bread", relevant: ["a"] },
    { query: "milk", relevant: ["gone"] },
  ];
  const measuring = { collection: "doc", pairs, dry_run: true };
  t.match((await tool("evaluate_retrieval", measuring)).structuredContent, {
    dry_run: true,
    plan: { questions: 2, searches: 2, missing_documents: 1, settings: [{ mode: "text" }], keep: true },
  });
  t.match((await tool("list_evaluations", {})).structuredContent, { evaluations: { length: 0 } });

  t.match((await tool("branch", { name: "trial", dry_run: true })).structuredContent, {
    dry_run: true,
    plan: { name: "trial", from: null, start: null, expires_at: String, branches: 0 },
  });
  t.equal((await tool("branch", { name: "trial" })).isError, false, "its name is free");
  t.match(await tool("branch", { name: "trial", dry_run: true }), { isError: true }, "and now it is not");
  await tool("branch_execute", { branch: "trial", sql: "DELETE FROM points WHERE x > 10" });
  t.match((await tool("branch_delete", { branch: "trial", dry_run: true })).structuredContent, {
    dry_run: true,
    plan: { branch: { name: "trial" }, lost: { tables: [{ table: "points", removed: 20 }] } },
  });
  t.equal((await tool("diff", { branch: "trial" })).isError, false, "it is still there");
  t.equal((await tool("branch_delete", { branch: "trial" })).isError, false);
});
