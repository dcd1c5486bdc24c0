/**
 * Answers that are compressed: which, how, and that they are the same; how streams come through and slow readers are
 * waited for.
 */
import { once } from "node:events";
import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliDecompressSync, createBrotliDecompress, createGunzip, gunzipSync } from "node:zlib";
import t from "tap";
import { chosenEncoding } from "../../src/gateway/compression.js";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());
await server.sql("CREATE TABLE item AS SELECT i AS id, 'some words ' || i AS name FROM generate_series(1, 20000) i");

interface Raw {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

function request(method: string, path: string, headers: Record<string, string>, body = ""): http.ClientRequest {
  const all = { authorization: `Bearer ${server.token}`, "content-type": "application/json", ...headers };
  const sent = http.request(`${server.url}${path}`, { method, headers: all });
  sent.end(body);
  return sent;
}

async function raw(method: string, path: string, headers: Record<string, string>, body?: string): Promise<Raw> {
  const [reply] = (await once(request(method, path, headers, body), "response")) as [http.IncomingMessage];
  const pieces: Buffer[] = [];
  for await (const piece of reply) pieces.push(piece as Buffer);
  return { status: reply.statusCode!, headers: reply.headers, body: Buffer.concat(pieces) };
}

const query = (sql: string, encoding: string, accept = "application/json") =>
  raw("POST", "/v1/query/execute", { accept, "accept-encoding": encoding }, JSON.stringify({ sql, max_rows: 100_000 }));

const rowsOf = (body: Buffer): unknown => JSON.parse(body.toString()).data.rows;
const DECODERS = { gzip: gunzipSync, br: brotliDecompressSync } as const;

t.test("which encoding a header likes most", async (t) => {
  for (const [header, encoding] of [
    ["", null],
    ["gzip", "gzip"],
    ["x-gzip", "gzip"],
    ["gzip, deflate, br", "br"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["br;q=0, gzip;q=0.1", "gzip"],
    ["*", "br"],
    ["*;q=0", null],
    ["identity", null],
    ["deflate", null],
    ["br;q=x, gzip", "gzip"],
  ] as const) {
    t.equal(chosenEncoding(header), encoding, header);
  }
});

t.test("a whole answer", async (t) => {
  const sql = "SELECT * FROM item WHERE id <= 500 ORDER BY id";
  const plain = await query(sql, "identity");
  t.equal(plain.headers["content-encoding"], undefined);
  t.equal(plain.headers.vary, "Accept-Encoding");
  for (const encoding of ["gzip", "br"] as const) {
    const coded = await query(sql, encoding);
    t.equal(coded.headers["content-encoding"], encoding);
    t.equal(coded.headers.vary, "Accept-Encoding");
    t.equal(Number(coded.headers["content-length"]), coded.body.length);
    t.ok(coded.body.length * 2 < plain.body.length);
    t.same(rowsOf(DECODERS[encoding](coded.body)), rowsOf(plain.body));
  }
  const short = await query("SELECT 1", "gzip");
  t.equal(short.headers["content-encoding"], undefined);
  t.equal(short.headers.vary, undefined);
  const head = await raw("HEAD", "/v1/openapi.json", { "accept-encoding": "gzip" });
  t.equal(head.body.length, 0);
});

t.test("answers in pieces", async (t) => {
  const plain = await query("TABLE item", "identity", "application/x-ndjson");
  for (const encoding of ["gzip", "br"] as const) {
    const coded = await query("TABLE item", encoding, "application/x-ndjson");
    t.equal(coded.headers["content-encoding"], encoding);
    t.ok(coded.body.length * 3 < plain.body.length);
    const text = DECODERS[encoding](coded.body).toString();
    t.equal(
      text.replace(/"execution_time_ms":[\d.]+/, ""),
      plain.body.toString().replace(/"execution_time_ms":[\d.]+/, ""),
    );
  }
  const csv = await raw("GET", "/v1/data/export?table=item&gzip=true", { "accept-encoding": "br" });
  t.equal(csv.headers["content-encoding"], "gzip");
  t.match(gunzipSync(csv.body).toString(), /^id,name\n1,some words 1\n/);
  const parquet = await raw("GET", "/v1/data/export?table=item&format=parquet", { "accept-encoding": "br" });
  t.equal(parquet.headers["content-encoding"], undefined);
  t.equal(parquet.body.subarray(0, 4).toString(), "PAR1");
});

t.test("rows arrive as they are made: pieces are flushed", async (t) => {
  // The first rows come at once, the last ones not for a long time.
  const sql =
    "SELECT id, CASE WHEN id > 15000 THEN (SELECT count(*) FROM generate_series(1, 100000 + id)) END FROM item ORDER BY id";
  for (const [encoding, decoder] of [
    ["gzip", createGunzip()],
    ["br", createBrotliDecompress()],
  ] as const) {
    const headers = { accept: "application/x-ndjson", "accept-encoding": encoding };
    const sent = request("POST", "/v1/query/execute", headers, JSON.stringify({ sql, max_rows: 100_000 }));
    const [reply] = (await once(sent, "response")) as [http.IncomingMessage];
    reply.pipe(decoder);
    const [piece] = (await once(decoder, "data")) as [Buffer];
    t.match(piece.toString(), /"columns"/);
    sent.destroy();
  }
  t.same(await server.rows("SELECT 1"), [[1]]);
});

t.test("a slow reader stops the cursor; leaving ends the query", async (t) => {
  const sql = "SELECT md5(a.id::text || b) FROM item a, generate_series(1, 500) b";
  const headers = { accept: "application/x-ndjson", "accept-encoding": "gzip" };
  const sent = request("POST", "/v1/query/execute", headers, JSON.stringify({ sql, max_rows: 10_000_000 }));
  const [reply] = (await once(sent, "response")) as [http.IncomingMessage];
  await once(reply, "readable");
  const taken = async (): Promise<number> => {
    const { body } = await server.call("GET", "/metrics");
    return Number(/^tessera_http_compression_input_bytes_total\{encoding="gzip"\} (\d+)/m.exec(body)![1]);
  };
  let before = -1;
  // Sockets and windows fill up; then nothing is made any more.
  for (let now = await taken(); now !== before; now = await taken()) {
    before = now;
    await sleep(300);
  }
  t.ok(before < 100e6);
  sent.destroy();
  t.same(await server.rows("SELECT count(*) FROM item"), [[20_000]]);
});

t.test("clients that leave while their answer is encoded do no harm", async (t) => {
  for (let i = 0; i < 20; i++) {
    const body = JSON.stringify({ sql: "SELECT * FROM item WHERE id <= 9000", max_rows: 9000 });
    const sent = request("POST", "/v1/query/execute", { "accept-encoding": "br" }, body);
    sent.on("error", () => {});
    await sleep(i * 3);
    sent.destroy();
  }
  t.same(await server.rows("SELECT count(*) FROM item"), [[20_000]]);
});

t.test("not answers with secrets, nor events; and it can be switched off", async (t) => {
  const login = await raw("GET", "/admin/tenants?limit=100", { "accept-encoding": "gzip" });
  t.equal(login.headers["content-encoding"], undefined);
  const off = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_SERVER_COMPRESSION: "false" });
  const reply = await fetch(`${off.url}/v1/query/execute`, {
    method: "POST",
    headers: { authorization: `Bearer ${off.token}`, "content-type": "application/json", "accept-encoding": "gzip" },
    body: JSON.stringify({ sql: "SELECT repeat('x', 5000)" }),
  });
  t.equal(reply.headers.get("content-encoding"), null);
  await off.stop();
});
