import fc from "fast-check";
import t from "tap";
import { openDirectory } from "./directory-fixture.js";

const password = "password 1";

t.test("tenants are placed on the partition with the fewest, and never share a number", async (t) => {
  const { directory, reopen } = await openDirectory({}, { partitions: 3 });
  const placed = ["a", "b", "c", "d", "e"].map((id) => directory.createTenant({ id }).partition);
  t.same(placed, [1, 2, 0, 1, 2], "partition 0 has the system tenant already");
  const grown = reopen({ partitions: 4 });
  t.equal(grown.createTenant({ id: "f" }).partition, 3, "a new partition fills up first");
  t.equal(grown.getTenant("a").partition, 1, "a tenant stays where it is");
  const numbers = [1, 2, 3, 4, 5, 6, 7].map((number) => grown.tenantOfNumber(number)?.id);
  t.same(numbers, ["system", "a", "b", "c", "d", "e", "f"]);
  t.equal(grown.tenantOfNumber(8), null);
  t.equal(reopen({ partitions: 1 }).createTenant({ id: "g" }).partition, 0, "and fewer partitions are respected");
});

t.test("whatever the number of partitions, they fill evenly", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 25 }), async (partitions, count) => {
      const { directory } = await openDirectory({}, { partitions });
      const tenants = Array.from({ length: partitions }, () => 0);
      tenants[0] = 1;
      for (let i = 0; i < count; i++) tenants[directory.createTenant({ id: `t${i}` }).partition]!++;
      return Math.max(...tenants) - Math.min(...tenants) <= 1;
    }),
    { numRuns: 30 },
  );
});

t.test("a tenant's id is a unique slug", async (t) => {
  const { directory } = await openDirectory();
  t.match(directory.createTenant({ id: "acme_1-x", name: "Acme Inc." }), { name: "Acme Inc.", is_active: true });
  t.match(directory.createTenant({ id: "0" }), { id: "0", name: "0" });
  t.throws(() => directory.createTenant({ id: "0" }), { code: "conflict", status: 409, message: /already exists/ });
  t.throws(() => directory.createTenant({ id: "system" }), { code: "conflict" });
  for (const id of ["", "Acme", "a b", "-a", "a/b", "ä", "a".repeat(64)]) {
    t.throws(() => directory.createTenant({ id }), { code: "invalid_request" }, JSON.stringify(id));
  }
  t.ok(directory.createTenant({ id: "a".repeat(63) }));
  t.throws(() => directory.getTenant("nowhere"), { code: "tenant_not_found", message: /does not exist/ });
});

t.test("tenants are listed in pages", async (t) => {
  const { directory } = await openDirectory();
  for (const id of ["c", "a", "b"]) directory.createTenant({ id });
  const ids = (page = {}) => directory.listTenants(page).items.map(({ id }) => id);
  t.same(ids(), ["a", "b", "c", "system"]);
  t.same(ids({ limit: 2, offset: 1 }), ["b", "c"]);
  t.same(ids({ offset: 9 }), []);
  t.equal(directory.listTenants({ limit: 1 }).total, 4);
});

t.test("a tenant's changes reach its identities and the gateway", async (t) => {
  const { directory, changes } = await openDirectory();
  directory.createTenant({ id: "acme", rateLimit: { perSecond: 5, burst: 10 } });
  const { id } = await directory.createUser("acme", { username: "ada", password });
  t.match(directory.identityOfUser(id), {
    active: true,
    rateLimit: { perSecond: 5, burst: 10 },
    permission: "FullAccess",
  });
  t.same(changes, [], "nobody can have cached what is new");

  t.match(directory.updateTenant("acme", { isActive: false }), { is_active: false, rate_limit: { per_second: 5 } });
  t.match(changes, [{ kind: "tenant", tenantId: "acme" }]);
  const disabled = directory.identityOfUser(id)!;
  t.equal(disabled.active, false);
  t.equal(disabled.version, changes[0]!.version, "an identity read now is new enough to be cached");

  t.match(directory.updateTenant("acme", { isActive: true, name: "Acme", rateLimit: null }), {
    is_active: true,
    name: "Acme",
    rate_limit: null,
  });
  t.match(directory.identityOfUser(id), { active: true, rateLimit: null });
  t.throws(() => directory.updateTenant("nowhere", { name: "x" }), { code: "tenant_not_found" });
  t.throws(() => directory.updateTenant("acme", { rateLimit: { perSecond: -1, burst: 1 } }), {
    code: "invalid_request",
  });
  t.throws(() => directory.updateTenant("acme", { name: " " }), { code: "invalid_request" });
});

t.test("the system tenant cannot be disabled, nor its last administrator removed", async (t) => {
  const { directory } = await openDirectory();
  t.throws(() => directory.updateTenant("system", { isActive: false }), { code: "forbidden", message: /permission/ });
  t.throws(() => directory.setUserActive("system", "admin", false), { code: "forbidden", message: /permission/ });
  t.throws(() => directory.deleteUser("system", "admin"), { code: "forbidden" });
  await directory.createUser("system", { username: "plain", password });
  t.throws(() => directory.deleteUser("system", "admin"), { code: "forbidden" });
  await directory.createUser("system", { username: "second", password, roles: ["super_admin"] });
  directory.deleteUser("system", "admin");
  t.throws(() => directory.setUserActive("system", "second", false), { code: "forbidden" });
});

t.test("a username is unique in the installation, without regard to case", async (t) => {
  const { directory, signIn } = await openDirectory();
  directory.createTenant({ id: "acme" });
  await directory.createUser("acme", { username: "Straße", password });
  const duplicate = (username: string) =>
    t.rejects(directory.createUser("system", { username, password }), { code: "conflict", message: /already exists/ });
  await duplicate("straße");
  await duplicate("STRAßE");
  await duplicate("ADMIN");
  t.match((await signIn("STRAßE", password)).user, { username: "Straße", tenant_id: "acme" });
  const both = await Promise.allSettled([
    directory.createUser("acme", { username: "twin", password }),
    directory.createUser("system", { username: "Twin", password }),
  ]);
  t.same(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"], "also when both ask at once");
});

t.test("bad users are refused", async (t) => {
  const { directory } = await openDirectory();
  const refused = (request: object, code = "invalid_request") =>
    t.rejects(
      directory.createUser("system", { username: "ada", password, ...request }),
      { code },
      JSON.stringify(request),
    );
  await refused({ username: "" });
  await refused({ username: "a b" });
  await refused({ username: "a/b" });
  await refused({ username: ".a" });
  await refused({ username: "a".repeat(129) });
  await refused({ email: "nowhere" });
  await refused({ password: "1234567" });
  await refused({ roles: [] });
  await refused({ roles: ["root"] });
  await t.rejects(directory.createUser("nowhere", { username: "ada", password }), { code: "tenant_not_found" });
  t.equal(directory.listUsers("system").total, 1, "none was made");
});

t.test("users are listed by name, in pages, per tenant", async (t) => {
  const { directory } = await openDirectory();
  directory.createTenant({ id: "acme" });
  directory.createTenant({ id: "acme-2" });
  for (const username of ["cy", "Ada", "bob"]) await directory.createUser("acme", { username, password });
  await directory.createUser("acme-2", { username: "zoe", password, companyId: "acme" });
  const names = (tenant: string, page = {}) => directory.listUsers(tenant, page).items.map(({ username }) => username);
  t.same(names("acme"), ["Ada", "bob", "cy"]);
  t.same(names("acme", { limit: 1, offset: 2 }), ["cy"]);
  t.same(names("acme-2"), ["zoe"]);
  t.match(directory.listUsers("acme-2").items, [{ tenant_id: "acme-2", company_id: "acme" }]);
  t.throws(() => directory.listUsers("nowhere"), { code: "tenant_not_found" });
});

t.test("disabling a user revokes its tokens for good, and says so before it returns", async (t) => {
  const { directory, changes } = await openDirectory();
  directory.createTenant({ id: "acme" });
  const { id } = await directory.createUser("acme", { username: "ada", password });
  const before = directory.identityOfUser(id)!;
  t.equal(directory.setUserActive("acme", "ADA", false).is_active, false);
  t.match(changes, [{ kind: "user", userId: id }]);
  t.ok(changes[0]!.version > before.version, "an identity read before is known to be old");
  t.equal(directory.identityOfUser(id)!.active, false);
  directory.setUserActive("acme", id, true);
  const after = directory.identityOfUser(id)!;
  t.equal(after.active, true);
  t.not(after.tokenEpoch, before.tokenEpoch);
});

t.test("a user is reached through its own tenant only", async (t) => {
  const { directory } = await openDirectory();
  directory.createTenant({ id: "acme" });
  const { id } = await directory.createUser("acme", { username: "ada", password });
  t.throws(() => directory.setUserActive("system", id, false), { code: "not_found", message: /does not exist/ });
  t.throws(() => directory.deleteUser("system", "ada"), { code: "not_found" });
  await t.rejects(directory.resetUserPassword("system", "ada"), { code: "not_found" });
  t.throws(() => directory.deleteUser("nowhere", "ada"), { code: "tenant_not_found" });
});

t.test("a reset password is made up unless given, and revokes tokens", async (t) => {
  const { directory, changes, signIn } = await openDirectory();
  const { id } = await directory.createUser("system", { username: "ada", password });
  const made = await directory.resetUserPassword("system", "ada");
  t.ok(made.password!.length >= 16);
  t.match(changes, [{ kind: "user", userId: id }]);
  await t.rejects(signIn("ada", password), { code: "invalid_credentials" });
  await t.resolves(signIn("ada", made.password!));
  const given = await directory.resetUserPassword("system", id, { password: "analytical engine" });
  t.notOk("password" in given, "one that was given is not repeated");
  await t.resolves(signIn("ada", "analytical engine"));
  await t.rejects(directory.resetUserPassword("system", "ada", { password: "short" }), { code: "invalid_request" });
});

t.test("a deleted user is gone, and its name is free", async (t) => {
  const { directory, changes, signIn } = await openDirectory();
  const first = await directory.createUser("system", { username: "ada", password });
  directory.deleteUser("system", "ada");
  t.match(changes, [{ kind: "user", userId: first.id }]);
  t.equal(directory.identityOfUser(first.id), null);
  t.throws(() => directory.userById(first.id), { code: "not_found" });
  await t.rejects(signIn("ada", password), { code: "invalid_credentials" });
  const second = await directory.createUser("system", { username: "ada", password });
  t.not(second.id, first.id);
});

t.test("no answer carries a hash or a secret", async (t) => {
  const { directory, signIn } = await openDirectory();
  const ada = await directory.createUser("system", { username: "ada", password });
  const { secret } = directory.enrolMfa(ada.id);
  const answers = JSON.stringify([
    directory.userById(ada.id),
    directory.listUsers("system"),
    directory.listTenants(),
    directory.createApiKey(ada.id, { name: "k", permission: "ReadOnly" }).api_key,
    directory.listApiKeys({ userId: ada.id, tenantId: "system", roles: ["user"] }),
    directory.identityOfUser(ada.id),
    await signIn("ada", password),
  ]);
  t.notMatch(answers, /scrypt|hash/i);
  t.notOk(answers.includes(secret));
});
