/** DuckDB in a process of its own: the package of bench/peers/duckdb, a file, and so many threads. */
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { endChild, PEERS_FOLDER, startChild } from "../servers.js";
import type { Answer, Cell } from "../tpch/side.js";

const FOLDER = join(PEERS_FOLDER, "duckdb");

type Line = { readonly error: string } | { readonly milliseconds: number; readonly rows: readonly (readonly Cell[])[] };

export function duckDbIsInstalled(): boolean {
  return existsSync(join(FOLDER, "node_modules/@duckdb/node-api"));
}

export class DuckDbProcess {
  private constructor(
    readonly version: string,
    private readonly child: ChildProcess,
    private readonly lines: AsyncIterator<string>,
  ) {}

  static async start(file: string, threads: number): Promise<DuckDbProcess> {
    const child = startChild(process.execPath, [join(FOLDER, "server.mjs"), file, String(threads)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    const first = await lines.next();
    if (first.done === true) throw new Error(`DuckDB did not open ${file}`);
    return new DuckDbProcess((JSON.parse(first.value) as { version: string }).version, child, lines);
  }

  get pid(): number {
    return this.child.pid!;
  }

  async query(sql: string): Promise<Answer> {
    this.child.stdin!.write(`${JSON.stringify({ sql })}\n`);
    const line = await this.lines.next();
    if (line.done === true) throw new Error("the process of DuckDB ended");
    const answer = JSON.parse(line.value) as Line;
    if ("error" in answer) throw new Error(`DuckDB: ${answer.error}`);
    return answer;
  }

  /** "clean": it closes its file first. */
  async end(how: "clean" | "kill"): Promise<void> {
    if (how === "kill") return endChild(this.child, "SIGKILL");
    const ended = new Promise<void>((resolve) => this.child.on("exit", () => resolve()));
    this.child.stdin!.end();
    await ended;
  }
}
