/** A WebSocket client (RFC 6455) for tests: it can stop reading, and shows pings and close codes as they come. */
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { unpack } from "msgpackr";

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect; a wrong shape fails the test.
type Message = any;

const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

export class SocketClient {
  /** Everything received that nobody has taken yet. */
  readonly messages: Message[] = [];
  pings = 0;
  pongs = 0;
  closed: { code: number; reason: string } | null = null;
  /** Told when something has arrived or the connection has ended. */
  private wake: (() => void) | null = null;
  private bytes: Buffer[] = [];
  private length = 0;

  private constructor(private readonly socket: Socket) {}

  /** Rejects with the status line when the upgrade is refused. */
  static open(url: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<SocketClient> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    const lines = Object.entries({
      host,
      upgrade: "websocket",
      connection: "Upgrade",
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
    return new Promise((resolve, reject) => {
      let head = Buffer.alloc(0);
      const onData = (data: Buffer): void => {
        head = Buffer.concat([head, data]);
        const end = head.indexOf("\r\n\r\n");
        if (end === -1) return;
        socket.off("data", onData);
        const status = head.toString("latin1", 0, head.indexOf("\r\n"));
        if (!status.startsWith("HTTP/1.1 101")) {
          socket.destroy();
          reject(new Error(status));
          return;
        }
        const client = new SocketClient(socket);
        socket.on("data", (more: Buffer) => client.received(more));
        let why = "no close frame came";
        socket.on("error", (error) => {
          why = error.message;
        });
        socket.on("close", () => client.ended(1006, why));
        if (head.length > end + 4) client.received(head.subarray(end + 4));
        resolve(client);
      };
      socket.on("data", onData);
      socket.on("error", reject);
      socket.on("close", () => reject(new Error("the connection was closed before an answer")));
    });
  }

  send(message: object | string): void {
    this.frame(TEXT, Buffer.from(typeof message === "string" ? message : JSON.stringify(message)));
  }

  sendBinary(bytes: Uint8Array): void {
    this.frame(BINARY, bytes);
  }

  ping(): void {
    this.frame(PING, Buffer.from("hello"));
  }

  /** Nothing more is read from the network until `resume`. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** Drops the connection without a word. */
  destroy(): void {
    this.socket.destroy();
  }

  /** The next message. */
  async next(): Promise<Message> {
    while (this.messages.length === 0) {
      if (this.closed !== null) throw new Error(`closed with ${this.closed.code} ${this.closed.reason}`);
      await this.something();
    }
    return this.messages.shift();
  }

  /** The messages up to and including the first of that type or an error. */
  async until(type: string): Promise<Message[]> {
    const all: Message[] = [];
    do all.push(await this.next());
    while (all.at(-1).type !== type && all.at(-1).type !== "error");
    return all;
  }

  /** Resolves with the close code and its reason; 1006 when there was none. */
  async close(): Promise<{ code: number; reason: string }> {
    while (this.closed === null) await this.something();
    return this.closed;
  }

  private something(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  private frame(opcode: number, payload: Uint8Array): void {
    const mask = randomBytes(4);
    const masked = Buffer.from(payload);
    for (let i = 0; i < masked.length; i++) masked[i]! ^= mask[i % 4]!;
    const head = payload.length < 126 ? Buffer.alloc(2) : Buffer.alloc(payload.length < 65536 ? 4 : 10);
    head[0] = 0x80 | opcode;
    if (head.length === 2) head[1] = 0x80 | payload.length;
    else if (head.length === 4) {
      head[1] = 0x80 | 126;
      head.writeUInt16BE(payload.length, 2);
    } else {
      head[1] = 0x80 | 127;
      head.writeBigUInt64BE(BigInt(payload.length), 2);
    }
    this.socket.write(Buffer.concat([head, mask, masked]));
  }

  private received(data: Buffer): void {
    this.bytes.push(data);
    this.length += data.length;
    let buffer = Buffer.concat(this.bytes);
    while (buffer.length >= 2) {
      const short = buffer[1]! & 0x7f;
      const start = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (buffer.length < start) break;
      const size = short < 126 ? short : short === 126 ? buffer.readUInt16BE(2) : Number(buffer.readBigUInt64BE(2));
      if (buffer.length < start + size) break;
      this.arrived(buffer[0]! & 0x0f, buffer.subarray(start, start + size));
      buffer = buffer.subarray(start + size);
    }
    this.bytes = [buffer];
    this.length = buffer.length;
  }

  private arrived(opcode: number, payload: Buffer): void {
    if (opcode === TEXT) this.messages.push(JSON.parse(payload.toString()));
    else if (opcode === BINARY) this.messages.push(unpack(payload));
    else if (opcode === PONG) this.pongs++;
    else if (opcode === PING) {
      this.pings++;
      this.frame(PONG, payload);
    } else if (opcode === CLOSE) {
      this.ended(payload.length < 2 ? 1005 : payload.readUInt16BE(0), payload.toString("utf8", 2));
      this.socket.end();
    }
    this.wake?.();
  }

  private ended(code: number, reason: string): void {
    this.closed ??= { code, reason };
    this.wake?.();
  }
}
