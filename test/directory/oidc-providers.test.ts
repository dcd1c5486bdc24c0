/** Providers of OpenID Connect in the directory, and the users whom they vouch for. */
import t from "tap";
import type { FederatedUser } from "../../src/directory/federated-users.js";
import type { OidcProviderSpec } from "../../src/protocol/oidc.js";
import { ADMIN_PASSWORD, openDirectory } from "./directory-fixture.js";

const SPEC: OidcProviderSpec = {
  name: "corp",
  issuer: "https://login.example.com",
  audience: ["acme", "acme-two"],
  roles_claim: "groups",
  roles: { staff: "user" },
  client_id: "c",
  client_secret: "hidden",
  redirect_uri: "https://db.example.com/console/",
};
const ADA: FederatedUser = {
  ...{ provider: "acme/corp", issuer: SPEC.issuer, subject: "1", tenantId: "acme", name: "ada", email: null },
  ...{ roles: ["user"], memberOf: ["seller"], claims: '{"sub":"1"}', expiresAtMs: 1_000 },
};

async function withTenants() {
  const fixture = await openDirectory();
  for (const id of ["acme", "beta"]) fixture.directory.createTenant({ id });
  fixture.directory.putOidcProvider("acme", SPEC);
  return fixture;
}

t.test("an issuer and an audience belong to one provider", async (t) => {
  const { directory } = await withTenants();
  t.throws(() => directory.putOidcProvider("beta", SPEC), { code: "conflict" });
  t.equal(directory.putOidcProvider("beta", { ...SPEC, audience: ["beta"] }).name, "corp");
  t.equal(directory.providerOfToken(SPEC.issuer, ["x", "acme-two"]).key, "acme/corp");
  t.equal(directory.providerOfToken(SPEC.issuer, ["beta"]).key, "beta/corp");
  t.throws(() => directory.providerOfToken(SPEC.issuer, ["acme", "beta"]), { code: "token_audience_wrong" });
  t.throws(() => directory.providerOfToken(SPEC.issuer, ["x"]), { code: "token_audience_wrong" });
  t.throws(() => directory.providerOfToken(SPEC.issuer, []), { code: "token_audience_wrong" });
  t.throws(() => directory.providerOfToken("https://else.example", ["acme"]), { code: "token_issuer_unknown" });
  directory.putOidcProvider("acme", { ...SPEC, audience: ["new"] });
  t.throws(
    () => directory.providerOfToken(SPEC.issuer, ["acme"]),
    { code: "token_audience_wrong" },
    "the old one is free",
  );
  directory.deleteOidcProvider("acme", "corp");
  t.throws(() => directory.deleteOidcProvider("acme", "corp"), { code: "not_found" });
});

t.test("the client's secret stays as long as the client does, and is stored sealed", async (t) => {
  const { directory } = await withTenants();
  const { client_secret: _, ...silent } = SPEC;
  t.match(directory.putOidcProvider("acme", silent), { has_client_secret: true });
  t.equal(directory.providerByKey("acme/corp").spec.client_secret, "hidden");
  t.match(directory.putOidcProvider("acme", { ...silent, client_id: "other" }), { has_client_secret: false });
  directory.putOidcProvider("acme", SPEC);
  const records = directory.wholeRecords();
  t.notMatch(JSON.stringify(records), /hidden/);
  t.match(records.oidcProviders, [{ tenantId: "acme", spec: { name: "corp" } }]);
});

t.test("a restored tenant has its providers, unless their tokens are another's by now", async (t) => {
  const records = (await withTenants()).directory.wholeRecords();
  const plan = { backup: "bak_1", tenants: ["acme"], replace: false };
  const empty = await openDirectory();
  empty.directory.finishRestore(records, plan, empty.directory.planRestore(records, plan));
  t.equal(empty.directory.providerOfToken(SPEC.issuer, ["acme"]).key, "acme/corp");
  const taken = await openDirectory();
  taken.directory.createTenant({ id: "gamma" });
  taken.directory.putOidcProvider("gamma", { ...SPEC, audience: ["acme"] });
  taken.directory.finishRestore(records, plan, taken.directory.planRestore(records, plan));
  t.equal(taken.directory.providerOfToken(SPEC.issuer, ["acme"]).key, "gamma/corp");
  t.same(taken.directory.listOidcProviders("acme"), []);
});

t.test("a user is stored once; the token's claims count, and a session has those of its sign-in", async (t) => {
  const { directory } = await withTenants();
  const first = directory.federatedIdentity(ADA);
  t.ok(first.isNew);
  t.match(first.identity, {
    username: "acme/corp:ada",
    memberOf: ["seller"],
    claims: '{"sub":"1"}',
    expiresAtMs: 1_000,
  });
  const again = directory.federatedIdentity({ ...ADA, name: "renamed", roles: ["admin"], memberOf: [], claims: "{}" });
  t.notOk(again.isNew);
  t.match(again.identity, { userId: first.identity.userId, username: "acme/corp:ada", roles: ["admin"], claims: "{}" });
  t.equal(again.identity.memberOf, undefined);
  const { user } = directory.federatedLogin({ ...ADA, claims: '{"at":"sign-in"}' });
  t.match(directory.identityOfUser(user.id), { claims: '{"at":"sign-in"}', memberOf: ["seller"], active: true });
  t.throws(() => directory.federatedIdentity({ ...ADA, subject: "2" }), { code: "claim_unknown" }, "the name is taken");
  t.throws(() => directory.federatedIdentity({ ...ADA, tenantId: "none" }), { code: "claim_unknown" });
  t.not(directory.federatedIdentity({ ...ADA, tenantId: "beta", name: "b" }).identity.userId, user.id);
  directory.deleteOidcProvider("acme", "corp");
  t.equal(directory.identityOfUser(user.id)!.active, false, "nobody vouches for the user any more");
  directory.putOidcProvider("acme", { ...SPEC, issuer: "https://else.example" });
  t.equal(directory.identityOfUser(user.id)!.active, false, "nor does another issuer of that name");
});

t.test("an issuer's user has no password, and does not count as the last administrator", async (t) => {
  const { directory, signIn } = await withTenants();
  const root = { ...ADA, tenantId: "system", name: "root", roles: ["super_admin"] as const };
  const { user } = directory.federatedLogin(root);
  t.throws(() => directory.setUserActive("system", "admin", false), { code: "forbidden" });
  await t.rejects(signIn(user.username, ""), { code: "invalid_credentials" });
  await t.rejects(directory.resetUserPassword("system", user.id, { password: ADMIN_PASSWORD }), { code: "forbidden" });
  await t.rejects(directory.changePassword(user.id, "", ADMIN_PASSWORD), { code: "forbidden" });
  t.throws(() => directory.createApiKey(user.id, { name: "k", permission: "ReadOnly" }), { code: "forbidden" });
  t.throws(() => directory.enrolMfa(user.id), { code: "forbidden" });
  const [known, unknown] = [directory.scramChallenge(user.username), directory.scramChallenge("acme/corp:nobody")];
  t.ok(known !== null && unknown !== null, "the challenge of one who does not exist");
});
