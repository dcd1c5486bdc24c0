/** The Model Context Protocol on /mcp: the official client over a WebSocket, cancellation, bad tokens and messages. */
import { type CallToolResult, Client, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import t from "tap";
import { TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());
await server.rows("CREATE TABLE city (id integer PRIMARY KEY, name text)");
await server.rows("INSERT INTO city VALUES (1, 'Porto')");
const path = `/mcp?token=${server.token}`;

class SocketTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  private socket: SocketClient | null = null;

  async start(): Promise<void> {
    const socket = await SocketClient.open(server.url, path, { "sec-websocket-protocol": "mcp" });
    this.socket = socket;
    const read = async () => {
      for (;;) this.onmessage?.(await socket.next());
    };
    read().catch(() => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.socket!.send(message);
  }

  async close(): Promise<void> {
    this.socket!.destroy();
  }
}

t.test("the official client", async (t) => {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new SocketTransport());
  t.equal(client.getServerVersion()?.name, "tessera");
  const names = (await client.listTools()).tools.map(({ name }) => name);
  for (const name of ["rag_search", "cypher", "query", "execute", "list_tables", "describe_table", "sql_manual"]) {
    t.ok(names.includes(name), name);
  }
  const answer = (await client.callTool({
    name: "query",
    arguments: { sql: "SELECT name FROM city" },
  })) as CallToolResult;
  t.match(answer.structuredContent, { rows: [["Porto"]] });
  await t.rejects(client.callTool({ name: "nothing", arguments: {} }), { code: -32602 });
  const stop = new AbortController();
  const endless = "SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 1000) b";
  const cancelled = client.callTool({ name: "query", arguments: { sql: endless } }, { signal: stop.signal });
  const running = async (): Promise<number> => {
    const page = (await server.call("GET", "/metrics")).body as string;
    return Number(/^tessera_actor_requests_running\S* (\d+)$/m.exec(page)![1]);
  };
  const refused = t.rejects(cancelled);
  while ((await running()) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  stop.abort();
  await refused;
  t.match(
    await client.callTool({ name: "query", arguments: { sql: "SELECT 1" } }),
    { isError: false },
    "the socket stays",
  );
  await client.close();
  // Until the cancelled statement has ended, which by itself it would not.
  while ((await running()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
});

t.test("a key works as well, and a wrong token is told by the close code", async (t) => {
  const made = await server.expect(201, "POST", "/v1/api-keys", { name: "reader", permission: "ReadOnly" });
  const socket = await SocketClient.open(server.url, `/mcp?token=${made.body.raw_key}`);
  socket.send({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "execute", arguments: { sql: "DROP TABLE city" } },
  });
  t.match(await socket.next(), { id: 1, result: { isError: true } });
  socket.destroy();
  const refused = await SocketClient.open(server.url, "/mcp?token=wrong");
  t.match(await refused.close(), { code: 1008 });
  const none = await SocketClient.open(server.url, "/mcp");
  t.match(await none.close(), { code: 1008 });
  const ticket = (await server.expect(200, "POST", "/v1/ws/ticket")).body.token;
  const withTicket = await SocketClient.open(server.url, `/mcp?token=${ticket}`);
  t.match(await withTicket.close(), { code: 1008 });
  t.notOk(
    server.lines.some((line) => line.includes(server.token) || line.includes(made.body.raw_key)),
    "no token is logged",
  );
});

t.test("what is not the protocol is answered, and the socket stays", async (t) => {
  const socket = await SocketClient.open(server.url, path);
  t.teardown(() => socket.destroy());
  socket.send("{");
  t.match(await socket.next(), { id: null, error: { code: -32700 } });
  socket.send('{"jsonrpc":"2.0","id":1,"method":"ping","params":[}');
  t.match(await socket.next(), { error: { code: -32700 } });
  socket.send({ jsonrpc: "2.0", id: 2 });
  t.match(await socket.next(), { id: 2, error: { code: -32600 } });
  socket.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  socket.send({ jsonrpc: "2.0", id: "x", method: "nope" });
  t.match(await socket.next(), { id: "x", error: { code: -32601 } });
});
