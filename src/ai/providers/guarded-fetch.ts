/**
 * The `fetch` that providers' client libraries are given: it bounds the time to connect and the bytes of an answer,
 * follows no redirects (they would carry the key elsewhere), and, for addresses that a tenant chose, refuses private
 * ones at the moment of connecting. One per provider, which owns it; it owns the connections.
 */
import type { Agent, RequestInit as UndiciInit } from "undici";
import { checkPublicUrl, publicLookup } from "../../net/public-address.js";
import { privateProviderError } from "./private-provider-error.js";

/** Bytes of one answer, unpacked. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** What came back, told by status and header: the libraries' errors do not all say it. */
export interface ResponseFacts {
  status: number | null;
  retryAfter: string | null;
}

export class GuardedFetch {
  private agent: Agent | null = null;

  constructor(
    private readonly connectTimeoutMs: number,
    private readonly publicOnly: boolean,
  ) {}

  /** The package is large, and most servers ask no provider. */
  private async undici(): Promise<{ readonly agent: Agent; readonly fetch: typeof import("undici").fetch }> {
    const { Agent, fetch } = await import("undici");
    const lookup = this.publicOnly ? { lookup: publicLookup(privateProviderError) } : {};
    const connect = { timeout: this.connectTimeoutMs, ...lookup };
    // The caller bounds the time of an answer.
    this.agent ??= new Agent({ connect, headersTimeout: 0, bodyTimeout: 0 });
    return { agent: this.agent, fetch };
  }

  /** For one attempt: fires with `signal`, and notes in `facts` what came back. */
  forAttempt(facts: ResponseFacts, signal: AbortSignal): typeof fetch {
    const get = async (input: unknown, init?: RequestInit): Promise<Response> => {
      const url = String(input instanceof Request ? input.url : input);
      if (this.publicOnly) checkPublicUrl(new URL(url), privateProviderError);
      const { agent, fetch: fetchByUndici } = await this.undici();
      const own = init?.signal ?? null;
      const options = {
        ...init,
        redirect: "error",
        dispatcher: agent,
        signal: own === null ? signal : AbortSignal.any([own, signal]),
      } as unknown as UndiciInit;
      const response = (await fetchByUndici(url, options)) as unknown as Response;
      facts.status = response.status;
      facts.retryAfter = response.headers.get("retry-after");
      const { status, statusText, headers, body } = response;
      if (body === null) return response;
      // As Node's own, which the libraries look for.
      return new Response(body.pipeThrough(bounded()), { status, statusText, headers });
    };
    return get as typeof fetch;
  }

  async close(): Promise<void> {
    await this.agent?.destroy();
  }
}

function bounded(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(piece, controller) {
      bytes += piece.length;
      if (bytes > ANSWER_BYTES_MAX) controller.error(new Error(`the answer is larger than ${ANSWER_BYTES_MAX} bytes`));
      else controller.enqueue(piece);
    },
  });
}
