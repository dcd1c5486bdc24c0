/** The Unix socket of PostgreSQL's protocol: its name, and what stands in its place. */
import { once } from "node:events";
import { existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { listenIn } from "../../src/postgres/unix-socket.js";

const directory = mkdtempSync(join(tmpdir(), "tessera-socket-"));
t.teardown(() => rmSync(directory, { recursive: true }));

const pathFor = (port: number): string => join(directory, `.s.PGSQL.${port}`);

async function close(server: ReturnType<typeof createServer>): Promise<void> {
  server.close();
  await once(server, "close");
}

async function visit(port: number): Promise<void> {
  const socket = connect(pathFor(port));
  await once(socket, "connect");
  socket.destroy();
}

t.test("everybody on the machine may connect, and the file goes with the server", async (t) => {
  const server = createServer((socket) => socket.end("hello"));
  const path = await listenIn(server, directory, 1);
  t.equal(path, pathFor(1));
  t.equal(statSync(path).mode & 0o666, 0o666);
  const socket = connect(path);
  const [bytes] = await once(socket, "data");
  t.equal(String(bytes), "hello");
  await close(server);
  t.notOk(existsSync(path));
});

t.test("what a server left that ended without a word is replaced", async (t) => {
  const dead = createServer();
  await listenIn(dead, directory, 2);
  renameSync(pathFor(2), pathFor(3));
  await close(dead);
  t.ok(existsSync(pathFor(3)));
  const server = createServer((socket) => socket.destroy());
  await listenIn(server, directory, 3);
  await visit(3);
  await close(server);
});

t.test("a socket that another program has, and a file of another kind, are left alone", async (t) => {
  const other = createServer((socket) => socket.destroy());
  await listenIn(other, directory, 4);
  await t.rejects(listenIn(createServer(), directory, 4), /Cannot listen on .*PGSQL\.4.*EADDRINUSE/);
  await visit(4);
  await close(other);
  writeFileSync(pathFor(5), "mine");
  await t.rejects(listenIn(createServer(), directory, 5), /EADDRINUSE/);
  t.ok(existsSync(pathFor(5)));
});

t.test("a path that is too long is refused; it would be cut off", async (t) => {
  await t.rejects(listenIn(createServer(), join(directory, "d".repeat(100)), 6), /too long for a socket/);
});
