/** pg-promise: its helpers, tasks, transactions, batches and streams. */
import pgPromise from "pg-promise";
import QueryStream from "pg-query-stream";
import { equal, fails, step } from "./steps.mjs";

const pgp = pgPromise({ capSQL: true, noWarnings: true });
const db = pgp(process.env.DATABASE_URL);
const { helpers } = pgp;

await step("none, one, many, oneOrNone, result, func, proc", async () => {
  await db.none(
    "CREATE TABLE users(id serial PRIMARY KEY, name text NOT NULL UNIQUE, info jsonb, tags text[], age int, big bigint, at timestamptz DEFAULT now())",
  );
  equal(
    await db.one(
      "INSERT INTO users(name, info, tags) VALUES($(name), $(info:json), $(tags)) RETURNING id, info, tags",
      { name: "O'Neil", info: { a: [1] }, tags: ["x", 'y"z'] },
    ),
    { id: 1, info: { a: [1] }, tags: ["x", 'y"z'] },
  );
  equal(await db.oneOrNone("SELECT * FROM users WHERE name = $1", "nobody"), null);
  equal((await db.result("UPDATE users SET age = $1 WHERE id = $2", [40, 1])).rowCount, 1);
  equal(await db.any("SELECT name FROM users WHERE id IN ($1:csv)", [[1, 2, 3]]), [{ name: "O'Neil" }]);
  await db.none("CREATE FUNCTION add(a int, b int) RETURNS int LANGUAGE sql AS 'SELECT a + b'");
  equal(await db.func("add", [2, 3]), [{ add: 5 }]);
  await db.none(
    "CREATE PROCEDURE older(INOUT n int) LANGUAGE plpgsql AS $$ BEGIN UPDATE users SET age = age + n; n := n + 1; END $$",
  );
  equal(await db.proc("older", [2]), { n: 3 });
});
await step("multi, multiResult", async () => {
  equal(await db.multi("SELECT 1 AS a; SELECT 2 AS b, 3 AS c"), [[{ a: 1 }], [{ b: 2, c: 3 }]]);
  equal(
    (await db.multiResult("SELECT 1 AS a; UPDATE users SET age = 5")).map((r) => [r.command, r.rowCount]),
    [
      ["SELECT", 1],
      ["UPDATE", 1],
    ],
  );
});
await step("helpers: ColumnSet, insert, update of many, sets, concat", async () => {
  const cs = new helpers.ColumnSet(
    ["?id", "name", { name: "info", mod: ":json", cast: "jsonb" }, { name: "age", cast: "int" }],
    { table: { table: "users", schema: "public" } },
  );
  const rows = [
    { id: 10, name: "a", info: { k: 1 }, age: 1 },
    { id: 11, name: "b", info: null, age: null },
  ];
  await db.none(
    helpers.insert(
      rows,
      new helpers.ColumnSet(["id", "name", { name: "info", mod: ":json" }, "age"], { table: "users" }),
    ),
  );
  await db.none(
    helpers.update(
      rows.map((r) => ({ ...r, age: 7 })),
      cs,
    ) + " WHERE v.id = t.id",
  );
  equal(await db.any("SELECT id, age FROM users WHERE id >= 10 ORDER BY id"), [
    { id: 10, age: 7 },
    { id: 11, age: 7 },
  ]);
  await db.none(
    helpers.concat([
      "UPDATE users SET age = 1 WHERE id = 10",
      { query: "UPDATE users SET age = $1 WHERE id = 11", values: [2] },
    ]),
  );
});
await step("task, tx with savepoint, modes, rollback", async () => {
  const { TransactionMode, isolationLevel } = pgp.txMode;
  const mode = new TransactionMode({ tiLevel: isolationLevel.serializable, readOnly: true, deferrable: true });
  equal(await db.tx({ mode }, (t) => t.one("SHOW transaction_isolation")), { transaction_isolation: "serializable" });
  await fails(
    db.tx({ mode }, (t) => t.none("DELETE FROM users")),
    "25006",
  );
  await db.tx(async (t) => {
    await t.none("INSERT INTO users(name) VALUES('outer')");
    await t.tx((u) => u.none("INSERT INTO users(name) VALUES('outer')")).catch(() => {});
    await t.batch([t.none("UPDATE users SET age = 9 WHERE name = 'outer'"), t.one("SELECT 1 AS x")]);
  });
  equal(await db.one("SELECT age FROM users WHERE name = 'outer'"), { age: 9 });
  equal(
    await db.task((t) => t.map("SELECT id FROM users WHERE id >= 10 AND id < 12 ORDER BY id", [], (r) => r.id)),
    [10, 11],
  );
});
await step("prepared and parameterized queries", async () => {
  const find = new pgp.PreparedStatement({ name: "find", text: "SELECT name FROM users WHERE id = $1" });
  equal(await db.one(find, [10]), { name: "a" });
  equal(await db.one(find, [11]), { name: "b" });
  equal(await db.one(new pgp.ParameterizedQuery({ text: "SELECT $1::int[] AS list", values: [[1, 2]] })), {
    list: [1, 2],
  });
});
await step("a stream, errors with their place", async () => {
  let n = 0;
  const { processed } = await db.stream(new QueryStream("SELECT * FROM generate_series(1, $1) g", [500]), (s) =>
    s.on("data", () => n++),
  );
  equal([n, processed], [500, 500]);
  const error = await fails(db.none("INSERT INTO users(name) VALUES(NULL)"), "23502");
  equal([error.table, error.column], ["users", "name"]);
  equal((await db.none("SELECT * FROM nowhere").catch((e) => e)).position, "15");
});
await step("LISTEN by a connection of its own", async () => {
  const connection = await db.connect({ direct: true });
  const heard = new Promise((resolve) => connection.client.on("notification", resolve));
  await connection.none("LISTEN $1:name", "my-channel");
  await db.none("NOTIFY $1:name, $2", ["my-channel", "hello"]);
  equal((await heard).payload, "hello");
  connection.done();
});
await step("int8 as BigInt, a date, numeric, raw text", async () => {
  pgp.pg.types.setTypeParser(20, BigInt);
  equal(String((await db.one("SELECT 9007199254740993::int8 AS n")).n), "9007199254740993");
  equal(
    await db
      .one("SELECT $1 AS d, $2::numeric(10,2)::text AS n, $3:raw::text AS r", [new Date(0), 1.5, "now() IS NOT NULL"])
      .then((r) => [r.n, r.r]),
    ["1.50", "true"],
  );
});
pgp.end();
