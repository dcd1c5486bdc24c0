/** Slonik: tagged statements, unnest, nested transactions, errors by class, streams. */
import { createPgDriverFactory } from "@slonik/pg-driver";
import { createPool, createSqlTag, NotFoundError, UniqueIntegrityConstraintViolationError } from "slonik";
import { z } from "zod";
import { equal, step } from "./steps.mjs";

const sql = createSqlTag({ typeAliases: { id: z.object({ id: z.number() }), void: z.object({}).strict() } });
const pool = await createPool(process.env.DATABASE_URL, { driverFactory: createPgDriverFactory() });
await step("create, insert, oneFirst", async () => {
  await pool.query(
    sql.unsafe`CREATE TABLE person (id serial PRIMARY KEY, name text UNIQUE, tags text[], at timestamptz, info jsonb, b bytea, i interval, n int8)`,
  );
  equal(
    await pool.oneFirst(
      sql.unsafe`INSERT INTO person (name, tags, at, info, b) VALUES (${"Ann"}, ${sql.array(["a", "b"], "text")}, ${sql.timestamp(new Date(0))}, ${sql.jsonb({ k: 1 })}, ${sql.binary(Buffer.from([1, 2]))}) RETURNING id`,
    ),
    1,
  );
  equal(await pool.one(sql.unsafe`SELECT name, tags, at, info, i, n FROM person`), {
    name: "Ann",
    tags: ["a", "b"],
    at: 0,
    info: { k: 1 },
    i: null,
    n: null,
  });
});
await step("unnest, join, identifiers, fragments, interval, date, uuid", async () => {
  await pool.query(
    sql.unsafe`INSERT INTO person (id, name) SELECT * FROM ${sql.unnest(
      [
        [10, "x"],
        [11, "y"],
      ],
      ["int4", "text"],
    )}`,
  );
  equal(
    await pool.manyFirst(
      sql.unsafe`SELECT ${sql.identifier(["person", "name"])} FROM person WHERE id IN (${sql.join([10, 11], sql.fragment`, `)}) ORDER BY 1`,
    ),
    ["x", "y"],
  );
  equal(
    await pool.oneFirst(sql.unsafe`SELECT (${sql.date(new Date(0))} + ${sql.interval({ days: 3 })})::date::text`),
    "1970-01-04",
  );
  equal(await pool.oneFirst(sql.unsafe`SELECT ${sql.literalValue("a'b")}`), "a'b");
  equal(
    await pool.anyFirst(sql.unsafe`SELECT id FROM person WHERE name = ANY(${sql.array(["x", "q"], "text")})`),
    [10],
  );
});
await step("errors, transactions, nested", async () => {
  const error = await pool.query(sql.unsafe`INSERT INTO person (name) VALUES ('Ann')`).catch((reason) => reason);
  equal([error instanceof UniqueIntegrityConstraintViolationError, error.constraint], [true, "person_name_key"]);
  equal((await pool.one(sql.unsafe`SELECT 1 WHERE false`).catch((e) => e)) instanceof NotFoundError, true);
  await pool.transaction(async (t) => {
    await t.query(sql.unsafe`UPDATE person SET name = 'Q' WHERE id = 10`);
    await t
      .transaction(async (u) => {
        await u.query(sql.unsafe`DELETE FROM person`);
        throw new Error("back");
      })
      .catch(() => {});
  });
  equal(await pool.oneFirst(sql.unsafe`SELECT count(*)::int FROM person`), 3);
});
await step("stream, typed rows", async () => {
  let n = 0;
  await pool.stream(sql.typeAlias("id")`SELECT id FROM person`, (st) => st.on("data", () => n++));
  equal(n, 3);
  equal((await pool.any(sql.typeAlias("id")`SELECT id FROM person ORDER BY id`)).length, 3);
});
await pool.end();
