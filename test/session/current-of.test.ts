/** WHERE CURRENT OF: UPDATE and DELETE of the row that a cursor stands on, as in PostgreSQL 15. */
import t from "tap";
import { checkStatements } from "../sql/run-sql.js";

const none = (cursor: string, table: string) =>
  `24000 cursor "${cursor}" is not a simply updatable scan of table "${table}"`;

t.test("a table with a primary key", (t) =>
  checkStatements(t, [
    ["create table t (a int, b text, c int, primary key (b, a))"],
    ["insert into t select i, 'v' || i % 2, i from generate_series(1, 10) i"],
    ["update t set c = 0 where current of x", '34000 cursor "x" does not exist'],
    ["begin"],
    ["declare x cursor for select c from t order by a desc"],
    ["savepoint s"],
    ["update t set c = 0 where current of x", '24000 cursor "x" is not positioned on a row'],
    ["rollback to s"],
    ["fetch 3 x", ["10", "9", "8"]],
    ["update t set c = c * 100 where current of x returning a, c", ["8|800"]],
    ["update t set c = c + 1 where current of x returning a, c", ["8|801"]],
    ["fetch relative 0 x", ["8"]],
    ["fetch prior x", ["9"]],
    ["delete from t where current of x returning a", ["9"]],
    ["delete from t where current of x returning a", []],
    ["move 2 x"],
    ["update t set c = -c where current of x returning *", ["7|v1|-7"]],
    ["move forward all x"],
    ["savepoint s"],
    ["delete from t where current of x", '24000 cursor "x" is not positioned on a row'],
    ["rollback to s"],
    ["fetch last x", ["1"]],
    ["delete from t where current of x"],
    ["select a, c from t where c not between 2 and 6", ["8|801", "10|10", "7|-7"]],
    ["commit"],
    ["select count(*) from t", ["8"]],
  ]),
);

t.test("rows without a primary key, and rows of joins that FOR UPDATE locks", (t) =>
  checkStatements(t, [
    ["create table heap (n int)"],
    ["create table other (id int primary key, n int)"],
    ["insert into heap values (1), (1), (2)"],
    ["insert into other values (1, 10), (2, 20)"],
    ["begin"],
    ["declare x cursor for select n from heap for update"],
    ["fetch 2 x", ["1", "1"]],
    ["update heap set n = 5 where current of x returning n", ["5"]],
    ["select n from heap", ["1", "5", "2"]],
    ["declare y cursor for select heap.n, other.n from heap join other on id = heap.n for update of heap"],
    ["fetch y", ["1|10"]],
    ["delete from heap where current of y returning n", ["1"]],
    ["savepoint s"],
    ["delete from other where current of y", none("y", "other")],
    ["rollback to s"],
    ["declare plain cursor for select n from heap"],
    ["fetch plain", ["5"]],
    ["savepoint s"],
    ["update heap set n = 6 where current of plain returning n", ["6"]],
    ["update other set n = 6 where current of plain", none("plain", "other")],
    ["rollback to s"],
    ["declare twice cursor for select * from heap a, heap b for update"],
    ["fetch 1 twice", ["5|5"]],
    [
      "delete from heap where current of twice",
      '24000 cursor "twice" has multiple FOR UPDATE/SHARE references to table "heap"',
    ],
    ["rollback"],
    ["begin"],
    ["declare pair cursor for select * from heap, other where other.id = 2 order by heap.n desc for update"],
    ["fetch pair", ["2|2|20"]],
    ["update other set n = 21 where current of pair returning *", ["2|21"]],
    ["delete from heap where current of pair returning *", ["2"]],
    ["commit"],
  ]),
);

t.test("queries whose rows are no rows of the table", (t) =>
  checkStatements(t, [
    ["create table t (a int primary key, b int)"],
    ["create table u (a int primary key, b int)"],
    ["create view v as select * from t"],
    ["insert into t values (1, 1), (2, 2)"],
    ["begin"],
    ["declare g cursor for select b, count(*) from t group by b order by b"],
    ["declare d cursor for select distinct b from t order by b"],
    ["declare s cursor for select a from t union all select a from u order by a"],
    ["declare w cursor for select a, sum(b) over (order by a) from t"],
    ["declare i cursor for select * from (select a from t) q order by a"],
    ["declare f cursor for select generate_series(1, 2), a from t order by a"],
    ["fetch g", ["1|1"]],
    ["fetch d", ["1"]],
    ["fetch s", ["1"]],
    ["fetch w", ["1|1"]],
    ["fetch i", ["1"]],
    ["fetch f", ["1|1"]],
    ["savepoint a"],
    ...[..."gdswif"].flatMap((cursor): [string, string?][] => [
      [`delete from t where current of ${cursor}`, none(cursor, "t")],
      ["rollback to a"],
    ]),
    ["declare c cursor for select a from t order by a"],
    ["fetch c", ["1"]],
    ["savepoint b"],
    ["delete from u where current of c", none("c", "u")],
    ["rollback to b"],
    ["delete from v where current of c", "0A000 WHERE CURRENT OF on a view is not implemented"],
    ["rollback"],
  ]),
);

t.test("tables that inherit", (t) =>
  checkStatements(t, [
    ["create table parent (a int primary key)"],
    ["create table child () inherits (parent)"],
    ["insert into parent values (1), (2)"],
    ["insert into child values (1)"],
    ["begin"],
    ["declare c cursor for select a from only parent order by a"],
    ["fetch 2 c", ["1", "2"]],
    ["savepoint s"],
    ["update parent set a = 5 where current of c", none("c", "parent")],
    ["rollback to s"],
    ["update only parent set a = 5 where current of c"],
    [
      "select tableoid::regclass, a from parent order by a, tableoid::regclass::text",
      ["child|1", "parent|1", "parent|5"],
    ],
    ["explain (costs off) declare d cursor for select a from only parent", ["Seq Scan on parent"]],
    ["explain (costs off) create table made as select a from only parent", ["Seq Scan on parent"]],
    ["declare e cursor for select a from parent"],
    ["fetch 3 e", ["1", "5", "1"]],
    ["update parent set a = 9 where current of e returning tableoid::regclass, a", ["child|9"]],
    ["update parent set a = a + 1 where current of e returning tableoid::regclass, a", ["child|10"]],
    ["fetch backward 1 e", ["5"]],
    ["delete from parent where current of e returning tableoid::regclass, a", ["parent|5"]],
    ["select tableoid::regclass, a from parent order by a", ["parent|1", "child|10"]],
    ["declare f cursor for select a from parent order by a desc for update"],
    ["fetch f", ["10"]],
    ["delete from parent where current of f returning a", ["10"]],
    ["commit"],
  ]),
);

t.test("WITH HOLD, partitions, quoted names and prepared statements", (t) =>
  checkStatements(t, [
    ["create table p (a int primary key, b int) partition by range (a)"],
    ["create table p1 partition of p for values from (0) to (10)"],
    ["create table p2 partition of p for values from (10) to (20)"],
    ["insert into p select i, i from generate_series(8, 11) i"],
    ["begin"],
    ['declare "My cursor" cursor with hold for select b from p order by a'],
    ['fetch 3 "My cursor"', ["8", "9", "10"]],
    ['prepare change as update p set b = $1 where current of "My cursor" returning tableoid::regclass, b'],
    ["execute change(100)", ["p2|100"]],
    ['fetch "My cursor"', ["11"]],
    ["execute change(110)", ["p2|110"]],
    ["commit"],
    ["select b from p order by a", ["8", "9", "100", "110"]],
    ['fetch prior "My cursor"', ["10"]],
    ["execute change(1)", '24000 cursor "My cursor" is held from a previous transaction'],
  ]),
);

t.test("cursors of a function's own, and those that it finds", (t) =>
  checkStatements(t, [
    ["create table t (id int primary key, n int)"],
    ["insert into t values (1, 1), (2, 2)"],
    [
      "do $$ declare c cursor for select id from t; begin open c; move c; update t set n = 0 where current of c; end $$",
    ],
    ["select * from t order by id", ["1|0", "2|2"]],
    ["begin"],
    ["declare outside cursor for select id from t order by id"],
    ["fetch outside", ["1"]],
    ["do $$ begin update t set n = 10 where current of outside; end $$"],
    ["select * from t order by id", ["1|10", "2|2"]],
    ["commit"],
  ]),
);

t.test("the row is found by its key", (t) =>
  checkStatements(t, [
    ["create table t (id bigint primary key, n int)"],
    ["insert into t select i, i from generate_series(1, 20000) i"],
    ["analyze t"],
    [
      "explain (costs off) update t set n = 0 where current of c",
      [
        "Update on t",
        "  ->  Point Get using t_pkey on t",
        "        Index Cond: (id = current_of('c'::text, 't'::text, 1, 0))",
      ],
    ],
  ]),
);
