/** Connections that do not say what they are: they end by themselves. Those that become WebSockets stay. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import t from "tap";
import { WebSocket } from "ws";
import { type Speaker, Transport } from "../../src/bolt/transport.js";

const PATIENCE_MS = 1_000;

const speakers: Speaker[] = [];
const transport = new Transport(
  () => null,
  (speaker) => speakers.push(speaker),
  PATIENCE_MS,
);
const server = createServer((socket) => transport.sniff(socket)).listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
t.teardown(() => {
  for (const { stream } of speakers) stream.destroy();
  transport.close();
  server.close();
});

t.test("silence, at once and after the beginning of HTTP", async () => {
  const ended = ["", "G", "GET / HTTP/1.1\r\n"].map((said) => {
    const socket = connect(port, "127.0.0.1").resume();
    socket.write(said);
    return once(socket, "close");
  });
  await Promise.all(ended);
});

t.test("a WebSocket outlives the time for its request", async (t) => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  await once(socket, "open");
  const silent = connect(port, "127.0.0.1").resume();
  // It came later, and so it ends later.
  silent.write("G");
  await once(silent, "close");
  t.equal(socket.readyState, WebSocket.OPEN);
  socket.terminate();
});
