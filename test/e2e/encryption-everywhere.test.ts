/**
 * A server with storage.encryption, used by every feature that stores something: a secret that each of them is told is
 * in no file, also not in one that has lost its name, and a tenant that was deleted leaves no key.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { filesIn, filesWith } from "../live-files.js";
import { TestServer } from "./server.js";

t.setTimeout(280_000);
const outside = mkdtempSync(join(tmpdir(), "tessera-outside-"));
t.teardown(() => rmSync(outside, { recursive: true }));
mkdirSync(join(outside, "backups"));
const keyFile = join(outside, "key");
writeFileSync(keyFile, Buffer.alloc(32, 1), { mode: 0o600 });
const folder = mkdtempSync(join(tmpdir(), "tessera-read-"));
t.teardown(() => rmSync(folder, { recursive: true }));

const SECRET = "xylophone";
writeFileSync(join(folder, "letter.md"), `# ${SECRET}\n\nShe plays the ${SECRET}.\n`);
const PICTURE = readFileSync(new URL("../../../docs/images/console-query-desk-light.png", import.meta.url));
writeFileSync(join(folder, "picture.png"), PICTURE);

const server = await TestServer.start({
  TESSERA_ACTORS: "1",
  TESSERA_SECRETS_KEY_FILE: keyFile,
  TESSERA_STORAGE_ENCRYPTION: "true",
  TESSERA_STORAGE_MEMTABLE_BYTES: String(4 * 1024 * 1024),
  TESSERA_STORAGE_COLUMN_SEGMENT_BYTES: String(64 * 1024 * 1024),
  TESSERA_QUERY_MEMORY_BYTES_MAX: String(8 * 1024 * 1024),
  TESSERA_BACKUP_DIRECTORY: join(outside, "backups"),
  TESSERA_FILES_ROOTS: folder,
});
t.teardown(() => server.stop());

const has = (bytes: Buffer): boolean => bytes.includes(SECRET) || bytes.includes(Buffer.from(SECRET, "utf16le"));

/** Files of the server that have the secret in them, among them those that it has open without a name. */
function found(): string[] {
  const named = [server.directory, join(outside, "backups")].flatMap((folder) => filesWith(folder, has));
  return [
    ...named,
    ...openFiles()
      .filter(({ bytes }) => has(bytes))
      .map(({ path }) => path),
  ];
}

function openFiles(): { path: string; bytes: Buffer }[] {
  const descriptors = `/proc/${server.pid}/fd`;
  return readdirSync(descriptors).flatMap((name) => {
    try {
      const path = readlinkSync(join(descriptors, name));
      if (!path.endsWith("(deleted)") || !path.startsWith("/") || path.startsWith("/memfd:")) return [];
      return [{ path, bytes: readFileSync(join(descriptors, name)) }];
    } catch {
      // It was closed meanwhile.
      return [];
    }
  });
}

const call = (status: number, method: string, path: string, body?: unknown, options = {}) =>
  server.expect(status, method, path, body, options);

/** What each feature stores. */
const STORED: Readonly<Record<string, () => Promise<unknown>>> = {
  "rows, documents and definitions": async () => {
    await call(200, "PUT", "/v1/history", { window_seconds: 3600 });
    for (const sql of [
      "CREATE TABLE note (id int PRIMARY KEY, a text, j jsonb, b bytea)",
      `COMMENT ON TABLE note IS '${SECRET}'`,
      `INSERT INTO note SELECT i, '${SECRET} ' || i, jsonb_build_object('k', '${SECRET}'), '${SECRET}'::bytea FROM generate_series(1, 3000) i`,
      `CREATE FUNCTION told() RETURNS text LANGUAGE sql AS 'SELECT ''${SECRET}'''`,
      `CREATE VIEW shown AS SELECT id, '${SECRET}' AS what FROM note`,
      `CREATE POLICY own ON note USING (a <> '${SECRET}')`,
      "CREATE MATERIALIZED VIEW kept AS SELECT id, a FROM note",
      "CREATE INDEX ON note USING gin (j)",
      "CREATE INDEX ON note USING text (a)",
      "ANALYZE note",
      "UPDATE note SET a = a || '!' WHERE id < 500",
      "DELETE FROM note WHERE id BETWEEN 500 AND 700",
      "SELECT sum(length(a)), max(a) FROM note",
    ]) {
      await server.rows(sql);
    }
  },
  "an import": async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `${i},${SECRET} ${i}`).join("\n");
    const headers = { "content-type": "text/csv" };
    await call(200, "POST", "/v1/data/import/csv?table=brought&create=true", `id,a\n${lines}\n`, { headers });
  },
  "a graph": () =>
    call(200, "POST", "/v1/graph/match", { cypher: `UNWIND range(1, 500) AS i CREATE (:Person {told: '${SECRET}'})` }),
  memories: () => call(201, "POST", "/v1/ai/memory/helper", { content: `she plays the ${SECRET}` }),
  chats: () => call(200, "POST", "/v1/ai/chat", { content: `What is a ${SECRET}?`, max_tokens: 5 }),
  responses: () => call(200, "POST", "/v1/responses", { model: "tessera-chat", input: SECRET, max_output_tokens: 5 }),
  "a training": () =>
    call(200, "POST", "/v1/automl/train", {
      query: `SELECT i % 10 AS size, CASE WHEN i % 10 < 5 THEN '${SECRET}' ELSE 'large' END AS kind FROM generate_series(1, 100) i`,
      ...{ target: "kind", name: "kinds", max_trials: 1, async_mode: false },
    }),
  "a recipe": async () => {
    const recipe = {
      ...{ id: "look-up", version: "1.0.0", engine: ">=0.1.0", name: SECRET, category: "test" },
      parameters: { what: { type: "text", default: SECRET } },
      workflow: [{ name: "find", sql: "SELECT count(*) FROM note WHERE a = $what" }],
    };
    await call(201, "POST", "/v1/recipes/import", { recipe });
    await call(200, "POST", "/v1/recipes/look-up/execute", {});
  },
  "a folder of files": async () => {
    await call(201, "POST", "/v1/filesystem-collections", { name: "letters", watch_dir: folder });
    for (;;) {
      const { body } = await server.call("GET", "/v1/filesystem-collections/letters");
      if (body.data.status === "ready" && body.data.files.total === 2) return;
    }
  },
  "a branch": async () => {
    await call(201, "POST", "/v1/branches", { name: "try" });
    const sql = `UPDATE note SET a = '${SECRET} in a branch' WHERE id = 1`;
    await call(200, "POST", "/v1/query/execute", { sql }, { headers: { "x-tessera-branch": "try" } });
  },
  "an audited table": async () => {
    await server.rows("CREATE TABLE watched (id int PRIMARY KEY, a text)");
    await server.rows("ALTER TABLE watched SET (audit = 'read, write')");
    await server.rows("INSERT INTO watched VALUES (1, $1)", [SECRET]);
    await server.rows(`SELECT * FROM watched WHERE a = '${SECRET}'`);
  },
  "a provider, a kept answer and a second credential": async () => {
    const headers = { "idempotency-key": "once" };
    const sql = `INSERT INTO note (id, a) VALUES (9000, 'x') RETURNING '${SECRET}'`;
    await call(200, "POST", "/v1/query/execute", { sql }, { headers });
    await call(201, "POST", "/v1/api-keys", { name: "k" });
  },
  "a backup": async () => {
    const { body } = await call(202, "POST", "/v1/backups", { passphrase: "a long passphrase" });
    for (;;) {
      const { state } = (await server.call("GET", `/v1/backups/${body.data.id}`)).body.data;
      if (state !== "running" && state !== "pending") return;
    }
  },
};

async function looks(t: Test, when: string): Promise<void> {
  t.same(await server.rows("SELECT count(*) FROM note"), [[2800]], when);
  t.same(await server.rows("SELECT a FROM note WHERE id = 17"), [[`${SECRET} 17!`]], when);
  t.same(found(), [], when);
}

t.test("what features store is in no file", async (t) => {
  for (const [what, store] of Object.entries(STORED)) {
    await store();
    t.same(found(), [], what);
  }
  await looks(t, "while it runs");
  await server.kill();
  await server.boot();
  await looks(t, "killed");
  await server.terminate();
  await server.boot();
  await looks(t, "stopped");
});

t.test("without encryption it would lie there", async (t) => {
  const plain = await TestServer.start({ TESSERA_ACTORS: "1" });
  t.teardown(() => plain.stop());
  await plain.rows("CREATE TABLE note (a text)");
  await plain.rows("INSERT INTO note VALUES ($1)", [SECRET]);
  t.ok(filesWith(plain.directory, has).length > 0, "so the search above finds what is there");
});

t.test("a tenant that was deleted leaves no key, sealed or not, and no value", async (t) => {
  const as = { token: await server.tenant("shredded") };
  await server.rows("CREATE TABLE note (id int PRIMARY KEY, a text, v vector(2))", [], as);
  await server.rows("CREATE INDEX ON note USING hnsw (v)", [], as);
  await server.rows(`INSERT INTO note SELECT i, '${SECRET}', '[1,2]' FROM generate_series(1, 3000) i`, [], as);
  await server.call("POST", "/v1/branches", { name: "try" }, as);
  const folders = readdirSync(server.directory, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith("keys"),
  );
  const keys = folders.flatMap((name) => filesIn(join(server.directory, name)));
  const own = keys.filter((path) => /\/[2-9]\d*-\d+\.key$/.test(path));
  t.ok(own.length > 0, `keys of the tenant: ${own.join()}`);
  const sealed = own.flatMap((path) => Object.values(JSON.parse(readFileSync(path, "utf8"))).map(String));
  const long = sealed.filter((text) => text.length >= 32);
  t.ok(long.length > 0, "a sealed key is a long text");
  await server.expect(202, "DELETE", "/admin/tenants/shredded?confirm=shredded");
  const isDone = async () => (await server.call("GET", "/admin/tenants/shredded/deletion")).body.data.state === "done";
  while (!(await isDone())) await server.rows("SELECT 1");
  const left = filesIn(server.directory).filter((path) => {
    const bytes = readFileSync(path);
    return long.some((text) => bytes.includes(text));
  });
  t.same(left, [], "sealed keys");
  t.same(
    own.filter((path) => statSync(path, { throwIfNoEntry: false }) !== undefined),
    [],
  );
  t.same(found(), []);
});

t.test("what a statement puts into temporary files is not readable there", async (t) => {
  let seen = 0;
  const sorting = server.rows(
    `SELECT count(*) FROM (SELECT a FROM (SELECT '${SECRET} ' || md5(i::text) || repeat('${SECRET}', 20) AS a FROM generate_series(1, 100000) i) s ORDER BY a OFFSET 1) s`,
  );
  let isDone = false;
  const done = sorting.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const open = openFiles().filter(({ bytes }) => bytes.length > 0);
    seen = Math.max(seen, open.length);
    t.same(
      open.filter(({ bytes }) => has(bytes)).map(({ path }) => path),
      [],
    );
    await server.call("GET", "/health");
  }
  t.same(await done, [[99_999]]);
  t.ok(seen > 0, `${seen} temporary files were seen`);
});
