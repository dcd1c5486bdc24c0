/**
 * A PostgreSQL server of the test's own as an oracle: a temporary data directory, a unix socket, no network. Null where
 * PostgreSQL is not installed; the tests that compare with it are then skipped and say so.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** PostgreSQL refuses to run as root; "nobody" has this number on every Linux. */
const NOBODY = 65_534;

export interface Oracle {
  readonly version: string;
  /** With the unix socket; the user is "tester", the database "postgres". */
  readonly directory: string;
  /** Runs a script with psql (unaligned, tuples only, errors as SQLSTATE) and gives its output. */
  psql(script: string): string;
  stop(): Promise<void>;
}

function binary(name: string): string | null {
  const folders = [...(process.env.PATH ?? "").split(":"), "/usr/local/bin"];
  const debian = "/usr/lib/postgresql";
  if (existsSync(debian)) folders.push(...readdirSync(debian).map((version) => join(debian, version, "bin")));
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

export async function startPostgres(): Promise<Oracle | null> {
  const [initdb, postgres, psql] = [binary("initdb"), binary("postgres"), binary("psql")];
  if (initdb === null || postgres === null || psql === null) return null;
  const directory = mkdtempSync(join(tmpdir(), "tessera-oracle-"));
  const asRoot = process.getuid?.() === 0;
  if (asRoot) chownSync(directory, NOBODY, NOBODY);
  const user = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const data = join(directory, "data");
  const options = {
    ...user,
    cwd: directory,
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C.UTF-8", PGTZ: "UTC" },
  } as const;
  const made = spawnSync(
    initdb,
    ["-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"],
    options,
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const settings = ["fsync=off", "listen_addresses=", `unix_socket_directories=${directory}`, "timezone=UTC"];
  const server = spawn(postgres, ["-D", data, ...settings.flatMap((setting) => ["-c", setting])], {
    ...user,
    stdio: "ignore",
  });
  const run = (script: string) =>
    spawnSync(psql, ["-h", directory, "-U", "tester", "-d", "postgres", "-XqAt", "-F", "\t", "-P", "null=NULL"], {
      ...options,
      input: script,
      maxBuffer: 1 << 28,
    });
  await ready(server, () => run("SELECT 1").stdout.trim() === "1");
  return {
    version: run("SHOW server_version").stdout.trim(),
    directory,
    psql: (script) => {
      const { stdout, error } = run(`\\set VERBOSITY sqlstate\n\\o /dev/stdout\n${script}`);
      if (error !== undefined) throw error;
      return stdout;
    },
    stop: () =>
      new Promise((resolve) => {
        server.once("exit", () => {
          rmSync(directory, { recursive: true, force: true });
          resolve();
        });
        server.kill("SIGINT");
      }),
  };
}

async function ready(server: ChildProcess, isUp: () => boolean): Promise<void> {
  while (!isUp()) {
    if (server.exitCode !== null) throw new Error(`postgres ended with code ${server.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
