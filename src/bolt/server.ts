/**
 * The server of Bolt, the protocol of Neo4j's drivers: listens beside HTTP and has the connections. Opened by the
 * gateway.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { Door, OpenDoor } from "../gateway/door.js";
import type { Services } from "../gateway/services.js";
import { type Encryption, encryptionOf } from "../postgres/encryption.js";
import { listenOn, SessionNumbers } from "../postgres/listening.js";
import { boltError } from "../protocol/bolt/failure-message.js";
import { DbError } from "../protocol/errors.js";
import type { Identity } from "../protocol/identity.js";
import { BoltConnection, type BoltHost } from "./connection.js";
import { type Speaker, Transport } from "./transport.js";

export const boltDoor: Door = {
  async open(services) {
    const { port } = services.config.bolt;
    if (port === 0) return null;
    const door = new BoltServer(services);
    await door.listen();
    return door;
  },
};

/** How often connections that wait for an answer hear that the server is alive. */
export const ALIVE_MS = 20_000;

class BoltServer implements OpenDoor, BoltHost {
  readonly name = "bolt";
  port = 0;
  private encryption: Encryption | null;
  private readonly server: Server;
  private readonly transport: Transport;
  /** TCP connections, those that have not said anything yet among them. */
  private readonly sockets = new Set<Socket>();
  private readonly connections = new Map<number, BoltConnection>();
  private readonly alive: NodeJS.Timeout;
  private readonly numbers = new SessionNumbers(this.connections);

  constructor(readonly services: Services) {
    this.encryption = encryptionOf(services);
    this.transport = new Transport(
      () => this.encryption?.secureContext ?? null,
      (speaker) => this.connected(speaker),
    );
    this.server = createServer((socket) => this.accepted(socket));
    this.alive = setInterval(() => {
      for (const connection of this.connections.values()) connection.keepAlive();
    }, ALIVE_MS).unref();
  }

  async listen(): Promise<void> {
    const { server, bolt } = this.services.config;
    this.port = await listenOn(this.server, server.host, bolt, "Bolt");
  }

  private accepted(socket: Socket): void {
    const { services } = this;
    // Before the handshake there is no way to say why.
    if (services.closing || services.connections >= services.config.limits.connectionsMax) {
      socket.destroy();
      return;
    }
    services.connections++;
    services.bolt.connections++;
    this.sockets.add(socket);
    socket.once("close", () => {
      this.sockets.delete(socket);
      services.connections--;
      services.bolt.connections--;
    });
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 60_000);
    this.transport.sniff(socket);
  }

  private connected(speaker: Speaker): void {
    const session = this.numbers.take();
    this.connections.set(session, new BoltConnection(this, speaker, session));
  }

  renumbered(connection: BoltConnection): number {
    this.connections.delete(connection.session);
    const session = this.numbers.take();
    this.connections.set(session, connection);
    return session;
  }

  get address(): string {
    const { server, bolt } = this.services.config;
    return bolt.advertisedAddress === "" ? `${server.host}:${this.port}` : bolt.advertisedAddress;
  }

  closed(connection: BoltConnection): void {
    this.connections.delete(connection.session);
  }

  renewCertificate(): void {
    this.encryption = encryptionOf(this.services);
  }

  forget(gone: (identity: Identity) => boolean): void {
    for (const connection of this.connections.values()) {
      if (connection.caller === null || !gone(connection.caller.identity)) continue;
      connection.end(
        boltError(
          "unauthorized",
          "Neo.ClientError.Security.AuthorizationExpired",
          "The user, its key or its tenant was changed. Connect again.",
        ),
      );
    }
  }

  /** No connection is taken any more; those that rest end now, others with what they do. */
  beginClosing(): void {
    this.server.close();
    clearInterval(this.alive);
    for (const connection of [...this.connections.values()]) connection.end(new DbError("shutting_down"));
  }

  close(): void {
    for (const connection of [...this.connections.values()]) connection.close();
    for (const socket of this.sockets) socket.destroy();
    this.transport.close();
  }
}
