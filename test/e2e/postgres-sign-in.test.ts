/** Who gets in by PostgreSQL's protocol, and how: proofs of SCRAM-SHA-256, API keys in clear text, guesses. */
import t from "tap";
import { passwordOf, TestServer } from "./server.js";
import {
  bind,
  execute,
  fieldsOf,
  message,
  parse,
  postgresPort,
  query,
  type Received,
  sync,
  WITH_POSTGRES,
  WireClient,
} from "./wire-client.js";
import { ASKS, initial, kindOf, type Proving, prove, signIn } from "./wire-sign-in.js";

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" });
  await server.tenant("acme");
});
t.teardown(() => server?.stop());

async function startAs(user: string): Promise<WireClient> {
  const client = await WireClient.connect(postgresPort(server));
  client.start({ user });
  return client;
}

/** How a sign-in ended: "in", or the error's fields. */
async function tryAs(user: string, password: string): Promise<"in" | Record<string, string>> {
  const client = await startAs(user);
  try {
    const refusal = await signIn(client, password);
    return refusal === null ? "in" : fieldsOf(refusal);
  } finally {
    client.close();
  }
}

async function offerTo(user: string): Promise<{ client: WireClient; offer: Received }> {
  const client = await startAs(user);
  return { client, offer: (await client.receive())! };
}

t.test("a user proves the password, and the server proves that it knows it", async (t) => {
  const { client, offer } = await offerTo("acme-user");
  t.equal(kindOf(offer), ASKS.sasl);
  t.equal(offer.body.toString("utf8", 4), "SCRAM-SHA-256\0\0", "without encryption there is nothing to bind to");
  t.match(await prove(client, passwordOf("acme")), { iterations: 15_000 });
  t.equal(kindOf((await client.receive())!), ASKS.ok);
  t.equal((await client.until("Z")).at(-1)!.type, "Z");
  client.close();
  t.equal(await tryAs("acme-user@acme", passwordOf("acme")), "in");
  t.equal(await tryAs("ACME-USER", passwordOf("acme")), "in", "names have no case");
  t.match(await tryAs("acme-user", "wrong password"), { S: "FATAL", C: "28P01", H: /"key"/ });
});

t.test("names cannot be probed: each has a challenge, always the same one", async (t) => {
  const saltOf = async (user: string): Promise<string> => {
    const { client } = await offerTo(user);
    client.send(initial("SCRAM-SHA-256", "n,,n=,r=abc"));
    const first = (await client.receive())!.body.toString("utf8", 4);
    client.close();
    const [, nonce, salt, iterations] = /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(first)!;
    t.match(nonce, /^abc.{24}$/);
    t.equal(iterations, "15000");
    t.equal(Buffer.from(salt!, "base64").length, 16);
    return salt!;
  };
  const salts = [await saltOf("acme-user"), await saltOf("nobody"), await saltOf("somebody")];
  t.equal(new Set(salts).size, 3);
  t.same([await saltOf("acme-user"), await saltOf("Nobody"), await saltOf("somebody")], salts);
  t.match(await tryAs("nobody", "any password"), { S: "FATAL", C: "28P01", M: /authentication failed .*"nobody"/ });
});

t.test("a new password is the one to prove; letters that look alike are one", async (t) => {
  const change = (password: string) =>
    server.expect(200, "POST", "/admin/tenants/acme/users/acme-user/reset-password", { password });
  await change("the second password");
  t.match(await tryAs("acme-user", passwordOf("acme")), { C: "28P01" });
  t.equal(await tryAs("acme-user", "the second password"), "in");
  // SASLprep: a no-break space and the ligature are what clients send them as.
  await change("the\u00a0ﬁfth password");
  t.equal(await tryAs("acme-user", "the fifth password"), "in");
  // It does not allow this one, and clients send it as it is.
  await change("emoji 🥝 password");
  t.equal(await tryAs("acme-user", "emoji 🥝 password"), "in");
});

t.test("an API key comes in clear text, under a name of its own", async (t) => {
  const { raw_key } = (await server.expect(201, "POST", "/v1/api-keys", { name: "reader" })).body;
  const { client, offer } = await offerTo("key");
  t.equal(kindOf(offer), ASKS.password);
  client.send(message("p", raw_key));
  t.equal(kindOf((await client.receive())!), ASKS.ok);
  client.close();
  t.equal(await tryAs("key@system", raw_key), "in");
  t.match(await tryAs("key", `${raw_key}x`), { C: "28P01" });
  const audit = "/admin/audit?action=postgres.login&outcome=refused";
  // Wrong passwords are there, too: invalid_credentials.
  const noted = async () =>
    (await server.expect(200, "GET", audit)).body.data.entries.filter(
      ({ code }: { code: string }) => code === "unauthorized",
    );
  while ((await noted()).length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  t.match(await noted(), [{ username: null, address: "127.0.0.1", count: 1 }]);
  t.match(await tryAs("key", "no key at all"), { C: "28P01" });
  t.match(await tryAs("admin", raw_key), { C: "28P01", H: /give "key" as the user/ });
  // A user of that name has a password.
  await server.expect(201, "POST", "/admin/tenants/acme/users", { username: "key", password: "password of key" });
  t.equal(await tryAs("key", "password of key"), "in");
});

t.test("a user with a second factor is told to use a key", async (t) => {
  const password = "factor password";
  await server.expect(201, "POST", "/admin/tenants/acme/users", { username: "careful", password });
  const token = await server.login("careful", password);
  const { secret } = (await server.expect(200, "POST", "/v1/auth/mfa/enroll", {}, { token })).body.data;
  const { TOTP, Secret } = await import("otpauth");
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await server.expect(200, "POST", "/v1/auth/mfa/confirm", { code }, { token });
  t.match(await tryAs("careful", password), { C: "28000", M: /second factor/, H: /"key"/ });
  t.match(await tryAs("careful", "wrong password"), { C: "28P01" });
});

t.test("who is disabled does not get in", async (t) => {
  await server.expect(200, "POST", "/admin/tenants/acme/users/acme-user/reset-password", { password: "a password" });
  await server.expect(200, "PATCH", "/admin/tenants/acme/users/acme-user", { is_active: false });
  t.match(await tryAs("acme-user", "a password"), { S: "FATAL", C: "28000", M: /disabled/ });
  await server.expect(200, "PATCH", "/admin/tenants/acme/users/acme-user", { is_active: true });
  t.equal(await tryAs("acme-user", "a password"), "in");
});

t.test("guesses are counted with those over HTTP, and the audit trail has them", async (t) => {
  const password = "password of guessed";
  await server.expect(201, "POST", "/admin/tenants/acme/users", { username: "guessed", password });
  t.equal(await tryAs("guessed", password), "in");
  const ended = async (outcome: string) =>
    (await server.expect(200, "GET", `/admin/audit?username=guessed&action=postgres.login&outcome=${outcome}`)).body
      .data.entries;
  t.match(await ended("ok"), [{ tenant: "acme", address: "127.0.0.1" }]);
  for (let i = 0; i < 5; i++) t.match(await tryAs("guessed", `wrong ${i}`), { C: "28P01" });
  t.match(await tryAs("guessed", password), { S: "FATAL", C: "53400", M: /blocked/ }, "also with the right one");
  t.equal(
    (await server.call("POST", "/v1/auth/login", { username: "guessed", password }, { token: null })).status,
    429,
  );
  t.ok((await ended("refused")).length >= 5);
});

t.test("exchanges that break the rules end with an error", async (t) => {
  const password = "a password";
  const ended = async (how: Proving): Promise<Record<string, string>> => {
    const { client } = await offerTo("acme-user");
    const answer = await prove(client, password, how);
    t.equal(await client.receive(), null);
    return "type" in answer ? fieldsOf(answer) : {};
  };
  t.match(await ended({ mechanism: "SCRAM-SHA-1" }), { C: "08P01", M: /not offered/ });
  t.match(await ended({ mechanism: "SCRAM-SHA-256-PLUS" }), { C: "08P01", M: /not offered/ });
  t.match(await ended({ header: "p=tls-server-end-point,," }), { C: "08P01", M: /channel binding/ });
  t.match(await ended({ header: "n,a=admin," }), { C: "0A000", M: /authorization identity/ });
  t.match(await ended({ header: "n,,m=x," }), { C: "0A000", M: /extension/ });
  t.match(await ended({ header: "x,," }), { C: "08P01", M: /malformed/ });
  t.match(await ended({ binding: Buffer.from("x") }), { C: "28000", M: /channel binding check failed/ });
  t.match(await ended({ spoil: (final) => final.replace(",r=", ",r=x") }), { C: "08P01", M: /nonce/ });
  t.match(await ended({ spoil: (final) => final.slice(0, -3) }), { C: "08P01", M: /malformed/ });
  const { client } = await offerTo("acme-user");
  t.match(await prove(client, password, { header: "y,," }), { iterations: 15_000 }, "y: the server offers no binding");
  client.close();
  // The first message may come by itself.
  const second = await offerTo("acme-user");
  second.client.send(message("p", "SCRAM-SHA-256", Buffer.from([255, 255, 255, 255])));
  const empty = (await second.client.receive())!;
  t.equal(kindOf(empty), ASKS.saslContinue);
  t.equal(empty.body.length, 4);
  second.client.close();
});

t.test("/metrics counts connections, sign-ins and requests", async (t) => {
  const password = "a password";
  const shown = async (): Promise<(sample: string) => number> => {
    const page = await (await fetch(`${server.url}/metrics`)).text();
    return (sample) => {
      const line = page.split("\n").find((each) => each.startsWith(`tessera_postgres_${sample} `));
      return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(" ")));
    };
  };
  // Those of earlier tests are noticed to be gone at some time.
  let before = await shown();
  while (before("connections") > 0) before = await shown();
  const client = await startAs("acme-user");
  t.equal(await signIn(client, password), null);
  await client.until("Z");
  await client.ask("CREATE TABLE counted (i int)");
  await client.ask("SELECT nope");
  client.send(parse("", "SELECT 1"), bind("", ""), execute(""), sync);
  await client.until("Z");
  client.send(query("COPY counted FROM STDIN"));
  await client.until("G");
  client.send(message("d", Buffer.from("1\n2\n")), message("c"));
  await client.until("Z");
  await tryAs("acme-user", "wrong password");
  const after = await shown();
  const grown = (sample: string) => after(sample) - before(sample);
  t.equal(grown('sign_ins_total{method="scram",outcome="ok"}'), 1);
  t.equal(grown('sign_ins_total{method="scram",outcome="refused"}'), 1);
  t.equal(grown('requests_total{kind="open",outcome="answered"}'), 1);
  t.equal(grown('requests_total{kind="simple",outcome="answered"}'), 3);
  t.equal(grown('requests_total{kind="extended",outcome="answered"}'), 1);
  t.equal(grown('request_duration_seconds_count{kind="simple"}'), 3);
  t.equal(
    grown('request_duration_seconds_bucket{le="+Inf",kind="copy"}'),
    grown('requests_total{kind="copy",outcome="answered"}'),
  );
  t.ok(grown('requests_total{kind="copy",outcome="answered"}') >= 1);
  t.ok(grown('request_duration_seconds_sum{kind="simple"}') > 0);
  t.ok(after("connections") >= 1);
  t.ok(after('sign_ins_total{method="scram",outcome="limited"}') >= 1);
  t.ok(after('sign_ins_total{method="key",outcome="ok"}') >= 2);
  t.ok(after('sign_ins_total{method="password",outcome="ok"}') >= 1);
  client.close();
});
