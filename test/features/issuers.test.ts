/** What is kept of issuers, for how long, and what is fetched; with a clock and answers of the test's own. */
import { generateKeyPairSync } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import t from "tap";
import type { KnownProvider } from "../../src/directory/oidc-providers.js";
import { claimedUser } from "../../src/features/directory/claim-mapping.js";
import { issuerFetch } from "../../src/features/directory/issuer-fetch.js";
import { Issuers } from "../../src/features/directory/issuers.js";
import { checkedToken } from "../../src/features/directory/token-check.js";
import { DbError } from "../../src/protocol/errors.js";
import { faultsOf, type OidcProviderSpec, TOKEN_ALGORITHMS } from "../../src/protocol/oidc.js";

const ISSUER = "https://login.example.com";
const SPEC: OidcProviderSpec = {
  name: "corp",
  issuer: ISSUER,
  audience: ["tessera"],
  roles_claim: "groups",
  roles: { staff: "user" },
  tenant: "acme",
};
const provider: KnownProvider = { key: "corp", tenant: null, spec: SPEC };
const RULES = { audience: SPEC.audience, nowMs: Date.parse("2026-01-01T00:00:00Z") };

/** An issuer with one key, which may be down. */
async function issuerWithKey(jwks_uri = `${ISSUER}/jwks`) {
  const fetched: string[] = [];
  const warned: object[] = [];
  const state = {
    isDown: false,
    hangs: Promise.resolve() as Promise<unknown>,
    kid: "a",
    keys: [] as JWK[],
    metadata: { issuer: ISSUER, jwks_uri } as object,
  };
  const clock = { now: RULES.nowMs, waited: 0 };
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(publicKey);
  state.keys = [{ ...jwk, kid: "a", alg: "ES256" }];
  const issuers = new Issuers({
    fetch: async (address) => {
      fetched.push(address);
      await state.hangs;
      if (state.isDown) throw new DbError("fetch_failed");
      const answer = address.endsWith("openid-configuration") ? state.metadata : { keys: state.keys };
      return { status: 200, type: "application/json", bytes: Buffer.from(JSON.stringify(answer)), url: address };
    },
    now: () => clock.now,
    wait: async (ms) => {
      clock.now += ms;
      clock.waited += ms;
    },
    keysMs: 600_000,
    keysMsMax: 3_600_000,
    warn: (_message, fields) => warned.push(fields),
  });
  const token = (kid = "a"): Promise<string> =>
    new SignJWT({ groups: ["staff"] })
      .setProtectedHeader({ alg: "ES256", kid })
      .setIssuer(ISSUER)
      .setAudience("tessera")
      .setSubject("ada")
      .setExpirationTime(RULES.nowMs / 1000 + 86_400)
      .sign(privateKey);
  const outcome = async (kid?: string): Promise<string> => {
    try {
      await checkedToken(issuers, provider, await token(kid), { ...RULES, nowMs: clock.now });
      return "in";
    } catch (error) {
      return (error as DbError).code;
    }
  };
  return { issuers, state, clock, fetched, warned, jwk, outcome };
}

t.test("keys are fetched once, and anew when they are old", async (t) => {
  const { outcome, fetched, clock } = await issuerWithKey();
  t.same(await Promise.all([outcome(), outcome(), outcome()]), ["in", "in", "in"]);
  t.same(fetched, [`${ISSUER}/.well-known/openid-configuration`, `${ISSUER}/jwks`]);
  clock.now += 599_000;
  t.equal(await outcome(), "in");
  t.equal(fetched.length, 2);
  clock.now += 2_000;
  t.equal(await outcome(), "in");
  await setImmediate();
  t.equal(fetched.length, 4);
  t.equal(await outcome(), "in");
  t.equal(fetched.length, 4);
});

t.test("known keys wait for no issuer that does not answer, until they are too old", async (t) => {
  const { outcome, fetched, clock, state } = await issuerWithKey();
  t.equal(await outcome(), "in");
  let answer = (): void => undefined;
  state.hangs = new Promise<void>((resolve) => {
    answer = resolve;
  });
  clock.now += 700_000;
  for (let i = 0; i < 3; i++) t.equal(await outcome(), "in");
  t.equal(fetched.length, 3, "and it is asked once");
  clock.now += 3_600_000;
  const late = outcome();
  t.equal(await Promise.race([late, setImmediate("waits")]), "waits");
  answer();
  t.equal(await late, "in");
});

t.test("a key that cannot be used is its issuer's fault, and logged once", async (t) => {
  const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export({ format: "jwk" });
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iss: ISSUER, aud: "tessera", sub: "ada", exp: 9e9 };
  const token = `${part({ alg: "RS256", kid: "a" })}.${part(claims)}.c2ln`;
  for (const [name, key] of [
    ["1,024 bits", { ...weak, kid: "a" }],
    ["no members", { kty: "RSA", kid: "a" }],
    ["not base64", { kty: "RSA", kid: "a", n: "!!", e: "" }],
    ["a number", { kty: "RSA", kid: "a", n: 5, e: "AQAB" } as unknown as JWK],
  ] as const) {
    const { issuers, state, warned } = await issuerWithKey();
    state.keys = [key];
    for (let i = 0; i < 3; i++) {
      await t.rejects(checkedToken(issuers, provider, token, RULES), { code: "issuer_misconfigured" }, name);
    }
    t.match(warned, [{ issuer: ISSUER, provider: "corp", why: String }]);
    t.equal(warned.length, 1);
  }
});

t.test("known keys go on while the issuer is down, but not for ever", async (t) => {
  const { outcome, state, clock } = await issuerWithKey();
  t.equal(await outcome(), "in");
  state.isDown = true;
  clock.now += 700_000;
  t.equal(await outcome(), "in");
  t.equal(await outcome("unknown"), "issuer_unavailable");
  clock.now += 3_600_000;
  t.equal(await outcome(), "issuer_unavailable");
  state.isDown = false;
  clock.now += 2_000;
  t.equal(await outcome(), "in");
});

t.test("a key that was taken away is not believed once it is known", async (t) => {
  const { outcome, state, clock, jwk } = await issuerWithKey();
  t.equal(await outcome(), "in");
  state.keys = [{ ...jwk, kid: "b", alg: "ES256" }];
  t.equal(await outcome("b"), "in", "a new key is fetched at once");
  t.equal(await outcome("a"), "token_key_unknown");
  t.equal(clock.waited, 1_000, "and the next unknown one waits");
});

t.test("unknown keys do not make the server ask for each of them", async (t) => {
  const { outcome, fetched, clock } = await issuerWithKey();
  t.equal(await outcome(), "in");
  t.same(new Set(await Promise.all(Array.from({ length: 50 }, () => outcome("x")))), new Set(["token_key_unknown"]));
  const rounds = 1 + clock.waited / 1_000;
  t.ok(fetched.length <= 2 + 2 * rounds, `${fetched.length} requests in ${rounds} s`);
});

t.test("what an issuer says of itself has to fit", async (t) => {
  for (const metadata of [
    { issuer: "https://else.example", jwks_uri: `${ISSUER}/jwks` },
    { issuer: `${ISSUER}/`, jwks_uri: `${ISSUER}/jwks` },
    { jwks_uri: `${ISSUER}/jwks` },
    { issuer: ISSUER },
    { issuer: ISSUER, jwks_uri: "nonsense" },
    [],
  ]) {
    const { outcome, state } = await issuerWithKey();
    state.metadata = metadata;
    t.equal(await outcome(), "issuer_misconfigured", JSON.stringify(metadata));
  }
  const { outcome, state, clock } = await issuerWithKey();
  state.keys = Array.from({ length: 101 }, () => ({ kty: "EC" }));
  t.equal(await outcome(), "issuer_misconfigured", "too many keys");
  state.keys = [{ kty: "oct", kid: "a", alg: "HS256", k: "c2VjcmV0" }];
  clock.now += 2_000;
  t.equal(await outcome(), "token_key_unknown", "a shared secret is no key");
});

t.test("only addresses that may be asked are", async (t) => {
  const fetch = issuerFetch([]);
  const ofTenant: KnownProvider = { key: "acme/own", tenant: "acme", spec: { ...SPEC, issuer: "https://127.0.0.1:1" } };
  const failure = (address: string, from: KnownProvider) =>
    fetch(address, from, { field: "f" }).catch((e: DbError) => e);
  t.match(await failure("https://127.0.0.1:1/x", ofTenant), { code: "invalid_request", message: /private/ });
  t.match(await failure("http://example.com/x", ofTenant), {
    code: "invalid_request",
    message: /http: is not allowed/,
  });
  const ofOperator: KnownProvider = { ...ofTenant, key: "own", tenant: null };
  t.match(
    await failure("https://127.0.0.1:1/x", ofOperator),
    { code: "fetch_failed" },
    "the issuer that the operator named",
  );
  t.match(
    await failure("https://169.254.169.254/x", ofOperator),
    { code: "invalid_request" },
    "what its metadata names",
  );
});

t.test("claims have to say who it is and what that may do", async (t) => {
  const claims = { sub: "ada", exp: 1, groups: ["staff"] };
  const of = (spec: Partial<OidcProviderSpec>, more: object = {}) => {
    try {
      const { name, tenantId, roles, memberOf } = claimedUser(
        { ...provider, spec: { ...SPEC, ...spec } },
        { ...claims, ...more },
      );
      return [name, tenantId, roles.join(), memberOf.join()].join(" ").trim();
    } catch (error) {
      return (error as DbError).code;
    }
  };
  t.equal(of({}), "ada acme user");
  t.equal(of({ roles: { staff: "role:seller" } }), "ada acme user seller");
  t.equal(of({ roles: { staff: "role:seller", b: "admin" } }, { groups: ["b", "staff"] }), "ada acme admin seller");
  t.equal(of({}, { groups: "staff" }), "ada acme user", "one value by itself");
  t.equal(of({ roles_claim: "scope" }, { scope: "staff" }), "ada acme user");
  t.equal(of({ roles_claim: "a.b" }, { a: { b: ["staff"] } }), "ada acme user");
  t.equal(of({ roles_claim: "a.b" }, { "a.b": ["staff"] }), "ada acme user");
  t.equal(of({ roles_claim: "__proto__.x" }), "missing_claims");
  t.equal(of({ ignore_unknown_roles: true }, { groups: ["x", "staff"] }), "ada acme user");
  t.equal(of({ ignore_unknown_roles: true }, { groups: ["x"] }), "claim_unknown");
  t.equal(of({ username_claim: "email" }, { email: "a@b" }), "claim_unknown", "not verified");
  t.equal(of({ username_claim: "email" }, { email: "a@b", email_verified: true }), "a@b acme user");
  t.equal(of({ username_claim: "name" }, { name: "a\u0000b" }), "claim_unknown");
  const { tenant: _, ...open } = SPEC;
  const byClaim = (more: object, spec: object = {}) => {
    try {
      return claimedUser({ ...provider, spec: { ...open, tenant_claim: "org", ...spec } }, { ...claims, ...more })
        .tenantId;
    } catch (error) {
      return (error as DbError).code;
    }
  };
  t.equal(byClaim({ org: "acme" }), "acme");
  t.equal(byClaim({ org: "system" }), "claim_unknown");
  t.equal(byClaim({}), "missing_claims");
  t.equal(byClaim({ org: "X" }, { tenants: { X: "system" } }), "system", "the operator may say so");
});

t.test("descriptions that contradict themselves are told", async (t) => {
  const fields = (more: object, tenant: string | null = null) =>
    faultsOf({ ...SPEC, ...more }, { tenant, privateHosts: [] }).map(({ field }) => field);
  t.same(fields({}), []);
  t.same(fields({ tenant_claim: "org" }), ["tenant"]);
  t.same(fields({ tenants: {} }), ["tenants"]);
  t.same(fields({ issuer: "http://login.example.com" }), ["issuer"]);
  t.same(fields({ issuer: "http://127.0.0.1:1" }), []);
  t.same(fields({ issuer: "https://user:pw@login.example.com" }), ["issuer"]);
  t.same(fields({}, "acme"), ["tenant"]);
  t.same(fields({ roles: {} }), ["roles"]);
  t.same(fields({ client_id: "c", redirect_uri: "http://db.example.com/console/" }), ["redirect_uri"]);
  t.same(fields({ client_id: "c", redirect_uri: "https://db.example.com/console/", scopes: ["email"] }), ["scopes"]);
  t.notOk(TOKEN_ALGORITHMS.some((name) => /^HS|none/i.test(name)));
});
