/** Tokens of other issuers at the gateway: what a flood of them costs the others, and whoever sends it. */
import t from "tap";
import type { IdentityAnswer } from "../../src/gateway/actor-link.js";
import { Admission } from "../../src/gateway/admission.js";
import { CallerCheck, type CheckedRequest } from "../../src/gateway/caller-check.js";
import { RateLimiter } from "../../src/gateway/rate-limiter.js";
import type { Identity } from "../../src/protocol/identity.js";
import { ALICE, SECRET } from "./test-gateway.js";

const ISSUER = "https://login.example.com";

function tokenOf(number: number, iss = ISSUER, more: object = {}): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "RS256", kid: "x" })}.${part({ iss, aud: "tessera", sub: `s${number}`, ...more })}.c2ln`;
}

/** Questions wait until the test answers them. */
function admission(isCaching = true) {
  const asked: { by: string; value: string; answer: IdentityAnswer }[] = [];
  const time = { now: 0 };
  const clock = { now: () => time.now, wall: () => time.now };
  const limiter = new RateLimiter({ perSecond: 1, burst: 5 });
  const findIdentity = (by: string, value: string, answer: IdentityAnswer) => {
    asked.push({ by, value, answer });
  };
  const mayCache = () => isCaching;
  const options = { secret: SECRET, clock, limiter, findIdentity, report: () => undefined, mayCache };
  const made = new Admission(options as unknown as ConstructorParameters<typeof Admission>[0]);
  const judge = (credential: string): { code: string | null } => {
    const said = { code: null as string | null };
    made.judge(`Bearer ${credential}`, {
      admitted: () => {
        said.code = "in";
      },
      refused: (code) => {
        said.code = code;
      },
    });
    return said;
  };
  return { made, asked, judge, limiter, clock, time };
}

t.test("tokens that wait keep nobody else out", async (t) => {
  const { judge, asked } = admission();
  const flood = Array.from({ length: 1_000 }, (_, i) => judge(tokenOf(i)));
  t.equal(asked.length, 50, "of one issuer");
  t.equal(flood.filter(({ code }) => code === "partition_unavailable").length, 950);
  const other = judge(tokenOf(1, "https://other.example.com"));
  t.equal(other.code, null, "another issuer is asked");
  const key = judge("ak_valid");
  t.equal(asked.at(-1)!.by, "key");
  asked.at(-1)!.answer({ ...ALICE, keyId: "k" });
  t.equal(key.code, "in");
  for (let i = 0; i < 1_000; i++) judge(tokenOf(i, `https://made-up-${i}.example.com`));
  t.equal(asked.filter(({ by }) => by === "token").length, 100, "of all issuers");
  for (const { answer } of asked.splice(0)) answer(null, { code: "token_key_unknown", message: "" });
  t.equal(flood[0]!.code, "token_key_unknown");
  judge(tokenOf(5_000));
  t.equal(asked.length, 1, "who comes later is asked for again");
});

t.test("an address pays before an issuer is asked, and gets it back when it is let in", async (t) => {
  const { made, asked, limiter, clock } = admission();
  const codes: (string | null)[] = [];
  const check = (credential: string): CallerCheck => {
    const at = codes.push(null) - 1;
    const request = {
      services: { admission: made, limiter, clock, refusals: { note: () => undefined }, config: { limits: {} } },
      route: { endpoint: { access: "member", name: "users.me" } },
      res: { getRemoteAddressAsText: () => Buffer.from("192.0.2.1"), getProxiedRemoteAddressAsText: () => "" },
      ...{ startedAt: 0, requestId: "", answered: false },
      receive: () => undefined,
      fail: (code: string) => {
        codes[at] = code;
      },
      passed: () => {
        codes[at] = "in";
      },
    };
    const checked = new CallerCheck(request as unknown as CheckedRequest);
    const header = (name: string): string => (name === "authorization" ? `Bearer ${credential}` : "");
    checked.begin({ getHeader: header } as unknown as Parameters<CallerCheck["begin"]>[0]);
    return checked;
  };
  const address = limiter.ofAddress("192.0.2.1", 0);
  for (let i = 0; i < 7; i++) check(tokenOf(i));
  t.same(codes, [null, null, null, null, null, "rate_limited", "rate_limited"]);
  t.equal(asked.length, 5);
  const identity: Identity = { ...ALICE, expiresAtMs: 1_000 };
  asked[0]!.answer(identity);
  asked[1]!.answer(undefined);
  t.equal(address.tokens, 2, "let in, and what is not its fault");
  asked[2]!.answer(null, { code: "issuer_unavailable", message: "" });
  asked[3]!.answer(null, { code: "token_expired", message: "" });
  asked[4]!.answer(null, { code: "issuer_misconfigured", message: "" });
  t.equal(address.tokens, 2);
  t.same(codes.slice(0, 5), [
    ...["in", "partition_unavailable", "issuer_unavailable", "token_expired", "issuer_misconfigured"],
  ]);
});

t.test("long claims do not fill the memory, and what has expired leaves", async (t) => {
  const { made, asked, judge, time } = admission();
  const claims = JSON.stringify({ pad: "x".repeat(5_800) });
  const sizes: number[] = [];
  for (let i = 0; i < 5_000; i++) {
    judge(tokenOf(i));
    asked.at(-1)!.answer({ ...ALICE, userId: `oidc-${i}`, claims, expiresAtMs: 60_000 });
    sizes.push(made.cacheMetrics.identities);
  }
  t.ok(Math.max(...sizes) * claims.length * 3 <= 16 * 1024 * 1024 * 1.2, `${Math.max(...sizes)} are kept`);
  t.ok(sizes.at(-1)! > 100, "and not few");
  const before = asked.length;
  t.equal(judge(tokenOf(4_999)).code, "in");
  t.equal(asked.length, before, "the newest is there");
  time.now = 60_001;
  made.sweep(time.now);
  t.match(made.cacheMetrics, { entries: 0, identities: 0 });
});

t.test("a node that may keep no answer asks for tokens that were good as often as it needs to", async (t) => {
  const { asked, judge } = admission(false);
  const good = judge(tokenOf(1));
  asked.splice(0)[0]!.answer({ ...ALICE, expiresAtMs: 60_000 });
  t.equal(good.code, "in");
  for (let i = 0; i < 200; i++) judge(tokenOf(1));
  t.equal(asked.length, 200);
  for (let i = 2; i < 200; i++) judge(tokenOf(i));
  t.equal(asked.length, 250, "others are bounded as ever");
});
