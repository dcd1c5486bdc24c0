/** What the server refuses, bounds and describes: rate, time, size, media types, unknown routes, its own documents. */
import { Validator } from "@seriousme/openapi-schema-validator";
import t from "tap";
import { PROGRAM, TestServer } from "./server.js";

const server = await TestServer.start({ TESSERA_SERVER_BODY_BYTES_MAX: "65536" });
t.teardown(() => server.stop());

t.test("a long statement ends at its deadline, and does not starve others", async (t) => {
  await server.rows("CREATE TABLE n (i integer PRIMARY KEY)");
  const values = Array.from({ length: 600 }, (_, i) => `(${i})`).join(",");
  await server.rows(`INSERT INTO n VALUES ${values}`);
  const heavy = "SELECT count(*) FROM n a, n b, n c WHERE (a.i + b.i + c.i) % 7 = 3";
  const slow = server.call("POST", "/v1/query/execute", { sql: heavy, timeout_secs: 1 });
  let reads = 0;
  let ended = false;
  void slow.then(() => {
    ended = true;
  });
  while (!ended) {
    await server.rows("SELECT i FROM n WHERE i = 5");
    reads++;
  }
  const reply = await slow;
  t.match([reply.status, reply.body.error], [408, { code: "request_timeout", details: { sqlstate: "57014" } }]);
  t.ok(reads > 1, `${reads} point reads were served meanwhile`);
});

async function metric(name: RegExp): Promise<number> {
  const text = (await server.call("GET", "/metrics", undefined, { token: null })).body as string;
  return [...text.matchAll(new RegExp(name, "gm"))].reduce((sum, match) => sum + Number(match[1]), 0);
}

t.test("a statement whose client has gone is cancelled", async (t) => {
  const running = /^tessera_actor_requests_running(?:\{.*\})? (\d+)/;
  const controller = new AbortController();
  const heavy = "SELECT count(*) FROM n a, n b, n c WHERE (a.i + b.i + c.i) % 7 = 4";
  const call = server.sql(heavy, [], { signal: controller.signal });
  while ((await metric(running)) === 0);
  controller.abort();
  await t.rejects(call);
  while ((await metric(running)) > 0);
  t.pass("it stopped running");
});

t.test("sizes and media types", async (t) => {
  const big = await server.sql(`SELECT '${"x".repeat(70_000)}'`);
  t.match([big.status, big.body.error.code], [413, "payload_too_large"]);
  const text = await server.call("POST", "/v1/query/execute", "SELECT 1", {
    headers: { "content-type": "text/plain" },
  });
  t.match([text.status, text.body.error.code], [415, "unsupported_media_type"]);
  const html = await server.sql("SELECT 1", [], { headers: { accept: "text/html" } });
  t.equal(html.status, 406);
  const malformed = await server.call("POST", "/v1/query/execute", '{"sql": "SELECT 1",,}');
  t.match([malformed.status, malformed.body.error], [400, { code: "invalid_json", details: { position: 19 } }]);
});

t.test("routes", async (t) => {
  const missing = await server.call("GET", "/v1/nothing/here");
  t.equal(missing.status, 404);
  t.match(missing.body.error, {
    code: "endpoint_not_found",
    message: /\/v1\/nothing\/here.*\/v1\/openapi\.json.*\/v1\/api-docs/,
  });
  for (const path of ["/v1/query", "/api/v1/query/execute"])
    t.equal((await server.call("POST", path, {})).status, 404, path);
  t.equal((await server.call("GET", "/v1/query/execute")).status, 405);
  t.match((await server.call("POST", "/v2/query/execute", { sql: "SELECT 1" })).body.data.rows, [[1]]);
  const health = await server.call("GET", "/health", undefined, { token: null });
  t.match(health.body, { status: "ok", data: { status: "ok" }, meta: { request_id: String } });
  const named = await server.call("GET", "/health", undefined, { headers: { "x-request-id": "my-request.1" } });
  t.equal(named.headers.get("x-request-id"), "my-request.1");
});

t.test("the interface is described", async (t) => {
  const document = (await server.call("GET", "/v1/openapi.json", undefined, { token: null })).body;
  const { valid, errors } = await new Validator().validate(document);
  t.ok(valid, JSON.stringify(errors));
  t.match(document.openapi, /^3\.1/);
  t.ok(document.paths["/v1/query/execute"].post);
  const page = await fetch(`${server.url}/v1/api-docs`);
  t.match(page.url, /\/v1\/api-docs\/$/);
  t.match(await page.text(), /swagger-ui/);
});

t.test("the rate limit", async (t) => {
  const limited = await TestServer.start({ TESSERA_RATE_LIMIT_PER_SECOND: "5", TESSERA_RATE_LIMIT_BURST: "10" });
  t.teardown(() => limited.stop());
  const replies = await Promise.all(Array.from({ length: 30 }, () => limited.sql("SELECT 1")));
  const refused = replies.filter(({ status }) => status === 429);
  t.ok(refused.length >= 15 && refused.length <= 25, `${refused.length} of 30 refused`);
  t.match(refused[0]!.body.error, { code: "rate_limited" });
  t.ok(Number(refused[0]!.headers.get("retry-after")) >= 1);
  for (const name of ["x-ratelimit-remaining", "x-ratelimit-reset"]) t.match(replies[0]!.headers.get(name), /^\d+$/);
});

t.test("a second server on the same data is refused", async (t) => {
  const { spawnSync } = await import("node:child_process");
  const run = (...args: string[]) =>
    spawnSync(PROGRAM, args, {
      env: { ...process.env, TESSERA_PORT: "0", TESSERA_DATA_DIR: server.directory },
      encoding: "utf8",
    });
  const second = run("serve");
  t.not(second.status, 0);
  t.match(second.stderr, new RegExp(`${server.pid}`));
  t.match(run("--help").stdout, /serve[\s\S]*check-config[\s\S]*reset-password/);
  t.match(run("check-config").stdout, /data/);
  t.not(run("reset-password").status, 0, "not while the server runs");
});
