/** What sessions begin with by ALTER ROLE … SET and ALTER DATABASE … SET, at every door that runs statements. */
import t from "tap";
import { TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";
import { fieldsOf, postgresPort, query, valuesOf, WITH_POSTGRES, WireClient } from "./wire-client.js";
import { signIn } from "./wire-sign-in.js";

const password = "password of somebody";

t.test("sessions begin with the settings of their role", { timeout: 120_000 }, async (t) => {
  const server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" });
  t.teardown(() => server.stop());
  await server.tenant("alpha");
  const path = "/admin/tenants/alpha/users";
  await server.expect(201, "POST", path, { username: "boss", password, roles: ["admin"] });
  await server.expect(201, "POST", path, { username: "ann", password, roles: ["user"] });
  const boss = await server.login("boss", password);
  const ann = await server.login("ann", password);
  const run = (sql: string, token = boss) => server.call("POST", "/v1/query/execute", { sql }, { token });
  const must = async (sql: string, token = boss) => {
    const { status, body } = await run(sql, token);
    if (status !== 200) throw new Error(`${sql}: ${JSON.stringify(body)}`);
    return body.data.rows;
  };
  const refused = async (sql: string, state: string, token = boss) => {
    const { body } = await run(sql, token);
    t.equal(body.error?.details?.sqlstate, state, `${sql}: ${JSON.stringify(body)}`);
  };
  const show = async (name: string, token = ann) => (await must(`SHOW ${name}`, token))[0][0];
  const sessions: WireClient[] = [];
  t.teardown(() => {
    for (const client of sessions) client.close();
  });
  const wire = async (user: string, options: Record<string, string> = {}) => {
    const client = await WireClient.connect(postgresPort(server));
    sessions.push(client);
    client.start({ user, database: "alpha", ...options });
    t.equal(await signIn(client, password), null);
    const begun = await client.until("Z");
    const ask = async (sql: string) => {
      client.send(query(sql));
      const messages = await client.until("Z");
      const error = messages.find(({ type }) => type === "E");
      if (error !== undefined) return fieldsOf(error).C;
      return messages
        .filter(({ type }) => type === "D")
        .map((row) => valuesOf(row)[0])
        .join();
    };
    return { ask, begun };
  };

  await must("CREATE ROLE clerk");
  await must("CREATE USER ann IN ROLE clerk");
  await must("ALTER ROLE ALL SET statement_timeout = '50s'");
  await must("ALTER DATABASE alpha SET statement_timeout TO '40s'");
  t.equal(await show("statement_timeout"), "40s", "of a database more than of all");
  await must("ALTER ROLE ann SET statement_timeout = 30000");
  t.equal(await show("statement_timeout"), "30s", "of a role more than of a database");
  await must("ALTER ROLE ann IN DATABASE alpha SET statement_timeout = '20s'");
  t.equal(await show("statement_timeout"), "20s", "of a role in a database most");
  t.equal(await show("statement_timeout", boss), "40s");
  await must("ALTER ROLE admin SET timezone = 'Europe/Oslo'");
  t.equal(await show("timezone", boss), "Europe/Oslo", "administrators are the role admin");
  t.equal(await show("timezone"), "UTC");

  await must('ALTER USER ann SET search_path = own, "Strange name", public', ann);
  t.equal(await show("search_path"), 'own, "Strange name", public');
  await must("CREATE SCHEMA own");
  await must("CREATE TABLE own.note (id int)");
  t.same(await must("SELECT count(*) FROM note", ann), [[0]], "names mean what the path says");

  const session = await wire("ann");
  t.equal(await session.ask("SHOW statement_timeout"), "20s");
  t.equal(await session.ask("SET statement_timeout = '1s'; SHOW statement_timeout"), "1s");
  t.equal(await session.ask("RESET statement_timeout; SHOW statement_timeout"), "20s");
  t.equal(await session.ask("SET search_path = public; RESET ALL; SHOW search_path"), 'own, "Strange name", public');
  t.equal(await session.ask("SET search_path = public"), "");
  t.equal(await session.ask("DISCARD ALL"), "");
  t.equal(await session.ask("SHOW search_path"), 'own, "Strange name", public');
  t.equal(await session.ask("BEGIN; SET LOCAL statement_timeout = 7; SHOW statement_timeout; ROLLBACK"), "7ms");
  t.equal(await session.ask("SHOW statement_timeout"), "20s");
  const given = await wire("ann", { options: "-c statement_timeout=3s" });
  t.equal(await given.ask("SHOW statement_timeout"), "3s", "what the client says counts most");

  const begun = await server.expect(201, "POST", "/v1/transactions", {}, { token: ann });
  const inside = { sql: "SHOW search_path" };
  const asked = await server.expect(200, "POST", `/v1/transactions/${begun.body.data.id}/execute`, inside, {
    token: ann,
  });
  t.match(JSON.stringify(asked.body), "Strange name", "interactive transactions");
  const batch = { statements: [{ sql: "SHOW statement_timeout" }] };
  t.match(
    JSON.stringify((await server.expect(200, "POST", "/v1/query/execute/batch", batch, { token: ann })).body),
    "20s",
  );
  const socket = await SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${ann}` });
  t.teardown(() => socket.destroy());
  socket.send({ type: "sql.execute.stream", id: "s", sql: "SHOW statement_timeout" });
  t.match(JSON.stringify(await socket.until("sql.done")), "20s", "sockets");

  await must("ALTER ROLE ann SET role = clerk");
  const clerk = await wire("ann");
  t.equal(await clerk.ask("SELECT current_user"), "clerk");
  t.equal(await clerk.ask("SET ROLE NONE; SELECT current_user"), "ann");
  t.equal(await clerk.ask("RESET ROLE; SELECT current_user"), "clerk");
  await must("REVOKE clerk FROM ann");
  const alone = await wire("ann");
  t.equal(await alone.ask("SELECT current_user"), "ann");
  const notice = alone.begun.find(({ type }) => type === "N");
  t.equal(notice && fieldsOf(notice).M, 'permission denied to set role "clerk"', "and the client is told");
  await must("ALTER ROLE ann RESET role");

  t.same(
    await must(`SELECT coalesce(d.datname, ''), coalesce(r.rolname, ''), s.setconfig FROM pg_db_role_setting s
      LEFT JOIN pg_database d ON d.oid = s.setdatabase LEFT JOIN pg_roles r ON r.oid = s.setrole ORDER BY 1, 2`),
    [
      ["", "", ["statement_timeout=50s"]],
      ["", "admin", ["TimeZone=Europe/Oslo"]],
      ["", "ann", ["statement_timeout=30000", 'search_path=own, "Strange name", public']],
      ["alpha", "", ["statement_timeout=40s"]],
      ["alpha", "ann", ["statement_timeout=20s"]],
    ],
  );
  t.same(await must("SELECT rolconfig FROM pg_roles WHERE rolname = 'ann'"), [
    [["statement_timeout=30000", 'search_path=own, "Strange name", public']],
  ]);

  await refused("ALTER ROLE ann SET nothing_like_it = 1", "42704");
  await refused("ALTER ROLE ann SET statement_timeout = 'soon'", "22023");
  await refused("ALTER ROLE ann SET server_version = '1'", "55P02");
  await refused("ALTER ROLE ann SET transaction_isolation = 'serializable'", "55P02");
  await refused("ALTER ROLE ann SET role = nobody_here", "22023");
  await refused("ALTER ROLE ann SET session_authorization = boss", "42501");
  await refused("ALTER ROLE ann SET request.jwt.claims = '{}'", "55P02");
  await refused("ALTER ROLE nobody_here SET statement_timeout = 1", "42704");
  await refused("ALTER ROLE ann IN DATABASE other SET statement_timeout = 1", "0A000");
  await refused("ALTER DATABASE other SET statement_timeout = 1", "0A000");
  await refused("ALTER ROLE ann SET session_replication_role = replica", "42501", ann);
  await refused("ALTER ROLE clerk SET statement_timeout = 1", "42501", ann);
  await refused("ALTER ROLE admin SET statement_timeout = 1", "42501", ann);
  await refused("ALTER ROLE ALL SET statement_timeout = 1", "42501", ann);
  await refused("ALTER DATABASE alpha SET statement_timeout = 1", "42501", ann);

  await must("ALTER ROLE ann SET session_replication_role = replica");
  await must("ALTER ROLE ann RESET ALL", ann);
  t.same(
    await must("SELECT rolconfig FROM pg_roles WHERE rolname = 'ann'"),
    [[["session_replication_role=replica"]]],
    "what only administrators set stays",
  );
  await must("ALTER ROLE ann RESET ALL");
  await must("ALTER ROLE ann IN DATABASE alpha RESET statement_timeout");
  t.equal(await show("statement_timeout"), "40s");
  const current = await wire("boss");
  t.equal(await current.ask("SET datestyle = german; ALTER ROLE ann SET datestyle FROM CURRENT"), "");
  t.match(await show("datestyle"), /German/);
  await must("DROP ROLE ann");
  t.notMatch(
    JSON.stringify(await must("SELECT setconfig FROM pg_db_role_setting")),
    "DateStyle",
    "it goes with the role",
  );
});
