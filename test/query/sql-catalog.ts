/** Tables with indexes and rows, and statements bound to them: for tests that go from SQL to plans. */
import type { CatalogView } from "../../src/catalog/catalog-view.js";
import type { Plan } from "../../src/query/plan/plan.js";
import { bindStatement } from "../../src/sql/bind/bind-statement.js";
import { parseSql } from "../../src/sql/parse/parse.js";
import { Numeric } from "../../src/values/numeric.js";
import { INT4, INT8, NUMERIC, TEXT, TIMESTAMP, type Value } from "../../src/values/values.js";
import { table } from "./plan-builder.js";
import type { Database } from "./run-plans.js";

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
  table({
    id: 3,
    name: "items",
    columns: [
      ["id", INT4, "not null"],
      ["sku", TEXT, "not null"],
      ["price", NUMERIC],
      ["note", TEXT],
    ],
    primaryKey: ["id"],
    indexes: [{ name: "items_sku_idx", columns: ["sku"], include: ["price"] }],
  }),
];

const CATALOG: CatalogView = {
  version: 1,
  table: (_schema, name) => TABLES.find((def) => def.name === name) ?? null,
  tableById: (id) => TABLES.find((def) => def.id === id) ?? null,
  index: () => null,
  searchIndex: () => null,
  auditedTables: () => [],
  sequence: () => null,
  sequencesOf: () => [],
  view: () => null,
  views: () => [],
  propertyGraph: () => null,
  propertyGraphs: () => [],
  tables: () => TABLES,
  sequences: () => [],
  schemas: () => [],
  extensions: () => [],
  operatorsNamed: () => [],
  operatorById: () => null,
  operators: () => [],
  casts: () => [],
  madeCasts: null,
  hasSchema: (name) => name === "public",
  type: () => null,
  typeById: () => null,
  types: () => [],
  functionsNamed: () => [],
  functions: () => [],
  functionById: () => null,
  schema: () => null,
  schemaId: () => null,
  schemaNames: () => ["public"],
  droppedPublic: false,
  roles: () => [],
  role: () => null,
  roleById: () => null,
  accessTo: () => null,
  accesses: () => [],
  roleSettings: () => [],
  settingsOfRole: () => null,
  hasAccess: false,
};

/** As the binder gives it. The parser must be loaded. */
export function planOf(sql: string): Plan {
  const [statement] = parseSql(sql);
  const bound = bindStatement(statement!, { catalog: CATALOG, parameterTypes: [], searchPath: ["public"] });
  if (bound.kind !== "query") throw new Error(`${sql} is not a query`);
  return bound.plan;
}

export function fill(database: Database): void {
  const [customers, , items] = TABLES;
  const cities = ["Bonn", "Köln", null];
  const rows = Array.from({ length: 6 }, (_, i) => [i, `c${i}@x`, cities[i % 3]!, i === 4 ? null : 20 + 5 * i]);
  database.insert(customers!, rows);
  database.insert(
    items!,
    rows.map((_, i) => [i, `sku ${i % 4}`, planNumber(i), `note ${i}`]),
  );
  const insert = "INSERT INTO orders VALUES ($1, $2, $3, $4)";
  for (let i = 0; i < 12; i++) {
    const micros = i % 4 === 0 ? null : (i * 7919) % 1000;
    const params = [i, (i * i) % 5, planNumber(i), micros];
    database.result(planOf(insert), { params });
  }
}

const planNumber = (i: number): Value => (i === 7 ? null : Numeric.fromInteger((i * 3) % 25));
