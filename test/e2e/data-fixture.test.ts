/**
 * Data directories that earlier releases wrote (test/fixtures/releases) are opened by this build: what they hold is
 * what it was, it can be changed, and there is a way back to the old form.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TOTP } from "otpauth";
import t, { type Test } from "tap";
import { runUpgrade } from "../../src/config/run-upgrade.js";
import { FORMAT_VERSION } from "../../src/storage/format.js";
import { lasting, PASSWORD, type Recorded } from "./data-fixture.js";
import { PROGRAM, TestServer } from "./server.js";

const FIXTURES = new URL("../../../test/fixtures/releases/", import.meta.url).pathname;

t.setTimeout(300_000);

function unpacked(t: Test, release: string): { recorded: Recorded; directory: string } {
  const recorded = JSON.parse(readFileSync(join(FIXTURES, release, "recorded.json"), "utf8")) as Recorded;
  const directory = mkdtempSync(join(tmpdir(), "tessera-test-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  execFileSync("tar", ["-C", directory, "-xzf", join(FIXTURES, release, "data.tar.gz")]);
  return { recorded, directory };
}

/** A command of the program's on that data directory. */
function tessera(directory: string, ...words: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(PROGRAM, words, {
    encoding: "utf8",
    env: { PATH: process.env.PATH, TESSERA_DATA_DIR: directory },
  });
  return { status, text: stdout + stderr };
}

/** Times of routes ended in +00:00 in some places before, without trailing zeros. */
function withOneSpelling(answer: unknown): unknown {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|\+00:00)$/;
  return JSON.parse(JSON.stringify(answer), (_key, value: unknown) =>
    typeof value === "string" && isTime.test(value) ? new Date(value).toISOString() : value,
  );
}

async function sameAnswers(t: Test, server: TestServer, { reads }: Recorded): Promise<void> {
  const token = await server.login("keeper-user", PASSWORD);
  for (const { what, ask, answer } of reads) {
    const reply = await server.call(ask.method, ask.path, ask.body, { token });
    t.equal(reply.status, 200, what);
    // Later releases may tell more.
    t.hasStrict(withOneSpelling(lasting(reply.body.data)), withOneSpelling(answer), what);
  }
}

async function credentialsHold(t: Test, server: TestServer, { apiKey, totpSecret }: Recorded): Promise<void> {
  t.same(await server.rows("SELECT 1", [], { token: apiKey }), [[1]], "the API key holds");
  const { mfa_token } = (
    await server.expect(200, "POST", "/v1/auth/login", { username: "guarded", password: PASSWORD })
  ).body;
  const code = new TOTP({ secret: totpSecret }).generate();
  await server.expect(200, "POST", "/v1/auth/mfa/verify", { mfa_token, code });
  t.pass("the second factor holds");
}

for (const release of readdirSync(FIXTURES)) {
  t.test(`what release ${release} wrote`, async (t) => {
    const { recorded, directory } = unpacked(t, release);
    const wasOlder = recorded.format < FORMAT_VERSION;
    const server = await TestServer.start({ TESSERA_ACTORS: "1" }, directory);
    t.teardown(() => server.stop());
    await sameAnswers(t, server, recorded);
    await credentialsHold(t, server, recorded);
    const as = { token: await server.login("keeper-user", PASSWORD) };
    for (const { id } of (await server.expect(200, "GET", "/v1/backups", undefined, as)).body.data.backups) {
      await server.expect(200, "POST", `/v1/backups/${id}/verify`, {}, as);
    }
    for (const text of [
      "INSERT INTO every_type (id, t) VALUES (1000, 'of this release')",
      "INSERT INTO child (parent_id, note) VALUES (1, 'later')",
      "INSERT INTO passage VALUES (500, 'later water runs', '[1,1,1]')",
    ]) {
      await server.rows(text, [], as);
    }
    t.same(await server.rows("SELECT g FROM every_type WHERE lower(t) = 'of this release'", [], as), [
      ["OF THIS RELEASE"],
    ]);
    const badKey = await server.sql("INSERT INTO child (parent_id) VALUES (77)", [], as);
    t.equal(badKey.body.error?.details?.sqlstate, "23503", "constraints hold");
    await server.terminate();

    const told = tessera(directory, "upgrade", "--check");
    t.match(
      [told.status, told.text],
      [0, new RegExp(`has format ${FORMAT_VERSION}; .*${wasOlder ? "a copy of" : "no copy of"}`)],
    );
    if (!wasOlder) return;
    t.match(tessera(directory, "upgrade", "--rollback").text, new RegExp(`has format ${recorded.format} again`));
    t.match(JSON.parse(readFileSync(join(directory, "partition-0", "FORMAT"), "utf8")), { format: recorded.format });
    // It is whole: upgraded once more, it holds what it held at first.
    await server.boot();
    await sameAnswers(t, server, recorded);
    await server.terminate();
    t.match(await runUpgrade(directory, true, { commit: true }), { message: /was removed/, has_copy: false });
    t.notOk(existsSync(join(directory, "before-upgrade")));
    await t.rejects(runUpgrade(directory, true, { rollback: true }), {
      message: /no copy of the older format.*restore a backup/,
    });
  });
}

t.test("a directory of a newer release is refused, and left as it is", async (t) => {
  const { directory } = unpacked(t, "0.1.0");
  const file = join(directory, "partition-1", "FORMAT");
  writeFileSync(file, '{"product":"tessera","format":99}\n');
  const started = tessera(directory, "serve");
  t.match(
    [started.status, started.text],
    [1, /has format 99, which a newer release wrote; this one reads formats up to \d+/],
  );
  t.equal(readFileSync(file, "utf8"), '{"product":"tessera","format":99}\n');
  t.notOk(existsSync(join(directory, "before-upgrade")));
});
