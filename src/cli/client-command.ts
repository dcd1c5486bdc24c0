/**
 * The common part of commands that ask a running server: options for the server and the credential, and how results
 * are reported. Exit codes: api-client.ts.
 */
import type { Command } from "commander";
import { loadConfig } from "../config/load-config.js";
import { DbError } from "../protocol/errors.js";
import { ApiClient, CommandError, type Credentials, EXIT } from "./api-client.js";

export interface ClientOptions extends Credentials {
  readonly url?: string;
  readonly config?: string;
  readonly json?: true;
}

/** What a command has to say: an object for scripts, lines for people. */
export interface Told {
  readonly data: unknown;
  readonly lines: readonly string[];
  /** What the process ends with; 0 unless said. */
  readonly exitCode?: number;
  /** All was printed already. */
  readonly isSilent?: true;
}

/** Adds a command about a running server. `work` gets its options and its arguments. */
export function addClientCommand<O extends ClientOptions>(
  parent: Command,
  usage: string,
  description: string,
  work: (options: O, args: readonly string[]) => Promise<Told>,
): Command {
  const command = withClientOptions(parent.command(usage).description(description))
    .option("--json", "answer with a JSON object")
    .exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage));
  command.action(async () => tell(command.opts<O>(), () => work(command.opts<O>(), command.args)));
  return command;
}

export function withClientOptions(command: Command): Command {
  return command
    .option("--url <url>", "of the server (default: $TESSERA_CLIENT_URL, or what the configuration says)")
    .option("--config <file>", "the configuration that tells the server's address")
    .option("--username <name>", "who signs in (default: $TESSERA_CLIENT_USERNAME, or admin)")
    .option("--password-file <file>", "the password (default: $TESSERA_CLIENT_PASSWORD)")
    .option("--api-key-file <file>", "an API key instead (default: $TESSERA_CLIENT_API_KEY)");
}

/** Prints what the work has to say, or its error, and ends the process. */
export async function tell({ json }: ClientOptions, work: () => Promise<Told>): Promise<never> {
  try {
    const { data, lines, exitCode = EXIT.done, isSilent } = await work();
    if (isSilent !== true) console.log(json ? JSON.stringify(data) : lines.join("\n"));
    process.exit(exitCode);
  } catch (thrown) {
    const error = commandError(thrown);
    const { code, message } = error;
    console.error(json ? JSON.stringify({ error: { code, message } }) : `tessera: ${message}`);
    process.exit(error.exitCode);
  }
}

function commandError(thrown: unknown): CommandError {
  if (thrown instanceof CommandError) return thrown;
  if (!(thrown instanceof DbError)) return new CommandError(EXIT.failed, "failed", (thrown as Error).message);
  return new CommandError(thrown.code === "backup_damaged" ? EXIT.damaged : EXIT.failed, thrown.code, thrown.message);
}

export function connect(options: ClientOptions): Promise<ApiClient> {
  const url = options.url ?? process.env.TESSERA_CLIENT_URL ?? configuredUrl(options);
  return ApiClient.connect(url, options, process.env);
}

function configuredUrl({ config: file }: ClientOptions): string {
  const { server } = loadConfig({ ...(file === undefined ? {} : { file }), env: process.env });
  const host = server.host === "0.0.0.0" || server.host === "::" ? "127.0.0.1" : server.host;
  return `${server.tls.certFile === "" ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${server.port}`;
}
