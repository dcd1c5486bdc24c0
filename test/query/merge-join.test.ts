/**
 * Merge joins of random rows against loops and hash joins over the same rows: all types of joins and of keys, both
 * directions, with and without further conditions, in batches of any size, with little memory; and their order.
 */
import t, { type Test } from "tap";
import { SpillArea } from "../../src/query/exec/spill/spill-area.js";
import { sortComparator } from "../../src/query/expr/compare.js";
import { optimize } from "../../src/query/optimize/optimize.js";
import { explainText } from "../../src/query/plan/explain.js";
import type { JoinType, KeyDirection, Plan } from "../../src/query/plan/plan.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { Numeric } from "../../src/values/numeric.js";
import {
  BOOL,
  BPCHAR,
  FLOAT4,
  FLOAT8,
  INT4,
  INT8,
  NUMERIC,
  type SqlType,
  TEXT,
  type Value,
} from "../../src/values/values.js";
import { tries } from "../lengths.js";
import { directory } from "../storage/shards.js";
import { and, col, hashJoin, int, join, op, sort, values } from "./plan-builder.js";
import { Random } from "./random-plans.js";
import { Database } from "./run-plans.js";
import { fill, planOf } from "./sql-catalog.js";

const TYPES: readonly JoinType[] = ["inner", "left", "right", "full", "semi", "anti"];

/** By name: the columns of the left and of the right side, and values that meet in several ways. */
const KEYS: Readonly<Record<string, readonly [SqlType, SqlType, (random: Random) => Value]>> = {
  i: [INT4, INT4, (random) => random.below(12) - 4],
  l: [INT8, INT4, (random) => random.below(9)],
  h: [INT8, INT8, (random) => (random.below(2) === 0 ? 9_007_199_254_740_991 : 9_007_199_254_740_993n)],
  f: [
    FLOAT8,
    FLOAT4,
    (random) => [Number.NaN, -0, 0, 1.5, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY][random.below(6)]!,
  ],
  n: [
    NUMERIC,
    NUMERIC,
    (random) => Numeric.parse(["1", "1.0", "1.00", "-0.5", "NaN", "12e3", "12000"][random.below(7)]!),
  ],
  t: [TEXT, TEXT, (random) => ["", "a", "b", "B", "\u{1F600}", "\uFF5E", "ab"][random.below(7)]!],
  c: [BPCHAR, BPCHAR, (random) => ["a", "a  ", "b", "b ", ""][random.below(5)]!],
  b: [BOOL, BOOL, (random) => random.below(2) === 0],
};
const NAMES = Object.keys(KEYS);

function side(random: Random, which: 0 | 1, count: number): Plan {
  const columns = [...NAMES.map((name) => [name, KEYS[name]![which]] as const), ["no", INT4] as const];
  const rows = Array.from({ length: count }, (_, no) => [
    ...NAMES.map((name) => (random.below(8) === 0 ? null : KEYS[name]![2](random))),
    no,
  ]);
  return values(columns, rows);
}

interface Joins {
  readonly merged: Plan;
  readonly hashed: Plan;
  readonly looped: Plan;
}

function joins(
  type: JoinType,
  sides: readonly [Plan, Plan],
  names: readonly string[],
  directions: readonly KeyDirection[],
  residual: boolean,
): Joins {
  const sorted = (plan: Plan) => sort(plan, ...names.map((name, i) => ({ expr: col(plan, name), ...directions[i]! })));
  const [left, right] = [sorted(sides[0]), sorted(sides[1])];
  const rest = residual ? op(op(col(left, "no"), "+", col(right, "no")), "<", int(30)) : null;
  const pairs = names.map((name) => [col(left, name), col(right, name)] as const);
  const keys = { leftKeys: pairs.map(([a]) => a), rightKeys: pairs.map(([, b]) => b) };
  const hashed = { ...hashJoin(type, left, right, pairs[0]!, rest), ...keys } as Plan;
  const merged = { ...hashed, kind: "mergejoin", directions } as Plan;
  const equal = pairs.map(([a, b]) => op(a, "=", b));
  const conditions = rest === null ? equal : [...equal, rest];
  return {
    merged,
    hashed,
    looped: join(type, left, right, conditions.length === 1 ? conditions[0]! : and(...conditions)),
  };
}

const bag = (rows: readonly (readonly Value[])[]) =>
  rows.map((row) => row.map((value) => (Object.is(value, -0) ? "-0" : String(value))).join("|")).sort();

/** Speaks up only of differences: there are thousands of comparisons. */
function same(t: Test, rows: readonly string[], expected: readonly string[], title: string): void {
  if (rows.length !== expected.length || rows.some((row, i) => row !== expected[i]))
    t.strictSame(rows, expected, title);
}

/** Whether the rows are in the order of the keys of either side, of whichever there is one. */
function inOrder(
  rows: readonly (readonly Value[])[],
  plan: Plan,
  names: readonly string[],
  directions: readonly KeyDirection[],
): boolean {
  const width = NAMES.length + 1;
  const isHalf = plan.columns.length === width;
  const keyOf = (row: readonly Value[]) =>
    names.map((name) => {
      const at = NAMES.indexOf(name);
      return row[at] ?? (isHalf ? null : row[width + at]!) ?? null;
    });
  const compare = names.map((name, i) =>
    sortComparator(KEYS[name]![0], directions[i]!.descending, directions[i]!.nullsFirst),
  );
  return rows.every((row, i) => {
    if (i === 0) return true;
    const [a, b] = [keyOf(rows[i - 1]!), keyOf(row)];
    for (let k = 0; k < compare.length; k++) {
      const order = compare[k]!(a[k]!, b[k]!);
      if (order !== 0) return order < 0;
    }
    return true;
  });
}

t.test("merge joins give the rows that loops and hash joins give, in the order of the keys", async (t) => {
  const database = await Database.open(t);
  let compared = 0;
  for (let seed = 1; seed <= 10; seed++) {
    const random = new Random(seed * 15_485_863);
    const sides = [side(random, 0, random.below(50)), side(random, 1, random.below(50))] as const;
    for (const type of TYPES) {
      for (const name of NAMES) {
        const others = NAMES.filter((other) => other !== name);
        const names = [name, ...(random.below(2) === 0 ? [others[random.below(others.length)]!] : [])];
        const directions = names.map(() => ({ descending: random.below(2) === 0, nullsFirst: random.below(2) === 0 }));
        const { merged, hashed, looped } = joins(type, sides, names, directions, random.below(2) === 0);
        const expected = bag(database.rows(looped));
        const title = `seed ${seed}: ${type} on ${names}`;
        same(t, bag(database.rows(hashed)), expected, `${title}, hashed`);
        for (const batchRows of [1, 3, 1024]) {
          const rows = database.rows(merged, { batchRows });
          same(t, bag(rows), expected, `${title}, ${batchRows}`);
          if (!inOrder(rows, merged, names, directions)) t.fail(`${title}: order`);
        }
        if (random.below(4) === 0) {
          same(t, bag(await database.yieldingRows(merged, { batchRows: 2 })), expected, `${title}, in turns`);
        }
        compared += expected.length;
      }
    }
  }
  t.ok(compared > 4_000, `${compared} rows`);
});

t.test("left rows stay in their order, each with its right rows in theirs", async (t) => {
  const database = await Database.open(t);
  const rows = (count: number): Value[][] => Array.from({ length: count }, (_, n) => [Math.floor(n / 5), n]);
  const [left, right] = [
    values(
      [
        ["k", INT4],
        ["n", INT4],
      ],
      rows(40),
    ),
    values(
      [
        ["k", INT4],
        ["n", INT4],
      ],
      rows(33),
    ),
  ];
  for (const type of ["inner", "left", "semi", "anti"] as const) {
    const hashed = hashJoin(type, left, right, [col(left, "k"), col(right, "k")], null);
    const merged = { ...hashed, kind: "mergejoin", directions: [{ descending: false, nullsFirst: false }] } as Plan;
    for (const batchRows of [1, 7, 1024]) {
      t.strictSame(database.rows(merged, { batchRows }), database.rows(hashed), `${type}, ${batchRows}`);
    }
  }
});

t.test("many right rows of one key go to disk", async (t) => {
  const database = await Database.open(t);
  const area = new SpillArea(`${directory(t)}/spill`, 1 << 30);
  const rows = (count: number): Value[][] =>
    Array.from({ length: count }, (_, n) => [n < 3 ? 0 : n < count - 3 ? 1 : 2, n, "x".repeat(50)]);
  const columns = [
    ["k", INT4],
    ["n", INT4],
    ["t", TEXT],
  ] as const;
  const [left, right] = [values(columns, rows(9)), values(columns, rows(5000))];
  const residual = op(op(col(left, "n"), "+", col(right, "n")), "<", int(2000));
  for (const type of TYPES) {
    for (const rest of [null, residual]) {
      const hashed = hashJoin(type, left, right, [col(left, "k"), col(right, "k")], rest);
      const merged = { ...hashed, kind: "mergejoin", directions: [{ descending: false, nullsFirst: false }] } as Plan;
      const expected = bag(database.rows(hashed));
      const before = area.bytesWritten;
      const options = { memoryBytesMax: 300_000, spill: area, batchRows: 100 };
      t.strictSame(bag(database.rows(merged, options)), expected, `${type}, ${rest === null ? "all" : "some"} pairs`);
      t.strictSame(bag(await database.yieldingRows(merged, options)), expected, `${type} in turns`);
      const needsGroup = rest !== null || (type !== "semi" && type !== "anti");
      t.equal(area.bytesWritten > before, needsGroup, `${area.bytesWritten - before} bytes on disk`);
      t.equal(area.bytes, 0, "and none after it");
    }
  }
  const hashed = hashJoin("inner", left, right, [col(left, "k"), col(right, "k")], null);
  const merged = { ...hashed, kind: "mergejoin", directions: [{ descending: false, nullsFirst: false }] } as Plan;
  t.throws(() => database.rows(merged, { memoryBytesMax: 200_000 }), /out of memory/);
});

const COLUMNS = {
  customers: ["id", "email", "city", "age"],
  orders: ["id", "customer_id", "total", "created"],
} as const;
type TableName = keyof typeof COLUMNS;

const KEY_PAIRS: readonly (readonly [TableName, TableName, string])[] = [
  ["customers", "customers", "a.id = b.id"],
  ["customers", "orders", "a.id = b.id"],
  ["orders", "customers", "a.customer_id = b.id"],
  ["orders", "orders", "a.created = b.created"],
  ["customers", "customers", "a.age = b.age AND a.city = b.city"],
  ["customers", "customers", "a.email = b.email"],
  ["customers", "orders", "a.id = b.customer_id AND a.age < b.id"],
];

/** A join in some order; its sort keys come first. */
function orderedJoin(random: Random): { sql: string; keys: number; limited: boolean } {
  const pick = <T>(items: readonly T[]): T => items[random.below(items.length)]!;
  const [a, b, on] = pick(KEY_PAIRS);
  const kind = pick(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
  const column = () => {
    const side = random.below(2);
    return `${"ab"[side]}.${pick(COLUMNS[[a, b][side]!])}`;
  };
  const first = on.split(" ")[random.below(2) * 2]!;
  const direction = pick(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]);
  const order = [`${first}${direction}`];
  while (order.length < 3 && random.below(2) === 0) order.push(`${column()}${pick([direction, " DESC", ""])}`);
  const merged = on.includes("AND") ? [] : [`coalesce(${on.replace(" = ", ", ")})${direction}`];
  if (random.below(3) === 0) order.splice(0, 1, ...(merged.length > 0 ? merged : [order[0]!]));
  const limited = random.below(2) === 0;
  const keys = order.map((key) => key.replace(/ (DESC|NULLS).*/, ""));
  const third = random.below(3) === 0 ? " JOIN customers c ON c.id = a.id" : "";
  const sql = `SELECT ${[...keys, ...COLUMNS[a].map((name) => `a.${name}`), ...COLUMNS[b].map((name) => `b.${name}`)]}
    FROM ${a} a ${kind} ${b} b ON ${on}${third} ORDER BY ${order}${limited ? ` LIMIT ${random.below(12)}` : ""}`;
  return { sql, keys: keys.length, limited };
}

t.test("joins under ORDER BY come in that order, whatever the rules make of them", async (t) => {
  await loadParser();
  const database = await Database.open(t);
  fill(database);
  let merges = 0;
  for (let seed = 1; seed <= tries(60); seed++) {
    const { sql, keys, limited } = orderedJoin(new Random(seed * 6_700_417));
    const plan = planOf(sql);
    const optimized = optimize(plan);
    if (explainText(optimized).some((line) => line.includes("Merge"))) merges++;
    const [expected, rows] = [database.rows(plan), database.rows(optimized)];
    const orderOf = (list: typeof rows) => list.map((row) => row.slice(0, keys).map(String).join("|"));
    same(t, orderOf(rows), orderOf(expected), sql);
    if (!limited) same(t, bag(rows), bag(expected), sql);
  }
  t.ok(merges > tries(8), `${merges} merges`);
});
