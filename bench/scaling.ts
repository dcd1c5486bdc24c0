/**
 * How W5 scales: throughput with 1 to 4 actors on this machine, the CPU that gateway, actors and all other threads
 * (fsyncs, RocksDB's and V8's helpers) spend on a request, and what follows from that for more cores.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Contender, startContender } from "./contenders/contenders.js";
import { type Generator, type Load, throughput } from "./load/generators.js";
import { FIRST_KEY, writeRequests } from "./load/requests.js";
import type { Options } from "./measure.js";
import { cpuSecondsOfThreads } from "./processes.js";
import { removeDirectory, temporaryDirectory } from "./servers.js";
import { median } from "./statistics.js";
import { tenants as workload } from "./workloads/w5-tenants.js";
import { prepare } from "./workloads/workload.js";

const ACTORS = [1, 2, 3, 4];
const CORES = 16;
const WARM_UP_SECONDS = 3;

const ROLES = ["gateway", "actor", "other"] as const;
type Role = (typeof ROLES)[number];

/** CPU microseconds per request. */
type Cost = Readonly<Record<Role, number>>;

export interface ScalingResult {
  readonly steps: readonly { readonly actors: number; readonly requestsPerSecond: number; readonly costMicros: Cost }[];
  /** As it stands in the report. */
  readonly text: readonly string[];
}

interface Step {
  readonly actors: number;
  readonly contender: Contender;
  readonly load: Load;
  readonly threadsFile: string;
  readonly rates: number[];
  readonly costs: Cost[];
}

export function scalingMinutes({ rounds, seconds }: Options): number {
  return (ACTORS.length * (30 + rounds * (seconds + 1))) / 60;
}

export async function measureScaling({ rounds, seconds, generator }: Options): Promise<ScalingResult> {
  const directory = temporaryDirectory("scaling");
  const steps: Step[] = [];
  try {
    for (const actors of ACTORS) steps.push(await startStep(actors, directory, seconds));
    for (const step of steps) await throughput({ ...step.load, seconds: WARM_UP_SECONDS }, generator);
    for (let round = 0; round < rounds; round++) {
      for (const step of steps) await takeRound(step, generator);
    }
    const measured = steps.map(({ actors, rates, costs }) => ({
      actors,
      requestsPerSecond: median(rates),
      costMicros: costOf((role) => median(costs.map((cost) => cost[role]))),
    }));
    const result = { steps: measured, text: describe(measured) };
    console.log(result.text.join("\n"));
    return result;
  } finally {
    await Promise.all(steps.map(({ contender }) => contender.stop()));
    removeDirectory(directory);
  }
}

async function startStep(actors: number, directory: string, seconds: number): Promise<Step> {
  const threadsFile = join(directory, `threads-${actors}`);
  const contender = await startContender("tessera", {
    TESSERA_ACTORS: String(actors),
    BENCH_THREADS: threadsFile,
    NODE_OPTIONS: `--import=${new URL("./contenders/name-threads.js", import.meta.url).href}`,
  });
  const prepared = await prepare(contender, workload.data);
  const file = join(directory, `requests-${actors}`);
  const [entry] = await workload.entries(contender, prepared);
  if (entry === undefined || typeof entry.requests === "string") throw new Error("W5 has no requests");
  writeRequests(file, contender.url, entry.requests, workload.keepAlive);
  const { connections, keepAlive } = workload;
  const load = { url: contender.url, file, firstKey: FIRST_KEY, connections, seconds, keepAlive };
  return { actors, contender, load, threadsFile, rates: [], costs: [] };
}

async function takeRound({ contender, load, threadsFile, rates, costs }: Step, generator: Generator): Promise<void> {
  const before = cpuSecondsOfThreads(contender.pid);
  const measured = await throughput(load, generator);
  const after = cpuSecondsOfThreads(contender.pid);
  const roles = new Map(
    readFileSync(threadsFile, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(" ") as [string, Role]),
  );
  const spent: Record<Role, number> = { gateway: 0, actor: 0, other: 0 };
  for (const [thread, cpuSeconds] of after) {
    spent[roles.get(String(thread)) ?? "other"] += cpuSeconds - (before.get(thread) ?? 0);
  }
  rates.push(measured.requests / measured.seconds);
  costs.push(costOf((role) => (1e6 * spent[role]) / measured.requests));
}

function costOf(of: (role: Role) => number): Cost {
  return { gateway: of("gateway"), actor: of("actor"), other: of("other") };
}

/**
 * The projection is by the largest number of actors that fits beside the others, and by the middle cost of all steps.
 */
function describe(steps: ScalingResult["steps"]): string[] {
  const { gateway, actor, other } = costOf((role) => median(steps.map(({ costMicros }) => costMicros[role])));
  const total = gateway + actor + other;
  const oneGateway = 1e6 / gateway;
  const shared = (CORES * 1e6) / total;
  const rate = Math.min(oneGateway, shared);
  const coresAtLimit = total / gateway;
  const thousands = (value: number): string => Math.round(value).toLocaleString("en");
  return [
    "## Scaling of W5",
    "",
    "| actors | requests/s | gateway µs | actors µs | other threads µs |",
    "|--:|--:|--:|--:|--:|",
    ...steps.map(({ actors, requestsPerSecond, costMicros: cost }) => {
      const cells = [cost.gateway, cost.actor, cost.other].map((micros) => micros.toFixed(1));
      return `| ${actors} | ${thousands(requestsPerSecond)} | ${cells.join(" | ")} |`;
    }),
    "",
    `CPU per request, at the middle: gateway ${gateway.toFixed(1)} µs, actors ${actor.toFixed(1)} µs, others ` +
      `${other.toFixed(1)} µs. One gateway thread carries at most ${thousands(oneGateway)} requests/s, which ` +
      `${(actor / gateway).toFixed(1)} busy actors and ${coresAtLimit.toFixed(1)} cores reach. Projection for ${CORES} cores, ` +
      `evenly loaded actors and no other load: ${thousands(rate)} requests/s with one gateway, ` +
      `${thousands(shared)} with as many as it takes (${Math.ceil((gateway * CORES) / total)}).`,
    "",
  ];
}
