import { createHash, createHmac } from "node:crypto";
import t from "tap";
import type { IdentityAnswer } from "../../src/gateway/actor-link.js";
import { Admission } from "../../src/gateway/admission.js";
import { RateLimiter } from "../../src/gateway/rate-limiter.js";
import { REQUEST_READ_ONLY } from "../../src/protocol/frames.js";
import type { Identity } from "../../src/protocol/identity.js";
import { FakeClock } from "./fake-clock.js";
import { ALICE, errorOf, SECRET, type TestGateway, testGateway, tokenOf } from "./test-gateway.js";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const KEYS: Readonly<Record<string, Partial<Identity>>> = {
  ak_full: {},
  tessera_sk_full: {},
  tessera_full: {},
  ak_read: { permission: "ReadOnly" },
  ak_disabled: { active: false },
};

/** Knows ALICE and the keys above, plus what a test changes. */
function knows(changes: { alice?: Partial<Identity> | null; keys?: typeof KEYS } = {}) {
  return {
    identity(by: "user" | "key", value: string): Identity | null {
      if (by === "user")
        return value === ALICE.userId && changes.alice !== null ? { ...ALICE, ...changes.alice } : null;
      const keys = { ...KEYS, ...changes.keys };
      const name = Object.keys(keys).find((key) => sha256(key) === value);
      return name === undefined ? null : { ...ALICE, keyId: `id of ${name}`, ...keys[name] };
    },
  };
}

const withAuthorization = ({ url }: TestGateway, authorization: string, path = "/v1/users/me"): Promise<Response> =>
  fetch(url + path, { headers: { authorization } });

function handMade(header: object, payload: object, secret: Uint8Array): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part(header)}.${part(payload)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

t.test("credentials that hold", async (t) => {
  const gateway = await testGateway(t, { behaviour: knows() });
  const token = gateway.token();
  const good = [`Bearer ${token}`, `bearer ${token}`, "Bearer ak_full", "Bearer tessera_sk_full"];
  for (const authorization of [...good, "Bearer tessera_full", "ApiKey ak_full", "apikey tessera_sk_full"]) {
    for (const time of ["first", "again"]) {
      t.equal((await withAuthorization(gateway, authorization)).status, 200, `${authorization.slice(0, 20)} ${time}`);
    }
  }
  t.match(gateway.actors[0]!.requests.at(-1)!.head, { keyId: "id of tessera_sk_full", tenantId: "acme" });
});

t.test("credentials that do not hold", async (t) => {
  const gateway = await testGateway(t, { behaviour: knows() });
  const { clock, token } = gateway;
  const seconds = Math.floor(clock.wall() / 1000);
  const claims = {
    sub: ALICE.userId,
    username: "alice",
    tenant_id: "acme",
    company_id: "acme",
    roles: ["user"],
    epoch: 3,
    iat: seconds,
    exp: seconds + 60,
    iss: "tessera",
    aud: "tessera:access",
  };
  t.equal(
    (await withAuthorization(gateway, `Bearer ${handMade({ alg: "HS256", typ: "JWT" }, claims, SECRET)}`)).status,
    200,
    "the hand-made token is right but for what is changed below",
  );
  const { tenant_id: _, ...withoutTenant } = claims;
  const bad: readonly [string, string, string][] = [
    ["alg none", `${handMade({ alg: "none" }, claims, SECRET).split(".").slice(0, 2).join(".")}.`, "unauthorized"],
    ["alg HS384", handMade({ alg: "HS384" }, claims, SECRET), "unauthorized"],
    ["wrong secret", tokenOf(clock, {}, Buffer.alloc(32, 8)), "unauthorized"],
    ["expired", token({ exp: seconds - 1 }), "unauthorized"],
    ["another tenant", token({ tenant_id: "umbrella" }), "unauthorized"],
    ["another company", token({ company_id: "umbrella" }), "unauthorized"],
    ["another epoch", token({ epoch: 2 }), "unauthorized"],
    ["unknown user", token({ sub: "nobody" }), "unauthorized"],
    ["another audience", handMade({ alg: "HS256" }, { ...claims, aud: "tessera:mfa" }, SECRET), "unauthorized"],
    ["a claim is missing", handMade({ alg: "HS256" }, withoutTenant, SECRET), "missing_claims"],
    // The last character stands for four bits, so "B" would mean the same as "A".
    ["tampered", token().replace(/.$/, (last) => (last === "A" ? "E" : "A")), "unauthorized"],
    ["no token", "garbage", "unauthorized"],
    ["unknown key", "ak_unknown", "unauthorized"],
    ["disabled key", "ak_disabled", "unauthorized"],
    ["long key", `ak_${"x".repeat(1000)}`, "unauthorized"],
  ];
  for (const [name, credential, code] of bad) {
    const response = await withAuthorization(gateway, `Bearer ${credential}`);
    t.equal(response.status, 401, name);
    t.equal((await errorOf(response)).code, code, name);
    t.match(response.headers.get("www-authenticate"), /^Bearer realm="tessera", error="invalid_token"$/, name);
  }
  t.equal(gateway.actors[0]!.requests.length, 1, "only the good one came through");
});

t.test("no credential, or not where it belongs", async (t) => {
  const gateway = await testGateway(t, { behaviour: knows() });
  const none = await fetch(`${gateway.url}/v1/users/me`);
  t.equal(none.status, 401);
  t.equal(none.headers.get("www-authenticate"), 'Bearer realm="tessera"');
  t.match(await errorOf(none), { code: "missing_authorization" });
  const retired = await fetch(`${gateway.url}/v1/users/me`, { headers: { "x-api-key": "ak_full" } });
  t.equal(retired.status, 401);
  t.match(await errorOf(retired), { code: "missing_authorization", message: /Authorization: Bearer/ });
  for (const authorization of ["Basic YTpi", "ak_full", "Bearer", "Digest x"]) {
    const response = await withAuthorization(gateway, authorization);
    t.equal(response.status, 401, authorization);
    t.equal((await errorOf(response)).code, "missing_authorization", authorization);
  }
});

t.test("the directory is asked once, and again when something changed", async (t) => {
  let alice: Partial<Identity> | null = {};
  let asked = 0;
  const gateway = await testGateway(t, {
    behaviour: {
      identity(by, value) {
        asked++;
        return knows({ alice }).identity(by, value);
      },
    },
  });
  const { call, actors } = gateway;
  const all = await Promise.all(Array.from({ length: 5 }, () => call("/v1/users/me")));
  t.strictSame(
    all.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  t.equal(asked, 1);
  t.equal(
    (await call("/v1/users/me", { headers: { authorization: `Bearer ${gateway.token({ iat: 1 })}` } })).status,
    200,
  );
  t.equal(asked, 1, "another token of the same user needs no question");

  alice = { active: false };
  actors[0]!.say({ kind: "identity-changed", change: { kind: "user", userId: ALICE.userId, version: 2 } });
  actors[0]!.say({ kind: "identity-changed", change: { kind: "user", userId: "somebody else", version: 1 } });
  await gateway.raw("GET /health HTTP/1.1\r\nHost: x\r\n\r\n", /partitions/);
  const disabled = await call("/v1/users/me");
  t.equal(disabled.status, 401, "a disabled user's token stops working at once");
  t.equal((await errorOf(disabled)).code, "unauthorized");

  alice = { version: 3 };
  actors[0]!.say({ kind: "identity-changed", change: { kind: "tenant", tenantId: "acme", version: 3 } });
  await gateway.raw("GET /health HTTP/1.1\r\nHost: x\r\n\r\n", /partitions/);
  t.equal((await call("/v1/users/me")).status, 200);
  const before = asked;
  t.equal((await call("/v1/users/me")).status, 200);
  t.equal(asked, before);
});

t.test("an identity that is older than the newest change is used once and not kept", async (t) => {
  let asked = 0;
  const gateway = await testGateway(t, {
    behaviour: {
      identity() {
        asked++;
        return { ...ALICE, version: asked };
      },
    },
  });
  const { call, actors } = gateway;
  actors[0]!.say({ kind: "identity-changed", change: { kind: "tenant", tenantId: "acme", version: 2 } });
  await gateway.raw("GET /health HTTP/1.1\r\nHost: x\r\n\r\n", /partitions/);
  for (const questions of [1, 2, 2]) {
    t.equal((await call("/v1/users/me")).status, 200);
    t.equal(asked, questions);
  }
});

t.test("an answer that a change overtook is asked for again, and after a few times nobody is told", async (t) => {
  const answers: IdentityAnswer[] = [];
  const clock = new FakeClock();
  const admission = new Admission({
    ...{ secret: SECRET, clock, report: () => undefined, limiter: new RateLimiter({ perSecond: 0, burst: 0 }) },
    findIdentity: (_by, _value, answer) => answers.push(answer),
  });
  const told: string[] = [];
  const judge = (): void =>
    admission.judge(`Bearer ${tokenOf(clock, {})}`, {
      admitted: ({ valid }) => told.push(`valid: ${valid}`),
      refused: (code) => told.push(code),
    });
  const change = (version: number): void => admission.forget({ kind: "user", userId: ALICE.userId, version });
  judge();
  change(2);
  answers.pop()!({ ...ALICE, version: 1 });
  t.same([told, answers.length], [[], 1]);
  answers.pop()!({ ...ALICE, version: 2, active: false });
  t.same(told, ["unauthorized"], "she was disabled");
  change(3);
  judge();
  for (let version = 3; answers.length > 0; version++) {
    change(version + 1);
    answers.pop()!({ ...ALICE, version });
  }
  t.same(told, ["unauthorized", "partition_unavailable"]);
});

t.test("tokens and keys expire on time, also when they are cached", async (t) => {
  const clock = new FakeClock();
  const keys = { ak_short: { expiresAtMs: clock.wall() + 100_000 } };
  const gateway = await testGateway(t, { behaviour: knows({ keys }) });
  const token = `Bearer ${gateway.token({ exp: Math.floor(gateway.clock.wall() / 1000) + 60 })}`;
  t.equal((await withAuthorization(gateway, token)).status, 200);
  t.equal((await withAuthorization(gateway, "Bearer ak_short")).status, 200);
  gateway.clock.advance(61_000);
  t.equal((await withAuthorization(gateway, token)).status, 401);
  t.equal((await withAuthorization(gateway, "Bearer ak_short")).status, 200);
  gateway.clock.advance(60_000);
  const expired = await withAuthorization(gateway, "Bearer ak_short");
  t.match(await errorOf(expired), { code: "unauthorized", message: /expired/ });
});

t.test("a ReadOnly key may read and may not write", async (t) => {
  const gateway = await testGateway(t, { behaviour: knows() });
  t.equal((await withAuthorization(gateway, "Bearer ak_read")).status, 200);
  t.ok(gateway.actors[0]!.requests[0]!.flags & REQUEST_READ_ONLY, "the actor is told, for every language");
  const refused = await fetch(`${gateway.url}/v1/api-keys`, {
    method: "POST",
    body: '{"name":"x"}',
    headers: { authorization: "Bearer ak_read", "content-type": "application/json" },
  });
  t.equal(refused.status, 403);
  t.match(await errorOf(refused), { code: "forbidden", message: /ReadOnly.*permission/ });
  t.equal((await withAuthorization(gateway, "Bearer ak_full", "/v1/api-keys")).status, 200);
  t.notOk(gateway.actors[0]!.requests[1]!.flags & REQUEST_READ_ONLY);
});

t.test("routes under /admin need the super_admin role", async (t) => {
  const alice = { roles: ["admin", "user"] } as Partial<Identity>;
  const gateway = await testGateway(t, { behaviour: knows({ alice }) });
  const refused = await gateway.call("/admin/tenants");
  t.equal(refused.status, 403);
  t.match(await errorOf(refused), { code: "forbidden", message: /super_admin.*permission/ });
  const forged = gateway.token({ roles: ["super_admin"] });
  t.equal(
    (await withAuthorization(gateway, `Bearer ${forged}`, "/admin/tenants")).status,
    403,
    "roles come from the record",
  );
});

t.test("uses of API keys are counted and sent in bulk", async (t) => {
  const gateway = await testGateway(t, { behaviour: knows() });
  for (let i = 0; i < 3; i++) await withAuthorization(gateway, "Bearer ak_full");
  await withAuthorization(gateway, "ApiKey tessera_full");
  await gateway.call("/v1/users/me");
  const report = gateway.actors[0]!.nextMessage("key-usage");
  gateway.clock.advance(5000);
  const message = await report;
  t.match(message, {
    usage: [
      { keyId: "id of ak_full", count: 3 },
      { keyId: "id of tessera_full", count: 1 },
    ],
  });
  gateway.clock.advance(5000);
  await gateway.call("/v1/users/me");
  t.equal(
    gateway.actors[0]!.messages.filter(({ kind }) => kind === "key-usage").length,
    1,
    "nothing new, nothing sent",
  );
});

t.test("public routes need no credential and tell the actor the address", async (t) => {
  const gateway = await testGateway(t);
  const response = await fetch(`${gateway.url}/v1/auth/login`, {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json" },
  });
  t.equal(response.status, 200);
  t.equal(response.headers.get("cache-control"), "no-store");
  t.match(gateway.actors[0]!.requests[0]!.head, { remoteAddress: "127.0.0.1", userId: "", tenantId: "", roles: [] });
  t.equal(gateway.actors[0]!.requests[0]!.tenant, 0);
});

t.test("no credential gets into the log", async (t) => {
  const gateway = await testGateway(t, { behaviour: knows(), config: { server: { requestLog: "all" } } });
  await gateway.execute('{"sql":"very private"}');
  await withAuthorization(gateway, "Bearer ak_secret");
  await withAuthorization(gateway, "Bearer ak_full");
  t.match(gateway.log, [
    { tenant: "acme", endpoint: "query.execute", status: 200, request_id: String, ms: Number },
    { endpoint: "users.me", status: 401 },
    { tenant: "acme", endpoint: "users.me", status: 200 },
  ]);
  t.notMatch(JSON.stringify(gateway.log), /ak_|eyJ|private/);
});
