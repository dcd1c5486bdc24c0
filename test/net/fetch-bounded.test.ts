/** Fetching what an address names, from servers on loopback that behave and misbehave. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { type Test, test } from "tap";
import { type FetchRequest, fetchBounded } from "../../src/net/fetch-bounded.js";
import { isPrivateAddress, isPrivateUrl, type Resolve } from "../../src/net/public-address.js";
import { DbError } from "../../src/protocol/errors.js";

const RULES: FetchRequest = {
  field: "image_url",
  schemes: ["http", "https"],
  hostsAllowed: ["*"],
  privateAllowed: ["127.0.0.1"],
  bytesMax: 1000,
  timeoutMs: 10_000,
};

/** Answers the port. */
async function serve(t: Test, listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function failure(address: string, rules: Partial<FetchRequest> = {}): Promise<DbError> {
  try {
    await fetchBounded(address, { ...RULES, ...rules });
  } catch (error) {
    if (error instanceof DbError) return error;
    throw error;
  }
  throw new Error(`${address} was fetched`);
}

test("addresses that are not public", (t) => {
  for (const address of [
    ...["10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "127.9.9.9"],
    ...["192.88.99.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fd00::1"],
    ...["::ffff:10.0.0.1", "::ffff:7f00:1", "0:0:0:0:0:ffff:127.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::1"],
    ...["2002:7f00:1::", "2001:db8::1", "3fff::1", "ff02::1", "100::1", "::127.0.0.1", "no address", ""],
  ]) {
    t.ok(isPrivateAddress(address), address);
  }
  for (const address of [
    "8.8.8.8",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "::ffff:808:808",
  ]) {
    t.notOk(isPrivateAddress(address), address);
  }
  for (const host of [
    "localhost",
    "LOCALHOST.",
    "db.localhost",
    "printer.local",
    "vault.internal",
    "0x7f.1",
    "2130706433",
  ]) {
    t.ok(isPrivateUrl(new URL(`http://${host}/`)), host);
  }
  t.ok(isPrivateUrl(new URL("http://[::ffff:127.0.0.1]/")));
  for (const host of ["example.com", "localhost.example.com", "8.8.8.8", "internal.example.com"]) {
    t.notOk(isPrivateUrl(new URL(`http://${host}/`)), host);
  }
  t.end();
});

test("what is there comes with its type; headers and bodies are sent", async (t) => {
  const asked: { method?: string | undefined; body: string; key?: unknown; encoding?: unknown }[] = [];
  const port = await serve(t, async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const { "x-key": key, "accept-encoding": encoding } = request.headers;
    asked.push({ method: request.method, body, key, encoding });
    response.setHeader("content-type", "Image/PNG; charset=x");
    response.end("pixels");
  });
  const url = `http://127.0.0.1:${port}/a?b=c`;
  const got = await fetchBounded(url, { ...RULES, types: ["image/*"], headers: { "x-key": "k" } });
  t.match(got, { status: 200, type: "image/png", url });
  t.equal(got.bytes.toString(), "pixels");
  await fetchBounded(url, { ...RULES, method: "POST", body: "signed" });
  t.same(asked, [
    { method: "GET", body: "", key: "k", encoding: "identity" },
    { method: "POST", body: "signed", key: undefined, encoding: "identity" },
  ]);
});

test("schemes, hosts and private addresses", async (t) => {
  let asked = 0;
  const port = await serve(t, (_request, response) => {
    asked++;
    response.end("secret");
  });
  const at = (host: string) => `http://${host}:${port}/`;
  const cases: [string, Partial<FetchRequest>, RegExp][] = [
    ["what is this", {}, /^image_url: is no address/],
    ["ftp://example.com/a", {}, /ftp: is not allowed/],
    ["file:///etc/passwd", {}, /file: is not allowed/],
    ["data:image/png;base64,AAAA", {}, /data: is not allowed/],
    [at("127.0.0.1"), { schemes: ["https"] }, /http: is not allowed here; allowed: https/],
    [at("me:pw@127.0.0.1"), {}, /a user/],
    [at("127.0.0.1"), { hostsAllowed: ["example.com"] }, /the host 127.0.0.1 is not allowed/],
    [at("example.org"), { hostsAllowed: ["example.com", "*.example.org"] }, /the host example.org is not allowed/],
    [at("127.0.0.1"), { privateAllowed: false }, /private or loopback/],
    [at("127.0.0.1"), { privateAllowed: ["10.0.0.1"] }, /private or loopback/],
    ...["localhost", "[::1]", "[::ffff:127.0.0.1]", "0x7f.0.0.2", "169.254.169.254"].map(
      (host) => [at(host), {}, /private or loopback/] as [string, Partial<FetchRequest>, RegExp],
    ),
  ];
  for (const [address, rules, expected] of cases) {
    const error = await failure(address, rules);
    t.match(error.message, expected, address);
    t.equal(error.code, "invalid_request");
    t.equal(error.details?.field, "image_url");
  }
  t.equal(asked, 0, "nobody was asked");
  t.equal((await fetchBounded(at("127.0.0.1"), { ...RULES, hostsAllowed: ["127.0.0.1"] })).status, 200);
});

test("a name that means a private address is refused when it is looked up", async (t) => {
  let asked = 0;
  const port = await serve(t, (_request, response) => {
    asked++;
    response.end("secret");
  });
  const answers: { address: string; family: number }[][] = [
    [{ address: "127.0.0.1", family: 4 }],
    [
      { address: "8.8.8.8", family: 4 },
      { address: "127.0.0.1", family: 4 },
    ],
    [{ address: "::1", family: 6 }],
  ];
  for (const addresses of answers) {
    const resolve: Resolve = (_hostname, _options, done) => done(null, addresses);
    const error = await failure(`http://images.example.com:${port}/`, { resolve });
    t.match(error.message, /private or loopback/, JSON.stringify(addresses));
  }
  const unknown: Resolve = (_hostname, _options, done) =>
    done(Object.assign(new Error("no"), { code: "ENOTFOUND" }), []);
  const error = await failure(`http://images.example.com:${port}/`, { resolve: unknown });
  t.match(error, { code: "fetch_failed", message: /cannot be reached \(ENOTFOUND\)/ });
  t.equal(asked, 0);
});

test("redirects are checked like the first address", async (t) => {
  let to = "";
  const keys: unknown[] = [];
  const port = await serve(t, (request, response) => {
    keys.push(request.headers["x-key"]);
    if (request.url === "/end") response.end("here");
    else response.writeHead(302, { location: to }).end("gone");
  });
  const other = await serve(t, (request, response) => {
    keys.push(request.headers["x-key"]);
    response.end("other");
  });
  const start = `http://127.0.0.1:${port}/`;
  const headers = { "x-key": "k" };
  to = "/end";
  t.equal((await fetchBounded(start, { ...RULES, headers })).url, `${start}end`);
  to = `http://127.0.0.1:${other}/`;
  t.equal((await fetchBounded(start, { ...RULES, headers })).bytes.toString(), "other");
  t.same(keys, ["k", "k", "k", undefined], "headers stay with the first origin");
  for (const [location, expected] of [
    [`http://localhost:${port}/end`, /private or loopback/],
    [`http://[::1]:${port}/end`, /private or loopback/],
    ["http://169.254.169.254/latest/meta-data", /private or loopback/],
    ["file:///etc/passwd", /file: is not allowed/],
    ["http://%", /redirects to what is no address/],
    ["/", /redirects more than 5 times/],
  ] as const) {
    to = location;
    t.match((await failure(start)).message, expected, location);
  }
  to = "http://example.org/";
  t.match((await failure(start, { hostsAllowed: ["127.0.0.1"] })).message, /host example.org is not allowed/);
  to = "/end";
  t.match((await failure(start, { method: "POST", body: "x" })).message, /only a GET may follow/);
});

test("size, type, compression and status", async (t) => {
  const port = await serve(t, (request, response) => {
    const { pathname } = new URL(request.url!, "http://a");
    if (pathname === "/long") response.writeHead(200, { "content-length": 1001 }).end(Buffer.alloc(1001));
    else if (pathname === "/endless") {
      const more = () => !response.destroyed && response.write(Buffer.alloc(600), () => setImmediate(more));
      more();
    } else if (pathname === "/zip")
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(10_000)));
    else if (pathname === "/html") response.writeHead(200, { "content-type": "text/html" }).end("<p>");
    else if (pathname === "/exact") response.end(Buffer.alloc(1000));
    else response.writeHead(Number(pathname.slice(1))).end();
  });
  const at = (path: string) => `http://127.0.0.1:${port}/${path}`;
  t.equal((await fetchBounded(at("exact"), RULES)).bytes.length, 1000);
  t.match(await failure(at("long")), { code: "invalid_request", message: /larger than 1000 bytes/ });
  t.match((await failure(at("endless"))).message, /larger than 1000 bytes/);
  t.match((await failure(at("zip"))).message, /compressed/);
  t.match((await failure(at("html"), { types: ["image/*"] })).message, /is text\/html, and must be image/);
  t.match((await failure(at("exact"), { types: ["image/*"] })).message, /of no media type/);
  t.match(await failure(at("404")), { code: "invalid_request", message: /answered 404/ });
  t.match(await failure(at("503")), { code: "fetch_failed", message: /answered 503/ });
  t.match(await failure(at("304")), { code: "invalid_request", message: /answered 304/ });
});

test("time, the caller's signal, and nobody there", async (t) => {
  let began: () => void = () => undefined;
  const port = await serve(t, (request, response) => {
    began();
    if (request.url === "/slow-body") response.write("a");
  });
  for (const path of ["never", "slow-body"]) {
    const error = await failure(`http://127.0.0.1:${port}/${path}`, { timeoutMs: 100 });
    t.match(error, { code: "fetch_failed", message: /did not answer within 0.1 s/ });
  }
  const stop = new AbortController();
  const reason = new DbError("cancelled");
  began = () => stop.abort(reason);
  t.equal(await failure(`http://127.0.0.1:${port}/never`, { signal: stop.signal }), reason);
  const nobody = await serve(t, () => undefined);
  t.match((await failure(`http://127.0.0.1:${nobody}/`, { timeoutMs: 50 })).code, "fetch_failed");
  t.match(await failure("http://127.0.0.1:1/"), { code: "fetch_failed", message: /ECONNREFUSED/ });
});
