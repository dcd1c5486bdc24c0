/** Equal parts of a statement are found, whatever columns they hand on, and shared without changing any row. */
import fc from "fast-check";
import t from "tap";
import type { Expr } from "../../src/query/expr/expr.js";
import { optimize, RULES } from "../../src/query/optimize/optimize.js";
import { shareSubplans } from "../../src/query/optimize/share-subplans.js";
import { explainText } from "../../src/query/plan/explain.js";
import type { OutputColumn, Plan } from "../../src/query/plan/plan.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { INT8 } from "../../src/values/values.js";
import { tries } from "../lengths.js";
import { aggregate, aggregateFunction, filter, join, op, project, setOp, subquery } from "./plan-builder.js";
import { PARAMS, Random, randomPlan, randomPredicate, randomRows, TABLES } from "./random-plans.js";
import { Database } from "./run-plans.js";
import { planOf } from "./sql-catalog.js";

const RUNS = tries(50);
const columnExpr = ({ id, type, name }: OutputColumn): Expr => ({ kind: "column", id, type, name });
const count = (input: Plan) => aggregate(input, {}, { n: { fn: aggregateFunction("count") } });

/** A plan in which the same random plan stands two or three times, with different uses around it. */
function repeating(seed: number): Plan {
  const random = new Random(seed ^ 0x5f3759df);
  const part = () => randomPlan(new Random(seed), 2 + (seed % 2));
  const some = (plan: Plan) => {
    const columns = random.shuffled(plan.columns).slice(0, 1 + random.below(plan.columns.length));
    return project(plan, Object.fromEntries(columns.map((column, i) => [`c${i}`, columnExpr(column)])));
  };
  const narrowed = (plan: Plan) => filter(plan, randomPredicate(random, plan.columns, [], 1));
  const [a, b] = [part(), part()];
  switch (random.below(5)) {
    case 0:
      return setOp("union", random.below(2) === 0, a, b);
    case 1: {
      const [left, right] = [some(a), some(random.below(2) === 0 ? b : narrowed(b))];
      const equal = op(columnExpr(left.columns[0]!), "=", columnExpr(right.columns[0]!));
      return join(random.pick(["inner", "left", "semi", "anti", "full"] as const), left, right, equal);
    }
    case 2: {
      const rows = subquery("scalar", count(random.below(2) === 0 ? b : narrowed(b)));
      return filter(some(a), op(rows, random.pick([">", "<", ">="]), { kind: "const", type: INT8, value: 2 }));
    }
    case 3:
      return join("inner", count(narrowed(a)), count(join("inner", b, part(), null)), null);
    default: {
      const within = project(b, { v: columnExpr(b.columns[0]!) });
      return filter(a, subquery("in", within, { input: columnExpr(a.columns[0]!), symbol: "=" }));
    }
  }
}

const bag = (rows: readonly (readonly unknown[])[]) => rows.map((row) => row.map(String).join()).sort();

t.test("random plans that repeat themselves", async (t) => {
  let shared = 0;
  for (let data = 0; data < 4; data++) {
    const database = await Database.open(t);
    const rows = randomRows(data);
    for (const [name, def] of Object.entries(TABLES)) database.insert(def, rows[name as keyof typeof TABLES]);
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const plan = repeating(seed);
        const expected = bag(database.rows(plan, { params: PARAMS }));
        for (const rules of [[shareSubplans], RULES]) {
          const other = optimize(plan, { rules });
          if (other.kind === "with") shared++;
          const found = bag(database.rows(other, { params: PARAMS }));
          const yielding = bag(await database.yieldingRows(other, { params: PARAMS, batchRows: 2 }));
          if (JSON.stringify([expected, expected]) !== JSON.stringify([found, yielding])) {
            throw new Error([...explainText(plan), "became", ...explainText(other)].join("\n"));
          }
        }
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  }
  t.ok(shared > RUNS, `${shared} with shared parts`);
});

const JOINED = "orders o JOIN customers c ON c.id = o.customer_id AND c.age > 20";

/** How many times a part is shared, by statement. */
const STATEMENTS: readonly (readonly [shared: number, sql: string])[] = [
  [2, `SELECT c.city, sum(total) FROM ${JOINED} GROUP BY 1 HAVING sum(total) > (SELECT avg(total) FROM ${JOINED})`],
  [
    3,
    `SELECT (SELECT count(*) FROM ${JOINED}), (SELECT max(total) FROM ${JOINED}), (SELECT min(c.age) FROM ${JOINED})`,
  ],
  // The same aggregate under other names.
  [
    2,
    `SELECT a.n FROM (SELECT age, count(*) n FROM customers GROUP BY 1) a, (SELECT age x, count(*) y FROM customers GROUP BY age) b
         WHERE a.age = b.x + b.y`,
  ],
  [2, "SELECT id FROM customers WHERE age = $1 EXCEPT SELECT c.id + 1 FROM customers c WHERE c.age = $1"],
  [0, "SELECT id FROM customers WHERE age = $1 EXCEPT SELECT c.id + 1 FROM customers c WHERE c.age = $2"],
  [
    0,
    "SELECT age FROM customers WHERE age > random() * 50 UNION ALL SELECT age FROM customers WHERE age > random() * 50",
  ],
  // Nothing is computed.
  [0, "SELECT a.age FROM customers a, customers b WHERE a.age = b.age + 1"],
  // What depends on the outer row is another part for each.
  [
    0,
    `SELECT id, (SELECT count(*) FROM orders o WHERE o.total > c.age OR o.id < 3),
         (SELECT max(total) FROM orders o WHERE o.total > c.age OR o.id < 3) FROM customers c LIMIT 1`,
  ],
  // Storing the rows costs more than reading them again.
  [0, `SELECT a.id FROM orders a, orders b WHERE a.total <> 3 AND b.total <> 3 AND a.id = b.customer_id`],
  [2, "INSERT INTO orders SELECT a.age, b.age FROM customers a, customers b WHERE a.age = 7 AND b.age = 7"],
  [
    2,
    `WITH x AS MATERIALIZED (SELECT * FROM ${JOINED}), y AS MATERIALIZED (SELECT city FROM ${JOINED})
         SELECT * FROM x, y, x z, y w WHERE z.city = 'a' AND w.city = 'b'`,
  ],
];

t.test("what is shared", async (t) => {
  await loadParser();
  for (const [expected, sql] of STATEMENTS) {
    const lines = explainText(optimize(planOf(sql)));
    t.equal(lines.filter((line) => line.includes("Shared Scan")).length, expected, `${sql}\n${lines.join("\n")}`);
  }
});
