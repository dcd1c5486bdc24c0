/**
 * Requests over HTTP: the credential, repetitions, cancellation, and errors as classes. One per client; it keeps no
 * state but the credential's.
 *
 * A request is repeated when the server asks for it (429 and 503 with a short Retry-After), and after a broken
 * connection only if it cannot do its work twice: because it only reads, or because it has an Idempotency-Key.
 */
import { backoffMs, pause } from "./backoff.js";
import { ConnectionError, errorOf, TesseraError, TimeoutError } from "./errors.js";
import type { CallOptions, ConnectOptions } from "./options.js";
import { SignIn } from "./sign-in.js";

/** A method of HTTP. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One request. */
export interface Sent extends CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** A body that goes as it is, in place of `body`; `headers` says its type. */
  readonly content?: Blob | string;
  /** "": the request goes without one. */
  readonly idempotencyKey?: string | undefined;
  /** It changes nothing, whatever its method. */
  readonly reads?: boolean;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const ATTEMPTS = 5;
const TIMEOUT_MS = 120_000;
const FIRST_WAIT_MS = 100;
const MOST_WAIT_MS = 5_000;
/** Who is told to come back later than that, such as the next day, learns why. */
const RETRY_AFTER_MAX_MS = 30_000;

export class Transport {
  readonly signIn: SignIn;
  /** The server's address, without a slash at its end. */
  readonly base: string;
  /** Of the tenant; "": the tenant itself. */
  readonly branch: string;
  private readonly fetch: typeof fetch;
  private readonly attempts: number;
  private readonly timeoutMs: number;
  /** Requests that take too long are ended at the server, too. */
  private readonly stopsLate: boolean;

  constructor(options: ConnectOptions) {
    this.base = options.url.replace(/\/+$/, "");
    this.branch = options.branch ?? "";
    this.fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.attempts = options.attempts ?? ATTEMPTS;
    this.timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.stopsLate = options.timeoutMs !== undefined;
    this.signIn = new SignIn(options, (path, body) => {
      const sent = { body, idempotencyKey: newKey() };
      const nobody = () => Promise.resolve(null);
      return this.within(undefined, async (signal) =>
        payloadOf(await this.repeated("POST", path, sent, nobody, signal)),
      );
    });
  }

  /** The payload of the answer: what stands in its envelope, or all of it where there is none. */
  async ask<T>(method: Method, path: string, sent: Sent = {}): Promise<T> {
    return this.within(sent.signal, async (signal) => {
      return (await payloadOf(await this.open(method, path, { ...sent, signal }))) as T;
    });
  }

  /** An answer whose body is read as it comes. Its errors are thrown. */
  open(method: Method, path: string, sent: Sent): Promise<Response> {
    return this.repeated(method, path, sent, () => this.signIn.header(), sent.signal);
  }

  /** Does the work, and gives it up when it has taken too long. */
  private within<T>(given: AbortSignal | undefined, work: (signal: AbortSignal | undefined) => Promise<T>): Promise<T> {
    return given === undefined && !this.stopsLate ? this.watched(work) : this.stoppable(given, work);
  }

  /** Without a signal: with one, a fetch takes an eighth longer. */
  private watched<T>(work: (signal: undefined) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(tooLate(this.timeoutMs)), this.timeoutMs);
      work(undefined).then(
        (done) => {
          clearTimeout(timer);
          resolve(done);
        },
        (error: unknown) => {
          clearTimeout(timer);
          reject(failureOf(error));
        },
      );
    });
  }

  /** With a signal that also fires when it has taken too long. */
  private async stoppable<T>(given: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    // AbortSignal.any would be shorter, but takes 30 µs, and this 4.
    const stop = new AbortController();
    const forward = (): void => stop.abort(given!.reason);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      stop.abort();
    }, this.timeoutMs);
    if (given?.aborted) forward();
    given?.addEventListener("abort", forward, { once: true });
    try {
      return await work(stop.signal);
    } catch (error) {
      given?.throwIfAborted();
      throw isLate ? tooLate(this.timeoutMs) : failureOf(error);
    } finally {
      clearTimeout(timer);
      given?.removeEventListener("abort", forward);
    }
  }

  private async repeated(
    method: Method,
    path: string,
    sent: Sent,
    credential: () => Promise<string | null>,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const isSafe = method === "GET" || sent.reads === true || (sent.idempotencyKey ?? "") !== "";
    let renewed = false;
    for (let attempt = 1; ; attempt++) {
      const header = await credential();
      const outcome = await this.once(method, path, sent, header, signal);
      if (outcome instanceof Response) return outcome;
      signal?.throwIfAborted();
      if (outcome.status === 401 && header !== null && !renewed && this.signIn.refused(header)) {
        renewed = true;
        continue;
      }
      const { retryAfterMs } = outcome;
      const mayRepeat = retryAfterMs === undefined ? isSafe && isPassing(outcome) : retryAfterMs <= RETRY_AFTER_MAX_MS;
      if (!mayRepeat || attempt >= this.attempts) throw outcome;
      await pause(Math.max(retryAfterMs ?? 0, backoffMs(attempt, FIRST_WAIT_MS, MOST_WAIT_MS)), signal);
    }
  }

  private async once(
    method: Method,
    path: string,
    { query, body, content, idempotencyKey = "", accept = "application/json", headers }: Sent,
    credential: string | null,
    signal: AbortSignal | undefined,
  ): Promise<Response | TesseraError> {
    const sent: Record<string, string> = { accept };
    if (credential !== null) sent.authorization = credential;
    if (body !== undefined) sent["content-type"] = "application/json";
    if (this.branch !== "") sent["x-tessera-branch"] = this.branch;
    if (idempotencyKey !== "") sent["idempotency-key"] = idempotencyKey;
    const init: RequestInit = { method, headers: headers === undefined ? sent : { ...sent, ...headers } };
    if (body !== undefined) init.body = JSON.stringify(body);
    else if (content !== undefined) init.body = content;
    if (signal !== undefined) init.signal = signal;
    try {
      const response = await this.fetch(`${this.base}${path}${query === undefined ? "" : searchOf(query)}`, init);
      return response.ok ? response : await refusal(response);
    } catch (error) {
      signal?.throwIfAborted();
      return new ConnectionError(`The server at ${this.base} gave no answer.`, error);
    }
  }
}

function searchOf(query: NonNullable<Sent["query"]>): string {
  const named = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return named.length === 0 ? "" : `?${new URLSearchParams(named)}`;
}

/** Random, so that no two requests share one. */
export function newKey(): string {
  // Pages that were not loaded over TLS do not have it.
  if (crypto.randomUUID !== undefined) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A variable of a path. Throws TypeError for "." and "..", which would lead to another path and cannot be escaped. */
export function pathPart(value: string | number): string {
  if (value === "." || value === "..") throw new TypeError(`A part of a path cannot be "${value}".`);
  return encodeURIComponent(value);
}

/** Where the same request may succeed after a moment. */
function isPassing({ status, code }: TesseraError): boolean {
  return status === 0 || code === "idempotency_in_progress";
}

interface Envelope {
  readonly data?: unknown;
  readonly meta?: unknown;
}

async function payloadOf(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const body = (await response.json()) as Envelope;
  return "data" in body && "meta" in body ? body.data : body;
}

interface ErrorBody {
  readonly error?: { readonly code?: string; readonly message?: string; readonly details?: Record<string, unknown> };
  readonly meta?: { readonly request_id?: string };
}

async function refusal(response: Response): Promise<TesseraError> {
  const { status, headers } = response;
  const text = await response.text();
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  const facts = {
    status,
    requestId: headers.get("x-request-id") ?? undefined,
    ...(retryAfter >= 0 && { retryAfterMs: retryAfter * 1000 }),
  };
  try {
    const { error = {} } = JSON.parse(text) as ErrorBody;
    return errorOf(error.message ?? text, { ...facts, code: error.code ?? "unknown", details: error.details });
  } catch {
    // Something between has answered.
    return errorOf(`The answer has status ${status} and is no JSON.`, { ...facts, code: "unknown" });
  }
}

const failureOf = (error: unknown): TesseraError =>
  error instanceof TesseraError ? error : new ConnectionError("The answer could not be read.", error);

function tooLate(timeoutMs: number): TimeoutError {
  return new TimeoutError(`There was no answer within ${timeoutMs / 1000} s.`, { code: "request_timeout", status: 0 });
}
