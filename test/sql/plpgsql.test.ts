/** PL/pgSQL: variables, control flow, queries, errors, cursors, and how long bodies behave. */
import t from "tap";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { DbError } from "../../src/protocol/errors.js";
import { Session } from "../../src/session/session.js";
import { jsonRows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";
import { type Script, script } from "../session/sql-script.js";

/** The value that a block leaves in `result`, as text. */
async function blockResult(db: Script, declarations: string, body: string): Promise<string> {
  await db.run(
    `create or replace function probe() returns text language plpgsql as $body$ declare result text := ''; ${declarations} begin ${body} return result; end $body$`,
  );
  return (await db.rows("select probe()"))[0]!;
}

t.test("loops, jumps and branches", async (t) => {
  const db = await script(t);
  const result = (declarations: string, body: string) => blockResult(db, declarations, body);
  t.equal(await result("", "for i in 1..3 loop result := result || i; end loop;"), "123");
  t.equal(await result("", "for i in reverse 9..1 by 3 loop result := result || i; end loop;"), "963");
  t.equal(await result("", "for i in 3..1 loop result := 'x'; end loop; result := result || found;"), "false");
  t.equal(
    await result(
      "i int := 0;",
      "<<o>> loop i := i + 1; while true loop exit o when i > 5; exit; end loop; continue when i % 2 = 0; result := result || i; end loop;",
    ),
    "135",
  );
  t.equal(
    await result("x int := 6;", "case x when 1, 2 then result := 'low'; when 6 then result := 'six'; end case;"),
    "six",
  );
  t.equal(
    await result(
      "x int;",
      "if x > 1 then result := 'a'; elsif x is null then result := 'b'; else result := 'c'; end if;",
    ),
    "b",
  );
  t.equal(
    await result("a int[] := '{1,2,3}'; x int;", "foreach x in array a loop result := result || x * 2; end loop;"),
    "246",
  );
  t.equal(
    await result(
      "a int[] := '{{1,2},{3,4}}'; x int[];",
      "foreach x slice 1 in array a loop result := result || x::text; end loop;",
    ),
    "{1,2}{3,4}",
  );
  await t.rejects(result("", "case 3 when 1 then null; end case;"), { code: "20000" });
});

t.test("variables: types, records, arrays, constants, aliases", async (t) => {
  const db = await script(t);
  await db.run("create table t (id int primary key, x varchar(5))", "insert into t values (1, 'a'), (2, 'b')");
  await db.run("create type pair as (l int, r text)", "create domain small as int check (value < 10)");
  const result = (declarations: string, body: string) => blockResult(db, declarations, body);
  t.equal(
    await result(
      "q t%rowtype; z t.x%type;",
      "select * into q from t where id = 2; q.x := 'zz'; z := q.x; result := z || q;",
    ),
    "zz(2,zz)",
  );
  t.equal(
    await result(
      "r record;",
      "select 1 as a, 'b' as b into r; result := r.a || r.b; r := row(7, 8); result := result || r.f2;",
    ),
    "1b8",
  );
  t.equal(
    await result("p pair;", "p.l := 3; p.r := 'x'; result := p; p := row(5, 'y'); result := result || p.l;"),
    "(3,x)5",
  );
  t.equal(await result("a int[];", "a[3] := 5; a[1] := 1; result := a::text;"), "{1,NULL,5}");
  t.equal(await result("n numeric(5,2) := 3.14159; i int := 2.6;", "result := n || '/' || i;"), "3.14/3");
  t.equal(await result("a constant int := 4; b alias for a;", "result := b;"), "4");
  t.equal(await result("", "declare result2 text := 'in'; begin result := result2; end;"), "in");
  await t.rejects(result("a constant int := 4;", "a := 5;"), { code: "22005" });
  await t.rejects(result("a int not null := 4;", "a := null;"), { code: "22004" });
  await t.rejects(result("s small;", "s := 11;"), { code: "23514" });
  await t.rejects(result("v varchar(2);", "v := 'abc';"), { code: "22001" });
  await t.rejects(result("r record;", "result := r.a;"), { code: "55000" });
});

t.test("variables and columns of one name", async (t) => {
  const db = await script(t);
  await db.run("create table t (id int primary key, x text)", "insert into t values (1, 'a'), (2, 'b')");
  const body = "begin return (select x from t where id = amb.id limit 1); end";
  await db.run(`create function amb(id int) returns text language plpgsql as $$ ${body} $$`);
  t.match(await db.fails("select amb(2)"), /^42702 column reference "id" is ambiguous/);
  await db.run(`create or replace function amb(id int) returns text language plpgsql as $$ #variable_conflict use_column
    ${body} $$`);
  t.same(await db.rows("select amb(2)"), ["b"]);
});

t.test("rows: OUT parameters, RETURN NEXT, RETURN QUERY", async (t) => {
  const db = await script(t);
  await db.run(
    "create function outs(a int, out b int, out c text) language plpgsql as $$ begin b := a * 2; c := 'x' || a; end $$",
    `create function steps(n int) returns table (a int, b text) language plpgsql as $$
     begin for i in 1..n loop a := i; b := 'r' || i; return next; end loop; return query select 9, 'q'::text; end $$`,
    "create function bare() returns record language plpgsql as $$ begin return row(1, 'a'::text); end $$",
    "create function wrong() returns setof int language plpgsql as $$ begin return query select 'a'::text; end $$",
  );
  t.same(await db.rows("select * from outs(4)"), ["8|x4"]);
  t.same(await db.rows("select (outs(5)).c"), ["x5"]);
  t.same(await db.rows("select * from steps(2)"), ["1|r1", "2|r2", "9|q"]);
  t.same(await db.rows("select * from bare() as r(a int, b text)"), ["1|a"]);
  t.match(await db.fails("select * from bare() as r(a int, b int)"), /^42804 returned record type does not match/);
  t.match(await db.fails("select * from wrong()"), /^42804 structure of query does not match/);
});

t.test("EXCEPTION undoes its block and knows the error", async (t) => {
  const db = await script(t);
  await db.run(
    "create table t (id int primary key)",
    "insert into t values (1)",
    `create function guarded(n int) returns text language plpgsql as $$
     declare m text; s text; d text;
     begin
       insert into t values (100 + n);
       begin
         insert into t values (200 + n);
         perform 1 / n;
         insert into t values (1);
       exception
         when division_by_zero then return sqlstate || ' ' || sqlerrm;
         when integrity_constraint_violation then
           get stacked diagnostics m = message_text, s = returned_sqlstate, d = constraint_name;
           return s || ' ' || d;
       end;
     end $$`,
    `create function again() returns text language plpgsql as $$
     begin
       begin raise exception 'one %', 1 using errcode = 'P1234', detail = 'more';
       exception when others then raise; end;
     exception when sqlstate 'P1234' then return sqlerrm; end $$`,
  );
  t.same(await db.rows("select guarded(0), guarded(1)"), ["22012 division by zero|23505 t_pkey"]);
  t.same(await db.rows("select id from t order by 1"), ["1", "100", "101"]);
  t.same(await db.rows("select again()"), ["one 1"]);
  t.equal(await db.fails("do $$ begin raise unique_violation using message = 'mine'; end $$"), "23505 mine");
  t.equal(await db.fails("do $$ begin raise 'a % b %%', null; end $$"), "P0001 a <NULL> b %");
  t.equal(await db.fails("do $$ begin assert 1 > 2, 'no'; end $$"), "P0004 no");
});

t.test("queries: INTO, STRICT, FOUND, ROW_COUNT, EXECUTE, cursors, CALL", async (t) => {
  const db = await script(t);
  await db.run("create table t (id int primary key, x text)", "insert into t values (1, 'a'), (2, 'b'), (3, 'c')");
  await db.run("create procedure plus(a int, inout b int) language plpgsql as $$ begin b := a + b; end $$");
  const result = (declarations: string, body: string) => blockResult(db, declarations, body);
  t.equal(
    await result("", "select x into result from t where id = 9; result := coalesce(result, '-') || found;"),
    "-false",
  );
  t.equal(
    await result(
      "n int;",
      "update t set x = x where id > 1; get diagnostics n = row_count; result := n || '/' || found;",
    ),
    "2/true",
  );
  t.equal(await result("", "for result in select x from t order by id desc loop exit; end loop;"), "c");
  t.equal(
    await result(
      "r record;",
      "for r in execute 'select $1 + id as v from t order by id' using 10 loop result := result || r.v; end loop;",
    ),
    "111213",
  );
  t.equal(await result("", "execute 'select x from t where id = $1' into result using 2;"), "b");
  t.equal(await result("v int := 5;", "call plus(3, v); result := v;"), "8");
  t.equal(
    await result("", "insert into t values (7, 'new') returning x into result; delete from t where id = 7;"),
    "new",
  );
  t.equal(
    await result(
      "c cursor (k int) for select id from t where id > k order by id; v int;",
      "open c(1); loop fetch c into v; exit when not found; result := result || v; end loop; close c; for r in c(k := 2) loop result := result || '/' || r.id; end loop;",
    ),
    "23/3",
  );
  await t.rejects(result("n int;", "select id into strict n from t;"), { code: "P0003" });
  await t.rejects(result("n int;", "select id into strict n from t where false;"), { code: "P0002" });
  await t.rejects(result("", "select 1;"), { code: "42601" });
  t.same(await db.rows("call plus(1, 2)"), ["3"]);
});

t.test("conditions of domains and checks of tables may call functions", async (t) => {
  const db = await script(t);
  await db.run(
    "create function even(n int) returns bool language plpgsql immutable as $$ begin return n % 2 = 0; end $$",
    "create domain evens as int check (even(value))",
    "create table t (x int check (even(x)), y evens)",
    "insert into t values (2, 4)",
  );
  t.match(await db.fails("insert into t values (2, 3)"), /^23514 value for domain evens/);
  t.match(await db.fails("insert into t values (3, 4)"), /^23514 /);
  t.match(await db.fails("do $$ declare v evens; begin v := 2; v := v + 1; end $$"), /^23514 value for domain evens/);
  t.same(await db.rows("select x from t where even(x) and not even(x + 1)"), ["2"]);
});

t.test("definitions change under a function", async (t) => {
  const db = await script(t);
  await db.run(
    `create function build() returns int language plpgsql as $$
     begin
       create table made (x int);
       insert into made values (7), (8);
       execute 'alter table made add column y int default 5';
       return (select sum(x + y) from made);
     end $$`,
    "create function reads() returns setof record language plpgsql as $$ begin return query execute 'select * from made'; end $$",
  );
  t.same(await db.rows("select build()"), ["25"]);
  t.same(await db.rows("select * from reads() as r(x int, y int)"), ["7|5", "8|5"]);
});

t.test("syntax is checked when the function is made", async (t) => {
  const db = await script(t);
  const made = (body: string) => db.fails(`create function s() returns int language plpgsql as $$ ${body} $$`);
  t.match(await made("begin x := ; end"), /^42601 /);
  t.match(await made("begin if true then null; end"), /^42601 /);
  t.match(await made("begin perform 1 +; end"), /^42601 syntax error/);
  t.match(await made("begin raise 'a %'; end"), /^42601 too few parameters specified for RAISE/);
});

t.test("recursion is bounded, and what fails leaves the session usable", async (t) => {
  const db = await script(t);
  await db.run(
    "create function down(n int) returns int language plpgsql as $$ begin return down(n + 1); end $$",
    "create function fib(n int) returns int language plpgsql as $$ begin if n < 2 then return n; end if; return fib(n - 1) + fib(n - 2); end $$",
    "create function noreturn() returns int language plpgsql as $$ begin null; end $$",
  );
  t.equal(await db.fails("select down(1)"), "54001 stack depth limit exceeded");
  t.same(await db.rows("select fib(15)"), ["610"]);
  t.equal(await db.fails("select noreturn()"), "2F005 control reached end of function without RETURN");
});

t.test("an endless loop ends at the deadline and lets others run meanwhile", async (t) => {
  await loadParser();
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  t.teardown(() => shard.close());
  const tenant = new Partition(0, shard, loadConfig({ env: {} }), () => undefined).tenant(7);
  const session = () =>
    new Session(tenant, { isolation: null, readOnly: false, user: "u", tenantName: "t", control: "routes" });
  let isLate = false;
  let turns = 0;
  const request = {
    checkpoint: () => {
      if (isLate) throw new DbError("request_timeout");
    },
    shouldYield: () => true,
    yieldTurn: () => {
      turns++;
      return new Promise<void>((resume) => setImmediate(resume));
    },
  };
  const execute = (sql: string) =>
    session().execute({ sql, params: [], maxRows: 10, collector: jsonRows, request }, (tx) => tenant.commit(tx));
  await execute("create function spin() returns int language plpgsql as $$ begin loop null; end loop; end $$");
  for (const endless of ["select spin()", "do $$ begin while true loop null; end loop; end $$"]) {
    turns = 0;
    isLate = false;
    // Others run while it does: without them its time would never end.
    let others = 0;
    const timer = setInterval(() => {
      others++;
      isLate = others > 3 && turns > 10;
    }, 5);
    await t.rejects(async () => execute(endless), { code: "request_timeout" });
    clearInterval(timer);
  }
});
