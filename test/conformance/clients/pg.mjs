/** node-postgres with its cursors and streams. */
import pg from "pg";
import Cursor from "pg-cursor";
import QueryStream from "pg-query-stream";
import { equal, fails, step } from "./steps.mjs";

const client = new pg.Client();
await client.connect();

await step("create, insert, read with types", async () => {
  await client.query(
    "CREATE TABLE things (id serial PRIMARY KEY, name text UNIQUE, at timestamptz, data jsonb, list int[], bits bytea, big int8)",
  );
  const values = ["a 'b'", new Date(1e12), { k: [1] }, [1, 2], Buffer.from([0, 255]), "9007199254740993"];
  const sql = "INSERT INTO things (name, at, data, list, bits, big) VALUES ($1, $2, $3, $4, $5, $6) RETURNING *";
  const { rows, rowCount, command, fields } = await client.query(sql, values);
  equal([rowCount, command, fields[0].name, fields[0].dataTypeID], [1, "INSERT", "id", 23]);
  equal(rows[0], {
    id: 1,
    name: values[0],
    at: values[1],
    data: values[2],
    list: values[3],
    bits: values[4],
    big: values[5],
  });
});
await step("a transaction with an error, SQLSTATE and fields", async () => {
  await client.query("BEGIN");
  const error = await fails(client.query("INSERT INTO things (name) VALUES ($1)", ["a 'b'"]), "23505");
  equal(
    [error.schema, error.table, error.constraint, error.severity],
    ["public", "things", "things_name_key", "ERROR"],
  );
  await fails(client.query("SELECT 1"), "25P02");
  await client.query("ROLLBACK");
  equal((await fails(client.query("SELECT nme FROM things"), "42703")).position, "8");
});
await step("named statements, rows as arrays, binary results", async () => {
  for (const id of [1, 2]) {
    const { rows } = await client.query({
      name: "by id",
      text: "SELECT id FROM things WHERE id = $1",
      values: [id],
      rowMode: "array",
    });
    equal(rows, id === 1 ? [[1]] : []);
  }
  equal((await client.query({ text: "SELECT 7::int4 AS n", binary: true })).rows, [{ n: 7 }]);
});
await step("many statements in one query", async () => {
  equal(
    (await client.query("SELECT 1 AS x; SELECT 2 AS y")).map(({ rows }) => rows[0]),
    [{ x: 1 }, { y: 2 }],
  );
});
await step("pg-cursor", async () => {
  const cursor = client.query(new Cursor("SELECT g FROM generate_series(1, $1::int) g", [10]));
  equal([(await cursor.read(3)).length, (await cursor.read(100)).length], [3, 7]);
  await cursor.close();
});
await step("pg-query-stream", async () => {
  let count = 0;
  for await (const _ of client.query(
    new QueryStream("SELECT g FROM generate_series(1, 1000) g", [], { batchSize: 90 }),
  ))
    count += 1;
  equal(count, 1000);
});
await step("a pool of 5 for 50 queries", async () => {
  const pool = new pg.Pool({ max: 5 });
  const all = await Promise.all(Array.from({ length: 50 }, (_, i) => pool.query("SELECT $1::int AS i", [i])));
  equal(all.map(({ rows }) => rows[0].i).join(), Array.from({ length: 50 }, (_, i) => i).join());
  await pool.end();
});
await step("a time-out of the server's, notices", async () => {
  const notices = [];
  client.on("notice", ({ message }) => notices.push(message));
  await client.query("DROP TABLE IF EXISTS nothing");
  equal(notices, ['table "nothing" does not exist, skipping']);
  await client.query("SET statement_timeout = 200");
  const slow =
    "SELECT count(*) FROM generate_series(1, 3000) a, generate_series(1, 3000) b, generate_series(1, 3000) c";
  await fails(client.query(slow), "57014");
});
await client.end();
