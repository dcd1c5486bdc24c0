/** What the load generators send, and how our client times it (bench/load). */
import { type ChildProcess, execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import t from "tap";
import type { ClientLoad, ClientResult } from "../../bench/load/client.js";
import {
  jsonRequest,
  NEXT_KEY,
  parseRequests,
  type Request,
  SAME_KEY,
  writeRequests,
} from "../../bench/load/requests.js";

const directory = mkdtempSync(join(tmpdir(), "tessera-test-load-"));
t.teardown(() => rmSync(directory, { recursive: true }));

const CLIENT = new URL("../../bench/load/client.js", import.meta.url).pathname;

type Handler = (request: IncomingMessage, body: string, response: ServerResponse) => void;

/** Runs the client against the handler. */
async function load(
  handler: Handler,
  requests: readonly Request[],
  settings: Partial<ClientLoad>,
  onStart: (client: ChildProcess) => void = () => undefined,
): Promise<ClientResult> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => handler(request, body, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const file = join(directory, `requests-${port}`);
  const keepAlive = settings.keepAlive ?? true;
  writeRequests(file, `http://127.0.0.1:${port}`, requests, keepAlive);
  const argument: ClientLoad = {
    host: "127.0.0.1",
    port,
    file,
    firstKey: 100_000_000,
    connections: 4,
    seconds: 0.1,
    requestsPerSecond: 500,
    ...settings,
    keepAlive,
  };
  try {
    const running = promisify(execFile)(process.execPath, [CLIENT, JSON.stringify(argument)]);
    onStart(running.child);
    const { stdout } = await running;
    return JSON.parse(stdout) as ClientResult;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

t.test("requests come out of the file as they went in", async (t) => {
  const file = join(directory, "file");
  const bytes = Uint8Array.of(0, 10, 255);
  writeRequests(
    file,
    "http://host:1",
    [
      { method: "GET", path: "/health", headers: {}, body: "" },
      { method: "POST", path: "/packed", headers: {}, body: bytes },
      jsonRequest("/insert", "token", `[${NEXT_KEY},"${SAME_KEY}"]`),
    ],
    false,
  );
  const [health, packed, insert] = parseRequests(readFileSync(file));
  t.equal(String(health![0]!.bytes), "GET /health HTTP/1.1\r\nhost: host:1\r\nconnection: close\r\n\r\n");
  t.ok(packed![0]!.bytes.subarray(-3).equals(bytes));
  t.same(
    insert!.map(({ mark }) => mark),
    ["-", "n", "s"],
  );
  t.match(String(insert![0]!.bytes), /content-length: 23\r\n\r\n\[$/, "with keys of nine digits");
});

t.test("each request has its keys, and answers of all kinds are read", async (t) => {
  const keys = new Set<string>();
  const result = await load(
    (_request, body, response) => {
      const [next, same] = JSON.parse(body) as [number, number];
      keys.add(`${next} ${same}`);
      if (next % 5 === 0) response.writeHead(500).end("no");
      else if (next % 2 === 0) response.end("with a length");
      else {
        response.write("in chunks, ");
        response.end("two of them");
      }
    },
    [jsonRequest("/", "token", `[${NEXT_KEY},${SAME_KEY}]`)],
    {},
  );
  t.equal(result.requests, 50);
  t.equal(result.errors, 10);
  t.same(
    [...keys].sort(),
    Array.from({ length: 50 }, (_, i) => `${100_000_000 + i} ${100_000_000 + i}`),
  );
});

t.test("a connection for each request", async (t) => {
  const ports = new Set<number>();
  const result = await load(
    (request, _body, response) => {
      ports.add(request.socket.remotePort!);
      response.end("ok");
    },
    [{ method: "GET", path: "/", headers: {}, body: "" }],
    { keepAlive: false },
  );
  t.equal(result.errors, 0);
  t.equal(ports.size, 50);
});

t.test("a stall is charged to every request that was due in it", async (t) => {
  const STALL_MS = 400;
  let first = true;
  const result = await load(
    (_request, _body, response) => {
      if (!first) return void response.end("ok");
      first = false;
      setTimeout(() => response.end("late"), STALL_MS);
    },
    [{ method: "GET", path: "/", headers: {}, body: "" }],
    { connections: 1, requestsPerSecond: 100, seconds: 0.2 },
  );
  // A client that waits for answers would have seen one slow request of 20.
  t.equal(result.requests, 20);
  t.ok(result.p50Ms >= STALL_MS / 2, `the median is ${result.p50Ms} ms`);
  t.ok(result.maxMs >= STALL_MS);
});

t.test("SIGTERM ends an open loop before its time, and every request is told when it was due", async (t) => {
  let child: ChildProcess | null = null;
  let served = 0;
  const result = await load(
    (_request, _body, response) => {
      response.end("ok");
      if (++served === 20) child!.kill("SIGTERM");
    },
    [{ method: "GET", path: "/", headers: {}, body: "" }],
    { requestsPerSecond: 200, seconds: 3600, samples: true },
    (started) => {
      child = started;
    },
  );
  t.ok(result.requests >= 20);
  t.equal(result.errors, 0);
  const dues = result.samples!.map(([due]) => due).sort((a, b) => a - b);
  t.equal(dues.length, result.requests);
  t.ok(
    dues.every((due, i) => i === 0 || Math.abs(due - dues[i - 1]! - 5) < 0.01),
    "by the schedule, whenever they were sent",
  );
});

t.test("a result of many requests arrives whole", async (t) => {
  const result = await load(
    (_request, _body, response) => void response.end("ok"),
    [{ method: "GET", path: "/", headers: {}, body: "" }],
    { requestsPerSecond: 10_000, seconds: 1.5, samples: true },
  );
  t.equal(result.samples!.length, 15_000);
});
