/** DESCRIBE and DROP MODEL, BACKUP and SHOW BACKUPS: statements of this interface's clients. */
import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.sharedInstallation();
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
  for (const drop of ["MODEL", "EXPERIMENT", "AGENT", "TABLE"]) {
    const { columns } = (await server.sql(`DROP ${drop} IF EXISTS nosuch`)).body.data;
    t.match(columns, [{ name: "result", data_type: "text" }], `DROP ${drop} answers as the others do`);
  }
  t.match(await sql("DROP MODEL tessera-embed-384"), [403, "forbidden", /comes with the program/]);
  await server.rows("CREATE TABLE model (id int)");
  t.same((await sql("DESCRIBE model"))[0][0], "id", "a table of that name");
  const user = await server.tenant("plain", ["admin"]);
  t.match(await sql("DROP MODEL nli-mini", [], user), [403, "forbidden"]);
});

t.test("backups", async (t) => {
  const admin = await server.tenant("acme", ["super_admin"]);
  await server.rows("CREATE TABLE item (id int PRIMARY KEY)", [], { token: admin });
  const [[made]] = await sql("BACKUP DATABASE", [], admin);
  t.match(made, { status: "running", kind: "full" });
  for (;;) {
    const [row] = await sql("SHOW BACKUPS", [], admin);
    t.equal(row[0], made.id);
    if (row[1] !== "running") break;
    await pause(20);
  }
  const [[more]] = await sql("BACKUP INCREMENTAL", [], admin);
  t.equal(more.kind, "incremental");
  for (const to of ["'/tmp/x'", "'../x'", "'s3://bucket/x'", "''"])
    t.match(await sql(`BACKUP DATABASE TO ${to}`, [], admin), [400, "query_error", /takes a name and not a path/]);
  t.match(await sql("BACKUP TO", [], admin), [400, "syntax_error", /the name of the backup/]);
  t.match(await sql("RESTORE DATABASE FROM 'x'", [], admin), [404, "not_found"]);
  t.match(await sql("RESTORE", [], admin), [400, "syntax_error", /the id of a backup/]);
  t.match(await sql(`RESTORE FROM '${made.id}'`, [], admin), [400, "query_error", /replaces everything/]);
  t.match(await sql(`RESTORE FROM '${made.id}' WITH (replce = true)`, [], admin), [400, "query_error", /"replce"/]);
  t.match(await sql("BACKUP DATABASE WITH (colour = 'red')", [], admin), [400, "query_error", /no option "colour"/]);
  const user = await server.tenant("acme2", ["user"]);
  t.match(await sql("BACKUP DATABASE", [], user), [403, "forbidden"]);
  t.match(await sql("SHOW BACKUPS", [], user), [403, "forbidden"]);
  t.match(await sql(`RESTORE FROM '${made.id}' WITH (replace = true)`, [], user), [403, "forbidden"]);
  const lesser = await server.tenant("acme4", ["admin"]);
  t.match(await sql("RESTORE FROM 'bak_0' WITH (replace = true)", [], lesser), [403, "forbidden", /super/]);
  const admin2 = await server.tenant("acme3", ["super_admin"]);
  t.match(await sql(`RESTORE FROM '${made.id}' WITH (replace = true)`, [], admin2), [404, "not_found"], "another's");
});

t.test("backups with names", async (t) => {
  const admin = await server.tenant("named", ["super_admin"]);
  const whole = async () => {
    while ((await sql("SHOW BACKUPS", [], admin))[0][1] === "running") await pause(20);
  };
  await server.rows("CREATE TABLE item (id int PRIMARY KEY)", [], { token: admin });
  const [[made]] = await sql("BACKUP DATABASE TO 'nightly'", [], admin);
  t.match(made, { status: "running", kind: "full", name: "nightly" });
  await whole();
  t.match((await server.call("GET", `/v1/backups/${made.id}`, undefined, { token: admin })).body.data, {
    name: "nightly",
  });
  const [[next]] = await sql("BACKUP INCREMENTAL TO $1", ["monday.2"], admin);
  t.match(next, { kind: "incremental", name: "monday.2" });
  await whole();
  const { body } = await server.call("POST", "/v1/backups", { name: "by-route" }, { token: admin });
  t.equal(body.data.name, "by-route");
  await whole();
  const refused = await server.call("POST", "/v1/backups", { name: "../x" }, { token: admin });
  t.match([refused.status, refused.body.error.message], [400, /"name"/]);
  const { rows, columns } = (await server.sql("SHOW BACKUPS", [], { token: admin })).body.data;
  const at = columns.findIndex(({ name }: { name: string }) => name === "name");
  t.same(
    rows.map((row: unknown[]) => row[at]),
    ["by-route", "monday.2", "nightly"],
  );
  await server.rows("INSERT INTO item VALUES (1)", [], { token: admin });
  const [[again]] = await sql("BACKUP TO nightly", [], admin);
  await whole();
  t.match(await sql("RESTORE FROM 'weekly' WITH (replace = true)", [], admin), [404, "not_found", /"weekly"/]);
  const [[begun]] = await sql("RESTORE FROM 'nightly' WITH (replace = true)", [], admin);
  t.match(begun, { backup: again.id }, "the newest of that name");
});

t.test("a restore replaces what was written since", async (t) => {
  const admin = await server.tenant("again", ["super_admin"]);
  await server.rows("CREATE TABLE item (id int PRIMARY KEY)", [], { token: admin });
  await server.rows("INSERT INTO item VALUES (1)", [], { token: admin });
  const [[made]] = await sql("BACKUP", [], admin);
  while ((await sql("SHOW BACKUPS", [], admin))[0][1] === "running") await pause(20);
  await server.rows("INSERT INTO item VALUES (2)", [], { token: admin });
  const [[begun]] = await sql(`RESTORE DATABASE FROM '${made.id}' WITH (replace = true)`, [], admin);
  t.match(begun, { tenant: "again", backup: made.id, state: "checking", finished_at: null });
  const path = "/admin/tenants/again/restore";
  let told: { state: string; finished_at: string | null };
  do {
    await pause(20);
    told = (await server.expect(200, "GET", path, undefined, { token: admin })).body.data;
  } while (told.finished_at === null);
  t.match(told, { state: "completed", verified: true });
  t.same(await server.rows("SELECT id FROM item", [], { token: admin }), [[1]]);
});
