/**
 * Hash joins of random rows against loops over the same rows: all types of joins and of keys, with and without further
 * conditions, in batches of any size; and what stands above them, which takes their rows as chunks.
 */
import t from "tap";
import type { JoinType, Plan } from "../../src/query/plan/plan.js";
import { DATE, INT4, INT8, type SqlType, TEXT, type Value } from "../../src/values/values.js";
import { aggregate, aggregateFunction, and, col, hashJoin, int, join, op, project, values } from "./plan-builder.js";
import { Random } from "./random-plans.js";
import { Database } from "./run-plans.js";

const TYPES: readonly JoinType[] = ["inner", "left", "right", "full", "semi", "anti"];
const COLUMNS = [
  ["i", INT4],
  ["l", INT8],
  ["d", DATE],
  ["t", TEXT],
  ["n", INT4],
] as const satisfies readonly (readonly [string, SqlType])[];

/** Few different keys, so that they meet; `far` spreads them so that no array is made of them. */
function rows(random: Random, count: number, far: boolean, withBigints: boolean): Value[][] {
  const nullable = (value: Value): Value => (random.below(10) === 0 ? null : value);
  return Array.from({ length: count }, (_, n) => {
    const key = random.below(40) - 5;
    return [
      nullable(far ? key * 50_000_000 : key),
      nullable(withBigints && key < 3 ? 9_007_199_254_740_993n + BigInt(key) : key * 4_000_000_000),
      nullable(key === 7 ? Number.POSITIVE_INFINITY : key),
      nullable(`k${key}`),
      n,
    ];
  });
}

/** The join by hashing on these columns, and the same by loops. */
function joins(type: JoinType, left: Plan, right: Plan, keys: readonly string[], withResidual: boolean): [Plan, Plan] {
  const residual = withResidual ? op(op(col(left, "n"), "+", col(right, "n")), "<", int(60)) : null;
  const hashed = hashJoin(type, left, right, [col(left, keys[0]!), col(right, keys[0]!)], residual);
  const all = keys.map((key) => [col(left, key), col(right, key)] as const);
  const byKeys = { ...hashed, leftKeys: all.map(([a]) => a), rightKeys: all.map(([, b]) => b) } as Plan;
  const equal = all.map(([a, b]) => op(a, "=", b));
  const conditions = residual === null ? equal : [...equal, residual];
  return [byKeys, join(type, left, right, conditions.length === 1 ? conditions[0]! : and(...conditions))];
}

t.test("hash joins give the rows that loops give, in their order", async (t) => {
  const database = await Database.open(t);
  const keySets = [["i"], ["l"], ["d"], ["t"], ["i", "d"], ["i", "t"], ["i", "l", "d"]];
  let compared = 0;
  for (let seed = 1; seed <= 24; seed++) {
    const random = new Random(seed * 104_729);
    const far = random.below(2) === 0;
    const withBigints = random.below(3) === 0;
    const left = values(COLUMNS, rows(random, random.below(60), far, withBigints));
    const right = values(COLUMNS, rows(random, random.below(60), far, withBigints && random.below(2) === 0));
    for (const type of TYPES) {
      for (const keys of keySets) {
        const [hashed, looped] = joins(type, left, right, keys, random.below(2) === 0);
        const expected = database.rows(looped);
        const batchRows = [1, 3, 1024][random.below(3)]!;
        const name = `seed ${seed}: ${type} on ${keys}`;
        t.strictSame(database.rows(hashed, { batchRows }), expected, name);
        if (random.below(4) === 0) t.strictSame(await database.yieldingRows(hashed, { batchRows }), expected, name);
        compared += expected.length;
      }
    }
  }
  t.ok(compared > 10_000, `${compared} rows`);
});

t.test("joins of joins, projections and groups over them", async (t) => {
  const database = await Database.open(t);
  for (let seed = 1; seed <= 12; seed++) {
    const random = new Random(seed * 7919);
    const side = () => values(COLUMNS, rows(random, 10 + random.below(40), false, false));
    const [a, b, c] = [side(), side(), side()];
    const [first, second] = [TYPES[random.below(4)]!, TYPES[random.below(6)]!];
    const above = (plan: number): Plan => {
      const inner = joins(first, a, b, ["i"], false)[plan]!;
      const narrow = project(inner, { i: col(a, "i"), s: op(col(a, "n"), "*", col(b, "n")), d: col(b, "d") });
      const outer = joins(second, { ...narrow, columns: narrow.columns } as Plan, c, ["i", "d"], false)[plan]!;
      const sums = {
        count: { fn: aggregateFunction("count") },
        sum: { fn: aggregateFunction("sum", INT4), args: [col(narrow, "s")] },
      };
      return aggregate(outer, { d: col(narrow, "d") }, sums);
    };
    t.strictSame(database.rows(above(0)), database.rows(above(1)), `seed ${seed}: ${first}, ${second}`);
  }
});
