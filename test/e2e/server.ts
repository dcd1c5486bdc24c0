/** Starts the real server as a user would, on a free loopback port and in a temporary folder, and talks to it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** What users start; `npm run build` makes it. */
export const PROGRAM = new URL("../../../bin/tessera", import.meta.url).pathname;
export const ADMIN_PASSWORD = "a password for tests";
/** The least: a start has two hashes, and each user of a test two more. */
const PASSWORD_COST = "10";

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // Tests read what they expect; a wrong shape fails the test.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any;
}

export interface CallOptions {
  /** null: no credential; undefined: the server's administrator. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * Variables of the tests' own (TESSERA_SUITES …) would be settings that the server does not know. With further
 * certificates node reads all that it trusts at its start, which takes longer than the rest of its own start.
 */
const SURROUNDINGS = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("TESSERA_") && name !== "NODE_EXTRA_CA_CERTS"),
);

/** Set by scripts/run-tests.mjs: options of node for servers. */
const { TEST_SERVER_OPTIONS } = process.env;

export class TestServer {
  url = "";
  /** The administrator's access token. */
  token = "";
  /** With which `token` was got. */
  readonly username: string = "admin";
  readonly password: string = ADMIN_PASSWORD;
  private child: ChildProcess | null = null;

  protected constructor(
    readonly directory: string,
    private readonly environment: Readonly<Record<string, string>>,
    private readonly program: readonly [string, ...string[]],
    /** What the server has printed. */
    readonly lines: string[] = [],
  ) {}

  /**
   * The rate limit is off unless the environment says otherwise; the data lies in a folder of its own unless one is
   * given.
   */
  static async start(
    environment: Readonly<Record<string, string>> = {},
    directory = mkdtempSync(join(tmpdir(), "tessera-test-")),
    program: readonly [string, ...string[]] = [PROGRAM],
  ): Promise<TestServer> {
    const server = new TestServer(directory, environment, program);
    await server.boot();
    return server;
  }

  /**
   * A tenant of its own on a server that the test files of this process share; `token` is its administrator's. For
   * tests that need no settings, no administrator of the installation, and neither kill nor restart the server.
   */
  static async shared(): Promise<TestServer> {
    sharedServer ??= TestServer.startShared();
    return Guest.of(await sharedServer);
  }

  /**
   * The same server as its administrator sees it, for tests that make tenants. No two files of a folder may give a
   * tenant or a user the same name.
   */
  static async sharedInstallation(): Promise<TestServer> {
    sharedServer ??= TestServer.startShared();
    return new Sharer(await sharedServer);
  }

  /** Does not keep this process running; ends with it. */
  private static async startShared(): Promise<TestServer> {
    const server = await TestServer.start({ TESSERA_ACTORS: "1" });
    const child = server.child!;
    child.unref();
    for (const stream of [child.stdout, child.stderr]) (stream as Socket).unref();
    process.once("exit", () => child.kill("SIGKILL"));
    process.once("beforeExit", () => {
      child.ref();
      void server.endInOrder();
    });
    return server;
  }

  private async endInOrder(): Promise<void> {
    const code = this.isRunning() ? await this.terminate() : this.child!.exitCode;
    if (code !== 0) throw new Error(`the shared server ended with code ${code}:\n${this.lines.join("\n")}`);
    await this.stop();
  }

  private isRunning(): boolean {
    return this.child!.exitCode === null && this.child!.signalCode === null;
  }

  get pid(): number {
    return this.child!.pid!;
  }

  /** Starts the process on the same data; also after `kill`. */
  async boot(): Promise<void> {
    const [command, ...first] = this.program;
    const child = spawn(command, [...first, "serve"], {
      env: {
        ...SURROUNDINGS,
        ...(TEST_SERVER_OPTIONS && { NODE_OPTIONS: TEST_SERVER_OPTIONS }),
        TESSERA_PORT: "0",
        TESSERA_DATA_DIR: this.directory,
        TESSERA_ADMIN_PASSWORD: ADMIN_PASSWORD,
        TESSERA_RATE_LIMIT_PER_SECOND: "0",
        TESSERA_AUTH_PASSWORD_COST: PASSWORD_COST,
        TESSERA_SERVER_LOG_LEVEL: "warn",
        // Each server would write 64 MiB.
        TESSERA_STORAGE_RESERVE_BYTES: "0",
        ...this.environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child = child;
    child.stderr!.on("data", (data: Buffer) => this.lines.push(data.toString()));
    this.url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout! }).on("line", (line) => {
        this.lines.push(line);
        const match = /^listening on (http:\S+)$/.exec(line);
        if (match !== null) resolve(match[1]!);
      });
      child.once("exit", (code) => reject(new Error(`the server ended with code ${code}:\n${this.lines.join("\n")}`)));
    });
    // A token of before the start is as good where it holds.
    if (this.token !== "" && (await this.call("GET", "/v1/users/me")).status === 200) return;
    this.token = (
      await this.call("POST", "/v1/auth/login", { username: "admin", password: ADMIN_PASSWORD }, { token: null })
    ).body.access_token;
  }

  /** One request; a string or Uint8Array body goes as it is, anything else as JSON. */
  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Reply> {
    const token = options.token === undefined ? this.token : options.token;
    const raw = typeof body === "string" || body instanceof Uint8Array;
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== "" ? JSON.parse(text) : text,
    };
  }

  /** Runs a statement; the reply may be an error. */
  sql(sql: string, parameters: readonly unknown[] = [], options: CallOptions = {}): Promise<Reply> {
    return this.call("POST", "/v1/query/execute", { sql, parameters }, options);
  }

  /** The rows of a statement that must succeed. */
  async rows(sql: string, parameters: readonly unknown[] = [], options: CallOptions = {}): Promise<unknown[][]> {
    const reply = await this.sql(sql, parameters, options);
    if (reply.status !== 200) throw new Error(`${sql} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    return reply.body.data.rows;
  }

  /** Makes a tenant with one user and gives that user's token. */
  async tenant(id: string, roles: readonly string[] = ["user"]): Promise<string> {
    const password = passwordOf(id);
    await this.expect(201, "POST", "/admin/tenants", { id });
    await this.expect(201, "POST", `/admin/tenants/${id}/users`, { username: `${id}-user`, password, roles });
    return this.login(`${id}-user`, password);
  }

  async login(username: string, password: string): Promise<string> {
    return (await this.expect(200, "POST", "/v1/auth/login", { username, password })).body.access_token;
  }

  async expect(
    status: number,
    method: string,
    path: string,
    body?: unknown,
    options: CallOptions = {},
  ): Promise<Reply> {
    const reply = await this.call(method, path, body, options);
    if (reply.status !== status) {
      throw new Error(`${method} ${path} answered ${reply.status}, not ${status}: ${JSON.stringify(reply.body)}`);
    }
    return reply;
  }

  /** SIGKILL, as a power cut for the process. */
  async kill(): Promise<void> {
    const ended = this.ended();
    this.child!.kill("SIGKILL");
    await ended;
  }

  /** SIGTERM; gives the exit code. */
  async terminate(): Promise<number | null> {
    const ended = this.ended();
    this.child!.kill("SIGTERM");
    return ended;
  }

  /**
   * Kills the process, if it runs, and removes its data. An end in order takes a fifth of what a start does; those that
   * share a server and those that call `terminate` see how it ends.
   */
  async stop(): Promise<void> {
    if (this.isRunning()) await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private ended(): Promise<number | null> {
    return new Promise((resolve) => this.child!.once("exit", (code) => resolve(code)));
  }
}

/** Of the user that `tenant` makes. */
export function passwordOf(tenant: string): string {
  return `password of ${tenant}`;
}

let sharedServer: Promise<TestServer> | undefined;
let guests = 0;

/** See `TestServer.sharedInstallation`. */
class Sharer extends TestServer {
  constructor(protected readonly host: TestServer) {
    super(host.directory, {}, [PROGRAM], host.lines);
    this.url = host.url;
    this.token = host.token;
  }

  override boot(): Promise<void> {
    throw new Error("a shared server cannot be started again");
  }

  override kill(): Promise<void> {
    throw new Error("a shared server cannot be killed");
  }

  override terminate(): Promise<number | null> {
    throw new Error("a shared server cannot be terminated");
  }

  /** The server goes on for the other files. */
  override async stop(): Promise<void> {}
}

/** See `TestServer.shared`. */
class Guest extends Sharer {
  override readonly username: string;
  override readonly password: string;

  private constructor(
    host: TestServer,
    private readonly id: string,
  ) {
    super(host);
    this.username = `${id}-user`;
    this.password = passwordOf(id);
  }

  static async of(host: TestServer): Promise<Guest> {
    const guest = new Guest(host, `guest-${++guests}`);
    guest.token = await host.tenant(guest.id, ["admin"]);
    return guest;
  }

  override tenant(id: string, roles?: readonly string[]): Promise<string> {
    return this.host.tenant(`${this.id}-${id}`, roles);
  }
}
