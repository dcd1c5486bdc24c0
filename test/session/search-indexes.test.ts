/** Definitions of indexes for search: made, shown, changed with their columns, dropped, and in nobody's way. */
import t from "tap";
import { decodeTable, encodeTable } from "../../src/catalog/definition-codec.js";
import type { TableDef } from "../../src/catalog/table.js";
import { script } from "./sql-script.js";

const DEFINITIONS = "select indexname, indexdef from pg_indexes where tablename = 'item' order by 1";

t.test("spellings and parameters", async (t) => {
  const { rows, run } = await script(t);
  await run(
    "create table item (id int primary key, v vector(3), w vector(3), title text, body varchar(100))",
    "create index a on item using hnsw (v vector_l2_ops) with (m = 8, ef_construction = 100)",
    "CREATE INDEX b ON item USING HNSW (v)",
    "create index c on item using hnsw (w) with (metric = 'dot_product', storage = 'int8')",
    "create index on item using vector (w vector_cosine_ops) with (metric = cosine, quantization = binary, m = 50)",
    "create index e on item using text (title, body) with (language = 'German')",
    "create index f on item using gin (to_tsvector('simple', coalesce(title, '') || ' ' || body::text))",
    "create index g on item using gin (to_tsvector('pg_catalog.english'::regconfig, title))",
    "create index if not exists a on item using hnsw (v)",
  );
  t.same(await rows(DEFINITIONS), [
    "a|CREATE INDEX a ON public.item USING hnsw (v vector_l2_ops) WITH (m='8', ef_construction='100')",
    "b|CREATE INDEX b ON public.item USING hnsw (v vector_cosine_ops) WITH (m='16', ef_construction='64')",
    "c|CREATE INDEX c ON public.item USING hnsw (w vector_ip_ops) WITH (m='16', ef_construction='64', storage='int8')",
    "e|CREATE INDEX e ON public.item USING text (title, body) WITH (language='german')",
    "f|CREATE INDEX f ON public.item USING text (title, body) WITH (language='simple')",
    "g|CREATE INDEX g ON public.item USING text (title) WITH (language='english')",
    "item_pkey|CREATE UNIQUE INDEX item_pkey ON public.item USING btree (id)",
    "item_w_idx|CREATE INDEX item_w_idx ON public.item USING hnsw (w vector_cosine_ops) WITH (m='50', ef_construction='100', storage='binary')",
  ]);
  const definitions = await rows("select indexdef from pg_indexes where indexname <> 'item_pkey' order by 1");
  await run("drop index a, b, c, e, f, g, item_w_idx", ...definitions);
  t.same(
    await rows("select indexdef from pg_indexes where indexname <> 'item_pkey' order by 1"),
    definitions,
    "what is shown can be run",
  );
  t.same(await rows("show indexes from item").then((all) => all.slice(0, 3)), [
    "item_pkey|item|id|true|true|item_pkey|item|id|true|true|btree",
    "a|item|v|false|false|a|item|v|false|false|hnsw",
    "b|item|v|false|false|b|item|v|false|false|hnsw",
  ]);
  t.same(
    await rows(
      "select amname, count(*) from pg_class c join pg_am a on a.oid = relam where relkind = 'i' group by 1 order by 1",
    ),
    ["btree|1", "hnsw|4", "text|3"],
  );
  t.same(await rows("select pg_get_indexdef('e'::regclass), 'e'::regclass"), [
    "CREATE INDEX e ON public.item USING text (title, body) WITH (language='german')|e",
  ]);
});

t.test("ivfflat, which scripts for pgvector ask for, is an hnsw index", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table item (id int primary key, v vector(3))",
    "create index on item using ivfflat (v vector_l2_ops) with (lists = 100)",
    "set ivfflat.probes = 10",
  );
  t.same(await rows("select indexdef from pg_indexes where indexname = 'item_v_idx'"), [
    "CREATE INDEX item_v_idx ON public.item USING hnsw (v vector_l2_ops) WITH (m='16', ef_construction='64')",
  ]);
  const definition = "create index on item using ivfflat (v vector_l2_ops)";
  t.equal(await fails(`${definition} with (lists = 0)`), '22023 value 0 out of bounds for option "lists"');
  t.equal(await fails(`${definition} with (m = 4)`), '22023 unrecognized parameter "m"');
});

t.test("what is refused", async (t) => {
  const { run, fails } = await script(t);
  await run("create table item (id int primary key, v vector(3), open vector, title text, n int)");
  for (const [definition, error] of [
    ["hnsw (open)", "22023 column does not have dimensions"],
    ["hnsw (title)", '42704 data type text has no default operator class for access method "hnsw"'],
    ["hnsw (nosuch)", '42703 column "nosuch" does not exist'],
    ["hnsw (v, v)", '0A000 access method "hnsw" does not support multicolumn indexes'],
    ["hnsw (v desc)", '0A000 access method "hnsw" does not support ASC/DESC options'],
    ["hnsw (v) include (n)", '0A000 access method "hnsw" does not support included columns'],
    ["text (title) where n > 0", '0A000 access method "text" does not support partial indexes'],
    ["hnsw (l2_normalize(v))", "0A000 an index of the kind hnsw cannot be on such an expression"],
    ["hnsw (v vector_no_ops)", '42704 operator class "vector_no_ops" does not exist for access method "hnsw"'],
    ["hnsw (v) with (m = 1)", '22023 value 1 out of bounds for option "m"'],
    ["hnsw (v) with (m = 'x')", '22023 invalid value for integer option "m": x'],
    ["hnsw (v) with (m = 16, ef_construction = 20)", "22023 ef_construction must be greater than or equal to 2 * m"],
    ["hnsw (v) with (metric = 'chebyshev')", '22023 invalid value for option "metric": chebyshev'],
    ["hnsw (v) with (metric = 'constructor')", '22023 invalid value for option "metric": constructor'],
    ["hnsw (v vector_l2_ops) with (metric = 'cosine')", "22023 the operator class is of the metric l2, not cosine"],
    ["hnsw (v) with (lists = 100)", '22023 unrecognized parameter "lists"'],
    ["text (n)", '42704 data type integer has no default operator class for access method "text"'],
    ["text (title) with (language = 'klingon')", '42704 text search configuration "klingon" does not exist'],
    [
      "gin (to_tsvector('english', lower(title)))",
      "0A000 a text index is on columns, joined with || and coalesce, and on nothing else",
    ],
    ["gin (title)", '42704 data type text has no default operator class for access method "gin"'],
  ]) {
    t.equal(await fails(`create index on item using ${definition}`), error, definition);
  }
  t.match(
    await fails("create unique index on item using hnsw (v)"),
    /^0A000 access method "hnsw" does not support unique/,
  );
  await run("create table parts (id int, v vector(3)) partition by hash (id)");
  t.match(await fails("create index on parts using hnsw (v)"), /^0A000 .* on a partitioned table/);
  await run("create index taken on item using text (title)");
  t.equal(await fails("create index taken on item using hnsw (v)"), '42P07 relation "taken" already exists');
  t.equal(await fails("create table taken (a int)"), '42P07 relation "taken" already exists');
  t.equal(await fails("drop table taken"), '42809 "taken" is not a table');
});

t.test("with the table through its life", async (t) => {
  const { rows, run, fails } = await script(t);
  const left = () => rows("select indexdef from pg_indexes where tablename in ('item', 'thing') order by 1");
  await run(
    "create table item (id int primary key, v vector(3), title text, unique (title))",
    "insert into item select i, array[i, 1, 2]::vector, 'number ' || i from generate_series(1, 3000) i",
    "create index near on item using hnsw (v)",
    "create index words on item using text (title)",
    "insert into item select i, array[i, 1, 2]::vector, 'number ' || i from generate_series(3001, 6000) i",
    "update item set v = '[1,2,3]', title = 'another' where id = 7",
    "delete from item where id between 10 and 19",
    "update item set v = v + '[1,1,1]' where id > 5000",
  );
  t.same(await rows("select count(*), count(v) from item"), ["5990|5990"], "writers pass over them");
  t.same(await rows("select id from item where title = 'another'"), ["7"]);
  t.same(await rows("select id from item order by v <-> '[1,2,3]', id limit 2"), ["7", "1"]);
  await run(
    "alter table item rename v to embedding",
    "alter table item rename to thing",
    "alter index near rename to nearest",
    "comment on index nearest is 'by likeness'",
  );
  t.same(await rows("select obj_description('nearest'::regclass)"), ["by likeness"]);
  t.same(await left().then((all) => all.slice(0, 2)), [
    "CREATE INDEX nearest ON public.thing USING hnsw (embedding vector_cosine_ops) WITH (m='16', ef_construction='64')",
    "CREATE INDEX words ON public.thing USING text (title) WITH (language='english')",
  ]);
  await run("create table copy (like thing including all)");
  t.same(await rows("select indexname from pg_indexes where tablename = 'copy' order by 1"), [
    "copy_embedding_idx",
    "copy_pkey",
    "copy_title_idx",
    "copy_title_key",
  ]);
  t.match(await fails("alter table copy alter embedding type text"), /^42804 index "copy_embedding_idx" cannot have/);
  await run("alter table copy alter embedding type vector(4)", "alter table copy drop title");
  t.same(await rows("select indexname from pg_indexes where tablename = 'copy' order by 1"), [
    "copy_embedding_idx",
    "copy_pkey",
  ]);
  await run("begin; drop index nearest; rollback");
  t.equal((await left()).length, 4);
  await run("drop index nearest", "drop index if exists nearest", "alter table thing drop column title");
  t.same(await left(), ["CREATE UNIQUE INDEX item_pkey ON public.thing USING btree (id)"]);
  t.match(await fails("drop index words"), /^42704 index "words" does not exist/);
  await run("drop table thing", "create schema s", "alter table copy set schema s", "drop index s.copy_embedding_idx");
});

t.test("scripts that ask for the extension go on", async (t) => {
  const { rows, run, fails } = await script(t);
  await run("create extension if not exists vector", "set hnsw.ef_search = 100");
  t.same(await rows("select extname from pg_extension order by 1"), ["plpgsql", "vector"]);
  t.equal(await fails("create extension vector"), '42710 extension "vector" already exists');
  t.equal(await fails("create extension postgis"), '0A000 extension "postgis" is not available');
  await run("drop extension vector");
  t.same(await rows("select extname from pg_extension"), ["plpgsql"]);
  t.match(await fails("drop extension plpgsql"), /^2BP01/);
  await run("drop extension if exists postgis");
});

t.test("the setting hnsw.ef_search", async (t) => {
  const { rows, run, fails } = await script(t);
  t.same(await rows("show hnsw.ef_search"), ["64"]);
  for (const [value, error] of [
    ["0", '22023 0 is outside the valid range for parameter "hnsw.ef_search" (1 .. 16384)'],
    ["16385", '22023 16385 is outside the valid range for parameter "hnsw.ef_search" (1 .. 16384)'],
    ["many", '22023 invalid value for parameter "hnsw.ef_search": "many"'],
    ["2.5", '22023 invalid value for parameter "hnsw.ef_search": "2.5"'],
  ])
    t.equal(await fails(`set hnsw.ef_search = ${value}`), error);
  await run("begin; set local hnsw.ef_search = 16384; commit");
  t.same(await rows("select setting from pg_settings where name = 'hnsw.ef_search'"), ["64"]);
  t.equal(await fails("set hnsw.none = 1; show hnsw.other"), '42704 unrecognized configuration parameter "hnsw.other"');
});

t.test("stored definitions", async (t) => {
  const table: TableDef = {
    id: 3,
    schema: "public",
    name: "t",
    columns: [],
    primaryKey: null,
    primaryKeyName: null,
    indexes: [],
    checks: [],
    nextColumnId: 0,
    createdAt: 0,
  };
  t.same(decodeTable(encodeTable(table)), table, "without any, as tables were stored before there were any");
  const vector = { metric: "l2", m: 5, efConstruction: 50, storage: "binary" } as const;
  const searchIndexes = [
    { id: 4, name: "near", method: "hnsw", columnIds: [2], vector },
    { id: 5, name: "words", method: "text", columnIds: [0, 1], text: { language: "english" } },
  ] as const;
  t.same(decodeTable(encodeTable({ ...table, searchIndexes })), { ...table, searchIndexes });
});
