/** Rules on views that are conditional, or follow others; checked against PostgreSQL 15. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("conditional and ALSO rules beside one that replaces the statement", (t) =>
  checkStatements(t, [
    ["create table t (a int, b int)"],
    ["create table log (a int, what text)"],
    ["create view v as select a, b from t"],
    ["create rule big as on insert to v where new.a > 100 do instead insert into log values (new.a, 'big')"],
    ["insert into v values (1, 1)", '55000 cannot insert into view "v"'],
    ["insert into v values (200, 1)", '55000 cannot insert into view "v"'],
    ["create rule stored as on insert to v do instead insert into t values (new.*)"],
    ["create rule told as on insert to v do also insert into log values (new.a, 'told')"],
    ["create rule once as on insert to v do also insert into log values (0, 'once')"],
    ["insert into v values (1, 1), (200, 2)"],
    ["select * from t order by a", ["1|1", "200|2"]],
    ["select * from log order by a, what", ["0|once", "1|told", "200|big", "200|told"]],
    ["create rule few as on update to v where new.a < 10 do instead nothing"],
    ["update v set b = 3", '55000 cannot update view "v"'],
    ["create rule changed as on update to v do instead update t set b = new.b where a = old.a"],
    ["create rule seen as on update to v do also insert into log values (old.a, old.b || ' to ' || new.b)"],
    ["update v set b = b + 10 where a > 1"],
    ["select * from t order by a", ["1|1", "200|12"]],
    ["select what from log where what like '% to %'", ["2 to 12"]],
    ["create rule gone as on delete to v where old.a = 1 do instead nothing"],
    ["delete from v", '55000 cannot delete from view "v"'],
    ["create rule emptied as on delete to v do instead nothing"],
    ["delete from v"],
    ["select count(*) from t", ["2"]],
  ]),
);

t.test("an ALSO rule alone is refused when the view is changed, not when it is made", (t) =>
  checkStatements(t, [
    ["create table t (a int)"],
    ["create view v as select a from t"],
    ["create rule r as on insert to v do also notify told"],
    ["insert into v values (1)", '55000 cannot insert into view "v"'],
    ["update v set a = 2", []],
    ["drop rule r on v"],
    ["insert into v values (1)"],
    ["select a from t", ["1"]],
  ]),
);

t.test("a rule's condition may have subqueries, which find what other rows are like", (t) =>
  checkStatements(t, [
    ["create table kv (k text primary key, v int)"],
    [
      `create rule upsert as on insert to kv where exists (select 1 from kv where k = new.k)
        do instead update kv set v = new.v where k = new.k`,
    ],
    ["insert into kv values ('a', 1)"],
    ["insert into kv values ('a', 2)"],
    ["insert into kv values ('b', 3)"],
    ["select * from kv order by k", ["a|2", "b|3"]],
    ["create table seen (k text, v int)"],
    ["create table big (k text)"],
    [
      "create rule above as on insert to seen where new.v > (select avg(v) from seen) do also insert into big values (new.k)",
    ],
    ["create rule kept as on delete to seen where old.k in (select k from big) do instead nothing"],
    ["insert into seen values ('a', 1)"],
    ["insert into seen values ('b', 3)"],
    ["insert into seen values ('c', 100)"],
    ["select * from big order by k", ["b", "c"]],
    ["alter table big rename column k to key"],
    ["delete from seen"],
    ["select k from seen order by k", ["b", "c"]],
    ["drop table big", "2BP01 cannot drop table big because other objects depend on it"],
    [
      "create rule wrong as on update to kv where (select 1) do instead nothing",
      "42804 argument of WHERE must be type boolean, not type integer",
    ],
  ]),
);
