/** The Model Context Protocol, by its official client: over HTTP in both kinds of revision, and by the stdio bridge. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CallToolResult, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());
await server.rows("CREATE TABLE city (id integer PRIMARY KEY, name text NOT NULL, people integer)");
await server.rows("INSERT INTO city VALUES (1, 'Porto', 232000), (2, 'Braga', 193000)");

async function connected(token: string, revision?: string): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    revision === undefined ? {} : { versionNegotiation: { mode: { pin: revision } } },
  );
  const url = new URL(`${server.url}/v1/mcp`);
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
  );
  t.teardown(() => client.close());
  return client;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
function structured(result: unknown): any {
  return (result as CallToolResult).structuredContent;
}

for (const revision of [undefined, "2026-07-28"]) {
  t.test(`a client of ${revision ?? "a negotiated revision"}`, async (t) => {
    const client = await connected(server.token, revision);
    t.equal(client.getServerVersion()?.name, "tessera");
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    for (const name of [
      "list_tables",
      "describe_table",
      "query",
      "execute",
      "branch",
      "branch_execute",
      "diff",
      "merge",
      "branch_delete",
      "validate_query",
      "sql_manual",
      "semantic_search",
      "rag_search",
      "evaluate_retrieval",
      "list_evaluations",
      "embed_text",
      "graph_query",
      "cypher",
      "generate_text",
    ]) {
      t.ok(names.includes(name), name);
    }
    t.match(
      tools.find(({ name }) => name === "query"),
      {
        inputSchema: { type: "object", required: ["sql"], properties: { sql: { type: "string" } } },
        annotations: { readOnlyHint: true },
      },
    );
    t.match(
      tools.find(({ name }) => name === "execute"),
      { annotations: { readOnlyHint: false, destructiveHint: true } },
    );

    const listed = await client.callTool({ name: "list_tables", arguments: {} });
    t.match(structured(listed).tables, [{ name: "city", row_count: 2 }]);
    t.same(JSON.parse((listed.content as { text: string }[])[0]!.text), structured(listed), "the text says the same");

    const answer = await client.callTool({
      name: "query",
      arguments: { sql: "SELECT name, people FROM city WHERE id = $1", parameters: [1] },
    });
    t.match(structured(answer), {
      columns: [{ name: "name", data_type: "text" }, { name: "people" }],
      rows: [["Porto", 232000]],
    });

    const refused = await client.callTool({ name: "query", arguments: { sql: "DELETE FROM city" } });
    t.equal(refused.isError, true);
    t.match(structured(refused), { error: { code: "forbidden" } });
    const wrong = await client.callTool({ name: "query", arguments: { sql: "SELECT nam FROM city" } });
    t.equal(wrong.isError, true);
    t.match((wrong.content as { text: string }[])[0]!.text, /column "nam" does not exist/);
    t.same((await server.rows("SELECT count(*) FROM city"))[0], [2], "nothing was deleted");

    await t.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), { code: -32602 });
    await t.rejects(client.callTool({ name: "query", arguments: { sq: "SELECT 1" } }), { code: -32602 });

    const { resources } = await client.listResources();
    t.ok(resources.some(({ uri }) => uri === "tessera://tables/city"));
    const { contents } = await client.readResource({ uri: "tessera://tables/city" });
    t.match(JSON.parse((contents[0] as { text: string }).text), { name: "city", columns: [{ name: "id" }, {}, {}] });
    await t.rejects(client.readResource({ uri: "tessera://tables/nowhere" }), { message: /not found/ });

    const { prompts } = await client.listPrompts();
    t.ok(prompts.some(({ name }) => name === "write_query"));
    const prompt = await client.getPrompt({ name: "write_query", arguments: { question: "How many cities?" } });
    t.match(prompt.messages[0], { role: "user", content: { text: /How many cities\?/ } });
    await t.rejects(client.getPrompt({ name: "write_query", arguments: {} }), { code: -32602 });
    const { completion } = await client.complete({
      ref: { type: "ref/prompt", name: "write_query" },
      argument: { name: "table", value: "ci" },
    });
    t.same(completion.values, ["city"]);
  });
}

t.test("tools that write, search and look things up", async (t) => {
  const client = await connected(server.token);
  const call = async (name: string, args: Record<string, unknown>) =>
    structured(await client.callTool({ name, arguments: args }));
  t.match(await call("execute", { sql: "INSERT INTO city VALUES (3, 'Évora', 53000)" }), { rows_affected: 1 });
  t.match(await call("validate_query", { sql: "SELECT name FROM city WHERE people > $1" }), {
    valid: true,
    kind: "query",
    parameter_types: ["integer"],
    columns: [{ name: "name" }],
  });
  t.match(await call("validate_query", { sql: "SELECT name FORM city" }), {
    valid: false,
    error: { details: { position: Number } },
  });
  t.match(await call("sql_manual", { topic: "date_trunc" }), { pages: [{ title: /date_trunc/ }] });
  t.match(await call("execute", { sql: "CREATE (:Person {name: 'Ana'})-[:KNOWS]->(:Person {name: 'Rui'})" }), {
    stats: { nodes_created: 2 },
  });
  t.match(
    await call("graph_query", { cypher: "MATCH (a {name: $who})-->(b) RETURN b.name", parameters: { who: "Ana" } }),
    { rows: [["Rui"]] },
  );
  const unbound = { cypher: "MATCH (a {name: $who})-->(b) RETURN b.name" };
  for (const args of [unbound, { ...unbound, parameters: null }]) {
    t.match(await call("graph_query", args), {
      error: {
        code: "syntax_error",
        message: /^expected expression at offset 16 .*"parameters"/,
        details: { offset: 16 },
      },
    });
  }
  t.match(await call("graph_query", { ...unbound, parameters: { x: 1 } }), {
    error: { message: /\$who has no value/ },
  });
  t.match(await call("cypher", unbound), { error: { message: /\$who has no value/ } });
  t.match(await call("cypher", { cypher: "MATCH (a:Person) RETURN count(*)" }), { rows: [[2]] });
  const { id } = await call("memory_store", {
    namespace: "ana",
    content: "Ana drinks green tea",
    metadata: { from: "talk" },
  });
  t.match(await call("memory_recall", { namespace: "ana", query: "what does Ana drink?" }), {
    memories: [{ id, content: "Ana drinks green tea", metadata: { from: "talk" } }],
  });
  const dislikes = { namespace: "ana", content: "Ana does not drink green tea", supersede: true };
  t.match(await call("memory_store", dislikes), { superseded: [id], duplicate_of: null });
  const everything = { namespace: "ana", query: "tea", include_superseded: true };
  t.equal((await call("memory_recall", everything)).memories.length, 2);
  t.same(await call("memory_recall", { ...everything, as_of: "2020-01-01" }), { memories: [] });
  t.same(await call("memory_forget", { namespace: "ana", id }), { forgotten: true });
  t.same(await call("memory_recall", { namespace: "ana", query: "tea" }), { memories: [] });
  t.same(await call("memory_recall", { namespace: "nobody", query: "tea" }), { memories: [] });
  t.match(await call("branch", { name: "try" }), { name: "try", from: null });
  t.match(await call("branch_execute", { branch: "try", sql: "DELETE FROM city WHERE id = $1", parameters: [1] }), {
    rows_affected: Number,
  });
  const { tables } = await call("diff", { branch: "try" });
  t.match(await call("merge", { branch: "try", dry_run: true }), { merged: false, conflicts_total: 0 });
  t.match(tables, [{ table: "city", kind: "table", added: 0, changed: 0 }]);
  t.match(await call("diff", { branch: "try", against: "" }), {
    tables: [{ table: "city", removed: tables[0].removed }],
    definitions: [],
  });
  t.match(await call("diff", { from: 1 }), { error: { code: "query_error" } }, "older than what is kept");
  for (const wrong of [{}, { branch: "try", from: 1 }, { branch: "try", to: 1 }, { from: 1, against: "try" }]) {
    t.match(await call("diff", wrong), { error: { code: "invalid_request" } }, JSON.stringify(wrong));
  }
  t.same(await call("branch_delete", { branch: "try" }), { deleted: true });
  t.match(await call("diff", { branch: "try" }), { error: { code: "not_found" } });
  const { text, note } = await call("generate_text", { prompt: "Hello!", max_tokens: 12, temperature: 0 });
  t.match(note, /No provider is configured: the small model/);
  const asked = await call("generate_text", { prompt: "Hello!", model: "native", max_tokens: 4 });
  t.notOk("note" in asked, "who asks for that model knows who wrote it");
  t.match(text, /\w+/, "the bundled model answers");
  const embedded = await call("embed_text", { text: "a river" });
  t.equal(embedded.embedding.length, 384);

  await server.expect(201, "POST", "/v1/collections", {
    name: "notes",
    schema: {
      fields: [{ name: "body", type: "string", embed: true }],
      indexes: [{ fields: ["body"], type: "text" }],
    },
  });
  for (const body of [
    "The cat sleeps on the sofa.",
    "Stocks fell sharply on Monday.",
    "A kitten was playing in the garden.",
  ]) {
    await server.expect(201, "POST", "/v1/collections/notes/documents", { body });
  }
  const near = await call("semantic_search", { collection: "notes", query_text: "a young cat", k: 2 });
  t.equal(near.documents.length, 2);
  t.notOk(near.documents.some(({ body }: { body: string }) => body.includes("Stocks")));
  const passages = await call("rag_search", { collection: "notes", query: "what did the stocks do?", k: 1 });
  t.match(passages, { context: "[1] Stocks fell sharply on Monday.", passages: [{ number: 1, id: String }] });
  const pairs = [{ query: "stocks", relevant: [passages.passages[0].id] }];
  const measured = await call("evaluate_retrieval", { collection: "notes", pairs, k: 1, name: "by a tool" });
  t.match(measured.result.settings, [{ name: "text", metrics: { "recall@1": { value: 1 } } }, {}, {}]);
  t.match(await call("list_evaluations", { kind: "retrieval" }), { evaluations: [{ id: measured.id }], total: 1 });
});

t.test("a ReadOnly key sees and runs what reads", async (t) => {
  const made = await server.expect(201, "POST", "/v1/api-keys", { name: "reader", permission: "ReadOnly" });
  const client = await connected(made.body.raw_key);
  const names = (await client.listTools()).tools.map(({ name }) => name);
  t.notOk(names.includes("execute"));
  t.ok(names.includes("graph_query"));
  const refused = await client.callTool({ name: "execute", arguments: { sql: "DELETE FROM city" } });
  t.match(refused, { isError: true, structuredContent: { error: { code: "forbidden" } } });
  const written = await client.callTool({ name: "graph_query", arguments: { cypher: "CREATE (:Person)" } });
  t.match(written, { isError: true, structuredContent: { error: { code: "forbidden" } } });
  t.match(await client.callTool({ name: "graph_query", arguments: { cypher: "RETURN 1" } }), { isError: false });
});

/** The answer to a ping that names the host. */
function naming(host: string): Promise<{ readonly status: number; readonly text: string }> {
  const { port } = new URL(server.url);
  const headers = {
    host: `${host}:${port}`,
    authorization: `Bearer ${server.token}`,
    "content-type": "application/json",
  };
  return new Promise((resolve, reject) => {
    const sent = request({ port, path: "/v1/mcp", method: "POST", headers }, (response) => {
      let text = "";
      response.on("data", (data: Buffer) => {
        text += data.toString();
      });
      response.on("end", () => resolve({ status: response.statusCode!, text }));
    });
    sent.on("error", reject);
    sent.end('{"jsonrpc":"2.0","id":1,"method":"ping"}');
  });
}

t.test("what is not the protocol", async (t) => {
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    server.call("POST", "/v1/mcp", body, { headers });
  t.match(await post("{"), { status: 400, body: { jsonrpc: "2.0", id: null, error: { code: -32700 } } });
  t.match(await post([]), { status: 400, body: { error: { code: -32600 } } });
  t.match(await post({ jsonrpc: "1.0", id: 1, method: "ping" }), {
    status: 400,
    body: { id: 1, error: { code: -32600 } },
  });
  t.match(await post({ jsonrpc: "2.0", id: 1, method: "toString" }), {
    status: 200,
    body: { id: 1, error: { code: -32601 } },
  });
  t.match(await post({ jsonrpc: "2.0", method: "notifications/initialized" }), { status: 202, body: "" });
  t.match(await post({ jsonrpc: "2.0", id: 1, method: "ping" }, { "mcp-protocol-version": "1999-01-01" }), {
    status: 400,
    body: { error: { code: -32022 } },
  });
  t.match(await post({ jsonrpc: "2.0", id: 1, method: "ping" }, { origin: "http://evil.example" }), { status: 403 });
  const { status: rebound, text } = await naming("evil.example");
  t.match([rebound, text], [403, /server\.names/], "a page that pointed its own name here");
  t.equal((await naming("localhost")).status, 200);
  t.match(await server.call("GET", "/v1/mcp"), { status: 405 });
  t.match(await server.call("GET", "/mcp", undefined, { token: null }), { status: 426 });
  t.match(await server.call("POST", "/v1/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }, { token: null }), {
    status: 401,
  });
  const batch = [
    { jsonrpc: "2.0", id: 1, method: "ping" },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: "b", method: "nope" },
  ];
  t.match(await server.call("POST", "/v1/mcp/batch", batch), {
    status: 200,
    body: [
      { id: 1, result: {} },
      { id: "b", error: { code: -32601 } },
    ],
  });
  t.match(await server.call("POST", "/v1/mcp/batch", []), { status: 400, body: { error: { code: -32600 } } });
  t.match(await server.call("GET", "/v1/mcp/info"), {
    status: 200,
    body: { data: { name: "tessera", tools: ["list_tables"] } },
  });
});

t.test("the stdio bridge", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tessera-bridge-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "bridge.mjs");
  const served = await server.expect(200, "GET", "/v1/mcp/bridge");
  writeFileSync(file, served.body);
  const surroundings: Record<string, string> = { PATH: process.env.PATH!, SVC_URL: server.url };

  const ways: Record<string, string>[] = [
    { SVC_TOKEN: server.token, SVC_USERNAME: "nobody" },
    { SVC_USERNAME: server.username, SVC_PASSWORD: server.password },
  ];
  for (const credentials of ways) {
    const client = new Client({ name: "test", version: "1.0.0" });
    const env = { ...surroundings, ...credentials };
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [file], env }));
    const answer = await client.callTool({ name: "query", arguments: { sql: "SELECT name FROM city WHERE id = 2" } });
    t.same(structured(answer).rows, [["Braga"]], Object.keys(credentials)[0]!);
    await client.close();
  }

  t.test("signs in again when its token is not accepted any more, and says what is wrong", async (t) => {
    const child: ChildProcess = spawn(process.execPath, [file], {
      env: { ...surroundings, SVC_USERNAME: server.username, SVC_PASSWORD: "wrong" },
      stdio: ["pipe", "pipe", "ignore"],
    });
    const line = new Promise<string>((resolve) =>
      child.stdout!.once("data", (data: Buffer) => resolve(data.toString())),
    );
    child.stdin!.end(`${JSON.stringify({ jsonrpc: "2.0", id: 7, method: "ping" })}\n`);
    t.match(JSON.parse(await line), { id: 7, error: { message: /cannot be reached|password/i } });
    await new Promise((resolve) => child.once("exit", resolve));
    t.equal(child.exitCode, 0, "it ends when its input does");
  });
});
