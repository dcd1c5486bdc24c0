/** TypeORM: synchronize, relations, queries, transactions, migrations that it generates, streams. */
import "reflect-metadata";
import { DataSource, EntitySchema } from "typeorm";
import { equal, fails, step } from "./steps.mjs";

const User = new EntitySchema({
  name: "User",
  columns: {
    id: { type: "int", primary: true, generated: "increment" },
    name: { type: "varchar", length: 80, unique: true, comment: "who" },
    kind: { type: "enum", enum: ["admin", "user"], default: "user" },
    data: { type: "jsonb", nullable: true },
    tags: { type: "text", array: true, default: "{}" },
    price: { type: "numeric", precision: 8, scale: 2, nullable: true },
    at: { type: "timestamptz", createDate: true },
    changed: { type: "timestamptz", updateDate: true },
    version: { type: "int", version: true },
  },
  relations: { photos: { type: "one-to-many", target: "Photo", inverseSide: "user", cascade: true } },
  indices: [{ name: "by_price", columns: ["price"], where: "price IS NOT NULL" }],
  checks: [{ name: "positive", expression: "price >= 0" }],
});
const Photo = new EntitySchema({
  name: "Photo",
  columns: {
    id: { type: "uuid", primary: true, generated: "uuid" },
    url: { type: "text" },
    bits: { type: "bytea", nullable: true },
  },
  relations: {
    user: { type: "many-to-one", target: "User", inverseSide: "photos", onDelete: "CASCADE", nullable: false },
    albums: { type: "many-to-many", target: "Album", joinTable: true, cascade: true },
  },
});
const Album = new EntitySchema({
  name: "Album",
  columns: { id: { type: "bigint", primary: true, generated: "identity" }, title: { type: "varchar" } },
});
const options = { type: "postgres", url: process.env.DATABASE_URL, entities: [User, Photo, Album], logging: false };
const source = new DataSource(options);

await step("connect and synchronize, twice", async () => {
  await source.initialize();
  await source.synchronize();
  await source.synchronize();
});
await step("the schema needs no change after that", async () => {
  equal(
    (await source.driver.createSchemaBuilder().log()).upQueries.map(({ query }) => query),
    [],
  );
});
await step("save with cascades, find with relations, query builder", async () => {
  const users = source.getRepository(User);
  const photos = [{ url: "a", bits: Buffer.from([0, 255]), albums: [{ title: "one" }] }, { url: "b" }];
  const user = await users.save({ name: "Timber", data: { a: [1] }, tags: ["x"], price: "1.50", photos });
  const found = await users.findOne({
    where: { name: "Timber" },
    relations: { photos: { albums: true } },
    order: { photos: { url: "ASC" } },
  });
  equal(
    [
      found.id,
      found.data,
      found.tags,
      found.price,
      found.version,
      found.photos.length,
      found.photos[0].albums[0].title,
    ],
    [user.id, { a: [1] }, ["x"], "1.50", 1, 2, "one"],
  );
  found.price = "2.50";
  equal((await users.save(found)).version, 2);
  const query = users
    .createQueryBuilder("u")
    .leftJoinAndSelect("u.photos", "p")
    .where("u.data @> :d", { d: '{"a": [1]}' })
    .take(10);
  equal((await query.getManyAndCount())[1], 1);
  await users.upsert({ name: "Timber", price: "3" }, ["name"]);
});
await step("a transaction with an error, a pessimistic lock", async () => {
  await fails(
    source.transaction((manager) => manager.insert(User, { name: "Timber" })),
    "23505",
  );
  await source.transaction("SERIALIZABLE", async (manager) => {
    await manager.findOne(User, { where: { name: "Timber" }, lock: { mode: "pessimistic_write" } });
  });
});
await step("synchronize after a change of columns", async () => {
  await source.destroy();
  const columns = {
    ...User.options.columns,
    more: { type: "int", default: 5 },
    price: { type: "numeric", precision: 10, scale: 2, nullable: true, default: 1 },
  };
  const Wider = new EntitySchema({ ...User.options, columns });
  const next = new DataSource({ ...options, entities: [Wider, Photo, Album], synchronize: true });
  await next.initialize();
  equal(
    (await next.driver.createSchemaBuilder().log()).upQueries.map(({ query }) => query),
    [],
  );
  const runner = next.createQueryRunner();
  equal((await runner.getTable("user")).columns.map(({ name }) => name).includes("more"), true);
  await runner.release();
  await next.dropDatabase();
  await next.destroy();
});
await step("migrations run and are undone", async () => {
  class First1700000000000 {
    name = "First1700000000000";
    up = (runner) =>
      runner.query('CREATE TABLE "made" ("id" SERIAL NOT NULL, CONSTRAINT "made_key" PRIMARY KEY ("id"))');
    down = (runner) => runner.query('DROP TABLE "made"');
  }
  const next = await new DataSource({ ...options, migrations: [First1700000000000] }).initialize();
  equal((await next.runMigrations()).length, 1);
  await next.undoLastMigration();
  await next.destroy();
});
