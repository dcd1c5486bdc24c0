/**
 * Messages of the WebSocket: MessagePack with columns as typed arrays, credits, transactions, what is too long,
 * tickets.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { pack } from "msgpackr";
import t from "tap";
import { TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_WEBSOCKET_MESSAGE_BYTES_MAX: "65536" });
t.teardown(() => server.stop());
await server.sql(
  "CREATE TABLE cell (id integer PRIMARY KEY, big bigint, f double precision, b boolean, s text, d date)",
);
await server.sql(
  "INSERT INTO cell VALUES (1, -1, 0.5, true, 'x', '2026-01-02'), (2, 9007199254740993, NULL, false, NULL, NULL), (3, NULL, -0.25, NULL, 'z', NULL)",
);

async function open(headers: Record<string, string> = {}): Promise<SocketClient> {
  const client = await SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${server.token}`, ...headers });
  t.teardown(() => client.destroy());
  return client;
}

const exact = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;

t.test("MessagePack: columns of numbers are typed arrays", async (t) => {
  const client = await open({ "sec-websocket-protocol": "other, msgpack" });
  client.send({ type: "sql.execute.stream", id: "m", sql: "SELECT * FROM cell ORDER BY id" });
  const [columns, rows, done] = await client.until("sql.done");
  t.match(columns, { type: "sql.columns", id: "m", columns: [{ name: "id", data_type: "integer" }] });
  t.match(rows, { type: "sql.rows", id: "m", count: 3 });
  const [id, big, f, b, s, d] = rows.columns;
  t.equal(id.dtype, "int32");
  t.same([...new Int32Array(exact(id.data))], [1, 2, 3]);
  t.equal(big.dtype, "int64");
  t.same([...new BigInt64Array(exact(big.data))].slice(0, 2), [-1n, 9007199254740993n]);
  t.same([...big.nulls], [0, 0, 1]);
  t.same([...new Float64Array(exact(f.data))], [0.5, 0, -0.25]);
  t.same([...f.nulls], [0, 1, 0]);
  t.same([...b.data], [1, 0, 0]);
  t.same(s, ["x", null, "z"]);
  t.same(d, ["2026-01-02", null, null]);
  t.match(done, { type: "sql.done", row_count: 3, execution_time_ms: Number, truncated: false });
  client.send({ type: "sql.execute.stream", id: 1, sql: "SELECT nothing" });
  t.match(await client.next(), { type: "error", id: 1, code: "query_error", details: { sqlstate: "42703" } });
  client.send({ type: "subscribe", id: 2, table: "cell" });
  t.match(await client.next(), { type: "subscribed", id: 2, sequence: Number });
  await server.sql("INSERT INTO cell (id, s) VALUES (9, 'nine')");
  t.match(await client.next(), { type: "change", id: 2, operation: "insert", document: { id: 9, s: "nine" } });
  await server.sql("DELETE FROM cell WHERE id = 9");
  client.destroy();
});

t.test("a binary message is answered in kind on any connection", async (t) => {
  const client = await open();
  client.sendBinary(pack({ type: "ping", id: 5 }));
  t.match(await client.next(), { type: "pong", id: 5 });
  client.sendBinary(pack({ type: "query", id: 6, sql: "SELECT $1::int4 AS n", parameters: [7] }));
  const messages = await client.until("sql.done");
  t.same([...new Int32Array(exact(messages[1].columns[0].data))], [7]);
  client.send({ type: "query", id: 7, sql: "SELECT 7 AS n" });
  t.same((await client.until("sql.done"))[1].rows, [[7]]);
  for (const bytes of [Buffer.from([0xc1]), pack([1]), pack(3), Buffer.from([0x81]), Buffer.alloc(0)]) {
    client.sendBinary(bytes);
    t.match(await client.next(), { type: "error", id: null, code: "invalid_request" });
  }
  client.sendBinary(pack({ type: "dance", id: "d" }));
  t.match(await client.next(), { type: "error", id: "d", code: "invalid_request" });
  client.destroy();
});

t.test("credits: no more rows than the client can take", async (t) => {
  const client = await open();
  const sql = "SELECT i, repeat('x', 200) FROM generate_series(1, 5000) i";
  client.send({ type: "sql.execute.stream", id: "c", sql, max_rows: 10_000, credits: 2 });
  t.match(await client.next(), { type: "sql.columns" });
  const rows = [...(await client.next()).rows, ...(await client.next()).rows];
  await sleep(150);
  t.equal(client.messages.length, 0, "nothing more came");
  client.send({ type: "query", id: "other", sql: "SELECT 1" });
  t.equal((await client.until("sql.done")).length, 3, "others are not held up");
  while (rows.length < 5000) {
    client.send({ type: "credit", id: "c", messages: 1 });
    rows.push(...(await client.next()).rows);
  }
  t.match(await client.next(), { type: "sql.done", id: "c", row_count: 5000 });
  t.same(
    rows.map(([i]) => i),
    Array.from({ length: 5000 }, (_, i) => i + 1),
  );
  client.send({ type: "sql.execute.stream", id: "c", sql, max_rows: 10_000, credits: 1 });
  await client.next();
  await client.next();
  client.send({ type: "cancel", id: "c" });
  t.match(await client.next(), { type: "error", id: "c", code: "cancelled" });
  client.send({ type: "credit", id: "c", messages: 0 });
  t.match(await client.next(), { type: "error", code: "invalid_request", details: { field: "messages" } });
  client.destroy();
});

t.test("transactions and Cypher", async (t) => {
  const client = await open();
  client.send({ type: "transaction.begin", id: 1, isolation_level: "repeatable_read" });
  const begun = await client.next();
  t.match(begun, { type: "transaction", id: 1, transaction: /^tx_/, status: "active" });
  const { transaction } = begun;
  const run = async (sql: string, more: object = {}) => {
    client.send({ type: "query", id: 2, sql, ...more });
    return client.until("sql.done");
  };
  await run("INSERT INTO cell (id) VALUES (50)", { transaction });
  t.same((await run("SELECT count(*) FROM cell WHERE id = 50", { transaction }))[1].rows, [[1]]);
  t.same((await run("SELECT count(*) FROM cell WHERE id = 50"))[1].rows, [[0]]);
  client.send({ type: "transaction.commit", id: 3, transaction });
  t.match(await client.next(), { type: "transaction", id: 3, transaction, status: "committed" });
  t.same((await run("SELECT count(*) FROM cell WHERE id = 50"))[1].rows, [[1]]);
  t.match(await run("SELECT 1", { transaction }), [{ type: "error", code: "transaction_not_found" }]);
  client.send({ type: "transaction.begin", id: 4 });
  const second = await client.next();
  await run("DELETE FROM cell WHERE id = 50", { transaction: second.transaction });
  client.send({ type: "transaction.rollback", id: 5, transaction: second.transaction });
  t.match(await client.next(), { status: "rolled_back" });
  t.match((await run("CREATE (:Star {name: $name})", { language: "cypher", parameters: { name: "Sol" } })).at(-1), {
    type: "sql.done",
    stats: { nodes_created: 1 },
  });
  t.same((await run("MATCH (s:Star) RETURN s.name"))[1].rows, [["Sol"]]);
  client.destroy();
});

t.test("what is too long closes with 1009", async (t) => {
  const client = await open();
  client.send({ type: "query", sql: `SELECT '${"x".repeat(70_000)}'` });
  t.match(await client.close(), { code: 1009, reason: /65536/ });
  const other = await open();
  other.send({ type: "query", sql: `SELECT '${"x".repeat(16_000_000)}'` });
  t.match(await other.close(), { code: 1009, reason: /65536/ }, "what /v1/query would take as a body, too");
});

t.test("tickets go when they are taken back, and with their credential", async (t) => {
  const ticketOf = async (token?: string): Promise<string> =>
    (await server.expect(200, "POST", "/v1/ws/ticket", undefined, token === undefined ? {} : { token })).body.token;
  const closed = async (token: string) => (await SocketClient.open(server.url, `/ws?token=${token}`)).close();
  const [first, second] = [await ticketOf(), await ticketOf()];
  t.match((await server.expect(200, "DELETE", "/v1/ws/ticket")).body.data, { revoked: 2 });
  for (const token of [first, second]) t.equal((await closed(token)).code, 1008);
  const { api_key, raw_key } = (await server.expect(201, "POST", "/v1/api-keys", { name: "k", permission: "ReadOnly" }))
    .body.data;
  const ofKey = await ticketOf(raw_key);
  await server.expect(204, "DELETE", `/v1/api-keys/${api_key.id}`);
  t.equal((await closed(ofKey)).code, 1008);
  t.equal((await closed(server.token)).code, 1008, "a lasting credential is none");
  t.equal((await closed(raw_key)).code, 1008);
});
