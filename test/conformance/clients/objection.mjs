/** objection: models over knex, graphs of relations, upserts, transactions. */
import knexPackage from "knex";
import objection from "objection";
import { equal, fails, step } from "./steps.mjs";

const { Model, raw, ref, fn } = objection;
const knex = knexPackage({ client: "pg", connection: process.env.DATABASE_URL });
Model.knex(knex);
class Person extends Model {
  static tableName = "persons";
  static get relationMappings() {
    return {
      pets: {
        relation: Model.HasManyRelation,
        modelClass: Animal,
        join: { from: "persons.id", to: "animals.ownerId" },
      },
      parent: {
        relation: Model.BelongsToOneRelation,
        modelClass: Person,
        join: { from: "persons.parentId", to: "persons.id" },
      },
      movies: {
        relation: Model.ManyToManyRelation,
        modelClass: Movie,
        join: {
          from: "persons.id",
          through: { from: "persons_movies.personId", to: "persons_movies.movieId", extra: ["role"] },
          to: "movies.id",
        },
      },
    };
  }
  static jsonSchema = {
    type: "object",
    required: ["name"],
    properties: { name: { type: "string" }, address: { type: "object" }, tags: { type: "array" } },
  };
}
class Animal extends Model {
  static tableName = "animals";
}
class Movie extends Model {
  static tableName = "movies";
}
await step("schema", async () => {
  await knex.schema
    .createTable("persons", (t) => {
      t.increments("id").primary();
      t.integer("parentId").unsigned().references("id").inTable("persons").onDelete("SET NULL").index();
      t.string("name");
      t.integer("age");
      t.jsonb("address");
      t.jsonb("tags");
    })
    .createTable("movies", (t) => {
      t.increments("id").primary();
      t.string("name");
    })
    .createTable("animals", (t) => {
      t.increments("id").primary();
      t.integer("ownerId").references("id").inTable("persons");
      t.string("name");
      t.enu("species", ["dog", "cat"], { useNative: true, enumName: "species" });
    })
    .createTable("persons_movies", (t) => {
      t.increments("id");
      t.integer("personId").references("id").inTable("persons").onDelete("CASCADE");
      t.integer("movieId").references("id").inTable("movies");
      t.string("role");
    });
});
await step("insertGraph with references, withGraphFetched and withGraphJoined", async () => {
  const tree = await Person.query().insertGraph(
    {
      name: "Sylvester",
      age: 70,
      address: { city: "x" },
      tags: ["a"],
      parent: { name: "Jackie" },
      pets: [
        { name: "Fluffy", species: "dog" },
        { name: "Tom", species: "cat" },
      ],
      movies: [{ "#id": "m", name: "Rocky", role: "lead" }],
    },
    { allowRefs: true },
  );
  equal([tree.pets.length, tree.movies[0].id], [2, 1]);
  const found = await Person.query()
    .withGraphFetched("[parent, pets(byName), movies]")
    .modifiers({ byName: (q) => q.orderBy("name") })
    .findOne({ name: "Sylvester" });
  equal(
    [found.pets.map((p) => p.name), found.parent.name, found.movies[0].role],
    [["Fluffy", "Tom"], "Jackie", "lead"],
  );
  const joined = await Person.query()
    .withGraphJoined("[pets, movies]")
    .where("pets.species", "cat")
    .where("movies.name", "Rocky");
  equal(
    joined[0].pets.map((p) => p.name),
    ["Tom"],
  );
});
await step("queries: json, subqueries, window, raw, pages", async () => {
  equal((await Person.query().where(ref("address:city").castText(), "x")).length, 1);
  equal((await Person.query().whereJsonSupersetOf("tags", ["a"])).length, 1);
  equal(
    (await Person.query().select("name", Person.relatedQuery("pets").count().as("n")).orderBy("persons.id", "desc"))[0]
      .n !== undefined,
    true,
  );
  equal(
    await Person.query()
      .page(0, 1)
      .then((r) => [r.total, r.results.length]),
    [2, 1],
  );
  equal((await Person.query().whereExists(Person.relatedQuery("pets").where("name", "like", "F%"))).length, 1);
  equal(
    (
      await Person.query()
        .select(fn.coalesce(ref("age"), 0).as("age"), raw("row_number() over (order by id)").as("rn"))
        .orderBy("id")
    ).map((r) => r.age).length,
    2,
  );
});
await step("upsertGraph, patch, returning, delete", async () => {
  const p = await Person.query().findOne({ name: "Sylvester" }).withGraphFetched("pets");
  await Person.query().upsertGraph({
    id: p.id,
    name: "Sly",
    pets: [
      { id: p.pets[0].id, name: "Fluff" },
      { name: "New", species: "dog" },
    ],
  });
  equal(
    (await Animal.query().orderBy("id")).map((a) => a.name),
    ["Fluff", "New"],
  );
  equal(
    (
      await Person.query()
        .patch({ age: raw("age + 1") })
        .where("id", p.id)
        .returning("age")
    )[0].age,
    71,
  );
  equal((await Person.query().patchAndFetchById(p.id, { "address:city": "y" })).address.city, "y");
  equal(await Person.relatedQuery("movies").for(p.id).unrelate(), 1);
});
await step("transactions and errors of the database", async () => {
  await Person.transaction(async (trx) => {
    await Person.query(trx).insert({ name: "gone" });
    throw new Error("no");
  }).catch(() => {});
  equal((await Person.query().where("name", "gone")).length, 0);
  await fails(
    Animal.query()
      .insert({ name: "x", species: "cow" })
      .catch((e) => {
        throw e.nativeError ?? e;
      }),
    "22P02",
  );
  const e = await Animal.query()
    .insert({ name: "x", ownerId: 999 })
    .catch((e) => e);
  equal([e.name, e.constraint ?? e.nativeError?.constraint], ["ForeignKeyViolationError", "animals_ownerid_foreign"]);
});
await knex.destroy();
