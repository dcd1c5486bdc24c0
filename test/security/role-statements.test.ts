/** Statements about roles and privileges, as PostgreSQL has them, on a running server. */
import t, { type Test } from "tap";
import { TestServer } from "../e2e/server.js";

const password = "password of somebody";

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({ TESSERA_ACTORS: "1" });
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
  await refused("GRANT CREATE ON DATABASE other TO clerk", "3D000", /not in a database/);
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
