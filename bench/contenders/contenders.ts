/** Who takes part in a run, by the name that PEERS chooses them with, and how each is started. */
import { execFileSync } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { cpuSecondsOf } from "../processes.js";
import { ROOT, type RunningPeer, serverProgram, startPeer, startTessera } from "../servers.js";
import { postgresBinaries, startPostgres } from "./postgres-cluster.js";

export interface Contender extends RunningPeer {
  readonly id: string;
  /** Peers have routes of their own; Tessera is asked in SQL. */
  readonly isPeer: boolean;
}

type Start = (environment: Record<string, string>) => Promise<RunningPeer>;

/** Beyond the default so that all data stays in its memory, as it does with the others. */
const POSTGRES_SETTINGS = { shared_buffers: "256MB", max_connections: "50" };

const starts: Readonly<Record<string, Start>> = {
  tessera: async (environment) => ({
    ...(await startTessera(environment)),
    versions: { Tessera: measuredVersion(), node: process.version },
    durability: "fsync: on disk before the answer, commits grouped",
  }),
  sqlite: () => startPeer("sqlite", "fastify + better-sqlite3"),
  postgres: startPostgresPeer,
  pglite: () => startPeer("pglite", "fastify + PGlite"),
  surrealdb: () => startPeer("surrealdb", "fastify + SurrealDB"),
};

export const PEERS: readonly string[] = Object.keys(starts).filter((id) => id !== "tessera");

/** `environment` is Tessera's alone. */
export async function startContender(id: string, environment: Record<string, string> = {}): Promise<Contender> {
  const start = starts[id];
  if (start === undefined) throw new Error(`unknown peer "${id}"; known: ${PEERS.join(", ")}`);
  return { ...(await start(environment)), id, isPeer: id !== "tessera" };
}

async function startPostgresPeer(): Promise<RunningPeer> {
  const binaries = postgresBinaries();
  if (binaries === null) throw new Error("PostgreSQL is not installed: no initdb and postgres");
  const cluster = await startPostgres(binaries, POSTGRES_SETTINGS);
  try {
    const peer = await startPeer("postgres", "fastify + PostgreSQL", cluster.environment);
    const roots = [...peer.roots, cluster.pid];
    const stop = async (): Promise<void> => {
      await peer.stop();
      await cluster.stop();
    };
    return { ...peer, roots, cpuSeconds: () => cpuSecondsOf(roots), stop };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** Of the build that the server is started from. */
export function measuredVersion(): string {
  return tesseraVersion(join(dirname(realpathSync(serverProgram())), ".."));
}

/** With the commit when this is a checkout. `root`: of another build. */
export function tesseraVersion(root = ROOT): string {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  try {
    const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], {
      cwd: root,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return `${version} (${commit.toString().trim()})`;
  } catch {
    return version;
  }
}
