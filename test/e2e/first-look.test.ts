/** What one who has just come sees: the program without arguments, and the server's root in a browser. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { freePort } from "../free-port.js";
import { PROGRAM, TestServer } from "./server.js";

t.test("the program without arguments prints help and makes nothing", async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), "tessera-help-"));
  t.teardown(() => rmSync(cwd, { recursive: true }));
  const text = execFileSync(PROGRAM, [], { cwd, encoding: "utf8", timeout: 60_000 });
  t.match(text, /Usage: tessera/);
  t.match(text, /serve/);
  t.same(readdirSync(cwd), []);
});

t.test("the root is a page that links the documentation", async (t) => {
  const server = await TestServer.shared();
  t.teardown(() => server.stop());
  const page = await fetch(`${server.url}/`);
  t.equal(page.status, 200);
  t.match(page.headers.get("content-type"), /^text\/html/);
  const links = [...(await page.text()).matchAll(/href="([^"]+)"/g)].map(([, link]) => link!);
  t.ok(links.length >= 3);
  for (const link of links) t.equal((await fetch(server.url + link)).status, 200, link);
  t.equal((await fetch(`${server.url}/nothing`)).status, 404);
});

t.test("a command that there is not is told", (t) => {
  for (const [word, said] of [
    ["bogus", /unknown command 'bogus'$/m],
    ["serv", /unknown command 'serv'\. Did you mean serve\?/],
  ] as const) {
    const { status, stderr } = spawnSync(PROGRAM, [word], { encoding: "utf8", timeout: 60_000 });
    t.equal(status, 2);
    t.match(stderr, said);
  }
  t.end();
});

t.test("a browser's preflight is told how to switch CORS on", async (t) => {
  const server = await TestServer.shared();
  t.teardown(() => server.stop());
  const headers = { origin: "https://app.example", "access-control-request-method": "POST" };
  const reply = await fetch(`${server.url}/v1/query/execute`, { method: "OPTIONS", headers });
  t.equal(reply.status, 405);
  t.match(await reply.json(), { error: { code: "method_not_allowed", message: /TESSERA_SERVER_CORS_ENABLED=true/ } });
  const plain = await fetch(`${server.url}/v1/query/execute`, { method: "OPTIONS" });
  t.match(await plain.json(), { error: { message: /does not serve OPTIONS, only POST/ } });
  const misspelt = await server.call("POST", "/v1/graph/match", { cypher: "MATCH (n) RETURN lenght(n.name)" });
  t.match(misspelt, {
    status: 400,
    body: { error: { message: /there is no function `lenght`.*did you mean length\?/ } },
  });
});

t.test("the first start says where the data is, and only that one", async (t) => {
  const server = await TestServer.start({ TESSERA_ACTORS: "1" });
  t.teardown(() => server.stop());
  const told = () => server.lines.filter((line) => line.startsWith("data directory:"));
  t.same(told(), [`data directory: ${server.directory} (new)`]);
  await server.terminate();
  await server.boot();
  t.equal(told().length, 1);
});

t.test("a second server does not share the first one's port", async (t) => {
  const port = await freePort();
  const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_PORT: String(port) });
  const folder = mkdtempSync(join(tmpdir(), "tessera-second-"));
  t.teardown(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  const env = {
    ...process.env,
    TESSERA_PORT: String(port),
    TESSERA_DATA_DIR: folder,
    TESSERA_ADMIN_PASSWORD: "a password",
  };
  const { status, stderr } = spawnSync(PROGRAM, ["serve"], { env, encoding: "utf8", timeout: 60_000 });
  t.equal(status, 1);
  t.match(stderr, `Cannot listen on 127.0.0.1:${port}: the address is in use`);
});
