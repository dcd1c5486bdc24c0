/** A server on a data directory for the time of one command: on a free port of loopback, for who may read its files. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { DataDirectoryError } from "../config/data-lock.js";
import { loadConfig } from "../config/load-config.js";
import { ApiClient, CommandError, EXIT } from "./api-client.js";
import type { ClientOptions } from "./client-command.js";

/** Runs `work` with a client of the server, and ends the server. */
export async function withPrivateServer<T>(
  directory: string,
  { config: file, username = "admin" }: ClientOptions,
  work: (client: ApiClient) => Promise<T>,
): Promise<T> {
  const env = { ...process.env, TESSERA_DATA_DIR: directory };
  const config = loadConfig({ ...(file === undefined ? {} : { file }), env });
  const token = await tokenOf(config, username);
  const password = randomBytes(12).toString("base64url");
  const child = spawn(
    process.execPath,
    [...process.execArgv, process.argv[1]!, "serve", ...(file ? ["--config", file] : [])],
    {
      env: {
        ...env,
        ...{ TESSERA_HOST: "127.0.0.1", TESSERA_PORT: "0", TESSERA_ACTORS: "1", TESSERA_SERVER_LOG_LEVEL: "error" },
        ...{ TESSERA_POSTGRES_PORT: "", TESSERA_SERVER_TLS_CERT_FILE: "", TESSERA_SERVER_TLS_KEY_FILE: "" },
        ...(token === null && { TESSERA_ADMIN_PASSWORD: password }),
      },
      stdio: ["ignore", "pipe", "inherit"],
      // In a group of its own: Ctrl-C is the shell's.
      detached: true,
    },
  );
  const end = (): void => void child.kill("SIGTERM");
  process.once("exit", end);
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
  try {
    const url = await addressOf(child);
    if (token !== null) return await work(ApiClient.withToken(url, token));
    console.error(`${directory} is new. Administrator: admin, password: ${password} (shown only now)`);
    return await work(await ApiClient.connect(url, {}, { TESSERA_CLIENT_PASSWORD: password }));
  } finally {
    end();
    if (child.exitCode === null) await once(child, "exit");
    process.off("exit", end);
  }
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
