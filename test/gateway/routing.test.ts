import { Agent, request } from "node:http";
import t from "tap";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import { ALICE, type ErrorReply, endpointCode, errorOf, testGateway } from "./test-gateway.js";

t.test("a request reaches its endpoint's handler with head, query and variables", async (t) => {
  const { call, actors } = await testGateway(t);
  const response = await call("/v1/transactions/a%2Fb%20%C3%A9/savepoint/s1/rollback?x=1&y=%20", {
    method: "POST",
    headers: { "idempotency-key": "key 1" },
  });
  t.equal(response.status, 200);
  const frame = actors[0]!.requests[0]!;
  t.equal(frame.code, endpointCode("transactions.savepoint.rollback"));
  t.equal(frame.tenant, 7);
  t.equal(frame.partition, 0);
  t.equal(frame.hasBody, false);
  t.match(frame.head, {
    params: ["a/b é", "s1"],
    query: "x=1&y=%20",
    idempotencyKey: "key 1",
    userId: "user-alice",
    username: "alice",
    tenantId: "acme",
    keyId: "",
    roles: ["user"],
  });
});

t.test("bytes above 127 that are not escaped are read as UTF-8", async (t) => {
  const { raw, token, actors } = await testGateway(t);
  const line = Buffer.from("GET /v1/schema/tables/größe HTTP/1.1").toString("latin1");
  await raw(`${line}\r\nHost: x\r\nAuthorization: Bearer ${token()}\r\n\r\n`, /meta/);
  t.strictSame(actors[0]!.requests[0]!.head.params, ["größe"]);
});

t.test("every endpoint is served under its path, and those under /v1 under /v2 as well", async (t) => {
  const tenant = { tenantId: "system", companyId: "system" };
  const superAdmin = { identity: () => ({ ...ALICE, ...tenant, roles: ["super_admin" as const] }) };
  const { call, token, actors } = await testGateway(t, { behaviour: superAdmin });
  const headers = { authorization: `Bearer ${token({ tenant_id: "system", company_id: "system" })}` };
  for (const { name, method, path, home, code, status } of ENDPOINTS) {
    if (home === "gateway") continue;
    for (const mounted of new Set([path, path.replace("/v1/", "/v2/")])) {
      const concrete = mounted.replace(/\{\w+\}/g, "x");
      const response = await call(concrete, { method, headers });
      t.equal(response.status, 200, `${method} ${concrete} (${name}, ${status ?? 200})`);
      t.equal(actors[0]!.requests.at(-1)!.code, code, name);
    }
  }
});

t.test("the directory's endpoints go to partition 0, the tenant's to its own", async (t) => {
  const { call, actors } = await testGateway(t, {
    actors: 2,
    partitions: 4,
    behaviour: { identity: () => ({ ...ALICE, partition: 3 }) },
  });
  await call("/v1/users/me");
  t.equal(actors[0]!.requests[0]!.partition, 0);
  await call("/v1/schema/tables");
  t.equal(actors[1]!.requests[0]!.partition, 3, "partition 3 belongs to actor 3 mod 2");
});

t.test("unknown paths name themselves and the documentation", async (t) => {
  const { url } = await testGateway(t);
  for (const path of ["/v1/query", "/api/v1/query/execute", "/v1/nothing", "/v2/nothing", "/v1/query/execute/"]) {
    const response = await fetch(url + path, { method: "POST" });
    t.equal(response.status, 404, path);
    const { code, message } = await errorOf(response);
    t.equal(code, "endpoint_not_found");
    t.ok(message.includes(`${path}.`) && message.includes("/v1/openapi.json") && message.includes("/v1/api-docs"));
  }
  const root = await fetch(`${url}/`, { method: "POST" });
  t.equal(root.status, 405, "the root is a page");
  t.match(root.headers.get("allow"), /GET/);
});

t.test("a wrong method on a known path says which are right", async (t) => {
  const { url } = await testGateway(t);
  const execute = await fetch(`${url}/v1/query/execute`);
  t.equal(execute.status, 405);
  t.equal(execute.headers.get("allow"), "POST");
  t.equal((await errorOf(execute)).code, "method_not_allowed");
  const keys = await fetch(`${url}/v2/api-keys`, { method: "PUT" });
  t.equal(keys.headers.get("allow"), "POST, GET, HEAD");
  const one = await fetch(`${url}/v1/api-keys/some-id`, { method: "PATCH" });
  t.equal(one.headers.get("allow"), "DELETE");
  t.equal((await fetch(`${url}/health`, { method: "OPTIONS" })).status, 405, "OPTIONS while CORS is off");
});

t.test("HEAD answers like GET without the body", async (t) => {
  const { call, url } = await testGateway(t, { behaviour: { request: (f, a) => a.reply(f.id, 200, "0123456789") } });
  const head = await call("/v1/schema/tables", { method: "HEAD" });
  t.equal(head.status, 200);
  t.equal(head.headers.get("content-length"), "10");
  t.equal(await head.text(), "");
  t.equal((await fetch(`${url}/health`, { method: "HEAD" })).status, 200);
  t.equal((await fetch(`${url}/v1/query/execute`, { method: "HEAD" })).status, 405);
  t.equal((await fetch(`${url}/nothing`, { method: "HEAD" })).status, 404);
});

t.test("a malformed or NUL path variable is refused", async (t) => {
  const { call, actors } = await testGateway(t);
  for (const bad of ["%zz", "%", "%ff", "a%00b", "%C3%28"]) {
    const response = await call(`/v1/schema/tables/${bad}`);
    t.equal(response.status, 400, bad);
    t.equal((await errorOf(response)).code, "invalid_request");
  }
  t.equal(actors[0]!.requests.length, 0);
});

t.test("garbage on the socket breaks nothing", async (t) => {
  const { rawToEnd, url } = await testGateway(t);
  const garbage = [
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "GET\r\n\r\n",
    "GET /health HTTP/1.1\r\n\r\n",
    "GET /he\0alth HTTP/1.1\r\nHost: x\r\n\r\n",
    "POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    `GET /health HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(40_000)}\r\n\r\n`,
    "GET http://elsewhere/health HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /health HTTP/1.0\r\n\r\n",
  ];
  for (const bytes of garbage) {
    const answer = await rawToEnd(bytes, /\r\n\r\n/);
    t.notMatch(answer, /^HTTP\/1\.1 (2|500)/, JSON.stringify(bytes.slice(0, 60)));
  }
  t.equal((await fetch(`${url}/health`)).status, 200);
});

t.test("requests on one connection are answered in order", async (t) => {
  const { url, raw, token } = await testGateway(t, {
    behaviour: { request: (f, a) => a.reply(f.id, 200, f.bodyText) },
  });
  const pipelined = await raw(
    "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n",
    /partitions/,
  );
  t.match(pipelined, /^HTTP\/1\.1 404[\s\S]*HTTP\/1\.1 200/);
  // uWebSockets.js drops a connection that sends its next request before a pending one is answered, which RFC 9112
  // (section 9.3.2) allows: no answer is ever mixed up.
  const post = (body: string): string =>
    `POST /v1/query/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token()}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const known = await raw(post("first"), /first/);
  t.match(known, /^HTTP\/1\.1 200/);
  t.notMatch(await raw(post("one") + post("two"), /two/), /two[\s\S]*one/);
  const bodies: string[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  await Promise.all(["a", "b", "c"].map((body) => posted(url, agent, token(), body).then((text) => bodies.push(text))));
  t.strictSame(bodies, ["a", "b", "c"]);
});

function posted(url: string, agent: Agent, token: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const req = request(`${url}/v1/query/execute`, { method: "POST", agent, headers }, (res) => {
      let text = "";
      res.on("data", (data) => {
        text += data;
      });
      res.on("end", () => resolve(text));
    });
    req.on("error", reject);
    req.end(body);
  });
}

t.test("a request id is taken over when it fits, else made", async (t) => {
  const { call, url, actors } = await testGateway(t);
  const own = await call("/v1/users/me", { headers: { "x-request-id": "abc_DEF-1.2" } });
  t.equal(own.headers.get("x-request-id"), "abc_DEF-1.2");
  t.equal(actors[0]!.requests[0]!.requestId, "abc_DEF-1.2");
  const seen = new Set<string>();
  for (const bad of ["a b", "x".repeat(65), "é", '"', ""]) {
    const response = await fetch(`${url}/nothing`, { headers: { "x-request-id": bad } });
    const id = response.headers.get("x-request-id")!;
    t.match(id, /^[A-Za-z0-9._-]{1,64}$/);
    t.equal(((await response.json()) as ErrorReply).meta.request_id, id);
    seen.add(id);
  }
  t.equal(seen.size, 5, "made ids differ");
});
