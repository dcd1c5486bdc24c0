/** The documents at /docs: every page and link, the search index, and requests for what is not there. */
import { type IncomingHttpHeaders, request } from "node:http";
import { text } from "node:stream/consumers";
import MiniSearch from "minisearch";
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

/** The path goes as it is; fetch would take dots out of it. */
async function get(
  path: string,
  headers: IncomingHttpHeaders = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  const { hostname, port } = new URL(server.url);
  const reply = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
    request({ hostname, port, path, headers }, resolve).on("error", reject).end();
  });
  return { status: reply.statusCode!, headers: reply.headers, body: await text(reply) };
}

function addressesIn(html: string): string[] {
  return [...html.matchAll(/<(?:a|link|script|img)\b[^>]*?\b(?:href|src)="([^"]*)"/g)].map(([, address]) => address!);
}

t.test("every page, what it loads and what it links to are there", async (t) => {
  const seen = new Map<string, string>();
  const waiting = ["/docs/"];
  const anchors: [from: string, to: string, id: string][] = [];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    const { status, headers, body } = await get(path);
    seen.set(path, body);
    t.equal(status, 200, path);
    if (!headers["content-type"]!.startsWith("text/html") || !path.startsWith("/docs/")) continue;
    t.match(headers["content-security-policy"], "default-src 'none'");
    for (const address of addressesIn(body)) {
      const target = new URL(address, server.url + path);
      if (target.origin !== server.url) {
        t.notMatch(body, `src="${address}"`, "nothing is loaded from elsewhere");
        continue;
      }
      waiting.push(target.pathname);
      if (target.hash !== "") anchors.push([path, target.pathname, target.hash.slice(1)]);
    }
  }
  const lost = anchors.filter(([, to, id]) => !seen.get(to)!.includes(`id="${id}"`));
  t.same(lost, [], "links to headings that are not there");
  for (const page of ["guide/sql", "guide/", "reference/errors", "architecture/testing"])
    t.ok(seen.has(`/docs/${page}`), page);
  t.ok(seen.size > 40);
});

t.test("files have their types, and are not sent twice", async (t) => {
  for (const [name, type] of [
    ["guide/sql", "text/html; charset=utf-8"],
    ["site.css", "text/css; charset=utf-8"],
    ["site.js", "text/javascript; charset=utf-8"],
    ["search.json", "application/json"],
    ["icon.svg", "image/svg+xml"],
  ] as const) {
    const { status, headers } = await get(`/docs/${name}`);
    t.equal(status, 200, name);
    t.equal(headers["content-type"], type);
    t.equal(headers["x-content-type-options"], "nosniff");
    const again = await get(`/docs/${name}`, { "if-none-match": headers.etag! });
    t.equal(again.status, 304);
    t.equal(again.body, "");
  }
});

t.test("the search index finds pages by their words", async (t) => {
  const { body } = await get("/docs/search.json");
  const index = MiniSearch.loadJSON(body, {
    fields: ["heading", "title", "text"],
    storeFields: ["title", "heading", "url", "excerpt"],
  });
  const options = {
    prefix: true,
    boost: { title: 4, heading: 3 },
    boostDocument: (_id: unknown, _term: string, fields?: Record<string, unknown>) => {
      const [folder] = String(fields?.url).split("/");
      return folder === "guide" ? 2 : folder === "reference" ? 1.8 : 1;
    },
  };
  const first = (query: string) => index.search(query, options)[0]?.url;
  t.match(first("transactions conflicts"), /^guide\/transactions#/);
  t.equal(first("serialization_failure 409"), "reference/errors#409-conflict");
  t.match(first("vector quantization int8"), /^guide\/vectors#/);
  for (const { url } of index.search("tenant")) t.equal((await get(`/docs/${url.split("#")[0]}`)).status, 200, url);
});

t.test("what is not there is a page that says so, and nothing else of the machine", async (t) => {
  for (const path of [
    "/docs/nothing",
    "/docs/guide/sql/",
    "/docs/guide/sql.html",
    "/docs/404",
    "/docs/../package.json",
    "/docs/../main.cjs",
    "/docs/..%2fmain.cjs",
    "/docs/%2e%2e/main.cjs",
    "/docs/guide/../../../../package.json",
    "/docs//etc/passwd",
    "/docs/..\\main.cjs",
    "/docs/guide%00",
  ]) {
    const { status, headers, body } = await get(path);
    t.equal(status, 404, path);
    if (path.startsWith("/docs/..")) t.notMatch(body, /"dependencies"|require\(/);
    else {
      t.equal(headers["content-type"], "text/html; charset=utf-8", path);
      t.match(body, "There is no such page");
    }
  }
});

t.test("folders without their slash, and the ways in", async (t) => {
  for (const [path, location] of [
    ["/docs", "/docs/"],
    ["/docs/guide", "/docs/guide/"],
  ] as const) {
    const { status, headers } = await get(path);
    t.equal(status, 302);
    t.equal(headers.location, location);
  }
  t.match((await get("/")).body, 'href="/docs/"');
  t.match((await get("/v1/api-docs/")).body, 'href="/docs/"');
});
