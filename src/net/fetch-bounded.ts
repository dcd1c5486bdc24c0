/**
 * One request to an address that somebody else has named (an image's, a recipe's, a webhook's): only by allowed
 * schemes, to allowed hosts and public addresses, within bounds of time and bytes. The connection is made to the very
 * address that was checked, and each redirect is checked like the first address. Used by handlers and background jobs;
 * each call owns its connections and closes them.
 */
import type { Agent, Dispatcher } from "undici";
import { DbError } from "../protocol/errors.js";
import { FETCH_REDIRECTS_MAX } from "../protocol/limits.js";
import { isPrivateUrl, publicLookup, type Resolve } from "./public-address.js";

export interface FetchRules {
  /** Without colon: "https", "http". */
  readonly schemes: readonly string[];
  /** Names: itself ("example.com"), all below it ("*.example.com"), or all there are ("*"). */
  readonly hostsAllowed: readonly string[];
  /** True: any address; names as in `hostsAllowed`: these hosts may have private ones. */
  readonly privateAllowed: boolean | readonly string[];
  readonly bytesMax: number;
  /** Milliseconds for all of it, redirects and body included. */
  readonly timeoutMs: number;
  /** Media types that the answer may have ("image/png", "image/*"); none named: any. */
  readonly types?: readonly string[];
}

export interface FetchRequest extends FetchRules {
  /** What the address is called in messages, as in "image_url: …". */
  readonly field: string;
  /** GET, unless it says otherwise. What is not a GET follows no redirects. */
  readonly method?: "GET" | "POST";
  /** Also answers that are no 2xx are given, such as errors of OAuth; otherwise they are thrown. */
  readonly takesErrors?: boolean;
  /** Sent to the first origin only, not to where it redirects. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal;
  /** Instead of the system's names; for tests. */
  readonly resolve?: Resolve;
}

export interface Fetched {
  /** 2xx, unless the request `takesErrors`. */
  readonly status: number;
  /** In lower case, without parameters; "" when the answer names none. */
  readonly type: string;
  readonly bytes: Buffer;
  /** Where it was at last. */
  readonly url: string;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Statuses after which a later attempt may succeed. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * Throws DbError: `invalid_request` for an address that the rules do not allow or whose answer breaks them (also a 4xx
 * from there), `fetch_failed` where a later attempt may succeed (no connection, time, 5xx). A fired `signal` throws its
 * reason.
 */
export async function fetchBounded(address: string, request: FetchRequest): Promise<Fetched> {
  const time = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal === undefined ? time : AbortSignal.any([time, request.signal]);
  try {
    return await follow(parse(address, request), request, signal);
  } catch (error) {
    if (error instanceof DbError) throw error;
    if (request.signal?.aborted === true) throw request.signal.reason;
    if (time.aborted) throw failed(request, `did not answer within ${request.timeoutMs / 1000} s`);
    throw failed(request, `cannot be reached (${(error as { code?: string }).code ?? (error as Error).message})`);
  }
}

async function follow(first: URL, request: FetchRequest, signal: AbortSignal): Promise<Fetched> {
  let at = first;
  for (let hops = 0; hops <= FETCH_REDIRECTS_MAX; hops++) {
    check(at, request);
    const agent = await agentFor(at, request);
    try {
      const response = await agent.request({
        origin: at.origin,
        path: `${at.pathname}${at.search}`,
        method: request.method ?? "GET",
        headers: {
          "user-agent": "tessera",
          accept: request.types?.join(", ") ?? "*/*",
          "accept-encoding": "identity",
          ...(at.origin === first.origin ? request.headers : {}),
        },
        body: request.body ?? null,
        signal,
      });
      const to = redirectOf(response, at, request);
      if (to === null) return await take(response, at, request);
      at = to;
    } finally {
      await agent.destroy();
    }
  }
  throw refused(request, `redirects more than ${FETCH_REDIRECTS_MAX} times`);
}

function parse(address: string, request: FetchRequest): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null) throw refused(request, "is no address; expected one such as https://example.com/file");
  return url;
}

/** Throws for an address that may not be asked. */
function check(url: URL, request: FetchRequest): void {
  const scheme = url.protocol.slice(0, -1);
  if (!request.schemes.includes(scheme)) {
    throw refused(request, `${scheme}: is not allowed here; allowed: ${request.schemes.join(", ") || "none"}`);
  }
  if (url.username !== "" || url.password !== "") throw refused(request, "an address with a user is not allowed");
  if (!isNamed(url, request.hostsAllowed)) throw refused(request, `the host ${url.hostname} is not allowed here`);
  if (!mayBePrivate(url, request) && isPrivateUrl(url)) throw privateError(request);
}

function isNamed({ hostname }: URL, names: readonly string[]): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, "");
  return names.some((name) => {
    const lower = name.toLowerCase();
    return lower === "*" || lower === host || (lower.startsWith("*.") && host.endsWith(lower.slice(1)));
  });
}

function mayBePrivate(url: URL, { privateAllowed }: FetchRequest): boolean {
  return typeof privateAllowed === "boolean" ? privateAllowed : isNamed(url, privateAllowed);
}

/** The package is large, and most servers fetch nothing. */
async function agentFor(url: URL, request: FetchRequest): Promise<Agent> {
  const { Agent } = await import("undici");
  const lookup = publicLookup(() => privateError(request), request.resolve);
  const connect = { timeout: request.timeoutMs, ...(mayBePrivate(url, request) ? {} : { lookup }) };
  // The signal bounds the time of all of it.
  return new Agent({ connect, headersTimeout: 0, bodyTimeout: 0 });
}

/** Null: the answer is the last one. */
function redirectOf(response: Dispatcher.ResponseData, at: URL, request: FetchRequest): URL | null {
  const { location } = response.headers;
  if (!REDIRECTS.has(response.statusCode) || location === undefined) return null;
  if ((request.method ?? "GET") !== "GET") throw refused(request, "redirects, which only a GET may follow");
  const text = String(location);
  if (!URL.canParse(text, at.href)) throw refused(request, "redirects to what is no address");
  const to = new URL(text, at.href);
  if (at.protocol === "https:" && to.protocol !== "https:")
    throw refused(request, "redirects to what is not encrypted");
  return to;
}

async function take(response: Dispatcher.ResponseData, at: URL, request: FetchRequest): Promise<Fetched> {
  const { statusCode: status, headers } = response;
  const isTaken = request.takesErrors === true && status >= 400 && status < 500 && !PASSING.has(status);
  if (status >= 500 || PASSING.has(status)) throw failed(request, `answered ${status}`);
  if (!isTaken && (status < 200 || status > 299)) throw refused(request, `answered ${status}`);
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") throw refused(request, "sends its answer compressed");
  const type = String(headers["content-type"] ?? "")
    .split(";")[0]!
    .trim()
    .toLowerCase();
  const { types, bytesMax } = request;
  if (
    types !== undefined &&
    !types.some((one) => one === type || (one.endsWith("/*") && type.startsWith(one.slice(0, -1))))
  ) {
    throw refused(request, `is ${type || "of no media type"}, and must be ${types.join(", ")}`);
  }
  const tooLong = () => refused(request, `is larger than ${bytesMax} bytes`);
  if (Number(headers["content-length"] ?? 0) > bytesMax) throw tooLong();
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response.body as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > bytesMax) throw tooLong();
    pieces.push(piece);
  }
  return { status, type, bytes: Buffer.concat(pieces), url: at.href };
}

function refused({ field }: FetchRequest, what: string): DbError {
  return new DbError("invalid_request", `${field}: ${what}`, { field });
}

function failed({ field }: FetchRequest, what: string): DbError {
  return new DbError("fetch_failed", `${field}: ${what}`, { field });
}

function privateError(request: FetchRequest): DbError {
  return refused(request, "the address is private or loopback, which is not allowed here");
}
