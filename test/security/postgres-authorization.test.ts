/**
 * What each kind of caller may do by PostgreSQL's protocol, and whose connections end when a user, a key or a tenant
 * goes.
 */
import t, { type Test } from "tap";
import { passwordOf, TestServer } from "../e2e/server.js";
import {
  fieldsOf,
  message,
  postgresPort,
  query,
  type Received,
  valuesOf,
  WITH_POSTGRES,
  WireClient,
} from "../e2e/wire-client.js";
import { signIn } from "../e2e/wire-sign-in.js";
import { PRINCIPALS, type PrincipalName } from "./authorization-table.js";
import { WIRE_CASES, type WireCase, type WireWorld } from "./wire-cases.js";

const MARKER = "xyzzy-of-beta";

interface Login {
  readonly user: string;
  readonly password: string;
  readonly tenant: string;
}

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" });
});
t.teardown(() => server?.stop());

async function connect({ user, password }: Login, database = "postgres"): Promise<WireClient | string> {
  const client = await WireClient.connect(postgresPort(server));
  client.start({ user, database });
  const refusal = (await signIn(client, password)) ?? (await client.until("Z")).find(({ type }) => type === "E");
  if (refusal === undefined) return client;
  client.close();
  return fieldsOf(refusal).C!;
}

async function session(login: Login): Promise<WireClient> {
  const client = await connect(login);
  if (typeof client === "string") throw new Error(`${login.user} was refused: ${client}`);
  return client;
}

async function pidOf(client: WireClient): Promise<number> {
  const [, row] = await client.ask("SELECT pg_backend_pid()");
  return Number(valuesOf(row!)[0]);
}

async function newUser(tenant: string, username: string, roles: readonly string[]): Promise<Login> {
  const password = `password of ${username}`;
  await server.expect(201, "POST", `/admin/tenants/${tenant}/users`, { username, password, roles });
  return { user: username, password, tenant };
}

async function newKey(owner: Login, permission: string): Promise<Login & { readonly id: string }> {
  const token = await server.login(owner.user, owner.password);
  const made = (await server.expect(201, "POST", "/v1/api-keys", { name: "k", permission }, { token })).body;
  return { user: "key", password: made.raw_key, tenant: owner.tenant, id: made.data.api_key.id };
}

async function makeTable(login: Login, secret: string): Promise<void> {
  const client = await session(login);
  const table = `things_${login.tenant}`;
  await client.ask(
    `CREATE TABLE ${table} (id int PRIMARY KEY, secret text); INSERT INTO ${table} VALUES (1, '${secret}')`,
  );
  await client.ask(`CREATE SEQUENCE ${table}_numbers`);
  client.close();
}

/** Answers with the SQLSTATE of the error, or the values of the last statement's rows. */
async function run(client: WireClient, sql: string): Promise<{ code: string | null; values: string; all: string }> {
  client.send(query(sql));
  const messages: Received[] = [];
  for (let next = await client.receive(); next !== null; next = await client.receive()) {
    messages.push(next);
    if (next.type === "G") client.send(message("c"));
    if (next.type === "Z") break;
  }
  const error = messages.find(({ type }) => type === "E");
  const rows = messages.filter(({ type }) => type === "D").map(valuesOf);
  const all = messages.map(({ body }) => body.toString()).join(" ");
  return { code: error === undefined ? null : fieldsOf(error).C!, values: rows.join(), all };
}

t.test("the matrix", { timeout: 120_000 }, async (t) => {
  await server.tenant("beta", ["super_admin"]);
  const beta: Login = { user: "beta-user", password: passwordOf("beta"), tenant: "beta" };
  await makeTable(beta, MARKER);
  const stranger = await session(beta);
  await server.tenant("alpha");
  const user: Login = { user: "alpha-user", password: passwordOf("alpha"), tenant: "alpha" };
  const superAdmin = await newUser("alpha", "alpha-super", ["super_admin"]);
  const system: Login = { user: "admin", password: server.password, tenant: "system" };
  await makeTable(superAdmin, "of alpha");
  await makeTable(system, "of system");
  const peers = {
    alpha: await newUser("alpha", "alpha-peer", ["user"]),
    system: await newUser("system", "peer", ["user"]),
  };
  const logins: Readonly<Record<Exclude<PrincipalName, "nobody">, Login>> = {
    reader: await newKey(user, "ReadOnly"),
    key: await newKey(user, "FullAccess"),
    user,
    admin: await newUser("alpha", "alpha-admin", ["admin"]),
    superReader: await newKey(superAdmin, "ReadOnly"),
    superAdmin,
    systemReader: await newKey(system, "ReadOnly"),
    system,
  };
  t.equal(await connect({ user: "alpha-user", password: "", tenant: "alpha" }), "28P01", "nobody");
  let n = 1000;
  const open = new Map<Login, WireClient>();
  t.teardown(() => {
    for (const client of open.values()) client.close();
  });

  async function kept(login: Login): Promise<WireClient> {
    const client = open.get(login);
    if (client?.isClosed === false) return client;
    const fresh = await session(login);
    open.set(login, fresh);
    return fresh;
  }

  async function verdictOf({ statements, database, gives }: WireCase, login: Login): Promise<string> {
    if (statements === undefined) {
      const client = await connect(login, database === undefined ? login.tenant : "beta");
      if (typeof client === "string") return client;
      client.close();
      return "yes";
    }
    const client = await kept(login);
    const peer = await kept(peers[login.tenant as "alpha" | "system"]);
    const world: WireWorld = {
      table: `things_${login.tenant}`,
      foreign: "things_beta",
      ...{ peer: await pidOf(peer), stranger: await pidOf(stranger), n: ++n },
    };
    let verdict = "yes";
    for (const sql of statements(world)) {
      const { code, values, all } = await run(client, sql);
      if (code !== null) verdict = code;
      if (gives !== undefined && code === null && values !== gives.join()) verdict = `gives ${values}`;
      if (all.includes(MARKER)) verdict = "sees another tenant's data";
    }
    await client.ask("ROLLBACK");
    // One whose session was ended hears of it.
    await peer.ask("SELECT 1");
    return verdict;
  }

  for (const one of WIRE_CASES) {
    const problems: string[] = [];
    for (const { name } of PRINCIPALS) {
      if (name === "nobody") continue;
      const verdict = await verdictOf(one, logins[name]);
      if (verdict !== one.expected(name)) problems.push(`${name}: ${verdict}, not ${one.expected(name)}`);
    }
    const sent = one.statements?.({ table: "t", foreign: "f", peer: 1, stranger: 2, n: 3 }).at(-1) ?? "";
    t.same(problems, [], `${one.what}: ${sent}`);
  }
  t.equal((await run(stranger, "SELECT secret FROM things_beta")).values, MARKER, "the other tenant's session goes on");
  stranger.close();
});

t.test("another user's session hears nothing of what a caller may not do to it", async (t) => {
  const [owner, other] = [await newUser("alpha", "owner", ["user"]), await newUser("alpha", "other", ["user"])];
  const [mine, again, theirs] = [await session(owner), await session(owner), await session(other)];
  const pid = await pidOf(mine);
  const refused = await run(theirs, `SELECT pg_terminate_backend(${pid})`);
  t.equal(refused.code, "42501");
  t.equal((await run(mine, "SELECT 1")).values, "1");
  t.equal((await run(again, `SELECT pg_terminate_backend(${pid})`)).values, "t", "one's own");
  mine.send(query("SELECT 1"));
  t.equal(fieldsOf((await mine.until("E")).at(-1)!).C, "57P01");
  for (const client of [mine, again, theirs]) client.close();
});

t.test("pg_signal_backend ends others' sessions, but no superuser's", async (t) => {
  await server.tenant("epsilon", ["admin"]);
  const boss = await session({ user: "epsilon-user", password: passwordOf("epsilon"), tenant: "epsilon" });
  const guard = await session(await newUser("epsilon", "guard", ["user"]));
  const owner = await newUser("epsilon", "owner-of-it", ["user"]);
  const chief = await session(await newUser("epsilon", "chief", ["user"]));
  const [mine, other] = [await session(owner), await session(owner)];
  await boss.ask("CREATE USER guard; CREATE USER chief SUPERUSER");
  const end = async (client: WireClient, which = "terminate") =>
    run(guard, `SELECT pg_${which}_backend(${await pidOf(client)})`);
  t.equal((await end(mine)).code, "42501");
  await boss.ask("GRANT pg_signal_backend TO guard");
  t.equal((await end(boss)).code, "42501", "an administrator's");
  t.equal((await end(chief)).code, "42501", "a superuser's");
  t.equal((await end(mine, "cancel")).values, "t");
  t.equal((await end(mine)).values, "t");
  t.equal(fieldsOf((await mine.until("E")).at(-1)!).C, "57P01");
  await run(guard, "SET ROLE member");
  t.equal((await end(other)).code, "42501", "as a role that does not have it");
  await run(guard, "RESET ROLE");
  await boss.ask("REVOKE pg_signal_backend FROM guard");
  t.equal((await end(other)).code, "42501", "any more");
  await boss.ask("SET ROLE guard");
  t.equal((await run(boss, "SELECT pg_terminate_backend(pg_backend_pid())")).code, "42501", "an administrator's own");
  for (const client of [boss, guard, chief, mine, other]) client.close();
});

/** How a connection that rests, and one whose statement runs, end after something was done. */
async function endsAfter(t: Test, login: Login, act: () => Promise<unknown>): Promise<void> {
  const [resting, busy] = [await session(login), await session(login)];
  const watcher = await session({ user: "alpha-admin", password: "password of alpha-admin", tenant: "alpha" });
  const pid = await pidOf(busy);
  busy.send(query("SELECT pg_sleep(600)"));
  const running = `SELECT count(*) FROM pg_stat_activity WHERE pid = ${pid} AND state = 'active'`;
  while ((await run(watcher, running)).values !== "1") await new Promise((resolve) => setTimeout(resolve, 10));
  await act();
  for (const client of [resting, busy]) {
    const last = await client.until("none");
    const errors = last.filter(({ type }) => type === "E").map((each) => fieldsOf(each).C);
    t.equal(errors.at(-1), "57P01", JSON.stringify(errors));
  }
  t.match(await connect(login), /^28/, "and it does not get in again");
  watcher.close();
}

t.test("connections end with the user, the key and the tenant", async (t) => {
  const patch = (path: string, body: object) => server.expect(200, "PATCH", path, body);
  const disabled = await newUser("alpha", "to-disable", ["user"]);
  await endsAfter(t, disabled, () => patch("/admin/tenants/alpha/users/to-disable", { is_active: false }));
  const deleted = await newUser("alpha", "to-delete", ["user"]);
  await endsAfter(t, deleted, () => server.expect(204, "DELETE", "/admin/tenants/alpha/users/to-delete"));
  const owner = await newUser("alpha", "of-keys", ["user"]);
  const token = await server.login(owner.user, owner.password);
  const key = await newKey(owner, "FullAccess");
  await endsAfter(t, key, () => server.expect(204, "DELETE", `/v1/api-keys/${key.id}`, undefined, { token }));
  const other = await newKey(owner, "ReadOnly");
  await endsAfter(t, other, () => patch("/admin/tenants/alpha/users/of-keys", { is_active: false }));
  await server.tenant("omega");
  const omega: Login = { user: "omega-user", password: passwordOf("omega"), tenant: "omega" };
  const leaving = await session(omega);
  await server.expect(202, "DELETE", "/admin/tenants/omega?confirm=omega");
  t.equal(fieldsOf((await leaving.until("E")).at(-1)!).C, "57P01");
  t.match(await connect(omega), /^28/);
  await server.tenant("gamma");
  const gamma: Login = { user: "gamma-user", password: passwordOf("gamma"), tenant: "gamma" };
  const resting = await session(gamma);
  await patch("/admin/tenants/gamma", { is_active: false });
  t.equal(fieldsOf((await resting.until("E")).at(-1)!).C, "57P01");
  t.match(await connect(gamma), /^28/);
});

t.test("a new password ends what is open with the old one", async (t) => {
  const login = await newUser("alpha", "changes", ["user"]);
  const resting = await session(login);
  const password = "another password";
  await server.expect(200, "POST", "/admin/tenants/alpha/users/changes/reset-password", { password });
  t.equal(fieldsOf((await resting.until("E")).at(-1)!).C, "57P01");
  t.equal(await connect(login), "28P01");
  (await session({ ...login, password })).close();
});

t.test("where there are roles, a connection begins as no other and sees no other's statements", async (t) => {
  await server.tenant("delta", ["admin"]);
  const boss = await session({ user: "delta-user", password: passwordOf("delta"), tenant: "delta" });
  const oslo = await newUser("delta", "oslo", ["user"]);
  await boss.ask("CREATE USER oslo; CREATE ROLE bergen; CREATE ROLE north; GRANT north TO oslo");
  await boss.ask("CREATE TABLE sale (id int, owner text); REVOKE ALL ON sale FROM member");
  const start = async (options: string) => {
    const client = await WireClient.connect(postgresPort(server));
    client.start({ user: oslo.user, database: "postgres", options });
    const error = (await signIn(client, oslo.password)) ?? (await client.until("Z")).find(({ type }) => type === "E");
    const isOpen = error === undefined;
    const who = isOpen ? (await run(client, "SELECT current_user, session_user")).values : fieldsOf(error).C!;
    client.close();
    return who;
  };
  for (const options of ["-c role=bergen", "-c ROLE=bergen", "-c session_authorization=bergen"]) {
    t.equal(await start(options), "42501", options);
  }
  t.equal(await start("-c role=north"), "north,oslo");
  await boss.ask("SELECT 'a secret of the boss'");
  const mine = await session(oslo);
  const others = await run(mine, "SELECT usename, query FROM pg_stat_activity WHERE usename <> 'oslo'");
  t.equal(others.values, "delta-user,<insufficient privilege>");
  t.match((await run(mine, "SELECT query FROM pg_stat_activity WHERE usename = 'oslo'")).values, /pg_stat_activity/);
  t.match((await run(boss, "SELECT query FROM pg_stat_activity WHERE usename = 'oslo'")).values, /pg_stat_activity/);
  const seen = async () => (await run(mine, "SELECT query FROM pg_stat_activity WHERE usename <> 'oslo'")).values;
  for (const role of ["pg_monitor", "pg_read_all_stats"]) {
    await boss.ask(`GRANT ${role} TO oslo; SELECT 'a secret of the boss'`);
    t.match(await seen(), /a secret of the boss/, role);
    t.equal((await run(mine, "SELECT count(*) FROM sale")).code, "42501");
    await boss.ask(`REVOKE ${role} FROM oslo`);
    t.equal(await seen(), "<insufficient privilege>");
  }
  await boss.ask(
    `CREATE FUNCTION lent() RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
     BEGIN PERFORM pg_sleep(600); RETURN current_user; END $$`,
  );
  await run(mine, "SET statement_timeout = 500");
  mine.send(query("SELECT lent()"), query("SELECT current_user"), query("SELECT count(*) FROM sale"));
  t.equal(fieldsOf((await mine.until("Z")).find(({ type }) => type === "E")!).C, "57014");
  t.same(valuesOf((await mine.until("Z")).find(({ type }) => type === "D")!), ["oslo"], "it ran as itself again");
  t.equal(fieldsOf((await mine.until("Z")).find(({ type }) => type === "E")!).C, "42501");
  for (const client of [boss, mine]) client.close();
});
