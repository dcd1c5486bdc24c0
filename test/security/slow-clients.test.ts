/** Clients that send slowly, or heads without end, over raw sockets: their connections end, others are served. */
import { connect, type Socket } from "node:net";
import t from "tap";
import { TestServer } from "../e2e/server.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_SERVER_REQUEST_TIMEOUT: "3" });
t.teardown(() => server.stop());
const { hostname, port } = new URL(server.url);

/** What came back until the server closed the connection. */
function talk(run: (socket: Socket) => void): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect(Number(port), hostname, () => run(socket));
    socket.on("data", (data) => {
      received += data.toString("latin1");
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(received));
  });
}

/** A byte every so often, until the connection is closed. */
function drip(socket: Socket, bytes: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(bytes), everyMs);
  socket.on("close", () => clearInterval(timer));
}

const served = async (): Promise<void> => {
  t.equal((await server.call("GET", "/health")).status, 200);
  t.same(await server.rows("SELECT 1"), [[1]]);
};

t.test("heads that do not end", async (t) => {
  for (const [what, head] of [
    ["one long header", `GET /health HTTP/1.1\r\nHost: x\r\nX-Long: ${"a".repeat(200_000)}`],
    ["many headers", `GET /health HTTP/1.1\r\nHost: x\r\n${"X-Many: 1\r\n".repeat(20_000)}`],
    ["a long path", `GET /${"a".repeat(200_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ["many small headers", `GET /health HTTP/1.1\r\nHost: x\r\n${"a:b\r\n".repeat(500)}\r\n`],
  ] as const) {
    const received = await talk((socket) => socket.write(head));
    t.match(received, /^(HTTP\/1\.1 4\d\d|$)/, `${what}: ${received.slice(0, 40)}`);
  }
  await served();
});

t.test("a head that comes byte by byte, on many connections", async (t) => {
  const slow = Array.from({ length: 50 }, () =>
    talk((socket) => {
      socket.write("GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ");
      drip(socket, "a", 500);
    }),
  );
  await served();
  await Promise.all(slow);
  t.pass("all of them were closed");
  await served();
});

t.test("a body that comes byte by byte ends with the request's time", async (t) => {
  const received = await talk((socket) => {
    socket.write(
      `POST /v1/query/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`,
    );
    drip(socket, " ", 300);
  });
  t.match(received, /^HTTP\/1\.1 408 /);
  await served();
});

t.test("connections that say nothing are closed", async (t) => {
  await Promise.all(Array.from({ length: 20 }, () => talk(() => undefined)));
  t.pass("all of them");
  await served();
});
