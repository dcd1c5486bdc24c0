/** MikroORM: the schema generator, its differences, entities with relations, transactions. */
import { EntitySchema, MikroORM } from "@mikro-orm/postgresql";
import { equal, fails, step } from "./steps.mjs";

const Author = new EntitySchema({
  name: "Author",
  properties: {
    id: { type: "number", primary: true },
    name: { type: "string", unique: true, length: 80, comment: "who" },
    kind: { enum: true, items: ["a", "b"], nativeEnumName: "author_kind", default: "a" },
    born: { type: "Date", nullable: true },
    data: { type: "json", nullable: true },
    tags: { type: "string[]", nullable: true },
    books: { kind: "1:m", entity: "Book", mappedBy: "author" },
  },
});
const Book = new EntitySchema({
  name: "Book",
  properties: {
    id: { type: "uuid", primary: true, defaultRaw: "gen_random_uuid()" },
    title: { type: "text", index: true },
    price: { type: "decimal", precision: 8, scale: 2, nullable: true },
    author: { kind: "m:1", entity: "Author", deleteRule: "cascade" },
    readers: { kind: "m:n", entity: "Author", owner: true },
  },
});
const options = {
  clientUrl: process.env.DATABASE_URL,
  entities: [Author, Book],
  allowGlobalContext: true,
  ensureDatabase: false,
};
const orm = await MikroORM.init(options);

await step("the schema generator makes the schema", async () => {
  await orm.schema.createSchema();
});
await step("it finds no difference after that", async () => equal(await orm.schema.getUpdateSchemaSQL(), ""));
await step("persist, find, populate, query builder", async () => {
  const em = orm.em.fork();
  const author = em.create("Author", { name: "Jon", data: { a: 1 }, tags: ["x", "y"], born: new Date("2000-01-01") });
  em.create("Book", { title: "one", price: "1.50", author, readers: [author] });
  em.create("Book", { title: "two", author });
  await em.flush();
  em.clear();
  const [found] = await em.find("Author", { data: { a: 1 }, books: { title: "one" } }, { populate: ["books"] });
  equal([found.name, found.tags, found.kind, found.books.length], ["Jon", ["x", "y"], "a", 2]);
  found.name = "Jona";
  await em.flush();
  equal(await em.count("Book", { author: { name: "Jona" } }), 2);
  equal(
    (await em.createQueryBuilder("Book").select(["title"]).orderBy({ title: "desc" }).limit(1).execute())[0].title,
    "two",
  );
  await em.upsert("Author", { name: "Jona", kind: "b" });
});
await step("transactions with an error", async () => {
  const em = orm.em.fork();
  const error = await fails(
    em.transactional(async (own) => void own.create("Author", { name: "Jona" })),
    "23505",
  );
  equal(error.name, "UniqueConstraintViolationException");
});
await step("the difference of a changed entity", async () => {
  await orm.em
    .getConnection()
    .execute('ALTER TABLE "author" DROP COLUMN "born"; ALTER TABLE "author" ADD COLUMN "more" int');
  const changes = await orm.schema.getUpdateSchemaSQL();
  equal([changes.includes('add column "born"'), changes.includes('drop column "more"')], [true, true]);
  await orm.schema.updateSchema();
  equal(await orm.schema.getUpdateSchemaSQL(), "");
  await orm.schema.dropSchema();
});
await orm.close();
