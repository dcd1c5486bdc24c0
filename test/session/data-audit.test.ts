/** The audit of data: which statements leave which entries, that rolled back changes leave none, and who decides. */
import t from "tap";
import { listAccess } from "../../src/session/data-audit.js";
import { open } from "../conformance/sql-adapter.js";

type Database = Awaited<ReturnType<typeof open>>;

/** What came in since the last look, oldest first: "read t, write t u". */
function watch({ tenant }: Database) {
  let seen = 0;
  return (): string => {
    const { entries } = listAccess(tenant, { limit: 100 });
    const fresh = entries.slice(0, entries.length - seen).reverse();
    seen = entries.length;
    return fresh.map(({ action, target }) => `${action.slice("data.".length)} ${target.join(" ")}`).join(", ");
  };
}

async function audited(definitions: readonly string[]) {
  const database = await open();
  for (const sql of definitions) await database.exec(sql);
  const fresh = watch(database);
  fresh();
  return { database, exec: database.exec, fresh };
}

const TWO = [
  "create table t (id int primary key, a int)",
  "create table u (id int primary key, t int references t on delete cascade)",
  "insert into t values (1, 1), (2, 2)",
  "insert into u values (1, 1)",
];

t.test("each statement that uses an audited table leaves an entry", async (t) => {
  const { database, exec, fresh } = await audited([...TWO, "alter table t set (audit = 'read, write')"]);
  await exec("create view v as select * from t");
  await exec("create function f() returns bigint language sql as 'select sum(a) from t'");
  await exec("create table w as select 1 as one");
  t.equal(fresh(), "", "definitions read no rows");
  for (const [sql, expected] of [
    ["select * from u", ""],
    ["select * from t where id = 1", "read t"],
    ["select count(*) from t", "read t"],
    ["select (select max(a) from t)", "read t"],
    ["with x as (select 1 from t) select * from x", "read t"],
    ["select * from v", "read t"],
    ["select f()", "read t"],
    ["select f() from generate_series(1, 5)", "read t"],
    ["explain select * from t", ""],
    ["explain analyze select * from t", "read t"],
    ["insert into t values (3, 3)", "write t"],
    ["insert into t select id + 10, a from t", "read t, write t"],
    ["update t set a = 5 where id = 1", "read t, write t"],
    ["merge into t using u on t.id = u.t when matched then update set a = 0", "read t, write t"],
    ["create table copy as select * from t", "read t"],
    ["prepare p as select * from t", ""],
    ["execute p", "read t"],
    ["do $$ begin perform a from t; end $$", "read t"],
    ["begin; declare c cursor for select * from t; fetch 1 from c; commit", "read t"],
    ["delete from t where id = 1", "read t, write t"],
    ["truncate t cascade", "write t"],
    ["alter table t set (audit = 'write')", "audit t"],
    ["select * from t", ""],
    ["insert into t values (7, 7)", "write t"],
    ["alter table t reset (audit)", "audit t"],
    ["insert into t values (8, 8)", ""],
  ] as const) {
    await exec(sql);
    t.equal(fresh(), expected, sql);
  }
  await database.close();
});

t.test("definitions that take rows away, or write them anew, leave an entry for each of their tables", async (t) => {
  const { database, exec, fresh } = await audited([
    ...TWO,
    "create schema s",
    "create type mood as enum ('good')",
    "create table s.x (id int, m mood)",
    "create table base (id int)",
    "create table heir () inherits (base)",
    "create table d (id int, n int, m mood)",
    ...["u", "s.x", "heir", "d"].map((name) => `alter table ${name} set (audit = 'write')`),
  ]);
  for (const [sql, expected] of [
    ["truncate t cascade", "write u"],
    ["alter table d alter column n type bigint using n + 1", "write d"],
    ["alter table d add column e int", ""],
    ["alter table d rename to f", ""],
    ["alter table f drop column e, drop column n", "write f"],
    ["drop type mood cascade", "write s.x f"],
    ["truncate s.x", "write s.x"],
    ["drop schema s cascade", "write s.x"],
    ["drop table base cascade", "write heir"],
    ["drop table t cascade", ""],
    ["create index i on f (id)", ""],
    ["begin; drop table f; rollback", ""],
    ["drop table f, u", "write u f"],
  ] as const) {
    await exec(sql);
    t.same(fresh().split(" ").sort(), expected.split(" ").sort(), sql);
  }
  await database.close();
});

t.test("a change and its entry come and go together; a read is noted whatever becomes of it", async (t) => {
  const { database, exec, fresh } = await audited([...TWO, "alter table t set (audit = 'read, write')"]);
  await exec("begin; insert into t values (5, 5); select * from t; rollback");
  t.equal(fresh(), "read t");
  await exec("begin; insert into t values (5, 5); savepoint s; update t set a = 9; rollback to s; commit");
  t.equal(fresh(), "write t, read t", "what a savepoint takes back has not changed anything");
  await t.rejects(exec("insert into t values (1, 1)"));
  t.equal(fresh(), "");
  await t.rejects(exec("select 1 / (a - a) from t"));
  t.equal(fresh(), "read t");
  await exec("create table few (id int references t on update cascade)");
  await database.close();
});

t.test("cascades, triggers, children and partitions", async (t) => {
  const { database, exec, fresh } = await audited([
    ...TWO,
    "alter table u set (audit = 'write')",
    "create table p (id int) partition by range (id)",
    "create table p1 partition of p for values from (0) to (10)",
    "alter table p set (audit = 'read, write')",
    "create table p2 partition of p for values from (10) to (20)",
    "create table base (id int)",
    "create table heir () inherits (base)",
    "alter table heir set (audit = 'read, write')",
  ]);
  await exec("delete from t where id = 1");
  t.equal(fresh(), "write u", "ON DELETE CASCADE");
  await exec("insert into p values (1), (11)");
  t.equal(fresh(), "write p");
  await exec("insert into p2 values (12)");
  t.equal(fresh(), "write p2");
  await exec("select * from p where id = 12");
  t.equal(fresh(), "read p2", "only what is read");
  await exec("update base set id = 1");
  t.equal(fresh(), "read heir, write heir");
  t.equal((await sqlState(exec("alter table p1 reset (audit)"))).slice(0, 5), "42809");
  await exec("create table loose (id int)");
  await exec("alter table loose set (audit = 'read')");
  await exec("create table q (id int) partition by range (id)");
  const attach = "alter table q attach partition loose for values from (0) to (10)";
  t.match(await sqlState(exec(attach)), /^42809 "loose" is audited/);
  await exec("alter table q set (audit = 'read')");
  await exec(attach);
  await database.close();
});

const sqlState = (ran: Promise<unknown>): Promise<string> =>
  ran.then(
    () => "no error",
    (error: Error & { code: string }) => `${error.code} ${error.message}`,
  );

t.test("hashes tell equal statements from others, and nothing else", async (t) => {
  const { database, exec } = await audited([...TWO, "alter table t set (audit = 'read')"]);
  await exec("select * from t where a = $1", [41]);
  await exec("select * from t where a = $1", [42]);
  await exec("select * from t where a = $1", [42]);
  const [third, second, first] = listAccess(database.tenant, { limit: 3 }).entries;
  t.equal(third!.parameters, second!.parameters);
  t.not(second!.parameters, first!.parameters);
  t.equal(first!.username, "tester");
  await database.close();
});

t.test("pages, filters, and who decides what is audited", async (t) => {
  const { database, exec } = await audited([...TWO, "alter table t set (audit = 'read')"]);
  for (let i = 0; i < 5; i++) await exec("select * from t");
  const first = listAccess(database.tenant, { limit: 2, action: "data.read" });
  const second = listAccess(database.tenant, { limit: 2, action: "data.read", before: first.next! });
  const third = listAccess(database.tenant, { limit: 2, action: "data.read", before: second.next! });
  t.same(
    [first, second, third].map(({ entries }) => entries.length),
    [2, 2, 1],
  );
  t.equal(listAccess(database.tenant, { limit: 9, table: "u" }).entries.length, 0);
  t.equal(third.next, null);
  await exec("create role ann");
  await exec("alter table t owner to ann");
  await exec("set role ann");
  t.match(await sqlState(exec("alter table t reset (audit)")), /^42501 .*only administrators/);
  await exec("reset role");
  t.match(await sqlState(exec("alter table t set (audit = 'sometimes')")), /^22023/);
  t.match(await sqlState(exec("alter table t set (audit = 'read', fillfactor = 70)")), /^0A000/);
  await database.close();
});
