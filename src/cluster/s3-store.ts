/**
 * A bucket of S3, or of a store that speaks its protocol: put, get, list and delete, with addresses that name the
 * bucket in their path. aws4fetch signs (Signature Version 4). Each put names the SHA-256 of its bytes, so the store
 * refuses what was changed on its way.
 */
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { request } from "undici";
import { DbError } from "../protocol/errors.js";
import type { S3Access } from "../protocol/messages.js";
import type { ObjectStore, StoredFile } from "./object-store.js";

const TRIES = 4;
const PAUSE_MS = 250;
/** Without any byte. Who asks tries again by itself, and what waits for it goes on meanwhile. */
const SILENT_MS_MAX = 30_000;
const SILENT = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);
/** Of an answer that is a text. */
const TEXT_BYTES_MAX = 16 * 1024 * 1024;
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

type Response = Awaited<ReturnType<typeof request>>;

interface Ask {
  readonly method: "GET" | "PUT" | "DELETE";
  /** Of an object; empty: of the bucket. */
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: { readonly bytes: Buffer; readonly digest: string };
  readonly signal?: AbortSignal;
}

export class S3Store implements ObjectStore {
  private readonly bucket: string;
  private readonly prefix: string;

  /** `place`: s3://bucket/prefix. */
  constructor(
    place: string,
    private readonly access: S3Access,
    private readonly silentMsMax = SILENT_MS_MAX,
  ) {
    const [bucket, ...path] = place
      .slice("s3://".length)
      .split("/")
      .filter((part) => part !== "");
    this.bucket = bucket!;
    this.prefix = path.map((part) => `${part}/`).join("");
  }

  async put(name: string, { path, digest }: StoredFile): Promise<void> {
    const bytes = await readFile(path);
    await this.ask({ method: "PUT", name: this.prefix + name, body: { bytes, digest } }, drain);
  }

  async get(name: string, path: string, signal: AbortSignal): Promise<void> {
    const save = ({ body }: Response): Promise<void> =>
      pipeline(body, createWriteStream(path, { mode: 0o600 }), { signal });
    await this.ask({ method: "GET", name: this.prefix + name, signal }, save);
  }

  async list(prefix: string): Promise<readonly string[]> {
    const found: string[] = [];
    for (let token: string | null = ""; token !== null; ) {
      const query = {
        "list-type": "2",
        prefix: this.prefix + prefix,
        ...(token !== "" && { "continuation-token": token }),
      };
      const xml: string = await this.ask({ method: "GET", name: "", query }, textOf);
      for (const [, key] of xml.matchAll(/<Key>([^<]*)<\/Key>/g)) found.push(plain(key!).slice(this.prefix.length));
      const isTruncated = /<IsTruncated>\s*true\s*<\/IsTruncated>/.test(xml);
      token = isTruncated ? plain(/<NextContinuationToken>([^<]*)</.exec(xml)?.[1] ?? "") || null : null;
    }
    return found;
  }

  async delete(name: string): Promise<void> {
    await this.ask({ method: "DELETE", name: this.prefix + name }, drain);
  }

  /**
   * Again where the store is overloaded, or the connection breaks: each of these requests may be made twice. Not where
   * the store is silent: that took long already.
   */
  private async ask<T>(ask: Ask, take: (response: Response) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.askOnce(ask, take);
      } catch (error) {
        ask.signal?.throwIfAborted();
        const isSilent = SILENT.has((error as NodeJS.ErrnoException).code ?? "");
        if (error instanceof DbError || isSilent || tries === TRIES) throw asStoreError(error, ask);
      }
      await sleep(PAUSE_MS * 2 ** (tries - 1), undefined, { signal: ask.signal });
    }
  }

  private async askOnce<T>(ask: Ask, take: (response: Response) => Promise<T>): Promise<T> {
    const { method, name, query = {}, body, signal } = ask;
    const { endpoint, region, accessKeyId, secretAccessKey, sessionToken } = this.access;
    const url = new URL(`${endpoint}/${this.bucket}${name === "" ? "" : `/${name}`}`);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const signer = new AwsV4Signer({
      ...{ method, url: url.href, accessKeyId, secretAccessKey, sessionToken, region, service: "s3" },
      headers: { "x-amz-content-sha256": body?.digest ?? EMPTY },
    });
    const signed = await signer.sign();
    const response = await request(signed.url.href, {
      ...{ method, headers: Object.fromEntries(signed.headers), body: body?.bytes ?? null, signal },
      ...{ headersTimeout: this.silentMsMax, bodyTimeout: this.silentMsMax },
    });
    const { statusCode } = response;
    if (statusCode < 300) return take(response);
    const code = /<Code>([^<]*)</.exec(await textOf(response))?.[1] ?? "";
    const said = `${statusCode}${code === "" ? "" : ` ${code}`}`;
    // It may do better when it is asked again.
    if (statusCode >= 500 || statusCode === 429 || statusCode === 408 || code === "SlowDown") throw new Error(said);
    if (statusCode === 404 && code !== "NoSuchBucket")
      throw new DbError("not_found", `${url.pathname} does not exist.`);
    throw storeError(url.pathname, said);
  }
}

const drain = ({ body }: Response): Promise<void> => body.dump();

async function textOf({ body }: Response): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > TEXT_BYTES_MAX) throw new Error(`an answer of more than ${TEXT_BYTES_MAX} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

/** Names here have none of these; what a store makes up may. */
function plain(xml: string): string {
  return xml.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
}

function storeError(what: string, said: string): DbError {
  return new DbError("partition_unavailable", `The store of checkpoints answered ${said} for ${what}.`);
}

function asStoreError(error: unknown, { name }: Ask): unknown {
  if (error instanceof DbError) return error;
  return storeError(name, error instanceof Error ? error.message : String(error));
}
