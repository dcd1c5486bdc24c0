/**
 * The shell of `tessera sql`: statements end with a semicolon and may have several lines; commands begin with a
 * backslash and are one line. Reads from a terminal, or whatever is given in its place.
 */
import { createWriteStream, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface, type Interface } from "node:readline";
import type { Writable } from "node:stream";
import { type ApiClient, CommandError, EXIT } from "../api-client.js";
import { formatted, OUTPUT_FORMATS, type OutputFormat, outputFormat, type ResultTable } from "../output-formats.js";
import { Completer } from "./complete.js";
import { describe } from "./describe.js";
import { page } from "./pager.js";
import { type ShellResult, ShellSession } from "./shell-session.js";
import { isBlank, splitInput } from "./split-input.js";

export interface ShellOptions {
  readonly client: ApiClient;
  readonly format: OutputFormat;
  readonly maxRows: number;
  readonly input: NodeJS.ReadableStream;
  readonly output: Writable & { readonly isTTY?: boolean; readonly rows?: number };
  /** Null: none is kept. */
  readonly historyFile: string | null;
  readonly isTerminal: boolean;
}

const HELP = `\\?                 this help
\\d [NAME]          tables, views and sequences; or what one of them has
\\dt \\dv \\dm \\ds \\di \\df \\dT \\dn [PATTERN]
                   tables, views, materialized views, sequences, indexes, functions, types, schemas
\\format [NAME]     how results look: ${OUTPUT_FORMATS.join(", ")}
\\x                 one value a line, or back
\\timing            how long statements take, or not
\\o [FILE]          results go to the file; without one, to the terminal again
\\i FILE            runs a file
\\watch [SECONDS]   runs the last statement again and again; Ctrl-C ends it
\\q                 ends the shell (or Ctrl-D)`;
const COMMANDS = "\\? \\d \\dt \\dv \\dm \\ds \\di \\df \\dT \\dn \\format \\x \\timing \\o \\i \\watch \\q".split(" ");
const HISTORY_LINES = 2_000;
const WATCH_SECONDS = 2;

export class Shell {
  private readonly session: ShellSession;
  private readonly completer: Completer;
  private readonly lines: Interface;
  private format: OutputFormat;
  private isTimed: boolean;
  private to: Writable | null = null;
  /** Typed, and not ended by a semicolon. */
  private pending = "";
  private lastStatement = "";
  private running: AbortController | null = null;
  private hasFailed = false;

  constructor(private readonly options: ShellOptions) {
    const { client, format, maxRows, input, output, isTerminal } = options;
    this.session = new ShellSession(client, maxRows);
    this.format = format;
    this.isTimed = isTerminal;
    this.completer = new Completer((sql) => this.session.query(sql), COMMANDS);
    this.lines = createInterface({
      input,
      ...(isTerminal && { output }),
      terminal: isTerminal,
      history: this.readHistory(),
      historySize: HISTORY_LINES,
      completer: (line: string) => this.completer.complete(line),
    });
  }

  /** Runs until the input ends; answers what the process is to exit with. */
  async run(): Promise<number> {
    const { lines } = this;
    const { isTerminal } = this.options;
    if (isTerminal) {
      this.print(["Type SQL or Cypher and end it with a semicolon. \\? lists the commands, \\q ends."]);
      await this.completer.renew();
    }
    lines.on("SIGINT", () => this.interrupted());
    lines.on("history", (history: string[]) => this.keepHistory(history));
    this.prompt();
    for await (const line of lines) {
      if (!(await this.take(line))) break;
      this.prompt();
    }
    if (!isBlank(this.pending)) await this.statement(this.pending.trim());
    lines.close();
    if (isTerminal) this.print([""]);
    return this.hasFailed && !isTerminal ? EXIT.failed : EXIT.done;
  }

  private prompt(): void {
    if (!this.options.isTerminal) return;
    this.lines.setPrompt(this.pending === "" ? `tessera${this.session.mark}> ` : `tessera${this.session.mark}- `);
    this.lines.prompt();
  }

  /** Ctrl-C ends what runs, or forgets what was typed. */
  private interrupted(): void {
    if (this.running !== null) {
      this.running.abort();
      return;
    }
    this.pending = "";
    this.options.output.write("\n");
    this.prompt();
  }

  /** False: the shell ends. */
  private async take(line: string): Promise<boolean> {
    if (this.pending === "" && line.trimStart().startsWith("\\")) return this.command(line.trim());
    const { statements, rest } = splitInput(`${this.pending}${line}\n`);
    this.pending = isBlank(rest) ? "" : rest;
    for (const sql of statements) await this.statement(sql);
    return true;
  }

  private async statement(sql: string): Promise<void> {
    this.lastStatement = sql;
    const started = performance.now();
    this.running = new AbortController();
    try {
      const result = await this.session.run(sql, this.running.signal);
      await this.show(result, performance.now() - started);
      if (/^\s*(?:create|alter|drop)\b/i.test(sql)) await this.completer.renew();
    } catch (error) {
      this.failed(error, sql);
    } finally {
      this.running = null;
    }
  }

  private async show(result: ShellResult, elapsedMs: number): Promise<void> {
    const { columns, rows, rowsAffected, notices, isTruncated, command } = result;
    const isForPeople = this.format === "table" || this.format === "expanded";
    const lines = columns.length > 0 ? formatted(result, this.format) : [];
    if (isForPeople) {
      lines.push(...notices.map((notice) => `NOTICE: ${notice}`));
      const count = rowsAffected ?? rows.length;
      if (command !== null) lines.push(command);
      else lines.push(`(${count} row${count === 1 ? "" : "s"}${rowsAffected === null ? "" : " changed"})`);
      if (isTruncated) lines.push(`There are more rows. Use LIMIT, \\o with \`tessera export\`, or --max-rows.`);
      if (this.isTimed) lines.push(`Time: ${elapsedMs.toFixed(1)} ms`);
    }
    await this.write(lines);
  }

  private failed(thrown: unknown, sql: string): void {
    this.hasFailed = true;
    const error = thrown instanceof CommandError ? thrown : new CommandError(EXIT.failed, "failed", String(thrown));
    const lines = [`error: ${error.message}`, ...pointer(sql, error.position)];
    process.stderr.write(`${lines.join("\n")}\n`);
  }

  // Commands

  private async command(text: string): Promise<boolean> {
    const [name, ...rest] = text.split(/\s+/) as [string, ...string[]];
    const argument = rest.length === 0 ? undefined : rest.join(" ").replace(/;$/, "");
    try {
      return await this.runCommand(name, argument);
    } catch (error) {
      this.failed(error, "");
      return true;
    }
  }

  private async runCommand(name: string, argument: string | undefined): Promise<boolean> {
    switch (name) {
      case "\\q":
        return false;
      case "\\?":
        this.print([HELP]);
        break;
      case "\\x":
        this.format = this.format === "expanded" ? "table" : "expanded";
        this.print([`Results come as ${this.format}.`]);
        break;
      case "\\format":
        if (argument !== undefined) this.format = outputFormat(argument);
        this.print([`Results come as ${this.format}.`]);
        break;
      case "\\timing":
        this.isTimed = !this.isTimed;
        this.print([`Times are ${this.isTimed ? "shown" : "not shown"}.`]);
        break;
      case "\\o":
        this.to?.end();
        this.to = argument === undefined ? null : createWriteStream(argument);
        break;
      case "\\i":
        await this.file(argument);
        break;
      case "\\watch":
        await this.watch(Number(argument ?? WATCH_SECONDS));
        break;
      default:
        await this.described(name, argument);
    }
    return true;
  }

  private async described(name: string, pattern: string | undefined): Promise<void> {
    const letter = /^\\d([a-zA-Z]?)\+?$/.exec(name)?.[1];
    const query = (sql: string): Promise<ResultTable> => this.session.query(sql);
    const found = letter === undefined ? null : await describe(letter, pattern, query);
    if (found === null) throw new CommandError(EXIT.usage, "usage", `there is no command ${name}; \\? lists them`);
    const { title, table, lines } = found;
    await this.write([title, ...formatted(table, this.format), ...lines]);
  }

  private async file(name: string | undefined): Promise<void> {
    if (name === undefined || !existsSync(name)) {
      throw new CommandError(EXIT.usage, "no_such_file", `${name ?? "\\i without a file"} does not exist`);
    }
    for (const line of readFileSync(name, "utf8").split("\n")) if (!(await this.take(line))) return;
  }

  private async watch(seconds: number): Promise<void> {
    if (!(seconds > 0) || this.lastStatement === "") {
      throw new CommandError(EXIT.usage, "usage", "\\watch follows a statement and takes seconds, such as \\watch 5");
    }
    const ended = new AbortController();
    const onEnd = (): void => ended.abort();
    this.lines.once("SIGINT", onEnd);
    try {
      while (!ended.signal.aborted) {
        this.print([new Date().toISOString()]);
        await this.statement(this.lastStatement);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, seconds * 1000);
          ended.signal.addEventListener("abort", () => {
            clearTimeout(timer);
            resolve();
          });
        });
      }
    } finally {
      this.lines.off("SIGINT", onEnd);
    }
  }

  // Output

  private async write(lines: readonly string[]): Promise<void> {
    if (this.to !== null) this.to.write(lines.map((line) => `${line}\n`).join(""));
    else if (this.options.isTerminal && lines.length >= (this.options.output.rows || Number.MAX_SAFE_INTEGER)) {
      await page(lines, this.lines, this.options.output);
    } else this.print(lines);
  }

  private print(lines: readonly string[]): void {
    for (const line of lines) this.options.output.write(`${line}\n`);
  }

  private readHistory(): string[] {
    const { historyFile } = this.options;
    if (historyFile === null || !existsSync(historyFile)) return [];
    return readFileSync(historyFile, "utf8").split("\n").filter(Boolean).slice(-HISTORY_LINES).reverse();
  }

  /** Newest first, as readline has it; the file has the oldest first. A file that cannot be written is no error. */
  private keepHistory(history: readonly string[]): void {
    const { historyFile } = this.options;
    if (historyFile === null) return;
    try {
      mkdirSync(dirname(historyFile), { recursive: true, mode: 0o700 });
      writeFileSync(historyFile, `${[...history].reverse().join("\n")}\n`, { mode: 0o600 });
    } catch {
      // The shell works without a history.
    }
  }
}

/** The line of the statement that an error is about, and a mark below its place. */
function pointer(sql: string, position: number | null): string[] {
  if (position === null || position < 1 || position > sql.length + 1) return [];
  const before = sql.slice(0, position - 1);
  const line = sql.split("\n")[before.split("\n").length - 1]!;
  const column = before.length - (before.lastIndexOf("\n") + 1);
  return [`  ${line}`, `  ${" ".repeat(column)}^`];
}
