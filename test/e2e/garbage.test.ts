/** Random and mutated paths, headers and bodies: the server answers 4xx, never 5xx, and goes on serving. */
import { connect, type Socket } from "node:net";
import t from "tap";
import { randomFrom } from "../fuzz/random.js";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";

const REQUESTS = Number(process.env.GARBAGE_REQUESTS ?? sized(600, 1500));
const server = await TestServer.shared();
t.teardown(() => server.stop());
await server.rows("CREATE TABLE item (id integer PRIMARY KEY, name text)");
await server.expect(201, "POST", "/v1/vectors/collections", { name: "place", dimensions: 2 });

const seed = Number(process.env.GARBAGE_SEED ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;

const PATHS = [
  "/v1/query/execute",
  "/v1/query/execute/batch",
  "/v1/query/prepare",
  "/v1/query/exec",
  "/v1/query/close",
  "/v1/transactions",
  "/v1/transactions/tx_1/execute",
  "/v1/transactions/%zz/commit",
  "/v1/schema/tables",
  "/v1/schema/tables/item",
  "/v1/schema/tables/%00",
  "/v1/vectors/collections",
  "/v1/vectors/collections/place",
  "/v1/vectors/collections/place/count",
  "/v1/vectors/collections/place/vectors",
  "/v1/vectors/collections/place/vectors/batch",
  "/v1/vectors/collections/place/vectors/a",
  "/v1/vectors/collections/place/search",
  "/v1/auth/login",
  "/v1/auth/mfa/verify",
  "/v1/auth/register",
  "/v1/users/me",
  "/v1/api-keys",
  "/v1/api-keys/1",
  "/admin/tenants",
  "/admin/tenants/system",
  "/admin/tenants/../../x",
  "/admin/tenants/system/users",
  "/v1/query",
  "/api/v1/query",
  "/",
  "//",
  "/v1/%",
  "/v2/query/execute",
  "/health",
  "/metrics",
];
const BODIES = [
  '{"sql":"SELECT 1"}',
  '{"sql":"SELECT * FROM item WHERE id = $1","parameters":[1]}',
  '{"sql":"INSERT INTO item VALUES ($1, $2)","params":[1,"a"]}',
  '{"statements":["SELECT 1",{"sql":"SELECT 2"}],"transactional":true}',
  '{"username":"admin","password":"wrong password"}',
  '{"statement_id":"x","params":[]}',
  '{"name":"k","permission":"ReadOnly"}',
  '{"id":"t1"}',
  '{"name":"place","dimensions":2,"metric":"l2"}',
  '{"id":"a","vector":[1,2],"metadata":{"a":[1,{"b":"\\u0000"}]}}',
  '{"vectors":[{"id":"a","values":[1,2]},{"id":"b","vector":[1e39,2]},{"id":"\\ud800","vector":[0,-0]}]}',
  '{"vector":[1,2],"limit":3,"filter":{"a":{"b":1}},"min_score":0.5,"ef":1}',
  '{"vector":[1,2],"k":10000,"max_distance":-1,"include_vectors":true}',
  '{"ids":["a","b"]}',
  '{"isolation_level":"serializable"}',
  "[]",
  "null",
  "0",
  '""',
  "{}",
  "",
  "{",
  '{"sql":',
  '{"sql":null}',
  '{"sql":{"a":[]}}',
  '{"sql":"SELECT $1","parameters":[{"a":{"b":[1,2,{"c":null}]}}]}',
  '{"sql":"SELECT $1 + $2","parameters":[1e308,"x"]}',
  `{"sql":"SELECT ${"(".repeat(3000)}1${")".repeat(3000)}"}`,
  `{"sql":"SELECT 1","parameters":${"[".repeat(20000)}${"]".repeat(20000)}}`,
  '{"sql":"SELECT 1","max_rows":-1}',
  '{"sql":"SELECT 1","timeout_secs":"soon"}',
  '{"__proto__":{"sql":"SELECT 1"}}',
  '{"sql":"SELECT \\u0000"}',
  '{"sql":"\\ud800"}',
  `{"sql":"SELECT '${"x".repeat(120_000)}'"}`,
  '{"sql":"SELECT repeat(\'x\', 2000000000)"}',
  '{"sql":"SELECT 9223372036854775807 + 1"}',
];
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"];
const TYPES = [
  "application/json",
  "application/msgpack",
  "text/plain",
  "",
  "application/json; charset=latin1",
  "garbage",
];

function mutate(text: string): string {
  const characters = [...text];
  for (let n = Math.floor(random() * 4); n > 0; n--) {
    const at = Math.floor(random() * (characters.length + 1));
    if (random() < 0.4) characters.splice(at, 1 + Math.floor(random() * 5));
    else
      characters.splice(
        at,
        random() < 0.5 ? 0 : 1,
        pick([
          '"',
          "{",
          "}",
          "\\",
          "\u0000",
          "é",
          "💥",
          "'",
          "$1",
          "9e999",
          "--",
          "/*",
          ";",
          String.fromCharCode(Math.floor(random() * 256)),
        ]),
      );
  }
  return characters.join("");
}

/** Lone surrogates cannot be percent-encoded. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

t.test(`${REQUESTS} random requests (GARBAGE_SEED=${seed})`, async (t) => {
  const failures: unknown[] = [];
  let sent = 0;
  const client = async (): Promise<void> => {
    while (sent++ < REQUESTS) {
      const method = pick(METHODS);
      const path = random() < 0.7 ? pick(PATHS) : `/${encodeURI(wellFormed(mutate(pick(PATHS))))}`;
      const body = method === "GET" || method === "HEAD" ? undefined : mutate(pick(BODIES));
      const headers: Record<string, string> = { "content-type": pick(TYPES) };
      if (random() < 0.2) headers["idempotency-key"] = pick(["a", "b", "c", "x".repeat(300)]);
      if (random() < 0.2) headers.accept = pick(["application/json", "application/msgpack", "text/html", "*/*", ";;"]);
      const token = random() < 0.9 ? undefined : pick([null, "x", "a.b.c", "ak_1"]);
      const reply = await server.call(method, path, body, { headers, ...(token === undefined ? {} : { token }) });
      if (reply.status >= 500 && reply.status !== 501)
        failures.push({ method, path, body: body?.slice(0, 300), headers, reply: reply.body });
    }
  };
  await Promise.all(Array.from({ length: 16 }, client));
  t.same(failures, []);
  t.equal((await server.call("GET", "/health")).body.status, "ok");
});

/** Sends bytes as they are and gives what came back until the server closed or fell silent. */
function raw(bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve) => {
    let received = "";
    const socket: Socket = connect(Number(port), hostname, () => socket.end(bytes));
    socket.on("data", (data) => {
      received += data.toString("latin1");
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(received));
  });
}

t.test("bytes that are not HTTP", async (t) => {
  const noise = Buffer.from(Array.from({ length: 4096 }, () => Math.floor(random() * 256)));
  for (const bytes of [
    noise,
    "GET\r\n\r\n",
    "POST /v1/query/execute HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    "GET / HTTP/9.9\r\n\r\n",
    `GET /${"a".repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  ]) {
    const received = await raw(bytes);
    t.ok(received === "" || /^HTTP\/1\.1 [45]\d\d/.test(received), received.slice(0, 60));
  }
  t.equal((await server.call("GET", "/health")).status, 200);
});

t.test("no internal error was logged", (t) => {
  t.same(
    server.lines.filter((line) => line.includes("request failed")),
    [],
  );
  t.end();
});
