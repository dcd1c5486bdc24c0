/**
 * The link between two nodes: one TLS connection per pair and direction, over which requests go and replies come back.
 * Both ends prove with TLS that they know the cluster's secret (a pre-shared key), so a stranger can neither listen nor
 * take part.
 *
 * A message is u32 length (of what follows) · u8 kind · u32 partition · bytes; all numbers little endian. The bytes are
 * frames (protocol/frames.ts), or a control message by v8.serialize. Deadlines of requests travel as what is left of
 * them. Who has connected sends a hello first (peer-hello.ts).
 */
import { hkdfSync } from "node:crypto";
import { connect, createServer, type Server, type TLSSocket } from "node:tls";
import { deserialize, serialize } from "node:v8";
import type { ActorPort } from "../gateway/actor-link.js";
import { DbError } from "../protocol/errors.js";
import { shiftDeadlines } from "../protocol/frames.js";
import type { ToActor } from "../protocol/messages.js";
import { codesOf, type EndpointCodes, OWN_HELLO, type PeerHello, translate } from "./peer-hello.js";

/**
 * Control messages for the partition's actor besides questions for identities: a move or restore may outlast its owner.
 */
const CARRIED: ReadonlySet<string> = new Set([
  ...["key-usage", "audit", "placement", "unsettled", "move-report"],
  ...["restore", "backup", "order-heard", "restore-report", "backup-report", "backup-ask", "backup-answer"],
]);
const KIND = { frames: 0, control: 1 } as const;
const HEAD_BYTES = 9;
const MESSAGE_BYTES_MAX = 2 ** 31;
const CONNECT_MS_MAX = 2000;
const KEEP_ALIVE_MS = 5000;
const END_MS_MAX = 500;
const TLS = {
  ciphers: "ECDHE-PSK-CHACHA20-POLY1305",
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.2",
} as const;

/** From the secret that all nodes share. */
export function peerKey(secret: Uint8Array): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", "tessera peer link", 32));
}

export interface PeerMessages {
  frames(partition: number, frames: ArrayBuffer): void;
  /** As it came: the kinds that count are looked for. */
  control(partition: number, message: { readonly kind: string }): void;
  closed(): void;
}

/** One end of a connection. */
export class PeerConnection {
  private chunks: Buffer[] = [];
  private bytes = 0;
  private wanted = HEAD_BYTES;
  private isClosed = false;
  /** Of endpoints in frames that arrive. */
  private codes: EndpointCodes = null;

  constructor(
    private readonly socket: TLSSocket,
    private readonly heard: PeerMessages,
  ) {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.on("data", (chunk: Buffer) => this.arrived(chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => this.close());
  }

  frames(partition: number, frames: ArrayBuffer): void {
    this.send(KIND.frames, partition, Buffer.from(frames));
  }

  control(partition: number, message: object): void {
    this.send(KIND.control, partition, serialize(message));
  }

  /** Resolves when what was written has left, or the other end does not take it. */
  end(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.close(), END_MS_MAX);
      this.socket.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
      this.socket.end();
      if (this.isClosed) resolve();
    });
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.socket.destroy();
    this.heard.closed();
  }

  private send(kind: number, partition: number, body: Buffer): void {
    if (this.isClosed) return;
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head.writeUInt32LE(body.length + HEAD_BYTES - 4, 0);
    head[4] = kind;
    head.writeUInt32LE(partition, 5);
    this.socket.cork();
    this.socket.write(head);
    this.socket.write(body);
    process.nextTick(() => this.socket.uncork());
  }

  private arrived(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    if (this.bytes < this.wanted) return;
    let all = this.chunks.length === 1 ? chunk : Buffer.concat(this.chunks);
    this.wanted = HEAD_BYTES;
    while (all.length >= HEAD_BYTES && !this.isClosed) {
      const end = all.readUInt32LE(0) + 4;
      if (end < HEAD_BYTES || end > MESSAGE_BYTES_MAX) {
        this.close();
        return;
      }
      this.wanted = end;
      if (all.length < end) break;
      this.take(all[4]!, all.readUInt32LE(5), all.subarray(HEAD_BYTES, end));
      all = all.subarray(end);
      this.wanted = HEAD_BYTES;
    }
    this.chunks = [all];
    this.bytes = all.length;
  }

  private take(kind: number, partition: number, body: Buffer): void {
    if (kind === KIND.frames) {
      const frames = body.buffer.slice(body.byteOffset, body.byteOffset + body.length) as ArrayBuffer;
      if (this.codes !== null) translate(frames, this.codes);
      this.heard.frames(partition, frames);
      return;
    }
    const message = deserialize(body) as { readonly kind?: unknown } | null;
    if (message?.kind === "hello") this.greeted(message as PeerHello);
    else if (typeof message?.kind === "string") this.heard.control(partition, message as { kind: string });
  }

  private greeted(hello: PeerHello): void {
    const codes = codesOf(hello);
    if (codes === undefined) this.close();
    else this.codes = codes;
  }
}

/** Rejects when the node is not reached, or does not know the secret. */
export function connectPeer(address: string, node: string, key: Buffer, heard: PeerMessages): Promise<PeerConnection> {
  const { host, port } = readAddress(address);
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...{ host, port, ...TLS },
      pskCallback: () => ({ psk: key, identity: node }),
      checkServerIdentity: () => undefined,
    });
    const timer = setTimeout(() => socket.destroy(new Error("it does not answer in time")), CONNECT_MS_MAX);
    socket.once("error", (error) => {
      clearTimeout(timer);
      reject(new DbError("partition_unavailable", `The node at ${address} is not reached (${error.message}).`));
    });
    socket.once("secureConnect", () => {
      clearTimeout(timer);
      const connection = new PeerConnection(socket, heard);
      connection.control(0, OWN_HELLO);
      resolve(connection);
    });
  });
}

/** Resolves when it listens. */
export function listenToPeers(address: string, key: Buffer, connected: (socket: TLSSocket) => void): Promise<Server> {
  const { host, port } = readAddress(address);
  const server = createServer({ ...TLS, pskCallback: () => key }, connected);
  server.on("tlsClientError", () => undefined);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve(server));
  });
}

function readAddress(address: string): { readonly host: string; readonly port: number } {
  const at = address.lastIndexOf(":");
  return { host: address.slice(0, at), port: Number(address.slice(at + 1)) };
}

export function isCarried(kind: string): boolean {
  return CARRIED.has(kind);
}

/** What an ActorLink takes for its actor's thread: a partition at the other end of a connection, or a relay. */
export class PartitionPort implements ActorPort {
  private listener: ((value: unknown) => void) | null = null;

  constructor(private readonly sink: { frames(frames: ArrayBuffer): void; control(message: ToActor): void }) {}

  postMessage(value: unknown): void {
    if (value instanceof ArrayBuffer) this.sink.frames(value);
    else this.sink.control(value as ToActor);
  }

  on(event: "message" | "error" | "exit", listener: (value: never) => void): void {
    if (event === "message") this.listener = listener as (value: unknown) => void;
  }

  heard(value: unknown): void {
    this.listener?.(value);
  }

  async terminate(): Promise<void> {}
}

/** The same to another machine. */
export function remotePort(connection: PeerConnection, partition: number): PartitionPort {
  return new PartitionPort({
    frames: (frames) => {
      const relative = frames.slice(0);
      shiftDeadlines(relative, -Date.now());
      connection.frames(partition, relative);
    },
    control: (message) => {
      if (message.kind === "find-identity" || isCarried(message.kind)) connection.control(partition, message);
    },
  });
}
