/** A key file: what lay in the open is sealed by the next start, nothing new is written in the open, and without the key nothing starts. */
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TOTP } from "otpauth";
import t from "tap";
import { TestServer } from "./server.js";

t.setTimeout(110_000);
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
  return readdirSync(server.directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(server.directory, name))
    .some((path) => statSync(path).isFile() && readFileSync(path).includes(text));
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
