/** A server on a data directory for the time of one command: on a free port of loopback, for who may read its files. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import { DataDirectoryError } from "../config/data-lock.js";
import { loadConfig } from "../config/load-config.js";
import { ApiClient, CommandError, EXIT } from "./api-client.js";
import type { ClientOptions } from "./client-command.js";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Whatever the file and the environment say: nobody else talks to this server. */
const OVERRIDES = {
  "server.host": "127.0.0.1",
  "server.port": "0",
  "server.tls.cert_file": "",
  "server.tls.key_file": "",
  "server.log_level": "error",
  "postgres.port": "0",
  "bolt.port": "0",
  "actors.count": "1",
} as const;

/** Runs `work` with a client of the server, and ends the server. */
export async function withPrivateServer<T>(
  directory: string,
  { config: file, username = "admin" }: ClientOptions,
  work: (client: ApiClient) => Promise<T>,
): Promise<T> {
  const overrides = { ...OVERRIDES, "data.dir": directory };
  const config = loadConfig({ ...(file === undefined ? {} : { file }), env: process.env, overrides });
  const token = await tokenOf(config, username);
  const password = randomBytes(12).toString("base64url");
  const settings = Object.entries(overrides).flatMap(([key, text]) => ["--set", `${key}=${text}`]);
  const options = ["--until-input-ends", ...settings, ...(file ? ["--config", file] : [])];
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, "serve", ...options], {
    env: token === null ? withPassword(password) : process.env,
    // Its input ends with this process, however that ends.
    stdio: ["pipe", "pipe", "inherit"],
    // In a group of its own: Ctrl-C is the shell's.
    detached: true,
  });
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const end = (): void => void child.kill("SIGTERM");
  // The second signal ends this process at once.
  const interrupted = (signal: NodeJS.Signals): void => {
    const exit = () => process.exit(128 + constants.signals[signal]);
    if (hasEnded()) exit();
    child.once("exit", exit);
    end();
  };
  process.once("exit", end);
  for (const signal of SIGNALS) process.once(signal, interrupted);
  try {
    const url = await addressOf(child);
    if (token !== null) return await work(ApiClient.withToken(url, token));
    console.error(`${directory} is new. Administrator: admin, password: ${password} (shown only now)`);
    return await work(await ApiClient.connect(url, {}, { TESSERA_CLIENT_PASSWORD: password }));
  } finally {
    end();
    if (!hasEnded()) await once(child, "exit");
    process.off("exit", end);
    for (const signal of SIGNALS) process.off(signal, interrupted);
  }
}

/** Passwords are no options: others see those of a process. */
function withPassword(password: string): NodeJS.ProcessEnv {
  const { TESSERA_AUTH_ADMIN_PASSWORD: _other, ...env } = process.env;
  return { ...env, TESSERA_ADMIN_PASSWORD: password };
}

async function tokenOf(config: ReturnType<typeof loadConfig>, username: string): Promise<string | null> {
  // Loaded when it is wanted: it brings storage and directory along.
  const { ownerToken } = await import("../config/owner-token.js");
  try {
    return await ownerToken(config, username);
  } catch (error) {
    if (!(error instanceof DataDirectoryError)) throw error;
    const message = `${error.message}\n  Ask the server that runs there: --url instead of --data.`;
    throw new CommandError(EXIT.usage, "directory_in_use", message);
  }
}

/** Where the server listens, once it does. */
async function addressOf(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  for await (const line of lines) {
    const [, url] = /^listening on (http:\S+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stdout!.resume();
    return url;
  }
  throw new CommandError(EXIT.failed, "no_server", "the server did not start");
}
