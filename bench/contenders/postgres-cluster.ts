/**
 * A PostgreSQL of this machine's binaries in a temporary folder, reached over a unix socket in it. The server refuses
 * to run as root, so root lends it to the account `postgres`, or `nobody` where there is none.
 */
import { type ChildProcess, execFileSync } from "node:child_process";
import { chownSync, existsSync, readdirSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { processTree } from "../processes.js";
import { endChild, firstMatch, removeDirectory, startChild, temporaryDirectory } from "../servers.js";

const INSTALLED = "/usr/lib/postgresql";

export interface PostgresCluster {
  /** Holds the socket; files in it can be read by the server. */
  readonly directory: string;
  /** Of the server that runs now. */
  readonly pid: number;
  /** For libpq and node-postgres. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends the server and keeps its data: a fast shutdown, or SIGKILL to all of its processes at once. */
  end(how: "SIGINT" | "SIGKILL"): Promise<void>;
  /** Starts it on its data again. */
  begin(): Promise<void>;
  stop(): Promise<void>;
}

/** The folder of initdb, postgres and psql: Debian's newest version, or where PATH has initdb. Null: not installed. */
export function postgresBinaries(): string | null {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(INSTALLED, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  for (const folder of folders) {
    if (!existsSync(join(folder, "initdb"))) continue;
    const real = dirname(realpathSync(join(folder, "initdb")));
    if (existsSync(join(real, "postgres"))) return real;
  }
  return null;
}

/** The account that the server runs under when we are root. */
function account(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    try {
      const id = (flag: string): number =>
        Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
      return { uid: id("-u"), gid: id("-g") };
    } catch {
      // No such account: the next one.
    }
  }
  throw new Error("PostgreSQL does not run as root, and there is neither an account postgres nor nobody");
}

/** Makes a cluster and starts it. `settings` are server settings besides those of the socket. */
export async function startPostgres(binaries: string, settings: Record<string, string>): Promise<PostgresCluster> {
  return startOn(binaries, settings, (data, owner, directory) => {
    const initdb = ["-D", data, "-A", "trust", "-U", "bench", "--no-locale", "-E", "UTF8"];
    execFileSync(join(binaries, "initdb"), initdb, { ...owner, cwd: directory, stdio: "ignore" });
  });
}

/** A standby that follows the cluster, under this name among its synchronous standbys. */
export async function startStandby(
  binaries: string,
  { environment }: PostgresCluster,
  name: string,
): Promise<PostgresCluster> {
  return startOn(binaries, {}, (data, owner, directory) => {
    const from = `host=${environment.PGHOST} user=${environment.PGUSER} application_name=${name}`;
    const backup = ["-D", data, "-d", from, "-R", "-X", "stream", "-c", "fast"];
    execFileSync(join(binaries, "pg_basebackup"), backup, { ...owner, cwd: directory, stdio: "ignore" });
  });
}

/** The server's processes come and go by themselves. */
function killIfThere(pid: number, how: NodeJS.Signals): void {
  try {
    process.kill(pid, how);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

type Owner = ReturnType<typeof account>;

async function startOn(
  binaries: string,
  settings: Record<string, string>,
  make: (data: string, owner: Owner, directory: string) => void,
): Promise<PostgresCluster> {
  const directory = temporaryDirectory("postgres");
  const owner = account();
  if (owner.uid !== undefined) chownSync(directory, owner.uid, owner.gid!);
  const data = join(directory, "data");
  make(data, owner, directory);
  const all = { listen_addresses: "", unix_socket_directories: directory, ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const begin = async (): Promise<ChildProcess> => {
    const child = startChild(join(binaries, "postgres"), ["-D", data, ...flags], {
      ...owner,
      cwd: directory,
      stdio: ["ignore", "ignore", "pipe"],
    });
    await firstMatch(child, "stderr", /database system is ready to accept (read-only )?connections/);
    return child;
  };
  let child = await begin();
  const end = async (how: "SIGINT" | "SIGKILL"): Promise<void> => {
    // Processes that outlive the first one would hold the shared memory, and the next start would refuse.
    const others = how === "SIGKILL" ? [...processTree([child.pid!]).keys()] : [];
    for (const pid of others) if (pid !== child.pid) killIfThere(pid, how);
    await endChild(child, how);
  };
  return {
    directory,
    get pid() {
      return child.pid!;
    },
    environment: { PGHOST: directory, PGUSER: "bench", PGDATABASE: "postgres" },
    end,
    begin: async () => {
      child = await begin();
    },
    stop: async () => {
      // SIGINT is PostgreSQL's fast shutdown.
      await end("SIGINT");
      removeDirectory(directory);
    },
  };
}
