/**
 * Import of files over a real socket: what is stored, what is refused and how, and that nothing is stored in halves.
 */
import { readFileSync } from "node:fs";
import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import t from "tap";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";

t.setTimeout(280_000);

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());

/** Rows of a body that comes in pieces. */
const LARGE = sized(20_000, 100_000);

const CSV = "/v1/data/import/csv";
const NDJSON = "/v1/data/import/ndjson";
const COLUMNS = "id integer PRIMARY KEY, name text, x double precision, at timestamp, ok boolean";

const csvOf = (from: number, to: number): string => {
  let text = "";
  for (let i = from; i < to; i++) text += `${i},name ${i},${i / 4},2024-03-01 12:00:00,${i % 2 === 0 ? "t" : "f"}\n`;
  return text;
};
const count = async (table: string): Promise<unknown> => (await server.rows(`SELECT count(*) FROM ${table}`))[0]![0];
const send = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  server.call("POST", path, body, { headers: { "content-type": "application/octet-stream", ...headers } });

/** A request whose body the test writes as it likes; `answer` is null when the connection ended without one. */
function open(path: string, token = server.token) {
  const { hostname, port } = new URL(server.url);
  const request = http.request({ hostname, port, path, method: "POST", headers: { authorization: `Bearer ${token}` } });
  const answer = new Promise<{ status: number; text: string } | null>((resolve) => {
    request.on("error", () => resolve(null));
    request.on("response", (response) => {
      let text = "";
      response.on("data", (piece) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode!, text }));
      response.on("error", () => resolve(null));
    });
  });
  const write = async (text: string): Promise<void> => {
    if (!request.write(text)) await Promise.race([new Promise((resolve) => request.once("drain", resolve)), answer]);
  };
  return { request, answer, write };
}

t.test("CSV: header, quotes, NULL, types", async (t) => {
  await server.sql(`CREATE TABLE plain (${COLUMNS})`);
  const text = 'name,id,ok,x,at\n"a, ""b""\nc",1,t,1e3,2024-02-29T01:02:03.5\n"",2,,,\n,3,no,-0.5,infinity\n';
  const reply = await send(`${CSV}?table=plain`, text);
  t.equal(reply.status, 200);
  t.match(reply.body.data, { rows: 3, rows_skipped: 0, bytes: text.length });
  t.same(await server.rows("SELECT id, name, x, at::text, ok FROM plain ORDER BY id"), [
    [1, 'a, "b"\nc', 1000, "2024-02-29 01:02:03.5", true],
    [2, "", null, null, null],
    [3, null, -0.5, "infinity", false],
  ]);
});

t.test("settings: columns, delimiter, quote, null, no header, encoding, gzip", async (t) => {
  await server.sql("CREATE TABLE set (a text, b integer, c text)");
  const query = `table=public.set&columns=b,a&delimiter=${encodeURIComponent(";")}&quote='&null=NIL&header=false`;
  const latin = Buffer.from("1;'größer; ''als'''\n2;NIL\r\n\n3;'NIL'", "latin1");
  const reply = await send(`${CSV}?${query}&encoding=latin1`, gzipSync(latin), { "content-encoding": "gzip" });
  t.equal(reply.status, 200, JSON.stringify(reply.body));
  t.same(await server.rows("SELECT a, b, c FROM set ORDER BY b"), [
    ["größer; 'als'", 1, null],
    [null, 2, null],
    ["NIL", 3, null],
  ]);
});

t.test("NDJSON: objects and arrays", async (t) => {
  await server.sql("CREATE TABLE doc (id bigint PRIMARY KEY, tags text[], body jsonb, n numeric)");
  const reply = await send(
    `${NDJSON}?table=doc`,
    '{"id":1,"tags":["a","b"],"body":{"k":[1]},"n":1.5}\n\n{"id":2,"n":null}\n[3,null,"text",7]',
  );
  t.equal(reply.status, 200, JSON.stringify(reply.body));
  t.same(await server.rows("SELECT id, tags, body, n FROM doc ORDER BY id"), [
    [1, ["a", "b"], { k: [1] }, 1.5],
    [2, null, null, null],
    [3, null, "text", 7],
  ]);
});

t.test("one JSON array, where a value per line is expected", async (t) => {
  await server.sql("CREATE TABLE listed (id integer, n text)");
  const rows = [
    { id: 1, n: "a" },
    { id: 2, n: "b" },
  ];
  for (const body of [JSON.stringify(rows), JSON.stringify(rows, null, 1), JSON.stringify(rows[0], null, 1)]) {
    for (const query of ["table=listed", "table=made&create=true"]) {
      const { status, body: reply } = await send(`${NDJSON}?${query}`, body);
      t.match([status, reply.error.code], [400, "invalid_json"], body);
      t.match(reply.error.details, { line: 1, hint: /one whole value on each line/ });
    }
  }
  t.match((await send(`${NDJSON}?table=listed`, JSON.stringify(rows))).body.error.message, /array of objects/);
  t.equal(await count("listed"), 0);
  await server.sql("CREATE TABLE boxes (a jsonb, b jsonb)");
  t.equal((await send(`${NDJSON}?table=boxes`, JSON.stringify(rows))).status, 200, "fields that are objects");
  t.same(await server.rows("SELECT a->>'n', b->>'n' FROM boxes"), [["a", "b"]]);
  const { body: csv } = await send(`${CSV}?table=listed`, JSON.stringify(rows));
  t.match(csv.error.details.hint, /\/v1\/data\/import\/ndjson/);
});

t.test("a wrong row is named, and nothing is stored", async (t) => {
  await server.sql(`CREATE TABLE strict (${COLUMNS})`);
  await server.sql("CREATE TABLE checked (id integer PRIMARY KEY, n integer CHECK (n > 0), u text UNIQUE)");
  const good = csvOf(0, 2000);
  const cases: readonly (readonly [string, string, string, number, object])[] = [
    [
      CSV,
      "strict&header=false",
      `${good}2000,n,zero,,\n`,
      400,
      { sqlstate: "22P02", line: 2001, column: "x", value: "zero" },
    ],
    [CSV, "strict&header=false", `${good}99999999999,n,0,,\n`, 400, { sqlstate: "22003", line: 2001, column: "id" }],
    [CSV, "strict&header=false", `${good}7,n,0,,\n`, 409, { sqlstate: "23505", line: 2001 }],
    [CSV, "strict&header=false", `${good}2000,n\n`, 400, { sqlstate: "22P04", line: 2001, column: "x" }],
    [CSV, "strict&header=false", `${good},n,0,,\n`, 409, { sqlstate: "23502", line: 2001, column: "id" }],
    [CSV, "strict&header=false", `${good}1,"n\n`, 400, { sqlstate: "22P04", line: 2001 }],
    [CSV, "strict", "id,nam\n1,a\n", 400, { sqlstate: "42703", column: "nam" }],
    [CSV, "checked", "id,n,u\n1,1,a\n2,2,b\n3,-1,c\n", 409, { sqlstate: "23514", line: 4 }],
    [CSV, "checked", "id,n,u\n1,1,a\n2,2,a\n", 409, { sqlstate: "23505", line: 3 }],
    [CSV, "checked", "id,n,u\n1,1,a\n2,x,b\n", 400, { sqlstate: "22P02", line: 3 }],
    [NDJSON, "strict", '{"id":1}\n{"id":2,"x":"?"}\n', 400, { sqlstate: "42703", line: 2, column: "x" }],
    [NDJSON, "strict&columns=id,x", '{"id":1}\n{"id":2,"x":"?"}\n', 400, { sqlstate: "22P02", line: 2, column: "x" }],
    [NDJSON, "strict", '{"id":1}\n{"id":2\n', 400, { line: 2 }],
  ];
  for (const [path, query, body, status, details] of cases) {
    const reply = await send(`${path}?table=${query}`, body);
    t.equal(reply.status, status, JSON.stringify(reply.body));
    t.match(reply.body.error.details, details);
  }
  const badText = await send(`${CSV}?table=strict&header=false`, Buffer.from("1,a\xff,,,\n", "latin1"));
  t.match(badText.body.error.details, { sqlstate: "22021", line: 1 });
  t.equal((await send(`${CSV}?table=nowhere`, "a\n")).status, 404);
  t.equal((await send(`${CSV}?table=strict&encoding=klingon`, "id\n1\n")).status, 400);
  t.equal((await send(`${CSV}?table=strict`, "no gzip", { "content-encoding": "gzip" })).status, 400);
  t.equal(await count("strict"), 0);
  t.equal(await count("checked"), 0);
});

t.test("on_conflict; defaults, checks and indexes", async (t) => {
  await server.sql("CREATE TABLE item (id serial PRIMARY KEY, sku text UNIQUE, n integer DEFAULT 5 CHECK (n > 0))");
  t.match((await send(`${CSV}?table=item`, "sku\na\nb\n")).body.data, { rows: 2 });
  const ignored = await send(`${CSV}?table=item&on_conflict=ignore`, "sku,n\nb,9\nc,9\n");
  t.match(ignored.body.data, { rows: 1, rows_skipped: 1 });
  const updated = await send(`${CSV}?table=item&on_conflict=update&conflict_columns=sku`, "sku,n\na,7\nd,8\na,9\n");
  t.match(updated.body.data, { rows: 3 }, JSON.stringify(updated.body));
  t.same(await server.rows("SELECT sku, n FROM item ORDER BY sku"), [
    ["a", 9],
    ["b", 5],
    ["c", 9],
    ["d", 8],
  ]);
});

t.test("tables with indexes, checks, defaults and foreign keys take files as they take INSERT", async (t) => {
  const columns = `id integer PRIMARY KEY, k integer NOT NULL CHECK (k >= 0), name text UNIQUE, x numeric(8,2) DEFAULT 1.5,
    maker integer REFERENCES maker, number serial, boss integer, at date DEFAULT DATE '2024-02-03'`;
  await server.sql("CREATE TABLE maker (id integer PRIMARY KEY)");
  await server.sql("INSERT INTO maker SELECT generate_series(1, 9)");
  for (const name of ["filed", "inserted"]) {
    await server.sql(`CREATE TABLE ${name} (${columns}, FOREIGN KEY (boss) REFERENCES ${name})`);
    await server.sql(`CREATE INDEX ON ${name} (k DESC, id)`);
    await server.sql(`CREATE INDEX ON ${name} (lower(name)) WHERE k > 50`);
  }
  const row = (i: number): string =>
    `${9999 - i},${i % 97},Name ${i},${i % 5 === 0 ? "" : (i % 9) + 1},${9999 - (i >> 1)}`;
  const lines = Array.from({ length: 3000 }, (_, i) => row(i));
  const header = "id,k,name,maker,boss\n";
  t.match((await send(`${CSV}?table=filed`, `${header}${lines.join("\n")}`)).body.data, { rows: 3000 });
  const values = lines.map((line) => {
    const [id, k, name, maker, boss] = line.split(",");
    return `(${id}, ${k}, '${name}', ${maker === "" ? "NULL" : maker}, ${boss})`;
  });
  for (let from = 0; from < 3000; from += 500) {
    await server.sql(`INSERT INTO inserted (id,k,name,maker,boss) VALUES ${values.slice(from, from + 500).join(",")}`);
  }
  for (const query of [
    "SELECT * FROM t ORDER BY id",
    "SELECT k, id FROM t ORDER BY k DESC, id",
    "SELECT id FROM t WHERE name = 'Name 77'",
    "SELECT count(*) FROM t WHERE lower(name) LIKE 'name 1%' AND k > 50",
  ]) {
    const of = (table: string) => server.rows(query.replace("FROM t", `FROM ${table}`));
    t.strictSame(await of("filed"), await of("inserted"), query);
  }
  for (const [line, sqlstate] of [
    [`20000,-1,new,1,`, "23514"],
    [`20000,,new,1,`, "23502"],
    [`20000,1,Name 5,1,`, "23505"],
    [`9999,1,new,1,`, "23505"],
    [`20000,1,new,10,`, "23503"],
    [`20000,1,new,1,20001`, "23503"],
  ] as const) {
    const body = `${header}30000,1,one more,2,20000\n${line}\n30001,1,and more,2,\n`;
    const { body: answer } = await send(
      `${CSV}?table=filed`,
      line.startsWith("20000,1") ? body : body.replace(",20000\n", ",\n"),
    );
    const details = answer.error?.details;
    t.match(details, { sqlstate, line: 3 }, `${line}: ${JSON.stringify(answer)}`);
  }
  const twice = await send(`${CSV}?table=filed`, `${header}1,1,same,1,\n2,1,other,1,\n3,1,same,1,\n`);
  t.match(twice.body.error.details, { sqlstate: "23505", line: 4 });
  t.equal(await count("filed"), 3000);
});

t.test("parents, children and partitions", async (t) => {
  for (const sql of [
    "CREATE TABLE parent (id integer PRIMARY KEY, k integer CHECK (k > 0))",
    "CREATE TABLE child (more text UNIQUE) INHERITS (parent)",
    "CREATE TABLE parted (id integer, k integer, PRIMARY KEY (id)) PARTITION BY RANGE (id)",
    "CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (0) TO (100)",
    "CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (100) TO (1000)",
  ]) {
    await server.sql(sql);
  }
  t.match((await send(`${CSV}?table=parent`, "id,k\n1,1\n2,2\n")).body.data, { rows: 2 });
  t.match((await send(`${CSV}?table=child`, "id,k,more\n1,1,a\n3,3,b\n")).body.data, { rows: 2 });
  const inherited = await send(`${CSV}?table=child`, "id,k,more\n4,0,c\n");
  t.match(inherited.body.error.details, { sqlstate: "23514", line: 2 });
  t.same(await server.rows("SELECT id FROM parent ORDER BY id, tableoid"), [[1], [1], [2], [3]]);
  t.match((await send(`${CSV}?table=parted`, "id,k\n5,1\n500,2\n")).body.data, { rows: 2 });
  t.match((await send(`${CSV}?table=parted_low`, "id,k\n6,1\n")).body.data, { rows: 1 });
  const stray = await send(`${CSV}?table=parted_low`, "id,k\n7,1\n600,1\n");
  t.match(stray.body.error.details, { sqlstate: "23514", line: 3 });
  t.same(await server.rows("SELECT id FROM parted_low ORDER BY id"), [[5], [6]]);
  t.same(await server.rows("SELECT id FROM parted ORDER BY id"), [[5], [6], [500]]);
});

t.test("a large body in pieces, with progress, while another tenant works", async (t) => {
  await server.sql(`CREATE TABLE large (${COLUMNS})`);
  const other = await server.tenant("neighbour");
  const { request, answer, write } = open(`${CSV}?table=large&header=false`);
  request.setHeader("accept", "application/x-ndjson");
  let served = 0;
  for (let from = 0; from < LARGE; from += LARGE / 20) {
    await write(csvOf(from, from + LARGE / 20));
    served += (await server.rows("SELECT 1", [], { token: other })).length;
  }
  request.end();
  const lines = (await answer)!.text.trim().split("\n");
  t.match(JSON.parse(lines.at(-1)!), { data: { rows: LARGE } });
  t.equal(served, 20, "the other tenant was answered after each piece, before the body's end");
  t.equal(await count("large"), LARGE);
  t.equal((await server.rows("SELECT x FROM large WHERE id = $1", [LARGE - 1]))[0]![0], (LARGE - 1) / 4);
});

t.test("an error before any progress has its status; later it is the stream's last event", async (t) => {
  const early = await send(`${CSV}?table=large&header=false`, csvOf(5, 6), { accept: "text/event-stream" });
  t.equal(early.status, 409);
  const { request, answer, write } = open(`${CSV}?table=large&header=false`);
  request.setHeader("accept", "text/event-stream");
  let told = false;
  request.on("response", (response) => response.once("data", () => (told = true)));
  for (let from = LARGE; !told; from += 10) {
    await write(csvOf(from, from + 10));
    await sleep(10);
  }
  request.end(csvOf(5, 6));
  const { status, text } = (await answer)!;
  t.equal(status, 200);
  const events = text
    .trim()
    .split("\n\n")
    .map((event) => JSON.parse(event.slice("data: ".length)));
  t.ok(events[0].progress.rows > 0);
  t.match(events.at(-1).error.details, { sqlstate: "23505" });
  t.equal(await count("large"), LARGE);
});

t.test("imports at the same time; the loser of a conflict stores nothing", async (t) => {
  await server.sql(`CREATE TABLE shared (${COLUMNS})`);
  const replies = await Promise.all(
    [0, 20_000, 0].map((from) => send(`${CSV}?table=shared&header=false`, csvOf(from, from + 20_000))),
  );
  const statuses = replies.map(({ status }) => status).sort();
  t.same(statuses, [200, 200, 409]);
  t.equal(await count("shared"), 40_000);
});

/** The last event of an import during which, after its first rows, `meanwhile` runs. Rows are one more number each. */
async function during(query: string, meanwhile: () => Promise<void>) {
  const { request, answer, write } = open(`${CSV}?header=false&${query}`);
  request.setHeader("accept", "text/event-stream");
  let told = false;
  request.on("response", (response) => response.once("data", () => (told = true)));
  let row = 1;
  for (; !told; row++) {
    await write(`${row},1\n`);
    await sleep(10);
  }
  await meanwhile();
  request.end(`${row},1\n`);
  const events = (await answer)!.text.trim().split("\n\n");
  return { rows: row, last: JSON.parse(events.at(-1)!.slice("data: ".length)) };
}

t.test("definitions of other tables may change during an import", async (t) => {
  await server.rows("CREATE TABLE origin (id integer PRIMARY KEY)");
  await server.rows("INSERT INTO origin VALUES (1)");
  await server.rows("CREATE TABLE other (id integer)");
  await server.rows("CREATE TABLE apart (id integer PRIMARY KEY, k integer REFERENCES origin, n serial UNIQUE)");
  const unrelated = async () => {
    await server.rows("ALTER TABLE other ADD COLUMN more text DEFAULT 'x'");
    await server.rows("CREATE INDEX ON other (more)");
    await server.rows("CREATE TABLE another (id serial PRIMARY KEY, k integer)");
    await server.rows("CREATE TYPE mood AS ENUM ('sad', 'ok')");
    await server.rows("CREATE FUNCTION twice_as_much(x integer) RETURNS integer LANGUAGE sql AS 'SELECT 2 * x'");
    await server.rows("ALTER TABLE other DROP COLUMN more");
    await server.rows("DROP TABLE another");
    await server.rows("DROP TYPE mood");
    await server.rows("DROP FUNCTION twice_as_much");
  };
  for (const query of ["table=apart&columns=id,k", "table=apart&columns=id,k&on_conflict=update"]) {
    await server.rows("DELETE FROM apart");
    const { rows, last } = await during(query, unrelated);
    t.match(last, { data: { rows } }, JSON.stringify(last));
    t.same(await server.rows("SELECT count(*), count(DISTINCT n), min(k) FROM apart WHERE id > 0"), [[rows, rows, 1]]);
  }
});

t.test("definitions that an import rests on may not", async (t) => {
  await server.rows("CREATE TABLE source (id integer PRIMARY KEY)");
  await server.rows("INSERT INTO source VALUES (1)");
  await server.rows("CREATE TABLE joined (id integer PRIMARY KEY, k integer REFERENCES source)");
  const changes = [
    "ALTER TABLE joined ADD COLUMN more integer NOT NULL DEFAULT 7",
    "CREATE INDEX ON joined (k)",
    "ALTER TABLE source ADD CONSTRAINT small CHECK (id < 10)",
    "CREATE TABLE referring (id integer REFERENCES joined)",
  ];
  for (const change of changes) {
    const { last } = await during("table=joined&columns=id,k", async () => void (await server.rows(change)));
    t.match(last, { error: { code: "serialization_failure", details: { table: "joined" } } }, change);
    t.equal(await count("joined"), 0);
  }
  const { last } = await during("table=joined&columns=id,k", async () => void (await server.rows("SELECT 1")));
  t.ok(last.data.rows > 0, "and without a change it goes through");
});

t.test("a client that goes away takes its rows along", async (t) => {
  await server.sql(`CREATE TABLE gone (${COLUMNS})`);
  const { request, answer, write } = open(`${CSV}?table=gone&header=false`);
  await write(csvOf(0, 50_000));
  await sleep(50);
  request.destroy();
  t.equal(await answer, null);
  t.equal(await count("gone"), 0);
  t.equal((await send(`${CSV}?table=gone&header=false`, csvOf(0, 10))).status, 200);
});

t.test("memory follows the window, not the body, when the rows are waited for", async (t) => {
  await server.sql("CREATE TABLE wide (id integer PRIMARY KEY, t text)");
  const before = residentBytes();
  const { request, answer, write } = open(`${CSV}?table=wide`);
  await write("id,t\n1,x\n");
  // A wrong row early on: what follows is dropped as it comes.
  await write("one,x\n");
  const piece = "2,".padEnd(1_000_000, "y");
  for (let i = 0; i < 60; i++) await write(piece);
  request.end();
  t.match(await answer, { status: 400 });
  t.ok(residentBytes() - before < 200e6, "60 MB were not kept");
});

t.test("killed in the middle of an import, and after one", async (t) => {
  await server.sql(`CREATE TABLE survivor (${COLUMNS})`);
  t.equal((await send(`${CSV}?table=survivor&header=false`, csvOf(0, 30_000))).status, 200);
  const { answer, write } = open(`${CSV}?table=survivor&header=false`);
  await write(csvOf(30_000, 60_000));
  await sleep(50);
  await server.kill();
  t.equal(await answer, null);
  await server.boot();
  t.equal(await count("survivor"), 30_000);
});

function residentBytes(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024;
}
