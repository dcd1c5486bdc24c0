/**
 * From SQL to plans: what the optimizer makes of statements as the binder gives them, against test/golden/plan/sql.txt,
 * and that each gives the same rows with the optimizer on and off.
 */
import t from "tap";
import { optimize } from "../../src/query/optimize/optimize.js";
import { explainText } from "../../src/query/plan/explain.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import type { Value } from "../../src/values/values.js";
import { matchesGolden } from "./golden.js";
import { Database } from "./run-plans.js";
import { fill, planOf } from "./sql-catalog.js";

/** Statements that read, with values for their parameters. */
const QUERIES: readonly (readonly [sql: string, ...params: Value[]])[] = [
  ["SELECT * FROM customers WHERE id = $1", 3],
  ["SELECT email FROM customers WHERE id = $1", null],
  ["SELECT id FROM customers WHERE email = 'c3@x'"],
  ["SELECT city, age FROM customers WHERE city = $1 AND age >= 30 ORDER BY age DESC", "Bonn"],
  ["SELECT id FROM customers WHERE id IN (3, 1, 99) ORDER BY id"],
  ["SELECT id FROM customers WHERE id BETWEEN 2 AND 4 AND email LIKE 'c%'"],
  ["SELECT id FROM customers WHERE 1 = 2"],
  ["SELECT id FROM orders ORDER BY created LIMIT 3"],
  ["SELECT id, price FROM items WHERE sku > $1", "sku 1"],
  ["SELECT note FROM items WHERE sku > $1", "sku 1"],
  ["SELECT i.price, c.age FROM items i JOIN customers c ON i.id = c.id ORDER BY c.id DESC LIMIT 3"],
  ["SELECT id FROM orders ORDER BY id DESC LIMIT 2 OFFSET 1"],
  ["SELECT id, total FROM orders ORDER BY total, id LIMIT 4"],
  ["SELECT count(*) FROM orders WHERE created IS NULL"],
  ["SELECT city, count(*), max(age) FROM customers GROUP BY city HAVING city <> 'Bonn' ORDER BY city"],
  ["SELECT DISTINCT customer_id FROM orders WHERE total > 10"],
  ["SELECT c.email, o.total FROM customers c JOIN orders o ON o.customer_id = c.id WHERE c.id = $1 ORDER BY o.id", 2],
  ["SELECT c.email, o.total FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = $1", 5],
  ["SELECT c.id, o.id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND o.total > 15"],
  ["SELECT c.id, o.id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.total > 15"],
  ["SELECT c.id, d.id FROM customers c, customers d WHERE c.city = d.city AND c.id < d.id"],
  ["SELECT id FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.total > 20)"],
  ["SELECT id FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)"],
  ["SELECT id FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE total > 20)"],
  ["SELECT id FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)"],
  ["SELECT id, (SELECT sum(total) FROM orders o WHERE o.customer_id = c.id) FROM customers c WHERE age > 25"],
  ["SELECT id FROM orders WHERE total = (SELECT max(total) FROM orders)"],
  ["SELECT city FROM customers UNION SELECT email FROM customers WHERE id = 1"],
  ["SELECT s.n FROM (SELECT city, count(*) AS n FROM customers GROUP BY city) s WHERE s.city = 'Bonn'"],
  [
    "SELECT c.id, o.id FROM customers c, LATERAL (SELECT id FROM orders WHERE customer_id = c.id ORDER BY id LIMIT 1) o",
  ],
];

const CHANGES = [
  "UPDATE customers SET age = age + 1 WHERE id = $1",
  "DELETE FROM orders WHERE customer_id = $1 AND created < '2020-01-01'",
  "UPDATE orders SET total = 0 FROM customers c WHERE c.id = customer_id AND c.email = 'c1@x'",
  "INSERT INTO orders SELECT id + 100, customer_id, total, created FROM orders WHERE customer_id = 1",
];

t.before(loadParser);

t.test("plans", async (t) => {
  const statements = [...QUERIES.map(([sql]) => sql), ...CHANGES];
  const printed = statements.map((sql) => `${sql}\n${explainText(optimize(planOf(sql))).join("\n")}\n`);
  matchesGolden(t, "plan/sql.txt", printed.join("\n"));
});

t.test("rows with and without the optimizer", async (t) => {
  const database = await Database.open(t);
  fill(database);
  for (const [sql, ...params] of QUERIES) {
    const plan = planOf(sql);
    const optimized = database.result(optimize(plan), { params });
    const plain = database.result(plan, { params });
    t.strictSame(
      optimized.columns.map((column) => column.name),
      plain.columns.map((column) => column.name),
    );
    const sorted = (rows: readonly (readonly Value[])[]) => rows.map((row) => row.map(String).join()).sort();
    const inOrder = /ORDER BY [^)]*$/.test(sql);
    const shown = (rows: readonly (readonly Value[])[]) =>
      inOrder ? rows.map((row) => row.map(String).join()) : sorted(rows);
    t.strictSame(shown(optimized.rows), shown(plain.rows), sql);
  }
});

t.test("changes with and without the optimizer", async (t) => {
  for (const sql of CHANGES) {
    const found = [];
    for (const rules of [undefined, []]) {
      const database = await Database.open(t);
      fill(database);
      const plan = planOf(sql);
      const { rowsAffected } = database.result(rules === undefined ? optimize(plan) : plan, { params: [1] });
      const state = ["SELECT * FROM customers", "SELECT * FROM orders"].map((all) => database.rows(planOf(all)));
      found.push({ rowsAffected, state });
    }
    t.ok(found[0]!.rowsAffected > 0, sql);
    t.strictSame(found[0], found[1]);
  }
});
