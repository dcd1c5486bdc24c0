/**
 * Tenants move between partitions, of other actors and of the same, while clients read and write: every acknowledged
 * row is there exactly once, what was held in memory comes along, and clients see no errors but those that tell them to
 * try again.
 */
import t from "tap";
import { sized } from "../lengths.js";
import { type Reply, TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

const MOVES = Number(process.env.MOVES ?? sized(1, 3));
const WRITERS = 4;
const FINISHED = new Set(["done", "failed", "cancelled"]);

/** A statement that the hand-over met on a busy machine: it has done nothing. */
const isRetryable = ({ status, body }: Reply) => status === 503 && body.error.code === "partition_unavailable";

/** Long enough for any statement of these tests on any machine: none is cut by a move. */
const PATIENT_SECONDS = 60;

/** `patience`: seconds after which what still runs is ended, and told to try again. */
async function moved(server: TestServer, tenant: string, to: number, patience = 1): Promise<Reply["body"]> {
  await server.expect(202, "POST", `/admin/tenants/${tenant}/move`, { partition: to, transaction_seconds: patience });
  return ended(server, tenant);
}

async function ended(server: TestServer, tenant: string): Promise<Reply["body"]> {
  for (;;) {
    const { data } = (await server.expect(200, "GET", `/admin/tenants/${tenant}/move`)).body;
    if (FINISHED.has(data.state)) return data;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function partitionOf(server: TestServer, tenant: string): Promise<number> {
  return (await server.expect(200, "GET", `/admin/tenants/${tenant}`)).body.data.partition;
}

t.setTimeout(300_000);

t.test("moves with writers", async (t) => {
  const server = await TestServer.start({ TESSERA_ACTORS: "3" });
  t.teardown(() => server.stop());
  const token = await server.tenant("nomad");
  const as = { token };
  await server.rows("CREATE TABLE entry (id bigint, note text)", [], as);
  await server.rows("CREATE UNIQUE INDEX entry_note ON entry (note)", [], as);
  await server.rows("CREATE TABLE filler (id integer PRIMARY KEY, body text)", [], as);
  const filler = "INSERT INTO filler SELECT n, repeat(md5(n::text), 8) FROM generate_series(1, 5000) AS s (n)";
  await server.rows(filler, [], as);

  const acknowledged = new Set<number>();
  const errors: string[] = [];
  let next = 0;
  let slowestMs = 0;
  let stop = false;
  const writer = async (): Promise<void> => {
    while (!stop) {
      const id = next++;
      const started = performance.now();
      const reply = await server.sql("INSERT INTO entry VALUES ($1, $2)", [id, `note ${id}`], as);
      slowestMs = Math.max(slowestMs, performance.now() - started);
      if (reply.status === 200) acknowledged.add(id);
      else if (!isRetryable(reply)) errors.push(`${reply.status} ${JSON.stringify(reply.body)}`);
      await new Promise((resolve) => setTimeout(resolve, sized(60, 0)));
    }
  };
  const reader = async (): Promise<void> => {
    while (!stop) {
      const sql = "SELECT count(*), count(DISTINCT note) FROM filler JOIN entry USING (id)";
      const reply = await server.sql(sql, [], as);
      if (isRetryable(reply)) continue;
      await new Promise((resolve) => setTimeout(resolve, sized(250, 0)));
      const [rows, notes] = reply.body.data?.rows[0] ?? [];
      if (reply.status !== 200 || rows !== notes) errors.push(`read ${reply.status} ${JSON.stringify(reply.body)}`);
    }
  };
  const clients = [...Array.from({ length: WRITERS }, writer), reader()];
  const from = await partitionOf(server, "nomad");
  for (let i = 1; i <= MOVES; i++) {
    const to = (from + i) % 3;
    const move = await moved(server, "nomad", to, PATIENT_SECONDS);
    t.match(move, { state: "done", to, error: null });
    t.equal(await partitionOf(server, "nomad"), to);
    t.ok(move.copied_entries >= 5000);
    t.comment(`held ${move.held_ms} ms, copied ${move.copied_bytes} bytes, slowest insert ${Math.round(slowestMs)} ms`);
  }
  while (acknowledged.size <= 10) await new Promise((resolve) => setTimeout(resolve, 20));
  stop = true;
  await Promise.all(clients);
  t.same(errors, [], "clients saw no errors but those that tell them to try again");
  const check = async (when: string): Promise<void> => {
    const stored = await server.rows("SELECT id FROM entry ORDER BY id", [], as);
    t.same(new Set(stored.map(([id]) => Number(id))), acknowledged, `exactly the acknowledged rows ${when}`);
    t.equal(stored.length, acknowledged.size, `no row twice ${when}`);
    t.same(await server.rows("SELECT count(*) FROM filler WHERE body = repeat(md5(id::text), 8)", [], as), [[5000]]);
  };
  await check("after the moves");
  const placement = (await server.expect(200, "GET", "/admin/placement")).body.data;
  t.equal(placement.partitions.length, 3);
  t.equal(
    placement.partitions.reduce((sum: number, one: { tenants: number }) => sum + one.tenants, 0),
    2,
  );
  await server.kill();
  await server.boot();
  await check("after a crash");
});

/** For the tests that follow; each has a tenant of its own. */
const server = await TestServer.start({ TESSERA_ACTORS: "2" });
t.teardown(() => server.stop());

t.test("what a tenant has beside its rows comes along", async (t) => {
  const token = await server.tenant("rich");
  const as = { token };
  const from = await partitionOf(server, "rich");
  await server.rows("CREATE TABLE item (id serial PRIMARY KEY, name text)", [], as);
  await server.rows("INSERT INTO item (name) VALUES ('one'), ('two')", [], as);
  const prepared = (
    await server.expect(201, "POST", "/v1/query/prepare", { sql: "SELECT name FROM item WHERE id = $1" }, as)
  ).body.data;
  const once = { token, headers: { "idempotency-key": "k1" } };
  const insert = { sql: "INSERT INTO item (name) VALUES ('once') RETURNING id" };
  const first = await server.expect(200, "POST", "/v1/query/execute", insert, once);
  const onceInMemory = { token, headers: { "idempotency-key": "k2" } };
  const begun = await server.expect(201, "POST", "/v1/transactions", {}, onceInMemory);
  const id = begun.body.data.id;
  await server.expect(
    200,
    "POST",
    `/v1/transactions/${id}/execute`,
    { sql: "INSERT INTO item (name) VALUES ('lost')" },
    as,
  );

  const budget = "/admin/tenants/rich/budget";
  await server.expect(200, "PUT", budget, { rows_per_day: 5_000 });

  const move = await moved(server, "rich", 1 - from);
  t.match(move, { state: "done", error: null });
  t.match((await server.expect(200, "GET", budget)).body.data, { rows_per_day: 5_000 }, "its budget, too");
  await server.expect(200, "PUT", budget, { rows_per_day: 6_000 });
  const late = await server.call("POST", `/v1/transactions/${id}/commit`, {}, as);
  t.equal(late.status, 409, "a transaction that was open is to be retried");
  t.match(late.body.error, { code: "serialization_failure", details: { sqlstate: "40001" } });
  const again = await server.expect(200, "POST", "/v1/query/execute", insert, once);
  t.same(again.body.data.rows, first.body.data.rows, "a kept answer is given again");
  t.equal(again.headers.get("idempotency-replayed"), "true");
  const begunAgain = await server.expect(201, "POST", "/v1/transactions", {}, onceInMemory);
  t.equal(begunAgain.body.data.id, id, "one from memory, too");
  const name = await server.expect(
    200,
    "POST",
    "/v1/query/exec",
    { statement_id: prepared.statement_id, params: [2] },
    as,
  );
  t.same(name.body.data.rows, [["two"]]);
  const inserted = await server.rows("INSERT INTO item (name) VALUES ('next') RETURNING id", [], as);
  t.same(inserted, [[5]], "the sequence goes on without a gap but for the lost transaction's value");
  const stale = await server.call("POST", "/admin/tenants/rich/move", { partition: 1 - from });
  t.equal(stale.status, 409, "it is there already");
  t.equal((await server.call("DELETE", "/admin/tenants/rich/move")).status, 409, "nothing to cancel");
  t.equal((await server.call("POST", "/admin/tenants/rich/move", { partition: 9 })).status, 400);
  t.equal((await server.call("POST", "/admin/tenants/rich/move", {})).status, 400);
  t.equal((await server.call("POST", "/admin/tenants/nobody/move", { partition: 0 })).status, 404);
  const back = await moved(server, "rich", from);
  t.match(back, { state: "done" });
  t.match((await server.expect(200, "GET", budget)).body.data, { rows_per_day: 6_000 });
  t.same(await server.rows("SELECT count(*) FROM item", [], as), [[4]]);
});

t.test("a cancelled move leaves the tenant where it is", async (t) => {
  const token = await server.tenant("stays");
  const as = { token };
  const from = await partitionOf(server, "stays");
  await server.rows("CREATE TABLE item (id integer PRIMARY KEY)", [], as);
  const { id } = (await server.expect(201, "POST", "/v1/transactions", {}, as)).body.data;
  await server.expect(202, "POST", "/admin/tenants/stays/move", { actor: 1 - from, transaction_seconds: 60 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await server.expect(200, "POST", `/v1/transactions/${id}/execute`, { sql: "INSERT INTO item VALUES (1)" }, as);
  const cancelled = await server.expect(200, "DELETE", "/admin/tenants/stays/move");
  t.equal(cancelled.body.data.state, "cancelled");
  await server.expect(200, "POST", `/v1/transactions/${id}/commit`, {}, as);
  t.equal(await partitionOf(server, "stays"), from);
  t.same(await server.rows("SELECT id FROM item", [], as), [[1]]);
  t.match(await moved(server, "stays", 1 - from), { state: "done" });
  t.same(await server.rows("SELECT id FROM item", [], as), [[1]]);
});

t.test("a WebSocket stays open through moves", async (t) => {
  const token = await server.tenant("socket");
  const from = await partitionOf(server, "socket");
  await server.rows("CREATE TABLE item (id integer PRIMARY KEY)", [], { token });
  await server.rows("INSERT INTO item SELECT * FROM generate_series(1, 3000)", [], { token });
  const client = await SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${token}` });
  t.teardown(() => client.destroy());
  let stop = false;
  let answers = 0;
  const others = new Set<string>();
  const asking = (async () => {
    while (!stop) {
      client.send({ type: "query", id: answers, sql: "SELECT count(*) FROM item" });
      for (;;) {
        const message = await client.next();
        if (message.type === "sql.rows") t.same(message.rows, [[3000]]);
        else if (message.code === "partition_unavailable") t.equal(message.type, "error", "to be tried again");
        else if (message.type !== "sql.columns" && message.type !== "sql.done") others.add(JSON.stringify(message));
        if (message.type !== "sql.columns" && message.type !== "sql.rows") break;
      }
      answers++;
    }
  })();
  for (const to of [1 - from, from, 1 - from]) {
    t.match(await moved(server, "socket", to, PATIENT_SECONDS), { state: "done" });
  }
  const soFar = answers;
  while (answers < soFar + 3 && others.size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  stop = true;
  await asking;
  t.same([...others], [], `${answers} answers and nothing else`);
  t.equal(client.closed, null);
});
