/**
 * The server of PostgreSQL's protocol: listens beside HTTP and has the connections. Opened and closed by the gateway.
 */
import { randomInt } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import type { Door, OpenDoor } from "../gateway/door.js";
import type { StatementCancel } from "../gateway/partition-routes.js";
import type { Services } from "../gateway/services.js";
import { type DbError, sqlError } from "../protocol/errors.js";
import type { Identity } from "../protocol/identity.js";
import { writeError } from "../protocol/postgres/error-message.js";
import { MessageWriter } from "../protocol/postgres/message-writer.js";
import { Connection, type ConnectionHost, goingAway } from "./connection.js";
import { type Encryption, encryptionOf } from "./encryption.js";
import { listenOn, SessionNumbers } from "./listening.js";
import { listenIn } from "./unix-socket.js";

export const postgresDoor: Door = {
  async open(services) {
    const { port } = services.config.postgres;
    if (port === 0) return null;
    const door = new PostgresServer(services);
    await door.listen();
    return door;
  },
};

class PostgresServer implements OpenDoor, ConnectionHost {
  readonly name = "postgresql";
  port = 0;
  socketPath?: string;
  encryption: Encryption | null;
  private readonly servers: readonly Server[];
  private readonly connections = new Map<number, Connection>();
  private readonly numbers = new SessionNumbers(this.connections);

  constructor(readonly services: Services) {
    this.encryption = encryptionOf(services);
    const { socketDirectory } = services.config.postgres;
    const count = socketDirectory === "" ? 1 : 2;
    this.servers = Array.from({ length: count }, () => createServer((socket) => this.connected(socket)));
    services.elsewhere?.onCancel((wanted) => this.cancelHere(wanted));
  }

  async listen(): Promise<void> {
    const { server, postgres } = this.services.config;
    const [atPort, atSocket] = this.servers;
    this.port = await listenOn(atPort!, server.host, postgres, "PostgreSQL's protocol");
    if (atSocket === undefined) return;
    try {
      this.socketPath = await listenIn(atSocket, postgres.socketDirectory, this.port);
    } catch (error) {
      atPort!.close();
      throw error;
    }
  }

  private connected(socket: Socket): void {
    const { services } = this;
    if (services.closing) return void refuse(socket, goingAway());
    if (services.connections >= services.config.limits.connectionsMax) {
      refuse(socket, sqlError("53300", "sorry, too many clients already"));
      return;
    }
    services.connections++;
    services.wire.connections++;
    const session = this.numbers.take();
    this.connections.set(session, new Connection(this, socket, session, randomInt(-0x80000000, 0x7fffffff)));
  }

  /** Whoever balances connections over nodes may have sent the request to another one than the session's. */
  cancel(wanted: StatementCancel): void {
    if (!this.cancelHere(wanted)) this.services.elsewhere?.cancelElsewhere(wanted);
  }

  private cancelHere({ session, secret }: StatementCancel): boolean {
    const connection = this.connections.get(session);
    if (connection?.secret !== secret) return false;
    connection.cancelStatement();
    return true;
  }

  closed(connection: Connection): void {
    if (!this.connections.delete(connection.session)) return;
    this.services.connections--;
    this.services.wire.connections--;
  }

  renewCertificate(): void {
    this.encryption = encryptionOf(this.services);
  }

  forget(gone: (identity: Identity) => boolean): void {
    for (const connection of this.connections.values()) {
      if (connection.caller === null || !gone(connection.caller.identity)) continue;
      connection.end(
        sqlError("57P01", "terminating connection: the user, its key or its tenant was changed; connect again"),
      );
    }
  }

  /** No connection is taken any more; those that rest end now, others with what they do. */
  beginClosing(): void {
    for (const server of this.servers) server.close();
    for (const connection of [...this.connections.values()]) connection.end(goingAway());
  }

  close(): void {
    for (const connection of [...this.connections.values()]) connection.close();
  }
}

function refuse(socket: Socket, error: DbError): void {
  const writer = new MessageWriter();
  writeError(writer, error, "FATAL");
  socket.on("error", () => undefined);
  socket.end(writer.take());
}
