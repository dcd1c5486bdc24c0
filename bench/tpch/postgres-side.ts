/**
 * PostgreSQL of this machine: a cluster in a temporary folder, reached over a unix socket by one psql, stopped and
 * removed at the end. The server refuses to run as root, so root lends it to the account `postgres`.
 */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { generate, type Row, TABLES } from "./generate.js";
import type { Answer, Cell, Side } from "./side.js";

const INSTALLED = "/usr/lib/postgresql";
const FIELD = "\u001f";
const NULL = "\u001e";
const END = "--end of answer--";

/** The folder of initdb, pg_ctl and postgres of the newest version, or null. */
export function postgresBinaries(): string | null {
  if (!existsSync(INSTALLED)) return null;
  const newest = readdirSync(INSTALLED).sort((a, b) => Number(b) - Number(a))[0];
  const folder = newest === undefined ? "" : join(INSTALLED, newest, "bin");
  return existsSync(join(folder, "initdb")) && existsSync(join(folder, "psql")) ? folder : null;
}

/** The account that the server runs under when we are root. */
function account(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

export async function postgresSide(binaries: string, schema: string, indexes: string): Promise<Side> {
  const directory = mkdtempSync(join(tmpdir(), "tessera-tpch-pg-"));
  const owner = account();
  if (owner.uid !== undefined) chownSync(directory, owner.uid, owner.gid!);
  chmodSync(directory, 0o755);
  const data = join(directory, "data");
  const command = (name: string, ...args: string[]): void => {
    execFileSync(join(binaries, name), args, { ...owner, cwd: directory, stdio: "ignore" });
  };
  command("initdb", "-D", data, "-A", "trust", "-U", "bench", "--no-locale", "-E", "UTF8");
  const options = `-c listen_addresses='' -c unix_socket_directories='${directory}' -c shared_buffers=512MB -c work_mem=64MB`;
  command("pg_ctl", "-D", data, "-w", "-o", options, "-l", join(directory, "log"), "start");
  const client = new Psql(join(binaries, "psql"), directory);
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
    stop: async () => {
      client.close();
      command("pg_ctl", "-D", data, "-w", "-m", "fast", "stop");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Rows between two writes to the file. */
const ROWS_PER_WRITE = 5000;

function writeCsv(path: string, rows: (emit: (row: Row) => void) => void): void {
  const file = openSync(path, "w");
  let lines: string[] = [];
  const flush = (): void => {
    if (lines.length > 0) writeSync(file, `${lines.join("\n")}\n`);
    lines = [];
  };
  rows((row) => {
    lines.push(row.map((value) => (typeof value === "number" ? value : `"${value}"`)).join(","));
    if (lines.length === ROWS_PER_WRITE) flush();
  });
  flush();
  closeSync(file);
}

/** One psql that is fed statement by statement and tells the time of each as the server's client sees it. */
class Psql {
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
