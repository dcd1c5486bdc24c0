/** pg_catalog and information_schema, as the tools of clients ask them. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

t.test("definitions as clients' tools read them", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const rows = async (sql: string) => (await database.exec(sql)).rows;
  await database.exec(`
    create table city (id serial primary key, name varchar(20) not null unique, area numeric(10,2) check (area > 0));
    create table person (id int generated always as identity, city int references city on delete cascade, tags text[]);
    create index by_city on person (city desc);
    create view named as select name from city;
    create type mood as enum ('low', 'high')`);

  t.same(await rows("select relname, relkind from pg_class where relnamespace = 'public'::regnamespace order by 1"), [
    ["by_city", "i"],
    ["city", "r"],
    ["city_id_seq", "S"],
    ["city_name_key", "i"],
    ["city_pkey", "i"],
    ["named", "v"],
    ["person", "r"],
    ["person_id_seq", "S"],
  ]);
  t.same(
    await rows(`select a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid)
      from pg_attribute a left join pg_attrdef d on a.attrelid = d.adrelid and a.attnum = d.adnum
      where a.attrelid = 'city'::regclass and a.attnum > 0 order by a.attnum`),
    [
      ["id", "integer", "true", "nextval('city_id_seq'::regclass)"],
      ["name", "character varying(20)", "true", null],
      ["area", "numeric(10,2)", "false", null],
    ],
  );
  t.same(await rows("select conname, pg_get_constraintdef(oid), conrelid::regclass from pg_constraint order by 1"), [
    ["city_area_check", "CHECK ((area > (0)::numeric))", "city"],
    ["city_name_key", "UNIQUE (name)", "city"],
    ["city_pkey", "PRIMARY KEY (id)", "city"],
    ["person_city_fkey", "FOREIGN KEY (city) REFERENCES city(id) ON DELETE CASCADE", "person"],
  ]);
  t.same(await rows("select pg_get_indexdef('by_city'::regclass)"), [
    ["CREATE INDEX by_city ON public.person USING btree (city DESC)"],
  ]);
  t.same(
    await rows(`select column_name, data_type, udt_name, is_nullable, is_identity from information_schema.columns
      where table_name = 'person' order by ordinal_position`),
    [
      ["id", "integer", "int4", "NO", "YES"],
      ["city", "integer", "int4", "YES", "NO"],
      ["tags", "ARRAY", "_text", "YES", "NO"],
    ],
  );
  t.same(await rows("select enumlabel from pg_enum e join pg_type t on t.oid = e.enumtypid order by enumsortorder"), [
    ["low"],
    ["high"],
  ]);
  t.same(await rows("select pg_get_viewdef('named'::regclass)"), [[" SELECT city.name\n   FROM city;"]]);
});

t.test("relations of the system follow the definitions, also of one's own transaction", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const count = async () => (await database.exec("select count(*) from pg_tables")).rows[0]![0];
  t.equal(await count(), "0");
  await database.exec("begin; create table t (a int)");
  t.equal(await count(), "1");
  await database.exec("rollback");
  t.equal(await count(), "0");
  await database.exec("create table t (a int)");
  t.equal(await count(), "1", "a cached plan does not keep old rows");
  await t.rejects(database.exec("select 'nothing'::regclass"), { code: "42P01" });
});

t.test("views are shown so that they mean the same under another search path", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const definition = async (name: string) =>
    (await database.exec(`select pg_get_viewdef('public.${name}'::regclass)`)).rows[0]![0];
  await database.exec(`
    create table city (id int, name text);
    create table "order" (city int);
    create view plain as select name from city;
    create view joined as
      with old as (select 1 as city) select c.name from city c join "order" o on o.city = c.id, old;
    create view counted as select count(*) from (select * from city where id in (select city from "order")) s`);
  t.equal(await definition("plain"), " SELECT city.name\n   FROM city;");
  await database.exec("set search_path = ''");
  t.equal(await definition("plain"), " SELECT city.name\n   FROM public.city;");
  t.equal(
    await definition("joined"),
    ` WITH old AS (
         SELECT 1 AS city
        )
 SELECT c.name
   FROM (public.city c
     JOIN public."order" o ON ((o.city = c.id))),
    old old_1;`,
  );
  t.equal(
    await definition("counted"),
    ` SELECT count(*) AS count
   FROM ( SELECT city.id,
            city.name
           FROM public.city
          WHERE (city.id IN ( SELECT "order".city
                   FROM public."order"))) s;`,
  );
  await database.exec("alter table public.city rename to town");
  t.equal(await definition("plain"), " SELECT town.name\n   FROM public.town;");
});

t.test("comments on all kinds of objects", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const rows = async (sql: string) => (await database.exec(sql)).rows;
  await database.exec(`
    create schema s; create view s.v as select 1 as a; create sequence s.q; create type s.e as enum ('x');
    create domain s.d as int; create materialized view s.m as select 1 as a;
    comment on schema s is 'a schema'; comment on view s.v is 'a view'; comment on column s.v.a is 'a column';
    comment on sequence s.q is 'a sequence'; comment on type s.e is 'a type'; comment on domain s.d is 'a domain';
    comment on materialized view s.m is 'a materialized view';
    create or replace view s.v as select 2 as a`);
  t.same(
    await rows(`select obj_description('s'::regnamespace, 'pg_namespace'), obj_description('s.v'::regclass, 'pg_class'),
      col_description('s.v'::regclass, 1), obj_description('s.q'::regclass), obj_description('s.e'::regtype, 'pg_type'),
      obj_description('s.d'::regtype), obj_description('s.m'::regclass)`),
    [["a schema", "a view", "a column", "a sequence", "a type", "a domain", "a materialized view"]],
  );
  await database.exec("comment on view s.v is null; comment on type s.e is ''");
  t.same(await rows("select obj_description('s.v'::regclass), obj_description('s.e'::regtype)"), [[null, null]]);
  for (const sql of [
    "comment on type s.none is 'x'",
    "comment on schema none is 'x'",
    "comment on view s.none is 'x'",
  ]) {
    await t.rejects(database.exec(sql), { message: /does not exist/ }, sql);
  }
});

t.test("regclass and its kin are types of expressions", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const row = async (sql: string) => (await database.exec(sql)).rows[0];
  await database.exec(
    "create table city (id int primary key); create function twice(a int) returns int language sql as 'select a * 2'",
  );
  t.same(await row("select 'city'::regclass, 'city'::regclass::text, pg_typeof('city'::regclass)"), [
    "city",
    "city",
    "regclass",
  ]);
  t.same(await row("select x from (select 'city'::regclass as x) q where x = 'city'::regclass::oid"), ["city"]);
  t.same(await row("select 'pg_class'::regclass::oid, 1259::regclass, 0::regclass, '-'::regproc::oid"), [
    "1259",
    "pg_class",
    "-",
    "0",
  ]);
  t.same(await row("select 'twice'::regproc, 'twice(int)'::regprocedure, '+(int4,int4)'::regoperator"), [
    "twice",
    "twice(integer)",
    "+(integer,integer)",
  ]);
  t.same(await row("select array['int4'::regtype, 'text'::regtype], '{int,text}'::regtype[]::text[]"), [
    "{integer,text}",
    "{integer,text}",
  ]);
  t.same(await row("select format('%s', 'city'::regclass), 'a ' || 'city'::regclass, to_regclass('none')"), [
    "city",
    "a city",
    null,
  ]);
  t.same(await row("select indkey, indkey[0], indkey::int2[] from pg_index where indrelid = 'city'::regclass"), [
    "1",
    "1",
    "[0:0]={1}",
  ]);
  await t.rejects(database.exec("select 'none'::regclass"), { code: "42P01" });
  await t.rejects(database.exec("select 'none'::regrole"), { code: "42704" });
  await t.rejects(database.exec("select 'length'::regproc"), { code: "42725" });
});

t.test("built-in types and the tenant's own have different OIDs", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  for (let i = 0; i < 20; i++) await database.exec(`create type mood${i} as enum ('low', 'high')`);
  t.same((await database.exec("select oid from pg_type group by oid having count(*) > 1")).rows, []);
});

t.test("columns, parameters and variables of regclass and the like take names and show them", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const rows = async (sql: string) => (await database.exec(sql)).rows;
  await database.exec(`
    create table city (id int, r regclass default 'pg_class', t regtype, l regclass[]);
    create function of_name(x regclass, y regtype default 'int4') returns text language sql as 'select x::text || y::text';
    create function told(x regclass) returns regclass language plpgsql as
      'declare v regclass := ''city''; begin raise exception ''%, %'', x, v; end';
    create function found(x text) returns regclass language plpgsql as 'begin return x; end';
    insert into city values (1, 'city', 'int4', '{city,pg_class}')`);
  await database.exec("insert into city (id) values (2)");
  t.same(await rows("select r, t, l from city order by id"), [
    ["city", "integer", "{city,pg_class}"],
    ["pg_class", null, null],
  ]);
  t.same(await rows("select id from city where r = 'pg_class'::regclass"), [["2"]]);
  t.same(await rows("select of_name('city'), of_name('city'::regclass::oid, 'text'), found('city')"), [
    ["cityinteger", "citytext", "city"],
  ]);
  await t.rejects(database.exec("select told('pg_class')"), { message: "pg_class, city" });
  await t.rejects(database.exec("insert into city values (3, 'nothing')"), { code: "42P01" });
  t.same(await rows("select coalesce(r, 'pg_type'), regclass('pg_type'), pg_typeof(l) from city where id = 1"), [
    ["city", "pg_type", "regclass[]"],
  ]);
  t.same(
    await rows("select udt_name from information_schema.columns where table_name = 'city' order by ordinal_position"),
    [["int4"], ["regclass"], ["regtype"], ["_regclass"]],
  );
  await database.exec("alter table city add primary key (id)");
  t.same(await rows("select r, l, l::text from city order by id"), [
    ["city", "{city,pg_class}", "{city,pg_class}"],
    ["pg_class", null, null],
  ]);
  await database.exec("create domain relation as regclass");
  t.same(await rows("select 'city'::relation"), [["city"]]);
  t.same(await rows("select 'a'::information_schema.sql_identifier, 'YES'::information_schema.yes_or_no"), [
    ["a", "YES"],
  ]);
});

t.test("monitors read what is counted of the database and its tables", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("create table city (id int)");
  t.same(
    (
      await database.exec(`select d.datname = current_database(), s.numbackends
        from pg_stat_database s join pg_database d on d.oid = s.datid`)
    ).rows,
    [["true", "0"]],
  );
  const last = "select pg_stat_get_last_vacuum_time(oid), pg_stat_get_last_analyze_time(oid) from pg_class";
  t.same((await database.exec(`${last} where relname = 'city'`)).rows, [[null, null]]);
});

t.test("the functions by which information_schema measures types, as tools call them", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec(`create domain short as varchar(7);
    create table city (a short, b numeric(8, 2), c interval day to second(3), d text)`);
  const [id, mod] = ["information_schema._pg_truetypid(a.*, t.*)", "information_schema._pg_truetypmod(a.*, t.*)"];
  const measures = ["char_max_length", "char_octet_length", "numeric_precision", "numeric_scale", "interval_type"];
  const { rows } = await database.exec(`select ${measures.map((m) => `information_schema._pg_${m}(${id}, ${mod})`)}
    from pg_attribute a join pg_type t on t.oid = a.atttypid where attrelid = 'city'::regclass and attnum > 0
    order by attnum`);
  t.same(rows, [
    ["7", "28", null, null, null],
    [null, null, "8", "2", null],
    [null, null, null, null, "DAY TO SECOND(3)"],
    [null, "1073741824", null, null, null],
  ]);
  t.same((await database.exec("select array_to_string('{23,25}'::oid[]::regtype[], ',')")).rows, [["integer,text"]]);
});

t.test("names of objects in rows, in lists that aggregates make and in JSON", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const rows = async (sql: string) => (await database.exec(sql)).rows;
  await database.exec(
    "create table city (r regclass, l regclass[], n int); insert into city values ('city', '{city}', 1)",
  );
  t.same(await rows("select array_agg(r), pg_typeof(array_agg(r)), array_agg(r)::text, json_agg(r) from city"), [
    ["{city}", "regclass[]", "{city}", '["city"]'],
  ]);
  t.same(await rows("select row_to_json(city), jsonb_agg(city) over (), json_object_agg(n, r) over () from city"), [
    ['{"r":"city","l":["city"],"n":1}', '[{"l": ["city"], "n": 1, "r": "city"}]', '{ "1" : "city" }'],
  ]);
  t.same(await rows("select city, city::text, row(r, null), array_agg(city) over () from city"), [
    ["(city,{city},1)", "(city,{city},1)", "(city,)", '{"(city,{city},1)"}'],
  ]);
  t.same(await rows("select row_to_json(x), x from (select 1) y left join city x on false"), [[null, null]]);
  t.same(await rows("with x as (insert into city values (null) returning array[tableoid::regclass] as a) table x"), [
    ["{city}"],
  ]);
});

t.test("what ANALYZE found is in pg_class and in pg_stats, for those who may read all of the table", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const rows = async (sql: string) => (await database.exec(sql)).rows;
  await database.exec(`create table city (id int primary key, kind text, founded date, big bool);
    insert into city select n, case when n < 61 then 'town' end, date '2020-01-01' + n % 2, n = 1
      from generate_series(1, 100) n`);
  const counts = "select relname, reltuples from pg_class where relname like 'city%' order by 1";
  t.same(await rows(counts), [
    ["city", "-1"],
    ["city_pkey", "-1"],
  ]);
  await database.exec("analyze city");
  t.same(await rows(counts), [
    ["city", "100"],
    ["city_pkey", "100"],
  ]);
  t.same(
    await rows(`select attname, null_frac, avg_width, n_distinct, most_common_vals, most_common_freqs
      from pg_stats where tablename = 'city' and attname <> 'id' order by attname`),
    [
      ["big", "0", "1", "2", "{f,t}", "{0.99,0.01}"],
      ["founded", "0", "4", "2", "{2020-01-01,2020-01-02}", "{0.5,0.5}"],
      ["kind", "0.4", "32", "1", "{town}", "{0.6}"],
    ],
  );
  t.match(await rows("select n_distinct, histogram_bounds from pg_stats where attname = 'id'"), [
    ["-1", /^{1,.*,100}$/],
  ]);
  await database.exec(
    "create role guest; revoke all on city from member; grant select (kind) on city to guest; set role guest",
  );
  t.same(await rows("select reltuples from pg_class where relname = 'city'"), [["-1"]]);
  t.same(await rows("select attname from pg_stats where tablename = 'city'"), []);
});

t.test("how many may connect is what the configuration says", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  t.same((await database.exec("show max_connections")).rows, [["10000"]]);
  t.same((await database.exec("select setting, context from pg_settings where name = 'max_connections'")).rows, [
    ["10000", "internal"],
  ]);
  await t.rejects(database.exec("set max_connections = 5"), { message: /max_connections/ });
});
