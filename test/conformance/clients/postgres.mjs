/** postgres.js: tagged templates, transactions, cursors, COPY streams, pipelines. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import postgres from "postgres";
import { equal, fails, step } from "./steps.mjs";

const sql = postgres(process.env.DATABASE_URL, { max: 4, onnotice() {} });

await step("create, insert, read with types", async () => {
  await sql`CREATE TABLE users (id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, name text UNIQUE, age int, data jsonb, tags text[], at timestamptz)`;
  const users = [
    { name: "Murray", age: 68, data: sql.json({ a: [1] }), tags: ["x", "y"], at: new Date(1e12) },
    { name: "Walter", age: 80, data: null, tags: null, at: null },
  ];
  const made = await sql`INSERT INTO users ${sql(users)} RETURNING *`;
  equal(
    [made.count, made[0]],
    [2, { id: 1, name: "Murray", age: 68, data: { a: [1] }, tags: ["x", "y"], at: new Date(1e12) }],
  );
  equal(
    await sql`SELECT ${sql("name")} FROM ${sql("users")} WHERE age = ANY(${[68, 1]}) AND name IN ${sql(["Murray", "z"])}`,
    [{ name: "Murray" }],
  );
  await sql`UPDATE users SET ${sql({ age: 69 }, "age")} WHERE id = 1`;
});
await step("begin, savepoint, an error", async () => {
  const error = await fails(
    sql.begin((own) => own`INSERT INTO users ${own({ name: "Murray" })}`),
    "23505",
  );
  equal([error.constraint_name, error.table_name, error.schema_name], ["users_name_key", "users", "public"]);
  await sql.begin(async (own) => {
    await own`INSERT INTO users ${own({ name: "kept" })}`;
    await own.savepoint((inner) => inner`SELECT 1/0`).catch(({ code }) => equal(code, "22012"));
  });
  equal(await sql`SELECT count(*)::int FROM users WHERE name = 'kept'`, [{ count: 1 }]);
});
await step("a cursor, forEach, describe", async () => {
  let count = 0;
  await sql`SELECT g FROM generate_series(1, 100) g`.cursor(9, (rows) => {
    count += rows.length;
  });
  await sql`SELECT g FROM generate_series(1, 100) g`.forEach(() => {
    count += 1;
  });
  for await (const rows of sql`SELECT g FROM generate_series(1, 100) g`.cursor(30)) count += rows.length;
  equal(count, 300);
  equal((await sql`SELECT id, name FROM users WHERE id = ${1}`.describe()).types, [23]);
});
await step("100 queries at once on 4 connections", async () => {
  const all = await Promise.all(Array.from({ length: 100 }, (_, i) => sql`SELECT ${i}::int AS i`));
  equal(
    all.every(([{ i }], k) => i === k),
    true,
  );
});
await step("COPY in and out as streams", async () => {
  await pipeline(
    Readable.from(["a\t1\n", "b\t2\nc", "\t3\n"]),
    await sql`COPY users (name, age) FROM STDIN`.writable(),
  );
  let text = "";
  for await (const piece of await sql`COPY (SELECT name FROM users WHERE age < 4 ORDER BY 1) TO STDOUT`.readable())
    text += piece;
  equal(text, "a\nb\nc\n");
});
await step("many statements, values, raw, cancel", async () => {
  equal(
    (await sql.unsafe("SELECT 1 AS a; SELECT 2 AS b")).map(([row]) => row),
    [{ a: 1 }, { b: 2 }],
  );
  equal(await sql`SELECT 1, 'x'`.values(), [[1, "x"]]);
  const slow = sql`SELECT count(*) FROM generate_series(1, 3000) a, generate_series(1, 3000) b, generate_series(1, 3000) c`;
  setTimeout(() => slow.cancel(), 300);
  await fails(slow, "57014");
});
await sql.end();
