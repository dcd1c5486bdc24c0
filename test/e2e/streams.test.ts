/** Results and exports that leave as they come: their forms, their errors, slow readers, and clients that go away. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { UnpackrStream } from "msgpackr";
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());
await server.sql("CREATE TABLE item (id integer PRIMARY KEY, name text, x double precision)");
await server.sql("INSERT INTO item SELECT i, 'item, ' || i, i / 4.0 FROM generate_series(1, 50000) i");

const lines = (body: string): unknown[] =>
  body
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const ndjson = { headers: { accept: "application/x-ndjson" } };

t.test("a query's rows as lines", async (t) => {
  const sql = "SELECT id, name FROM item WHERE id <= $1 ORDER BY id";
  const reply = await server.sql(sql, [2], ndjson);
  t.equal(reply.headers.get("content-type"), "application/x-ndjson");
  const [head, first, second, tail] = lines(reply.body) as object[];
  t.match(head, { columns: [{ name: "id", data_type: "integer" }, { name: "name" }] });
  t.same(
    [first, second],
    [
      [1, "item, 1"],
      [2, "item, 2"],
    ],
  );
  t.match(tail, { row_count: 2, truncated: false });
  const all = await server.call("POST", "/v1/query/execute", { sql: "TABLE item", max_rows: 40_000 }, ndjson);
  t.equal(lines(all.body).length, 40_002);
  t.match(lines(all.body).at(-1), { row_count: 40_000, truncated: true });
});

t.test("errors before the first row have their status, later ones end the stream", async (t) => {
  t.equal((await server.sql("SELECT 1 / 0", [], ndjson)).status, 400);
  const late = await server.call(
    "POST",
    "/v1/query/execute",
    { sql: "SELECT id, 1 / (40000 - id) FROM item ORDER BY id", max_rows: 100_000 },
    ndjson,
  );
  t.equal(late.status, 200);
  t.match(lines(late.body).at(-1), { error: { details: { sqlstate: "22012" } } });
});

t.test("a statement that writes answers after it has committed", async (t) => {
  const reply = await server.sql("INSERT INTO item VALUES (0, 'zero', 0) RETURNING id", [], ndjson);
  t.same(lines(reply.body)[1], [0]);
  t.match(lines(reply.body)[2], { row_count: 1, rows_affected: 1 });
  t.equal((await server.rows("SELECT count(*) FROM item WHERE id = 0"))[0]![0], 1);
  await server.sql("DELETE FROM item WHERE id = 0");
});

t.test("MessagePack, a value after the other", async (t) => {
  const response = await fetch(`${server.url}/v1/query/execute`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${server.token}`,
      "content-type": "application/json",
      accept: "application/x-msgpack-stream",
    },
    body: JSON.stringify({ sql: "SELECT id, name FROM item ORDER BY id", max_rows: 3 }),
  });
  const stream = new UnpackrStream({ useRecords: false });
  const values: unknown[] = [];
  stream.on("data", (value) => values.push(value));
  const read = once(stream, "end");
  stream.end(Buffer.from(await response.arrayBuffer()));
  await read;
  t.same(values.slice(1, 4), [
    [1, "item, 1"],
    [2, "item, 2"],
    [3, "item, 3"],
  ]);
});

t.test("export: CSV, JSON lines, of a table and of a query, compressed; import takes it back", async (t) => {
  const csv = await server.call("GET", "/v1/data/export?table=item");
  t.equal(csv.headers.get("content-type"), "text/csv; charset=utf-8");
  t.equal(csv.headers.get("content-disposition"), 'attachment; filename="item.csv"');
  t.ok(csv.body.startsWith('id,name,x\n1,"item, 1",0.25\n'));
  await server.sql("CREATE TABLE copy (id integer PRIMARY KEY, name text, x double precision)");
  const taken = await server.call("POST", "/v1/data/import/csv?table=copy", csv.body as string);
  t.equal(taken.body.data.rows, 50_000);
  const differing = "SELECT count(*) FROM (TABLE item EXCEPT TABLE copy) d";
  t.equal((await server.rows(differing))[0]![0], 0);

  const query = encodeURIComponent("SELECT id, NULL AS nothing FROM item WHERE id < 3 ORDER BY id");
  const rows = await server.call("GET", `/v1/data/export?sql=${query}&format=ndjson&gzip=true&filename=some.ndjson`);
  t.equal(rows.headers.get("content-encoding"), "gzip");
  t.same(lines(rows.body), [
    { id: 1, nothing: null },
    { id: 2, nothing: null },
  ]);

  const refused = await server.call("GET", `/v1/data/export?sql=${encodeURIComponent("DELETE FROM item")}`);
  t.ok(refused.status >= 400);
  t.equal((await server.call("GET", "/v1/data/export?table=nowhere")).status, 400);
  t.equal((await server.call("GET", "/v1/data/export")).status, 400);
  t.equal((await server.rows("SELECT count(*) FROM item"))[0]![0], 50_000);
});

t.test("a slow reader stops the cursor; others go on; leaving ends the query", async (t) => {
  const { hostname, port } = new URL(server.url);
  const socket = net.connect(Number(port), hostname);
  const sql = encodeURIComponent("SELECT a.id, repeat('x', 1000) FROM item a, generate_series(1, 100)");
  const first = once(socket, "data").then(() => socket.pause());
  socket.write(`GET /v1/data/export?sql=${sql} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n\r\n`);
  await first;
  const before = residentBytes();
  // The table that was just imported may be analysed meanwhile, in a transaction of its own.
  while (!/ 1$/.test(await gauge("tessera_partition_open_transactions"))) await sleep(20);
  // Many turns of the actor; without a window it would have made some hundred megabytes meanwhile.
  for (let i = 0; i < 200; i++) await server.rows("SELECT 1");
  t.ok(residentBytes() - before < 100e6, "what is not read is not made");
  socket.destroy();
  while (!/ 0$/.test(await gauge("tessera_partition_open_transactions"))) await sleep(20);
});

t.test("a long answer in one JSON document is not held either", async (t) => {
  const sql = "SELECT id, repeat('né😀', 30) FROM item ORDER BY id";
  const reply = await server.call("POST", "/v1/query/execute", { sql, max_rows: 40_000 });
  t.equal(reply.status, 200);
  t.equal(reply.headers.get("content-type"), "application/json");
  t.equal(reply.headers.get("content-length"), null, "it came in pieces");
  const { rows, truncated, columns, execution_time_ms } = reply.body.data;
  t.equal(rows.length, 40_000);
  t.ok(rows.every(([id, text]: [number, string], i: number) => id === i + 1 && text === "né😀".repeat(30)));
  t.match({ truncated, columns }, { truncated: true, columns: [{ name: "id" }, { name: "repeat" }] });
  t.ok(execution_time_ms > 0);
  t.equal(reply.body.meta.request_id, reply.headers.get("x-request-id"));
  // What has begun cannot become an error any more: the connection is cut.
  const failing = "SELECT id, repeat('x', 500), 1 / (40000 - id) FROM item ORDER BY id";
  await t.rejects(server.call("POST", "/v1/query/execute", { sql: failing, max_rows: 50_000 }));
  const early = "SELECT id, repeat('x', 500), 1 / (4000 - id) FROM item ORDER BY id";
  t.equal((await server.call("POST", "/v1/query/execute", { sql: early, max_rows: 50_000 })).status, 400);
});

t.test("whoever does not read a long answer costs little, with any number of them", async (t) => {
  const { hostname, port } = new URL(server.url);
  const body = JSON.stringify({
    sql: "SELECT a.id, repeat('x', 1000) FROM item a, generate_series(1, 100)",
    max_rows: 5_000_000,
  });
  const before = residentBytes();
  const sockets = Array.from({ length: 4 }, () => {
    const socket = net.connect(Number(port), hostname);
    socket.pause();
    socket.write(
      `POST /v1/query/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    return socket;
  });
  // Each would be five gigabytes.
  await sleep(1500);
  for (let i = 0; i < 100; i++) await server.rows("SELECT 1");
  const grown = residentBytes() - before;
  t.ok(grown < 200e6, `${Math.round(grown / 1e6)} MB`);
  for (const socket of sockets) socket.destroy();
  while (!/ 0$/.test(await gauge("tessera_partition_open_transactions"))) await sleep(20);
});

async function gauge(name: string): Promise<string> {
  const { body } = await server.call("GET", "/metrics");
  return (body as string).split("\n").find((line) => line.startsWith(name))!;
}

function residentBytes(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024;
}

t.test("values that are too long to be held", async (t) => {
  const sql = `SELECT 0 AS i, 'x' AS t, NULL AS n, 0 AS j UNION ALL SELECT i, repeat('é"', 1500000 * i), NULL, i + 1
    FROM generate_series(1, 2) i UNION ALL SELECT 3, 'y', NULL, 4`;
  const { status, body } = await server.sql(sql);
  t.equal(status, 200);
  const rows: readonly (readonly [number, string, null, number])[] = body.data.rows;
  t.strictSame(
    rows.map(([i, text, n, j]) => [i, text.length, n, j]),
    [
      [0, 1, null, 0],
      [1, 3_000_000, null, 2],
      [2, 6_000_000, null, 3],
      [3, 1, null, 4],
    ],
  );
  t.ok(rows[2]![1] === 'é"'.repeat(3_000_000));
});
