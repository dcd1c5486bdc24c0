/** `tessera backup …` as an operator runs it, against a running server: what it prints, and what it exits with. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { ADMIN_PASSWORD, PROGRAM, TestServer } from "./server.js";

const server = await TestServer.start();
const folder = mkdtempSync(join(tmpdir(), "tessera-commands-"));
t.teardown(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});
t.setTimeout(300_000);
const passphraseFile = join(folder, "passphrase");
writeFileSync(passphraseFile, "correct horse battery\n");

/** An API key: signing in with a password takes the server a while by intent. */
const { raw_key: apiKey } = (await server.expect(201, "POST", "/v1/api-keys", { name: "commands" })).body.data;
const byPassword = { TESSERA_CLIENT_API_KEY: "", TESSERA_CLIENT_PASSWORD: ADMIN_PASSWORD };

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const variables = { PATH: process.env.PATH!, TESSERA_CLIENT_URL: server.url, TESSERA_CLIENT_API_KEY: apiKey };
  return new Promise((resolve) => {
    execFile(PROGRAM, ["backup", ...args], { env: { ...variables, ...env } }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

await server.rows("CREATE TABLE item (id integer PRIMARY KEY)");
await server.rows("INSERT INTO item SELECT n FROM generate_series(1, 100) AS s (n)");

t.test("make, list, check, carry, restore, delete", async (t) => {
  const made = await run(["create", "--json", "--passphrase-file", passphraseFile]);
  t.equal(made.code, 0, made.err);
  const { id, encrypted } = JSON.parse(made.out);
  t.ok(encrypted);
  t.match((await run(["list"])).out, new RegExp(`^${id}  full  completed`));
  t.match(await run(["verify", id, "--passphrase-file", passphraseFile]), { code: 0, out: /^whole: 1 files/ });
  t.match(await run(["verify", id], { TESSERA_CLIENT_PASSPHRASE: "wrong horse battery" }), {
    code: 1,
    err: /passphrase/,
  });

  const file = join(folder, "carried");
  t.match(await run(["download", id, file]), { code: 0 });
  t.match(await run(["download", id, file]), { code: 2, err: /exists already/ });
  const offline = { TESSERA_CLIENT_URL: "http://127.0.0.1:9", TESSERA_CLIENT_PASSPHRASE: "correct horse battery" };
  t.match(await run(["verify", file], offline), { code: 0, out: /whole/ }, "without a server");
  const hurt = join(folder, "hurt");
  const bytes = readFileSync(file);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(hurt, bytes);
  t.match(await run(["verify", hurt, "--json"], offline), { code: 4, err: /backup_damaged/ });

  await server.expect(201, "POST", "/admin/tenants", { id: "copy" });
  t.match(await run(["upload", hurt, "--tenant", "copy"]), { code: 4, err: /damaged/ });
  const passphrase = ["--passphrase-file", passphraseFile];
  t.match(await run(["upload", file, "--tenant", "copy", ...passphrase]), { code: 0, out: /Restore it with/ });
  t.match(await run(["restore", id, "--tenant", "copy", ...passphrase]), { code: 0, out: /its digest is that/ });
  t.match(await run(["restore", id, "--tenant", "copy", ...passphrase]), { code: 1, err: /replace/ });
  t.match(await run(["restore", id]), { code: 2, err: /--tenant/ });
  t.match(await run(["delete", id]), { code: 0 });
  t.match(await run(["delete", id]), { code: 1, err: /does not exist/ });
});

t.test("of the whole installation, into an empty one", async (t) => {
  const made = await run(["create", "--installation", "--json"]);
  t.equal(made.code, 0, made.err);
  const { id } = JSON.parse(made.out);
  t.match(await run(["list", "--installation"]), { out: new RegExp(id) });
  t.match(await run(["restore", id, "--installation"]), { code: 1, err: /not empty/ });
  const empty = await TestServer.start({ TESSERA_BACKUP_DIRECTORY: join(server.directory, "backups") });
  t.teardown(() => empty.stop());
  t.match(await run(["restore", id, "--installation"], { ...byPassword, TESSERA_CLIENT_URL: empty.url }), {
    code: 0,
    err: "",
  });
  empty.token = await empty.login("admin", ADMIN_PASSWORD);
  t.strictSame(await empty.rows("SELECT count(*) FROM item"), [[100]]);
});

t.test("what cannot be done", async (t) => {
  t.match(await run(["list"], { TESSERA_CLIENT_URL: "http://127.0.0.1:9" }), { code: 3, err: /does not answer/ });
  t.match(await run(["list"], { ...byPassword, TESSERA_CLIENT_PASSWORD: "wrong" }), { code: 3, err: /cannot sign in/ });
  t.match(await run(["list"], { TESSERA_CLIENT_API_KEY: "" }), { code: 2, err: /who are you/ });
  t.match(await run(["list", "--passphrase", "visible to all"]), { code: 2, err: /unknown option/ });
});
