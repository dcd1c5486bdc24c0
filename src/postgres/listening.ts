/**
 * What the servers of PostgreSQL's protocol and of Bolt have in common: their port, and numbers for their connections.
 */
import { randomInt } from "node:crypto";
import type { Server } from "node:net";

interface Port {
  readonly port: number;
  /** Where that one is in use, any other will do. */
  readonly anyPort: boolean;
}

/** Answers with the port. Rejects where it is in use, unless any will do. */
export async function listenOn(server: Server, host: string, { port, anyPort }: Port, what: string): Promise<number> {
  try {
    return await listenOnPort(server, host, port);
  } catch (error) {
    if (!anyPort) throw new Error(`Cannot listen on ${host}:${port} for ${what}: ${(error as Error).message}`);
    return listenOnPort(server, host, 0);
  }
}

function listenOnPort(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.removeListener("error", reject);
      resolve((server.address() as { port: number }).port);
    });
  });
}

/**
 * Numbers of sessions: positive, of 31 bits, and none that an open connection has. Drawn, because those of several
 * nodes' clients meet in one tenant.
 */
export class SessionNumbers {
  constructor(private readonly open: ReadonlyMap<number, unknown>) {}

  take(): number {
    for (;;) {
      const number = randomInt(1, 0x80000000);
      if (!this.open.has(number)) return number;
    }
  }
}
