/** Who gets in by Bolt, and how: passwords, API keys, tokens, guesses. */
import neo4j from "neo4j-driver";
import t from "tap";
import { boltPort, WITH_BOLT } from "./bolt-client.js";
import { passwordOf, TestServer } from "./server.js";

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({ ...WITH_BOLT, TESSERA_ACTORS: "1" });
  await server.tenant("acme");
});
t.teardown(() => server?.stop());

type Token = Parameters<typeof neo4j.driver>[1];

/** "in", or the error's code. */
async function tryWith(token: Token, query = "RETURN 1"): Promise<string> {
  const driver = neo4j.driver(`bolt://127.0.0.1:${boltPort(server)}`, token);
  try {
    await driver.executeQuery(query);
    return "in";
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await driver.close();
  }
}

const UNAUTHORIZED = "Neo.ClientError.Security.Unauthorized";

async function makeKey(permission: string): Promise<{ readonly raw: string; readonly id: string }> {
  const token = await server.login("acme-user", passwordOf("acme"));
  const { body } = await server.expect(201, "POST", "/v1/api-keys", { name: "k", permission }, { token });
  return { raw: body.raw_key, id: body.data.api_key.id };
}

t.test("a user with a password", async (t) => {
  t.equal(await tryWith(neo4j.auth.basic("acme-user", passwordOf("acme"))), "in");
  t.equal(await tryWith(neo4j.auth.basic("acme-user", "wrong")), UNAUTHORIZED);
  t.equal(await tryWith(neo4j.auth.basic("nobody", "wrong")), UNAUTHORIZED);
  t.equal(await tryWith(undefined), UNAUTHORIZED, "nobody at all");
  t.equal(await tryWith(neo4j.auth.kerberos("x")), UNAUTHORIZED);
});

t.test("an API key and an access token", async (t) => {
  const { raw } = await makeKey("FullAccess");
  t.equal(await tryWith(neo4j.auth.basic("key", raw), "CREATE (:Of {a: 'key'})"), "in");
  t.equal(await tryWith(neo4j.auth.bearer(raw)), "in");
  t.equal(await tryWith(neo4j.auth.bearer(await server.login("acme-user", passwordOf("acme")))), "in");
  t.equal(await tryWith(neo4j.auth.bearer("nonsense")), UNAUTHORIZED);
  const reader = await makeKey("ReadOnly");
  t.equal(await tryWith(neo4j.auth.bearer(reader.raw), "MATCH (n) RETURN n"), "in");
  t.equal(await tryWith(neo4j.auth.bearer(reader.raw), "CREATE (:Never)"), "Neo.ClientError.Security.Forbidden");
});

t.test("sign-ins are counted and audited", async (t) => {
  const page = (await server.call("GET", "/metrics", undefined, { token: null })).body as string;
  t.match(page, /tessera_bolt_sign_ins_total\{method="password",outcome="ok"\} \d/);
  t.match(page, /tessera_bolt_sign_ins_total\{method="key",outcome="refused"\} \d/);
  const refused = async (): Promise<unknown[]> =>
    (await server.expect(200, "GET", "/admin/audit?action=bolt.login&outcome=refused")).body.data.entries;
  // Refusals are gathered for a while.
  while ((await refused()).length === 0) await new Promise((resolve) => setTimeout(resolve, 100));
});

t.test("guesses from one address are slowed down", async (t) => {
  const strict = await TestServer.start({
    ...WITH_BOLT,
    TESSERA_ACTORS: "1",
    TESSERA_RATE_LIMIT_PER_SECOND: "1",
    TESSERA_RATE_LIMIT_BURST: "2",
  });
  t.teardown(() => strict.stop());
  const codes: string[] = [];
  for (let i = 0; i < 5; i++) {
    const driver = neo4j.driver(`bolt://127.0.0.1:${boltPort(strict)}`, neo4j.auth.basic("admin", `guess ${i}`));
    codes.push(
      await driver.getServerInfo().then(
        () => "in",
        (error: { code: string }) => error.code,
      ),
    );
    await driver.close();
  }
  t.ok(codes.includes("Neo.ClientError.Security.AuthenticationRateLimit"), codes.join());
});
