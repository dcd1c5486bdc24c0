/** Massive: reads the catalog into methods; tables, documents, full text, streams, transactions. */
import massive from "massive";
import { equal, step } from "./steps.mjs";

const db = await massive(process.env.DATABASE_URL, {}, { noWarnings: true });
await step("create, reload, list", async () => {
  await db.query(
    "CREATE TABLE tests (id serial PRIMARY KEY, name text NOT NULL, price numeric(8, 2), is_active bool DEFAULT true, data jsonb, tags text[])",
  );
  await db.query(
    "CREATE SCHEMA auth; CREATE TABLE auth.users (user_id uuid PRIMARY KEY DEFAULT gen_random_uuid(), username text UNIQUE); CREATE VIEW active_tests AS SELECT * FROM tests WHERE is_active; CREATE MATERIALIZED VIEW kept AS SELECT * FROM tests; CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS 'SELECT n * 2'",
  );
  await db.reload();
  equal(db.listTables().sort(), ["auth.users", "tests"]);
  equal(db.listViews().sort(), ["active_tests", "kept"]);
  equal(db.listFunctions(), ["twice"]);
});
await step("insert, find, update, upsert, destroy", async () => {
  const first = await db.tests.insert({ name: "a test", price: 1.5, data: { a: { b: 1 } }, tags: ["x", "y"] });
  equal([first.id, first.name, first.price, first.tags], [1, "a test", "1.50", ["x", "y"]]);
  await db.tests.insert([{ name: "b" }, { name: "c", is_active: false }]);
  equal((await db.tests.find({ "id >": 1, "name like": "%b%" })).length, 1);
  equal((await db.tests.find({ "data.a.b": 1 })).length, 1);
  equal((await db.tests.find({ "tags @>": ["x"] })).length, 1);
  equal((await db.tests.update({ id: 1 }, { name: "z", $set: { price: "price + 1" } }))[0].price, "2.50");
  equal((await db.tests.destroy({ id: 3 })).length, 1);
  equal((await db.tests.search({ fields: ["name"], term: "z" })).length, 1);
  const onConflict = { target: ["id"], action: "update" };
  equal((await db.tests.insert({ id: 1, name: "q" }, { onConflict })).name, "q");
  equal(await db.twice(4), [{ twice: 8 }]);
  equal((await db.auth.users.insert({ username: "u" })).username, "u");
});
await step("documents", async () => {
  const { id } = await db.saveDoc("reports", { title: "Week 12", matters: [{ a: 1 }], n: 5 });
  equal((await db.reports.findDoc({ "n >": 1 })).length, 1);
  equal((await db.reports.searchDoc({ fields: ["title"], term: "week" })).length, 1);
  await db.reports.updateDoc(id, { n: 7 });
  equal((await db.reports.findDoc(id)).n, 7);
});
await step("streams, transactions, drops", async () => {
  let rows = 0;
  for await (const _row of await db.tests.find({}, { stream: true })) rows++;
  equal(rows, 2);
  const failing = db.withTransaction(async (tx) => {
    await tx.tests.insert({ name: "tx" });
    throw new Error("back");
  });
  equal(await failing.catch(({ message }) => message), "back");
  equal(await db.tests.count(), "2");
  await db.dropTable("reports", { cascade: true });
  await db.dropSchema("auth", { cascade: true });
  equal(db.listTables(), ["tests"]);
});
await db.instance.$pool.end();
