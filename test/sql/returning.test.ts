/** RETURNING with OLD and NEW (PostgreSQL 18), and MERGE_ACTION(). */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("old and new rows", (t) =>
  checkStatements(t, [
    ["create table t (id int primary key, n int, g int generated always as (n * 2) stored)"],
    ["insert into t values (1, 10), (2, 20) returning old.id, new.n, g", ["∅|10|20", "∅|20|40"]],
    ["update t set n = n + 1 returning old.n, new.n, new.g - old.g as d, n", ["10|11|2|11", "20|21|2|21"]],
    ["update t set id = id returning *", ["1|11|22", "2|21|42"]],
    ["update t set n = 0 where id = 1 returning old.*, new.*", ["1|11|22|1|0|0"]],
    ["delete from t where id = 1 returning old.n, new.n, n", ["0|∅|0"]],
    ["update t set n = 5 returning with (old as o, new as x) o.n, x.n", ["21|5"]],
    ["update t set n = 6 returning with (old as o) o.n, old.n", '42P01 missing FROM-clause entry for table "old"'],
    ["update t as old set n = 7 returning old.n, new.n", ["7|7"]],
    ["update t set n = 8 returning with (new as t) t.n", '42712 table name "t" specified more than once'],
    ["update t set n = 8 returning (select old.n + new.n)", ["15"]],
    [
      "insert into t values (2, 1) on conflict (id) do update set n = 9 returning old.n",
      "0A000 OLD in RETURNING of INSERT … ON CONFLICT DO UPDATE is not supported",
    ],
    ["insert into t values (3, 1) on conflict (id) do update set n = 9 returning n", ["1"]],
    ["delete from t where id = 3"],
    ["create view v as select n as m, id from t"],
    ["update v set m = m + 1 returning old.m, new.m, old.*", ["8|9|8|2"]],
  ]),
);

t.test("what MERGE did", (t) =>
  checkStatements(t, [
    ["create table t (id int primary key, n int)"],
    ["insert into t values (1, 10), (2, 20), (3, 30)"],
    [
      "merge into t using (values (1, 11), (2, 0), (4, 40)) s(i, x) on id = i when matched and x = 0 then delete when matched then update set n = x when not matched then insert values (i, x) returning merge_action(), old.n, new.n, id",
      ["UPDATE|10|11|1", "DELETE|20|∅|2", "INSERT|∅|40|4"],
    ],
    [
      "with m as (merge into t using (values (3)) s(i) on id = i when matched then do nothing when not matched by source then delete returning merge_action() a) select a, count(*) from m group by a",
      ["DELETE|2"],
    ],
    ["select merge_action()", "42601 MERGE_ACTION() can only be used in the RETURNING list of a MERGE command"],
  ]),
);
