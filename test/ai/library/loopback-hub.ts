/** A server of models on loopback that does what a test wants with each answer. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";

export interface Hub {
  readonly url: string;
  /** "METHOD path" and "METHOD path bytes=…", in their order. */
  readonly requests: string[];
  /** Content by path. */
  readonly contents: Map<string, Buffer>;
  /** Answers in place of the usual one, by path; returns true when it did. */
  readonly misbehave: Map<string, (request: IncomingMessage, response: ServerResponse, content: Buffer) => boolean>;
  /** Further headers, by path. */
  readonly headers: Map<string, Readonly<Record<string, string>>>;
}

export async function loopbackHub(t: Test): Promise<Hub> {
  const hub: Hub = { url: "", requests: [], contents: new Map(), misbehave: new Map(), headers: new Map() };
  const server = createServer((request, response) => {
    const path = request.url!;
    const { range } = request.headers;
    hub.requests.push(`${request.method} ${path}${range === undefined ? "" : ` ${range}`}`);
    const content = hub.contents.get(path);
    if (hub.misbehave.get(path)?.(request, response, content ?? Buffer.alloc(0)) === true) return;
    if (content === undefined) {
      response.writeHead(404).end("not here");
      return;
    }
    give(request, response, content, hub.headers.get(path) ?? {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { ...hub, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** As a good server does, parts included. */
export function give(
  request: IncomingMessage,
  response: ServerResponse,
  content: Buffer,
  headers: Readonly<Record<string, string>> = {},
): void {
  const from = /^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1];
  const isSame = request.headers["if-range"] === undefined || request.headers["if-range"] === headers.etag;
  if (from === undefined || !isSame) {
    response.writeHead(200, { "content-length": content.length, ...headers });
    response.end(request.method === "HEAD" ? undefined : content);
    return;
  }
  if (Number(from) >= content.length) {
    response.writeHead(416, { "content-range": `bytes */${content.length}` }).end();
    return;
  }
  const part = content.subarray(Number(from));
  const range = `bytes ${from}-${content.length - 1}/${content.length}`;
  response.writeHead(206, { "content-length": part.length, "content-range": range, ...headers }).end(part);
}
