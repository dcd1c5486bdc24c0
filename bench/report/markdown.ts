/** A run as Markdown: one table of all workloads, ratios, aims, and what was measured on what. */
import type { Ratio, Row, WorkloadResult } from "../measure.js";
import type { Machine } from "./machine.js";
import type { RunResult } from "./results.js";

export function markdown(run: RunResult): string {
  const { machine, options } = run;
  return [
    `# Benchmark of ${run.date}`,
    "",
    `${machineLine(machine)} ` +
      `Load average when the run began: ${machine.loadAverage.toFixed(1)}, when it ended: ${run.loadAverageAfter.toFixed(1)}.`,
    "",
    `${options.rounds} rounds of ${options.seconds} s after a warm-up, the contenders in turn; figures are medians of the ` +
      `rounds. Throughput (requests/s, CPU) at full load; latency at the rate of the column "at", ` +
      `${Math.round(options.share * 100)}% of that throughput unless the client could not send so fast, timed from when ` +
      "each request was due. Memory is the peak of all the server's processes since their start.",
    "",
    "| workload | contender | requests/s | server CPU s per 1,000 | client CPU s per 1,000 | p50 ms | p99 ms | p99.9 ms | at requests/s | peak MiB | errors |",
    "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ...run.workloads.flatMap((workload) =>
      workload.rows.map((row, i) => tableRow(i === 0 ? title(workload) : "", row)),
    ),
    "",
    "Ratios, medians of the rounds' ratios:",
    "",
    "| workload | | requests/s | requests per server CPU second |",
    "|---|---|--:|--:|",
    ...run.workloads.flatMap(({ id, ratios }) => ratios.map((ratio) => ratioRow(id.toUpperCase(), ratio))),
    "",
    ...section("Aims", run.workloads.flatMap(aimLines)),
    ...section(
      "Notes",
      run.workloads.flatMap(({ id, notes }) => notes.map((note) => `- ${id.toUpperCase()}: ${note}`)),
    ),
    ...(run.scaling === null ? [] : run.scaling.text),
    ...section("Contenders", contenderLines(run.workloads)),
  ].join("\n");
}

/** What was measured on. */
export function machineLine(machine: Machine): string {
  return (
    `${machine.processor}, ${machine.cores} cores, ${machine.memoryGib} GiB, ${machine.system}, Node ${machine.node}; ` +
    `load by ${machine.loadGenerator}. Writing 4 KiB with fdatasync takes ${machine.appendMs.toFixed(2)} ms at the end of a file and ${machine.overwriteMs.toFixed(2)} ms within it.`
  );
}

function section(heading: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`## ${heading}`, "", ...lines, ""];
}

function title({ id, title: text, connections }: WorkloadResult): string {
  return `${id.toUpperCase()} ${text}, ${connections} connections`;
}

function tableRow(workload: string, { name, medians, rate, peakMemoryBytes, errors }: Row): string {
  const cells = [
    workload,
    name,
    count(medians.requestsPerSecond),
    medians.serverCpuSecondsPer1000.toFixed(3),
    medians.clientCpuSecondsPer1000.toFixed(3),
    medians.p50Ms.toFixed(2),
    medians.p99Ms.toFixed(2),
    medians.p999Ms.toFixed(2),
    count(rate),
    count(peakMemoryBytes / 2 ** 20),
    count(errors),
  ];
  return `| ${cells.join(" | ")} |`;
}

function ratioRow(workload: string, { of, to, requestsPerSecond, requestsPerServerCpuSecond }: Ratio): string {
  return `| ${workload} | ${of} / ${to} | ${requestsPerSecond.toFixed(2)} | ${requestsPerServerCpuSecond.toFixed(2)} |`;
}

function aimLines({ id, aims }: WorkloadResult): string[] {
  return aims.map(
    ({ text, measured, met }) => `- ${id.toUpperCase()} ${text}: ${measured}, ${met ? "met" : "**missed**"}`,
  );
}

/** Each once, from the first workload it took part in. */
function contenderLines(workloads: readonly WorkloadResult[]): string[] {
  const all = Object.assign(
    {},
    ...workloads.map(({ contenders }) => contenders).reverse(),
  ) as WorkloadResult["contenders"];
  return Object.entries(all).map(([name, { versions, durability }]) => {
    const packages = Object.entries(versions).map(([key, version]) => `${key} ${version}`);
    return `- ${name}: ${packages.join(", ")}. Commit: ${durability}.`;
  });
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}
