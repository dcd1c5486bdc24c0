/** Statements about roles and privileges, as PostgreSQL has them, on a running server. */
import t, { type Test } from "tap";
import { TestServer } from "../e2e/server.js";

const password = "password of somebody";

let server: TestServer;
t.before(async () => {
  server = await TestServer.sharedInstallation();
});
t.teardown(() => server?.stop());

/** A tenant with an administrator and the user ann, who is a role. */
async function tenant(t: Test, name: string) {
  await server.tenant(name);
  const path = `/admin/tenants/${name}/users`;
  await server.expect(201, "POST", path, { username: `${name}-boss`, password, roles: ["admin"] });
  await server.expect(201, "POST", path, { username: `${name}-ann`, password, roles: ["user"] });
  const boss = await server.login(`${name}-boss`, password);
  const ann = await server.login(`${name}-ann`, password);

  const rowsOf = async (sql: string, token: string) => {
    const { status, body } = await server.call("POST", "/v1/query/execute", { sql }, { token });
    if (status !== 200) throw new Error(`${sql}: ${JSON.stringify(body)}`);
    return body.data.rows;
  };
  const must = (sql: string) => rowsOf(sql, boss);
  const refused = async (sql: string, state: string, message: RegExp, token = ann) => {
    const { body } = await server.call("POST", "/v1/query/execute", { sql }, { token });
    t.equal(body.error?.details?.sqlstate, state, `${sql}: ${JSON.stringify(body).slice(0, 300)}`);
    t.match(body.error?.message, message, sql);
  };
  await must(`CREATE USER "${name}-ann"`);
  await must("CREATE ROLE clerk");
  return { must, asAnn: (sql: string) => rowsOf(sql, ann), refused, ann, boss };
}

t.test("what catalogs tell of roles", async (t) => {
  const { must, refused } = await tenant(t, "facts");
  await must("COMMENT ON ROLE clerk IS 'sells'");
  t.same(await must("SELECT shobj_description(oid, 'pg_authid') FROM pg_roles WHERE rolname = 'clerk'"), [["sells"]]);
  await must("ALTER ROLE clerk CREATEDB");
  t.same(await must("SELECT description FROM pg_shdescription"), [["sells"]], "it stays");
  await refused("COMMENT ON ROLE clerk IS 'mine'", "42501", /CREATEROLE/);
  await refused("COMMENT ON ROLE admin IS 'mine'", "42501", /superuser/);
  await must("COMMENT ON ROLE clerk IS NULL");
  t.same(await must("SELECT count(*) FROM pg_shdescription"), [[0]]);
  t.same(
    await must("SELECT rolname, rolcanlogin, rolsuper FROM pg_roles WHERE rolname IN ('admin', 'clerk') ORDER BY 1"),
    [
      ["admin", true, true],
      ["clerk", false, false],
    ],
  );

  await must("CREATE SCHEMA shop");
  await must("ALTER DEFAULT PRIVILEGES IN SCHEMA shop GRANT SELECT ON TABLES TO clerk");
  await must("ALTER DEFAULT PRIVILEGES FOR ROLE clerk REVOKE EXECUTE ON FUNCTIONS FROM public");
  const listed = `SELECT r.rolname, coalesce(n.nspname, ''), d.defaclobjtype, d.defaclacl::text FROM pg_default_acl d
    JOIN pg_roles r ON r.oid = d.defaclrole LEFT JOIN pg_namespace n ON n.oid = d.defaclnamespace ORDER BY 1`;
  t.same(await must(listed), [
    ["admin", "shop", "r", "{clerk=r/admin}"],
    ["clerk", "", "f", "{clerk=X/clerk}"],
  ]);
  await must("ALTER DEFAULT PRIVILEGES IN SCHEMA shop REVOKE SELECT ON TABLES FROM clerk");
  await must("ALTER DEFAULT PRIVILEGES FOR ROLE clerk GRANT EXECUTE ON FUNCTIONS TO public");
  t.same(await must(listed), [], "what is usual is not listed");
});

t.test("actions of rules read NEW and OLD with the rights of the relation's owner", async (t) => {
  const { must, asAnn, refused } = await tenant(t, "rules");
  await must("CREATE TABLE note (id int, body text)");
  await must("CREATE TABLE log (id int)");
  await must("CREATE RULE kept AS ON INSERT TO note DO ALSO INSERT INTO log VALUES (NEW.id)");
  await must("REVOKE ALL ON note, log FROM member");
  await must("ALTER TABLE note OWNER TO clerk");
  await must("GRANT INSERT ON log TO clerk");
  await must('GRANT INSERT ON note TO "rules-ann"');
  await asAnn("INSERT INTO note VALUES (1, 'a')");
  await must("REVOKE SELECT ON note FROM clerk");
  await refused("INSERT INTO note VALUES (2, 'b')", "42501", /permission denied for table note/);
  await must("GRANT SELECT (body) ON note TO clerk");
  await refused("INSERT INTO note VALUES (2, 'b')", "42501", /permission denied for table note/);
  await must("GRANT SELECT (id) ON note TO clerk");
  await asAnn("INSERT INTO note VALUES (3, 'c')");
  t.same(await must("SELECT id FROM log ORDER BY id"), [[1], [3]]);
});

t.test("privileges on databases, types and languages", async (t) => {
  const { must, asAnn, refused, ann } = await tenant(t, "onbase");
  await asAnn("CREATE SCHEMA early");
  await must("REVOKE CREATE ON DATABASE onbase FROM member");
  await refused("CREATE SCHEMA late", "42501", /permission denied for database onbase/);
  await must('GRANT CREATE ON DATABASE onbase TO "onbase-ann"');
  await asAnn("CREATE SCHEMA late");
  t.same(await must("SELECT datacl::text FROM pg_database WHERE datname = current_database()"), [
    ['{admin=CTc/admin,member=Tc/admin,"\\"onbase-ann\\"=C/admin"}'],
  ]);
  t.same(
    await must(`SELECT has_database_privilege('clerk', 'onbase', 'CREATE'), has_database_privilege('onbase-ann',
      'onbase', 'CREATE'), has_database_privilege('clerk', 'onbase', 'CONNECT')`),
    [[false, true, true]],
  );
  await refused("GRANT CREATE ON DATABASE other TO clerk", "0A000", /cannot be changed in another one/);
  await refused("GRANT SELECT ON DATABASE onbase TO clerk", "0LP01", /invalid privilege type SELECT for database/);

  const batch = { statements: [{ sql: "CREATE TEMP TABLE t (id int)" }] };
  const makesTemporary = async () => (await server.call("POST", "/v1/query/execute/batch", batch, { token: ann })).body;
  t.notMatch(JSON.stringify(await makesTemporary()), "permission denied");
  await must("REVOKE TEMP ON DATABASE onbase FROM member");
  t.match(JSON.stringify(await makesTemporary()), "permission denied to create temporary tables in database");

  await must("CREATE TYPE mood AS ENUM ('good', 'bad')");
  await must("CREATE DOMAIN code AS text");
  await asAnn("CREATE TABLE early.a (m mood, c code)");
  await must("REVOKE USAGE ON TYPE mood FROM member");
  await must("REVOKE USAGE ON DOMAIN code FROM member");
  await refused("CREATE TABLE early.b (m mood)", "42501", /permission denied for type mood/);
  await refused("CREATE TABLE early.b (m mood[])", "42501", /permission denied for type mood/);
  await refused("CREATE TABLE early.b (c code)", "42501", /permission denied for type code/);
  await refused("ALTER TABLE early.a ADD COLUMN n mood", "42501", /permission denied for type mood/);
  await refused("CREATE FUNCTION early.f(mood) RETURNS int LANGUAGE sql AS 'SELECT 1'", "42501", /type mood/);
  await asAnn("ALTER TABLE early.a ADD COLUMN n int");
  await refused("GRANT USAGE ON DOMAIN mood TO clerk", "42809", /is not a domain/);
  await refused("GRANT USAGE ON TYPE int4 TO clerk", "0A000", /built-in/);
  await must('GRANT USAGE ON TYPE mood TO "onbase-ann"');
  await asAnn("CREATE TABLE early.b (m mood)");
  t.same(
    await must("SELECT typacl::text, has_type_privilege('clerk', 'mood', 'USAGE') FROM pg_type WHERE typname = 'mood'"),
    [['{admin=U/admin,"\\"onbase-ann\\"=U/admin"}', false]],
  );
  await must("DROP TYPE mood CASCADE");

  await must("REVOKE USAGE ON LANGUAGE plpgsql FROM member");
  await refused("CREATE FUNCTION early.g() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'", "42501", /plpgsql/);
  await refused("DO 'BEGIN END'", "42501", /permission denied for language plpgsql/);
  await asAnn("CREATE FUNCTION early.g() RETURNS int LANGUAGE sql AS 'SELECT 1'");
  await must("DO 'BEGIN END'");
  t.same(await must("SELECT lanname, lanacl::text FROM pg_language WHERE lanacl IS NOT NULL"), [
    ["plpgsql", "{admin=U/admin}"],
  ]);
  await refused("GRANT USAGE ON LANGUAGE c TO clerk", "42809", /not trusted/);
  await refused("GRANT SET ON PARAMETER work_mem TO clerk", "0A000", /privileges on a parameter are not supported/);
  await refused("GRANT USAGE ON FOREIGN SERVER s TO clerk", "0A000", /on a foreign server are not supported/);
  await refused("GRANT USAGE ON FOREIGN DATA WRAPPER w TO clerk", "0A000", /on a foreign-data wrapper are not/);
  await refused("GRANT SELECT ON LARGE OBJECT 7 TO clerk", "0A000", /on a large object are not supported/);

  await must("REVOKE CONNECT ON DATABASE onbase FROM member");
  await refused("SELECT 1", "42501", /permission denied for database "onbase"/);
  t.equal((await server.call("GET", "/v1/collections", undefined, { token: ann })).status, 403);
  t.same(await must("SELECT 1"), [[1]], "administrators always");
  await must('GRANT CONNECT ON DATABASE onbase TO "onbase-ann"');
  t.same(await asAnn("SELECT 1"), [[1]]);
});

t.test("what is taken from PUBLIC is taken from everybody", async (t) => {
  const { must, asAnn, refused } = await tenant(t, "frompublic");
  await must("CREATE TABLE note (id int)");
  await must("CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1'");
  t.same(await asAnn("SELECT count(*), one() FROM note"), [[0, 1]]);
  await must("REVOKE ALL ON note FROM PUBLIC");
  await refused("SELECT count(*) FROM note", "42501", /permission denied for table note/);
  await must("REVOKE EXECUTE ON FUNCTION one() FROM PUBLIC");
  await refused("SELECT one()", "42501", /permission denied for function one/);
  await must("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
  await refused("CREATE TABLE mine (id int)", "42501", /permission denied for schema public/);
  await must("ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM PUBLIC");
  await must("CREATE TABLE later (id int)");
  await refused("SELECT * FROM later", "42501", /permission denied for table later/);
  await must("REVOKE CONNECT ON DATABASE frompublic FROM PUBLIC");
  await refused("SELECT 1", "42501", /permission denied for database "frompublic"/);
  await must("GRANT CONNECT ON DATABASE frompublic TO PUBLIC");
  t.same(await asAnn("SELECT 1"), [[1]]);
  await must("GRANT SELECT ON note TO member");
  t.same(await asAnn("SELECT count(*) FROM note"), [[0]]);
});

t.test("types and domains have owners", async (t) => {
  const { must, asAnn, refused } = await tenant(t, "typed");
  await must("CREATE TYPE early AS ENUM ('a')");
  await refused("ALTER TYPE early ADD VALUE 'b'", "42501", /must be owner of type early/);
  await asAnn("CREATE TYPE mood AS ENUM ('good')");
  const owners = `SELECT typname, pg_get_userbyid(typowner) FROM pg_type
    WHERE typname IN ('mood', 'code', 'span', 'spans') ORDER BY 1`;
  t.same(await must(owners), [["mood", "typed-ann"]]);
  await must("CREATE DOMAIN code AS text");
  await must("CREATE TYPE span AS RANGE (subtype = int, multirange_type_name = spans)");
  for (const sql of [
    "ALTER DOMAIN code SET NOT NULL",
    "DROP DOMAIN code",
    "ALTER TYPE code RENAME TO mine",
    "ALTER DOMAIN code OWNER TO CURRENT_USER",
    "COMMENT ON DOMAIN code IS 'mine'",
    "DROP TYPE span",
  ]) {
    await refused(sql, "42501", /must be owner of type/);
  }
  await must("CREATE TABLE kept (c code)");
  await must('ALTER DOMAIN code OWNER TO "typed-ann"');
  await must('ALTER TYPE span OWNER TO "typed-ann"');
  t.same(await must(owners), [
    ["code", "typed-ann"],
    ["mood", "typed-ann"],
    ["span", "typed-ann"],
    ["spans", "typed-ann"],
  ]);
  await asAnn("ALTER DOMAIN code SET DEFAULT 'x'");
  await refused("ALTER TYPE mood OWNER TO clerk", "42501", /must be member of role "clerk"/);
  await refused("ALTER TYPE spans OWNER TO clerk", "42809", /cannot alter multirange type spans/);
  await refused("ALTER DOMAIN mood OWNER TO clerk", "42809", /"mood" is not a domain/);
  await refused("ALTER TYPE missing OWNER TO clerk", "42704", /type "missing" does not exist/);
  await asAnn("ALTER DEFAULT PRIVILEGES REVOKE USAGE ON TYPES FROM PUBLIC");
  await asAnn("CREATE DOMAIN closed AS int");
  t.same(
    await must("SELECT has_type_privilege('clerk', 'closed', 'USAGE'), has_type_privilege('clerk', 'mood', 'USAGE')"),
    [[false, true]],
  );
  await asAnn("DROP TYPE mood");
  // As in PostgreSQL, who owns a type takes others' columns with it.
  await must("ALTER TABLE kept ADD b int");
  await asAnn("DROP DOMAIN code CASCADE");
  t.same(await must("SELECT column_name FROM information_schema.columns WHERE table_name = 'kept'"), [["b"]]);
});

t.test("privileges on graphs and collections", async (t) => {
  const { must, asAnn, refused, ann, boss } = await tenant(t, "ongraph");
  await must("CREATE (:City {name: 'Oslo'})-[:NEAR]->(:City {name: 'Moss'})");
  await must("REVOKE ALL ON GRAPH default FROM member");
  const all = "MATCH (c:City) RETURN c.name ORDER BY c.name";
  await refused(all, "42501", /permission denied/);
  await must("GRANT SELECT ON GRAPH default TO clerk");
  await refused(all, "42501", /permission denied/);
  await must('GRANT clerk TO "ongraph-ann"');
  t.same(await asAnn(all), [["Moss"], ["Oslo"]]);
  t.same(await asAnn("MATCH (:City)-[r:NEAR]->() RETURN count(r)"), [[1]]);
  await refused("CREATE (:City {name: 'Bergen'})", "42501", /permission denied/);
  await must("GRANT INSERT, UPDATE ON ALL GRAPHS TO clerk");
  await asAnn("CREATE (:City {name: 'Bergen'})");
  await refused("MATCH (c:City {name: 'Bergen'}) DELETE c", "42501", /permission denied/);
  await must("GRANT ALL ON GRAPH default TO clerk");
  await asAnn("MATCH (c:City {name: 'Bergen'}) DELETE c");
  await must("REVOKE ALL ON ALL GRAPHS FROM clerk");
  await refused(all, "42501", /permission denied/);
  await refused("GRANT SELECT ON GRAPH none TO clerk", "42704", /graph "none" does not exist/);
  await refused("GRANT TRIGGER ON GRAPH default TO clerk", "0LP01", /invalid privilege type TRIGGER for graph/);
  await refused("GRANT SELECT (id) ON GRAPH default TO clerk", "0LP01", /for column of a graph/);

  const documents = { name: "papers", documents: [{ title: "one" }] };
  await server.expect(201, "POST", "/v1/collections", { name: "papers" }, { token: boss });
  await server.expect(201, "POST", "/v1/collections/papers/documents", documents.documents[0], { token: boss });
  const listed = async () =>
    (await server.call("GET", "/v1/collections/papers/documents", undefined, { token: ann })).status;
  t.equal(await listed(), 200);
  await must("REVOKE ALL ON COLLECTION papers FROM member");
  t.equal(await listed(), 403);
  await must("GRANT SELECT ON COLLECTION papers TO clerk");
  t.equal(await listed(), 200);
  const added = await server.call("POST", "/v1/collections/papers/documents", { title: "two" }, { token: ann });
  t.equal(added.status, 403);
  await refused("GRANT SELECT ON COLLECTION none TO clerk", "42704", /collection "none" does not exist/);
  await must("ALTER COLLECTION papers OWNER TO clerk");
  t.match(await server.call("DELETE", "/v1/collections/papers", undefined, { token: ann }), { status: 204 });
  await must("ALTER GRAPH default OWNER TO clerk");
  t.same(await asAnn("MATCH (:City)-[r:NEAR]->() RETURN count(r)"), [[1]]);
  await refused("ALTER GRAPH none OWNER TO clerk", "42704", /graph "none" does not exist/, boss);
  await must("CREATE TABLE plain (id int)");
  await refused("GRANT SELECT ON COLLECTION plain TO clerk", "42704", /collection "plain" does not exist/);
  await must("CREATE TABLE graph (id int)");
  await must("CREATE TABLE model (id int)");
  await must("GRANT SELECT ON graph TO clerk");
  await must("GRANT SELECT ON graph, model TO clerk");
});

t.test("USAGE on trained models", { timeout: 120_000 }, async (t) => {
  const { must, asAnn, refused, ann, boss } = await tenant(t, "onmodel");
  await must("CREATE TABLE sale (id int PRIMARY KEY, size int, kind text)");
  await must(
    "INSERT INTO sale SELECT i, i % 10, CASE WHEN i % 10 < 5 THEN 'small' ELSE 'secret' END FROM generate_series(1, 120) i",
  );
  const body = { collection: "sale", target: "kind", features: ["size"], max_trials: 1, async_mode: false };
  const train = (name: string, token: string) => server.call("POST", "/v1/automl/train", { ...body, name }, { token });
  const asked = (path: string, token: string, sent?: object) =>
    server.call(sent === undefined ? "GET" : "POST", `/v1/automl/models${path}`, sent, { token });
  t.equal((await train("kinds", boss)).status, 200);
  const row = { rows: [{ size: 1 }] };
  const sql = "SELECT AUTOML.PREDICT('kinds', size => 1)";
  t.same(await asAnn(sql), [["small"]], "who may see all tables may use what everybody may");
  await must("REVOKE ALL ON sale FROM member");
  const closed = async (why: string) => {
    await refused(sql, "42501", /permission denied for model kinds/);
    await refused("PREDICT kind USING kinds AS SELECT 1 AS size", "42501", /permission denied for model kinds/);
    await refused("SELECT describe_model('kinds')", "42501", /permission denied for model kinds/);
    t.equal((await asked("/kinds/predict", ann, row)).status, 403, why);
    t.equal((await asked("/kinds", ann)).status, 403, why);
    const list = await asked("", ann);
    t.equal(list.status, 200);
    t.notMatch(JSON.stringify(list.body), "kinds", why);
    for (const [name, input] of [
      ["predict", { model_name: "kinds", inputs: row.rows }],
      ["describe_model", { model_name: "kinds" }],
      ["list_models", {}],
    ] as const) {
      const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } };
      const { body: answer } = await server.call("POST", "/v1/mcp", call, { token: ann });
      t.notMatch(JSON.stringify(answer), /secret|small|"kinds/, `${name}: ${why}`);
    }
  };
  await closed("a model of a table with hidden rows");
  await must("GRANT USAGE ON MODEL kinds TO clerk");
  await closed("another role's grant");
  await must('GRANT clerk TO "onmodel-ann"');
  t.same(await asAnn(sql), [["small"]]);
  t.match((await asked("/kinds/predict", ann, row)).body.data.predictions, ["small"]);
  t.match(JSON.stringify((await asked("", ann)).body), "kinds");
  await refused("DROP MODEL kinds", "42501", /must be owner of model kinds|permission denied/);
  t.equal((await server.call("DELETE", "/v1/automl/models/kinds", undefined, { token: ann })).status, 403);
  await must("REVOKE USAGE ON MODEL kinds FROM clerk");
  await closed("what was taken away");

  await must("GRANT ALL ON sale TO member");
  t.equal((await train("own", ann)).status, 200);
  t.same(await must("SELECT AUTOML.PREDICT('own', size => 9)"), [["secret"]], "administrators use all");
  await must('CREATE USER "onmodel-bob"');
  const users = "/admin/tenants/onmodel/users";
  await server.expect(201, "POST", users, { username: "onmodel-bob", password, roles: ["user"] });
  const bob = await server.login("onmodel-bob", password);
  await refused("SELECT AUTOML.PREDICT('own', size => 9)", "42501", /permission denied for model own/, bob);
  t.equal((await train("own", bob)).status, 403, "the next version is the owner's");
  await refused("GRANT USAGE ON MODEL own TO clerk", "42501", /permission denied for model own/, bob);
  await asAnn('GRANT USAGE ON MODEL own TO "onmodel-bob"');
  const forBob = { sql: "SELECT AUTOML.PREDICT('own', size => 9)" };
  t.match((await server.call("POST", "/v1/query/execute", forBob, { token: bob })).body.data.rows, [["secret"]]);
  await must("SELECT 1");
  await refused("GRANT USAGE ON MODEL none TO clerk", "42501", /permission denied/);
  const missing = await server.call(
    "POST",
    "/v1/query/execute",
    { sql: "GRANT USAGE ON MODEL none TO clerk" },
    { token: boss },
  );
  t.equal(missing.body.error?.details?.sqlstate, "42704");
  const wrong = await server.call(
    "POST",
    "/v1/query/execute",
    { sql: "GRANT SELECT ON MODEL own TO clerk" },
    { token: boss },
  );
  t.equal(wrong.body.error?.details?.sqlstate, "0LP01");
  await refused('ALTER MODEL own OWNER TO "onmodel-bob"', "42501", /must be owner of model own/, bob);
  await refused('ALTER MODEL own OWNER TO "onmodel-bob"', "42501", /must be member of role "onmodel-bob"/);
  await refused("ALTER MODEL none OWNER TO clerk", "42704", /none/, boss);
  await must('ALTER MODEL own OWNER TO "onmodel-bob"');
  t.equal((await train("own", bob)).status, 200, "the next version is the new owner's");
  await refused("DROP MODEL own", "42501", /must be owner of model own|permission denied/);
  await must('ALTER MODEL own OWNER TO "onmodel-ann"');
  await asAnn("DROP MODEL own");
  t.equal((await train("own", bob)).status, 200, "a name that is free is anybody's");
});

t.test("who owns a schema may drop what is in it, whoever owns that, as in PostgreSQL", async (t) => {
  const { must, asAnn, refused } = await tenant(t, "schemas");
  await must(`CREATE SCHEMA shared AUTHORIZATION "schemas-ann"`);
  await must("CREATE TYPE shared.level AS ENUM ('low')");
  await must("CREATE TABLE shared.first (id int PRIMARY KEY, at shared.level)");
  await must("CREATE TABLE shared.second (id serial REFERENCES shared.first)");
  await must("CREATE VIEW shared.shown AS SELECT * FROM shared.first");
  await must("CREATE FUNCTION shared.told() RETURNS int LANGUAGE sql AS 'SELECT 1'");
  await must("CREATE SEQUENCE shared.numbers");
  await must("CREATE TABLE shared.third (id int)");
  await must("CREATE TABLE outside (id int)");
  await must("GRANT SELECT ON outside TO clerk");
  await must("CREATE VIEW beyond AS SELECT * FROM shared.first");
  await refused("ALTER TABLE shared.third ADD b int", "42501", /must be owner of table third/);
  await refused("DROP TABLE outside", "42501", /must be owner of table outside/);
  await asAnn("DROP TABLE shared.third");
  await refused("DROP SCHEMA shared", "2BP01", /cannot drop schema shared/);
  await asAnn("DROP SCHEMA shared CASCADE");
  const gone = "'first', 'second', 'shown', 'numbers', 'beyond'";
  t.same(await must(`SELECT count(*) FROM pg_class WHERE relname IN (${gone})`), [[0]], "in other schemas, too");
  t.same(await must("SELECT count(*) FROM outside"), [[0]]);
  t.same(await must("SELECT count(*) FROM pg_type WHERE typname = 'level'"), [[0]]);
});

t.test("a schema that somebody else owns keeps what is in it", async (t) => {
  const { must, refused } = await tenant(t, "others");
  await must("CREATE SCHEMA kept AUTHORIZATION clerk");
  t.same(await must("SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'kept'"), [["clerk"]]);
  await refused("CREATE SCHEMA more AUTHORIZATION clerk", "42501", /must be member of role "clerk"/);
  await refused("CREATE SCHEMA AUTHORIZATION nobody", "42704", /role "nobody" does not exist/);
  await must("CREATE TABLE kept.first (id int)");
  await refused("DROP TABLE kept.first", "42501", /must be owner of table first/);
  await refused("DROP SCHEMA kept CASCADE", "42501", /must be owner of (?:schema kept|table first)/);
});

t.test("what CREATE SCHEMA … AUTHORIZATION makes belongs to the role, and is made with its rights", async (t) => {
  const { must, refused } = await tenant(t, "makers");
  await must("CREATE TABLE closed (id int PRIMARY KEY)");
  await must("REVOKE ALL ON closed FROM member");
  const elements = `CREATE TABLE first (id serial PRIMARY KEY) CREATE INDEX firsts ON first (id)
    CREATE SEQUENCE numbers`;
  await must(`CREATE SCHEMA made AUTHORIZATION clerk ${elements}`);
  const owners = `SELECT relname, relowner::regrole::text FROM pg_class WHERE relnamespace = 'made'::regnamespace
    AND relkind IN ('r', 'v', 'S') ORDER BY 1`;
  t.same(await must(owners), [
    ["first", "clerk"],
    ["first_id_seq", "clerk"],
    ["numbers", "clerk"],
  ]);
  await refused("SELECT * FROM made.first", "42501", /permission denied for schema made/);
  const reads = "CREATE TABLE points (id int REFERENCES public.closed)";

  await must(
    `DO $$ BEGIN CREATE SCHEMA points AUTHORIZATION clerk ${reads}; EXCEPTION WHEN insufficient_privilege THEN NULL; END $$`,
  );
  t.same(
    await must("SELECT count(*) FROM pg_namespace WHERE nspname = 'points'"),
    [[0]],
    "the role may not refer to it",
  );
});
