/** Recipes as a client has them: their life, what fails half-way, what is refused, addresses, exports and rights. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { parse } from "yaml";
import { TestServer } from "./server.js";

const YAML = { headers: { "content-type": "application/yaml" } };

const files = createServer((request, response) => {
  const bodies: Readonly<Record<string, string>> = {
    "/good.yaml": SIMPLE,
    "/bad.yaml": "id: [",
    "/long.yaml": "#".repeat(5_000_000),
  };
  const body = bodies[request.url!];
  response.writeHead(body === undefined ? 404 : 200, { "content-type": "text/yaml" }).end(body ?? "");
});
await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
const fileUrl = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;

const SIMPLE = `id: counters
version: 1.0.0
engine: ">=0.1.0"
name: Counters
category: samples
tags: [sample]
parameters:
  name: {type: text, max_length: 20}
  by: {type: integer, default: 1}
schema:
  - CREATE TABLE counters (name text PRIMARY KEY, value int NOT NULL CHECK (value >= 0))
seed:
  - {table: counters, columns: [name, value], rows: [[visits, 10]]}
workflow:
  - name: count
    keep: counted
    sql: |
      INSERT INTO counters VALUES ($name, $by)
      ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value
      RETURNING name, value
  - name: large
    when: ($counted -> 0 ->> 'value')::int > 100
    cypher: "UNWIND $counted AS c CREATE (n:Large {name: c.name}) RETURN n.name AS name"
tests:
  - name: counts
    parameters: {name: visits, by: 5}
    expect:
      - {step: count, rows: [[visits, 15]]}
      - {step: large, skipped: true}
  - name: marks what is large
    parameters: {name: visits, by: 95}
    expect: [{step: large, rows: [[visits]]}]
`;

const server = await TestServer.start({
  TESSERA_RECIPES_IMPORT_SCHEMES: "http",
  TESSERA_RECIPES_IMPORT_PRIVATE_HOSTS: "127.0.0.1",
});
t.setTimeout(300_000);
t.teardown(async () => {
  await server.stop();
  files.close();
});

const bring = (text: string, path = "/v1/recipes/import") => server.call("POST", path, text, YAML);
const execute = (id: string, body: object = {}, token?: string) =>
  server.call("POST", `/v1/recipes/${id}/execute`, body, token === undefined ? {} : { token });

t.test("a life: import, execute, versions, history, delete", async (t) => {
  const dry = await bring(SIMPLE, "/v1/recipes/import?dry_run=true");
  t.equal(dry.status, 200, JSON.stringify(dry.body));
  t.equal((await server.call("GET", "/v1/recipes/counters")).status, 404);
  const made = await bring(SIMPLE);
  t.equal(made.status, 201, JSON.stringify(made.body));
  t.match(made.body.data, {
    id: "counters",
    version: "1.0.0",
    category: "samples",
    certificate: { tests: 2 },
    source_url: null,
  });
  t.equal((await server.sql("SELECT * FROM counters")).status, 400, "certification left nothing");
  t.equal((await bring(SIMPLE)).status, 200, "the same again");

  const first = await execute("counters", { parameters: { name: "visits", by: 5 } });
  t.equal(first.status, 200, JSON.stringify(first.body));
  t.match(first.body.data, { success: true, set_up: true, statements_executed: 4 });
  t.match(first.body.data.results, [
    { step: "count", language: "sql", rows: [["visits", 15]], rows_affected: 1, row_count: 1 },
    { step: "large", language: "cypher", skipped: true },
  ]);
  const dryRun = await execute("counters", { parameters: { name: "visits", by: 500 }, dry_run: true });
  t.match(dryRun.body.data, { success: true, dry_run: true, set_up: false });
  t.match(dryRun.body.data.results[1], { rows: [["visits"]], stats: { nodes_created: 1 } });
  t.same(await server.rows("SELECT value FROM counters"), [[15]], "a dry run leaves nothing");
  const broken = await bring(`${SIMPLE}\nname: [a, b`);
  t.match([broken.status, broken.body.error.code], [400, "invalid_recipe"]);
  t.match(broken.body.error.message, /^not valid YAML or JSON: the key "name" is there twice \(line \d+, column 1\)$/);
  t.type(broken.body.error.details.line, "number");
  const injected = "'); DROP TABLE c--";
  t.equal((await execute("counters", { parameters: { name: injected } })).status, 200);
  t.same(await server.rows("SELECT name FROM counters WHERE value = 1"), [[injected]], "values are never text");

  const other = SIMPLE.replace("by: {type: integer, default: 1}", "by: {type: integer, default: 2}");
  const clash = await bring(other);
  t.equal(clash.status, 409);
  t.match(clash.body.error.message, /already exists/);
  t.equal((await server.call("PUT", "/v1/recipes/else", other, YAML)).status, 400, "the id is another");
  const next = other
    .replace("version: 1.0.0", "version: 1.10.0")
    .replace("CREATE TABLE counters", "CREATE TABLE IF NOT EXISTS counters");
  t.equal((await server.call("PUT", "/v1/recipes/counters", next, YAML)).status, 200);
  t.equal((await bring(next.replace("version: 1.10.0", "version: 1.9.0"))).status, 201);
  const { versions } = (await server.expect(200, "GET", "/v1/recipes/counters/versions")).body.data;
  t.same(
    versions.map(({ version }: { version: string }) => version),
    ["1.10.0", "1.9.0", "1.0.0"],
  );
  const newest = await execute("counters", { parameters: { name: "visits" } });
  t.match(newest.body.data, { version: "1.10.0", set_up: true, results: [{ rows: [["visits", 17]] }] });
  const { executions, total } = (await server.expect(200, "GET", "/v1/recipes/counters/executions?limit=1")).body.data;
  t.equal(total, 3, "dry runs are not remembered");
  t.match(executions, [{ version: "1.10.0", status: "completed", parameters: { name: "visits" } }]);
  const one = await server.expect(200, "GET", `/v1/recipes/counters/executions/${first.body.data.execution_id}`);
  t.match(one.body.data, {
    recipe_id: "counters",
    version: "1.0.0",
    steps: [{ step: "count", row_count: 1 }, { skipped: true }],
  });
  t.equal((await server.call("GET", "/v1/recipes/counters/executions/none")).status, 404);

  t.equal((await server.expect(200, "GET", "/v1/recipes?category=samples")).body.data.total, 1);
  t.equal((await server.expect(200, "GET", "/v1/recipes?tag=graph")).body.data.recipes[0].id, "fraud-rings");
  t.equal((await server.expect(200, "GET", "/v1/recipes?limit=2&offset=1")).body.data.recipes.length, 2);
  t.match((await server.expect(200, "GET", "/v1/recipes/counters?version=1.0.0")).body.data.recipe.parameters.by, {
    default: 1,
  });
  t.match((await server.expect(200, "POST", "/v1/recipes/counters/certify")).body.data, { tests: 2 });

  await server.kill();
  await server.boot();
  t.equal(
    (await server.expect(200, "GET", "/v1/recipes/counters/executions")).body.data.total,
    3,
    "after a crash, too",
  );
  await server.expect(204, "DELETE", "/v1/recipes/counters?version=1.9.0");
  await server.expect(204, "DELETE", "/v1/recipes/counters");
  t.equal((await server.call("GET", "/v1/recipes/counters")).status, 404);
  t.equal((await server.call("DELETE", "/v1/recipes/counters")).status, 404);
  t.equal((await server.call("DELETE", "/v1/recipes/fraud-rings")).status, 409, "what comes with the server stays");
});

t.test("what fails half-way leaves nothing and says where", async (t) => {
  const failing = `id: half
version: 1.0.0
engine: "*"
name: Half
parameters:
  divisor: {type: integer, default: 1}
schema:
  - CREATE TABLE halves (id int PRIMARY KEY)
seed:
  - nodes: [{key: 1, labels: [Half]}]
workflow:
  - {name: write, sql: "INSERT INTO halves SELECT generate_series(1, 10)"}
  - {name: graph, cypher: "CREATE (:Half {n: 2})"}
  - name: divide
    sql: |
      SELECT id,
        100 / ($divisor - 1 + id - id) AS part
      FROM halves
tests:
  - {name: divides, parameters: {divisor: 2}, expect: [{step: divide, row_count: 10}]}
  - {name: fails, parameters: {divisor: 1}, error: query_error}
`;
  t.equal((await bring(failing)).status, 201);
  const failed = await execute("half");
  t.equal(failed.status, 400);
  t.match(failed.body.error, {
    code: "query_error",
    message: 'Step "divide": division by zero',
    details: { step: "divide", field: "workflow[2].sql", sqlstate: "22012" },
  });
  t.equal((await server.sql("SELECT * FROM halves")).status, 400, "not even the table");
  const left = await server.call("POST", "/v1/graph/match", { cypher: "MATCH (n:Half) RETURN count(n) AS n" });
  t.same(left.body.data.rows, [[0]]);
  const { executions } = (await server.expect(200, "GET", "/v1/recipes/half/executions")).body.data;
  t.match(executions, [
    { status: "failed", execution_id: failed.body.error.details.execution_id, error: { code: "query_error" } },
  ]);
  t.equal((await execute("half", { parameters: { divisor: 2 } })).status, 200);
  t.same(await server.rows("SELECT count(*)::int FROM halves"), [[10]]);
});

t.test("what is not as it promises is not taken", async (t) => {
  const refusals: readonly (readonly [text: string, status: number, error: object])[] = [
    [
      SIMPLE.replace("[[visits, 15]]", "[[visits, 16]]"),
      422,
      {
        code: "recipe_not_certified",
        message: /Test "counts": step "count": expected rows \[\["visits",16\]\], got \[\["visits",15\]\]/,
      },
    ],
    [
      SIMPLE.replace("RETURNING name, value", "RETURNING name, valeu"),
      422,
      {
        message: /column "valeu" does not exist \(line 20, column 23\)/,
        details: { step: "count", line: 20, column: 23, error: "query_error" },
      },
    ],
    [
      SIMPLE.replace("value int NOT NULL", "value intt NOT NULL"),
      422,
      { message: /^schema\[0\]: type "intt" does not exist/, details: { line: 11 } },
    ],
    [SIMPLE.replace("[[visits, 10]]", "[[visits, -1]]"), 422, { message: /^seed\[0\].rows\[0\]: .*check constraint/ }],
    [SIMPLE.replace(/tests:[\s\S]*/, ""), 422, { message: /cannot be tested: these parameters have no default: name/ }],
    [
      SIMPLE.replace(">=0.1.0", "^99.0.0"),
      400,
      { code: "invalid_recipe", message: /the recipe is for \^99.0.0; this server is/ },
    ],
    [
      SIMPLE.replace("UNWIND $counted", "UNWINDE $counted"),
      400,
      { code: "invalid_recipe", details: { line: 23, field: "workflow[1].cypher" } },
    ],
    [
      SIMPLE.replace("RETURNING name, value", "RETURNING name, AGENT_RUN('a', 'b')"),
      400,
      { code: "invalid_recipe", message: /AGENT_RUN: .*not allowed/, details: { line: 18 } },
    ],
    ["", 400, {}],
  ];
  for (const [text, status, error] of refusals) {
    const reply = await bring(text);
    t.equal(reply.status, status, JSON.stringify(reply.body));
    t.match(reply.body.error, error);
  }
  t.equal((await server.call("GET", "/v1/recipes/counters")).status, 404);
  t.equal(
    (await server.call("POST", "/v1/recipes/import", "x", { headers: { "content-type": "image/png" } })).status,
    415,
  );
  t.equal((await server.call("POST", "/v1/recipes/import", { url: "http://x", source: "y" })).status, 400);
  t.match(await server.call("POST", "/v1/recipes/import", {}), {
    status: 400,
    body: { error: { code: "invalid_recipe", message: /the recipe itself, or its address as "url"/ } },
  });
  const json = await server.call("POST", "/v1/recipes/import", { recipe: parse(SIMPLE) });
  t.equal(json.status, 201, JSON.stringify(json.body));
  t.equal((await server.call("POST", "/v1/recipes/import", parse(SIMPLE))).status, 200, "the body may be the recipe");
  const wrong = await execute("counters", { parameters: { by: 1 } });
  t.match(wrong.body.error, {
    code: "invalid_request",
    message: "parameters.name: is missing: a text",
    details: { field: "parameters.name" },
  });
  t.match(
    (await execute("counters", { parameters: { name: "x", extra: 1 } })).body.error.message,
    /parameters.extra: is no parameter/,
  );
  await server.expect(204, "DELETE", "/v1/recipes/counters");
});

t.test("from an address", async (t) => {
  const made = await server.call("POST", "/v1/recipes/import", { url: `${fileUrl}/good.yaml` });
  t.equal(made.status, 201, JSON.stringify(made.body));
  t.equal(made.body.data.source_url, `${fileUrl}/good.yaml`);
  for (const [path, fault] of [
    ["/bad.yaml", /not valid YAML or JSON/],
    ["/none.yaml", /answered 404/],
    ["/long.yaml", /larger than/],
  ] as const) {
    const reply = await server.call("POST", "/v1/recipes/import", { url: fileUrl + path });
    t.equal(reply.status, 400, path);
    t.match(reply.body.error.message, fault);
  }
  for (const url of [
    "https://example.com/r.yaml",
    "file:///etc/passwd",
    "http://10.0.0.1/r.yaml",
    "http://169.254.169.254/",
    "nonsense",
  ]) {
    t.equal((await server.call("POST", "/v1/recipes/import", { url })).status, 400, url);
  }
});

t.test("tables and a graph as a recipe, which another tenant imports and executes", async (t) => {
  const token = await server.tenant("origin");
  for (const sql of [
    "CREATE TYPE mood AS ENUM ('glad', 'so-so')",
    `CREATE TABLE place (id serial PRIMARY KEY, "the name" text NOT NULL, mood mood DEFAULT 'glad', within int REFERENCES place,
       at timestamptz DEFAULT '2024-01-01', tags text[], extra jsonb, CHECK (length("the name") > 1))`,
    "CREATE TABLE visit (place int REFERENCES place, note text, e vector(384) GENERATED ALWAYS AS (EMBED(note)) STORED)",
    "CREATE INDEX visit_meaning ON visit USING hnsw (e)",
    `INSERT INTO place ("the name", within, tags, extra) VALUES ('Europe', null, '{a,b}', '{"x": [1]}'), ('O''Hara', 1, null, null)`,
    "INSERT INTO visit VALUES (2, 'rainy'), (1, null)",
    "CREATE TABLE _hidden (id int)",
  ]) {
    const { status, body } = await server.sql(sql, [], { token });
    t.equal(status, 200, JSON.stringify(body));
  }
  const cypher =
    "CREATE (a:Person:Guide {name: 'Ada', langs: ['en', 'fr']})-[:KNOWS {since: 1}]->(:Person {name: 'Bo'})";
  await server.expect(200, "POST", "/v1/graph/match", { cypher }, { token });
  const { data } = (await server.expect(200, "POST", "/v1/recipes/export", { id: "copy", format: "yaml" }, { token }))
    .body;
  t.same(data.notes, []);
  t.notMatch(JSON.stringify(data.recipe), /_hidden/);

  const other = await server.tenant("copier");
  const imported = await server.call("POST", "/v1/recipes/import", data.source, { token: other, ...YAML });
  t.equal(imported.status, 201, JSON.stringify(imported.body));
  t.equal(imported.body.data.digest, data.digest);
  t.equal((await execute("copy", {}, other)).status, 200);
  for (const sql of [`SELECT * FROM place ORDER BY id`, "SELECT * FROM visit ORDER BY place"]) {
    t.same(await server.rows(sql, [], { token: other }), await server.rows(sql, [], { token }), sql);
  }
  const next = `INSERT INTO place ("the name") VALUES ('Mars') RETURNING id`;
  t.same(await server.rows(next, [], { token: other }), [[3]], "numbers go on");
  const met = { cypher: "MATCH (a:Guide)-[k:KNOWS]->(b) RETURN a.name, a.langs, k.since, b.name" };
  t.same((await server.call("POST", "/v1/graph/match", met, { token: other })).body.data.rows, [
    ["Ada", ["en", "fr"], 1, "Bo"],
  ]);

  const bare = await server.expect(200, "POST", "/v1/recipes/export", { tables: ["visit"], rows: false }, { token });
  t.match(bare.body.data.notes, [
    "visit: exported without the foreign key visit_place_fkey to place, because that table is not exported.",
  ]);
  t.same(bare.body.data.recipe.seed, []);
  t.equal((await server.call("POST", "/v1/recipes/export", { tables: ["nowhere"] }, { token })).status, 404);
  t.equal((await server.call("POST", "/v1/recipes/export", { graph: "nowhere" }, { token })).status, 404);
});

t.test("what stands beside the tables comes along, and an import is exported as the same", async (t) => {
  const token = await server.tenant("designer");
  for (const sql of [
    "CREATE SEQUENCE ticket START 100 INCREMENT 5",
    "CREATE DOMAIN positive AS int CHECK (VALUE > 0)",
    "CREATE TYPE pair AS (a int, b numeric(6, 2), c text[])",
    "CREATE FUNCTION twice(x int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT x * 2 $$",
    `CREATE TABLE orders (id int PRIMARY KEY DEFAULT nextval('ticket'), n positive, d int GENERATED ALWAYS AS (twice(n::int)) STORED, p pair)`,
    "CREATE TABLE assigned (id INTEGER PRIMARY KEY, changed timestamptz ON UPDATE now())",
    "CREATE TABLE counted (id int GENERATED ALWAYS AS IDENTITY (START WITH 7) PRIMARY KEY, s serial, at int REFERENCES orders)",
    "CREATE VIEW large (number, double) AS SELECT id, public.twice(n::int) FROM public.orders WHERE n > 1",
    "CREATE FUNCTION larges() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT count(*) FROM public.large $$",
    "CREATE VIEW how_many AS SELECT larges() AS many",
    "CREATE FUNCTION add_one() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.n := NEW.n + 1; RETURN NEW; END $$",
    "CREATE PROCEDURE forget(which int) LANGUAGE sql AS $$ DELETE FROM orders WHERE id = which $$",
    "CREATE TRIGGER adds BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION add_one()",
    "CREATE RULE keeps AS ON DELETE TO counted DO INSTEAD NOTHING",
    "CREATE INDEX orders_n ON orders (n)",
    // A default that was set after its function was made, which was made after the table.
    "CREATE FUNCTION first_at() RETURNS int LANGUAGE sql AS $$ SELECT min(id) FROM orders $$",
    "ALTER TABLE counted ALTER COLUMN at SET DEFAULT first_at()",
    "INSERT INTO orders (n) VALUES (3), (4)",
    "INSERT INTO counted DEFAULT VALUES",
  ]) {
    const { status, body } = await server.sql(sql, [], { token });
    t.equal(status, 200, `${sql}: ${JSON.stringify(body.error)}`);
  }
  const exported = async (of: string, more: object = {}) =>
    (await server.expect(200, "POST", "/v1/recipes/export", { id: "design", ...more }, { token: of })).body.data;
  const first = await exported(token);
  t.same(first.notes, []);
  const other = await server.tenant("follower");
  const imported = await server.call("POST", "/v1/recipes/import", first.recipe, { token: other });
  t.equal(imported.status, 201, JSON.stringify(imported.body));
  t.equal((await execute("design", {}, other)).status, 200);
  const second = await exported(other);
  t.same(second.recipe.schema, first.recipe.schema);
  t.same(second.recipe.seed, first.recipe.seed);
  t.same(await server.rows("SELECT many FROM how_many", [], { token: other }), [[2]]);
  t.same(await server.rows("INSERT INTO orders (n) VALUES (9) RETURNING id, n, d", [], { token: other }), [
    [110, 10, 20],
  ]);
  t.same(await server.rows("INSERT INTO counted DEFAULT VALUES RETURNING id, s, at", [], { token: other }), [
    [8, 2, 100],
  ]);
  t.same(await server.rows("INSERT INTO assigned DEFAULT VALUES RETURNING id", [], { token: other }), [[1]]);
  t.same(await server.rows("UPDATE assigned SET id = 2 RETURNING changed > '2020-01-01'", [], { token: other }), [
    [true],
  ]);
  const some = await exported(token, { tables: ["orders"], rows: false });
  const made = some.recipe.schema.map((sql: string) => /^CREATE (?:OR REPLACE )?(\w+)/.exec(sql)![1]);
  t.same(made.sort(), ["DOMAIN", "FUNCTION", "INDEX", "SEQUENCE", "TABLE", "TRIGGER", "TYPE"], "no more than it needs");
});

t.test("what no transaction could take back is refused before anything runs", async (t) => {
  for (const [sql, why] of [
    ["CREATE EXPERIMENT e AS SELECT 1 AS a, 2 AS b WITH (target = 'b')", /AutoML.*transactions of their own/],
    ["DEPLOY MODEL m FROM EXPERIMENT e", /AutoML/],
    ["SELECT CASE WHEN false THEN AGENT_RUN('a', 'b') END", /agent uses its own transactions/],
    ["SELECT PULL_MODEL('all-minilm-l6-v2')", /models belong to the installation/],
    ["CREATE COLLECTION x FROM FILESYSTEM '/tmp'", /no folders of the server/],
  ] as const) {
    const recipe = { id: "beyond", version: "1.0.0", engine: "*", name: "Beyond", workflow: [{ name: "one", sql }] };
    const { status, body } = await server.call("POST", "/v1/recipes/import", recipe);
    t.equal(status, 400, sql);
    t.match(body.error, { code: "invalid_recipe", message: why, details: { field: "workflow[0].sql", hint: /./ } });
  }
});

t.test("tools for agents", async (t) => {
  const call = async (name: string, args: object) => {
    const params = { name, arguments: args };
    const { body } = await server.call("POST", "/v1/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
    return body.result;
  };
  const { recipes } = (await call("list_recipes", { category: "analytics" })).structuredContent;
  t.match(recipes, [{ id: "time-series-report", parameters: { table: { type: "identifier" } } }]);
  const run = await call("run_recipe", { id: "time-series-report", dry_run: true });
  t.match(run.structuredContent, { success: true, dry_run: true });
  t.match(await call("run_recipe", { id: "none" }), { isError: true });
});

t.test("who may do what", async (t) => {
  const { raw_key: reader } = (
    await server.expect(201, "POST", "/v1/api-keys", { name: "reader", permission: "ReadOnly" })
  ).body;
  t.equal((await server.call("POST", "/v1/recipes/import", SIMPLE, { token: reader, ...YAML })).status, 403);
  t.equal((await server.call("DELETE", "/v1/recipes/counters", undefined, { token: reader })).status, 403);
  const refused = await execute("counters", { parameters: { name: "x" } }, reader);
  t.equal(refused.status, 403);
  t.match(refused.body.error.message, /ReadOnly permission/);
  const reading = `id: reading\nversion: 1.0.0\nengine: "*"\nname: Reading\nworkflow: [{name: one, sql: SELECT 1 AS one}]`;
  t.equal((await bring(reading)).status, 201);
  t.match((await execute("reading", {}, reader)).body.data, { success: true, results: [{ rows: [[1]] }] });
  const stranger = await server.tenant("stranger");
  t.equal((await server.call("GET", "/v1/recipes/counters", undefined, { token: stranger })).status, 404);
  t.equal((await execute("counters", { parameters: { name: "x" } }, stranger)).status, 404);
  t.equal((await server.call("GET", "/v1/recipes/half/executions", undefined, { token: stranger })).status, 404);
});

t.test("what is published is what is checked", async (t) => {
  const { data } = (await server.expect(200, "GET", "/v1/recipes/schema")).body;
  t.equal(data.$schema, "https://json-schema.org/draft/2020-12/schema");
  t.same(data.required, ["id", "version", "engine", "name", "workflow"]);
});
