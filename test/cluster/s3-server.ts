/**
 * A server that speaks the part of S3 that checkpoints need, for tests: it keeps objects in memory, checks each
 * request's signature (Signature Version 4) and the digest of what is put, and lists few objects at a time.
 */
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { S3Access } from "../../src/protocol/messages.js";

const LIST_MAX = 2;
const BUCKET = "backups";

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const sha256 = (bytes: string | Buffer): string => createHash("sha256").update(bytes).digest("hex");

export class S3Server {
  readonly objects = new Map<string, Buffer>();
  /** Of the next requests; they are not done. */
  readonly failures: number[] = [];
  requests = 0;
  /** It takes requests and never answers. */
  isSilent = false;

  private constructor(
    private readonly server: Server,
    readonly access: S3Access,
  ) {
    server.on("request", (request, response) => void this.heard(request, response));
  }

  static async start(): Promise<S3Server> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return new S3Server(server, { endpoint, region: "eu-test-1", accessKeyId: "AKID", secretAccessKey: "hidden" });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  private async heard(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    this.requests++;
    if (this.isSilent) return;
    const url = new URL(request.url!, this.access.endpoint);
    const failure = this.failures.shift();
    const [status, answer] =
      failure !== undefined
        ? [failure, errorOf("SlowDown")]
        : this.answer(request, url, decodeURIComponent(url.pathname), body);
    response.writeHead(status, { "content-length": answer.length }).end(answer);
  }

  private answer(request: IncomingMessage, url: URL, path: string, body: Buffer): [number, Buffer] {
    if (request.headers.authorization !== this.signature(request, url)) return [403, errorOf("SignatureDoesNotMatch")];
    if (sha256(body) !== request.headers["x-amz-content-sha256"]) return [400, errorOf("XAmzContentSHA256Mismatch")];
    const [, bucket, ...rest] = path.split("/");
    const name = rest.join("/");
    if (bucket !== BUCKET) return [404, errorOf("NoSuchBucket")];
    if (name === "") return [200, this.list(url.searchParams)];
    const found = this.objects.get(name);
    if (request.method === "PUT") this.objects.set(name, body);
    else if (request.method === "DELETE") this.objects.delete(name);
    else return found === undefined ? [404, errorOf("NoSuchKey")] : [200, found];
    return [request.method === "PUT" ? 200 : 204, Buffer.alloc(0)];
  }

  private list(query: URLSearchParams): Buffer {
    const after = query.get("continuation-token") ?? "";
    const names = [...this.objects.keys()]
      .filter((name) => name.startsWith(query.get("prefix")!) && name > after)
      .sort();
    const shown = names.slice(0, LIST_MAX);
    const more = names.length > LIST_MAX ? `<NextContinuationToken>${shown.at(-1)}</NextContinuationToken>` : "";
    const keys = shown.map((name) => `<Contents><Key>${name}</Key><Size>1</Size></Contents>`).join("");
    return Buffer.from(`<ListBucketResult><IsTruncated>${more !== ""}</IsTruncated>${keys}${more}</ListBucketResult>`);
  }

  /** As the client should have made it. */
  private signature({ method, headers, url: path }: IncomingMessage, url: URL): string {
    const { region, accessKeyId, secretAccessKey } = this.access;
    const given = headers.authorization ?? "";
    const signed = /SignedHeaders=([^,]+)/.exec(given)?.[1] ?? "";
    const time = String(headers["x-amz-date"]);
    const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
    const encode = (text: string): string =>
      encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
    const query = [...url.searchParams].map(([key, value]) => `${encode(key)}=${encode(value)}`).sort();
    const lines = signed.split(";").map((name) => `${name}:${String(headers[name]).trim()}\n`);
    const canonical = [
      method,
      path!.split("?")[0],
      query.join("&"),
      lines.join(""),
      signed,
      headers["x-amz-content-sha256"],
    ];
    const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical.join("\n"))].join("\n");
    const key = scope
      .split("/")
      .reduce<Buffer | string>((before, part) => hmac(before, part), `AWS4${secretAccessKey}`);
    const signature = hmac(key as Buffer, text).toString("hex");
    return `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
  }
}

function errorOf(code: string): Buffer {
  return Buffer.from(`<Error><Code>${code}</Code></Error>`);
}
