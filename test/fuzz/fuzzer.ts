/**
 * Sends hostile inputs to a running server and sees to it that it stays one: no 5xx but those that say that something
 * is not there, an answer in time, /health, another tenant served meanwhile, and nothing of that tenant's in any
 * answer. Called by fuzz.test.ts for seconds and by run-fuzz.ts for hours.
 */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { TestServer } from "../e2e/server.js";
import { SocketClient } from "../e2e/socket-client.js";
import { type Input, makeInput, type Who } from "./inputs.js";
import { Random } from "./random.js";
import { enlarged } from "./sizes.js";

/** Stands in all that the bystander has. */
const MARKER = "marker-of-the-bystander";
/** An answer may take so long on a machine that is busy with other things, too. */
const ANSWER_MS_MAX = 90_000;
const INPUTS_BETWEEN_CHECKS = 200;
/** 5xx codes that are answers, not faults. */
const ANSWERS = [
  "not_supported",
  "nli_disabled",
  "model_source_failed",
  "provider_unavailable",
  "provider_error",
  "model_unavailable",
  "program_not_installed",
  "overloaded",
];

export interface Failure {
  readonly number: number;
  readonly what: string;
  readonly input: Input;
}

export interface FuzzOptions {
  readonly seed: number;
  readonly from?: number;
  /** Inputs; absent: until the time is over. */
  readonly count?: number;
  readonly untilMs: number;
  readonly clients: number;
  /** Characters that parts of inputs are made large to, at most; absent or 0: none is. */
  readonly size?: number;
  readonly found?: (failure: Failure) => void;
}

export class Fuzzer {
  sent = 0;
  readonly failures: Failure[] = [];
  readonly statuses = new Map<number, number>();
  private readonly inFlight = new Map<number, Input>();
  private tokens: Record<Who, string | null> = { user: null, reader: null, superAdmin: null, nobody: null };
  private bystander = "";
  private restarting: Promise<void> | null = null;

  private constructor(
    readonly server: TestServer,
    private readonly options: FuzzOptions,
  ) {}

  static async start(options: FuzzOptions): Promise<Fuzzer> {
    const server = await TestServer.start({
      TESSERA_ACTORS: "1",
      TESSERA_AI_PULL_SOURCES: "./nowhere",
      TESSERA_QUERY_TIMEOUT_SECONDS: "5",
      TESSERA_QUERY_MEMORY_BYTES_MAX: String(128 * 1024 * 1024),
      TESSERA_AI_MODEL_IDLE_SECONDS: "60",
    });
    const fuzzer = new Fuzzer(server, options);
    await fuzzer.prepare();
    return fuzzer;
  }

  private async prepare(): Promise<void> {
    const { server } = this;
    const user = await server.tenant("alpha");
    const credentials = { username: "alpha-super", password: "password of alpha-super" };
    await server.expect(201, "POST", "/admin/tenants/alpha/users", { ...credentials, roles: ["super_admin"] });
    const key = await server.expect(
      201,
      "POST",
      "/v1/api-keys",
      { name: "r", permission: "ReadOnly" },
      { token: user },
    );
    this.tokens = {
      user,
      reader: key.body.raw_key,
      superAdmin: await server.login(credentials.username, credentials.password),
      nobody: null,
    };
    this.bystander = await server.tenant("bystander");
    for (const [token, text] of [
      [user, "a"],
      [this.bystander, MARKER],
    ] as const) {
      await server.rows(ITEM, [], { token });
      await server.rows("INSERT INTO item VALUES (1, $1, 1.5, ARRAY['a','b'], '{\"a\": 1}')", [text], { token });
      await server.call("POST", "/v1/collections", { name: "docs" }, { token });
      await server.call("POST", "/v1/collections/docs/documents", { id: "d1", a: text, tags: ["a"] }, { token });
      await server.call("POST", "/v1/vectors/collections", { name: "vecs", dimensions: 3 }, { token });
      const vector = { id: "v1", vector: [1, 2, 3], metadata: { a: text } };
      await server.call("POST", "/v1/vectors/collections/vecs/vectors", vector, { token });
      await server.call("POST", "/v1/graph/nodes", { labels: ["Person"], properties: { name: text } }, { token });
    }
  }

  async run(): Promise<void> {
    const { from = 0, count = Number.POSITIVE_INFINITY, untilMs, clients } = this.options;
    let next = from;
    const client = async (): Promise<void> => {
      while (next < from + count && Date.now() < untilMs) {
        const number = next++;
        await this.restarting;
        await this.try(number);
        if (number % INPUTS_BETWEEN_CHECKS === INPUTS_BETWEEN_CHECKS - 1) await this.check(number);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    await this.check(next - 1);
  }

  private inputOf(number: number): Input {
    const { seed, size = 0 } = this.options;
    const input = makeInput(seed, number);
    return size === 0 ? input : enlarged(input, new Random(seed ^ Math.imul(number, 0x27d4eb2d)), size);
  }

  private async try(number: number): Promise<void> {
    const input = this.inputOf(number);
    this.inFlight.set(number, input);
    try {
      await this.send(number, input);
    } catch (error) {
      if (this.restarting === null) this.failed(number, input, `no answer: ${causeOf(error)}`);
      await this.revive();
    } finally {
      this.inFlight.delete(number);
      this.sent++;
    }
  }

  private async send(number: number, input: Input): Promise<void> {
    if (input.kind === "bytes") {
      await this.sendBytes(Buffer.from(input.base64, "base64"));
      return;
    }
    if (input.kind === "socket") {
      await this.converse(number, input);
      return;
    }
    const token = this.tokens[input.who];
    const stop = AbortSignal.timeout(ANSWER_MS_MAX);
    const response = await fetch(this.server.url + input.path, {
      method: input.method,
      redirect: "manual",
      signal: stop,
      headers: { ...input.headers, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
      ...(input.body === null ? {} : { body: input.body }),
    });
    this.statuses.set(response.status, (this.statuses.get(response.status) ?? 0) + 1);
    if (response.headers.get("content-type")?.startsWith("text/event-stream") && !input.path.includes("chat")) {
      await response.body?.cancel();
      return;
    }
    const text = Buffer.from(await response.arrayBuffer()).toString();
    if (text.includes(MARKER)) this.failed(number, input, `another tenant's data: ${text.slice(0, 500)}`);
    if (response.status < 500) return;
    // MessagePack, too, has codes as they are.
    if (!ANSWERS.some((code) => text.includes(code)))
      this.failed(number, input, `${response.status} ${text.slice(0, 300)}${this.logOf(text)}`);
  }

  /** What the server logged under the request's id. */
  private logOf(text: string): string {
    const id = /"request_id":"([^"]+)"/.exec(text)?.[1];
    const line = id === undefined ? undefined : this.server.lines.find((one) => one.includes(`"${id}"`));
    return line === undefined ? "" : `\n  ${line.slice(0, 1500)}`;
  }

  private async converse(number: number, input: Extract<Input, { kind: "socket" }>): Promise<void> {
    const client = await SocketClient.open(this.server.url, input.path, {
      authorization: `Bearer ${this.tokens[input.who]}`,
    });
    try {
      for (const message of input.messages) client.send(message);
      client.send(
        input.path === "/mcp" ? '{"jsonrpc":"2.0","id":"end","method":"ping"}' : '{"type":"ping","id":"end"}',
      );
      for (;;) {
        const message = await Promise.race([client.next(), sleep(ANSWER_MS_MAX, null, { ref: false })]);
        if (message === null) throw new Error("the connection fell silent");
        const text = JSON.stringify(message);
        if (text.includes(MARKER)) this.failed(number, input, `another tenant's data: ${text.slice(0, 500)}`);
        if (text.includes("internal_error")) this.failed(number, input, `${text.slice(0, 300)}${this.logOf(text)}`);
        if (message.id === "end") break;
      }
    } catch (error) {
      // A message that cannot be read may end the connection, by a close code.
      if (client.closed === null || client.closed.code === 1006) throw error;
    } finally {
      client.destroy();
    }
  }

  private sendBytes(bytes: Buffer): Promise<void> {
    const { hostname, port } = new URL(this.server.url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(bytes);
        setTimeout(() => socket.destroy(), 30);
      });
      socket.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "ECONNREFUSED") reject(error);
      });
      socket.on("data", () => undefined);
      socket.on("close", () => resolve());
    });
  }

  /** The server lives, and the bystander is served. */
  private async check(number: number): Promise<void> {
    try {
      const health = await this.server.call("GET", "/health", undefined, {
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      if (health.status !== 200 || health.body.status !== "ok") throw new Error(JSON.stringify(health.body));
      const options = { token: this.bystander, signal: AbortSignal.timeout(ANSWER_MS_MAX) };
      const rows = await this.server.rows("SELECT name FROM item WHERE id = 1", [], options);
      if (rows[0]?.[0] !== MARKER) throw new Error(`the bystander's row is ${JSON.stringify(rows)}`);
      // What the inputs work on stays there.
      await this.server.sql(ITEM, [], { token: this.tokens.user });
    } catch (error) {
      if (this.restarting !== null) return;
      this.failed(number, [...this.inFlight.values()][0] ?? this.inputOf(number), `check: ${causeOf(error)}`);
      await this.revive();
    }
  }

  /** Starts the server again where it died; what was in flight then is told. */
  private revive(): Promise<void> {
    this.restarting ??= (async () => {
      await sleep(1000);
      const lives = await fetch(`${this.server.url}/health`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) }).catch(
        () => null,
      );
      if (lives === null) {
        for (const [number, input] of this.inFlight) this.failed(number, input, "in flight when the server ended");
        await this.server.boot();
      }
      this.restarting = null;
    })();
    return this.restarting;
  }

  private failed(number: number, input: Input, what: string): void {
    const failure = { number, what, input };
    this.failures.push(failure);
    this.options.found?.(failure);
  }
}

const ITEM =
  "CREATE TABLE IF NOT EXISTS item (id integer PRIMARY KEY, name text, price numeric, tags text[], data jsonb)";

function causeOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
