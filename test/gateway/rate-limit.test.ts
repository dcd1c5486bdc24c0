import t from "tap";
import { RateLimiter } from "../../src/gateway/rate-limiter.js";
import type { Identity } from "../../src/protocol/identity.js";
import { Bucket } from "../../src/protocol/token-bucket.js";
import { ALICE, errorOf, testGateway } from "./test-gateway.js";

t.test("a bucket holds its burst and refills at its rate", (t) => {
  const bucket = new Bucket(10, 20, 0);
  for (let i = 0; i < 20; i++) t.ok(bucket.take(0));
  t.notOk(bucket.take(0));
  t.equal(bucket.remaining, 0);
  t.equal(bucket.secondsToFull, 2);
  t.equal(bucket.retryAfterSeconds, 1);
  t.notOk(bucket.take(99), "just short of a token");
  t.ok(bucket.take(101));
  t.notOk(bucket.take(50), "time does not run backwards");
  for (let i = 0; i < 20; i++) t.ok(bucket.take(1_000_000), "never more than the burst");
  t.notOk(bucket.take(1_000_000));
  const slow = new Bucket(0.1, 1, 0);
  slow.take(0);
  t.equal(slow.retryAfterSeconds, 10);
  t.end();
});

t.test("many tokens at once are owed until they are refilled", (t) => {
  const bucket = new Bucket(10, 20, 0);
  t.ok(bucket.takeMany(0, 50));
  t.equal(bucket.remaining, 0);
  t.equal(bucket.retryAfterSeconds, 4);
  t.notOk(bucket.takeMany(3_000, 1), "30 were owed");
  t.ok(bucket.takeMany(3_200, 1));
  t.ok(new Bucket(0, 1, 0).takeMany(0, 1_000_000), "no limit");
  t.end();
});

t.test("a changed limit keeps what was spent", (t) => {
  const limiter = new RateLimiter({ perSecond: 10, burst: 20 });
  const bucket = limiter.ofTenant("acme", null, 0);
  for (let i = 0; i < 15; i++) bucket.take(0);
  t.equal(limiter.ofTenant("acme", { perSecond: 100, burst: 200 }, 0), bucket);
  t.equal(bucket.remaining, 185);
  limiter.ofTenant("acme", { perSecond: 0, burst: 1 }, 0);
  t.notOk(bucket.limited);
  for (let i = 0; i < 1000; i++) t.ok(bucket.take(0));
  limiter.ofTenant("acme", null, 0);
  t.equal(bucket.remaining, 20);
  t.end();
});

t.test("the table of buckets is bounded and prefers to drop full ones", (t) => {
  const limiter = new RateLimiter({ perSecond: 1, burst: 2 }, 3);
  const busy = limiter.ofTenant("busy", null, 0);
  busy.take(0);
  const idle = limiter.ofTenant("idle", null, 0);
  const later = limiter.ofTenant("later", null, 0);
  later.take(0);
  limiter.ofTenant("new", null, 0).take(0);
  t.ok(idle.detached);
  t.notOk(busy.detached);
  t.equal(limiter.ofTenant("busy", null, 0), busy);
  limiter.ofTenant("newest", null, 0);
  t.ok(busy.detached, "the oldest, when none is full");
  t.end();
});

t.test("addresses of one IPv6 network share a bucket", (t) => {
  const limiter = new RateLimiter({ perSecond: 1, burst: 2 });
  const one = limiter.ofAddress("2001:0db8:0000:0001:0000:0000:0000:0001", 0);
  t.equal(limiter.ofAddress("2001:0db8:0000:0001:ffff:0000:0000:0002", 0), one);
  t.not(limiter.ofAddress("2001:0db8:0000:0002:0000:0000:0000:0001", 0), one);
  t.not(limiter.ofAddress("10.0.0.1", 0), limiter.ofAddress("10.0.0.2", 0));
  t.end();
});

t.test("a tenant's requests are limited, with the headers that say so", async (t) => {
  const { call, clock } = await testGateway(t, { config: { rateLimit: { perSecond: 2, burst: 3 } } });
  for (const [remaining, reset] of [
    ["2", "1"],
    ["1", "1"],
    ["0", "2"],
  ]) {
    const response = await call("/v1/users/me");
    t.equal(response.status, 200);
    t.equal(response.headers.get("x-ratelimit-remaining"), remaining);
    t.equal(response.headers.get("x-ratelimit-reset"), reset);
  }
  const refused = await call("/v1/users/me");
  t.equal(refused.status, 429);
  t.equal(refused.headers.get("retry-after"), "1");
  t.equal(refused.headers.get("x-ratelimit-remaining"), "0");
  t.equal((await errorOf(refused)).code, "rate_limited");
  clock.advance(500);
  t.equal((await call("/v1/users/me")).status, 200, "half a second makes a token");
  t.equal((await call("/v1/users/me")).status, 429);
  clock.advance(2000);
  const withError = await call("/v1/schema/tables/%zz");
  t.equal(withError.headers.get("x-ratelimit-remaining"), "2", "on errors too");
});

t.test("tenants do not share, and one may have its own limit", async (t) => {
  const bob: Identity = {
    ...ALICE,
    userId: "user-bob",
    tenantId: "umbrella",
    companyId: "umbrella",
    rateLimit: { perSecond: 1, burst: 100 },
  };
  const { call, token } = await testGateway(t, {
    config: { rateLimit: { perSecond: 1, burst: 1 } },
    behaviour: { identity: (_by, value) => (value === bob.userId ? bob : ALICE) },
  });
  const claims = { sub: bob.userId, tenant_id: "umbrella", company_id: "umbrella" };
  const asBob = () => call("/v1/users/me", { headers: { authorization: `Bearer ${token(claims)}` } });
  t.equal((await call("/v1/users/me")).status, 200);
  t.equal((await call("/v1/users/me")).status, 429);
  const response = await asBob();
  t.equal(response.status, 200);
  t.equal(response.headers.get("x-ratelimit-remaining"), "99");
});

t.test("without a limit there are no headers", async (t) => {
  const { call } = await testGateway(t);
  const response = await call("/v1/users/me");
  t.equal(response.headers.get("x-ratelimit-remaining"), null);
  t.equal(response.headers.get("x-ratelimit-reset"), null);
});

t.test("nobody without a credential can spend a tenant's budget", async (t) => {
  const { call, url, clock } = await testGateway(t, { config: { rateLimit: { perSecond: 1, burst: 3 } } });
  t.equal((await call("/v1/users/me")).status, 200);
  const login = (): Promise<Response> => fetch(`${url}/v1/auth/login`, { method: "POST" });
  const guess = (): Promise<Response> => fetch(`${url}/v1/users/me`, { headers: { authorization: "Bearer ak_guess" } });
  for (const expected of [200, 200]) t.equal((await login()).status, expected);
  t.equal((await guess()).status, 401);
  t.equal((await login()).status, 429, "sign-in and failed attempts share the address's bucket");
  const refused = await guess();
  t.equal(refused.status, 429);
  t.equal(refused.headers.get("retry-after"), "1");
  t.equal((await call("/v1/users/me")).status, 200, "who is known is not held up");
  clock.advance(1000);
  t.equal((await login()).status, 200);
});

t.test("a tenant's running requests are bounded", async (t) => {
  const { call, actors } = await testGateway(t, {
    config: { limits: { requestsPerTenantMax: 2 } },
    behaviour: { request() {} },
  });
  const running = [call("/v1/users/me"), call("/v1/users/me")];
  while (actors[0]!.requests.length < 2) await actors[0]!.nextRequest();
  const refused = await call("/v1/users/me");
  t.equal(refused.status, 429);
  t.equal(refused.headers.get("retry-after"), "1");
  for (const { id } of actors[0]!.requests) actors[0]!.reply(id);
  t.strictSame(
    (await Promise.all(running)).map(({ status }) => status),
    [200, 200],
  );
});
