/** A proxy on loopback that can cut its connections, so that a client sees a network that breaks. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export class CuttingProxy {
  private readonly sockets = new Set<Socket>();
  /** The next connections of clients are cut when so many bytes of answers have passed; null: never. */
  cutAfter: number | null = null;
  /** Connections that were cut. */
  cuts = 0;

  private constructor(
    private readonly server: Server,
    private target: URL,
  ) {}

  static async start(target: string): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server, new URL(target));
    server.on("connection", (socket) => proxy.forward(socket));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Further connections go there. */
  retarget(url: string): void {
    this.target = new URL(url);
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.sockets) {
      this.cuts++;
      socket.destroy();
    }
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private forward(client: Socket): void {
    const server = connect(Number(this.target.port), this.target.hostname);
    this.sockets.add(client);
    let passed = 0;
    const end = (): void => {
      this.sockets.delete(client);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      socket.on("error", end);
      socket.on("close", end);
    }
    client.on("data", (data) => server.write(data));
    server.on("data", (data) => {
      passed += data.length;
      if (this.cutAfter !== null && passed > this.cutAfter) {
        this.cuts++;
        this.cutAfter = null;
        end();
      } else client.write(data);
    });
  }
}
