/** A server with storage.encryption: nothing of what users store lies in its data directory in the open. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { filesWith } from "../live-files.js";
import { PROGRAM, TestServer } from "./server.js";

t.setTimeout(280_000);
const keys = mkdtempSync(join(tmpdir(), "tessera-keys-"));
t.teardown(() => rmSync(keys, { recursive: true }));
const keyFile = join(keys, "key");
writeFileSync(keyFile, Buffer.alloc(32, 1), { mode: 0o600 });

const environment: Record<string, string> = {
  TESSERA_ACTORS: "1",
  TESSERA_SECRETS_KEY_FILE: keyFile,
  TESSERA_STORAGE_ENCRYPTION: "true",
  TESSERA_STORAGE_MEMTABLE_BYTES: String(4 * 1024 * 1024),
  TESSERA_STORAGE_COLUMN_SEGMENT_BYTES: String(64 * 1024 * 1024),
};
const server = await TestServer.start(environment);
t.teardown(() => server.stop());

const SECRET = "xylophone";
const VECTOR = [1.2345, 2.3456, 3.4567, 4.5678];
const NUMBERS = [Buffer.from(new Float32Array(VECTOR).buffer), Buffer.from(new Float64Array(VECTOR).buffer)];

/** Files of the data directory that have a text or a vector of this test in them. */
function files(): string[] {
  return filesWith(
    server.directory,
    (bytes) => bytes.includes(SECRET) || NUMBERS.some((numbers) => bytes.includes(numbers)),
  );
}

async function looks(t: Test): Promise<void> {
  t.same(await server.rows("SELECT count(*), min(a), max(length(a)) FROM note"), [[2000, `${SECRET} 1`, 20_010]]);
  t.same(await server.rows("SELECT a FROM note WHERE id = 17"), [[`${SECRET} 17`]]);
  t.equal((await server.rows("SELECT id FROM note ORDER BY v <=> '[1.2,2.3,3.4,4.5]' LIMIT 3")).length, 3);
  const found = "SELECT count(*) FROM note WHERE to_tsvector('english', a) @@ to_tsquery('english', 'xylophone')";
  t.same(await server.rows(found), [[2000]]);
  t.match((await server.expect(200, "GET", "/v1/collections/letter/documents/one")).body.data, { text: `${SECRET}!` });
  t.match((await server.call("POST", "/v1/graph/match", { cypher: "MATCH (p:Person) RETURN p.told" })).body.data, {
    rows: [[SECRET]],
  });
  t.match(JSON.stringify((await server.expect(200, "GET", "/v1/ai/memory/helper")).body), SECRET);
}

t.test("what users store is found in no file: while the server runs, killed, and stopped", async (t) => {
  const vector = JSON.stringify(VECTOR);
  await server.rows("CREATE TABLE note (id int PRIMARY KEY, a text, v vector(4))");
  await server.rows("CREATE INDEX note_v ON note USING hnsw (v vector_cosine_ops)");
  await server.rows("CREATE INDEX note_a ON note USING gin (to_tsvector('english', a))");
  const insert = "INSERT INTO note SELECT i, $1 || ' ' || i, $2::vector FROM generate_series($3::int, $4::int) AS i";
  await server.rows(insert, [SECRET, vector, 1, 1000]);
  await server.rows(insert, [SECRET, vector, 1001, 2000]);
  await server.rows("UPDATE note SET a = a || repeat('x', 20000) WHERE id = 1999");
  await server.rows("UPDATE note SET a = left(a, 20010) WHERE id = 1999");
  await server.expect(201, "POST", "/v1/collections", { name: "letter" });
  await server.expect(201, "POST", "/v1/collections/letter/documents", { id: "one", text: `${SECRET}!` });
  await server.expect(200, "POST", "/v1/graph/match", { cypher: `CREATE (:Person {told: '${SECRET}'})` });
  const memory = { content: `she plays the ${SECRET}` };
  t.ok((await server.call("POST", "/v1/ai/memory/helper", memory)).status < 300);
  await server.expect(201, "POST", "/v1/branches", { name: "try" });
  await looks(t);
  t.same(files(), [], "while it runs");
  await server.kill();
  t.same(files(), [], "killed");
  await server.boot();
  await looks(t);
  await server.terminate();
  t.same(files(), [], "stopped");
  t.ok(readdirSync(join(server.directory, "partition-0", "indexes")).some((name) => name.endsWith(".idx")));
  await server.boot();
  await looks(t);
  t.notOk(
    server.lines.some((line) => /made anew|damaged/.test(line)),
    "saved indexes are of use",
  );
});

t.test("another key seals only the secret; the data keys stay, and the data", async (t) => {
  const names = (): string[] => readdirSync(join(server.directory, "partition-0", "keys")).sort();
  const before = names().map((name) => readFileSync(join(server.directory, "partition-0", "keys", name), "utf8"));
  await server.terminate();
  execFileSync(PROGRAM, ["keys", "rotate"], {
    env: { ...process.env, ...environment, TESSERA_DATA_DIR: server.directory },
  });
  execFileSync(PROGRAM, ["keys", "drop", "--unused"], {
    env: { ...process.env, ...environment, TESSERA_DATA_DIR: server.directory },
  });
  await server.boot();
  await looks(t);
  const after = names().map((name) => readFileSync(join(server.directory, "partition-0", "keys", name), "utf8"));
  t.same(after, before);
});

t.test("without encryption, and with it on a directory that has none, the server does not start", async (t) => {
  await server.terminate();
  environment.TESSERA_STORAGE_ENCRYPTION = "false";
  await t.rejects(server.boot(), { message: /is encrypted: set storage\.encryption = true/ });
  environment.TESSERA_STORAGE_ENCRYPTION = "true";
  await server.boot();
  await looks(t);
  const plain = await TestServer.start({ TESSERA_ACTORS: "1" });
  await plain.terminate();
  const settings = { ...environment, TESSERA_ACTORS: "1" };
  await t.rejects(TestServer.start(settings, plain.directory), { message: /made without it/ });
  await plain.stop();
});

t.test("the end of a branch destroys its key", async (t) => {
  const folder = join(server.directory, "partition-0", "keys");
  const ofBranches = (end: string): string[] =>
    readdirSync(folder).filter((name) => /^1\d{9}-/.test(name) && name.endsWith(end));
  await server.expect(
    200,
    "POST",
    "/v1/query/execute",
    { sql: "INSERT INTO note VALUES (-1, 'in the branch')" },
    {
      headers: { "x-tessera-branch": "try" },
    },
  );
  t.equal(ofBranches(".key").length, 1);
  t.ok((await server.call("DELETE", "/v1/branches/try")).status < 300);
  while (ofBranches(".key").length > 0) await server.rows("SELECT 1");
  t.same([ofBranches(".key").length, ofBranches(".destroyed").length], [0, 1]);
});

t.test("the deletion of a tenant destroys its key, and what it encrypted counts for nothing", async (t) => {
  const as = { token: await server.tenant("shredded") };
  await server.rows("CREATE TABLE note (id int PRIMARY KEY, a text)", [], as);
  await server.rows("INSERT INTO note SELECT i, 'a' FROM generate_series(1, 100) AS i", [], as);
  const names = (): string[] =>
    readdirSync(join(server.directory, "partition-0", "keys")).filter((name) => /^2-/.test(name));
  t.match(names(), [/\.key$/]);
  await server.expect(202, "DELETE", "/admin/tenants/shredded?confirm=shredded");
  const isDone = async () => (await server.call("GET", "/admin/tenants/shredded/deletion")).body.data.state === "done";
  while (!(await isDone())) await server.rows("SELECT 1");
  t.match(names(), [/\.destroyed$/]);
  await server.kill();
  await server.boot();
  t.ok(await isDone());
  await looks(t);
  t.match(names(), [/\.destroyed$/], "and no other was made");
});
