import t from "tap";
import type { KeyOwner } from "../../src/directory/api-keys.js";
import { apiKeyHash } from "../../src/directory/api-keys.js";
import type { Directory } from "../../src/directory/directory.js";
import type { UserView } from "../../src/protocol/accounts.js";
import { HOUR, openDirectory } from "./directory-fixture.js";

const owner = (user: UserView): KeyOwner => ({ userId: user.id, tenantId: user.tenant_id, roles: user.roles });

async function tenantWithUsers(directory: Directory, id: string) {
  directory.createTenant({ id });
  const create = (username: string, roles?: ("admin" | "user")[]) =>
    directory.createUser(id, { username: `${id}-${username}`, password: "password 1", ...(roles ? { roles } : {}) });
  return { boss: await create("boss", ["admin"]), ada: await create("ada"), bob: await create("bob") };
}

t.test("a key is shown once and stands for its user in its tenant", async (t) => {
  const { directory, shard, clock } = await openDirectory();
  const { ada } = await tenantWithUsers(directory, "acme");
  const { api_key, raw_key } = directory.createApiKey(ada.id, {
    name: "ci",
    permission: "ReadOnly",
    expiresInDays: 30,
  });
  t.match(raw_key, /^ak_[A-Za-z0-9_-]{43}$/);
  t.same(api_key, {
    id: api_key.id,
    name: "ci",
    key_preview: `${raw_key.slice(0, 7)}…${raw_key.slice(-4)}`,
    permission: "ReadOnly",
    lead: null,
    is_active: true,
    expires_at: new Date(clock.now + 30 * 24 * HOUR).toISOString(),
    created_at: new Date(clock.now).toISOString(),
    last_used: null,
    usage_count: 0,
  });
  t.same(directory.listApiKeys(owner(ada)), { items: [api_key], total: 1 });

  const tx = shard.begin({ readOnly: true });
  const stored = tx.scan({ gte: Buffer.alloc(1), lt: Buffer.alloc(8, 0xff) }).next(1000);
  const text = Buffer.concat([...stored.keys, ...stored.values]).toString();
  tx.rollback();
  t.ok(text.includes(apiKeyHash(raw_key)), "its hash is kept");
  t.notOk(text.includes(raw_key.slice(10, 30)), "the key is not");

  const { version, ...identity } = directory.identityOfKeyHash(apiKeyHash(raw_key))!;
  t.same(identity, {
    userId: ada.id,
    keyId: api_key.id,
    username: "acme-ada",
    tenantId: "acme",
    companyId: "acme",
    tenantNumber: 2,
    partition: 0,
    roles: ["user"],
    permission: "ReadOnly",
    tokenEpoch: 0,
    active: true,
    rateLimit: null,
    expiresAtMs: clock.now + 30 * 24 * HOUR,
  });
  t.ok(version > 0);
  t.equal(directory.identityOfKeyHash(apiKeyHash(`${raw_key}x`)), null);
});

t.test("people see their own keys, administrators their tenant's, nobody another tenant's", async (t) => {
  const { directory, clock } = await openDirectory();
  const acme = await tenantWithUsers(directory, "acme");
  const other = await tenantWithUsers(directory, "other");
  const make = (user: UserView, name: string) => {
    clock.now += 1000;
    return directory.createApiKey(user.id, { name, permission: "FullAccess" }).api_key;
  };
  make(acme.ada, "ada 1");
  const bobs = make(acme.bob, "bob 1");
  make(acme.ada, "ada 2");
  make(other.ada, "other 1");
  const names = (caller: UserView, page = {}) =>
    directory.listApiKeys(owner(caller), page).items.map(({ name }) => name);
  t.same(names(acme.ada), ["ada 2", "ada 1"], "newest first");
  t.same(names(acme.boss), ["ada 2", "bob 1", "ada 1"]);
  t.same(names(acme.boss, { limit: 1, offset: 1 }), ["bob 1"]);
  t.equal(directory.listApiKeys(owner(acme.boss), { limit: 1 }).total, 3);
  t.same(names(other.boss), ["other 1"]);

  for (const stranger of [acme.ada, other.boss, other.ada]) {
    t.throws(() => directory.deleteApiKey(owner(stranger), bobs.id), { code: "not_found", message: /does not exist/ });
  }
  directory.deleteApiKey(owner(acme.boss), bobs.id);
  t.same(names(acme.bob), []);
});

t.test("a deleted key stops working, and the gateway is told", async (t) => {
  const { directory, changes } = await openDirectory();
  const { ada } = await tenantWithUsers(directory, "acme");
  const { api_key, raw_key } = directory.createApiKey(ada.id, { name: "ci", permission: "FullAccess" });
  const keyHash = apiKeyHash(raw_key);
  t.equal(changes.length, 0);
  directory.deleteApiKey(owner(ada), api_key.id);
  t.match(changes, [{ kind: "key", keyId: api_key.id, keyHash }]);
  t.equal(directory.identityOfKeyHash(keyHash), null);
  t.throws(() => directory.deleteApiKey(owner(ada), api_key.id), { code: "not_found" });
});

t.test("a key goes with its user: disabled, moved to another limit, deleted", async (t) => {
  const { directory } = await openDirectory();
  const { ada } = await tenantWithUsers(directory, "acme");
  const { raw_key } = directory.createApiKey(ada.id, { name: "ci", permission: "FullAccess" });
  const identity = () => directory.identityOfKeyHash(apiKeyHash(raw_key));
  directory.setUserActive("acme", ada.id, false);
  t.equal(identity()?.active, false);
  directory.setUserActive("acme", ada.id, true);
  t.equal(identity()?.active, true);
  directory.updateTenant("acme", { isActive: false, rateLimit: { perSecond: 5, burst: 9 } });
  t.match(identity(), { active: false, rateLimit: { perSecond: 5, burst: 9 } });
  directory.deleteUser("acme", ada.id);
  t.equal(identity(), null);
  t.equal(directory.listApiKeys({ userId: ada.id, tenantId: "acme", roles: ["admin"] }).total, 0);
});

t.test("use is counted from the gateway's reports", async (t) => {
  const { directory, clock } = await openDirectory();
  const { ada } = await tenantWithUsers(directory, "acme");
  const { api_key } = directory.createApiKey(ada.id, { name: "ci", permission: "FullAccess" });
  const reported = clock.now + HOUR;
  directory.recordKeyUsage([
    { keyId: api_key.id, count: 40, lastUsedMs: reported },
    { keyId: "deleted meanwhile", count: 1, lastUsedMs: reported },
  ]);
  directory.recordKeyUsage([{ keyId: api_key.id, count: 2, lastUsedMs: reported - 5000 }]);
  t.match(directory.listApiKeys(owner(ada)).items, [{ usage_count: 42, last_used: new Date(reported).toISOString() }]);
});

t.test("bad requests are refused, and a user's keys are bounded", async (t) => {
  const { directory } = await openDirectory();
  const { ada } = await tenantWithUsers(directory, "acme");
  const refused = (request: object) =>
    t.throws(() => directory.createApiKey(ada.id, { name: "ci", permission: "FullAccess", ...request }), {
      code: "invalid_request",
    });
  refused({ name: " " });
  refused({ name: "x".repeat(257) });
  refused({ permission: "Everything" });
  refused({ expiresInDays: 0 });
  refused({ expiresInDays: 1.5 });
  t.throws(() => directory.createApiKey("nobody", { name: "ci", permission: "FullAccess" }), { code: "not_found" });
  for (let i = 0; i < 100; i++) directory.createApiKey(ada.id, { name: `key ${i}`, permission: "ReadOnly" });
  t.throws(() => directory.createApiKey(ada.id, { name: "one more", permission: "ReadOnly" }), {
    code: "conflict",
    message: /at most 100 API keys/,
  });
});
