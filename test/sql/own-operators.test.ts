/** CREATE OPERATOR and CREATE CAST: what they mean in expressions, what keeps them, and what depends on them. */
import t from "tap";
import { loadParser } from "../../src/sql/parse/parse.js";
import { checkStatements } from "./run-sql.js";

t.before(loadParser);

const NEAR: readonly [string][] = [
  ["create function near(a int, b int) returns boolean language sql immutable as 'select abs($1 - $2) < 3'"],
  ["create operator ~~= (function = near, leftarg = int, rightarg = int, commutator = ~~=, restrict = eqsel)"],
];

t.test("operators", async (t) => {
  await checkStatements(t, [
    ...NEAR,
    ["select 5 ~~= 7, 5 ~~= 9, 5::smallint ~~= 6, null ~~= 3", ["true|false|true|∅"]],
    ["select 5 operator(public.~~=) 7", ["true"]],
    ["select 5 operator(public.+) 7", "42883 operator does not exist: integer public.+ integer"],
    ["select 'a'::text ~~= 'b'", "42883 operator does not exist: text ~~= unknown"],
    ["create function dash(a text) returns text language plpgsql as $$ begin return '-' || a; end $$"],
    ["create operator !!! (procedure = dash, rightarg = text)"],
    ["select !!! 'x', !!! ('y' || 'z')", ["-x|-yz"]],
    ["create operator !!! (procedure = dash, leftarg = text)", "42P13 operator right argument type must be specified"],
    ["create operator === (procedure = int4eq, leftarg = int, rightarg = int, negator = !==, hashes)"],
    [
      "select 1 === 1, 3 === any(array[1, 2, 3]), 3 === all(array[3, 4]), 1 !== 2",
      "42883 operator does not exist: integer !== integer",
    ],
    ["select 1 === 1, 3 === any(array[1, 2, 3]), 3 === all(array[3, 4])", ["true|true|false"]],
    ["create function twice(anyarray, anyelement) returns int language sql as 'select 2 * cardinality($1)'"],
    ["create operator |#| (procedure = twice, leftarg = anyarray, rightarg = anyelement)"],
    ["select array['a', 'b'] |#| 'c'::text", ["4"]],
    ["create function plus(text, text) returns text language sql as 'select $1 || $2'"],
    ["create operator + (procedure = plus, leftarg = text, rightarg = text)"],
    ["select 'a'::text + 'b'::text, 1 + 2, '3' + 4", ["ab|3|7"]],
    [
      "create operator === (procedure = nofn, leftarg = text, rightarg = text)",
      "42883 function nofn(text, text) does not exist",
    ],
    ["create operator === (procedure = int4eq, leftarg = int, rightarg = int)", "42723 operator === already exists"],
    [
      "create operator #% (procedure = int4pl, leftarg = int, rightarg = int, hashes)",
      "42P13 only boolean operators can hash",
    ],
  ]);
});

t.test("operators between a value and the rows of a query", async (t) => {
  await checkStatements(t, [
    ...NEAR,
    ["select 5 ~~= any (select 9 union select 7), 5 ~~= all (select 9 union select 7)", ["true|false"]],
    ["select 5 ~~= any (select null::int), 5 ~~= any (select 1 where false)", ["∅|false"]],
    ["create table t (id int); insert into t values (1), (5), (9)"],
    ["select id from t where id ~~= any (select 10 union select 6) order by 1", ["5", "9"]],
    ["select id from t where not id ~~= all (select 1 union select 2) order by 1", ["5", "9"]],
    ["select 'word' % any (select 'words'), 'word' % all (select 'words' union select 'other')", ["true|false"]],
    ["select 1::bigint in (select '1'::text)", "42883 operator does not exist: bigint = text"],
    ["create function same(a bigint, b text) returns boolean language sql as 'select $1::text = $2'"],
    ["create operator = (procedure = same, leftarg = bigint, rightarg = text)"],
    ["select 1::bigint in (select '1'::text), 2::bigint not in (select '1'::text)", ["true|true"]],
    ["select id from t where id::bigint in (select v from (values ('5'), ('x')) as v(v))", ["5"]],
    ["create view near as select id from t where id ~~= any (select 10)"],
    ["select * from near", ["9"]],
    ["drop operator ~~= (int, int)", "2BP01 cannot drop operator ~~= because other objects depend on it"],
  ]);
});

t.test("definitions that use operators", async (t) => {
  await checkStatements(t, [
    ...NEAR,
    ["create table n (x int check (x ~~= 5), y boolean generated always as (x ~~= 6) stored)"],
    ["create index n_near on n ((x ~~= 4))"],
    ["insert into n values (6), (4)"],
    [
      "insert into n values (9)",
      /* 9 is not near 5 */ '23514 new row for relation "n" violates check constraint "n_x_check"',
    ],
    ["select x, y from n order by x", ["4|true", "6|true"]],
    ["create view v as select x ~~= 3 as a, (x + 1) operator(public.~~=) 7 as b from n where x ~~= 5"],
    ["create schema s"],
    ["alter operator ~~= (int, int) set schema s"],
    ["select 1 ~~= 1", "42883 operator does not exist: integer ~~= integer"],
    ["select * from v order by a", ["false|true", "true|true"]],
    ["insert into n values (9)", '23514 new row for relation "n" violates check constraint "n_x_check"'],
    [
      "select pg_get_viewdef('v')",
      [
        ` SELECT (n.x OPERATOR(s.~~=) 3) AS a,
    ((n.x + 1) OPERATOR(s.~~=) 7) AS b
   FROM n
  WHERE (n.x OPERATOR(s.~~=) 5);`,
      ],
    ],
    ["set search_path = public, s"],
    [
      "select conname, pg_get_constraintdef(oid) from pg_constraint where conname = 'n_x_check'",
      ["n_x_check|CHECK ((x ~~= 5))"],
    ],
    ["drop operator ~~= (int, int)", "2BP01 cannot drop operator ~~= because other objects depend on it"],
    ["drop function near", "2BP01 cannot drop function near(integer, integer) because other objects depend on it"],
    ["drop function near cascade"],
    ["insert into n values (9)"],
    ["select * from v", '42P01 relation "v" does not exist'],
    ["select column_name from information_schema.columns where table_name = 'n'", ["x"]],
    ["create function plus(text, text) returns text language sql as 'select $1 || $2'"],
    ["create operator + (procedure = plus, leftarg = text, rightarg = text)"],
    [
      "create view w as select 'a'::text + 'b'::text as c",
      "0A000 a definition cannot use the operator +, which a statement made, by its symbol alone",
    ],
    ["create view w as select ('a'::text operator(public.+) 'b'::text) as c"],
    ["select c from w", ["ab"]],
  ]);
});

t.test("casts", async (t) => {
  await checkStatements(t, [
    ["create type mood as enum ('sad', 'ok')"],
    ["create table p (m mood)"],
    ["insert into p values ('sad'::text)", '42804 column "m" is of type mood but expression is of type text'],
    ["create cast (text as mood) with inout as assignment"],
    ["insert into p values ('sad'::text)"],
    ["select * from p where m = 'sad'::text", "42883 operator does not exist: mood = text"],
    ["create cast (varchar as mood) with inout as implicit"],
    ["create function told(mood) returns text language sql as $$ select 'so ' || $1 $$"],
    ["select told('ok'::varchar)", ["so ok"]],
    ["select * from p where m = 'sad'::varchar", "42883 operator does not exist: mood = character varying"],
    ["select array['ok', 'sad']::varchar[]::mood[]", ["{ok,sad}"]],
    ["create cast (varchar as mood) with inout", "42710 cast from type character varying to type mood already exists"],
    ["create cast (text as varchar) with inout", "42710 cast from type text to type character varying already exists"],
    ["drop cast (varchar as mood)"],
    ["select told('ok'::varchar)", "42883 function told(character varying) does not exist"],
    ["drop cast (varchar as mood)", "42704 cast from type character varying to type mood does not exist"],
    ["drop cast if exists (varchar as mood)"],
    ["create type pt as (x int, y int)"],
    ["create function pt_int(pt) returns int language sql immutable as 'select $1.x + $1.y'"],
    ["create cast (pt as int) with function pt_int(pt) as implicit"],
    ["select row(1, 2)::pt::int, row(3, 4)::pt + 10, abs(row(-3, 1)::pt)", ["3|17|2"]],
    [
      "create function int_pt(int, int, boolean) returns pt language plpgsql as $$ begin return row($1, case when $3 then 1 else 0 end); end $$",
    ],
    ["create cast (int as pt) with function int_pt(int, int, boolean) as assignment"],
    ["create table q (p pt)"],
    ["insert into q values (5)"],
    ["select p, 7::pt from q", ["(5,0)|(7,1)"]],
    [
      "select a::pt[] from (select array[1, 2] as a) l",
      "0A000 a cast from integer[] to pt[] by the function of its elements is not supported yet",
    ],
    ["create cast (int as int) with inout", "42P17 source data type and target data type are the same"],
    ["create cast (mood as int) without function", "42P17 enum data types are not binary-compatible"],
    [
      "create cast (int as box) with function pt_int(pt)",
      "42P17 argument of cast function must match or be binary-coercible from source data type",
    ],
    ["create cast (text as int) with inout as implicit"],
    ["select '3'::text + 4, '20'::text::int", ["7|20"]],
    [
      "create table r (a int check (a > '3'::text))",
      "0A000 a stored expression cannot use the cast from text to int4, which may change",
    ],
    ["create view v as select m::text::mood as m from p"],
    ["select * from v", ["sad"]],
    [
      "select castsource::regtype, casttarget::regtype, castfunc::regproc, castcontext, castmethod from pg_cast where oid > 16383 order by 1, 2",
      ["integer|pt|int_pt|a|f", "text|integer|-|i|i", "text|mood|-|a|i", "pt|integer|pt_int|i|f"],
    ],
    ["drop function pt_int(pt)", "2BP01 cannot drop function pt_int(pt) because other objects depend on it"],
    ["drop type pt cascade"],
    ["select count(*) from pg_cast where oid > 16383", ["2"]],
  ]);
});

t.test("a cast does not change what an index holds", async (t) => {
  await checkStatements(t, [
    ["create type mood as enum ('sad', 'ok')"],
    ["create function loud(mood) returns text language sql immutable as $$ select 'loud' $$"],
    ["create table p (m mood, s text generated always as (m::text) stored)"],
    ["create function shown(mood) returns text language plpgsql immutable as $$ begin return $1; end $$"],
    ["create cast (mood as text) with function loud(mood)"],
    ["insert into p values ('ok')"],
    ["select s, m::text from p", ["ok|loud"]],
  ]);
});

t.test("an extension's operators are found in the schema that scripts put it in", async (t) => {
  await checkStatements(t, [
    ["select round(('[1,2]'::vector OPERATOR(public.<->) '[1,4]')::numeric, 1)", ["2.0"]],
    ["select round(('[1,0]'::vector(2) OPERATOR(public.<=>) '[1,0]')::numeric, 1)", ["0.0"]],
    ["select 'word' OPERATOR(public.%) 'words', 'a=>1'::hstore OPERATOR(public.->) 'a'", ["true|1"]],
    ["select 1 OPERATOR(public.+) 2", "42883 operator does not exist: integer public.+ integer"],
    ["select 5 OPERATOR(public.%) 2", "42883 operator does not exist: integer public.% integer"],
  ]);
});
