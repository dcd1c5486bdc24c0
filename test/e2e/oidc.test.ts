/** Tokens and sign-ins of a real provider of OpenID Connect: who gets in, as whom, and who does not. */
import { createHmac } from "node:crypto";
import { exportSPKI } from "jose";
import neo4j from "neo4j-driver";
import t from "tap";
import { boltPort, WITH_BOLT } from "./bolt-client.js";
import { AUDIENCE, CLIENT, IdentityProvider, REDIRECT } from "./identity-provider.js";
import { type Reply, TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";
import { fieldsOf, postgresPort, WITH_POSTGRES, WireClient } from "./wire-client.js";
import { signIn } from "./wire-sign-in.js";

let provider: IdentityProvider;
let server: TestServer;

t.before(async () => {
  provider = await IdentityProvider.start();
  const corp = {
    name: "corp",
    label: "Corp",
    issuer: provider.issuer,
    audience: [AUDIENCE],
    tenant_claim: "company",
    tenants: { "Acme Inc": "acme", "Gone Ltd": "gone" },
    roles_claim: "groups",
    roles: {
      staff: "user",
      sales: "role:seller",
      books: "role:accountant",
      lost: "role:nobody_made_it",
      boss: "admin",
    },
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    redirect_uri: REDIRECT,
    scopes: ["openid"],
  };
  server = await TestServer.start({
    ...WITH_POSTGRES,
    ...WITH_BOLT,
    TESSERA_ACTORS: "1",
    TESSERA_AUTH_OIDC_PROVIDERS: JSON.stringify([corp]),
    TESSERA_AUTH_OIDC_TENANT_PRIVATE_HOSTS: "127.0.0.1",
  });
  await server.tenant("acme", ["super_admin"]);
});
t.teardown(async () => {
  await server?.stop();
  await provider?.stop();
});

const STAFF = { company: "Acme Inc", groups: ["staff"] };
const withToken = (token: string): Promise<Reply> => server.call("GET", "/v1/users/me", undefined, { token });

async function refusal(token: string): Promise<string> {
  const { status, body } = await withToken(token);
  return status === 200 ? "in" : `${status} ${body.error.code}`;
}

t.test("an access token of the provider stands for a user of the tenant that its claims name", async (t) => {
  provider.accounts.set("ada", STAFF);
  const token = await provider.accessToken("ada");
  t.match((await withToken(token)).body.data, { username: "corp/acme:ada", tenant_id: "acme", roles: ["user"] });
  await server.rows("CREATE TABLE note (id integer PRIMARY KEY)", [], { token });
  t.same(
    await server.rows("SELECT current_user, current_setting('request.jwt.claims')::json->>'company'", [], { token }),
    [["corp/acme:ada", "Acme Inc"]],
  );
  const users = await server.expect(200, "GET", "/admin/tenants/acme/users");
  t.match(
    users.body.data.users.map((user: { username: string }) => user.username),
    ["acme-user", "corp/acme:ada"],
  );
});

t.test("what is wrong with a token is told by its code", async (t) => {
  const now = Math.floor(Date.now() / 1000);
  t.equal(await refusal(await provider.sign(STAFF)), "in");
  t.equal(await refusal(await provider.sign(STAFF, { alg: "ES256" })), "in");
  t.equal(await refusal(await provider.sign({ ...STAFF, aud: "another" })), "401 token_audience_wrong");
  t.equal(await refusal(await provider.sign({ ...STAFF, aud: null })), "401 token_audience_wrong");
  t.equal(await refusal(await provider.sign({ ...STAFF, iss: "https://else.example" })), "401 token_issuer_unknown");
  t.equal(await refusal(await provider.sign({ ...STAFF, iss: `${provider.issuer}/` })), "401 token_issuer_unknown");
  t.equal(await refusal(await provider.sign({ ...STAFF, exp: now - 60 })), "401 token_expired");
  t.equal(await refusal(await provider.sign({ ...STAFF, exp: now - 5 })), "in", "within the clocks' difference");
  t.equal(await refusal(await provider.sign({ ...STAFF, nbf: now + 60 })), "401 token_not_yet_valid");
  t.equal(await refusal(await provider.sign({ ...STAFF, nbf: now + 5 })), "in", "within the clocks' difference");
  t.equal(await refusal(await provider.sign({ ...STAFF, exp: null })), "401 missing_claims");
  t.equal(await refusal(await provider.sign({ ...STAFF, sub: null })), "401 missing_claims");
  const [head, , signature] = (await provider.sign(STAFF)).split(".");
  const [, others] = (await provider.sign({ ...STAFF, groups: ["boss"] })).split(".");
  t.equal(await refusal(`${head}.${others}.${signature}`), "401 token_signature_wrong");
});

t.test("nothing but a public key of the issuer proves a token", async (t) => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const [, claims] = (await provider.sign(STAFF)).split(".");
  t.equal(await refusal(`${part({ alg: "none" })}.${claims}.`), "401 token_algorithm_refused");
  t.equal(await refusal(`${part({ alg: "None", kid: provider.kid() })}.${claims}.x`), "401 token_algorithm_refused");
  const shared = await exportSPKI(provider.publicKey());
  for (const secret of [shared, shared.trim()]) {
    const unsigned = `${part({ alg: "HS256", kid: provider.kid() })}.${claims}`;
    const forged = `${unsigned}.${createHmac("sha256", secret).update(unsigned).digest("base64url")}`;
    t.equal(await refusal(forged), "401 token_algorithm_refused");
  }
  t.equal(await refusal(await provider.sign(STAFF, { kid: "never-there" })), "401 token_key_unknown");
  t.equal(await refusal(`${part({})}.${claims}.x`), "401 token_algorithm_refused");
  t.equal(await refusal(`x.${claims}.x`), "401 unauthorized");
});

t.test("a claim that is missing or unknown refuses, and nothing stands in for it", async (t) => {
  t.equal(await refusal(await provider.sign({ company: "Acme Inc" })), "401 missing_claims");
  t.equal(await refusal(await provider.sign({ groups: ["staff"] })), "401 missing_claims");
  t.equal(await refusal(await provider.sign({ ...STAFF, groups: [] })), "401 missing_claims");
  t.equal(await refusal(await provider.sign({ ...STAFF, groups: [7] })), "401 missing_claims");
  t.equal(await refusal(await provider.sign({ ...STAFF, groups: ["staff", "strangers"] })), "403 claim_unknown");
  t.equal(await refusal(await provider.sign({ ...STAFF, groups: ["toString"] })), "403 claim_unknown");
  t.equal(await refusal(await provider.sign({ ...STAFF, company: "system" })), "403 claim_unknown");
  t.equal(await refusal(await provider.sign({ ...STAFF, company: "acme" })), "403 claim_unknown", "not in the table");
  t.equal(await refusal(await provider.sign({ ...STAFF, company: "Gone Ltd" })), "403 claim_unknown", "no such tenant");
  const lost = await provider.sign({ ...STAFF, groups: ["lost"] });
  const answer = await server.sql("SELECT 1", [], { token: lost });
  t.match(
    answer,
    { status: 403, body: { error: { message: /nobody_made_it/ } } },
    "a role that the tenant does not have",
  );
});

t.test("claims decide what policies show", async (t) => {
  const admin = await server.login("acme-user", "password of acme");
  const as = (sql: string) => server.rows(sql, [], { token: admin });
  await as("CREATE ROLE seller");
  await as("CREATE ROLE accountant");
  await as("CREATE TABLE deal (id integer PRIMARY KEY, owner text, region text)");
  await as("INSERT INTO deal VALUES (1, 'eve', 'north'), (2, 'bob', 'north'), (3, 'bob', 'south')");
  await as("REVOKE ALL ON deal FROM member");
  await as("GRANT SELECT ON deal TO seller, accountant");
  await as("ALTER TABLE deal ENABLE ROW LEVEL SECURITY");
  await as("CREATE POLICY own ON deal TO seller USING (owner = current_setting('request.jwt.claims')::json->>'sub')");
  await as("CREATE POLICY south ON deal TO accountant USING (region = 'south')");
  const ids = async (claims: object): Promise<unknown[]> => {
    const token = await provider.sign({ company: "Acme Inc", ...claims });
    return (await server.rows("SELECT id FROM deal ORDER BY id", [], { token })).flat();
  };
  t.same(await ids({ sub: "eve", groups: ["sales"] }), [1]);
  t.same(await ids({ sub: "bob", groups: ["sales"] }), [2, 3]);
  t.same(await ids({ sub: "eve", groups: ["books"] }), [3]);
  t.same(await ids({ sub: "eve", groups: ["sales", "books"] }), [1, 3]);
  const eve = await provider.sign({ company: "Acme Inc", sub: "eve", groups: ["sales"] });
  for (const sql of [
    'SET request.jwt.claims = \'{"sub": "bob"}\'',
    "SELECT set_config('request.jwt.claims', '{\"sub\": \"bob\"}', false)",
    "SELECT set_config('Request.JWT.Claims', '{\"sub\": \"bob\"}', true)",
  ]) {
    t.match(
      await server.sql(sql, [], { token: eve }),
      { status: 400, body: { error: { details: { sqlstate: "55P02" } } } },
      sql,
    );
  }
  const plain = await provider.sign({ ...STAFF, sub: "eve" });
  t.match(await server.sql("SELECT id FROM deal", [], { token: plain }), { status: 403 });
  t.same(await server.rows("SELECT current_setting('request.jwt.claims', true)", [], { token: admin }), [[null]]);
});

t.test("every door takes the token, and refuses what is none", async (t) => {
  const token = await provider.sign(STAFF);
  const expired = await provider.sign({ ...STAFF, exp: 1_000_000 });
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  t.match(await server.call("POST", "/v1/mcp", ping, { token }), { status: 200 });
  t.match(await server.call("POST", "/v1/mcp", ping, { token: expired }), { status: 401 });

  const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
  const socket = await SocketClient.open(server.url, "/v1/ws", bearer(token));
  socket.send({ type: "query", sql: "SELECT current_user" });
  t.match((await socket.until("sql.done"))[1], { rows: [["corp/acme:ada"]] });
  socket.destroy();
  t.equal((await (await SocketClient.open(server.url, "/v1/ws", bearer(expired))).close()).code, 1008);
  const live = `/v1/subscribe?sql=${encodeURIComponent("SELECT id FROM note")}`;
  const until = new AbortController();
  const stream = await fetch(server.url + live, { headers: bearer(token), signal: until.signal });
  t.equal(stream.status, 200);
  until.abort();
  t.match(await server.call("GET", live, undefined, { token: expired }), { status: 401 });

  const overPostgres = async (password: string): Promise<string> => {
    const client = await WireClient.connect(postgresPort(server));
    client.start({ user: "key" });
    const refused = await signIn(client, password);
    client.close();
    return refused === null ? "in" : fieldsOf(refused).C!;
  };
  t.equal(await overPostgres(token), "in");
  t.equal(await overPostgres(expired), "28P01");

  const overBolt = async (password: string): Promise<string> => {
    const driver = neo4j.driver(`bolt://127.0.0.1:${boltPort(server)}`, neo4j.auth.bearer(password));
    try {
      await driver.executeQuery("RETURN 1");
      return "in";
    } catch (error) {
      return (error as { code: string }).code;
    } finally {
      await driver.close();
    }
  };
  t.equal(await overBolt(token), "in");
  t.equal(await overBolt(expired), "Neo.ClientError.Security.Unauthorized");
});

t.test("keys rotate; those that are known go on while the provider is down", async (t) => {
  const before = await provider.sign({ ...STAFF, sub: "rotating" });
  await provider.rotate();
  t.equal(await refusal(await provider.sign({ ...STAFF, sub: "rotating" })), "in", "the new key is fetched");
  t.equal(await refusal(before), "401 token_key_unknown", "the old one is gone");
  await provider.stop();
  t.equal(await refusal(await provider.sign({ ...STAFF, sub: "offline" })), "in");
  const fetched = provider.asked.length;
  t.match(
    await refusal(await provider.sign(STAFF, { kid: "newer" })),
    /^(401 token_key_unknown|503 issuer_unavailable)$/,
  );
  t.equal(provider.asked.length, fetched);
  await provider.listen();
});

interface Begun {
  readonly url: string;
  readonly cookie: string;
}

async function begin(id: string): Promise<Begun> {
  const { body, headers } = await server.expect(200, "POST", "/v1/auth/oidc/start", { provider: id }, { token: null });
  return { url: body.data.authorization_url, cookie: headers.getSetCookie()[0]! };
}

async function finish({ url, cookie }: Begun, account: string, changed: object = {}, sent = true): Promise<Reply> {
  const { searchParams } = await provider.browse(url, account);
  const body = Object.fromEntries(["code", "state", "iss"].map((name) => [name, searchParams.get(name) ?? undefined]));
  const headers: Record<string, string> = sent ? { cookie: cookie.split(";")[0]! } : {};
  return server.call("POST", "/v1/auth/oidc/finish", { ...body, ...changed }, { token: null, headers });
}

t.test("signing in by code and PKCE makes a session, which an administrator revokes", async (t) => {
  const list = await server.expect(200, "GET", "/v1/auth/oidc", undefined, { token: null });
  t.same(list.body.data.providers, [{ id: "corp", label: "Corp" }]);
  provider.accounts.set("grace", { ...STAFF, groups: ["boss"] });
  const begun = await begin("corp");
  const asked = new URL(begun.url).searchParams;
  t.equal(asked.get("code_challenge_method"), "S256");
  t.ok(asked.get("nonce") && asked.get("state"));
  t.match(begun.cookie, /^tessera_oidc=.*; Path=\/v1\/auth\/oidc; Max-Age=600; HttpOnly; SameSite=Strict$/);
  const { status, body, headers } = await finish(begun, "grace");
  t.equal(status, 200, JSON.stringify(body));
  t.match(headers.getSetCookie()[0], /Max-Age=0/);
  const token: string = body.access_token;
  t.match((await withToken(token)).body.data, { username: "corp/acme:grace", roles: ["admin"], tenant_id: "acme" });
  t.same(await server.rows("SELECT current_setting('request.jwt.claims')::json->>'sub'", [], { token }), [["grace"]]);
  for (const [method, path, sent] of [
    ["POST", "/v1/api-keys", { name: "k" }],
    ["POST", "/v1/auth/password", { current_password: "x", new_password: "a new password" }],
    ["POST", "/v1/auth/mfa/enroll", {}],
  ] as const) {
    t.match(await server.call(method, path, sent, { token }), {
      status: 403,
      body: { error: { message: /signs in with/ } },
    });
  }
  t.equal(
    (await server.call("POST", "/v1/auth/login", { username: "corp/acme:grace", password: "" }, { token: null }))
      .status,
    401,
  );
  const bearer = await provider.sign({ ...STAFF, sub: "grace" });
  t.equal(await refusal(bearer), "in");
  await server.expect(200, "PATCH", "/admin/tenants/acme/users/corp%2Facme:grace", { is_active: false });
  t.equal(await refusal(token), "401 unauthorized", "the session has ended");
  t.equal(await refusal(bearer), "401 unauthorized", "and so have the provider's tokens");
  t.match(await finish(await begin("corp"), "grace"), { status: 403 });
  await server.expect(200, "PATCH", "/admin/tenants/acme/users/corp%2Facme:grace", { is_active: true });
  t.equal(await refusal(token), "401 unauthorized", "a session that was revoked does not come back");
});

t.test("a sign-in ends only where it was begun", async (t) => {
  provider.accounts.set("ida", STAFF);
  const failed = { status: 401, body: { error: { code: "sign_in_failed" } } };
  t.match(await finish(await begin("corp"), "ida", { state: "another" }), failed, "another state");
  t.match(
    await finish(await begin("corp"), "ida", { code: "made-up" }),
    failed,
    "a code that the provider does not know",
  );
  t.match(await finish(await begin("corp"), "ida", {}, false), failed, "another browser");
  t.match(await finish(await begin("corp"), "ida", { iss: "https://evil.example" }), failed, "another issuer's answer");
  const [one, two] = [await begin("corp"), await begin("corp")];
  t.match(await finish({ url: one.url, cookie: two.cookie }, "ida"), failed, "two sign-ins mixed up");
  t.match(await finish({ url: one.url, cookie: one.cookie.replace("=e", "=f") }, "ida"), failed, "a changed cookie");
  provider.accounts.set("mallory", { company: "Acme Inc" });
  t.match(await finish(await begin("corp"), "mallory"), { status: 401, body: { error: { code: "missing_claims" } } });
  t.match(await server.call("POST", "/v1/auth/oidc/start", { provider: "none" }, { token: null }), { status: 404 });
});

t.test("a tenant's administrator describes a provider for the tenant", async (t) => {
  const own = await IdentityProvider.start();
  t.teardown(() => own.stop());
  await server.tenant("beta", ["super_admin"]);
  const admin = await server.login("beta-user", "password of beta");
  const path = "/admin/tenants/beta/oidc/own";
  const spec = { issuer: own.issuer, audience: ["beta-app"], roles_claim: "realm.roles", roles: { r: "admin" } };
  const put = (body: object, tenant = "beta") =>
    server.call("PUT", path.replace("beta", tenant), body, { token: admin });
  t.match(await put(spec, "acme"), { status: 403 }, "of another tenant");
  t.match(await put({ ...spec, tenant: "acme" }), { status: 400, body: { error: { message: /tenant/ } } });
  t.match(await put({ ...spec, issuer: "http://10.0.0.1" }), { status: 400, body: { error: { message: /https/ } } });
  t.match(
    await put({ ...spec, issuer: provider.issuer, audience: [AUDIENCE] }),
    { status: 409 },
    "the installation's own",
  );
  t.match(await put({ ...spec, client_id: "c" }), { status: 400, body: { error: { message: /redirect_uri/ } } });
  t.match(
    await put({ ...spec, roles: { r: "super_admin" } }),
    { status: 403, body: { error: { message: /system tenant/ } } },
    "administrators of tenants are made by the installation's only",
  );
  const sent = { ...spec, client_id: "c", client_secret: "hidden", redirect_uri: REDIRECT };
  t.match(await put(sent), { status: 200, body: { data: { name: "own", has_client_secret: true } } });
  t.notMatch(
    JSON.stringify((await server.call("GET", "/admin/tenants/beta/oidc", undefined, { token: admin })).body),
    /hidden/,
  );
  const listed = await server.call("GET", "/v1/auth/oidc?tenant=beta", undefined, { token: null });
  t.same(listed.body.data.providers.at(-1), { id: "beta/own", label: "own" });

  const claims = { aud: "beta-app", realm: { roles: ["r"] }, sub: "ada" };
  const token = await own.sign(claims);
  t.match((await withToken(token)).body.data, { username: "beta/own:ada", tenant_id: "beta", roles: ["admin"] });
  t.equal(await refusal(await own.sign({ ...claims, aud: AUDIENCE })), "401 token_audience_wrong");
  const forAcme = await own.sign({ ...claims, company: "Acme Inc", tenant: "acme" });
  t.match((await withToken(forAcme)).body.data, { tenant_id: "beta" }, "its users are of its tenant");
  await server.expect(204, "DELETE", path, undefined, { token: admin });
  t.equal(await refusal(token), "401 token_issuer_unknown");
  t.match(await server.call("DELETE", path, undefined, { token: admin }), { status: 404 });
});

t.test("an issuer whose metadata is another's is not believed", async (t) => {
  const liar = await IdentityProvider.start();
  t.teardown(() => liar.stop());
  const admin = await server.login("beta-user", "password of beta");
  const spec = { issuer: liar.issuer, audience: ["beta-app"], roles_claim: "groups", roles: { staff: "user" } };
  await server.expect(200, "PUT", "/admin/tenants/beta/oidc/liar", spec, { token: admin });
  liar.intercept = (request, response) => {
    if (!request.url!.startsWith("/.well-known")) return false;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ issuer: provider.issuer, jwks_uri: `${liar.issuer}/jwks` }));
    return true;
  };
  const token = await liar.sign({ groups: ["staff"], aud: "beta-app" });
  const { status, body } = await withToken(token);
  t.match(
    { status, code: body.error.code, message: body.error.message },
    {
      status: 502,
      code: "issuer_misconfigured",
      message: /another issuer/,
    },
  );
});

t.test("refusals are in the audit trail, without the token", async (t) => {
  const token = await provider.sign({ ...STAFF, groups: ["strangers"] });
  t.equal(await refusal(token), "403 claim_unknown");
  for (let tries = 0; ; tries++) {
    const { body } = await server.expect(200, "GET", "/admin/audit?action=auth.refused&limit=100");
    const codes = body.data.entries.map((entry: { code: string }) => entry.code);
    if (codes.includes("claim_unknown") && codes.includes("token_expired")) break;
    if (tries > 100) t.fail(`not there: ${codes}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.notMatch(server.lines.join("\n"), /eyJ/);
});
