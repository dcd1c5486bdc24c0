/** A link between two processes that can be cut or made slow: a TCP proxy on loopback. */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { freePort } from "../../free-port.js";

/** Bytes of one direction, in order. */
class Lane {
  private readonly waiting: { readonly send: () => void; readonly dueMs: number }[] = [];

  constructor(private readonly link: Pick<LinkProxy, "isCut" | "delayMs">) {}

  carry(send: () => void): void {
    this.waiting.push({ send, dueMs: performance.now() + this.link.delayMs });
    if (this.link.delayMs > 0) setTimeout(() => this.move(), this.link.delayMs + 1);
    else this.move();
  }

  /** What is due leaves. */
  move(): void {
    while (!this.link.isCut && this.waiting.length > 0) {
      if (this.link.delayMs > 0 && this.waiting[0]!.dueMs > performance.now()) return;
      this.waiting.shift()!.send();
    }
  }
}

export class LinkProxy {
  /** Bytes stay where they are, in both directions; nobody is told. */
  isCut = false;
  /** For which bytes are under way, each way. */
  delayMs = 0;
  /** Pieces that have come, in both directions. */
  carried = 0;
  private readonly sockets = new Set<Socket>();
  private readonly lanes = new Set<Lane>();

  private constructor(
    private readonly server: Server,
    readonly address: string,
  ) {}

  static async start(target: string): Promise<LinkProxy> {
    const server = createServer();
    const port = await freePort();
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    const proxy = new LinkProxy(server, `127.0.0.1:${port}`);
    server.on("connection", (socket) => proxy.accept(socket, target));
    return proxy;
  }

  /** What was held up arrives, late. */
  heal(): void {
    this.isCut = false;
    this.delayMs = 0;
    for (const lane of this.lanes) lane.move();
  }

  private accept(from: Socket, target: string): void {
    const at = target.lastIndexOf(":");
    const to = connect({ host: target.slice(0, at), port: Number(target.slice(at + 1)) });
    this.pass(from, to);
    this.pass(to, from);
  }

  private pass(from: Socket, to: Socket): void {
    const lane = new Lane(this);
    this.lanes.add(lane);
    this.sockets.add(from);
    from.setNoDelay(true);
    from.on("error", () => undefined);
    from.on("data", (chunk) => {
      this.carried++;
      lane.carry(() => to.writable && to.write(chunk));
    });
    from.on("close", () => {
      this.sockets.delete(from);
      lane.carry(() => {
        to.destroy();
        this.lanes.delete(lane);
      });
    });
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}
