/**
 * A provider over the network. One answer takes up to `retriesMax` + 1 attempts of its dialect, each with a bound on
 * the time until its first token, all of them within the time of the whole. An answer that has begun is never asked
 * for again. A bounded number of answers is under way at a time; the others wait. Made and owned by providers.ts.
 */
import { DbError } from "../../protocol/errors.js";
import type { Dialect } from "./dialect.js";
import { GuardedFetch, type ResponseFacts } from "./guarded-fetch.js";
import { Places } from "./places.js";
import type { ChatEvent, ChatRequest, Provider } from "./provider.js";
import type { ProviderSettings } from "./provider-settings.js";

export interface RemoteLimits {
  readonly connectTimeoutMs: number;
  readonly firstTokenTimeoutMs: number;
  /** Of the whole answer, waiting and retries included. */
  readonly timeoutMs: number;
  readonly retriesMax: number;
  readonly requestsMax: number;
  readonly waitingMax: number;
  /** Of an answer whose request names no bound. */
  readonly tokensMax: number;
  /** Tenants may name private addresses. */
  readonly privateAddresses: boolean;
}

/** The first wait before another attempt; it doubles, and up to half of it is left to chance. */
const BACKOFF_MS = 500;
const BACKOFF_MS_MAX = 8_000;
/** A provider that wants a longer wait is not waited for. */
const RETRY_AFTER_MS_MAX = 30_000;
const REASON_CHARACTERS_MAX = 300;

/** Why an attempt ended from here. */
class TooSlow extends Error {
  constructor(readonly what: string) {
    super(what);
  }
}

interface Failure {
  readonly error: DbError;
  /** Milliseconds until it may be tried again, at least; null: it is of no use. */
  readonly retryMs: number | null;
}

export class RemoteProvider implements Provider {
  readonly name: string;
  readonly model: string;
  readonly supportsTools = true;
  private readonly places: Places;
  private readonly guarded: GuardedFetch;
  private readonly baseUrl: string;

  constructor(
    private readonly settings: ProviderSettings,
    private readonly dialect: Dialect,
    private readonly limits: RemoteLimits,
  ) {
    this.name = settings.kind;
    this.model = settings.model || dialect.model;
    this.baseUrl = (settings.baseUrl || dialect.baseUrl).replace(/\/+$/, "");
    this.places = new Places(limits.requestsMax, limits.waitingMax);
    const publicOnly = settings.isTenants && !limits.privateAddresses;
    this.guarded = new GuardedFetch(limits.connectTimeoutMs, publicOnly);
  }

  async *chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent, void> {
    signal.throwIfAborted();
    const whole = new AbortController();
    const forward = () => whole.abort(signal.reason);
    signal.addEventListener("abort", forward, { once: true });
    const { timeoutMs } = this.limits;
    const timer = setTimeout(() => whole.abort(new TooSlow(`did not answer within ${timeoutMs / 1000} s`)), timeoutMs);
    let leave: (() => void) | null = null;
    try {
      leave = await this.places.enter(whole.signal);
      yield* this.attempts(request, whole.signal);
    } catch (error) {
      throw error instanceof TooSlow ? this.unavailable(error.what) : error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", forward);
      // Whatever of it still runs has nobody left to run for.
      whole.abort(new DbError("cancelled"));
      leave?.();
    }
  }

  close(): Promise<void> {
    return this.guarded.close();
  }

  private async *attempts(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent, void> {
    for (let tried = 1; ; tried++) {
      let begun = false;
      const facts: ResponseFacts = { status: null, retryAfter: null };
      try {
        for await (const event of this.attempt(request, signal, facts)) {
          begun = true;
          yield event;
        }
        return;
      } catch (error) {
        signal.throwIfAborted();
        const { error: told, retryMs } = this.failureOf(error, facts, begun);
        if (retryMs === null || retryMs > RETRY_AFTER_MS_MAX || tried > this.limits.retriesMax) throw told;
        const backoff = Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** (tried - 1)) * (0.5 + Math.random() / 2);
        await pause(Math.max(retryMs, backoff), signal);
      }
    }
  }

  private async *attempt(
    request: ChatRequest,
    whole: AbortSignal,
    facts: ResponseFacts,
  ): AsyncGenerator<ChatEvent, void> {
    const { firstTokenTimeoutMs, tokensMax } = this.limits;
    const own = new AbortController();
    const slow = () => own.abort(new TooSlow(`sent no token within ${firstTokenTimeoutMs / 1000} s`));
    let timer: NodeJS.Timeout | null = setTimeout(slow, firstTokenTimeoutMs);
    const signal = AbortSignal.any([whole, own.signal]);
    try {
      const events = this.dialect.speak(request, {
        baseUrl: this.baseUrl,
        model: this.model,
        apiKey: this.settings.apiKey,
        maxTokens: request.maxTokens ?? tokensMax,
        fetch: this.guarded.forAttempt(facts, signal),
        signal,
      });
      for await (const event of events) {
        if (timer !== null) clearTimeout(timer);
        timer = null;
        yield event;
      }
      // Some libraries end quietly when their signal fires.
      signal.throwIfAborted();
    } catch (error) {
      throw own.signal.aborted ? own.signal.reason : error;
    } finally {
      if (timer !== null) clearTimeout(timer);
    }
  }

  private failureOf(error: unknown, { status, retryAfter }: ResponseFacts, begun: boolean): Failure {
    const given = causeOf(error);
    if (given !== null) return { error: given, retryMs: null };
    if (error instanceof TooSlow) return { error: this.unavailable(error.what), retryMs: null };
    if (begun) return { error: this.refusal(`broke off its answer (${this.reason(error)})`), retryMs: null };
    if (status === null) return { error: this.unavailable(`cannot be reached (${this.reason(error)})`), retryMs: 0 };
    if (status === 429 || status === 408 || status >= 500) {
      const waitMs = waitOf(retryAfter);
      const what = status === 429 ? "is at its limit (429)" : `failed (${status})`;
      return { error: this.unavailable(what, waitMs), retryMs: waitMs };
    }
    if (status === 401 || status === 403) return { error: this.refusal(`refused the key (${status})`), retryMs: null };
    if (status >= 300) return { error: this.refusal(`refused (${status}): ${this.reason(error)}`), retryMs: null };
    const unreadable = error instanceof SyntaxError;
    const what = this.refusal(`sent an answer that cannot be read (${this.reason(error)})`);
    return { error: what, retryMs: unreadable ? null : 0 };
  }

  private unavailable(what: string, waitMs = 0): DbError {
    const after = waitMs > 0 ? { retry_after_seconds: Math.ceil(waitMs / 1000) } : {};
    return new DbError("provider_unavailable", `The provider ${this.name} ${what}.`, {
      provider: this.name,
      model: this.model,
      ...after,
    });
  }

  private refusal(what: string): DbError {
    return new DbError("provider_error", `The provider ${this.name} ${what}.`, {
      provider: this.name,
      model: this.model,
    });
  }

  /** What a library says, without the key that some servers repeat. */
  private reason(error: unknown): string {
    const { message, cause } = error as Error & { cause?: unknown };
    const below = cause as (Error & { code?: string }) | undefined;
    const code = below?.code ?? (below?.cause as { code?: string } | undefined)?.code;
    const { apiKey } = this.settings;
    const text = code === undefined ? String(message) : code;
    const safe = apiKey === null || apiKey === "" ? text : text.replaceAll(apiKey, "…");
    return safe.replaceAll(/\s+/g, " ").trim().replace(/\.$/, "").slice(0, REASON_CHARACTERS_MAX);
  }
}

/** An error of ours that a library has wrapped. */
function causeOf(error: unknown): DbError | null {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at instanceof DbError) return at;
  }
  return null;
}

/** Retry-After in seconds or as a date (RFC 9110, section 10.2.3), as milliseconds; 0 without one. */
function waitOf(header: string | null): number {
  if (header === null) return 0;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
