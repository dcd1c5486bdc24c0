/**
 * PostgreSQL's own regression scripts (src/test/regress/sql), run by psql against a server of ours and against
 * PostgreSQL. What is compared is which statements end in an error, by the script's line: psql says it for each error.
 * Every script has a tenant (there: a database) of its own, with the tables of test_setup.sql.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { passwordOf, TestServer } from "../e2e/server.js";
import { postgresPort, WITH_POSTGRES } from "../e2e/wire-client.js";
import { type Oracle, startPostgres } from "./postgres.js";

/** Beside the compiled programs, so that `make clean` removes it. */
const FOLDER = new URL("../../conformance-regress/", import.meta.url).pathname;
const SETUP = "test_setup";
const SCRIPT_MS = 180_000;
const DOWNLOAD_MS = 300_000;
const ATTEMPTS = 60;
const BETWEEN_ATTEMPTS_MS = 500;
/** psql's exit code. */
const NO_CONNECTION = 2;
const LOST = /server closed the connection unexpectedly|connection to server was lost|could not receive data/;
const ERROR = /^psql:[^:]*\/([\w.]+)\.sql:(\d+): (?:ERROR|FATAL|PANIC): {2}(\w{5}): (.*)$/;

export interface Failure {
  readonly line: number;
  readonly sqlstate: string;
  readonly message: string;
}

interface Run {
  readonly failures: readonly Failure[];
  readonly isLost: boolean;
  readonly isLate: boolean;
}

export interface ScriptResult {
  readonly name: string;
  /** Errors of ours where PostgreSQL has none. */
  readonly ours: readonly Failure[];
  /** Errors of PostgreSQL's where there is none of ours. */
  readonly theirs: readonly Failure[];
  /** Statements that fail in both, and of them those with the same SQLSTATE. */
  readonly both: number;
  readonly sameState: number;
  readonly isLost: boolean;
  readonly isLate: boolean;
}

/** The scripts' folder, with sql and data: PG_REGRESS, or Debian's source package; a text where it cannot be had. */
export function regressFolder(): { readonly path: string } | string {
  const given = process.env.PG_REGRESS;
  if (given) {
    return existsSync(join(given, "sql")) ? { path: given } : `PG_REGRESS is ${given}, which has no folder sql`;
  }
  const path = join(FOLDER, "regress");
  if (existsSync(join(path, "sql"))) return { path };
  return download(path) ?? { path };
}

/** With lists of packages of its own, so that it needs no rights and changes no setting of the machine. */
function download(path: string): string | null {
  const lists = join(FOLDER, "apt");
  for (const each of ["lists/partial", "cache/archives/partial"]) mkdirSync(join(lists, each), { recursive: true });
  writeFileSync(join(lists, "sources.list"), "deb-src http://deb.debian.org/debian bookworm main\n");
  const options = {
    "Dir::Etc::sourcelist": join(lists, "sources.list"),
    "Dir::Etc::sourceparts": "/dev/null",
    "Dir::State::lists": join(lists, "lists"),
    "Dir::Cache": join(lists, "cache"),
  };
  const settings = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  const apt = (...words: string[]) =>
    spawnSync("apt-get", ["-q", ...settings, ...words], { cwd: lists, encoding: "utf8", timeout: DOWNLOAD_MS });
  apt("update");
  const { stderr } = apt("source", "--download-only", "postgresql-15");
  const archive = readdirSync(lists).find((name) => name.endsWith(".orig.tar.bz2"));
  const remedy = "set PG_REGRESS to src/test/regress of PostgreSQL's sources";
  if (archive === undefined) return `Debian's source package cannot be had; ${remedy}. ${(stderr ?? "").trim()}`;
  const inside = "*/src/test/regress/*";
  const unpacked = spawnSync("tar", ["xjf", archive, "--wildcards", inside], { cwd: lists, encoding: "utf8" });
  if (unpacked.status !== 0) return `${archive} cannot be unpacked: ${unpacked.stderr.trim()}`;
  const root = readdirSync(lists).find((name) => /^postgresql-[\d.]+$/.test(name))!;
  renameSync(join(lists, root, "src/test/regress"), path);
  rmSync(lists, { recursive: true });
  return null;
}

/** In the order of the schedule. */
export function scriptsOf(folder: string): readonly string[] {
  const lines = readFileSync(join(folder, "parallel_schedule"), "utf8").split("\n");
  const names = lines.flatMap((line) => /^test: (.*)$/.exec(line)?.[1]?.trim().split(/\s+/) ?? []);
  return names.filter((name) => name !== SETUP && existsSync(join(folder, "sql", `${name}.sql`)));
}

export class Regress {
  private constructor(
    private readonly folder: string,
    private readonly server: TestServer,
    private readonly oracle: Oracle,
    private readonly answers: string | null,
  ) {}

  /**
   * Null where there is no PostgreSQL to compare with. The answers of both are kept in the folder `answers`, if given,
   * for a diff.
   */
  static async start(folder: string, answers: string | null = null): Promise<Regress | null> {
    const oracle = await startPostgres();
    if (oracle === null) return null;
    const server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" });
    const regress = new Regress(folder, server, oracle, answers);
    oracle.psql("CREATE DATABASE prepared;");
    await regress.onPostgres(SETUP, "prepared");
    return regress;
  }

  async stop(): Promise<void> {
    await this.oracle.stop();
    await this.server.stop();
  }

  /** What our server has printed, which is nothing unless something is wrong. */
  get log(): readonly string[] {
    return this.server.lines;
  }

  async run(name: string): Promise<ScriptResult> {
    const database = `regress_${name.replace(/\W/g, "_")}`;
    this.oracle.psql(`CREATE DATABASE "${database}" TEMPLATE prepared;`);
    const theirs = await this.onPostgres(name, database);
    this.oracle.psql(`DROP DATABASE "${database}" WITH (FORCE);`);
    const tenant = database.replaceAll("_", "-");
    await this.makeTenant(tenant);
    await this.onOurs(SETUP, tenant);
    const ours = await this.onOurs(name, tenant);
    const { isLost, isLate } = ours;
    return { name, ...compared(ours.failures, theirs.failures), isLost, isLate };
  }

  /** A script may have ended the server's thread, which then starts again. */
  private async makeTenant(tenant: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.server.tenant(tenant, ["admin"]);
        return;
      } catch (error) {
        if (attempt === ATTEMPTS || !String(error).includes("partition_unavailable")) throw error;
        await wait(BETWEEN_ATTEMPTS_MS);
      }
    }
  }

  private onPostgres(name: string, database: string): Promise<Run> {
    return this.psql(name, "theirs", { PGHOST: this.oracle.directory, PGUSER: "tester", PGDATABASE: database });
  }

  private onOurs(name: string, tenant: string): Promise<Run> {
    return this.psql(name, "ours", {
      PGHOST: "127.0.0.1",
      PGPORT: String(postgresPort(this.server)),
      PGUSER: `${tenant}-user`,
      PGPASSWORD: passwordOf(tenant),
      PGDATABASE: tenant,
    });
  }

  /** What psql prints goes to `<answers>/<who>/<name>.out` if a folder was given. */
  private psql(name: string, who: string, environment: Readonly<Record<string, string>>): Promise<Run> {
    const scripts = join(FOLDER, "scripts");
    mkdirSync(scripts, { recursive: true });
    const script = join(scripts, `${name}.sql`);
    writeFileSync(script, withClientsCopy(readFileSync(join(this.folder, "sql", `${name}.sql`), "utf8"), this.folder));
    const options = ["-a", "-q", "-X", "-v", "VERBOSITY=verbose", "-v", "SHOW_CONTEXT=never"];
    const answers = this.answers === null ? "ignore" : answerFile(this.answers, who, name);
    const child = spawn("psql", [...options, "-v", "HIDE_TABLEAM=on", "-f", script], {
      cwd: scripts,
      stdio: ["ignore", answers, "pipe"],
      env: {
        PATH: process.env.PATH ?? "",
        LC_ALL: "C.UTF-8",
        PGTZ: "PST8PDT",
        PG_ABS_SRCDIR: this.folder,
        PG_ABS_BUILDDIR: scripts,
        PG_LIBDIR: scripts,
        PG_DLSUFFIX: ".so",
        ...environment,
      },
    });
    if (typeof answers === "number") closeSync(answers);
    let errors = "";
    child.stderr!.on("data", (data: Buffer) => {
      errors += data.toString();
    });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, SCRIPT_MS);
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => {
        clearTimeout(timer);
        const isLost = code === NO_CONNECTION || LOST.test(errors);
        resolve({ failures: failuresIn(errors), isLost, isLate });
      });
    });
  }
}

function answerFile(answers: string, who: string, name: string): number {
  mkdirSync(join(answers, who), { recursive: true });
  return openSync(join(answers, who, `${name}.out`), "w");
}

/** COPY from a file of the server's is \copy here, on both sides: our server reads no files. */
function withClientsCopy(script: string, folder: string): string {
  let file = "";
  return script
    .split("\n")
    .map((line) => {
      file = /^\\set filename :abs_srcdir '(.*)'$/.exec(line)?.[1] ?? file;
      const copy = /^COPY (.* FROM) :'filename'(.*);$/i.exec(line);
      return copy === null ? line : `\\copy ${copy[1]} '${folder}${file}'${copy[2]}`;
    })
    .join("\n");
}

function failuresIn(errors: string): readonly Failure[] {
  return errors.split("\n").flatMap((line): Failure[] => {
    const match = ERROR.exec(line);
    return match === null ? [] : [{ line: Number(match[2]), sqlstate: match[3]!, message: match[4]! }];
  });
}

function compared(
  ours: readonly Failure[],
  theirs: readonly Failure[],
): Pick<ScriptResult, "ours" | "theirs" | "both" | "sameState"> {
  const left = [...theirs];
  const onlyOurs: Failure[] = [];
  let both = 0;
  let sameState = 0;
  for (const failure of ours) {
    const at = left.findIndex(({ line }) => line === failure.line);
    if (at < 0) {
      onlyOurs.push(failure);
      continue;
    }
    const [other] = left.splice(at, 1);
    both++;
    if (other!.sqlstate === failure.sqlstate) sameState++;
  }
  return { ours: onlyOurs, theirs: left, both, sameState };
}
