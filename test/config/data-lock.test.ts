import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { DataDirectoryError, loadSecret, lockDataDirectory } from "../../src/config/data-lock.js";
import { runAcceptLoss } from "../../src/config/run-upgrade.js";

const root = mkdtempSync(join(tmpdir(), "tessera-lock-"));
t.teardown(() => rmSync(root, { recursive: true }));

let directories = 0;
const newDirectory = () => join(root, `data-${++directories}`);
const moduleUrl = new URL("../../src/config/data-lock.js", import.meta.url).href;

/** A process that takes the lock, says so and stays until its input ends. */
function holder(dir: string) {
  const script = `import { lockDataDirectory } from ${JSON.stringify(moduleUrl)};
    try { lockDataDirectory(process.argv[1], { waitMs: 0 }); console.log("locked"); } catch (error) { console.log(error.message); process.exit(1); }
    process.stdin.on("data", () => process.exit(0)); process.stdin.on("end", () => process.exit(0));`;
  return spawn(process.execPath, ["--input-type=module", "-e", script, dir], { stdio: ["pipe", "pipe", "inherit"] });
}

async function firstLine(child: ReturnType<typeof holder>): Promise<string> {
  const [chunk] = (await once(child.stdout!, "data")) as [Buffer];
  return chunk.toString().trim();
}

t.test("the lock is exclusive until it is given back", async (t) => {
  const dir = newDirectory();
  const release = lockDataDirectory(dir, { waitMs: 0 });
  t.throws(() => lockDataDirectory(dir, { waitMs: 0 }), DataDirectoryError);
  release();
  lockDataDirectory(dir, { waitMs: 0 })();
  t.same(readdirSync(dir), [], "nothing is left behind");
});

t.test("a second process is refused with the first one's id, the path and the remedy", async (t) => {
  const dir = newDirectory();
  const child = holder(dir);
  t.equal(await firstLine(child), "locked");
  t.throws(() => lockDataDirectory(dir, { waitMs: 0 }), {
    message: new RegExp(`process ${child.pid}\\) is using ${dir}.*TESSERA_DATA_DIR`),
  });
  child.stdin!.end();
  await once(child, "exit");
  lockDataDirectory(dir, { waitMs: 0 })();
});

t.test("the lock of a killed process is taken over", async (t) => {
  const dir = newDirectory();
  const child = holder(dir);
  t.equal(await firstLine(child), "locked");
  child.kill("SIGKILL");
  await once(child, "exit");
  t.ok(readFileSync(join(dir, "LOCK")).length > 0, "it left its lock");
  const release = lockDataDirectory(dir, { waitMs: 0 });
  t.equal(JSON.parse(readFileSync(join(dir, "LOCK"), "utf8")).pid, process.pid);
  t.same(readdirSync(dir), ["LOCK"]);
  release();
});

t.test("of several processes that find a dead lock, one takes it", async (t) => {
  const dir = newDirectory();
  const dead = spawnSync(process.execPath, [
    "--input-type=module",
    "-e",
    `import { lockDataDirectory } from ${JSON.stringify(moduleUrl)}; lockDataDirectory(process.argv[1]); process.kill(process.pid, "SIGKILL");`,
    dir,
  ]);
  t.equal(dead.signal, "SIGKILL");
  const children = Array.from({ length: 5 }, () => holder(dir));
  const exits = children.map((child) => once(child, "exit"));
  const said = await Promise.all(children.map(firstLine));
  t.equal(said.filter((line) => line === "locked").length, 1, said.join(" | "));
  for (const child of children) child.stdin!.end();
  await Promise.all(exits);
});

t.test(
  "a process id that another process has by now does not count",
  { skip: process.platform !== "linux" },
  async (t) => {
    const dir = newDirectory();
    const release = lockDataDirectory(dir, { waitMs: 0 });
    const lock = JSON.parse(readFileSync(join(dir, "LOCK"), "utf8"));
    release();
    writeFileSync(join(dir, "LOCK"), JSON.stringify({ ...lock, startTime: "1" }));
    lockDataDirectory(dir, { waitMs: 0 })();
    writeFileSync(join(dir, "LOCK"), JSON.stringify({ ...lock, boot: "another boot" }));
    lockDataDirectory(dir, { waitMs: 0 })();
    writeFileSync(join(dir, "LOCK"), JSON.stringify({ ...lock, nonce: "ab" }));
    t.throws(() => lockDataDirectory(dir, { waitMs: 0 }), DataDirectoryError, "the same one does");
  },
);

t.test("a lock that cannot be read is taken over", async (t) => {
  const dir = newDirectory();
  lockDataDirectory(dir)();
  writeFileSync(join(dir, "LOCK"), "");
  lockDataDirectory(dir, { waitMs: 0 })();
  t.same(readdirSync(dir), []);
});

t.test("the secret is made once, kept, and its owner's alone", async (t) => {
  const dir = newDirectory();
  const secret = loadSecret(dir);
  t.equal(secret.length, 32);
  t.same(loadSecret(dir), secret);
  t.notSame(loadSecret(newDirectory()), secret);
  if (process.platform !== "win32") t.equal(statSync(join(dir, "secret.key")).mode & 0o777, 0o600);
  t.same(readdirSync(dir), ["secret.key"]);
});

t.test(
  "a secret that others can read is closed to them, and said so",
  { skip: process.platform === "win32" },
  async (t) => {
    const dir = newDirectory();
    const secret = loadSecret(dir);
    chmodSync(join(dir, "secret.key"), 0o644);
    const warnings: string[] = [];
    t.same(
      loadSecret(dir, (message) => warnings.push(message)),
      secret,
    );
    t.match(warnings, [/mode 644/]);
    t.equal(statSync(join(dir, "secret.key")).mode & 0o777, 0o600);
  },
);

t.test("a short secret is refused", async (t) => {
  const dir = newDirectory();
  loadSecret(dir);
  writeFileSync(join(dir, "secret.key"), "short");
  t.throws(() => loadSecret(dir), { message: /damaged: it has 5 bytes/ });
});

t.test("where there are partitions, a secret that is gone is missed", async (t) => {
  const dir = newDirectory();
  loadSecret(dir);
  mkdirSync(join(dir, "partition-0"));
  t.ok(loadSecret(dir));
  rmSync(join(dir, "secret.key"));
  t.throws(() => loadSecret(dir), { name: "DataDirectoryError", message: /secret\.key is missing.*restore the file/s });
  t.same(readdirSync(dir), ["partition-0"], "none was made");
  t.match(runAcceptLoss(dir, "secret"), /sign in again/);
  t.equal(loadSecret(dir).length, 32);
  t.throws(() => runAcceptLoss(dir, "secret"), { message: /nothing was lost/ });
  t.throws(() => runAcceptLoss(dir, "everything"), { message: /neither the number of a partition nor/ });
});
