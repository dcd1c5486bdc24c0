/**
 * How the soak's load talks to the server: JSON over kept-alive connections, each answer held against the status that
 * it should have.
 */
import { Agent, request } from "undici";

/** An answer that a piece of work did not expect. */
export class Unexpected extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export interface CallOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is done about 409 serialization_failure: sent again, a few times (the default), or taken for an answer. */
  readonly conflict?: "is an answer";
}

const CONFLICT_TRIES = 4;

export class Caller {
  private readonly agent = new Agent({ connections: 64, pipelining: 1 });
  conflicts = 0;

  constructor(
    readonly url: string,
    readonly token: string,
    /** An administrator of the whole installation. */
    readonly operatorToken: string,
  ) {}

  /** The parsed body, or its text; throws `Unexpected` unless the status is `status`. */
  // biome-ignore lint/suspicious/noExplicitAny: the works read what they expect; a wrong shape is an error of theirs.
  async want(status: number, method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<any> {
    for (let tries = 1; ; tries++) {
      const reply = await request(this.url + path, {
        dispatcher: this.agent,
        method: method as "GET",
        headers: {
          authorization: `Bearer ${options.token ?? this.token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...options.headers,
        },
        body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
      });
      const text = await reply.body.text();
      if (reply.statusCode === status) return text.startsWith("{") ? JSON.parse(text) : text;
      const isConflict = reply.statusCode === 409 && text.includes('"serialization_failure"');
      if (isConflict) this.conflicts++;
      if (isConflict && options.conflict === "is an answer") return text;
      if (isConflict && tries < CONFLICT_TRIES) continue;
      throw new Unexpected(reply.statusCode, `${method} ${path}: ${text.slice(0, 400)}`);
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: rows as the server gives them.
  async rows(sql: string, parameters: readonly unknown[] = []): Promise<any[][]> {
    return (await this.want(200, "POST", "/v1/query/execute", { sql, parameters })).data.rows;
  }

  async close(): Promise<void> {
    await this.agent.close();
  }
}

/** Throws unless what the server said is what was written. */
export function expect(holds: boolean, what: string): void {
  if (!holds) throw new Unexpected(200, `a wrong answer: ${what}`);
}
