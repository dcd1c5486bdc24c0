/** Back-channel logout: which tokens end sessions, and which are refused. */
import { generateKeyPair, type JWTPayload, SignJWT } from "jose";
import t from "tap";
import type { KnownProvider } from "../../src/directory/oidc-providers.js";
import { BackchannelLogouts } from "../../src/features/directory/backchannel-logout.js";
import type { Issuers } from "../../src/features/directory/issuers.js";
import { DbError } from "../../src/protocol/errors.js";

const ISSUER = "https://login.example.com";
const NOW = Date.parse("2026-01-01T00:00:00Z");
const EVENTS = { "http://schemas.openid.net/event/backchannel-logout": {} };
const provider: KnownProvider = {
  key: "corp",
  tenant: null,
  spec: {
    name: "corp",
    issuer: ISSUER,
    audience: ["api"],
    client_id: "console",
    roles_claim: "groups",
    roles: { staff: "user" },
    tenant: "acme",
  },
};

t.test("a logout token ends the sessions of its user, once", async (t) => {
  const [own, other] = [await generateKeyPair("ES256"), await generateKeyPair("ES256")];
  const clock = { now: NOW };
  const ended: string[] = [];
  const keys = async () => async () => own.publicKey;
  const logouts = new BackchannelLogouts({
    issuers: { keys, keysAgain: keys } as unknown as Issuers,
    now: () => clock.now,
    directory: {
      providersOfClient: (issuer, clients) => {
        if (issuer === ISSUER && clients.includes("console")) return [provider];
        throw new DbError("token_issuer_unknown");
      },
      endFederatedSessions: (by, subject) => {
        ended.push(`${by.key} ${subject}`);
        return subject === "ada" ? "corp:ada" : null;
      },
    },
  });
  let made = 0;
  const tokenOf = (claims: JWTPayload, key = own.privateKey) => {
    const usual = { iss: ISSUER, aud: "console", sub: "ada", iat: NOW / 1000, exp: NOW / 1000 + 120, events: EVENTS };
    return new SignJWT({ ...usual, jti: `${++made}`, ...claims }).setProtectedHeader({ alg: "ES256" }).sign(key);
  };
  const outcome = async (token: string) => {
    try {
      return (await logouts.logOut(token)).ended;
    } catch (error) {
      return `${(error as DbError).status} ${(error as DbError).code}`;
    }
  };
  const first = await tokenOf({ sid: "1" });
  t.equal(await outcome(first), true);
  t.same(ended, ["corp ada"]);
  t.equal(await outcome(first), "400 invalid_request", "used before");
  t.equal(await outcome(await tokenOf({ sub: "bob" })), false, "nobody of that name has signed in");
  t.same(ended.splice(0), ["corp ada", "corp bob"]);
  for (const [claims, why] of [
    [{ events: undefined }, "an ID token or another event"],
    [{ events: { "http://schemas.openid.net/event/other": {} } }, "another event"],
    [{ nonce: "n" }, "an ID token"],
    [{ jti: undefined }, "nothing tells it from others"],
    [{ sub: undefined, sid: "1" }, "it names no user"],
    [{ aud: "api" }, "it is meant for the API"],
    [{ iss: "https://evil.example" }, "another issuer"],
    [{ iat: NOW / 1000 - 3600 }, "it is old"],
    [{ iat: undefined }, "nobody knows how old it is"],
    [{ exp: NOW / 1000 - 3600 }, "it has expired"],
  ] as const) {
    t.equal(await outcome(await tokenOf(claims as JWTPayload)), "400 invalid_request", why);
  }
  t.equal(await outcome(await tokenOf({}, other.privateKey)), "400 invalid_request", "signed by another");
  t.equal(await outcome("no token"), "400 invalid_request");
  t.same(ended, []);
});

t.test("each provider of the token's client is asked by its own description", async (t) => {
  const [own, other] = [await generateKeyPair("ES256"), await generateKeyPair("ES256")];
  const named = (key: string): KnownProvider => ({ ...provider, key });
  const keysOf = async ({ key }: KnownProvider) => {
    if (key === "far/corp" && isFar) throw new DbError("issuer_unavailable");
    return async () => (key === "thief/corp" ? other.publicKey : own.publicKey);
  };
  let isFar = true;
  const ended: string[] = [];
  const logouts = new BackchannelLogouts({
    issuers: { keys: keysOf, keysAgain: keysOf } as unknown as Issuers,
    now: () => NOW,
    directory: {
      providersOfClient: () => ["thief/corp", "acme/corp", "far/corp"].map(named),
      endFederatedSessions: (by, subject) => {
        ended.push(by.key);
        return subject;
      },
    },
  });
  const token = await new SignJWT({ iss: ISSUER, aud: "console", sub: "ada", jti: "1", events: EVENTS })
    .setIssuedAt(NOW / 1000)
    .setExpirationTime(NOW / 1000 + 120)
    .setProtectedHeader({ alg: "ES256" })
    .sign(own.privateKey);
  await t.rejects(logouts.logOut(token), { code: "issuer_unavailable" }, "it is to come again");
  t.same(ended, ["acme/corp"], "what can be checked takes effect");
  isFar = false;
  t.same(await logouts.logOut(token), { name: "ada", ended: true });
  t.same(ended, ["acme/corp", "far/corp"], "each once");
  await t.rejects(logouts.logOut(token), { code: "invalid_request" }, "used before");
});
