/** What a client of Bolt may ask for at most, and what becomes of its session when it signs off or leaves. */
import { once } from "node:events";
import t from "tap";
import { createWebSocketStream, WebSocket } from "ws";
import { BoltClient, boltPort, codeOf, commit, message, pull, reset, run, WITH_BOLT } from "./bolt-client.js";
import { passwordOf, TestServer } from "./server.js";

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({
    ...WITH_BOLT,
    TESSERA_ACTORS: "1",
    TESSERA_LIMITS_REQUEST_BYTES_PER_PARTITION_MAX: "1048576",
    TESSERA_TRANSACTIONS_TIMEOUT_SECONDS: "1",
    TESSERA_TRANSACTIONS_MAX_SECONDS: "1",
  });
  await server.tenant("acme");
});
t.teardown(() => server?.stop());

const INVALID = "Neo.ClientError.Request.Invalid";
const ofAcme = message("logon", { scheme: "basic", principal: "acme-user", credentials: passwordOf("acme") });

t.test("capabilities without an end are no choice", async () => {
  const client = await BoltClient.connect(boltPort(server));
  await client.shake([0, 0, 1, 0xff]);
  client.send(Buffer.from([0, 0, 8, 5]), Buffer.alloc(12, 0xff));
  await client.closed();
});

t.test("before the sign-in few messages wait", async (t) => {
  const client = await BoltClient.connect(boltPort(server));
  await client.shake([0, 0, 8, 5]);
  client.send(message("hello", { user_agent: "test/1" }), ...Array.from({ length: 100 }, () => reset));
  t.equal(codeOf((await client.receive())!), INVALID);
  await client.closed();
});

t.test("a long message of a WebSocket ends the connection", async (t) => {
  const socket = new WebSocket(`ws://127.0.0.1:${boltPort(server)}`);
  await once(socket, "open");
  const stream = createWebSocketStream(socket);
  stream.on("error", () => undefined);
  stream.resume();
  socket.send(Buffer.alloc(1024 * 1024));
  const [code] = (await once(socket, "close")) as [number];
  t.equal(code, 1009, "too big");
});

t.test("a message with too many values", async (t) => {
  const client = await BoltClient.open(server);
  const rows = Array.from({ length: 600_000 }, () => []);
  t.equal(
    await client.rows("RETURN size($rows)", { rows }),
    "Neo.ClientError.General.TransactionOutOfMemoryError",
    "each list takes more than its byte",
  );
  t.same(await client.rows("RETURN size($rows)", { rows: rows.slice(0, 1000) }), [[1000]], "the session goes on");
  client.close();
});

t.test("a message that its partition would never take", async (t) => {
  const client = await BoltClient.open(server);
  const text = "x".repeat(600_000);
  const one = (): Buffer => run("RETURN size($text)", { text });
  client.send(one(), pull(), one(), pull());
  const all = await client.until(4);
  t.equal(all.map(({ kind }) => kind).join(" "), "success record success success record success", "two are sent apart");
  client.send(run("RETURN 1", { text: text + text }));
  t.equal(codeOf((await client.receive())!), "Neo.ClientError.General.TransactionOutOfMemoryError");
  await client.closed();
});

t.test("numbers of options are integers", async (t) => {
  const cases: readonly (readonly [what: string, ...messages: Buffer[]])[] = [
    ["no number", run("RETURN 1", {}, { tx_timeout: Number.NaN })],
    ["half a millisecond", run("RETURN 1", {}, { tx_timeout: 0.5 })],
    ["half a row", run("RETURN 1"), pull(0.5)],
    ["half a result", run("RETURN 1"), pull(1, -0.5)],
  ];
  for (const [what, ...messages] of cases) {
    const client = await BoltClient.open(server);
    client.send(...messages);
    t.equal(codeOf((await client.until(messages.length)).at(-1)!), INVALID, what);
    await client.closed();
  }
});

t.test("a signed-off user is gone, also where its rows were sent before the end", async (t) => {
  const client = await BoltClient.open(server);
  await client.rows("CREATE (:OfAdmin)");
  // One group of messages, whose rows leave before its end.
  const rows = [run("UNWIND range(1, 50000) AS x RETURN x, 'a text that makes rows longer ' + x"), pull()];
  client.send(...rows, message("logoff"), ofAcme, run("MATCH (n:OfAdmin) RETURN count(n)"), pull());
  const all = await client.until(6);
  t.equal(all.filter(({ kind }) => kind === "success").length, 6);
  t.same(all.findLast(({ kind }) => kind === "record")!.data, [0], "the graph is another tenant's");
  client.close();
});

t.test("many sign-ins after each other on one connection, each with a transaction", async (t) => {
  const client = await BoltClient.open(server);
  for (let i = 0; i < 20; i++) {
    client.send(message("logoff"), ofAcme, message("begin", {}), run("RETURN 1"), pull(), commit);
    const kinds = (await client.until(6)).map(({ kind }) => kind).join(" ");
    if (kinds !== "success success success success record success success") return t.fail(kinds);
  }
  client.close();
});

t.test("rows that are not pulled in time are gone", async (t) => {
  const TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut";
  const MANY = "UNWIND range(1, 5000) AS x";
  const rests = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const client = await BoltClient.open(server);
  /** Messages of one statement or transaction that the client leaves open for so long. */
  const leave = async (ms: number, ...messages: readonly Buffer[]): Promise<string> => {
    client.send(...messages);
    await client.until(messages.length);
    await rests(ms);
    const late = codeOf(await client.ask(pull(1)));
    t.equal((await client.ask(reset)).kind, "success");
    return late;
  };
  t.equal(await leave(200, run(`${MANY} RETURN x`, {}, { tx_timeout: 100 }), pull(1)), TIMED_OUT, "its own timeout");
  t.equal(await leave(1_100, run(`${MANY} RETURN x`), pull(1)), TIMED_OUT, "a query");
  t.equal(await leave(1_100, run(`${MANY} CREATE (n:Late {x: x}) RETURN x`), pull(1)), TIMED_OUT, "a change");
  t.equal(await leave(1_100, message("begin", {}), run(`${MANY} RETURN x`), pull(1)), TIMED_OUT, "a transaction");
  t.same(await client.rows("MATCH (n:Late) RETURN count(n)"), [[5000]], "what was written stays");
  client.close();
});
