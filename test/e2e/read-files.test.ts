/** read_csv, read_json and read_parquet: rows of files of the server, under the folders that the operator allows. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ColumnMetaData, SchemaElement } from "hyparquet";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import t from "tap";
import { TestServer } from "./server.js";

const base = mkdtempSync(join(tmpdir(), "tessera-read-files-"));
t.teardown(() => rmSync(base, { recursive: true, force: true }));
const root = join(base, "open");
mkdirSync(root);
const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_FILES_ROOTS: root });
t.teardown(() => server.stop());

const put = (name: string, text: string): string => {
  const path = join(root, name);
  writeFileSync(path, text);
  return path;
};

const errorOf = async (sql: string, parameters: readonly unknown[] = [], token?: string) => {
  const reply = await server.sql(sql, parameters, token === undefined ? {} : { token });
  return { status: reply.status, ...reply.body.error };
};

t.test("CSV: columns and types are inferred; options; joins, aggregates and inserts", async (t) => {
  const path = put(
    "city.csv",
    'id,name,since,area\n1,"Porto, PT",1123-01-01,41.4\n2,,,\n3,"a ""b""\nc",2026-01-02,1e3\n',
  );
  t.same(await server.rows(`SELECT * FROM read_csv('${path}')`), [
    [1, "Porto, PT", "1123-01-01", 41.4],
    [2, null, null, null],
    [3, 'a "b"\nc', "2026-01-02", 1000],
  ]);
  t.same(await server.rows(`SELECT count(*), sum(area) FROM read_csv('${path}') WHERE id > 1`), [[2, 1000]]);
  t.same(await server.rows(`SELECT c.name FROM read_csv('${path}') c JOIN generate_series(1, 1) g ON g = c.id`), [
    ["Porto, PT"],
  ]);
  const semicolons = put("plain.csv", "1;x\n2;-\n");
  t.same(
    await server.rows(`SELECT * FROM read_csv('${semicolons}', header => false, delimiter => ';', null_text => '-')`),
    [
      [1, "x"],
      [2, null],
    ],
  );
  t.same(await server.rows(`SELECT b FROM read_csv('${semicolons}', false, ';', '"', '', 'a, b') WHERE a = 2`), [
    ["-"],
  ]);
  await server.sql(`CREATE TABLE city AS SELECT * FROM read_csv('${path}')`);
  t.same(await server.rows("SELECT count(*) FROM city"), [[3]]);
  t.same(await server.rows(`SELECT id, area FROM read_csv($1) AS t(area text, id text) WHERE id = '3'`, [path]), [
    ["3", "1e3"],
  ]);
});

t.test("a file that changes has other columns in the next statement, also in a transaction", async (t) => {
  const path = put("changing.csv", "a\n1\n");
  const sql = `SELECT * FROM read_csv('${path}')`;
  t.same(await server.rows(sql), [[1]]);
  put("changing.csv", "b,c\nx,2\n");
  t.same(await server.rows(sql), [["x", 2]]);
  const results = (await server.call("POST", "/v1/query/execute/batch", { statements: ["BEGIN", sql, "COMMIT"] })).body
    .data;
  t.same(results.results[1].data.rows, [["x", 2]]);
});

t.test(
  "LOAD CSV of Cypher: headers, lists, other terminators, in transactions; only from allowed folders",
  async (t) => {
    put("people.csv", 'name,age\nAda,036\n"Bob, Jr",\n"",1\n');
    put("semi.csv", "1;x\n2;y\n");
    t.same(await server.rows("LOAD CSV WITH HEADERS FROM 'file:///people.csv' AS row RETURN row.name, row.age"), [
      ["Ada", "036"],
      ["Bob, Jr", null],
      ["", "1"],
    ]);
    t.same(await server.rows("LOAD CSV FROM 'semi.csv' AS row FIELDTERMINATOR ';' RETURN row[1], size(row)"), [
      ["x", 2],
      ["y", 2],
    ]);
    t.same(await server.rows(`LOAD CSV FROM 'file://${root}/semi.csv' AS row RETURN row[0]`), [["1;x"], ["2;y"]]);
    t.same(
      await server.rows(
        "LOAD CSV WITH HEADERS FROM 'file:///people.csv' AS row CALL (row) { CREATE (:Loaded {name: row.name, age: toInteger(row.age)}) } IN TRANSACTIONS OF 2 ROWS",
      ),
      [],
    );
    t.same(await server.rows("MATCH (n:Loaded) RETURN n.name, n.age ORDER BY n.name"), [
      ["", 1],
      ["Ada", 36],
      ["Bob, Jr", null],
    ]);
    put("lines.csv", 'a,b\n1,"x\ny"\n2,z\n');
    const lines = "LOAD CSV WITH HEADERS FROM 'file:///lines.csv' AS row";
    t.same(await server.rows(`${lines} WITH row.a AS a, linenumber() AS n, file() AS f RETURN *`), [
      ["1", `${root}/lines.csv`, 2],
      ["2", `${root}/lines.csv`, 4],
    ]);
    t.same(await server.rows(`${lines} WITH * WHERE linenumber() > 2 RETURN *`), [[{ a: "2", b: "z" }]]);
    t.same(await server.rows("LOAD CSV FROM 'lines.csv' AS row RETURN linenumber() ORDER BY linenumber()"), [
      [1],
      [2],
      [4],
    ]);
    t.same(await server.rows("RETURN linenumber() AS line, file() AS file"), [[null, null]]);
    t.match(await errorOf("LOAD CSV FROM 'https://example.com/a.csv' AS row RETURN row"), {
      status: 403,
      code: "forbidden",
      message: /files of the server only/,
    });
    t.match(await errorOf("LOAD CSV FROM 'file:///../secret.csv' AS row RETURN row"), { status: 404 });
    t.match(await errorOf("LOAD CSV FROM 'file:///none.csv' AS row RETURN row"), { status: 404 });
    t.match(await errorOf("LOAD CSV FROM '../open.csv' AS row RETURN row"), { status: 403, code: "forbidden" });
    t.match(await errorOf("LOAD CSV FROM 'semi.csv' AS row FIELDTERMINATOR ';;' RETURN row"), { status: 400 });
  },
);

t.test("JSON lines and Parquet", async (t) => {
  const path = put("events.jsonl", '{"a":1,"b":{"c":[1]}}\n\n{"a":2.5,"d":"x"}\n');
  t.same(await server.rows(`SELECT a, b, d FROM read_json('${path}')`), [
    [1, { c: [1] }, null],
    [2.5, null, "x"],
  ]);
  t.same(await server.rows(`SELECT d FROM read_json('${path}') WHERE a > 2`), [["x"]]);
  const parquet = join(root, "duck.parquet");
  copyFileSync("test/fixtures/columnar/duckdb.parquet", parquet);
  t.same(await server.rows(`SELECT id, list[1], struct->'a', exact::text FROM read_parquet('${parquet}') WHERE flag`), [
    [2, 2, 2, "24691357802469135.7800"],
  ]);
  t.same(await server.rows(`SELECT count(*) FROM read_parquet('${parquet}')`), [[3]]);
});

t.test("digits of whole numbers are kept, also within JSON", async (t) => {
  const path = put("digits.jsonl", '{"id":9007199254740993,"doc":{"n":9007199254740993}}\n{"id":1}\n');
  t.same(await server.rows(`SELECT id::text, doc::text FROM read_json('${path}') WHERE id > 1`), [
    ["9007199254740993", '{"n": 9007199254740993}'],
  ]);
  await server.sql(`CREATE TABLE digits AS SELECT '{"n": [9007199254740993]}'::jsonb AS doc`);
  for (const format of ["parquet", "arrow"]) {
    const response = await fetch(`${server.url}/v1/data/export?table=digits&format=${format}`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const taken = await server.call("POST", `/v1/data/import/${format}?table=from_${format}&create=true`, bytes, {
      headers: { "content-type": "application/x-any" },
    });
    t.equal(taken.status, 200, JSON.stringify(taken.body));
    t.same(await server.rows(`SELECT doc::text FROM from_${format}`), [['{"n": [9007199254740993]}']], format);
    if (format !== "parquet") continue;
    writeFileSync(join(root, "digits.parquet"), bytes);
    t.same(await server.rows(`SELECT doc::text FROM read_parquet('${join(root, "digits.parquet")}')`), [
      ['{"n": [9007199254740993]}'],
    ]);
  }
});

t.test("a byte order mark is no part of the file's text", async (t) => {
  const csv = put("mark.csv", "\ufeffid,name\n1,a\n2,b\n");
  t.same(await server.rows(`SELECT id, name FROM read_csv('${csv}')`), [
    [1, "a"],
    [2, "b"],
  ]);
  t.same(await server.rows(`SELECT id FROM read_json('${put("mark.jsonl", '\ufeff{"id":1}\n')}')`), [[1]]);
});

t.test("Parquet whose columns or rows cannot be told is refused", async (t) => {
  const schema = [
    { name: "root", num_children: 2 },
    { name: "a", type: "INT32", repetition_type: "REQUIRED" },
    { name: "b", type: "INT32", repetition_type: "REQUIRED" },
  ] satisfies SchemaElement[];
  const parquetOf = (change: (writer: ParquetWriter) => void): string => {
    const bytes = new ByteWriter();
    const writer = new ParquetWriter({ writer: bytes, schema: structuredClone(schema) });
    writer.write({ columnData: ["a", "b"].map((name) => ({ name, data: Int32Array.of(1, 2, 3) })) });
    change(writer);
    writer.finish();
    const path = join(root, "told.parquet");
    writeFileSync(path, bytes.getBytes());
    return path;
  };
  t.same(await server.rows(`SELECT sum(a) FROM read_parquet('${parquetOf(() => {})}')`), [[6]]);
  const twice = parquetOf(({ schema, row_groups: [group] }) => {
    schema[2]!.name = "a";
    group!.columns[1]!.meta_data!.path_in_schema = ["a"];
  });
  t.match(await errorOf(`SELECT * FROM read_parquet('${twice}')`), { code: "invalid_request", message: /named "a"/ });
  for (const rows of [5n, 2n ** 31n, 2n ** 60n, -1n]) {
    const more = parquetOf(({ row_groups: groups }) => {
      groups[0]!.num_rows = rows;
    });
    t.match(await errorOf(`SELECT * FROM read_parquet('${more}')`), { code: "invalid_request", message: /rows/ });
  }
});

/** Parquet of a few bytes that says 2^30 rows: one run of one number. */
function endlessRun(): Uint8Array {
  const rows = 2n ** 30n;
  const schema: SchemaElement[] = [
    { name: "root", num_children: 1 },
    { name: "a", type: "INT32", repetition_type: "REQUIRED" },
  ];
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({ writer: bytes, schema });
  const varint = (value: bigint): number[] =>
    value < 128n ? [Number(value)] : [Number(value % 128n) + 128, ...varint(value / 128n)];
  // Headers of pages in Thrift's compact protocol, whose integers are doubled.
  const dictionary = [0x15, 4, 0x15, 8, 0x15, 8, 0x4c, 0x15, 2, 0x15, 0, 0, 0, ...[7, 0, 0, 0]];
  const run = [1, ...varint(rows * 2n), 0];
  const size = 2 * run.length;
  const page = [0x15, 0, 0x15, size, 0x15, size, 0x2c, 0x15, ...varint(rows * 2n), 0x15, 16, 0x15, 6, 0x15, 6, 0, 0];
  bytes.appendBytes(Uint8Array.from([...dictionary, ...page, ...run]));
  const length = BigInt(dictionary.length + page.length + run.length);
  const column = {
    ...{ type: "INT32", encodings: ["RLE_DICTIONARY"], path_in_schema: ["a"], codec: "UNCOMPRESSED" },
    ...{ num_values: rows, total_uncompressed_size: length, total_compressed_size: length },
    ...{ dictionary_page_offset: 4n, data_page_offset: BigInt(4 + dictionary.length) },
  } satisfies ColumnMetaData;
  writer.row_groups.push({
    columns: [{ file_offset: 4n, meta_data: column }],
    total_byte_size: length,
    num_rows: rows,
  });
  writer.num_rows = rows;
  writer.finish();
  return bytes.getBytes();
}

t.test("a page of more values than there is room for is refused before it is read", async (t) => {
  const path = join(root, "endless.parquet");
  writeFileSync(path, endlessRun());
  const refused = await errorOf(`SELECT sum(a) FROM read_parquet('${path}')`);
  t.match(refused, { code: "invalid_request", message: /1073741824 values/ }, JSON.stringify(refused));
  t.same(await server.rows(`SELECT * FROM read_csv('${put("after.csv", "a\n1\n")}')`), [[1]]);
});

t.test("a large file: every row once, in order; a LIMIT reads no more than it needs", async (t) => {
  const rows = 120_000;
  const path = put("many.csv", `id,words\n${Array.from({ length: rows }, (_, i) => `${i},"w ${i}\n"`).join("\n")}\n`);
  t.same(
    await server.rows(
      `SELECT count(*), count(DISTINCT id), sum(id), bool_and(words = 'w ' || id || E'\\n') FROM read_csv('${path}')`,
    ),
    [[rows, rows, (rows * (rows - 1)) / 2, true]],
  );
  // What is behind the rows that are wanted is never looked at.
  const broken = put("broken.csv", `id,x\n${"1,2\n".repeat(200_000)}1,2,3\n`);
  t.same(await server.rows(`SELECT id FROM read_csv('${broken}') LIMIT 2`), [[1], [1]]);
  t.match((await errorOf(`SELECT sum(x) FROM read_csv('${broken}')`)).message, /3 fields, but the file has 2 columns/);
});

t.test("who may read what", async (t) => {
  const secret = join(base, "secret.csv");
  writeFileSync(secret, "a\n1\n");
  symlinkSync(secret, join(root, "link.csv"));
  put("plain-user.csv", "a\n1\n");
  for (const path of [secret, join(root, "link.csv"), `${root}/../secret.csv`, "/etc/passwd", "relative.csv"]) {
    t.match(await errorOf(`SELECT * FROM read_csv('${path}')`), { status: 403, code: "forbidden" }, path);
    t.match(await errorOf("SELECT * FROM read_csv($1) AS t(a int)", [path]), { status: 403 }, path);
  }
  const user = await server.tenant("reader", ["user"]);
  t.match(
    (await errorOf(`SELECT * FROM read_csv('${join(root, "plain-user.csv")}')`, [], user)).message,
    /Only admins/,
  );
  t.match(await errorOf(`SELECT * FROM read_csv('${join(root, "none.csv")}')`), { status: 404 });
  const closed = await TestServer.start({ TESSERA_ACTORS: "1" });
  const refused = await closed.sql(`SELECT * FROM read_csv('${secret}')`);
  t.match(refused.body.error, { code: "forbidden", details: { hint: /TESSERA_FILES_ROOTS/ } });
  await closed.stop();
});

t.test("mistakes are explained", async (t) => {
  const path = put("bad.csv", `n\n${"1\n".repeat(20_000)}x\n`);
  const value = await errorOf(`SELECT sum(n) FROM read_csv('${path}')`);
  t.match(value.message, /column "n" of row 20001/);
  t.match(value.details, { sqlstate: "22P02", hint: /AS t\(n text/ });
  t.match((await errorOf("SELECT * FROM read_csv($1)", [path])).message, /constants/);
  t.match((await errorOf(`SELECT * FROM read_csv('${path}') AS t(m int)`)).message, /no column "m"/);
  t.match(await errorOf(`SELECT * FROM read_parquet('${path}')`), { status: 400, message: /Parquet/ });
  t.match((await errorOf(`SELECT * FROM read_csv('${path}', delimiter => 'ab')`)).message, /one ASCII character/);
  t.match((await errorOf(`SELECT * FROM read_json('${put("array.json", '[{"a":1}]')}')`)).details.hint, /jq/);
  writeFileSync(join(root, "latin.csv"), Buffer.from([97, 10, 0xe9, 10]));
  t.match((await errorOf(`SELECT * FROM read_csv('${join(root, "latin.csv")}')`)).message, /UTF-8/);
});
