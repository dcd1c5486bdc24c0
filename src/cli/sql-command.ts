/**
 * `tessera sql`: a shell in a terminal; else it runs statements or a file of them on a running server, and prints their
 * results. Called by the command line. Exit codes: api-client.ts.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Command } from "commander";
import { type ApiClient, CommandError, EXIT } from "./api-client.js";
import { type ClientOptions, connect, type Told, tell, withClientOptions } from "./client-command.js";
import { formatted, OUTPUT_FORMATS, type OutputFormat, outputFormat } from "./output-formats.js";
import { withPrivateServer } from "./private-server.js";
import { Shell } from "./shell/shell.js";

interface Options extends ClientOptions {
  readonly file?: string;
  readonly transaction?: true;
  readonly continue?: true;
  readonly maxRows?: string;
  readonly format: string;
  readonly interactive?: true;
  readonly data?: string;
}

/** Rows of a statement that are shown, unless the user says otherwise: of a script, and in the shell. */
const SCRIPT_ROWS = "100";
const SHELL_ROWS = 10_000;

interface StatementResult {
  readonly statement: number;
  readonly line: number;
  readonly rows_affected?: number;
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly unknown[])[];
}

export interface ScriptAnswer {
  readonly statements: number;
  readonly failed: number;
  readonly rows_affected: number;
  readonly results: readonly StatementResult[];
  readonly errors: readonly { readonly message: string; readonly details: { readonly line: number } }[];
}

export function addSqlCommand(program: Command): void {
  const command = withClientOptions(
    program
      .command("sql")
      .description("a SQL shell on a running server; or run a statement, a file, or what comes on standard input"),
  )
    .argument("[statements]", "the SQL or Cypher; without it and without -f a terminal gets a shell")
    .option("-f, --file <file>", "a file of SQL, which may be a .gz; - is standard input")
    .option("--data <directory>", "without a running server: on a data directory, which is made if it is not there")
    .option("-i, --interactive", "the shell, also where standard input is no terminal")
    .option("--format <format>", `of results: ${OUTPUT_FORMATS.join(", ")}`, "table")
    .option("--transaction", "all in one transaction: all or nothing")
    .option("--continue", "go on after statements that fail")
    .option("--max-rows <rows>", "rows of a statement that are shown (default: 100, in the shell 10,000)")
    .option("--json", "answer with a JSON object")
    .addHelpText(
      "after",
      `
Examples:
  tessera sql                                        the shell; \\? lists its commands
  tessera sql 'SELECT count(*) FROM orders'
  tessera sql --format csv 'TABLE orders' > orders.csv
  tessera sql -f schema.sql --transaction
  tessera sql --data ./data                          the shell on a directory that no server has

The shell keeps its history in $TESSERA_HISTORY (default: ~/.local/state/tessera/history; empty: nowhere).`,
    )
    .exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage));
  command.action(async (statements?: string) => {
    const options = command.opts<Options>();
    const isShell = statements === undefined && options.file === undefined && process.stdin.isTTY;
    const work = (client: ApiClient): Promise<Told> =>
      isShell || options.interactive === true ? shell(options, client) : run(options, statements, client);
    await tell(options, () => {
      checkUsage(options, statements);
      return withClient(options, work);
    });
  });
}

/** Before a server is asked, or started. */
function checkUsage({ file, format }: Options, statements: string | undefined): void {
  outputFormat(format);
  if (statements !== undefined && file !== undefined) {
    throw new CommandError(EXIT.usage, "usage", "give statements or a file, not both");
  }
  if (file !== undefined && file !== "-" && !existsSync(file)) {
    throw new CommandError(EXIT.usage, "no_such_file", `${file} does not exist`);
  }
}

async function withClient(options: Options, work: (client: ApiClient) => Promise<Told>): Promise<Told> {
  const { data, url } = options;
  if (data === undefined) return work(await connect(options));
  if (url !== undefined) throw new CommandError(EXIT.usage, "usage", "give --url or --data, not both");
  return withPrivateServer(data, options, work);
}

async function shell({ format, maxRows }: Options, client: ApiClient): Promise<Told> {
  const rows = maxRows === undefined ? SHELL_ROWS : Number(maxRows);
  if (!Number.isInteger(rows) || rows < 1)
    throw new CommandError(EXIT.usage, "usage", "--max-rows takes a number from 1");
  const started = new Shell({
    client,
    format: outputFormat(format),
    maxRows: rows,
    input: process.stdin,
    output: process.stdout,
    historyFile: historyFile(process.env),
    isTerminal: process.stdin.isTTY && process.stdout.isTTY,
  });
  return { data: null, lines: [], exitCode: await started.run(), isSilent: true };
}

function historyFile({ TESSERA_HISTORY: given, XDG_STATE_HOME: state }: NodeJS.ProcessEnv): string | null {
  if (given !== undefined) return given === "" ? null : given;
  return join(state || join(homedir(), ".local", "state"), "tessera", "history");
}

async function run(options: Options, statements: string | undefined, client: ApiClient): Promise<Told> {
  const { file, transaction, maxRows = SCRIPT_ROWS } = options;
  const format = outputFormat(options.format);
  const query = new URLSearchParams({
    transactional: String(transaction === true),
    stop_on_error: String(options.continue !== true),
    max_rows: maxRows,
  });
  const source = statements !== undefined ? Readable.from([Buffer.from(statements)]) : file === "-" ? undefined : file;
  const answer: ScriptAnswer = await client.upload(`/v1/query/script?${query}`, source ?? process.stdin, {});
  return { data: answer, lines: linesOf(answer, format), exitCode: answer.failed > 0 ? EXIT.failed : EXIT.done };
}

export function linesOf(
  { statements, failed, rows_affected: affected, results, errors }: ScriptAnswer,
  format: OutputFormat = "table",
): string[] {
  const count = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;
  const isForPeople = format === "table" || format === "expanded";
  const shown = results.flatMap(({ columns, rows }) => {
    if (columns === undefined) return [];
    const lines = formatted({ columns, rows: rows! }, format);
    return isForPeople ? [...lines, `(${count(rows!.length, "row")})`, ""] : lines;
  });
  const failures = errors.map(({ message, details }) => `line ${details.line}: ${message}`);
  const summary = `${count(statements, "statement")}, ${count(affected, "row")} changed${failed > 0 ? `, ${failed} failed` : ""}`;
  return isForPeople ? [...shown, ...failures, summary] : [...shown, ...failures];
}
