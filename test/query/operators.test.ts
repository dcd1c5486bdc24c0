/** What each operator answers, with turns given up at every chance and without, and across the borders of batches. */
import t from "tap";
import type { Plan } from "../../src/query/plan/plan.js";
import { INT4, INT8, TEXT, type Value } from "../../src/values/values.js";
import { AB, gives, numbers } from "./gives.js";
import {
  aggregate,
  aggregateFunction,
  asc,
  big,
  col,
  desc,
  distinct,
  filter,
  hashJoin,
  inList,
  int,
  isNull,
  limit,
  op,
  param,
  project,
  scan,
  setOp,
  sort,
  subquery,
  table,
  text,
  values,
} from "./plan-builder.js";
import { Database } from "./run-plans.js";

t.test("values, projection and filter", async (t) => {
  const database = await Database.open(t);
  const input = values(AB, [
    [1, "x"],
    [2, null],
    [null, "z"],
  ]);
  await gives(t, database, project(input, { b: col(input, "b"), sum: op(col(input, "a"), "+", int(1)) }), [
    ["x", 2],
    [null, 3],
    ["z", null],
  ]);
  await gives(t, database, filter(input, op(col(input, "a"), ">", int(1))), [[2, null]]);
  await gives(t, database, filter(input, op(col(input, "a"), "=", param(0, INT4))), [[1, "x"]], [1]);
  await gives(t, database, values([], [[]]), [[]]);
  await gives(t, database, values(AB, []), []);
});

t.test("limit and offset", async (t) => {
  const database = await Database.open(t);
  await gives(t, database, limit(numbers(5), big(2), big(1)), [[1], [2]]);
  await gives(t, database, limit(numbers(5), null, big(3)), [[3], [4]]);
  await gives(t, database, limit(numbers(5), big(null), big(null)), [[0], [1], [2], [3], [4]]);
  await gives(t, database, limit(numbers(5), big(0)), []);
  await gives(t, database, limit(numbers(5), big(9), big(5)), []);
  t.equal(database.errorOf(limit(numbers(5), big(-1))).details?.sqlstate, "2201W");
  t.equal(database.errorOf(limit(numbers(5), big(1), big(-1))).details?.sqlstate, "2201X");
});

t.test("rows on both sides of a batch's border", async (t) => {
  const database = await Database.open(t);
  for (const count of [1023, 1024, 1025, 2048]) {
    const def = table({ id: count, name: "t", columns: [["n", INT4]], primaryKey: ["n"] });
    database.insert(
      def,
      Array.from({ length: count }, (_, i) => [i]),
    );
    const all = scan(def);
    const n = col(all, "n");
    t.equal(database.rows(all).length, count);
    t.strictSame(database.rows(limit(sort(all, desc(n)), big(1))), [[count - 1]]);
    t.equal(database.rows(distinct(all)).length, count);
    const counted = aggregate(all, { n }, { count: { fn: aggregateFunction("count") } });
    t.equal(database.rows(counted).length, count);
    const other = scan(def, "o");
    const pairs = hashJoin("full", all, other, [n, col(other, "n")], null);
    t.equal(database.rows(pairs).length, count);
    t.strictSame(database.rows(limit(all, big(2), big(count - 1))), [[count - 1]]);
  }
});

t.test("a small limit reads little", async (t) => {
  const database = await Database.open(t);
  const def = table({ id: 1, name: "t", columns: [["n", INT4]], primaryKey: ["n"] });
  database.insert(
    def,
    Array.from({ length: 5000 }, (_, i) => [i]),
  );
  const all = scan(def);
  let reads = 0;
  const counting = filter(all, {
    kind: "call",
    type: all.columns[0]!.type,
    args: [],
    fn: { name: "seen", args: [], returns: INT4, volatility: "volatile", strict: true, apply: () => ++reads > 0 },
  });
  database.rows(limit(counting, big(3)));
  t.ok(reads <= 64, `${reads} rows were read`);
});

t.test("distinct", async (t) => {
  const database = await Database.open(t);
  const input = values(AB, [
    [1, "x"],
    [1, "y"],
    [1, "x"],
    [null, null],
    [null, null],
    [1, "y"],
  ]);
  await gives(t, database, distinct(input), [
    [1, "x"],
    [1, "y"],
    [null, null],
  ]);
  await gives(t, database, distinct(input, [col(input, "a")]), [
    [1, "x"],
    [null, null],
  ]);
});

t.test("keys of several columns do not run together", async (t) => {
  const database = await Database.open(t);
  const columns = [
    ["a", TEXT],
    ["b", TEXT],
  ] as const;
  const rows = [
    ["1:a", "b"],
    ["1", ":ab"],
    [null, "~"],
    ["~", null],
    ["", "x"],
    ["x", ""],
  ];
  await gives(t, database, distinct(values(columns, rows)), rows);
});

t.test("set operations", async (t) => {
  const database = await Database.open(t);
  const one = (...items: (number | null)[]) =>
    values(
      [["n", INT4]],
      items.map((item) => [item]),
    );
  const of = (...items: (number | null)[]) => items.map((item) => [item]);
  const left = one(1, 1, 2, null, null, 1);
  const right = one(1, null, 3, 1);
  await gives(t, database, setOp("union", true, left, right), of(1, 1, 2, null, null, 1, 1, null, 3, 1));
  await gives(t, database, setOp("union", false, left, right), of(1, 2, null, 3));
  await gives(t, database, setOp("intersect", false, left, right), of(1, null));
  await gives(t, database, setOp("intersect", true, left, right), of(1, 1, null));
  await gives(t, database, setOp("except", false, left, right), of(2));
  await gives(t, database, setOp("except", true, left, right), of(2, null, 1));
});

t.test("sort puts NULLs where it is told and keeps equal rows in order", async (t) => {
  const database = await Database.open(t);
  const input = values(AB, [
    [2, "a"],
    [null, "b"],
    [1, "c"],
    [2, "d"],
    [1, "e"],
  ]);
  const a = col(input, "a");
  const letters = (rows: readonly (readonly Value[])[]) => rows.map((row) => row[1]).join("");
  for (const [key, expected] of [
    [asc(a), "ceadb"],
    [asc(a, true), "bcead"],
    [desc(a), "badce"],
    [desc(a, false), "adceb"],
  ] as const) {
    t.equal(letters(database.rows(sort(input, key))), expected);
    t.equal(letters(await database.yieldingRows(sort(input, key), { batchRows: 2 })), expected);
    for (const rows of [1, 2, 3, 5, 9]) {
      const top: Plan = { kind: "topn", input, keys: [key], limit: big(rows), offset: null, columns: input.columns };
      t.equal(letters(database.rows(top)), expected.slice(0, rows), `the first ${rows}`);
      t.equal(letters(database.rows({ ...top, offset: big(2) })), expected.slice(2, rows + 2), "with an offset");
    }
  }
  await gives(t, database, sort(input, desc(a, false), desc(col(input, "b"))), [
    [2, "d"],
    [2, "a"],
    [1, "e"],
    [1, "c"],
    [null, "b"],
  ]);
});

t.test("a sort of many runs agrees with one of a few", async (t) => {
  const database = await Database.open(t);
  const count = 50_000;
  const rows = Array.from({ length: count }, (_, i) => [(i * 7919) % 1000, `r${i}`]);
  const input = values(AB, rows);
  const sorted = rows.map((row, i) => ({ row, i })).sort((x, y) => Number(x.row[0]) - Number(y.row[0]) || x.i - y.i);
  const plan = sort(input, asc(col(input, "a")));
  t.strictSame(
    database.rows(plan),
    sorted.map(({ row }) => row),
  );
  t.strictSame(
    await database.yieldingRows(plan),
    sorted.map(({ row }) => row),
  );
});

t.test("the first of very many rows", async (t) => {
  const database = await Database.open(t);
  const count = 66_000;
  const input = values(
    AB,
    Array.from({ length: count }, (_, i) => [(i * 7919) % count, `r${i}`]),
  );
  const limits = { limit: big(3), offset: big(count - 5) };
  const top: Plan = { kind: "topn", input, keys: [asc(col(input, "a"))], ...limits, columns: input.columns };
  t.same(
    database.rows(top).map(([a]) => a),
    [count - 5, count - 4, count - 3],
  );
  t.same(database.rows({ ...top, limit: big(count), offset: big(count - 1) }).length, 1);
});

t.test("aggregates", async (t) => {
  const database = await Database.open(t);
  const input = values(AB, [
    [1, "x"],
    [null, "x"],
    [3, null],
    [3, "x"],
    [5, null],
  ]);
  const [a, b] = [col(input, "a"), col(input, "b")];
  const count = { fn: aggregateFunction("count") };
  const sum = { fn: aggregateFunction("sum", INT4), args: [a] };
  const calls = {
    rows: count,
    sum,
    distinct: { ...sum, distinct: true },
    large: { ...sum, filter: op(a, ">", int(1)) },
  };
  await gives(t, database, aggregate(input, { b }, calls), [
    ["x", 3, 4, 4, 3],
    [null, 2, 8, 8, 8],
  ]);
  await gives(t, database, aggregate(input, {}, calls), [[5, 12, 9, 11]]);
  await gives(t, database, aggregate(values(AB, []), {}, { rows: count }), [[0]]);
  const none = filter(input, isNull(int(1)));
  await gives(t, database, aggregate(none, {}, { rows: count, sum }), [[0, null]]);
  await gives(t, database, aggregate(none, { b }, { rows: count }), []);
  await gives(t, database, aggregate(input, { b }, {}), [["x"], [null]]);
});

t.test("the order inside an aggregate", async (t) => {
  const database = await Database.open(t);
  const input = values(AB, [
    [1, "b"],
    [2, "a"],
    [3, "c"],
    [4, "a"],
  ]);
  const b = col(input, "b");
  const fn = aggregateFunction("string_agg", TEXT, TEXT);
  const args = [b, text(",")];
  await gives(
    t,
    database,
    aggregate(
      input,
      {},
      {
        given: { fn, args },
        ordered: { fn, args, orderBy: [desc(b)] },
        byOther: { fn, args, orderBy: [desc(col(input, "a"))] },
        distinct: { fn, args, distinct: true },
        filtered: { fn, args, orderBy: [asc(b)], filter: op(col(input, "a"), "<", int(3)) },
      },
    ),
    [["b,a,c,a", "c,b,a,a", "a,c,a,b", "a,b,c", "a,b"]],
  );
});

t.test("subqueries in expressions", async (t) => {
  const database = await Database.open(t);
  const outer = values([["a", INT4]], [[1], [2], [null]]);
  const a = col(outer, "a");
  const list = (...items: (number | null)[]) =>
    values(
      [["n", INT4]],
      items.map((item) => [item]),
    );
  const shown = (expr: ReturnType<typeof subquery>) => project(outer, { x: expr });
  await gives(t, database, shown(subquery("scalar", list(7))), [[7], [7], [7]]);
  await gives(t, database, shown(subquery("scalar", list())), [[null], [null], [null]]);
  await gives(t, database, shown(subquery("exists", list(7))), [[true], [true], [true]]);
  const within = (plan: Plan) => subquery("in", plan, { input: a, symbol: "=" });
  await gives(t, database, shown(within(list(1, 5))), [[true], [false], [null]]);
  await gives(t, database, shown(within(list(1, null))), [[true], [null], [null]]);
  await gives(t, database, shown(within(list())), [[false], [false], [false]]);
  await gives(t, database, shown(subquery("all", list(1, 2), { input: a, symbol: ">=" })), [[false], [true], [null]]);
  const inner = list(1, 2, 3);
  const below = filter(inner, op(col(inner, "n"), "<", a));
  await gives(t, database, shown(subquery("exists", below)), [[false], [true], [false]]);
  const counted = aggregate(below, {}, { rows: { fn: aggregateFunction("count") } });
  await gives(t, database, shown(subquery("scalar", counted)), [[0], [1], [0]]);
  t.match(database.errorOf(shown(subquery("scalar", list(1, 2)))), {
    message: "more than one row returned by a subquery used as an expression",
    details: { sqlstate: "21000" },
  });
});

t.test("the error of a subquery whose value is not needed is not thrown", async (t) => {
  const database = await Database.open(t);
  const failing = subquery("scalar", values([["n", INT4]], [[1], [2]]));
  const outer = values([["a", INT4]], []);
  t.strictSame(database.rows(project(outer, { x: failing })), []);
});

t.test("an uncorrelated subquery runs once and gives up its turns", async (t) => {
  const database = await Database.open(t);
  const def = table({ id: 1, name: "t", columns: [["n", INT4]], primaryKey: ["n"] });
  database.insert(
    def,
    Array.from({ length: 3000 }, (_, i) => [i]),
  );
  let runs = 0;
  const counting: Plan = project(scan(def), {
    n: {
      kind: "call",
      type: INT4,
      args: [],
      fn: { name: "f", args: [], returns: INT4, volatility: "volatile", strict: true, apply: () => ++runs },
    },
  });
  const total = aggregate(counting, {}, { rows: { fn: aggregateFunction("count") } });
  const outer = numbers(3);
  const plan = project(outer, { x: subquery("scalar", total) });
  let turns = 0;
  const yieldTurn = async () => void turns++;
  t.strictSame(await database.yieldingRows(plan, { yieldTurn }), [[3000], [3000], [3000]]);
  t.equal(runs, 3000);
  t.ok(turns >= 3, "the subquery's scan gave up its turn");
});

t.test("point gets and index scans", async (t) => {
  const database = await Database.open(t);
  const def = table({
    id: 1,
    name: "t",
    columns: [
      ["id", INT8],
      ["a", INT4],
      ["b", TEXT],
    ],
    primaryKey: ["id"],
    indexes: [
      { name: "t_a_idx", columns: ["a", "b"] },
      { name: "t_b_key", columns: ["b"], unique: true },
      { name: "t_a_desc", columns: ["a"], descending: true },
    ],
  });
  database.insert(def, [
    [1, 10, "p"],
    [2, 20, "q"],
    [3, null, "r"],
    [4, 10, null],
    [5, 30, null],
    [9007199254740993n, 20, "s"],
  ]);
  const [byAB, byB, byADesc] = def.indexes;
  const table_ = scan(def);
  if (table_.kind !== "scan") throw new Error("not a scan");
  const common = { table: def, alias: "t", source: [0], columns: [table_.columns[0]!], filter: null, rowKey: null };
  const get = (index: "primary key" | (typeof def.indexes)[number], key: Value, type = INT8): Plan => ({
    kind: "pointget",
    ...common,
    index,
    key: [{ kind: "const", type, value: key }],
  });
  await gives(t, database, get("primary key", 2), [[2]]);
  await gives(t, database, get("primary key", 9007199254740993n), [[9007199254740993n]]);
  await gives(t, database, get("primary key", 7), []);
  await gives(t, database, get("primary key", null), []);
  await gives(t, database, get(byB!, "r", TEXT), [[3]]);
  await gives(t, database, get(byB!, null, TEXT), []);
  const range = (index: "primary key" | (typeof def.indexes)[number], bounds: object): Plan => ({
    kind: "indexscan",
    ...common,
    index,
    prefix: [],
    keySets: null,
    lower: null,
    upper: null,
    reverse: false,
    ...bounds,
  });
  const bound = (value: number | null, inclusive: boolean) => ({ expr: int(value), inclusive });
  const key = (value: number) => ({ expr: big(value), inclusive: true });
  await gives(t, database, range("primary key", { lower: key(2), upper: key(4) }), [[2], [3], [4]]);
  await gives(t, database, range("primary key", { lower: key(4), reverse: true }), [[9007199254740993n], [5], [4]]);
  await gives(t, database, range("primary key", { lower: key(5), upper: key(2) }), []);
  await gives(t, database, range("primary key", { keySets: [big(4), big(1), big(4), big(null), big(8)] }), [[1], [4]]);
  await gives(t, database, range(byAB!, { prefix: [int(10)] }), [[1], [4]]);
  await gives(t, database, range(byAB!, { lower: bound(10, false) }), [[2], [9007199254740993n], [5]]);
  await gives(t, database, range(byAB!, { upper: bound(20, false) }), [[1], [4]]);
  await gives(t, database, range(byAB!, { lower: bound(null, true) }), []);
  await gives(t, database, range(byAB!, { keySets: [int(30), int(10)] }), [[1], [4], [5]]);
  await gives(t, database, range(byAB!, { keySets: [int(30), int(10)], reverse: true }), [[5], [4], [1]]);
  await gives(t, database, range(byADesc!, {}), [[3], [5], [2], [9007199254740993n], [1], [4]]);
  await gives(t, database, range(byADesc!, { lower: bound(20, true) }), [[5], [2], [9007199254740993n]]);
  await gives(t, database, range(byADesc!, { upper: bound(20, false) }), [[1], [4]]);
  await gives(t, database, range(byB!, { keySets: [text("s"), text("p"), text("x")] }), [[1], [9007199254740993n]]);
  const all = scan(def);
  await gives(t, database, filter(all, inList(col(all, "a"), [int(30), int(20)])), [
    [2, 20, "q"],
    [5, 30, null],
    [9007199254740993n, 20, "s"],
  ]);
});
