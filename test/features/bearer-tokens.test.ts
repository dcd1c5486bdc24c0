/** A provider whose description changes while a token of it is judged. */
import { setImmediate } from "node:timers/promises";
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from "jose";
import t from "tap";
import { BearerTokens } from "../../src/features/directory/bearer-tokens.js";
import type { Issuers } from "../../src/features/directory/issuers.js";
import type { OidcProviderSpec } from "../../src/protocol/oidc.js";
import { openDirectory } from "../directory/directory-fixture.js";

const SPEC: OidcProviderSpec = {
  ...{ name: "corp", issuer: "https://login.example.com", audience: ["acme"] },
  ...{ roles_claim: "groups", roles: { dba: "admin" } },
};

async function judged(isKnown: boolean, change: (directory: Awaited<ReturnType<typeof opened>>["directory"]) => void) {
  const { directory, tokens, token, release } = await opened(isKnown);
  const answer = tokens.identityOf(token).catch((error: { code: string }) => error.code);
  await setImmediate();
  change(directory);
  release();
  return answer;
}

async function opened(isKnown: boolean) {
  const { directory, clock } = await openDirectory();
  directory.createTenant({ id: "acme" });
  directory.putOidcProvider("acme", SPEC);
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const find = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), alg: "ES256" }] });
  const token = await new SignJWT({ groups: ["dba"] })
    .setProtectedHeader({ alg: "ES256" })
    .setIssuer(SPEC.issuer)
    .setAudience("acme")
    .setSubject("ada")
    .setExpirationTime(clock.now / 1000 + 3600)
    .sign(privateKey);
  let release = (): void => undefined;
  let gate: Promise<void> = Promise.resolve();
  const issuers = { keys: () => gate.then(() => find) } as unknown as Issuers;
  const tokens = new BearerTokens(directory, issuers, () => clock.now);
  if (isKnown) await tokens.identityOf(token);
  gate = new Promise((resolve) => {
    release = resolve;
  });
  return { directory, tokens, token, release: () => release() };
}

t.test("a token is judged by the description of the moment when it is let in", async (t) => {
  for (const isKnown of [true, false]) {
    const same = await judged(isKnown, () => undefined);
    t.match(same, { isNew: !isKnown, identity: { roles: ["admin"] } });
    const less = await judged(isKnown, (directory) => {
      directory.putOidcProvider("acme", { ...SPEC, roles: { dba: "user" } });
    });
    t.match(less, { isNew: !isKnown, identity: { roles: ["user"] } });
    const other = await judged(isKnown, (directory) => {
      directory.putOidcProvider("acme", { ...SPEC, audience: ["else"] });
    });
    t.equal(other, "token_audience_wrong");
    const gone = await judged(isKnown, (directory) => directory.deleteOidcProvider("acme", "corp"));
    t.equal(gone, "token_issuer_unknown");
  }
});
