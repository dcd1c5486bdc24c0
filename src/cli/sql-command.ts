/**
 * `tessera sql`: runs statements or a file of them on a running server, and prints their results. Called by the
 * command line. Exit codes: api-client.ts.
 */
import { existsSync } from "node:fs";
import { Readable } from "node:stream";
import type { Command } from "commander";
import { CommandError, EXIT } from "./api-client.js";
import { type ClientOptions, connect, type Told, tell, withClientOptions } from "./client-command.js";

interface Options extends ClientOptions {
  readonly file?: string;
  readonly transaction?: true;
  readonly continue?: true;
  readonly maxRows?: string;
}

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
      .description("run SQL on a running server: a statement, a file, or what comes on standard input"),
  )
    .argument("[statements]", "the SQL; without it and without -f it is read from standard input")
    .option("-f, --file <file>", "a file of SQL, which may be a .gz; - is standard input")
    .option("--transaction", "all in one transaction: all or nothing")
    .option("--continue", "go on after statements that fail")
    .option("--max-rows <rows>", "rows of a statement that are shown", "100")
    .option("--json", "answer with a JSON object")
    .exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage));
  command.action(async (statements?: string) => {
    const options = command.opts<Options>();
    await tell(options, () => run(options, statements));
  });
}

async function run(options: Options, statements: string | undefined): Promise<Told> {
  const { file, transaction, maxRows } = options;
  if (statements !== undefined && file !== undefined) {
    throw new CommandError(EXIT.usage, "usage", "give statements or a file, not both");
  }
  if (file !== undefined && file !== "-" && !existsSync(file)) {
    throw new CommandError(EXIT.usage, "no_such_file", `${file} does not exist`);
  }
  const client = await connect(options);
  const query = new URLSearchParams({
    transactional: String(transaction === true),
    stop_on_error: String(options.continue !== true),
    max_rows: maxRows!,
  });
  const source = statements !== undefined ? Readable.from([Buffer.from(statements)]) : file === "-" ? undefined : file;
  const answer: ScriptAnswer = await client.upload(`/v1/query/script?${query}`, source ?? process.stdin, {});
  return { data: answer, lines: linesOf(answer), exitCode: answer.failed > 0 ? EXIT.failed : EXIT.done };
}

export function linesOf({ statements, failed, rows_affected: affected, results, errors }: ScriptAnswer): string[] {
  const count = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;
  const shown = results.flatMap(({ columns, rows }) =>
    columns === undefined ? [] : [...tableOf(columns, rows!), `(${count(rows!.length, "row")})`, ""],
  );
  const failures = errors.map(({ message, details }) => `line ${details.line}: ${message}`);
  const summary = `${count(statements, "statement")}, ${count(affected, "row")} changed${failed > 0 ? `, ${failed} failed` : ""}`;
  return [...shown, ...failures, summary];
}

/** Columns beside each other, as wide as their longest value. */
function tableOf(columns: readonly string[], rows: readonly (readonly unknown[])[]): string[] {
  const cells = [columns, ...rows.map((row) => row.map(textOf))];
  const widths = columns.map((_, c) => Math.max(...cells.map((row) => row[c]!.length)));
  const lines = cells.map((row) =>
    row
      .map((cell, c) => cell.padEnd(widths[c]!))
      .join(" | ")
      .trimEnd(),
  );
  return [lines[0]!, widths.map((width) => "-".repeat(width)).join("-+-"), ...lines.slice(1)];
}

function textOf(value: unknown): string {
  if (value === null) return "NULL";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
