/** `tessera sql --data DIR`: statements on a directory that no server has; the server of the command ends with it. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";

const { TESSERA_CLIENT_PASSWORD: _password, TESSERA_CLIENT_API_KEY: _key, ...surroundings } = process.env;
/** As in TestServer. */
const environment = { ...surroundings, TESSERA_AUTH_PASSWORD_COST: "10", TESSERA_STORAGE_RESERVE_BYTES: "0" };
const folder = mkdtempSync(join(tmpdir(), "tessera-private-"));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const directory = join(folder, "new");

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const tessera = (...args: readonly string[]) => tesseraIn({}, ...args);

function tesseraIn(settings: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile("bin/tessera", args, { env: { ...environment, ...settings } }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
    child.stdin!.end();
  });
}

t.test("a new directory is made, and says its password; the next command needs none", async (t) => {
  const made = await tessera(
    "sql",
    "--data",
    directory,
    "CREATE TABLE kept (id int); INSERT INTO kept VALUES (1), (2)",
  );
  t.equal(made.code, 0, made.err);
  t.match(made.err, /is new\. Administrator: admin, password: \S{16}/);
  const read = await tessera("sql", "--data", directory, "--format", "csv", "SELECT sum(id) AS s FROM kept");
  t.match(read, { code: 0, out: "s\n3\n", err: "" });
});

t.test("an error of a statement is the command's", async (t) => {
  const failed = await tessera("sql", "--data", directory, "SELECT * FROM missing");
  t.equal(failed.code, 1);
  t.match(failed.err, /missing/);
  t.match(await tessera("sql", "--data", directory, "--username", "nobody", "SELECT 1"), { err: /does not exist/ });
  t.match(await tessera("sql", "--data", directory, "--url", "http://127.0.0.1:1", "SELECT 1"), { code: 2 });
});

t.test("another server's directory is refused, with the way", async (t) => {
  const env = { ...environment, TESSERA_DATA_DIR: directory, TESSERA_PORT: "0", TESSERA_ACTORS: "1" };
  const server = spawn("bin/tessera", ["serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => server.kill("SIGKILL"));
  let said = "";
  while (!said.includes("listening on http")) said += String((await once(server.stdout, "data"))[0]);
  const refused = await tessera("sql", "--data", directory, "SELECT 1");
  t.equal(refused.code, 2);
  t.match(refused.err, /--url instead of --data/);
  server.kill("SIGTERM");
  await once(server, "exit");
  t.match(await tessera("sql", "--data", directory, "SELECT count(*) AS rows FROM kept"), { code: 0, out: /2/ });
});

/** Of the process that has the directory's lock; null: none has. */
function lockOwner(): number | null {
  try {
    return Number(/\d+/.exec(readFileSync(join(directory, "LOCK"), "utf8"))![0]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

for (const [signal, moment] of [
  ["SIGINT", "while it starts"],
  ["SIGKILL", "while a statement runs"],
] as const) {
  t.test(`${signal} ${moment} ends the server, too`, async (t) => {
    const args = ["sql", "--data", directory, "SELECT pg_sleep(600)"];
    const command = spawn("bin/tessera", args, { env: environment, stdio: "ignore" });
    t.teardown(() => command.kill("SIGKILL"));
    let owner = lockOwner();
    // The command has the lock itself for a moment; before, it may be that of a server that was ended while it started.
    for (; owner === null || owner === command.pid || !isAlive(owner); owner = lockOwner()) await sleep(20);
    t.teardown(() => isAlive(owner) && process.kill(owner, "SIGKILL"));
    if (moment !== "while it starts") await sleep(3_000);
    command.kill(signal);
    const [code, ended] = await once(command, "exit");
    t.same([code, ended], signal === "SIGKILL" ? [null, signal] : [130, null]);
    while (isAlive(owner)) await sleep(20);
  });
}

t.test("the file and the environment do not open other doors", async (t) => {
  const taken = createServer().listen(0, "127.0.0.1");
  t.teardown(() => taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const certificate = join(directory, "../tls.pem");
  writeFileSync(certificate, "no certificate");
  const file = join(directory, "../server.toml");
  writeFileSync(
    file,
    [
      ...[`[server]`, `port = ${port}`, `[actors]`, `count = 2`, `[postgres]`, `port = ${port}`, `[bolt]`],
      ...[`port = ${port}`, `[server.tls]`, `cert_file = "${certificate}"`, `key_file = "${certificate}"`],
    ].join("\n"),
  );
  const asked = ["sql", "--data", directory, "--config", file, "SELECT 1 AS one"];
  const settings = { TESSERA_SERVER_HOST: "127.0.0.2", TESSERA_SERVER_PORT: String(port), TESSERA_ACTORS_COUNT: "2" };
  t.match(await tesseraIn({ ...settings, TESSERA_POSTGRES_PORT: String(port) }, ...asked), { code: 0, err: "" });
  const fresh = join(directory, "../fresh");
  const made = await tesseraIn({ TESSERA_AUTH_ADMIN_PASSWORD: "another-one-1" }, "sql", "--data", fresh, "SELECT 1");
  t.match(made, { code: 0, err: /password: \S{16}/ });
});
