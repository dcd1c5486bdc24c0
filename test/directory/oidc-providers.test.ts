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
  ...{ by: { key: "acme/corp", tenant: "acme", spec: SPEC }, subject: "1" },
  ...{ tenantId: "acme", name: "ada", email: null },
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
  const first = directory.federatedIdentity(ADA)!;
  t.ok(first.isNew);
  t.match(first.identity, {
    username: "acme/corp:ada",
    memberOf: ["seller"],
    claims: '{"sub":"1"}',
    expiresAtMs: 1_000,
  });
  const again = directory.federatedIdentity({ ...ADA, name: "renamed", roles: ["admin"], memberOf: [], claims: "{}" })!;
  t.notOk(again.isNew);
  t.match(again.identity, { userId: first.identity.userId, username: "acme/corp:ada", roles: ["admin"], claims: "{}" });
  t.equal(again.identity.memberOf, undefined);
  const { user } = directory.federatedLogin({ ...ADA, claims: '{"at":"sign-in"}' });
  t.match(directory.identityOfUser(user.id), { claims: '{"at":"sign-in"}', memberOf: ["seller"], active: true });
  t.throws(() => directory.federatedIdentity({ ...ADA, subject: "2" }), { code: "claim_unknown" }, "the name is taken");
  t.throws(() => directory.federatedIdentity({ ...ADA, tenantId: "none" }), { code: "claim_unknown" });
  t.not(directory.federatedIdentity({ ...ADA, tenantId: "beta", name: "b" })!.identity.userId, user.id);
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

const CORP = { ...SPEC, audience: ["tessera"], tenant_claim: "org" };
const withCorp = (more: Record<string, string> = {}) =>
  openDirectory({ TESSERA_AUTH_OIDC_PROVIDERS: JSON.stringify([CORP]), ...more });

t.test("what a tenant's administrator describes takes nobody's tokens away", async (t) => {
  const own = { ...SPEC, audience: ["account"] };
  const { directory } = await withCorp();
  directory.createTenant({ id: "evil" });
  t.throws(() => directory.putOidcProvider("evil", own), {
    ...{ code: "conflict", message: /tenants_share_issuers/, details: { field: "issuer" } },
  });
  const sharing = await withCorp({ TESSERA_AUTH_OIDC_TENANTS_SHARE_ISSUERS: "true" });
  sharing.directory.createTenant({ id: "evil" });
  sharing.directory.putOidcProvider("evil", own);
  t.equal(sharing.directory.providerOfToken(SPEC.issuer, ["tessera", "account"]).key, "corp");
  t.equal(sharing.directory.providerOfToken(SPEC.issuer, ["account"]).key, "evil/corp");
  const early = await openDirectory();
  early.directory.createTenant({ id: "evil" });
  early.directory.putOidcProvider("evil", { ...SPEC, audience: ["tessera"] });
  const { loadConfig } = await import("../../src/config/load-config.js");
  const env = { TESSERA_AUTH_OIDC_PROVIDERS: JSON.stringify([CORP]) };
  const later = early.reopen({ config: loadConfig({ env }).auth });
  t.equal(later.providerOfToken(SPEC.issuer, ["tessera"]).key, "corp", "what the operator adds later counts");
});

t.test("a token for several tenants' providers is for whom it was issued to", async (t) => {
  const { directory } = await withTenants();
  directory.putOidcProvider("beta", { ...SPEC, audience: ["beta"], client_id: "beta-app" });
  const of = (...parties: string[]) => directory.providerOfToken(SPEC.issuer, ["acme", "beta"], parties).key;
  t.equal(of("acme"), "acme/corp");
  t.equal(of("beta-app"), "beta/corp");
  for (const parties of [[], ["x"], ["acme", "beta-app"]]) {
    t.throws(() => of(...parties), { code: "token_audience_wrong" }, parties.join());
  }
});

t.test("many audiences cost nothing", async (t) => {
  const { directory } = await withTenants();
  const many = Array.from({ length: 4_000 }, (_, i) => `a${i}`);
  const began = process.cpuUsage();
  for (let i = 0; i < 100; i++) {
    t.throws(() => directory.providerOfToken("https://nobody.example", many), { code: "token_issuer_unknown" });
  }
  const spent = process.cpuUsage(began);
  t.ok((spent.user + spent.system) / 100 < 1_000, "less than a millisecond for an unknown issuer");
  t.throws(() => directory.providerOfToken(SPEC.issuer, ["acme", ...many]), { message: /more than 16/ });
  t.equal(directory.providerOfToken(SPEC.issuer, Array(4_000).fill("acme")).key, "acme/corp", "one of them");
});

t.test("a person is of several tenants, and each tenant has names of its own", async (t) => {
  const { directory } = await withCorp();
  for (const id of ["acme", "beta", "corp"]) directory.createTenant({ id });
  const by = directory.providerByKey("corp");
  const name = (tenantId: string, subject: string) =>
    directory.federatedIdentity({ ...ADA, by, tenantId, subject })!.identity.username;
  t.equal(name("acme", "1"), "corp/acme:ada");
  t.equal(name("beta", "1"), "corp/beta:ada");
  t.throws(() => name("beta", "2"), { code: "claim_unknown" });
  const other = { ...SPEC, name: "acme", issuer: "https://else.example" };
  t.throws(() => directory.putOidcProvider("corp", other), { code: "conflict" }, "its users would have those names");
});

t.test("claims count by the description of now", async (t) => {
  const { directory } = await withTenants();
  const { user } = directory.federatedLogin(ADA);
  directory.putOidcProvider("acme", { ...SPEC, roles: { staff: "role:other" } });
  t.equal(directory.federatedIdentity(ADA), null);
  t.equal(directory.federatedIdentity({ ...ADA, subject: "new" }), null);
  t.throws(() => directory.federatedLogin(ADA), { code: "sign_in_failed" });
  t.equal(directory.listUsers("acme", {}).total, 1, "nobody was stored");
  directory.putOidcProvider("acme", { ...SPEC, client_secret: "changed" });
  t.equal(directory.federatedIdentity(ADA)!.identity.userId, user.id, "another secret changes no claim");
  directory.deleteOidcProvider("acme", "corp");
  t.equal(directory.federatedIdentity(ADA), null);
});

t.test("sessions of a user who was deleted do not come back with the user", async (t) => {
  const { directory, clock } = await withTenants();
  const { user } = directory.federatedLogin(ADA);
  const before = directory.identityOfUser(user.id)!.tokenEpoch;
  directory.setUserActive("acme", user.id, false);
  directory.deleteUser("acme", user.id);
  clock.now += 1_000;
  t.ok(directory.federatedIdentity(ADA)!.isNew);
  const { tokenEpoch } = directory.identityOfUser(user.id)!;
  t.ok(tokenEpoch > before + 1, `${tokenEpoch} is after ${before}`);
});

t.test("new users are stored no faster than the tenant's rate", async (t) => {
  const steady = { now: 0 };
  const rate = { newUserRate: { perSecond: 1, burst: 3 }, steadyNow: () => steady.now };
  const { directory } = await openDirectory({}, rate);
  for (const id of ["acme", "beta"]) directory.createTenant({ id });
  directory.putOidcProvider("acme", SPEC);
  const comes = (i: number, tenantId = "acme") =>
    directory.federatedIdentity({ ...ADA, tenantId, subject: String(i), name: `n${tenantId}${i}` })!.isNew;
  for (let i = 0; i < 3; i++) t.ok(comes(i));
  t.throws(() => comes(3), { code: "rate_limited" });
  t.notOk(comes(0), "who is known costs none");
  t.ok(comes(3, "beta"), "another tenant has its own");
  steady.now += 1_000;
  t.ok(comes(3));
});

t.test("a client that two tenants name is of both", async (t) => {
  const { directory } = await withTenants();
  directory.putOidcProvider("beta", { ...SPEC, audience: ["beta-own"] });
  const keys = directory.providersOfClient(SPEC.issuer, ["c"]).map(({ key }) => key);
  t.same(keys.sort(), ["acme/corp", "beta/corp"]);
  t.throws(() => directory.providersOfClient(SPEC.issuer, ["d"]), { code: "token_issuer_unknown" });
});
