/**
 * What a connection speaks below Bolt, by its first bytes: TLS, HTTP that becomes a WebSocket, or Bolt itself. All on
 * the same port. Called by server.ts.
 */
import { createServer, type Server as HttpServer, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type SecureContext, TLSSocket } from "node:tls";
import { createWebSocketStream, type WebSocket, WebSocketServer } from "ws";

/** A message of the WebSocket, before the sign-in, too. Drivers send each chunk or a few of them as one. */
const MESSAGE_BYTES_MAX = 256 * 1024;
const TLS_HANDSHAKE = 0x16;
const GET = "G".charCodeAt(0);
/** Within this time the first bytes have to come, and after those of HTTP its request to become a WebSocket. */
const FIRST_BYTES_MS = 30_000;

export interface Speaker {
  readonly stream: Duplex;
  readonly address: string;
}

export class Transport {
  private readonly http: HttpServer;
  private readonly sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
  });
  /** Of connections that speak HTTP and are no WebSockets yet: what ends them. */
  private readonly unasked = new WeakMap<Duplex, NodeJS.Timeout>();

  constructor(
    private readonly secureContext: () => SecureContext | null,
    private readonly speaks: (speaker: Speaker) => void,
    private readonly patienceMs = FIRST_BYTES_MS,
  ) {
    this.http = createServer((_request, response) => {
      response.writeHead(426, { "content-type": "text/plain", connection: "close", upgrade: "websocket" });
      response.end("This port speaks Bolt, also by WebSocket. HTTP is on another port.\n");
    });
    this.http.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const address = addressOf(request.socket);
      clearTimeout(this.unasked.get(socket));
      this.sockets.handleUpgrade(request, socket, head, (opened) => this.opened(opened, address));
    });
  }

  /** Waits for the first bytes; a connection that sends none is ended. */
  sniff(socket: Socket): void {
    const address = addressOf(socket);
    const timer = setTimeout(() => socket.destroy(), this.patienceMs).unref();
    socket.on("error", () => socket.destroy());
    socket.once("close", () => clearTimeout(timer));
    socket.once("data", (bytes: Buffer) => {
      clearTimeout(timer);
      socket.pause();
      socket.unshift(bytes);
      this.route(socket, bytes[0]!, address);
    });
  }

  private route(socket: Socket, first: number, address: string): void {
    if (first === TLS_HANDSHAKE && !(socket instanceof TLSSocket)) {
      const secureContext = this.secureContext();
      // A client that wants TLS gets no answer that it would understand.
      if (secureContext === null) socket.destroy();
      else this.sniff(new TLSSocket(socket, { isServer: true, secureContext }));
    } else if (first === GET) {
      const timer = setTimeout(() => socket.destroy(), this.patienceMs).unref();
      this.unasked.set(socket, timer);
      socket.once("close", () => clearTimeout(timer));
      this.http.emit("connection", socket);
      socket.resume();
    } else this.speaks({ stream: socket, address });
  }

  private opened(socket: WebSocket, address: string): void {
    this.speaks({ stream: createWebSocketStream(socket), address });
  }

  close(): void {
    this.sockets.close();
    this.http.close();
  }
}

function addressOf(socket: Socket): string {
  return (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
}
