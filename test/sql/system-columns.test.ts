/** ctid and xmin of rows, beyond what PostgreSQL's own answers show (golden/postgres/system-columns.txt). */
import t from "tap";
import type { TableDef } from "../../src/catalog/table.js";
import type { EvalContext, Expr } from "../../src/query/expr/expr.js";
import { oneRowPerPlace } from "../../src/sql/bind/system-columns.js";
import { comparePlaces, placeOfKey, ROW_PREFIX_BYTES, versionOf } from "../../src/values/row-place.js";
import { BYTEA, INT4, TEXT } from "../../src/values/values.js";
import { checkStatements } from "./run-sql.js";

const key = (...bytes: number[]) => Buffer.from([...new Array(ROW_PREFIX_BYTES).fill(7), ...bytes]);

t.test("places are made of keys", async (t) => {
  const row = (number: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(number));
    return placeOfKey(key(...bytes));
  };
  t.same([1, 2, 65_535, 65_536, 2 ** 46].map(row), ["(0,1)", "(0,2)", "(0,65535)", "(1,1)", "(1073758208,16384)"]);
  const int4 = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value + 2 ** 31);
    return placeOfKey(key(1, ...bytes));
  };
  t.equal(int4(7), "(0,7)");
  const values = [-(2 ** 31), -2, -1, 0, 1, 2 ** 31 - 1];
  const places = values.map(int4);
  t.equal(new Set(places).size, values.length);
  const texts = Array.from({ length: 20_000 }, (_, i) => placeOfKey(key(1, ...Buffer.from(`name ${i}`), 0, 1)));
  t.equal(new Set(texts).size, texts.length, "hashes differ");
  for (const place of [...places, ...texts.slice(0, 1000)]) {
    const [, block, offset] = /^\((\d+),(\d+)\)$/.exec(place)!.map(Number);
    if (block! < 2 ** 32 - 1 && offset! >= 1 && offset! <= 65_535) continue;
    t.fail(`${place} is outside of the range that clients ask for`);
  }
  t.ok(
    comparePlaces("(9,10)", "(10,1)") < 0 &&
      comparePlaces("(9,10)", "(9,9)") > 0 &&
      comparePlaces("(1,1)", "(1,1)") === 0,
  );
});

t.test("versions differ with the values, and with where one ends and the next begins", async (t) => {
  const rows = [[], [null], [""], ["a", null], ["a", ""], ["", "a"], ["ab", "c"], ["a", "bc"], [null, "a"]];
  t.equal(new Set(rows.map((row) => versionOf(row))).size, rows.length);
  t.equal(versionOf(["a", null]), versionOf(["a", null]));
});

t.test("a change ends when two of its rows have one place", async (t) => {
  const rowKey: Expr = { kind: "column", id: 9, type: BYTEA, name: "ctid" };
  const table = (...types: (typeof INT4 | null)[]) =>
    ({
      primaryKey: types[0] === null ? null : types.map((_, i) => i),
      columns: types.map((type, i) => ({ id: i, name: `c${i}`, type: type ?? TEXT })),
    }) as unknown as TableDef;
  t.equal(oneRowPerPlace(table(INT4), rowKey, 9), null, "integers tell all rows");
  t.equal(oneRowPerPlace(table(null), rowKey, 9), null, "so do numbers of rows");
  t.equal(oneRowPerPlace(table(TEXT), { ...rowKey, id: 8 }, 9), null, "the condition is not about places");
  t.not(oneRowPerPlace(table(INT4, INT4), rowKey, 9), null);
  const call = oneRowPerPlace(table(TEXT), rowKey, 9)!;
  if (call.kind !== "call") throw new Error("not a call");
  const context = {} as EvalContext;
  const first = key(1, 0x80, 0, 0, 5);
  const other = key(1, 0x80, 0, 0, 0, 0, 0, 0, 5);
  t.equal(placeOfKey(first), placeOfKey(other));
  t.equal(call.fn.apply(context, first), true);
  t.equal(call.fn.apply(context, first), true, "the same row again");
  t.throws(() => call.fn.apply(context, other), { message: "two of the rows have the ctid (0,5)" });
  t.equal(call.fn.apply({} as EvalContext, other), true, "another run");
});

t.test("RETURNING says where a row is, also after its key has changed", (t) =>
  checkStatements(t, [
    ["create table t (k text primary key, n int unique)"],
    ["insert into t values ('a', 1), ('b', 2)"],
    ["create table seen as select k, ctid as place from t"],
    ["update t set k = 'c' where k = 'a'"],
    ["select count(*) from t join seen on t.ctid = seen.place", ["1"]],
    [
      "with moved as (update t set k = 'a' where k = 'c' returning ctid) select ctid = place from moved, seen where seen.k = 'a'",
      ["true"],
    ],
    [
      "with put as (insert into t values ('z', 2) on conflict (n) do update set k = 'z' returning ctid, k, xmin) insert into seen select k, ctid from put",
    ],
    ["select t.k from t join seen on t.ctid = seen.place order by 1", ["a", "z"]],
    ["create function quiet() returns trigger language plpgsql as $$ begin return new; end $$"],
    ["create trigger quiet before update on t for each row execute function quiet()"],
    ["with moved as (update t set k = 'y' where k = 'z' returning ctid, k) insert into seen select k, ctid from moved"],
    ["select t.k from t join seen on t.ctid = seen.place order by 1", ["a", "y"]],
    ["update t set n = 7 where ctid = (select place from seen where k = 'y') returning k, n", ["y|7"]],
    ["update t set n = 8 where ctid = '(0,1)' returning k", []],
    [
      "explain (costs off) select n from t where k = 'a'",
      ["Point Get using t_pkey on t", "  Index Cond: (k = 'a'::text)"],
    ],
  ]),
);

t.test("RETURNING has them of the row before and after", (t) =>
  checkStatements(t, [
    ["create table t (id int primary key, n int)"],
    ["insert into t values (1, 2) returning t.ctid, new.ctid, old.ctid, old.xmax, new.xmax", ["(0,1)|(0,1)|∅|∅|0"]],
    ["update t set n = 3 returning new.ctid, old.xmin = new.xmin, new.xmin = t.xmin", ["(0,1)|false|true"]],
    ["update t set n = 3 returning old.xmin = xmin", ["true"]],
    ["update t set id = 2 returning with (old as o, new as n) n.ctid", ["(0,2)"]],
    ["update t set id = 3 returning old.ctid", "0A000 ctid of OLD in UPDATE is not supported"],
    [
      "merge into t using (values (2)) v(i) on t.id = v.i when matched then update set n = 9 returning t.n, t.xmin = xmin, t.xmax",
      ["9|true|0"],
    ],
    [
      "merge into t using (values (2)) v(i) on t.ctid = '(0,2)' when matched then update set n = 9 returning t.ctid",
      "0A000 ctid of the target in MERGE is not supported",
    ],
    ["delete from t returning old.ctid, t.ctid, new.ctid, new.xmin", ["(0,2)|(0,2)|∅|∅"]],
  ]),
);

t.test("groups have the place of a row when they are rows, or when they are by place", (t) =>
  checkStatements(t, [
    ["create table t (id int primary key, n int)"],
    ["insert into t values (1, 2), (3, 2)"],
    ["select id, ctid from t group by id order by id", ["1|(0,1)", "3|(0,3)"]],
    ["select id, t.xmin = t.xmin from t group by id having ctid = '(0,3)'", ["3|true"]],
    [
      "select id, (select t.ctid), (select count(*) from t u where u.ctid >= t.ctid) from t group by id order by ctid",
      ["1|(0,1)|2", "3|(0,3)|1"],
    ],
    ["select ctid, count(*) from t group by ctid order by 1", ["(0,1)|1", "(0,3)|1"]],
    ["select max(ctid), count(ctid), (select max(t.ctid)) from t", ["(0,3)|2|(0,3)"]],
    ["select id, rank() over (order by ctid desc) from t order by id", ["1|2", "3|1"]],
    [
      "select count(*), ctid from t",
      '42803 column "t.ctid" must appear in the GROUP BY clause or be used in an aggregate function',
    ],
    [
      "select n from t group by n order by t.ctid",
      '42803 column "t.ctid" must appear in the GROUP BY clause or be used in an aggregate function',
    ],
    ["select n, (select t.ctid) from t group by n", '42803 subquery uses ungrouped column "t.ctid" from outer query'],
  ]),
);

t.test("who may not read all columns may not read where rows are", (t) =>
  checkStatements(t, [
    ["create table t (id int primary key, secret text, n int)"],
    ["insert into t values (1, 'x', 2)"],
    ["create role reader"],
    ["revoke all on t from member"],
    ["grant select (n), update on t to reader"],
    ["set role reader"],
    ["select n, xmax from t", ["2|0"]],
    ["select ctid from t", "42501 permission denied for table t"],
    ["select xmin from t", "42501 permission denied for table t"],
    ["update t set n = 3 where ctid = '(0,1)'", "42501 permission denied for table t"],
    ["update t set n = 3 returning xmin", "42501 permission denied for table t"],
    ["reset role"],
    ["grant select on t to reader"],
    ["set role reader"],
    ["update t set n = 3 where ctid = '(0,1)' returning n, ctid", ["3|(0,1)"]],
  ]),
);
