/**
 * A workload's requests, made once and as the bytes that go over the wire, so that wrk (replay.lua) and our client
 * (client.ts) send the same ones and spend nothing on making them. Requests are sent in the order of the file, round
 * and round. Keys that must be new each time are put in while sending: all have nine digits, so lengths stay what they
 * are.
 *
 * The file: one line per request with the number of its pieces, then per piece a line "MARK LENGTH" and its bytes; MARK
 * says what goes before the piece: "-" nothing, "n" the next key, "s" the same key again.
 */
import { writeFileSync } from "node:fs";

export interface Request {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes are sent as they are; a text may have `NEXT_KEY` and `SAME_KEY` in it. */
  readonly body: string | Uint8Array;
}

/** As long as the keys that take their place. */
export const NEXT_KEY = "<nextKey>";
export const SAME_KEY = "<sameKey>";

export const FIRST_KEY = 100_000_000;
export const LAST_KEY = 999_999_999;

const MARKS = { [NEXT_KEY]: "n", [SAME_KEY]: "s" } as const;

export function jsonRequest(path: string, token: string, body: string): Request {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return { method: "POST", path, headers, body };
}

/** With `keepAlive` false each request asks the server to close the connection after it. */
export function writeRequests(file: string, url: string, requests: readonly Request[], keepAlive: boolean): void {
  const parts: Buffer[] = [];
  for (const request of requests) {
    const body = Buffer.from(request.body as string);
    const headers = { host: new URL(url).host, ...request.headers, ...(keepAlive ? {} : { connection: "close" }) };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    if (request.method === "POST") lines.push(`content-length: ${body.length}\r\n`);
    const head = `${request.method} ${request.path} HTTP/1.1\r\n${lines.join("")}\r\n`;
    const pieces =
      typeof request.body === "string"
        ? piecesOf(head + request.body)
        : [["-", Buffer.concat([Buffer.from(head), body])]];
    parts.push(Buffer.from(`${pieces.length}\n`));
    for (const [mark, bytes] of pieces as [string, Buffer][])
      parts.push(Buffer.from(`${mark} ${bytes.length}\n`), bytes);
  }
  writeFileSync(file, Buffer.concat(parts));
}

/** Pieces with the mark before each; the first has none. */
function piecesOf(text: string): [string, Buffer][] {
  const split = text.split(/(<nextKey>|<sameKey>)/);
  const pieces: [string, Buffer][] = [["-", Buffer.from(split[0]!)]];
  for (let i = 1; i < split.length; i += 2) {
    pieces.push([MARKS[split[i] as keyof typeof MARKS], Buffer.from(split[i + 1]!)]);
  }
  return pieces;
}

/** The pieces of a request; one of them is the whole of it when it has no keys. */
export type PreparedRequest = readonly { readonly mark: string; readonly bytes: Buffer }[];

/** Reads such a file. */
export function parseRequests(file: Buffer): PreparedRequest[] {
  const requests: PreparedRequest[] = [];
  let at = 0;
  const line = (): string => {
    const end = file.indexOf(10, at);
    const text = file.toString("latin1", at, end);
    at = end + 1;
    return text;
  };
  while (at < file.length) {
    const count = Number(line());
    const pieces = Array.from({ length: count }, () => {
      const [mark, length] = line().split(" ") as [string, string];
      const bytes = file.subarray(at, at + Number(length));
      at += bytes.length;
      return { mark, bytes };
    });
    requests.push(pieces);
  }
  return requests;
}
