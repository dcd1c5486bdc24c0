/**
 * The Unix socket beside the port of PostgreSQL's protocol: programs on the same machine that name its directory as
 * their host come in by it. Its name has the port, as libpq looks for it. Used by server.ts, which owns the server.
 */
import { once } from "node:events";
import { lstatSync, unlinkSync } from "node:fs";
import { connect, type Server } from "node:net";
import { join, resolve } from "node:path";

/** Node cuts off what is longer; macOS has the least room. */
const PATH_BYTES_MAX = 103;

/** Answers with the path. Rejects where it cannot listen there, or another program does. */
export async function listenIn(server: Server, directory: string, port: number): Promise<string> {
  const path = join(resolve(directory), `.s.PGSQL.${port}`);
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) {
    throw new Error(`The path ${path} is too long for a socket: it can have at most ${PATH_BYTES_MAX} bytes.`);
  }
  try {
    try {
      await listenAt(server, path);
    } catch (error) {
      if (codeOf(error) !== "EADDRINUSE" || !(await isDeserted(path))) throw error;
      // Whoever ended without a word left it. The port is this server's, so no other one takes the name meanwhile.
      unlinkSync(path);
      await listenAt(server, path);
    }
  } catch (error) {
    throw new Error(`Cannot listen on ${path} for PostgreSQL's protocol: ${(error as Error).message}`);
  }
  return path;
}

/** Everybody on the machine may connect, and has to sign in. */
async function listenAt(server: Server, path: string): Promise<void> {
  server.listen({ path, readableAll: true, writableAll: true });
  await once(server, "listening");
}

/** A socket on which nobody listens. */
async function isDeserted(path: string): Promise<boolean> {
  if (!lstatSync(path).isSocket()) return false;
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return false;
  } catch (error) {
    return codeOf(error) === "ECONNREFUSED";
  } finally {
    socket.destroy();
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
