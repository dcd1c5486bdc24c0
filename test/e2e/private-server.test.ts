/** `tessera sql --data DIR`: statements on a directory that no server has; the server of the command ends with it. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";

const { TESSERA_CLIENT_PASSWORD: _password, TESSERA_CLIENT_API_KEY: _key, ...environment } = process.env;
const directory = join(mkdtempSync(join(tmpdir(), "private-")), "new");

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function tessera(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile("bin/tessera", args, { env: environment }, (error, out, err) => {
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
