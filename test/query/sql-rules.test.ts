/**
 * What single rules make of SQL: the plan as the rules before it leave it, and after it, against
 * test/golden/plan/sql-<rule>.txt; and that each statement gives the same rows with the optimizer on and off.
 */
import t from "tap";
import { Cardinality } from "../../src/query/optimize/cardinality.js";
import { optimize, RULES } from "../../src/query/optimize/optimize.js";
import { explainText } from "../../src/query/plan/explain.js";
import type { Plan } from "../../src/query/plan/plan.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import type { Value } from "../../src/values/values.js";
import { matchesGolden } from "./golden.js";
import { Database } from "./run-plans.js";
import { fill, planOf } from "./sql-catalog.js";

/** By rule. A statement that its rule must leave alone begins with a comment that says why. */
const CASES: Readonly<Record<string, readonly string[]>> = {
  "unnest-subqueries": [
    `SELECT c.id, o.id FROM customers c LEFT JOIN orders o
       ON o.customer_id = c.id AND EXISTS (SELECT 1 FROM customers d WHERE d.age = o.customer_id)`,
    "SELECT c.id, o.id FROM customers c JOIN orders o ON o.customer_id = c.id AND c.age IN (SELECT age FROM customers)",
    `/* of the side whose rows all stay */ SELECT c.id, o.id FROM customers c LEFT JOIN orders o
       ON o.customer_id = c.id AND EXISTS (SELECT 1 FROM customers d WHERE d.age = c.id)`,
    "SELECT id FROM customers WHERE age IN (VALUES (20), (30)) OR id NOT IN (VALUES (1), (2))",
    "SELECT c.id, o.total FROM customers c, LATERAL (SELECT total FROM orders WHERE customer_id = c.id) o",
    "SELECT c.id, o.total FROM customers c LEFT JOIN LATERAL (SELECT total FROM orders WHERE customer_id = c.id) o ON true",
  ],
  "decorrelate-aggregates": [
    "SELECT id FROM customers c WHERE age = 20 OR EXISTS (SELECT 1 FROM orders o WHERE o.total = c.age AND o.id > 3)",
    "SELECT id, NOT EXISTS (SELECT 1 FROM orders o WHERE o.total = c.age) FROM customers c",
    "SELECT city, bool_or(EXISTS (SELECT 1 FROM orders o WHERE o.total = c.age)) FROM customers c GROUP BY city",
  ],
  "factor-conditions": ["SELECT id FROM customers WHERE id = 1 OR id = 4 OR id IN (7, 2)"],
  "fold-constants": [
    "SELECT c.id, o.id FROM customers c LEFT JOIN (SELECT * FROM orders WHERE 1 = 2) o ON o.customer_id = c.id",
    "SELECT c.id FROM customers c JOIN orders o ON o.customer_id = c.id AND false",
    "SELECT id FROM customers WHERE id NOT IN (SELECT id FROM customers WHERE false)",
    "SELECT id FROM customers UNION ALL SELECT id FROM customers WHERE NULL ORDER BY 1 LIMIT 3",
    "SELECT city, count(*) FROM customers WHERE 1 > 2 GROUP BY city",
  ],
  "push-down-filters": [
    "SELECT c.id, o.id FROM customers c, orders o, customers d WHERE o.customer_id = c.id AND d.id = c.id AND d.id IN (1, 2)",
    "SELECT * FROM (SELECT city, rank() OVER (PARTITION BY city ORDER BY age) AS r FROM customers) x WHERE city = 'Bonn' AND r = 1",
    "WITH x AS (SELECT city, max(age) AS m FROM customers GROUP BY city) SELECT * FROM x WHERE city = 'Bonn'",
  ],
  "drop-joins": [
    "SELECT o.id FROM orders o LEFT JOIN customers c ON c.id = o.customer_id",
    "SELECT o.id FROM orders o LEFT JOIN customers c ON c.email = 'x' AND c.age > 3 WHERE o.total > 3",
    "/* its column is read */ SELECT o.id, c.age FROM orders o LEFT JOIN customers c ON c.id = o.customer_id",
    "/* several may match */ SELECT o.id FROM orders o LEFT JOIN customers c ON c.age = o.customer_id",
  ],
  "min-max-by-index": [
    "SELECT min(id), max(id) FROM orders",
    "SELECT max(age), min(age) FROM customers WHERE city = 'Bonn'",
    "SELECT max(created) FROM orders WHERE customer_id = 1",
    "/* no key has that order */ SELECT max(created) FROM orders WHERE customer_id > 1",
  ],
  "or-by-index": [
    "SELECT id, age FROM customers WHERE email = 'x' OR city = 'Bonn' AND age > 30",
    "SELECT id FROM orders WHERE (customer_id = 1 OR id IN (3, 4)) AND total > 2",
    "DELETE FROM orders WHERE customer_id = 1 OR id = 7",
    "/* no key has the second */ SELECT id FROM customers WHERE city = 'Bonn' OR age = 2",
    "/* most rows */ SELECT id FROM orders WHERE customer_id > 1 OR id > 7",
  ],
  "choose-access": [
    "SELECT id FROM customers WHERE id = ANY ('{3, 1, 2, NULL, 3}')",
    "SELECT id FROM customers WHERE age > 20 AND id = ANY (ARRAY[1, 2]::bigint[])",
    "SELECT id FROM customers WHERE id IN (VALUES (1), (4))",
    "SELECT id FROM customers WHERE id = ANY ('{1, 99999999999}'::bigint[])",
    "SELECT id, price FROM items WHERE sku > 'sku 1' AND price IS NOT NULL",
    "SELECT note, price FROM items WHERE sku = 'sku 1' AND price > 3",
    "/* no equality */ SELECT id FROM customers WHERE id <> ALL ('{1, 2}') AND age < ANY ('{30, 40}')",
  ],
  "push-down-limits": [
    "SELECT o.id, c.age FROM orders o LEFT JOIN customers c ON c.id = o.customer_id ORDER BY o.id LIMIT 3 OFFSET 1",
    "SELECT o.id, c.age FROM orders o LEFT JOIN customers c ON c.age = o.customer_id AND c.id < 3 LIMIT 100",
    "SELECT id FROM orders UNION ALL SELECT id FROM customers ORDER BY 1 DESC LIMIT 4",
    "/* by the other side */ SELECT o.id, c.id FROM orders o LEFT JOIN customers c ON c.id = o.customer_id ORDER BY 2, 1 LIMIT 3",
  ],
  "choose-join": [
    "SELECT a.id, b.id FROM customers a JOIN customers b ON a.id = b.id AND a.age < b.age",
    "SELECT a.email FROM (SELECT * FROM customers ORDER BY email) a FULL JOIN (SELECT * FROM customers ORDER BY email) b USING (email)",
    "SELECT count(*) FROM (SELECT * FROM customers ORDER BY city, email DESC) a JOIN (SELECT * FROM customers ORDER BY city, email DESC) b ON a.email = b.email AND a.city = b.city",
    `SELECT a.city FROM (SELECT * FROM customers ORDER BY city DESC) a
       WHERE NOT EXISTS (SELECT 1 FROM (SELECT * FROM customers ORDER BY city DESC) b WHERE a.city = b.city AND a.age > b.age)`,
  ],
  "eliminate-sort": [
    "SELECT o.id, c.id FROM orders o JOIN customers c ON o.id = c.id AND o.total > c.age ORDER BY o.id LIMIT 10",
    "SELECT o.id, c.age FROM orders o JOIN customers c ON o.id = c.id ORDER BY c.id DESC LIMIT 10",
    "SELECT o.id, c.age FROM orders o JOIN customers c ON o.id = c.id ORDER BY o.id, c.age LIMIT 10",
    "SELECT c.age, o.total FROM orders o JOIN customers c ON o.customer_id = c.id ORDER BY c.id, o.created LIMIT 5",
    "SELECT id, age, total FROM customers FULL JOIN orders USING (id) ORDER BY id LIMIT 5",
    "SELECT id, age, total FROM customers FULL JOIN orders USING (id) ORDER BY id DESC NULLS LAST",
    "SELECT c.id, o.total FROM customers c RIGHT JOIN orders o ON o.id = c.id AND c.age > 3 ORDER BY o.id DESC LIMIT 5",
    "SELECT o.created FROM orders o JOIN orders p ON o.created = p.created AND o.total < p.total ORDER BY p.created LIMIT 3",
    `SELECT a.id, b.age, c.city FROM customers a JOIN customers b ON a.id = b.id JOIN customers c ON b.id = c.id AND c.age > a.age
       ORDER BY c.id LIMIT 20`,
    "SELECT sku, price FROM items ORDER BY sku DESC LIMIT 2",
    "/* by what only one side has in its order */ SELECT c.age FROM customers c FULL JOIN orders o ON o.id = c.id ORDER BY c.id LIMIT 5",
    "/* few rows to sort */ SELECT c.id, d.city FROM customers c FULL JOIN customers d ON c.id = d.id WHERE c.age = 3 AND d.age = 4 ORDER BY d.age",
  ],
  "share-subplans": [
    `SELECT city, sum(total) FROM orders o JOIN customers c ON c.id = o.customer_id AND c.age > 20 GROUP BY city
       HAVING sum(total) > (SELECT sum(total) * 0.1 FROM orders o JOIN customers c ON c.id = o.customer_id AND c.age > 20)`,
    "SELECT a.id, b.email FROM customers a JOIN customers b ON a.email < b.city AND a.age = 30 AND b.age = 30",
    `SELECT x.n, (SELECT max(n) FROM (SELECT city, count(*) n FROM customers GROUP BY city) y)
       FROM (SELECT city, count(*) n FROM customers GROUP BY city) x WHERE n > 1`,
    `WITH c AS MATERIALIZED (SELECT * FROM customers) SELECT (SELECT max(age) FROM c WHERE city = 'Bonn'), count(*)
       FROM c x WHERE x.city = 'Bonn'`,
    `SELECT o.id, (SELECT count(*) FROM orders p WHERE p.total = o.total AND p.id IN (SELECT max(id) FROM orders GROUP BY total))
       FROM orders o WHERE o.id IN (SELECT max(id) FROM orders GROUP BY total)`,
    "/* reading costs less */ SELECT a.id FROM orders a JOIN orders b ON a.id = b.customer_id",
    "/* other values */ SELECT a.age FROM customers a JOIN customers b ON a.id = b.id + 1 AND a.age = 30 AND b.age = 20",
  ],
  "reorder-joins": [
    `SELECT a.id, b.id FROM customers a, customers b
       JOIN LATERAL (VALUES (a.age), (-1)) v(x) ON b.age = v.x`,
  ],
};

function beforeAndAfter(name: string, sql: string): [Plan, Plan] {
  const rule = RULES.find((one) => one.name === name)!;
  if (rule.wholeStatement === true) {
    const others = RULES.filter((one) => one !== rule);
    return [optimize(planOf(sql), { rules: others }), optimize(planOf(sql))];
  }
  const cardinality = new Cardinality(null);
  let plan = planOf(sql);
  cardinality.learn(plan);
  for (const rule of RULES) {
    const next = rule.apply(plan, cardinality);
    if (rule.name === name) return [plan, next];
    plan = next;
  }
  throw new Error(`no rule ${name}`);
}

t.before(loadParser);

for (const [name, statements] of Object.entries(CASES)) {
  t.test(name, async (t) => {
    const printed = statements.map((sql) => {
      const [before, after] = beforeAndAfter(name, sql).map((plan) => explainText(plan).join("\n")) as [string, string];
      t.equal(before === after, sql.startsWith("/*"), sql);
      return `${sql.replace(/\s+/g, " ")}\n${before}\n${before === after ? "" : `=>\n${after}\n`}`;
    });
    matchesGolden(t, `plan/sql-${name}.txt`, printed.join("\n"));
  });
}

t.test("rows with and without the optimizer", async (t) => {
  const database = await Database.open(t);
  fill(database);
  const bag = (rows: readonly (readonly Value[])[]) => rows.map((row) => row.map(String).join()).sort();
  for (const sql of Object.values(CASES).flat()) {
    const plan = planOf(sql);
    t.strictSame(bag(database.rows(optimize(plan))), bag(database.rows(plan)), sql);
  }
});
