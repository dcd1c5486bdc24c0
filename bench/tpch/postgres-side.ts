/** PostgreSQL of this machine, reached over a unix socket by one psql, stopped and removed at the end. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { startPostgres } from "../contenders/postgres-cluster.js";
import { cpuSecondsOf } from "../processes.js";
import { generate, type Row, TABLES } from "./generate.js";
import type { Answer, Cell, TpchSide } from "./side.js";

const FIELD = "\u001f";
const NULL = "\u001e";
const END = "--end of answer--";

/** The data of these benches stays in its memory. */
export const POSTGRES_MEMORY = { shared_buffers: "512MB", work_mem: "64MB" };

export async function postgresSide(binaries: string, schema: string, indexes: string): Promise<TpchSide> {
  const cluster = await startPostgres(binaries, POSTGRES_MEMORY);
  const { directory } = cluster;
  const connect = (): Psql => new Psql(join(binaries, "psql"), directory);
  let client = connect();
  return {
    name: "postgresql",
    load: async (scale) => {
      await client.run(schema);
      for (const table of TABLES) {
        const file = join(directory, `${table}.csv`);
        writeCsv(file, (emit) => generate(table, scale, emit));
        await client.run(`\\copy ${table} from '${file}' with (format csv)`);
        rmSync(file);
      }
      await client.run(indexes);
      await client.run("VACUUM ANALYZE;");
    },
    query: (sql) => client.run(sql),
    cpuSeconds: () => cpuSecondsOf([cluster.pid]),
    restart: async () => {
      client.close();
      await cluster.end("SIGINT");
      await cluster.begin();
      client = connect();
      // The connection is made with the first statement.
      await client.run("SELECT 1;");
    },
    stop: async () => {
      client.close();
      await cluster.stop();
    },
  };
}

/** Rows between two writes to the file. */
const ROWS_PER_WRITE = 5000;

export function writeCsv(path: string, rows: (emit: (row: Row) => void) => void): void {
  writeCsvFiles(() => path, Number.POSITIVE_INFINITY, rows);
}

/** Files of so many rows each; answers their paths. */
export function writeCsvFiles(
  pathOf: (number: number) => string,
  rowsPerFile: number,
  rows: (emit: (row: Row) => void) => void,
): string[] {
  const paths = [pathOf(0)];
  let file = openSync(paths[0]!, "w");
  let lines: string[] = [];
  let left = rowsPerFile;
  const flush = (): void => {
    if (lines.length > 0) writeSync(file, `${lines.join("\n")}\n`);
    lines = [];
  };
  rows((row) => {
    if (left === 0) {
      flush();
      closeSync(file);
      paths.push(pathOf(paths.length));
      file = openSync(paths.at(-1)!, "w");
      left = rowsPerFile;
    }
    left--;
    lines.push(row.map((value) => (typeof value === "number" ? value : `"${value}"`)).join(","));
    if (lines.length === ROWS_PER_WRITE) flush();
  });
  flush();
  closeSync(file);
  return paths;
}

/** One psql that is fed statement by statement and tells the time of each as the server's client sees it. */
export class Psql {
  private readonly child: ChildProcessWithoutNullStreams;
  private lines: string[] = [];
  private errors = "";
  private answered: (() => void) | null = null;

  constructor(binary: string, socket: string) {
    const args = ["-X", "-q", "-A", "-t", "-F", FIELD, "-P", `null=${NULL}`, "-h", socket, "-U", "bench", "postgres"];
    this.child = spawn(binary, args, { env: { ...process.env, PGOPTIONS: "" } });
    this.child.stderr.on("data", (chunk) => {
      this.errors += String(chunk);
    });
    createInterface({ input: this.child.stdout }).on("line", (line) => {
      if (line === END) this.answered?.();
      else this.lines.push(line);
    });
    this.child.stdin.write("\\timing on\n");
  }

  async run(sql: string): Promise<Answer> {
    this.lines = [];
    const done = new Promise<void>((resolve) => {
      this.answered = resolve;
    });
    this.child.stdin.write(`${sql}\n\\echo ${END}\n`);
    await done;
    if (this.errors !== "") throw new Error(`PostgreSQL: ${this.errors}`);
    const timing = this.lines.filter((line) => line.startsWith("Time: ")).at(-1) ?? "Time: 0 ms";
    const rows = this.lines.filter((line) => line !== "" && !line.startsWith("Time: "));
    return {
      milliseconds: Number(/^Time: ([\d.]+)/.exec(timing)![1]),
      rows: rows.map((line) => line.split(FIELD).map((cell): Cell => (cell === NULL ? null : cell))),
    };
  }

  close(): void {
    this.child.stdin.end("\\q\n");
  }
}
