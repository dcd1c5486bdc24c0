/** What the system shows of texts that definitions keep, after everything in them got other names. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";
import { checkStatements } from "./run-sql.js";

const SHOWN = [
  ["create schema s1"],
  ["create type feel as enum ('sad', 'glad')"],
  ["create function mark(text) returns text language sql immutable as $$ select $1 || '!' $$"],
  ["create function nums(int) returns setof int language sql as 'select generate_series(1, $1)'"],
  [
    `create table t (id int primary key, v varchar, f feel default 'glad', g text generated always as (mark(v)) stored)`,
  ],
  ["create unique index t_marked on t (mark(v)) where mark(v) <> 'no!'"],
  ["create table s1.log (what text, at int default 7)"],
  ["create table r (id int, v text, c regclass default 't')"],
  ["create view simple as select id, v from t"],
  ["create view named (a, b) as select id, mark(v) from t"],
  ["create view star as select * from t"],
  ["create view calls as select mark(v), 'sad'::feel, v is distinct from mark('z') as d from t"],
  ["create view func as select * from nums(2)"],
  ["create view over as select a, b from named where a < 100"],
  ["create view deep as select s1.log.what, log.at from s1.log"],
  [
    "create view pair as select x.mark, id, n from (select mark(v), id from t) x join (select id, v as n from t) y using (id)",
  ],
  ["create view whole as select t.id, (t).v as x from t"],
  [
    `create function put(n int, x varchar) returns varchar begin atomic insert into s1.log (what) values (mark(x));
    insert into t (id, v) values (n, x) on conflict (id) do update set v = excluded.v || t.v returning v; end`,
  ],
  [
    `create function move(n int) returns setof int begin atomic update t set v = t.v || '!', f = 'sad'::feel
    where id = n returning t.id; end`,
  ],
  ["create function gone(n int) returns setof varchar begin atomic delete from t where t.id = n returning v; end"],
  ["create rule one as on insert to r where mark(new.v) <> 'no!' do also insert into s1.log (what) select new.v"],
  ["create rule two as on delete to r do instead update r set v = 'gone ' || old.v where r.id = old.id"],
  ["create policy p on t using (mark(v) <> 'no!' and exists (select 1 from r where r.id is null or t.id > 0))"],
  ["insert into t (id, v) values (1, 'a'), (2, 'b')"],
] as const;

const ALL_RENAMED = [
  ["alter table t rename column v to vv"],
  ["alter table t rename column id to nr"],
  ["alter table t rename f to ff"],
  ["alter table t rename to tab"],
  ["alter table tab add column v int default 5"],
  ["alter table s1.log rename column what to word"],
  ["alter schema s1 rename to s9"],
  ["alter table s9.log rename to logged"],
  ["alter view named rename column b to bb"],
  ["alter view named rename to viewed"],
  ["alter function mark(text) rename to marked"],
  ["alter function nums(int) rename to numbers"],
  ["alter type feel rename to mood"],
  ["alter table r rename column v to vv"],
  ["alter table r rename to rr"],
] as const;

t.test("what is shown after all names were changed makes the same again", async (t) => {
  const database = await open();
  const rows = async (sql: string) => (await database.exec(sql)).rows;
  const one = async (sql: string) => (await rows(sql))[0]![0]!;
  for (const [sql] of [...SHOWN, ...ALL_RENAMED]) await rows(sql);
  const views = (await rows("select relname from pg_class where relkind = 'v' and relnamespace = 2200")).map(String);
  const oids = new Map<string, string>();
  for (const name of [...views, "put", "move", "gone"]) {
    const kind = views.includes(name) ? "regclass" : "regproc";
    oids.set(name, await one(`select '${name}'::${kind}::oid`));
  }
  await rows("set search_path = ''");
  for (const name of views) {
    await rows(`create view public.again_${name} as ${await one(`select pg_get_viewdef(${oids.get(name)})`)}`);
    const [was, is] = [await database.exec(`table public.${name}`), await database.exec(`table public.again_${name}`)];
    t.same(is, was, name);
  }
  for (const name of ["put", "move", "gone"]) {
    await rows(await one(`select pg_get_functiondef(${oids.get(name)})`));
  }
  for (const name of ["one", "two"]) {
    const text = await one(`select pg_get_ruledef(oid) from pg_rewrite where rulename = '${name}'`);
    await rows(`drop rule ${name} on public.rr`);
    await rows(text);
  }
  const policy = await one("select qual from pg_policies");
  await rows("drop policy p on public.tab");
  await rows(`create policy p on public.tab using (${policy})`);
  await rows("set search_path = public");
  t.equal(
    policy,
    "((public.marked((vv)::text) <> 'no!'::text) AND (EXISTS ( SELECT 1\n   FROM public.rr\n" +
      "  WHERE ((rr.id IS NULL) OR (tab.nr > 0)))))",
  );
  t.same(await rows("select put(3, 'c')"), [["c"]]);
  t.same(await rows("select put(3, 'd')"), [["dc"]]);
  t.same(await rows("select move(3)"), [["3"]]);
  t.same(await rows("insert into tab (nr, vv) values (4, 'e') returning ff, g, v"), [["glad", "e!", "5"]]);
  t.same(await rows("select gone(3)"), [["dc!"]]);
  await rows("insert into rr values (1, 'x'), (2, 'no')");
  await rows("delete from rr where id = 1");
  t.same(await rows("select * from rr order by id"), [
    ["1", "gone x", "tab"],
    ["2", "no", "tab"],
  ]);
  t.same(await rows("select word from s9.logged"), [["c!"], ["d!"], ["x"]]);
  await rows("update again_simple set v = 'q' where id = 1");
  t.same(await rows("select * from viewed order by 1"), [
    ["1", "q!"],
    ["2", "b!"],
    ["4", "e!"],
  ]);
  t.same(await rows("select pg_get_viewdef('star'::regclass)"), [
    [" SELECT tab.nr AS id,\n    tab.vv AS v,\n    tab.ff AS f,\n    tab.g\n   FROM tab;"],
  ]);
  await database.close();
});

t.test("ON CONFLICT reads the columns of the key that it names", (t) =>
  checkStatements(t, [
    ["create role r"],
    ["create table k (id int primary key, n int unique)"],
    ["revoke all on k from member"],
    ["grant insert on k to r"],
    ["grant select (id) on k to r"],
    ["set role r"],
    ["insert into k values (1, 1) on conflict do nothing"],
    ["insert into k values (1, 1) on conflict (id) do nothing"],
    ["insert into k values (1, 1) on conflict (n) do nothing", "42501 permission denied for table k"],
    ["insert into k values (1, 1) on conflict on constraint k_n_key do nothing", "42501 permission denied for table k"],
  ]),
);

t.test("what a policy reads cannot be dropped", (t) =>
  checkStatements(t, [
    ["create table secret (id int, more int)"],
    ["create view seen as select 1 as id"],
    ["create table q (id int)"],
    ["create policy one on q using (exists (select 1 from secret where secret.id = q.id))"],
    ["create policy two on q for insert with check (id in (select id from seen))"],
    ["alter table secret drop column more"],
    ["drop table secret", "2BP01 cannot drop table secret because other objects depend on it"],
    [
      "alter table secret drop column id",
      "2BP01 cannot drop column id of table secret because other objects depend on it",
    ],
    ["drop view seen", "2BP01 cannot drop view seen because other objects depend on it"],
    ["drop view seen cascade"],
    ["select policyname from pg_policies", ["one"]],
    ["alter table secret drop column id cascade"],
    ["select count(*) from pg_policies", ["0"]],
    ["create policy one on q using (exists (select 1 from secret))"],
    ["drop table secret, q"],
    ["create schema s"],
    ["select s.none('a'::text)", "42883 function s.none(text) does not exist"],
    ["select * from s.none(1)", "42883 function s.none(integer) does not exist"],
    ["select nos.none(1)", '3F000 schema "nos" does not exist'],
  ]),
);
