/** Knex: schema builder, migrations, queries, transactions, streams. */
import knexOf from "knex";
import { equal, fails, step } from "./steps.mjs";

const knex = knexOf({ client: "pg", connection: process.env.DATABASE_URL, pool: { min: 0, max: 4 } });

await step("schema builder: tables, keys, indexes, enum, comments", async () => {
  await knex.schema
    .createTable("users", (table) => {
      table.increments("id");
      table.string("user_name").notNullable().unique().comment("who");
      table.enum("role", ["a", "b"], { useNative: true, enumName: "roles" }).defaultTo("a");
      table.timestamps(true, true);
    })
    .createTable("accounts", (table) => {
      table.uuid("id").primary().defaultTo(knex.raw("gen_random_uuid()"));
      table.integer("user_id").unsigned().references("users.id").onDelete("CASCADE").index();
      table.jsonb("data");
      table.decimal("balance", 10, 2).checkPositive();
      table.specificType("tags", "text[]");
      table.index(["balance"], "by_balance", { predicate: knex.whereNotNull("balance") });
    });
  equal([await knex.schema.hasTable("users"), await knex.schema.hasColumn("users", "role")], [true, true]);
});
await step("insert, join, aggregate, upsert, returning", async () => {
  const [{ id }] = await knex("users").insert({ user_name: "Tim" }, ["id"]);
  await knex("accounts").insert([
    { user_id: id, balance: 5, data: { a: 1 }, tags: ["x"] },
    { user_id: id, balance: 7 },
  ]);
  const rows = await knex("users")
    .join("accounts", "users.id", "accounts.user_id")
    .groupBy("user_name")
    .sum("balance as s")
    .select("user_name");
  equal(rows, [{ s: "12.00", user_name: "Tim" }]);
  await knex("users").insert({ user_name: "Tim", role: "b" }).onConflict("user_name").merge();
  equal(await knex("users").pluck("role"), ["b"]);
  equal(await knex("accounts").whereJsonPath("data", "$.a", "=", 1).count("* as n"), [{ n: "1" }]);
  equal(Object.keys(await knex("users").columnInfo()), ["id", "user_name", "role", "created_at", "updated_at"]);
});
await step("transactions with savepoints and errors", async () => {
  await knex.transaction(async (trx) => {
    await trx("users").insert({ user_name: "kept" });
    await fails(
      trx.transaction((inner) => inner("users").insert({ user_name: "kept" })),
      "23505",
    );
    await trx("users").where({ user_name: "kept" }).forUpdate().first();
  });
  equal(await knex("users").where("user_name", "kept").count("* as n"), [{ n: "1" }]);
});
await step("alter a table", async () => {
  await knex.schema.alterTable("users", (table) => {
    table.string("mail", 80).nullable();
    table.text("user_name").notNullable().alter();
    table.dropColumn("updated_at");
  });
  await knex.schema.alterTable("users", (table) => table.renameColumn("user_name", "name"));
  equal(Object.keys(await knex("users").columnInfo()), ["id", "name", "role", "created_at", "mail"]);
});
await step("migrations: latest, list, rollback", async () => {
  const up = (name) => ({
    name,
    up: (own) => own.schema.createTable(name, (table) => table.increments()),
    down: (own) => own.schema.dropTable(name),
  });
  const all = [up("one"), up("two")];
  const migrationSource = {
    getMigrations: async () => all,
    getMigrationName: ({ name }) => name,
    getMigration: async (own) => own,
  };
  equal((await knex.migrate.latest({ migrationSource }))[1], ["one", "two"]);
  equal((await knex.migrate.list({ migrationSource }))[0].length, 2);
  equal((await knex.migrate.rollback({ migrationSource }))[1], ["two", "one"]);
});
await step("a stream, batchInsert", async () => {
  await knex.batchInsert(
    "users",
    Array.from({ length: 500 }, (_, i) => ({ name: `batch ${i}` })),
    100,
  );
  let count = 0;
  for await (const _ of knex("users").where("name", "like", "batch%").stream()) count += 1;
  equal(count, 500);
});
await knex.destroy();
