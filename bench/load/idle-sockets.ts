/**
 * Opens WebSocket connections and keeps them idle: `node idle-sockets.js '<IdleSockets as JSON>'`. Prints "open" when
 * all are there; ends with code 1 when one is refused or closed. Pings are answered.
 */
import http from "node:http";
import type { Duplex } from "node:stream";

export interface IdleSockets {
  readonly url: string;
  readonly token: string;
  readonly count: number;
}

/** RFC 6455, 5.5: control frames with FIN set. A client masks what it sends; a mask of zeros changes nothing. */
const PING = 0x89;
const PONG = 0x8a;
const MASKED = 0x80;

const OPENED_AT_ONCE = 50;

function open({ url, token }: IdleSockets): Promise<Duplex> {
  const headers = {
    authorization: `Bearer ${token}`,
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": Buffer.from("0123456789abcdef").toString("base64"),
  };
  return new Promise((resolve, reject) => {
    const request = http.get(url, { headers, agent: false });
    request.on("upgrade", (_response, socket) => resolve(socket));
    request.on("response", ({ statusCode }) => reject(new Error(`${url} answered ${statusCode}`)));
    request.on("error", reject);
  });
}

function keep(socket: Duplex): void {
  socket.on("data", (data: Buffer) => {
    if (data[0] !== PING) return;
    const length = data[1]! & 0x7f;
    const payload = data.subarray(2, 2 + length);
    socket.write(Buffer.concat([Buffer.from([PONG, MASKED | length, 0, 0, 0, 0]), payload]));
  });
  const ended = (): never => process.exit(1);
  socket.on("close", ended);
  socket.on("error", ended);
}

const argument = JSON.parse(process.argv[2]!) as IdleSockets;
for (let opened = 0; opened < argument.count; opened += OPENED_AT_ONCE) {
  const length = Math.min(OPENED_AT_ONCE, argument.count - opened);
  for (const socket of await Promise.all(Array.from({ length }, () => open(argument)))) keep(socket);
}
console.log("open");
