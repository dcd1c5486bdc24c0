/**
 * What a definition keeps is looked up when it is made: models that its expressions and bodies name, tools of an agent.
 */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

t.before(async () => {
  await server.rows("CREATE TABLE pts (x int, y int, t text)");
});

t.test("a missing model is an answer to the statement that defines", async (t) => {
  const predict = "AUTOML.PREDICT('nosuch', x)";
  const statements = [
    `CREATE FUNCTION f(x int) RETURNS text LANGUAGE sql AS $$ SELECT ${predict}::text $$`,
    `CREATE FUNCTION f(x int) RETURNS text LANGUAGE sql RETURN ${predict}::text`,
    "CREATE FUNCTION f(a text) RETURNS vector LANGUAGE sql AS $$ SELECT EMBED(a, 'nosuch') $$",
    `CREATE FUNCTION f(x int) RETURNS text LANGUAGE sql AS $$ SELECT t FROM pts WHERE ${predict} IS NULL; SELECT 'a' $$`,
    `CREATE PROCEDURE p() LANGUAGE sql AS $$ INSERT INTO pts (t) SELECT ${predict}::text FROM pts $$`,
    `CREATE VIEW v AS SELECT ${predict} FROM pts`,
    "CREATE VIEW v AS PREDICT p USING nosuch AS SELECT x FROM pts",
    "CREATE OR REPLACE VIEW v AS PREDICT p USING nosuch AS SELECT x FROM pts",
    "CREATE TABLE made AS PREDICT p USING nosuch AS SELECT x FROM pts",
    "INSERT INTO pts (x, t) PREDICT p USING nosuch AS SELECT x FROM pts",
    "EXPLAIN PREDICT p USING nosuch AS SELECT x FROM pts",
    "SELECT AUTOML.PREDICT('nosuch', 3)",
    `CREATE MATERIALIZED VIEW v AS SELECT ${predict} FROM pts`,
    `CREATE TABLE made AS SELECT ${predict} FROM pts`,
    "CREATE TABLE made (t text, v vector(384) GENERATED ALWAYS AS (EMBED(t, 'nosuch')) STORED)",
    "CREATE TABLE made (v vector(384) DEFAULT EMBED('x', 'nosuch'))",
    "ALTER TABLE pts ADD COLUMN v vector(384) GENERATED ALWAYS AS (EMBED(t, 'nosuch')) STORED",
    `CREATE EXPERIMENT e AS SELECT ${predict} AS p, y FROM pts WITH (target_column = 'y')`,
    `CREATE EXPERIMENT ASYNC e AS SELECT x, y FROM pts WHERE ${predict} IS NULL WITH (target_column = 'y')`,
    `PREPARE q AS SELECT ${predict} FROM pts`,
  ];
  for (const statement of statements) {
    const { status, body } = await server.sql(statement);
    t.match([status, body.error?.code], [404, "model_not_found"], statement);
    t.match(body.error?.message, /"nosuch"/);
  }
  t.same(await server.rows("SELECT count(*) FROM pg_proc WHERE proname IN ('f', 'p')"), [[0]]);
  t.same(await server.rows("SELECT count(*) FROM pg_class WHERE relname IN ('v', 'made')"), [[0]]);
});

t.test("what there is can be defined", async (t) => {
  await server.rows(
    "CREATE TABLE kept (t text, v vector(384) GENERATED ALWAYS AS (EMBED(t, 'tessera-embed-384')) STORED)",
  );
  await server.rows(
    "CREATE FUNCTION near(a text) RETURNS float8 LANGUAGE sql AS $$ SELECT EMBED(a, 'tessera-embed-384') <=> EMBED('x') $$",
  );
  t.type((await server.rows("SELECT near('y')"))[0]![0], "number");
  const body = "BEGIN RETURN AUTOML.PREDICT('nosuch', x)::text; END";
  await server.rows(`CREATE FUNCTION late(x int) RETURNS text LANGUAGE plpgsql AS $$ ${body} $$`);
  t.equal((await server.sql("SELECT late(1)")).status, 404, "names in PL/pgSQL are looked up when it runs");
});

t.test("agents", async (t) => {
  const refused = await server.sql("CREATE AGENT a WITH (tools = ['query', 'qery'], instructions = 'x')");
  t.match([refused.status, refused.body.error.message], [400, /no tool "qery"/]);
  t.match(refused.body.error.details.hint, /query/);
  t.equal(
    (await server.sql("CREATE AGENT a WITH (tools = ['execute'], instructions = 'x')")).status,
    400,
    "it only reads",
  );
  await server.rows("CREATE AGENT a WITH (tools = ['execute'], allow_writes = true, instructions = 'x')");
  t.equal((await server.sql("SELECT AGENT_RUN('p', 't', '{\"tools\": [\"qery\"]}') WHERE false")).status, 400);
  t.match((await server.sql("EXECUTE AGENT nosuch 'x'")).body.error.message, /agent "nosuch" does not exist/);
});
