/** The Link header of lists (RFC 8288): every list has it, and following it visits each item once. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { pageLinks } from "../../src/bodies/page-links.js";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import { type Reply, TestServer } from "./server.js";

const ORIGIN = "https://app.example";
const folder = realpathSync(mkdtempSync(join(tmpdir(), "tessera-page-links-")));
const server = await TestServer.start({
  TESSERA_ACTORS: "1",
  TESSERA_SERVER_CORS_ENABLED: "true",
  TESSERA_SERVER_CORS_ORIGINS: ORIGIN,
  TESSERA_FILES_ROOTS: folder,
});
t.teardown(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Targets by their relations. */
function linksOf({ headers }: Reply): Readonly<Record<string, string>> {
  const links = [...(headers.get("link") ?? "").matchAll(/<([^>]*)>; rel="(\w+)"/g)];
  return Object.fromEntries(links.map(([, target, relation]) => [relation!, target!]));
}

/** Follows `relation` from that path on, as a client does: by the URL that it asked. */
async function visit(path: string, relation: "next" | "prev", itemsOf: (data: Reply["body"]) => readonly unknown[]) {
  const seen: unknown[][] = [];
  for (let url: string | undefined = new URL(path, server.url).href; url !== undefined; ) {
    if (seen.length > 20) throw new Error(`The links go on from ${url}.`);
    const { pathname, search } = new URL(url);
    const reply = await server.expect(200, "GET", pathname + search);
    seen.push([...itemsOf(reply.body.data)]);
    const target: string | undefined = linksOf(reply)[relation];
    url = target === undefined ? undefined : new URL(target, url).href;
  }
  return seen;
}

t.before(async () => {
  await server.expect(201, "POST", "/v1/collections", { name: "note" });
  const documents = Array.from({ length: 7 }, (_, i) => ({ id: `n${i}`, i }));
  await server.expect(201, "POST", "/v1/collections/note/documents/bulk", { documents });
  for (let i = 0; i < 5; i++)
    await server.expect(201, "POST", "/v1/graph/nodes", { labels: ["A&B"], properties: { i } });
  for (const name of ["one", "two", "three"]) await server.expect(201, "POST", "/v1/branches", { name });
});

const DOCUMENTS = "/v1/collections/note/documents";
const ids = (data: Reply["body"]): string[] => data.items.map(({ id }: { readonly id: string }) => id);

t.test("a list says where its other pages are", async (t) => {
  const query = async (text: string) => linksOf(await server.expect(200, "GET", `${DOCUMENTS}${text}`));
  t.same(await query("?limit=3"), {
    first: "?limit=3&offset=0",
    next: "?limit=3&offset=3",
    last: "?limit=3&offset=6",
  });
  t.same(await query("?limit=3&offset=3"), {
    first: "?limit=3&offset=0",
    prev: "?limit=3&offset=0",
    next: "?limit=3&offset=6",
    last: "?limit=3&offset=6",
  });
  t.same(await query("?page=3&page_size=3"), {
    first: "?page=1&page_size=3",
    prev: "?page=2&page_size=3",
    last: "?page=3&page_size=3",
  });
  t.same(await query(""), { first: "?offset=0", last: "?offset=0" }, "all are on one page");
  t.equal((await query("?limit=3&offset=500")).prev, "?limit=3&offset=6", "behind the end");
});

t.test("following them visits all items once, under both versions of the path", async (t) => {
  const pages = [["n0", "n1", "n2"], ["n3", "n4", "n5"], ["n6"]];
  for (const path of [
    `${DOCUMENTS}?limit=3`,
    `${DOCUMENTS}?page=1&pageSize=3`,
    `/v2/collections/note/documents?limit=3`,
  ]) {
    t.same(await visit(path, "next", ids), pages, path);
  }
  t.same(await visit(`${DOCUMENTS}?limit=3&offset=6`, "prev", ids), pages.toReversed(), "backwards");
  const { next_cursor: cursor } = (await server.expect(200, "GET", `${DOCUMENTS}?limit=3`)).body.data;
  t.same(await visit(`${DOCUMENTS}?limit=3&cursor=${cursor}`, "next", ids), pages.slice(1), "by cursor");
  const entries = (data: Reply["body"]) => data.entries.map(({ id }: { readonly id: unknown }) => id);
  const trail = (await visit("/admin/audit?limit=3&action=auth", "next", entries)).flat();
  t.equal(new Set(trail).size, trail.length, "the audit trail");
});

t.test("without a total a full page has a next one; other parameters stay, escaped", async (t) => {
  const path = `/v1/graph/nodes?label=${encodeURIComponent("A&B")}&limit=2`;
  const first = await server.expect(200, "GET", path);
  t.same(linksOf(first), { first: "?label=A%26B&limit=2&offset=0", next: "?label=A%26B&limit=2&offset=2" });
  const nodes = await visit(path, "next", ({ nodes }) => nodes.map(({ id }: { readonly id: number }) => id));
  t.equal(new Set(nodes.flat()).size, 5);
  const hostile = `/v1/graph/nodes?label=${encodeURIComponent('x>; rel="next"\r\nSet-Cookie: a=b')}&limit=2`;
  const reply = await server.expect(200, "GET", hostile);
  t.equal(reply.headers.get("set-cookie"), null);
  t.same(Object.keys(linksOf(reply)), ["first"]);
});

t.test("a page size above the most is that of the links, and targets that no request can name are left out", (t) => {
  const pages = { items: "items", total: "total", most: 1000 };
  const linkOf = (query: string, total: number) => pageLinks(pages, query, { items: [], total });
  t.equal(
    linkOf("limit=5000&offset=1000", 2500),
    'Link: <?limit=5000&offset=0>; rel="first", <?limit=5000&offset=0>; rel="prev", <?limit=5000&offset=2000>; rel="next", <?limit=5000&offset=2000>; rel="last"',
  );
  t.equal(
    linkOf("limit=1&offset=999999999", 5_000_000_000),
    'Link: <?limit=1&offset=0>; rel="first", <?limit=1&offset=999999998>; rel="prev"',
  );
  t.equal(
    linkOf("page=9999999&page_size=2", 5_000_000_000),
    'Link: <?page=1&page_size=2>; rel="first", <?page=9999998&page_size=2>; rel="prev"',
  );
  t.equal(linkOf("limit=0", 5), "", "pages without items lead nowhere");
  t.end();
});

t.test("branches are paged by number, too", async (t) => {
  const names = (data: Reply["body"]) => data.branches.map(({ name }: { readonly name: string }) => name);
  t.same(await visit("/v1/branches?page=1&page_size=2", "next", names), [["one", "three"], ["two"]]);
});

t.test("a long page has them, and so have HEAD and MessagePack", async (t) => {
  await server.expect(201, "POST", "/v1/collections", { name: "long" });
  const documents = Array.from({ length: 4 }, (_, i) => ({ id: `l${i}`, text: "x".repeat(700_000) }));
  await server.expect(201, "POST", "/v1/collections/long/documents/bulk", { documents });
  const path = "/v1/collections/long/documents?limit=3";
  for (const accept of ["application/json", "application/msgpack"]) {
    const headers = { authorization: `Bearer ${server.token}`, accept, origin: ORIGIN };
    for (const method of ["GET", "HEAD"]) {
      const reply = await fetch(server.url + path, { method, headers });
      t.match(reply.headers.get("link"), /<\?limit=3&offset=3>; rel="next"/, `${method} ${accept}`);
      t.match(reply.headers.get("access-control-expose-headers"), /\bLink\b/);
      if (method === "GET") t.ok((await reply.arrayBuffer()).byteLength > 2_000_000, "all of the page");
    }
  }
});

t.test("every list declares its pages, and has the header", async (t) => {
  writeFileSync(join(folder, "a.txt"), "Boats leave the harbour at noon.");
  const files = await server.expect(201, "POST", "/v1/filesystem-collections", { name: "files", watch_dir: folder });
  const chat = await server.expect(201, "POST", "/v1/ai/sessions", {});
  await server.expect(201, "POST", "/v1/ai/memory/agent", { content: "Ann likes boats." });
  const [{ id: node }] = (await server.expect(200, "GET", "/v1/graph/nodes?limit=1")).body.data.nodes;
  const variables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "documents.list": { name: "note" },
    "files.documents": { id: files.body.data.id },
    "chat.sessions.messages": { id: chat.body.data.session_id },
    "graph.nodes.neighbors": { id: String(node) },
    "branches.diff": { name: "one" },
    "memory.get": { namespace: "agent" },
    "recipes.executions": { id: (await server.expect(200, "GET", "/v1/recipes?limit=1")).body.data.recipes[0].id },
    "admin.users.list": { tenant: "system" },
  };
  const document = (await server.expect(200, "GET", "/v1/openapi.json")).body;
  // The branch keeps the past of its origin.
  const { newest } = (await server.expect(200, "GET", "/v1/history")).body.data;
  const more: Readonly<Record<string, string>> = { "history.diff": `&from=${newest.sequence}` };
  let lists = 0;
  for (const { name, method, query, pages, path } of ENDPOINTS) {
    const isPaged = method === "GET" && query?.properties.offset !== undefined;
    if (isPaged) t.ok(pages, `${name} takes an offset and declares its pages`);
    if (pages === undefined) continue;
    lists++;
    t.ok(document.paths[path].get.responses["200"].headers.Link, `${name} in the OpenAPI document`);
    const url = path.replace(/\{(\w+)\}/, (_, variable: string) => variables[name]![variable]!);
    const reply = await server.expect(200, "GET", `${url}?limit=1${more[name] ?? ""}`);
    t.equal(linksOf(reply).first, `?limit=1${more[name] ?? ""}${isPaged ? "&offset=0" : ""}`, name);
  }
  t.ok(lists > 25, `${lists} lists`);
});
