import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { openPartition } from "../../src/actor/open-partition.js";
import { loadSecret, lockDataDirectory } from "../../src/config/data-lock.js";
import { loadConfig } from "../../src/config/load-config.js";
import { resetPassword } from "../../src/config/reset-password.js";
import { deriveKey } from "../../src/directory/derive-key.js";
import { Directory } from "../../src/directory/directory.js";
import { upgradeDataDirectory } from "../../src/storage/format-upgrade.js";
import { addPartitions } from "../../src/storage/installation.js";

const root = mkdtempSync(join(tmpdir(), "tessera-reset-"));
t.teardown(() => rmSync(root, { recursive: true }));

const ignore = () => {};

/** The directory of accounts as a server opens it, for the length of `work`. */
async function whileServing<T>(dir: string, work: (directory: Directory) => Promise<T>): Promise<T> {
  const config = loadConfig({ env: { TESSERA_DATA_DIR: dir } });
  const secret = loadSecret(dir);
  const installation = addPartitions(dir, await upgradeDataDirectory(dir, { keepsCopy: false, log: ignore }), 1);
  const settings = {
    actor: 0,
    partitions: [0],
    partitionCount: 1,
    dataDirectory: dir,
    config,
    secret,
    installation: installation.id,
    claimBundles: [],
    adminPassword: null,
  };
  const partition = await openPartition(settings, 0, {
    wroteSomething: ignore,
    durable: ignore,
    undone: ignore,
    failed: ignore,
  });
  const directory = new Directory({
    begin: (readOnly) => partition.shard.begin({ readOnly }),
    deriveKey: async (job) => deriveKey(job),
    now: Date.now,
    secret,
    config: config.auth,
    partitions: 1,
    onIdentityChanged: ignore,
  });
  try {
    return await work(directory);
  } finally {
    await partition.shard.close();
  }
}

const login = (directory: Directory, password: string) =>
  directory.login({ username: "admin", password, remoteAddress: "127.0.0.1" });

t.test("a locked-out administrator gets in with the new password", async (t) => {
  const dir = join(root, "data");
  const config = loadConfig({ env: { TESSERA_DATA_DIR: dir } });
  await t.rejects(resetPassword({ config, username: "admin" }), { message: /there is no installation in/ });
  await whileServing(dir, (directory) => directory.bootstrap({ adminPassword: "forgotten password" }));

  const made = await resetPassword({ config, username: "ADMIN" });
  await whileServing(dir, async (directory) => {
    t.match(await login(directory, made), { user: { username: "admin" } });
    await t.rejects(login(directory, "forgotten password"), { code: "invalid_credentials" });
  });

  t.equal(await resetPassword({ config, username: "admin", password: "chosen password" }), "chosen password");
  await whileServing(dir, async (directory) => {
    const { user } = (await login(directory, "chosen password")) as { user: { id: string } };
    t.ok(user.id);
  });

  await t.rejects(resetPassword({ config, username: "nobody" }), { code: "not_found", message: /does not exist/ });
  await t.rejects(resetPassword({ config, username: "admin", password: "short" }), { code: "invalid_request" });
  const unlock = lockDataDirectory(dir);
  await t.rejects(resetPassword({ config, username: "admin" }), { message: /another server/ });
  unlock();
  await t.resolves(resetPassword({ config, username: "admin" }), "nothing is left locked");
});
