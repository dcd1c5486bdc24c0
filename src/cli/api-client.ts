/**
 * A client of a running server, for commands: signs in, sends requests, and waits for what the server does in the
 * background. Secrets come from files or the environment, never from arguments, which other users of the machine can
 * read.
 */
import { createReadStream, createWriteStream, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setFlagsFromString } from "node:v8";

/** What a command exits with. */
export const EXIT = { done: 0, failed: 1, usage: 2, unreachable: 3, damaged: 4 } as const;

export class CommandError extends Error {
  constructor(
    readonly exitCode: number,
    readonly code: string,
    message: string,
    /** Character of the statement that the error is about, from 1. */
    readonly position: number | null = null,
  ) {
    super(message);
  }
}

export interface Credentials {
  readonly apiKeyFile?: string;
  readonly username?: string;
  readonly passwordFile?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: an answer's fields are declared in protocol/endpoints
type Json = any;

const POLL_MS = 250;

export class ApiClient {
  private authorization = "";

  private constructor(private readonly url: string) {
    optimizeParserLater();
  }

  /** Throws `CommandError`: nobody answers there, or the credentials are refused. */
  static async connect(url: string, credentials: Credentials, env: NodeJS.ProcessEnv): Promise<ApiClient> {
    const client = new ApiClient(url.replace(/\/+$/, ""));
    const apiKey = secretOf(credentials.apiKeyFile, env.TESSERA_CLIENT_API_KEY);
    const username = credentials.username ?? env.TESSERA_CLIENT_USERNAME ?? "admin";
    const password = secretOf(credentials.passwordFile, env.TESSERA_CLIENT_PASSWORD);
    if (apiKey !== null) client.authorization = `ApiKey ${apiKey}`;
    else if (password !== null) await client.signIn(username, password);
    else {
      const message =
        "who are you? Give --api-key-file or --password-file, or set TESSERA_CLIENT_API_KEY or TESSERA_CLIENT_PASSWORD";
      throw new CommandError(EXIT.usage, "no_credentials", message);
    }
    return client;
  }

  /** With an access token of one's own. */
  static withToken(url: string, token: string): ApiClient {
    const client = new ApiClient(url);
    client.authorization = `Bearer ${token}`;
    return client;
  }

  private async signIn(username: string, password: string): Promise<void> {
    const answer = await this.call("POST", "/v1/auth/login", { username, password }).catch((error: unknown) => {
      if (!(error instanceof CommandError) || error.exitCode !== EXIT.failed) throw error;
      throw new CommandError(EXIT.unreachable, error.code, `${username} cannot sign in: ${error.message}`);
    });
    if (answer.access_token === undefined) {
      const message = "the user has a second factor; use an API key (--api-key-file or TESSERA_CLIENT_API_KEY)";
      throw new CommandError(EXIT.usage, "mfa_required", message);
    }
    this.authorization = `Bearer ${answer.access_token}`;
  }

  /** The answer's data. Throws `CommandError` with the server's words. */
  async call(method: string, path: string, body?: object, signal?: AbortSignal): Promise<Json> {
    const headers: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
    const response = await this.send(
      method,
      path,
      headers,
      body === undefined ? undefined : JSON.stringify(body),
      signal,
    );
    const text = await response.text();
    return text === "" ? null : JSON.parse(text).data;
  }

  async download(path: string, file: string): Promise<void> {
    const response = await this.send("GET", path, {}, undefined);
    try {
      await pipeline(Readable.fromWeb(response.body as Json), createWriteStream(file, { flags: "wx", mode: 0o600 }));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") throw new CommandError(EXIT.usage, "file_exists", `${file} exists already`);
      await rm(file, { force: true });
      throw new CommandError(EXIT.failed, "download_failed", `the download broke off: ${message}`);
    }
  }

  /** Sends a file, or what a stream gives. */
  async upload(path: string, from: string | Readable, headers: Readonly<Record<string, string>>): Promise<Json> {
    const body = Readable.toWeb(typeof from === "string" ? createReadStream(from) : from);
    const type = { "content-type": "application/octet-stream" };
    const response = await this.send("POST", path, { ...type, ...headers }, body as Json);
    return JSON.parse(await response.text()).data;
  }

  /** Asks until `isDone`. */
  async wait(path: string, isDone: (data: Json) => boolean): Promise<Json> {
    for (;;) {
      const data = await this.call("GET", path);
      if (isDone(data)) return data;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** The answer as it comes: rows of an export, words of a chat. */
  async stream(method: string, path: string, body?: object, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const headers: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
    const response = await this.send(method, path, headers, body && JSON.stringify(body), signal);
    return response.body!;
  }

  private async send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string | ReadableStream | undefined,
    signal?: AbortSignal,
  ): Promise<Response> {
    const authorization: Record<string, string> =
      this.authorization === "" ? {} : { authorization: this.authorization };
    let response: Response;
    try {
      response = await fetch(this.url + path, {
        ...{ method, headers: { ...authorization, ...headers } },
        ...(body === undefined ? {} : { body, duplex: "half" }),
        ...(signal === undefined ? {} : { signal }),
      } as RequestInit);
    } catch (error) {
      if (signal?.aborted === true) throw new CommandError(EXIT.failed, "cancelled", "cancelled");
      const { cause, message } = error as Error;
      const why = cause instanceof Error ? cause.message : message;
      throw new CommandError(EXIT.unreachable, "unreachable", `${this.url} does not answer: ${why}`);
    }
    if (response.ok) return response;
    const { error = {} } = (await response.json().catch(() => ({}))) as Json;
    const code = error.code ?? String(response.status);
    const exit = code === "backup_damaged" ? EXIT.damaged : EXIT.failed;
    const message = error.message ?? `the server answered ${response.status}`;
    const { line, hint, position = null } = error.details ?? {};
    const where = line === undefined || /\bline \d/.test(message) ? "" : ` (line ${line})`;
    throw new CommandError(exit, code, `${message}${where}${hint === undefined ? "" : `\n  ${hint}`}`, position);
  }
}

/**
 * The parser of answers that `fetch` has is WebAssembly. By itself V8 optimizes it during the first answers: two fifths
 * of the CPU time of a command. Now it does when it has read some thousand. `Request` belongs to what `fetch` is made
 * of, and loads it first: after a change of flags V8 takes none of the code that node keeps compiled.
 */
function optimizeParserLater(): void {
  void globalThis.Request;
  setFlagsFromString("--wasm-tiering-budget=1000000000");
}

/** A file's first line, or the variable; null: neither. */
export function secretOf(file: string | undefined, variable: string | undefined): string | null {
  if (file === undefined) return variable === undefined || variable === "" ? null : variable;
  try {
    return readFileSync(file, "utf8").split(/\r?\n/, 1)[0]!;
  } catch (error) {
    throw new CommandError(EXIT.usage, "no_such_file", `${file} cannot be read: ${(error as Error).message}`);
  }
}
