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
    ["city_area_check", "CHECK ((area > 0))", "city"],
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
  t.same(await rows("select pg_get_viewdef('named'::regclass)"), [["select name from city;"]]);
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
