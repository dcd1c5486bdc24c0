/** The end of a connection that a test holds: what has arrived, and waits for more. */
import { connect, type Socket } from "node:net";

export class SocketReader {
  protected bytes = Buffer.alloc(0);
  private wake: (() => void) | null = null;
  isClosed = false;

  protected constructor(readonly socket: Socket) {
    socket.on("data", (piece: Buffer) => {
      this.bytes = Buffer.concat([this.bytes, piece]);
      this.wake?.();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.isClosed = true;
      this.wake?.();
    });
  }

  send(...bytes: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(bytes));
  }

  /** So many bytes; fewer where the connection ends. */
  async take(length: number): Promise<Buffer> {
    while (this.bytes.length < length && !this.isClosed) await this.more();
    const taken = this.bytes.subarray(0, length);
    this.bytes = this.bytes.subarray(taken.length);
    return taken;
  }

  /** Resolves when more has arrived, or the connection has ended. */
  protected more(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  /** Resolves when the server has closed the connection. */
  async closed(): Promise<void> {
    while (!this.isClosed) await this.more();
  }

  close(): void {
    this.socket.destroy();
  }
}

/** At a port of loopback, or a Unix socket by its path. */
export async function connected(to: number | string): Promise<Socket> {
  const socket = typeof to === "string" ? connect(to) : connect(to, "127.0.0.1");
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return socket;
}
