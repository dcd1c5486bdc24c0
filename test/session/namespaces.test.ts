/** Schemas, temporary tables, sequences and types as a session's statements see them. */
import t, { type Test } from "tap";
import { open } from "../conformance/sql-adapter.js";

type Database = Awaited<ReturnType<typeof open>>;

async function session(t: Test): Promise<Database> {
  const database = await open();
  t.teardown(() => database.close());
  return database;
}

async function rows(database: Database, sql: string) {
  return (await database.exec(sql)).rows;
}

async function fails(t: Test, database: Database, sql: string, code: string): Promise<void> {
  await t.rejects(database.exec(sql), { code }, sql);
}

t.test("names are looked up along the search path", async (t) => {
  const database = await session(t);
  await database.exec("create schema a; create schema b; create table a.t (x int); create table b.t (y text)");
  await database.exec("insert into a.t values (1); insert into b.t values ('one')");
  await fails(t, database, "select * from t", "42P01");
  await database.exec("set search_path = b, a");
  t.same(await rows(database, "select * from t"), [["one"]]);
  await database.exec("set search_path = a, b");
  t.same(await rows(database, "select * from t"), [["1"]], "the plan of the same text under another path is not used");
  t.same(await rows(database, "show search_path"), [["a, b"]]);
  await database.exec("create table made (z int)");
  t.same(await rows(database, "select count(*) from a.made"), [["0"]], "new relations go into the first schema");
  await fails(t, database, "drop schema a", "2BP01");
  await database.exec("drop schema a cascade");
  t.same(await rows(database, "select * from t"), [["one"]]);
  await fails(t, database, "create table nowhere.t (x int)", "3F000");
});

t.test("a setting of a transaction goes with it", async (t) => {
  const database = await session(t);
  await database.exec("create schema a");
  await database.exec("begin; set search_path = a; rollback");
  t.same(await rows(database, "show search_path"), [["public"]]);
  await database.exec("begin; set local search_path = a");
  t.same(await rows(database, "show search_path"), [["a"]]);
  await database.exec("commit");
  t.same(await rows(database, "show search_path"), [["public"]]);
});

t.test("temporary tables hide others and follow ON COMMIT", async (t) => {
  const database = await session(t);
  await database.exec("create table t (x int); insert into t values (1)");
  await database.exec("create temp table t (x text); insert into t values ('temporary')");
  t.same(await rows(database, "select * from t"), [["temporary"]]);
  t.same(await rows(database, "select * from public.t"), [["1"]]);
  t.same(await rows(database, "select * from pg_temp.t"), [["temporary"]]);
  await database.exec("drop table t");
  t.same(await rows(database, "select * from t"), [["1"]]);
  await database.exec("begin; create temp table d (x int) on commit drop; insert into d values (1); commit");
  await fails(t, database, "select * from d", "42P01");
  await database.exec("create temp table e (x int) on commit delete rows; begin; insert into e values (1)");
  t.same(await rows(database, "select * from e"), [["1"]]);
  await database.exec("commit");
  t.same(await rows(database, "select * from e"), []);
});

t.test("ALTER SEQUENCE goes on where the sequence stands", async (t) => {
  const database = await session(t);
  await database.exec("create sequence s");
  t.same(await rows(database, "select nextval('s'), nextval('s')"), [["1", "2"]]);
  await database.exec("alter sequence s increment by 10");
  t.same(await rows(database, "select nextval('s')"), [["12"]]);
  await database.exec("alter sequence s restart with 5");
  t.same(await rows(database, "select nextval('s'), currval('s'), lastval()"), [["5", "5", "5"]]);
  t.same(await rows(database, "select setval('s', 40, false), nextval('s')"), [["40", "40"]]);
  await database.exec("begin; alter sequence s restart; rollback");
  t.same(await rows(database, "select nextval('s')"), [["50"]], "RESTART is undone, values are not");
  await database.exec("create table t (id int default nextval('s'))");
  await fails(t, database, "drop sequence s", "2BP01");
  await database.exec("alter sequence s rename to r; insert into t default values");
  t.same(await rows(database, "select * from t"), [["60"]], "a default follows its sequence");
});

t.test("enums order by their labels, also by those added between", async (t) => {
  const database = await session(t);
  await database.exec("create type mood as enum ('sad', 'happy')");
  await database.exec("create table t (m mood primary key); insert into t values ('happy'), ('sad')");
  await database.exec("alter type mood add value 'ok' before 'happy'; insert into t values ('ok')");
  t.same(await rows(database, "select m from t order by m"), [["sad"], ["ok"], ["happy"]]);
  t.same(await rows(database, "select m from t where m > 'sad' order by m desc"), [["happy"], ["ok"]]);
  await database.exec("alter type mood rename value 'sad' to 'blue'");
  t.same(await rows(database, "select m from t where m = 'blue'"), [["blue"]], "stored rows follow");
  await fails(t, database, "insert into t values ('sad')", "22P02");
  await fails(t, database, "drop type mood", "2BP01");
});

t.test("domains are checked wherever a value becomes one", async (t) => {
  const database = await session(t);
  await database.exec("create domain positive as int default 7 check (value > 0)");
  await fails(t, database, "select (-1)::positive", "23514");
  await database.exec("create table t (a positive, b positive[] default '{1}')");
  await database.exec("insert into t default values");
  t.same(await rows(database, "select a, b, a + 1 from t"), [["7", "{1}", "8"]]);
  await fails(t, database, "insert into t values (0)", "23514");
  await fails(t, database, "insert into t values (1, '{1,-1}')", "23514");
  await fails(t, database, "update t set a = a - 7", "23514");
  await t.rejects(database.exec("insert into t values ($1)", [-5]), { code: "23514" }, "of a parameter");
  await database.exec("alter domain positive set not null");
  await fails(t, database, "insert into t values (null)", "23502");
});

t.test("a domain's new conditions hold for what is stored", async (t) => {
  const database = await session(t);
  await database.exec("create domain d as int; create table t (a d, b d[]); insert into t values (5, '{1,20}')");
  await fails(t, database, "alter domain d add check (value > 5)", "23514");
  await fails(t, database, "alter domain d add constraint small check (value < 20)", "23514");
  await database.exec("alter domain d add constraint small check (value < 21)");
  await fails(t, database, "insert into t values (21)", "23514");
  await database.exec("insert into t values (null); alter domain d drop constraint small; insert into t values (21)");
  await fails(t, database, "alter domain d set not null", "23502");
});

t.test("statements about what does not exist here, and about the session", async (t) => {
  const database = await session(t);
  await database.exec("drop function if exists f(int); drop trigger if exists g on t");
  await fails(t, database, "drop function f(int)", "42883");
  await fails(t, database, "grant select on t to somebody", "42704");
  await database.exec("create table t (a int); begin; lock table t in exclusive mode; commit");
  await fails(t, database, "lock table missing", "42P01");
  await database.exec("create view v as select * from t where a in (select a from t); begin; lock v; commit");
  await database.exec("create temp table s (a int); set app.tone = 'x'; discard all");
  await fails(t, database, "select * from s", "42P01");
  await fails(t, database, "show app.tone", "42704");
});

t.test("bit strings", async (t) => {
  const database = await session(t);
  await database.exec("create table t (a bit(4) primary key, b varbit(6)); insert into t values (b'1010', x'F')");
  t.same(await rows(database, "select a & b'0110', ~a, a || b, a::int, position(b'01' in a), a << 1 from t"), [
    ["0010", "0101", "10101111", "10", "2", "0100"],
  ]);
  await fails(t, database, "insert into t values (b'101', b'1')", "22026");
  await fails(t, database, "insert into t values (b'1010', b'1')", "23505");
  await fails(t, database, "select b'12'", "22P02");
});

t.test("the schema public can be dropped, and made anew", async (t) => {
  const database = await session(t);
  await database.exec(`create table t (id serial primary key, x text); insert into t (x) values ('one');
    create view v as select * from t; create type e as enum ('a'); create function f() returns int return 1;
    create extension pgcrypto; create schema other; create table other.r (id int references public.t)`);
  await database.exec('create table "_agents" (name text); insert into "_agents" values ($$ann$$)');
  await fails(t, database, "drop schema public", "2BP01");
  await database.exec("begin; drop schema public cascade");
  await fails(t, database, "select * from t", "42P01");
  await database.exec("rollback");
  t.same(await rows(database, "select x from v"), [["one"]], "as ROLLBACK leaves it");

  await database.exec("drop schema public cascade");
  for (const [sql, code] of [
    ["create table t (x int)", "3F000"],
    ["create view t as select 1", "3F000"],
    ["create type e as enum ('a')", "3F000"],
    ["create sequence t_id_seq", "3F000"],
    ["create extension pgcrypto", "3F000"],
    ["create table public.t (x int)", "3F000"],
    ["grant usage on schema public to public", "3F000"],
    ["drop schema public", "3F000"],
    ["comment on schema public is 'x'", "3F000"],
    ["select 'public'::regnamespace", "3F000"],
    ["select * from public.t", "42P01"],
    ["select f()", "42883"],
  ] as const) {
    await fails(t, database, sql, code);
  }
  const named = "select nspname from pg_namespace where nspname !~ '^pg_' order by 1";
  t.same(await rows(database, named), [["information_schema"], ["other"]]);
  t.same(await rows(database, "select current_schema(), current_schemas(true)"), [[null, "{pg_catalog}"]]);
  t.same(await rows(database, 'select * from "_agents"'), [["ann"]], "what a feature keeps stays");
  t.same(await rows(database, "select * from other.r"), [], "what another schema has stays, without its foreign key");

  await database.exec("create schema public; create table t (id serial, x text); insert into t (x) values ('two')");
  t.same(await rows(database, "select * from public.t"), [["1", "two"]]);
  await fails(t, database, "create schema public", "42P06");
  await database.exec("create extension pgcrypto; comment on schema public is 'ours'");
  const told = "select nspname, oid = 2200, obj_description(oid) from pg_namespace where nspname = 'public'";
  t.same(await rows(database, told), [["public", "false", "ours"]], "it is another schema");
  await database.exec("drop schema public cascade; create schema public");
  t.same(await rows(database, "select to_regclass('t')"), [[null]], "again");
});

t.test("with roles, superusers own the schema public, and who makes it anew owns that", async (t) => {
  const database = await session(t);
  await database.exec("create role ann; create role bob; create table mine (x int); grant all on schema public to ann");
  await database.exec("alter default privileges in schema public grant select on tables to ann");
  await database.exec("set role ann");
  await fails(t, database, "drop schema public cascade", "42501");
  await database.exec("reset role; drop schema public cascade");
  await database.exec("set role bob; create schema public; create table t (x int)");
  const may = "select has_schema_privilege('ann', 'public', 'create'), has_table_privilege('ann', 't', 'select')";
  t.same(
    await rows(database, may),
    [["false", "false"]],
    "what was granted on the old one, and on what would be in it, is gone",
  );
});
