/** Parquet and Arrow: files of other programs come in, and what goes out is read by the formats' own packages. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  Dictionary,
  Int32,
  RecordBatchStreamWriter,
  Table,
  tableFromArrays,
  tableFromIPC,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from "apache-arrow";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());

const ARROW = "application/vnd.apache.arrow.stream";
const headers = { authorization: `Bearer ${server.token}` };

async function bytesOf(path: string, init: RequestInit = {}): Promise<Uint8Array> {
  const response = await fetch(server.url + path, { ...init, headers: { ...headers, ...init.headers } });
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${Buffer.from(bytes)}`);
  return bytes;
}

const arrowOf = async (sql: string) =>
  tableFromIPC(
    await bytesOf("/v1/query/execute", {
      method: "POST",
      headers: { accept: ARROW, "content-type": "application/json" },
      body: JSON.stringify({ sql, max_rows: 1_000_000 }),
    }),
  );

const send = (format: string, query: string, bytes: Uint8Array) =>
  server.call("POST", `/v1/data/import/${format}?${query}`, bytes, {
    headers: { "content-type": "application/x-any" },
  });

const EVERY_KIND = `SELECT true AS flag, 1::int2 AS small, 2::int4 AS whole, 9007199254740993::int8 AS big, 4294967295::oid AS id,
  .25::float4 AS f4, .125::float8 AS f8, 12.50::numeric(9,2) AS price, 1.5::numeric AS free, 'é"'::text AS words, '\\x00ff'::bytea AS bytes,
  date '2026-01-02' AS day, time '12:34:56.789' AS clock, timestamp '2026-11-26 10:20:30.123456' AS moment,
  timestamptz '2026-11-26 10:20:30.5+00' AS instant, interval '1 day' AS span, '{"n":[1]}'::jsonb AS doc, '[1,2.5]'::vector(2) AS v,
  ARRAY[1,NULL,3] AS list, ROW(1,'x') AS pair, NULL::int4 AS nothing`;

t.test("a query's rows as a stream of Arrow: every kind of column", async (t) => {
  await server.sql(`CREATE TABLE kinds AS ${EVERY_KIND.replace("ROW(1,'x') AS pair,", "")}`);
  await server.sql("INSERT INTO kinds (nothing) VALUES (NULL)");
  const table = await arrowOf("SELECT * FROM kinds");
  const types = Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)]));
  t.match(types, {
    flag: "Bool",
    small: "Int16",
    whole: "Int32",
    big: "Int64",
    id: "Uint32",
    f4: "Float32",
    f8: "Float64",
    price: "Decimal[9e+2]",
    free: "Utf8",
    bytes: "Binary",
    day: "Date32<DAY>",
    clock: "Time64<MICROSECOND>",
    moment: "Timestamp<MICROSECOND>",
    instant: "Timestamp<MICROSECOND, UTC>",
    doc: "Utf8",
    v: "FixedSizeList[2]<Float32>",
    list: "List<Int32>",
  });
  const [row, nulls] = table.toArray().map((each) => each.toJSON());
  t.equal(row.flag, true);
  t.equal(row.big, 9007199254740993n);
  t.equal(row.id, 4294967295);
  t.equal(row.words, 'é"');
  t.same([...row.bytes], [0, 255]);
  t.equal(Number(row.day), Date.UTC(2026, 0, 2));
  t.equal(row.doc, '{"n":[1]}');
  t.same([...row.v], [1, 2.5]);
  t.same([...row.list], [1, null, 3]);
  t.equal(table.schema.fields.find(({ name }) => name === "doc")!.metadata.get("ARROW:extension:name"), "arrow.json");
  const pairs = await arrowOf("SELECT p FROM (VALUES (ROW(1, 'x'))) t(p)");
  t.match(String(pairs.schema.fields[0]!.type), /^Struct/);
  t.ok(Object.values(nulls).every((value) => value === null));
});

t.test("what goes out as Parquet or Arrow comes in again as it was", async (t) => {
  await server.sql("CREATE TABLE kept AS SELECT g AS n, k.* FROM kinds k, generate_series(1, 3) g WHERE k.flag");
  await server.sql("INSERT INTO kept (n, big, words) VALUES (4, -1, NULL), (5, NULL, '')");
  for (const format of ["parquet", "arrow"]) {
    const file = await bytesOf(`/v1/data/export?table=kept&format=${format}`);
    await server.sql(`CREATE TABLE again_${format} (LIKE kept)`);
    const taken = await send(format, `table=again_${format}`, file);
    t.equal(taken.status, 200, JSON.stringify(taken.body));
    t.equal(taken.body.data.rows, 5);
    for (const [a, b] of [
      ["kept", `again_${format}`],
      [`again_${format}`, "kept"],
    ]) {
      t.same(await server.rows(`SELECT * FROM ${a} EXCEPT SELECT * FROM ${b}`), [], `${format}: ${a} − ${b}`);
    }
  }
});

t.test("Parquet is read by its own package, with all rows of all row groups", async (t) => {
  await server.sql(
    "CREATE TABLE many AS SELECT i AS id, repeat('x', 400) || i AS words FROM generate_series(1, 24000) i",
  );
  const file = await bytesOf("/v1/data/export?table=many&format=parquet");
  const { buffer } = new Uint8Array(file);
  const metadata = parquetMetadata(buffer);
  t.equal(Number(metadata.num_rows), 24_000);
  t.ok(metadata.row_groups.length > 1);
  const rows = await parquetReadObjects({ file: buffer });
  t.equal(new Set(rows.map(({ id }) => id)).size, 24_000);
  t.ok(rows.every(({ id, words }) => words === `${"x".repeat(400)}${id}`));
  const empty = await bytesOf(`/v1/data/export?format=parquet&sql=${encodeURIComponent("SELECT 1 AS a WHERE false")}`);
  t.equal(Number(parquetMetadata(new Uint8Array(empty).buffer).num_rows), 0);
  t.equal((await arrowOf("SELECT 1 AS a WHERE false")).numRows, 0);
  t.equal((await arrowOf("TABLE many")).numRows, 24_000);
  const exported = async (query: Readonly<Record<string, string>>) => {
    const found = await bytesOf(`/v1/data/export?${new URLSearchParams({ ...query, format: "parquet" })}`);
    return parquetReadObjects({ file: new Uint8Array(found).buffer });
  };
  const some = { sql: "SELECT id FROM many WHERE id <= $1 AND words LIKE $2", parameters: '[30, "%x2_"]' };
  t.same(
    (await exported(some)).map(({ id }) => id),
    [20, 21, 22, 23, 24, 25, 26, 27, 28, 29],
  );
  const cypher = { sql: "UNWIND range(1, $most) AS i RETURN i, {n: i} AS map", parameters: '{"most": 2}' };
  t.match(await exported({ ...cypher, language: "cypher" }), [{ i: 1n }, { i: 2n }]);
  const alone = await server.call("GET", "/v1/data/export?table=many&parameters=[1]");
  t.match([alone.status, alone.body.error.message], [400, /"parameters" goes with "sql" only/]);
});

t.test("a file that DuckDB wrote makes its table", async (t) => {
  const file = readFileSync("test/fixtures/columnar/duckdb.parquet");
  const taken = await send("parquet", "table=duck&create=true", file);
  t.equal(taken.status, 200, JSON.stringify(taken.body));
  const types = Object.fromEntries(
    taken.body.data.created.map(({ name, type }: Record<string, string>) => [name, type]),
  );
  t.match(types, {
    id: "integer",
    flag: "boolean",
    small: "smallint",
    big: "bigint",
    exact: "numeric(30,4)",
    bytes: "bytea",
    moment: "timestamp",
    instant: "timestamptz",
    named: "uuid",
    list: "bigint[]",
    struct: "jsonb",
    map: "jsonb",
    doc: "jsonb",
    tiny: "smallint",
    huge: "numeric(20,0)",
  });
  const [first, second] = await server.rows("SELECT * FROM duck ORDER BY id");
  t.match(first, [
    1,
    false,
    -1,
    "9007199254740993",
    0.25,
    0.125,
    12345678901234568,
    1.5,
    'text 1 é"',
    "\\x01",
    "2026-01-02",
    "12:34:56.789012",
    "2026-11-26T10:20:30.123456",
    "2026-11-26T10:20:30.5+00:00",
    "00000000-0000-0000-0000-000000000001",
    [1, null, 3],
    { a: 1, b: ["x", "y"] },
    { k: 1 },
    { n: [1, null] },
    200,
    "18446744073709551615",
  ]);
  t.equal(second![9], null);
  t.same(await server.rows("SELECT exact::text, f8::text FROM duck WHERE id = 3"), [["37037036703703703.6700", "NaN"]]);
});

t.test("Arrow of other writers: files, dictionaries, several batches", async (t) => {
  const table = tableFromArrays({
    id: Int32Array.of(1, 2, 3),
    kind: ["a", "b", "a"],
    at: [new Date(0), null, new Date(1)],
  });
  t.match(String(table.schema.fields[1]!.type), /Dictionary/);
  for (const [name, bytes] of [
    ["stream", tableToIPC(table, "stream")],
    ["file", tableToIPC(table, "file")],
  ] as const) {
    const taken = await send("arrow", `table=arrow_${name}&create=true`, bytes);
    t.equal(taken.status, 200, JSON.stringify(taken.body));
    t.same(await server.rows(`SELECT id, kind, at IS NULL FROM arrow_${name} ORDER BY id`), [
      [1, "a", false],
      [2, "b", true],
      [3, "a", false],
    ]);
  }
});

t.test("a stream of Arrow whose dictionary is replaced: each batch has its own", async (t) => {
  const words = [["a", "b"], ["x"], ["y", "x", "y"]];
  const type = new Dictionary(new Utf8(), new Int32(), 7);
  const writer = new RecordBatchStreamWriter();
  for (const some of words) {
    for (const batch of new Table({ word: vectorFromArray(some, type) }).batches) writer.write(batch);
  }
  writer.finish();
  const taken = await send("arrow", "table=replaced&create=true", writer.toUint8Array(true));
  t.equal(taken.status, 200, JSON.stringify(taken.body));
  t.same((await server.rows("SELECT word FROM replaced")).flat(), words.flat());
});

t.test("what is no such file, or is cut, is refused with what is wrong; nothing is stored", async (t) => {
  await server.sql("CREATE TABLE strict (id integer)");
  const whole = await bytesOf("/v1/data/export?table=kept&format=parquet");
  for (const [format, bytes] of [
    ["parquet", Buffer.from("id,name\n1,x\n")],
    ["parquet", whole.subarray(0, whole.length - 20)],
    ["parquet", new Uint8Array(0)],
    ["arrow", Buffer.from("ARROW1\0\0 and no more of it, but long enough")],
    ["arrow", Buffer.from("id,name\n1,x\n")],
    ["arrow", new Uint8Array(0)],
  ] as const) {
    const refused = await send(format, "table=strict", bytes);
    t.equal(refused.status, 400, `${format} ${JSON.stringify(refused.body)}`);
    t.match(refused.body.error.message, /file/i);
  }
  const names = await send("parquet", "table=strict&columns=id", whole);
  t.match(names.body.error, { code: "invalid_request", details: { field: "columns" } });
  t.equal((await send("parquet", "table=nowhere", whole)).status, 404);
  t.same(await server.rows("SELECT count(*) FROM strict"), [[0]]);
  const nested = await server.sql("SELECT ARRAY[[1,2],[3,4]] AS square", [], { headers: { accept: ARROW } });
  t.match(nested.body.error.message, /square.*several dimensions/);
  const gzip = await server.call("GET", "/v1/data/export?table=kept&format=parquet&gzip=true");
  t.equal(gzip.body.error.details.field, "gzip");
});

t.test("a statement that writes answers in Arrow after it has committed; one without rows is refused", async (t) => {
  const table = await arrowOf("INSERT INTO strict VALUES (7) RETURNING id");
  t.equal(table.get(0)!.toJSON().id, 7);
});

t.test("a slow reader of Arrow stops the cursor", async (t) => {
  const response = await fetch(`${server.url}/v1/query/execute`, {
    method: "POST",
    headers: { ...headers, accept: ARROW, "content-type": "application/json" },
    body: JSON.stringify({ sql: "SELECT a.id, a.words FROM many a, generate_series(1, 50)", max_rows: 10_000_000 }),
  });
  const reader = response.body!.getReader();
  await reader.read();
  const written = async () => {
    const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1] ?? 0);
  };
  const before = await written();
  await sleep(700);
  t.ok((await written()) - before < 200e6);
  await reader.cancel();
  t.equal((await server.rows("SELECT 1"))[0]![0], 1);
});
