/** What one who has just come sees: the program without arguments, and the server's root in a browser. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
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
  const server = await TestServer.start();
  t.teardown(() => server.stop());
  const page = await fetch(`${server.url}/`);
  t.equal(page.status, 200);
  t.match(page.headers.get("content-type"), /^text\/html/);
  const links = [...(await page.text()).matchAll(/href="([^"]+)"/g)].map(([, link]) => link!);
  t.ok(links.length >= 3);
  for (const link of links) t.equal((await fetch(server.url + link)).status, 200, link);
  t.equal((await fetch(`${server.url}/nothing`)).status, 404);
});
