/**
 * What features do for a user who may not see everything: they read with that user's rights, and what they make of the
 * rows is the user's. leak-hunt.test.ts compares what such a user is told with a tenant that hides nothing.
 */
import t from "tap";
import { TestServer } from "../e2e/server.js";

const PASSWORD = "a password of somebody";

const server = await TestServer.sharedInstallation();
t.teardown(() => server.stop());
const tokens: Record<string, string> = {};
const call = (who: string, method: string, path: string, body?: unknown) =>
  server.call(method, path, body, { token: tokens[who]! });
const run = (who: string, sql: string) => call(who, "POST", "/v1/query/execute", { sql });
const must = async (who: string, sql: string) => {
  const { status, body } = await run(who, sql);
  if (status !== 200) throw new Error(`${sql}: ${JSON.stringify(body)}`);
  return body.data.rows;
};

t.before(async () => {
  await server.tenant("shop");
  for (const [username, roles] of [
    ["boss", ["admin"]],
    ["ann", ["user"]],
    ["ben", ["user"]],
    ["cleo", ["user"]],
  ] as const) {
    await server.expect(201, "POST", "/admin/tenants/shop/users", { username, password: PASSWORD, roles });
    tokens[username] = await server.login(username, PASSWORD);
  }
  for (const sql of [
    "CREATE TABLE sale (id int PRIMARY KEY, seller text, size int, kind text)",
    "INSERT INTO sale SELECT i, CASE WHEN i % 2 = 0 THEN 'ann' ELSE 'other' END, i % 10, CASE WHEN i % 2 = 1 THEN 'hidden' WHEN i % 10 < 5 THEN 'small' ELSE 'large' END FROM generate_series(1, 200) i",
    "INSERT INTO sale SELECT 1000 + id * 2 + n, who, size, kind FROM sale, (VALUES ('ben', 0), ('cleo', 1)) w(who, n) WHERE seller = 'ann'",
    "CREATE USER ann",
    "CREATE USER ben",
    "CREATE POLICY own ON sale USING (seller = current_user)",
    "ALTER TABLE sale ENABLE ROW LEVEL SECURITY",
  ]) {
    await must("boss", sql);
  }
});

t.test("a question about a table gets the columns that its asker may read", async (t) => {
  await must("boss", "CREATE TABLE staff (id int PRIMARY KEY, name text, pay int)");
  await must("boss", "INSERT INTO staff VALUES (1, 'Eve', 5000)");
  await must("boss", "REVOKE ALL ON staff FROM member");
  await must("boss", "GRANT SELECT (id, name) ON staff TO ann");
  const asked = await call("ann", "POST", "/v1/nl2sql/query", { question: "list the staff", method: "rules" });
  t.equal(asked.status, 200, JSON.stringify(asked.body));
  t.same(asked.body.data.rows, [[1, "Eve"]]);
});

t.test("a training reads what its user sees, and its model is the user's", async (t) => {
  const training = {
    table: "sale",
    target: "kind",
    features: ["size"],
    name: "kinds",
    max_trials: 1,
    async_mode: false,
  };
  const trained = await call("ann", "POST", "/v1/automl/train", training);
  t.equal(trained.status, 200, JSON.stringify(trained.body).slice(0, 300));
  t.same([...trained.body.data.classes].sort(), ["large", "small"], "not of the rows that ann may not see");
  t.equal(trained.body.data.config.rows, 100);
  const predicted = await call("ann", "POST", "/v1/automl/models/kinds/predict", { rows: [{ size: 8 }] });
  t.same(predicted.body.data.predictions, ["large"]);
  t.same(await must("ann", "SELECT AUTOML.PREDICT('kinds', size => 2)"), [["small"]]);

  for (const [method, path, body] of [
    ["POST", "/v1/automl/models/kinds/predict", { rows: [{ size: 8 }] }],
    ["GET", "/v1/automl/models/kinds"],
    ["DELETE", "/v1/automl/models/kinds"],
    ["POST", "/v1/automl/train", training],
  ] as const) {
    t.equal((await call("ben", method, path, body)).status, 403, `ben: ${method} ${path}`);
  }
  t.same((await call("ben", "GET", "/v1/automl/models")).body.data, []);
  t.same((await call("ben", "GET", "/v1/automl/jobs")).body.data.jobs, []);
  t.equal((await call("boss", "GET", "/v1/automl/models/kinds")).status, 200, "administrators see it");

  t.equal((await run("ann", "GRANT USAGE ON MODEL kinds TO ben")).status, 200);
  const lent = await call("ben", "POST", "/v1/automl/models/kinds/predict", { rows: [{ size: 8 }] });
  t.same(lent.body.data.predictions, ["large"], "a model that was shared");
  t.equal((await call("ben", "POST", "/v1/automl/train", training)).status, 403, "the next version is ann's");

  const { status, body } = await call("cleo", "POST", "/v1/automl/train", { ...training, name: "cleos" });
  t.equal(status, 403, "without a role there is nobody to own it");
  t.match(body.error.details.hint, "CREATE USER");
});

t.test("an experiment is its maker's, and so are copies of its model", async (t) => {
  await must(
    "ann",
    "CREATE EXPERIMENT sizes AS SELECT size, kind FROM sale WITH (target_column = 'kind', max_trials = 1)",
  );
  t.same(
    (await must("ann", "SELECT classes FROM (SELECT describe_model('sizes') -> 'classes' AS classes) d"))[0][0].sort(),
    ["large", "small"],
  );
  t.match(JSON.stringify(await must("ann", "SHOW EXPERIMENTS")), "sizes");
  t.notMatch(JSON.stringify(await must("ben", "SHOW EXPERIMENTS")), "sizes");
  for (const sql of ["DEPLOY MODEL mine FROM EXPERIMENT sizes", "DROP EXPERIMENT sizes"]) {
    t.equal((await run("ben", sql)).status, 403, sql);
  }
  t.equal((await run("ann", "DEPLOY MODEL mine FROM EXPERIMENT sizes")).status, 200);
  t.equal((await run("ben", "SELECT AUTOML.PREDICT('mine', size => 2)")).status, 403);
});

t.test("what acts for the request is closed to a role that sees less than its sender", async (t) => {
  await must("boss", "CREATE ROLE clerk");
  const training =
    "CREATE EXPERIMENT others AS SELECT size, kind FROM sale WITH (target_column = 'kind', max_trials = 1)";
  const script = { token: tokens.boss!, headers: { "content-type": "application/sql" } };
  const { body } = await server.call("POST", "/v1/query/script", `SET ROLE clerk; ${training}`, script);
  t.match(JSON.stringify(body), "permission denied for this function");
  await must(
    "boss",
    "CREATE FUNCTION lent() RETURNS jsonb LANGUAGE sql SECURITY DEFINER AS 'SELECT list_evaluations()'",
  );
  await must("boss", "ALTER FUNCTION lent() OWNER TO clerk");
  t.equal((await run("ann", "SELECT lent()")).status, 403);
});

t.test("executions of recipes are shown to who ran them, and to administrators", async (t) => {
  const recipe = {
    ...{ id: "count", version: "1.0.0", engine: ">=0.1.0", name: "Count", category: "test" },
    workflow: [{ name: "count", sql: "SELECT kind, count(*) FROM sale GROUP BY kind ORDER BY kind" }],
  };
  t.equal((await call("boss", "POST", "/v1/recipes/import", { recipe })).status, 201);
  const executed = async (who: string) => (await call(who, "POST", "/v1/recipes/count/execute", {})).body.data;
  t.same((await executed("ann")).results[0].rows, [
    ["large", 40],
    ["small", 60],
  ]);
  const all = await executed("boss");
  t.match(JSON.stringify(all.results), "hidden");
  const listed = async (who: string) => (await call(who, "GET", "/v1/recipes/count/executions")).body.data;
  t.equal((await listed("ann")).total, 1);
  t.equal((await listed("boss")).total, 2);
  t.equal((await call("ann", "GET", `/v1/recipes/count/executions/${all.execution_id}`)).status, 404);
  t.equal((await run("ann", "SELECT * FROM _recipe_executions")).status, 403);
});
