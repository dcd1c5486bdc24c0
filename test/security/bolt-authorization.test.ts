/** What each kind of caller may do by Bolt, and whose connections end when a user, a key or a tenant goes. */
import t, { type Test } from "tap";
import { BoltClient, boltPort, codeOf, message, run as runMessage, WITH_BOLT } from "../e2e/bolt-client.js";
import { passwordOf, TestServer } from "../e2e/server.js";
import { PRINCIPALS, type PrincipalName } from "./authorization-table.js";
import { BOLT_CASES, type BoltCase } from "./bolt-cases.js";

const MARKER = "xyzzy-of-beta";

interface Login {
  readonly user: string;
  readonly password: string;
  readonly tenant: string;
}

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({ ...WITH_BOLT, TESSERA_ACTORS: "1" });
});
t.teardown(() => server?.stop());

const ending = (code: string): string => code.slice(code.lastIndexOf(".") + 1);

async function connect(login: Login): Promise<BoltClient | string> {
  const client = await BoltClient.connect(boltPort(server));
  const answer = await client.start([5, 8], login);
  return answer.kind === "failure" ? ending(codeOf(answer)) : client;
}

async function session(login: Login): Promise<BoltClient> {
  const client = await connect(login);
  if (typeof client === "string") throw new Error(`${login.user} was refused: ${client}`);
  return client;
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

async function verdictOf(one: BoltCase, login: Login, n: number): Promise<string> {
  const client = await connect(login);
  if (typeof client === "string") return client;
  try {
    for (const text of one.statements?.(n) ?? []) {
      const rows = await client.rows(text, {}, one.extra?.(login.tenant) ?? {});
      if (typeof rows === "string") return ending(rows);
      if (JSON.stringify(rows).includes(MARKER)) return "sees another tenant's data";
      const [first] = rows as unknown[][];
      if (one.gives !== undefined && first?.[0] !== one.gives) return `gives ${JSON.stringify(rows)}`;
    }
    return "yes";
  } finally {
    client.close();
  }
}

t.test("the matrix", { timeout: 120_000 }, async (t) => {
  await server.tenant("beta", ["super_admin"]);
  const beta: Login = { user: "beta-user", password: passwordOf("beta"), tenant: "beta" };
  await (await session(beta)).rows(`CREATE (:Thing:OfBeta {secret: '${MARKER}'})`);
  await server.tenant("alpha");
  const user: Login = { user: "alpha-user", password: passwordOf("alpha"), tenant: "alpha" };
  const superAdmin = await newUser("alpha", "alpha-super", ["super_admin"]);
  const system: Login = { user: "admin", password: server.password, tenant: "system" };
  for (const login of [superAdmin, system]) await (await session(login)).rows("CREATE (:Thing {secret: 'own'})");
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
  t.equal(await connect({ user: "alpha-user", password: "", tenant: "alpha" }), "Unauthorized", "nobody");
  let n = 0;
  for (const one of BOLT_CASES) {
    const problems: string[] = [];
    for (const { name } of PRINCIPALS) {
      if (name === "nobody") continue;
      const verdict = await verdictOf(one, logins[name], ++n);
      if (verdict !== one.expected(name)) problems.push(`${name}: ${verdict}, not ${one.expected(name)}`);
    }
    t.same(problems, [], `${one.what}: ${one.statements?.(0).at(-1) ?? ""}`);
  }
});

/** How a connection that rests, and one whose statement runs, end after something was done. */
async function endsAfter(t: Test, login: Login, act: () => Promise<unknown>): Promise<void> {
  const [resting, busy] = [await session(login), await session(login)];
  const endless = "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y WITH x, y WHERE x + y < 0 RETURN count(*)";
  busy.send(runMessage(endless), message("pull", { n: -1 }));
  t.equal((await busy.receive())!.kind, "success");
  await act();
  for (const client of [resting, busy]) {
    const rest = await client.until(100);
    t.equal(rest.at(-1)?.kind, "failure");
    await client.closed();
  }
  t.match(await connect(login), /^(Unauthorized|Forbidden)$/, "and it does not get in again");
}

t.test("connections end with the user, the key and the tenant", async (t) => {
  const patch = (path: string, body: object) => server.expect(200, "PATCH", path, body);
  const disabled = await newUser("alpha", "to-disable", ["user"]);
  await endsAfter(t, disabled, () => patch("/admin/tenants/alpha/users/to-disable", { is_active: false }));
  const owner = await newUser("alpha", "of-keys", ["user"]);
  const token = await server.login(owner.user, owner.password);
  const key = await newKey(owner, "FullAccess");
  await endsAfter(t, key, () => server.expect(204, "DELETE", `/v1/api-keys/${key.id}`, undefined, { token }));
  await server.tenant("gamma");
  const gamma: Login = { user: "gamma-user", password: passwordOf("gamma"), tenant: "gamma" };
  await endsAfter(t, gamma, () => patch("/admin/tenants/gamma", { is_active: false }));
  await server.tenant("delta");
  const delta: Login = { user: "delta-user", password: passwordOf("delta"), tenant: "delta" };
  await endsAfter(t, delta, () => server.expect(202, "DELETE", "/admin/tenants/delta?confirm=delta"));
});
