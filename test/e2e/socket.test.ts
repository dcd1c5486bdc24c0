/** The WebSocket as a client meets it: tickets, streamed statements, cancel, limits, slow readers, shutdown. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

const server = await TestServer.start({
  TESSERA_ACTORS: "1",
  TESSERA_WEBSOCKET_READ_TIMEOUT: "4",
  TESSERA_WEBSOCKET_CONNECTIONS_PER_TENANT_MAX: "8",
  TESSERA_WEBSOCKET_REQUESTS_RUNNING_MAX: "3",
  TESSERA_WEBSOCKET_MESSAGE_BYTES_MAX: "65536",
  TESSERA_SERVER_CORS_ENABLED: "true",
  TESSERA_SERVER_CORS_ORIGINS: "https://app.example",
});
t.setTimeout(300_000);
t.teardown(() => server.stop());
await server.sql("CREATE TABLE item (id integer PRIMARY KEY, name text)");
await server.sql("INSERT INTO item SELECT i, 'item ' || i FROM generate_series(1, 20000) i");
/** Of a kilobyte each: more than is held for a reader that pauses. */
const WHOLE_ROWS = 40_000;
/** Runs until it is stopped. */
const ENDLESS = "SELECT count(*) FROM generate_series(1, 1000000000) i";

async function ticket(token?: string): Promise<string> {
  const reply = await server.expect(200, "POST", "/v1/ws/ticket", undefined, token === undefined ? {} : { token });
  return reply.body.token;
}

/** How many requests the actor works at. */
const running = async (): Promise<string> =>
  /tessera_actor_requests_running\{actor="0"\} (\d+)/.exec((await server.call("GET", "/metrics")).body)![1]!;

async function open(token?: string): Promise<SocketClient> {
  const client = await SocketClient.open(server.url, `/ws?token=${await ticket(token)}`);
  t.teardown(() => client.destroy());
  return client;
}

t.test("a ticket opens one connection", async (t) => {
  const reply = await server.expect(200, "POST", "/v1/ws/ticket");
  const { token, expires_at, expiresAt } = reply.body.data;
  t.same(reply.body.token, token);
  t.equal(expires_at, expiresAt);
  t.ok(Date.parse(expires_at) > Date.now());
  t.equal(reply.headers.get("cache-control"), "no-store");
  const client = await SocketClient.open(server.url, `/ws?token=${token}`);
  client.send({ type: "ping", id: 7 });
  t.match(await client.next(), { type: "pong", id: 7 });
  client.ping();
  client.send({ type: "ping" });
  t.notOk("id" in (await client.next()));
  t.equal(client.pongs, 1);
  const again = await SocketClient.open(server.url, `/ws?token=${token}`);
  t.match(await again.close(), { code: 1008, reason: /ticket/ });
  t.equal((await (await SocketClient.open(server.url, "/ws")).close()).code, 1008);
  t.equal((await server.call("POST", "/v1/ws/ticket", undefined, { token: null })).status, 401);
  client.destroy();
});

t.test("a header opens /v1/ws; a plain request is told what to do", async (t) => {
  const client = await SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${server.token}` });
  client.send({ type: "query", sql: "SELECT 1 AS one" });
  t.match(await client.until("sql.done"), [
    { type: "sql.columns", id: null, columns: [{ name: "one", data_type: "integer" }] },
    { type: "sql.rows", id: null, rows: [[1]] },
    { type: "sql.done", id: null, row_count: 1, truncated: false },
  ]);
  client.destroy();
  const bad = await SocketClient.open(server.url, "/v1/ws", { authorization: "Bearer nonsense" });
  t.equal((await bad.close()).code, 1008);
  for (const path of ["/ws", "/v1/ws"]) {
    const reply = await server.call("GET", path);
    t.equal(reply.status, 426);
    t.equal(reply.headers.get("upgrade"), "websocket");
  }
});

t.test("pages of other origins are refused, unless CORS lets them in", async (t) => {
  const from = async (origin: string) => SocketClient.open(server.url, `/ws?token=${await ticket()}`, { origin });
  await t.rejects(from("https://evil.example"), { message: /403/ });
  await t.rejects(from("null"), { message: /403/ });
  (await from("https://app.example")).destroy();
  (await from(server.url)).destroy();
});

t.test("rows come in pieces, in order, beside other requests", async (t) => {
  const client = await open();
  client.send({ type: "sql.execute.stream", id: "all", sql: "SELECT * FROM item ORDER BY id" });
  client.send({ type: "query", id: 2, sql: "SELECT $1::int + 1", params: [41] });
  const messages = [...(await client.until("sql.done")), ...(await client.until("sql.done"))];
  const all = messages.filter(({ id }) => id === "all");
  t.match(all[0], { type: "sql.columns" });
  t.match(all.at(-1), { type: "sql.done", row_count: 20_000, truncated: false }, "a stream has all rows");
  const pieces = all.filter(({ type }) => type === "sql.rows");
  t.ok(pieces.length > 3, `${pieces.length} pieces`);
  t.same(
    pieces.flatMap(({ rows }) => rows),
    Array.from({ length: 20_000 }, (_, i) => [i + 1, `item ${i + 1}`]),
  );
  t.same(messages.find((message) => message.id === 2 && message.type === "sql.rows")?.rows, [[42]]);
  client.send({ type: "query", id: 3, sql: "SELECT * FROM item", max_rows: 5 });
  t.match((await client.until("sql.done")).at(-1), { row_count: 5, truncated: true }, "unless it asks for fewer");
  client.send({ type: "query", sql: "SELECT 1 WHERE false" });
  t.match(
    (await client.until("sql.done")).map(({ type }) => type),
    ["sql.columns", "sql.done"],
  );
  client.send({ type: "query", id: "w", sql: "INSERT INTO item VALUES (0, 'zero') RETURNING name" });
  t.match((await client.until("sql.done")).slice(1), [{ rows: [["zero"]] }, { rows_affected: 1 }]);
  client.send({ type: "query", id: "d", sql: "DELETE FROM item WHERE id = 0" });
  t.match((await client.until("sql.done")).at(-1), { rows_affected: 1 });
  client.destroy();
});

t.test("errors name the request and come from the one table", async (t) => {
  const client = await open();
  const answer = (message: object | string): Promise<object> => {
    client.send(message);
    return client.next();
  };
  t.match(await answer({ type: "query", id: "x", sql: "SELECT nothing" }), {
    type: "error",
    id: "x",
    code: "query_error",
    details: { sqlstate: "42703", position: 8 },
    request_id: String,
  });
  t.match(await answer({ id: 3, type: "dance" }), { type: "error", id: 3, code: "invalid_request", message: /ping/ });
  t.match(await answer({ type: "query", id: 4 }), { type: "error", id: 4, code: "invalid_request", message: /sql/ });
  t.match(await answer({ type: "query", id: 5, sql: "SELECT 1", surplus: 1 }), { id: 5, message: /surplus/ });
  t.match(await answer("[1]"), { type: "error", id: null, code: "invalid_json" });
  t.match(await answer('{"type":"query","id":9,"sql":'), { type: "error", id: 9, code: "invalid_json" });
  t.match(await answer({ type: "cancel", id: "gone" }), { type: "error", id: "gone", code: "not_found" });
  client.send({ type: "query", id: 6, sql: "SELECT name, 1 / (15000 - id) FROM item ORDER BY id", max_rows: 50_000 });
  const late = await client.until("sql.done");
  t.match(late.at(-1), { type: "error", id: 6, details: { sqlstate: "22012" } });
  t.ok(late.length > 2, "after rows");
  client.destroy();
  const large = await open();
  large.send({ type: "query", sql: `SELECT '${"x".repeat(70_000)}'` });
  t.equal((await large.close()).code, 1009);
});

t.test("a running request is cancelled, by message or because the client goes away", async (t) => {
  const client = await open();
  client.send({ type: "query", id: "long", sql: ENDLESS });
  client.send({ type: "query", id: "long", sql: "SELECT 1" });
  t.match(await client.next(), { type: "error", id: "long", code: "invalid_request" });
  client.send({ type: "cancel", id: "long" });
  t.match(await client.next(), { type: "error", id: "long", code: "cancelled" });
  client.send({ type: "query", id: "long", sql: "SELECT 1", timeout_secs: 60 });
  t.equal((await client.until("sql.done")).length, 3);
  client.send({ type: "query", id: "late", sql: ENDLESS, timeout_secs: 0.2 });
  t.match(await client.next(), { type: "error", id: "late", code: "request_timeout" });
  for (const id of [1, 2, 3, 4]) client.send({ type: "query", id, sql: ENDLESS });
  t.match(await client.next(), { type: "error", id: 4, code: "rate_limited" });
  client.destroy();
  while ((await running()) !== "0") await sleep(20);
});

t.test("a tenant's connections are bounded, and end when the user may no more", async (t) => {
  const token = await server.tenant("bounded");
  const clients = await Promise.all(Array.from({ length: 8 }, () => open(token)));
  const surplus = await open(token);
  t.match(await surplus.close(), { code: 1013 });
  const user = (await server.call("GET", "/v1/users/me", undefined, { token })).body.data;
  const unused = await ticket(token);
  await server.expect(200, "PATCH", `/admin/tenants/bounded/users/${user.id}`, { is_active: false });
  for (const client of clients) t.equal((await client.close()).code, 1008);
  t.equal((await (await SocketClient.open(server.url, `/ws?token=${unused}`)).close()).code, 1008);
});

t.test("a slow reader stops its stream, costs little memory, and is closed in the end", async (t) => {
  const rss = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))![1]) / 1024;
  const big = {
    type: "query",
    sql: "SELECT i, repeat('x', 1000) FROM generate_series(1, 200000) i",
    max_rows: 200_000,
  };
  const reader = await open();
  const slow = await open();
  slow.pause();
  const before = rss();
  slow.send({ ...big, id: "slow" });
  const slowReaders = async (): Promise<{ readonly count: string; readonly page: string }> => {
    const page = String((await server.call("GET", "/metrics")).body);
    return { count: /^tessera_websocket_slow_readers (\d+)$/m.exec(page)![1]!, page };
  };
  let seen = await slowReaders();
  for (; seen.count === "0"; seen = await slowReaders()) await sleep(20);
  t.equal(seen.count, "1");
  t.match(seen.page, /^tessera_websocket_unread_bytes [1-9]/m);
  t.ok(rss() - before < 100, `${Math.round(rss() - before)} MiB more`);
  // Another client is served meanwhile.
  reader.send({ type: "query", sql: "SELECT 1" });
  t.equal((await reader.until("sql.done")).length, 3);
  while ((await slowReaders()).count !== "0") await sleep(50);
  slow.resume();
  const { code } = await slow.close();
  t.equal(code, 4408);
  t.ok(slow.messages.length < 200, `${slow.messages.length} messages`);
  // One that pauses for a shorter while gets everything.
  reader.send({ ...big, id: "whole", max_rows: WHOLE_ROWS });
  for (let i = 0; i < 3; i++) {
    await sleep(300);
    reader.pause();
    await sleep(500);
    reader.resume();
  }
  const all = await reader.until("sql.done");
  t.match(all.at(-1), { type: "sql.done", row_count: WHOLE_ROWS });
});

t.test("a shutdown lets what runs end", async (t) => {
  const idle = await open();
  const busy = await open();
  busy.send({ type: "query", id: 1, sql: "SELECT pg_sleep(2)" });
  while ((await running()) === "0") await sleep(5);
  const ended = server.terminate();
  t.equal((await idle.close()).code, 1001);
  t.match((await busy.until("sql.done")).at(-1), { type: "sql.done", row_count: 1 });
  t.equal((await busy.close()).code, 1001);
  t.equal(await ended, 0);
});
