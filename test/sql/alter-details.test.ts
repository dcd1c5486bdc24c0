/** Small things about ALTER, FOR UPDATE, VALUES and attributes that are functions. Expectations are PostgreSQL 15's. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("actions without effect name what is there", (t) =>
  checkStatements(t, [
    ["create table t (a int, b int, c text)"],
    ["create index t_idx on t (a, (a + b)) include (c)"],
    [
      "alter index t_idx alter column 1 set statistics 100",
      '0A000 cannot alter statistics on non-expression column "a" of index "t_idx"',
    ],
    [
      "alter index t_idx alter column 3 set statistics 100",
      '0A000 cannot alter statistics on included column "c" of index "t_idx"',
    ],
    ["alter index t_idx alter column 4 set statistics 100", '42703 column number 4 of relation "t_idx" does not exist'],
    ["alter table t alter x set storage plain", '42703 column "x" of relation "t" does not exist'],
    ["analyze t(x)", '42703 column "x" of relation "t" does not exist'],
    ["alter index t rename to u", ["ALTER TABLE"]],
    ["alter table u add constraint k check (a > 0)", ["ALTER TABLE"]],
    ["alter table u add constraint k unique (a)", '42710 constraint "k" for relation "u" already exists'],
  ]),
);

t.test("partitions below a default partition", (t) =>
  checkStatements(t, [
    ["create table p (a int not null, b text) partition by list (b)"],
    ["create table rest partition of p default partition by list (a)"],
    ["create table rest_5 partition of rest for values in (5)"],
    ["insert into p values (5, 'y')"],
    ["create table y (like p)"],
    [
      "alter table p attach partition y for values in ('y')",
      '23514 updated partition constraint for default partition "rest" would be violated by some row',
    ],
    ["begin"],
    [
      "alter table p detach partition rest concurrently",
      "25001 ALTER TABLE ... DETACH CONCURRENTLY cannot run inside a transaction block",
    ],
    ["rollback"],
  ]),
);

t.test("FOR UPDATE", (t) =>
  checkStatements(t, [
    ["create table t (a int)"],
    ["select a from t for update"],
    ["select x.a from t x join t y using (a) as j for update of x"],
    ["select * from t x join t y using (a) as j for update of j", "0A000 FOR UPDATE cannot be applied to a join"],
    ["select * from t for share of u", '42P01 relation "u" in FOR SHARE clause not found in FROM clause'],
    ["select distinct a from t for update", "0A000 FOR UPDATE is not allowed with DISTINCT clause"],
    ["select count(*) from t for update", "0A000 FOR UPDATE is not allowed with aggregate functions"],
    ["select a from t union select a from t for update", "0A000 FOR UPDATE is not allowed with UNION/INTERSECT/EXCEPT"],
    ["with c as (select 1) select * from c for update of c", "0A000 FOR UPDATE cannot be applied to a WITH query"],
  ]),
);

t.test("rows", (t) =>
  checkStatements(t, [
    ["create table pair (x int, y text)"],
    ["create function put(v pair) returns void language sql as 'insert into pair values (v.*)'"],
    ["select put(row(1, 'one'))", ["∅"]],
    ["update pair set (x, y) = row(v.*) from (values (2, 'two')) v", []],
    ["create function shown(pair) returns text language sql as 'select $1.x || $1.y'"],
    ["select p.shown, p.x from pair p", ["2two|2"]],
    ["select p.missing from pair p", "42703 column p.missing does not exist"],
    ["select * from pair p, lateral (values (p.*), (3, 'x')) v(a, b)", ["2|two|2|two", "2|two|3|x"]],
  ]),
);

t.test("names that are not there, parts of indexes, rows of types", (t) =>
  checkStatements(t, [
    ["drop function if exists f(no_such_type)", ["DROP FUNCTION"]],
    ["drop aggregate if exists f(no_such_schema.no_such_type)", ["DROP AGGREGATE"]],
    ["drop function f(no_such_type)", '42704 type "no_such_type" does not exist'],
    ["create type pair as (a int, b text)"],
    ["create table like_pair (like pair, c int)"],
    ["select * from like_pair"],
    ["create table p (a int, b int) partition by hash (a)"],
    ["create table p_all (a int, b int, unique (b, a))"],
    ["alter table p attach partition p_all for values with (modulus 1, remainder 0)"],
    ["create unique index p_idx on p (b, a)"],
    ["alter index p_idx attach partition p_all_b_a_key"],
    ["create table u (i int unique deferrable) partition by range (i)"],
    ["create table u_1 partition of u for values from (0) to (10)"],
    ["begin"],
    ["set constraints u_i_key deferred"],
    ["insert into u values (1)"],
    ["insert into u values (1)"],
    ["commit", '23505 duplicate key value violates unique constraint "u_1_i_key"'],
  ]),
);

t.test("timestamps far away are printed with the digits that were given", (t) =>
  checkStatements(t, [
    [
      "select timestamp '294276-12-31 23:59:59', timestamp '100000-01-01 00:00:01.5', timestamp '4713-01-01 00:00:00 BC'",
      ["294276-12-31 23:59:59|100000-01-01 00:00:01.5|4713-01-01 00:00:00 BC"],
    ],
  ]),
);
