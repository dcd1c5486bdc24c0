/** Kysely: schema, queries, migrations, introspection; kysely-codegen's types. */
import { readFileSync } from "node:fs";
import { FileMigrationProvider, Kysely, Migrator, PostgresDialect, sql } from "kysely";
import { jsonArrayFrom } from "kysely/helpers/postgres";
import pg from "pg";
import { equal, fails, matches, run, step } from "./steps.mjs";

void FileMigrationProvider;
const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ max: 4 }) }) });

await step("schema: tables, types, keys, indexes, views", async () => {
  await db.schema.createType("species").asEnum(["cat", "dog"]).execute();
  await db.schema
    .createTable("person")
    .addColumn("id", "integer", (column) => column.primaryKey().generatedAlwaysAsIdentity())
    .addColumn("first_name", "varchar(50)", (column) => column.notNull())
    .addColumn("metadata", "jsonb")
    .addColumn("created_at", "timestamptz", (column) => column.defaultTo(sql`now()`).notNull())
    .execute();
  await db.schema
    .createTable("pet")
    .addColumn("id", "bigserial", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.unique())
    .addColumn("owner_id", "integer", (column) => column.references("person.id").onDelete("cascade").notNull())
    .addColumn("species", sql`species`)
    .addCheckConstraint("named", sql`name <> ''`)
    .execute();
  await db.schema.createIndex("pet_owner").on("pet").column("owner_id").execute();
  await db.schema
    .createView("cats")
    .as(db.selectFrom("pet").selectAll().where("species", "=", "cat"))
    .execute();
});
await step("insert, returning, nested JSON, upsert", async () => {
  const row = { first_name: "Jennifer", metadata: JSON.stringify({ a: 1 }) };
  const { id } = await db.insertInto("person").values(row).returning("id").executeTakeFirstOrThrow();
  await db
    .insertInto("pet")
    .values([
      { name: "Tom", owner_id: id, species: "cat" },
      { name: "Rex", owner_id: id, species: "dog" },
    ])
    .execute();
  const pets = (own) =>
    jsonArrayFrom(own.selectFrom("pet").select(["name"]).whereRef("owner_id", "=", "person.id").orderBy("name")).as(
      "pets",
    );
  equal(await db.selectFrom("person").select(["first_name", pets]).execute(), [
    { first_name: "Jennifer", pets: [{ name: "Rex" }, { name: "Tom" }] },
  ]);
  await db
    .insertInto("pet")
    .values({ name: "Tom", owner_id: id })
    .onConflict((own) => own.column("name").doUpdateSet({ species: "dog" }))
    .execute();
  equal(await db.selectFrom("cats").selectAll().execute(), []);
});
await step("a transaction with an error, a stream", async () => {
  await fails(
    db.transaction().execute((trx) => trx.insertInto("pet").values({ name: "Tom", owner_id: 1 }).execute()),
    "23505",
  );
  const trx = await db.startTransaction().execute();
  await trx.insertInto("pet").values({ name: "kept", owner_id: 1 }).execute();
  await trx.commit().execute();
  equal(
    (
      await db
        .selectFrom("pet")
        .select(({ fn }) => fn.countAll().as("n"))
        .execute()
    )[0].n,
    "3",
  );
});
await step("introspection: tables, columns, defaults, identity", async () => {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: false });
  equal(
    tables.map(({ name, isView }) => [name, isView]),
    [
      ["cats", true],
      ["person", false],
      ["pet", false],
    ],
  );
  const columns = tables[1].columns.map(({ name, dataType, isNullable, isAutoIncrementing }) => [
    name,
    dataType,
    isNullable,
    isAutoIncrementing,
  ]);
  equal(columns, [
    ["id", "int4", false, true],
    ["first_name", "varchar", false, false],
    ["metadata", "jsonb", true, false],
    ["created_at", "timestamptz", false, false],
  ]);
});
await step("Migrator: to latest and down (its lock is an advisory one)", async () => {
  const one = {
    up: (own) => own.schema.createTable("extra").addColumn("id", "integer").execute(),
    down: (own) => own.schema.dropTable("extra").execute(),
  };
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ one }) } });
  for (const { error, results } of [await migrator.migrateToLatest(), await migrator.migrateDown()]) {
    if (error !== undefined) throw error;
    equal(results[0].status, "Success");
  }
});
await step("kysely-codegen", () => {
  run("npx", [
    "--no-install",
    "kysely-codegen",
    "--dialect",
    "postgres",
    "--url",
    process.env.DATABASE_URL,
    "--out-file",
    "kysely-types.ts",
  ]);
  const text = readFileSync("kysely-types.ts", "utf8");
  matches(
    text,
    /export interface Person \{\n {2}created_at: Generated<Timestamp>;\n {2}first_name: string;\n {2}id: Generated<number>;\n {2}metadata: Json \| null;/,
  );
  matches(text, /export type Species = "cat" \| "dog"/);
});
await db.destroy();
