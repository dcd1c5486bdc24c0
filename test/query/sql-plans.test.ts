/**
 * From SQL to plans: what the optimizer makes of statements as the binder gives them, against test/golden/plan/sql.txt,
 * and that each gives the same rows with the optimizer on and off.
 */
import t from "tap";
import type { CatalogView } from "../../src/catalog/catalog-view.js";
import { Numeric } from "../../src/protocol/numeric.js";
import { INT4, INT8, NUMERIC, TEXT, TIMESTAMP, type Value } from "../../src/protocol/values.js";
import { optimize } from "../../src/query/optimize/optimize.js";
import { explainText } from "../../src/query/plan/explain.js";
import type { Plan } from "../../src/query/plan/plan.js";
import { bindStatement } from "../../src/sql/bind/bind-statement.js";
import { loadParser, parseSql } from "../../src/sql/parse/parse.js";
import { matchesGolden } from "./golden.js";
import { table } from "./plan-builder.js";
import { Database } from "./run-plans.js";

const TABLES = [
  table({
    id: 1,
    name: "customers",
    columns: [
      ["id", INT4, "not null"],
      ["email", TEXT, "not null"],
      ["city", TEXT],
      ["age", INT4],
    ],
    primaryKey: ["id"],
    indexes: [
      { name: "customers_email_key", columns: ["email"], unique: true },
      { name: "customers_city_idx", columns: ["city", "age"] },
    ],
  }),
  table({
    id: 2,
    name: "orders",
    columns: [
      ["id", INT8, "not null"],
      ["customer_id", INT4, "not null"],
      ["total", NUMERIC],
      ["created", TIMESTAMP],
    ],
    primaryKey: ["id"],
    indexes: [
      { name: "orders_customer_idx", columns: ["customer_id", "created"] },
      { name: "orders_created_idx", columns: ["created"] },
    ],
  }),
];

const CATALOG: CatalogView = {
  version: 1,
  table: (_schema, name) => TABLES.find((def) => def.name === name) ?? null,
  tableById: (id) => TABLES.find((def) => def.id === id) ?? null,
  index: () => null,
  sequence: () => null,
  sequencesOf: () => [],
  view: () => null,
  views: () => [],
  tables: () => TABLES,
  sequences: () => [],
  schemas: () => [],
  hasSchema: (name) => name === "public",
  type: () => null,
  typeById: () => null,
  types: () => [],
};

function planOf(sql: string): Plan {
  const [statement] = parseSql(sql);
  const bound = bindStatement(statement!, { catalog: CATALOG, parameterTypes: [], searchPath: ["public"] });
  if (bound.kind !== "query") throw new Error(`${sql} is not a query`);
  return bound.plan;
}

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

function fill(database: Database): void {
  const [customers, orders] = TABLES;
  const cities = ["Bonn", "Köln", null];
  const rows = Array.from({ length: 6 }, (_, i) => [i, `c${i}@x`, cities[i % 3]!, i === 4 ? null : 20 + 5 * i]);
  database.insert(customers!, rows);
  const insert = "INSERT INTO orders VALUES ($1, $2, $3, $4)";
  for (let i = 0; i < 12; i++) {
    const micros = i % 4 === 0 ? null : (i * 7919) % 1000;
    const params = [i, (i * i) % 5, planNumber(i), micros];
    database.result(planOf(insert), { params });
  }
  t.equal(database.rows(planOf("SELECT count(*) FROM orders"))[0]![0], 12, orders!.name);
}

const planNumber = (i: number): Value => (i === 7 ? null : Numeric.fromInteger((i * 3) % 25));

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
