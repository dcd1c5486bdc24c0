/**
 * A page in a real browser that subscribes over the WebSocket and as server-sent events, each by a ticket. Chromium
 * comes from the system (CHROMIUM names another one); without one the test is skipped. It is driven by its own
 * protocol.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { TestServer } from "../e2e/server.js";

const candidates = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const chromium = candidates.find((path) => path !== undefined && existsSync(path));

const page = (base: string, tickets: readonly [string, string]) => `<!doctype html><title>waiting</title><script>
const got = { socket: [], events: [] };
const check = () => { if (got.socket.length === 2 && got.events.length === 2) report(); };
const report = () => fetch("/done", { method: "POST", body: JSON.stringify(got) });
const socket = new WebSocket("${base.replace("http", "ws")}/ws?token=${tickets[0]}");
socket.onopen = () => socket.send(JSON.stringify({ type: "subscribe", id: "page", table: "visit" }));
let ready = 0;
const begun = () => { if (++ready === 2) fetch("/ready", { method: "POST" }); };
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.type === "subscribed") begun();
  else { got.socket.push(message); check(); }
};
const events = new EventSource("${base}/v1/subscribe?table=visit&token=${tickets[1]}");
events.addEventListener("subscribed", begun);
events.addEventListener("change", ({ data }) => { got.events.push(JSON.parse(data)); check(); });
</script>`;

t.setTimeout(300_000);

t.test(
  "a page subscribes over the WebSocket and by an EventSource",
  {
    skip: chromium === undefined && "no Chromium is installed",
  },
  async (t) => {
    let html = "";
    let ready = (): void => undefined;
    let done = (_body: string): void => undefined;
    const isReady = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const isDone = new Promise<string>((resolve) => {
      done = resolve;
    });
    const pages = createServer((request, response) => {
      let body = "";
      request.on("data", (part) => {
        body += part;
      });
      request.on("end", () => {
        if (request.url === "/ready") ready();
        if (request.url === "/done") done(body);
        response.setHeader("content-type", "text/html").end(request.url === "/" ? html : "");
      });
    });
    await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    const server = await TestServer.start({
      TESSERA_ACTORS: "1",
      TESSERA_SERVER_CORS_ENABLED: "true",
      TESSERA_SERVER_CORS_ORIGINS: origin,
    });
    const profile = mkdtempSync(join(tmpdir(), "tessera-browser-"));
    let browser: ChildProcess | null = null;
    t.teardown(async () => {
      browser?.kill("SIGKILL");
      pages.close();
      await server.stop();
      await sleep(200);
      rmSync(profile, { recursive: true, force: true });
    });
    await server.sql("CREATE TABLE visit (id integer PRIMARY KEY, note text)");
    const ticket = async () => (await server.expect(200, "POST", "/v1/ws/ticket")).body.token as string;
    html = page(server.url, [await ticket(), await ticket()]);
    browser = spawn(
      chromium!,
      [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        `--user-data-dir=${profile}`,
        "--remote-debugging-port=0",
        origin,
      ],
      // What it leaves when it is killed goes with its profile.
      { stdio: "ignore", env: { ...process.env, TMPDIR: profile } },
    );
    await isReady;
    await server.sql("INSERT INTO visit VALUES (1, 'one')");
    await server.sql("UPDATE visit SET note = 'uno'");
    const got = JSON.parse(await isDone);
    t.match(got.socket, [
      { type: "change", id: "page", operation: "insert", document: { id: 1, note: "one" } },
      { operation: "update", document: { id: 1, note: "uno" } },
    ]);
    t.same(
      got.events.map(({ id: _id, ...change }: { id?: unknown }) => change),
      got.socket.map(({ id: _id, ...change }: { id?: unknown }) => change),
    );
  },
);
