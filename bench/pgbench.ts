/**
 * pgbench's built-in scripts over PostgreSQL's protocol: Tessera and PostgreSQL, each with a commit on disk before its
 * answer, one after the other in the same run. Transactions a second, and a second of the server's CPU. SECONDS a run;
 * CLIENTS="1 32"; SCRIPTS="select-only simple-update". Then COPY (copies.ts).
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { freePort } from "../test/free-port.js";
import { type PostgresCluster, postgresBinaries, startPostgres } from "./contenders/postgres-cluster.js";
import { copies } from "./copies.js";
import { cpuSecondsOf } from "./processes.js";
import { endChild, launchTessera, PASSWORD, removeDirectory, temporaryDirectory } from "./servers.js";

interface Contender {
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly roots: readonly number[];
  stop(): Promise<void>;
}

const SCRIPTS = [
  ["select only", ["-S"]],
  ["simple update", ["-N"]],
  ["tpcb-like", []],
] as const;
const MODES = ["simple", "prepared"] as const;
const WARM_TRANSACTIONS = 20_000;
const WARM_MS_MAX = 15_000;
/** A look at what processes have taken, again after so long, until little is added. */
const SETTLE_MS = 50;
const SETTLED_SECONDS = 0.02;
const LOOKS_MAX = 6;

export async function pgbench(_rounds: number, seconds: number): Promise<void> {
  const binaries = postgresBinaries();
  if (binaries === null) throw new Error("PostgreSQL is not installed: pgbench and psql come with it");
  const counts = (process.env.CLIENTS ?? "1 32").split(" ").map(Number);
  const contenders = [await tessera(), await postgres(binaries)];
  try {
    for (const { environment } of contenders) run(binaries, "pgbench", ["-i", "-q", "-s", "1"], environment);
    console.log(
      `| script, mode, clients | ${contenders.map(({ name }) => `${name} tps, per CPU s`).join(" | ")} | ratio per CPU s |`,
    );
    console.log(`|---|${contenders.map(() => "--:|").join("")}--:|`);
    const wanted = process.env.SCRIPTS?.split(" ");
    for (const [script, flags] of SCRIPTS) {
      if (wanted !== undefined && !wanted.includes(script.replaceAll(" ", "-"))) continue;
      for (const mode of MODES) {
        for (const clients of counts) {
          const args = [...flags, "-n", "-M", mode, "-c", String(clients), "-T", String(seconds)];
          report(
            `${script}, ${mode}, ${clients}`,
            contenders.map((each) => measured(binaries, each, args)),
          );
        }
      }
    }
    await copies(binaries, contenders[0]!, contenders[1]!);
  } finally {
    for (const contender of contenders) await contender.stop();
  }
}

interface Measured {
  readonly rate: number;
  readonly perCpu: number;
}

function measured(binaries: string, { environment, roots }: Contender, args: readonly string[]): Measured {
  warmUp(binaries, environment, args);
  const before = settledCpuSecondsOf(roots);
  const printed = run(binaries, "pgbench", args, environment);
  const cpu = settledCpuSecondsOf(roots) - before;
  const count = Number(/actually processed: (\d+)/.exec(printed)![1]);
  const failed = Number(/failed transactions: (\d+)/.exec(printed)?.[1] ?? 0);
  if (failed > 0) console.log(`(${failed} transactions failed)`);
  return { rate: Number(/tps = ([\d.]+)/.exec(printed)?.[1]), perCpu: count / cpu };
}

/** PostgreSQL's processes of connections end after pgbench; while one ends, its time is nowhere. */
function settledCpuSecondsOf(roots: readonly number[]): number {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  let last = cpuSecondsOf(roots);
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    Atomics.wait(cell, 0, 0, SETTLE_MS);
    const now = cpuSecondsOf(roots);
    if (Math.abs(now - last) <= SETTLED_SECONDS) return now;
    last = now;
  }
  return last;
}

/** Plans and code get warm by work, not by time: on a busy machine two seconds are little work. */
function warmUp(binaries: string, environment: Contender["environment"], args: readonly string[]): void {
  const until = performance.now() + WARM_MS_MAX;
  for (let count = 0; count < WARM_TRANSACTIONS && performance.now() < until; ) {
    const printed = run(binaries, "pgbench", [...args.slice(0, -1), "2"], environment);
    count += Number(/actually processed: (\d+)/.exec(printed)![1]);
  }
}

function report(what: string, results: readonly Measured[]): void {
  const cells = results.map(({ rate, perCpu }) => `${rate.toFixed(0)}, ${perCpu.toFixed(0)}`);
  console.log(`| ${what} | ${cells.join(" | ")} | ${(results[0]!.perCpu / results[1]!.perCpu).toFixed(2)} |`);
}

function run(
  binaries: string,
  program: string,
  args: readonly string[],
  environment: Contender["environment"],
): string {
  return execFileSync(join(binaries, program), args, {
    env: { ...process.env, ...environment },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

async function tessera(): Promise<Contender> {
  const directory = temporaryDirectory("pgbench");
  const port = String(await freePort());
  // By a Unix socket, as with PostgreSQL.
  const { child } = await launchTessera(directory, {
    TESSERA_POSTGRES_PORT: port,
    TESSERA_POSTGRES_SOCKET_DIRECTORY: directory,
  });
  return {
    name: "Tessera",
    environment: { PGHOST: directory, PGPORT: port, PGUSER: "admin", PGPASSWORD: PASSWORD, PGDATABASE: "system" },
    roots: [child.pid!],
    stop: async () => {
      await endChild(child);
      removeDirectory(directory);
    },
  };
}

async function postgres(binaries: string): Promise<Contender> {
  const cluster: PostgresCluster = await startPostgres(binaries, { shared_buffers: "512MB" });
  return {
    name: "PostgreSQL",
    environment: cluster.environment,
    get roots() {
      return [cluster.pid];
    },
    stop: () => cluster.stop(),
  };
}
