/** DROP OWNED BY, whose rights DROP … CASCADE asks, and attributes of composite types, as PostgreSQL 15 has them. */
import t from "tap";
import { type Script, script } from "../session/sql-script.js";

const RELATIONS = `select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = relnamespace
  where nspname in ('of1', 'of2') and relkind in ('r', 'v', 'S') order by 1, 2`;

async function as(db: Script, role: string, ...statements: string[]): Promise<void> {
  await db.run(`set role ${role}`, ...statements, "reset role");
}

async function failsAs(db: Script, role: string, sql: string): Promise<string> {
  await db.run(`set role ${role}`);
  const failure = await db.fails(sql);
  await db.run("reset role");
  return failure;
}

/** What r1 owns, what r2 has made of it, and what both may do with what neither owns. */
async function owners(db: Script): Promise<void> {
  await db.run(
    "create role r1",
    "create role r2",
    "create role r3 in role r1",
    "create role r4",
    "create schema of1 authorization r1",
    "create schema of2 authorization r2",
    "grant usage, create on schema of1, of2 to r1, r2",
    "create table shared (id int primary key)",
    "revoke all on shared from member",
    "grant select on shared to r1, r2",
  );
  await as(
    db,
    "r1",
    "create type of1.mood as enum ('a')",
    "create table of1.t (id int primary key, m of1.mood)",
    "create sequence of1.s",
    "create function of1.f(int) returns int language sql as 'select $1'",
    "create view of1.v as select of1.f(id) from of1.t",
    "grant select, references on of1.t to r2",
    "grant usage on type of1.mood to r2",
    "create table of2.of_r1 (a int)",
  );
}

t.test("what a role owns goes, by RESTRICT, if nobody else needs it", async (t) => {
  const db = await script(t);
  await owners(db);
  await as(db, "r2", "create table of2.own (a int)");
  t.match(await failsAs(db, "r2", "drop owned by r1"), /^42501 permission denied to drop objects/);
  await db.run("drop owned by r1");
  t.same(await db.rows(RELATIONS), ["of2|own"]);
  t.same(await db.rows("select nspname from pg_namespace where nspname like 'of_'"), ["of2"]);
  t.same(await db.rows("select typname from pg_type where typname = 'mood'"), []);
  t.same(await db.rows("select proname from pg_proc where proname = 'f'"), []);
  t.same(await db.rows("select has_table_privilege('r1', 'shared', 'SELECT')"), ["false"]);
  t.same(await db.rows("select has_table_privilege('r2', 'shared', 'SELECT')"), ["true"]);
  await db.run("drop role r1");
});

t.test("who may not drop is not told what depends on it", async (t) => {
  const db = await script(t);
  await owners(db);
  const drops = [
    ["drop table of1.t", "table t"],
    ["alter table of1.t drop column id", "table t"],
    ["drop function of1.f", "function f"],
    ["drop type of1.mood", "type mood"],
    ["drop schema of1", "schema of1"],
  ];
  for (const [sql, what] of drops) {
    t.equal(await failsAs(db, "r2", sql!), `42501 must be owner of ${what}`);
    t.match(await failsAs(db, "r1", sql!), /^2BP01 cannot drop/);
  }
});

t.test("what others have made of it forbids it, and goes by CASCADE", async (t) => {
  const db = await script(t);
  await owners(db);
  await as(
    db,
    "r2",
    "create view of2.w as select id from of1.t",
    "create table of2.k (id int references of1.t, m of1.mood, d int default of1.f(1))",
    "insert into of2.k (m) values ('a')",
    "create table of1.in1 (x int)",
  );
  const before = await db.rows(RELATIONS);
  for (const sql of ["drop owned by r1", "drop owned by r1 restrict"]) {
    t.match(await db.fails(sql), /^2BP01 cannot drop desired object\(s\) because other objects depend on them/);
  }
  await db.run("drop view of2.w");
  t.match(await db.fails("drop owned by r1"), /^2BP01 /, "keys, columns and defaults");
  await db.run("alter table of2.k drop constraint k_id_fkey", "alter table of2.k alter d drop default");
  t.match(await db.fails("drop owned by r1"), /^2BP01 /, "columns");
  t.same(
    await db.rows(RELATIONS),
    before.filter((line) => line !== "of2|w"),
    "nothing went",
  );
  // A member may drop, but takes away only what it could revoke.
  await as(db, "r3", "drop owned by r1 cascade");
  t.same(await db.rows(RELATIONS), ["of2|k"]);
  t.same(await db.rows("select * from of2.k"), ["∅|1"]);
  t.same(await db.rows("select has_table_privilege('r1', 'shared', 'SELECT')"), ["true"]);
  t.match(await db.fails("drop role r1"), /^2BP01 /);
  await db.run("drop owned by r1", "drop role r1");
});

t.test("policies, default privileges, and several roles at once", async (t) => {
  const db = await script(t);
  await owners(db);
  await db.run(
    "create policy two on shared to r1, r2 using (true)",
    "create policy alone on shared to r1 using (true)",
    "alter default privileges for role r2 grant select on tables to r1",
  );
  await as(db, "r2", "create view of2.w as select id from of1.t");
  await db.run("drop owned by r1, r2");
  t.same(await db.rows(RELATIONS), []);
  t.same(await db.rows("select polname, polroles from pg_policy"), []);
  t.same(await db.rows("select count(*) from pg_default_acl"), ["0"]);
  await db.run("drop role r1, r2, r3, r4");
});

t.test("CASCADE asks for what the statement names alone", async (t) => {
  const db = await script(t);
  await owners(db);
  await as(
    db,
    "r2",
    "create view of2.w as select id from of1.t",
    "create materialized view of2.mw as select id from of1.t",
    "create table of2.k (id int references of1.t, m of1.mood)",
    "create table of2.r (id int)",
    "alter table of2.r enable row level security",
    "create policy p on of2.r using (of1.f(id) = 1)",
  );
  t.match(await failsAs(db, "r4", "drop table of1.t cascade"), /^42501 /);
  t.match(await failsAs(db, "r2", "drop table of1.t cascade"), /^42501 must be owner of table t/);
  await as(db, "r1", "drop table of1.t cascade", "drop type of1.mood cascade");
  // But a policy that could keep rows from it stays: here PostgreSQL drops it.
  const policy = /^42501 must be owner of table r/;
  t.match(await failsAs(db, "r1", "drop function of1.f(int) cascade"), policy);
  t.match(await failsAs(db, "r3", "drop owned by r1 cascade"), policy);
  t.same(await db.rows("select polname from pg_policy"), ["p"]);
  await as(db, "r2", "drop policy p on of2.r");
  await as(db, "r1", "drop function of1.f(int) cascade");
  t.same(
    (await db.rows(RELATIONS)).filter((line) => line.startsWith("of2")),
    ["of2|k", "of2|of_r1", "of2|r"],
  );
  t.same(
    await db.rows(
      "select attname from pg_attribute where attrelid = 'of2.k'::regclass and attnum > 0 and not attisdropped",
    ),
    ["id"],
  );
  await as(db, "r2", "create view of2.of_own as select 1 as a");
  await as(db, "r1", "drop schema of1 cascade");
  t.same(await db.rows("select nspname from pg_namespace where nspname = 'of1'"), []);
  // What nobody owns lends nobody the right to what others own.
  await db.run("create role other");
  await as(db, "r2", "create table of2.kept (id int)");
  t.match(await failsAs(db, "other", "drop table of2.kept cascade"), /^42501 /);
});

t.test("a composite type loses the attribute", async (t) => {
  const db = await script(t);
  await db.run(
    "create type pm as enum ('a', 'b')",
    "create type pc as (x int, y pm, ys pm[])",
    "create domain pd as pm",
    "create type pc2 as (p pc, d pd, z text)",
    "create table pt (id int, c pc, c2 pc2, m pm)",
    "insert into pt values (1, row(7, 'a', array['a'::pm]), row(row(8, 'b', null), 'a', 'zz'), 'a')",
    "create table typed of pc",
    "insert into typed values (1, 'a', null)",
    "create table holds (r pt)",
    "insert into holds select pt from pt",
  );
  t.match(await db.fails("drop type pm"), /^2BP01 cannot drop type pm because other objects depend on it/);
  await db.run("drop type pm cascade");
  t.same(await db.rows("select * from pt"), ['1|(7)|("(8)",zz)']);
  t.same(await db.rows("select * from typed"), ["1"]);
  t.same(await db.rows("select * from holds"), ['(1,"(7)","(""(8)"",zz)")']);
  t.same(await db.rows("select (c).x, (c2).z from pt"), ["7|zz"]);
  await db.run("insert into pt values (2, row(9), row(row(1), 'y'))");
  t.same(await db.rows("select * from pt order by id"), ['1|(7)|("(8)",zz)', '2|(9)|("(1)",y)']);
  await db.run("create table base (a int)", "create type ofb as (b base, n int)", "create table uses (u ofb)");
  await db.run("insert into uses values (row(row(1), 2))");
  t.match(await db.fails("drop table base"), /^2BP01 /);
  await db.run("drop table base cascade");
  t.same(await db.rows("select * from uses"), ["(2)"]);
});
