/** DESCRIBE and DROP MODEL, BACKUP and SHOW BACKUPS: statements of this interface's clients. */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.start();
t.teardown(() => server.stop());

async function sql(text: string, params: readonly unknown[] = [], token?: string) {
  const { status, body } = await server.sql(text, params, token === undefined ? {} : { token });
  return status === 200 ? body.data.rows : [status, body.error.code, body.error.message];
}

t.test("models: trained and installed", async (t) => {
  await server.rows(
    "CREATE TABLE points AS SELECT (x * 37 % 61 + 0.5)::float8 AS x, (x * 37 % 61 * 2 + 1)::float8 AS y FROM generate_series(1, 60) x",
  );
  const train =
    "CREATE EXPERIMENT e AS SELECT x, y FROM points WITH (target_column = 'y', max_trials = 1, algorithms = [linear_regression])";
  t.match(await sql(train), [[{ status: "completed" }]]);
  t.same((await sql("DEPLOY MODEL line FROM EXPERIMENT e")).length, 1);
  const facts = Object.fromEntries(await sql("DESCRIBE MODEL line"));
  t.match(facts, { name: "line", algorithm: "linear", task: "regression" });
  const installed = Object.fromEntries(await sql("DESCRIBE MODEL tessera-embed-384"));
  t.match(installed, { name: "tessera-embed-384", kind: "embedding", dimensions: 384 });
  t.same(await sql("DESCRIBE MODEL nosuch"), [400, "query_error", 'model "nosuch" does not exist']);
  t.same(await sql("DROP MODEL line"), [["DROP MODEL"]]);
  t.same(await sql("DROP MODEL line"), [400, "query_error", 'model "line" does not exist']);
  t.same(await sql("DROP MODEL IF EXISTS line"), [['model "line" does not exist, skipping']]);
  t.match(await sql("DROP MODEL tessera-embed-384"), [403, "forbidden", /comes with the program/]);
  await server.rows("CREATE TABLE model (id int)");
  t.same((await sql("DESCRIBE model"))[0][0], "id", "a table of that name");
  const user = await server.tenant("plain", ["admin"]);
  t.match(await sql("DROP MODEL nli-mini", [], user), [403, "forbidden"]);
});

t.test("backups", async (t) => {
  const admin = await server.tenant("acme", ["admin"]);
  await server.rows("CREATE TABLE item (id int PRIMARY KEY)", [], { token: admin });
  const [[made]] = await sql("BACKUP DATABASE", [], admin);
  t.match(made, { status: "running", kind: "full" });
  for (;;) {
    const [row] = await sql("SHOW BACKUPS", [], admin);
    t.equal(row[0], made.id);
    if (row[1] !== "running") break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const [[more]] = await sql("BACKUP INCREMENTAL", [], admin);
  t.equal(more.kind, "incremental");
  t.match(await sql("BACKUP DATABASE TO '/tmp/x'", [], admin), [501, "not_supported", /place to write/]);
  t.match(await sql("RESTORE DATABASE FROM 'x'", [], admin), [501, "not_supported", /RESTORE is no statement/]);
  t.match(await sql("BACKUP DATABASE WITH (colour = 'red')", [], admin), [400, "query_error", /no option "colour"/]);
  const user = await server.tenant("acme2", ["user"]);
  t.match(await sql("BACKUP DATABASE", [], user), [403, "forbidden"]);
  t.match(await sql("SHOW BACKUPS", [], user), [403, "forbidden"]);
});
