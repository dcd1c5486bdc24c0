/**
 * A key file: what lay in the open is sealed by the next start, nothing new is written in the open, and without the key
 * nothing starts.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { TOTP } from "otpauth";
import t from "tap";
import { filesWith } from "../live-files.js";
import { PROGRAM, TestServer } from "./server.js";

t.setTimeout(280_000);
const keys = mkdtempSync(join(tmpdir(), "tessera-keys-"));
t.teardown(() => rmSync(keys, { recursive: true }));
const keyFile = (name: string, content: string | Buffer, mode = 0o600): string => {
  const path = join(keys, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
};
const first = keyFile("first", Buffer.alloc(32, 1));
const second = keyFile("second", `${"ab".repeat(32)}\n`);

const environment: Record<string, string> = { TESSERA_ACTORS: "1" };
const server = await TestServer.start(environment);
t.teardown(() => server.stop());

/** Whether any file of the data directory has the text. */
function isOnDisk(text: string): boolean {
  return filesWith(server.directory, (bytes) => bytes.includes(text)).length > 0;
}

async function enrolled(name: string): Promise<string> {
  const token = await server.tenant(name);
  const { secret } = (await server.expect(200, "POST", "/v1/auth/mfa/enroll", undefined, { token })).body.data;
  await server.expect(200, "POST", "/v1/auth/mfa/confirm", { code: new TOTP({ secret }).generate() }, { token });
  return secret;
}

async function signsIn(name: string, secret: string, steps: number): Promise<number> {
  const login = { username: `${name}-user`, password: `password of ${name}` };
  const { mfa_token } = (await server.expect(200, "POST", "/v1/auth/login", login)).body;
  const code = new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 });
  return (await server.call("POST", "/v1/auth/mfa/verify", { mfa_token, code })).status;
}

t.test("a key seals what is there, and what comes", async (t) => {
  const early = await enrolled("early");
  const { token } = server;
  t.ok(isOnDisk(early), "without a key it lies in the open");
  const secret = readFileSync(join(server.directory, "secret.key"));
  await server.terminate();

  environment.TESSERA_SECRETS_KEY_FILE = first;
  await server.boot();
  t.notOk(existsSync(join(server.directory, "secret.key")));
  t.notOk(isOnDisk(secret.toString("latin1")));
  t.equal((await server.call("GET", "/v1/users/me", undefined, { token })).status, 200, "tokens of before hold");
  t.equal(await signsIn("early", early, 1), 200);
  const late = await enrolled("late");
  t.notOk(isOnDisk(late), "a new one is nowhere on the disk");
  await server.terminate();

  for (const [file, message] of [
    ["", /secret\.sealed is sealed with the key [0-9a-f]{16}: name its file in secrets\.key_file/],
    [second, /and the configured ones are [0-9a-f]{16}.*previous_key_file/],
    [join(keys, "none"), /does not exist\. Make one/],
    [keyFile("open", Buffer.alloc(32, 1), 0o644), /can be read by other users: chmod 600/],
    [keyFile("short", "abc"), /needs 32 bytes or 64 hexadecimal digits and has 3 bytes/],
  ] as const) {
    environment.TESSERA_SECRETS_KEY_FILE = file;
    await t.rejects(server.boot(), { message });
  }

  Object.assign(environment, { TESSERA_SECRETS_KEY_FILE: second, TESSERA_SECRETS_PREVIOUS_KEY_FILE: first });
  await server.boot();
  await server.terminate();
  delete environment.TESSERA_SECRETS_PREVIOUS_KEY_FILE;
  await server.boot();
  t.equal((await server.call("GET", "/v1/users/me", undefined, { token })).status, 200, "the key was changed");
  t.equal(await signsIn("late", late, 1), 200);
});

t.test("tessera keys: a new key under a running server, the old one dropped, killed in the middle", async (t) => {
  const env = { ...process.env, TESSERA_DATA_DIR: server.directory, TESSERA_SECRETS_KEY_FILE: second };
  const keysCommand = async (...args: string[]) =>
    JSON.parse((await promisify(execFile)(PROGRAM, ["keys", ...args, "--json"], { env })).stdout);
  const { token } = server;
  const holds = async () => (await server.call("GET", "/v1/users/me", undefined, { token })).status;
  const [only] = (await keysCommand("list")).keys;
  t.match(only, { id: /^[0-9a-f]{16}$/, made_at: null, in_use: true, newest: true });

  const { key, before } = await keysCommand("rotate");
  t.equal(before, only.id);
  t.match((await keysCommand("list")).keys, [
    { id: key, made_at: /^2/, in_use: true, newest: true },
    { id: only.id, in_use: false, newest: false },
  ]);
  t.equal(await holds(), 200, "the server goes on");
  await t.rejects(keysCommand("drop", key), { message: /tessera: the secret is sealed with the key/ });
  t.same(await keysCommand("drop", only.id), { dropped: [only.id] });
  await server.terminate();
  await server.boot();
  t.equal(await holds(), 200, "the new key alone opens what is there");
  const late = await enrolled("later");
  t.equal(await signsIn("later", late, 1), 200);

  const inode = () => statSync(second).ino;
  const was = inode();
  const child = spawn(PROGRAM, ["keys", "rotate"], { env, stdio: "ignore" });
  const ended = once(child, "exit");
  while (child.exitCode === null && inode() === was) await new Promise(setImmediate);
  child.kill("SIGKILL");
  await ended;
  t.equal((await keysCommand("list")).keys.filter((one: { in_use: boolean }) => one.in_use).length, 1);
  await server.kill();
  await server.boot();
  t.equal(await holds(), 200);
  const after = (await keysCommand("list")).keys;
  t.ok(after[0].newest && after[0].in_use, "the start has sealed it with the newest");
  t.same(await keysCommand("drop", "--unused"), { dropped: [key] });
});
