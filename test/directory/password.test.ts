import { scryptSync } from "node:crypto";
import t from "tap";
import { loadConfig } from "../../src/config/load-config.js";
import { type DeriveKey, deriveKey } from "../../src/directory/derive-key.js";
import { getUserByName } from "../../src/directory/directory-store.js";
import { generatePassword, passwordCost, passwordHasher } from "../../src/directory/password.js";
import { ADMIN_PASSWORD, CHEAP, openDirectory } from "./directory-fixture.js";

const here: DeriveKey = async (job) => deriveKey(job);

t.test("a hash is scrypt with its parameters written beside it", async (t) => {
  const hasher = passwordHasher({ cost: passwordCost(15), deriveKey: here });
  const stored = await hasher.hash("correct horse");
  const [, name, parameters, salt, hash] = stored.split("$") as [string, string, string, string, string];
  t.equal(name, "scrypt");
  t.equal(parameters, "ln=15,r=8,p=1");
  const expected = scryptSync("correct horse", Buffer.from(salt, "base64"), 32, {
    N: 32_768,
    r: 8,
    p: 1,
    maxmem: 128 * 1024 * 1024,
  });
  t.equal(Buffer.from(hash, "base64").toString("hex"), expected.toString("hex"));
  t.same(await hasher.verify("correct horse", stored), { matches: true, outdated: false });
  t.same(await hasher.verify("correct horsf", stored), { matches: false, outdated: false });
});

t.test("equal passwords have different hashes, and no stored hash never matches", async (t) => {
  const hasher = passwordHasher({ cost: CHEAP, deriveKey: here });
  t.not(await hasher.hash("same password"), await hasher.hash("same password"));
  t.equal((await hasher.verify("", undefined)).matches, false);
  t.not(generatePassword(), generatePassword());
});

t.test("a hash with lower parameters is renewed at the next sign-in", async (t) => {
  const { shard, reopen } = await openDirectory();
  const stored = () => {
    const tx = shard.begin({ readOnly: true });
    const hash = getUserByName(tx, "admin")!.passwordHash;
    tx.rollback();
    return hash;
  };
  t.match(stored(), /ln=4,/);
  const stronger = reopen({ passwordCost: { logN: 6, r: 8, p: 1 } });
  const login = (password: string) => stronger.login({ username: "admin", password, remoteAddress: "192.0.2.1" });
  await t.rejects(login("wrong password"));
  t.match(stored(), /ln=4,/);
  await login(ADMIN_PASSWORD);
  t.match(stored(), /ln=6,/);
  await t.resolves(login(ADMIN_PASSWORD));
  await t.resolves(reopen().login({ username: "admin", password: ADMIN_PASSWORD, remoteAddress: "192.0.2.1" }));
  t.match(stored(), /ln=6,/, "weaker settings do not weaken it");
  const { auth } = loadConfig({ env: { TESSERA_AUTH_PASSWORD_COST: "11" } });
  const configured = reopen({ config: auth, passwordCost: undefined });
  await configured.login({ username: "admin", password: ADMIN_PASSWORD, remoteAddress: "192.0.2.1" });
  t.match(stored(), /ln=11,/, "the cost is a setting");
});
