/**
 * `make bench` (W1 to W8 and the scaling of W5) or `make bench BENCH="w1 w2"`; also import, bulk, tpch, fairness,
 * steps, cost, vector, embed, chat, nli, hybrid, graph, graph-load, ldbc, graph-writes, stream, subscribers, automl,
 * client, growth, pgbench, branches, policy, cluster by name. See bench/README.md for the settings and for how it is
 * measured.
 */
import { loadavg } from "node:os";
import { automl } from "./automl.js";
import { branches } from "./branches.js";
import { bulk } from "./bulk.js";
import { chat } from "./chat.js";
import { client } from "./client.js";
import { cluster } from "./cluster.js";
import { PEERS } from "./contenders/contenders.js";
import { cost } from "./cost.js";
import { embed } from "./embed.js";
import { fairness } from "./fairness.js";
import { GRAPH_CONTENDERS, graph } from "./graph.js";
import { graphLoad } from "./graph-load.js";
import { graphWrites } from "./graph-writes.js";
import { GROWTH_CONTENDERS, growth } from "./growth.js";
import { hybrid } from "./hybrid.js";
import { importFiles } from "./import.js";
import { ldbc } from "./ldbc.js";
import { loadGenerator } from "./load/generators.js";
import { measure, type Options, type WorkloadResult } from "./measure.js";
import { nli } from "./nli.js";
import { pgbench } from "./pgbench.js";
import { policy } from "./policy.js";
import { describeMachine } from "./report/machine.js";
import { markdown } from "./report/markdown.js";
import { type RunResult, writeResults } from "./report/results.js";
import { measureScaling, type ScalingResult, scalingMinutes } from "./scaling.js";
import { steps } from "./steps.js";
import { stream } from "./stream.js";
import { subscribers } from "./subscribers.js";
import { tpch } from "./tpch.js";
import { VECTOR_CONTENDERS } from "./vector/contenders.js";
import { vector } from "./vector.js";
import type { Workload } from "./workloads/workload.js";
import { WORKLOADS } from "./workloads/workloads.js";

/** Benches that print what they find. */
const others: Readonly<Record<string, (rounds: number, seconds: number) => Promise<void>>> = {
  import: importFiles,
  automl,
  bulk,
  tpch,
  fairness,
  cost,
  steps,
  embed,
  chat,
  client,
  nli,
  vector,
  hybrid,
  graph,
  ldbc,
  "graph-load": graphLoad,
  "graph-writes": graphWrites,
  stream,
  subscribers,
  growth,
  pgbench,
  branches,
  policy,
  cluster,
};

const SCALING = "scaling";

/** Of a contender in a workload, beside the rounds: start, load, warm-up, calibration. */
const SECONDS_BESIDE = 10;
const SECONDS_PER_TENANT = 0.2;

function settings(): Options {
  const named = process.env.PEERS ?? PEERS.join(" ");
  const peers = named === "none" ? [] : named.split(/[ ,]+/).filter((name) => name !== "");
  for (const peer of peers) {
    const known = [...new Set([...PEERS, ...VECTOR_CONTENDERS, ...GRAPH_CONTENDERS, ...GROWTH_CONTENDERS, "sklearn"])];
    if (!known.includes(peer)) throw new Error(`unknown peer "${peer}"; known: ${known.join(", ")}, none`);
  }
  return {
    rounds: Number(process.env.ROUNDS ?? 3),
    seconds: Number(process.env.SECONDS ?? 3),
    share: 0.7,
    contenders: ["tessera", ...peers.filter((peer) => PEERS.includes(peer))],
    generator: loadGenerator(),
  };
}

function minutes(workloads: readonly Workload[], { contenders, rounds, seconds }: Options): number {
  const each = SECONDS_BESIDE + rounds * (2 * seconds + 1);
  const tenants = workloads.reduce((sum, { data }) => sum + data.tenants, 0);
  return (workloads.length * contenders.length * each + tenants * SECONDS_PER_TENANT) / 60;
}

function summary({ id, rows, notes, aims }: WorkloadResult): string {
  const lines = rows.map(({ name, medians, rate }) => {
    const { requestsPerSecond, requestsPerServerCpuSecond, p50Ms, p99Ms } = medians;
    return (
      `  ${name.padEnd(26)} ${requestsPerSecond.toFixed(0).padStart(8)}/s ` +
      `${requestsPerServerCpuSecond.toFixed(0).padStart(8)} per CPU s   p50 ${p50Ms.toFixed(2)} p99 ${p99Ms.toFixed(2)} ms at ${rate.toFixed(0)}/s`
    );
  });
  const checked = aims.map(({ text, measured, met }) => `  ${met ? "met   " : "missed"} ${text}: ${measured}`);
  return [id, ...lines, ...checked, ...notes.map((note) => `  ${note}`)].join("\n");
}

const names = process.argv.slice(2);
const chosen = names.length > 0 ? names : [...WORKLOADS.map(({ id }) => id), SCALING];
const known = [...WORKLOADS.map(({ id }) => id), SCALING, ...Object.keys(others)];
for (const name of chosen) {
  if (!known.includes(name)) throw new Error(`unknown bench "${name}"; known: ${known.join(", ")}`);
}

const options = settings();
const wanted = WORKLOADS.filter(({ id }) => chosen.includes(id));
const workloads = wanted.filter(({ keepAlive }) => keepAlive || options.generator.kind !== "autocannon");
for (const { id } of wanted.filter((workload) => !workloads.includes(workload))) {
  console.log(`${id} is left out: autocannon does not count answers on connections for one request.`);
}
const scales = chosen.includes(SCALING);
if (workloads.length > 0 || scales) {
  const total = minutes(workloads, options) + (scales ? scalingMinutes(options) : 0);
  console.log(
    `${chosen.filter((name) => !(name in others)).join(", ")}: ${options.contenders.join(", ")}; ` +
      `${options.rounds} rounds of ${options.seconds} s. About ${Math.ceil(total)} minutes.`,
  );
  if (options.generator.kind === "client")
    console.log("Throughput is measured with our own client, which costs more CPU than wrk.");
  const machine = describeMachine(options.generator.name);
  const results: WorkloadResult[] = [];
  const date = new Date().toISOString().slice(0, 10);
  const write = (scaling: ScalingResult | null): { run: RunResult; base: string } => {
    const run: RunResult = { date, machine, loadAverageAfter: loadavg()[0]!, options, workloads: results, scaling };
    return { run, base: writeResults(run) };
  };
  for (const workload of workloads) {
    const result = await measure(workload, options);
    console.log(summary(result));
    results.push(result);
    // After each, so that a run that is stopped leaves what it has.
    write(null);
  }
  const { run, base } = write(scales ? await measureScaling(options) : null);
  console.log(`\n${markdown(run)}\nWritten to ${base}.md, .json and .svg`);
}
for (const name of chosen) await others[name]?.(options.rounds, options.seconds);
process.exit(0);
