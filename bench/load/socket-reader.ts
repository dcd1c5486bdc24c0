/**
 * A WebSocket that costs little: what it is sent is counted and handed on as bytes. For benches that open thousands.
 */
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";

export class SocketReader {
  bytes = 0;
  messages = 0;
  onMessage: ((payload: Buffer, isBinary: boolean) => void) | null = null;
  private rest: Buffer = Buffer.alloc(0);

  private constructor(private readonly socket: Socket) {}

  static open(url: string, token: string, protocol = ""): Promise<SocketReader> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    const headers = [
      `Host: ${host}`,
      "Upgrade: websocket",
      "Connection: Upgrade",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
      `Authorization: Bearer ${token}`,
      ...(protocol === "" ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
    ];
    socket.write(`GET /v1/ws HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
    return new Promise((resolve, reject) => {
      const onHead = (data: Buffer): void => {
        const end = data.indexOf("\r\n\r\n");
        if (end === -1 || !data.toString("latin1", 0, 12).endsWith("101")) {
          reject(new Error(data.toString("latin1", 0, 200)));
          return;
        }
        socket.off("data", onHead);
        const reader = new SocketReader(socket);
        socket.on("data", (more: Buffer) => reader.received(more));
        if (data.length > end + 4) reader.received(data.subarray(end + 4));
        resolve(reader);
      };
      socket.on("data", onHead);
      socket.on("error", reject);
    });
  }

  send(message: object): void {
    const payload = Buffer.from(JSON.stringify(message));
    const head = payload.length < 126 ? Buffer.alloc(6) : Buffer.alloc(8);
    head[0] = 0x81;
    if (payload.length < 126) head[1] = 0x80 | payload.length;
    else {
      head[1] = 0x80 | 126;
      head.writeUInt16BE(payload.length, 2);
    }
    // A mask of zeros leaves the bytes as they are.
    this.socket.write(Buffer.concat([head, payload]));
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  destroy(): void {
    this.socket.destroy();
  }

  private received(data: Buffer): void {
    this.bytes += data.length;
    const buffer = this.rest.length === 0 ? data : Buffer.concat([this.rest, data]);
    let at = 0;
    while (buffer.length - at >= 2) {
      const short = buffer[at + 1]! & 0x7f;
      const start = at + (short < 126 ? 2 : short === 126 ? 4 : 10);
      if (buffer.length < start) break;
      const size =
        short < 126 ? short : short === 126 ? buffer.readUInt16BE(at + 2) : Number(buffer.readBigUInt64BE(at + 2));
      if (buffer.length < start + size) break;
      const opcode = buffer[at]! & 0x0f;
      if (opcode === 1 || opcode === 2) {
        this.messages++;
        this.onMessage?.(buffer.subarray(start, start + size), opcode === 2);
      }
      at = start + size;
    }
    this.rest = at === buffer.length ? Buffer.alloc(0) : Buffer.from(buffer.subarray(at));
  }
}
