import t from "tap";
import { hostAllowed } from "../../src/gateway/cors.js";
import { testGateway } from "./test-gateway.js";

const ORIGIN = "https://app.example";
const preflightHeaders = (origin: string) => ({
  origin,
  "access-control-request-method": "POST",
  "access-control-request-headers": "authorization,content-type",
});

t.test("off, no header says otherwise", async (t) => {
  const { call } = await testGateway(t);
  const response = await call("/v1/users/me", { headers: { origin: ORIGIN } });
  t.equal(response.headers.get("access-control-allow-origin"), null);
});

t.test("a listed origin is allowed, another is not", async (t) => {
  const cors = { enabled: true, origins: [ORIGIN], headers: ["authorization", "content-type"] };
  const { call, url } = await testGateway(t, { config: { server: { cors } } });
  const preflight = await fetch(`${url}/v1/query/execute`, { method: "OPTIONS", headers: preflightHeaders(ORIGIN) });
  t.equal(preflight.status, 204);
  t.equal(preflight.headers.get("access-control-allow-origin"), ORIGIN);
  t.equal(preflight.headers.get("access-control-allow-methods"), "POST");
  t.equal(preflight.headers.get("access-control-allow-headers"), "authorization, content-type");
  t.match(preflight.headers.get("access-control-max-age"), /^\d+$/);
  const allowed = await call("/v1/users/me", { headers: { origin: ORIGIN } });
  t.equal(allowed.headers.get("access-control-allow-origin"), ORIGIN);
  t.equal(allowed.headers.get("vary"), "Origin");
  t.match(allowed.headers.get("access-control-expose-headers"), /X-Request-Id.*Retry-After/);
  const refused = await fetch(`${url}/v1/users/me`, { headers: { origin: ORIGIN } });
  t.equal(refused.status, 401);
  t.equal(refused.headers.get("access-control-allow-origin"), ORIGIN, "errors can be read too");

  const other = "https://evil.example";
  const foreign = await fetch(`${url}/v1/query/execute`, { method: "OPTIONS", headers: preflightHeaders(other) });
  t.equal(foreign.headers.get("access-control-allow-origin"), null);
  t.equal(foreign.headers.get("access-control-allow-methods"), null);
  const foreignCall = await call("/v1/users/me", { headers: { origin: other } });
  t.equal(foreignCall.headers.get("access-control-allow-origin"), null);
});

t.test("a preflight of an unknown path is a 404", async (t) => {
  const cors = { enabled: true, origins: ["*"], headers: [] };
  const { url } = await testGateway(t, { config: { server: { cors } } });
  const unknown = await fetch(`${url}/nothing`, { method: "OPTIONS", headers: preflightHeaders(ORIGIN) });
  t.equal(unknown.status, 404);
  const known = await fetch(`${url}/v2/api-keys`, { method: "OPTIONS", headers: preflightHeaders(ORIGIN) });
  t.equal(known.headers.get("access-control-allow-origin"), "*");
  t.equal(known.headers.get("access-control-allow-methods"), "POST, GET, HEAD");
});

t.test("hosts that the server goes by", async (t) => {
  const onLoopback = { host: "127.0.0.1", names: [] };
  const named = { host: "0.0.0.0", names: ["db.example.com"] };
  for (const [host, server, isAllowed] of [
    ["localhost:8080", onLoopback, true],
    ["127.0.0.1:8080", onLoopback, true],
    ["[::1]:8080", onLoopback, true],
    ["", onLoopback, true],
    ["evil.example:8080", onLoopback, false],
    ["localhost.evil.example", onLoopback, false],
    ["DB.example.com", named, true],
    ["db.example.com:8443", named, true],
    ["127.0.0.1:8080", named, true],
    ["evil.example", named, false],
    ["db.example.com", { host: "127.0.0.1", names: ["db.example.com"] }, true],
    ["anything.example", { host: "0.0.0.0", names: [] }, true],
  ] as const) {
    t.equal(hostAllowed(host, { ...server, names: [...server.names] }), isAllowed, `${host} at ${server.host}`);
  }
});
