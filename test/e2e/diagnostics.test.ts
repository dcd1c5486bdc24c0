/** The diagnostic bundle: what is in it, what must never be, and the command that fetches it. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import t from "tap";
import { ADMIN_PASSWORD, PROGRAM, TestServer } from "./server.js";

const server = await TestServer.start({
  TESSERA_ACTORS: "2",
  TESSERA_QUERY_SLOW_MS: "1",
  TESSERA_QUERY_AI_SERVICE_BASE_URL: "https://someone:hidden-in-address@provider.example/v1",
  TESSERA_TELEMETRY_HEADERS: "x-key: hidden-header",
  TESSERA_AUTOML_WEBHOOK_SECRET: "hidden-webhook-secret",
});
t.teardown(() => server.stop());

// biome-ignore lint/suspicious/noExplicitAny: a wrong shape fails the test.
async function bundle(query = ""): Promise<{ text: string; made: Record<string, any> }> {
  const reply = await fetch(`${server.url}/v1/admin/diagnostics${query}`, {
    headers: { authorization: `Bearer ${server.token}` },
  });
  t.equal(reply.status, 200);
  t.equal(reply.headers.get("content-type"), "application/gzip");
  t.match(reply.headers.get("content-disposition"), /tessera-diagnostics-.*\.json\.gz/);
  const text = gunzipSync(Buffer.from(await reply.arrayBuffer())).toString();
  return { text, made: JSON.parse(text) };
}

t.test("what is in it, and what is not", async (t) => {
  await server.rows("CREATE TABLE patient (id integer PRIMARY KEY, name text)");
  await server.rows("INSERT INTO patient VALUES (1, 'tenant-data')");
  await server.rows("SELECT count(*) FROM generate_series(1, 300000) n WHERE 'tenant-data' || n <> $1", [
    "tenant-data",
  ]);
  const { text, made } = await bundle("?profile_seconds=1");
  t.match(made, {
    versions: { tessera: String, node: process.versions.node },
    configuration: { actors: { count: 2 }, query: { slowMs: 1 }, telemetry: { headers: ["(redacted)"] } },
    partitions: [{ partition: 0, state: "ready" }, { partition: 1 }],
    threads: [{ thread: "gateway" }, { thread: /^actor/ }, { thread: /^actor/ }],
    system: { limits: /Max open files/ },
  });
  t.ok(made.configuration.server.cors.headers.includes("authorization"), "names of headers are no secret");
  t.match(made.metrics, /tessera_partition_up\{partition="0"\} 1/);
  for (const { heap, cpuProfile } of made.threads) {
    t.ok(heap.used_heap_size > 0);
    t.ok(cpuProfile.nodes.length > 0 && cpuProfile.samples.length > 0);
  }
  t.ok(made.slow_statements.some((line: string) => line.includes("generate_series")));
  for (const secret of ["tenant-data", ADMIN_PASSWORD, server.token, "hidden-"]) {
    t.notOk(text.includes(secret), `${secret} is not in it`);
  }
});

t.test("who may have it, and what is asked wrongly", async (t) => {
  const path = "/v1/admin/diagnostics";
  t.equal((await server.call("GET", path, undefined, { token: null })).status, 401);
  const admin = await server.tenant("acme", ["super_admin"]);
  t.equal((await server.call("GET", path, undefined, { token: admin })).status, 403, "another tenant's administrator");
  for (const seconds of ["61", "-1", "soon", "1.5"]) {
    t.match(await server.call("GET", `${path}?profile_seconds=${seconds}`), {
      status: 400,
      body: { error: { code: "invalid_request", message: /profile_seconds.*0 .*60/ } },
    });
  }
});

t.test("the command", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tessera-bundle-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const output = join(folder, "bundle.json.gz");
  const args = ["diagnostics", "--url", server.url, "--output", output];
  const command = promisify(execFile);
  const { stdout } = await command(PROGRAM, args, { env: { ...process.env, TESSERA_TOKEN: server.token } });
  t.match(stdout, /bundle\.json\.gz: \d+ bytes/);
  t.equal(JSON.parse(gunzipSync(readFileSync(output)).toString()).partitions.length, 2);
  const refused = await command(PROGRAM, args, { env: { ...process.env, TESSERA_TOKEN: "nobody" } }).catch(
    (error: { stderr: string }) => error,
  );
  t.match(refused.stderr, /the server answered 401/);
});
