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
