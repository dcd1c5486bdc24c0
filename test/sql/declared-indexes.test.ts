/** Indexes of PostgreSQL's other access methods: definitions that schemas may have, and that no query uses. */
import t from "tap";
import { script } from "../session/sql-script.js";

t.test("declared, shown, renamed, copied and dropped", async (t) => {
  const { run, rows, fails } = await script(t);
  await run(
    "create table d (id int primary key, j jsonb, tags text[], at timestamptz, ip inet, note text)",
    "create index d_j on d using gin (j jsonb_path_ops) where j is not null",
    "create index on d using gin (tags)",
    "create index on d using brin (at, id)",
    "create index d_ip on d using gist (ip inet_ops)",
    "create index on d using gin ((j -> 'a'))",
    `insert into d values (1, '{"a": 1}', '{x,y}', '2024-01-01', '10.0.0.1', 'n')`,
  );
  t.same(await rows("select id from d where j @> '{\"a\": 1}' and tags @> '{x}'"), ["1"]);
  t.same(await rows("select indexname from pg_indexes where tablename = 'd' order by 1"), [
    "d_at_id_idx",
    "d_expr_idx",
    "d_ip",
    "d_j",
    "d_pkey",
    "d_tags_idx",
  ]);
  await run("alter table d rename j to doc", "alter index d_ip rename to d_address");
  t.same(await rows("select indexdef from pg_indexes where indexname in ('d_j', 'd_expr_idx') order by 1"), [
    "CREATE INDEX d_expr_idx ON public.d USING gin (((doc -> 'a'::text)))",
    "CREATE INDEX d_j ON public.d USING gin (doc jsonb_path_ops) WHERE (doc IS NOT NULL)",
  ]);
  t.same(await rows("select amname from pg_class c join pg_am a on a.oid = relam where relname = 'd_address'"), [
    "gist",
  ]);
  await run("create table e (like d including all)");
  t.same(await rows("select count(*) from pg_indexes where tablename = 'e'"), ["6"]);
  await run("alter table d drop column doc", "drop index d_address");
  t.same(await rows("select count(*) from pg_indexes where tablename = 'd'"), ["3"]);
  for (const [sql, error] of [
    ["using gin (id)", '42704 data type integer has no default operator class for access method "gin"'],
    ["using gin (nosuch)", '42703 column "nosuch" does not exist'],
    ["using spgist (note, ip)", '0A000 access method "spgist" does not support multicolumn indexes'],
    ["using gin (tags) include (id)", '0A000 access method "gin" does not support included columns'],
    ["using brin (at desc)", '0A000 access method "brin" does not support ASC/DESC options'],
    ["using gist (ip nosuch)", '42704 operator class "nosuch" does not exist for access method "gist"'],
  ] as const) {
    t.equal(await fails(`create index on d ${sql}`), error);
  }
  t.match(
    await fails("create unique index on d using gin (tags)"),
    /^0A000 access method "gin" does not support unique/,
  );
});
