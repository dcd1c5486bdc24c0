/** NOTIFY, LISTEN and advisory locks between PostgreSQL's protocol, HTTP and the WebSocket. */
import t from "tap";
import { passwordOf, TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";
import { type Received, valuesOf, WITH_POSTGRES, WireClient } from "./wire-client.js";

let server: TestServer;
let reader: string;
t.before(async () => {
  server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" });
  reader = (await server.expect(201, "POST", "/v1/api-keys", { name: "r", permission: "ReadOnly" })).body.raw_key;
  await server.tenant("acme");
});
t.teardown(() => server?.stop());

/** What a NotificationResponse says. */
function noteOf({ body }: Received): { pid: number; channel: string; payload: string } {
  const [channel, payload] = body.toString("utf8", 4).split("\0") as [string, string];
  return { pid: body.readUInt32BE(), channel, payload };
}

async function nextNote(client: WireClient): Promise<ReturnType<typeof noteOf>> {
  return noteOf((await client.until("A")).at(-1)!);
}

async function socket(token = server.token): Promise<SocketClient> {
  const client = await SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${token}` });
  t.teardown(() => client.destroy());
  return client;
}

const value = async (client: WireClient, sql: string) =>
  valuesOf((await client.ask(sql)).find(({ type }) => type === "D")!)[0];

t.test("a session hears what it notifies itself before it is ready again", async (t) => {
  const wire = await WireClient.open(server);
  await wire.ask("LISTEN own");
  const heard = async (sql: string) => {
    const messages = await wire.ask(sql);
    t.equal(messages.at(-1)!.type, "Z");
    return messages.filter(({ type }) => type === "A").map((message) => noteOf(message).payload);
  };
  t.same(await heard("NOTIFY own, 'one'"), ["one"]);
  t.same(await heard("BEGIN"), []);
  t.same(await heard("NOTIFY own, 'two'; NOTIFY own, 'three'; NOTIFY own, 'two'; NOTIFY unheard"), []);
  t.same(await heard("CREATE TABLE own (i int)"), []);
  t.same(await heard("COMMIT"), ["two", "three"]);
  t.same(await heard("BEGIN; NOTIFY own, 'taken back'; ROLLBACK"), []);
  t.same(await heard("SELECT 1"), []);
  t.equal(await value(wire, "SELECT pg_notification_queue_usage()"), "0");
});

t.test("what HTTP notifies is heard by the protocol and the socket, once it is committed", async (t) => {
  const wire = await WireClient.open(server);
  await wire.ask("LISTEN jobs");
  const ws = await socket();
  ws.send({ type: "listen", id: "j", channel: "jobs" });
  t.same(await ws.next(), { type: "subscribed", id: "j", channel: "jobs" });
  const notified = await server.expect(200, "POST", "/v1/query/execute", { sql: "NOTIFY jobs, 'it''s one'" });
  t.same(notified.body.data.rows, [["NOTIFY"]]);
  t.same(await nextNote(wire), { pid: 0, channel: "jobs", payload: "it's one" });
  t.same(await ws.next(), { type: "notification", id: "j", channel: "jobs", payload: "it's one", sender: null });
  await server.rows("SELECT pg_notify('other', 'unheard'), pg_notify($1, $2)", ["jobs", "two"]);
  t.match(await ws.next(), { payload: "two" });
  t.match(await nextNote(wire), { payload: "two" });

  const begin = async () => (await server.expect(201, "POST", "/v1/transactions", {})).body.data.id as string;
  const [kept, dropped] = [await begin(), await begin()];
  const run = (id: string, sql: string) => server.expect(200, "POST", `/v1/transactions/${id}/execute`, { sql });
  await run(dropped, "NOTIFY jobs, 'dropped'");
  await run(kept, "NOTIFY jobs, 'kept'");
  await run(kept, "NOTIFY jobs, 'kept'");
  await run(kept, "CREATE TABLE IF NOT EXISTS noted (i int)");
  await server.rows("NOTIFY jobs, 'between'");
  await server.expect(200, "POST", `/v1/transactions/${dropped}/rollback`);
  await server.expect(200, "POST", `/v1/transactions/${kept}/commit`);
  t.equal((await server.sql("SELECT pg_notify('jobs', 'failed'), 1 / 0")).status, 400);
  await server.rows("DO $$ BEGIN PERFORM pg_notify('jobs', 'last'); END $$");
  for (const payload of ["between", "kept", "last"]) {
    t.match(await ws.next(), { type: "notification", payload });
    t.match(await nextNote(wire), { payload });
  }
  ws.send({ type: "unsubscribe", id: "j" });
  t.match(await ws.next(), { type: "unsubscribed", id: "j" });
  await server.rows("NOTIFY jobs, 'after the end'");
  t.match(await nextNote(wire), { payload: "after the end" });
  ws.send({ type: "ping", id: 1 });
  t.match(await ws.next(), { type: "pong" }, "nothing came in between");
  wire.close();
});

t.test("what the protocol notifies is heard on the socket, with its sender, in MessagePack too", async (t) => {
  const wire = await WireClient.open(server);
  const pid = Number(await value(wire, "SELECT pg_backend_pid()"));
  const [first, second, stranger] = [
    await socket(reader),
    await socket(),
    await socket(await server.login("acme-user", passwordOf("acme"))),
  ];
  for (const client of [first, second, stranger]) {
    client.send({ type: "listen", id: 1, channel: "Mixed Case" });
    t.match(await client.next(), { type: "subscribed" });
  }
  await wire.ask("NOTIFY \"Mixed Case\", 'é'");
  for (const client of [first, second]) {
    t.same(await client.next(), { type: "notification", id: 1, channel: "Mixed Case", payload: "é", sender: pid });
  }
  stranger.send({ type: "ping", id: 2 });
  t.match(await stranger.next(), { type: "pong" }, "another tenant's client hears nothing");
  wire.close();
});

t.test("notifications as server-sent events", async (t) => {
  const events = await fetch(`${server.url}/v1/listen?channel=news`, {
    headers: { authorization: `Bearer ${server.token}`, accept: "text/event-stream" },
  });
  t.match(events.headers.get("content-type"), "text/event-stream");
  const pieces = events.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const until = async (what: string): Promise<void> => {
    while (!text.includes(what)) text += (await pieces.read()).value ?? "";
  };
  await until("event: subscribed");
  await server.rows("NOTIFY news, 'extra'");
  await until('"payload":"extra"');
  t.match(
    text,
    /event: notification\ndata: \{"type":"notification","channel":"news","payload":"extra","sender":null\}/,
  );
  await pieces.cancel();
  t.equal((await server.call("GET", "/v1/listen")).status, 400);
});

t.test("LISTEN and UNLISTEN count from their transaction's commit on", async (t) => {
  const [wire, other] = [await WireClient.open(server), await WireClient.open(server)];
  await wire.ask("BEGIN; LISTEN taken_back; ROLLBACK");
  await wire.ask("LISTEN kept");
  await wire.ask("BEGIN; UNLISTEN *; ROLLBACK");
  await wire.ask("BEGIN; LISTEN later");
  await other.ask("NOTIFY taken_back, 'no'; NOTIFY later, 'too early'; NOTIFY kept, 'yes'");
  const messages = [...(await wire.ask("NOTIFY later, 'its own'")), ...(await wire.ask("COMMIT"))];
  const notes = messages.filter(({ type }) => type === "A").map((each) => noteOf(each).payload);
  while (!notes.includes("its own")) notes.push((await nextNote(wire)).payload);
  t.same(notes, ["yes", "its own"]);
  await wire.ask("BEGIN; UNLISTEN kept; COMMIT");
  await other.ask("NOTIFY kept, 'no'; NOTIFY later, 'heard'");
  t.equal((await nextNote(wire)).payload, "heard");
  for (const client of [wire, other]) client.close();
});

t.test("a session can ask which channels it listens to, as heartbeats do", async (t) => {
  const client = await WireClient.open(server);
  const asked = "SELECT string_agg(name, ',' ORDER BY name) FROM pg_listening_channels() AS active(name)";
  t.equal(await value(client, asked), null);
  await client.ask('LISTEN jobs; LISTEN "Other"');
  t.equal(await value(client, asked), "Other,jobs");
  await client.ask("UNLISTEN jobs");
  t.equal(await value(client, asked), "Other");
  t.same(await server.rows("SELECT * FROM pg_listening_channels()"), [], "a request has none");
  client.close();
});

t.test("a rollback to a savepoint takes back notifications and locks that came after it", async (t) => {
  const [wire, other] = [await WireClient.open(server), await WireClient.open(server)];
  await other.ask("LISTEN steps");
  const steps = [
    ...["NOTIFY steps, 'first'", "SAVEPOINT a", "NOTIFY steps, 'lost'", "SELECT pg_notify('steps', 'lost, too')"],
    ...["SELECT pg_advisory_xact_lock(11)", "ROLLBACK TO a", "SELECT pg_advisory_xact_lock(12)"],
    ...["SAVEPOINT b", "NOTIFY steps, 'kept'", "RELEASE b", "SAVEPOINT c", "ROLLBACK TO c"],
  ];
  const locked = async (key: number) => (await value(other, `SELECT pg_try_advisory_xact_lock(${key})`)) === "f";
  await wire.ask("BEGIN");
  for (const sql of steps)
    t.notOk(
      (await wire.ask(sql)).some(({ type }) => type === "E"),
      sql,
    );
  t.same([await locked(11), await locked(12)], [false, true]);
  await wire.ask("COMMIT");
  t.same([(await nextNote(other)).payload, (await nextNote(other)).payload], ["first", "kept"]);

  const id = (await server.expect(201, "POST", "/v1/transactions", {})).body.data.id;
  const path = `/v1/transactions/${id}`;
  const run = (sql: string) => server.call("POST", `${path}/execute`, { sql });
  await run("NOTIFY steps, 'by HTTP'");
  await server.expect(201, "POST", `${path}/savepoint`, { name: "a" });
  await run("SELECT pg_notify('steps', 'lost'), pg_advisory_xact_lock(11)");
  await server.expect(200, "POST", `${path}/savepoint/a/rollback`);
  t.equal(await locked(11), false);
  await server.expect(200, "POST", `${path}/commit`);
  await wire.ask("NOTIFY steps, 'last'");
  t.same([(await nextNote(other)).payload, (await nextNote(other)).payload], ["by HTTP", "last"]);
  for (const client of [wire, other]) client.close();
});

t.test("what cannot be is refused, with what to do instead", async (t) => {
  const refused = async (sql: string, token = server.token) => (await server.sql(sql, [], { token })).body.error;
  t.match(await refused("LISTEN jobs"), { code: "not_supported", details: { hint: /"type": "listen"/, position: 1 } });
  t.match(await refused("UNLISTEN *"), { code: "not_supported" });
  t.match(await refused("SELECT pg_advisory_lock(1)"), {
    code: "not_supported",
    details: { hint: /pg_advisory_xact_lock/ },
  });
  t.match(await refused("SELECT pg_advisory_unlock_all()"), { code: "not_supported" });
  t.match(await refused("SELECT pg_backend_pid()"), { code: "not_supported" });
  t.match(await refused("NOTIFY jobs", reader), { code: "forbidden", details: { sqlstate: "42501" } });
  t.match(await refused("SELECT pg_notify('jobs', '')", reader), { code: "forbidden" });
  t.match(await refused(`SELECT pg_notify('${"x".repeat(64)}', '')`), { details: { sqlstate: "22023" } });
  t.match(await refused(`NOTIFY jobs, '${"x".repeat(8000)}'`), { details: { sqlstate: "22023" } });
  const ws = await socket();
  ws.send({ type: "listen", id: 1, channel: "x".repeat(64) });
  t.match(await ws.next(), { type: "error", id: 1, details: { sqlstate: "22023" } });
});

t.test("advisory locks of transactions exclude each other over HTTP and the protocol", async (t) => {
  const wire = await WireClient.open(server);
  const id = (await server.expect(201, "POST", "/v1/transactions", {})).body.data.id;
  const run = (sql: string) => server.expect(200, "POST", `/v1/transactions/${id}/execute`, { sql });
  await run("SELECT pg_advisory_xact_lock(5)");
  t.same((await run("SELECT pg_try_advisory_xact_lock(5)")).body.data.rows, [[true]], "it has it already");
  t.equal(await value(wire, "SELECT pg_try_advisory_lock(5)"), "f");
  t.same(await server.rows("SELECT pg_try_advisory_xact_lock(5)"), [[false]]);
  t.same(await server.rows("SELECT pg_try_advisory_xact_lock(6)"), [[true]]);
  t.equal(await value(wire, "SELECT pg_try_advisory_xact_lock(6)"), "t", "a statement alone gives it back at once");
  const held = "SELECT pid, objid, granted FROM pg_locks WHERE locktype = 'advisory' ORDER BY granted DESC";
  t.same(await server.rows(held), [[null, 5, true]]);
  const waiting = server.rows("SELECT 'got it', pg_advisory_xact_lock(5)");
  while ((await server.rows(held)).length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  t.same(await server.rows(held), [
    [null, 5, true],
    [null, 5, false],
  ]);
  await server.expect(200, "POST", `/v1/transactions/${id}/rollback`);
  t.same((await waiting)[0]![0], "got it");
  t.equal(await value(wire, "SELECT pg_try_advisory_lock(5)"), "t");
  t.same(await server.rows("SELECT pg_try_advisory_xact_lock(5)"), [[false]]);
  wire.close();
});

t.test("unlocking gives back what the session took, and nothing of its transaction", async (t) => {
  const [wire, other] = [await WireClient.open(server), await WireClient.open(server)];
  const isFree = async (key: number) => (await value(other, `SELECT pg_try_advisory_xact_lock(${key})`)) === "t";
  await wire.ask("SELECT pg_advisory_lock(22), pg_advisory_lock(22), pg_advisory_lock_shared(23)");
  await wire.ask("BEGIN; SELECT pg_advisory_xact_lock(21), pg_advisory_xact_lock(22)");
  t.equal(await value(wire, "SELECT pg_advisory_unlock(21)"), "f");
  for (const given of ["t", "t", "f"]) t.equal(await value(wire, "SELECT pg_advisory_unlock(22)"), given);
  await wire.ask("SELECT pg_advisory_lock(22), pg_advisory_unlock_all()");
  t.same([await isFree(21), await isFree(22), await isFree(23)], [false, false, true]);
  await wire.ask("COMMIT");
  t.same([await isFree(21), await isFree(22)], [true, true]);
  for (const client of [wire, other]) client.close();
});

t.test("an administrator ends a session of the protocol over HTTP", async (t) => {
  const wire = await WireClient.open(server);
  const pid = await value(wire, "SELECT pg_backend_pid()");
  t.equal((await server.sql(`SELECT pg_terminate_backend(${pid})`, [], { token: reader })).status, 403);
  t.same(await server.rows(`SELECT pg_terminate_backend(${pid})`), [[true]]);
  t.equal((await wire.ask("SELECT 1")).at(-1)!.type, "E");
  wire.close();
});
