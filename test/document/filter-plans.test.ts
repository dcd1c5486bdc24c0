/** Filters on documents use the indexes of their collection: plans as EXPLAIN shows them, in golden/plan. */
import t from "tap";
import type { TableDef } from "../../src/catalog/table.js";
import { type Collection, collectionOf } from "../../src/document/collection.js";
import { createStatements, definitionOf } from "../../src/document/schema-ddl.js";
import { readSchema } from "../../src/document/schema-request.js";
import { searchStatement } from "../../src/document/search-sql.js";
import { FLOAT8, TEXT } from "../../src/values/values.js";
import { open } from "../conformance/sql-adapter.js";
import { matchesGolden } from "../query/golden.js";

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "price", type: "number" },
    { name: "year", type: "number" },
    { name: "place", type: "object" },
  ],
  indexes: [
    { name: "price", fields: ["price"] },
    { name: "place", fields: ["place.city", "year"], type: "btree" },
    { name: "author", fields: ["author.name"], type: "hash" },
    { name: "both", fields: ["year", "title"] },
    { name: "pages", fields: ["pages"] },
  ],
};

const FILTERS: readonly object[] = [
  { price: 5 },
  { price: { $gte: 5, $lt: 10 } },
  { price: { $in: [1, 2] } },
  { year: 1999, title: "Emma" },
  { year: 1999, title: { $gt: "E" } },
  { "author.name": "Ann" },
  { "author.name": { $in: ["Ann", "Bob"] } },
  { "place.city": "Rome", year: { $gt: 1900 } },
  { pages: { $gt: 100 } },
  { colour: "red" },
  { $or: [{ price: 5 }, { year: 1999 }] },
  { year: 1999, $or: [{ price: 5 }, { "author.name": { $in: ["Ann", "Bob"] } }] },
  { $or: [{ price: 5 }, { colour: "red" }] },
];

/** As the catalog would have it. */
function collectionFor(plan: ReturnType<typeof createStatements>): Collection {
  const columns = ["id", "title", "price", "year", "place", "doc"].map((name, id) => {
    return { id, name, type: name === "price" || name === "year" ? FLOAT8 : TEXT, notNull: false };
  });
  const indexes = plan.indexes.map(({ relation }, id) => ({ id, name: relation, unique: false, columns: [] }));
  const table = { schema: "public", name: "book", columns, indexes } as unknown as TableDef;
  return collectionOf({ ...table, collection: definitionOf(table, plan) })!;
}

t.test("plans", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const plan = createStatements("book", readSchema(SCHEMA), () => 384);
  for (const sql of plan.statements) await database.exec(sql);
  const collection = collectionFor(plan);
  let text = "";
  for (const filter of FILTERS) {
    const filters = [{ filter, where: "filters" }];
    const { sql, params } = searchStatement(collection, { rankings: [], filters, limit: 10, offset: 0, afterId: null });
    const { rows } = await database.exec(`EXPLAIN ${sql}`, params);
    text += `${JSON.stringify(filter)}\n${rows.map(([line]) => `    ${line}\n`).join("")}\n`;
  }
  matchesGolden(t, "plan/document-filters.txt", text);
});
