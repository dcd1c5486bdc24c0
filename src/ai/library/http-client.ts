/**
 * HTTP requests to the sources of models, and to where they redirect. A configured source may be anywhere. A redirect
 * must lead to another source or to a public address; the check is on the very address that is connected to. No
 * credential is ever sent. Made by the library; used by http-source.ts and hub-source.ts.
 */
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { isPrivateAddress, publicLookup } from "../../net/public-address.js";
import { SourceError } from "./source-error.js";

const REDIRECTS_MAX = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Statuses after which a later attempt may succeed. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const RETRY_AFTER_MS_MAX = 60_000;

export interface HttpRequest {
  readonly method: "GET" | "HEAD";
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Redirects to other origins are answered as they are. */
  readonly stayHome?: true;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** A header of the answer or of a redirect before it, if the origin that was asked first sent it. */
  fromHome(name: string): string | undefined;
  readonly body: IncomingMessage;
}

export interface HttpClientOptions {
  /** Origins (as in URL.origin) of the configured sources. */
  readonly origins: ReadonlySet<string>;
  /** Milliseconds without a byte after which a connection is given up. */
  readonly idleMs: number;
}

export class HttpClient {
  constructor(private readonly options: HttpClientOptions) {}

  /** Follows redirects. Rejects with SourceError, also when the answer is neither 2xx nor one of `expected`. */
  async request(url: URL, request: HttpRequest, expected: readonly number[] = []): Promise<HttpAnswer> {
    const atHome: IncomingHttpHeaders[] = [];
    let at = url;
    for (let hops = 0; hops <= REDIRECTS_MAX; hops++) {
      const body = await this.send(at, request);
      const { statusCode: status = 0, headers } = body;
      if (at.origin === url.origin) atHome.unshift(headers);
      const to = REDIRECTS.has(status) ? locationOf(headers, at) : null;
      if (to === null || (request.stayHome === true && to.origin !== at.origin)) {
        if (to === null && (status < 200 || status > 299) && !expected.includes(status)) {
          body.destroy();
          throw statusError(status, headers, at);
        }
        const fromHome = (name: string) => atHome.find((one) => one[name] !== undefined)?.[name]?.toString();
        return { status, headers, fromHome, body };
      }
      body.destroy();
      if (at.protocol === "https:" && to.protocol !== "https:") {
        throw new SourceError(`${shown(at)} redirects to ${shown(to)}, which is not encrypted`, false);
      }
      at = to;
    }
    throw new SourceError(`${shown(url)} redirects more than ${REDIRECTS_MAX} times`, false);
  }

  private send(url: URL, { method, headers, signal }: HttpRequest): Promise<IncomingMessage> {
    const anywhere = this.options.origins.has(url.origin);
    const host = url.hostname.replace(/^\[|\]$/g, "");
    if (!anywhere && isIP(host) !== 0 && isPrivateAddress(host)) throw notPublic(host);
    const { idleMs } = this.options;
    return new Promise((resolve, reject) => {
      const send = url.protocol === "https:" ? requestHttps : requestHttp;
      const request = send(url, {
        method,
        headers: { "user-agent": "tessera", accept: "*/*", "accept-encoding": "identity", ...headers },
        agent: false,
        signal,
        timeout: idleMs,
        ...(anywhere ? {} : { lookup: publicLookup(notPublic) }),
      });
      let answer: IncomingMessage | null = null;
      request.on("timeout", () => {
        const error = new SourceError(`${shown(url)} sent nothing for ${idleMs / 1000} s`, true);
        (answer ?? request).destroy(error);
      });
      request.on("error", (error) => reject(signal.aborted ? signal.reason : asSourceError(error, url)));
      request.on("response", (response) => {
        answer = response;
        // What nobody reads any more may still fail.
        response.on("error", () => undefined);
        const encoding = response.headers["content-encoding"];
        if (encoding === undefined || encoding === "identity") resolve(response);
        else {
          response.destroy();
          reject(new SourceError(`${shown(url)} sends its answer compressed (${encoding})`, false));
        }
      });
      request.end();
    });
  }
}

/** The bytes of a short answer. Throws SourceError when it is longer. */
export async function readShort({ body }: HttpAnswer, bytesMax: number, what: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > bytesMax) throw new SourceError(`${what} is longer than ${bytesMax} bytes`, false);
      pieces.push(piece);
    }
  } catch (error) {
    throw error instanceof SourceError
      ? error
      : new SourceError(`${what} broke off: ${(error as Error).message}`, true);
  }
  return Buffer.concat(pieces);
}

/** For messages: without what may be a signature. */
export function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** Null: no redirect after all. */
function locationOf({ location }: IncomingHttpHeaders, at: URL): URL | null {
  if (location === undefined) return null;
  const to = URL.canParse(location, at.href) ? new URL(location, at.href) : null;
  if (to !== null && (to.protocol === "http:" || to.protocol === "https:")) return to;
  throw new SourceError(`${shown(at)} redirects to an address that is not HTTP`, false);
}

function statusError(status: number, { "retry-after": after }: IncomingHttpHeaders, url: URL): SourceError {
  const seconds = after !== undefined && /^\d{1,6}$/.test(after) ? Number(after) : 0;
  const waitMs = Math.min(RETRY_AFTER_MS_MAX, seconds * 1000);
  return new SourceError(`${shown(url)} answered ${status}`, PASSING.has(status), waitMs);
}

function asSourceError(error: Error, url: URL): SourceError {
  return error instanceof SourceError ? error : new SourceError(`${shown(url)}: ${error.message}`, true);
}

function notPublic(host: string): SourceError {
  return new SourceError(
    `a redirect to ${host} is refused: it is no configured source and its address is private`,
    false,
  );
}
